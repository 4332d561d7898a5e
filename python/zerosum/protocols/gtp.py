"""A Go engine that speaks GTP 2, with the extensions of KataGo, Leela Zero and KGS that boards rely on.

    engine = GtpEngine(make("go(size=9)"), Players().of, write=sys.stdout.write, warn=print)
    engine.handle("1 genmove b")

Sources: Gunnar Farnebäck's specification (draft 2 of 2002) and KataGo's "GTP Extensions". `handle` takes a line and
writes the answer, if the line asks for one; it does not raise, whatever the line says. An analysis continues in the
search's thread until the next line. `gtp_board.py` has the board, `gtp_player.py` the player, and `gtp_analysis.py` the
lines of an analysis.

Start with `GtpEngine.handle` and `COMMANDS`, at the end.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from zerosum._core import __version__
from zerosum.base.errors import DataError, GameError, SettingsError, ZerosumError
from zerosum.contest.clock import KATA_TIME_SYSTEMS, TimeControl
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import Rules, make
from zerosum.network.checkpoint import require_encoder
from zerosum.notation.game_files import read_raw_games
from zerosum.notation.go_words import GoRules
from zerosum.play.analysis import Analysis, AnalysisLine, win_rate
from zerosum.play.choice import Players
from zerosum.play.player import Player
from zerosum.play.runs import network_at
from zerosum.protocols import gtp_params
from zerosum.protocols.gtp_analysis import AnalysisOptions, Owners, kata_line, leela_line, parse_player
from zerosum.protocols.gtp_board import BLACK, GtpBoard
from zerosum.protocols.gtp_params import GtpConfig
from zerosum.protocols.gtp_player import GtpPlayer, Teller
from zerosum.protocols.gtp_raw_network import NUM_SYMMETRIES, raw_network

CLEANUP_WINRATE = 0.75
"""`kgs-genmove_cleanup` attacks stones that look dead while the win rate stays at least this high (not measured)."""
HOPELESS = 0.05
"""Win rate below which playing on is useless where a pass loses, too."""
SYNTAX_ERROR = "syntax error"


def run_gtp(
    player: str = "",
    *,
    game: str = "",
    rules: str = "",
    config: GtpConfig | None = None,
    time_config: TimeConfig | None = None,
) -> None:
    """Run an engine on the standard streams until the input ends or says `quit`.

    Args:
        player: A run, a checkpoint, or the words of `parse_player`; "" is the newest run that fits the board.
        game: Go with its options; "" is the game that the player learned, or 19x19.
        rules: KataGo's name of rules, such as "japanese"; "" is the game's own.
        config: How to play.
        time_config: How to manage time.

    Raises:
        SettingsError: the game is not Go, or the player or the rules are unknown.
        DataError: no complete checkpoint exists, or its network does not fit the game.
    """

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def warn(sentence: str) -> None:
        print(f"zerosum: {sentence}", file=sys.stderr, flush=True)

    players = Players(player, say=warn)
    go = make(game) if game else players.own_game() or make("go")
    if players.path is not None:  # loading takes time, so it waits until the player is needed
        require_encoder(network_at(players.path), go.spec)
    elif player:
        players.of(go)
    engine = GtpEngine(
        go,
        players.of,
        rules=_named_rules(rules) if rules else None,
        write=write,
        warn=warn,
        config=config,
        time_config=time_config,
    )
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # file names of any bytes
    engine.serve(sys.stdin)


def _named_rules(name: str) -> GoRules:
    try:
        return GoRules.named(name)
    except SettingsError as error:
        raise SettingsError(f"Unknown rules: {error}.") from None


class GtpEngine:
    """A GTP session with one board."""

    def __init__(
        self,
        game: Rules,
        choose: Callable[[Rules], Player],
        *,
        rules: GoRules | None = None,
        write: Callable[[str], object],
        warn: Callable[[str], object],
        config: GtpConfig | None = None,
        time_config: TimeConfig | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """A session without a player yet: the first command that needs one calls `choose`.

        Args:
            game: Go; its size, komi and rules hold until commands change them.
            choose: Returns the player for a game, as `Players.of` does; raises DataError if no player fits.
            rules: Rules instead of the game's own.
            write: Receives answers, and lines of an analysis from another thread; each ends with a newline.
            warn: Receives warnings for people.
            config: How to play.
            time_config: How to manage time.
            clock: Seconds that never go back.

        Raises:
            SettingsError: the game is not Go or has handicap stones, or the rules are not supported.
        """
        self._board = GtpBoard(game)
        if rules is not None:
            self._board.set_rules(rules)
        self._player = GtpPlayer(
            choose, config=config or GtpConfig(), time_config=time_config or TimeConfig(), clock=clock
        )
        self._write, self._warn = write, warn
        self._number = ""
        self._is_analysing = self._has_warned = False
        self._seconds_of_moves = 0.0
        self._clock = clock
        self.has_quit = False
        """Whether `quit` was received."""

    # ---- the session

    def serve(self, lines: Iterable[str]) -> None:
        """Handle lines until they end or one of them is `quit`."""
        try:
            for line in lines:
                self.handle(line)
                if self.has_quit:
                    break
        finally:
            self.rest()

    def handle(self, line: str) -> None:
        """Handle a line: end the running analysis, obey and answer."""
        self.rest()
        self._player.begin_turn()
        # Control characters are dropped, a tab counts as a blank (section 2.4 of GTP 2).
        words = re.sub(r"[\x00-\x08\x0a-\x1f\x7f]", "", line).partition("#")[0].split()
        if not words:
            return
        self._number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
        name = words.pop(0) if words else ""
        try:
            if name not in COMMANDS:
                raise GameError("unknown command")
            if name not in WITHOUT_PLAYER:
                self._player.sit_down(self._board)
                self._warn_of_scoring()
            answer = COMMANDS[name](self, words)
        except ZerosumError as error:
            self._write(f"?{self._number} {' '.join(str(error).split())}\n\n")
            return
        if answer is not None:
            self._write(f"={self._number} {answer}".rstrip() + "\n\n")
        if name in GENMOVES:
            self._player.ponder(self._board)

    def rest(self) -> None:
        """End a running analysis or pondering."""
        self._player.stop()
        if self._is_analysing:
            self._is_analysing = False
            if failure := self._player.failure():
                self._warn(failure)
            self._write("\n")

    def protocol_version(self, _words: list[str]) -> str:
        """The version of GTP."""
        return "2"

    def name(self, _words: list[str]) -> str:
        """Of the program."""
        return "zerosum"

    def version(self, _words: list[str]) -> str:
        """Of the program."""
        return __version__

    def known_command(self, words: list[str]) -> str:
        """Whether a command of this name exists."""
        return str(words[:1] != [] and words[0] in COMMANDS).lower()

    def list_commands(self, _words: list[str]) -> str:
        """The names of all commands, one per line."""
        return "\n".join(COMMANDS)

    def gogui_analyze_commands(self, _words: list[str]) -> str:
        """Entries of GoGui's menu: type, label and command."""
        return "\n".join(
            (
                "string/Score/final_score",
                "plist/Dead Stones/final_status_list dead",
                "string/Rules/kata-get-rules",
                "none/Forget the search/clear_cache",
            )
        )

    def quit(self, _words: list[str]) -> str:
        """End the session."""
        self.has_quit = True
        return ""

    def nothing(self, _words: list[str]) -> str:
        """Do nothing: every line already ends a running analysis."""
        return ""

    # ---- the board

    def boardsize(self, words: list[str]) -> str:
        """`boardsize N` or `boardsize N N`: an empty board, if a player for it exists."""
        sizes = [_whole([word]) for word in " ".join(words).replace(":", " ").split()] or [_whole([])]
        size = sizes[0]
        if len(sizes) > 2:
            raise GameError(SYNTAX_ERROR)
        if sizes[-1] != size:
            raise GameError(f"unacceptable size: {size} by {sizes[-1]}, only square boards are played")
        try:
            board = self._board.resized(size)
            self._player.sit_down(board)
        except (GameError, DataError) as error:
            raise GameError(f"unacceptable size: {error}") from error
        self._begin(board)
        return ""

    def clear_board(self, _words: list[str]) -> str:
        """Begin a new game."""
        self._board.clear()
        self._begin(self._board)
        return ""

    def set_position(self, words: list[str]) -> str:
        """`set_position colour vertex colour vertex ...`: these stones without earlier moves, Black to move."""
        if len(words) % 2:
            raise GameError("expected pairs of colour and vertex")
        stones: dict[str, int] = {}
        for colour, vertex in zip(words[::2], words[1::2], strict=True):
            point = self._board.vertex(self._board.action(vertex))
            if point == "pass" or point in stones:
                raise GameError(f"bad vertex list: {vertex} is not a point, or comes twice")
            stones[point] = parse_player(colour)
        self._board.set_position(stones) if stones else self._board.clear()
        self._begin(self._board)
        return ""

    def _begin(self, board: GtpBoard) -> None:
        self._board = board
        self._player.new_game()

    def komi(self, words: list[str]) -> str:
        """`komi X`: any number; the score includes it."""
        self._board.set_komi(_real(words))
        self._warn_of_komi()
        return ""

    def get_komi(self, _words: list[str]) -> str:
        """The komi, without White's bonus for handicap stones."""
        return f"{self._board.komi:.10g}"

    def _warn_of_komi(self) -> None:
        komi, learned = self._board.komi, self._player.learned("komi")
        if learned is not None and float(learned) != komi:
            self._warn(f"The network learned Go with komi {learned} and cannot see that it is {komi:g} now.")

    def _warn_of_scoring(self) -> None:
        """Warn once whenever the rules begin to score otherwise than the network learned."""
        scoring, learned = self._board.rules.scoring.lower(), self._player.learned("scoring")
        is_other = learned not in (None, scoring)
        if is_other and not self._has_warned:
            self._warn(f"The network learned {learned} scoring and cannot see that {scoring} scoring applies now.")
        self._has_warned = is_other

    def fixed_handicap(self, words: list[str]) -> str:
        """`fixed_handicap N`: stones on the points that GTP prescribes."""
        num_stones = _whole(words)
        if not 2 <= num_stones <= self._board.most_handicap:
            raise GameError("invalid number of stones")
        return " ".join(self._board.fixed_handicap(num_stones))

    def place_free_handicap(self, words: list[str]) -> str:
        """`place_free_handicap N`: stones on the points of a fixed handicap, as many as there are."""
        num_stones, most = _whole(words), self._board.most_handicap
        if num_stones < 2 or not most:
            raise GameError("invalid number of stones")
        return " ".join(self._board.fixed_handicap(min(num_stones, most)))

    def set_free_handicap(self, words: list[str]) -> str:
        """`set_free_handicap vertex vertex ...`."""
        self._board.place_handicap(words)
        return ""

    def play(self, words: list[str]) -> str:
        """`play colour vertex`; either colour may move."""
        if len(words) < 2:
            raise GameError(SYNTAX_ERROR)
        self._board.play(parse_player(words[0]), self._board.action(words[1]))
        return ""

    def undo(self, _words: list[str]) -> str:
        """Take back the last move."""
        self._board.undo()
        return ""

    def loadsgf(self, words: list[str]) -> str:
        """`loadsgf file [move number]`: the position before that move of the file's first game, or at its end."""
        if not words:
            raise GameError(SYNTAX_ERROR)
        has_number = len(words) > 1 and re.fullmatch("[0-9]{1,9}", words[-1]) is not None
        name = " ".join(words[:-1] if has_number else words)
        num_moves = max(int(words[-1]) - 1, 0) if has_number else None
        try:
            record = next(read_raw_games(name, format="sgf"))
            board, doubts = self._board.loaded(record, num_moves=num_moves)
            self._player.sit_down(board)
        except (DataError, GameError) as error:
            raise GameError(f"cannot load file: {error}") from error
        for doubt in doubts:
            self._warn(f"{name}: {doubt}.")
        self._begin(board)
        self._warn_of_komi()
        return ""

    def printsgf(self, words: list[str]) -> str:
        """`printsgf [file]`: the game as SGF, in the answer or in a file."""
        name = " ".join(words)
        if name in ("", "-"):
            return self._board.sgf()
        try:
            Path(name).write_text(self._board.sgf() + "\n", encoding="utf-8")
        except (OSError, ValueError) as error:
            raise GameError(f"cannot write {name}: {error}") from error
        return ""

    def showboard(self, _words: list[str]) -> str:
        """The board, for people."""
        return "\n" + self._board.game.draw(self._board.state).rstrip("\n")

    # ---- the score

    def final_score(self, _words: list[str]) -> str:
        """The score by the rules: of the board as it stands, or without dead stones if passes are friendly."""
        score = self._board.score()
        return f"{'B' if score > 0 else 'W'}+{abs(score):.10g}" if score else "0"

    def final_status_list(self, words: list[str]) -> str:
        """`final_status_list alive | dead | seki`, as the score counts; without friendly passes all are alive."""
        if words[:1] not in (["alive"], ["dead"], ["seki"]):
            raise GameError(SYNTAX_ERROR)
        return " ".join(self._board.statuses()[words[0]])

    # ---- rules

    def get_rules(self, _words: list[str]) -> str:
        """The rules as JSON."""
        return json.dumps(self._board.rules.fields(), separators=(",", ":"))

    def set_rules(self, words: list[str]) -> str:
        """`kata-set-rules RULES`: a name or JSON."""
        text = " ".join(words)
        return self._change_rules(_json_object(text) if text.startswith("{") else text)

    def set_rule(self, words: list[str]) -> str:
        """`kata-set-rule name value`."""
        if len(words) != 2:
            raise GameError(SYNTAX_ERROR)
        value = {"true": True, "false": False}.get(words[1].lower(), words[1])
        return self._change_rules({words[0]: value})

    def _change_rules(self, rules: str | dict[str, Any]) -> str:
        """Change to the rules of this name, or change some fields."""
        try:
            if isinstance(rules, str):
                self._board.set_rules(GoRules.named(rules))
            else:
                self._board.set_rules(self._board.rules.with_fields(rules))
        except SettingsError as error:
            raise GameError(f"unsupported rules: {error}") from None
        return ""

    def kgs_rules(self, words: list[str]) -> str:
        """`kgs-rules NAME`: the rules of the KGS server, where Chinese rules have superko."""
        return self.set_rules(["chinese-kgs"] if words == ["chinese"] else words)

    # ---- time

    def time_settings(self, words: list[str]) -> str:
        """`time_settings main byoyomi stones`."""
        self._player.set_control(TimeControl.of_gtp(words))
        return ""

    def other_time_settings(self, words: list[str]) -> str:
        """`kata-time_settings` and `kgs-time_settings`: a time system and its numbers."""
        self._player.set_control(TimeControl.of_kata(words))
        return ""

    def list_time_settings(self, _words: list[str]) -> str:
        """The supported time systems."""
        return " ".join(KATA_TIME_SYSTEMS)

    def time_left(self, words: list[str]) -> str:
        """`time_left colour seconds stones`."""
        self._player.set_left(parse_player(words[0] if words else ""), _real(words[1:]), _whole(words[2:]))
        return ""

    # ---- moves

    def genmove(self, words: list[str]) -> str:
        """`genmove colour`."""
        return self._genmove(_options_of(words), None)

    def _genmove(self, options: AnalysisOptions, tell: Teller | None) -> str:
        best = self._find(options, tell)
        self._player.end_turn(options.player)
        if best is None:
            return self._make(options.player, self._board.action("pass"))
        if self._player.resigns(options.player, best.value):
            return "resign"
        self._player.follow(options.player, best.actions[0])
        return self._make(options.player, best.actions[0])

    def _find(self, options: AnalysisOptions, tell: Teller | None) -> AnalysisLine | None:
        """The best move that a search finds; None where rules for people let the player pass and win."""
        began = self._clock()
        found = None
        if not (options.considers(self._board.action("pass")) and self._board.may_pass(options.player)):
            report = self._player.find(self._board, options, tell=tell)
            if tell is not None:
                tell(report)
            found = self._best(options.player, report)
        self._seconds_of_moves += self._clock() - began
        return found

    def _best(self, player: int, report: Analysis) -> AnalysisLine:
        """The best move; a pass that loses at once if the opponent passes, too, gives way while the game is not lost.

        A search of few simulations may not have seen that reply.
        """
        best, *others = report.lines
        is_behind = (self._board.score() < 0) == (player == BLACK) and self._board.score() != 0
        if self._board.vertex(best.actions[0]) == "pass" and is_behind and others:
            return best if win_rate(others[0].value) < HOPELESS else others[0]
        return best

    def _make(self, player: int, action: int) -> str:
        self._board.play(player, action)
        return self._board.vertex(action)

    def reg_genmove(self, words: list[str]) -> str:
        """`reg_genmove colour` and `kata-search colour`: the move, which is not played."""
        return self._search(_options_of(words), None)

    def _search(self, options: AnalysisOptions, tell: Teller | None) -> str:
        best = self._find(options, tell)
        return "pass" if best is None else self._board.vertex(best.actions[0])

    def genmove_cleanup(self, words: list[str]) -> str:
        """`kgs-genmove_cleanup colour`: as `genmove`, but captures stones that look dead before it passes."""
        options, board, action = _options_of(words), self._board, self._board.action("pass")
        wins = board.wins_without_dead(options.player)
        if not wins:
            action = self._best(options.player, self._player.find(board, options)).actions[0]
        if board.vertex(action) == "pass" and (attacks := board.attacks_on_dead(options.player)):
            attack = self._player.find(board, AnalysisOptions(options.player, allowed=frozenset(attacks))).lines[0]
            if wins or win_rate(attack.value) >= CLEANUP_WINRATE:
                action = attack.actions[0]
        self._player.end_turn(options.player)
        return self._make(options.player, action)

    def analyse(self, words: list[str], line_of: LineOf) -> None:
        """`lz-analyze` and `kata-analyze`: lines until the next input."""
        options = self._analysis_options(words)
        # The head comes before the first line, which another thread writes.
        self._write(f"={self._number}\n")
        self._is_analysing = True
        self._player.watch(self._board, options, self._teller(options, line_of))

    def genmove_analyse(self, words: list[str], line_of: LineOf) -> None:
        """`lz-genmove_analyze` and `kata-genmove_analyze`: lines of an analysis, then `play` and the move."""
        options = self._analysis_options(words)
        self._write(f"={self._number}\n")
        self._write(f"play {self._genmove(options, self._teller(options, line_of))}\n\n")

    def search_analyse(self, words: list[str], line_of: LineOf) -> None:
        """`kata-search_analyze`: as `genmove_analyse`, but the move is not played."""
        options = self._analysis_options(words)
        self._write(f"={self._number}\n")
        self._write(f"play {self._search(options, self._teller(options, line_of))}\n\n")

    def raw_network(self, words: list[str]) -> str:
        """`kata-raw-nn SYMMETRY`: the network's output for the position; SYMMETRY is 0 to 7 or `all`."""
        if words[:1] == ["all"]:
            symmetries: Iterable[int] = range(NUM_SYMMETRIES)
        elif words and re.fullmatch("[0-7]", words[0]):
            symmetries = [int(words[0])]
        else:
            raise GameError("expected a symmetry from 0 to 7, or all")
        return "\n".join(raw_network(self._board, self._player.evaluator(), symmetry) for symmetry in symmetries)

    def get_param(self, words: list[str]) -> str:
        """`kata-get-param name`."""
        if len(words) != 1:
            raise GameError(SYNTAX_ERROR)
        return self._player.param(words[0])

    def set_param(self, words: list[str]) -> str:
        """`kata-set-param name value`."""
        if len(words) != 2:
            raise GameError(SYNTAX_ERROR)
        self._player.set_param(*words)
        return ""

    def list_params(self, _words: list[str]) -> str:
        """The names of all parameters."""
        return " ".join(gtp_params.names())

    def cputime(self, _words: list[str]) -> str:
        """Seconds of wall-clock time (as in KataGo) that all moves have taken so far."""
        return f"{self._seconds_of_moves:.6f}"

    def _analysis_options(self, words: list[str]) -> AnalysisOptions:
        options = AnalysisOptions.parse(words, self._board)
        for name in options.unknown:
            self._warn(f"{name} is left out: no network knows it.")
        return options

    def _teller(self, options: AnalysisOptions, line_of: LineOf) -> Teller:
        board = self._board
        # Computed in this thread, before the search's clock runs.
        owners = self._player.ownership(board) if options.owners else None

        def tell(report: Analysis) -> None:
            self._write(f"{line_of(report, options, board, owners)}\n")

        return tell

    def clear_cache(self, _words: list[str]) -> str:
        """Clear the search tree."""
        self._player.forget()
        return ""


LineOf = Callable[[Analysis, AnalysisOptions, GtpBoard, Owners], str]


def _options_of(words: list[str]) -> AnalysisOptions:
    """The options of a command that names only the colour."""
    return AnalysisOptions(parse_player(words[0] if words else ""))


def _whole(words: list[str]) -> int:
    if not words or not re.fullmatch("[+-]?[0-9]{1,9}", words[0]):
        raise GameError(SYNTAX_ERROR)
    return int(words[0])


def _real(words: list[str]) -> float:
    try:
        number = float(words[0])
    except (IndexError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise GameError(SYNTAX_ERROR)
    return number


def _json_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise GameError(SYNTAX_ERROR)
    return found


COMMANDS: dict[str, Callable[[GtpEngine, list[str]], str | None]] = {
    "protocol_version": GtpEngine.protocol_version,
    "name": GtpEngine.name,
    "version": GtpEngine.version,
    "known_command": GtpEngine.known_command,
    "list_commands": GtpEngine.list_commands,
    "quit": GtpEngine.quit,
    "boardsize": GtpEngine.boardsize,
    "clear_board": GtpEngine.clear_board,
    "rectangular_boardsize": GtpEngine.boardsize,
    "set_position": GtpEngine.set_position,
    "komi": GtpEngine.komi,
    "get_komi": GtpEngine.get_komi,
    "fixed_handicap": GtpEngine.fixed_handicap,
    "place_free_handicap": GtpEngine.place_free_handicap,
    "set_free_handicap": GtpEngine.set_free_handicap,
    "play": GtpEngine.play,
    "genmove": GtpEngine.genmove,
    "reg_genmove": GtpEngine.reg_genmove,
    "undo": GtpEngine.undo,
    "loadsgf": GtpEngine.loadsgf,
    "printsgf": GtpEngine.printsgf,
    "showboard": GtpEngine.showboard,
    "final_score": GtpEngine.final_score,
    "final_status_list": GtpEngine.final_status_list,
    "time_settings": GtpEngine.time_settings,
    "time_left": GtpEngine.time_left,
    "kgs-time_settings": GtpEngine.other_time_settings,
    "kgs-rules": GtpEngine.kgs_rules,
    "kgs-genmove_cleanup": GtpEngine.genmove_cleanup,
    "kata-time_settings": GtpEngine.other_time_settings,
    "kata-list_time_settings": GtpEngine.list_time_settings,
    "kata-get-rules": GtpEngine.get_rules,
    "kata-set-rules": GtpEngine.set_rules,
    "kata-set-rule": GtpEngine.set_rule,
    "lz-analyze": lambda engine, words: engine.analyse(words, leela_line),
    "kata-analyze": lambda engine, words: engine.analyse(words, kata_line),
    "lz-genmove_analyze": lambda engine, words: engine.genmove_analyse(words, leela_line),
    "kata-genmove_analyze": lambda engine, words: engine.genmove_analyse(words, kata_line),
    "analyze": lambda engine, words: engine.analyse(words, kata_line),
    "genmove_analyze": lambda engine, words: engine.genmove_analyse(words, kata_line),
    "kata-search": GtpEngine.reg_genmove,
    "kata-search_analyze": lambda engine, words: engine.search_analyse(words, kata_line),
    "kata-raw-nn": GtpEngine.raw_network,
    "kata-get-param": GtpEngine.get_param,
    "kata-set-param": GtpEngine.set_param,
    "kata-list-params": GtpEngine.list_params,
    "cputime": GtpEngine.cputime,
    "gomill-cpu_time": GtpEngine.cputime,
    "clear_cache": GtpEngine.clear_cache,
    "stop": GtpEngine.nothing,
    "gogui-analyze_commands": GtpEngine.gogui_analyze_commands,
}
"""Commands by name, in the order in which they are listed."""
WITHOUT_PLAYER = {
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit", "gogui-analyze_commands"),
    *("boardsize", "rectangular_boardsize", "kata-list-params", "cputime", "gomill-cpu_time"),
}
"""Commands that need no player or load it themselves; any other command loads the player first."""
GENMOVES = {"genmove", "kgs-genmove_cleanup", "lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze"}
"""Commands after which the engine ponders, if pondering is on."""

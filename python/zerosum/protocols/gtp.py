"""A Go engine that speaks GTP 2, with the extensions of KataGo, Leela Zero and KGS that boards rely on.

    engine = GtpEngine(make("go(size=9)"), Players().of, write=sys.stdout.write, warn=print)
    engine.handle("1 genmove b")

Sources: Gunnar Farnebäck's specification (draft 2 of 2002) and KataGo's "GTP Extensions". `handle` takes a line and
writes the answer, if the line asks for one; it does not raise, whatever the line says. An analysis continues in the
search's thread until the next line.

    gtp_session.py          the state that commands change: a board (`gtp_board.py`) and a player (`gtp_player.py`)
    gtp_board_commands.py   commands about the board, the score and the rules
    gtp_move_commands.py    commands about time, moves and analyses; `gtp_analysis.py` writes the lines of an analysis

Start with `GtpEngine.handle`.
"""

from __future__ import annotations

import io
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable

from zerosum.base.errors import GameError, SettingsError, ZerosumError
from zerosum.base.version import __version__
from zerosum.contest.time_manager import TimeConfig
from zerosum.games import Rules, make
from zerosum.network.description import require_encoder
from zerosum.network.fit import rules_for
from zerosum.notation.go_words import GoRules
from zerosum.play.choice import Players
from zerosum.play.player import Player
from zerosum.play.runs import network_at
from zerosum.protocols.engine_setup import failure_text
from zerosum.protocols.gtp_board import GtpBoard
from zerosum.protocols.gtp_board_commands import BOARD_COMMANDS
from zerosum.protocols.gtp_move_commands import MOVE_COMMANDS
from zerosum.protocols.gtp_params import GtpConfig
from zerosum.protocols.gtp_player import GtpPlayer
from zerosum.protocols.gtp_session import Command, GtpSession


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
        info = network_at(players.path, game=go)
        require_encoder(info, rules_for(info, go).spec)
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
        return GoRules.parse(name)
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
            clock: A monotonic clock in seconds.

        Raises:
            SettingsError: the game is not Go or has handicap stones, or the rules are not supported.
        """
        board = GtpBoard(game)
        if rules is not None:
            board.set_rules(rules)
        player = GtpPlayer(choose, config=config or GtpConfig(), time_config=time_config or TimeConfig(), clock=clock)
        self.session = GtpSession(board, player, write, warn, clock)

    def serve(self, lines: Iterable[str]) -> None:
        """Handle lines until they end or one of them is `quit`."""
        try:
            for line in lines:
                self.handle(line)
                if self.session.has_quit:
                    break
        finally:
            self.rest()

    def handle(self, line: str) -> None:
        """Handle a line: end the running analysis, obey and answer."""
        session = self.session
        self.rest()
        session.player.begin_turn()
        # Control characters are dropped, a tab counts as a blank (section 2.4 of GTP 2).
        words = re.sub(r"[\x00-\x08\x0a-\x1f\x7f]", "", line).partition("#")[0].split()
        if not words:
            return
        session.number = words.pop(0) if re.fullmatch("[0-9]+", words[0]) else ""
        name = words.pop(0) if words else ""
        try:
            if name not in COMMANDS:
                raise GameError("unknown command")
            if name not in WITHOUT_PLAYER:
                session.player.sit_down(session.board)
                session.warn_of_scoring()
            answer = COMMANDS[name](session, words)
        except ZerosumError as error:
            self._refuse(str(error))
            return
        except BrokenPipeError:
            raise  # the client has gone
        except Exception as error:
            # A bug of ours is reported, and the game goes on.
            session.warn(traceback.format_exc())
            self._refuse(f"internal error: {failure_text(error)}")
            return
        if answer is not None:
            session.write(f"={session.number} {answer}".rstrip() + "\n\n")
        if name in GENMOVES:
            session.player.ponder(session.board)

    def _refuse(self, message: str) -> None:
        self.session.write(f"?{self.session.number} {' '.join(message.split())}\n\n")

    def rest(self) -> None:
        """End a running analysis or pondering."""
        session = self.session
        session.player.stop()
        if session.is_analysing:
            session.is_analysing = False
            if failure := session.player.failure():
                session.warn(failure)
            session.write("\n")


def _protocol_version(_session: GtpSession, _words: list[str]) -> str:
    """The version of GTP."""
    return "2"


def _name(_session: GtpSession, _words: list[str]) -> str:
    """The program's name."""
    return "zerosum"


def _version(_session: GtpSession, _words: list[str]) -> str:
    """The program's version."""
    return __version__


def _known_command(_session: GtpSession, words: list[str]) -> str:
    """Whether a command of this name exists."""
    return str(words[:1] != [] and words[0] in COMMANDS).lower()


def _list_commands(_session: GtpSession, _words: list[str]) -> str:
    """The names of all commands, one per line."""
    return "\n".join(COMMANDS)


def _gogui_analyze_commands(_session: GtpSession, _words: list[str]) -> str:
    """Entries of GoGui's menu: type, label and command."""
    return "\n".join(
        (
            "string/Score/final_score",
            "plist/Dead Stones/final_status_list dead",
            "string/Rules/kata-get-rules",
            "none/Forget the search/clear_cache",
        )
    )


def _quit(session: GtpSession, _words: list[str]) -> str:
    """End the session."""
    session.has_quit = True
    return ""


def _nothing(_session: GtpSession, _words: list[str]) -> str:
    """Do nothing: every line already ends a running analysis."""
    return ""


COMMANDS: dict[str, Command] = {
    "protocol_version": _protocol_version,
    "name": _name,
    "version": _version,
    "known_command": _known_command,
    "list_commands": _list_commands,
    "quit": _quit,
    "stop": _nothing,
    "gogui-analyze_commands": _gogui_analyze_commands,
    **BOARD_COMMANDS,
    **MOVE_COMMANDS,
}
"""Commands by name, in the order in which they are listed."""
WITHOUT_PLAYER = {
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit", "gogui-analyze_commands"),
    *("boardsize", "rectangular_boardsize", "kata-list-params", "cputime", "gomill-cpu_time"),
}
"""Commands that need no player or load it themselves; any other command loads the player first."""
GENMOVES = {"genmove", "kgs-genmove_cleanup", "lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze"}
"""Commands after which the engine ponders, if pondering is on."""

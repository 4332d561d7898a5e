"""The common part of the UCI and USI engines: commands, one search at a time, and one answer for each `go`.

    engine = UciEngine(UciSetup(make("chess")), write=print)
    for line in sys.stdin:
        engine.obey(line)
    engine.close()

`obey` is called from one thread. The search's own thread writes results as soon as they are found. A line that cannot
be obeyed is answered by `info string` and changes nothing; only `quit` ends the engine. After a refused position,
`go` finds no move: a move of another position would be wrong.

During `go infinite` and `go ponder` an answer is *held* until `stop` or `ponderhit`, whatever ends the search.
`isready`, or else the first `go`, loads the network, after all options are set.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from zerosum._core import Root, uniform
from zerosum.base.errors import SettingsError, ZerosumError, nearest, shown
from zerosum.base.version import __version__
from zerosum.contest.clock import TimeLeft
from zerosum.contest.time_manager import TimeConfig, TimeManager
from zerosum.games import measure_game
from zerosum.notation.centipawns import MOST, centipawns
from zerosum.play.analysis import Analysis, AnalysisLine
from zerosum.play.background_search import BackgroundSearch
from zerosum.play.driver import Task, progress_of
from zerosum.play.mates import mate_finder
from zerosum.play.player import Player
from zerosum.play.skill import drawn_action
from zerosum.protocols.engine_setup import EngineSetup, failure_text
from zerosum.protocols.line_reports import board_lines, evaluation_lines, move_lines, perft_lines
from zerosum.protocols.line_words import GoWords, Position, read_go, read_position
from zerosum.search import SearchConfig

MATE_SHARE = 0.9
"""The share of the time of `go mate` for the search for forced results."""
Command = Callable[[str], None]
"""Obeys a command; its argument is the rest of the line after the first word."""


@dataclass
class Go:
    """One `go` that has not been answered yet."""

    words: GoWords
    position: Position
    left: TimeLeft
    is_held: bool
    manager: TimeManager | None = None
    """The search's time manager; None before the search."""
    report: Analysis | None = None
    """The latest report of the search."""
    answer: str | None = None
    """The answer to give once it is no longer held."""

    @property
    def is_infinite(self) -> bool:
        """Whether only `stop` releases the answer."""
        return "infinite" in self.words.flags

    @property
    def choices(self) -> list[int]:
        """The moves to choose from."""
        chosen = self.words.chosen
        return [action for action in self.position.legal if chosen is None or action in chosen]


class LineEngine(ABC):
    """An engine that obeys lines of a protocol."""

    protocol = ""
    """The word that asks for the handshake; the word with "ok" appended ends it."""
    new_game_word = ""
    colors = ""
    """The letters of the first and the second player's clocks in `go`."""
    no_move = ""
    """The word of `bestmove` for no move."""
    position_word = ""
    """The label of a position's text in `d`."""

    def __init__(
        self, setup: EngineSetup, *, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """An engine at the initial position.

        Args:
            setup: The game, the player and the settings; `setoption` changes them.
            write: Receives each line; called from two threads, never at the same time.
            clock: Seconds that never go back.
        """
        self.setup, self._write, self._clock = setup, write, clock
        self._position = Position.at_start(setup.game)
        self._refusal = ""  # why the latest position was refused, if it was
        self._num_go = 0
        self._engine: BackgroundSearch | None = None
        self._player: Player | None = None  # as loaded; the engine's may differ
        self._player_key: tuple[str, ...] = ()
        self._doubts: tuple[str, ...] = ()  # those told last
        self._config = SearchConfig()
        self._managers: dict[TimeConfig, TimeManager] = {}
        self._go: Go | None = None
        self._lock = threading.RLock()  # guards what both the search's and the caller's thread touch
        self._is_debugging = False
        self.is_over = False
        """True after `quit` or once the output is closed."""
        self._commands: dict[str, Command] = {
            self.protocol: self._shake_hands,
            "debug": self._debug,
            "isready": self._is_ready,
            "setoption": self._set_option,
            self.new_game_word: self._new_game,
            "position": self._set_position,
            "go": self._think,
            "d": self._draw,
            "eval": self._evaluate,
            "stop": self._stop,
            "ponderhit": self._ponderhit,
            "quit": self._quit,
            **self._more_commands(),
        }

    # Differences between protocols.

    @abstractmethod
    def _mate_in(self, num_plies: int) -> int:
        """The number of `score mate` for a mate in `num_plies` plies."""

    def _more_commands(self) -> dict[str, Command]:
        """Commands that only this protocol has."""
        return {}

    def _score(self, line: AnalysisLine) -> list[str]:
        """The `score` of a line, for the player to move."""
        if line.proven and abs(line.value) == 1:
            return ["score", "mate", str(round(line.value) * self._mate_in(len(line.actions)))]
        score = centipawns(line.value, self.setup.number("Eval_Coef"))
        return ["score", "cp", str(max(1 - MOST, min(score, MOST - 1)))]  # certain results are not estimates

    def _answer_unsearched(self, go: Go) -> str | None:
        """The answer if there is nothing to search; None if there is."""
        return None if go.choices else f"bestmove {self.no_move}"

    def _answer(self, go: Go, report: Analysis) -> str:
        """The answer after a search."""
        if not report.chosen:
            return self._answer_anyhow(go)
        move, *replies = go.position.texts(report.chosen[:2])
        ponder = f" ponder {replies[0]}" if replies and self.setup.is_set("Ponder") else ""
        return f"bestmove {move}{ponder}"

    def _answer_refused(self, go: Go) -> str:
        """The answer if the position was refused."""
        return f"bestmove {self.no_move}"

    def _answer_anyhow(self, go: Go) -> str:
        """The answer if the search found nothing: any legal move."""
        return " ".join(["bestmove", *(go.position.texts(go.choices[:1]) or (self.no_move,))])

    # Lines.

    def obey(self, line: str) -> None:
        """Obey a line. Words before the first known one are skipped, as both protocols demand."""
        found = next((word for word in re.finditer(r"\S+", line) if word[0] in self._commands), None)
        if found is None:
            if words := line.split():
                self._tell(f"Unknown command {shown(line.strip())}{nearest(words[0][:40], self._commands)}.")
            return
        try:
            self._commands[found[0]](line[found.end() :].strip())
        except ZerosumError as error:
            self._tell(str(error))
        except Exception as error:
            # A bug of ours is reported, and the game goes on.
            self._tell_failure(error)

    def close(self) -> None:
        """End a running search, whose answer is still written."""
        self._finish()

    def _say(self, line: str) -> None:
        with self._lock:
            try:
                self._write(line)
            except BrokenPipeError:
                self.is_over = True  # the output is closed

    def _tell(self, message: str) -> None:
        """Write a message for people, on one line."""
        self._say(f"info string {' '.join(message.split())}")

    def _tell_failure(self, error: Exception) -> None:
        self._tell(failure_text(error))
        if self._is_debugging:
            for line in "".join(traceback.format_exception(error)).splitlines():
                self._tell(line)

    def _shake_hands(self, _: str) -> None:
        self._say(f"id name zerosum {__version__}")
        self._say("id author The zerosum authors")
        for offered in self.setup.options.values():
            self._say(offered.line)
        self._say(f"{self.protocol}ok")

    def _debug(self, argument: str) -> None:
        """`debug on`: error messages include a traceback."""
        self._is_debugging = argument != "off"

    def _quit(self, _: str) -> None:
        self.is_over = True

    def _set_option(self, argument: str) -> None:
        """`name NAME value VALUE`; it acts from the next `isready` or `go` on."""
        said = re.fullmatch(r"name\s+(?P<name>.+?)(?:\s+value(?:\s+(?P<value>.*))?)?", argument)
        if said is None:
            raise SettingsError(f"setoption {shown(argument)}: expected setoption name NAME value VALUE.")
        setup, before = self.setup, self._position
        offered = setup.set(said["name"], said["value"] or "")
        if offered.listed.name == setup.name_of("Clear Hash"):
            self._new_game("")
        if offered.is_inert:
            self._tell(f"{offered.listed.name} {offered.meaning}.")
        if setup.game is not before.game:
            try:
                self._position = Position.after(setup.game, before.start_text, before.moves)
            except ZerosumError as error:
                self._position = Position.at_start(setup.game)
                self._tell(f"{setup.game.spec.full_name} begins at its start: {error}")

    def _set_position(self, argument: str) -> None:
        try:
            self._position = read_position(self.setup.game, argument, latest=self._position)
        except ZerosumError as error:
            self._refusal = str(error)
            raise
        self._refusal = ""

    def _new_game(self, _: str) -> None:
        self._finish()
        if self._engine is not None:
            self._engine.new_game()

    def _is_ready(self, _: str) -> None:
        if self._engine is None or not self._engine.is_thinking:
            self._ready()
        self._say("readyok")

    def _ready(self, *, proofs: bool = False, is_limited: bool = True) -> BackgroundSearch:
        """The search with the player and the settings that the options name."""
        setup = self.setup
        if self._player is None or setup.player_key != self._player_key:
            self._player, self._player_key = setup.load_player(self._tell), setup.player_key
            self._doubts = ()
        doubts = tuple(setup.doubts())
        for doubt in doubts:
            if doubt not in self._doubts:
                self._tell(doubt)
        self._doubts = doubts
        player = mate_finder(self._player) if proofs else self._player
        if self._engine is None or self._engine.player is not player:
            self._engine = BackgroundSearch(
                player,
                on_report=self._on_report,
                on_answer=self._on_answer,
                on_failure=self._on_failure,
                clock=self._clock,
            )
            self._config = player.config_by_time()
            self._managers.clear()
        config = setup.search_config(self._engine.player, proofs=proofs, is_limited=is_limited)
        if config != self._config:
            self._engine.change(config)
            self._config = config
            self._managers.clear()
        for is_exact in (False, True):
            self._manager(is_exact=is_exact)  # measures a new game
        return self._engine

    def _manager(self, *, is_exact: bool) -> TimeManager:
        config = self.setup.time_config(is_exact=is_exact)
        if config not in self._managers:
            self._managers[config] = TimeManager(
                config,
                typical_plies=measure_game(self.setup.game).plies,
                now=self._clock,
                num_batches=self._config.num_batches,
            )
        return self._managers[config]

    # Searches.

    def _think(self, argument: str) -> None:
        """`go`: begin a search, which is answered exactly once, and not while the answer is held."""
        arrived = self._clock()
        self._finish()
        words, position = self._read_go(argument), self._position
        if "perft" in words.numbers:
            self._perft(words.numbers["perft"])
            return
        go = Go(words, position, self._left(words.numbers, position), is_held=bool(words.flags))
        self._go = go
        if self._refusal:
            self._tell(f"No move, because the latest position was refused: {self._refusal}")
            self._conclude(go, self._answer_refused(go))
            return
        try:
            engine = self._ready(proofs="mate" in words.numbers, is_limited=not go.is_infinite)
            if (answer := self._answer_unsearched(go)) is not None:
                self._conclude(go, answer)
            else:
                self._search(engine, go, arrived)
        except Exception as error:
            self._on_failure(error)

    def _search(self, engine: BackgroundSearch, go: Go, arrived: float) -> None:
        numbers, manager = go.words.numbers, self._manager(is_exact="movetime" in go.words.numbers)
        is_game = not go.is_infinite and "mate" not in numbers
        temperature = self.setup.temperature if is_game else 0.0
        by_strength = self.setup.visits_of_strength(is_alpha_beta=engine.player.is_alpha_beta) if is_game else None
        given = (numbers.get("nodes"), self.setup.number("Simulations") or None, by_strength)
        limits = [max(limit, 1) for limit in given if limit]
        self._num_go += 1
        drawn = uniform(self.setup.seed, self._num_go, 0, "drawn move")
        allowed = () if go.words.chosen is None else tuple(go.choices)

        def choose(root: Root) -> int | None:
            if root.best_action is None:
                return None
            return drawn_action(root, drawn, temperature=temperature, allowed=allowed)

        is_open = not limits and not go.is_infinite and not {"depth", "mate"} & numbers.keys()
        own_number = self.setup.search_overrides.get("num_simulations", engine.player.config.num_simulations)

        def is_enough(root: Root, _: float) -> str | None:
            with self._lock:  # `ponderhit` changes these values
                reason = manager.stop_reason(progress_of(root))
                if is_open and not go.left.is_limited and root.num_simulations >= own_number:
                    reason = "simulations"
                is_played = "mate" in numbers or (go.left.is_limited and "movetime" not in numbers)
                if is_played and root.proven is not None:
                    reason = "proven"  # further lines matter only to analysis
                return None if go.is_held else reason

        engine.set_position(go.position.start, moves=go.position.actions)
        manager.begin(
            go.left,
            num_plies=go.position.state.plies,
            is_pondering=go.words.flags == {"ponder"},
            clock_since_s=arrived,
        )
        go.manager = manager
        engine.think(
            Task(
                num_visits=min(limits, default=None),
                depth=numbers.get("depth"),
                allowed=allowed,
                num_lines=self.setup.number("MultiPV"),
                line_share=self.setup.number("MultiPVShare") / 100,
                proof_share=MATE_SHARE if "mate" in numbers else Task.proof_share,
                choose=choose,
                is_enough=is_enough,
            )
        )

    def _left(self, numbers: Mapping[str, int], position: Position) -> TimeLeft:
        return TimeLeft.of_go(numbers, color=self.colors[position.game.player(position.state)])

    def _read_go(self, argument: str) -> GoWords:
        return read_go(argument, self._position, tell=self._tell)

    # Commands for people at a keyboard, like Stockfish's.

    def _known_position(self) -> Position:
        if self._refusal:
            raise SettingsError(f"The latest position was refused: {self._refusal}")
        return self._position

    def _draw(self, _: str) -> None:
        """`d`: print the board."""
        for line in board_lines(self._known_position(), text_word=self.position_word):
            self._say(line)

    def _evaluate(self, _: str) -> None:
        """`eval`: print the evaluator's output for the position, without a search."""
        position = self._known_position()
        if self._engine is None or not self._engine.is_thinking:
            self._ready()
        assert self._engine is not None
        coefficient = self.setup.number("Eval_Coef")
        for line in evaluation_lines(position, self._engine.player.evaluator, coefficient=coefficient):
            self._say(line)

    def _perft(self, depth: int) -> None:
        """`go perft N`: count the lines of play of N plies by their first moves, without a search."""
        for line in perft_lines(self._known_position(), depth):
            self._say(line)

    def _stop(self, _: str) -> None:
        self._finish()

    def _ponderhit(self, argument: str) -> None:
        """`ponderhit`: the expected move was played; in USI, clocks may follow."""
        numbers = self._read_go(argument).numbers
        with self._lock:
            go = self._go
            if go is None or not go.is_held or go.is_infinite:
                raise SettingsError("ponderhit: the engine is not pondering.")
            if numbers:
                go.left = self._left(numbers, go.position)
            if go.manager is not None:
                go.manager.ponderhit(go.left if numbers else None)
            self._release(go)

    def _finish(self) -> None:
        """End the running search, if there is one, and wait for its answer."""
        with self._lock:
            if self._go is not None:
                self._release(self._go)
        if self._engine is not None:
            self._engine.stop()  # without the lock, which the search's thread needs to answer
        self._go = None

    def _release(self, go: Go) -> None:
        """Allow the answer to be written."""
        go.is_held = False
        if go.answer is not None:
            self._say(go.answer)
            go.answer = None

    def _conclude(self, go: Go, answer: str) -> None:
        """Write the answer as soon as it may be written."""
        with self._lock:
            if go.is_held:
                go.answer = answer
            else:
                self._say(answer)

    # Called from the search's thread.

    def _on_report(self, report: Analysis) -> None:
        with self._lock:
            go, engine = self._go, self._engine
            assert go is not None and engine is not None
            go.report = report
            seconds = max(report.seconds, 0.001)
            for number, line in enumerate(report.lines, start=1):
                depth = report.depth or len(line.actions)
                words = [
                    "info",
                    "depth",
                    str(depth),
                    "seldepth",
                    str(max(depth, len(line.actions), report.root.deepest)),
                ]
                words += ["multipv", str(number), *self._score(line)]
                words += ["nodes", str(report.num_visits), "nps", str(round(report.num_simulations / seconds))]
                words += ["hashfull", str(round(1000 * engine.memory_used)), "time", str(round(1000 * report.seconds))]
                if engine.has_tables:
                    words += ["tbhits", str(report.num_table_hits)]
                # Both protocols let clients skip unknown words.
                words += ["visits", str(line.visits), "pv", *go.position.texts(line.actions)]
                self._say(" ".join(words))

    def _on_answer(self, report: Analysis) -> None:
        go = self._go
        assert go is not None
        self._on_report(report)
        if self.setup.is_set("VerboseMoveStats"):
            for line in move_lines(go.position, report.root):
                self._tell(line)
        self._tell(f"ended by: {report.stop_reason}")
        self._conclude(go, self._answer(go, report))
        if report.chosen and go.left.is_limited and not go.is_held and "movetime" not in go.words.numbers:
            # The clock of a game runs: the tree follows the move in the opponent's time.
            assert self._engine is not None
            self._engine.follow(report.chosen[0])

    def _on_failure(self, error: Exception) -> None:
        go = self._go
        assert go is not None
        self._tell_failure(error)
        answer = self._answer_anyhow(go)
        if go.report is not None:
            with contextlib.suppress(Exception):  # writing may be what failed
                answer = self._answer(go, go.report)
        self._conclude(go, answer)


def converse(engine: LineEngine, lines: Iterable[str]) -> None:
    """Obey lines until `quit`, their end, or a keyboard interrupt; a running search ends, too."""
    try:
        with contextlib.suppress(KeyboardInterrupt):
            for line in lines:
                engine.obey(line)
                if engine.is_over:
                    break
    finally:
        engine.close()

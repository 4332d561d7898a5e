"""What UCI and USI have in common: lines that ask, lines that answer, one search, and one answer for each `go`.

    engine = UciEngine(UciSetup(make("chess")), write=print)
    for line in sys.stdin:
        engine.obey(line)
    engine.close()

`obey` is called from one thread. What a search finds is written from the search's own thread, as soon as it is found.
A line that cannot be obeyed is answered by `info string` and changes nothing; no line ends the engine but `quit`. After
a position that was refused, `go` finds no move: one of another position would be wrong.

An answer is *held* while `go infinite` and `go ponder` are not to be answered: it is kept until `stop` or `ponderhit`,
whatever ends the search. Networks are loaded by `isready`, or by the first `go`, after whatever options came before.
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

from zerosum._core import Root, __version__, uniform
from zerosum.base.errors import SettingsError, ZerosumError, nearest, shown
from zerosum.contest.centipawns import MOST, centipawns
from zerosum.contest.clock import TimeLeft
from zerosum.contest.time_manager import Progress, TimeConfig, TimeManager
from zerosum.games import measure_game
from zerosum.play.analysis import Analysis, AnalysisLine
from zerosum.play.driver import Task
from zerosum.play.engine import Engine
from zerosum.play.mates import mate_finder
from zerosum.play.player import Player
from zerosum.play.skill import MOST_SKILL, drawn_action, simulations_of
from zerosum.protocols.engine_setup import EngineSetup, failure_text
from zerosum.protocols.line_reports import board_lines, evaluation_lines, move_lines, perft_lines
from zerosum.protocols.line_words import GoWords, Position, read_go, read_position
from zerosum.search import SearchConfig

Command = Callable[[str], None]
"""Obeys a line, told what stands behind its first word."""


@dataclass
class Go:
    """One `go` on its way to its answer."""

    words: GoWords
    position: Position
    left: TimeLeft
    is_held: bool
    manager: TimeManager | None = None
    """Of the search; None before it."""
    report: Analysis | None = None
    """The latest."""
    answer: str | None = None
    """What will be said once it is not held any more."""

    @property
    def is_infinite(self) -> bool:
        """Nothing but `stop` lets it be answered."""
        return "infinite" in self.words.flags

    @property
    def choices(self) -> list[int]:
        """The moves to choose from."""
        chosen = self.words.chosen
        return [action for action in self.position.legal if chosen is None or action in chosen]


class LineEngine(ABC):
    """An engine that is told what to do by lines."""

    protocol = ""
    """The word that asks for the handshake; with "ok" behind it it ends it."""
    new_game_word = ""
    colors = ""
    """What `go` calls the clocks of the first and of the second player."""
    no_move = ""
    """What `bestmove` says where there is none."""
    position_word = ""
    """How `d` calls the text of a position."""

    def __init__(
        self, setup: EngineSetup, *, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """An engine at the initial position.

        Args:
            setup: What to be; `setoption` changes it.
            write: Takes each line that is said; called from two threads, never at once.
            clock: Seconds that never go back.
        """
        self.setup, self._write, self._clock = setup, write, clock
        self._position = Position.at_start(setup.game)
        self._refusal = ""  # why the latest position was refused, if it was
        self._num_go = 0
        self._engine: Engine | None = None
        self._player: Player | None = None  # as it was loaded; the engine's may be another one
        self._player_key: tuple[str, ...] = ()
        self._config = SearchConfig()
        self._managers: dict[TimeConfig, TimeManager] = {}
        self._go: Go | None = None
        self._lock = threading.RLock()  # of what both the search's thread and the caller's touch
        self._is_debugging = False
        self.is_over = False
        """After `quit`, or when nobody listens any more."""
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

    # What protocols differ in.

    @abstractmethod
    def _mate_in(self, num_plies: int) -> int:
        """The number of `score mate` for an end of the game in so many plies."""

    def _more_commands(self) -> dict[str, Command]:
        """Words of this protocol alone."""
        return {}

    def _score(self, line: AnalysisLine) -> list[str]:
        """The words of a line's score, for the player to move."""
        if line.proven and abs(line.value) == 1:
            return ["score", "mate", str(round(line.value) * self._mate_in(len(line.actions)))]
        score = centipawns(line.value, self.setup.number("Eval_Coef"))
        return ["score", "cp", str(max(1 - MOST, min(score, MOST - 1)))]  # what is certain is a mate or a drawn game

    def _answer_unsearched(self, go: Go) -> str | None:
        """The answer where there is nothing to search; None if there is."""
        return None if go.choices else f"bestmove {self.no_move}"

    def _answer(self, go: Go, report: Analysis) -> str:
        """The answer after a search."""
        if not report.chosen:
            return self._answer_anyhow(go)
        move, *replies = go.position.texts(report.chosen[:2])
        ponder = f" ponder {replies[0]}" if replies and self.setup.is_set("Ponder") else ""
        return f"bestmove {move}{ponder}"

    def _answer_refused(self, go: Go) -> str:
        """The answer where the position was refused."""
        return f"bestmove {self.no_move}"

    def _answer_anyhow(self, go: Go) -> str:
        """The answer where the search found nothing: any legal move."""
        return " ".join(["bestmove", *(go.position.texts(go.choices[:1]) or (self.no_move,))])

    # Lines.

    def obey(self, line: str) -> None:
        """Do what a line says. Words before the first known one are skipped, as both protocols demand."""
        found = next((word for word in re.finditer(r"\S+", line) if word[0] in self._commands), None)
        if found is None:
            if words := line.split():
                self._tell(f"Unknown command {shown(line.strip())}: {nearest(words[0][:40], self._commands)}.")
            return
        try:
            self._commands[found[0]](line[found.end() :].strip())
        except ZerosumError as error:
            self._tell(str(error))
        except Exception as error:
            # A bug of ours: who relies on us in the middle of a game hears of it, and goes on.
            self._tell_failure(error)

    def close(self) -> None:
        """End a search under way, which is still answered."""
        self._finish()

    def _say(self, line: str) -> None:
        with self._lock:
            try:
                self._write(line)
            except BrokenPipeError:
                self.is_over = True  # nobody listens any more

    def _tell(self, message: str) -> None:
        """Something for people, on one line whatever it is."""
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
        """`debug on`: failures come with the place where they happened."""
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

    def _ready(self, *, proofs: bool = False, is_limited: bool = True) -> Engine:
        """The engine with the player and the settings that the options ask for."""
        setup = self.setup
        if self._player is None or setup.player_key != self._player_key:
            self._player, self._player_key = setup.load_player(self._tell), setup.player_key
        player = mate_finder(self._player) if proofs else self._player
        if self._engine is None or self._engine.player is not player:
            self._engine = Engine(
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
            self._manager(is_exact=is_exact)  # which measures the game when it is first met
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
        """`go`: whatever stands behind it, it is answered once, and not before it may be."""
        arrived = self._clock()
        self._finish()
        words, position = self._read_go(argument), self._position
        if "perft" in words.numbers:
            self._perft(words.numbers["perft"])
            return
        go = Go(words, position, self._left(words.numbers, position), is_held=bool(words.flags))
        self._go = go
        if self._refusal:
            self._tell(f"No move, for the latest position was refused: {self._refusal}")
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

    def _search(self, engine: Engine, go: Go, arrived: float) -> None:
        numbers, manager = go.words.numbers, self._manager(is_exact="movetime" in go.words.numbers)
        is_game = not go.is_infinite and "mate" not in numbers
        skill, temperature = (self.setup.skill, self.setup.temperature) if is_game else (MOST_SKILL, 0.0)
        by_skill = simulations_of(skill) if skill < MOST_SKILL else None
        given = (numbers.get("nodes"), self.setup.number("Simulations") or None, by_skill)
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
            with self._lock:  # `ponderhit` changes what is looked at
                reason = manager.limit(Progress.of(root))
                if is_open and not go.left.is_limited and root.num_simulations >= own_number:
                    reason = "simulations"
                is_played = "mate" in numbers or (go.left.is_limited and "movetime" not in numbers)
                if is_played and root.proven is not None:
                    reason = "proven"  # further lines are for those who analyse
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
                choose=choose,
                is_enough=is_enough,
            )
        )

    def _left(self, numbers: Mapping[str, int], position: Position) -> TimeLeft:
        return TimeLeft.of_go(numbers, color=self.colors[position.game.player(position.state)])

    def _read_go(self, argument: str) -> GoWords:
        return read_go(argument, self._position, tell=self._tell)

    # What people ask at a keyboard, as they ask Stockfish.

    def _known_position(self) -> Position:
        if self._refusal:
            raise SettingsError(f"The latest position was refused: {self._refusal}")
        return self._position

    def _draw(self, _: str) -> None:
        """`d`: the board."""
        for line in board_lines(self._known_position(), text_word=self.position_word):
            self._say(line)

    def _evaluate(self, _: str) -> None:
        """`eval`: what the evaluator says of the position, without a search."""
        position = self._known_position()
        if self._engine is None or not self._engine.is_thinking:
            self._ready()
        assert self._engine is not None
        coefficient = self.setup.number("Eval_Coef")
        for line in evaluation_lines(position, self._engine.player.evaluator, coefficient=coefficient):
            self._say(line)

    def _perft(self, depth: int) -> None:
        """`go perft N`: lines of play of N plies, by their first moves. No move is played."""
        for line in perft_lines(self._known_position(), depth):
            self._say(line)

    def _stop(self, _: str) -> None:
        self._finish()

    def _ponderhit(self, argument: str) -> None:
        """The expected move was played; in USI, clocks may stand behind it."""
        numbers = self._read_go(argument).numbers
        with self._lock:
            go = self._go
            if go is None or not go.is_held or go.is_infinite:
                raise SettingsError("ponderhit: nobody ponders.")
            if numbers:
                go.left = self._left(numbers, go.position)
            if go.manager is not None:
                go.manager.ponderhit(go.left if numbers else None)
            self._release(go)

    def _finish(self) -> None:
        """End the search under way, if there is one, and see it answered."""
        with self._lock:
            if self._go is not None:
                self._release(self._go)
        if self._engine is not None:
            self._engine.stop()  # not with the lock: the search's thread needs it for its answer
        self._go = None

    def _release(self, go: Go) -> None:
        """From now on it may be answered."""
        go.is_held = False
        if go.answer is not None:
            self._say(go.answer)
            go.answer = None

    def _conclude(self, go: Go, answer: str) -> None:
        """Answer as soon as that is allowed."""
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
                depth = len(line.actions)
                words = ["info", "depth", str(depth), "seldepth", str(max(depth, report.root.deepest))]
                words += ["multipv", str(number), *self._score(line)]
                words += ["nodes", str(report.num_visits), "nps", str(round(report.num_simulations / seconds))]
                words += ["hashfull", str(round(1000 * engine.memory_used)), "time", str(round(1000 * report.seconds))]
                # Both protocols have clients skip words that they do not know.
                words += ["visits", str(line.visits), "pv", *go.position.texts(line.actions)]
                self._say(" ".join(words))

    def _on_answer(self, report: Analysis) -> None:
        go = self._go
        assert go is not None
        self._on_report(report)
        if self.setup.is_set("VerboseMoveStats"):
            for line in move_lines(go.position, report.root):
                self._tell(line)
        self._tell(f"ended by: {report.limit}")
        self._conclude(go, self._answer(go, report))

    def _on_failure(self, error: Exception) -> None:
        go = self._go
        assert go is not None
        self._tell_failure(error)
        answer = self._answer_anyhow(go)
        if go.report is not None:
            with contextlib.suppress(Exception):  # which may be what failed
                answer = self._answer(go, go.report)
        self._conclude(go, answer)


def converse(engine: LineEngine, lines: Iterable[str]) -> None:
    """Obey lines until `quit`, their end, or an interrupt from the keyboard; a search under way ends, too."""
    try:
        with contextlib.suppress(KeyboardInterrupt):
            for line in lines:
                engine.obey(line)
                if engine.is_over:
                    break
    finally:
        engine.close()

"""What UCI and USI have in common: lines that ask, lines that answer, one search, and one answer for each `go`.

    engine = UciEngine(make("chess"), write=print)
    for line in sys.stdin:
        engine.obey(line)
    engine.close()

`obey` is called from one thread. What a search finds is written from the search's own thread, as soon as it is found.
A line that cannot be obeyed is answered by `info string` and changes nothing; no line ends the engine but `quit`.

An answer is *held* while `go infinite` and `go ponder` are not to be answered: it is kept until `stop` or `ponderhit`,
whatever ends the search. Networks are loaded by `isready`, or by the first `go`, after whatever options came before.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zerosum._core import Root, __version__
from zerosum.backends import BACKENDS
from zerosum.errors import SettingsError, ZerosumError, nearest, shown
from zerosum.games import Rules, measure_game, with_options
from zerosum.play.choice import ChosenPlayer, choose_player, describe_network
from zerosum.play.clock import TimeLeft
from zerosum.play.engine import Engine, Line, Report, Task
from zerosum.play.engine_options import OfferedOption, check, combo, spin, text
from zerosum.play.line_words import GoWords, Position, centipawns, read_go, read_position
from zerosum.play.player import DEFAULT_ROLLOUTS, LEAVES_A_BATCH, MOST_SIMULATIONS, Player, rollouts
from zerosum.play.time_manager import Progress, TimeConfig, TimeManager
from zerosum.search import SearchConfig
from zerosum.settings import parse_value

OpenPlayer = Callable[..., ChosenPlayer]
"""As `zerosum.play.choice.choose_player`."""

Command = Callable[[str], None]
"""Obeys a line, told what stands behind its first word."""

NO_CAP = "65535"
"""Plies after which a game ends here, where nobody says otherwise: a person's may be longer than a training's."""
MOST_LINES = 256
MOST_THREADS = 256
MOST_LEAVES = 4096
MOST_HASH_MIB = 1 << 20
MOST_OVERHEAD_MS = 60_000
NEWEST = "<newest>"
"""The value of `WeightsFile` that leaves the choice to `choose_player`."""
SECTIONS: dict[str, type[Any]] = {"search": SearchConfig, "time": TimeConfig}


@dataclass
class Go:
    """One `go` on its way to its answer."""

    words: GoWords
    position: Position
    left: TimeLeft
    is_held: bool
    manager: TimeManager | None = None
    """Of the search; None before it."""
    report: Report | None = None
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
    names: ClassVar[Mapping[str, str]] = {}
    """Options that the protocol calls otherwise."""
    eval_coefficient = 0
    """The default of `Eval_Coef`."""

    def __init__(
        self,
        game: Rules,
        *,
        write: Callable[[str], None],
        weights: Path | None = None,
        overrides: Sequence[str] = (),
        open_player: OpenPlayer = choose_player,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """An engine at the initial position.

        Args:
            game: What to play, until an option says otherwise. Its ply cap is left out: there is an option for one.
            write: Takes each line that is said; called from two threads, never at once.
            weights: A run or checkpoint, instead of the newest run of the game.
            overrides: Settings as `search.name=value` or `time.name=value`, which go before the run's.
            open_player: Who plays.
            clock: Seconds that never go back.

        Raises:
            SettingsError: `weights` is not there, or an override is unknown or out of range.
            DataError: `weights` is no checkpoint.
        """
        if weights is not None:
            _require_path(str(weights))
        self._asked_game, self._write, self._clock, self._open_player = game, write, clock, open_player
        overrides_of = _parse_overrides(overrides)
        self._search_overrides, self._time = overrides_of["search"], TimeConfig(**overrides_of["time"])
        SearchConfig(**self._search_overrides)  # refuses what is out of range
        self._network = describe_network(game, weights)
        self._options = {offered.listed.name: offered for offered in self._offer(weights)}
        self._values = {name: offered.listed.default for name, offered in self._options.items()}
        self._game = uncapped(self._game_asked())
        self._position = Position.at_start(self._game)
        self._was_refused = False  # the latest position
        self._engine: Engine | None = None
        self._loaded: tuple[str, ...] = ()
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
            "stop": self._stop,
            "ponderhit": self._ponderhit,
            "quit": self._quit,
            **self._more_commands(),
        }

    # What protocols differ in.

    @abstractmethod
    def _game_asked(self) -> Rules:
        """The game that the options ask for."""

    @abstractmethod
    def _mate_in(self, num_plies: int) -> int:
        """The number of `score mate` for an end of the game in so many plies."""

    def _more_commands(self) -> dict[str, Command]:
        """Words of this protocol alone."""
        return {}

    def _offer_more(self) -> Iterable[OfferedOption]:
        """Options of this protocol alone."""
        return ()

    def _score(self, line: Line) -> list[str]:
        """The words of a line's score, for the player to move."""
        if line.proven and abs(line.value) == 1:
            return ["score", "mate", str(round(line.value) * self._mate_in(len(line.actions)))]
        return ["score", "cp", str(centipawns(line.value, self._number("Eval_Coef")))]

    def _answer_unsearched(self, go: Go) -> str | None:
        """The answer where there is nothing to search; None if there is."""
        return None if go.choices else f"bestmove {self.no_move}"

    def _answer(self, go: Go, report: Report) -> str:
        """The answer after a search."""
        if not report.lines:
            return self._answer_anyhow(go)
        move, *replies = go.position.texts(report.lines[0].actions[:2])
        ponder = f" ponder {replies[0]}" if replies and self._is_set("Ponder") else ""
        return f"bestmove {move}{ponder}"

    def _answer_anyhow(self, go: Go) -> str:
        """The answer where the search found nothing: any legal move."""
        return " ".join(["bestmove", *(go.position.texts(go.choices[:1]) or [self.no_move])])

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
        self._tell(str(error) if isinstance(error, ZerosumError) else f"{type(error).__name__}: {error}")
        if self._is_debugging:
            for line in "".join(traceback.format_exception(error)).splitlines():
                self._tell(line)

    def _shake_hands(self, _: str) -> None:
        self._say(f"id name zerosum {__version__}")
        self._say("id author The zerosum authors")
        for offered in self._options.values():
            self._say(offered.line)
        self._say(f"{self.protocol}ok")

    def _debug(self, argument: str) -> None:
        """`debug on`: failures come with the place where they happened."""
        self._is_debugging = argument != "off"

    def _quit(self, _: str) -> None:
        self.is_over = True

    # Options.

    def _offer(self, weights: Path | None) -> Iterator[OfferedOption]:
        memory, name_of = self._search_overrides.get("memory_mib", SearchConfig().memory_mib), self._name_of
        yield spin(
            "Threads",
            0,
            0,
            MOST_THREADS,
            "batches of positions that are evaluated at a time, each by a thread of its own;"
            " 0 is one a core, or two on a GPU",
        )
        yield spin(name_of("Hash"), memory, 1, MOST_HASH_MIB, "the most mebibytes of the search tree")
        yield check(name_of("Ponder"), False, "whether `bestmove` names the reply to ponder on")
        yield spin("MultiPV", 1, 1, MOST_LINES, "moves that are reported, the best first")
        yield spin("MultiPVShare", 5, 0, 100, "percentage of all visits that each of several such moves gets at least")
        yield spin(
            name_of("Move Overhead"),
            round(1000 * self._time.overhead_s),
            0,
            MOST_OVERHEAD_MS,
            "milliseconds of each move that pass outside of the engine",
        )
        yield combo("TimeManager", self._time.manager, ("adaptive", "paper"), "how clocks are used, see below")
        yield spin("Simulations", 0, 0, MOST_SIMULATIONS, "the most simulations a move, whatever `go` says; 0 is none")
        yield text(
            "WeightsFile",
            str(weights or NEWEST),
            "a run or a checkpoint; `<newest>` is the newest run of the game, or rollouts if there is none",
        )
        yield combo("Backend", "auto", BACKENDS, "the library that evaluates the network")
        yield spin("Eval_Coef", self.eval_coefficient, 1, 10_000, "the scale of centipawns, see below")
        yield from self._offer_more()

    def _name_of(self, name: str) -> str:
        return self.names.get(name, name)

    def _value(self, name: str) -> str:
        return self._values[self._name_of(name)]

    def _number(self, name: str) -> int:
        return int(self._value(name))

    def _is_set(self, name: str) -> bool:
        return self._values.get(self._name_of(name)) == "true"

    def _set_option(self, argument: str) -> None:
        """`name NAME value VALUE`; it acts from the next `isready` or `go` on."""
        said = re.fullmatch(r"name\s+(?P<name>.+?)(?:\s+value(?:\s+(?P<value>.*))?)?", argument)
        if said is None:
            raise SettingsError(f"setoption {shown(argument)}: expected setoption name NAME value VALUE.")
        name = next((known for known in self._options if known.casefold() == said["name"].casefold()), None)
        if name is None:
            raise SettingsError(f"No option {shown(said['name'])}: {nearest(said['name'][:40], self._options)}.")
        offered = self._options[name]
        value = offered.read(said["value"] or "")
        if name == "WeightsFile" and value not in ("", NEWEST):
            _require_path(value)
        if offered.is_inert:
            self._tell(f"{name} {offered.meaning}.")
        before, self._values[name] = self._values[name], value
        try:
            self._change_game(uncapped(self._game_asked()))
        except ZerosumError:
            self._values[name] = before
            raise

    def _change_game(self, game: Rules) -> None:
        if game.spec.full_name == self._game.spec.full_name:
            return
        self._game, before = game, self._position
        try:
            self._position = Position.after(game, before.start_text, before.moves)
        except ZerosumError as error:
            self._position = Position.at_start(game)
            self._tell(f"{game.spec.full_name} begins at its start: {error}")

    # Positions.

    def _set_position(self, argument: str) -> None:
        self._was_refused = True
        self._position = read_position(self._game, argument, latest=self._position)
        self._was_refused = False

    # The player.

    def _new_game(self, _: str) -> None:
        self._finish()
        if self._engine is not None:
            self._engine.new_game()

    def _is_ready(self, _: str) -> None:
        if self._engine is None or not self._engine.is_thinking:
            self._ready()
        self._say("readyok")

    def _ready(self, *, proofs: bool = False) -> Engine:
        """The engine with the player and the settings that the options ask for."""
        weights, backend = self._value("WeightsFile"), self._value("Backend")
        wanted = (self._game.spec.full_name, weights, backend)
        if self._engine is None or wanted != self._loaded:
            player = self._load(None if weights in ("", NEWEST) else Path(weights), backend)
            self._engine = Engine(
                player,
                on_report=self._on_report,
                on_answer=self._on_answer,
                on_failure=self._on_failure,
                clock=self._clock,
            )
            self._loaded, self._config = wanted, player.config_by_time()
            self._managers.clear()
        if (config := self._search_config(self._engine.player, proofs=proofs)) != self._config:
            self._engine.change(config)
            self._config = config
            self._managers.clear()
        for is_exact in (False, True):
            self._manager(is_exact=is_exact)  # which measures the game when it is first met
        return self._engine

    def _load(self, weights: Path | None, backend: str) -> Player:
        """The player asked for, ready to answer.

        If it cannot be had, it is who plays where nobody is named, and at last rollouts: a game may wait for a move.
        """
        game = self._game_asked()
        for path in dict.fromkeys((weights, None)):
            try:
                self._network = describe_network(game, path)
                chosen = self._open_player(game, path, backend=backend)
                # Networks are compiled for a batch of some size when it is first met: not on somebody's clock.
                for size in (1, 4, LEAVES_A_BATCH):
                    chosen.player.evaluator.evaluate(game.encode([game.initial_state()] * size))
            except Exception as error:
                self._tell_failure(error)
            else:
                self._tell(chosen.sentence)
                return chosen.player.at(self._game if self._network is not None else _with_ends(game))
        self._network = None
        self._tell("Playing with uniform priors and rollouts instead.")
        return rollouts(game, DEFAULT_ROLLOUTS, seed=0).player(_with_ends(game))

    def _search_config(self, player: Player, *, proofs: bool) -> SearchConfig:
        """The player's settings with what options and the command line say; `proofs` looks for certain results."""
        config = player.config_by_time()
        if threads := self._number("Threads"):
            leaves_a_batch = -(-config.leaves_in_flight // config.batches_in_flight)
            leaves = min(threads * leaves_a_batch, MOST_LEAVES)
            config = replace(config, leaves_in_flight=leaves, batches_in_flight=threads)
        config = replace(config, **self._search_overrides)
        config = replace(config, memory_mib=self._number("Hash"), keep_draws=config.keep_draws or self._shows_draws)
        return replace(config, exact_bounds=True, twofold_draw=False) if proofs else config

    @property
    def _knows_draws(self) -> bool:
        """Whether the network tells draws from even fights."""
        return self._network is not None and self._network.network.value_head == "wdl"

    @property
    def _shows_draws(self) -> bool:
        """Whether reports say how likely they are."""
        return False

    def _manager(self, *, is_exact: bool) -> TimeManager:
        """The manager of searches by clocks, or of those that have a time of their own."""
        config = replace(
            self._time,
            manager=self._value("TimeManager"),
            overhead_s=self._number("Move Overhead") / 1000,
            stop_early=self._time.stop_early and not is_exact,
        )
        if config not in self._managers:
            self._managers[config] = TimeManager(
                config,
                typical_plies=measure_game(self._game).plies,
                now=self._clock,
                num_batches=self._config.batches_in_flight,
            )
        return self._managers[config]

    # Searches.

    def _think(self, argument: str) -> None:
        """`go`: whatever stands behind it, it is answered once, and not before it may be."""
        arrived = self._clock()
        self._finish()
        words, position = self._read_go(argument), self._position
        go = Go(words, position, self._left(words.numbers, position), is_held=bool(words.flags))
        self._go = go
        try:
            engine = self._ready(proofs="mate" in words.numbers)
            if (answer := self._answer_unsearched(go)) is not None:
                self._conclude(go, answer)
            else:
                self._search(engine, go, arrived)
        except Exception as error:
            self._on_failure(error)

    def _search(self, engine: Engine, go: Go, arrived: float) -> None:
        numbers, manager = go.words.numbers, self._manager(is_exact="movetime" in go.words.numbers)
        limits = [max(limit, 1) for limit in (numbers.get("nodes"), self._number("Simulations") or None) if limit]
        is_open = not limits and not go.is_infinite and not {"depth", "mate"} & numbers.keys()
        own_number = self._search_overrides.get("num_simulations", engine.player.config.num_simulations)

        def is_enough(root: Root, _: float) -> str | None:
            with self._lock:  # `ponderhit` changes what is looked at
                reason = manager.limit(progress_of(root))
                if is_open and not go.left.is_limited and root.num_simulations >= own_number:
                    reason = "simulations"
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
                simulations=min(limits, default=None),
                depth=numbers.get("depth"),
                allowed=() if go.words.chosen is None else tuple(go.choices),
                num_lines=self._number("MultiPV"),
                line_share=self._number("MultiPVShare") / 100,
                is_enough=is_enough,
            )
        )

    def _left(self, numbers: Mapping[str, int], position: Position) -> TimeLeft:
        return TimeLeft.of_go(numbers, color=self.colors[position.game.player(position.state)])

    def _read_go(self, argument: str) -> GoWords:
        return read_go(argument, self._position, tell=self._tell)

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

    def _on_report(self, report: Report) -> None:
        with self._lock:
            go, engine = self._go, self._engine
            assert go is not None and engine is not None
            go.report = report
            seconds = max(report.seconds, 0.001)
            for number, line in enumerate(report.lines, start=1):
                words = ["info", "depth", str(len(line.actions)), "multipv", str(number), *self._score(line)]
                words += ["nodes", str(report.simulations), "nps", str(round(report.new_simulations / seconds))]
                words += ["hashfull", str(round(1000 * engine.memory_used)), "time", str(round(1000 * report.seconds))]
                # Both protocols have clients skip words that they do not know.
                words += ["visits", str(line.visits), "pv", *go.position.texts(line.actions)]
                self._say(" ".join(words))

    def _on_answer(self, report: Report) -> None:
        go = self._go
        assert go is not None
        self._on_report(report)
        self._tell(f"ended by: {report.limit}")
        self._conclude(go, self._answer(go, report))

    def _on_failure(self, error: Exception) -> None:
        go = self._go
        assert go is not None
        self._tell_failure(error)
        self._conclude(go, self._answer_anyhow(go) if go.report is None else self._answer(go, go.report))


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


def progress_of(root: Root) -> Progress:
    """What a time manager is told of a search."""
    visits, best = root.visits, root.best_action
    if best is None or not visits.any():
        return Progress(0, 0, 0, True, len(visits), 0)
    index = int(np.searchsorted(root.actions, best))
    others = np.delete(visits, index)
    return Progress(
        best_action=best,
        best_visits=int(visits[index]),
        second_visits=int(others.max(initial=0)),
        is_best_by_value=bool(root.q[index] >= np.nanmax(root.q)),
        num_moves=len(visits),
        num_simulations=root.num_simulations - root.num_reused,
    )


def uncapped(game: Rules) -> Rules:
    """The game without its ply cap, unless that was asked for."""
    return game if "max_plies=" in game.spec.options else with_options(game, max_plies=NO_CAP)


def _with_ends(game: Rules) -> Rules:
    """The game for random play, which without a ply cap may go on for ever: with one that no game of people's meets."""
    return with_options(game, max_plies=str(min(4 * game.spec.max_plies, int(NO_CAP))))


def _parse_overrides(overrides: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`section.name=value`, by section."""
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for override in overrides:
        path, equals, value = override.partition("=")
        section, dot, name = path.strip().partition(".")
        if not equals or not dot or section not in SECTIONS:
            raise SettingsError(
                f"{override!r} is no setting of an engine: write search.name=value or time.name=value, such as"
                " search.c_init=1.5."
            )
        values[section][name] = parse_value(SECTIONS[section], name, value.strip(), section)
    return values


def _require_path(path: str) -> None:
    if not os.path.exists(path):  # which no text upsets
        raise SettingsError(f"{path} is not there: name a run directory or a checkpoint's JSON.")

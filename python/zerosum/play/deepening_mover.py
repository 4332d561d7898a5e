"""Our alpha-beta search as a player of matches: `DeepeningProgram`, and its mover at one board."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

from zerosum._core import DEEPENING_PARTS, DeepeningSearch, Iteration, Leaves, Root, UpdatableNetwork, uniform
from zerosum.base.errors import SettingsError, nearest, shown
from zerosum.base.settings import true_or_false
from zerosum.contest.adjudication import Score, moves_to_mate
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import Answer, MoveLimits, Mover, Thought
from zerosum.games import Rules, State, start_state
from zerosum.games.rules import with_planes_of
from zerosum.network.evaluators import Evaluator
from zerosum.network.evaluators.updatable import UpdatableEvaluator, value_of
from zerosum.play.analysis import win_rate
from zerosum.play.deepening_driver import ENTRIES_PER_MIB
from zerosum.play.origin import ALPHA_BETA_NODES
from zerosum.play.skill import drawn_action
from zerosum.search.config import ExactTables, SearchConfig, exact_tables

DEFAULT_TABLE_MIB = 64
MOST_TABLE_MIB = 1 << 16
OPTIONS = "hash", "disturbance", "syzygy_path", "table_files"
"""Options besides the parts of the search: MiB of the transposition table, a share, a folder, files."""
OVERHEAD_S = 0.02
"""Time of a move that is left for the way to the clock."""
MOVES_LEFT = 25
"""The share of the remaining time for a move is one in so many, if the clock does not say how many moves are left."""
INCREMENT_SHARE = 0.8
"""The share of an increment that is used at once."""
MOST_SHARE = 0.4
"""Largest share of the remaining time for one move."""


@dataclass(frozen=True)
class DeepeningProgram:
    """An alpha-beta search with an updatable network, with any other evaluator, or with material.

    Another evaluator gets one position at a time. Without one the search counts the game's material.
    """

    network: str = ""
    """Identity of the network, for results and files."""
    evaluator: Evaluator | None = field(default=None, repr=False)
    planes_of: Rules | None = field(default=None, repr=False)
    """A game with the planes of the network; None for those of every game."""
    nodes: int = ALPHA_BETA_NODES
    """Positions that are visited for a move without another limit."""
    table_mib: int = DEFAULT_TABLE_MIB
    parts: tuple[str, ...] | None = None
    """The parts of the search that are switched on; None for all (`zerosum._core.DEEPENING_PARTS`)."""
    disturbance: float = 0.0
    """As that of `DeepeningSearch`."""
    syzygy_path: str = ""
    """As `search.syzygy_path`."""
    table_files: str = ""
    """As `search.table_files`."""
    temperature: float = 0.0
    """The temperature at which moves are drawn (`zerosum.play.skill.drawn_action`), N in positions; 0: the best."""
    seed: int = 0
    """As that of `DeepeningSearch`; it also keys drawn moves."""

    def open(self, game: Rules) -> DeepeningMover:
        """A mover for one board."""
        return DeepeningMover(game if self.planes_of is None else with_planes_of(game, self.planes_of), self)

    def with_options(self, options: Mapping[str, str]) -> DeepeningProgram:
        """The same search with options: those of `OPTIONS`, and `true` or `false` for each of its parts.

        Raises:
            SettingsError: an option is unknown, or a value is invalid.
        """
        switched, program = dict.fromkeys(DEEPENING_PARTS, True), self
        for name, value in options.items():
            if name == "hash":
                mib = int(value) if value.isascii() and value.isdecimal() else 0
                if not 1 <= mib <= MOST_TABLE_MIB:
                    raise SettingsError(f"option.hash is {shown(value)}, expected 1 to {MOST_TABLE_MIB} MiB.")
                program = replace(program, table_mib=mib)
            elif name == "disturbance":
                program = replace(program, disturbance=_disturbance(value))
            elif name == "syzygy_path":
                program = replace(program, syzygy_path=value)
            elif name == "table_files":
                program = replace(program, table_files=value)
            elif name in switched:
                switched[name] = true_or_false(f"option.{name}", value)
            else:
                known = [*OPTIONS, *DEEPENING_PARTS]
                raise SettingsError(f"our alpha-beta search has no option {shown(name)}{nearest(name, known)}.")
        if all(switched.values()):
            return program
        return replace(program, parts=tuple(name for name, is_on in switched.items() if is_on))

    def tables(self, game: Rules) -> ExactTables:
        """The tables of exact results, which are read once.

        Raises:
            SettingsError, DataError: they cannot be used.
        """
        return exact_tables(game, SearchConfig(syzygy_path=self.syzygy_path, table_files=self.table_files))

    def new_search(self, game: Rules) -> DeepeningSearch:
        """The search of one board.

        Raises:
            SettingsError, DataError, GameError: the tables cannot be used, or are of another game.
        """
        tables = self.tables(game)
        evaluation: UpdatableNetwork | Callable[[Leaves], float] | None = None
        piece_values = list[int]()
        if isinstance(self.evaluator, UpdatableEvaluator):
            evaluation, piece_values = self.evaluator.network, self.evaluator.piece_values
        elif self.evaluator is not None:
            evaluation = _one_by_one(self.evaluator)
        return DeepeningSearch(
            game,
            evaluation,
            piece_values=piece_values,
            table_entries=self.table_mib * ENTRIES_PER_MIB,
            syzygy=tables.syzygy,
            results=tables.results,
            parts=self.parts,
            disturbance=self.disturbance,
            seed=self.seed,
        )


def _one_by_one(evaluator: Evaluator) -> Callable[[Leaves], float]:
    return lambda leaves: float(evaluator.evaluate(leaves).values[0])


def _disturbance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise SettingsError(f"option.disturbance is {shown(text)}, expected a number from 0 to 1.")
    return value


class DeepeningMover(Mover):
    """The search at one board, from game to game. Its table is kept for the moves of a game."""

    def __init__(self, game: Rules, program: DeepeningProgram, *, now: Callable[[], float] = time.monotonic) -> None:
        self._game, self._program, self._now = game, program, now
        self._search = program.new_search(game)
        self._start: tuple[str, State] | None = None
        self._number = 0
        self.evaluations = 0
        """Positions visited in all games."""

    @override
    def new_game(self, number: int) -> None:
        self._number = number
        self._search.clear()

    @override
    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        began, state = self._now(), self._state(start, actions)
        nodes, seconds = limits.nodes, thinking_seconds(limits.clocks[self._game.player(state)])
        if nodes is None and seconds is None and limits.depth is None:
            nodes = self._program.nodes
        found = self._search.think(state, nodes=nodes, seconds=seconds, depth=limits.depth)
        if found is None:  # stopped: any move will do
            action = self._game.legal_actions(state, past_soft_endings=True)[0]
            return Answer(action, Thought(seconds=self._now() - began))
        self.evaluations += found.num_nodes
        plies, action = found.plies_to_end, self._chosen(state, found, len(actions))
        score = Score(win_rate=win_rate(value_of(found))) if plies is None else Score(mate=moves_to_mate(plies))
        return Answer(action, Thought(score, seconds=self._now() - began, depth=found.depth, nodes=found.num_nodes))

    @override
    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None:
        raise SettingsError("our alpha-beta search does not ponder: leave out ponder.")

    @override
    def end_game(self, result: float) -> None:
        pass

    @override
    def close(self) -> None:
        self._search.stop()

    def _chosen(self, state: State, found: Iteration, ply: int) -> int:
        """The best move, or the one that is drawn."""
        best, temperature = found.line[0], self._program.temperature
        if not temperature:
            return best
        searched = [(best, found.num_nodes, value_of(found), (found.plies_to_end or 0) > 0)]
        root = Root.of_moves(self._game, state, searched, net_value=0.0, depth=found.depth)
        return drawn_action(root, uniform(self._program.seed, self._number, ply, "drawn move"), temperature=temperature)

    def _state(self, start: str, actions: Sequence[int]) -> State:
        if self._start is None or self._start[0] != start:
            self._start = start, start_state(self._game, start)
        return functools.reduce(self._game.play, actions, self._start[1])


def thinking_seconds(left: TimeLeft) -> float | None:
    """The time for a move; None without a clock.

    >>> thinking_seconds(TimeLeft.per_move(1.0)), thinking_seconds(TimeLeft())
    (0.98, None)
    >>> thinking_seconds(TimeLeft(50.0, increment_s=1.0))
    2.78

    In overtime a move gets an equal part of the period, here 12 of 300 seconds; in main time that comes on top.

    >>> thinking_seconds(TimeLeft(50.0, period_s=300.0, period_moves=25, num_periods=1))
    13.98
    """
    if not left.is_limited:
        return None
    main, increment = max(left.main_s, 0.0), left.increment_s
    wanted = main / (left.moves_to_go or MOVES_LEFT) + INCREMENT_SHARE * increment
    wanted = min(wanted, max(MOST_SHARE * main, increment / 2))
    if left.num_periods:
        wanted += max(left.period_s, 0.0) / left.period_moves
    return max(wanted - OVERHEAD_S, wanted / 2)

"""Solved positions, and a player's rate of mistakes in them: strength on an absolute scale for solved games.

Start with `mistake_rates`. The package has one CSV file of positions per game in `data/`. Its header describes how the
positions were drawn and solved.
"""

from __future__ import annotations

import csv
import math
import random
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import resources

from zerosum.base.errors import SettingsError, nearest
from zerosum.contest.elo import NORMAL_95
from zerosum.games import Rules, State, state_after
from zerosum.play.player import Player
from zerosum.search import new_search
from zerosum.search.answering import answer
from zerosum.search.config import with_room

FILE_ENDING = "-solved.csv"
POSITIONS_AT_ONCE = 64
"""Positions that are searched at a time: each batch has a leaf of each."""
POSITIONS_A_TASK = 100
"""Positions of a thread's task."""


@dataclass(frozen=True)
class SolvedPosition:
    """A position that is not over, and the score of each of its moves."""

    moves: str
    """The moves that lead to the position, as `zerosum.games.state_after` takes them."""
    scores: tuple[int, ...]
    """[L], the score of each legal action, ascending, for the player to move: above 0 a win (larger is faster), 0 a
    draw, below 0 a loss. The file's header describes the unit."""
    start: str = ""
    """The position before the moves, in the game's notation; the initial one if it is empty."""

    @property
    def results(self) -> tuple[int, ...]:
        """[L], the result of each legal action, ascending, for the player to move: 1 a win, 0 a draw, -1 a loss."""
        return tuple((score > 0) - (score < 0) for score in self.scores)


@dataclass(frozen=True)
class SolvedSet:
    """Positions of one game with similar difficulty."""

    game: str
    name: str
    positions: tuple[SolvedPosition, ...]
    """All different."""

    def sample(self, num_positions: int, *, seed: int) -> tuple[SolvedPosition, ...]:
        """A random sample of the positions, or all if the set is smaller; the same one for the same seed."""
        if num_positions >= len(self.positions):
            return self.positions
        return tuple(random.Random(seed).sample(self.positions, num_positions))


@dataclass(frozen=True)
class MistakeRate:
    """The rate of moves whose result is worse than that of the best move."""

    set: str
    value: float
    """Share of the positions, in [0, 1]."""
    error: float
    """Half the width of Wilson's 95 % interval, which is above zero even without a mistake."""
    positions: int
    num_simulations: int
    """Largest number of simulations per move: the search of a proven position ends early."""
    evaluations: int
    """Evaluations by the network for all positions."""

    def __str__(self) -> str:
        return f"{self.value:.1%} ± {self.error:.1%}"


@dataclass(frozen=True)
class PublishedMistakes:
    """Shares of mistakes in a game's solved positions that others have published."""

    columns: tuple[str, ...]
    """Names of the players."""
    explanation: str
    """Lines about the positions and the players, after a newline."""
    sets: dict[str, tuple[float, ...]]
    """Percentages of mistakes, one per player, by set."""


def published_mistakes(game: str) -> PublishedMistakes | None:
    """The published mistakes in a game, by its full name; None if the package has none."""
    text = resources.files("zerosum").joinpath("data", "published-mistakes.toml").read_text(encoding="utf-8")
    if (values := tomllib.loads(text).get(game)) is None:
        return None
    sets = {name: tuple(percents) for name, percents in values["sets"].items()}
    return PublishedMistakes(tuple(values["columns"]), f"\n{values['explanation']}", sets)


def solved_games() -> list[str]:
    """The games that have solved positions."""
    files = resources.files("zerosum").joinpath("data").iterdir()
    return sorted(file.name.removesuffix(FILE_ENDING) for file in files if file.name.endswith(FILE_ENDING))


def load_solved(game: str) -> dict[str, SolvedSet]:
    """The sets of solved positions of a game, by name.

    >>> len(load_solved("connect4")["begin-hard"].positions)
    1000

    Raises:
        SettingsError: the game has none.
    """
    if game not in solved_games():
        raise SettingsError(f"{game!r} has no solved positions{nearest(game, solved_games())}.")
    text = resources.files("zerosum").joinpath("data", f"{game}{FILE_ENDING}").read_text(encoding="utf-8")
    return parse_solved(game, text)


def solved_sets(game: Rules) -> list[SolvedSet]:
    """The sets of a game of the core. A user's own game has none, even if its name is the same."""
    name = game.spec.full_name  # other options make another game
    return [] if game.is_python or name not in solved_games() else list(load_solved(name).values())


def parse_solved(game: str, text: str) -> dict[str, SolvedSet]:
    """The sets in the text of a file like those in `data/`."""
    sets: dict[str, list[SolvedPosition]] = {}
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        # A move is one character in these files.
        position = SolvedPosition(" ".join(row["moves"]), tuple(map(int, row["scores"].split())))
        sets.setdefault(row["set"], []).append(position)
    return {name: SolvedSet(game, name, tuple(positions)) for name, positions in sets.items()}


def mistake_rates(
    player: Player,
    sets: Iterable[SolvedSet],
    *,
    num_simulations: int | None = None,
    max_positions: int | None = None,
    seed: int = 0,
    num_threads: int = 1,
    seconds: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> list[MistakeRate]:
    """Let a player choose a move in solved positions, each searched from scratch and without noise.

    Args:
        player: The player that is measured.
        sets: The positions.
        num_simulations: Simulations per move; those of the player if not given.
        max_positions: Size of a sample of each set; all positions if not given.
        seed: Key of the sample.
        num_threads: Threads that search, each its own positions.
        seconds: Time after which no more positions are begun, except the first of each set.
        clock: Counts these seconds, from any thread.

    Raises:
        SettingsError: the positions are of another game, or a number is out of range.
    """
    sets = list(sets)
    for solved in sets:
        if (name := player.game.spec.full_name) != solved.game:
            raise SettingsError(f"{player.name} plays {name!r}, these solved positions are of {solved.game!r}.")
    if max_positions is not None and max_positions < 1:
        raise SettingsError(f"max_positions is {max_positions}, but must be at least 1.")
    if num_simulations is not None:
        config = replace(player.config, num_simulations=num_simulations)
        player = Player(player.game, player.evaluator, config, name=player.name)
    started = clock()

    def count(task: tuple[int, Sequence[SolvedPosition], bool]) -> tuple[int, int, int, int]:
        index, positions, is_first = task
        if not is_first and clock() - started > seconds:
            return index, 0, 0, 0
        return index, len(positions), *_count_mistakes(player, positions)

    tasks = [
        (start, index, positions[start : start + POSITIONS_A_TASK])
        for index, solved in enumerate(sets)
        for positions in [solved.positions if max_positions is None else solved.sample(max_positions, seed=seed)]
        for start in range(0, len(positions), POSITIONS_A_TASK)
    ]
    # The first tasks of all sets come before the second ones, because the time may not suffice for all.
    tasks.sort(key=lambda task: task[:2])
    with ThreadPoolExecutor(num_threads) as pool:
        counts = list(pool.map(count, [(index, positions, start == 0) for start, index, positions in tasks]))
    rates = []
    for index, solved in enumerate(sets):
        num_positions, num_mistakes, evaluations = (
            sum(row[column] for row in counts if row[0] == index) for column in (1, 2, 3)
        )
        share = num_mistakes / num_positions
        rates.append(
            MistakeRate(
                set=solved.name,
                value=share,
                error=wilson_error(share, num_positions),
                positions=num_positions,
                num_simulations=player.config.num_simulations,
                evaluations=evaluations,
            )
        )
    return rates


def _count_mistakes(player: Player, positions: Sequence[SolvedPosition]) -> tuple[int, int]:
    """The number of mistakes, and of evaluations for these moves."""
    states = [state_after(player.game, position.moves, position=position.start) for position in positions]
    actions, evaluations = best_actions(player, states)
    num_mistakes = 0
    for position, state, action in zip(positions, states, actions, strict=True):
        results = dict(zip(player.game.legal_actions(state), position.results, strict=True))
        num_mistakes += results[action] < max(position.results)
    return num_mistakes, evaluations


def best_actions(player: Player, states: Sequence[State]) -> tuple[list[int], int]:
    """A player's moves in positions, which are searched together, and the number of evaluations."""
    num_trees = min(len(states), POSITIONS_AT_ONCE)
    search = new_search(player.game, with_room(player.game, player.config, num_trees), num_trees=num_trees)
    actions: list[int] = [-1] * len(states)
    searched: dict[int, int] = {}  # from trees to indices of positions
    ahead, evaluations = iter(range(len(states))), 0

    def begin_next(tree: int) -> None:
        if (index := next(ahead, None)) is not None:
            search.reset(tree, states[index])
            search.begin(tree, player.config.num_simulations)
            searched[tree] = index

    for tree in range(num_trees):
        begin_next(tree)
    while searched:
        evaluations += answer(search, player.evaluator, num_trees)
        # An idle tree is still listed as finished.
        for tree in sorted(searched.keys() & set(search.finished().tolist())):
            action = search.root(tree).best_action
            assert action is not None, "a position that is not over has a move"
            actions[searched.pop(tree)] = action
            begin_next(tree)
    return actions, evaluations


def wilson_error(share: float, num: int) -> float:
    """Half the width of the 95 % interval for the share of successes in `num` trials (Wilson 1927).

    >>> round(wilson_error(0.0, 1000), 4)
    0.0019
    """
    z = NORMAL_95
    return z / (1 + z**2 / num) * math.sqrt(share * (1 - share) / num + z**2 / (4 * num**2))


def wilson_interval(share: float, num: int) -> tuple[float, float]:
    """The 95 % interval for the share of successes in `num` trials (Wilson 1927), in [0, 1].

    >>> tuple(round(bound, 4) for bound in wilson_interval(1.0, 100))
    (0.963, 1.0)
    """
    centre, error = (share + NORMAL_95**2 / (2 * num)) / (1 + NORMAL_95**2 / num), wilson_error(share, num)
    return max(centre - error, 0.0), min(centre + error, 1.0)

"""Solved positions, and how often a player errs on them: strength on an absolute scale, where a game has been solved.

Start with `mistake_rate`. The positions come with the package, as one CSV file a game in `data/`, whose head says how
they were drawn and solved.
"""

from __future__ import annotations

import csv
import math
import random
import time
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import resources

from zerosum.base.errors import SettingsError, nearest
from zerosum.contest.elo import NORMAL_95
from zerosum.evaluators import answer
from zerosum.games import Rules, State, state_after
from zerosum.play.player import Player
from zerosum.search import new_search
from zerosum.search.config import with_room

FILE_ENDING = "-solved.csv"
POSITIONS_AT_ONCE = 64
"""Positions searched side by side: each batch has a leaf of each."""
POSITIONS_A_TASK = 100
"""Positions that a thread takes on at a time."""


@dataclass(frozen=True)
class SolvedPosition:
    """A position in which the game goes on, and what each of its moves is worth."""

    moves: str
    """That lead there, as `zerosum.games.state_after` takes them."""
    scores: tuple[int, ...]
    """[L], of the legal actions, ascending, for the player to move: above 0 a win and the larger the sooner, 0 a draw,
    below 0 a loss. The unit is that of the file's head."""

    @property
    def results(self) -> tuple[int, ...]:
        """[L], of the legal actions, ascending, for the player to move: 1 a win, 0 a draw, -1 a loss."""
        return tuple((score > 0) - (score < 0) for score in self.scores)


@dataclass(frozen=True)
class SolvedSet:
    """Positions of one game and about one difficulty."""

    game: str
    name: str
    positions: tuple[SolvedPosition, ...]
    """All different."""

    def sample(self, num_positions: int, *, seed: int) -> tuple[SolvedPosition, ...]:
        """So many of the positions, or all if there are no more; the same ones for the same seed."""
        if num_positions >= len(self.positions):
            return self.positions
        return tuple(random.Random(seed).sample(self.positions, num_positions))


@dataclass(frozen=True)
class MistakeRate:
    """How often a player chose a move whose result is worse than the best one's."""

    set: str
    value: float
    """Share of the positions, in [0, 1]."""
    error: float
    """Half the width of Wilson's 95 % interval, which is not zero where no mistake was seen."""
    positions: int
    num_simulations: int
    """A move, at most: a proven position is searched no further."""
    evaluations: int
    """Of the network, altogether."""

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
    """Per cent of each player, by set."""


def published_mistakes(game: str) -> PublishedMistakes | None:
    """The published mistakes of a game, by its full name; None if there are none."""
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
        raise SettingsError(f"{game!r} has no solved positions: {nearest(game, solved_games())}.")
    text = resources.files("zerosum").joinpath("data", f"{game}{FILE_ENDING}").read_text(encoding="utf-8")
    return parse_solved(game, text)


def solved_sets(game: Rules) -> list[SolvedSet]:
    """The sets of a game of the core; none if it has none, or is a user's own of the same name."""
    name = game.spec.full_name  # with other options it is another game
    return [] if game.is_python or name not in solved_games() else list(load_solved(name).values())


def parse_solved(game: str, text: str) -> dict[str, SolvedSet]:
    """The sets in the text of a file like those in `data/`."""
    sets: dict[str, list[SolvedPosition]] = {}
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        # A move is one character in these files.
        position = SolvedPosition(" ".join(row["moves"]), tuple(map(int, row["scores"].split())))
        sets.setdefault(row["set"], []).append(position)
    return {name: SolvedSet(game, name, tuple(positions)) for name, positions in sets.items()}


def mistake_rate(
    player: Player,
    solved: SolvedSet,
    *,
    num_simulations: int | None = None,
    max_positions: int | None = None,
    seed: int = 0,
) -> MistakeRate:
    """`mistake_rates` of one set."""
    (rate,) = mistake_rates(player, [solved], num_simulations=num_simulations, max_positions=max_positions, seed=seed)
    return rate


def mistake_rates(
    player: Player,
    sets: Iterable[SolvedSet],
    *,
    num_simulations: int | None = None,
    max_positions: int | None = None,
    seed: int = 0,
    num_threads: int = 1,
    seconds: float = math.inf,
) -> list[MistakeRate]:
    """Let a player choose a move in solved positions, each searched from scratch and without noise.

    Args:
        player: Who is measured.
        sets: The positions.
        num_simulations: A move; the player's own if not given.
        max_positions: Of each set, take a sample of so many; all if not given.
        seed: Keys the sample.
        num_threads: That search, each its own positions.
        seconds: After which no more positions are begun, beyond the first of each set.

    Raises:
        SettingsError: the positions are of another game, or a number is out of range.
    """
    sets = list(sets)
    for solved in sets:
        if (name := player.game.spec.full_name) != solved.game:
            raise SettingsError(f"{player.name} plays {name!r}, these solved positions are of {solved.game!r}.")
    if max_positions is not None and max_positions < 1:
        raise SettingsError(f"max_positions is {max_positions}, allowed is at least 1.")
    if num_simulations is not None:
        config = replace(player.config, num_simulations=num_simulations)
        player = Player(player.game, player.evaluator, config, name=player.name)
    started = time.monotonic()

    def count(task: tuple[int, Sequence[SolvedPosition], bool]) -> tuple[int, int, int, int]:
        index, positions, is_first = task
        if not is_first and time.monotonic() - started > seconds:
            return index, 0, 0, 0
        return index, len(positions), *_count_mistakes(player, positions)

    tasks = [
        (start, index, positions[start : start + POSITIONS_A_TASK])
        for index, solved in enumerate(sets)
        for positions in [solved.positions if max_positions is None else solved.sample(max_positions, seed=seed)]
        for start in range(0, len(positions), POSITIONS_A_TASK)
    ]
    # The first positions of every set before the second ones of any, for the time may not be enough for all.
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
    """Mistakes, and the evaluations that the moves took."""
    states = [state_after(player.game, position.moves) for position in positions]
    actions, evaluations = best_actions(player, states)
    num_mistakes = 0
    for position, state, action in zip(positions, states, actions, strict=True):
        results = dict(zip(player.game.legal_actions(state), position.results, strict=True))
        num_mistakes += results[action] < max(position.results)
    return num_mistakes, evaluations


def best_actions(player: Player, states: Sequence[State]) -> tuple[list[int], int]:
    """What a player does in each of the positions, which are searched side by side; and the evaluations that took."""
    num_trees = min(len(states), POSITIONS_AT_ONCE)
    search = new_search(player.game, with_room(player.game, player.config, num_trees), num_trees=num_trees)
    actions: list[int] = [-1] * len(states)
    searched: dict[int, int] = {}  # which position is at a tree
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
        # An idle tree stays finished.
        for tree in sorted(searched.keys() & set(search.finished().tolist())):
            action = search.root(tree).best_action
            assert action is not None, "a game that goes on has a move"
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

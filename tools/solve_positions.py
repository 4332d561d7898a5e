"""Sample and solve the Connect Four positions of `zerosum evaluate`; for developers, run once.

    python -m venv solver && solver/bin/pip install bitbully==0.0.79 numpy
    solver/bin/python tools/solve_positions.py python/zerosum/data/connect4-solved.csv

bitbully (a perfect solver, AGPL) is in its own environment: the package and its tests neither import nor copy it. The
same seed gives the same file, except for its date.

Six sets of positions, by how far the game is and how long it lasts from there with perfect play: `end` after 29 moves
or more, `middle` after 15 to 28, `begin` before; `easy` up to 13 moves from the end of the game, `medium` 14 to 27,
`hard` 28 or more. A position is drawn as

    the number of moves uniform in the stage's range, each move uniform among those that do not end the game;

It counts if the player to move cannot win at once and it is new. Pascal Pons' published sets look as if they were
sampled in this way, and AlphaZero.jl reports how often its depth-5 minimax errs on them. On positions sampled like
this it errs about as often. To be exactly as hard, each set here has the same share of positions on which that
minimax errs as his set.

That minimax (`minimax_values`) is written from its description: it searches every line five moves ahead, where a win
outweighs everything, however late. A position at the horizon has the value of the rows of four still open to a
player, each a power of ten for every stone in it, less the opponent's. Ties are broken at random, and rates are
expectations over that. For comparison, a "blind" minimax values every position at the horizon as even.
"""

from __future__ import annotations

import argparse
import datetime
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np
from bitbully import BitBully, Board
from numpy.typing import NDArray

STAGES = {"end": range(29, 42), "middle": range(15, 29), "begin": range(15)}
LEVELS = {"easy": range(14), "medium": range(14, 28), "hard": range(28, 43)}

PONS_RATES = {  # of AlphaZero.jl's depth-5 minimax on Pascal Pons' sets
    "end-easy": 0.014,
    "middle-easy": 0.007,
    "begin-easy": 0.017,
    "middle-medium": 0.092,
    "begin-medium": 0.073,
    "begin-hard": 0.235,
}

MINIMAX_DEPTH = 5
BATCH = 64  # positions whose trees fit into memory together
WIN, ILLEGAL = 10**9, -(10**10)


@dataclass(frozen=True)
class Solved:
    """A position and the value of each move."""

    moves: tuple[int, ...]
    """The columns (0 to 6) that lead there."""
    scores: dict[int, int]
    """Of each column that is not full, for the player to move: n > 0 if he wins and has n - 1 stones left, as negative
    for the opponent, 0 for a draw."""

    @property
    def results(self) -> list[int]:
        """[7], 1 a win, 0 a draw, -1 a loss, and -2 for a full column."""
        return [int(np.sign(self.scores[column])) if column in self.scores else -2 for column in range(7)]


def main() -> None:
    """Sample, solve, measure, write."""
    parser = argparse.ArgumentParser(description="Draw and solve sets of Connect Four positions.")
    parser.add_argument("output", type=Path, help="the CSV to write")
    parser.add_argument("--size", type=int, default=1000, help="positions a set")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    asked = parser.parse_args()

    started = time.monotonic()
    sets: dict[str, list[Solved]] = {name: [] for name in PONS_RATES}
    for stage in STAGES:
        fill_sets(sets, stage, asked.size, random.Random(f"{asked.seed} {stage}"))
        print(f"{stage}: drawn and solved after {time.monotonic() - started:.0f} seconds", flush=True)
    lines = [
        f"Solved Connect Four positions: {len(sets)} sets of {asked.size}, drawn by tools/solve_positions.py",
        f"(seed {asked.seed}), solved by bitbully {version('bitbully')}, {datetime.date.today().isoformat()}.",
        "moves: the columns (1 to 7) played from the empty board. scores: one for each column that is not full, from",
        "left to right, for the player to move: n > 0 if he wins with it and has n - 1 of his 21 stones left, -n if",
        "the opponent wins and has n - 1 left, 0 for a draw.",
        "",
        "How often a depth-5 minimax makes a mistake (a result worse than the best; in brackets on Pons' sets), the",
        "same minimax blind at its horizon, and random play; how many positions have no mistake to make:",
    ]
    lines += [measure(name, positions) for name, positions in sets.items()]
    rows = ["set,moves,scores"]
    for name, positions in sets.items():
        for position in positions:
            moves = "".join(str(column + 1) for column in position.moves)
            rows.append(f"{name},{moves},{' '.join(str(score) for _, score in sorted(position.scores.items()))}")
    text = "".join(f"# {line}".rstrip() + "\n" for line in lines) + "".join(f"{row}\n" for row in rows)
    asked.output.write_text(text, encoding="utf-8")
    print("\n".join(lines))


def fill_sets(sets: dict[str, list[Solved]], stage: str, size: int, generator: random.Random) -> None:
    """Draw positions of a stage until each of its sets has `size`, of which the minimax errs on Pons' share."""
    names = [name for name in sets if name.startswith(stage)]
    room = {}
    for name in names:
        room[name, True] = round(PONS_RATES[name] * size)
        room[name, False] = size - room[name, True]
    positions = draw_stage(stage, generator)
    while any(room.values()):
        drawn = [(name, position) for name, position in islice(positions, BATCH) if len(sets[name]) < size]
        rates = mistake_rates([position for _, position in drawn]).minimax if drawn else []
        for (name, position), rate in zip(drawn, rates, strict=True):
            errs = generator.random() < rate
            if room[name, errs]:
                room[name, errs] -= 1
                sets[name].append(position)
    for name in names:
        generator.shuffle(sets[name])  # what came last are those that were rare


def draw_stage(stage: str, generator: random.Random) -> Iterator[tuple[str, Solved]]:
    """Different positions of a stage without end, each with its set's name."""
    solver, drawn = BitBully(), set()
    while True:
        moves = draw_moves(generator, generator.choice(STAGES[stage]))
        if moves is None:
            continue
        board = Board(moves)
        if board.can_win_next() or board.uid() in drawn:
            continue
        drawn.add(board.uid())
        scores = solver.score_all_moves(board)
        remaining = solver.score_to_moves_left(max(scores.values()), board)
        level = next(level for level, lengths in LEVELS.items() if remaining in lengths)
        yield f"{stage}-{level}", Solved(tuple(moves), scores)


def draw_moves(generator: random.Random, num_moves: int) -> list[int] | None:
    """Random moves; none if one of them wins."""
    board, moves = Board(), []
    for _ in range(num_moves):
        column = generator.choice([column for column in range(7) if board.is_legal_move(column)])
        if board.can_win_next(column):
            return None
        board.play(column)
        moves.append(column)
    return moves


@dataclass(frozen=True)
class MistakeRates:
    """Probabilities of a mistake in each of N positions, [N], by player."""

    minimax: NDArray[np.float64]
    blind: NDArray[np.float64]
    random: NDArray[np.float64]


def mistake_rates(positions: Sequence[Solved]) -> MistakeRates:
    """Mistake rates of the minimax, of the blind minimax, and of random play."""
    results_N7 = np.array([position.results for position in positions])
    is_legal_N7 = results_N7 >= -1
    is_mistake_N7 = is_legal_N7 & (results_N7 < results_N7.max(axis=1, keepdims=True))
    values_N7 = minimax_of(positions)
    # The same tree's answer to another question: a win, a loss or neither.
    blind_N7 = np.where(is_legal_N7, np.sign(values_N7) * (np.abs(values_N7) == WIN), ILLEGAL)

    def rate(is_choice_N7: NDArray[np.bool_]) -> NDArray[np.float64]:
        rates_N: NDArray[np.float64] = (is_choice_N7 & is_mistake_N7).sum(axis=1) / is_choice_N7.sum(axis=1)
        return rates_N

    minimax_N, blind_N = (rate(values == values.max(axis=1, keepdims=True)) for values in (values_N7, blind_N7))
    return MistakeRates(minimax_N, blind_N, rate(is_legal_N7))


def measure(name: str, positions: Sequence[Solved]) -> str:
    """A set's line in the file's head."""
    rates = [mistake_rates(positions[start : start + BATCH]) for start in range(0, len(positions), BATCH)]
    minimax, blind, by_chance = (
        float(np.concatenate([getattr(some, player) for some in rates]).mean())
        for player in ("minimax", "blind", "random")
    )
    has_none = float(np.mean(np.concatenate([some.random == 0 for some in rates])))
    return (
        f"  {name:<14} {minimax:6.1%} ({PONS_RATES[name]:.1%})  blind {blind:6.1%}"
        f"  random {by_chance:6.1%}  no mistake {has_none:6.1%}"
    )


# Boards are pairs of 64-bit sets, the stones of the player to move and the opponent's: bit 7 * column + row, whose
# seventh row stays empty, so that no line of four runs around an edge.

Bits = NDArray[np.uint64]
COLUMNS = [np.uint64(0b111111 << 7 * column) for column in range(7)]
BOTTOMS = [np.uint64(1 << 7 * column) for column in range(7)]
FULL = np.bitwise_or.reduce(COLUMNS)
# By direction (the step from a square to the next one of a row of four): the squares at which such a row begins.
ROWS_OF_FOUR = {
    np.uint64(7 * columns + rows): np.uint64(
        sum(
            1 << 7 * column + row
            for column in range(7)
            for row in range(6)
            if column + 3 * columns < 7 and 0 <= row + 3 * rows < 6
        )
    )
    for columns, rows in ((0, 1), (1, 0), (1, 1), (1, -1))
}
TWO = np.uint64(2)


def minimax_of(positions: Sequence[Solved]) -> NDArray[np.int64]:
    """[N, 7], the minimax's value of each column."""
    own_N, other_N = np.zeros((2, len(positions)), np.uint64)
    for index, position in enumerate(positions):
        own = other = np.uint64(0)
        for column in position.moves:
            own, other = other, own | ((own | other) + BOTTOMS[column]) & COLUMNS[column]
        own_N[index], other_N[index] = own, other
    return minimax_values(own_N, other_N, MINIMAX_DEPTH)


def minimax_values(own_N: Bits, other_N: Bits, depth: int) -> NDArray[np.int64]:
    """[N, 7], each column's value for the player to move: ±WIN, 0 for a draw, between them the rows still open."""
    values_N7 = np.full((len(own_N), 7), ILLEGAL)
    taken_N = own_N | other_N
    for column in range(7):
        legal = np.flatnonzero(taken_N & COLUMNS[column] != COLUMNS[column])
        moved = own_N[legal] | (taken_N[legal] + BOTTOMS[column]) & COLUMNS[column]
        opponent = other_N[legal]
        has_won = has_four(moved)
        values = np.where(has_won, WIN, 0)
        goes_on = np.flatnonzero(~has_won & (moved | opponent != FULL))
        if len(goes_on):
            ahead = opponent[goes_on], moved[goes_on]
            replies = minimax_values(*ahead, depth - 1).max(axis=1) if depth > 1 else open_rows(*ahead)
            values[goes_on] = -replies
        values_N7[legal, column] = values
    return values_N7


def has_four(stones_N: Bits) -> NDArray[np.bool_]:
    """[N], whether four of the stones are in a row."""
    found_N = np.zeros(len(stones_N), bool)
    for step in ROWS_OF_FOUR:
        pairs_N = stones_N & stones_N >> step
        found_N |= (pairs_N & pairs_N >> TWO * step) != 0
    return found_N


def open_rows(own_N: Bits, other_N: Bits) -> NDArray[np.int64]:
    """[N], 10 to the power of the stones in each row of four still open to the player to move, less the other's."""
    return _open_rows_of(own_N, other_N) - _open_rows_of(other_N, own_N)


def _open_rows_of(own_N: Bits, other_N: Bits) -> NDArray[np.int64]:
    value_N = np.zeros(len(own_N), np.int64)
    for step, starts in ROWS_OF_FOUR.items():
        blocked = other_N | other_N >> step
        is_open = starts & ~(blocked | blocked >> TWO * step)
        first, second, third, fourth = (own_N >> np.uint64(place) * step for place in range(4))
        # How many of the four are set, in binary: four of them never are, or the game would be over.
        odd = first ^ second ^ third ^ fourth
        two_or_three = first & second | third & fourth | (first ^ second) & (third ^ fourth)
        for count, stones in enumerate(
            (~odd & ~two_or_three, odd & ~two_or_three, ~odd & two_or_three, odd & two_or_three)
        ):
            value_N += 10**count * np.bitwise_count(stones & is_open).astype(np.int64)
    return value_N


if __name__ == "__main__":
    main()

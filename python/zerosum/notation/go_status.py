"""The dead stones of a Go position, and its score without them.

Random games from the position decide (`Game.ownership`): a chain is dead if its points more often belong to the
opponent at the end. The games keep eyes and do not put large own chains into atari, so that seki stays. At the ends
of GNU Go's games on 9x9 both agree on every stone (tests/notation/test_go_status.py).

    judged = judge(game, state)
    judged.dead, judged.seki, judged.score()
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State
from zerosum.notation.go_words import LETTERS, point_of, stones_of, text_of, vertex_of

NUM_GAMES = 200
"""Number of random games: 0.03 seconds on 9x9, 0.2 on 19x19."""
CLEAR = 0.2
"""A chain is clearly alive or dead if its mean ownership is beyond this; of live chains at the ends of GNU Go's games
99 in 100 are."""
SETTLED = 0.4
"""A territory is settled from this mean ownership on: halves of 13x13 have 0.41 and more, five stones of one side alone
on 9x9 0.29."""
ROOM = 7
"""Number of own points with which a group lives without a second eye, as in the core's territory count."""


def judge(game: Rules, state: State, *, num_games: int = NUM_GAMES, seed: int = 0) -> Judgement:
    """Judge the stones of a Go position.

    Args:
        game: Go, with any rules.
        state: The position.
        num_games: Random games that are played.
        seed: The same seed gives the same verdict.
    """
    owners = game.ownership(state, num_games, seed)
    assert owners is not None, "points of Go have owners"
    return Judgement(game, state, owners)


@dataclass(frozen=True)
class Judgement:
    """A position with the mean owners of its points."""

    game: Rules
    state: State
    ownership: NDArray[np.float32]
    """[points] in [-1, 1], 1 for Black's, row by row from the top left."""

    @cached_property
    def size(self) -> int:
        """Length of a side of the board."""
        return self.game.spec.board_shape[0]

    @cached_property
    def stones(self) -> dict[int, int]:
        """The owner of the stone on each occupied point."""
        text = self.game.position_text(self.state)
        assert text is not None
        return {point_of(self.size, vertex): player for vertex, player in stones_of(text)}

    @cached_property
    def chains(self) -> list[tuple[frozenset[int], int, float]]:
        """(points, owner, mean ownership for that owner) of each chain."""
        return [
            (chain, player, self._mean(chain, player))
            for player in (0, 1)
            for chain in parts(self.size, {point for point, owner in self.stones.items() if owner == player})
        ]

    @cached_property
    def dead(self) -> frozenset[int]:
        """Points of dead stones."""
        return frozenset().union(*(chain for chain, _, mean in self.chains if mean < 0))

    @cached_property
    def seki(self) -> frozenset[int]:
        """Points of stones that live without two eyes, beside a point that neither side can fill."""
        return _Count(self.size, self._left(self.dead)).in_seki

    def score(self, dead: Set[int] | None = None) -> float:
        """Black's points minus White's points and komi by the game's rules, without the dead stones or those given."""
        return self._score_without(self.dead if dead is None else dead)

    def owners(self, dead: Set[int]) -> tuple[int, ...]:
        """The owner of each point without these dead stones: 1 Black's stone or territory, -1 White's, 0 neither's."""
        left = self._left(dead)
        owner_of = left | {
            point: owner
            for region, owner in _Count(self.size, left).territories
            for point in region
            if owner is not None
        }
        points = range(self.size * self.size)
        return tuple(1 if owner_of.get(point) == 0 else -1 if owner_of.get(point) == 1 else 0 for point in points)

    def chains_at(self, points: Set[int]) -> frozenset[int]:
        """All points of the chains to which these points belong."""
        return frozenset().union(*(chain for chain, _, _ in self.chains if chain & points))

    def sure_lead(self, player: int) -> float:
        """A lower bound of this player's lead in points.

        Unclear chains count against the player: own ones are dead, the opponent's alive, and all points between both
        sides belong to the opponent.
        """
        dead = frozenset().union(
            *(chain for chain, owner, mean in self.chains if mean < (CLEAR if owner == player else -CLEAR))
        )
        lead = self._score_without(dead) * (1 if player == 0 else -1)
        return lead - len(_Count(self.size, self._left(dead)).neutral)

    @cached_property
    def is_settled(self) -> bool:
        """Whether no point between both sides can be filled and no territory is open to the other side."""
        count = _Count(self.size, self._left(self.dead))
        return not count.neutral and all(
            owner is not None and self._mean(region, owner) >= SETTLED for region, owner in count.territories
        )

    def _mean(self, points: Set[int], owner: int) -> float:
        """Mean ownership of these points for `owner`."""
        return float(self.ownership[sorted(points)].mean()) * (1 if owner == 0 else -1)

    def _left(self, dead: Set[int]) -> dict[int, int]:
        return {point: player for point, player in self.stones.items() if point not in dead}

    def _score_without(self, dead: Set[int]) -> float:
        text = self.game.position_text(self.state)
        assert text is not None
        left = {vertex_of(self.size, point): player for point, player in self._left(dead).items()}
        bare = text_of(self.size, left, LETTERS.index(text.split()[1]))
        if is_territory(self.game):
            taken = [sum(self.stones[point] == 1 - player for point in dead) for player in (0, 1)]
            found = re.search(r" prisoners=(\d+),(\d+)", text)
            before = [int(number) for number in found.groups()] if found else [0, 0]
            bare += f" prisoners={before[0] + taken[0]},{before[1] + taken[1]}"
        score = self.game.score(self.game.parse_position(bare))
        assert score is not None
        return score


TWO_PASSES = "two passes"
"""The ending after which people take the dead stones off the board."""


@dataclass(frozen=True)
class FinalCount:
    """The count of a finished game."""

    score: float
    """Black's points minus White's points and komi."""
    dead: tuple[str, ...]
    """Points of the stones that were taken off the board before, in the order of GTP's points."""


def final_count(game: Rules, state: State, *, friendly_pass: bool) -> FinalCount:
    """The count of a position: of the same stones in files, in JSON and in GTP.

    Args:
        game: Go, with the scoring and the komi that count.
        state: The position.
        friendly_pass: Whether the dead stones are taken off the board.
    """
    if not friendly_pass:
        score = game.score(state)
        assert score is not None, "a position of Go has a score"
        return FinalCount(score, ())
    judged = judge(game, state)
    return FinalCount(judged.score(), tuple(vertex_of(judged.size, point) for point in sorted(judged.dead)))


def is_territory(game: Rules) -> bool:
    """Whether a game of Go counts territory."""
    return "scoring=territory" in game.spec.full_name


class _Count:
    """The regions of a board whose stones are all alive, as the core's `territory.rs` has them."""

    def __init__(self, size: int, stones: dict[int, int]) -> None:
        self.size, self.stones = size, stones
        self.neutral: set[int] = set()
        """Points between both sides that one of them can fill."""
        self.territories: list[tuple[frozenset[int], int | None]] = []
        """The regions with stones of one side beside them, and that side; None if the board has no stones."""
        stuck: set[int] = set()
        own: tuple[set[int], set[int]] = (set(), set())
        for region in parts(size, set(range(size * size)) - stones.keys()):
            owners = {stones[point] for point in beside(size, region)}
            if len(owners) == 2:
                (self.neutral if any(map(self._can_be_filled, region)) else stuck).update(region)
            else:
                owner = next(iter(owners), None)
                self.territories.append((region, owner))
                if owner is not None:
                    own[owner].update(region)
        self.in_seki = frozenset(
            point
            for player in (0, 1)
            for group in parts(size, own[player] | {point for point, owner in stones.items() if owner == player})
            if (group - own[player]) & beside(size, stuck) and not self._lives(group & own[player])
            for point in group - own[player]
        )

    def _lives(self, territory: set[int] | frozenset[int]) -> bool:
        return len(territory) >= ROOM or len(list(parts(self.size, set(territory)))) >= 2

    def _can_be_filled(self, point: int) -> bool:
        """Whether a stone of either side would capture there or have two liberties."""
        return any(self._is_free(point, player) for player in (0, 1))

    def _is_free(self, point: int, player: int) -> bool:
        after = self.stones | {point: player}
        for neighbour in beside(self.size, {point}):
            if after.get(neighbour) == 1 - player and not self._liberties(after, neighbour):
                return True
        return len(self._liberties(after, point)) >= 2

    def _liberties(self, stones: dict[int, int], point: int) -> set[int]:
        chain = {point}
        while more := {q for q in beside(self.size, chain) if stones.get(q) == stones[point]}:
            chain |= more
        return beside(self.size, chain) - stones.keys()


def beside(size: int, points: Set[int]) -> set[int]:
    """The neighbours of these points on a board of this size."""
    return {
        point + step
        for point in points
        for step, is_on_board in (
            (-size, point >= size),
            (size, point < size * (size - 1)),
            (-1, point % size > 0),
            (1, point % size < size - 1),
        )
        if is_on_board and point + step not in points
    }


def parts(size: int, points: Set[int]) -> Iterator[frozenset[int]]:
    """The connected parts of a set of points.

    >>> sorted(sorted(part) for part in parts(5, {0, 1, 6, 24}))
    [[0, 1, 6], [24]]
    """
    left = set(points)
    while left:
        part = {left.pop()}
        while more := beside(size, part) & left:
            part |= more
            left -= more
        yield frozenset(part)

"""What a search by learned rules makes of its model: how many simulations walk where the game cannot go.

A simulation of such a search is a move from a hidden state that an earlier simulation has reached. So whoever answers
the search can make the same moves by the game's own rules, and sees which simulations pass through an illegal move and
which go on past the end of the game. `model_measures.py` measures the model itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from zerosum.games import Rules, State
from zerosum.games.random_play import random_lines, state_of
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, Evaluator
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all
from zerosum.search.config import with_room

NUM_POSITIONS = 64


class Lost(Enum):
    """The reason for which a hidden state is not a position of the game."""

    ILLEGAL = "below an illegal move"
    ENDED = "the end of the game"
    PAST_END = "below the end of the game"


@dataclass(frozen=True)
class SearchMeasure:
    """Means over the simulations of searches from some positions."""

    num_positions: int
    num_simulations: int
    """Simulations of all searches together."""
    illegal_share: float
    """Share of the simulations through an illegal move."""
    past_end_share: float
    """Share of the simulations that go on past the end of the game."""
    calls_per_simulation: float
    """Evaluations of the network, the roots' among them, for each simulation."""
    mean_depth: float
    """Moves of a simulation, from the root to its leaf."""

    def words(self) -> str:
        """The measures as a sentence."""
        return (
            f"Searches by the learned rules from {self.num_positions} positions of random games:"
            f" {self.illegal_share:.1%} of {self.num_simulations:,} simulations pass through an illegal move,"
            f" {self.past_end_share:.1%} go on past the end of the game; {self.calls_per_simulation:.2f} network calls"
            f" a simulation, {self.mean_depth:.1f} moves deep."
        )


def measure_searches(
    game: Rules, evaluator: Evaluator, config: SearchConfig, *, num_positions: int = NUM_POSITIONS, seed: int = 0
) -> SearchMeasure:
    """Search positions of random games by the learned rules, with the simulations of `config` and without noise.

    `evaluator` runs a MuZero network.
    """
    states = [state_of(game, line) for line in random_lines(game, num=num_positions, seed=seed)]
    search = new_search(game, with_room(game, replace(config, rules="learned"), num_positions), num_trees=num_positions)
    for tree, state in enumerate(states):
        search.reset(tree, state)
        search.begin(tree, config.num_simulations)
    follower = Follower(game, evaluator, states)
    answer_all(search, follower, max_leaves=num_positions)
    return follower.measure()


class Follower:
    """An evaluator that makes the moves of a search of some positions, a tree each, by the game's rules."""

    def __init__(self, game: Rules, evaluator: Evaluator, states: Sequence[State]) -> None:
        self._game, self._evaluator, self._roots = game, evaluator, states
        self._at: dict[int, tuple[State | Lost, int]] = {}  # by slot: what is there, and its depth
        self._reached: list[tuple[State | Lost, int]] = []
        self._num_leaves = 0

    def evaluate(self, leaves: Leaves) -> Evaluations:
        """Answer as the evaluator does."""
        hidden = leaves.hidden()
        assert hidden is not None, "the search has learned rules"
        trees, (parents, moves, slots) = leaves.trees.tolist(), (array.tolist() for array in hidden)
        for tree, parent, move, slot in zip(trees, parents, moves, slots, strict=True):
            if parent == 0:
                self._at[slot] = self._roots[tree], 0
                continue
            before, depth = self._at[parent]
            self._at[slot] = self._after(before, move), depth + 1
            self._reached.append(self._at[slot])
        self._num_leaves += len(leaves)
        return self._evaluator.evaluate(leaves)

    def measure(self) -> SearchMeasure:
        """The measure of the searches so far."""
        num = max(len(self._reached), 1)
        found = [place for place, _ in self._reached]
        return SearchMeasure(
            num_positions=len(self._roots),
            num_simulations=len(self._reached),
            illegal_share=sum(place is Lost.ILLEGAL for place in found) / num,
            past_end_share=sum(place is Lost.PAST_END for place in found) / num,
            calls_per_simulation=self._num_leaves / num,
            mean_depth=sum(depth for _, depth in self._reached) / num,
        )

    def _after(self, before: State | Lost, place: int) -> State | Lost:
        """What a move reaches, by the place of its logit."""
        if isinstance(before, Lost):
            return Lost.ILLEGAL if before is Lost.ILLEGAL else Lost.PAST_END
        leaves = self._game.encode([before])
        actions = dict(zip(leaves.logit_actions.tolist(), leaves.legal_actions.tolist(), strict=True))
        if place not in actions:
            return Lost.ILLEGAL
        after = self._game.play(before, actions[place])
        return Lost.ENDED if self._game.outcome(after) is not None else after

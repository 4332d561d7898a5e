"""Reanalyse: old positions are searched anew with the newest network, and a share of each batch learns from that.

A recorded policy and a recorded search value are as old as the game. MuZero Reanalyze (Nature 588, 2020, appendix H)
makes both again when a position is drawn; the moves and the result stay those of the game. The search is the run's own,
without noise. The newest network is the one that self-play gets: that of the end of the learner's last phase.

The searched positions depend on the samples and on that network alone. Nothing of it is saved: a run that
continues from a checkpoint searches with the checkpoint's network, as it did before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluator, make_evaluator
from zerosum.replay.batch import start_states
from zerosum.replay.samples import Policies, Samples
from zerosum.run.config import RunConfig
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer_all
from zerosum.search.config import with_room

TREES = 256
"""Most positions that are searched at a time."""

Place = tuple[int, int]
"""A position of the run: the number of its game, and its ply."""


class Reanalysis:
    """Searches for a share of the samples of each batch. Threads may share it."""

    def __init__(self, game: Rules, config: RunConfig, checkpoint: Checkpoint) -> None:
        """Search with a checkpoint's network until there is a newer one.

        `learner.reanalysed_share` of the samples are searched anew, with the settings of `config.search`.
        """
        self._game, self._search, self._share = game, config.search, config.learner.reanalysed_share
        self._evaluator = make_evaluator(checkpoint, config.training.evaluator, batch_size=TREES, game=game)

    def take(self, checkpoint: Checkpoint) -> None:
        """Search with this network from now on."""
        self._evaluator.update(checkpoint)

    def renewed(self, samples: Samples) -> Samples:
        """The samples, of which the first ones, as many as the share says, have new policies and search values.

        Samples are drawn independently of one another, so these are no special ones. Of samples with `later` each
        position in which a move was made has a new policy, also where the game had none, among its random moves.

        Raises:
            GameError: a recorded move is illegal.
            DataError: a start is not a position of the game.
        """
        num = round(self._share * len(samples.game_ids))
        states = positions_of(self._game, samples, num)
        found = dict(
            zip(states, search_anew(self._game, self._search, self._evaluator, [*states.values()]), strict=True)
        )
        return with_searches(samples, found, num)


@dataclass(frozen=True)
class Searched:
    """What a search says of a position."""

    actions: NDArray[np.uint16]
    """[N], the actions of the policy target."""
    probabilities: NDArray[np.float16]
    """[N], their shares, above 0."""
    value: float
    """For the player to move, in [-1, 1]."""


def positions_of(game: Rules, samples: Samples, num: int) -> dict[Place, State]:
    """The positions of the first `num` samples, and of their `later` steps, at which the game had not ended."""
    starts = start_states(game, samples)
    num_later = samples.later.num_steps if samples.later is not None else 0
    found: dict[Place, State] = {}
    for sample in range(num):
        before = _of(samples.actions, samples.action_offsets, sample)
        after = _of(samples.following.actions, samples.following.offsets, sample) if samples.following else before[:0]
        state = (starts[sample] if starts else None) or game.initial_state()
        # The last position is one in which a move was made, too, unless the game ends there.
        moves = [*before.tolist(), *after[:num_later].tolist()]
        is_over = samples.following is not None and len(after) <= num_later
        for ply in range(len(moves) + (not is_over)):
            if ply >= len(before):
                found[int(samples.game_ids[sample]), ply] = state
            if ply < len(moves):
                state = game.play(state, moves[ply])
    return found


def search_anew(game: Rules, config: SearchConfig, evaluator: Evaluator, states: list[State]) -> list[Searched]:
    """Search each of these positions, at which a game had not ended, by a tree of its own and without noise."""
    answers: list[Searched] = []
    for first in range(0, len(states), TREES):
        some = states[first : first + TREES]
        search = new_search(game, with_room(game, config, len(some)), num_trees=len(some))
        for tree, state in enumerate(some):
            search.reset(tree, state)
            search.begin(tree, config.num_simulations)
        answer_all(search, evaluator, max_leaves=len(some))
        for tree in range(len(some)):
            root = search.root(tree)
            shares = root.policy_target().astype(np.float16)
            answers.append(Searched(root.actions[shares > 0], shares[shares > 0], root.value))
    return answers


def with_searches(samples: Samples, found: dict[Place, Searched], num: int) -> Samples:
    """The samples with what was found at positions of the first `num` of them."""
    plies = np.diff(samples.action_offsets).tolist()
    if samples.later is None:
        of_row = {row: found[int(samples.game_ids[row]), plies[row]] for row in range(num)}
        values = samples.search_values.copy()
        values[list(of_row)] = [one.value for one in of_row.values()]
        return replace(samples, policies=_replaced(samples.policies, of_row), search_values=values)
    rows = samples.later.num_steps + 1
    of_row = {
        sample * rows + step: found[place]
        for sample in range(num)
        for step in range(rows)
        if (place := (int(samples.game_ids[sample]), plies[sample] + step)) in found
    }
    values = samples.later.search_values.copy()
    values.ravel()[list(of_row)] = [one.value for one in of_row.values()]
    later = replace(samples.later, policies=_replaced(samples.later.policies, of_row), search_values=values)
    return replace(samples, later=later)


def _replaced(policies: Policies, of_row: dict[int, Searched]) -> Policies:
    """The policies, with those of some rows replaced."""
    bounds = list(pairwise(policies.offsets.tolist()))
    actions = [policies.actions[start:end] for start, end in bounds]
    probabilities = [policies.probabilities[start:end] for start, end in bounds]
    for row, one in of_row.items():
        actions[row], probabilities[row] = one.actions, one.probabilities
    offsets = np.zeros(len(bounds) + 1, np.int64)
    np.cumsum([len(part) for part in actions], out=offsets[1:])
    return Policies(actions=np.concatenate(actions), probabilities=np.concatenate(probabilities), offsets=offsets)


def _of(values: NDArray[np.uint16], offsets: NDArray[np.int64], sample: int) -> NDArray[np.uint16]:
    return values[offsets[sample] : offsets[sample + 1]]

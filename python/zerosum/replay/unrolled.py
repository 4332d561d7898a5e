"""Batches for a network that learns the rules (MuZero): a position and the K moves after it, with targets at each step.

A sample is K + 1 rows of a `Batch`, one after the other: the position, and the positions that its game reached by the
next moves. Only the first one's planes are the network's input; those of the others are what a consistency loss
compares hidden states with. Two things go beyond the game, because the search does too:

    past the end     absorbing states (paper, appendix G): moves are drawn at random, the result stays, seen by players
                     in turn, and there is no policy target
    illegal moves    in a share of the samples one move is replaced by a random illegal one, after which its side has
                     lost: the search below the root does not know which moves are legal, and learns what they are worth

Letters: B samples, K steps, A actions; N = B * (K + 1) rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerosum.base.arrays import places
from zerosum.replay.batch import NUM_NUMBERS, Batch, check_policies, start_states
from zerosum.replay.samples import Policies, Samples

if TYPE_CHECKING:
    from zerosum._core import Game, Leaves


def make_unrolled_batch(game: Game, samples: Samples, *, search_value_weight: float, illegal_share: float) -> Batch:
    """Encode samples with their `later` plies.

    Targets besides those of `make_batch`, for each row:

    has_value [N] float32, 1 if the value is known, else 0: random moves follow
    moves     [N] float32, the move to the next row, by the place of its logit; unused in the last row of a sample
    is_real   [N] float32, 1 if the row is a position of the game in which somebody is to move, else 0

    Args:
        game: The rules.
        samples: Samples with `later` and `following`.
        search_value_weight: As in `make_batch`.
        illegal_share: The share of samples with an illegal move, in [0, 1].

    Raises:
        GameError: a recorded move is illegal.
        DataError: a policy target has a share for an illegal move, or a start is not a position of the game.
    """
    later, following = samples.later, samples.following
    assert later is not None and following is not None, "samples of an unrolled batch have both"
    size, num_steps, num_actions = len(samples.game_ids), later.num_steps, game.spec.num_actions
    num_left = np.diff(following.offsets)
    leaves = _encoded(game, samples, num_left, num_steps)

    steps = np.arange(num_steps + 1)
    is_real = steps < num_left[:, None]  # [B, K + 1]
    moves = np.floor(later.draws[:, : num_steps + 1] * num_actions).astype(np.int64)
    is_played = is_real[:, :num_steps]
    sample_of, step_of = np.nonzero(is_played)
    played = following.actions[following.offsets[sample_of] + step_of]
    moves[sample_of, step_of] = _places(leaves, sample_of * (num_steps + 1) + step_of, played)

    q = np.float32(search_value_weight)
    values = (1 - q) * later.returns + q * later.search_values
    draws, has_value = np.repeat(samples.draws[:, None], num_steps + 1, axis=1), later.is_known.copy()

    has_illegal = later.draws[:, num_steps] < illegal_share
    illegal_steps = np.floor(later.draws[:, num_steps + 1] * num_steps).astype(np.int64)
    for sample in np.flatnonzero(has_illegal):
        step = illegal_steps[sample]
        row = sample * (num_steps + 1) + step
        is_illegal = np.ones(num_actions, np.bool_)
        is_illegal[leaves.logit_actions[leaves.legal_offsets[row] : leaves.legal_offsets[row + 1]]] = False
        illegal = np.flatnonzero(is_illegal)
        if not is_real[sample, step] or not len(illegal):
            continue
        moves[sample, step] = illegal[int(later.draws[sample, step] * len(illegal))]
        after = steps > step
        is_real[sample, after] = False
        # The next mover has won.
        values[sample, after] = np.where((steps[after] - step) % 2, 1.0, -1.0)
        draws[sample, after], has_value[sample, after] = 0.0, True
    policies = _kept(later.policies, is_real.ravel())
    targets = {
        "value": values.astype(np.float32).ravel(),
        "draws": draws.astype(np.float32).ravel(),
        "has_value": has_value.astype(np.float32).ravel(),
        "moves": moves.astype(np.float32).ravel(),
        "is_real": is_real.astype(np.float32).ravel(),
    }
    batch = Batch.of(leaves, game.spec, policies, targets)
    plies = np.diff(samples.action_offsets)[:, None] + steps
    check_policies(policies, np.repeat(samples.game_ids, num_steps + 1), plies.ravel(), batch)
    assert len(batch) == size * (num_steps + 1)
    return batch


def _encoded(game: Game, samples: Samples, num_left: NDArray[np.int64], num_steps: int) -> Leaves:
    """The positions of all rows; past the end of a game its last position."""
    assert samples.following is not None
    size, before = len(samples.game_ids), samples.action_offsets
    after, num_before = samples.following.offsets, np.diff(samples.action_offsets)
    num_moves = num_before + np.minimum(num_left, num_steps)
    parts = [
        part
        for sample, end in enumerate(np.minimum(num_left, num_steps).tolist())
        for part in (
            samples.actions[before[sample] : before[sample + 1]],
            samples.following.actions[after[sample] : after[sample] + end],
        )
    ]
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(num_moves, out=offsets[1:])
    plies = np.minimum(num_before[:, None] + np.arange(num_steps + 1), num_moves[:, None])
    return game.encode_plies(
        np.concatenate(parts),
        offsets,
        np.repeat(np.arange(size, dtype=np.int64), num_steps + 1),
        plies.ravel(),
        starts=start_states(game, samples),
    )


def _places(leaves: Leaves, rows: NDArray[np.int64], actions: NDArray[np.uint16]) -> NDArray[np.int64]:
    """The places of the logits of legal actions, one of each of these rows."""
    if np.array_equal(leaves.logit_actions, leaves.legal_actions):
        return actions.astype(np.int64)
    legal = places(leaves.legal_actions, leaves.legal_offsets, width=NUM_NUMBERS)  # ascending
    return leaves.logit_actions[np.searchsorted(legal, rows * NUM_NUMBERS + actions)].astype(np.int64)


def _kept(policies: Policies, keeps: NDArray[np.bool_]) -> Policies:
    """The policies with those emptied that are not kept."""
    sizes = np.where(keeps, np.diff(policies.offsets), 0)
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    chosen = np.repeat(policies.offsets[:-1] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Policies(actions=policies.actions[chosen], probabilities=policies.probabilities[chosen], offsets=offsets)

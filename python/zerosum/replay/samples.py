"""Samples: positions drawn from the window before they are encoded, their targets, and their images by symmetries.

Letters: B samples, A actions of the game, N entries of a sparse policy target.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Policies:
    """A sparse policy for each of B samples, concatenated."""

    actions: NDArray[np.uint16]
    """[sum N], actions."""
    probabilities: NDArray[np.float16]
    """[sum N], their probabilities."""
    offsets: NDArray[np.int64]
    """[B + 1], the policy of sample b is entries offsets[b] to offsets[b + 1]."""

    @property
    def samples(self) -> NDArray[np.int64]:
        """[sum N], the sample of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def dense(self, num_actions: int) -> NDArray[np.float32]:
        """[B, A], 0 for every action without an entry."""
        dense_BA = np.zeros((len(self.offsets) - 1, num_actions), np.float32)
        dense_BA[self.samples, self.actions] = self.probabilities
        return dense_BA


@dataclass(frozen=True, kw_only=True, eq=False)
class Moves:
    """A sequence of moves for each of B samples, concatenated."""

    actions: NDArray[np.uint16]
    """[sum N], actions."""
    offsets: NDArray[np.int64]
    """[B + 1], the moves of sample b are actions[offsets[b]:offsets[b + 1]]."""

    def permuted(self, permutations: NDArray[np.uint16], chosen: NDArray[np.int64]) -> Moves:
        """The moves of each sample b, permuted by permutations[chosen[b]]."""
        return replace(self, actions=permutations[np.repeat(chosen, np.diff(self.offsets)), self.actions])


@dataclass(frozen=True, kw_only=True, eq=False)
class Played:
    """The moves that were made in B positions."""

    actions: NDArray[np.uint16]
    """[B], the moves."""
    shares: NDArray[np.float32]
    """[B], in [0, 1], the share of each in the recorded policy target; 0 for a move without an entry."""

    @classmethod
    def of(cls, actions: NDArray[np.uint16], policies: Policies) -> Played:
        """These moves, with their shares in recorded policies."""
        shares, samples = np.zeros(len(actions), np.float32), policies.samples
        is_played = policies.actions == actions[samples]
        shares[samples[is_played]] = policies.probabilities[is_played]
        return cls(actions=actions, shares=shares)


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Positions drawn from the window before encoding: the moves that led to each, and the targets."""

    game_ids: NDArray[np.int64]
    """[B], the game of each sample."""
    starts: tuple[str, ...]
    """[B], the starting position of each sample's game, as `zerosum.games.start_state` takes it."""
    actions: NDArray[np.uint16]
    """[sum of plies], the moves from the start to each position, concatenated."""
    action_offsets: NDArray[np.int64]
    """[B + 1], sample b's moves are actions[action_offsets[b]:action_offsets[b + 1]]."""
    returns: NDArray[np.float32]
    """[B], `returns_of` for the mover, in [-1, 1]: the game's result, unless the ply or a later one was proven."""
    search_values: NDArray[np.float32]
    """[B], for the mover, in [-1, 1]; equal to the return if a record has no evaluation."""
    draws: NDArray[np.float32]
    """[B], in [0, 1]: 1 for a draw, 0 if one side wins; by the next proven value, or by the result without one."""
    following: Moves | None = None
    """The moves from each position to the end of its game, with `later`."""
    owners: NDArray[np.int8] | None = None
    """[B, S], the owner of each square at the end of the game, 1 the first player, -1 the second, 0 neither; if
    requested."""
    policies: Policies
    """The policy targets."""
    played: Played | None = None
    """The moves of the game at these positions, if requested."""
    later: Later | None = None
    """The targets of the next plies, if requested; then there is `following`, too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Later:
    """The targets of B samples at K + 1 steps: at each sample's position and at the K plies after it."""

    returns: NDArray[np.float32]
    """[B, K + 1], as `Samples.returns`, for the player who is to move if players take turns; past the end of a game the
    result stays."""
    search_values: NDArray[np.float32]
    """[B, K + 1], as `Samples.search_values`; equal to the return at plies that are no positions of the window."""
    is_known: NDArray[np.bool_]
    """[B, K + 1], False before the first position of a game: random moves follow there, so the result says little."""
    policies: Policies
    """The policy targets, [B * (K + 1)], a sample after the other; empty at plies without one, and past the end."""
    draws: NDArray[np.float64]
    """[B, K + 4], uniform random numbers in [0, 1); the first K + 2 are for moves that the game does not have."""

    @property
    def num_steps(self) -> int:
        """K."""
        return int(self.returns.shape[1]) - 1


def permuted(
    samples: Samples, symmetries: Sequence[Sequence[int]], *, starts: Collection[str] = (), seed: int, step: int
) -> Samples:
    """A random image of each sample, or the sample itself, with equal probabilities: its game with permuted actions.

    The symmetries keep the initial position and `starts`. A game with another start is not changed, because the image
    of its start is unknown. The choice is a pure function of `seed` and `step`. Without symmetries the samples are
    returned unchanged.
    """
    if not symmetries:
        return samples
    permutations = np.array([range(len(symmetries[0])), *symmetries], np.uint16)
    # The draw of the samples themselves has the key (seed, step).
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, step], np.uint64)).jumped())
    chosen = generator.integers(len(permutations), size=len(samples.game_ids))
    chosen[[start != "" and start not in starts for start in samples.starts]] = 0
    image_of_moves = np.repeat(chosen, np.diff(samples.action_offsets))
    policies = samples.policies
    policies = replace(policies, actions=permutations[chosen[policies.samples], policies.actions])
    following = None if samples.following is None else samples.following.permuted(permutations, chosen)
    actions = permutations[image_of_moves, samples.actions]
    later = samples.later
    if later is not None:
        of_later = np.repeat(chosen, later.num_steps + 1)[later.policies.samples]
        turned = replace(later.policies, actions=permutations[of_later, later.policies.actions])
        later = replace(later, policies=turned)
    owners = None if samples.owners is None else _images(samples.owners, permutations, chosen)
    played = samples.played
    if played is not None:
        played = replace(played, actions=permutations[chosen, played.actions])
    return replace(
        samples, actions=actions, policies=policies, following=following, later=later, owners=owners, played=played
    )


def _images(
    owners_BS: NDArray[np.int8], permutations: NDArray[np.uint16], chosen: NDArray[np.int64]
) -> NDArray[np.int8]:
    """The owners in the image of each sample b by permutations[chosen[b]], whose first S actions are the squares."""
    squares = permutations[:, : owners_BS.shape[1]].astype(np.int64)
    assert (squares < owners_BS.shape[1]).all(), "a square's image is a square"
    images_BS = np.empty_like(owners_BS)
    np.put_along_axis(images_BS, squares[chosen], owners_BS, axis=1)
    return images_BS

"""Batches for the learner: the input and the targets of one step, encoded by the game's rules and packed.

A batch travels to the learner's device, which may be a GPU or another machine. Planes are bits, and policies and legal
moves are lists, which are some twenty times smaller than arrays with a number for each square and action. The learner
expands them on its device.

Letters: B samples, C planes of H x W squares (P of bits, K of one number each, N bytes a plane of bits), A actions of
the game, L legal actions of a position.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from zerosum.base.arrays import expand_planes, places
from zerosum.base.errors import DataError, GameError
from zerosum.games import start_state
from zerosum.replay.samples import Policies, Samples

if TYPE_CHECKING:
    from zerosum._core import Game, GameSpec, Leaves, State

NUM_NUMBERS = 1 << 16
"""Numbers that an action can have."""

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """The input and targets of one learner step. All values are for the player to move."""

    board_shape: tuple[int, int]
    """Height and width of a plane (H, W)."""
    num_actions: int
    """Number of actions (A)."""
    is_constant: NDArray[np.bool_]
    """[C], whether a plane is one number."""
    packed_planes: NDArray[np.uint8]
    """[B, P, N], as `Leaves.packed_planes`."""
    constant_planes: NDArray[np.float32]
    """[B, K], as `Leaves.constant_planes`."""
    logit_actions: NDArray[np.uint16]
    """[sum L], as `Leaves.logit_actions`."""
    legal_offsets: NDArray[np.int64]
    """[B + 1], as `Leaves.legal_offsets`."""
    policies: Policies
    """The policy targets by the places of their logits: each sums to 1 within the rounding of 16 bits."""
    targets: Mapping[str, NDArray[np.float32]]
    """The targets of the other heads, by name:

    value   [B], in [-1, 1]
    draws   [B], as `Samples.draws`
    owners  [B, H * W], the owner of each square at the end of the game: 1 the player to move, -1 the other, 0
            neither. Only if requested
    played  [B], the move of the game, by the place of its logit, and
    played_share [B], in [0, 1], its share in the recorded policy target. Only if requested
    """

    def __post_init__(self) -> None:
        size, (height, width) = len(self), self.board_shape
        num_constant = int(self.is_constant.sum())
        num_bytes = -(-height * width // 8)
        _require("packed_planes", self.packed_planes, np.uint8, (size, len(self.is_constant) - num_constant, num_bytes))
        _require("constant_planes", self.constant_planes, np.float32, (size, num_constant))
        _require("legal_offsets", self.legal_offsets, np.int64, (size + 1,))
        _require("policies.offsets", self.policies.offsets, np.int64, (size + 1,))
        for name, target in self.targets.items():
            _require(name, target, np.float32, (size, height * width) if name == "owners" else (size,))

    @classmethod
    def of(
        cls, leaves: Leaves, spec: GameSpec, policies: Policies, targets: Mapping[str, NDArray[np.float32]]
    ) -> Batch:
        """A batch of encoded positions."""
        return cls(
            board_shape=spec.board_shape,
            num_actions=spec.num_actions,
            is_constant=np.array([plane.is_constant for plane in spec.planes], np.bool_),
            packed_planes=leaves.packed_planes,
            constant_planes=leaves.constant_planes,
            logit_actions=leaves.logit_actions,
            legal_offsets=leaves.legal_offsets,
            policies=_by_logits(policies, leaves),
            targets=targets,
        )

    def __len__(self) -> int:
        """Number of positions (B)."""
        return len(self.packed_planes)

    def planes(self) -> NDArray[np.float32]:
        """[B, C, H, W], the network's input."""
        return expand_planes(self.packed_planes, self.constant_planes, self.is_constant, self.board_shape)

    def legal_indices(self) -> NDArray[np.int64]:
        """[sum L], the places of the legal actions' logits among B * A."""
        return places(self.logit_actions, self.legal_offsets, width=self.num_actions)

    def policy_indices(self) -> NDArray[np.int64]:
        """The places of the policies' entries among B * A."""
        return places(self.policies.actions, self.policies.offsets, width=self.num_actions)

    def part(self, start: int, stop: int) -> Batch:
        """The samples from `start` to `stop`."""
        logit_actions, legal_offsets = _part(self.logit_actions, self.legal_offsets, start, stop)
        actions, offsets = _part(self.policies.actions, self.policies.offsets, start, stop)
        probabilities, _ = _part(self.policies.probabilities, self.policies.offsets, start, stop)
        return replace(
            self,
            packed_planes=self.packed_planes[start:stop],
            constant_planes=self.constant_planes[start:stop],
            logit_actions=logit_actions,
            legal_offsets=legal_offsets,
            policies=Policies(actions=actions, probabilities=probabilities, offsets=offsets),
            targets={name: target[start:stop] for name, target in self.targets.items()},
        )


def _by_logits(policies: Policies, leaves: Leaves) -> Policies:
    """The policies with the places of their actions' logits."""
    if np.array_equal(leaves.logit_actions, leaves.legal_actions):
        return policies
    legal = places(leaves.legal_actions, leaves.legal_offsets, width=NUM_NUMBERS)  # ascending
    wanted = places(policies.actions, policies.offsets, width=NUM_NUMBERS)
    return replace(policies, actions=leaves.logit_actions[np.searchsorted(legal, wanted)])


def _require(name: str, array: NDArray[np.generic], dtype: type[np.generic], shape: tuple[int, ...]) -> None:
    assert array.shape == shape, (name, array.shape, shape)
    assert array.dtype == dtype, (name, array.dtype)


def _part(
    values: NDArray[_Number], offsets: NDArray[np.int64], start: int, stop: int
) -> tuple[NDArray[_Number], NDArray[np.int64]]:
    """Rows of a ragged array, and their offsets."""
    first, last = offsets[start], offsets[stop]
    return values[first:last], offsets[start : stop + 1] - first


def empty_batch(leaves: Leaves, spec: GameSpec, names: Collection[str]) -> Batch:
    """A batch whose policies are empty and whose other targets, those of `names`, are 0."""
    size, (height, width) = len(leaves), spec.board_shape
    nothing = Policies(
        actions=np.empty(0, np.uint16), probabilities=np.empty(0, np.float16), offsets=np.zeros(size + 1, np.int64)
    )
    sizes = {"owners": (size, height * width)}
    zeros = {name: np.zeros(sizes.get(name, size), np.float32) for name in set(names) - {"policy"}}
    return Batch.of(leaves, spec, nothing, zeros)


def make_batch(game: Game, samples: Samples, *, search_value_weight: float) -> Batch:
    """Encode samples with the game's rules.

    The value target is (1 - q) * return + q * search value with q = `search_value_weight` in [0, 1] (paper: 0).

    Raises:
        GameError: a recorded move is illegal.
        DataError: a policy target has a share for an illegal move, or a start is not a position of the game; or the
            move that was made there is illegal, if the samples have it.
    """
    leaves = encode(game, samples)
    q = np.float32(search_value_weight)
    targets = {"value": (1 - q) * samples.returns + q * samples.search_values, "draws": samples.draws}
    if samples.owners is not None:
        signs_B = np.where(leaves.players == 0, 1, -1).astype(np.int8)
        targets["owners"] = (signs_B[:, None] * samples.owners).astype(np.float32)
    if samples.played is not None:
        targets["played"] = _played_places(samples, samples.played.actions, leaves).astype(np.float32)
        targets["played_share"] = samples.played.shares
    batch = Batch.of(leaves, game.spec, samples.policies, targets)
    check_policies(samples.policies, samples.game_ids, np.diff(samples.action_offsets), batch)
    return batch


def _played_places(samples: Samples, played: NDArray[np.uint16], leaves: Leaves) -> NDArray[np.uint16]:
    """[B], the place of the logit of each sample's move. Raises DataError for an illegal move."""
    legal = places(leaves.legal_actions, leaves.legal_offsets, width=NUM_NUMBERS)  # ascending
    wanted = np.arange(len(leaves)) * NUM_NUMBERS + played
    at = np.minimum(np.searchsorted(legal, wanted), len(legal) - 1)
    is_legal = legal[at] == wanted
    if not is_legal.all():
        sample = int(np.argmin(is_legal))
        plies = np.diff(samples.action_offsets)
        raise _other_rules(samples.game_ids[sample], f"move {played[sample]} at", plies[sample])
    return leaves.logit_actions[at]


def encode(game: Game, samples: Samples) -> Leaves:
    """The positions of samples, without their targets.

    Raises:
        GameError: a recorded move is illegal.
        DataError: a start is not a position of the game.
    """
    return game.encode_plies(
        samples.actions,
        samples.action_offsets,
        np.arange(len(samples.game_ids), dtype=np.int64),
        np.diff(samples.action_offsets),
        starts=start_states(game, samples),
    )


def start_states(game: Game, samples: Samples) -> list[State | None] | None:
    """The start of each sample's game, None for the initial state; None if all start there."""
    if not any(samples.starts):
        return None
    states: list[State | None] = []
    for game_id, start in zip(samples.game_ids.tolist(), samples.starts, strict=True):
        try:
            states.append(start_state(game, start) if start else None)
        except GameError as error:
            raise DataError(
                f"Game {game_id} begins with {start!r}, which is not a position of {game.spec.full_name}: {error}."
                " Set its file aside to train on the others."
            ) from error
    return states


def check_policies(policies: Policies, game_ids: NDArray[np.int64], plies: NDArray[np.int64], batch: Batch) -> None:
    """Check that the targets of a batch have legal actions. Raises DataError, with the first other's game and ply."""
    actions, num_places = policies.actions, len(batch) * batch.num_actions
    # A table of all places is quicker than np.isin, which sorts both lists.
    is_legal_place = np.zeros(num_places, np.bool_)
    is_legal_place[batch.legal_indices()] = True
    places_of_policies = np.minimum(batch.policy_indices(), num_places - 1)
    is_legal = (actions < batch.num_actions) & is_legal_place[places_of_policies]
    if not is_legal.all():
        entry = int(np.argmin(is_legal))
        sample = policies.samples[entry]
        raise _other_rules(game_ids[sample], f"action {actions[entry]} in the policy target of", plies[sample])


def _other_rules(game_id: int, what: str, ply: int) -> DataError:
    """The error of a game that does not fit the rules, `what` with the preposition before the ply."""
    return DataError(
        f"Game {game_id} has {what} ply {ply}, where it is illegal: the game was recorded by other rules. Train in the"
        " run directory of the version that recorded it, or start a new run."
    )

"""Evaluation of each position in a random one of the game's symmetries, as AlphaGo Zero's leaves were.

A symmetry maps the actions and, with them, the squares of the board: the network sees the turned board, and its policy
is turned back. AlphaGo Zero (Silver et al., Nature 550, 2017, Methods, "Expand and evaluate") draws a symmetry for each
leaf. Here it is a hash of the position, keyed by a seed and the network's step, so that results depend neither on the
order of the leaves nor on the number of threads.

Shape suffixes: B positions, C planes, H height, W width, N squares (H * W), S symmetries with the identity, A actions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.games import Rules
from zerosum.games.random_play import random_lines, state_of
from zerosum.network.evaluators.evaluator import Evaluations, NetworkEvaluator
from zerosum.network.evaluators.surrounding import SurroundingEvaluator

if TYPE_CHECKING:
    from zerosum._core import Leaves

NUM_POSITIONS = 64
"""Positions of random games whose images show how a symmetry of the actions moves the squares."""


@dataclass(frozen=True)
class Symmetries:
    """The symmetries of a game that its planes show as a turned or mirrored board, the identity first."""

    actions: NDArray[np.uint16]
    """[S, A], the image of each action."""
    sources: NDArray[np.int64]
    """[S, N], for each square of the turned board the square of the board that it shows."""

    @classmethod
    def of(cls, game: Rules) -> Symmetries:
        """The symmetries of `game.spec` whose squares are found; a game without symmetries has the identity.

        A symmetry is a permutation of actions, so its squares are found by play: of the turns and mirrors of the board,
        the one that makes the planes of positions those of their images. A symmetry without one is left out: its
        planes say more than the board, such as a side that keeps its corner.
        """
        spec = game.spec
        height, width = spec.board_shape
        actions = [list(range(spec.num_actions))]
        sources = [np.arange(height * width)]
        lines = list(random_lines(game, num=NUM_POSITIONS if spec.symmetries else 0, seed=0))
        planes_BCN = _planes(game, lines)
        for permutation in spec.symmetries:
            image_BCN = _planes(game, [[permutation[action] for action in line] for line in lines])
            for source_N in _turned_boards(height, width):
                if np.array_equal(planes_BCN[:, :, source_N], image_BCN):
                    actions.append(permutation)
                    sources.append(source_N)
                    break
        return cls(np.array(actions, np.uint16), np.array(sources, np.int64))

    def __len__(self) -> int:
        """Number of symmetries, the identity included (S)."""
        return len(self.actions)


def _planes(game: Rules, lines: list[list[int]]) -> NDArray[np.float32]:
    """[B, C, N], the planes of the positions after these moves."""
    leaves = game.encode([state_of(game, line) for line in lines])
    return leaves.planes().reshape(len(lines), len(game.spec.planes), math.prod(game.spec.board_shape))


def _turned_boards(height: int, width: int) -> Iterator[NDArray[np.int64]]:
    """The squares of a board, row by row, as they stand on its turned and mirrored images of the same shape."""
    board_HW = np.arange(height * width).reshape(height, width)
    for quarter_turns in range(4):
        turned = np.rot90(board_HW, quarter_turns)
        if turned.shape == board_HW.shape:
            yield turned.ravel()
            yield turned[:, ::-1].ravel()


class SymmetricEvaluator(SurroundingEvaluator):
    """A network's evaluator that turns each position at random. May be called from several threads at once."""

    def __init__(self, evaluator: NetworkEvaluator, symmetries: Symmetries, *, seed: int, step: int) -> None:
        """Turn what `evaluator` evaluates.

        Args:
            evaluator: Runs the network.
            symmetries: Those of the network's game.
            seed: Keys the choice of symmetries, with `step`.
            step: The step of the evaluator's network.
        """
        super().__init__(evaluator, seed=seed, step=step)
        self._symmetries = symmetries

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        turned = TurnedLeaves(leaves, self._symmetries, self.chosen(leaves))
        return self._evaluator.evaluate(cast("Leaves", turned))

    def chosen(self, leaves: Leaves) -> NDArray[np.int64]:
        """[B], the number of each position's symmetry, 0 for the identity; equal planes have equal ones."""
        packed_BM = leaves.packed_planes.reshape(len(leaves), math.prod(leaves.packed_planes.shape[1:])).astype(
            np.uint64
        )
        hashes_B = packed_BM @ _multipliers(self._seed, self._step, packed_BM.shape[1])
        return ((hashes_B >> np.uint64(32)) % np.uint64(len(self._symmetries))).astype(np.int64)


@functools.lru_cache(maxsize=8)
def _multipliers(seed: int, step: int, num_bytes: int) -> NDArray[np.uint64]:
    """[num_bytes], the factors of a multilinear hash of bytes (Carter and Wegman 1979), whose high bits count."""
    return np.random.default_rng((seed, step)).integers(1 << 64, size=num_bytes, dtype=np.uint64)


class TurnedLeaves:
    """Leaves as a network sees them on turned boards: the part of `Leaves` that evaluators read."""

    def __init__(self, leaves: Leaves, symmetries: Symmetries, chosen: NDArray[np.int64]) -> None:
        """Turn position b of `leaves` by symmetry `chosen[b]`."""
        self._leaves = leaves
        self._sources_BN = symmetries.sources[chosen]
        self.legal_offsets = leaves.legal_offsets
        self._rows = np.repeat(np.arange(len(leaves)), np.diff(self.legal_offsets))
        self.legal_actions = symmetries.actions[chosen[self._rows], leaves.legal_actions]
        """[sum L], the images of the legal actions, in the order of the actions themselves."""

    def __len__(self) -> int:
        """Number of positions (B)."""
        return len(self._leaves)

    @property
    def constant_planes(self) -> NDArray[np.float32]:
        """[B, number of constant planes]."""
        return self._leaves.constant_planes

    @property
    def packed_planes(self) -> NDArray[np.uint8]:
        """[B, number of bit planes, ceil(H*W/8)], as `Leaves.packed_planes`."""
        num_squares = self._sources_BN.shape[1]
        bits_BCN = np.unpackbits(self._leaves.packed_planes, axis=-1, count=num_squares, bitorder="little")
        return np.packbits(self._turned(bits_BCN), axis=-1, bitorder="little")

    def planes(self) -> NDArray[np.float32]:
        """[B, C, H, W]."""
        planes_BCHW = self._leaves.planes()
        return self._turned(planes_BCHW.reshape(*planes_BCHW.shape[:2], self._sources_BN.shape[1])).reshape(
            planes_BCHW.shape
        )

    def write_planes(self, out: NDArray[np.float32]) -> None:
        """Write `planes` into the first B rows of `out` [>= B, C, H, W]."""
        out[: len(self)] = self.planes()

    def select_legal(self, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """The logits of the legal actions, [sum L], from the turned boards' logits [>= B, A]."""
        return logits[self._rows, self.legal_actions]

    def write_input(
        self,
        start: int,
        stop: int,
        *,
        bits: NDArray[np.uint8],
        numbers: NDArray[np.float32],
        places: NDArray[np.int32],
        place_of_action: NDArray[np.int32],
        row_width: int,
    ) -> None:
        """As `Leaves.write_input`, for the turned boards."""
        first, last = self.legal_offsets[start], self.legal_offsets[stop]
        packed, constant = self.packed_planes[start:stop], self.constant_planes[start:stop]
        bits[: packed.size] = packed.ravel()
        numbers[: constant.size] = constant.ravel()
        rows = self._rows[first:last] - start
        places[: last - first] = rows * row_width + place_of_action[self.legal_actions[first:last]]

    def _turned(self, planes_BCN: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(planes_BCN, self._sources_BN[:, None, :], axis=2)

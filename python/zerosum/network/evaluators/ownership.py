"""Owner of each square at the end of the game, the score and the moves left, by a network's heads for them, in NumPy.

A head is only trained with (`network/heads.py`), so it is not in the graphs that search. People ask for it a few times
a second, and NumPy is enough for that: a position of 19x19 takes a network of 6x64 some 60 ms. Networks of KataGo and
those with a score head tell the score, and some of Lc0 the moves left.

Shape suffixes: B positions, F and G filters, H and W the board, K kernel, S squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.network import Checkpoint
from zerosum.network.graph import graph
from zerosum.network.heads import KOMI_PLANE, LEAST_DEVIATION, OWNERSHIP, POINTS, POINTS_SCALE
from zerosum.network.katago_config import SCORE, KatagoConfig
from zerosum.network.layer_protocol import LARGEST
from zerosum.network.lc0_config import MOVES_LEFT


@dataclass(frozen=True)
class Points:
    """The score that a network expects at the end of the game."""

    lead: float
    """Points by which the side in question leads: as many less would make the game even."""
    mean: float
    """The mean score of games from here."""
    deviation: float
    """Standard deviation of the score, in points."""

    def of_opponent(self) -> Points:
        """The same for the other side."""
        return Points(-self.lead, -self.mean, self.deviation)


class OwnershipNetwork:
    """A network with an ownership head, which has learned from whole games of self-play."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        """The checkpoint's network must have the head (`has_ownership`)."""
        assert has_ownership(checkpoint), "the network has no ownership head"
        self._checkpoint = checkpoint

    def owners(self, planes_BCHW: NDArray[np.float32]) -> NDArray[np.float64]:
        """[B, S] in [-1, 1], row by row from the top left: 1 where the square will be the player to move's."""
        info, weights = self._checkpoint.info, self._checkpoint.weights
        outputs = graph(_Operations(), planes_BCHW, info.network, info.shape, weights, heads=[OWNERSHIP])
        # 2 / (1 + exp(-logit)) - 1
        owners: NDArray[np.float64] = np.tanh(outputs[OWNERSHIP.name].astype(np.float64) / 2)
        return owners

    @property
    def knows_no_result(self) -> bool:
        """Whether the middle one of the network's three shares is that of games without a result, not of draws."""
        return isinstance(self._checkpoint.info.network, KatagoConfig)

    @property
    def knows_points(self) -> bool:
        """Whether the network tells the score."""
        return any(head in self._checkpoint.info.network.heads for head in (SCORE, POINTS))

    def points(self, planes_1CHW: NDArray[np.float32]) -> Points:
        """The score of one position for the player to move. The network must tell it (`knows_points`)."""
        assert self.knows_points, "the network has no score head"
        info, weights = self._checkpoint.info, self._checkpoint.weights
        if not isinstance(info.network, KatagoConfig):
            outputs = graph(_Operations(), planes_1CHW, info.network, info.shape, weights, heads=[POINTS])
            mean, deviation = outputs[POINTS.name][0].astype(np.float64)
            channel = [name for name, _ in info.planes].index(KOMI_PLANE)
            points = POINTS_SCALE * (float(mean) + float(planes_1CHW[0, channel, 0, 0]))
            return Points(points, points, POINTS_SCALE * (float(np.logaddexp(deviation, 0)) + LEAST_DEVIATION))
        outputs = graph(_Operations(), planes_1CHW, info.network, info.shape, weights, heads=[SCORE])
        mean, deviation, lead = outputs[SCORE.name][0].astype(np.float64)
        units = info.network.points
        return Points(float(lead) * units[2], float(mean) * units[0], float(np.logaddexp(deviation, 0)) * units[1])


def has_ownership(checkpoint: Checkpoint) -> bool:
    """Whether the network has an ownership head."""
    return OWNERSHIP in checkpoint.info.network.heads


class MovesLeft:
    """A network of Lc0 that predicts the plies left."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        """The network must tell it (`has_moves_left`)."""
        assert has_moves_left(checkpoint), "the network has no output of moves left"
        self._checkpoint = checkpoint

    def plies(self, planes_1CHW: NDArray[np.float32]) -> float:
        """Plies until the game ends, at least 0."""
        info, weights = self._checkpoint.info, self._checkpoint.weights
        outputs = graph(_Operations(), planes_1CHW, info.network, info.shape, weights, heads=[MOVES_LEFT])
        return max(0.0, float(outputs[MOVES_LEFT.name][0, 0]))


def has_moves_left(checkpoint: Checkpoint) -> bool:
    """Whether the network predicts the plies left."""
    return MOVES_LEFT in checkpoint.info.network.heads


class _Operations:
    """`network.graph.Operations` on arrays, in float32."""

    def convolve(
        self, x: NDArray[np.float32], name: str, kernel: NDArray[np.float32], shift: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        height, width, side = x.shape[2], x.shape[3], kernel.shape[2]
        reach = side // 2
        padded = np.pad(x, ((0, 0), (0, 0), (reach, reach), (reach, reach)))
        # One matrix product for each place of the kernel.
        y_GBHW = sum(
            np.tensordot(kernel[:, :, i, j], padded[:, :, i : i + height, j : j + width], axes=(1, 1))
            for i in range(side)
            for j in range(side)
        )
        return np.swapaxes(y_GBHW, 0, 1) + shift[:, None, None]

    def linear(
        self, x: NDArray[np.float32], name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        return x @ weight.T + bias

    def affine(
        self, x: NDArray[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        return x * weight[:, None, None] + bias[:, None, None]

    def relu(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.maximum(x, 0)

    def mish(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        return x * np.tanh(np.logaddexp(x, np.float32(0)))

    def add(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        return x + y

    def flatten(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        return x.reshape(len(x), -1)

    def mean_of_squares(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        means: NDArray[np.float32] = x.mean(axis=(2, 3))
        return means

    def max_of_squares(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        maxima: NDArray[np.float32] = x.max(axis=(2, 3))
        return maxima

    def first_plane(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        return x[:, :1]

    def on_board(self, x: NDArray[np.float32], board: NDArray[np.float32]) -> NDArray[np.float32]:
        return x * board

    def mean_on_board(self, x: NDArray[np.float32], board: NDArray[np.float32]) -> NDArray[np.float32]:
        means: NDArray[np.float32] = (x * board).sum(axis=(2, 3)) / board.sum(axis=(2, 3))
        return means

    def max_on_board(self, x: NDArray[np.float32], board: NDArray[np.float32]) -> NDArray[np.float32]:
        maxima: NDArray[np.float32] = np.where(board > 0, x, np.float32(-LARGEST)).max(axis=(2, 3))
        return maxima

    def shift(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        return x + y[:, :, None, None]

    def scale(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        return x * (1 / (1 + np.exp(-y))).astype(np.float32)[:, :, None, None]

    def join(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.concatenate([x, y], axis=1)

    def selu(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        below: NDArray[np.float32] = np.float32(1.6732632423543772) * np.expm1(np.minimum(x, 0))
        y: NDArray[np.float32] = np.float32(1.0507009873554805) * np.where(x > 0, x, below)
        return y

    def swish(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        y: NDArray[np.float32] = x / (1 + np.exp(-x))
        return y

    def square(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        return x * x

    def squares(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        y: NDArray[np.float32] = x[:, :, ::-1].reshape(*x.shape[:2], -1).swapaxes(1, 2)
        return y

    def first_units(self, x: NDArray[np.float32], number: int) -> NDArray[np.float32]:
        return x[..., :number]

    def reshape(self, x: NDArray[np.float32], shape: tuple[int, ...]) -> NDArray[np.float32]:
        return x.reshape(len(x), *shape)

    def each_unit(
        self, x: NDArray[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        return x * weight + bias

    def norm_units(
        self, x: NDArray[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32], epsilon: float
    ) -> NDArray[np.float32]:
        mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
        y: NDArray[np.float32] = ((x - mean) / np.sqrt(variance + np.float32(epsilon))) * weight + bias
        return y

    def attend(
        self,
        query: NDArray[np.float32],
        key: NDArray[np.float32],
        value: NDArray[np.float32],
        units: int,
        heads: int,
        bias: NDArray[np.float32] | None,
    ) -> NDArray[np.float32]:
        q, k, v = (x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) for x in (query, key, value))
        logits = self.products(q, k, units // heads) + (0 if bias is None else bias)
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        attended = (weights / weights.sum(axis=-1, keepdims=True)) @ v
        y: NDArray[np.float32] = attended.swapaxes(1, 2).reshape(value.shape)
        return y

    def products(self, query: NDArray[np.float32], key: NDArray[np.float32], units: int) -> NDArray[np.float32]:
        return (query @ key.swapaxes(-1, -2)) * np.float32(units**-0.5)

    def take(self, x: NDArray[np.float32], indices: NDArray[np.int64]) -> NDArray[np.float32]:
        return x[:, indices]

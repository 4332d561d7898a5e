"""A linear evaluation over a game's pieces: which of its planes are summed, and with which weights.

An evaluation is a sum over the pieces of both sides, the opponent's with the opposite sign: a value for each kind of
piece, a correction for each kind on each square as its owner sees the board, and a value for each number in hand. All
of it comes from the names and the orientation of the game's planes, nothing from its rules. It estimates the logit of
the player to move's expected result, (1 + result) / 2.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum._core import LinearEvaluation, TreeErrors
from zerosum.base.errors import DataError
from zerosum.games import Rules, State
from zerosum.network.piece_planes import OWN, count, pairs, require_piece_planes


@dataclass(frozen=True)
class Samples:
    """Positions as the terms of a game see them."""

    squares: NDArray[np.int8]
    """[N, kinds * squares], 1 for an own piece, -1 for one of the opponent's."""
    numbers: NDArray[np.float32]
    """[N, numbers], the own number less the opponent's."""

    @staticmethod
    def joined(parts: Sequence[Samples]) -> Samples:
        """All samples of some parts, in their order."""
        return Samples(np.concatenate([part.squares for part in parts]), np.concatenate([p.numbers for p in parts]))


class PieceTerms:
    """The terms of a game's linear evaluation.

    A plane "own X" and its "opponent X" are one kind of piece X (or one number, such as a count in hand). Planes of
    earlier positions ("…, 2 plies ago") and those of neither side are left out. If no plane has such a name, each plane
    of squares is a kind of its own.
    """

    def __init__(self, game: Rules) -> None:
        """The terms of a game.

        Raises:
            SettingsError: the game has no planes of pieces.
        """
        require_piece_planes(game.spec)
        bits = [plane.name for plane in game.spec.planes if not plane.is_constant]
        numbers = [plane.name for plane in game.spec.planes if plane.is_constant]
        self.game, self.num_squares = game, int(np.prod(game.spec.board_shape))
        self.num_planes = (len(bits), len(numbers))
        kinds = pairs(bits)
        self.kinds = [kind.name for kind in kinds] or bits
        """Names of the kinds of pieces."""
        self._own = [kind.own for kind in kinds] or list(range(len(bits)))
        self._opponent = [kind.opponent for kind in kinds]
        of_numbers = [kind for kind in pairs(numbers) if numbers[kind.own].startswith(OWN)]
        counts = [count(kind.name) for kind in of_numbers]
        self.numbers = [name for name, _ in counts]
        """Names of the numbers."""
        self._divisors = np.array([divisor for _, divisor in counts], np.float32)
        self._own_numbers = [kind.own for kind in of_numbers]
        self._opponent_numbers = [kind.opponent for kind in of_numbers]
        self._turned = self._find_turned()

    @property
    def size(self) -> int:
        """Number of terms: kinds, kinds * squares, numbers, and one for the side to move."""
        return len(self.kinds) * (1 + self.num_squares) + len(self.numbers) + 1

    @property
    def of_squares(self) -> slice:
        """The terms of kinds on squares."""
        return slice(len(self.kinds), len(self.kinds) * (1 + self.num_squares))

    def samples(self, states: Sequence[State]) -> Samples:
        """Positions, seen from their players to move."""
        bits, numbers = self._planes(states)
        squares = bits[:, self._own].astype(np.int8)
        if self._opponent:
            squares -= bits[:, self._opponent][:, :, self._turned].astype(np.int8)
        differences = numbers[:, self._own_numbers] - numbers[:, self._opponent_numbers]
        return Samples(squares.reshape(len(states), -1), differences * self._divisors)

    def inputs(self, samples: Samples) -> NDArray[np.float32]:
        """[N, `size`], what the weights are multiplied with."""
        num = len(samples.squares)
        kinds = samples.squares.reshape(num, len(self.kinds), -1).sum(2, dtype=np.float32)
        ones = np.ones((num, 1), np.float32)
        return np.concatenate([kinds, samples.squares.astype(np.float32), samples.numbers, ones], axis=1)

    def evaluation(self, weights: NDArray[np.float32]) -> LinearEvaluation:
        """The evaluation of a search with these weights [`size`]."""
        num_bits, num_numbers = self.num_planes
        squares = np.zeros((num_bits, self.num_squares), np.float32)
        of_kinds = self._of_kinds(weights)
        squares[self._own] = of_kinds
        if self._opponent:
            squares[np.array(self._opponent)[:, np.newaxis], self._turned] = -of_kinds
        numbers = np.zeros(num_numbers, np.float32)
        of_numbers = weights[self.of_squares.stop : -1] * self._divisors
        numbers[self._own_numbers] = of_numbers
        numbers[self._opponent_numbers] = -of_numbers
        return LinearEvaluation(self.game, squares.reshape(-1), numbers, bias=float(weights[-1]))

    def of_errors(self, errors: TreeErrors) -> NDArray[np.float64]:
        """[`size`], the sums of the errors times the inputs: what moves the weights of `evaluation` down their loss."""
        squares = errors.squares.reshape(self.num_planes[0], self.num_squares)
        of_kinds = squares[self._own]
        if self._opponent:
            of_kinds = of_kinds - squares[np.array(self._opponent)[:, np.newaxis], self._turned]
        of_numbers = (errors.numbers[self._own_numbers] - errors.numbers[self._opponent_numbers]) * self._divisors
        return np.concatenate([of_kinds.sum(1), of_kinds.reshape(-1), of_numbers, [errors.bias]])

    def values(self, weights: NDArray[np.float32], samples: Samples) -> dict[str, float]:
        """The value of each kind, the mean over the squares on which these samples have it, and of each number."""
        shape = (len(self.kinds), self.num_squares)
        seen = np.abs(samples.squares).sum(axis=0, dtype=np.float64).reshape(shape)
        means = (self._of_kinds(weights) * seen).sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
        values = dict(zip(self.kinds, means.tolist(), strict=True))
        return values | dict(zip(self.numbers, weights[self.of_squares.stop : -1].tolist(), strict=True))

    def _of_kinds(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """[kinds, squares], the weight of an own piece."""
        kinds = weights[: len(self.kinds), np.newaxis]
        return kinds + weights[self.of_squares].reshape(len(self.kinds), self.num_squares)

    def _planes(self, states: Sequence[State]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """[N, bit planes, squares] and [N, constant planes]."""
        leaves = self.game.encode(states)
        bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little")
        return bits[:, :, : self.num_squares], leaves.constant_planes

    def _find_turned(self) -> NDArray[np.int64]:
        """The square that the opponent sees where the player to move sees each square, by the initial position.

        The board is flipped, turned by a half or left as it is: whichever makes the two sides' pieces alike.
        """
        squares = np.arange(self.num_squares).reshape(self.game.spec.board_shape)
        bits = self._planes([self.game.initial_state()])[0][0]
        for turned in (squares, squares[::-1], squares[::-1, ::-1]):
            if (bits[self._own][:, turned.reshape(-1)] == bits[self._opponent or self._own]).all():
                return turned.reshape(-1)
        return squares.reshape(-1)


@dataclass(frozen=True)
class LearnedWeights:
    """The weights that a run has learned from the rules of its game."""

    encoder_id: str
    weights: tuple[float, ...]
    """`PieceTerms.size` numbers."""
    spread: float
    """Standard deviation of the evaluation over the positions that it was learned from."""
    values: dict[str, float]
    """Values of pieces by name, for people (`PieceTerms.values`)."""

    def evaluation(self, game: Rules) -> LinearEvaluation:
        """The evaluation of a search.

        Raises:
            DataError: the weights are of another game.
        """
        terms = PieceTerms(game)
        if (self.encoder_id, len(self.weights)) != (game.spec.encoder_id, terms.size):
            raise DataError(
                f"the learned evaluation is of the encoding {self.encoder_id}, expected one of {game.spec.encoder_id}."
            )
        return terms.evaluation(np.array(self.weights, np.float32))

    def to_json(self) -> str:
        """The weights as text."""
        return json.dumps(vars(self))

    @classmethod
    def of(cls, found: dict[str, Any]) -> LearnedWeights:
        """The weights as read from JSON. Raises ValueError, KeyError or TypeError for other values."""
        weights = tuple(float(weight) for weight in found["weights"])
        values = {str(name): float(value) for name, value in found["values"].items()}
        return cls(str(found["encoder_id"]), weights, float(found["spread"]), values)

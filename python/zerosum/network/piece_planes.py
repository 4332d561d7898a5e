"""The planes of pieces among a game's planes: which are a side's own, which the opponent's, and the same seen by both.

All of it comes from the names of the planes, nothing from the rules: a plane "own X" with an "opponent X" (or
"opponent's X") is a kind X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError

if TYPE_CHECKING:
    from zerosum._core import GameSpec

OWN, EARLIER = "own ", " ago"
OPPONENT = ("opponent ", "opponent's ")

View = Literal["same", "flipped", "turned", "transposed"]
"""How the opponent sees the board: as the player to move, top to bottom, by 180 degrees, or with rows as columns."""
VIEWS: tuple[View, ...] = get_args(View)


@dataclass(frozen=True)
class Kind:
    """A kind of piece, or a number that both sides have."""

    name: str
    own: int
    """The place of its plane among all planes with squares, or among all planes of numbers."""
    opponent: int
    """The place of the opponent's."""


@dataclass(frozen=True)
class PiecePlanes:
    """The planes of pieces and of numbers that both sides have, of the newest position."""

    kinds: tuple[Kind, ...]
    numbers: tuple[Kind, ...]
    divisors: tuple[int, ...]
    """For each number, the count that its plane shows as 1."""
    channels: tuple[tuple[int, ...], tuple[int, ...]]
    """The channels of all planes with squares, and of all planes of numbers."""

    @classmethod
    def of(cls, planes: Sequence[tuple[str, bool]]) -> PiecePlanes:
        """The planes of pieces among planes given by name and whether they are one number.

        Raises:
            SettingsError: there is no kind of piece that both sides have.
        """
        channels = tuple(
            tuple(channel for channel, (_, is_number) in enumerate(planes) if is_number == numbers)
            for numbers in (False, True)
        )
        kinds = pairs([planes[channel][0] for channel in channels[0]])
        numbers = pairs([planes[channel][0] for channel in channels[1]])
        if not kinds:
            raise SettingsError(
                "an updatable network needs planes of pieces, named 'own X' and 'opponent X' for each kind X; the"
                f" game's planes are {', '.join(repr(name) for name, _ in planes[:6])}."
            )
        divisors = tuple(round(count(kind.name)[1]) for kind in numbers)
        return cls(tuple(kinds), tuple(numbers), divisors, (channels[0], channels[1]))

    def num_features(self, num_squares: int) -> int:
        """Number of features: a piece of each kind and side on each square, and the steps of each side's numbers."""
        return 2 * (len(self.kinds) * num_squares + sum(self.divisors))


def require_piece_planes(spec: GameSpec) -> None:
    """Refuse a game without planes of pieces. Raises SettingsError."""
    if all(plane.is_constant for plane in spec.planes):
        raise SettingsError(
            f"{spec.full_name} has no planes of pieces, so an alpha-beta search cannot learn what they are worth:"
            " leave selfplay.alphabeta_depth 0."
        )


def pairs(names: Sequence[str]) -> list[Kind]:
    """The kinds among planes of the newest position.

    >>> pairs(["own pawns", "opponent pawns", "own pawns, 1 ply ago", "1 if own castling", "1 if opponent castling"])
    [Kind(name='pawns', own=0, opponent=1), Kind(name='1 if castling', own=3, opponent=4)]
    """
    places = {name: place for place, name in enumerate(names)}
    return [
        Kind(name.replace(OWN, "", 1), place, places[other])
        for name, place in places.items()
        for other in (name.replace(OWN, opponent, 1) for opponent in OPPONENT)
        if OWN in name and other in places and not name.endswith(EARLIER)
    ]


def count(name: str) -> tuple[str, float]:
    """Name and divisor of a plane of a number.

    >>> count("pawns in hand / 18"), count("king may castle")
    (('pawns in hand', 18.0), ('king may castle', 1.0))
    """
    counted, _, divisor = name.rpartition(" / ")
    return (counted, float(divisor)) if counted and divisor.isdecimal() else (name, 1.0)


def seen_by_opponent(view: View, board_shape: tuple[int, int]) -> NDArray[np.int64]:
    """[squares], where the opponent sees each square.

    >>> seen_by_opponent("flipped", (2, 3)).tolist()
    [3, 4, 5, 0, 1, 2]
    """
    squares = np.arange(board_shape[0] * board_shape[1]).reshape(board_shape)
    views = {
        "same": squares,
        "flipped": squares[::-1],
        "turned": squares[::-1, ::-1],
        "transposed": squares.T if board_shape[0] == board_shape[1] else squares,
    }
    return views[view].reshape(-1).astype(np.int64)

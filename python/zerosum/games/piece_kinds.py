"""The kinds of pieces that a game counts, by the names of its planes."""

from __future__ import annotations

from zerosum.games.rules import Rules

KING = "king"
"""The kind that is not counted: who loses it has lost the game."""


def piece_kinds(game: Rules) -> list[tuple[str, int, int]]:
    """The kinds of pieces without kings: the name, and the indices of the mover's and the opponent's planes."""
    planes = [plane.name for plane in game.spec.planes]
    kinds = []
    for channel, name in enumerate(planes):
        word, own, kind = name.partition("own ")
        if not word and own and " ago" not in kind and kind != KING and f"opponent {kind}" in planes:
            kinds.append((kind, channel, planes.index(f"opponent {kind}")))
    return kinds


def king_planes(game: Rules) -> tuple[int, int] | None:
    """The channels of the mover's king and of the opponent's; None in games without kings.

    >>> from zerosum.games import make
    >>> king_planes(make("minishogi")), king_planes(make("go9"))
    ((0, 10), None)
    """
    planes = [plane.name for plane in game.spec.planes]
    own, opponent = f"own {KING}", f"opponent {KING}"
    return (planes.index(own), planes.index(opponent)) if {own, opponent} <= set(planes) else None


def has_piece_values(game: Rules) -> bool:
    """Whether the game has several kinds of pieces, so that its count of material is one of their values.

    >>> from zerosum.games import make
    >>> [has_piece_values(make(name)) for name in ("chess", "shogi", "go9", "othello", "breakthrough")]
    [True, True, False, False, False]
    """
    return len(piece_kinds(game)) > 1

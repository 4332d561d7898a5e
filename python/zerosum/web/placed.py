"""What a page tells of a game's moves so far: the numbers of the stones on the board, and the pieces that were taken.

Both are found from the pictures of the positions, so they know no game.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from zerosum.games import Rules, State
from zerosum.games.board_in_text import board_picture
from zerosum.games.picture import piece_svg
from zerosum.web.boards import faces_players, move_cells, place_moves

Piece = tuple[int, str, str]
"""Owner, text and glyph of a piece, as a picture has them."""


@functools.lru_cache(maxsize=64)
def places_stones(game: Rules) -> bool:
    """Whether the moves of a game put a stone on the board and move none, so that stones can bear their numbers.

    >>> from zerosum.games import make
    >>> [name for name in ("go9", "gomoku", "connect4", "othello", "chess", "shogi") if places_stones(make(name))]
    ['go9', 'gomoku', 'connect4', 'othello']
    """
    state = game.initial_state()
    moves = [move for move in place_moves(game, state, game.legal_actions(state)) if move.targets]
    return bool(moves) and not faces_players(game) and all(move.source is None for move in moves)


@functools.lru_cache(maxsize=64)
def takes_pieces(game: Rules) -> bool:
    """Whether pieces that are taken leave the game: players face each other, and none holds pieces in hand.

    >>> from zerosum.games import make
    >>> [name for name in ("chess", "breakthrough", "shogi", "go9", "othello") if takes_pieces(make(name))]
    ['chess', 'breakthrough']
    """
    picture = board_picture(game, game.initial_state())
    return faces_players(game) and picture is not None and not any(" holds " in line for line in picture.captions)


class Line:
    """The facts of the moves of one line from a fixed start; each move is looked at once, also if the line changes."""

    def __init__(self, game: Rules) -> None:
        """Begin without moves."""
        self.game = game
        self._actions: list[int] = []
        self._cells: list[int | None] = []
        """The cell where each move put a stone."""
        self._taken: list[list[Piece]] = []
        """The pieces that each move took."""

    def numbers(self, states: Sequence[State], actions: Sequence[int]) -> list[list[int]]:
        """The stones of the last position as (cell, number of the move that has put it there), from 1 on.

        `states` are the positions before each move and after the last one. A captured stone has no number.
        """
        if not places_stones(self.game) or (picture := board_picture(self.game, states[-1])) is None:
            return []
        self._follow(states, actions)
        found = {cell: number for number, cell in enumerate(self._cells[: len(actions)], start=1) if cell is not None}
        return [[cell, number] for cell, number in sorted(found.items()) if picture.cells[cell] is not None]

    def taken(self, states: Sequence[State], actions: Sequence[int]) -> tuple[list[Piece], list[Piece]]:
        """The pieces that the first and the second player have taken, like pieces together."""
        if not takes_pieces(self.game):
            return [], []
        self._follow(states, actions)
        both = [piece for pieces in self._taken[: len(actions)] for piece in pieces]
        first, second = ([piece for piece in both if piece[0] != player] for player in (0, 1))
        return sorted(first), sorted(second)

    def _follow(self, states: Sequence[State], actions: Sequence[int]) -> None:
        pairs = enumerate(zip(self._actions, actions, strict=False))
        known = next((ply for ply, (one, other) in pairs if one != other), min(len(self._actions), len(actions)))
        if known < min(len(self._actions), len(actions)):
            del self._actions[known:], self._cells[known:], self._taken[known:]
        for ply in range(len(self._actions), len(actions)):
            state, action = states[ply], actions[ply]
            cells = move_cells(self.game, state, action) if places_stones(self.game) else []
            self._cells.append(cells[-1] if cells else None)
            self._taken.append(self._lost(state, states[ply + 1]) if takes_pieces(self.game) else [])
            self._actions.append(action)

    def _lost(self, before: State, after: State) -> list[Piece]:
        """The pieces of the opponent of the player to move that are no longer there."""
        opponent = 1 - self.game.player(before)
        counts = [
            Counter(piece for piece in picture.cells if piece is not None and piece[0] == opponent)
            for state in (before, after)
            if (picture := board_picture(self.game, state)) is not None
        ]
        return list((counts[0] - counts[1]).elements())


@functools.lru_cache(maxsize=128)
def drawn_piece(piece: Piece, *, western: bool = False) -> str:
    """The drawing of a piece by itself."""
    return piece_svg(piece, title=piece[1], western=western, flipped=False)


def taken_json(pieces: Sequence[Piece]) -> list[list[Any]]:
    """Taken pieces as (sign, number, drawing)."""
    return [[piece[1], number, drawn_piece(piece)] for piece, number in Counter(pieces).items()]

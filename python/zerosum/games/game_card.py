"""A game as a card of an HTML page: a board, a sentence, and the moves with one of them marked."""

from __future__ import annotations

from html import escape

from zerosum.base.errors import printable
from zerosum.games.picture import svg, svg_uri
from zerosum.games.playthrough import Playthrough


def game_card(so_far: Playthrough, ply: int, sentence: str) -> str:
    """The card of a game with the board after its first `ply` moves, at least one. The sentence is plain text."""
    moves = [escape(printable(text)) for text in so_far.texts]
    moves[ply - 1] = f"<b>{moves[ply - 1]}</b>"
    board = svg_uri(svg(so_far.game, so_far.states[ply]))
    return (
        f'<figure><img src="{board}" alt="The board after move {ply}">'
        f"<figcaption>{escape(printable(sentence))}</figcaption><p class=moves>{' '.join(moves)}</p></figure>"
    )

"""The small drawings of games, from which visitors choose one."""

from __future__ import annotations

from zerosum.games import make
from zerosum.games.board_in_text import board_picture
from zerosum.web.boards import draw_board
from zerosum.web.catalogue import games
from zerosum.web.library import Library


def test_no_small_drawing_is_a_bare_board() -> None:
    """Games that begin with pieces are shown as they begin, the others with some stones."""
    found = {one["name"]: one["svg"] for one in games(Library([]))}
    assert {"go", "hex", "gomoku", "chess"} <= set(found)
    for name, svg in found.items():
        game = make(name)
        first = draw_board(game, game.initial_state())["svg"]
        picture = board_picture(game, game.initial_state())
        assert picture is not None
        is_bare = not any(picture.cells)
        assert (svg != first) == is_bare, name
        assert svg.count("url(#") > first.count("url(#") if is_bare else svg == first

"""Boards that own games write as text: in whatever way they draw lines, the picture is the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zerosum.games import Rules, make
from zerosum.games.board_in_text import board_picture
from zerosum.games.picture import svg

EMPTY_SQUARES = {"plain": ".", "barred": " ", "framed": " ", "boxed": " ", "sided": "."}
WAYS = ("plain", "barred", "framed", "boxed", "sided")


class Corners:
    """Fill three squares of a board of three rows and two columns; its text has lines in several ways."""

    name = "corners"
    num_actions = 6
    board_shape = (3, 2)
    plane_names = ("own stones", "opponent's stones")

    def __init__(self, way: str, *, said: str = "", begins_with_text: bool = False) -> None:
        self.way, self.said, self.begins_with_text = way, said, begins_with_text

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def player(self, state: tuple[int, ...]) -> int:
        return len(state) % 2

    def legal_actions(self, state: tuple[int, ...]) -> list[int]:
        return [] if len(state) == 3 else [cell for cell in range(6) if cell not in state]

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def outcome(self, state: tuple[int, ...]) -> float | None:
        return 0.0 if len(state) == 3 else None

    def planes(self, state: tuple[int, ...]) -> Any:
        planes = np.zeros((2, 3, 2), np.float32)
        for ply, cell in enumerate(state):
            planes[(ply + len(state)) % 2].flat[cell] = 1
        return planes

    def action_text(self, state: tuple[int, ...], action: int) -> str:
        return "ab"[action % 2] + "321"[action // 2]

    def draw(self, state: tuple[int, ...]) -> str:
        if self.begins_with_text and not state:
            return "an empty board\n"
        signs = ["XO"[state.index(cell) % 2] if cell in state else EMPTY_SQUARES[self.way] for cell in range(6)]
        rows = [signs[0:2], signs[2:4], signs[4:6]]
        text = {
            "plain": "\n".join(f"{3 - number} {' '.join(row)}" for number, row in enumerate(rows)) + "\n  a b",
            "barred": "\n-+-\n".join("|".join(row) for row in rows),
            "framed": "  +---+---+\n"
            + "".join(f"{3 - n} | {' | '.join(row)} |\n  +---+---+\n" for n, row in enumerate(rows))
            + "    a   b",
            "boxed": "┌─┬─┐\n" + "\n├─┼─┤\n".join(f"│{'│'.join(row)}│" for row in rows) + "\n└─┴─┘",
            "sided": "\n".join(f"| {' '.join(row)} |" for row in rows),
        }[self.way]
        return f"{text}\n{self.said}\n"


def made(way: str, **more: Any) -> Rules:
    return make(Corners(way, **more))


@pytest.mark.parametrize("way", WAYS)
def test_all_ways_to_write_a_board_are_the_same_board_from_the_first_move_on(way: str) -> None:
    game, plain = made(way), made("plain")
    moves: tuple[int, ...] = (3, 0, 5)
    for number in range(4):
        states = []
        for rules in (game, plain):
            state = rules.initial_state()
            for action in moves[:number]:
                state = rules.play(state, action)
            states.append(state)
        found, expected = board_picture(game, states[0]), board_picture(plain, states[1])
        assert found is not None and expected is not None
        assert [piece and piece[0] for piece in found.cells] == [piece and piece[0] for piece in expected.cells]
        assert (found.grid, found.captions) == (expected.grid, [])
        if way == "framed":
            assert (found.row_labels, found.column_labels) == (expected.row_labels, expected.column_labels)


@pytest.mark.parametrize("way", WAYS)
def test_a_line_of_text_under_the_board_is_drawn(way: str) -> None:
    game = made(way, said="Gold: 3 to 2\n\nA third line")
    picture = board_picture(game, game.initial_state())
    assert picture is not None and picture.captions == ["Gold: 3 to 2", "A third line"]
    assert "Gold: 3 to 2" in svg(game, game.initial_state())


def test_a_game_that_begins_with_text_stays_text() -> None:
    game = made("plain", begins_with_text=True)
    state = game.play(game.initial_state(), 0)
    assert board_picture(game, game.initial_state()) is None and board_picture(game, state) is None

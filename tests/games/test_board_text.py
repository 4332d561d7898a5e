"""The board for a terminal."""

from __future__ import annotations

import random
import re

import pytest

from zerosum._core import core_game_names
from zerosum.games import make, state_after
from zerosum.games.board_text import board_text, last_move

ESCAPES = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.parametrize("name", core_game_names())
def test_the_board_is_the_games_own_in_any_dress(name: str) -> None:
    game, generator = make(name), random.Random(1)
    state = game.initial_state()
    for ply in range(100):
        if not (legal := game.legal_actions(state)):
            break
        before, state = state, game.play(state, generator.choice(legal))
        if ply < 4 or ply % 6 == 0:
            plain = board_text(game, state)
            assert plain == game.draw(state).rstrip("\n")
            coloured = board_text(game, state, before=before, has_colours=True)
            assert ESCAPES.sub("", coloured) == plain
            marked = board_text(game, state, before=before)
            assert re.sub(r"[\[\]]", " ", marked).replace(" ", "") == plain.replace(" ", "")
            assert ("[" in marked) == ("\x1b[7m" in coloured) == bool(last_move(game, before, state))


@pytest.mark.parametrize(
    ("name", "moves", "cells"),
    [
        ("connect4", "4 4", {31}),
        ("othello", "d3", {19}),
        ("breakthrough", "a2a3", {40, 48}),
        ("chess", "e4 d5 exd5", {27, 36}),
        ("go(size=5)", "C3 pass", set()),
    ],
)
def test_the_last_move_is_marked(name: str, moves: str, cells: set[int]) -> None:
    game, words = make(name), moves.split()
    before, after = state_after(game, " ".join(words[:-1])), state_after(game, moves)
    assert set(last_move(game, before, after)) == cells


def test_a_flipped_board_is_turned_by_half() -> None:
    game = make("chess")
    rows = board_text(game, game.initial_state(), is_flipped=True).splitlines()
    assert rows[0] == "1  R N B K Q B N R" and rows[8] == "   h g f e d c b a"

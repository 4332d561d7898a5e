"""Winning lines and kings in check against slow twins, on positions of random games."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from zerosum.games import Rules, State, make, state_after
from zerosum.games.board_in_text import board_picture
from zerosum.web.boards import draw_board
from zerosum.web.decisive_cells import king_in_check, winning_cells


def walk(game: Rules, seed: int) -> Iterator[tuple[State, int | None, State]]:
    """(position before, action, position) of a random game."""
    generator, state = random.Random(seed), game.initial_state()
    while game.outcome(state) is None:
        action = generator.choice(game.legal_actions(state))
        after = game.play(state, action)
        yield state, action, after
        state = after


@pytest.mark.parametrize(("name", "number"), [("tictactoe", 3), ("connect4", 4), ("gomoku", 5)])
def test_winning_lines_are_straight_rows_of_the_winner(name: str, number: int) -> None:
    game, wins = make(name), 0
    for seed in range(40):
        for _, _, state in walk(game, seed):
            picture = board_picture(game, state)
            assert picture is not None
            found = winning_cells(game, state, picture)
            if not game.outcome(state):
                assert found == []
                continue
            wins += 1
            owner = 0 if (game.outcome(state) or 0) > 0 else 1
            assert {picture.cells[cell][0] for cell in found} == {owner}  # type: ignore[index]
            columns = len(picture.column_labels)
            points = {divmod(cell, columns) for cell in found}
            rows = [
                {(row + step * down, column + step * right) for step in range(number)}
                for row, column in points
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
            ]
            assert set().union(*(row for row in rows if row <= points)) == points
    assert wins > 10


def test_a_chain_of_hex_joins_its_edges_and_breaks_without_any_of_its_stones() -> None:
    game = make("hex(size=5)")
    winners = set()
    for seed in range(40):
        *_, (_, _, state) = walk(game, seed)
        picture = board_picture(game, state)
        assert picture is not None
        owner, chain = 0 if (game.outcome(state) or 0) > 0 else 1, set(winning_cells(game, state, picture))
        winners.add(owner)
        assert {picture.cells[cell][0] for cell in chain} == {owner}  # type: ignore[index]
        assert joins(chain, 5, owner)
        assert not any(joins(chain - {cell}, 5, owner) for cell in chain), "it is a shortest chain"
    assert winners == {0, 1}


def joins(stones: set[int], side: int, owner: int) -> bool:
    """The slow twin: stones reached from the first edge grow until nothing changes."""
    place = [divmod(cell, side) for cell in range(side * side)]
    reached = {cell for cell in stones if place[cell][owner] == 0}
    while True:
        near = {
            cell
            for cell in stones
            for one in reached
            if (place[cell][0] - place[one][0], place[cell][1] - place[one][1])
            in {(-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)}
        }
        if near <= reached:
            return any(place[cell][owner] == side - 1 for cell in reached)
        reached |= near


@pytest.mark.parametrize("seed", range(12))
def test_a_king_is_in_check_where_the_notation_of_the_move_says_so(seed: int) -> None:
    game = make("chess")
    for before, action, state in walk(game, seed):
        picture = board_picture(game, state)
        assert picture is not None and action is not None
        found = king_in_check(game, state, picture)
        assert (found is not None) == (game.action_text(before, action, "san")[-1] in "+#")
        if found is not None:
            assert picture.cells[found][:2] == (game.player(state), "Kk"[game.player(state)])  # type: ignore[index]


@pytest.mark.parametrize("name", ["shogi", "minishogi", "minichess"])
def test_a_king_in_check_cannot_stay_when_it_is_mated(name: str) -> None:
    """Every checkmate is a check, and a position without check is never one."""
    game, mates = make(name), 0
    for seed in range(60):
        *_, (_, _, state) = walk(game, seed)
        picture = board_picture(game, state)
        assert picture is not None
        is_mate = game.ending(state) == "checkmate"
        mates += is_mate
        assert king_in_check(game, state, picture) is not None or not is_mate
    assert mates
    assert king_in_check(game, game.initial_state(), game.picture(game.initial_state())) is None  # type: ignore[arg-type]


def test_the_drawing_has_them() -> None:
    game = make("connect4")
    drawn = draw_board(game, state_after(game, "4 3 4 3 4 3 4"))
    assert drawn["svg"].count('class="won"') == 4 and len(drawn["won"]) == 4 and drawn["check"] is None
    game = make("chess")
    drawn = draw_board(game, state_after(game, "e2e4 f7f6 d1h5"))
    assert drawn["svg"].count('class="check"') == 1 and drawn["cells"][drawn["check"]][2] == "e8"

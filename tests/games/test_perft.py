"""Lines of play counted from a position: the tables that come with the package, and the sums of the parts."""

import pytest

from games_for_tests import DoubleMove
from zerosum import _core
from zerosum.base.errors import SettingsError
from zerosum.games import adopt, make
from zerosum.games.perft import check_perft, divide, load_perft, perft_games, perft_lines

MAX_NODES = 300_000
"""A fraction of a second; `zerosum bench rules --perft` counts all of a table."""


@pytest.mark.parametrize("name", perft_games())
def test_tables(name: str) -> None:
    checks = list(check_perft(make(name), max_nodes=MAX_NODES))
    assert {check.name for check in checks} == {row.name for row in load_perft(name)}, "at least depth 1 of each"
    assert not [str(check) for check in checks if not check.is_right]


def test_tables_are_of_games_and_name_each_position_once() -> None:
    assert set(perft_games()) == {make(name).spec.name for name in _core.core_game_names()}, "go9 is a go"
    for name in perft_games():
        rows = load_perft(name)
        assert len({row.name for row in rows}) == len({row.position for row in rows}) == len(rows) > 0
        assert all(row.name and row.counts and min(row.counts) >= 0 for row in rows)


def test_a_game_without_a_table_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"'connect4\(max_plies=8\)' has no perft table: did you mean 'connect4'"):
        list(check_perft(make("connect4(max_plies=8)")))


def test_parts_sum_to_the_whole() -> None:
    for game in (make("connect4"), make("tictactoe"), adopt(DoubleMove())):
        state = game.initial_state()
        for depth in (1, 2, 4):
            parts = dict(divide(game, state, depth))
            assert list(parts) == game.legal_actions(state)
            assert sum(parts.values()) == game.perft(state, depth)
            *lines, total = perft_lines(game, state, depth, divided=True)
            assert [line.count for line in lines] == list(parts.values()) and total.count == sum(parts.values())


def test_a_soft_end_stops_no_line() -> None:
    game = make("connect4(max_plies=2)")
    state = game.play(game.play(game.initial_state(), 0), 0)
    assert game.is_soft_ending(state)
    (total,) = perft_lines(game, state, 2, divided=False)
    assert total.count == 49 == game.perft(state, 2)

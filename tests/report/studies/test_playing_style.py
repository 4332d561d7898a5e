"""The style of recorded games, in games whose figures a person can count."""

from __future__ import annotations

import numpy as np
import pytest

from zerosum.games import Rules, make
from zerosum.games.playthrough import Playthrough
from zerosum.replay.records import PLY, GameRecord, PlyFlag, policy_target
from zerosum.report.studies.figures import Figures
from zerosum.report.studies.learned_when import GAMES, PLIES, of_games
from zerosum.report.studies.playing_style import FIRST_CAPTURE, QUIET, TRAVEL, style_of

CHESS = make("chess")


def record(
    game: Rules, moves: str, *, values: list[float] | float = 0.5, start: str = "", num_opening: int = 0
) -> GameRecord:
    """A game; `values` are the searches' for the mover, and the first moves are an opening's."""
    so_far = Playthrough.read(game, moves.split(), start)
    plies = np.zeros(len(so_far.actions), PLY)
    plies["action"], plies["player"], plies["search_value"] = so_far.actions, so_far.players, values
    plies["flags"] = [int(PlyFlag.OPENING if ply < num_opening else PlyFlag.FULL_SEARCH) for ply in range(len(plies))]
    return GameRecord(
        game_id=0,
        game=game.spec.name,
        game_version=game.spec.version,
        options=game.spec.options,
        start=start,
        settings_hash="",
        seed=0,
        plies=plies,
        targets=policy_target([], [], []),
        target_offsets=np.zeros(len(plies) + 1, np.int64),
        outcome=0.0,
        ending="",
    )


def test_kings_squares_are_counted_for_both_sides() -> None:
    """White's king goes 1 + 1 squares, Black's 1; castling takes a king over two."""
    walk = record(CHESS, "e2e4 e7e5 e1e2 e8e7 e2d3 a7a6")
    assert style_of(CHESS, [walk])[TRAVEL] == 3 / 2
    castled = record(CHESS, "e2e4 e7e5 g1f3 g8f6 f1e2 f8e7 e1g1")
    assert style_of(CHESS, [castled])[TRAVEL] == 2 / 2, "the last move of a game counts"
    assert style_of(CHESS, [walk, castled])[TRAVEL] == 5 / 4


def test_a_king_that_crosses_the_board_to_take_is_seen_from_both_sides() -> None:
    position = "4k3/8/8/8/8/8/3p4/4K3 w - - 0 1"
    found = style_of(CHESS, [record(CHESS, "e1d2 e8d7 d2c3 d7c6", start=position, values=0.5)])
    assert found == {TRAVEL: 4 / 2, FIRST_CAPTURE: 0.0, QUIET: 3 / 4}


@pytest.mark.parametrize(
    ("name", "moves", "squares"), [("minishogi", "5e4d 1a2b", 2), ("shogi", "7g7f 3c3d 5i5h 5a5b", 2)]
)
def test_kings_of_other_games(name: str, moves: str, squares: int) -> None:
    game = make(name)
    assert style_of(game, [record(game, moves)])[TRAVEL] == squares / 2


def test_patience_waits_for_the_first_capture() -> None:
    taken_third = record(CHESS, "e2e4 d7d5 e4d5 d8d5")
    never = record(CHESS, "a2a3 a7a6 b2b3 b7b6 c2c3 c7c6")
    assert style_of(CHESS, [taken_third])[FIRST_CAPTURE] == 2
    assert style_of(CHESS, [taken_third, never])[FIRST_CAPTURE] == (2 + 6) / 2


def test_moves_of_an_opening_do_not_count() -> None:
    opened = record(CHESS, "e2e4 d7d5 e4d5 d8d5 e1e2 d5e5 e2d3", num_opening=4)
    found = style_of(CHESS, [opened])
    assert found == {TRAVEL: 2 / 2, FIRST_CAPTURE: 3.0, QUIET: 1.0}
    assert style_of(CHESS, [record(CHESS, "e2e4", num_opening=1)]) == {}


def test_only_moves_of_the_player_with_a_value_above_0_are_asked_for_quiet() -> None:
    """White's e4 and Nc3 are quiet, its exd5 is not; Black's moves and the level Nf3 are not asked."""
    values = [0.2, -0.2, 0.2, -0.2, 0.4, -0.4, 0.0]
    found = style_of(CHESS, [record(CHESS, "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 g1f3", values=values)])
    assert found[QUIET] == 2 / 3
    assert QUIET not in style_of(CHESS, [record(CHESS, "e2e4 d7d5", values=-0.1)])


def test_a_promotion_is_not_quiet_and_a_drop_is() -> None:
    pawn = record(CHESS, "b7b8q a1a2 b8b7", start="8/1P6/8/8/8/7K/8/k7 w - - 0 1", values=[0.9, -0.9, 0.9])
    assert style_of(CHESS, [pawn])[QUIET] == 1 / 2
    shogi = make("shogi")
    # The bishops are exchanged, the first by a move that promotes, and one is dropped.
    drop = record(shogi, "7g7f 3c3d 8h2b+ 3a2b B*5e")
    assert style_of(shogi, [drop]) == {TRAVEL: 0.0, FIRST_CAPTURE: 2.0, QUIET: 3 / 5}


def test_stones_are_captured_and_discs_are_only_turned() -> None:
    go = make("go(size=5)")
    corner = record(go, "b5 a5 a4")
    assert style_of(go, [corner]) == {FIRST_CAPTURE: 2.0, QUIET: 2 / 3}
    othello = make("othello")
    moves = "d3" if othello.parse_action(othello.initial_state(), "d3") is not None else "c4"
    assert style_of(othello, [record(othello, moves)]) == {}
    assert style_of(make("nim"), []) == {}


def test_the_place_of_a_figure_that_a_block_lacks_is_empty() -> None:
    blocks = [
        Figures.of(GAMES, 10, {PLIES: 30.0}),
        Figures.of(GAMES, 20, {PLIES: 40.0, TRAVEL: 1.5, FIRST_CAPTURE: 12.0}),
    ]
    table = of_games(blocks)
    assert table.head == ("around game", PLIES, TRAVEL, FIRST_CAPTURE)
    assert table.rows == (("10", "30.0", "", ""), ("20", "40.0", "1.50", "12.0"))

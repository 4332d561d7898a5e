"""Shogi: against our slow twin, against rsshogi and cshogi where they are installed, and rule by rule."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from games_for_tests import plane_of
from shogi_scenarios import plays
from shogi_twin import FLAT, START, Twin
from zerosum.base.errors import GameError
from zerosum.games import make, parse_action, state_after
from zerosum.notation.kif import HANDICAPS

SHOGI = make("shogi")


# ---- against others


def test_the_twin_says_the_same() -> None:
    events: Counter[str] = Counter()
    for play in plays(5, events):
        game, state, twin, ended = play.game, play.state, play.twin, play.ended
        where = twin.sfen()
        assert game.position_text(state) == where
        assert {move.usi: twin.index(move.usi) for move in twin.board.legal()} == play.moves, where
        assert (game.ending(state), game.outcome(state)) == ((ended.ending, ended.result) if ended else (None, None))
        assert game.player(state) == twin.board.side
        np.testing.assert_array_equal(game.planes(state), twin.planes(), where)
        if events["positions"] == 500:
            break
    assert min(events[event] for event in ("check", "fourfold repetition", "play past a soft ending")) > 0


def test_rsshogi_and_cshogi_say_the_same() -> None:
    pytest.importorskip("rsshogi")
    pytest.importorskip("cshogi")
    import oracle_shogi

    events = oracle_shogi.compare(2000, seed=1)
    assert events["positions"] == 2000


# ---- planes and actions


def test_the_planes_are_those_of_the_paper() -> None:
    names = [plane.name for plane in SHOGI.spec.planes]
    assert (len(names), len(set(names)), SHOGI.spec.board_shape, SHOGI.spec.num_actions) == (362, 362, (9, 9), 11259)
    assert names[0] == "own pawns" and names[14] == "opponent pawns" and names[28].startswith("1 if the position had")
    assert names[31] == "own pawns in hand / 18" and names[38] == "opponent pawns in hand / 18"
    assert names[45] == "own pawns, 1 ply ago" and names[90] == "own pawns, 2 plies ago"
    assert names[360:] == ["1 if White is to move", "plies since the game began / 512"]
    assert sum(plane.is_constant for plane in SHOGI.spec.planes) == 8 * 17 + 2
    assert len(make("shogi(history=1)").spec.planes) == 47
    assert make("shogi(policy=flat)").spec.num_actions == len(FLAT) == 3781
    assert SHOGI.spec.has_action_planes and not make("shogi(policy=flat)").spec.has_action_planes


def test_the_mover_sees_the_board_from_below() -> None:
    start = SHOGI.initial_state()
    white = state_after(SHOGI, "7g7f")
    np.testing.assert_array_equal(
        SHOGI.planes(start)[:28], SHOGI.planes(state_after(SHOGI, "5i5h 5a5b 5h5i 5b5a"))[:28]
    )
    assert plane_of(SHOGI, start, "own rooks")[7, 7] == 1, "2h, to the right in the second row from below"
    assert plane_of(SHOGI, white, "own rooks")[7, 7] == 1, "8b, turned around"
    assert plane_of(SHOGI, white, "opponent pawns")[3, 6] == 1, "7f"
    assert plane_of(SHOGI, white, "opponent pawns, 1 ply ago")[2, 6] == 1, "7g"
    assert (
        plane_of(SHOGI, white, "1 if White is to move").all()
        and not plane_of(SHOGI, start, "1 if White is to move").any()
    )
    assert plane_of(SHOGI, state_after(SHOGI, "7g7f 3c3d 8h2b+"), "opponent bishops in hand / 2").mean() == 0.5


def test_missing_history_is_repeated_or_zero() -> None:
    moved = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2"
    repeated, zero = (make(f"shogi(history_fill={fill})").parse_position(moved) for fill in ("repeat", "zero"))
    frames = SHOGI.planes(repeated)[:360].reshape(8, 45, 9, 9)
    assert all((frames[age] == frames[0]).all() for age in range(8)) and frames[0].any()
    assert not SHOGI.planes(zero)[45:360].any()
    for start in (SHOGI.initial_state(), SHOGI.parse_position(START), SHOGI.parse_position("startpos")):
        assert not SHOGI.planes(start)[45:360].any(), "nothing is missing before a true start"
    assert SHOGI.planes(SHOGI.parse_position(START.replace(" 1", " 3")))[45:360].any()


@pytest.mark.parametrize("name", list(HANDICAPS))
def test_a_game_may_begin_with_a_handicap(name: str) -> None:
    start = SHOGI.parse_position(HANDICAPS[name])
    assert not SHOGI.planes(start)[45:360].any()
    later = SHOGI.parse_position(HANDICAPS[name].removesuffix(" 1") + " 3")
    assert SHOGI.planes(later)[45:90].any()


@pytest.mark.parametrize(
    "position",
    [
        pytest.param(START.replace(" b ", " w "), id="White begins without a handicap"),
        pytest.param(HANDICAPS["角落ち"].replace(" w ", " b "), id="Black begins"),
        pytest.param(HANDICAPS["角落ち"].replace("- 1", "b 1"), id="the piece is in hand"),
        pytest.param(HANDICAPS["角落ち"].replace("1B5R1", "7R1"), id="Black lacks a piece"),
        pytest.param(HANDICAPS["角落ち"].replace("ppppppppp/9", "1pppppppp/p8"), id="a pawn has moved"),
    ],
)
def test_what_is_no_handicap_is_set_up(position: str) -> None:
    assert SHOGI.planes(SHOGI.parse_position(position))[45:90].any()


def test_repetition_planes_count_at_their_own_time() -> None:
    state = state_after(SHOGI, "5i5h 5a5b 5h5i 5b5a " * 2)
    for times, expected in (("once", 1), ("twice", 1), ("three times", 0)):
        assert plane_of(SHOGI, state, f"1 if the position had occurred at least {times} before").mean() == expected
    ago = "1 if the position had occurred at least twice before, 4 plies ago"
    assert not plane_of(SHOGI, state, ago).any(), "it had occurred once by then"


@pytest.mark.parametrize(
    ("moves", "text", "action"),
    [
        ("", "7g7f", 81 * 0 + 9 * 6 + 2),
        ("7g7f", "3c3d", 81 * 0 + 9 * 6 + 2),
        ("7g7f 3c3d", "8h2b+", 81 * (66 + 8 * 1 + 5) + 9 * 7 + 1),
        ("7g7f 3c3d 8h2b+ 3a2b", "B*5e", 81 * (132 + 5) + 9 * 4 + 4),
        ("7g7f 8c8d", "8i7g", 81 * 64 + 9 * 8 + 1),
    ],
)
def test_actions_are_planes_of_squares(moves: str, text: str, action: int) -> None:
    assert parse_action(SHOGI, state_after(SHOGI, moves), text) == action
    twin = Twin()
    for move in moves.split():
        twin.play(move)
    assert twin.index(text) == action


# ---- rules, one by one


def test_no_legal_move_loses() -> None:
    mated = SHOGI.parse_position("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1")
    assert (SHOGI.ending(mated), SHOGI.outcome(mated), SHOGI.is_soft_ending(mated)) == ("checkmate", 1.0, False)
    stuck = SHOGI.parse_position("8k/6G2/7G1/9/9/9/9/9/4K4 w - 1")
    assert (SHOGI.ending(stuck), SHOGI.outcome(stuck), SHOGI.is_soft_ending(stuck)) == ("no legal move", 1.0, False)


def test_pieces_may_stay_as_they_are_but_not_where_they_could_not_move() -> None:
    state = SHOGI.parse_position("9/9/P1N2L2R/9/9/7B1/9/k8/7K1 b - 1")
    texts = {SHOGI.action_text(state, action) for action in SHOGI.legal_actions(state)}
    assert {"1c1b", "1c1b+", "2f5c", "2f5c+", "4c4b", "4c4b+", "9c9b", "9c9b+", "4c4a+", "7c8a+", "7c6a+"} <= texts
    assert not {"4c4a", "7c8a", "7c6a", "2f3e+"} & texts


def test_a_rule_comes_before_the_ply_cap() -> None:
    game = make("shogi(max_plies=12)")
    repeated = state_after(game, "5i5h 5a5b 5h5i 5b5a " * 3)
    assert (game.ending(repeated), game.outcome(repeated)) == ("fourfold repetition", 0.0)
    capped = state_after(game, "5i5h 5a5b 5h5i 5b5a " * 2 + "7g7f 3c3d 2g2f 8c8d")
    assert (game.ending(capped), game.outcome(capped), game.is_soft_ending(capped)) == ("ply cap", 0.0, True)


def test_a_record_may_run_on_past_a_repetition() -> None:
    state = state_after(SHOGI, "5i5h 5a5b 5h5i 5b5a " * 3)
    assert SHOGI.legal_actions(state) == [] and len(SHOGI.legal_actions(state, past_soft_endings=True)) == 30
    assert SHOGI.ending(state_after(SHOGI, "5i5h 5a5b 5h5i 5b5a " * 3 + "7g7f")) is None
    assert SHOGI.ending(state_after(SHOGI, "5i5h 5a5b 5h5i 5b5a " * 4)) == "fourfold repetition"


# ---- what is said


def test_the_board_is_drawn() -> None:
    state = state_after(SHOGI, "7g7f 3c3d 8h2b+")
    assert SHOGI.draw(state).splitlines() == [
        "a   l  n  s  g  k  g  s  n  l",
        "b   .  r  .  .  .  .  . +B  .",
        "c   p  p  p  p  p  p  .  p  p",
        "d   .  .  .  .  .  .  p  .  .",
        "e   .  .  .  .  .  .  .  .  .",
        "f   .  .  P  .  .  .  .  .  .",
        "g   P  P  .  P  P  P  P  P  P",
        "h   .  .  .  .  .  .  .  R  .",
        "i   L  N  S  G  K  G  S  N  L",
        "    9  8  7  6  5  4  3  2  1",
        "White holds nothing",
        "Black holds B",
        "White to move",
    ]
    picture = SHOGI.picture(state)
    assert picture is not None and sorted(picture.last_move) == [9 + 7, 63 + 1]
    assert picture.cells[9 + 7] == (0, "+B", "馬")


def test_illegal_moves_are_told_with_those_that_are_near() -> None:
    with pytest.raises(GameError, match="'7g7e' is not a legal move here: near are 7g7f"):
        parse_action(SHOGI, SHOGI.initial_state(), "7g7e")
    with pytest.raises(GameError, match='shogi has no notation "san"; available:'):
        SHOGI.action_text(SHOGI.initial_state(), SHOGI.legal_actions(SHOGI.initial_state())[0], "san")
    for options, sentence in (
        ("entering_king=try", 'entering_king is "try", expected one of csa27, csa24, csa24-wins, none'),
        ("history=9", 'history is "9", expected a number from 1 to 8'),
    ):
        with pytest.raises(GameError, match=sentence):
            make(f"shogi({options})")

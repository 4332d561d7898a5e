"""Chess and Chess960: against python-chess and pgx where they are installed, and rule by rule without them."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz_for_tests import rounds
from games_for_tests import plane_of
from zerosum.base.errors import GameError
from zerosum.games import Rules, State, check_game, make, parse_action, state_after

CHESS, CHESS960 = make("chess"), make("chess960")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def texts(game: Rules, state: State, notation: str | None = None) -> set[str]:
    return {game.action_text(state, action, notation) for action in game.legal_actions(state, past_soft_endings=True)}


# ---- against others


def test_python_chess_says_the_same() -> None:
    pytest.importorskip("chess")
    import oracle_chess

    events = oracle_chess.compare(2500, seed=1)
    assert not (missing := [event for event in oracle_chess.EVENTS if not events[event]]), missing


def test_python_chess_knows_the_same_starts() -> None:
    chess = pytest.importorskip("chess")
    for number in range(960):
        board = chess.Board.from_chess960_pos(number)
        assert CHESS960.position_text(CHESS960.start(number)) == board.fen()
        assert CHESS960.position_text(CHESS960.parse_position(board.shredder_fen())) == board.fen()


def pgx_label(action: int) -> int:
    """Ours is 64 · plane + square row by row from the top; pgx's 73 · square + plane, file by file from the bottom."""
    plane, square = divmod(action, 64)
    row, column = divmod(square, 8)
    if plane < 56:
        direction, distance = divmod(plane, 7)
        # pgx: 7 planes a line: down and left count the distance downwards, up and right upwards, as its drawing shows.
        first, is_far_first = {
            0: (16, False), 1: (44, False), 2: (30, False), 3: (58, False),
            4: (9, True), 5: (37, True), 6: (23, True), 7: (51, True),
        }[direction]  # fmt: skip
        theirs = first + (6 - distance if is_far_first else distance)
    elif plane < 64:
        # (files right, ranks up) in pgx's order
        pgx_knights = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2)]
        ours = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
        theirs = 65 + pgx_knights.index(ours[plane - 56])
    else:
        direction, piece = divmod(plane - 64, 3)
        theirs = 3 * (2 - piece) + (2, 0, 1)[direction]
    return 73 * (8 * column + 7 - row) + theirs


PGX_PLANES = [
    *(14 * age + kind for age in range(8) for kind in range(12)),  # pieces; repetition is counted otherwise
    *(112, 113),
    *(115, 114, 117, 116),  # castling: the queen's side first
    118,
]


def test_pgx_has_the_same_planes_and_labels() -> None:
    pytest.importorskip("pgx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jax
        import pgx

        env = pgx.make("chess")
        init, step, observe = jax.jit(env.init), jax.jit(env.step), jax.jit(env.observe)
        generator, key = random.Random(1), jax.random.PRNGKey(0)
        theirs, state = init(key), CHESS.initial_state()
        for ply in range(400):
            legal = CHESS.legal_actions(state)
            assert sorted(map(pgx_label, legal)) == np.flatnonzero(theirs.legal_action_mask).tolist() or not legal
            ours = CHESS.planes(state)[[*(p for p in range(119) if p % 14 < 12 and p < 112), *range(112, 119)]]
            seen = np.asarray(observe(theirs, theirs.current_player)).transpose(2, 0, 1)
            np.testing.assert_allclose(ours, seen[PGX_PLANES], rtol=1e-6, err_msg=f"ply {ply}")
            if not legal:
                theirs, state = init(key), CHESS.initial_state()
                continue
            action = generator.choice(legal)
            theirs, state = step(theirs, pgx_label(action)), CHESS.play(state, action)


@pytest.mark.parametrize("game", [CHESS, CHESS960], ids=["chess", "chess960"])
def test_the_games_keep_the_protocol(game: Rules) -> None:
    report = check_game(game, num_games=5, seed=3)
    assert report.num_games == 5 and set(report.results) <= {-1.0, 0.0, 1.0} and report.longest <= 512


def test_leaves_hold_what_the_game_says() -> None:
    for game in (CHESS, CHESS960):
        states = [game.initial_state()]
        for number in range(200):
            legal = game.legal_actions(states[-1], past_soft_endings=True)
            states.append(game.play(states[-1], legal[7 * number % len(legal)]) if legal else game.initial_state())
        leaves = game.encode(states)
        np.testing.assert_array_equal(leaves.planes(), np.stack([game.planes(state) for state in states]))
        assert leaves.legal_actions.tolist() == [action for state in states for action in game.legal_actions(state)]


# ---- endings


@pytest.mark.parametrize(
    ("position", "moves", "outcome", "ending", "is_soft"),
    [
        (START, "f3 e5 g4 Qh4", -1, "checkmate", False),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7", 0, "stalemate", False),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 99 80", "Qf8", 1, "checkmate", False),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 99 80", "Qf2", 0, "fifty-move rule", True),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 250 180", "Qf2", 0, "fifty-move rule", True),
        ("7k/6p1/6K1/8/8/8/8/5N2 w - - 0 1", "Nd2 Kg8 Kf5 g6+ Kxg6", 0, "insufficient material", True),
        (START, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8", 0, "threefold repetition", True),
    ],
)
def test_how_games_end(position: str, moves: str, outcome: float, ending: str, is_soft: bool) -> None:
    before, last = state_after(CHESS, moves.rpartition(" ")[0], position=position), moves.rpartition(" ")[2]
    assert CHESS.outcome(before) is None or "250" in position
    state = CHESS.play(before, parse_action(CHESS, before, last))
    assert (CHESS.outcome(state), CHESS.ending(state)) == (outcome, ending)
    assert CHESS.is_soft_ending(state) == is_soft == bool(CHESS.legal_actions(state, past_soft_endings=True))


@pytest.mark.parametrize(
    ("pieces", "is_insufficient"),
    [
        ("8/8/4k3/8/8/3K4/8/8", True),
        ("8/8/4k3/8/8/3KN3/8/8", True),
        ("8/8/4k3/8/8/3KB3/8/8", True),
        ("8/8/4k3/8/3b4/3K1B2/8/8", False),
        ("8/8/4kb2/8/3b4/3KB3/8/6B1", True),
        ("8/8/4k3/8/8/3KNN2/8/8", False),
        ("8/8/4kn2/8/8/3KN3/8/8", False),
        ("8/8/4kb2/8/8/3KN3/8/8", False),
        ("8/8/4k3/8/8/3KP3/8/8", False),
        ("8/8/4k3/8/8/3K1R2/8/8", False),
    ],
)
def test_insufficient_material(pieces: str, is_insufficient: bool) -> None:
    state = CHESS.parse_position(f"{pieces} w - - 0 1")
    assert CHESS.ending(state) == ("insufficient material" if is_insufficient else None)


def test_en_passant_counts_for_repetition_only_where_it_is_legal() -> None:
    """After e2e4 no pawn can take: the position comes again without the right. With a black pawn on d4 it does not."""
    shuffle = "Ng8 Ng1 Nf6 Nf3 "
    assert CHESS.ending(state_after(CHESS, "Nf3 Nf6 e4 " + 2 * shuffle)) == "threefold repetition"
    may_take = "Nf3 d5 h3 d4 a3 Nf6 e4 "
    assert CHESS.ending(state_after(CHESS, may_take + 2 * shuffle)) is None
    assert CHESS.ending(state_after(CHESS, may_take + 3 * shuffle)) == "threefold repetition"


def test_castling_rights_count_for_repetition() -> None:
    position = "4k2r/8/8/8/8/8/8/R3K3 w Q - 0 1"
    assert CHESS.ending(state_after(CHESS, "Rb1 Rg8 Ra1 Rh8 Rb1 Rg8 Ra1 Rh8", position=position)) is None
    assert (
        CHESS.ending(state_after(CHESS, "Rb1 Rg8 Ra1 Rh8 Rb1 Rg8 Ra1 Rh8 Rb1", position=position))
        == "threefold repetition"
    )


def test_the_game_goes_on_past_the_hundredth_ply() -> None:
    """Repetitions are counted exactly also beyond the fifty-move rule."""
    state = state_after(CHESS, "Nf3 Nf6 Ng1 Ng8 " * 60)
    twice = plane_of(CHESS, state, "1 if the position had occurred at least twice before")
    assert state.plies == 240 and CHESS.ending(state) == "threefold repetition" and (twice == 1).all()
    assert CHESS.position_text(state) == START.replace("0 1", "240 121")


# ---- castling


def test_castling_is_two_squares_in_chess_and_the_rook_in_chess960() -> None:
    position = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    for game, short, long in ((CHESS, "e1g1", "e1c1"), (CHESS960, "e1h1", "e1a1")):
        state = game.parse_position(position)
        assert {short, long} < texts(game, state) and {"O-O", "O-O-O"} < texts(game, state, "san")
        for meaning in (("e1g1", "e1h1", "O-O", "0-0", "O-O+"), ("e1c1", "e1a1", "O-O-O", "0-0-0!?")):
            assert len({parse_action(game, state, text) for text in meaning}) == 1
        castled = game.position_text(game.play(state, parse_action(game, state, "O-O-O")))
        assert castled == "r3k2r/8/8/8/8/8/8/2KR3R b kq - 1 1"


def test_a_king_beside_its_rook_goes_to_c1_in_two_ways() -> None:
    state = CHESS960.parse_position("4k3/8/8/8/8/8/8/RK5R w HA - 0 1")
    king, castles = parse_action(CHESS960, state, "b1c1"), parse_action(CHESS960, state, "b1a1")
    assert (king, castles) == (parse_action(CHESS960, state, "Kc1"), parse_action(CHESS960, state, "O-O-O"))
    assert CHESS960.position_text(CHESS960.play(state, king)) == "4k3/8/8/8/8/8/8/R1K4R b - - 1 1"
    assert CHESS960.position_text(CHESS960.play(state, castles)) == "4k3/8/8/8/8/8/8/2KR3R b - - 1 1"


def test_a_king_castles_without_moving() -> None:
    state = CHESS960.parse_position("1k6/8/8/8/8/8/8/R5KR w HA - 0 1")
    castles = parse_action(CHESS960, state, "O-O")
    assert CHESS960.action_text(state, castles) == "g1h1"
    assert CHESS960.position_text(CHESS960.play(state, castles)) == "1k6/8/8/8/8/8/8/R4RK1 b - - 1 1"


def test_chess960_with_the_planes_and_actions_of_chess() -> None:
    """Networks of chess read it; its rules, starts and texts are those of Chess960, and its actions those of chess."""
    game = make("chess(rules=chess960)")
    assert game.spec.encoder_id == CHESS.spec.encoder_id and game.num_starts == 960
    generator, num_castled, num_onto_the_rook = random.Random(1), 0, 0
    for number in range(0, 960, 7):
        ours, theirs = game.start(number), CHESS960.start(number)
        for _ in range(80):
            actions = {game.action_text(ours, action): action for action in game.legal_actions(ours)}
            assert actions.keys() == texts(CHESS960, theirs) and len(set(actions.values())) == len(actions)
            sans = {game.action_text(ours, action, "san"): action for action in actions.values()}
            for san in sans.keys() & {"O-O", "O-O-O", "O-O+", "O-O-O+"}:
                plane, king = divmod(sans[san], 64)
                # A queen's move to the right (direction 2) or to the left (6), by two squares if there is room.
                direction, room = (6, king % 8) if "O-O-O" in san else (2, 7 - king % 8)
                assert (plane // 7, plane % 7 + 1) == (direction, min(2, room))
                num_castled, num_onto_the_rook = num_castled + 1, num_onto_the_rook + (room < 2)
            if not actions:
                break
            text = generator.choice([san for san in sans if san.startswith("O-O")] or list(sans))
            ours, theirs = (
                rules.play(state, parse_action(rules, state, text))
                for rules, state in ((game, ours), (CHESS960, theirs))
            )
            assert game.position_text(ours) == CHESS960.position_text(theirs)
    assert num_castled > 100 and num_onto_the_rook > 10
    check_game(game, num_games=3, seed=5)
    flat = make("chess(rules=chess960, policy=flat)")
    check_game(flat, num_games=3, seed=5)
    usual = game.initial_state()
    assert game.position_text(usual) == START and game.legal_actions(usual) == CHESS.legal_actions(
        CHESS.initial_state()
    )
    np.testing.assert_array_equal(game.planes(usual), CHESS.planes(CHESS.initial_state()))


def test_castling_planes() -> None:
    position = "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1"
    state = CHESS.parse_position(position)
    planes = CHESS.planes(state)[114:118]
    assert [set(np.unique(plane)) for plane in planes] == [{0.0}, {1.0}, {1.0}, {0.0}], "own king, queen, then White's"
    planes = CHESS960.planes(CHESS960.parse_position(position))[114:118]
    # Black's own back rank is the lowest row, White's the highest.
    assert [np.argwhere(plane).tolist() for plane in planes] == [[], [[7, 0]], [[0, 7]], []]


# ---- positions


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has 0 fields"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq", "has 3 fields"),
        (f"{START} 7", '"7" is one field too many'),
        (START.replace("/8/8/8/8/", "/8/8/8/"), "has 7 rows, expected 8"),
        (START.replace("/8/8/8/8/", "/8/8/44/8/"), "no two side by side"),
        (START.replace("/8/8/8/8/", "/8/8/9/8/"), "expected digits 1 to 8"),
        (START.replace("/8/8/8/8/", "/8/8/7/8/"), "has 7 cells, expected 8"),
        (START.replace("rnbq", "rnbx"), '"x" is not a piece, expected one of PNBRQKpnbrqk'),
        (START.replace("RNBQK", "RNBQQ"), "White has 0 kings"),
        (START.replace("/8/8/8/8/", "/8/8/8/p7/"), "Black has 9 pawns of 17 pieces"),
        (
            START.replace("RNBQK", "RNPQK").replace("/PPPPPPPP/", "/1PPPPPPP/"),
            "a pawn stands on the first or the last rank",
        ),
        (START.replace(" w ", " x "), '"x" is to move, expected w or b'),
        ("5k2/8/8/8/8/8/8/4KR2 w - - 0 1", "Black's king could be taken"),
        ("8/8/8/8/8/kK6/8/8 w - - 0 1", "Black's king could be taken"),
        ("8/8/8/3k4/4K3/8/8/R7 b - - 0 1", "White's king could be taken"),
        (START.replace("KQkq", "KQkX"), "expected letters of KQkq"),
        (START.replace("KQkq", "KK"), "given twice"),
        (START.replace("KQkq", "KH"), "given twice"),
        (START.replace("KQkq", "B"), "no such rook"),
        (START.replace("RNBQKBNR", "RNBQKBN1"), "White has no such rook"),
        (START.replace("PPPPPPPP/RNBQKBNR", "PPPPKPPP/RNBQ1BNR"), "White's king is not on its back rank"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR w KQ - 0 1", "this is a position of chess960"),
        (START.replace(" - ", " e9 "), 'en passant square "e9", expected a square'),
        (START.replace(" - ", " e3 "), "expected one on rank 6"),
        (START.replace(" - ", " e6 "), "no pawn can just have come from e7 to e5"),
        ("4k3/8/8/4pP2/8/8/3n4/5K1r w - e6 0 1", "the king was in check before"),
        (START.replace(" 0 1", " -1 1"), '"-1" is plies since'),
        (START.replace(" 0 1", " +1 1"), '"\\+1" is plies since'),
        (START.replace(" 0 1", " 0 -1"), '"-1" is the move\'s number, expected a number from 0'),
        (START.replace(" 0 1", " 0 1000000"), "to 999999"),
    ],
)
def test_a_malformed_fen_is_named(text: str, sentence: str) -> None:
    with pytest.raises(GameError, match=sentence):
        CHESS.parse_position(text)


def test_what_is_read_and_how_it_is_written() -> None:
    for game, text, written in (
        (CHESS, "4k3/8/8/8/8/8/8/4K2R w K -", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        (CHESS, "4k3/8/8/8/8/8/8/4K2R w H - 7", "4k3/8/8/8/8/8/8/4K2R w K - 7 1"),
        (CHESS, "4k3/8/8/8/8/8/8/4K2R b - - 260 300", "4k3/8/8/8/8/8/8/4K2R b - - 260 300"),
        (CHESS, f" {START} ", START),
        (CHESS, START.replace(" 0 1", " 0 0"), START),
        (CHESS, START.replace(" w KQkq - 0 1", " b KQkq - 0 0"), START.replace(" w ", " b ")),
        (CHESS, "4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"),
        (CHESS, "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"),
        (CHESS960, "1r1k1r1r/8/8/8/8/8/8/R1RK3R w KQkq -", "1r1k1r1r/8/8/8/8/8/8/R1RK3R w KQkq - 0 1"),
        (CHESS960, "1r1k1r1r/8/8/8/8/8/8/R1RK3R w HCbf -", "1r1k1r1r/8/8/8/8/8/8/R1RK3R w KCfq - 0 1"),
    ):
        assert game.position_text(game.parse_position(text)) == written


def test_what_stands_for_the_moves_before_a_position() -> None:
    own_pawns = [14 * age for age in range(8)]
    start = CHESS.planes(CHESS.parse_position(START))
    np.testing.assert_array_equal(start, CHESS.planes(CHESS.initial_state()))
    assert not start[14:112].any(), "nothing was before the start"

    text = "4k3/8/8/8/3pP3/8/8/4K3 b - {} 0 1"
    quiet = CHESS.planes(CHESS.parse_position(text.format("-")))
    for age in range(8):
        np.testing.assert_array_equal(quiet[14 * age : 14 * age + 14], quiet[:14])
    passing = CHESS.planes(CHESS.parse_position(text.format("e3")))
    opponents = [np.argwhere(passing[plane + 6]).tolist() for plane in own_pawns]
    assert opponents == [[[3, 4]]] + [[[1, 4]]] * 7, "e4, and before it e2, seen by Black"
    zero = make("chess(history_fill=zero)")
    planes = zero.planes(zero.parse_position(text.format("e3")))
    np.testing.assert_array_equal(planes[:14], passing[:14])
    assert not planes[14:112].any()


def test_counters_feed_the_planes() -> None:
    state = CHESS.parse_position("4k3/8/8/8/8/8/8/4K2R b - - 150 200")
    assert (plane_of(CHESS, state, "plies since the game began / 512") == np.float32(399 / 512)).all()
    assert (plane_of(CHESS, state, "plies since a capture or a pawn's move / 100") == 1.5).all()
    assert (plane_of(CHESS, state, "1 if Black is to move") == 1).all()


# ---- options


def test_the_flat_policy_is_the_part_of_the_planes_that_stays_on_the_board() -> None:
    flat = make("chess(policy=flat)")
    assert (CHESS.spec.num_actions, flat.spec.num_actions) == (4672, 1858)
    assert CHESS.spec.has_action_planes and not flat.spec.has_action_planes
    generator = random.Random(3)
    places: dict[int, int] = {}
    for _ in range(40):
        one, other = CHESS.initial_state(), flat.initial_state()
        while legal := CHESS.legal_actions(one):
            pairs = list(zip(legal, flat.legal_actions(other), strict=True))
            for action, place in pairs:
                assert CHESS.action_text(one, action) == flat.action_text(other, place)
                assert places.setdefault(action, place) == place
            action, place = generator.choice(pairs)
            one, other = CHESS.play(one, action), flat.play(other, place)
    assert len(places) > 1500 and sorted(places.values()) == [places[action] for action in sorted(places)]


def test_a_shorter_history_is_the_same_without_the_oldest() -> None:
    short = make("chess(history=3)")
    assert len(short.spec.planes) == 3 * 14 + 7
    moves = "e4 e5 Nf3 Nc6 Bb5 a6"
    planes = CHESS.planes(state_after(CHESS, moves))
    np.testing.assert_array_equal(short.planes(state_after(short, moves)), np.concatenate([planes[:42], planes[112:]]))


def test_what_the_games_are_said_to_be() -> None:
    for game, num_constants, num_starts in ((CHESS, 23, 1), (CHESS960, 19, 960)):
        spec = game.spec
        assert (spec.num_actions, spec.board_shape, spec.max_plies, game.num_starts) == (4672, (8, 8), 512, num_starts)
        assert len({plane.name for plane in spec.planes}) == 119
        assert sum(plane.is_constant for plane in spec.planes) == num_constants
        assert game.position_text(game.initial_state()) == START
    assert len({CHESS960.position_text(CHESS960.start(number)) for number in range(960)}) == 960


def test_the_board_is_drawn() -> None:
    state = state_after(CHESS, "e4 c5 Nf3")
    assert CHESS.draw(state).splitlines() == [
        "8  r n b q k b n r",
        "7  p p . p p p p p",
        "6  . . . . . . . .",
        "5  . . p . . . . .",
        "4  . . . . P . . .",
        "3  . . . . . N . .",
        "2  P P P P . P P P",
        "1  R N B Q K B . R",
        "   a b c d e f g h",
        "Black to move",
    ]
    picture = CHESS.picture(state)
    assert picture is not None and picture.last_move == [45, 62] and picture.cells[45] == (0, "N", "♘")
    assert CHESS.picture(CHESS.initial_state()).last_move == []
    few = make("chess(history_fill=zero)")
    set_up = few.picture(few.parse_position("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"))
    assert set_up is not None and set_up.last_move == [], "nobody knows what was before"


# ---- texts of any kind


def test_moves_as_people_write_them() -> None:
    position = "r3k2r/1P3pp1/8/3pP3/8/2N3N1/5P2/R3K2R w KQkq d6 0 1"
    state = CHESS.parse_position(position)
    for meaning in (
        ("exd6", "e5d6", "ed6", "exd6 e.p.", "exd6e.p.", "e5xd6", "exd6!?"),
        ("b8=Q+", "b8Q", "b7b8q", "b7b8Q", "b8(Q)", "b8=Q", "b8/Q", "b7-b8=Q"),
        ("bxa8=N", "bxa8N", "ba8=N", "b7a8n", "b7xa8=N"),
        ("Nce4", "Nc3e4", "Nc3-e4", "c3e4", "Nce4??"),
        ("O-O", "0-0", "O-O!", "e1g1", "e1h1", "o-o"),
        ("f4", "f2f4", "f2-f4", "Pf4", "f4 ", "f4#"),
    ):
        assert len({parse_action(CHESS, state, text) for text in meaning}) == 1, meaning
    for text in (
        "Ne4",
        "b8",
        "e6+ e7",
        "Nf3",
        "O-O-O-O",
        "e1e3",
        "",
        "-",
        "x",
        "--",
        "0000",
        "b8=K",
        "bxa8=P",
        "E5D6",
        "Kg1",
        "=Q",
    ):
        assert CHESS.parse_action(state, text) is None, text


def mutated(*texts: str) -> st.SearchStrategy[str]:
    """Texts with some characters deleted, replaced or put in."""

    def mutate(text: str, edits: list[tuple[int, int, str]]) -> str:
        for place, length, insert in edits:
            place %= len(text) + 1
            text = text[:place] + insert + text[place + length :]
        return text

    letters = st.text(st.sampled_from("KQRBNPkqrbnpabcdefgh0123456789/ -wx+#=O♞\u0130"), max_size=2)
    edits = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 2), letters), max_size=4)
    return st.builds(mutate, st.sampled_from(texts), edits) | st.text(max_size=12)


@settings(max_examples=rounds(100))
@given(mutated(START, "1r1k1r1r/8/8/8/8/8/8/R1RK3R w HCbf - 3 9", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"))
def test_any_text_is_a_position_or_an_error(text: str) -> None:
    for game in (CHESS, CHESS960):
        try:
            state = game.parse_position(text)
        except GameError:
            continue
        again = game.parse_position(game.position_text(state) or "")
        assert game.position_text(again) == game.position_text(state) and texts(game, again) == texts(game, state)
        game.planes(state)
        for action in game.legal_actions(state, past_soft_endings=True):
            game.outcome(game.play(state, action))


@given(mutated("exd6", "b8=Q+", "e1g1", "O-O-O", "Nc3-e4", "b7a8n", "Rh1xh8"))
def test_any_text_is_a_move_or_none(text: str) -> None:
    for game in (CHESS, CHESS960):
        state = game.parse_position("r3k2r/1P3pp1/8/3pP3/8/2N3N1/5P2/R3K2R w KQkq d6 0 1")
        action = game.parse_action(state, text)
        assert action is None or action in game.legal_actions(state)


def test_positions_are_written_in_both_notations() -> None:
    state = CHESS960.parse_position("1r1k1r1r/8/8/8/8/8/8/R1RK3R w KCfq - 3 9")
    assert CHESS960.position_notations == ["shredder-fen"]
    assert CHESS960.position_text(state, "shredder-fen") == "1r1k1r1r/8/8/8/8/8/8/R1RK3R w HCfb - 3 9"
    with pytest.raises(GameError, match='chess960 has no notation "epd"; available: shredder-fen$'):
        CHESS960.position_text(state, "epd")

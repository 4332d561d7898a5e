"""The core's small games: their options, rare rules, views and notations; twins and OpenSpiel hold the rest.

The games without options are held against their twins in `test_games.py`.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_twins import SMALL_TWINS, VARIANTS
from zerosum.base.errors import GameError
from zerosum.games import Rules, State, check_game, make, parse_action, state_after


def test_the_core_plays_as_openspiel() -> None:
    pytest.importorskip("pyspiel")
    from oracle_small_games import EVENTS, compare

    seen = compare(2000, seed=1)  # of each game
    assert not EVENTS - seen.keys(), "every rule is met"


@pytest.mark.parametrize("name", VARIANTS)
def test_options_are_played_as_by_a_twin(name: str) -> None:
    game, generator, results = make(name), random.Random(1), set()
    assert game.spec.full_name == name
    for _ in range(25):
        state, twin = game.initial_state(), VARIANTS[name]()
        while True:
            assert game.legal_actions(state) == twin.legal_actions(), game.draw(state)
            assert game.outcome(state) == twin.outcome(), game.draw(state)
            np.testing.assert_array_equal(game.planes(state), twin.planes(), game.draw(state))
            again = game.parse_position(game.position_text(state) or "")
            np.testing.assert_array_equal(game.planes(again), twin.planes(), game.draw(state))
            if not (legal := game.legal_actions(state)):
                break
            assert [game.action_text(state, action) for action in legal] == [twin.action_text(a) for a in legal]
            action = legal[-1] if generator.random() < 0.1 else generator.choice(legal)  # `swap` comes last
            state = game.play(state, action)
            twin.play(action)
        results.add(game.outcome(state))
    assert {1.0, -1.0} <= results


@pytest.mark.parametrize("name", VARIANTS)
def test_options_keep_the_protocol(name: str) -> None:
    assert check_game(make(name), num_games=10, seed=2).num_games == 10


# ---- rules


@pytest.mark.parametrize(
    ("name", "position", "move", "outcome", "ending"),
    [
        ("othello", "8/8/8/3XX3/3XO3/8/8/8 X", "f6", 1.0, "neither side can move"),  # O has no disc
        (
            "othello",
            "XXXXXXXX/XXXXXXXX/XXXXXXXX/XXXXXXXX/OOOOOOOO/OOOOOOOO/OOOOOOOO/OOOOOXO1 X",
            "h8",
            1.0,
            "board full",
        ),
        (
            "othello",
            "OOOOOOOO/OOOOOOOO/OOOOOOOO/OOOOOOOO/XXXXXXXX/XXXXXXXX/XXXXXXXX/XXXXXOX1 O",
            "h8",
            -1.0,
            "board full",
        ),
        (
            "othello",
            "XOOOOOO1/XXXXXXXX/XXXXXXXX/XXXXXXXX/OOOOOOOO/OOOOOOOO/OOOOOOOO/OOOOOOOO X",
            "h1",
            0.0,
            "board full",
        ),
        ("gomoku(size=5)", "XXXX1/5/OOOO1/5/5 X", "e5", 1.0, "five in a row"),
        ("gomoku(size=6)", "XXX1XX/6/OOOO2/O5/6/6 X", "d6", 1.0, "five in a row"),
        ("gomoku(size=6, exact_five=true)", "XXX1XX/6/OOOO2/O5/6/6 X", "d6", None, None),
        ("gomoku(size=6, exact_five=true)", "O4X/OX4/OOX3/O2X2/4X1/6 X", "a2", None, None),
        ("gomoku(size=6, exact_five=true)", "O4X/OX4/OOX3/O2X2/4X1/6 X", "f1", 1.0, "five in a row"),
        ("gomoku(size=3)", "XXO/1O1/2X O", "a1", -1.0, "three in a row"),
        ("gomoku(size=3)", "XXO/OOX/XO1 X", "c1", 0.0, "board full"),
        ("hex(size=3)", "1X1/1XO/O2 X", "b3", 1.0, "edges joined"),
        ("hex(size=3)", "1X1/1XO/O2 X", "c1", None, None),
        ("hex(size=3)", "X2/O1X/1OX O", "b2", None, None),
        ("hex(size=3)", "X1X/1OO/2X O", "b1", None, None),
        ("hex(size=3)", "X1X/1OO/2X O", "a2", -1.0, "edges joined"),
        ("breakthrough(size=4)", "4/3X/O3/4 X", "d3d4", 1.0, "last row reached"),
        ("breakthrough(size=4)", "4/3X/O3/4 O", "a2b1", -1.0, "last row reached"),
        ("breakthrough(size=4)", "4/3X/O3/1X2 X", "b1a2", 1.0, "all pieces captured"),
        ("breakthrough(size=4)", "4/2O1/3X/4 O", "c3d2", -1.0, "all pieces captured"),
        ("nim", "0-0-2-0 X", "3:2", 1.0, "last object taken"),
        ("nim", "0-0-2-0 X", "3:1", None, None),
        ("nim(misere=true)", "0-0-2-0 X", "3:2", -1.0, "last object taken"),
        ("nim(misere=true)", "0-0-0-1 O", "4:1", 1.0, "last object taken"),
    ],
)
def test_how_small_games_end(name: str, position: str, move: str, outcome: float | None, ending: str | None) -> None:
    game = make(name)
    before = game.parse_position(position)
    assert game.outcome(before) is None, game.draw(before)
    state = game.play(before, parse_action(game, before, move))
    assert (game.outcome(state), game.ending(state)) == (outcome, ending), game.draw(state)
    assert (game.legal_actions(state) == []) == (outcome is not None)


def test_a_pass_is_forced_and_never_free() -> None:
    game = make("othello")
    assert game.legal_actions(game.initial_state()) == [19, 26, 37, 44]
    # X encloses nothing, and O may take a6 or c8.
    state = game.parse_position("8/8/8/3XX3/3XX3/8/X7/OX6 X")
    assert game.legal_actions(state) == [64] and game.action_text(state, 64) == "pass"
    after = game.play(state, 64)
    assert game.position_text(after) == "8/8/8/3XX3/3XX3/8/X7/OX6 O" and game.outcome(after) is None


def test_swap_takes_the_stone_over_on_the_mirrored_cell() -> None:
    game = make("hex(size=4, swap=true)")
    assert (game.spec.num_actions, [plane.is_constant for plane in game.spec.planes]) == (17, [False, False, True])
    first = state_after(game, "b1")
    assert 16 in game.legal_actions(first) and (game.planes(first)[2] == 1).all()
    swapped = state_after(game, "b1 swap")
    assert game.position_text(swapped) == "4/O3/4/4 X" and game.player(swapped) == 0
    for later in (game.initial_state(), swapped, state_after(game, "b1 swap c1"), state_after(game, "b1 c1 d1")):
        assert 16 not in game.legal_actions(later) and not game.planes(later)[2].any()
    # Seen from the opponent, the stone is where its first owner saw it: the same plane, now the first player's to face.
    np.testing.assert_array_equal(game.planes(swapped)[1], game.planes(first)[1])
    assert 16 in game.legal_actions(game.parse_position("1X2/4/4/4 O"))


def mirrored(game: Rules, state: State, *, is_hex: bool) -> State:
    """The position with its colours changed and its board transposed (Hex) or flipped top to bottom (Breakthrough)."""
    height, width = game.spec.board_shape
    picture = game.picture(state)
    assert picture is not None
    owners = np.array([0 if piece is None else 1 - 2 * piece[0] for piece in picture.cells]).reshape(height, width)
    image = -owners.T if is_hex else -owners[::-1]
    rows = "/".join("".join(".XO"[owner] for owner in row) for row in image.tolist())
    rows = re.sub(r"\.+", lambda empty: str(len(empty[0])), rows)
    return game.parse_position(f"{rows} {'OX'[game.player(state)]}")


@pytest.mark.parametrize("name", ["hex(size=5, swap=true)", "breakthrough", "breakthrough(size=5)"])
def test_sides_see_mirrored_positions_alike(name: str) -> None:
    """A position and its mirror with the colours changed are one to a network: planes, actions, the mover's result.

    In Hex with swap both are positions of the game once there are two stones.
    """
    game, generator, num_compared = make(name), random.Random(3), 0
    for _ in range(10):
        state = game.initial_state()
        while legal := game.legal_actions(state):
            action = generator.choice(legal)
            after = game.play(state, action)
            if game.planes(state)[:2].sum() > 1:
                image = mirrored(game, state, is_hex=name.startswith("hex"))
                np.testing.assert_array_equal(game.planes(image), game.planes(state), game.draw(state))
                assert game.legal_actions(image) == legal and game.player(image) != game.player(state)
                outcome = game.outcome(after)
                assert game.outcome(game.play(image, action)) == (None if outcome is None else -outcome)
                num_compared += 1
            state = after
    assert num_compared > 100


def test_nobody_sees_whose_move_it_is_but_by_the_board() -> None:
    """Gomoku's and Othello's boards stay as they are; only the sides change."""
    for name, moves in (("gomoku", "h8 i9 a1"), ("othello", "d3 c3")):
        game = make(name)
        state = state_after(game, moves)
        own, opponent = game.planes(state)
        picture = game.picture(state)
        assert picture is not None
        owners = [None if piece is None else piece[0] for piece in picture.cells]
        assert [owner == game.player(state) for owner in owners] == own.astype(bool).ravel().tolist()
        assert [owner == 1 - game.player(state) for owner in owners] == opponent.astype(bool).ravel().tolist()


def test_the_symmetries_of_small_boards() -> None:
    assert [len(make(name).spec.symmetries) for name in ("breakthrough", "gomoku", "hex", "nim", "othello")] == [
        1,
        7,
        1,
        0,
        3,
    ]
    square = np.arange(64).reshape(8, 8)
    turned = [square.T, square[::-1, ::-1], square[::-1, ::-1].T]
    assert make("othello").spec.symmetries == [
        [*board.ravel().tolist(), 64] for board in (turned[0], turned[1], turned[2])
    ]
    assert make("hex(size=2, swap=true)").spec.symmetries == [[3, 2, 1, 0, 4]]


def test_a_heap_is_a_row() -> None:
    game = make("nim(heaps=3-1-2)")
    state = state_after(game, "1:2")
    assert game.planes(state).tolist() == [[[1, 0, 0], [1, 0, 0], [1, 1, 0]]]
    assert game.draw(state) == "1  * . .\n2  * . .\n3  * * .\n   1 2 3\nO to move\n"
    assert game.position_text(state) == "1-1-2 O" and game.legal_actions(state) == [0, 3, 6, 7]


# ---- what people write


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("othello(size=6)", "othello has no option 'size'; available: max_plies"),
        ("gomoku(size=26)", "gomoku: size is '26', expected a number from 3 to 25"),
        ("gomoku(size=4, length=5)", "gomoku: length is '5', expected a number from 3 to 4"),
        ("gomoku(length=9)", "gomoku: length is '9', expected a number from 3 to 8"),
        ("gomoku(exact_five=5)", "gomoku: exact_five is '5', expected true or false"),
        ("hex(size=1)", "hex: size is '1', expected a number from 2 to 25"),
        ("hex(swap=maybe)", "hex: swap is 'maybe', expected true or false"),
        ("breakthrough(size=9)", "breakthrough: size is '9', expected a number from 4 to 8"),
        ("nim(heaps=)", "nim: heaps is '', expected 1 to 16 numbers from 1 to 255 such as 1-3-5-7"),
        ("nim(heaps=1,3)", "nim: the option '3' has no value"),
        ("nim(heaps=3-0)", "nim: heaps is '3-0'"),
        ("nim(heap=3)", "nim has no option 'heap'; available: heaps, misere, max_plies"),
    ],
)
def test_malformed_options_are_named(name: str, message: str) -> None:
    with pytest.raises(GameError) as error:
        make(name)
    assert message.replace("'", '"') in str(error.value).replace("'", '"')


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("othello", "8/8/8/3OX3/3X4/8/8/8 X", "e5 is empty, and the four squares in the middle always hold a disc"),
        ("othello", "8/8/8/3OX3/3XO3/8/8 X", "has 7 rows, expected 8"),
        ("othello", "8/8/8/3OX3/3XO3/8/8/8", "lacks the side to move, X or O"),
        ("gomoku(size=5)", "5/5/5/5/XX3 X", "X is to move, and there are 2 X and 0 O, expected 0 X"),
        ("gomoku(size=5)", "XXXXX/5/OOOO1/O4/5 X", "X is to move and has five in a row already"),
        ("hex(size=3)", "3/3/2O X", "X is to move, and there are 0 X and 1 O, expected 1 X"),
        ("hex(size=3, swap=true)", "3/1O1/2O X", "X is to move, and there are 0 X and 2 O, expected 2 X"),
        ("hex(size=3)", "X2/X2/XO1 O", "O is to move, and there are 3 X and 1 O, expected 2 X"),
        ("hex(size=2)", "XO/XO X", "X is to move and has joined its edges already"),
        ("breakthrough(size=4)", "3X/4/4/O3 X", "X is to move and has reached the last row already"),
        ("breakthrough(size=4)", "4/4/4/1O1X O", "O is to move and has reached the last row already"),
        ("breakthrough(size=4)", "4/4/4/XX2 X", "X is to move and O has no piece"),
        ("breakthrough(size=4)", "OOOO/OOOO/O3/XX2 X", "O has 9 pieces, expected at most 8"),
        ("breakthrough(size=4)", "4/4/4/QX2 X", "row 4, 'QX2': 'Q' is not a piece, expected X or O"),
        ("nim", "1-3-5 X", "'1-3-5' has 3 heaps, expected 4"),
        ("nim", "1-3-5-8 X", "'8' is not a heap, expected a number from 0 to 7"),
        ("nim", "1-3--7 X", "'' is not a heap"),
        ("nim", "1-3-5-7 w", "'w' is to move, expected X or O"),
        ("nim", "1-3-5-7", "lacks the side to move, X or O"),
    ],
)
def test_malformed_positions_of_small_games_are_named(name: str, text: str, message: str) -> None:
    with pytest.raises(GameError) as error:
        make(name).parse_position(text)
    assert message in str(error.value).replace('"', "'")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("othello", "d6", "'d6' is not a legal move here: near are .*, of 4 that are legal"),
        ("othello", "pass", "legal are c4, d3, e6, f5"),
        ("gomoku", "p1", "'p1' is not a legal move here"),
        ("hex", "swap", "'swap' is not a legal move here"),
        ("breakthrough", "a1a2", "'a1a2' is not a legal move here: near are a2"),
        ("nim", "1:2", "'1:2' is not a legal move here"),
    ],
)
def test_moves_that_are_none_are_named(name: str, text: str, message: str) -> None:
    game = make(name)
    with pytest.raises(GameError, match=message):
        parse_action(game, game.initial_state(), text)


GAMES = {
    name: make(name)
    for name in (*SMALL_TWINS, "hex(size=3, swap=true)", "gomoku(size=3)", "nim(heaps=2-2, misere=true)")
}
POSITIONS = st.text(st.sampled_from("XO12358/- 0aé"), max_size=30) | st.text(max_size=20)


@given(st.sampled_from(sorted(GAMES)), POSITIONS)
def test_no_text_of_a_position_is_a_panic(name: str, text: str) -> None:
    """A position is read, and then holds all that a position holds, or it is refused in words."""
    game = GAMES[name]
    try:
        state = game.parse_position(text)
    except GameError:
        return
    assert game.position_text(game.parse_position(game.position_text(state) or "")) == game.position_text(state)
    assert (game.outcome(state) is None) == bool(game.legal_actions(state))


@given(st.sampled_from(sorted(GAMES)), st.integers(0, 99))
def test_a_position_with_one_letter_changed_is_no_panic(name: str, seed: int) -> None:
    game, generator = GAMES[name], random.Random(seed)
    state = game.initial_state()
    for _ in range(generator.randrange(12)):
        state = game.play(state, generator.choice(game.legal_actions(state))) if game.legal_actions(state) else state
    text = game.position_text(state) or ""
    place = generator.randrange(len(text))
    changed = text[:place] + generator.choice("XO19/- ") + text[place + 1 :]
    try:
        again = game.parse_position(changed)
    except GameError:
        return
    for action in game.legal_actions(again):
        game.outcome(game.play(again, action))


@given(st.sampled_from(sorted(GAMES)), st.text(max_size=6))
def test_no_text_of_a_move_is_a_panic(name: str, text: str) -> None:
    game = GAMES[name]
    action = game.parse_action(game.initial_state(), text)
    assert action is None or game.action_text(game.initial_state(), action) == text.strip().lower()


@given(st.sampled_from(sorted(SMALL_TWINS)), st.text(st.sampled_from("size=heapsmisere,()-0123456789 "), max_size=24))
def test_no_text_of_options_is_a_panic(name: str, text: str) -> None:
    try:
        game = make(f"{name}({text})")
    except GameError:
        return
    assert make(game.spec.full_name).spec.encoder_id == game.spec.encoder_id


def test_boards_of_small_games_are_drawn() -> None:
    game = make("hex(size=3)")
    assert game.draw(state_after(game, "a2 c1")).splitlines() == [
        "1  . . O",
        " 2  X . .",
        "  3  . . .",
        "      a b c",
        "X joins top and bottom, O left and right",
    ]
    game = make("breakthrough(size=4)")
    assert game.draw(state_after(game, "a2b3")).splitlines() == [
        "4  O O O O",
        "3  O X O O",
        "2  . X X X",
        "1  X X X X",
        "   a b c d",
        "O to move",
    ]


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("breakthrough", "chequered"),
        ("gomoku", "points"),
        ("hex", "hexagons"),
        ("nim", "squares"),
        ("othello", "squares"),
    ],
)
def test_pictures_of_small_games(name: str, grid: str) -> None:
    game = make(name)
    picture = game.picture(game.initial_state())
    assert picture is not None and picture.grid == grid
    assert (len(picture.row_labels), len(picture.column_labels)) == game.spec.board_shape

"""Go: the core against a textbook twin and other programs, positions that people know, planes, notation."""

from __future__ import annotations

import random

import numpy as np
import pytest

import oracle_go
from go_twin import GoTwin
from oracle_go import EVENTS, random_states
from zerosum.base.errors import GameError
from zerosum.games import check_game, make, parse_action, state_after


def test_the_core_plays_as_its_twin() -> None:
    """Rules of every kind, on boards up to 25x25. At full length `compare` sees each of EVENTS a hundred times."""
    events = oracle_go.compare(2500, seed=1, with_others=False)
    assert len([event for event in EVENTS if not events[event]]) <= 3, events


def test_the_core_plays_as_others_do() -> None:
    """GNU Go says which moves are legal, sgfmill what is taken and what the areas are."""
    pytest.importorskip("sgfmill.boards")
    if oracle_go.GNUGO is None:
        pytest.skip("GNU Go is not installed")
    events = oracle_go.compare(2000, seed=2)
    assert events["held against sgfmill"] > 1000 < events["held against GNU Go"]


def count_lines(twin: GoTwin, depth: int) -> int:
    if depth == 0:
        return 1
    total = 0
    for action in twin.legal_actions():
        after = GoTwin(twin.size, superko=twin.superko, suicide=twin.suicide, board=twin.board, mover=twin.mover)
        after.seen, after.before_last = dict(twin.seen), twin.before_last
        after.play(action)
        total += count_lines(after, depth - 1)
    return total


@pytest.mark.parametrize(
    ("options", "position", "counts"),
    [
        ("", "5/5/5/5/5 X", [26, 651, 15676]),
        ("", oracle_go.SENDING_TWO, [6, 24, 121, 404]),
        ("superko=situational, suicide=true", oracle_go.LARGE_EYES, [9, 69, 485]),
        ("superko=simple", "5/1XO2/X1XO1/1XO2/5 O", [19, 343, 5851]),
        ("superko=none", "5/1XO2/X1XO1/1XO2/5 O", [19, 344, 5870]),
    ],
)
def test_perft(options: str, position: str, counts: list[int]) -> None:
    game = make(f"go(size=5, {options})")
    state = game.parse_position(position)
    assert [game.perft(state, depth + 1) for depth in range(len(counts))] == counts
    board = tuple({0: 1, 1: -1}[piece[0]] if piece else 0 for piece in game.picture(state).cells)
    rules = {"suicide": "suicide" in options, "superko": options.partition("=")[2].partition(",")[0] or "positional"}
    twin = GoTwin(5, board=board, mover=1 if position.endswith("X") else -1, **rules)
    assert [count_lines(twin, depth + 1) for depth in range(3)] == counts[:3]


def test_it_keeps_the_protocol() -> None:
    report = check_game(make("go(size=5, komi=25)"), num_games=20, seed=3)
    assert report.num_games == 20 and set(report.results) <= {-1.0, 0.0, 1.0}
    assert check_game(make("go(size=7, handicap=2)"), num_games=3).longest <= 98


# ---- names and options


@pytest.mark.parametrize(
    ("name", "full_name", "komi"),
    [
        ("go", "go", 7.5),
        ("go19", "go", 7.5),
        ("go9", "go(size=9)", 7),
        ("go13", "go(size=13)", 7.5),
        ("go9(komi=5.5)", "go(size=9, komi=5.5)", 5.5),
        ("go(size=9, komi=7.5)", "go(size=9, komi=7.5)", 7.5),
        ("go(rules=tromp-taylor)", "go(suicide=true)", 7.5),
    ],
)
def test_names_and_their_long_forms(name: str, full_name: str, komi: float) -> None:
    game = make(name)
    assert (game.spec.name, game.spec.full_name, make(full_name).spec.full_name) == ("go", full_name, full_name)
    size = game.spec.board_shape[0]
    assert game.score(game.initial_state()) == -komi
    assert (game.spec.num_actions, game.spec.max_plies, len(game.spec.planes)) == (size**2 + 1, 2 * size**2, 17)
    assert game.spec.has_action_planes


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("go(size=4)", 'size is "4", expected a number from 5 to 25'),
        ("go9(size=13)", "go9: size=9 is implied, and the option size is given, too"),
        ("go(rules=ing)", 'rules is "ing", expected tromp-taylor or japanese'),
        ("go(superko=ing)", 'superko is "ing", expected one of positional, situational, simple, none'),
        ("go(size=8, handicap=5)", "handicap is 5, expected 0 or 2 to 4 on 8×8"),
        ("go(komi=x)", 'komi is "x", expected a number'),
        ("go(liberties=9)", 'liberties is "9", expected a number from 0 to 8'),
    ],
)
def test_options_that_do_not_fit(name: str, sentence: str) -> None:
    with pytest.raises(GameError, match=sentence):
        make(name)


def test_komi_shares_a_network_and_planes_do_not() -> None:
    encoder_id = make("go9").spec.encoder_id
    assert make("go9(komi=0, superko=simple, suicide=true, handicap=2)").spec.encoder_id == encoder_id
    others = [make(name).spec.encoder_id for name in ("go9(history=4)", "go9(liberties=3)", "go13")]
    assert len({encoder_id, *others}) == 4


# ---- games that end, and points


@pytest.mark.parametrize(
    ("moves", "score", "outcome"),
    [("pass pass", -7.5, -1.0), ("C3 pass pass", 17.5, 1.0), ("C3 A1 pass pass", -7.5, -1.0)],
)
def test_two_passes_end_the_game_softly(moves: str, score: float, outcome: float) -> None:
    game = make("go(size=5)")
    state = state_after(game, moves)
    assert (game.score(state), game.outcome(state), game.ending(state)) == (score, outcome, "two passes")
    assert game.is_soft_ending(state) and game.legal_actions(state) == []
    assert game.ending(game.play(state, parse_action(game, state, "D4"))) is None
    passed, mover = ("X passed", "O to move") if len(moves.split()) % 2 else ("O passed", "X to move")
    assert game.draw(state).splitlines()[-2:] == [passed, mover]


def test_the_cap_scores_the_board() -> None:
    game = make("go(size=5, komi=2, max_plies=3)")
    state = state_after(game, "C3 pass A1")
    assert (game.score(state), game.outcome(state), game.ending(state)) == (23, 1.0, "ply cap")
    drawn = make("go(size=5, komi=25)")
    assert drawn.outcome(state_after(drawn, "C3 pass pass")) == 0.0


def test_black_is_first_also_with_a_handicap() -> None:
    game = make("go9(handicap=2)")
    state = game.initial_state()
    assert game.player(state) == 1 and game.score(state) == 74.0
    assert game.position_text(state) == "9/9/6X2/9/9/9/2X6/9/9 O"
    assert game.planes(state)[:2].sum(axis=(1, 2)).tolist() == [0, 2], "White's own stones, then Black's"


# ---- planes


def test_planes_by_hand() -> None:
    game = make("go(size=5)")
    planes = game.planes(state_after(game, "A5 E1 pass B5"))
    names = [plane.name for plane in game.spec.planes]
    assert names[:4] == ["own stones", "opponent stones", "own stones, 1 ply ago", "opponent stones, 1 ply ago"]
    assert names[-2:] == ["opponent stones, 7 plies ago", "1 if Black is to move"]
    found = [(names[plane], "ABCDE"[column] + str(5 - row)) for plane, row, column in np.argwhere(planes[:-1])]
    assert found == [
        ("own stones", "A5"),
        ("opponent stones", "B5"),
        ("opponent stones", "E1"),
        ("own stones, 1 ply ago", "A5"),
        ("opponent stones, 1 ply ago", "E1"),
        ("own stones, 2 plies ago", "A5"),  # a pass is a position, too
        ("opponent stones, 2 plies ago", "E1"),
        ("own stones, 3 plies ago", "A5"),
    ]
    assert planes[-1].min() == 1.0 and game.planes(state_after(game, "A5"))[-1].max() == 0.0


def test_liberty_planes_by_hand() -> None:
    game = make("go(size=5, history=1, liberties=3)")
    names = [plane.name for plane in game.spec.planes]
    liberties = [f"stones of chains with {count}" for count in ("1 liberty", "2 liberties", "3 liberties")]
    assert names == ["own stones", "opponent stones", *liberties, "1 if Black is to move"]
    planes = game.planes(game.parse_position("XXO2/O3O/3XX/1O3/5 X"))[2:5]
    points = [{"ABCDE"[column] + str(5 - row) for row, column in np.argwhere(plane)} for plane in planes]
    assert points == [{"A5", "B5"}, {"A4", "C5", "E4"}, set()], "D3 and B2 have four"


@pytest.mark.parametrize(("fill", "frames"), [("repeat", 8), ("zero", 1)])
def test_a_position_set_up_has_the_past_that_was_asked_for(fill: str, frames: int) -> None:
    game = make(f"go(size=5, history_fill={fill})")
    state = game.parse_position("5/2X2/5/5/5 O")
    assert game.planes(state)[1:-1:2].sum(axis=(1, 2)).tolist() == [1] * frames + [0] * (8 - frames)
    assert game.planes(game.initial_state())[:-1].max() == 0.0


def test_a_start_that_is_read_back_has_no_past_either() -> None:
    game = make("go(size=9, handicap=2)")
    start = game.initial_state()
    read = game.parse_position(game.position_text(start) or "")
    assert (game.planes(read) == game.planes(start)).all() and game.planes(start)[:2].max() == 1.0
    assert game.planes(read)[2:-1].max() == 0.0
    other = game.parse_position((game.position_text(start) or "").replace(" O", " X"))
    assert game.planes(other)[2:-1].max() == 1.0, "a position set up, which White did not begin"


def test_planes_are_those_of_pgx() -> None:
    """Actions are mapped as in `compare_pgx`."""
    pytest.importorskip("pgx", exc_type=ImportError)
    assert oracle_go.compare_pgx(60, seed=1) == 60


@pytest.mark.parametrize("options", ["", ", handicap=2", ", handicap=4"])
def test_images_of_games_have_images_of_planes(options: str) -> None:
    game = make(f"go(size=7, max_plies=30{options})")
    assert len(game.spec.symmetries) == (3 if "2" in options else 7)
    for permutation in game.spec.symmetries:
        generator, state, image = random.Random(4), game.initial_state(), game.initial_state()
        while legal := game.legal_actions(state):
            planes = np.empty((17, 49), np.float32)
            planes[:, permutation[:-1]] = game.planes(state).reshape(17, 49)
            np.testing.assert_array_equal(game.planes(image).reshape(17, 49), planes)
            action = generator.choice(legal)
            state, image = game.play(state, action), game.play(image, permutation[action])
        assert game.outcome(image) == game.outcome(state)


@pytest.mark.parametrize("size", [5, 8, 9, 19, 25])
def test_packed_planes_are_the_planes(size: int) -> None:
    game = make(f"go(size={size}, max_plies=40)")
    states = list(random_states(game, 1, seed=5))
    leaves = game.encode(states)
    bits = np.unpackbits(leaves.packed_planes, axis=2, bitorder="little", count=size * size)
    planes = np.stack([game.planes(state) for state in states])
    np.testing.assert_array_equal(bits.reshape(-1, 16, size, size), planes[:, :16])
    np.testing.assert_array_equal(leaves.planes(), planes)


# ---- notation


def test_moves_in_either_notation() -> None:
    game = make("go")
    state = game.initial_state()
    assert game.notations == ["sgf"]
    for text, action in (("D4", 15 * 19 + 3), ("dp", 15 * 19 + 3), ("j10", 9 * 19 + 8), ("T1", 360), ("sa", 18)):
        assert parse_action(game, state, text) == action
    for text in ("pass", "PASS", "tt", ""):
        assert parse_action(game, state, text) == 361
    assert [game.action_text(state, action) for action in (0, 360, 361)] == ["A19", "T1", "pass"]
    assert [game.action_text(state, action, "sgf") for action in (0, 360, 361)] == ["aa", "ss", ""]
    for text in ("I5", "T20", "U1", "zz", "D", "4"):
        with pytest.raises(GameError, match="is not a legal move here"):
            parse_action(game, state, text)
    large = make("go(size=25)")
    assert parse_action(large, large.initial_state(), "tt") == 19 * 25 + 19


def test_a_position_says_what_ko_forbids() -> None:
    game = make("go(size=5)")
    state = game.play(game.parse_position("5/1XO2/X1XO1/1XO2/5 O"), 11)
    text = "5/1XO2/XO1O1/1XO2/5 X ko=C3"
    assert game.position_text(state) == text
    again = game.parse_position(text)
    assert game.legal_actions(again) == game.legal_actions(state) and 12 not in game.legal_actions(state)
    passed = game.play(again, 25)
    assert game.position_text(passed) == "5/1XO2/XO1O1/1XO2/5 O passes=1"
    for wrong, sentence in (
        ("5/1XO2/XO1O1/1XO2/5 X ko=B2", "ko is said to forbid B2, and here it cannot"),
        ("5/1XO2/XO1O1/1XO2/5 X passes", '"passes" behind the side to move'),
        ("XO3/O4/5/5/5 X", "the stone on A5 has no liberty"),
    ):
        with pytest.raises(GameError, match=sentence):
            game.parse_position(wrong)


def test_the_last_move_is_marked() -> None:
    game = make("go(size=5)")
    picture = game.picture(state_after(game, "C3 D4"))
    assert picture is not None and (picture.grid, picture.last_move, picture.captions) == ("points", [8], ["X to move"])
    assert picture.column_labels == list("ABCDE") and picture.row_labels == list("54321")
    assert {cell: piece for cell, piece in enumerate(picture.cells) if piece} == {8: (1, "O", ""), 12: (0, "X", "")}
    assert make("go").picture(make("go").initial_state()).column_labels == list("ABCDEFGHJKLMNOPQRST")


def test_games_without_points_tell_no_score() -> None:
    game = make("tictactoe")
    assert game.score(game.initial_state()) is None

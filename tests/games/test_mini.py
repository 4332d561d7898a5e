"""Minishogi and minichess: the core against slow twins and Fairy-Stockfish, perft, endings, notation, planes."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest

from minichess_twin import MinichessTwin
from minishogi_twin import MinishogiTwin
from oracle_mini import compare_game
from zerosum.base.errors import GameError
from zerosum.games import check_game, make, parse_action, state_after
from zerosum.games.perft import load_perft

NAMES = ("minichess", "minishogi")


def position_after(name: str, position: str, moves: str) -> tuple[str | None, float | None]:
    """The game's ending, and its result for the first player."""
    game = make(name)
    state = game.parse_position(position)
    for number, move in enumerate(moves.split()):
        assert game.ending(state) is None, f"over before move {number}"
        state = game.play(state, parse_action(game, state, move))
    return game.ending(state), game.outcome(state)


# ---- against others


@pytest.mark.parametrize("name", NAMES)
def test_the_core_plays_as_its_twin(name: str) -> None:
    events = compare_game(name, 1500, seed=7)
    assert {"ply cap", "checkmate, White wins", "checkmate, Black wins"} <= set(events)


@pytest.mark.parametrize("name", NAMES)
def test_the_core_plays_as_fairy_stockfish(name: str) -> None:
    """A sample; `tools/compare_rules.py mini` compares more, and meets each rule event a hundred times."""
    fairy = pytest.importorskip("pyffish")
    assert compare_game(name, 700, seed=8, fairy=fairy)["positions"] >= 700


@pytest.mark.parametrize("name", NAMES)
def test_they_keep_the_protocol(name: str) -> None:
    report = check_game(make(name), num_games=40, seed=3)
    assert report.num_games == 40 and {1.0, -1.0} <= set(report.results) and report.longest <= 300


# ---- endings

HUNT = "2k2/5/5/3R1/4K b - 1"


@pytest.mark.parametrize(
    ("position", "moves", "ending", "result"),
    [
        pytest.param(
            "rbsgk/4p/5/P4/KGSBR b - 1",
            "1e1d 5a5b 1d1e 5b5a " * 3,
            "fourfold repetition",
            -1.0,
            id="a repetition loses for Black",
        ),
        pytest.param(HUNT, "2d3d 3a2a 3d2d 2a3a " * 3, "perpetual check", -1.0, id="Black checks perpetually"),
        pytest.param(
            "1k3/5/5/5/3RK b - 1",
            "2e2d 4a3a " + "2d3d 3a2a 3d2d 2a3a " * 3,
            "perpetual check",
            -1.0,
            id="quiet moves before the first occurrence do not matter",
        ),
        pytest.param(
            HUNT,
            "2d2e 3a4a 2e2d 4a3a " + "2d3d 3a2a 3d2d 2a3a " * 2,
            "fourfold repetition",
            -1.0,
            id="quiet moves after it do",
        ),
        pytest.param(
            HUNT,
            "2d3d 3a2a 3d2d 2a3a 2d2e 3a4a 2e2d 4a3a 2d3d 3a2a 3d2d 2a3a",
            "fourfold repetition",
            -1.0,
            id="quiet moves between",
        ),
        pytest.param(
            "k4/1r3/5/5/2K2 w - 1",
            "4b3b 3e4e 3b4b 4e3e " * 3,
            "perpetual check",
            1.0,
            id="White checks perpetually",
        ),
        pytest.param(
            "k4/1r3/5/5/2K2 w - 1",
            "4b3b 3e4e 3b4b 4e5e 4b5b 5e4e 5b4b 4e3e 4b3b 3e4e 3b4b 4e3e 4b3b 3e4e 3b4b",
            "perpetual check",
            1.0,
            id="cycles of two lengths, all of checks",
        ),
        pytest.param("4k/5/4G/5/K4 b G 1", "G*1b", "checkmate", 1.0, id="mate by a drop"),
        pytest.param("k4/5/1G3/5/4K b - 1", "4c4b", None, None, id="the king takes"),
        pytest.param("k4/5/1R3/5/1R2K b - 1", "4e5e", "checkmate", 1.0, id="mate"),
        pytest.param("k4/5/1R3/5/1R2K b p 1", "4e5e", None, None, id="a pawn is put between"),
        pytest.param("4k/2R2/3G1/5/K4 b - 1", "3b2b", "no legal move", 1.0, id="who cannot move loses"),
        pytest.param("4k/2R2/3G1/5/K4 b p 1", "3b2b", None, None, id="a drop is a move"),
    ],
)
def test_how_minishogi_ends(position: str, moves: str, ending: str | None, result: float | None) -> None:
    assert position_after("minishogi", position, moves) == (ending, result)


@pytest.mark.parametrize(
    ("position", "moves", "ending"),
    [
        ("4k/5/5/5/RK3 w - - 0 1", "a1a2 e5d5 a2a1 d5e5 " * 2, "threefold repetition"),
        ("4k/5/5/5/RK3 w - - 98 60", "a1a2 e5d5", "fifty-move rule"),
        ("4k/5/5/5/RK3 w - - 120 70", "", "fifty-move rule"),
        ("4k/5/3K1/5/R4 w - - 99 60", "a1a5", "checkmate"),
        ("k4/5/1K3/2Q2/5 w - - 0 1", "c2c4", "stalemate"),
        ("k4/5/5/5/K3r w - - 0 1", "a1a2 e1e2 a2b3 e2b2 b3b2", "insufficient material"),
        ("kb3/5/5/5/KN3 w - - 0 1", "b1c3", None),
        ("k4/5/5/5/KN3 w - - 0 1", "", "insufficient material"),
        ("kbbB1/5/5/5/K4 w - - 0 1", "", None),
        ("kb1B1/5/5/5/K4 w - - 0 1", "", "insufficient material"),
        ("kn3/5/5/5/KN3 w - - 0 1", "", None),
        ("k4/5/5/4P/K4 w - - 0 1", "", None),
    ],
)
def test_how_minichess_ends(position: str, moves: str, ending: str | None) -> None:
    found, result = position_after("minichess", position, moves)
    assert found == ending and result in ((1.0,) if ending == "checkmate" else (None,) if ending is None else (0.0,))


def test_games_go_on_past_soft_endings() -> None:
    game = make("minishogi")
    state = game.parse_position(HUNT)
    for round_ in range(4):
        for move in ("2d3d", "3a2a", "3d2d", "2a3a"):
            legal = game.legal_actions(state, past_soft_endings=True)
            texts = {game.action_text(state, action): action for action in legal}
            state = game.play(state, texts[move])
        assert game.is_soft_ending(state) == (round_ >= 2)


@pytest.mark.parametrize(
    ("position", "pawn_drop", "is_legal"),
    [
        pytest.param("3pk/5/3GG/5/K4 b P 1", "P*1b", False, id="mate"),
        pytest.param("4k/5/3GG/5/K4 b P 1", "P*1b", True, id="the king steps aside"),
        pytest.param("3sk/5/3GG/5/K4 b P 1", "P*1b", True, id="the silver takes the pawn"),
        pytest.param("R2sk/5/3GG/5/K4 b P 1", "P*1b", False, id="the silver is pinned"),
        pytest.param("4k/5/4P/5/K4 b P 1", "P*1b", False, id="two pawns on a file"),
    ],
)
def test_pawn_drops(position: str, pawn_drop: str, is_legal: bool) -> None:
    game = make("minishogi")
    state = game.parse_position(position)
    texts = [game.action_text(state, action) for action in game.legal_actions(state)]
    assert (pawn_drop in texts) == is_legal


def test_a_pawn_must_promote_on_the_last_rank_and_a_silver_may() -> None:
    game = make("minishogi")
    state = game.parse_position("4k/PS3/5/5/K4 b - 1")
    texts = {game.action_text(state, action) for action in game.legal_actions(state)}
    assert "5b5a+" in texts and "5b5a" not in texts and {"4b4a", "4b4a+"} <= texts
    state = game.parse_position("1S2k/5/5/5/K4 b - 1")
    texts = {game.action_text(state, action) for action in game.legal_actions(state)}
    assert texts >= {"4a5b", "4a5b+"}, "out of the zone, too"


# ---- texts


MALFORMED = {
    "minishogi": {
        "rbsgk/4p/5/P4/KGSBR": "has 1 field, expected pieces, side to move, hands",
        "rbsgk/4p/5/P4 b - 1": "has 4 rows, expected 5",
        "rbsgk/5p/5/P4/KGSBR b - 1": "row 2, .5p., has 6 cells",
        "rbsgk/41/5/P4/KGSBR b - 1": "expected digits 1 to 5, no two side by side",
        "rbsgk/4n/5/P4/KGSBR b - 1": '"n" is not a piece, expected one of KGSBRPkgsbrp, . before some',
        "rbsgk/3+g1/5/P4/K1SBR b - 1": r'"\+g" is not a piece',
        "rbsgk/4p/5/P4/KGSBR x - 1": '"x" is to move, expected b or w',
        "rbsgk/4p/5/P4/KGSBR b - -1": '"-1" is the move',
        "rbsgk/4p/5/P4/KGSBR b - +1": r'"\+1" is the move',
        "rbsgk/4p/5/P4/KGSBR b P 1": "there are 3 of P, expected at most 2",
        "rbsgk/4p/5/P4/KGSBR b 3P 1": "hands .3P.: 3 of P, expected at most 2",
        "rbsgk/4p/5/P4/KGSBR b K 1": 'hands "K", at "K": expected letters of RBGSPrbgsp',
        "rbsgk/4p/5/P4/1GSBR b - 1": "Black has 0 kings",
        "P1sgk/4p/5/5/KGSBR b - 1": "Black's P on 5a could never move",
        "rbsgk/5/4p/4p/KGSB1 b - 1": "White has two pawns on file 1",
        "4k/4R/5/5/K4 b - 1": "White's king could be taken, and Black is to move",
        "3Kk/5/5/5/5 w - 1": "Black's king could be taken, and White is to move",
    },
    "minichess": {
        "rnbqk/ppppp/5/PPPPP/RNBQK w -": "has 3 fields",
        "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1 7": '"7" is one field too many',
        "rnbqk/ppppp/5/PPPPP/RNBQK b KQ - 0 1": 'castling is "KQ", expected -',
        "rnbqk/ppppp/5/PPPPP/RNBQK b - a3 0 1": 'en passant is "a3", expected -',
        "rnbqk/ppppp/5/PPPPP/RNBQK b - - -1 1": '"-1" is plies since a capture',
        "rnbqk/ppppp/6/PPPPP/RNBQK b - - 0 1": "expected digits 1 to 5",
        "rnbqk/ppppp/5/PPPPP/RNBQ1 b - - 0 1": "White has 0 kings",
        "rnbqk/ppppp/5/PPPP1/RNBKP b - - 0 1": "a pawn stands on the first or the last rank",
        "3Qk/5/5/5/K4 w - - 0 1": "Black's king could be taken, and White is to move",
    },
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in NAMES for text in MALFORMED[name]])
def test_a_malformed_position_is_named(name: str, text: str) -> None:
    with pytest.raises(GameError, match=MALFORMED[name][text]):
        make(name).parse_position(text)


@pytest.mark.parametrize("name", NAMES)
def test_mangled_texts_err_or_mean_a_position(name: str) -> None:
    """Never a panic, and what is read is written in the one way that is read to the same."""
    game, generator = make(name), random.Random(3)
    texts = [row.position for row in load_perft(name)]
    letters = "".join(texts) + "+09é\t"
    num_read = 0
    for _ in range(3000):
        text = list(generator.choice(texts))
        for _ in range(generator.randint(1, 4)):
            at, end = generator.randrange(len(text)), generator.choice((0, 1, 1, 4))
            text[at : at + end] = generator.choices(letters, k=generator.randrange(3))
        try:
            state = game.parse_position("".join(text))
        except GameError:
            continue
        num_read += 1
        written = game.position_text(state)
        assert written is not None and game.position_text(game.parse_position(written)) == written
        legal = game.legal_actions(state)
        for mangled in ("".join(text), "".join(text[:4]), written):
            action = game.parse_action(state, mangled)
            assert action is None or action in legal
    assert num_read > 50


def test_moves_are_read_as_people_write_them() -> None:
    game = make("minichess")
    state = game.parse_position("1r2k/P4/5/5/K1N1N w - - 0 1")
    for text, move in {
        "axb5=Q+": "a4b5q",
        "axb5=Q": "a4b5q",
        "ab5N": "a4b5n",
        "A4B5Q": "a4b5q",
        "Ncd3": "c1d3",
        "Ned3+": "e1d3",
        "Nb3!?": "c1b3",
        "a5=Q": "a4a5q",
    }.items():
        assert game.action_text(state, parse_action(game, state, text)) == move, text
    assert game.parse_action(state, "Nd3") is None and game.parse_action(state, "") is None
    assert [game.action_text(state, parse_action(game, state, move), "san") for move in ("c1d3", "a4b5q", "a4a5n")] == [
        "Ncd3+",
        "axb5=Q+",
        "a5=N",
    ]


def test_short_texts_of_positions_are_read() -> None:
    shogi, chess = make("minishogi"), make("minichess")
    assert shogi.position_text(shogi.parse_position("startpos")) == shogi.position_text(shogi.initial_state())
    assert shogi.position_text(shogi.parse_position("sfen 4k/5/5/5/K4 b - 3")) == "4k/5/5/5/K4 b - 3"
    assert shogi.position_text(shogi.parse_position("4k/5/5/5/K4 w GgP2b")) == "4k/5/5/5/K4 w GP2bg 1"
    assert chess.position_text(chess.parse_position("4k/4r/5/5/K4 b - -")) == "4k/4r/5/5/K4 b - - 0 1"


# ---- pictures


def test_boards_are_drawn() -> None:
    game = make("minishogi")
    state = state_after(game, "2e3d 1b1c 3d1b 1a1b")
    assert game.draw(state) == (
        "a  r b s g .\nb  . . . . k\nc  . . . . p\nd  P . . . .\ne  K G S . R\n   5 4 3 2 1\n"
        "White holds b\nBlack holds nothing\nBlack to move\n"
    )
    picture = game.picture(state)
    assert picture is not None and picture.last_move == [4, 9] and picture.cells[9] == (1, "k", "玉")
    game = make("minichess")
    state = state_after(game, "b1a3 b4a3")
    assert game.draw(state) == (
        "5  r n b q k\n4  p . p p p\n3  p . . . .\n2  P P P P P\n1  R . B Q K\n   a b c d e\nWhite to move\n"
    )
    picture = game.picture(state)
    assert picture is not None and picture.last_move == [6, 10] and picture.cells[10] == (1, "p", "♟")
    assert make("minichess").picture(game.initial_state()).last_move == []


# ---- planes and options


def test_planes_are_named_in_order() -> None:
    names = [plane.name for plane in make("minishogi").spec.planes]
    assert len(names) == 266 == len(set(names))
    assert names[:20:5] == ["own king", "own pawns", "opponent king", "opponent pawns"]
    assert names[20] == "1 if the position had occurred at least once before"
    assert names[23:33:5] == ["own golds in hand / 2", "opponent golds in hand / 2"]
    assert names[33 + 9] == "own promoted pawns, 1 ply ago"
    assert names[7 * 33 + 22] == "1 if the position had occurred at least three times before, 7 plies ago"
    assert names[-2:] == ["1 if White is to move", "plies since the game began / 300"]
    names = [plane.name for plane in make("minichess").spec.planes]
    assert len(names) == 115 == len(set(names))
    assert names[:3] == ["own pawns", "own knights", "own bishops"]
    assert names[14 + 12] == "1 if the position had occurred at least once before, 1 ply ago"
    assert names[-3:] == [
        "1 if Black is to move",
        "plies since the game began / 300",
        "plies since a capture or a pawn's move / 100",
    ]


@pytest.mark.parametrize(("name", "planes_a_frame"), [("minichess", 14), ("minishogi", 33)])
def test_a_shorter_history_leaves_the_older_planes_out(name: str, planes_a_frame: int) -> None:
    full, generator = make(name), random.Random(5)
    games = {history: make(f"{name}(history={history})") for history in (1, 3)}
    state, states = full.initial_state(), {history: game.initial_state() for history, game in games.items()}
    while legal := full.legal_actions(state):
        planes = full.planes(state)
        for history, game in games.items():
            kept = [*range(history * planes_a_frame), *range(8 * planes_a_frame, len(planes))]
            np.testing.assert_array_equal(game.planes(states[history]), planes[kept])
        action = generator.choice(legal)
        state = full.play(state, action)
        states = {history: game.play(states[history], action) for history, game in games.items()}
    ids = {game.spec.encoder_id for game in (full, *games.values(), make(f"{name}(max_plies=9)"))}
    assert len(ids) == 3, "a cap is not another encoding"


@pytest.mark.parametrize(
    ("name", "twin", "position"),
    [
        ("minichess", MinichessTwin, "1r2k/P4/5/5/K1N1N b - - 3 12"),
        ("minishogi", MinishogiTwin, "rbsgk/4p/5/P4/KGSBR b - 3"),
    ],
)
def test_what_stands_for_a_missing_history(name: str, twin: type[MinichessTwin | MinishogiTwin], position: str) -> None:
    for options, fill in (("", "repeat"), ("(history_fill=zero)", "zero")):
        game, generator = make(name + options), random.Random(6)
        state, other = game.parse_position(position), twin(position, history_fill=fill)
        for _ in range(9):
            np.testing.assert_array_equal(game.planes(state), other.planes())
            action = generator.choice(game.legal_actions(state))
            state = game.play(state, action)
            other.play(action)
        start = game.initial_state()
        again = game.parse_position(game.position_text(start) or "")
        np.testing.assert_array_equal(game.planes(again), game.planes(start), "nothing is before the true start")


def test_actions_are_planes_of_squares() -> None:
    for name, num_planes in (("minichess", 49), ("minishogi", 69)):
        spec = make(name).spec
        assert spec.has_action_planes and (spec.num_actions, spec.board_shape) == (num_planes * 25, (5, 5))


def test_the_twins_need_nothing_of_the_core() -> None:
    for name in ("mini_twin", "minichess_twin", "minishogi_twin"):
        found = importlib.util.find_spec(name)
        assert found is not None and found.origin is not None
        assert "zerosum" not in Path(found.origin).read_text(encoding="utf-8")

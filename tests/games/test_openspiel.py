"""OpenSpiel's games through the adapter: which are taken, what their planes hold, and that the program plays them."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from runs_for_tests import train_a_little
from zerosum.base.errors import GameError
from zerosum.games import check_game, make, openspiel, parse_action, state_after
from zerosum.games.names import GameName
from zerosum.games.rules import find_game
from zerosum.network.checkpoint import load_newest
from zerosum.play.player import load_player

GAMES = (
    "amazons",
    "breakthrough(rows=6, columns=5)",
    "checkers",
    "clobber",
    "connect_four",
    "dots_and_boxes",
    "go(board_size=5)",
    "havannah(board_size=4)",
    "hex(board_size=4, swap=True)",
    "mancala",
    "nim",
    "nine_mens_morris",
    "oware(max_plies=50)",
    "quoridor(board_size=5)",
    "tic_tac_toe",
    "ultimate_tic_tac_toe",
    "y(board_size=5)",
)


def test_without_the_package_a_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(
        GameError, match="openspiel:y needs the package open_spiel: install it with 'pip install open_spiel'"
    ):
        make("openspiel:y")


@pytest.mark.parametrize("name", GAMES)
def test_it_keeps_the_protocol(name: str) -> None:
    pytest.importorskip("pyspiel")
    game = find_game(GameName.parse(f"openspiel:{name}"))
    assert check_game(game, num_games=2).num_games == 2
    spec = make(f"openspiel:{name}").spec
    assert spec.full_name == f"openspiel:{name}" and make(spec.full_name).spec.encoder_id == spec.encoder_id


@pytest.mark.parametrize(
    ("ours", "theirs"), [("tictactoe", "tic_tac_toe"), ("connect4", "connect_four"), ("othello",) * 2]
)
def test_it_is_the_game_that_the_core_has(ours: str, theirs: str) -> None:
    pytest.importorskip("pyspiel")
    core, game, generator = make(ours), make(f"openspiel:{theirs}"), random.Random(1)
    for _ in range(10):
        state, seen = core.initial_state(), game.initial_state()
        while legal := core.legal_actions(state):
            assert game.legal_actions(seen) == legal and game.player(seen) == core.player(state)
            action = generator.choice(legal)
            state, seen = core.play(state, action), game.play(seen, action)
        assert game.outcome(seen) == core.outcome(state) is not None


def test_planes_are_openspiels_and_who_is_to_move() -> None:
    pytest.importorskip("pyspiel")
    game = make("openspiel:tic_tac_toe")
    assert game.spec.board_shape == (3, 3)
    assert [(plane.name, plane.is_constant) for plane in game.spec.planes] == [
        ("0 of OpenSpiel's observation", False),
        ("1 of OpenSpiel's observation", False),
        ("2 of OpenSpiel's observation", False),
        ("1 if the second player is to move", True),
    ]
    planes = game.planes(state_after(game, "x(1,1)"))
    np.testing.assert_array_equal(planes[0] + planes[1] + planes[2], np.ones((3, 3)))  # empty, O, X
    assert planes[:3, 1, 1].tolist() == [0, 0, 1] and (planes[3] == 1).all()
    # A number everywhere in some planes of chess, and zeros and ones in the others.
    kinds = [plane.is_constant for plane in make("openspiel:chess").spec.planes]
    assert True in kinds[:-1] and False in kinds


def test_counts_are_numbers_of_a_board_of_one_square() -> None:
    pytest.importorskip("pyspiel")
    game = make("openspiel:mancala")
    assert game.spec.board_shape == (1, 1) and all(plane.is_constant for plane in game.spec.planes)
    numbers = game.planes(game.initial_state())[:, 0, 0].tolist()
    assert sum(numbers[:-1]) == 12 * 4 and numbers.count(4) == 12, "four stones in each of twelve pits"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("havanah", "OpenSpiel has no game 'havanah': did you mean 'havannah'"),
        ("", "OpenSpiel has no game ''"),
        ("y(", "openspiel:y\\( lacks its closing bracket"),
        (
            "y(size=5)",
            "OpenSpiel cannot make 'y\\(size=5\\)': .*Parameters of y: ansi_color_output, board_size, max_plies",
        ),
        ("y(board_size=5.5.5)", "OpenSpiel cannot make"),
        ("havannah(board_size=0)", "OpenSpiel cannot make 'havannah.board_size=0.'"),
        ("go(board_size=-3)", "OpenSpiel cannot make 'go.board_size=-3.': unsupported board size"),
        ("y(board_size=5, board_size=6)", "y.board_size=5, board_size=6.: board_size given twice"),
        ("y(max_plies=0)", "'max_plies=0' is not a ply cap, expected a number from 1 to 65535"),
        ("y(max_plies=many)", "'max_plies=many' is not a ply cap"),
        ("quoridor(players=3)", "openspiel:quoridor cannot be played here: it has 3 players, expected 2"),
        ("matrix_rps", "its players move at the same time"),
        ("backgammon", "chance moves in it"),
        ("dark_hex", "its players do not see everything"),
        ("havannah(board_size=200)", "havannah has .* actions, at most 65535 can be numbered"),
    ],
)
def test_what_cannot_be_played_is_refused_by_its_property(name: str, message: str) -> None:
    pytest.importorskip("pyspiel")
    with pytest.raises(GameError, match=message):
        make(f"openspiel:{name}")


def test_other_properties_are_held_too() -> None:
    """No game of OpenSpiel lacks only these: one that says so of itself does."""
    pyspiel = pytest.importorskip("pyspiel")
    kinds = pyspiel.load_game("tic_tac_toe").get_type()

    class Told:
        def __init__(self, **lacks: object) -> None:
            self.type = type("Type", (), {name: getattr(kinds, name) for name in dir(kinds) if name[0] != "_"} | lacks)

        def get_type(self) -> object:
            return self.type

        def num_players(self) -> int:
            return 2

        def num_distinct_actions(self) -> int:
            return 70_000

    general = pyspiel.GameType.Utility.GENERAL_SUM
    for lacks, message in (
        ({"utility": general}, "it is not zero-sum"),
        ({"provides_observation_tensor": False}, "it has no observation tensor"),
        ({}, "openspiel:told has 70000 actions, at most 65535"),
    ):
        with pytest.raises(GameError, match=message):
            openspiel._require_properties(pyspiel, Told(**lacks), "told")


def test_long_games_are_capped_and_returns_are_scaled() -> None:
    pytest.importorskip("pyspiel")
    assert make("openspiel:chess").spec.max_plies == 512 and make("openspiel:tic_tac_toe").spec.max_plies == 9
    game = make("openspiel:tic_tac_toe(max_plies=2)")
    state = state_after(game, "x(0,0) o(0,1)")
    assert game.outcome(state) == 0 and game.is_soft_ending(state)
    with pytest.raises(GameError, match=r"'x\(9,9\)' is not a legal move here"):
        parse_action(game, game.initial_state(), "x(9,9)")


def test_it_learns(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel")
    train_a_little("openspiel:havannah(board_size=3)", tmp_path)
    checkpoint, damage = load_newest(tmp_path / "checkpoints")
    assert checkpoint is not None and checkpoint.info.step == 2 and not damage
    alone = shutil.copytree(tmp_path / "checkpoints", tmp_path / "alone")
    assert load_player(alone).game.spec.name == "openspiel:havannah(board_size=3)", "a network brings its game along"

"""Networks of the same rules with other planes: the games that they play, and their matches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from networks_for_tests import save_network
from zerosum._core import Leaves
from zerosum.arena import play_match
from zerosum.base.errors import DataError
from zerosum.contest.clock import TimeControl
from zerosum.contest.mover import Terms
from zerosum.games import Rules, make
from zerosum.network.checkpoint import read_info
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.network.fit import fits, rules_for
from zerosum.play.choice import Players, open_player
from zerosum.play.contestant import SearchContestant
from zerosum.play.own_contestants import parse_player
from zerosum.play.player import load_player
from zerosum.play.runs import newest_run
from zerosum.search import SearchConfig

USUAL = make("go(size=5, max_plies=20)")
LIBERTIES = make("go(size=5, max_plies=20, history=2, liberties=3)")


@pytest.mark.parametrize(
    ("learned", "played", "own"),
    [
        ("go(size=5)", "go(size=5, komi=1)", "go(size=5, komi=1)"),
        ("go(size=5, liberties=3)", "go(size=5, komi=1)", "go(size=5, komi=1, liberties=3)"),
        ("go(size=5)", "go(size=5, history=2, liberties=3)", "go(size=5)"),
        ("chess(history=1)", "chess(max_plies=99)", "chess(history=1, max_plies=99)"),
        ("chess(history=1)", "chess960", ""),  # the castling planes differ
        ("go(size=5, liberties=3)", "go(size=7)", ""),
        ("chess(policy=flat)", "chess", ""),
        ("connect4", "tictactoe", ""),
    ],
)
def test_a_network_plays_the_same_rules_with_its_own_planes(
    tmp_path: Path, learned: str, played: str, own: str
) -> None:
    info = read_info(save_network(tmp_path, make(learned)))
    game = make(played)
    assert fits(info, game) == bool(own)
    assert rules_for(info, game).spec.full_name == (own or game.spec.full_name)


class PlaneCounter(UniformEvaluator):
    """Compares the planes that arrive with those of a game."""

    def __init__(self, game: Rules) -> None:
        self.shape = (len(game.spec.planes), *game.spec.board_shape)
        self.num_with_stones = 0

    def evaluate(self, leaves: Leaves) -> Evaluations:
        planes = leaves.planes()
        assert planes.shape[1:] == self.shape
        if self.shape[0] == len(LIBERTIES.spec.planes):
            stones, few = planes[:, 0] + planes[:, 1], planes[:, 4:7].sum(axis=1)
            assert np.all(few <= stones)
            self.num_with_stones += int(few.sum())
        return super().evaluate(leaves)


@pytest.mark.parametrize("terms", [Terms(), Terms(TimeControl.parse("st=9"), nodes=8)], ids=["nodes", "clock"])
def test_each_player_of_a_match_sees_its_own_planes(terms: Terms) -> None:
    config = SearchConfig(num_simulations=8)
    usual = SearchContestant("usual", PlaneCounter(USUAL), config, terms=terms)
    other = PlaneCounter(LIBERTIES)
    own = SearchContestant("liberties", other, config, terms=terms, planes_of=LIBERTIES)
    result = play_match(USUAL, usual, own, num_games=2, opening_plies=2, seed=1)
    assert len(result.games) == 2 and not any(game.has_failure for game in result.games)
    assert other.num_with_stones > 0
    # Both evaluators know nothing, so the same moves follow from either planes.
    again = play_match(USUAL, usual, replace(usual, name="again"), num_games=2, opening_plies=2, seed=1)
    assert [game.actions for game in again.games] == [game.actions for game in result.games]


def test_a_run_with_other_planes_plays_the_game(tmp_path: Path) -> None:
    run = tmp_path / "liberties"
    path = save_network(run / "checkpoints", LIBERTIES)
    assert newest_run(USUAL, runs=tmp_path) == run
    assert parse_player(str(path), USUAL).player(USUAL).game.spec.full_name == LIBERTIES.spec.full_name
    player = load_player(run, game=USUAL, backend="torch")
    state = USUAL.parse_position("XXO2/O3O/3XX/1O3/5 X")
    assert player.analyse(state, num_simulations=8).num_simulations == 8
    opened = open_player("go(size=5, komi=3)", runs=tmp_path)
    assert opened.game.spec.full_name == "go(size=5, komi=3, history=2, liberties=3)"
    players = Players(str(run))
    one, two = players.of(USUAL), players.of(make("go(size=5, komi=3)"))
    assert one.evaluator is two.evaluator
    with pytest.raises(DataError, match=r"does not fit go\(size=7\)"):
        load_player(path, game="go(size=7)")

"""The ownership head in NumPy, and what players and protocols say of it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from networks_for_tests import SMALL, make_checkpoint, make_info, make_leaves, save_network
from zerosum.analysis import go_score
from zerosum.analysis.server import AnalysisServer
from zerosum.games import Rules, make, state_after
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights
from zerosum.network.checkpoint import save_checkpoint
from zerosum.network.evaluators.ownership import OwnershipNetwork, has_ownership
from zerosum.network.residual_tower import ResidualTower
from zerosum.play.choice import Players
from zerosum.play.player import Player, load_player
from zerosum.protocols.gtp import GtpEngine

OWNERSHIP = dataclasses.replace(SMALL, ownership_head=True)
GAME = "go(size=5, komi=0.5)"


@pytest.mark.parametrize(
    "network",
    [
        OWNERSHIP,
        dataclasses.replace(OWNERSHIP, num_filters=16, policy_head="planes"),
        dataclasses.replace(OWNERSHIP, pooling_interval=2),
    ],
)
def test_numpy_says_what_torch_says(network: Any) -> None:
    checkpoint = make_checkpoint(make_info(network, num_actions=42, board_shape=(6, 7)))
    planes = make_leaves(checkpoint.info, 9).planes()
    tower = ResidualTower(network, checkpoint.info.shape, checkpoint.weights).train()
    for layer in tower.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.eval()
    with torch.no_grad():
        expected = tower(torch.from_numpy(planes)).logits["ownership"].sigmoid().numpy() * 2 - 1
    found = OwnershipNetwork(checkpoint).owners(planes)
    assert found.shape == (9, 42) and np.ptp(found) > 0.01
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.fixture
def stones_stay(tmp_path: Path) -> Player:
    """A player whose network thinks that each stone's point is its own, and all others nobody's."""
    game = make(GAME)
    info = CheckpointInfo.describe(game.spec, OWNERSHIP, step=7)
    weights = initial_weights(OWNERSHIP, info.shape, seed=0)
    weights["stem.conv.weight"][:] = 0
    weights["ownership_conv.conv.weight"][:] = 0
    planes = [name for name, _ in info.planes]
    for filter_, (plane, logit) in enumerate((("own stones", 9), ("opponent stones", -9))):
        weights["stem.conv.weight"][filter_, planes.index(plane), 1, 1] = 1
        weights["ownership_conv.conv.weight"][filter_, filter_] = 1
        weights["ownership_out.weight"][0, filter_] = logit
    save_checkpoint(tmp_path, Checkpoint(info, weights), learner_state={}, learner_info={})
    return load_player(tmp_path)


@pytest.mark.parametrize("moves", ["B1", "B1 D5", "B1 D5 E5"])
def test_a_player_tells_the_owners_from_the_first_players_side(stones_stay: Player, moves: str) -> None:
    game = stones_stay.game
    expected = np.zeros((5, 5))
    for ply, move in enumerate(moves.split()):
        expected[5 - int(move[1]), "ABCDE".index(move[0])] = 1 if ply % 2 == 0 else -1
    assert stones_stay.knows_owners
    found = stones_stay.ownership(state_after(game, moves), num_games=0)
    assert found is not None
    np.testing.assert_allclose(found.reshape(5, 5), expected, atol=0.01)


def test_other_players_play_random_games_and_a_game_that_is_over_has_its_owners(
    stones_stay: Player, tmp_path: Path
) -> None:
    game = stones_stay.game
    state = state_after(game, "B1 D5")
    without = load_player(save_network(tmp_path / "without", game))
    assert not without.knows_owners
    found, random = without.ownership(state, num_games=50), game.ownership(state, 50, 0)
    assert found is not None and random is not None and found.tolist() == random.tolist()
    for num_games in (0, 1):
        over = stones_stay.ownership(state_after(game, "C3 pass pass"), num_games=num_games)
        assert over is not None and over.tolist() == [1.0] * 25, "all of the board is Black's"
    chess = load_player(save_network(tmp_path / "chess", make("chess")))
    assert chess.ownership(chess.game.initial_state(), num_games=1) is None
    other_komi = make("go(size=5, komi=3.5)")
    assert stones_stay.with_rules(other_komi).knows_owners


class OnlyPlayer(Players):
    """The same player for every game."""

    def __init__(self, player: Player) -> None:
        super().__init__()
        self.player = player

    def of(self, game: Rules) -> Player:
        return self.player.with_rules(game)


def test_the_analysis_engine_has_the_networks_owners_and_lead(stones_stay: Player) -> None:
    said: list[dict[str, Any]] = []
    server = AnalysisServer(
        OnlyPlayer(stones_stay), write=lambda line: said.append(json.loads(line)), default_game=None, parallel=1
    )
    query = {
        **{"id": "q", "rules": "tromp-taylor", "komi": 0.5, "boardXSize": 5, "boardYSize": 5, "maxVisits": 30},
        **{"moves": [["B", "B1"], ["W", "D5"], ["B", "E5"]], "includeOwnership": True, "includeMovesOwnership": True},
    }
    server.receive(json.dumps(query))
    server.finish()
    found = said[-1]
    assert found["ownership"][4 * 5 + 1] > 0.99 and found["ownership"][3] < -0.99 and abs(found["ownership"][12]) < 0.01
    assert found["rootInfo"]["scoreLead"] == pytest.approx(2 - 1 - 0.5, abs=0.01), "stones less komi, for Black"
    for move in found["moveInfos"]:
        point = 25 if move["move"] == "pass" else (5 - int(move["move"][1])) * 5 + "ABCDE".index(move["move"][0])
        if point < 25:
            assert move["ownership"][point] < -0.99, "White's move"
        same = go_score.lead(2 * move["winrate"] - 1, 5) - go_score.lead(2 * found["rootInfo"]["winrate"] - 1, 5)
        assert move["scoreLead"] - found["rootInfo"]["scoreLead"] == pytest.approx(same, abs=1e-3)


def test_kata_analyze_has_the_networks_owners_and_lead_for_the_player_to_move(stones_stay: Player) -> None:
    written: list[str] = []
    engine = GtpEngine(make(GAME), stones_stay.with_rules, write=written.append, warn=written.append)
    for line in (
        "komi 0.5",
        "play b B1",
        "play w D5",
        "play b E5",
        "kata-search_analyze w rootInfo true ownership true",
    ):
        engine.handle(line)
    engine.rest()
    [line] = [line for line in "".join(written).splitlines() if " ownership " in line][-1:]
    owners = np.array([float(word) for word in line.split(" ownership ")[1].split()])
    assert owners.shape == (25,) and owners[4 * 5 + 1] < -0.99 and owners[3] > 0.99
    root = line.split("rootInfo ")[1].split()
    assert float(root[root.index("scoreLead") + 1]) == pytest.approx(0.5 + 1 - 2, abs=0.01), (
        "komi and stones, for White"
    )


def test_a_network_without_the_head_has_no_ownership() -> None:
    checkpoint = make_checkpoint(make_info(SMALL))
    assert not has_ownership(checkpoint)
    with pytest.raises(AssertionError, match="no ownership head"):
        OwnershipNetwork(checkpoint)

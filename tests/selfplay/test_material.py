"""Material in self-play's searches: the value of a leaf, by a slow formula, and the stages that take it away."""

import itertools
import math
import random

import numpy as np
import pytest

from zerosum.base.errors import SettingsError
from zerosum.evaluators import Evaluations
from zerosum.games import make
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig
from zerosum.selfplay.material import MaterialEvaluator, material_stages, seeing_material
from zerosum.selfplay.worker import MemoryLog, SelfplayTask, SelfplayWorker


class Given:
    """An evaluator with one value for all positions."""

    def __init__(self, value: float, wdl: tuple[float, float, float] | None = None) -> None:
        self.value, self.wdl = value, wdl

    def evaluate(self, leaves):
        size = len(leaves)
        logits = np.arange(leaves.legal_offsets[-1], dtype=np.float32)
        wdl = None if self.wdl is None else np.array([self.wdl] * size, np.float32)
        return Evaluations(leaves, logits, np.full(size, self.value, np.float32), wdl)


def positions(name: str, number: int):
    """Positions of random games that are not over, with both sides to move."""
    game, draw, states = make(name), random.Random(3), []
    while len(states) < number:
        state = game.initial_state()
        for _ in range(draw.randrange(40)):
            state = game.play(state, draw.choice(game.legal_actions(state)))
            if game.outcome(state) is not None:
                break
        else:
            states.append(state)
    return game, states


@pytest.mark.parametrize("name", ["chess", "shogi", "minishogi", "breakthrough"])
def test_a_leafs_material_is_its_movers(name: str):
    game, states = positions(name, 60)
    of_mover = [game.material(state) * (1 if game.player(state) == 0 else -1) for state in states]
    assert game.encode(states).material().tolist() == pytest.approx(of_mover)
    assert min(of_mover) < 0 < max(of_mover)


def test_the_value_is_a_mean_of_the_networks_and_the_materials():
    game, states = positions("chess", 40)
    leaves = game.encode(states)
    for weight in (0.25, 1.0):
        said = MaterialEvaluator(Given(0.5, (0.6, 0.3, 0.1)), lambda weight=weight: weight).evaluate(leaves)
        for index, material in enumerate(leaves.material().tolist()):
            advantage = math.tanh(material / 5)
            assert said.values[index] == pytest.approx((1 - weight) * 0.5 + weight * advantage, abs=1e-6)
        assert said.wdl is not None
        assert said.wdl.sum(axis=1) == pytest.approx(np.ones(40), abs=1e-6)
        assert said.wdl[:, 0] - said.wdl[:, 2] == pytest.approx(said.values, abs=1e-6)
        assert said.logits.tolist() == Given(0.0).evaluate(leaves).logits.tolist()


def test_without_weight_the_answers_are_the_networks():
    game, states = positions("chess", 5)
    leaves, network = game.encode(states), Given(0.25)
    assert MaterialEvaluator(network, lambda: 0.0).evaluate(leaves).values.tolist() == [0.25] * 5
    assert seeing_material(network, "", lambda: 0.0) is network


def test_the_weight_is_that_of_the_stage_of_the_network_that_plays():
    game = make("chess")
    queen_up = game.encode([game.parse_position("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")])
    networks = iter((0.0, 0.49, 0.5, 0.75, 1.0))
    evaluator = seeing_material(Given(0.0), "0.8@0, 0.4@0.5, 0@0.75", lambda: next(networks))
    values = [float(evaluator.evaluate(queen_up).values[0]) for _ in range(5)]
    full = math.tanh(9 / 5)
    assert values == pytest.approx([0.8 * full, 0.8 * full, 0.4 * full, 0, 0], abs=1e-6)


def test_self_play_searches_with_it():
    """The searched value of a game's positions follows material, which an evaluator without opinion does not know."""
    records = []
    for material in ("", "1@0"):
        config = SelfplayConfig(games_per_worker=8, material=material, full_search_share=1.0, opening_share=0.0)
        task = SelfplayTask(
            game=make("minichess(max_plies=40)"),
            search=SearchConfig(num_simulations=6, root_noise_alpha=1.0),
            config=config,
            evaluator=Given(0.0),
            log=MemoryLog(),
            seed=7,
            settings_hash="",
            game_ids=itertools.count(),
        )
        worker, games = SelfplayWorker(task), []
        worker.play_until(lambda games=games: len(games) >= 8, games.append)
        records.append(np.concatenate([game.plies["search_value"] for game in games]))
    assert np.abs(records[0]).mean() < np.abs(records[1]).mean() / 3


@pytest.mark.parametrize(
    ("stages", "error"),
    [
        ("2@0", r"selfplay.material: '2' is not a weight from 0 to 1"),
        ("much@0", r"selfplay.material: 'much' is not a weight"),
        ("0.5", r"selfplay.material: '0.5' has no '@'"),
        ("0.5@0.1", r"the first stage, '0.5@0.1', begins at 0.1, expected 0"),
        ("0.5@0, 0.2@0", r"does not begin after the one before it"),
    ],
)
def test_stages_that_cannot_be_read_are_refused(stages: str, error: str):
    with pytest.raises(SettingsError, match=error):
        SelfplayConfig(material=stages)
    with pytest.raises(SettingsError, match=error):
        material_stages(stages)

"""Networks of Go that fit boards of all sizes: a smaller board in larger planes, and descriptions for each board."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from networks_for_tests import F32_TOLERANCE, SMALL, with_opinions
from zerosum.arena.plan import MatchPlan, MatchSettings
from zerosum.arena.session import play_session
from zerosum.base.errors import DataError, SettingsError
from zerosum.contest.adjudication import ResignRule
from zerosum.games import Rules, State, make
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights
from zerosum.network.any_size import described_for, for_game, learned_name, plays_all_sizes, untrained_words
from zerosum.network.checkpoint import checkpoint_path, save_checkpoint
from zerosum.network.evaluators import EvaluatorConfig, make_evaluator
from zerosum.network.evaluators.onnx_graph import export
from zerosum.network.evaluators.openvino_requests import openvino_core
from zerosum.network.evaluators.ownership import OwnershipNetwork
from zerosum.network.fit import fits, rules_for
from zerosum.network.heads import KOMI_PLANE, POINTS_SCALE, points_of
from zerosum.network.part_of_planes import BOARD_PLANE
from zerosum.network.residual_tower import ResidualTower
from zerosum.play.entries import Entry, enter
from zerosum.play.player import Player, load_player
from zerosum.protocols.gtp import GtpEngine

ANY_SIZE = dataclasses.replace(
    SMALL,
    num_filters=16,
    policy_head="planes",
    value_pooling=True,
    pooling_interval=1,
    squeeze_units=4,
    ownership_head=True,
    score_head=True,
)
MIXED = "mixedgo(sizes=5-7-9, komi_spread=1, history=2)"


def a_network(game: str = MIXED, *, seed: int = 3) -> Checkpoint:
    info = CheckpointInfo.describe(make(game).spec, ANY_SIZE, step=9)
    return with_opinions(Checkpoint(info, initial_weights(ANY_SIZE, info.shape, seed=seed)), seed=seed)


def a_position(start: int, plies: int, *, seed: int = 0) -> tuple[Rules, State, Rules, State]:
    """A position of `MIXED`, and the same of Go on its board."""
    mixed, generator = make(MIXED), random.Random(f"{seed} {start}")
    state = mixed.start(start)
    size, komi = (mixed.position_text(state) or "").split()[:2]
    alone = make(f"go({size}, {komi}, planes=sized, history=2, liberties=3)")
    own = alone.initial_state()
    for _ in range(plies):
        action = generator.choice(mixed.legal_actions(state)[:-1])
        own = alone.play(own, alone.parse_action(own, mixed.action_text(state, action)))
        state = mixed.play(state, action)
    return mixed, state, alone, own


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_a_board_in_larger_planes_is_evaluated_as_alone(backend: str) -> None:
    network = a_network()
    config = EvaluatorConfig(backend, precision="f32")
    evaluator = make_evaluator(network, config, batch_size=4, num_threads=1)
    for start in (0, 4, 7, 14):
        mixed, state, alone, own = a_position(start, plies=9)
        own_network = for_game(network, alone)
        found = evaluator.evaluate(mixed.encode([state]))
        expected = make_evaluator(own_network, config, batch_size=4, num_threads=1).evaluate(alone.encode([own]))
        spread = max(1.0, float(np.std(expected.logits)))
        assert np.ptp(expected.logits) > 0.01
        np.testing.assert_allclose(found.logits, expected.logits, atol=2 * F32_TOLERANCE * spread)
        np.testing.assert_allclose(found.values, expected.values, atol=F32_TOLERANCE)
        heads = OwnershipNetwork(network), OwnershipNetwork(own_network)
        in_planes, by_itself = mixed.encode([state]).planes(), alone.encode([own]).planes()
        points = heads[0].points(in_planes), heads[1].points(by_itself)
        assert points[0].mean == pytest.approx(points[1].mean, abs=1e-3) and points[0].deviation > 1
        margin = (9 - alone.spec.board_shape[0]) // 2
        inside = slice(margin, 9 - margin)
        owners = heads[0].owners(in_planes).reshape(9, 9)[inside, inside]
        np.testing.assert_allclose(owners.ravel(), heads[1].owners(by_itself)[0], atol=1e-4)


def test_the_score_in_numpy_is_that_of_torch() -> None:
    network = a_network()
    tower = ResidualTower(network.info.network, network.info.shape, network.weights).train()  # all heads
    for layer in tower.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.eval()
    mixed = make(MIXED)
    komi = [plane.name for plane in mixed.spec.planes].index(KOMI_PLANE)
    for start in (0, 7, 14):
        _, state, _, _ = a_position(start, plies=9)
        planes = mixed.encode([state]).planes()
        with torch.no_grad():
            mean, deviation = points_of(tower(torch.from_numpy(planes)).logits["points"])
        found = OwnershipNetwork(network).points(planes)
        expected = POINTS_SCALE * (float(mean) + float(planes[0, komi, 4, 4]))
        assert found.mean == pytest.approx(expected, abs=1e-3) and abs(found.mean) > 0.01
        assert found.deviation == pytest.approx(POINTS_SCALE * float(deviation), rel=1e-4)


def test_onnx_says_the_same_on_a_smaller_board(tmp_path: Path) -> None:
    pytest.importorskip("openvino")
    network, file = a_network(), tmp_path / "net.onnx"
    export(network, file)
    core = openvino_core()
    model = core.compile_model(core.read_model(file), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    evaluator = make_evaluator(network, EvaluatorConfig("torch", precision="f32"), batch_size=4, num_threads=1)
    mixed, state, _, _ = a_position(0, plies=6)
    leaves = mixed.encode([state])
    found, expected = model(leaves.planes()), evaluator.evaluate(leaves)
    np.testing.assert_allclose(found["policy_logits"][0][leaves.legal_actions], expected.logits, atol=1e-4)


def test_a_network_is_described_for_the_board_that_is_played() -> None:
    info = a_network().info
    assert plays_all_sizes(info) and info.planes[0] == (BOARD_PLANE, False)
    for name in ("go9", "go13", "go(size=6, komi=3)"):
        game = make(name)
        own = described_for(info, game)
        assert own.board_shape == game.spec.board_shape and own.planes[0] == (BOARD_PLANE, True)
        assert learned_name(own) == info.full_name and fits(info, game)
        assert rules_for(own, game).spec.encoder_id == own.encoder_id
        assert described_for(own, make("go(size=8)")).board_shape == (8, 8), "and again for another board"
    assert described_for(info, make(MIXED)) is info and described_for(info, None) is info
    for other in ("chess", "gomoku"):
        assert described_for(info, make(other)) is info and not fits(info, make(other))


def test_a_network_of_one_board_fits_others_only_without_weights_of_squares() -> None:
    dense, with_squares = (
        dataclasses.replace(ANY_SIZE, policy_head="dense"),
        dataclasses.replace(ANY_SIZE, value_pooling=False),
    )
    for config in (dense, with_squares):
        info = CheckpointInfo.describe(make("go(size=9, planes=sized)").spec, config, step=1)
        assert not plays_all_sizes(info) and not fits(info, make("go13")) and fits(info, make("go9"))
    info = CheckpointInfo.describe(make("go(size=9, planes=sized)").spec, ANY_SIZE, step=1)
    assert fits(info, make("go13"))


@pytest.mark.parametrize(
    ("learned", "played", "words"),
    [
        (MIXED, "go9", ""),
        (MIXED, "go(size=9, komi=8)", ""),
        (MIXED, "go13", "has not learned boards of 13x13: what it says there is a guess"),
        (MIXED, "go(size=9, komi=9)", "has not learned a komi of 9: what it says there is a guess"),
        (
            MIXED,
            "go(size=11, rules=japanese)",
            "has not learned boards of 11x11 and territory scoring: what it says there is a guess",
        ),
        ("go(size=9, planes=sized)", "go9", ""),
        (
            "go(size=9, planes=sized)",
            "go(size=7, komi=9)",
            "has not learned boards of 7x7 and a komi of 9: what it says there is a guess",
        ),
    ],
)
def test_what_was_not_learned_is_said(learned: str, played: str, words: str) -> None:
    game = make(played)
    assert untrained_words(described_for(a_network(learned).info, game), game) == words


def test_a_player_plays_any_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_checkpoint(tmp_path, a_network(), learner_state={}, learner_info={})
    path = checkpoint_path(tmp_path, 9)
    assert load_player(path).game.spec.board_shape == (9, 9), "the largest board"
    assert capsys.readouterr().err == ""
    player = load_player(path, game="go(size=6, komi=7)", num_simulations=8)
    assert "has not learned boards of 6x6: what it says there is a guess" in capsys.readouterr().err
    state = player.game.initial_state()
    assert player.analyse(state).visits and player.points(state) is not None
    with pytest.raises(DataError, match="does not fit"):
        load_player(path, game="gomoku")


def test_a_match_says_what_was_not_learned(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, a_network(), learner_state={}, learner_info={})
    entry, said = Entry.parse(f"{checkpoint_path(tmp_path, 9)}@2", []), list[str]()
    enter(entry, make("go9"), say=said.append)
    assert said == []
    enter(entry, make("go(size=6)"), say=said.append)
    assert said == [f"{entry.word} has not learned boards of 6x6: what it says there is a guess."]


def test_a_match_is_adjudicated_by_the_score(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, a_network(), learner_state={}, learner_info={})
    word, game = f"{checkpoint_path(tmp_path, 9)}@2", make("go(size=7, komi=3.5)")
    rule = "lead=0 movecount=2 twosided=true"
    for clock in ([], ["st=0.01", "timemargin=2000"]):
        players = [enter(Entry.parse(word, [f"resign={rule}", f"name={name}", *clock]), game) for name in "ab"]
        plan = MatchPlan(game, tuple(players), MatchSettings(num_games=2, opening_plies=2, seed=3))
        for played in play_session(plan).result.games:
            assert played.ending == "resignation" and played.notes == (f"Adjudicated: {ResignRule.parse(rule)}.",)
            scores = [thought.score for thought in played.thoughts if thought.score]
            assert all(score.lead is not None for score in scores if score.mate is None), "each move has a lead"
            assert len({score.lead for score in scores}) > 9
    with pytest.raises(SettingsError, match=r"resigns by 20 points behind or more, but has no network"):
        enter(Entry.parse("rollouts@4", ["resign=lead=20"]), game)


def test_a_score_head_needs_komi() -> None:
    info = CheckpointInfo.describe(make("go9").spec, ANY_SIZE, step=1)
    with pytest.raises(SettingsError, match=r"network\.score_head is true, but the network does not see the komi"):
        initial_weights(ANY_SIZE, info.shape, seed=0)


def test_a_gtp_engine_changes_its_board(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "checkpoints", a_network(), learner_state={}, learner_info={})
    written: list[str] = []

    def choose(game: Rules) -> Player:
        return load_player(tmp_path, game=game, num_simulations=4)

    engine = GtpEngine(make("go9"), choose, write=written.append, warn=written.append)
    for line in ("boardsize 7", "komi 6.5", "kata-raw-nn 0", "genmove b", "boardsize 5", "genmove w", "quit"):
        engine.handle(line)
    text = "".join(written)
    assert "?" not in text and "noResult 0.000000" in text
    (lead,) = (float(line.split()[1]) for line in text.splitlines() if line.startswith("whiteLead"))
    player = load_player(tmp_path, game="go(size=7, komi=6.5)")
    points = player.points(player.game.initial_state())
    assert points is not None and lead == pytest.approx(-points.lead, abs=1e-3)
    assert text.count("whiteOwnership") == 1

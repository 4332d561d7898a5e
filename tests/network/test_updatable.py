"""Updatable networks: features by planes, the core's whole numbers against two slow twins, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from updatable_for_tests import chess, counting_updatable, random_updatable, saved
from zerosum._core import UpdatableNetwork
from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.games import make, state_after
from zerosum.network import Checkpoint, NetworkConfig, NetworkShape, initial_weights, load_checkpoint
from zerosum.network.board_lines import BoardLines
from zerosum.network.evaluators import make_evaluator
from zerosum.network.evaluators.onnx_graph import onnx_model
from zerosum.network.evaluators.updatable import UpdatableEvaluator, expected_result
from zerosum.network.own_network import network_module
from zerosum.network.piece_planes import VIEWS as VIEWS_OF_OPPONENT
from zerosum.network.piece_planes import PiecePlanes, seen_by_opponent
from zerosum.network.updatable import features_of, input_weights, lines_of, opponent_view, piece_values, value_of

VIEWS = {
    "breakthrough": "flipped",
    "chess(history=1)": "flipped",
    "chess960": "flipped",
    "connect4": "same",
    "go(size=5, history=1)": "same",
    "gomoku(size=7)": "same",
    "hex(size=5)": "transposed",
    "minichess(history=1)": "flipped",
    "minishogi(history=1)": "turned",
    "othello": "same",
    "shogi": "turned",
    "tictactoe": "same",
}


def positions(name: str, num: int) -> tuple:
    game, random = make(name), np.random.default_rng(7)
    states = []
    state = game.initial_state()
    while len(states) < num:
        states.append(state)
        legal = game.legal_actions(state)
        state = game.play(state, legal[int(random.integers(len(legal)))])
        if game.outcome(state) is not None:
            state = game.initial_state()
    return game, states


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("length", [0, 3])
def test_the_core_the_learner_and_a_readable_twin_agree(name: str, length: int) -> None:
    game, states = positions(name, 40)
    assert opponent_view(game) == VIEWS[name]
    checkpoint = random_updatable(game, lines=length)
    info, leaves = checkpoint.info, game.encode(states)
    module = network_module(info.network, info.shape, checkpoint.weights)
    module.eval()
    with torch.no_grad():
        learned = module(torch.from_numpy(leaves.planes())).logits["value"][:, 0].numpy()
    planes, turned = PiecePlanes.of(info.planes), seen_by_opponent(info.network.opponent_view, info.board_shape)
    weights = {**checkpoint.weights, "input.weight": input_weights(checkpoint.weights, planes, len(turned))}
    features = [features_of(planes, turned, game, state)[:2] for state in states]
    lines = lines_of(info.network, info.board_shape)
    sides = [np.stack(side) for side in zip(*features, strict=True)]
    twin = value_of(*sides, weights, lines)
    if length:
        without = {**weights, "lines.weight": np.zeros_like(weights["lines.weight"])}
        assert np.abs(value_of(*sides, without, lines) - twin).max() > 0.05
    np.testing.assert_allclose(learned, twin, atol=1e-5)
    # In centipawns, 800 to a unit: the rounding of some forty weights to 1/255, and of the last layer to 1/64.
    core = UpdatableEvaluator(checkpoint, game).network.evaluations(leaves)
    np.testing.assert_allclose(core / 800, twin, atol=0.15)
    assert np.corrcoef(core, twin)[0, 1] > 0.99


def test_features_are_those_of_the_position() -> None:
    game = chess()
    planes, turned = (
        PiecePlanes.of([(plane.name, plane.is_constant) for plane in game.spec.planes]),
        seen_by_opponent("flipped", (8, 8)),
    )
    # A white king on e1 that may castle on one side, a rook on h1, a black king on e8.
    state = game.parse_position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    mine, theirs, occupied = features_of(planes, turned, game, state)
    half = planes.num_features(64) // 2
    assert [kind.name for kind in planes.kinds] == ["pawns", "knights", "bishops", "rooks", "queens", "king"]
    own = {3 * 64 + 63, 5 * 64 + 60, 6 * 64}
    assert set(np.flatnonzero(mine)) == own | {half + 5 * 64 + 4}
    # The other side sees the board flipped: its own king on its first row, the opponent's above.
    assert set(np.flatnonzero(theirs)) == {5 * 64 + 60, half + 3 * 64 + 7, half + 5 * 64 + 4, half + 6 * 64}
    assert set(np.flatnonzero(occupied)) == {4, 60, 63}


def test_contents_of_lines_are_those_of_the_board() -> None:
    lines = BoardLines.of(2, (2, 3))
    assert lines.squares.tolist() == [
        *([0, 1], [1, 2], [3, 4], [4, 5]),
        *([0, 3], [1, 4], [2, 5]),
        *([0, 4], [1, 5]),
        *([1, 3], [2, 4]),
    ]
    # An own piece on the first square, one of the other side below it; a content is own + 3 times the square behind.
    own, opponent = np.zeros((2, 1, 6), bool)
    own[0, 0] = opponent[0, 3] = True
    rows, columns, diagonals = np.split(lines.counts(own, opponent)[0], 3)
    assert dict(enumerate(rows)) == {**dict.fromkeys(range(9), 0), 1: 1, 2: 1}, "[0, 1] and [3, 4]"
    assert np.flatnonzero(columns).tolist() == [1 + 3 * 2] and columns[7] == 1
    assert np.flatnonzero(diagonals).tolist() == [1, 3 * 2], "[0, 4] and [1, 3]"


def test_the_other_side_reads_the_same_lines() -> None:
    for view in VIEWS_OF_OPPONENT:
        lines = BoardLines.of(3, (4, 4))
        turned = seen_by_opponent(view, (4, 4))
        for squares, own, other, is_reversed in lines.both_views(turned):
            assert other == 27 * ((1, 0, 2) if view == "transposed" else (0, 1, 2))[own // 27]
            seen = turned[squares].tolist()
            assert (seen[::-1] if is_reversed else seen) in lines.squares.tolist()


def test_a_network_that_counts_threes_knows_them() -> None:
    """Stones in a row are told from as many that stand apart, which no sum over squares can do."""
    game = make("gomoku(size=7)")
    checkpoint = random_updatable(game, units=16, lines=3)
    weights = {name: np.zeros_like(weight) for name, weight in checkpoint.weights.items()}
    weights["input.bias"][:] = 0.5
    weights["lines.weight"][:, [27 * table + 13 for table in range(3)]] = 0.2  # three own stones: 1 + 3 + 9
    weights["output.weight"][0, :16], weights["output.weight"][0, 16:] = 1, -1
    network = UpdatableEvaluator(Checkpoint(checkpoint.info, weights), game).network

    def value(moves: str) -> int:
        return int(network.evaluations(game.encode([state_after(game, moves)]))[0])

    apart, in_a_row = "a1 a7 c3 c7 e5 g7", "a1 a7 b1 c7 c1 g7"
    diagonal = "a1 a7 b2 c7 c3 g7"
    assert value(apart) == 0 < value(in_a_row) == value(diagonal)
    assert value(f"{in_a_row} e7") == -value(in_a_row), "for the other side to move"


def test_hands_count_in_steps() -> None:
    game = make("shogi(history=1)")
    planes = PiecePlanes.of([(plane.name, plane.is_constant) for plane in game.spec.planes])
    turned = seen_by_opponent("turned", (9, 9))
    state = game.parse_position("4k4/9/9/9/9/9/9/9/4K4 b 3P2g 1")
    mine, theirs, _ = features_of(planes, turned, game, state)
    half, hands = planes.num_features(81) // 2, 14 * 81
    assert planes.divisors == (18, 4, 4, 4, 4, 2, 2)
    assert np.flatnonzero(mine[hands:half]).tolist() == [0, 1, 2], "three pawns"
    assert np.flatnonzero(mine[half + hands :]).tolist() == [18 + 12, 18 + 13], "two golds of the opponent"
    assert np.flatnonzero(theirs[half + hands :]).tolist() == [0, 1, 2]


def test_values_of_pieces_are_what_the_network_counts() -> None:
    game = chess()
    values = {"pawns": 0.1, "knights": 0.3, "bishops": 0.3, "rooks": 0.5, "queens": 0.9}
    found = piece_values(counting_updatable(game, values), game)
    for name, value in values.items():
        assert found[name] == pytest.approx(value, rel=0.25), name
    assert found["king"] == pytest.approx(0.0, abs=0.01)


def test_a_network_begins_where_its_activation_has_a_slope() -> None:
    """Some forty pieces move the sums of the first layer by about a quarter around the middle of the activation."""
    game = chess()
    config = NetworkConfig(kind="updatable", updatable_units=64)
    weights = initial_weights(config, NetworkShape.of(game.spec), seed=1)
    assert np.sqrt(40) * weights["input.weight"].std() == pytest.approx(0.5, rel=0.02)
    assert (weights["input.bias"] == 0.5).all() and not weights["kinds.weight"].any()


def test_the_evaluator_gives_equal_logits_and_values_of_the_network() -> None:
    game, states = positions("minichess(history=1)", 6)
    evaluator = make_evaluator(random_updatable(game), batch_size=4, game=game)
    leaves = game.encode(states)
    found = evaluator.evaluate(leaves)
    assert not found.logits.any()
    assert isinstance(evaluator, UpdatableEvaluator)
    np.testing.assert_array_equal(found.values, expected_result(evaluator.network.evaluations(leaves)))
    assert len(evaluator.piece_values) == 6 and min(evaluator.piece_values) >= 1
    with pytest.raises(SettingsError, match="needs its game"):
        make_evaluator(random_updatable(game), batch_size=4)


def test_checkpoints_are_kept_and_damage_is_told(tmp_path) -> None:
    game = make("minichess(history=1)")
    checkpoint = random_updatable(game)
    read = load_checkpoint(saved(checkpoint, tmp_path / "one"))
    assert read.info.network == checkpoint.info.network
    for name, weight in checkpoint.weights.items():
        np.testing.assert_array_equal(read.weights[name], weight)
    with pytest.raises(DataError, match=re.escape("The weights input.weight are float32 [16, ")):
        replace(checkpoint, weights={**checkpoint.weights, "input.weight": checkpoint.weights["input.weight"][:16]})


def test_games_without_pieces_and_wrong_weights_are_refused() -> None:
    nim = make("nim")
    with pytest.raises(SettingsError, match="needs planes of pieces, named 'own X' and 'opponent X'"):
        initial_weights(NetworkConfig(kind="updatable"), NetworkShape.of(nim.spec), seed=0)
    with pytest.raises(SettingsError, match="updatable_units is 40, expected a multiple of 16"):
        NetworkConfig(kind="updatable", updatable_units=40)
    with pytest.raises(SettingsError, match="leave out network.module, network.ownership_head and network.score_head"):
        NetworkConfig(kind="updatable", ownership_head=True)
    game = make("tictactoe")
    bits, turned = [(0, 9), (9, 0)], list(range(9))
    arrays = {
        "input": np.zeros(18 * 16, np.float32),
        "input_bias": np.zeros(16, np.float32),
        "output": np.zeros(32, np.float32),
    }
    UpdatableNetwork(game, bits, [], turned, 18, **arrays, output_bias=0.0)
    for changed, words in (
        ({"output": np.full(32, 3.0, np.float32)}, "the weight 3, expected numbers from"),
        ({"input": np.full(18 * 16, np.nan, np.float32)}, "the weight NaN"),
        ({"input": np.zeros(5, np.float32)}, "has 5 and 32 weights, expected 288 and 32"),
        ({"input_bias": np.zeros(7, np.float32)}, "has 7 units, expected a multiple of 16"),
    ):
        with pytest.raises(GameError, match=words):
            UpdatableNetwork(game, bits, [], turned, 18, **{**arrays, **changed}, output_bias=0.0)
    with pytest.raises(GameError, match="expected"):
        UpdatableNetwork(game, bits[:1], [], turned, 18, **arrays, output_bias=0.0)
    with pytest.raises(GameError, match="not below 18"):
        UpdatableNetwork(game, [(0, 9), (12, 0)], [], turned, 18, **arrays, output_bias=0.0)
    network = UpdatableNetwork(game, bits, [], turned, 18, **arrays, output_bias=0.0)
    other = make("connect4")
    with pytest.raises(GameError, match="this network is of the encoding tictactoe"):
        network.evaluations(other.encode([other.initial_state()]))


def test_lines_are_exported() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    game, states = positions("gomoku(size=7)", 9)
    checkpoint = random_updatable(game, lines=5)
    session = onnxruntime.InferenceSession(onnx_model(checkpoint).SerializeToString())
    planes = game.encode(states).planes()
    module = network_module(checkpoint.info.network, checkpoint.info.shape, checkpoint.weights).eval()
    with torch.no_grad():
        expected = module(torch.from_numpy(planes)).logits["value"].numpy()
    np.testing.assert_allclose(session.run(None, {"planes": planes})[0], expected, atol=1e-5)


def test_lines_that_no_board_has_are_refused() -> None:
    game = make("gomoku(size=5)")
    with pytest.raises(SettingsError, match="updatable_lines is 6, but a board of 5 x 5 squares has no such line"):
        initial_weights(NetworkConfig(kind="updatable", updatable_lines=6), NetworkShape.of(game.spec), seed=0)
    with pytest.raises(SettingsError, match="updatable_lines is 1, expected 0, or 2 to 6"):
        NetworkConfig(kind="updatable", updatable_lines=1)
    bits, turned = [(0, 25), (25, 0)] + [(-1, -1)] * 9, list(range(25))
    num_bits = sum(not plane.is_constant for plane in game.spec.planes)
    arrays = {"input": np.zeros(50 * 16, np.float32), "input_bias": np.zeros(16, np.float32)}
    arrays["output"] = np.zeros(32, np.float32)

    def network(lines: list[tuple[list[int], int, int, bool]], num_features: int = 9) -> UpdatableNetwork:
        return UpdatableNetwork(
            game,
            bits[:num_bits],
            [(-1, -1, 0, 0.0)] * (len(game.spec.planes) - num_bits),
            turned,
            50,
            **arrays,
            output_bias=0.0,
            lines=lines,
            line_weights=np.zeros(num_features * 16, np.float32),
        )

    network([([0, 1], 0, 0, False)])
    for lines, message in (
        ([([0, 25], 0, 0, False)], "lines do not fit 25 squares and 9 features"),
        ([([0, 1], 1, 0, False)], "lines do not fit"),
        ([([0, 1], 0, 0, False), ([0, 1, 2], 0, 0, False)], "lines do not fit"),
        ([([], 0, 0, False)], "lines of 0 squares, expected 1 to 6"),
        ([(list(range(7)), 0, 0, False)], "lines of 7 squares"),
    ):
        with pytest.raises(GameError, match=message):
            network(lines)

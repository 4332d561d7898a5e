"""Networks of KataGo: files that a writer of the tests made, damaged files, and the same outputs by every library."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import random
from pathlib import Path

import numpy as np
import pytest

import zerosum
from katago_files import NESTED, ORDINARY, POOLED, KatagoFile
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import read_info
from zerosum.network.evaluators import EvaluatorConfig, make_evaluator
from zerosum.network.evaluators.openvino import fast_precision
from zerosum.network.evaluators.ownership import OwnershipNetwork, has_ownership
from zerosum.network.residual_tower import ResidualTower

KINDS = {"residual": (ORDINARY,), "pooled": (ORDINARY, POOLED), "nested": (NESTED, ORDINARY)}
VERSIONS = {8: "ACTIVATION_RELU", 11: "ACTIVATION_MISH", 13: "ACTIVATION_RELU", 14: "ACTIVATION_MISH"}
GAMES = (
    "go(size=7, planes=katago)",
    "go(size=9, rules=japanese, planes=katago)",
    "go(size=5, superko=simple, planes=katago)",
)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("name", GAMES)
def test_a_network_says_what_its_file_says(tmp_path, version, kinds, name):
    file = KatagoFile(version=version, activation=VERSIONS[version], kinds=kinds)
    path, game = file.write(tmp_path / "network.bin.gz"), make(name)
    checkpoint, leaves = load_checkpoint(path, game=game), random_leaves(game, 16)
    expected = file.evaluate(leaves.planes())
    logits = leaves.select_legal(np.ascontiguousarray(expected["policy"], np.float32))
    for backend in ("openvino", "torch"):
        config = EvaluatorConfig(backend, precision="f32", device="cpu")
        found = make_evaluator(checkpoint, config, batch_size=16).evaluate(leaves)
        np.testing.assert_allclose(found.logits, logits, atol=1e-4, err_msg=backend)
        assert found.wdl is not None
        np.testing.assert_allclose(found.wdl, expected["shares"][:, [0, 2, 1]], atol=1e-5, err_msg=backend)
    assert has_ownership(checkpoint)
    owners = OwnershipNetwork(checkpoint).owners(leaves.planes())
    np.testing.assert_allclose(owners, expected["owners"], atol=1e-4)


def test_openvino_compiles_every_batch_size(tmp_path):
    """Its own Mish fails behind a norm in batches of 4."""
    game = make(GAMES[0])
    file = KatagoFile(version=14, activation="ACTIVATION_MISH", kinds=(NESTED, POOLED))
    checkpoint = load_checkpoint(file.write(tmp_path / "network.bin.gz"), game=game)
    evaluator = make_evaluator(checkpoint, EvaluatorConfig("openvino", precision="f32"), batch_size=32)
    leaves = [random_leaves(game, size) for size in (1, 2, 8, 32)]
    first = [evaluator.evaluate(one).values[0] for one in leaves]
    assert first == pytest.approx([first[0]] * 4, abs=1e-5)


def test_onnx_says_the_same(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    from zerosum.network.evaluators.onnx_graph import onnx_model

    file, game = KatagoFile(version=14, activation="ACTIVATION_MISH", kinds=(NESTED,)), make(GAMES[0])
    checkpoint = load_checkpoint(file.write(tmp_path / "network.bin.gz"), game=game)
    planes = random_leaves(game, 8).planes()
    session = runtime.InferenceSession(onnx_model(checkpoint).SerializeToString(), providers=["CPUExecutionProvider"])
    policy, value = session.run(["policy_logits", "value_logits"], {"planes": planes})
    expected = file.evaluate(planes)
    np.testing.assert_allclose(policy, expected["policy"], atol=1e-4)
    shares = np.exp(value - value.max(axis=1, keepdims=True))
    np.testing.assert_allclose(shares / shares.sum(axis=1, keepdims=True), expected["shares"][:, [0, 2, 1]], atol=1e-5)


def test_the_module_of_torch_says_the_same(tmp_path):
    import torch

    file, game = KatagoFile(version=11, activation="ACTIVATION_MISH", kinds=(NESTED, POOLED)), make(GAMES[0])
    checkpoint = load_checkpoint(file.write(tmp_path / "network.bin.gz"), game=game)
    tower = ResidualTower(checkpoint.info.network, checkpoint.info.shape, checkpoint.weights)
    tower.eval()
    planes = random_leaves(game, 8).planes()
    with torch.inference_mode():
        policy = tower(torch.tensor(planes)).policy_logits_BA.numpy()
    np.testing.assert_allclose(policy, file.evaluate(planes)["policy"], atol=1e-4)


@pytest.mark.parametrize("size", [5, 6, 9, 13, 19])
def test_one_file_plays_on_every_board(tmp_path, size):
    path = KatagoFile().write(tmp_path / "network.bin.gz")
    checkpoint = load_checkpoint(path, game=make(f"go(size={size}, komi=5.5)"))
    options = "" if size == 19 else f"size={size}, "
    assert checkpoint.info.full_name == f"go({options}planes=katago)"
    assert checkpoint.info.num_actions == size**2 + 1
    assert read_info(path, game=make(f"go(size={size})")).encoder_id == checkpoint.info.encoder_id


def test_without_a_board_it_is_for_19x19(tmp_path):
    path = KatagoFile().write(tmp_path / "network.bin.gz")
    for game in (None, make("chess")):
        info = load_checkpoint(path, game=game).info
        assert (info.full_name, info.step, info.training["name"]) == ("go(planes=katago)", 1234, "tiny-b2c6-s1234-d5")
        assert info.created_at.startswith("sha256 ")


def test_units_of_the_score(tmp_path):
    old, new = (KatagoFile(version=version).write(tmp_path / f"{version}.bin.gz") for version in (8, 13))
    points = [load_checkpoint(path).info.network.points for path in (old, new)]  # type: ignore[attr-defined]
    assert points == [(20.0, 20.0, 20.0), (25.0, 15.0, 30.0)]


def test_precisions(tmp_path):
    game = make(GAMES[0])
    checkpoint = load_checkpoint(KatagoFile().write(tmp_path / "network.bin.gz"), game=game)
    assert fast_precision(checkpoint.info) == "f32"
    with pytest.raises(SettingsError, match="int8"):
        make_evaluator(checkpoint, EvaluatorConfig("openvino", precision="int8", device="cpu"), batch_size=4, game=game)


def changed(**values: object) -> KatagoFile:
    return dataclasses.replace(KatagoFile(), **values)  # type: ignore[arg-type]


def with_words(name: str, index: int, word: str) -> KatagoFile:
    file = KatagoFile(version=11)
    file.layer(name).words[index] = word
    return file


def with_number(name: str, array: int, number: float) -> KatagoFile:
    file = KatagoFile()
    file.layer(name).arrays[array].flat[0] = number
    return file


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (changed(header="net 7 22 19"), r"its version is 7, expected 8 to 14"),
        (changed(header="net 15 22 19"), r"its version is 15, expected 8 to 14, which have no attention"),
        (changed(header="net 17 22 19"), r"its version is 17, expected 8 to 14, which have no attention"),
        (changed(header="net eight 22 19"), r"its version is 'eight', expected a whole number"),
        (changed(header="net 8 21 19"), r"its number of planes is 21, expected 22 to 22"),
        (changed(header="net 8 22 17"), r"its number of numbers of a position is 17"),
        (
            changed(header="net 13 22 19 20 20 -1 20 20 1 1"),
            r"a unit of its outputs is '-1', expected a number above 0",
        ),
        (changed(header="n\x01t 8 22 19"), r"byte 0 begins no word, expected the network's name"),
        (changed(header="n" * 200), r"byte 0 begins no word"),
        (changed(kinds=("dilated_block",)), r"trunk.0 is of the kind 'dilated_block', expected ordinary_block, gpool"),
        (with_words("b0/a1", 0, "ACTIVATION_SILU"), r"trunk.0.norm_first's activation is 'ACTIVATION_SILU', expected"),
        (with_words("b0/a2", 0, "ACTIVATION_MISH"), r"trunk.0 has ACTIVATION_MISH, and layers before have another"),
        (with_words("conv1", 3, "999999"), r"stem's number of filters is 999,999, expected 6 to 6"),
        (with_words("b0/c1", 3, "16000"), r"trunk.0.first has 3x3x6x16000 numbers, 3,456,000 bytes, but"),
        (with_words("b0/c1", 0, "4"), r"trunk.0.first has kernels of 4x3, expected a square with a middle"),
        (with_words("b0/c1", 4, "2"), r"trunk.0.first's dilation is 2"),
        (with_words("b1/mg", 0, "7"), r"trunk.1.pool's number of inputs is 7, expected 9 to 9"),
        (with_words("b0/n1", 1, "nan"), r"trunk.0.norm_first's norm's epsilon is 'nan', expected a number above 0"),
        (with_words("sv3", 1, "5"), r"score_out's number of outputs is 5, expected 6 to 6"),
        (with_number("p1", 0, np.nan), r"policy_conv has the weight nan"),
        (with_number("own", 0, np.inf), r"ownership_out has the weight inf"),
        (with_number("g1n", 1, -2.0), r"policy_pooled's norm has a variance below 0"),
    ],
)
def test_what_a_file_has_and_what_is_read(tmp_path, file, message):
    path = file.write(tmp_path / "network.bin.gz")
    with pytest.raises(DataError, match=message) as error:
        load_checkpoint(path)
    assert str(error.value).startswith(f"{path} cannot be read as a network of KataGo: ")


def test_a_board_that_it_cannot_play(tmp_path):
    path = KatagoFile().write(tmp_path / "network.bin.gz")
    with pytest.raises(DataError, match=r"network.bin.gz cannot play go\(size=21\): .*boards up to 19"):
        load_checkpoint(path, game=make("go(size=21)"))
    with pytest.raises(DataError, match="does not fit connect4"):
        zerosum.load(path, game="connect4")


def test_every_cut_and_many_changes_of_a_file_are_told(tmp_path):
    content, path, draw = KatagoFile(version=14).content(), tmp_path / "network.bin.gz", random.Random(3)
    for _ in range(60):
        path.write_bytes(gzip.compress(content[: draw.randrange(len(content) - 1)]))
        with pytest.raises(DataError, match=r"network\.bin\.gz "):
            load_checkpoint(path)
    for _ in range(100):
        damaged = bytearray(content)
        damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(gzip.compress(bytes(damaged)))
        with contextlib.suppress(DataError):  # nothing but such an error, or a network with another number in it
            load_checkpoint(path)


def test_hostile_files(tmp_path):
    path = tmp_path / "network.bin.gz"
    path.write_bytes(gzip.compress(bytes(1 << 24)))
    with pytest.raises(DataError, match="unpacks to more than 8 times"):
        load_checkpoint(path)
    path.write_bytes(gzip.compress(KatagoFile().content())[:-9])
    with pytest.raises(DataError, match="its gzip data end early"):
        load_checkpoint(path)
    path.write_bytes(b"no gzip")
    with pytest.raises(DataError, match="its gzip data end early or are changed"):
        load_checkpoint(path)
    path.write_bytes(gzip.compress(KatagoFile().content() + b" more"))
    with pytest.raises(DataError, match="4 bytes are left behind its last layer"):
        load_checkpoint(path)
    nested = b"net 8 22 19 trunk 1 6 4 4 0 3 "
    path.write_bytes(gzip.compress(nested))
    with pytest.raises(DataError, match="it ends before the name of stem"):
        load_checkpoint(path)


def test_the_file_that_is_missing(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        zerosum.load(tmp_path / "network.bin.gz")


def test_a_file_of_another_name(tmp_path):
    path = KatagoFile().write(tmp_path / "network.gz")
    with pytest.raises(DataError, match=r"or of KataGo \(\.bin\.gz\)"):
        zerosum.load(Path(path))

"""OpenVINO's own features: networks compiled by size, and 8-bit integers."""

from __future__ import annotations

import dataclasses
import signal
import subprocess
import sys

import numpy as np
import pytest

import stress_evaluators
from networks_for_tests import (
    EVERY_ARCHITECTURE,
    SMALL,
    assert_close,
    make_checkpoint,
    make_info,
    make_leaves,
    plain_answer,
)
from zerosum._core import Game
from zerosum.base.errors import DataError, SettingsError
from zerosum.network import Checkpoint, CheckpointInfo
from zerosum.network.evaluators.openvino import OpenVinoEvaluator

openvino = pytest.importorskip("openvino")

# 256 numbers from 0 to the largest: each activation errs by up to a part in 512 of it.
INT8_TOLERANCE = 0.1

needs_int8 = pytest.mark.skipif(
    "INT8" not in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"), reason="a CPU without int8"
)


def test_a_new_network_is_ready_for_every_size_that_the_old_one_was_asked_for(monkeypatch):
    """Or else a thread that evaluates would have to compile it."""
    from zerosum.network.evaluators import openvino_graph

    compiled, build = [], openvino_graph.build_graph

    def build_graph(*arguments, batch_size, **options):
        compiled.append(batch_size)
        return build(*arguments, batch_size=batch_size, **options)

    monkeypatch.setattr(openvino_graph, "build_graph", build_graph)
    info = make_info(SMALL)
    evaluator = OpenVinoEvaluator(make_checkpoint(info), batch_size=64)

    def compiled_by(act):
        compiled.clear()
        act()
        return sorted(compiled)

    def evaluate():
        for size in (64, 40, 3):
            evaluator.evaluate(make_leaves(info, size))

    assert compiled_by(evaluate) == [4]
    assert compiled_by(lambda: evaluator.update(make_checkpoint(info, seed=1))) == [4, 64]
    assert compiled_by(evaluate) == []
    assert compiled_by(lambda: evaluator.update(make_checkpoint(info, seed=2))) == [4, 64]
    assert compiled_by(lambda: evaluator.update(make_checkpoint(info, seed=3))) == [64], "nobody asked since"


def int8(checkpoint, planes=None, *, batch_size=8):
    return OpenVinoEvaluator(checkpoint, batch_size=batch_size, precision="int8", planes_BCHW=planes)


@needs_int8
@pytest.mark.parametrize("info", EVERY_ARCHITECTURE.values(), ids=EVERY_ARCHITECTURE)
def test_int8_says_nearly_what_the_plain_network_says(info):
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 8)
    evaluator = int8(checkpoint, make_leaves(info, 64, seed=1).planes())
    assert evaluator.description == "OpenVINO, CPU, int8"
    assert_close(evaluator.evaluate(leaves), plain_answer(checkpoint, leaves), INT8_TOLERANCE)


@needs_int8
def test_int8_rounds_the_blocks_and_nothing_else():
    info = make_info(SMALL)
    leaves = make_leaves(info, 8)

    def difference(checkpoint):
        found = int8(checkpoint, leaves.planes()).evaluate(leaves)
        with_floats = OpenVinoEvaluator(checkpoint, batch_size=8).evaluate(leaves)
        return np.abs(found.logits - with_floats.logits).max()

    assert difference(make_checkpoint(info)) > 0
    without = dataclasses.replace(info, network=dataclasses.replace(SMALL, num_blocks=0))
    assert difference(make_checkpoint(without)) == 0


@needs_int8
def test_int8_measures_random_play_of_the_programs_own_games():
    game = Game("connect4")
    checkpoint = make_checkpoint(CheckpointInfo.describe(game.spec, SMALL, step=0))
    state = game.initial_state()
    leaves = game.encode([state, game.play(state, 3)])
    assert_close(int8(checkpoint).evaluate(leaves), plain_answer(checkpoint, leaves), INT8_TOLERANCE)
    with pytest.raises(SettingsError, match="fake is not a game of this program: give planes of positions"):
        int8(make_checkpoint(make_info(SMALL)))


@needs_int8
def test_int8_measures_each_new_network():
    """One whose activations are a hundred times as large as the first one's would otherwise be cut off."""
    info = make_info(SMALL)
    small, leaves = make_checkpoint(info), make_leaves(info, 8)
    large = {
        name: weight * 100 if name in ("stem.norm.weight", "stem.norm.bias") else weight
        for name, weight in small.weights.items()
    }
    for name in ("policy_out.weight", "value_hidden.weight"):
        large[name] = (large[name] / 100).astype(np.float32)
    evaluator = int8(small, leaves.planes())
    evaluator.evaluate(leaves)
    newer = Checkpoint(info, large)
    evaluator.update(newer)
    assert_close(evaluator.evaluate(leaves), plain_answer(newer, leaves), INT8_TOLERANCE)


@needs_int8
def test_int8_measures_the_positions_that_come_with_a_network():
    """Empty planes say nothing of how large numbers become; those that came last are measured from then on."""
    info = make_info(SMALL)
    checkpoint, leaves = make_checkpoint(info), make_leaves(info, 64)
    expected = plain_answer(checkpoint, leaves)
    evaluator = int8(checkpoint, np.zeros_like(leaves.planes()))
    with pytest.raises(AssertionError):
        assert_close(evaluator.evaluate(leaves), expected, INT8_TOLERANCE)
    evaluator.update(checkpoint, planes_BCHW=leaves.planes())
    assert_close(evaluator.evaluate(leaves), expected, INT8_TOLERANCE)
    evaluator.update(checkpoint)
    assert_close(evaluator.evaluate(leaves), expected, INT8_TOLERANCE)


@needs_int8
def test_int8_hides_no_weight_that_is_not_finite():
    info = make_info(SMALL)
    checkpoint = make_checkpoint(info)
    for name in ("blocks.1.first.conv.weight", "blocks.0.first.norm.bias"):
        weights = {**checkpoint.weights, name: np.full_like(checkpoint.weights[name], np.nan)}
        with pytest.raises(DataError, match=f"not finite at {name}, so it cannot be rounded"):
            int8(Checkpoint(info, weights), make_leaves(info, 4).planes())


@needs_int8
def test_a_new_networks_zeros_are_rounded_to_zeros():
    """A block that is the identity has a second kernel of 0: the range from -0 to 0 has no scale."""
    from zerosum.network import initial_weights

    info = make_info(SMALL)
    weights = initial_weights(SMALL, info.shape, seed=0)
    weights["policy_out.weight"] = make_checkpoint(info).weights["policy_out.weight"]
    checkpoint, leaves = Checkpoint(info, weights), make_leaves(info, 8)
    assert_close(int8(checkpoint, leaves.planes()).evaluate(leaves), plain_answer(checkpoint, leaves), INT8_TOLERANCE)


def test_it_says_what_it_is_made_ready_for():
    info = make_info(SMALL)
    evaluator = OpenVinoEvaluator(make_checkpoint(info), batch_size=48)
    assert evaluator.batch_sizes(48) == evaluator.batch_sizes(1000) == [1, 3, 12, 48]
    assert evaluator.batch_sizes(12) == evaluator.batch_sizes(4) == [1, 3, 12]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer")
def test_signals_are_handled_while_evaluators_come_and_go():
    """OpenVINO left threads with an unmapped signal stack: the next signal ended the process by SIGSEGV."""
    words = [sys.executable, stress_evaluators.__file__, "--in-this-process", "--swaps=60", "--backend=openvino"]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")

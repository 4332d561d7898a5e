"""Batches as they travel to a learner's device: packed, in parts and in messages."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from batches_for_tests import legal_mask_of, policies_of
from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.learner import Learner, LearnerConfig
from zerosum.learner.parallel.batches import pack_batch, unpack_batch
from zerosum.learner.parallel.messages import pack_message, unpack_message
from zerosum.network import NetworkConfig, NetworkShape, initial_weights
from zerosum.replay import Batch

GAMES = ["connect4", "go(size=5)", "chess(history=1)"]  # without constant planes, with owners, with counters


def batch_of(name: str, size: int = 12) -> tuple[Batch, np.ndarray, np.ndarray]:
    """A batch, and its planes and policies as arrays."""
    game, generator = make(name), np.random.default_rng(1)
    leaves, (height, width) = random_leaves(game, size), game.spec.board_shape
    policy_BA = np.where(generator.random(leaves.legal_mask().shape) < 0.5, leaves.legal_mask(), 0) * 0.25
    targets = {name: generator.uniform(-1, 1, size).astype(np.float32) for name in ("value", "draws")}
    targets["owners"] = generator.choice(np.array([-1, 0, 1], np.float32), (size, height * width))
    return Batch.of(leaves, game.spec, policies_of(policy_BA), targets), leaves.planes(), policy_BA


@pytest.mark.parametrize("name", GAMES)
def test_parts_arrive_as_they_were_sent(name: str) -> None:
    batch, planes_BCHW, policy_BA = batch_of(name)
    for start, stop in ((0, 12), (0, 5), (5, 6), (6, 12)):
        sent = pack_batch(batch.part(start, stop), targets={"policy", "value", "owners"})
        found = unpack_batch(*unpack_message(pack_message(*sent)))
        assert len(found) == stop - start
        np.testing.assert_array_equal(found.planes(), planes_BCHW[start:stop])
        np.testing.assert_array_equal(found.policies.dense(batch.num_actions), policy_BA[start:stop])
        np.testing.assert_array_equal(legal_mask_of(found), legal_mask_of(batch)[start:stop])
        assert found.targets.keys() == {"value", "owners"}
        for target in found.targets:
            np.testing.assert_array_equal(found.targets[target], batch.targets[target][start:stop])


@pytest.mark.parametrize("name", GAMES)
def test_the_learner_expands_what_was_packed(name: str) -> None:
    batch, planes_BCHW, policy_BA = batch_of(name)
    network, shape = NetworkConfig(num_blocks=1, num_filters=8), NetworkShape.of(make(name).spec)
    learner = Learner(LearnerConfig(), network, shape, initial_weights(network, shape, seed=0), device="cpu")
    inputs = learner.prepare(batch)
    found, targets = inputs.planes, inputs.targets
    np.testing.assert_array_equal(found, planes_BCHW)
    assert found.is_contiguous(memory_format=torch.channels_last)
    np.testing.assert_array_equal(targets["policy"], policy_BA)
    np.testing.assert_array_equal(targets["legal"], legal_mask_of(batch))
    assert learner.step(batch, progress=0.5).measures["policy_loss"] > 0

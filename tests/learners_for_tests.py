"""Small learners of Connect Four, batches without meaning, and the weights that come of them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from batches_for_tests import policies_of
from zerosum.games import make
from zerosum.learner import Learner, LearnerConfig
from zerosum.network import NetworkConfig, NetworkShape, initial_weights
from zerosum.network.heads import KOMI_PLANE
from zerosum.replay import Batch

GAME = make("connect4")
SHAPE = NetworkShape(2, height=6, width=7, num_actions=7, planes=(("own", False), (KOMI_PLANE, False)))
SMALL = NetworkConfig(num_blocks=1, num_filters=8, policy_filters=4, value_filters=2, value_hidden=8)
OWNERSHIP = replace(SMALL, ownership_head=True)
SCORE = replace(OWNERSHIP, score_head=True)
PLAIN = LearnerConfig(
    warmup_steps=0, precision="f32", learning_rate=0.01, final_share=1.0, num_threads=1, draw_target="value"
)


def make_batch(size: int, seed: int, *, copies: int = 1) -> Batch:
    """Random positions of Connect Four, some with full columns, and targets without meaning."""
    choose, generator = random.Random(seed), np.random.default_rng(seed)
    states = []
    while len(states) < size:
        state = GAME.initial_state()
        for _ in range(choose.randrange(30)):
            if legal := GAME.legal_actions(state):
                state = GAME.play(state, choose.choice(legal))
        if GAME.legal_actions(state):
            states.append(state)
    leaves, size = GAME.encode(states * copies), size * copies
    policy_target = np.where(leaves.legal_mask(), generator.exponential(size=(size, 7)), 0)
    policy_target[:, choose.randrange(7)] = 0  # as a move without visits
    policy_target[policy_target.sum(axis=1) == 0] = leaves.legal_mask()[policy_target.sum(axis=1) == 0]
    targets = {
        "value": generator.choice(np.array([-1, -0.5, 0, 1], np.float32), size=size),
        "draws": generator.integers(0, 2, size).astype(np.float32),
    }
    targets["owners"] = generator.choice(np.array([-1, 0, 1], np.float32), size=(size, 42))
    policies = policies_of(policy_target / policy_target.sum(axis=1, keepdims=True))
    played = np.array([generator.choice(np.flatnonzero(legal)) for legal in leaves.legal_mask()])
    targets["played"] = played.astype(np.float32)
    targets["played_share"] = policies.dense(7)[np.arange(size), played]
    return Batch.of(leaves, GAME.spec, policies, targets)


BATCH = make_batch(16, seed=0)


def new_learner(config: LearnerConfig = PLAIN, network: NetworkConfig = SMALL, seed: int = 0) -> Learner:
    return Learner(config, network, SHAPE, initial_weights(network, SHAPE, seed=seed), device="cpu")


def weights_after(learner: Learner, batches: list[Batch]) -> dict[str, np.ndarray]:
    for batch in batches:
        learner.step(batch, progress=0.3)
    return learner.weights()


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)

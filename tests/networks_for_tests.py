"""Networks and positions of no game, and what the plain network says of them, which every evaluator must say too."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from zerosum.games import Rules
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.network.checkpoint import checkpoint_path, save_checkpoint
from zerosum.network.evaluators.torch import TorchEvaluator
from zerosum.network.heads import values_of
from zerosum.network.residual_tower import ResidualTower
from zerosum.replay import GameRecord

# How far two programs may differ: on values, and on logits in units of their spread (of 1, if that is less). In float32
# it is the order of the additions, in bfloat16 (8 bits of mantissa) the rounding of every layer's output.
F32_TOLERANCE = 1e-5
BF16_TOLERANCE = 0.05

SMALL = NetworkConfig(num_blocks=2, num_filters=8, policy_filters=4, value_filters=2, value_hidden=8)


def with_opinions(checkpoint: Checkpoint, *, seed: int) -> Checkpoint:
    """A network that answers differently in each position, unlike untrained ones.

    Its kernels lie in memory in another order than C's, as torch's do after a step.
    """
    generator = np.random.default_rng(seed)
    weights = {
        name: np.asfortranarray((values + generator.normal(0, 0.3, values.shape)).astype(np.float32))
        if name.endswith("weight")
        else values
        for name, values in checkpoint.weights.items()
    }
    return dataclasses.replace(checkpoint, weights=weights)


def error_of_recorded_values(records: list[GameRecord], game: Rules, checkpoint: Checkpoint) -> float:
    """The mean difference of the network's values that games recorded from those that it gives here."""
    evaluator = TorchEvaluator(checkpoint, device="cpu", precision="f32")
    errors: list[float] = []
    for record in records:
        state = game.initial_state()
        for ply in record.plies:
            if ply["num_simulations"]:
                errors.append(abs(ply["net_value"] - evaluator.evaluate(game.encode([state])).values[0]))
            state = game.play(state, int(ply["action"]))
    return float(np.mean(errors))


@dataclass
class FakeLeaves:
    """`zerosum._core.Leaves` for any planes: what the core packs into bits is packed here by NumPy."""

    planes_BCHW: np.ndarray  # noqa: N815
    is_constant: list[bool]
    legal: list[list[int]]

    def __len__(self):
        return len(self.planes_BCHW)

    @property
    def legal_actions(self):
        return np.array([action for actions in self.legal for action in actions], np.uint16)

    @property
    def legal_offsets(self):
        return np.cumsum([0] + [len(actions) for actions in self.legal]).astype(np.int64)

    @property
    def packed_planes(self):
        bits = self.planes_BCHW[:, ~np.array(self.is_constant)].astype(np.uint8)
        return np.packbits(bits.reshape(*bits.shape[:2], bits.shape[2] * bits.shape[3]), axis=2, bitorder="little")

    @property
    def constant_planes(self):
        return np.ascontiguousarray(self.planes_BCHW[:, np.array(self.is_constant), 0, 0])

    def planes(self):
        return self.planes_BCHW.copy()

    def write_planes(self, out):
        out[: len(self)] = self.planes_BCHW

    def select_legal(self, logits):
        assert logits.flags.c_contiguous
        return np.concatenate(
            [logits[row, actions] for row, actions in enumerate(self.legal)] + [np.zeros(0, np.float32)]
        )

    def write_input(self, start, stop, *, bits, numbers, places, place_of_action, row_width):
        for out, array in ((bits, self.packed_planes), (numbers, self.constant_planes)):
            out[: array[start:stop].size] = array[start:stop].ravel()
        found = [
            row * row_width + place_of_action[a] for row, legal in enumerate(self.legal[start:stop]) for a in legal
        ]
        places[: len(found)] = found

    def rollout_values(self, num_rollouts, seed):
        return np.random.default_rng(seed).integers(-1, 2, (len(self), num_rollouts)).mean(axis=1).astype(np.float32)


def make_info(network, *, is_constant=(False, False, True), board_shape=(6, 7), num_actions=7):
    return CheckpointInfo(
        game="fake",
        game_options="",
        game_version=1,
        encoder_id="fake-1",
        planes=tuple((f"plane {channel}", constant) for channel, constant in enumerate(is_constant)),
        board_shape=board_shape,
        num_actions=num_actions,
        max_plies=50,
        network=network,
        step=0,
        code_version="0",
        created_at="2025-01-01T00:00:00+00:00",
    )


def make_checkpoint(info, seed=0):
    """Weights in which nothing is zero or one, as after some training; statistics of the norms differ from 0 and 1."""
    random = np.random.default_rng(seed)

    def perturb(name, weight):
        noise = random.standard_normal(weight.shape)
        return weight + (0.3 * np.abs(noise) if name.endswith(("running_var", "norm.weight")) else 0.1 * noise)

    weights = initial_weights(info.network, info.shape, seed=seed)
    return Checkpoint(info, {name: perturb(name, weight).astype(np.float32) for name, weight in weights.items()})


def make_leaves(info, size, seed=0):
    random = np.random.default_rng(seed)
    height, width = info.board_shape
    is_constant = [constant for _, constant in info.planes]
    planes = random.integers(0, 2, (size, len(is_constant), height, width)).astype(np.float32)
    for channel in np.flatnonzero(is_constant):
        planes[:, channel] = random.random((size, 1, 1))
    legal = [
        sorted(random.permutation(info.num_actions)[: random.integers(1, info.num_actions + 1)]) for _ in range(size)
    ]
    return FakeLeaves(planes, is_constant, legal)


def plain_answer(checkpoint, leaves):
    """The output of the unfolded float32 tower: legal logits, values, and win, draw, loss."""
    tower = ResidualTower(checkpoint.info.network, checkpoint.info.shape, checkpoint.weights).eval()
    with torch.inference_mode():
        output = tower(torch.from_numpy(leaves.planes()))
    value_logits_BV = output.logits["value"]
    wdl = value_logits_BV.softmax(dim=1) if checkpoint.info.network.value_head == "wdl" else None
    return leaves.select_legal(output.policy_logits_BA.numpy()), values_of(value_logits_BV).numpy(), wdl


def assert_close(found, expected, tolerance):
    logits, values, wdl = expected
    np.testing.assert_allclose(
        found.logits, logits, atol=tolerance * max(1, np.std(logits) if logits.size else 0), rtol=0
    )
    np.testing.assert_allclose(found.values, values, atol=tolerance, rtol=0)
    assert (found.wdl is None) == (wdl is None)
    if wdl is not None:
        np.testing.assert_allclose(found.wdl, wdl, atol=tolerance, rtol=0)
        np.testing.assert_allclose(found.wdl.sum(axis=1), 1, atol=1e-6)


EVERY_ARCHITECTURE = {
    "wdl": make_info(SMALL),
    "scalar": make_info(dataclasses.replace(SMALL, value_head="scalar")),
    "no blocks": make_info(
        dataclasses.replace(SMALL, num_blocks=0), is_constant=(False, False), board_shape=(3, 3), num_actions=9
    ),
    "numbers between bits": make_info(
        SMALL, is_constant=(True, False, True, False, False), board_shape=(9, 9), num_actions=300
    ),
    "scalar, another board": make_info(dataclasses.replace(SMALL, value_head="scalar"), board_shape=(4, 5)),
    "a head that only trains": make_info(dataclasses.replace(SMALL, ownership_head=True)),
    "global pooling": make_info(dataclasses.replace(SMALL, pooling_interval=1)),
    "larger": make_info(NetworkConfig(num_blocks=4, num_filters=32)),
    "planes": make_info(dataclasses.replace(SMALL, policy_head="planes"), board_shape=(5, 6), num_actions=90),
    "squeeze-and-excitation": make_info(
        dataclasses.replace(SMALL, policy_head="planes", policy_out_kernel=3, squeeze_units=4),
        board_shape=(5, 6),
        num_actions=93,
    ),
    "bare heads": make_info(
        dataclasses.replace(SMALL, policy_head="planes", policy_kernel=1, policy_out_norm=True, value_hidden=0),
        board_shape=(5, 6),
        num_actions=93,
    ),
    "planes and a pass": make_info(
        dataclasses.replace(SMALL, policy_head="planes"), board_shape=(9, 9), num_actions=82
    ),
}


def save_network(directory: Path, game: Rules, *, step: int = 7, network: NetworkConfig = SMALL) -> Path:
    """A checkpoint of a small network with an opinion; answers the path of its JSON."""
    info = CheckpointInfo.describe(game.spec, network, step=step)
    weights = initial_weights(network, info.shape, seed=step)
    weights["policy_out.weight"] += np.random.default_rng(step).normal(size=weights["policy_out.weight"].shape)
    save_checkpoint(directory, Checkpoint(info, weights), learner_state={}, learner_info={})
    return checkpoint_path(directory, step)

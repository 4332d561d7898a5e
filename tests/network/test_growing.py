"""A grown network: the same outputs as before, whatever the two sizes, and new weights that can learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from zerosum.network import NetworkConfig, NetworkShape, initial_weights
from zerosum.network.growing import grown_weights, padded
from zerosum.network.residual_tower import ResidualTower
from zerosum.network.weights import weight_shapes

SMALL = NetworkConfig(num_blocks=1, num_filters=4, policy_filters=3, value_filters=2, value_hidden=5)


@st.composite
def networks(draw: st.DrawFn) -> NetworkConfig:
    """Any small network with any of the heads."""
    return NetworkConfig(
        num_blocks=draw(st.integers(0, 3)),
        num_filters=draw(st.integers(1, 9)),
        pooling_interval=draw(st.integers(0, 2)),
        policy_head=draw(st.sampled_from(["dense", "planes"])),
        policy_filters=draw(st.integers(1, 4)),
        policy_kernel=draw(st.sampled_from([1, 3])),
        policy_out_kernel=draw(st.sampled_from([1, 3])),
        policy_out_norm=draw(st.booleans()),
        squeeze_units=draw(st.sampled_from([0, 3])),
        value_filters=draw(st.integers(1, 3)),
        value_hidden=draw(st.integers(0, 5)),
        value_head=draw(st.sampled_from(["scalar", "wdl"])),
        ownership_head=draw(st.booleans()),
    )


def lived_in_weights(network: NetworkConfig, shape: NetworkShape, seed: int) -> dict[str, np.ndarray]:
    """Weights in which nothing is zero or one, as after some training; variances stay positive."""
    random = np.random.default_rng(seed)
    weights = {}
    for name, weight in initial_weights(network, shape, seed=seed).items():
        noise = 0.3 * random.standard_normal(weight.shape)
        is_positive = name.endswith(("running_var", "norm.weight"))
        weights[name] = (weight + (np.abs(noise) if is_positive else noise)).astype(np.float32)
    return weights


def logits_of(
    network: NetworkConfig,
    shape: NetworkShape,
    weights: dict[str, np.ndarray],
    planes: np.ndarray,
    *,
    in_training: bool,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The logits of all heads, and the weights afterwards, whose running statistics training changes."""
    tower = ResidualTower(network, shape, weights)
    if not in_training:
        tower.eval()
        tower.training = True  # of the tower alone: all heads, and norms with running statistics
    with torch.inference_mode():
        output = tower(torch.from_numpy(planes))
    return {name: logits.numpy() for name, logits in output.logits.items()}, tower.weights()


@given(networks(), st.integers(0, 3), st.integers(0, 9), st.integers(0, 3), st.booleans(), st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_a_grown_network_says_what_the_small_one_says(
    network: NetworkConfig, more_blocks: int, more_filters: int, new_pooling: int, in_training: bool, seed: int
) -> None:
    shape = NetworkShape(num_planes=3, height=4, width=5, num_actions=43)  # planes of squares, and three actions more
    larger = replace(
        network,
        num_blocks=network.num_blocks + more_blocks,
        num_filters=network.num_filters + more_filters,
        pooling_interval=network.pooling_interval or new_pooling,
    )
    weights = lived_in_weights(network, shape, seed)
    grown = grown_weights(weights, larger, shape, seed=seed + 1)
    assert {name: weight.shape for name, weight in grown.items()} == weight_shapes(larger, shape)
    planes = np.random.default_rng(seed).integers(0, 2, (6, 3, 4, 5)).astype(np.float32)
    small, after = logits_of(network, shape, weights, planes, in_training=in_training)
    large, grown_after = logits_of(larger, shape, grown, planes, in_training=in_training)
    assert small.keys() == large.keys() == {head.name for head in network.heads}
    for name, logits in small.items():
        np.testing.assert_allclose(large[name], logits, atol=1e-5 * max(1, np.abs(logits).max()), rtol=0, err_msg=name)
    for name, weight in after.items():
        corner = grown_after[name][tuple(map(slice, weight.shape))]
        np.testing.assert_allclose(corner, weight, atol=1e-5 * max(1, np.abs(weight).max()), rtol=0, err_msg=name)


def test_new_weights_are_those_of_the_seed() -> None:
    shape = NetworkShape(num_planes=2, height=3, width=3, num_actions=9)
    larger = replace(SMALL, num_blocks=2, num_filters=6)
    weights = lived_in_weights(SMALL, shape, 0)
    before = {name: weight.copy() for name, weight in weights.items()}
    one, same, other = (grown_weights(weights, larger, shape, seed=seed) for seed in (1, 1, 2))
    for name, weight in one.items():
        np.testing.assert_array_equal(same[name], weight)
        if name in weights:
            np.testing.assert_array_equal(weights[name], before[name])
    kernel, new = "blocks.0.first.conv.weight", "blocks.1.first.conv.weight"
    assert (one[kernel][:4, 4:] == 0).all(), "old filters do not read new ones"
    assert (one[kernel][4:] != 0).all() and (one[new] != 0).all()
    assert (one[kernel][4:] != other[kernel][4:]).all() and (one[new] != other[new]).all()
    assert (one["policy_conv.conv.weight"][:, 4:] == 0).all(), "heads do not read new filters"
    assert (one["blocks.1.second.norm.weight"] == 0).all(), "a new block begins as the identity"


def test_numbers_of_an_optimiser_are_padded_with_zeros() -> None:
    moments = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(padded(moments, (3, 4)), [[1, 2, 3, 0], [4, 5, 6, 0], [0, 0, 0, 0]])

"""The network: its table of weights, its beginning, and PyTorch against a slow forward pass in NumPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from zerosum.base.errors import SettingsError
from zerosum.network import NetworkConfig, NetworkShape, initial_weights
from zerosum.network.heads import KOMI_PLANE, values_of
from zerosum.network.residual_tower import ResidualTower
from zerosum.network.weights import NORM_EPSILON, num_operations, num_parameters, policy_remark, weight_shapes

SHAPE = NetworkShape(num_planes=3, height=4, width=5, num_actions=7)
SMALL = NetworkConfig(num_blocks=2, num_filters=6, policy_filters=3, value_filters=2, value_hidden=5)
PLANES_SHAPE = dataclasses.replace(SHAPE, num_actions=2 * 20 + 3)  # two planes of squares and three actions beyond
KOMI_SHAPE = dataclasses.replace(PLANES_SHAPE, planes=((KOMI_PLANE, True),))
PLANES = dataclasses.replace(SMALL, policy_head="planes")
POOLED = dataclasses.replace(PLANES, pooling_interval=2)
EXCITED = dataclasses.replace(PLANES, squeeze_units=4, policy_out_kernel=3)
BARE = dataclasses.replace(PLANES, policy_kernel=1, policy_out_norm=True, value_hidden=0)


def lived_in_weights(config, shape, seed=0):
    """Weights in which nothing is zero or one, as after some training; variances stay positive."""
    random = np.random.default_rng(seed)
    return {
        name: (weight + 0.3 * np.abs(random.standard_normal(weight.shape))).astype(np.float32)
        if name.endswith(("running_var", "norm.weight"))
        else (weight + 0.1 * random.standard_normal(weight.shape)).astype(np.float32)
        for name, weight in initial_weights(config, shape, seed=seed).items()
    }


def random_planes(shape, size, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(0, 2, (size, shape.num_planes, shape.height, shape.width)).astype(np.float32)


def forward(tower, planes):
    with torch.inference_mode():
        return tower(torch.from_numpy(planes))


def numpy_forward(config, weights, planes):
    """The slow twin, square by square as the table at the top of network.py draws it. Returns each head's logits."""

    def conv_norm(x, name):
        kernel = weights[f"{name}.conv.weight"].astype(np.float64)
        margin = kernel.shape[2] // 2
        padded = np.pad(x, ((0, 0), (0, 0), (margin, margin), (margin, margin)))
        y = np.empty((len(x), len(kernel), *x.shape[2:]))
        for row in range(x.shape[2]):
            for column in range(x.shape[3]):
                window = padded[:, :, row : row + kernel.shape[2], column : column + kernel.shape[3]]
                y[:, :, row, column] = np.tensordot(window, kernel, axes=([1, 2, 3], [1, 2, 3]))
        scale, shift, mean, variance = (
            weights[f"{name}.norm.{part}"].astype(np.float64)[:, None, None]
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        return (y - mean) / np.sqrt(variance + NORM_EPSILON) * scale + shift

    def linear(x, name):
        return x.reshape(len(x), -1) @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def relu(x):
        return np.maximum(x, 0)

    def pooled(y, block):
        def numbers(pool, of_board):
            pools = np.array([[of_board(board) for board in position] for position in y])
            return linear(pools, f"{block}.{pool}_out")

        return y + (numbers("mean", np.mean) + numbers("max", np.max))[:, :, None, None]

    def excited(y, block):
        squeezed = relu(linear(y.mean(axis=(2, 3)), f"{block}.squeeze"))
        scale, shift = (linear(squeezed, f"{block}.{part}_out")[:, :, None, None] for part in ("scale", "shift"))
        return y / (1 + np.exp(-scale)) + shift

    x = relu(conv_norm(planes, "stem"))
    for block in range(config.num_blocks):
        y = conv_norm(x, f"blocks.{block}.first")
        if config.pooling_interval and block % config.pooling_interval == config.pooling_interval - 1:
            y = pooled(y, f"blocks.{block}")
        y = conv_norm(relu(y), f"blocks.{block}.second")
        x = relu(x + (excited(y, f"blocks.{block}") if config.squeeze_units else y))

    def hidden(x, name):
        return relu(linear(x, f"{name}_hidden")) if config.value_hidden else x

    value = linear(hidden(relu(conv_norm(x, "value_conv")), "value"), "value_out")
    policy = relu(conv_norm(x, "policy_conv"))
    if config.policy_head == "dense":
        return [linear(policy, "policy_out"), value]
    rest = linear(policy.mean(axis=(2, 3)), "policy_rest")
    if config.policy_out_norm:
        return [np.hstack([conv_norm(policy, "policy_out").reshape(len(policy), -1), rest]), value]
    kernel, shift = weights["policy_out.weight"], weights["policy_out.bias"]
    reach, side = kernel.shape[2] // 2, kernel.shape[2]
    padded = np.pad(policy, ((0, 0), (0, 0), (reach, reach), (reach, reach)))
    logits = [  # action = plane * squares + square
        [
            (kernel[plane] * position[:, row : row + side, column : column + side]).sum() + shift[plane]
            for plane, row, column in np.ndindex(2, 4, 5)
        ]
        for position in padded
    ]
    return [np.hstack([logits, rest]), value]


@pytest.mark.parametrize("value_head", ["scalar", "wdl"])
@pytest.mark.parametrize("num_blocks", [0, 2])
@pytest.mark.parametrize(
    ("small", "shape"),
    [(SMALL, SHAPE), (PLANES, PLANES_SHAPE), (POOLED, PLANES_SHAPE), (EXCITED, PLANES_SHAPE), (BARE, PLANES_SHAPE)],
)
def test_torch_computes_what_the_slow_twin_computes(value_head, num_blocks, small, shape):
    config = dataclasses.replace(small, value_head=value_head, num_blocks=num_blocks)
    weights, planes = lived_in_weights(config, shape), random_planes(shape, 9)
    output = forward(ResidualTower(config, shape, weights).eval(), planes)
    expected = numpy_forward(config, weights, planes)
    for found, logits in zip(output.logits.values(), expected, strict=True):
        np.testing.assert_allclose(found, logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("config", "shape"),
    [
        (SMALL, SHAPE),
        (NetworkConfig(), SHAPE),
        (NetworkConfig(num_blocks=0, value_head="scalar"), SHAPE),
        (PLANES, PLANES_SHAPE),
        (POOLED, PLANES_SHAPE),
        (EXCITED, PLANES_SHAPE),
        (PLANES, dataclasses.replace(SHAPE, num_actions=20)),
    ],
)
def test_the_table_is_torchs_own_and_counts_its_parameters(config, shape):
    tower = ResidualTower(config, shape, initial_weights(config, shape, seed=0))
    assert {name: tuple(tensor.shape) for name, tensor in tower.state_dict().items()} == weight_shapes(config, shape)
    assert num_parameters(config, shape) == sum(parameter.numel() for parameter in tower.parameters())


def test_a_policy_of_planes_needs_a_plane():
    with pytest.raises(SettingsError, match="the game has 7 actions and 20 squares: set it to 'dense'"):
        weight_shapes(PLANES, SHAPE)


def test_parameters_of_a_network_counted_by_hand():
    # stem 3*9*2 + 2*2, a block 2 * (2*9*2 + 2*2), policy 2 + 2 and 20*7 + 7, value 2 + 2, 20*3 + 3 and 3*1 + 1
    config = NetworkConfig(
        num_blocks=1, num_filters=2, policy_filters=1, value_filters=1, value_hidden=3, value_head="scalar"
    )
    assert num_parameters(config, SHAPE) == 58 + 80 + 4 + 147 + 4 + 63 + 4


def test_every_setting_changes_the_network():
    changes = {
        "num_blocks": 3,
        "num_filters": 7,
        "pooling_interval": 1,
        "policy_head": "planes",
        "policy_filters": 4,
        "squeeze_units": 3,
        "policy_kernel": 1,
        "policy_out_kernel": 3,
        "policy_out_norm": True,
        "value_filters": 3,
        "value_pooling": True,
        "value_hidden": 6,
        "value_head": "scalar",
        "ownership_head": True,
        "score_head": True,
    }
    # A module is a network of its own (test_own_network.py), as are an updatable network (test_updatable.py) and one
    # that learns the rules (test_muzero_network.py).
    assert changes.keys() == {field.name for field in dataclasses.fields(NetworkConfig)} - {
        "module",
        "module_weights",
        "kind",
        "updatable_units",
        "updatable_lines",
        "opponent_view",
        "dynamics_blocks",
    }
    for name, value in changes.items():
        base = PLANES if name in ("policy_kernel", "policy_out_kernel", "policy_out_norm") else SMALL
        config = dataclasses.replace(base, **{name: value})
        shape = KOMI_SHAPE if name == "score_head" else PLANES_SHAPE
        assert weight_shapes(config, shape) != weight_shapes(base, shape), name


@pytest.mark.parametrize(
    "bad",
    [
        {"num_blocks": -1},
        {"num_filters": 0},
        {"value_head": "wld"},
        {"value_hidden": 1.5},
        *({field.name: 10**9} for field in dataclasses.fields(NetworkConfig) if field.type == "int"),
    ],
)
def test_a_setting_out_of_range_is_named(bad):
    with pytest.raises(SettingsError, match=f"network.{next(iter(bad))} is"):
        NetworkConfig(**bad)


def test_pooling_adds_nothing_to_begin_with():
    shape, planes = PLANES_SHAPE, random_planes(PLANES_SHAPE, 9)
    weights = lived_in_weights(PLANES, shape)
    pooled = {**initial_weights(POOLED, shape, seed=0), **weights}
    without, found = (
        forward(ResidualTower(config, shape, own).eval(), planes)
        for config, own in ((PLANES, weights), (POOLED, pooled))
    )
    torch.testing.assert_close(found.logits, without.logits, atol=0, rtol=0)


@pytest.mark.parametrize(("interval", "blocks"), [(0, []), (1, [0, 1, 2, 3, 4]), (2, [1, 3]), (3, [2]), (6, [])])
def test_blocks_that_pool(interval, blocks):
    network = NetworkConfig(num_blocks=5, pooling_interval=interval)
    assert [block for block in range(5) if network.pools(block)] == blocks


def test_equal_seeds_begin_equally_and_others_do_not():
    first, again, other = (initial_weights(SMALL, SHAPE, seed=seed) for seed in (1, 1, 2))
    assert all((first[name] == again[name]).all() for name in first)
    assert (first["stem.conv.weight"] != other["stem.conv.weight"]).all()
    assert {weight.dtype for weight in first.values()} == {np.dtype(np.float32)}


def test_the_ownership_head_says_something_of_each_square_and_costs_no_evaluation():
    config = dataclasses.replace(SMALL, ownership_head=True)
    without, with_it = (initial_weights(each, SHAPE, seed=1) for each in (SMALL, config))
    assert {name.partition(".")[0] for name in with_it.keys() - without.keys()} == {"ownership_conv", "ownership_out"}
    assert num_operations(config, SHAPE) == num_operations(SMALL, SHAPE)
    weights = lived_in_weights(config, SHAPE)
    tower, planes = ResidualTower(config, SHAPE, weights), random_planes(SHAPE, 9)
    said = forward(tower.train(), planes).logits["ownership"]
    assert said.shape == (9, SHAPE.height * SHAPE.width)
    assert list(forward(tower.eval(), planes).logits) == ["policy", "value"]


def test_making_a_tower_draws_nothing_from_torchs_global_generator():
    before = torch.get_rng_state()
    ResidualTower(SMALL, SHAPE, initial_weights(SMALL, SHAPE, seed=0))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("value_head", ["scalar", "wdl"])
@pytest.mark.parametrize(("small", "shape"), [(SMALL, SHAPE), (PLANES, PLANES_SHAPE), (BARE, PLANES_SHAPE)])
def test_a_new_network_has_no_opinion(value_head, small, shape):
    config = dataclasses.replace(small, value_head=value_head)
    output = forward(
        ResidualTower(config, shape, initial_weights(config, shape, seed=0)).eval(), random_planes(shape, 4)
    )
    assert not output.policy_logits_BA.any()
    assert not values_of(output.logits["value"]).any()


def test_a_new_network_keeps_the_size_of_its_signal():
    """He's initialisation: what leaves the stem has about the mean square of what entered, whatever the depth."""
    config = NetworkConfig(num_blocks=8, num_filters=64)
    tower = ResidualTower(config, SHAPE, initial_weights(config, SHAPE, seed=0)).eval()
    noise = np.random.default_rng(0).standard_normal((64, 3, 4, 5)).astype(np.float32)
    with torch.inference_mode():
        x = torch.relu(tower.stem(torch.from_numpy(noise)))
        for block in tower.blocks.children():
            assert torch.equal(torch.relu(x + block.second(torch.relu(block.first(x)))), x)
        assert 0.5 < float(x.square().mean()) < 1.5  # below 1: the board's edge is padded with zeros


def test_the_value_of_win_draw_loss_is_win_minus_loss():
    # Probabilities 0.5, 0.3, 0.2 by hand: their logarithms as logits.
    logits = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]).log() + 3.0
    torch.testing.assert_close(values_of(logits), torch.tensor([0.3, -0.7]))


def test_the_scalar_value_is_a_tanh():
    values = values_of(torch.tensor([[0.5], [-2.0]]))
    torch.testing.assert_close(values, torch.tensor([0.46211716, -0.96402758]))


def test_weights_travel_to_a_tower_and_back():
    weights = lived_in_weights(SMALL, SHAPE)
    tower = ResidualTower(SMALL, SHAPE, initial_weights(SMALL, SHAPE, seed=0))
    tower.load_weights(weights)
    returned = tower.weights()
    assert returned.keys() == weights.keys()
    assert all((returned[name] == weights[name]).all() for name in weights)
    with torch.no_grad():
        tower.policy_out.bias.zero_()
    assert (returned["policy_out.bias"] == weights["policy_out.bias"]).all()


@pytest.mark.parametrize(("config", "shape"), [(SMALL, SHAPE), (PLANES, PLANES_SHAPE)])
def test_every_weight_is_trained_once_the_first_steps_have_opened_the_way(config, shape):
    tower = ResidualTower(config, shape, lived_in_weights(config, shape)).train()
    mean_before = tower.stem.norm.running_mean.clone()
    output = tower(torch.from_numpy(random_planes(shape, 32)))
    sum(logits.square().mean() for logits in output.logits.values()).backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in tower.parameters())
    assert not torch.equal(tower.stem.norm.running_mean, mean_before)


def test_channels_last_under_bf16_autocast_is_the_same_network():
    tower = ResidualTower(SMALL, SHAPE, lived_in_weights(SMALL, SHAPE)).eval()
    planes = random_planes(SHAPE, 9)
    expected = forward(tower, planes)
    tower.to(memory_format=torch.channels_last)
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        found = tower(torch.from_numpy(planes).to(memory_format=torch.channels_last))
    assert found.policy_logits_BA.dtype == torch.bfloat16
    np.testing.assert_allclose(found.policy_logits_BA.float(), expected.policy_logits_BA, atol=0.05, rtol=0.02)


def test_a_policy_that_holds_most_parameters_is_told_with_what_the_remedy_saves() -> None:
    shape = NetworkShape(num_planes=3, height=8, width=8, num_actions=64 * 48 + 58)
    config = NetworkConfig(num_blocks=2, num_filters=32)
    with_planes = dataclasses.replace(config, policy_head="planes")
    remark = policy_remark(config, shape)
    assert f"of the network's {num_parameters(config, shape):,} parameters" in remark
    assert remark.endswith(
        f"set has_action_planes = True: the network then has {num_parameters(with_planes, shape):,}."
    )
    assert policy_remark(with_planes, shape) == policy_remark(config, dataclasses.replace(shape, num_actions=5)) == ""

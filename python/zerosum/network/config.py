"""What a network is, without the library that runs it: its settings, the shapes of its weights, and how they begin.

Two programs run the same weights: `residual_tower.py` (PyTorch: training, and GPUs) and `openvino_graph.py` (CPUs).
Neither is imported here; tests hold both against this table and each other. The network is AlphaZero's (arXiv
1712.01815, which refers to AlphaGo Zero, Nature 550, 2017, Methods, "Neural network architecture"):

    planes ── stem ── block ── … ── block ─┬─ policy_conv ── policy_out ─────────────────── a logit for each action
    [C,H,W]   3x3     2 x 3x3, + its input ├─ value_conv 1x1 ── value_hidden ── value_out ── who will win
                                           └─ moves_left_conv, _hidden, _out ─────────────── how soon, if asked for

Every convolution is followed by batch normalisation ("norm") and has no bias of its own; ReLU follows every norm (in a
block the second ReLU comes after the addition) and the hidden layers. There are two policy heads:

    dense    policy_conv 1x1, policy_out a linear layer from all its squares to all actions (the paper's for Go)
    planes   policy_conv 3x3, policy_out a 1x1 convolution with a bias to K = A // (H * W) planes, whose squares are the
             first K * H * W actions (the paper's for chess and shogi); the actions beyond, such as a pass, come from
             the mean over all squares by the linear layer policy_rest. Nothing in it depends on the board's size.

The head of the moves left is built as the value head is, and says one number x: MOVES_LEFT_SCALE * softplus(x) plies
until the game ends. Leela Chess Zero's (its pull request 961) ends in ReLU, where a head that says 0 learns no more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum._core import GameSpec
from zerosum.base.errors import SettingsError
from zerosum.base.settings import check, setting

Weights = Mapping[str, NDArray[np.float32]]
"""A network's weights by name, float32, with the names and shapes of `weight_shapes`."""

NORM_EPSILON = 1e-5
"""Added to a variance before its square root is taken, by every batch normalisation."""

MOVES_LEFT_SCALE = 20.0
"""Plies for one unit of the moves-left head, so that its loss is of the size of the others (as in lczero-training)."""

NORM_PARTS = ("weight", "bias", "running_mean", "running_var")
"""What one batch normalisation keeps, a number a filter each: scale, shift, and the statistics of what it saw."""


@dataclass(frozen=True)
class NetworkConfig:
    """The size of the network. The paper's: 19 blocks, 256 filters, policy 2 (Go), value 1, hidden 256, scalar."""

    num_blocks: int = setting(
        5, "Residual blocks of two 3x3 convolutions; 0 leaves the stem and the heads.", low=0, high=200
    )
    num_filters: int = setting(64, "Filters of the stem and of every block.", low=1, high=1024)
    policy_head: str = setting(
        "dense",
        "How logits come from squares: 'dense', a linear layer, for any game, or 'planes', a convolution, for games"
        " whose actions are planes of squares (paper: dense for Go, planes for chess and shogi).",
        choices=("dense", "planes"),
    )
    policy_filters: int = setting(
        32, "Filters of the policy head's convolution (paper: 2 in Go, 256 in chess and shogi).", low=1, high=1024
    )
    value_filters: int = setting(8, "Filters of the value head's 1x1 convolution.", low=1, high=1024)
    value_hidden: int = setting(64, "Units of the value head's hidden layer.", low=1, high=4096)
    value_head: str = setting(
        "wdl",
        "What the value head says: 'scalar', the expected result (paper), or 'wdl', how likely win, draw and loss are.",
        choices=("scalar", "wdl"),
    )
    moves_left_head: bool = setting(
        False,
        "Whether the network also says in how many plies the game will end, from a head as large as the value head"
        " (paper: false).",
    )

    def __post_init__(self) -> None:
        """Raises SettingsError when a field is out of range."""
        check(self, "network")

    @property
    def num_value_logits(self) -> int:
        """V: 1 (the value before its tanh) or 3 (logits of win, draw, loss for the player to move)."""
        return 1 if self.value_head == "scalar" else 3


@dataclass(frozen=True)
class NetworkShape:
    """What the game asks of a network: C planes of height H and width W in, a logit for each of A actions out."""

    num_planes: int
    height: int
    width: int
    num_actions: int

    @classmethod
    def of(cls, spec: GameSpec) -> NetworkShape:
        """The shape for a game."""
        height, width = spec.board_shape
        return cls(num_planes=len(spec.planes), height=height, width=width, num_actions=spec.num_actions)

    @property
    def num_policy_planes(self) -> int:
        """K: whole planes of squares among the actions."""
        return self.num_actions // (self.height * self.width)

    @property
    def num_rest_actions(self) -> int:
        """Actions beyond the K planes."""
        return self.num_actions % (self.height * self.width)


def weight_shapes(config: NetworkConfig, shape: NetworkShape) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight, in the order of the forward pass.

    Convolutions are [filters out, filters in, kernel height, kernel width], linear layers [out, in].

    Raises:
        SettingsError: the policy head is of planes, and there are fewer actions than squares.
    """
    squares, filters = shape.height * shape.width, config.num_filters
    shapes: dict[str, tuple[int, ...]] = {}

    def conv(name: str, filters_in: int, filters_out: int, kernel: int) -> None:
        shapes[f"{name}.conv.weight"] = (filters_out, filters_in, kernel, kernel)
        shapes.update({f"{name}.norm.{part}": (filters_out,) for part in NORM_PARTS})

    def linear(name: str, units_in: int, units_out: int) -> None:
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = (units_out, units_in), (units_out,)

    conv("stem", shape.num_planes, filters, 3)
    for block in range(config.num_blocks):
        conv(f"blocks.{block}.first", filters, filters, 3)
        conv(f"blocks.{block}.second", filters, filters, 3)
    if config.policy_head == "dense":
        conv("policy_conv", filters, config.policy_filters, 1)
        linear("policy_out", config.policy_filters * squares, shape.num_actions)
    else:
        _require_planes(shape)
        conv("policy_conv", filters, config.policy_filters, 3)
        shapes["policy_out.weight"] = (shape.num_policy_planes, config.policy_filters, 1, 1)
        shapes["policy_out.bias"] = (shape.num_policy_planes,)
        if shape.num_rest_actions:
            linear("policy_rest", config.policy_filters, shape.num_rest_actions)
    conv("value_conv", filters, config.value_filters, 1)
    linear("value_hidden", config.value_filters * squares, config.value_hidden)
    linear("value_out", config.value_hidden, config.num_value_logits)
    if config.moves_left_head:  # last, so that the other weights begin as they do without it
        conv("moves_left_conv", filters, config.value_filters, 1)
        linear("moves_left_hidden", config.value_filters * squares, config.value_hidden)
        linear("moves_left_out", config.value_hidden, 1)
    return shapes


def _require_planes(shape: NetworkShape) -> None:
    if not shape.num_policy_planes:
        raise SettingsError(
            f"network.policy_head is 'planes', but the game has {shape.num_actions} actions and"
            f" {shape.height * shape.width} squares: set it to 'dense'."
        )


def num_parameters(config: NetworkConfig, shape: NetworkShape) -> int:
    """How many numbers training changes (the running statistics of the norms are measured, not trained)."""
    return sum(math.prod(s) for name, s in weight_shapes(config, shape).items() if ".running_" not in name)


def num_operations(config: NetworkConfig, shape: NetworkShape) -> int:
    """Floating-point operations of one evaluation: 2 a multiplication with its addition.

    Only convolutions (at every square) and linear layers count: norms are folded into them, the rest costs little.
    """
    squares = shape.height * shape.width
    sizes = [s for s in weight_shapes(config, shape).values() if len(s) > 1]
    return sum(2 * math.prod(s) * (squares if len(s) == 4 else 1) for s in sizes)


def initial_weights(config: NetworkConfig, shape: NetworkShape, *, seed: int) -> dict[str, NDArray[np.float32]]:
    """Weights to begin with, a pure function of the arguments. The paper does not state its own.

    - Convolutions and hidden layers: normal, standard deviation sqrt(2 / inputs), bias 0 (He et al. 2015,
      arXiv 1502.01852, eq. 10).
    - The last norm of each block: scale 0, so that a block begins as the identity (Goyal et al. 2017, arXiv
      1706.02677, section 5.1). The other norms: scale 1. All: shift 0.
    - `policy_out`, `policy_rest`, `value_out` and `moves_left_out`: 0 (as the classification layer in Fixup, Zhang et
      al. 2019, arXiv 1901.09321), so a new network has no opinion: every action equally likely, every value 0.
    """
    random = np.random.default_rng(seed)

    def begin(name: str, weight_shape: tuple[int, ...]) -> NDArray[np.float32]:
        if name.endswith(("second.norm.weight", "bias", "running_mean", "_out.weight", "policy_rest.weight")):
            return np.zeros(weight_shape, np.float32)
        if name.endswith(("norm.weight", "running_var")):
            return np.ones(weight_shape, np.float32)
        deviation = math.sqrt(2 / math.prod(weight_shape[1:]))
        return (random.standard_normal(weight_shape) * deviation).astype(np.float32)

    return {name: begin(name, weight_shape) for name, weight_shape in weight_shapes(config, shape).items()}

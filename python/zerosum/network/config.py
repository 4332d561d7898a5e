"""Settings of a network, and the shape that a game requires, without torch.

The heads are in `heads.py`, the layers in `layers.py`, their weights in `weights.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from zerosum._core import GameSpec
from zerosum.base.errors import SettingsError, shown
from zerosum.base.settings import check, setting
from zerosum.games.names import class_in_file
from zerosum.network.heads import OWNERSHIP, POINTS, POLICY, Head, value_head

_WEIGHT = re.compile(r"([\w.]+):((?:[1-9][0-9]{0,6}(?:x[1-9][0-9]{0,6}){0,7})?)", re.ASCII)


@dataclass(frozen=True)
class NetworkConfig:
    """The size of the network. The paper's: 19 blocks, 256 filters, policy 2 (Go), value 1, hidden 256, scalar."""

    kind: Literal["residual", "updatable", "muzero"] = setting(
        "residual",
        "'residual', a residual tower for tree search (the paper); 'updatable', a small, efficiently updatable"
        " network for alpha-beta search, which has none of the settings below but the next three (docs/alpha-beta.md);"
        " 'muzero', a network that learns the rules too, for search.rules 'learned' (docs/muzero.md)",
    )
    updatable_units: int = setting(
        64, "units of each side's accumulator of an updatable network, a multiple of 16", low=16, high=1024
    )
    updatable_lines: int = setting(
        0,
        "squares of the lines (in rows, columns and diagonals) whose whole contents are features of an updatable"
        " network, too, for games of one kind of stones; 0 for none",
        low=0,
        high=6,
    )
    opponent_view: Literal["same", "flipped", "turned", "transposed"] = setting(
        "same",
        "how the opponent of an updatable network's player sees the board, which a training finds when it begins",
    )

    num_blocks: int = setting(
        5, "residual blocks of two 3x3 convolutions; 0 leaves the stem and the heads", low=0, high=200
    )
    num_filters: int = setting(64, "filters of the stem and of every block", low=1, high=1024)
    dynamics_blocks: int = setting(
        2, "residual blocks of the dynamics of a 'muzero' network (paper: as many as num_blocks)", low=0, high=200
    )
    pooling_interval: int = setting(
        0,
        "n for global pooling in every n-th block, which lets a filter depend on the whole board at once; 0 for none"
        " (KataGo: 3; paper: 0)",
        low=0,
        high=200,
    )
    squeeze_units: int = setting(
        0,
        "units between the means of a block's filters and the factors that scale the filters, in every block"
        " (squeeze-and-excitation, arXiv 1709.01507; Lc0: 32); 0 for none (paper: 0)",
        low=0,
        high=1024,
    )
    policy_head: Literal["dense", "planes"] = setting(
        "dense",
        "last layer of the policy head: 'dense', a linear layer, for any game, or 'planes', a convolution, for games"
        " whose actions are planes of squares (paper: dense for Go, planes for chess and shogi)",
    )
    policy_filters: int = setting(
        32, "filters of the policy head's convolution (paper: 2 in Go, 256 in chess and shogi)", low=1, high=1024
    )
    policy_kernel: int = setting(
        3, "side of that convolution's kernels if policy_head is 'planes', 1 or 3 (paper: 3)", low=1, high=3
    )
    policy_out_kernel: int = setting(
        1, "side of the kernels of a 'planes' head's last layer, 1 or 3 (paper: 1; Lc0: 3)", low=1, high=3
    )
    policy_out_norm: bool = setting(
        False, "whether the last layer of a 'planes' head is normalised and has no bias (paper: false)"
    )
    value_filters: int = setting(8, "filters of the value head's 1x1 convolution", low=1, high=1024)
    value_hidden: int = setting(64, "units of the value head's hidden layer; 0 for none", low=0, high=4096)
    value_pooling: bool = setting(
        False,
        "whether the value head sees the means and maxima of its filters over the board, not each square; with a"
        " 'planes' policy head the network then fits boards of all sizes (KataGo: true; paper: false)",
    )
    value_head: Literal["scalar", "wdl"] = setting(
        "wdl",
        "output of the value head: 'scalar', the expected result (paper), or 'wdl', the probabilities of win, draw"
        " and loss",
    )
    ownership_head: bool = setting(
        False,
        "whether the network also learns the owner of each square at the end of the game, by a head that is used"
        " only in training; for Go (KataGo: true; paper: false)",
    )

    score_head: bool = setting(
        False,
        "whether the network also learns the score at the end of the game and how uncertain it is, by a head that is"
        " used in training and analyses; for planes with komi, 'go(planes=sized)' and 'mixedgo' (KataGo: true; paper:"
        " false)",
    )
    module: str = setting(
        "",
        "a network of one's own in place of the residual tower, a torch module as path.py:Class (docs/own-network.md);"
        " '' for none",
    )
    module_weights: str = setting(
        "", "names and shapes of the weights of network.module, which a training writes when it begins"
    )

    def __post_init__(self) -> None:
        """Raises SettingsError when a field is out of range, or contradicts another."""
        check(self, "network")
        for name in ("policy_kernel", "policy_out_kernel"):
            if getattr(self, name) == 2:
                raise SettingsError(f"network.{name} is 2, expected 1 or 3: a kernel has a middle.")
        if self.updatable_units % 16:
            raise SettingsError(f"network.updatable_units is {self.updatable_units}, expected a multiple of 16.")
        if self.updatable_lines == 1:
            raise SettingsError("network.updatable_lines is 1, expected 0, or 2 to 6: a square is a feature by itself.")
        more_heads = self.heads_of_owners
        if self.kind == "updatable" and (self.module or more_heads):
            raise SettingsError(
                "network.kind is 'updatable', a network whose only output is the value: leave out network.module,"
                " network.ownership_head and network.score_head."
            )
        if self.kind == "muzero" and (self.module or more_heads or self.policy_out_norm):
            raise SettingsError(
                "network.kind is 'muzero', a network without norms whose heads are the policy and the value: leave out"
                " network.module, network.ownership_head, network.score_head and network.policy_out_norm."
            )
        if self.module:
            if more_heads:
                raise SettingsError(
                    f"network.module is a network of its own, which has no network.{more_heads[0]}: leave it out."
                )
            parse_shapes(self.module_weights)

    @property
    def size(self) -> str:
        """Blocks and filters, such as "5x64", or the units of an updatable network."""
        if self.kind == "updatable":
            lines = f" with lines of {self.updatable_lines}" if self.updatable_lines else ""
            return f"updatable, 2 x {self.updatable_units}{lines}"
        return f"{self.num_blocks}x{self.num_filters}"

    def pools(self, block: int) -> bool:
        """Whether a block, numbered from 0, has global pooling."""
        return self.pooling_interval > 0 and (block + 1) % self.pooling_interval == 0

    @property
    def heads_of_owners(self) -> list[str]:
        """The settings that are true of heads that learn from the owners of squares."""
        return [name for name in ("ownership_head", "score_head") if getattr(self, name)]

    @property
    def fits_all_sizes(self) -> bool:
        """Whether no weight depends on the board's size."""
        return self.kind == "residual" and not self.module and self.policy_head == "planes" and self.value_pooling

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads that are trained, in the order of their weights: the policy first, then the value."""
        if self.kind == "updatable":
            return (value_head(1),)
        heads = [POLICY, value_head(1 if self.value_head == "scalar" else 3)]
        heads += [OWNERSHIP] if self.ownership_head else []
        heads += [POINTS] if self.score_head else []
        return tuple(heads)

    @property
    def search_heads(self) -> tuple[Head, ...]:
        """Heads that players and self-play use, in the order of `heads`."""
        return tuple(head for head in self.heads if head.is_for_search)


def own_module(config: NetworkConfig) -> tuple[Path, str]:
    """The file of `NetworkConfig.module`, and the class with its options.

    Raises:
        SettingsError: it is not written as path.py:Class.
    """
    own = class_in_file(config.module)
    if own is None or not own[1]:
        raise SettingsError(f"network.module is {shown(config.module)}, expected a torch module as path.py:Class.")
    return Path(os.path.realpath(own[0])), own[1]


def shapes_text(shapes: Mapping[str, tuple[int, ...]]) -> str:
    """The names and shapes of weights as `NetworkConfig.module_weights` has them.

    >>> shapes_text({"stem.weight": (8, 3, 3, 3), "scale": ()})
    'stem.weight:8x3x3x3 scale:'
    """
    return " ".join(f"{name}:{'x'.join(map(str, shape))}" for name, shape in shapes.items())


def parse_shapes(text: str) -> dict[str, tuple[int, ...]]:
    """The inverse of `shapes_text`.

    >>> parse_shapes("stem.weight:8x3x3x3 scale:")
    {'stem.weight': (8, 3, 3, 3), 'scale': ()}

    Raises:
        SettingsError: it is not such a text.
    """
    found: dict[str, tuple[int, ...]] = {}
    for part in text.split():
        match = _WEIGHT.fullmatch(part)
        if match is None or match[1] in found:
            raise SettingsError(f"network.module_weights has {shown(part)}, expected NAME:AxBxC, each name once.")
        found[match[1]] = tuple(int(side) for side in match[2].split("x") if side)
    return found


@dataclass(frozen=True)
class NetworkShape:
    """Shape that a game requires: C planes of H x W in, a logit for each of A actions out."""

    num_planes: int
    height: int
    width: int
    num_actions: int
    planes: tuple[tuple[str, bool], ...] = ()
    """Name of each plane, and whether it has one number on all squares; only an updatable network asks."""

    @classmethod
    def of(cls, spec: GameSpec) -> NetworkShape:
        """The shape for a game."""
        height, width = spec.board_shape
        planes = tuple((plane.name, plane.is_constant) for plane in spec.planes)
        return cls(len(planes), height, width, spec.num_actions, planes)

    def num_logits(self, head: Head) -> int:
        """Number of logits of a head for each position."""
        if isinstance(head.width, int):
            return head.width
        return self.num_actions if head.width == "actions" else self.height * self.width

    @property
    def num_policy_planes(self) -> int:
        """K: whole planes of squares among the actions."""
        return self.num_actions // (self.height * self.width)

    @property
    def num_rest_actions(self) -> int:
        """Actions beyond the K planes."""
        return self.num_actions % (self.height * self.width)

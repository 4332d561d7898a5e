"""What a network is, without the library that runs it: its settings, and what a game asks of it.

The heads are in `heads.py`, the layers in `layers.py`, their weights in `weights.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from zerosum._core import GameSpec
from zerosum.base.errors import SettingsError
from zerosum.base.settings import check, setting
from zerosum.network.heads import OWNERSHIP, POLICY, REPLY, Head, value_head


@dataclass(frozen=True)
class NetworkConfig:
    """The size of the network. The paper's: 19 blocks, 256 filters, policy 2 (Go), value 1, hidden 256, scalar."""

    num_blocks: int = setting(
        5, "residual blocks of two 3x3 convolutions; 0 leaves the stem and the heads", low=0, high=200
    )
    num_filters: int = setting(64, "filters of the stem and of every block", low=1, high=1024)
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
    policy_out_norm: bool = setting(
        False, "whether the last layer of a 'planes' head is normalised and has no bias (paper: false)"
    )
    value_filters: int = setting(8, "filters of the value head's 1x1 convolution", low=1, high=1024)
    value_hidden: int = setting(64, "units of the value head's hidden layer; 0 for none", low=0, high=4096)
    value_head: Literal["scalar", "wdl"] = setting(
        "wdl",
        "output of the value head: 'scalar', the expected result (paper), or 'wdl', the probabilities of win, draw"
        " and loss",
    )
    reply_head: bool = setting(
        False,
        "whether the network also learns the policy of the next ply, the opponent's reply, by a head as large as the"
        " policy head, which is used only in training (KataGo: true; paper: false; not measured)",
    )

    ownership_head: bool = setting(
        False,
        "whether the network also learns the owner of each square at the end of the game, by a head that is used"
        " only in training; for Go (KataGo: true; paper: false)",
    )

    RETIRED_SETTINGS: ClassVar[Mapping[str, Any]] = {"moves_left_head": False}

    def __post_init__(self) -> None:
        """Raises SettingsError when a field is out of range."""
        check(self, "network")
        if self.policy_kernel == 2:
            raise SettingsError("network.policy_kernel is 2, expected 1 or 3: a kernel has a middle.")

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads that are trained, in the order of their weights: the policy first, then the value."""
        heads = [POLICY, value_head(1 if self.value_head == "scalar" else 3)]
        heads += [REPLY] if self.reply_head else []
        heads += [OWNERSHIP] if self.ownership_head else []
        return tuple(heads)

    @property
    def search_heads(self) -> tuple[Head, ...]:
        """Those of `heads` that players and self-play ask for, in the same order."""
        return tuple(head for head in self.heads if head.is_for_search)


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

    def num_logits(self, head: Head) -> int:
        """How many logits a head has for each position."""
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

"""The architecture of a network of KataGo, as its file describes it. `katago.py` reads it, `katago_graph.py` builds it.

It has no settings: zerosum plays with these networks and does not train them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn

from zerosum.network.config import NetworkConfig
from zerosum.network.heads import OWNERSHIP, POLICY, Head, value_head


def _is_not_trained(*_: object) -> NoReturn:
    raise AssertionError("a network of KataGo is not trained")


SCORE = Head("score", 3, (), _is_not_trained, is_for_search=False)
"""For the player to move, in units of the file (`KatagoConfig.points`): the mean score of self-play, its standard
deviation before softplus, and the lead, the points that would make the game even."""


@dataclass(frozen=True)
class Block:
    """A block of the trunk: twice a norm, an activation and a convolution, then the sum with its input."""

    filters: int
    """Filters between its two convolutions."""
    kernels: tuple[int, int]
    """Sides of the two convolutions' kernels."""
    pooled_filters: int = 0
    """Filters of a convolution beside the first one, whose means and maxima over the board shift the first one's
    filters; 0 for none."""
    pooled_kernel: int = 0
    """Side of that convolution's kernels."""
    inner: tuple[Block, ...] = ()
    """Blocks between the two convolutions ("nested bottleneck"); () for none."""


@dataclass(frozen=True)
class KatagoConfig(NetworkConfig):
    """The sizes of a network of KataGo; of the settings of `NetworkConfig` it has blocks, filters and heads."""

    version: int = 8
    """Version of the file's format."""
    activation: Literal["relu", "mish"] = "relu"
    blocks: tuple[Block, ...] = ()
    stem_kernel: int = 3
    policy_pooled_filters: int = 1
    """Filters of the policy's convolution that is pooled."""
    kernels: tuple[int, int, int, int, int] = (1, 1, 1, 1, 1)
    """Sides of the kernels of the heads: policy, its pooled one, its last one, value, ownership."""
    points: tuple[float, float, float] = (20.0, 20.0, 20.0)
    """Points in a unit of each output of `SCORE`."""

    def __post_init__(self) -> None:
        """Check nothing: the reader has."""

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads that are read."""
        return POLICY, value_head(3), OWNERSHIP, SCORE

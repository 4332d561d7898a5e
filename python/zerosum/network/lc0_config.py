"""The architecture of a network of Lc0 with attention, Mish or an output of moves left.

`lc0.py` reads its file, `lc0_graph.py` builds it. It has no settings: zerosum plays with these networks and does not
train them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal, NoReturn

from zerosum.network.config import NetworkConfig
from zerosum.network.heads import Head

Activation = Literal["relu", "mish", "selu", "swish", "squared_relu"]


def _is_not_trained(*_: object) -> NoReturn:
    raise AssertionError("an output of Lc0's is not trained")


MOVES_LEFT = Head("moves_left", 1, (), _is_not_trained, is_for_search=False)
"""Plies until the game ends, before a ReLU."""


@dataclass(frozen=True)
class Smolgen:
    """A layer that adds a number of the whole position to each pair of squares that attend to one another."""

    squeezed: int
    """Numbers of each square that it looks at."""
    hidden: int
    """Units of its first layer."""
    generated: int
    """Units of its second layer for each head."""


@dataclass(frozen=True)
class Encoder:
    """Self-attention of the squares, then two linear layers; each is added to its input and normalised."""

    heads: int
    units: int
    """Units of the queries, keys and values of all heads."""
    hidden: int
    """Units between the two linear layers."""
    smolgen: Smolgen | None = None


@dataclass(frozen=True)
class Lc0Config(NetworkConfig):
    """The sizes of such a network; of the settings of `NetworkConfig` it has blocks, filters and heads."""

    activation: Literal["relu", "mish"] = "relu"
    """The function after each layer without one of its own."""
    feed_forward_activation: Activation = "relu"
    """The function between the linear layers of an encoder."""
    smolgen_activation: Activation = "relu"
    embedding_units: int = 0
    """Units of each square after the tower and the embedding; 0 without attention in the body."""
    position_units: int = 0
    """Units of each square that know the whole position before the encoders; 0 for the squares that a piece could
    reach instead (`INPUT_EMBEDDING_PE_DENSE`, `INPUT_EMBEDDING_PE_MAP`)."""
    position_hidden: int = 0
    """Units of the linear layers after such an embedding."""
    has_gates: bool = False
    """Whether each unit of each square is multiplied by a number and another one is added."""
    encoders: tuple[Encoder, ...] = ()
    policy_units: int = 0
    """Units of each square in a policy of attention; 0 for another policy."""
    policy_activation: Activation = "relu"
    policy_feed_forward_activation: Activation = "relu"
    policy_encoders: tuple[Encoder, ...] = ()
    policy_keys: int = 0
    """Units of the queries and keys of the policy."""
    moves_left: tuple[int, int] | None = None
    """Filters, or units of each square, and hidden units of the output of moves left."""

    def __post_init__(self) -> None:
        """Check nothing: the reader has."""

    @property
    def size(self) -> str:
        """Blocks and filters of the tower, and encoders and units of the body, such as "10 encoders of 256 units"."""
        body = f"{len(self.encoders)} encoders of {self.embedding_units} units"
        if not self.encoders:
            return super().size
        return f"{super().size}, {body}" if self.num_filters else body

    @property
    def norm_epsilon(self) -> float:
        """The number added to the variance of the encoders' norms."""
        return 1e-3 if self.position_units else 1e-6

    @property
    def is_attention(self) -> bool:
        """Whether squares attend to one another anywhere."""
        return bool(self.encoders or self.policy_units)

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads that are read."""
        return super().heads + ((MOVES_LEFT,) if self.moves_left else ())

    def trainable(self) -> NetworkConfig | None:
        """The same network without its output of moves left, if it is one that can be trained."""
        if self.is_attention or self.activation != "relu":
            return None
        return NetworkConfig(**{field.name: getattr(self, field.name) for field in dataclasses.fields(NetworkConfig)})

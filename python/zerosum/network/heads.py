"""The heads: the outputs of the network, their targets and losses. Each head is described here, once.

A head has a fixed number of outputs (`width`), or a logit for each action, like the policy, or for each square.
`layers.py` builds it, `residual_tower.py` computes it, the learner adds up its loss, and self-play uses it if
`is_for_search`. A new head needs an entry in `NetworkConfig.heads`, its target in `replay/batch.py` and the setting of
its loss weight in `learner/config.py`.

Torch is imported where a tensor is needed. Shape suffixes: B samples, A actions, V value logits (1 or 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

    Targets = Mapping[str, Tensor]
    """The targets of a batch (`replay.batch.Batch`) by name: `policy` [B, A], `owners` [B, H * W], others [B]; with
    `legal` [B, A] if illegal logits are masked."""
    Measure = Callable[[Tensor, Targets], Tensor]
    """A function of a head's float32 logits and the targets that returns [B]."""


@dataclass(frozen=True)
class Head:
    """One output of the network."""

    name: str
    """The name of its layers, its logits and its loss."""
    width: int | Literal["actions", "squares"]
    """Number of outputs per position, or a logit for each action or square."""
    targets: tuple[str, ...]
    """The targets that its loss reads."""
    loss: Measure
    loss_weight: str = ""
    """The learner's setting with the weight of its loss; "" for a weight of 1."""
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """Reported measures besides the loss, by name."""
    is_for_search: bool = True
    """Whether players and self-play use it. Other heads are only computed in training."""


def masked_logits(logits_BA: Tensor, legal_BA: Tensor | None) -> Tensor:
    """[B, A], the logits with those of illegal moves at minus infinity; all of them without a mask."""
    import torch

    return logits_BA if legal_BA is None else logits_BA.masked_fill(~legal_BA, -torch.inf)


def policy_loss(logits_BA: Tensor, target_BA: Tensor, legal_BA: Tensor | None) -> Tensor:
    """[B], - pi . log p. With a mask, the softmax is over legal moves only; a row of zeros has the loss 0."""
    log_probs_BA = masked_logits(logits_BA, legal_BA).log_softmax(dim=1)
    # 0 * -inf is NaN, and the target is 0 wherever a move is illegal.
    return -(target_BA * log_probs_BA.masked_fill(target_BA == 0, 0)).sum(dim=1)


def policy_entropy(target_BA: Tensor) -> Tensor:
    """[B], the lower bound of the policy loss, in nats."""
    import torch

    entropy_B: Tensor = -torch.xlogy(target_BA, target_BA).sum(dim=1)
    return entropy_B


POLICY = Head(
    "policy",
    "actions",
    ("policy",),
    lambda logits, targets: policy_loss(logits, targets["policy"], targets.get("legal")),
    measures={"policy_entropy": lambda logits, targets: policy_entropy(targets["policy"])},
)
"""A logit for each action."""


def values_of(logits_BV: Tensor) -> Tensor:
    """[B] in [-1, 1] for the player to move: tanh of a scalar head's number, or P(win) - P(loss)."""
    if logits_BV.shape[1] == 1:
        return logits_BV[:, 0].tanh()
    probs_B3 = logits_BV.softmax(dim=1)
    return probs_B3[:, 0] - probs_B3[:, 2]


def value_loss(logits_BV: Tensor, target_B: Tensor, draws_B: Tensor | None = None) -> Tensor:
    """[B], (z - v)^2 for a scalar head; cross-entropy for a win/draw/loss head.

    A target such as 0.4 is split into win, draw and loss: with the largest share of draws that fits it (40 % win and
    60 % draw), but at most `draws_B` (with 0 draws, 70 % win and 30 % loss).
    """
    import torch

    if logits_BV.shape[1] == 1:
        error_B: Tensor = (target_B - values_of(logits_BV)) ** 2
        return error_B
    decided_B = target_B.abs() if draws_B is None else target_B.abs().maximum(1 - draws_B)
    target_B3 = torch.stack([(decided_B + target_B) / 2, 1 - decided_B, (decided_B - target_B) / 2], dim=1)
    return -(target_B3 * logits_BV.log_softmax(dim=1)).sum(dim=1)


def value_head(width: int) -> Head:
    """One number, the value before its tanh, or three, the logits of win, draw and loss for the player to move."""
    return Head(
        "value",
        width,
        ("value", "draws"),
        lambda logits, targets: value_loss(logits, targets["value"], targets.get("draws")),
        loss_weight="value_weight",
        measures={"value_error": lambda logits, targets: (values_of(logits) - targets["value"]) ** 2},
    )


def ownership_loss(logits_BS: Tensor, owners_BS: Tensor) -> Tensor:
    """[B], the mean cross-entropy of the squares' owners; a square without an owner counts half for each side."""
    import torch.nn.functional as F

    loss_BS = F.binary_cross_entropy_with_logits(logits_BS, (owners_BS + 1) / 2, reduction="none")
    return loss_BS.mean(dim=1)


POINTS_SCALE = 20.0
"""Points in a unit of the score head, as in KataGo, and in the plane of komi."""
KOMI_PLANE = "own komi / 20"
"""The name of the plane of komi, which the score head needs."""
LEAST_DEVIATION = 0.05
"""The least standard deviation of the score, a point, in units of the score head."""


def points_of(logits_B2: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation, [B] each, of the points on the board, in units of `POINTS_SCALE`."""
    import torch.nn.functional as F

    return logits_B2[:, 0], F.softplus(logits_B2[:, 1]) + LEAST_DEVIATION


def points_loss(logits_B2: Tensor, owners_BS: Tensor) -> Tensor:
    """[B], the negative log-likelihood of the points on the board at the end under a normal distribution, in nats.

    The squares' owners have them: the player to move's squares less the opponent's.
    """
    import torch

    means_B, deviations_B = points_of(logits_B2)
    points_B = owners_BS.sum(dim=1) / POINTS_SCALE
    loss_B: Tensor = ((points_B - means_B) / deviations_B) ** 2 / 2 + torch.log(deviations_B)
    return loss_B


POINTS = Head(
    "points",
    2,
    ("owners",),
    lambda logits, targets: points_loss(logits, targets["owners"]),
    loss_weight="score_weight",
    measures={
        "points_error": lambda logits, targets: (
            POINTS_SCALE * points_of(logits)[0] - targets["owners"].sum(dim=1)
        ).abs()
    },
    is_for_search=False,
)
"""The points that the player to move will have on the board, less the opponent's, without komi: the mean in units of
`POINTS_SCALE`, and the standard deviation before `points_of`. Search does not use it; analyses do
(`evaluators/ownership.py`)."""

OWNERSHIP = Head(
    "ownership",
    "squares",
    ("owners",),
    lambda logits, targets: ownership_loss(logits, targets["owners"]),
    loss_weight="ownership_weight",
    is_for_search=False,
)
"""For each square the logit that the player to move owns it at the end of the game (KataGo, arXiv 1902.10565, section
4.1). The result is a sum over many squares, and this head learns the part of each. Search does not use it; analyses do
(`evaluators/ownership.py`)."""

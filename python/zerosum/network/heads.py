"""The heads: what the network says of a position, what each learns from, and how. A head is described here, once.

A head is made of numbers (`width`), or it has a logit for each action, as the policy has, or for each square.
`layers.py` builds it, `residual_tower.py` computes it, the learner adds up its loss, and self-play asks for it if
`is_for_search`. A new head needs an entry in `NetworkConfig.heads`, its target in `replay/window.py` and the setting of
its loss weight in `learner.py`.

Torch is imported where a tensor is needed. Shape suffixes: B samples, A actions, V value logits (1 or 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

    Targets = Mapping[str, Tensor]
    """By name, what a batch has to learn from (`replay.window.Batch.targets`); `legal`, [B, A], if it masks logits."""
    Measure = Callable[[Tensor, Targets], Tensor]
    """[B] from a head's logits, float32, and the targets."""

MOVES_LEFT_SCALE = 20.0
"""Plies for one unit of the moves-left head, so that its loss is of the size of the others (as in lczero-training)."""


@dataclass(frozen=True)
class Head:
    """One thing that the network says of a position."""

    name: str
    """The name of its layers, its logits and its loss."""
    width: int | Literal["actions", "squares"]
    """Numbers for each position, or a logit for each action or square."""
    targets: tuple[str, ...]
    """The targets that its loss reads."""
    loss: Measure
    loss_weight: str = ""
    """The learner's setting with the weight of its loss; "" is a weight of 1."""
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """What is told of it beside the loss, by name."""
    is_for_search: bool = True
    """Whether players and self-play ask for it. A head that only trains is left out of what runs there."""


def policy_loss(logits_BA: Tensor, target_BA: Tensor, legal_BA: Tensor | None) -> Tensor:
    """[B], - pi . log p. A mask leaves illegal moves out of the softmax; a row of zeros has the loss 0."""
    import torch

    if legal_BA is not None:
        logits_BA = logits_BA.masked_fill(~legal_BA, -torch.inf)
    log_probs_BA = logits_BA.log_softmax(dim=1)
    # 0 * -inf is NaN, and the target is 0 wherever a move is illegal.
    return -(target_BA * log_probs_BA.masked_fill(target_BA == 0, 0)).sum(dim=1)


def policy_entropy(target_BA: Tensor) -> Tensor:
    """[B], the least that the policy loss could be, in nats."""
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

    A target between the results is taken for their mean, with as many draws as that allows (0.4 is 40 % win and 60 %
    draw), but at most `draws_B`: with none of them, 0.4 is 70 % win and 30 % loss.
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


def moves_left_of(logits_B1: Tensor) -> Tensor:
    """[B], plies until the game ends, above 0."""
    import torch.nn.functional as F

    return MOVES_LEFT_SCALE * F.softplus(logits_B1[:, 0])


def moves_left_loss(moves_left_B: Tensor, plies_left_B: Tensor) -> Tensor:
    """[B], the Huber loss of lczero-training: of the error in units of 20 plies, quadratic up to half a unit.

    The plies of a game that the ply cap cut are the least that it would have lasted. They count all the same, because
    without them only games that end early would be learned from.
    """
    import torch.nn.functional as F

    return F.huber_loss(moves_left_B / MOVES_LEFT_SCALE, plies_left_B / MOVES_LEFT_SCALE, reduction="none", delta=0.5)


MOVES_LEFT = Head(
    "moves_left",
    1,
    ("plies_left",),
    lambda logits, targets: moves_left_loss(moves_left_of(logits), targets["plies_left"]),
    loss_weight="moves_left_weight",
    measures={"moves_left_error": lambda logits, targets: (moves_left_of(logits) - targets["plies_left"]).abs()},
)
"""MOVES_LEFT_SCALE * softplus(x) plies until the game ends, x its number. Leela Chess Zero's (its pull request 961)
ends in ReLU, where a head that says 0 learns no more."""

REPLY = Head(
    "reply",
    "actions",
    ("reply",),
    lambda logits, targets: policy_loss(logits, targets["reply"], None),
    loss_weight="reply_weight",
    is_for_search=False,
)
"""A logit for each action of the ply after this one, which is the opponent's reply where sides alternate (KataGo, arXiv
1902.10565, section 3.4). It only trains: what the tower learns for it serves the other heads. Its softmax is over all
actions, because the legal replies depend on the move."""


def ownership_loss(logits_BS: Tensor, owners_BS: Tensor) -> Tensor:
    """[B], the mean over squares of the cross-entropy of whose each square is; one without an owner is half each."""
    import torch.nn.functional as F

    loss_BS = F.binary_cross_entropy_with_logits(logits_BS, (owners_BS + 1) / 2, reduction="none")
    return loss_BS.mean(dim=1)


OWNERSHIP = Head(
    "ownership",
    "squares",
    ("owners",),
    lambda logits, targets: ownership_loss(logits, targets["owners"]),
    loss_weight="ownership_weight",
    is_for_search=False,
)
"""For each square a logit: that the player to move owns it at the end of the game (KataGo, arXiv 1902.10565, section
4.1). The result is the sum of many squares, and each of them is told what it added. It only trains."""

"""Heads of numbers beyond [-1, 1], as a distribution over integers (MuZero, Nature 588, 2020, appendix F).

A number is transformed by h, which shrinks large ones, and lies between two integers of the support; the target gives
both a share, so that their mean is h of the number. What the head says is the inverse of h of its distribution's mean.

Suffixes: B numbers, S integers of the support.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from zerosum.network.heads import Head

EPSILON = 0.001


def transformed(x: Tensor) -> Tensor:
    """h(x) = sign(x) (sqrt(|x| + 1) - 1) + epsilon x (Pohlen et al. 2018, arXiv 1805.11593, proposition A.2)."""
    return x.sign() * ((x.abs() + 1).sqrt() - 1) + EPSILON * x


def restored(y: Tensor) -> Tensor:
    """The inverse of `transformed`: with s = sqrt(|x| + 1), |y| = s - 1 + epsilon (s^2 - 1) is solved for s."""
    s = (torch.sqrt(1 + 4 * EPSILON * (y.abs() + 1 + EPSILON)) - 1) / (2 * EPSILON)
    return y.sign() * (s**2 - 1)


@dataclass(frozen=True)
class Support:
    """The integers from `-largest` to `largest`, between which transformed numbers lie."""

    largest: int

    @property
    def width(self) -> int:
        """S."""
        return 2 * self.largest + 1

    def two_hot(self, x_B: Tensor) -> Tensor:
        """[B, S], the shares of the integers below and above h(x), at most the support's ends."""
        y_B = transformed(x_B).clamp(-self.largest, self.largest)
        integers_S = torch.arange(-self.largest, self.largest + 1, device=x_B.device)
        return (1 - (y_B[:, None] - integers_S).abs()).clamp(min=0)

    def number(self, logits_BS: Tensor) -> Tensor:
        """[B], the numbers that the logits of distributions mean."""
        integers_S = torch.arange(-self.largest, self.largest + 1, device=logits_BS.device, dtype=logits_BS.dtype)
        return restored(logits_BS.softmax(dim=1) @ integers_S)

    def loss(self, logits_BS: Tensor, target_B: Tensor) -> Tensor:
        """[B], the cross-entropy to the two shares, in nats."""
        return -(self.two_hot(target_B) * logits_BS.log_softmax(dim=1)).sum(dim=1)


def value_head(support: Support) -> Head:
    """The expected discounted return from a position."""
    return Head("value", support.width, ("value",), lambda logits, targets: support.loss(logits, targets["value"]))


def reward_head(support: Support) -> Head:
    """The reward of the move that has led to a hidden state; no move has led to that of step 0 (`has_reward`)."""
    return Head(
        "reward",
        support.width,
        ("reward", "has_reward"),
        lambda logits, targets: targets["has_reward"] * support.loss(logits, targets["reward"]),
    )

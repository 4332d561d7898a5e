"""The settings of training, the learning rate that they give, and the targets that they need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from zerosum.base.errors import SettingsError
from zerosum.base.settings import check, setting
from zerosum.learner.importance import TARGETS as IMPORTANCE_TARGETS
from zerosum.learner.unroll import TARGETS
from zerosum.network import NetworkConfig


@dataclass(frozen=True)
class LearnerConfig:
    """The settings of training. The loss is the weighted sum of the heads' losses (`network/heads.py`).

    With the paper's network it is (z - v)^2 - pi . log p. Weights decay besides.
    """

    optimizer: Literal["sgd", "adam", "adamw"] = setting("adamw", "'sgd' with momentum (the paper), 'adam' or 'adamw'")
    batch_size: int = setting(256, "positions per step (paper: 4096)", low=1, high=1 << 20)
    learning_rate: float = setting(2e-3, "highest learning rate (paper: 0.2 with SGD)", low=0.0, high=10.0)
    schedule: Literal["cosine", "steps", "constant"] = setting(
        "cosine",
        "'cosine' falls from learning_rate to final_share of it over the budget; 'steps' divides it by 10 at each of"
        " schedule_steps (the paper); 'constant' stays",
    )
    schedule_steps: tuple[int, ...] = setting(
        (100_000, 300_000, 500_000), "learner steps at which the rate falls (paper: these)"
    )
    warmup_steps: int = setting(
        100, "learner steps over which the rate rises from 0, within a fifth of the budget (paper: 0)", low=0
    )
    final_share: float = setting(
        0.02, "share of learning_rate at the end of the budget, for 'cosine'", low=0.0, high=1.0
    )
    momentum: float = setting(0.9, "momentum of SGD (paper: 0.9)", low=0.0, high=0.999)
    weight_decay: float = setting(
        1e-4,
        "factor of L2 of all weights for SGD (paper: 1e-4) and Adam; for AdamW the decoupled decay of kernels,"
        " without biases and norms",
        low=0.0,
        high=1000.0,
    )
    clip_norm: float | None = setting(
        None,
        "maximum norm of the gradient of all weights, including Adam's L2; a longer gradient is scaled down; none"
        " for no maximum",
        low=1e-9,
    )
    value_weight: float = setting(
        1.0, "weight of the value loss; the policy loss has weight 1 (paper: 1)", low=0.0, high=100.0
    )
    importance_limit: float | None = setting(
        None,
        "c: the losses of a sample but the policy's are weighted by min(c, p(move) / share of the move), with p of the"
        " network in training and the recorded share of the move that was played, by the mean of the batch: old games"
        " count less where the network would play otherwise (V-trace, arXiv 1802.01561, section 4.1: 1); none for equal"
        " weights (paper: none); for `zerosum study ablations` (docs/studies.md)",
        low=0.01,
        high=1000.0,
    )
    draw_target: Literal["value", "outcome"] = setting(
        "outcome",
        "share of draws in the target of a win/draw/loss head: 'outcome', the draws of finished games, because a"
        " search's value of 0 may be a draw or an even position, or 'value', the maximum for the value target (0.4 is"
        " 40 % win and 60 % draw); strength is the same within the error",
    )
    ownership_weight: float = setting(
        1.5,
        "weight of the ownership loss, for a network with the ownership head (KataGo: 1.5)",
        low=0.001,
        high=100.0,
    )
    score_weight: float = setting(
        0.1, "weight of the loss of the score, for a network with the score head", low=0.001, high=100.0
    )
    unroll_steps: int = setting(
        5, "K, moves over which a 'muzero' network (network.kind) is unrolled (paper: 5)", low=1, high=64
    )
    later_weight: float = setting(
        1.0,
        "weight of the losses of a 'muzero' network's unroll_steps later steps together, beside that of the first step"
        " (paper: 1, which is 1/K each)",
        low=0.0,
        high=1000.0,
    )
    consistency_weight: float = setting(
        0.0,
        "weight of the mean squared difference of a 'muzero' network's hidden states after moves and those of the real"
        " positions (docs/muzero.md); 0 for none (paper: 0)",
        low=0.0,
        high=1000.0,
    )
    illegal_share: float = setting(
        0.0,
        "share of a 'muzero' network's samples in which a random illegal move is made, after which its side has lost:"
        " so the search learns what it must not do (docs/muzero.md; paper: 0)",
        low=0.0,
        high=1.0,
    )
    earlier_share: float = setting(
        0.0,
        "share of a 'muzero' network's samples that begin up to unroll_steps plies before the drawn position: so it"
        " learns what the random moves do with which games begin, which no search has chosen",
        low=0.0,
        high=1.0,
    )
    reanalysed_share: float = setting(
        0.0,
        "share of the samples of a step whose policies and search values are made anew by a search with the newest"
        " network, as old games are learned from (MuZero Reanalyze; docs/muzero.md); each costs the evaluations of its"
        " searches",
        low=0.0,
        high=1.0,
    )
    mask_illegal: bool = setting(True, "leave illegal moves out of the policy's softmax (not stated in the paper)")
    samples_per_position: float = setting(
        6.0,
        "mean number of times that a recorded position is learned from; it determines the number of learner steps",
        low=0.01,
        high=1e3,
    )
    precision: Literal["auto", "bf16", "f32"] = setting(
        "auto", "'bf16' (autocast), 'f32', or 'auto': bf16 if the device supports it"
    )

    num_devices: int = setting(
        1,
        "devices that learn together: the first of training.device, with a process and an equal part of each batch a"
        " device; on a CPU so many processes. Gradients and batch norms are those of the whole batch",
        low=1,
        high=1024,
    )
    num_threads: int = setting(
        1,
        "threads of torch on a CPU, besides those of self-play; on busy cores several threads wait for one another,"
        " which can make a step twenty times slower",
        low=1,
        high=256,
    )

    def __post_init__(self) -> None:
        check(self, "learner")
        if any(step < 1 for step in self.schedule_steps):
            raise SettingsError(f"learner.schedule_steps are {list(self.schedule_steps)}, expected steps from 1 on.")
        if self.batch_size % self.num_devices:
            raise SettingsError(
                f"learner.batch_size is {self.batch_size}, which {self.num_devices} devices (learner.num_devices)"
                f" cannot share equally: {_multiples(self.batch_size, self.num_devices)} can be."
            )


def _multiples(size: int, num_devices: int) -> str:
    """The multiples of a number of devices on both sides of a batch size.

    >>> _multiples(1000, 3), _multiples(2, 3)
    ('999 or 1002', '3')
    """
    below = size // num_devices * num_devices
    return f"{below} or {below + num_devices}" if below else f"{num_devices}"


LONGEST_WARMUP = 0.2
"""Largest share of the budget for the warm-up of the learning rate."""


def learning_rate(config: LearnerConfig, *, step: int, progress: float) -> float:
    """The learning rate of a step, at `progress` in [0, 1] through the run's budget.

    It rises over `warmup_steps`, at most `LONGEST_WARMUP` of the budget.

    >>> config = LearnerConfig(learning_rate=1.0, warmup_steps=0, final_share=0.0)
    >>> [round(learning_rate(config, step=0, progress=x), 2) for x in (0, 0.5, 1)]
    [1.0, 0.5, 0.0]
    """
    warmup = min(1.0, max((step + 1) / (config.warmup_steps + 1), progress / LONGEST_WARMUP))
    if config.schedule == "constant":
        share = 1.0
    elif config.schedule == "steps":
        share = 0.1 ** sum(step >= fall for fall in config.schedule_steps)
    else:
        share = config.final_share + (1 - config.final_share) * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))
    return config.learning_rate * warmup * share


def batch_targets(config: LearnerConfig, network: NetworkConfig) -> frozenset[str]:
    """The targets that a batch needs for the losses of all heads of a network, and for their weights."""
    names = {name for head in network.heads for name in head.targets}
    if network.kind == "muzero":
        names |= TARGETS
    if config.importance_limit is not None:
        names |= IMPORTANCE_TARGETS
    return frozenset(names - {"draws"} if config.draw_target == "value" else names)

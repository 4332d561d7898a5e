"""The loss of a network that learns the rules (MuZero, Nature 588, 2020, Methods, "Training", and its pseudocode).

From a position's planes come a hidden state and, by the moves that were played, K more; the heads predict the policy
and the value at each. The losses of step 0 have weight 1, those of the K later ones 1/K each (`later_weight`: more).
Only the hidden state that enters the next dynamics call has half its gradient, so that of the state before does not
grow with K; the heads' own gradients are whole.

Policies are predictions over all actions of the game, also at step 0: what is illegal has the target 0, and the search,
which knows no rules below the root, learns so not to look there.

Suffixes: B samples, K steps, N = B * (K + 1) rows of a batch (`replay/unrolled.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from zerosum.learner.inputs import StepInputs
from zerosum.network.heads import POLICY, Head

if TYPE_CHECKING:
    from torch import Tensor

    from zerosum.network.muzero_module import MuZeroModule

TARGETS = frozenset({"has_value", "moves", "is_real"})
"""The targets that an unrolled batch needs besides those of the heads."""
CONSISTENCY_LOSS = "consistency_loss"


def measure_names(heads: Sequence[Head]) -> list[str]:
    """The names of what `unrolled_loss` measures, in its order."""
    names = [f"{head.name}_loss" for head in heads] + [name for head in heads for name in head.measures]
    return [*names, *(f"later_{head.name}_loss" for head in heads), CONSISTENCY_LOSS]


def unrolled_loss(
    network: MuZeroModule,
    inputs: StepInputs,
    heads: Sequence[Head],
    weights: Mapping[str, float],
    *,
    num_steps: int,
    later_weight: float,
    consistency_weight: float,
) -> tuple[Tensor, list[Tensor]]:
    """The loss [B], and the measures [B] of `measure_names`.

    Args:
        network: The network, in training mode.
        inputs: N rows, those of a sample one after the other.
        heads: The network's heads.
        weights: The weight of each head's loss, by its name.
        num_steps: K.
        later_weight: Weight of the later steps' losses together.
        consistency_weight: Weight of the consistency loss; 0 leaves it out, and what it needs.
    """
    import torch

    rows = num_steps + 1
    targets = {name: target.view(-1, rows, *target.shape[1:]) for name, target in inputs.targets.items()}
    moves_BK = targets["moves"][:, :num_steps].long()
    hidden = network.represent(inputs.planes[::rows])
    states = [hidden]
    for step in range(num_steps):
        hidden = network.advance(with_half_gradient(hidden), moves_BK[:, step])
        states.append(hidden)
    logits = network.predict(torch.stack(states, dim=1).flatten(0, 1))
    is_known = {POLICY.name: targets[POLICY.name].sum(dim=2) > 0}
    is_known |= {head.name: targets["has_value"] for head in heads if head.name != POLICY.name}
    of_heads = {
        head.name: head.loss(logits[head.name].float(), inputs.targets).view(-1, rows) * is_known[head.name]
        for head in heads
    }
    share = torch.full((rows,), later_weight / num_steps, device=hidden.device)
    share[0] = 1
    loss_B = torch.stack([weights[head.name] * (of_heads[head.name] * share).sum(dim=1) for head in heads]).sum(dim=0)
    consistency_B = torch.zeros_like(loss_B)
    if consistency_weight:
        consistency_B = consistency_loss(network, inputs, torch.stack(states[1:], dim=1), targets["is_real"][:, 1:])
        loss_B = loss_B + consistency_weight * consistency_B
    with torch.no_grad():
        root = {name: target[:, 0] for name, target in targets.items()}
        # Means over the samples whose targets are known.
        of_known = {name: known[:, 0] / known[:, 0].float().mean().clamp(min=1e-6) for name, known in is_known.items()}
        measures = [of_heads[head.name][:, 0] * of_known[head.name] for head in heads]
        for head in heads:
            of_root = logits[head.name].float()[::rows]
            measures += [measure(of_root, root) * of_known[head.name] for measure in head.measures.values()]
        measures += [of_heads[head.name][:, 1:].mean(dim=1) for head in heads]
    return loss_B, [*measures, consistency_B]


def with_half_gradient(x: Tensor) -> Tensor:
    """The same numbers, whose gradient is halved on its way back."""
    return x * 0.5 + x.detach() * 0.5


def consistency_loss(network: MuZeroModule, inputs: StepInputs, hidden_BKFHW: Tensor, is_real_BK: Tensor) -> Tensor:
    """[B], the mean over the K steps of the squared difference of hidden states after moves and of real positions.

    Those of real positions get no gradient (de Vries et al. 2021, arXiv 2102.12924; EfficientZero, arXiv 2111.00210,
    has the cosine behind two more layers). The square is a mean over the state's numbers. Steps that are no positions
    count as 0.
    """
    import torch

    size, num_steps = is_real_BK.shape
    with torch.no_grad():
        planes = inputs.planes.reshape(size, num_steps + 1, *inputs.planes.shape[1:])[:, 1:].flatten(0, 1)
        real_BKFHW = network.represent(planes).view_as(hidden_BKFHW)
    error_BK = (hidden_BKFHW.float() - real_BKFHW.float()).square().mean(dim=(2, 3, 4))
    return (error_BK * is_real_BK).mean(dim=1)

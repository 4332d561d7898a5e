"""What gives idle GPUs more to do: changes of a plan against its limits."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from zerosum.capacity.plan import BUSY, Plan

BETTER = 1.1
"""Smallest factor of the speed that makes a change worth its name."""


@dataclass(frozen=True)
class Remedy:
    """Changes of a plan, and the plan with them."""

    words: str
    """The options of the command line, or the settings."""
    plan: Plan


def remedy_for(plan: Plan) -> Remedy | None:
    """The changes that give idle GPUs more to do, each against the limit that the one before has left.

    Returns:
        The changes; None if they help too little.
    """
    words, changed = list[str](), plan
    while changed.busy_share("GPUs") < BUSY and (step := _change(changed)) is not None:
        words.append(step.words)
        changed = step.plan
    is_better = changed.busy_share("GPUs") >= BETTER * plan.busy_share("GPUs")
    return Remedy(" ".join(words), changed) if is_better else None


def _change(plan: Plan) -> Remedy | None:
    """The change against a plan's limit; None if there is none."""
    machine, limit, num_gpus = plan.machine, plan.limit.name, plan.machine.gpus * plan.machine.num_machines
    if limit == "cores":
        cpus = math.ceil(machine.cpus * BUSY / plan.busy_share("GPUs"))
        return Remedy(f"--cpus {cpus}", plan.on(dataclasses.replace(machine, cpus=cpus)))
    if limit == "interpreter" and not plan.in_processes:
        return Remedy("--set training.workers=processes", dataclasses.replace(plan, in_processes=True))
    if limit == "learner":
        size = plan.config.learner.batch_size
        for number in range(num_gpus, machine.num_learners, -1):
            if size % number == 0:
                return Remedy(f"--learners {number}", plan.on(dataclasses.replace(machine, num_learners=number)))
    return None

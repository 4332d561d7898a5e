"""How the CPUs and GPUs of a node are divided among self-play actors."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.cluster.config import ClusterConfig

ROUNDING = 1e-6
"""Shares of a GPU that are added up may miss their sum by so much."""


@dataclass(frozen=True)
class Room:
    """What each actor of a node asks for."""

    cpus: int
    gpus: float

    def num_in(self, cpus: int, gpus: float) -> int:
        """The number of such actors that CPUs and GPUs have room for."""
        by_cpu = max(0, cpus) // self.cpus
        return min(by_cpu, int((gpus + ROUNDING) / self.gpus)) if self.gpus else by_cpu


def room_of(cpus: int, gpus: float, config: ClusterConfig, *, is_python: bool) -> Room:
    """What an actor asks for on a node with these free CPUs and GPUs; `is_python` for a game in Python."""
    each_gpus = config.gpus_per_actor
    if each_gpus is None:
        each_gpus = 1.0 if gpus >= 1 else 0.0
    num_by_gpu = int((gpus + ROUNDING) / each_gpus) if each_gpus else 1
    each_cpus = config.cpus_per_actor
    if each_cpus is None:
        each_cpus = 1 if is_python else max(1, cpus // max(1, num_by_gpu))
    return Room(each_cpus, each_gpus)

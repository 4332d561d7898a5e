"""The plan: how much of each resource a recorded position takes, and so how many a machine records in a second.

Everything happens at the same time, so the resource that a position takes longest limits the run. docs/capacity.md has
the formulas.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from zerosum.capacity.assumptions import Assumptions
from zerosum.capacity.work import Work, work_of
from zerosum.games import Rules
from zerosum.network.weights import LEARNING_OPERATIONS
from zerosum.run.config import RunConfig
from zerosum.run.selfplay_training import LONGEST_PHASE
from zerosum.run.workers import plays_in_processes

MOST_LEARNERS, MOST_ACTORS = 64, 5000
"""The paper's machines for learning and for self-play."""
BUSY = 0.5
"""Share of use from which GPUs count as busy."""
CORES_A_GPU = 8
"""Cores of a machine for each of its GPUs, unless they are given."""
GAMES_A_WORKER = 512
"""Games of a worker at a time on a GPU, unless the settings say it."""


@dataclass(frozen=True)
class Machine:
    """The machines of a run."""

    gpus: int
    """GPUs of each machine, at least 0."""
    cpus: int
    """Cores of each machine."""
    num_machines: int = 1
    num_learners: int = 1
    """Devices that learn: GPUs of the machines, or processes on the cores of the first."""


@dataclass(frozen=True)
class Load:
    """What a recorded position takes of one resource."""

    name: str
    what: str
    """The units of the resource."""
    seconds: float
    """Seconds of all its units together, for each recorded position."""


@dataclass(frozen=True)
class Plan:
    """A run on given machines."""

    config: RunConfig
    machine: Machine
    numbers: Assumptions
    work: Work
    in_processes: bool
    """Whether each worker is a process with an interpreter lock of its own."""

    @classmethod
    def of(cls, config: RunConfig, game: Rules, machine: Machine, numbers: Assumptions) -> Plan:
        """The plan of a run with these settings."""
        return cls(config, machine, numbers, work_of(config, game, numbers), plays_in_processes(config, game))

    def loads(self) -> list[Load]:
        """What a recorded position takes of each resource."""
        work, numbers, machine = self.work, self.numbers, self.machine
        plies, simulations = work.plies / work.positions, work.simulations / work.positions
        evaluations = work.evaluations / work.positions * (1 + work.rating_share)
        has_gpus, num = machine.gpus > 0, machine.num_machines
        gpus, cpus = machine.gpus * num, machine.cpus * num
        learning_operations = LEARNING_OPERATIONS * work.operations * work.samples
        tree_s = 1e-6 * simulations * (1 + work.rating_share) * numbers.simulation_us
        ply_s, seal_s = 1e-6 * plies * numbers.ply_us, 1e-6 * plies * numbers.seal_us
        taking_in_s = 1e-6 * plies * numbers.ingest_us if num > 1 else 0.0
        sample_s = 1e-6 * work.samples * numbers.sample_us
        games = self.config.selfplay.games_per_worker or GAMES_A_WORKER
        lock_s = ply_s + (1e-6 * evaluations / games * numbers.batch_lock_us if has_gpus else 0.0)
        update_s = 1e-3 * num * numbers.update_ms / self._positions_a_phase()
        if has_gpus:
            evaluating_s = evaluations * work.operations / (1e12 * numbers.gpu_evaluation_tflops)
            learning_s = learning_operations / (1e12 * numbers.gpu_learning_tflops)
            loads = [Load("GPUs", f"{gpus:,} GPUs, self-play and learner", (evaluating_s + learning_s) / gpus)]
            cpu_s = tree_s + lock_s + taking_in_s + seal_s + sample_s + update_s
        else:
            evaluating_s = evaluations * work.operations / (1e9 * numbers.cpu_evaluation_gflops)
            learning_s = learning_operations / (1e9 * numbers.cpu_learning_gflops)
            loads = []
            cpu_s = evaluating_s + learning_s + tree_s + lock_s + taking_in_s + seal_s + sample_s + update_s
        words = "tree walk, plies, samples" if has_gpus else "evaluations, tree walk, plies, learner"
        loads.append(Load("cores", f"{cpus:,} cores: {words}", cpu_s / cpus))
        efficiency = 1.0 if machine.num_learners == 1 else numbers.ddp_share
        loads.append(
            Load(
                "learner",
                f"{machine.num_learners:,} learning; one thread draws samples",
                sample_s + learning_s / (machine.num_learners * efficiency),
            )
        )
        if not self.in_processes:
            # On several machines each GPU has an actor, which is a process.
            num_locks = num * max(machine.gpus, 1) if num > 1 else 1
            words = f"locks of {num_locks:,} processes that play" if num_locks > 1 else "lock of the process that plays"
            loads.append(Load("interpreter", f"the {words}", lock_s / num_locks))
        if num > 1:
            loads.append(Load("ingest", "one thread takes games in and seals them", taking_in_s + seal_s))
            loads.append(
                Load("network", "of the learner's machine", self._sent_bytes() / (1e6 * numbers.network_mbytes))
            )
        loads.append(Load("disk", "of the run directory", self._written_bytes() / (1e6 * numbers.disk_mbytes)))
        if num == 1:
            loads.append(Load("store", "one thread seals games", seal_s))
        return loads

    def _positions_a_step(self) -> float:
        return self.config.learner.batch_size / self.work.samples

    def _positions_a_phase(self) -> float:
        """Recorded positions between two networks of self-play."""
        return self.config.training.steps_per_phase * self._positions_a_step()

    def _sent_bytes(self) -> float:
        """Bytes through the learner's network for each position: games of other machines, weights to them."""
        others = self.machine.num_machines - 1
        games = self.work.game_bytes / self.work.positions * others / self.machine.num_machines
        return games + others * self.work.network_bytes / self._positions_a_phase()

    def _written_bytes(self) -> float:
        """Bytes on the disk for each position. A ply is written twice: to the journal and to a shard."""
        games = 2 * self.work.game_bytes / self.work.positions
        return games + self.config.training.num_checkpoints * self.work.checkpoint_bytes / max(self.positions(), 1.0)

    @property
    def limit(self) -> Load:
        """The resource that a position takes longest."""
        return max(self.loads(), key=lambda load: load.seconds)

    def busy_share(self, name: str) -> float:
        """Share of the time in which the resource of this name is used."""
        (load,) = (load for load in self.loads() if load.name == name)
        return load.seconds / self.limit.seconds

    @property
    def seconds_a_position(self) -> float:
        """Seconds from one recorded position to the next, on all machines together."""
        if self.config.training.clock == "cpu":
            return self.cpu_seconds_a_position
        return self.limit.seconds

    @property
    def cpu_seconds_a_position(self) -> float:
        """CPU-seconds of all machines for a recorded position."""
        (cores,) = (load for load in self.loads() if load.name == "cores")
        return cores.seconds * self.machine.cpus * self.machine.num_machines

    @property
    def games_a_minute(self) -> float:
        """Games of all machines together."""
        return 60 * self.games / self.seconds

    def positions(self) -> float:
        """Recorded positions of the whole budget."""
        if (steps := self.config.training.steps) is not None:
            return steps * self._positions_a_step()
        seconds = self.config.learning_seconds
        assert seconds is not None
        # The bytes of checkpoints for each position, which hardly matter, would need the number that is asked for.
        endless = dataclasses.replace(self, config=_endless(self.config))
        each = endless.seconds_a_position
        # In a short run self-play gets another network once a share of the budget has passed without a learner step,
        # before a phase has all its steps.
        most_networks = (1 - endless.learning_share) / LONGEST_PHASE
        num_early = max(most_networks - seconds / each / self._positions_a_phase(), 0.0)
        cores = 1 if self.config.training.clock == "cpu" else self.machine.cpus
        return max(seconds - num_early * 1e-3 * self.numbers.update_ms / cores, 0.0) / each

    @property
    def learning_share(self) -> float:
        """Share of the time in which the learner makes a step; it shares the cores with self-play's workers."""
        (learner,) = (load for load in self.loads() if load.name == "learner")
        cpus = self.machine.cpus
        threads_a_core = max(((self.config.selfplay.num_workers or cpus) + 1) / cpus, 1.0)
        return min(threads_a_core * learner.seconds / self.limit.seconds, 1.0)

    @property
    def games(self) -> float:
        """Games of the whole budget."""
        return self.positions() / self.work.positions

    @property
    def steps(self) -> float:
        """Learner steps of the whole budget."""
        return self.positions() / self._positions_a_step()

    @property
    def seconds(self) -> float:
        """Duration of the whole budget, without measuring the last checkpoint."""
        return self.config.learning_seconds or self.positions() * self.seconds_a_position

    def cost(self, price: float) -> float:
        """The price of the whole budget at a price for a machine and an hour."""
        return price * self.machine.num_machines * self.seconds / 3600

    def on(self, machine: Machine) -> Plan:
        """The same work on other machines: the steps that this plan makes."""
        config = self.config
        if config.training.steps is None:
            training = dataclasses.replace(config.training, minutes=None, steps=max(round(self.steps), 1), clock="wall")
            config = dataclasses.replace(config, training=training)
        return dataclasses.replace(self, config=config, machine=machine)

    def grown(self) -> Iterator[Plan]:
        """The same work on more and more machines, up to the paper's numbers of actors and of learners.

        Learners are doubled while one thread of the learner, or the GPUs that learn, would be the limit.
        """
        actors = self.machine.gpus or 1
        numbers = [*itertools.takewhile(lambda n: n * actors < MOST_ACTORS, (4**k for k in range(16)))]
        for number in [*numbers, -(-MOST_ACTORS // actors)]:
            machine = dataclasses.replace(self.machine, num_machines=number)
            plan = self.on(machine)
            while (
                plan.limit.name == "learner"
                and 2 * machine.num_learners <= MOST_LEARNERS
                and self.config.learner.batch_size % (2 * machine.num_learners) == 0
                and 2 * machine.num_learners <= number * actors
            ):
                machine = dataclasses.replace(machine, num_learners=2 * machine.num_learners)
                plan = self.on(machine)
            yield plan


def _endless(config: RunConfig) -> RunConfig:
    """The same settings with a budget so large that checkpoints take no share of the disk."""
    return dataclasses.replace(config, training=dataclasses.replace(config.training, minutes=None, steps=1 << 39))

"""The time that a budget in learner steps takes on this machine, estimated from a short measurement.

Self-play and learning are timed for a moment each with the run's network, and multiplied by the work of the budget.
Terminal positions, proven results and the cache save an unknown number of evaluations, so the estimate is an upper
bound for an idle machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from zerosum.base.settings import num_cores
from zerosum.games import Rules
from zerosum.games.random_play import random_leaves
from zerosum.learner import Learner
from zerosum.network import Checkpoint
from zerosum.network.evaluators import Evaluator
from zerosum.network.evaluators.device import uses_gpu
from zerosum.replay.batch import empty_batch
from zerosum.run.config import RunConfig
from zerosum.run.workers import evaluations_per_ply, num_selfplay_workers, plays_in_processes
from zerosum.selfplay.calibration import Busy, evaluating

_SECONDS = 0.1
_SAMPLES = 32


@dataclass(frozen=True)
class Forecast:
    """The work of a budget in steps, and the speed of this machine."""

    steps: int
    evaluations: float
    """Largest number of evaluations by self-play."""
    samples: float
    """Samples of the learner."""
    evaluations_per_second: float
    """Rate of all workers together."""
    samples_per_second: float
    cores: int
    """Cores that self-play can use while the learner uses one; 1 if both share a GPU."""

    @property
    def seconds(self) -> float:
        """Duration of the budget: learning takes the time of one core from self-play, and is a lower bound."""
        learning = self.samples / self.samples_per_second
        return max(learning, self.evaluations / self.evaluations_per_second + learning / self.cores)

    def __str__(self) -> str:
        return (
            f"at what was measured here, {self.evaluations_per_second:,.0f} evaluations and"
            f" {self.samples_per_second:,.0f} samples a second, {self.steps:,} learner steps take at most"
            f" {duration(self.seconds)} ({_two_digits(self.evaluations)} evaluations,"
            f" {_two_digits(self.samples)} samples)"
        )


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}"


def duration(seconds: float) -> str:
    """A duration in a suitable unit.

    >>> duration(20), duration(90), duration(7200), duration(8.64e6), duration(1e9)
    ('1 minute', '2 minutes', '2.0 hours', '100 days', '32 years')
    """
    if seconds < 3600:
        minutes = max(round(seconds / 60), 1)
        return f"{minutes} minute{'s' * (minutes != 1)}"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} hours"
    days = seconds / 86400
    return f"{days:,.0f} days" if days < 1000 else f"{days / 365.25:,.0f} years"


def evaluations_per_position(config: RunConfig) -> float:
    """Largest number of evaluations by self-play for each recorded position."""
    return evaluations_per_ply(config) / config.selfplay.full_search_share


def measure(
    config: RunConfig, game: Rules, checkpoint: Checkpoint, evaluator: Evaluator, *, num_games: int
) -> Forecast:
    """Measure for a moment. A budget in minutes is taken as one of 1,000 steps.

    Args:
        config: The run's settings.
        game: The game.
        checkpoint: The network; it is not changed.
        evaluator: Evaluates it.
        num_games: Games that a worker plays at a time.
    """
    return forecast_of(
        config,
        steps=config.training.steps or 1000,
        evaluations_per_second=_evaluations_per_second(config, game, evaluator, num_games),
        samples_per_second=_samples_per_second(config, game, checkpoint),
        cores=1 if uses_gpu(config.training.device) else num_cores(),
    )


def forecast_of(
    config: RunConfig, *, steps: int, evaluations_per_second: float, samples_per_second: float, cores: int
) -> Forecast:
    """The forecast of so many learner steps at these rates."""
    samples = float(steps) * config.learner.batch_size
    return Forecast(
        steps=steps,
        evaluations=samples / config.learner.samples_per_position * evaluations_per_position(config),
        samples=samples,
        evaluations_per_second=evaluations_per_second,
        samples_per_second=samples_per_second,
        cores=cores,
    )


def _evaluations_per_second(config: RunConfig, game: Rules, evaluator: Evaluator, num_games: int) -> float:
    work, num_workers = evaluating(evaluator, random_leaves(game, num_games)), num_selfplay_workers(config)
    num_processes = num_workers if plays_in_processes(config, game) else 1
    with Busy(num_workers // num_processes) as busy:
        busy.rate(work, seconds=0)  # a thread's first evaluation allocates buffers
        return busy.rate(work, seconds=_SECONDS).per_second * num_processes


def _samples_per_second(config: RunConfig, game: Rules, checkpoint: Checkpoint) -> float:
    """The rate of a new learner, on a CPU on small batches."""
    info, size = checkpoint.info, config.learner.batch_size
    learner = Learner(config.learner, info.network, info.shape, checkpoint.weights, device=config.training.device)
    if not learner.is_on_gpu:
        size = min(_SAMPLES, size)
    batch = empty_batch(random_leaves(game, size * learner.rows_per_sample), game.spec, learner.targets)
    for _ in range(learner.num_first_steps):
        learner.step(batch, progress=0.0)
    num_steps = 10 if learner.is_on_gpu else 1
    started = time.perf_counter()
    reports = [learner.step(batch, progress=0.0) for _ in range(num_steps)]
    dict(reports[-1].measures)  # waits for the device
    # Several devices share each batch; several processes on a CPU share its cores.
    num_devices = config.learner.num_devices if uses_gpu(config.training.device) else 1
    return num_devices * num_steps * size / (time.perf_counter() - started)

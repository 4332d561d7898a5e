"""The sections of `zerosum bench gpu`: figures of one GPU, or of what takes its place in a trial."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.settings import num_cores
from zerosum.bench.figure import Figure
from zerosum.bench.gpu.games_to_learn import window_of_games
from zerosum.bench.roofline import multiplying
from zerosum.bench.selfplay_slices import Playing
from zerosum.bench.simulated import PRESETS, SimulatedEvaluator
from zerosum.bench.untrained import network_settings, untrained_checkpoint, untrained_evaluator
from zerosum.games import Rules, make, measure_game
from zerosum.games.random_play import random_lines, state_of
from zerosum.games.rules import Leaves
from zerosum.learner import Learner, StepReport
from zerosum.network import NetworkShape
from zerosum.network.evaluators import NetworkEvaluator, UniformEvaluator
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH
from zerosum.network.weights import LEARNING_OPERATIONS, num_operations
from zerosum.play.player import Player
from zerosum.replay import ReplayWindow
from zerosum.run.config import RunConfig, changed, configured_game, new_config
from zerosum.run.defaults import default_cache
from zerosum.run.learning import RunLearner, draw_batch
from zerosum.run.metrics import read_metrics
from zerosum.run.run_plan import RunPlan
from zerosum.run.saved_state import SavedState
from zerosum.run.training import train
from zerosum.run.workers import measured, num_selfplay_workers
from zerosum.selfplay.calibration import GPU_BATCH_SIZES, Busy, evaluating, playing

SIMULATED = "simulated"
"""The name of the device that is `zerosum.bench.simulated`."""
NETWORKS = {"chess": (19, 256), "go9": (6, 96), "go19": (19, 256), "shogi": (19, 256)}
"""Blocks and filters for each game: the paper's network, and a small one for 9x9 Go."""
SIMULATED_PRESETS = {
    "chess": "h100-chess-20x256",
    "go9": "h100-go9-6x96",
    "go19": "h100-go19-20x256",
    "shogi": "h100-shogi-20x256",
}
"""The preset of `zerosum.bench.simulated` for each of these networks."""
THREADS = 4
"""Threads that evaluate at once."""
GAMES = 512
"""Games of a worker where the number of workers is set."""
FIRST_STEPS = 8
"""Steps of a learner before it is timed: it allocates its buffers, captures a graph and draws batches ahead."""


@dataclass(frozen=True)
class Trial:
    """Where and how thoroughly to measure."""

    device: str
    """A name for `evaluators.device.torch_devices`, or `SIMULATED`."""
    is_tiny: bool
    """Whether to try the command with tiny networks in a second or two for each section, for no figure of worth."""

    @property
    def is_simulated(self) -> bool:
        """Whether the device is simulated."""
        return self.device == SIMULATED

    def config(self, name: str, *overrides: str, network: tuple[int, int] | None = None) -> tuple[Rules, RunConfig]:
        """A game and the settings of a run of it, with the network of `NETWORKS`."""
        blocks, filters = (1, 8) if self.is_tiny else network or NETWORKS[name]
        settings = [f"network.num_blocks={blocks}", f"network.num_filters={filters}"]
        settings += [f"training.device={'cpu' if self.is_simulated else self.device}"]
        game = make(name)
        settings += [f"search.cache_positions={default_cache(measure_game(game).plies, on_gpu=True)}"]
        config = new_config(game, name, overrides=[*settings, *overrides])
        return configured_game(game, config), config

    def seconds(self, seconds: float) -> float:
        """The duration of a measurement that takes so long in full."""
        return min(seconds, 0.2) if self.is_tiny else seconds

    def evaluator(self, name: str, game: Rules, config: RunConfig, *, batch_size: int) -> NetworkEvaluator:
        """The evaluator of an untrained network, or the simulated one."""
        if self.is_simulated:
            return SimulatedEvaluator(PRESETS[SIMULATED_PRESETS[name]])
        return untrained_evaluator(game, config, batch_size=batch_size)


def evaluator_section(trial: Trial) -> Iterator[Figure]:
    """The network alone: by batch size, by threads, and its share of the device's roofline."""
    for name in ("go9",) if trial.is_tiny else NETWORKS:
        game, config = trial.config(name)
        sizes = (4, 16) if trial.is_tiny else GPU_BATCH_SIZES
        evaluator = trial.evaluator(name, game, config, batch_size=max(sizes))
        about = {**network_settings(config), "evaluator": evaluator.description}
        with Busy(THREADS) as busy:
            rates = {}
            for size in sizes:
                rates[size] = _rate(busy, evaluator, _positions(game, size), trial.seconds(0.8))
                at = {**about, "threads": THREADS, "batch_size": size}
                yield Figure("evaluator", name, "evaluations_per_second", rates[size], "1/s", at)
            best = max(rates, key=rates.__getitem__)
            at = {**about, "threads": THREADS, "batch_size": best}
            yield Figure("evaluator", name, "best_evaluations_per_second", rates[best], "1/s", at)
            least = min(rate for size, rate in rates.items() if size >= min(512, max(sizes))) / rates[best]
            yield Figure("evaluator", name, "least_share_from_512_on", least, "", at)
            if not trial.is_simulated:
                product = multiplying(evaluator.description, busy, num_threads=THREADS)
                tops = busy.rate(product, seconds=trial.seconds(1.0)).per_second
                operations = num_operations(config.network, NetworkShape.of(game.spec))
                at |= {"gflop_per_evaluation": operations / 1e9, "tflop_per_second": tops / 1e12}
                yield Figure("evaluator", name, "roofline_evaluations_per_second", tops / operations, "1/s", at)
                yield Figure("evaluator", name, "share_of_roofline", rates[best] * operations / tops, "", at)
        if name in ("chess", "go9"):
            size = min(512, max(sizes))
            for threads in (1, 2) if trial.is_tiny else (1, 2, 8, 16):
                with Busy(threads) as busy:
                    rate = _rate(busy, evaluator, _positions(game, size), trial.seconds(0.6))
                at = {**about, "threads": threads, "batch_size": size}
                yield Figure("evaluator", name, "evaluations_per_second", rate, "1/s", at)


def selfplay_section(trial: Trial) -> Iterator[Figure]:
    """Self-play by default and by numbers of workers: its rate, its CPU time, and what a swap of networks delays."""
    for name, numbers in (("chess", (None, 4)), ("go9", (None, 4, 8, 12))):
        search = ["search.num_simulations=800", "selfplay.full_search_share=1.0"] if name == "chess" else []
        tiny = ["selfplay.games_per_worker=4", "search.num_simulations=16"] if trial.is_tiny else []
        # The defaults of a night: in a short run fewer games may be in flight.
        game, config = trial.config(name, "training.minutes=720", *search, *tiny)
        yield from _selfplay_without_network(trial, name, game, config)
        alone = _best_rate(trial, name, game, config)
        for number in numbers[:2] if trial.is_tiny else numbers:
            started = time.perf_counter()
            with_workers = _with_workers(trial, game, config, number)
            if number is None:
                seconds, about = time.perf_counter() - started, network_settings(config)
                yield Figure("selfplay", name, "seconds_to_choose_defaults", seconds, "s", about)
            yield from _selfplay(trial, name, game, with_workers, number, alone)


def _with_workers(trial: Trial, game: Rules, config: RunConfig, number: int | None) -> RunConfig:
    """The settings with a number of workers, or with those that a run chooses by itself."""
    if number is not None:
        games = config.selfplay.games_per_worker if trial.is_tiny else GAMES
        return changed(config, {"selfplay": {"num_workers": number, "games_per_worker": games}})
    with tempfile.TemporaryDirectory() as directory:
        plan = RunPlan(Path(directory), game, config)
        return measured(plan, untrained_checkpoint(game, config), report=_ignore)[0]


def _selfplay(
    trial: Trial, name: str, game: Rules, config: RunConfig, number: int | None, alone: float
) -> Iterator[Figure]:
    games = config.selfplay.games_per_worker
    assert games is not None
    about = {
        **network_settings(config),
        "workers_are": "default" if number is None else "set",
        "workers": num_selfplay_workers(config),
        "games_per_worker": games,
        "num_simulations": config.search.num_simulations,
    }
    evaluator = trial.evaluator(name, game, config, batch_size=games)
    with Playing(game, config, evaluator=evaluator, is_staggered=True) as play:
        play.evaluation_rate(seconds=trial.seconds(3.0))  # captures of all sizes, and trees of some depth
        rate = play.evaluation_rate(seconds=trial.seconds(3.0))
        yield Figure("selfplay", name, "evaluations_per_second", rate.per_second, "1/s", about)
        yield Figure("selfplay", name, "share_of_evaluator", rate.per_second / alone, "", about)
        yield Figure("selfplay", name, "evaluations_per_cpu_second", rate.per_cpu_second, "1/s", about)
        if not trial.is_simulated:
            stalls = sorted(1000 * stall for stall, _ in play.stalls(seconds=trial.seconds(3.0)))
            about |= {"swaps": len(stalls), "worst": stalls[-1]}
            yield Figure("selfplay", name, "swap_stall_ms", stalls[len(stalls) // 2], "ms", about)


def _selfplay_without_network(trial: Trial, name: str, game: Rules, config: RunConfig) -> Iterator[Figure]:
    """The CPU time of self-play with an evaluator that costs nothing, in one thread."""
    games = 4 if trial.is_tiny else GAMES
    work = playing(game, config.search, config.selfplay, UniformEvaluator(), num_games=games, num_threads=1)
    with Busy(1) as busy:
        busy.rate(work, seconds=trial.seconds(0.5))
        rate = busy.rate(work, seconds=trial.seconds(2.0)).per_cpu_second
    about = {"games_per_worker": games, "cores": num_cores()}
    yield Figure("selfplay", name, "evaluations_per_cpu_second_without_network", rate, "1/s", about)


def learner_section(trial: Trial) -> Iterator[Figure]:
    """The learner as in a run, and with its batch ready: what lacks is the time in which the device is idle."""
    for name, network, sizes in (("chess", (19, 256), (1024,)), ("go9", (6, 96), (512, 2048))):
        game, config = trial.config(name, network=network)
        window = window_of_games(game, config, seconds=trial.seconds(3.0))
        for size in (8,) if trial.is_tiny else sizes:
            config = changed(config, {"learner": {"batch_size": size}})
            yield from _learning(trial, name, game, config, window)


def _learning(trial: Trial, name: str, game: Rules, config: RunConfig, window: ReplayWindow) -> Iterator[Figure]:
    shape, size, checkpoint = NetworkShape.of(game.spec), config.learner.batch_size, untrained_checkpoint(game, config)
    of_run = RunLearner(RunPlan(Path(), game, config), _ignore, checkpoint, {}, SavedState())
    try:
        per_second = _steps_per_second(lambda: of_run.step(window, progress=0.0)[0], trial.seconds(5.0))
    finally:
        of_run.close()
    learner = Learner(config.learner, config.network, shape, checkpoint.weights, device=config.training.device)
    targets = learner.targets
    inputs = learner.prepare(draw_batch(window, game, config, targets=targets, step=0))
    ready = _steps_per_second(lambda: learner.step(inputs, progress=0.0), trial.seconds(3.0))
    started, num_drawn = time.perf_counter(), 0
    while num_drawn == 0 or time.perf_counter() - started < trial.seconds(0.5):
        draw_batch(window, game, config, targets=targets, step=num_drawn)
        num_drawn += 1
    draw_ms = 1000 * (time.perf_counter() - started) / num_drawn
    tflop = LEARNING_OPERATIONS * size * num_operations(config.network, shape) / 1e12
    about = {**network_settings(config), "batch_size": size, "steps_per_second_with_ready_batch": ready}
    about |= {"milliseconds_to_draw_a_batch": draw_ms, "positions": window.num_positions}
    for metric, value, unit in (
        ("steps_per_second", per_second, "1/s"),
        ("samples_per_second", per_second * size, "1/s"),
        ("tflop_per_second", per_second * tflop, "10^12/s"),
        ("idle_share", max(1 - per_second / ready, 0.0), ""),
    ):
        yield Figure("learner", name, metric, value, unit, about)


def _steps_per_second(step: Callable[[], StepReport], seconds: float) -> float:
    """Learner steps a second, after some that are not counted; the last is complete on the device at the end."""
    for _ in range(FIRST_STEPS):
        report = step()
    dict(report.measures)
    started, number = time.perf_counter(), 0
    while number == 0 or time.perf_counter() - started < seconds:
        report = step()
        number += 1
    dict(report.measures)
    return number / (time.perf_counter() - started)


def analyse_section(trial: Trial) -> Iterator[Figure]:
    """One position at a time, by the player's own rule, in a warm search."""
    game, config = trial.config("chess")
    alone = _best_rate(trial, "chess", game, config)
    evaluator, started = trial.evaluator("chess", game, config, batch_size=CPU_FULL_BATCH), time.perf_counter()
    player = Player(game, evaluator, config.search, name="untrained", num_batches=2)
    player.make_ready()
    search = player.config_by_time()
    about = {**network_settings(config), "batches_in_flight": search.num_batches, "most_leaves": search.leaves_a_batch}
    yield Figure("analyse", "chess", "seconds_to_make_ready", time.perf_counter() - started, "s", about)
    player.analyse(seconds=trial.seconds(1.0))
    for plies, state in enumerate([game.initial_state(), *_states(game, 2)]):
        cpu_started = time.process_time()
        found = player.analyse(state, seconds=trial.seconds(5.0))
        cpu_s = time.process_time() - cpu_started
        rate = found.num_simulations / found.seconds
        about |= {"position": plies, "stopped_by": found.stop_reason}
        about |= {"simulations": found.num_simulations, "collisions_per_leaf": found.num_collisions / found.num_leaves}
        yield Figure("analyse", "chess", "simulations_per_second", rate, "1/s", about)
        yield Figure("analyse", "chess", "share_of_evaluator", found.num_leaves / found.seconds / alone, "", about)
        yield Figure("analyse", "chess", "simulations_per_cpu_second", found.num_simulations / cpu_s, "1/s", about)


def train_section(trial: Trial) -> Iterator[Figure]:
    """Connect Four from nothing in 0.7 minutes, with the settings that a run has by default."""
    minutes = 0.05 if trial.is_tiny else 0.7
    tiny = ["network.num_blocks=1", "network.num_filters=8", "training.min_positions=256", "strength.budget_share=0"]
    overrides = [f"training.device={trial.device}", *(tiny if trial.is_tiny else [])]
    with tempfile.TemporaryDirectory() as directory:
        run = Path(directory) / "run"
        train("connect4", run, minutes=minutes, overrides=overrides, report=_ignore)
        rows = read_metrics(run / "metrics.csv")
    last = rows[-1]
    config = new_config(make("connect4"), "connect4", minutes=minutes, overrides=overrides)
    about = {**network_settings(config), "minutes": minutes, "batch_size": config.learner.batch_size}
    mistakes = [row.mistakes for row in rows if row.mistakes is not None]
    for metric, value, unit in (
        ("games", last.games, ""),
        ("learner_steps", last.step, ""),
        ("evaluations_per_second", last.evaluations / (60 * last.minutes), "1/s"),
        ("most_evaluations_per_second", max(row.evaluations_per_second for row in rows), "1/s"),
        *([("mistakes", mistakes[-1], "")] if mistakes else []),
    ):
        yield Figure("train", "connect4", metric, float(value), unit, about)


Section = Callable[[Trial], Iterator[Figure]]


@dataclass(frozen=True)
class SectionOf:
    """A section's work and its limits."""

    measure: Section
    limit_s: float
    """Seconds after which it is ended; the figures that it has are kept."""
    needs_network: bool = False
    """Whether a simulated device cannot be measured in it."""


SECTIONS = {
    "evaluator": SectionOf(evaluator_section, 110),
    "selfplay": SectionOf(selfplay_section, 165),
    "learner": SectionOf(learner_section, 60, needs_network=True),
    "analyse": SectionOf(analyse_section, 40),
    "train": SectionOf(train_section, 100, needs_network=True),
}


def _rate(busy: Busy, evaluator: NetworkEvaluator, leaves: Leaves, seconds: float) -> float:
    """Evaluations per second of all threads, each after one that is not counted."""
    work = evaluating(evaluator, leaves)
    busy.rate(work, seconds=0)
    return busy.rate(work, seconds=seconds).per_second


def _best_rate(trial: Trial, name: str, game: Rules, config: RunConfig) -> float:
    """Evaluations per second of the evaluator alone at large batches."""
    sizes = (16,) if trial.is_tiny else (2048, 4096)
    evaluator = trial.evaluator(name, game, config, batch_size=max(sizes))
    with Busy(THREADS) as busy:
        return max(_rate(busy, evaluator, _positions(game, size), trial.seconds(1.0)) for size in sizes)


def _states(game: Rules, num: int) -> list[Any]:
    """Positions of random games."""
    return [state_of(game, line) for line in random_lines(game, num=num, seed=1)]


def _positions(game: Rules, size: int) -> Leaves:
    """Positions of random games, repeated to this number: the time of an evaluation does not depend on them."""
    states = _states(game, min(size, 32))
    return game.encode((states * (size // len(states) + 1))[:size])


def _ignore(_: str) -> None:
    """A report that nobody reads."""

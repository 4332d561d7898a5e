"""Games in flight: the fewest that keep the evaluator busy, measured once a machine."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from runs_for_tests import SETTINGS
from zerosum.evaluators import Evaluations, UniformEvaluator
from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.run.training import train
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, calibration
from zerosum.selfplay.calibration import (
    Busy,
    Calibration,
    Setup,
    Work,
    batch_sizes,
    calibrate,
    evaluating,
    measure_rates,
    playing,
)

GAME = make("tictactoe")
SETUP = Setup(host="here", num_cores=2, num_threads=2, backend="auto", device="auto")


def test_the_smallest_of_nearly_the_best_rate_is_taken() -> None:
    for rates, expected in (
        ({16: 100.0, 32: 150.0, 64: 190.0, 128: 200.0, 256: 199.0}, 64),
        ({16: 100.0, 32: 150.0, 64: 189.0, 128: 200.0, 256: 150.0}, 128),
        ({16: 99.0, 32: 98.0, 64: 100.0}, 16),
        ({16: 5.0}, 16),
    ):
        assert Calibration(SETUP, rates).batch_size == expected
    assert "busy (95% of its best rate)" in str(Calibration(SETUP, {16: 9.5, 32: 10.0}))


class Costly(UniformEvaluator):
    """An evaluator with set durations, on its own clock."""

    def __init__(self, seconds: Callable[[int], float], monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.seconds, self.sizes = 0.0, seconds, list[int]()
        clock = SimpleNamespace(perf_counter=lambda: self.now, process_time=lambda: self.now)
        monkeypatch.setattr(calibration, "time", clock)

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.sizes.append(len(leaves))
        self.now += self.seconds(len(leaves))
        return super().evaluate(leaves)

    def work(self, size: int) -> Work:
        return evaluating(self, random_leaves(GAME, size))


@pytest.mark.parametrize("on_gpu", [False, True])
def test_rates_are_measured_in_turns_and_within_a_time(monkeypatch: pytest.MonkeyPatch, on_gpu: bool) -> None:
    evaluator = Costly(lambda size: 1e-3 + 1e-5 * size, monkeypatch)
    sizes = batch_sizes(on_gpu=on_gpu)
    rates = measure_rates(evaluator.work, num_threads=1, on_gpu=on_gpu)
    assert rates == {size: pytest.approx(size / (1e-3 + 1e-5 * size)) for size in sizes}
    turns = [size for size, after in zip(evaluator.sizes, [*evaluator.sizes[1:], None], strict=True) if size != after]
    assert turns == [*sizes] * 6, "the first evaluation of each size, and five rounds"
    assert evaluator.now < (20 if on_gpu else 2)


def test_a_slow_network_is_not_tried_at_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = Costly(lambda size: 0.02 * size, monkeypatch)
    assert list(measure_rates(evaluator.work, num_threads=1)) == [16, 32]
    assert evaluator.sizes == [16, 32, 16, 32], "no second round"


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_play_goes_on_for_ever_in_full_batches(name: str) -> None:
    evaluator, game = UniformEvaluator(), make(name)
    search, config = SearchConfig(num_simulations=20, cache_positions=100), SelfplayConfig()
    work = playing(game, search, config, evaluator, num_games=8, num_threads=2)
    done = [work(thread % 2) for thread in range(400)]
    assert max(done) == 8 and sum(done) > 1600, "a batch is not full where the rules settled a leaf or a search ended"


def test_all_workers_are_busy_at_a_time() -> None:
    together = threading.Barrier(3)

    def work(thread: int) -> int:
        together.wait()
        return 1

    with Busy(3) as busy:
        assert busy.rate(work, seconds=0).per_second > 0


def test_it_is_measured_once_a_machine_and_anew_where_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = NetworkConfig(num_blocks=0, num_filters=4)
    info = CheckpointInfo.describe(GAME.spec, network, step=0)
    checkpoint = Checkpoint(info, initial_weights(network, info.shape, seed=0))
    rates = iter([{16: 1.0, 32: 2.0}, {16: 3.0}, {16: 4.0}, {16: 5.0}])
    monkeypatch.setattr(calibration, "measure_rates", lambda *_, **__: next(rates))
    path, said = tmp_path / "calibration.json", list[str]()

    def measured(num_threads: int = 2) -> dict[int, float]:
        return calibrate(
            path, GAME, checkpoint, SearchConfig(), SelfplayConfig(), num_threads=num_threads, report=said.append
        ).rates

    assert measured() == measured() == {16: 1.0, 32: 2.0}
    assert measured(num_threads=1) == {16: 3.0}
    assert not said
    for damage, expected in (("{", {16: 4.0}), ('{"setup": {}, "rates": {"16": 0}}', {16: 5.0})):
        path.write_text(damage)
        assert measured(num_threads=1) == measured(num_threads=1) == expected
    assert said == [f"{path} is damaged, and is measured again."] * 2


def test_a_run_measures_unless_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "BATCH_SIZES", (2, 4))
    monkeypatch.setattr("zerosum.run.workers.GENERATION_SHARE", 1000.0)  # so short a run would have fewer games
    free = [setting for setting in SETTINGS if "games_per_worker" not in setting]
    said: list[str] = []
    run = tmp_path / "run"
    train("tictactoe", run, overrides=[*free, "training.precision=f32"], report=said.append)
    (first,) = [line for line in said if "self-play: " in line]
    assert "games a thread, the fewest that keep the evaluator busy" in first
    known = (run / "calibration.json").read_text()
    assert dataclasses.asdict(SETUP).keys() <= set(known.replace('"', " ").split())
    assert json.loads(known)["setup"]["precision"] == "f32"
    assert any("CPU, f32." in line for line in said)
    train("tictactoe", run, overrides=["training.steps=3"], report=said.append)
    assert first in said[-8:], "measured once"
    assert (run / "calibration.json").read_text() == known
    train("tictactoe", tmp_path / "told", overrides=SETTINGS, report=said.append)
    assert any("self-play: 4 games a thread; workers: 1; " in line for line in said)
    assert not (tmp_path / "told" / "calibration.json").exists()

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
from zerosum.games import make
from zerosum.games.random_play import random_leaves
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, initial_weights
from zerosum.network.evaluators import Evaluations, EvaluatorConfig, UniformEvaluator
from zerosum.run import workers
from zerosum.run.config import changed, new_config, parse_overrides
from zerosum.run.run_plan import RunPlan
from zerosum.run.training import train
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig, calibration
from zerosum.selfplay.calibration import (
    Busy,
    Calibration,
    Rate,
    Setup,
    Work,
    batch_sizes,
    calibrate,
    evaluating,
    measure_rates,
    playing,
    rates_one_by_one,
)

GAME = make("tictactoe")
SETUP = Setup(host="here", num_cores=2, num_threads=2, num_games=None, backend="auto", device="auto")


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


class Device:
    """A GPU: one batch at a time, each with a latency; a worker's own work takes as long as a part of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rate_of: Callable[[int, int], float]) -> None:
        """`rate_of` is evaluations per second by the size of a batch and the number of workers."""
        self.tried = list[tuple[int, int]]()

        class At(Busy):
            def rate(at, work: Work, *, seconds: float) -> Rate:  # noqa: N805
                size = work(0)
                self.tried += [(size, at._num_threads)] if seconds == 0 else []
                return Rate(rate_of(size, at._num_threads), 1.0)

        monkeypatch.setattr(calibration, "Busy", At)
        monkeypatch.setattr(calibration, "make_evaluator", lambda *_, **__: UniformEvaluator())
        monkeypatch.setattr(calibration, "playing", lambda *_, num_games, num_threads: lambda _: num_games)
        monkeypatch.setattr(calibration, "num_cores", lambda: 16)
        monkeypatch.setattr(EvaluatorConfig, "on_gpu", True)


def go9_on_gpu(size: int, workers: int) -> float:
    """Rates like those of Go 9x9 on an H100: the CPU limits few workers, and the interpreter lock many."""
    return min(110_000 * workers * size / (size + 64), 1.2e6 * size / (size + 256)) * (0.9 if workers > 12 else 1)


def test_a_gpu_gets_as_many_workers_as_keep_it_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(monkeypatch, go9_on_gpu)
    path = tmp_path / "calibration.json"

    def measured(num_threads: int | None, num_games: int | None = None) -> Calibration:
        config = SelfplayConfig(games_per_worker=num_games)
        return calibrate(
            path, GAME, small_checkpoint(), SearchConfig(), config, num_threads=num_threads, report=pytest.fail
        )

    found = measured(None)
    assert (found.num_workers, found.batch_size) == (12, 1024)
    assert found.worker_rates[12] >= 0.95 * max(go9_on_gpu(1024, n) for n in range(1, 33))
    assert [workers for _, workers in device.tried if workers != 8] == [2, 2, 4, 4, 12, 12, 16, 16], "24 is not tried"
    device.tried.clear()
    assert measured(None) == found and not device.tried, "kept"
    assert measured(4).num_workers is None and {workers for _, workers in device.tried} == {4}
    device.tried.clear()
    assert measured(None, num_games=64).batch_size == 64 and {size for size, _ in device.tried} == {64}


def test_a_run_on_a_gpu_takes_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Device(monkeypatch, go9_on_gpu)
    config = new_config(GAME, "tictactoe", overrides=["training.minutes=10000"])

    def chosen(*overrides: str, **may: bool) -> tuple[int | None, int | None]:
        asked = changed(config, parse_overrides(overrides))
        found, _ = workers.measured(RunPlan(tmp_path, GAME, asked), small_checkpoint(), report=pytest.fail, **may)
        return found.selfplay.num_workers, found.selfplay.games_per_worker

    assert chosen() == (12, 1024)
    assert chosen("selfplay.num_workers=3") == (3, 1024)
    assert chosen("selfplay.games_per_worker=2048")[1] == 2048
    assert chosen("selfplay.num_workers=3", "selfplay.games_per_worker=5") == (3, 5)
    assert chosen("training.deterministic=true", "training.minutes=none", "training.steps=9") == (
        None,
        workers.DETERMINISTIC_GAMES,
    )
    assert chosen(may_add_workers=False)[0] is None, "the actors of a cluster have threads of their own"


def test_a_device_that_is_slow_is_not_measured_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = Costly(lambda size: 0.02 * size, monkeypatch)
    rates = rates_one_by_one((64, 128, 256, 512), lambda size: (evaluator.work(size), 1))
    assert list(rates) == [64, 128] and evaluator.now < 25


def small_checkpoint() -> Checkpoint:
    """A network of tic-tac-toe."""
    network = NetworkConfig(num_blocks=0, num_filters=4)
    info = CheckpointInfo.describe(GAME.spec, network, step=0)
    return Checkpoint(info, initial_weights(network, info.shape, seed=0))


def test_it_is_measured_once_a_machine_and_anew_where_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = small_checkpoint()
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
    none = '{"setup": {}, "rates": {"16": 0}, "worker_rates": {}}'
    for damage, expected in (("{", {16: 4.0}), (none, {16: 5.0})):
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


@pytest.mark.parametrize(
    "change",
    [
        {"rates": {}},
        {"rates": {"16": 0.0}},
        {"rates": {"16": -1.0, "32": 5.0}},
        {"rates": {"17": 5.0}},
        {"rates": {"16": "fast"}},
        {"worker_rates": {"2": 0.0}},
        {"worker_rates": {"1000": 5.0}},
        {"worker_rates": None},
        {"setup": {"host": "here"}},
    ],
    ids=str,
)
def test_rates_that_cannot_have_been_measured_are_damage(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    values = json.loads(json.dumps(dataclasses.asdict(Calibration(SETUP, {16: 5.0, 32: 6.0}, {2: 7.0}))))
    path.write_text(json.dumps(values))
    assert calibration._read(path) == Calibration(SETUP, {16: 5.0, 32: 6.0}, {2: 7.0})
    path.write_text(json.dumps({**values, **change}))
    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        calibration._read(path)


def test_a_calibration_of_another_setup_is_measured_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    num_measured = 0

    def measure(*_words: object, **_options: object) -> dict[int, float]:
        nonlocal num_measured
        num_measured += 1
        return {16: 1.0}

    monkeypatch.setattr(calibration, "measure_rates", measure)

    def calibrated(num_games: int | None = None, precision: str = "auto") -> int:
        config, evaluator = SelfplayConfig(games_per_worker=num_games), EvaluatorConfig(precision=precision)
        path = tmp_path / "calibration.json"
        calibrate(
            path, GAME, small_checkpoint(), SearchConfig(), config,
            num_threads=1, evaluator=evaluator, report=pytest.fail,
        )  # fmt: skip
        return num_measured

    assert (calibrated(), calibrated()) == (1, 1)
    assert (calibrated(3), calibrated(3)) == (2, 2)
    assert calibrated(precision="f32") == 3
    monkeypatch.setattr(calibration, "num_cores", lambda: 1000)
    assert calibrated() == 4
    monkeypatch.setattr(calibration.socket, "gethostname", lambda: "elsewhere")
    assert calibrated() == 5

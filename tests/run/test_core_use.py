"""What a training gets of the cores: measured by its own clock, said in words, and kept in the metrics."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import zerosum
from runs_for_tests import SETTINGS, train_a_little
from zerosum.base.errors import SettingsError
from zerosum.base.settings import container_limit, num_cores
from zerosum.report.findings import findings
from zerosum.report.run_data import read_run
from zerosum.run import measures
from zerosum.run.core_use import CoreClock, CoreUse, busy_and_stolen_s, mean_use
from zerosum.run.info import describe
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.run_plan import RunPlan
from zerosum.run.saved_state import SavedState
from zerosum.run.training import train
from zerosum.web.runs import curves

ALL = CoreUse(
    cores=2,
    cores_used=0.98,
    cores_others=0.01,
    cores_stolen=0.0,
    cores_learning=0.2,
    cores_measuring=0.05,
    selfplay_paused=0.0,
)


class Machine:
    """A machine of four cores whose clocks stand still until a test moves them."""

    def __init__(self) -> None:
        self.now = self.cpu_s = self.busy_s = self.stolen_s = 0.0

    def clock(self) -> CoreClock:
        return CoreClock(
            lambda: self.cpu_s,
            cores=4,
            clock=lambda: self.now,
            busy_s=lambda: (self.busy_s, self.stolen_s),
        )


def test_the_time_of_all_cores_is_divided() -> None:
    machine = Machine()
    machine.now, machine.cpu_s, machine.busy_s = 100.0, 7.0, 50.0
    clock = machine.clock()
    machine.now, machine.cpu_s, machine.busy_s, machine.stolen_s = 110.0, 17.0, 75.0, 5.0
    use = clock.lap(learning_s=4.0, measuring_s=2.0)
    assert asdict(use) == pytest.approx(
        {
            "cores": 4,
            "cores_used": 10 / 40,
            "cores_others": 15 / 40,
            "cores_stolen": 5 / 40,
            "cores_learning": 4 / 40,
            "cores_measuring": 2 / 40,
            "selfplay_paused": 0.0,
        }
    )
    machine.now, machine.cpu_s, machine.busy_s = 120.0, 57.5, 115.0
    use = clock.lap(learning_s=4.0, measuring_s=2.0)
    assert (use.cores_used, use.cores_others, use.cores_stolen, use.cores_learning) == (1.0, 0.0, 0.0, 0.0)


def test_pauses_count_once_however_many_workers_ask() -> None:
    machine, is_behind = Machine(), [False]
    clock = machine.clock()
    ask = clock.counting(lambda: is_behind[0])
    for second, is_behind[0] in enumerate((False, True, True, True, False, False, True)):
        machine.now = float(second)
        assert [ask(), ask()] == [is_behind[0]] * 2
    machine.now = 10.0
    assert clock.lap().selfplay_paused == pytest.approx((3 + 4) / 10), "from 1 to 4, and from 6 on"
    machine.now, is_behind[0] = 12.0, False
    ask()
    machine.now = 14.0
    assert clock.lap().selfplay_paused == pytest.approx(2 / 4)


def test_a_system_that_does_not_tell(tmp_path: Path) -> None:
    assert busy_and_stolen_s(tmp_path / "nowhere") is None
    stat = tmp_path / "stat"
    stat.write_text("cpu  0 0 0 0 0 0 0 0 0 0\n" + "".join(f"cpu{n} 0 0 0 0 0 0 0 0 0 0\n" for n in range(256)))
    assert busy_and_stolen_s(stat) is None, "a sandbox that shows zeros"
    stat.write_text("cpu 1 2 3 4\n")
    assert busy_and_stolen_s(stat) is None
    clock = CoreClock(lambda: 0.0, busy_s=lambda: None)
    use = clock.lap()
    assert use.cores_others is None and use.cores_stolen is None


def test_ticks_are_read_in_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu 9 9 9 9 9 9 9 9 0 0\ncpu0 100 20 30 4000 50 6 7 80 10 0\ncpu1 1 1 1 1 1 1 1 1 0 0\n")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    monkeypatch.setattr("os.sysconf", lambda _: 100)
    assert busy_and_stolen_s(stat) == pytest.approx(((100 + 20 + 30 + 6 + 7) / 100, 0.8))


@pytest.mark.skipif(busy_and_stolen_s() is None, reason="this system does not tell who uses its cores")
def test_a_busy_thread_is_our_own_and_not_another_program() -> None:
    clock, ends = CoreClock(time.process_time), time.monotonic() + 0.5
    while time.monotonic() < ends:
        pass
    use = clock.lap()
    assert use.cores_used > 0
    assert use.cores_used + (use.cores_others or 0.0) + (use.cores_stolen or 0.0) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (ALL, ""),
        (replace(ALL, cores_used=0.43, cores_others=0.55), "43% of its 2 cores: other programs used 55%."),
        (replace(ALL, cores_used=0.5, cores_stolen=0.45), "the host of this virtual machine took 45%"),
        (replace(ALL, cores_used=0.55, selfplay_paused=0.6), "self-play waited for the learner 60% of the time"),
        (replace(ALL, cores_used=0.4, cores_others=0.3), ""),  # 30 % idle: nobody waits for the other programs
        (replace(ALL, cores=1, cores_used=0.4, cores_others=0.6), "40% of its 1 core: other programs used 60%"),
    ],
)
def test_what_is_wrong_is_said_with_its_cause(use: CoreUse, said: str) -> None:
    words = use.words()
    assert said in words and bool(said) == bool(words)


def test_idle_cores_are_named_where_there_is_work_for_all() -> None:
    use = replace(ALL, cores_used=0.4, cores_others=0.1)
    assert use.words() == "" and "50% was idle" in use.words(is_for_all_cores=True)
    assert "does not say" in replace(use, cores_others=None, cores_stolen=None).words(is_for_all_cores=True)


def test_the_summary_has_the_parts_if_nothing_is_wrong() -> None:
    assert ALL.summary(has_selfplay=True) == (
        "The training had 98% of its 2 cores: self-play 73%, learning 20%, measuring 5%."
    )
    assert ALL.summary(has_selfplay=False) == "The training had 98% of its 2 cores: learning 93%, measuring 5%."


def test_the_mean_leaves_out_what_was_not_measured() -> None:
    assert mean_use([None]) is None
    mean = mean_use([None, replace(ALL, cores_used=0.5, cores_others=None), replace(ALL, cores_used=1.0)])
    assert mean is not None and (mean.cores_used, mean.cores_others) == (0.75, 0.01)


def test_a_training_says_that_other_programs_have_its_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the terminal, in the metrics, in `info`, in the report and on the page of the runs."""
    starved = replace(ALL, cores_used=0.12, cores_others=0.86)
    monkeypatch.setattr(CoreClock, "lap", lambda _self, **_: starved)
    monkeypatch.setattr(measures, "ROWS_JUDGED", 1)
    run, said = tmp_path / "run", list[str]()
    train("tictactoe", run, overrides=SETTINGS, report=said.append)
    text, sentence = "\n".join(said), "The training had 12% of its 2 cores: other programs used 86%."
    assert "| 12% of 2 cores" in text
    rows = read_metrics(run / "metrics.csv")
    assert rows[-1].core_use == starved
    described, figures = list[str](), list[str]()
    describe(run, write=described.append, write_json=figures.append)
    assert sentence in "\n".join(described)
    assert any('"cores_others"' in line and "0.86" in line for line in figures)
    found = [finding for finding in findings(read_run(run), []) if sentence in finding.text]
    assert [finding.kind for finding in found] == ["warning"]
    assert sentence in curves("run", run)["cores"]


def test_a_training_reports_a_cause_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_a_little("tictactoe", tmp_path / "run")
    config = read_run(tmp_path / "run").config
    said, uses = list[str](), list[CoreUse]()
    monkeypatch.setattr(CoreClock, "lap", lambda _self, **_: uses[-1])
    room = measures.Measures(
        RunPlan(tmp_path / "run", zerosum.make("tictactoe"), config),
        saved=SavedState(),
        report=said.append,
        clock=time.monotonic,
    )
    budget = _StandingBudget()
    room.watch_cores(budget)  # type: ignore[arg-type]
    starved = replace(ALL, cores_used=0.5, cores_others=0.5)
    waiting = replace(ALL, cores_used=0.5, selfplay_paused=0.5)
    told = []
    for use in [ALL] * 3 + [starved] * 6 + [waiting] * 6 + [ALL] * 4:
        uses.append(use)
        room.add_row(3, budget, games=1, positions=1)  # type: ignore[arg-type]
        told.append(len(said))
    room.close()
    assert told[2] == 0 and told[8] == 1 and told[-1] <= 4
    assert "other programs" in said[0] and "waited for the learner" in said[-1]


class _StandingBudget:
    elapsed_s = 60.0

    def cpu_s(self) -> float:
        return 0.0


def test_rows_with_impossible_shares_are_damaged(tmp_path: Path) -> None:
    from zerosum.run.metrics import Metrics

    metrics = Metrics(tmp_path)
    metrics.add(MetricsRow(1.0, 2, 3, 4, 5, 6.0, **asdict(ALL)))
    metrics.close()
    path = tmp_path / "metrics.csv"
    assert [row.core_use for row in read_metrics(path)] == [ALL]
    for wrong in ("nan", "-0.5", "1.5", "inf"):
        path.write_text(path.read_text().replace("0.98", wrong))
        assert read_metrics(path) == [], wrong
        path.write_text(path.read_text().replace(wrong, "0.98"))


def test_the_clock_of_a_run_is_fixed(tmp_path: Path) -> None:
    """Minutes of the wall clock are no CPU-minutes."""
    run = tmp_path / "run"
    train_a_little("tictactoe", run)
    with pytest.raises(SettingsError, match=r"counted by training\.clock='wall'.*initial_network"):
        train("tictactoe", run, steps=4, overrides=["training.clock=cpu"], report=lambda _: None)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, None),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": "250000 100000\n"}, 2.5),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
        ({"cpu.max": "many\n"}, None),
    ],
)
def test_the_limit_of_a_container_is_known(
    files: dict[str, str], limit: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert container_limit(tmp_path) == limit
    monkeypatch.setattr("zerosum.base.settings.container_limit", lambda: container_limit(tmp_path))
    monkeypatch.setattr("zerosum.base.settings.num_own_cores", lambda: 16)
    assert num_cores() == {None: 16, 2.5: 3, 0.5: 1}[limit]


def test_selfplay_that_waits_is_counted_in_a_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def counting(_self: CoreClock, is_paused: Callable[[], bool]) -> Callable[[], bool]:
        def ask() -> bool:
            asked.set()
            return is_paused()

        return ask

    monkeypatch.setattr(CoreClock, "counting", counting)
    train_a_little("tictactoe", tmp_path / "run")
    assert asked.is_set()

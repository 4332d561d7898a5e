"""`zerosum bench gpu` measures, keeps what it has, and judges; here with a simulated device and on a CPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands_for_tests import Command
from zerosum.base.errors import SettingsError
from zerosum.bench import Figure
from zerosum.bench.gpu import bench_gpu
from zerosum.bench.gpu.goals import GOALS, Goal, Row
from zerosum.bench.gpu.page import Results, device_of
from zerosum.bench.gpu.section_process import SectionError, figures_of
from zerosum.bench.gpu.sections import SECTIONS, Trial
from zerosum.network.evaluators.device import uses_gpu

CPU = Trial("cpu", is_tiny=True)


def test_a_trial_with_the_simulated_device_writes_what_it_measured(tmp_path: Path, zero: Command) -> None:
    out = tmp_path / "new" / "gpu.json"
    answer = zero("bench", "gpu", "--out", out, "--device", "simulated", "--only", "evaluator,analyse,learner")
    assert answer.status == 0, answer.err
    results = json.loads(out.read_text(encoding="utf-8"))
    metrics = {(figure["bench"], figure["game"], figure["metric"]) for figure in results["figures"]}
    assert ("evaluator", "go9", "best_evaluations_per_second") in metrics
    assert ("analyse", "chess", "simulations_per_second") in metrics
    assert all(figure["value"] >= 0 and "goal" not in figure for figure in results["figures"])
    assert results["notes"] == ["learner: not measured, because a simulated device has no network."]
    page = out.with_suffix(".md").read_text(encoding="utf-8")
    assert "| | best_evaluations_per_second, 1/s |" in page and "say nothing about a GPU" in page
    assert "No figure has a goal on this device" in answer.out


def test_a_cpu_tries_self_play_and_the_learner() -> None:
    metrics = {figure.metric for figure in SECTIONS["learner"].measure(CPU)}
    assert metrics == {"steps_per_second", "samples_per_second", "tflop_per_second", "idle_share"}
    figures = list(SECTIONS["selfplay"].measure(CPU))
    assert {"share_of_evaluator", "swap_stall_ms", "evaluations_per_cpu_second"} <= {f.metric for f in figures}
    assert {f.settings.get("workers_are") for f in figures} == {"default", "set", None}


def test_a_section_that_takes_too_long_is_ended() -> None:
    with pytest.raises(SectionError, match="ended after 0 seconds, its limit"):
        list(figures_of("train", CPU, seconds=0.3))


def test_a_section_that_fails_says_why() -> None:
    with pytest.raises(SectionError, match="device is 'nodevice', which torch cannot use here"):
        list(figures_of("analyse", Trial("nodevice", is_tiny=True), seconds=60))
    with pytest.raises(SectionError, match="exit status 1; its last words: KeyError: 'nosection'"):
        list(figures_of("nosection", CPU, seconds=60))


def test_figures_that_were_measured_before_a_failure_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_later(section: str, trial: Trial, *, seconds: float) -> object:
        yield Figure(section, "chess", "evaluations_per_second", 5.0, "1/s")
        raise SectionError("it broke")

    monkeypatch.setattr("zerosum.bench.gpu.figures_of", fails_later)
    out, said = tmp_path / "gpu.json", list[str]()
    bench_gpu(out, only=["evaluator", "selfplay"], device="cpu", report=said.append)
    results = json.loads(out.read_text(encoding="utf-8"))
    assert [figure["bench"] for figure in results["figures"]] == ["evaluator", "selfplay"]
    assert results["notes"] == ["evaluator: it broke.", "selfplay: it broke."]
    assert set(results["seconds"]) == {"evaluator", "selfplay"}


def test_each_goal_is_for_its_figure_alone() -> None:
    figure = Figure("selfplay", "go9", "evaluations_per_second", 790_000, "1/s", {"workers_are": "default"})
    row = Row.of(figure, has_goals=True)
    assert row.is_short and "goal ≥ 800 k, not reached" in row.text()
    assert Row.of(figure, has_goals=False).goal is None
    set_by_hand = Figure("selfplay", "go9", "evaluations_per_second", 790_000, "1/s", {"workers_are": "set"})
    assert Row.of(set_by_hand, has_goals=True).goal is None
    stall = Row.of(Figure("selfplay", "chess", "swap_stall_ms", 20, "ms"), has_goals=True)
    assert stall.goal == Goal("selfplay", "", "swap_stall_ms", 20, is_at_most=True) and not stall.is_short
    results = Results(device_of(CPU))
    assert results.verdict() == "No figure has a goal on this device."
    results.rows += [stall]
    assert results.verdict() == "All 1 goals are reached."
    results.rows += [row]
    assert results.verdict() == "1 of 2 goals are not reached." and results.short == [row]
    assert any("≥ 800 k, not reached" in line for line in results.markdown())


def test_figures_of_one_name_are_one_line_with_what_differs() -> None:
    results = Results({"device": "a GPU", "cores": 16, "is_tiny": False})
    for batch_size, value in ((64, 50_000.0), (4096, 134_312.0)):
        settings = {"network": "19x256", "threads": 4, "batch_size": batch_size}
        figure = Figure("evaluator", "chess", "evaluations_per_second", value, "1/s", settings)
        results.rows.append(Row.of(figure, has_goals=True))
    share = Figure("evaluator", "chess", "share_of_roofline", 0.55, "", {"network": "19x256"})
    results.rows.append(Row.of(share, has_goals=True))
    assert list(results.markdown())[-3:] == [
        "| chess | network 19x256 | | |",
        "| | evaluations_per_second, 1/s | 50 k (batch_size 64), 134 k (batch_size 4096) | |",
        "| | share_of_roofline | 0.55 | ≥ 0.75, not reached |",
    ]


def test_every_goal_names_a_section() -> None:
    assert {goal.section for goal in GOALS} <= set(SECTIONS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "gpu.txt"), "--out is 'gpu.txt', expected a name that ends in .json"),
        ((), "writes its results to a file: add --out gpu.json"),
        (("--out", "gpu.json", "--only", "evaluatr"), "unknown section 'evaluatr' of --only: did you mean 'evaluator'"),
        (("--out", "gpu.json", "--game", "chess"), "--game does not go with the bench 'gpu'"),
        (("--out", "gpu.json", "--device", "cuda:7"), "device is 'cuda:7'"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(words: tuple[str, ...], message: str, zero: Command) -> None:
    answer = zero("bench", "gpu", *words)
    assert answer.status == 2 and message in answer.err and "Traceback" not in answer.err


def test_options_of_the_gpu_bench_go_with_no_other(zero: Command) -> None:
    for words in (("--out", "x.json"), ("--only", "train"), ("--device", "cpu")):
        assert f"{words[0]} goes with the bench 'gpu', not 'search'" in zero("bench", "search", *words).err


def test_a_machine_without_a_gpu_says_so(tmp_path: Path) -> None:
    if uses_gpu():
        pytest.skip("this machine has a GPU")
    with pytest.raises(SettingsError, match="no GPU that torch can use. `--device cpu` tries the command"):
        bench_gpu(tmp_path / "gpu.json", report=lambda _: None)

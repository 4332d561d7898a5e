"""Capacity plans: hours by hand from figures of a bench, budgets in minutes and in steps, the paper's runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands_for_tests import Command
from zerosum.base.errors import DataError, ZerosumError
from zerosum.bench.figure import Figure
from zerosum.games import make
from zerosum.run.capacity.paper import paper_runs
from zerosum.run.capacity.plan import Plan, plan_training
from zerosum.run.capacity.rates import Rates, read_rates
from zerosum.run.config import RunConfig, new_config

CHESS = make("chess")
ABOUT = {"network": "19x256", "cores": 8}


def config_of(*changes: str, preset: str = "paper") -> RunConfig:
    return new_config(CHESS, "chess", preset=preset, overrides=changes)


def written(path: Path, *figures: Figure) -> Path:
    path.write_text("".join(f"{figure.json()}\n" for figure in figures), encoding="utf-8")
    return path


def figure(bench: str, metric: str, value: float, game: str = "chess", **settings: Any) -> Figure:
    return Figure(bench, game, metric, value, "1/s", ABOUT | settings)


SELFPLAY = figure("selfplay", "evaluations_per_second", 50_000.0)
LEARNER = figure("learner", "samples_per_second", 4000.0)


def test_hours_are_those_by_hand() -> None:
    """The paper's settings in chess: 801 evaluations a ply, a position is drawn 0.7 times."""
    plan = Plan.of(config_of(), CHESS, Rates(50_000, 4000, 1, "by hand"))
    samples = 700_000 * 4096
    seconds = samples / 0.7 * 801 / 50_000 + samples / 4000
    assert plan.forecast.seconds == pytest.approx(seconds) and plan.limit == "self-play"
    assert plan.positions == samples / 0.7
    values = plan.values(price=3.0)
    assert values["hours"] == pytest.approx(seconds / 3600) and values["cost"] == pytest.approx(3 * seconds / 3600)
    assert Plan.of(config_of(), CHESS, Rates(1e9, 4000, 8, "")).limit == "learner"


@given(st.floats(100, 1e6), st.floats(100, 1e6), st.integers(1, 16), st.sampled_from(["wall", "cpu"]))
def test_budgets_in_minutes_and_in_steps_are_inverse(self_play: float, learner: float, cores: int, clock: str) -> None:
    config = config_of("training.minutes=600", f"training.clock={clock}", preset="")
    plan = Plan.of(config, CHESS, Rates(self_play, learner, cores, ""))
    assert config.learning_seconds is not None
    seconds = plan.forecast.seconds * (cores if clock == "cpu" else 1)
    a_step = seconds / max(plan.forecast.steps, 1)
    assert seconds == pytest.approx(config.learning_seconds, abs=a_step)


def test_a_quicker_machine_is_never_slower() -> None:
    for slow, quick in ((Rates(100, 50, 2, ""), Rates(200, 50, 2, "")), (Rates(100, 50, 2, ""), Rates(100, 80, 2, ""))):
        assert Plan.of(config_of(), CHESS, quick).forecast.seconds <= Plan.of(config_of(), CHESS, slow).forecast.seconds


def test_figures_of_a_bench_are_read(tmp_path: Path) -> None:
    other = figure("selfplay", "evaluations_per_second", 9.0, network="4x32")
    path = written(tmp_path / "gpu.jsonl", other, LEARNER, SELFPLAY, figure("train", "samples_per_second", 10.0))
    rates = read_rates(path, config_of(), "chess")
    assert (rates.evaluations_per_second, rates.samples_per_second, rates.cores) == (50_000, 4000, 1)
    path = written(tmp_path / "cpu.jsonl", SELFPLAY, figure("train", "samples_per_second", 10.0))
    assert read_rates(path, config_of(), "chess").cores == 8


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        ([LEARNER], "no evaluations_per_second of chess with a network of 19x256: add what `zerosum bench selfplay"),
        ([SELFPLAY], "no samples_per_second of chess"),
        ([figure("selfplay", "evaluations_per_second", 1.0, game="go9"), LEARNER], "no evaluations_per_second"),
        ([], "no evaluations_per_second"),
    ],
)
def test_missing_figures_are_named(tmp_path: Path, figures: list[Figure], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        read_rates(written(tmp_path / "some.jsonl", *figures), config_of(), "chess")


@pytest.mark.parametrize("content", ["nonsense", "[1]", '{"value": 3}', "3"])
def test_a_file_without_figures_is_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.jsonl").write_text(content)
    with pytest.raises(DataError, match="has no figures: expected the output of `zerosum bench NAME --json`"):
        read_rates(tmp_path / "x.jsonl", config_of(), "chess")
    with pytest.raises(DataError, match="has no figures"):
        read_rates(tmp_path / "nowhere.jsonl", config_of(), "chess")


def test_the_papers_runs_have_the_lengths_that_its_figures_imply() -> None:
    """5,000 actors, 40 ms a move and 9 hours are 4.05 billion moves, 92 for each of 44 million games."""
    runs = {run["game"]: run for run in paper_runs()}
    assert [runs[game]["games"] for game in ("chess", "shogi", "go")] == [44e6, 24e6, 21e6]
    assert [runs[game]["hours"] for game in ("chess", "shogi", "go")] == [9, 12, 34]
    assert [round(runs[game]["plies"], 1) for game in ("chess", "shogi", "go")] == [92.0, 112.5, 145.7]
    assert runs["chess"]["h100_hours"] == pytest.approx(4.05e9 * 800 / 134e3 / 3600)
    for run in runs.values():
        assert 30 < run["tops"] < 92, "no TPU does more than its peak"


@pytest.mark.parametrize(
    ("preset", "game", "sentence"),
    [
        ("", "paper", "'paper' is a preset, not a game: .* plan GAME --preset paper"),
        ("", "chesss", "unknown game 'chesss'"),
        ("papre", "chess", "unknown preset 'papre'"),
    ],
)
def test_mistakes_are_sentences(preset: str, game: str, sentence: str) -> None:
    with pytest.raises(ZerosumError, match=sentence):
        plan_training(game, preset)


def test_the_command_prints_the_plan_and_its_json(zero: Command, tmp_path: Path) -> None:
    words = ["plan", "chess", "--preset", "paper", "--figures", written(tmp_path / "f.jsonl", SELFPLAY, LEARNER)]
    text, values = zero(*words, "--price", "20").out, json.loads(zero(*words, "--price", "20", "--json").out)
    assert f"{values['games']:,.0f} as long as random ones" in text and f"cost {values['cost']:,.0f}" in text
    assert f"limit         {values['limit']}" in text and "The paper's own runs: 5,000 TPUs play" in text
    uncounted = "Those of the alpha-beta search take less time."
    assert uncounted in zero(*words, "--set", "selfplay.alphabeta_depth=2").out and uncounted not in text


def test_this_machine_is_measured() -> None:
    small = ["network.num_blocks=1", "network.num_filters=8", "training.device=cpu", "learner.batch_size=32"]
    values = json.loads(plan_training("tictactoe", overrides=small, as_json=True))
    assert values["source"].startswith("measured here")
    assert min(values[name] for name in ("evaluations_per_second", "samples_per_second", "hours", "games")) > 0

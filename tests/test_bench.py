"""The benches measure what they say; no test fails because a machine is slow."""

from __future__ import annotations

import json

import pytest

from zerosum.bench import run_bench
from zerosum.errors import SettingsError

METRICS = {
    "search": {"simulations_per_cpu_second", "bytes_per_simulation"},
    "evaluator": {"evaluations_per_second", "evaluations_per_cpu_second", "core_efficiency"},
    "selfplay": {
        "evaluations_per_second",
        "evaluations_per_cpu_second",
        "positions_per_second",
        "share_of_evaluator",
        "swap_stall_ms",
    },
    "train": {"evaluations_per_second", "positions_per_second", "samples_per_second"},
}


@pytest.mark.parametrize("name", METRICS)
def test_figures_are_json_lines(name: str) -> None:
    figures = list(run_bench(name, "tictactoe", seconds=1.5 if name == "train" else 0.3))
    assert {figure.metric for figure in figures} == METRICS[name]
    for figure in figures:
        line = json.loads(figure.json())
        assert (line["bench"], line["game"], line["value"]) == (name, "tictactoe", figure.value)
        assert figure.value > 0
        assert figure.metric in str(figure)


def test_an_unknown_bench_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'search'"):
        list(run_bench("serch", "tictactoe"))

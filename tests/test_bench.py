"""The benches measure what they say; no test fails because a machine is slow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zerosum.bench import run_bench
from zerosum.errors import SettingsError

METRICS = {
    "rules": {"plies_per_cpu_second", "perft_nodes_per_cpu_second", "encode_seconds"},
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


def test_processes_are_measured_too() -> None:
    """A game in Python has them; what a change of networks costs is not seen from here."""
    game = f"{Path(__file__).parent / 'games_for_tests.py'}:DoubleMove"
    settings = ["selfplay.num_workers=2", "selfplay.games_per_worker=4", "network.num_blocks=1"]
    settings += ["search.cache_positions=0"]  # or soon nothing is left to evaluate
    figures = list(run_bench("selfplay", game, seconds=0.3, overrides=settings))
    assert {figure.metric for figure in figures} == METRICS["selfplay"] - {"swap_stall_ms"}
    for figure in figures:
        assert (figure.settings["workers"], figure.settings["games_per_worker"]) == ("2 processes", 4)
        assert figure.settings["network"].startswith("1x") and figure.value > 0


def test_an_unknown_bench_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'search'"):
        list(run_bench("serch", "tictactoe"))
    with pytest.raises(SettingsError, match="unknown setting network.blocks: did you mean 'num_blocks'"):
        list(run_bench("search", "tictactoe", overrides=["network.blocks=1"]))

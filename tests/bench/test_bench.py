"""The benches measure what they say; no test fails because a machine is slow."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections import deque
from importlib.util import find_spec
from pathlib import Path

import pytest

from zerosum.base.errors import SettingsError
from zerosum.base.settings import num_cores
from zerosum.bench import Figure, run_bench
from zerosum.bench.growth import STATM, growth
from zerosum.bench.other_process import open_process
from zerosum.bench.peers import OPENSPIEL_GAMES, PGX_GAMES
from zerosum.bench.selfplay_slices import Playing
from zerosum.games import make
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.weights import num_operations
from zerosum.run.config import new_config
from zerosum.selfplay.calibration import BATCH_SIZES

SPEED_UPS = {"speed_up", "speed_up_two_networks", "speed_up_two_processes"}
METRICS = {
    "rules": {"plies_per_cpu_second", "perft_nodes_per_cpu_second", "encode_seconds"},
    "search": {
        "simulations_per_cpu_second",
        "bytes_per_simulation",
        *({"process_bytes_per_simulation"} if STATM.exists() else ()),
    },
    "batches": {
        "batch_fill",
        "least_batch_fill",
        "collisions_per_leaf",
        "leaves_per_second",
        "leaves_per_cpu_second",
        "leaves_per_caller_cpu_second",
        *({"speed_up"} if num_cores() > 1 else ()),
    },
    "evaluator": {
        "evaluations_per_second",
        "evaluations_per_cpu_second",
        "roofline_evaluations_per_second",
        "share_of_roofline",
        "core_efficiency",
    },
    "selfplay": {
        "evaluations_per_second",
        "evaluations_per_cpu_second",
        "positions_per_second",
        "share_of_evaluator",
        "seconds_per_game",
        "swap_stall_ms",
        *(SPEED_UPS if num_cores() > 1 else ()),
    },
    "train": {"evaluations_per_second", "positions_per_second", "samples_per_second"},
    "analyse": {
        "seconds_per_1000_simulations",
        "simulations_per_second",
        "simulations_per_cpu_second",
        "evaluations_per_second",
        "share_of_evaluator",
        "distinct_share",
        "collisions_per_leaf",
        "mean_batch",
    },
}


@pytest.mark.parametrize("name", METRICS)
def test_figures_are_json_lines(name: str) -> None:
    # So small that a training of a second learns; and so large that a tree of it grows.
    game, seconds = ("tictactoe", 1.5) if name == "train" else ("connect4", 0.3)
    figures = list(run_bench(name, game, seconds=seconds))
    assert {figure.metric for figure in figures} == METRICS[name]
    for figure in figures:
        line = json.loads(figure.json())
        assert (line["bench"], line["game"], line["value"]) == (name, game, figure.value)
        # A slow machine may not come to learning in so short a time, nor a search of one batch to collisions.
        assert figure.value > 0 or figure.metric in ("samples_per_second", "collisions_per_leaf")
        assert figure.metric in str(figure)


def test_self_plays_own_cost_is_measured_without_a_network() -> None:
    figures = list(run_bench("selfplay", "tictactoe", seconds=0.5, evaluator="none"))
    metrics = [
        "plies_per_cpu_second",
        *(["speed_up_of_two_threads", "speed_up_of_two_processes"] if num_cores() > 1 else []),
    ]
    assert [figure.metric for figure in figures] == metrics * 2
    assert [figure.settings["num_simulations"] for figure in figures] == sorted([16, 100] * len(metrics))
    assert all(figure.value > 0 for figure in figures)
    for name, evaluator in (("search", "none"), ("analyse", "none"), ("selfplay", "rollouts")):
        with pytest.raises(SettingsError, match=f"unknown --evaluator '{evaluator}': expected simulated:NAME, or none"):
            list(run_bench(name, "tictactoe", evaluator=evaluator))


def test_a_simulated_device_takes_the_place_of_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    device = "simulated:latency=0.2,rate=1000000,streams=2"
    settings = ["selfplay.num_workers=2", "selfplay.games_per_worker=8"]
    figures = list(run_bench("selfplay", "connect4", seconds=0.5, overrides=settings, evaluator=device))
    assert [f.metric for f in figures] == ["evaluations_per_second", "evaluations_per_cpu_second", "share_of_evaluator"]
    assert all(figure.value > 0 and figure.settings["workers"] == 2 for figure in figures)
    monkeypatch.setattr("zerosum.bench.analyse.NUM_VISITS", 5_000)
    figures = list(run_bench("analyse", "connect4", seconds=0.5, evaluator=device))
    assert {figure.metric for figure in figures} == METRICS["analyse"] | {"share_on_one_core", "warm_share_on_one_core"}
    assert all(figure.settings["leaves_a_batch"] == 256 for figure in figures)
    for name, evaluator, message in (
        ("train", device, "--evaluator goes with the benches 'selfplay' and 'analyse', not 'train'"),
        ("analyse", "simulated:h200", "unknown simulated device 'h200'"),
        ("selfplay", "simulated:latency=1,rate=-5", "must be positions a second from 1"),
    ):
        with pytest.raises(SettingsError, match=message):
            list(run_bench(name, "connect4", evaluator=evaluator))


def test_processes_are_measured_too() -> None:
    """A game in Python has them; what a change of networks costs is not seen from here."""
    game = f"{Path(__file__).parents[1] / 'games_for_tests.py'}:DoubleMove"
    settings = ["selfplay.num_workers=2", "selfplay.games_per_worker=4", "network.num_blocks=1"]
    settings += ["search.cache_positions=0"]  # or soon nothing is left to evaluate
    figures = list(run_bench("selfplay", game, seconds=0.3, overrides=settings))
    assert {figure.metric for figure in figures} == METRICS["selfplay"] - {"swap_stall_ms"} | SPEED_UPS
    for figure in figures:
        assert (figure.settings["workers"], figure.settings["games_per_worker"]) == ("2 processes", 4)
        assert figure.settings["network"].startswith("1x") and figure.value > 0


def test_the_planes_that_a_run_adds_are_measured() -> None:
    """Workers make the game by its name in the settings, where Go has more planes than by itself."""
    game = "go(size=5)"
    size = ["network.num_blocks=0", "network.num_filters=4", "selfplay.games_per_worker=4", "training.backend=torch"]
    settings = [*size, "training.workers=processes", "selfplay.num_workers=1", "search.num_simulations=4"]
    figures = list(run_bench("selfplay", game, seconds=0.3, overrides=settings))
    assert {figure.settings.get("workers") for figure in figures} >= {"1 processes"}
    config = new_config(make(game), game, overrides=size)
    planes = NetworkShape.of(make(config.game).spec)
    assert planes.num_planes == NetworkShape.of(make(game).spec).num_planes + 3
    roofline = next(
        f for f in run_bench("evaluator", game, seconds=0.1, overrides=size) if f.metric == "share_of_roofline"
    )
    assert roofline.settings["gflop_per_evaluation"] * 1e9 == num_operations(config.network, planes)


def test_a_game_takes_as_long_as_its_evaluations() -> None:
    settings = ["selfplay.num_workers=1", "selfplay.games_per_worker=4", "network.num_blocks=0"]
    settings += ["search.cache_positions=0"]
    figures = {figure.metric: figure for figure in run_bench("selfplay", "tictactoe", seconds=0.3, overrides=settings)}
    assert not SPEED_UPS & figures.keys()  # there is one worker
    about = figures["seconds_per_game"].settings
    expected = 800 * about["plies"] / figures["evaluations_per_second"].value
    assert 5 <= about["plies"] <= 9 and figures["seconds_per_game"].value == pytest.approx(expected)


def test_a_cache_that_knows_everything_is_named() -> None:
    game = make("tictactoe")
    settings = ["selfplay.num_workers=1", "selfplay.games_per_worker=4", "network.num_blocks=0"]
    config = new_config(game, "tictactoe", overrides=[*settings, "search.cache_positions=100000"])
    with Playing(game, config) as playing, pytest.raises(SettingsError, match="Set search.cache_positions to 0"):
        deque((playing.rates(seconds=0.05) for _ in itertools.count()), maxlen=0)


def test_operations_are_those_of_the_literature() -> None:
    """The count for the paper's network, and for a network without blocks, computed by hand."""
    for game, policy_filters, policy_head, expected in (
        ("chess", 256, "planes", 2.98e9),
        ("shogi", 256, "planes", 3.9e9),
        ("go", 2, "dense", 16.2e9),
    ):
        paper = NetworkConfig(
            num_blocks=19,
            num_filters=256,
            policy_head=policy_head,
            policy_filters=policy_filters,
            value_filters=1,
            value_hidden=256,
            value_head="scalar",
        )
        assert num_operations(paper, NetworkShape.of(make(game).spec)) == pytest.approx(expected, rel=0.02)
    tiny = NetworkConfig(num_blocks=0, num_filters=3, policy_filters=2, value_filters=1, value_hidden=5)
    stem, policy = 9 * 3 * 3 * 3 * 2, 9 * 3 * 2 + 9 * 2 * 9
    value = 9 * 3 * 1 + 9 * 5 + 5 * 3
    shape = NetworkShape.of(make("tictactoe").spec)
    assert (shape.num_planes, shape.num_actions) == (2, 9)
    assert num_operations(tiny, shape) == 2 * (stem + policy + value)


@pytest.mark.parametrize("backend", ["openvino", "torch"])
def test_the_roofline_is_that_of_the_evaluator(backend: str) -> None:
    if find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    settings = [f"training.backend={backend}", "training.device=cpu", "network.num_blocks=0"]
    figures = list(run_bench("evaluator", "tictactoe", seconds=0.3, overrides=settings))
    assert [f.metric for f in figures].count("evaluations_per_second") == len(BATCH_SIZES)
    roofline, share = (f for f in figures if "roofline" in f.metric)
    about = share.settings
    assert about["gflop_per_second"] / about["gflop_per_evaluation"] == pytest.approx(roofline.value)
    assert share.value > 0 and about["per_cpu_second"] > 0


@pytest.mark.skipif(not STATM.exists(), reason="this system does not say how much memory a process has")
def test_a_process_grows_with_its_tree() -> None:
    grown = growth("connect4", [], seconds=0.5)
    assert grown["simulations"] > 1000
    assert 10 < grown["bytes"] / grown["simulations"] < 1000


def test_numbers_are_written_for_people() -> None:
    figure = Figure("search", "chess", "metric", 1234567.8912, "1/s", {"a": 0.25, "b": 3, "c": 0.0000123, "d": "x"})
    assert str(figure) == (
        "search     metric                            1,234,567.891 1/s  (a 0.250, b 3, c 1.23e-05, d x)"
    )


def test_an_unknown_bench_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'search'"):
        list(run_bench("serch", "tictactoe"))
    with pytest.raises(SettingsError, match="unknown setting network.blocks: did you mean 'num_blocks'"):
        list(run_bench("search", "tictactoe", overrides=["network.blocks=1"]))


def test_what_a_peer_cannot_do_is_said() -> None:
    for name, arguments, message in (
        ("rules", {"vs": "openspiel"}, "--vs goes with the bench 'search', not 'rules'."),
        ("search", {"peer_python": "python"}, "--peer-python goes with --vs"),
        ("search", {"vs": "openspeil"}, "unknown peer 'openspeil': did you mean 'openspiel'"),
        ("search", {"vs": "mctx", "peer_python": "/no/python"}, "/no/python cannot be started"),
    ):
        with pytest.raises(SettingsError, match=message):
            list(run_bench(name, "connect4", **arguments))
    with pytest.raises(SettingsError, match="mctx does not know nim as a game of its own, only chess, connect4"):
        list(run_bench("search", "nim", vs="mctx"))
    with pytest.raises(SettingsError, match="OpenSpiel does not know nim .* tictactoe and openspiel:NAME"):
        list(run_bench("search", "nim", vs="openspiel"))
    if find_spec("jax") is None:
        with pytest.raises(SettingsError, match="has no jax .*: run '.* -m pip install mctx pgx', or name a Python"):
            list(run_bench("search", "tictactoe", vs="mctx"))


@pytest.mark.parametrize("names", [OPENSPIEL_GAMES, PGX_GAMES])
def test_peers_are_asked_about_games_by_our_full_names(names: dict[str, str]) -> None:
    for name in names:
        assert make(name).spec.full_name == name


@pytest.mark.parametrize("game", ["connect4", "chess", "openspiel:tic_tac_toe"])
def test_openspiel_does_the_same_work(game: str) -> None:
    pytest.importorskip("pyspiel")
    if sys.platform != "linux" or shutil.which("c++") is None:
        pytest.skip("OpenSpiel's evaluator is replaced by a C++ compiler on Linux")
    settings = ["search.num_simulations=50"]
    figures = {f.metric: f for f in run_bench("search", game, seconds=0.2, overrides=settings, vs="openspiel")}
    assert figures["ratio_to_openspiel"].value > 0
    assert figures["openspiel_simulations_per_cpu_second"].settings["num_simulations"] == 50


OTHER_SIDE = """
import json, sys
request = json.loads(input())
if "refuse" in request:
    print(json.dumps({"error": "it does not."}), flush=True)
    raise SystemExit
print(json.dumps({"peer": request["name"]}), flush=True)
for line in sys.stdin:
    if float(line) < 0:
        raise SystemExit("no time runs backwards")
    print(json.dumps({"done": 100, "seconds": float(line), "cpu_seconds": 2 * float(line)}), flush=True)
"""


def test_another_process_works_when_it_is_told_to() -> None:
    command = [sys.executable, "-c", OTHER_SIDE]
    with open_process(command, {"name": "it"}, name="It") as process:
        assert process.answer == {"peer": "it"}
        rate = process.rate(seconds=0.5)
        assert (rate.per_second, rate.per_cpu_second) == (200, 100)
        with pytest.raises(
            SettingsError, match=r"It ended with exit status 1. Its last words:\n  no time runs backwards"
        ):
            process.rate(seconds=-1)
    with (
        pytest.raises(SettingsError, match="^it does not.$"),
        open_process(command, {"refuse": True}, name="It"),
    ):
        pass

"""Capacity plans: loads by hand, properties of any numbers, the paper's runs, measurements, and the command."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands_for_tests import Command
from zerosum.base.errors import SettingsError
from zerosum.base.settings import num_cores
from zerosum.capacity.assumptions import Assumptions, assumed, figures_name, gpu_kinds, recorded, recorded_figures
from zerosum.capacity.command import plan_training
from zerosum.capacity.page import paper_runs
from zerosum.capacity.plan import Machine, Plan
from zerosum.games import make
from zerosum.network import NetworkShape
from zerosum.network.weights import num_operations, num_parameters
from zerosum.run.config import RunConfig, new_config

CHESS = make("chess")
NAMES = [field.name for field in dataclasses.fields(Assumptions)]
COSTS = [name for name in NAMES if name.endswith(("_us", "_ms", "_bytes"))]
SPEEDS = [name for name in NAMES if name.endswith(("flops", "mbytes"))]


def paper_config(*changes: str) -> RunConfig:
    return new_config(CHESS, "chess", preset="paper", overrides=changes)


def test_loads_are_those_by_hand() -> None:
    """The paper's settings in chess: 800 simulations of 130 plies, every position learned from half a time."""
    numbers = Assumptions(
        plies=130,
        evaluations_per_simulation=0.5,
        new_simulations=0.8,
        gpu_evaluation_tflops=100,
        gpu_learning_tflops=50,
        simulation_us=2,
        ply_us=40,
        batch_lock_us=512,
        sample_us=10,
        seal_us=3,
        ingest_us=5,
        update_ms=4096,
        ply_bytes=100,
        ddp_share=0.5,
        network_mbytes=1,
        disk_mbytes=1,
    )
    config = paper_config("strength.budget_share=0")
    plan = Plan.of(config, CHESS, Machine(gpus=8, cpus=64, num_machines=2, num_learners=4), numbers)
    operations = num_operations(config.network, NetworkShape.of(CHESS.spec))
    weights = num_parameters(config.network, NetworkShape.of(CHESS.spec))
    positions = 700_000 * 4096 / 0.5
    loads = {load.name: load.seconds for load in plan.loads()}
    evaluating, learning = 320 * operations / 100e12, 3 * 0.5 * operations / 50e12
    assert loads == pytest.approx(
        {
            "GPUs": (evaluating + learning) / 16,
            "cores": (640 * 2e-6 + 40e-6 + 320 / 512 * 512e-6 + 8e-6 + 0.5 * 10e-6 + 2 * 4.096 / 8_192_000) / 128,
            "learner": 0.5 * 10e-6 + learning / (4 * 0.5),
            "interpreter": (40e-6 + 320 / 512 * 512e-6) / 16,
            "ingest": 5e-6 + 3e-6,
            "network": (100 / 2 + 4 * weights / (1000 * 4096 / 0.5)) / 1e6,
            "disk": (2 * 100 + 700 * 8 * weights / positions) / 1e6,
        }
    )
    alone = {load.name: load.seconds for load in plan.on(Machine(gpus=8, cpus=64, num_learners=4)).loads()}
    assert alone["store"] == pytest.approx(3e-6) and not {"ingest", "network"} & alone.keys()
    assert alone["interpreter"] == pytest.approx(40e-6 + 320 / 512 * 512e-6), "one process plays"
    assert plan.limit.name == max(loads, key=lambda name: loads[name])
    assert plan.seconds == pytest.approx(positions * max(loads.values()))
    assert plan.games == pytest.approx(positions / 130)
    assert plan.games_a_minute == pytest.approx(60 * plan.games / plan.seconds)
    assert plan.cost(3.0) == pytest.approx(2 * 3.0 * plan.seconds / 3600)


def test_openings_and_fast_searches_cost_what_their_settings_say() -> None:
    config = new_config(
        CHESS,
        "chess",
        overrides=[
            "training.steps=100",
            "selfplay.opening_share=0.5",
            "selfplay.full_search_share=0.25",
            "search.num_simulations=400",
            "selfplay.fast_simulations=10",
        ],
    )
    work = Plan.of(config, CHESS, Machine(1, 1), Assumptions(plies=100, new_simulations=0.5)).work
    full = 25 + 0.5 * 0.75  # the position after an opening is always searched in full
    assert work.positions == full
    assert work.simulations == 0.5 * (full * 400 + (100 - full) * 10)


@given(data=st.data(), gpus=st.integers(0, 8), machines=st.integers(1, 9))
@settings(max_examples=50, deadline=None)
def test_costlier_work_is_never_faster_and_more_machines_never_slower_but_for_what_is_sent(
    data: st.DataObject, gpus: int, machines: int
) -> None:
    numbers = Assumptions(**{name: data.draw(st.floats(0.1, 1000)) for name in (*COSTS, *SPEEDS)}, plies=80)
    machine = Machine(gpus, cpus=8, num_machines=machines)
    plan = Plan.of(paper_config(), CHESS, machine, numbers)
    name = data.draw(st.sampled_from((*COSTS, *SPEEDS)))
    factor = 2 if name in COSTS else 0.5
    worse = Plan.of(
        paper_config(), CHESS, machine, dataclasses.replace(numbers, **{name: factor * getattr(numbers, name)})
    )
    assert worse.seconds >= plan.seconds * (1 - 1e-9)
    larger = plan.on(dataclasses.replace(machine, num_machines=machines + 1))
    assert larger.limit.name in ("network", "ingest") or larger.seconds <= plan.seconds * (1 + 1e-9)


@pytest.mark.parametrize("clock", ["wall", "cpu"])
def test_budgets_in_minutes_and_in_steps_are_inverse(clock: str) -> None:
    changes = ["training.minutes=600", f"training.clock={clock}"]
    config, numbers = new_config(CHESS, "chess", overrides=changes), recorded("chess", plies=1, gpu="a100").values
    plan = Plan.of(config, CHESS, Machine(0, 4), numbers)
    in_steps = new_config(CHESS, "chess", overrides=[f"training.steps={round(plan.steps)}"])
    again = dataclasses.replace(
        plan, config=dataclasses.replace(in_steps, network=config.network, search=config.search)
    )
    assert config.learning_seconds == plan.seconds
    seconds = again.seconds * (4 if clock == "cpu" else 1)
    assert seconds == pytest.approx(config.learning_seconds, rel=0.01)


def test_a_learner_that_is_always_at_work_gives_no_early_networks() -> None:
    """In a short run a network is compiled after 2 % of the budget without a learner step, so 50 at the most."""
    numbers = Assumptions(
        plies=80, update_ms=100, simulation_us=50, ply_us=100, cpu_evaluation_gflops=1e6, cpu_learning_gflops=1e6
    )
    settings = ["training.minutes=1", "training.clock=cpu", "training.min_positions=1", "strength.budget_share=0"]

    def plan_of(workers: int, sample_us: float) -> Plan:
        config = new_config(CHESS, "chess", overrides=[*settings, f"selfplay.num_workers={workers}"])
        return Plan.of(config, CHESS, Machine(0, 4), dataclasses.replace(numbers, sample_us=sample_us))

    idle, busy, shared = plan_of(3, 0), plan_of(3, 1e5), plan_of(7, 0)
    assert idle.learning_share < 0.01 and busy.learning_share == 1
    assert shared.learning_share == pytest.approx(2 * idle.learning_share)
    for plan in (idle, busy):
        seconds = plan.config.learning_seconds
        assert seconds is not None
        networks = (seconds - plan.positions() * plan.cpu_seconds_a_position) / 0.1
        by_phases = plan.positions() / (64 * 256 / plan.work.samples)
        assert networks + by_phases == pytest.approx(0 if plan is busy else 50 * (1 - idle.learning_share), abs=0.5)


def test_growth_ends_at_the_papers_machines_and_is_the_same_work() -> None:
    plan = Plan.of(paper_config(), CHESS, Machine(8, 64), recorded("chess", plies=1, gpu="h100").values)
    grown = list(plan.grown())
    assert [row.machine.num_machines for row in grown] == [1, 4, 16, 64, 256, 625]
    assert all(row.steps == 700_000 for row in grown)
    learners = [row.machine.num_learners for row in grown]
    assert learners == sorted(learners) or grown[-1].limit.name in ("network", "ingest")
    assert 1 < max(learners) <= 64


def test_the_papers_runs_beside_the_prediction() -> None:
    """By hand: 44 million games, 130 plies, 800 simulations at 20,000 a second of 5,000 actors are 12.7 hours."""
    runs = {run["game"]: run for run in paper_runs()}
    assert runs.keys() == {"chess", "shogi", "go"}
    assert [runs[game]["games"] for game in ("chess", "shogi", "go")] == [44e6, 24e6, 21e6]
    assert [runs[game]["hours"] for game in ("chess", "shogi", "go")] == [9, 12, 34]
    assert runs["chess"]["predicted_hours"] == pytest.approx(44e6 * 130 * 800 / (5000 * 20_000) / 3600)
    for run in runs.values():
        assert 1 <= run["predicted_hours"] / run["hours"] < 1.5
        assert 30 < run["tops"] < 92, "no TPU does more than its peak"


def test_every_recorded_game_has_all_figures() -> None:
    figures = recorded_figures()
    keys = [set(values) for values in figures["games"].values()]
    assert all(each == keys[0] for each in keys)
    for name in figures["games"]:
        game = make(name)
        assert figures_name(game.spec) == name
        numbers = recorded(name, plies=50, gpu="a100")
        assert all(value > 0 for _, value, _, _ in numbers.lines())
        assert numbers.sources["simulation_us"] == "recorded"
    assert "Connect Four" in recorded("nim", plies=5, gpu="t4").sources["simulation_us"]


def test_assumptions_are_changed_by_name() -> None:
    numbers = assumed(recorded("chess", plies=1, gpu="a100"), ["plies=99", "seal_us=0.5"])
    assert (numbers.values.plies, numbers.values.seal_us) == (99, 0.5)
    assert numbers.sources["plies"] == numbers.sources["seal_us"] == "as given"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"assume": ["plys=3"]}, "unknown assumption 'plys'.*plies"),
        ({"assume": ["plies"]}, "write name=value"),
        ({"assume": ["plies=0"]}, "--assume.plies is 0.0, allowed is"),
        ({"assume": ["plies=many"]}, "many"),
        ({"gpus": 1, "gpu": "abacus"}, "--gpu is 'abacus'"),
        ({"gpus": 2, "num_learners": 3}, "--learners is 3, but there are 2 GPUs"),
        ({"gpus": 8, "num_learners": 3}, "4096, which 3 devices .* 4095 or 4098 can be"),
        ({"game": ""}, "the preset 'paper' is not of one game"),
        ({"game": "", "preset": "paperr"}, "the preset is 'paperr': did you mean 'paper'"),
        ({"preset": "papre"}, "unknown preset 'papre'"),
    ],
)
def test_mistakes_are_sentences(arguments: dict[str, Any], sentence: str) -> None:
    given_arguments = {"preset": "paper", "game": "chess", **arguments}
    preset, game = given_arguments.pop("preset"), given_arguments.pop("game")
    with pytest.raises(SettingsError, match=sentence):
        plan_training(preset, game, **given_arguments)


def test_the_default_settings_are_those_of_the_planned_machine() -> None:
    """This machine may have other cores, and a GPU or none."""
    for machine, size in (({"gpus": 1, "cpus": 16}, "10x128"), ({"gpus": 0, "cpus": 2}, "4x32")):
        text = plan_training("", "chess", minutes=30, **machine)
        assert f"network {size}" in text.splitlines()[0]


def test_measuring_needs_the_machine_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.capacity.command.uses_gpu", lambda: False)
    with pytest.raises(SettingsError, match="has no GPU that torch can use, but the plan has --gpus 8"):
        plan_training("paper", "chess", gpus=8, seconds=1)


def test_this_machine_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    small = ["network.num_blocks=1", "network.num_filters=8", "training.device=cpu", "learner.batch_size=32"]
    monkeypatch.setattr("zerosum.capacity.command.uses_gpu", lambda: False)
    values = json.loads(plan_training("", "tictactoe", seconds=1, overrides=small, as_json=True))
    numbers = values["assumptions"]
    for name in (
        "cpu_evaluation_gflops",
        "cpu_learning_gflops",
        "ply_us",
        "sample_us",
        "seal_us",
        "ingest_us",
        "ply_bytes",
    ):
        assert numbers[name]["source"].startswith("measured here"), name
        assert numbers[name]["value"] > 0, name
    # The cache and the rules answer for the network, and a tree is kept from move to move.
    assert 0 < numbers["evaluations_per_simulation"]["value"] < 1
    assert 0 < numbers["new_simulations"]["value"] < 1
    assert values["games_a_minute"] > 0


def test_the_command_prints_the_plan_and_its_json(zero: Command) -> None:
    words = ["plan", "paper", "--game", "chess", "--gpus", "8", "--cpus", "64", "--price", "20"]
    text = zero(*words).out
    values = json.loads(zero(*words, "--json").out)
    assert f"{values['games']:,.0f} of 130 searched plies" in text and f"cost {values['cost']:,.0f}" in text
    assert f"limit         {values['limit']}" in text
    assert all(name in text for name in NAMES)
    assert values["growth"][-1]["gpus"] == 5000
    assert values["growth"][0]["seconds"] == values["seconds"]
    uncounted = "Those of selfplay.alphabeta='2@0, 0@0.1' take less time."
    assert uncounted in zero(*words, "--set", "selfplay.alphabeta=2@0, 0@0.1").out and uncounted not in text


def test_the_help_names_every_kind_of_gpu(zero: Command) -> None:
    text = zero("plan", "--help").words
    assert all(kind in text for kind in gpu_kinds())


def lines_of(*words: Any, **options: Any) -> list[str]:
    return plan_training(*words, **options).splitlines()


def test_idle_gpus_are_named_with_a_remedy_that_helps() -> None:
    (line,) = [line for line in lines_of("connect4", "", gpus=8, minutes=10) if line.startswith("  GPUs  ")]
    found = re.fullmatch(
        r"  GPUs +(\d+)% busy, because they wait for the (\w+): (--.+) makes that (\d+)%, and --gpus 1 .*", line
    )
    assert found is not None and int(found[1]) < 50 < 5 * int(found[4]) and int(found[4]) > int(found[1])
    assert "training.workers=processes" in found[3]
    overrides = ["training.workers=processes"]
    lines = lines_of("connect4", "", gpus=8, minutes=10, overrides=overrides)
    (better,) = [line for line in lines if " busy, because" in line]
    assert int(better.split("%")[0].split()[-1]) > int(found[1]), "the remedy does what it says"
    assert not any(" busy, because" in line for line in lines_of("paper", "chess", gpus=8))
    assert not any(" busy, because" in line for line in lines_of("connect4", ""))


def test_cores_follow_the_gpus() -> None:
    assert "on 8 GPUs and 64 cores" in lines_of("paper", "chess", gpus=8)[0]
    assert "on 2 GPUs and 16 cores" in lines_of("paper", "chess", gpus=2)[0]
    assert "on 2 GPUs and 5 cores" in lines_of("paper", "chess", gpus=2, cpus=5)[0]
    assert f"on {num_cores()} cores" in lines_of("connect4", "")[0]

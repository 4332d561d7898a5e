"""A plan as text for people, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from zerosum.capacity.assumptions import Sourced, figures_name, recorded_figures
from zerosum.capacity.plan import BUSY, Plan
from zerosum.capacity.remedy import remedy_for
from zerosum.games import make
from zerosum.network import NetworkShape
from zerosum.network.weights import num_operations
from zerosum.run.config import budget_words, minutes_word, new_config
from zerosum.run.forecast import duration

SIMULATIONS = 800
"""Simulations of a move in the paper's self-play."""


def page(plan: Plan, sourced: Sourced, *, price: float | None = None) -> str:
    """The plan for people.

    Args:
        plan: The plan.
        sourced: Its numbers, with their sources.
        price: Price of a machine for an hour, in any currency.
    """
    return "\n".join(
        [
            *_summary(plan, price),
            "",
            *_loads(plan),
            "",
            *_growth(plan, price),
            "",
            *_paper(),
            "",
            *_notes(plan, sourced),
        ]
    )


def as_json(plan: Plan, sourced: Sourced, *, price: float | None = None) -> str:
    """The plan as one line of JSON: all numbers of `page`."""
    values = {
        "game": plan.config.game,
        "preset": plan.config.preset,
        **_row(plan, price),
        "work": {name: getattr(plan.work, name) for name in plan.work.__dataclass_fields__},
        "seconds_a_position": {load.name: load.seconds for load in plan.loads()},
        "growth": [_row(grown, price) for grown in plan.grown()],
        "paper": list(paper_runs()),
        "assumptions": {name: {"value": value, "source": source} for name, value, _, source in sourced.lines()},
    }
    return json.dumps(values)


def _row(plan: Plan, price: float | None) -> dict[str, Any]:
    machine = plan.machine
    return {
        "machines": machine.num_machines,
        "gpus": machine.gpus * machine.num_machines,
        "cpus": machine.cpus * machine.num_machines,
        "learners": machine.num_learners,
        "steps": plan.steps,
        "positions": plan.positions(),
        "games": plan.games,
        "games_a_minute": plan.games_a_minute,
        "seconds": plan.seconds,
        "limit": plan.limit.name,
        **({} if price is None else {"cost": plan.cost(price)}),
    }


def _summary(plan: Plan, price: float | None) -> Iterator[str]:
    config, machine, work = plan.config, plan.machine, plan.work
    preset = f"preset {config.preset}" if config.preset else "default settings"
    gpus = f"{machine.gpus} GPU{'s' * (machine.gpus != 1)} and " if machine.gpus else ""
    yield (
        f"{config.game}, {preset}: {budget_words(config.training)} on {gpus}{machine.cpus} cores,"
        f" network {config.network.size}"
    )
    unit = "CPU-time" if config.training.clock == "cpu" else "duration"
    yield f"  {unit:<14}{duration(plan.seconds)}" + ("" if price is None else f", cost {plan.cost(price):,.0f}")
    if config.training.clock == "wall":
        yield f"  limit         {plan.limit.name} ({plan.limit.what})"
        yield from _idle_gpus(plan)
    yield (
        f"  games         {plan.games:,.0f} of {work.plies:.0f} searched plies, {plan.games_a_minute:,.1f} a"
        f" {minutes_word(config.training).removesuffix('s')}"
    )
    yield f"  learning      {plan.steps:,.0f} steps of {config.learner.batch_size:,}, {plan.positions():,.0f} positions"
    total_bytes = plan.games * work.game_bytes + config.training.num_checkpoints * work.checkpoint_bytes
    yield (
        f"  disk          {work.game_bytes:,.0f} bytes a game, {work.checkpoint_bytes / 1e6:,.1f} MB a checkpoint,"
        f" {total_bytes / 1e9:,.2f} GB in all"
    )


def _idle_gpus(plan: Plan) -> Iterator[str]:
    """What would give idle GPUs more to do, with the result."""
    share = plan.busy_share("GPUs") if plan.machine.gpus else 1.0
    if share >= BUSY:
        return
    remedy, words = remedy_for(plan), list[str]()
    if remedy is not None:
        after = remedy.plan.busy_share("GPUs")
        words.append(f"{remedy.words} makes that {after:.0%}")
    fewer = max(math.ceil(share * plan.machine.gpus), 1)
    if fewer < plan.machine.gpus and (remedy is None or after < BUSY):
        words.append(f"--gpus {fewer} would be as quick as now")
    then = f": {', and '.join(words)}" if words else ""
    yield f"  GPUs          {share:.0%} busy, because they wait for the {plan.limit.name}{then}"


def _loads(plan: Plan) -> Iterator[str]:
    loads, longest = plan.loads(), plan.limit.seconds
    yield f"{'resource':<13}{'microseconds a position':>24}{'used':>8}  "
    for load in loads:
        yield f"{load.name:<13}{1e6 * load.seconds:>24,.2f}{load.seconds / longest:>8.0%}  {load.what}"


def _growth(plan: Plan, price: float | None) -> Iterator[str]:
    unit = "GPUs" if plan.machine.gpus else "cores"
    yield f"{'machines':>9}{unit:>8}{'learners':>10}{'games a minute':>16}{'duration':>13}  limit" + (
        "" if price is None else f"{'cost':>16}"
    )
    for grown in plan.grown():
        machine = grown.machine
        units = machine.num_machines * (machine.gpus or machine.cpus)
        line = (
            f"{machine.num_machines:>9,}{units:>8,}{machine.num_learners:>10}{grown.games_a_minute:>16,.1f}"
            f"{duration(grown.seconds):>13}  {grown.limit.name:<11}"
        )
        yield line.rstrip() if price is None else f"{line}{grown.cost(price):>10,.0f}"


def paper_runs() -> Iterator[dict[str, Any]]:
    """The paper's own runs beside what its time for a move predicts.

    Each has the `game`, its `games`, the `plies` assumed for one, the paper's `hours`, the `predicted_hours` of its
    actors at the paper's time for 800 simulations, and `tops`, 10^12 operations a second that each TPU needs for the
    paper's hours.
    """
    figures = recorded_figures()
    paper = figures["paper"]
    for name, run in paper["runs"].items():
        game = make(name)
        key = figures_name(game.spec)
        config = new_config(game, name, preset="paper")
        plies, operations = figures["plies"][key], num_operations(config.network, NetworkShape.of(game.spec))
        evaluations = run["games"] * plies * SIMULATIONS
        per_second = paper["actors"] * SIMULATIONS / (run["milliseconds"] / 1000)
        yield {
            "game": name,
            "games": run["games"],
            "plies": plies,
            "hours": run["hours"],
            "predicted_hours": evaluations / per_second / 3600,
            "tops": evaluations * operations / (3600 * run["hours"] * paper["actors"]) / 1e12,
        }


def _paper() -> Iterator[str]:
    paper = recorded_figures()["paper"]
    yield f"The paper's own runs: {paper['actors']:,} TPUs play ({paper['source']})"
    yield f"{'game':<7}{'games':>12}{'plies':>7}{'hours':>7}{'predicted':>11}{'needed of a TPU':>24}"
    for run in paper_runs():
        needed = f"{run['tops']:.0f} of {paper['tops']:.0f} T op/s"
        yield (
            f"{run['game']:<7}{run['games']:>12,}{run['plies']:>7.0f}{run['hours']:>7.0f}{run['predicted_hours']:>11.1f}"
            f"{needed:>24}"
        )


def _notes(plan: Plan, sourced: Sourced) -> Iterator[str]:
    if stages := plan.config.selfplay.alphabeta:
        yield f"All games count as the network's. Those of selfplay.alphabeta={stages!r} take less time."
    source = recorded_figures()["machine"]["source"]
    yield f"Assumptions, each to be changed by --assume NAME=VALUE; recorded ones are of {source}:"
    for name, value, help, source in sourced.lines():
        yield f"  {name:<27}{value:>12,.4g}  {help}; {source}"

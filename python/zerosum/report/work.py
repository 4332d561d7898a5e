"""The work of runs beside the paper's, as in its table S3: steps, games, hours, simulations and time of a move."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zerosum.base.errors import counted
from zerosum.report.run_data import RunData
from zerosum.run.capacity.paper import paper_training
from zerosum.run.config_words import budget_words
from zerosum.run.strength import player_name


def work_table(runs: Sequence[RunData]) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table: a column for each run, and one of the paper if it has the first run's game."""
    rows: list[list[str]] = []

    def row(name: str, of: Callable[[RunData], str], paper: str = "") -> None:
        values = [of(run) for run in runs]
        if any(values):
            rows.append([name, *values, paper])

    def last(name: str) -> Callable[[RunData], str]:
        return lambda run: f"{getattr(run.rows[-1], name):,.0f}" if run.rows else ""

    paper = _paper_cells(runs[0].config.game.base.rstrip("0123456789"))
    row("budget", lambda run: budget_words(run.config.training))
    row("training time", _time_words, paper.get("time", ""))
    row("network", _network_words)
    row("learner steps", last("step"), paper.get("steps", ""))
    row("batch", lambda run: f"{run.config.learner.batch_size:,}", paper.get("batch", ""))
    row("games", last("games"), paper.get("games", ""))
    row("positions", last("positions"))
    row("simulations per move", lambda run: f"{run.config.search.num_simulations:,}", paper.get("simulations", ""))
    row("time of these simulations", _move_words, paper.get("move", ""))
    row("evaluations", lambda run: f"{run.rows[-1].evaluations:,}" if run.rows and run.rows[-1].evaluations else "")
    row("evaluations per second", lambda run: f"{rate:,.0f}" if (rate := _rate(run)) else "")
    row("Elo of the newest rated checkpoint", _newest_elo)
    row("checkpoints", lambda run: str(len(run.checkpoints)))
    head = ["", *(run.name for run in runs)]
    return ([*head, "AlphaZero, table S3"], rows) if paper else (head, [cells[:-1] for cells in rows])


def _paper_cells(game: str) -> dict[str, str]:
    """The paper's column; empty if it has no such game."""
    found = paper_training(game)
    if found is None:
        return {}
    games, time = f"{found.games:,}", f"{found.hours:,.0f} hours"
    if found.games != found.preprint_games:
        games += f" (preprint: {found.preprint_games:,})"
        time += f" (preprint: {found.preprint_hours:,.0f})"
    return {
        "time": time,
        "steps": f"{found.steps:,}",
        "batch": f"{found.batch:,}",
        "games": games,
        "simulations": f"{found.simulations:,}",
        "move": f"{found.milliseconds:,.0f} ms on one TPU of {found.actors:,}",
    }


def _time_words(run: RunData) -> str:
    if not run.rows:
        return ""
    minutes = run.rows[-1].minutes
    return f"{minutes / 60:,.2f} {run.unit.replace('minutes', 'hours')} ({minutes:,.1f} {run.unit})"


def _move_words(run: RunData) -> str:
    """The time in which self-play makes the simulations of a move: all games of the run share its machine."""
    rate = _rate(run)
    return f"{1000 * run.config.search.num_simulations / rate:,.3g} ms on the whole machine" if rate else ""


def _rate(run: RunData) -> float:
    """Mean evaluations per second; 0 without any."""
    rates = [row.evaluations_per_second for row in run.rows if row.evaluations_per_second > 0]
    return sum(rates) / len(rates) if rates else 0.0


def _network_words(run: RunData) -> str:
    network = run.config.network
    if network.kind == "updatable":
        return network.size.replace("x", "×")
    return f"{counted(network.num_blocks, 'block')} × {counted(network.num_filters, 'filter')}"


def _newest_elo(run: RunData) -> str:
    steps = run.strength.rated_steps
    return f"{run.strength.ratings[player_name(steps[-1])]} (step {steps[-1]:,})" if steps else ""

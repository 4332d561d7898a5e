"""The newest metrics of a run as a file for Prometheus: `metrics.prom`, in its text format (version 0.0.4).

The textfile collector of node_exporter reads it; docs/operations.md has the command. Each row of metrics replaces it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.files import replace_durably

FILE = "metrics.prom"


@dataclass(frozen=True)
class Metric:
    """A metric of a run, from a column of its table."""

    name: str
    """As Prometheus's conventions have it: the base unit behind the name, `total` for a counter."""
    help: str
    scale: float = 1.0
    """Factor from the column's unit to the metric's."""

    @property
    def kind(self) -> str:
        """Its type in Prometheus's words."""
        return "counter" if self.name.endswith("_total") else "gauge"


METRICS = {
    "minutes": Metric("time_seconds_total", "Time of training, by the clock of the budget.", 60.0),
    "step": Metric("steps_total", "Learner steps."),
    "games": Metric("games_total", "Finished games."),
    "positions": Metric("positions_total", "Recorded positions of finished games."),
    "evaluations": Metric("evaluations_total", "Evaluations of positions by self-play."),
    "evaluations_per_second": Metric("evaluations_per_second", "Evaluations a second since the row before."),
    "policy_loss": Metric("policy_loss_nats", "Cross-entropy of the policy."),
    "policy_entropy": Metric("policy_entropy_nats", "Lower bound of the policy loss."),
    "value_loss": Metric("value_loss", "Loss of the value."),
    "value_error": Metric("value_squared_error", "Mean squared error of the value."),
    "learning_rate": Metric("learning_rate", "Learning rate of the newest steps."),
    "elo": Metric("elo", "Elo of the newest rated checkpoint; random play is 0."),
    "elo_error": Metric("elo_error", "Half the width of the 95 % interval of the Elo."),
    "mistakes": Metric("mistakes_ratio", "Rate of mistakes in solved positions, 0 to 1."),
    "mistakes_error": Metric("mistakes_error_ratio", "Half the width of its 95 % interval."),
    "cores": Metric("cores", "Cores that the training may use."),
    "cores_used": Metric("cores_used_ratio", "Share of the cores that the training had, 0 to 1."),
    "cores_others": Metric("cores_others_ratio", "Share of the cores that other programs had."),
    "cores_stolen": Metric("cores_stolen_ratio", "Share of the cores that the host of a virtual machine took."),
    "cores_learning": Metric("cores_learning_ratio", "Share of the cores that learning had."),
    "cores_measuring": Metric("cores_measuring_ratio", "Share of the cores that measurements had."),
    "selfplay_paused": Metric("selfplay_paused_ratio", "Share of the time in which self-play waited for the learner."),
}
"""The metric of each column, without the prefix `zerosum_`."""


def write_prometheus(directory: Path, numbers: Mapping[str, float | None]) -> None:
    """Replace the file of a run directory by the numbers of a row, by column. Raises OSError."""
    replace_durably(directory / FILE, "\n".join(lines(numbers, run=directory.absolute().name)) + "\n")


def lines(numbers: Mapping[str, float | None], *, run: str) -> Iterator[str]:
    """The lines of the file: help, type and value of each number that exists."""
    labels = f'{{run="{_escaped(run)}"}}'
    for column, metric in METRICS.items():
        value = numbers[column]
        if value is not None:
            yield from _lines(metric, labels, metric.scale * value)
    yield from _lines(Metric("updated_seconds", "Time of this row, in seconds since 1970."), labels, time.time())


def _lines(metric: Metric, labels: str, value: float) -> Iterator[str]:
    yield f"# HELP zerosum_{metric.name} {metric.help}"
    yield f"# TYPE zerosum_{metric.name} {metric.kind}"
    yield f"zerosum_{metric.name}{labels} {value:.10g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

"""The results of `zerosum bench gpu` as files: JSON for programs, Markdown for benches/RESULTS.md."""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zerosum.base.files import replace_durably, writing
from zerosum.base.settings import num_cores
from zerosum.base.version import __version__
from zerosum.bench.gpu.goals import Row, number_text
from zerosum.bench.gpu.sections import Trial

TITLES = {
    "evaluator": "The network alone",
    "selfplay": "Self-play",
    "learner": "Learner",
    "analyse": "One position at a time",
    "train": "`zerosum train connect4`",
}
"""A heading for each section."""


def device_of(trial: Trial) -> dict[str, Any]:
    """What was measured: the device and the machine around it."""
    import torch

    about: dict[str, Any] = {"device": trial.device, "cores": num_cores(), "is_tiny": trial.is_tiny}
    about |= {"zerosum": __version__, "python": platform.python_version(), "torch": torch.__version__}
    if trial.device.startswith("cuda"):
        properties = torch.cuda.get_device_properties(trial.device)
        about |= {"device": properties.name, "memory_gib": round(properties.total_memory / 2**30, 1)}
        about |= {"cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}  # type: ignore[no-untyped-call]
    return about


@dataclass
class Results:
    """What has been measured so far."""

    device: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """A sentence for each section that is not complete."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The duration of each section."""
    began: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.UTC))

    @property
    def short(self) -> list[Row]:
        """The rows that miss their goals."""
        return [row for row in self.rows if row.is_short]

    def verdict(self) -> str:
        """A sentence on the goals."""
        with_goals = [row for row in self.rows if row.goal is not None]
        if not with_goals:
            return "No figure has a goal on this device."
        if not self.short:
            return f"All {len(with_goals)} goals are reached."
        return f"{len(self.short)} of {len(with_goals)} goals are not reached."

    def write(self, out: Path) -> None:
        """Write both files.

        Raises:
            RunError: they cannot be written.
        """
        values = {
            "began": self.began.isoformat(timespec="seconds"),
            "device": self.device,
            "seconds": {name: round(seconds, 1) for name, seconds in self.seconds.items()},
            "figures": [row.values() for row in self.rows],
            "notes": self.notes,
        }
        with writing(out.parent):
            out.parent.mkdir(parents=True, exist_ok=True)
            replace_durably(out, json.dumps(values, indent=1) + "\n")
            replace_durably(out.with_suffix(".md"), "\n".join(self.markdown()) + "\n")

    def markdown(self) -> Iterator[str]:
        """The lines of the section."""
        about = self.device
        yield f"## {self.began:%Y-%m-%d}: `zerosum bench gpu`, {about['device']}, {about['cores']} CPU cores"
        yield ""
        versions = ", ".join(f"{name} {about[name]}" for name in ("cuda", "cudnn", "torch", "python") if name in about)
        yield f"{versions}. {sum(self.seconds.values()):.0f} seconds. {self.verdict()}"
        if about["is_tiny"]:
            yield "A trial with tiny networks: the figures say nothing about a GPU."
        for note in self.notes:
            yield f"- {note}"
        for section, title in TITLES.items():
            rows = [row for row in self.rows if row.figure.bench == section]
            if not rows:
                continue
            yield from ["", f"**{title}**", "", "| game | figure | values | goal |", "|---|---|---|---|"]
            games = dict.fromkeys(row.figure.game for row in rows)
            for game in games:
                yield from _lines([row for row in rows if row.figure.game == game])


def _lines(rows: list[Row]) -> Iterator[str]:
    """The lines of a game's figures: those of one name in one line, with the settings that differ among them."""
    common = _common(rows)
    yield f"| {rows[0].figure.game} | {', '.join(f'{name} {_value(value)}' for name, value in common.items())} | | |"
    for metric in dict.fromkeys(row.figure.metric for row in rows):
        group = [row for row in rows if row.figure.metric == metric]
        left_out = common.keys() | (_common(group).keys() if len(group) > 1 else set())
        values, goals = list[str](), list[str]()
        for row in group:
            settings = {name: value for name, value in row.figure.settings.items() if name not in left_out}
            about = ", ".join(f"{name} {_value(value)}" for name, value in settings.items())
            values.append(f"{number_text(row.figure.value)}{f' ({about})' if about else ''}")
            if row.goal is not None:
                goals.append(f"{row.goal}{', not reached' if row.is_short else ''}")
        unit = f", {group[0].figure.unit}" if group[0].figure.unit else ""
        yield f"| | {metric}{unit} | {', '.join(values)} | {', '.join(dict.fromkeys(goals))} |".replace("|  |", "| |")


def _common(rows: list[Row]) -> dict[str, Any]:
    """The settings that all of these figures have with the same value."""
    first, *others = [row.figure.settings for row in rows]
    return {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }


def _value(value: Any) -> str:
    return number_text(value) if isinstance(value, float) else str(value)

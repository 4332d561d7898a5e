"""Who plays on a cluster, in two files of the run: `cluster.json`, the present, and `cluster.jsonl`, what happened.

The process that trains writes them, `zerosum cluster status RUN` reads them. Neither file is read by a training.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError, RunError, counted
from zerosum.base.files import (
    MOST_NOTE_BYTES,
    append_line,
    read_lines,
    read_text,
    repair_lines,
    replace_durably,
    writing,
)

NOW = "cluster.json"
EVENTS = "cluster.jsonl"
STATUS_S = 5.0
"""Time between two writes of `cluster.json`."""
OLD_S = 30.0
"""Age of `cluster.json` from which a training is taken for ended."""


@dataclass(frozen=True, kw_only=True)
class ActorStatus:
    """One actor at a moment."""

    name: str
    node: str
    state: str
    """starting, playing, waiting (for the learner) or silent"""
    threads: int
    gpus: float = 0.0
    evaluator: str = ""
    pid: int = 0
    evaluations_per_minute: float = 0.0
    """Mean over the last minute, as the next one."""
    games_per_minute: float = 0.0
    games: int = 0
    """Games that count."""
    step: int = 0
    """Learner step of its network."""
    steps_behind: int = 0
    """Learner steps since that network."""
    refused: dict[str, int] = field(default_factory=dict)
    """Games that did not count, by reason."""


@dataclass(frozen=True, kw_only=True)
class ClusterStatus:
    """The cluster at a moment."""

    time: str
    """Local time of the moment."""
    unix_s: float
    address: str
    nodes: int
    """Nodes that are alive."""
    step: int
    """Learner step of the newest network."""
    games: int
    """Games that count, of this process."""
    actors: list[ActorStatus] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """The learner and the raters, as far as they are actors: what each is there for, and its node."""
    refused: dict[str, int] = field(default_factory=dict)
    """Games that did not count, by reason, of all actors so far."""
    verified: int | None = None
    """Games, finished or in flight, that were replayed through the rules (`cluster.verify`); None if none are."""
    refused_nodes: dict[str, str] = field(default_factory=dict)
    """Nodes that get no actors any more, and why."""
    num_failures: int = 0
    """Actors that ended unexpectedly."""
    is_over: bool = False
    """Whether the training has ended."""


class StatusFiles:
    """The two files, for the process that trains."""

    def __init__(self, directory: Path) -> None:
        """Files in a run directory. A line that a kill cut off is removed."""
        self._directory = directory
        repair_lines(directory / EVENTS, read_lines(directory / EVENTS, _event), report=lambda _sentence: None)

    def write(self, status: ClusterStatus) -> None:
        """Replace the present. Raises RunError."""
        with writing(self._directory):
            replace_durably(self._directory / NOW, json.dumps(dataclasses.asdict(status)) + "\n")

    def add_row(self, status: ClusterStatus) -> None:
        """Append the totals of the present. Raises RunError."""
        actors = status.actors
        behind = [actor.steps_behind for actor in actors]
        self.add(
            "row",
            step=status.step,
            nodes=status.nodes,
            actors=len(actors),
            games=status.games,
            games_per_minute=round(sum(actor.games_per_minute for actor in actors), 1),
            evaluations_per_minute=round(sum(actor.evaluations_per_minute for actor in actors)),
            mean_steps_behind=round(sum(behind) / len(behind), 1) if behind else 0,
            most_steps_behind=max(behind, default=0),
            refused=status.refused,
            verified=status.verified,
            failures=status.num_failures,
        )

    def add(self, event: str, **values: Any) -> None:
        """Append what happened: "row" every few seconds, "joined", "left", "failed", "refused", "node refused".

        Raises RunError.
        """
        line = {"time": time.strftime("%Y-%m-%d %H:%M:%S"), "event": event, **values}
        append_line(self._directory / EVENTS, json.dumps(line, separators=(",", ":")))


def by_word(refused: Mapping[Any, int]) -> dict[str, int]:
    """Counts of refused games by their reasons, as a status has them."""
    return {str(reason): count for reason, count in refused.items()}


def read_status(run: Path) -> ClusterStatus:
    """The newest status of a run's cluster.

    Raises:
        RunError: the run has not been trained on a cluster.
        DataError: the file is damaged.
    """
    path = run / NOW
    try:
        values = json.loads(read_text(path, most_bytes=MOST_NOTE_BYTES))
        actors = [ActorStatus(**actor) for actor in values.pop("actors")]
        return ClusterStatus(**values, actors=actors)
    except FileNotFoundError:
        raise RunError(
            f"{run} has no {NOW}: it was not trained on a cluster. Begin by `zerosum train GAME --cluster local`."
        ) from None
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(f"{path} cannot be read ({error}): the training writes it anew while it runs.") from error


def read_events(run: Path) -> list[dict[str, Any]]:
    """What happened, oldest first, without the rows of every few seconds; damaged lines are left out."""
    found = read_lines(run / EVENTS, _event).entries
    return [event for event in found if event["event"] != "row"]


def _event(line: str) -> dict[str, Any]:
    event = json.loads(line)
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ValueError(line)
    return event


def status_text(status: ClusterStatus, events: list[dict[str, Any]], *, now: float, num_events: int = 10) -> str:
    """The status as a table for people; `now` is in seconds as `time.time`."""
    age = now - status.unix_s
    state = "ended" if status.is_over else "running" if age < OLD_S else f"no word for {age / 60:.0f} minutes"
    playing = [actor for actor in status.actors if actor.state == "playing"]
    evaluations = sum(actor.evaluations_per_minute for actor in status.actors)
    games = sum(actor.games_per_minute for actor in status.actors)
    lines = [
        f"{status.time}, cluster {status.address}: {state}; {counted(status.nodes, 'node')}, {len(playing)} of"
        f" {len(status.actors)} actors playing, learner step {status.step:,}",
        f"{games:,.0f} games and {evaluations:,.0f} evaluations a minute; {status.games:,} games taken"
        + (f"; refused: {_counts(status.refused)}" if status.refused else "")
        + ("" if status.verified is None else f"; {verified_words(status)}")
        + (f"; {status.num_failures} actors failed" if status.num_failures else ""),
    ]
    if status.actors:
        heads = (
            "actor",
            "node",
            "state",
            "threads",
            "games/min",
            "evaluations/min",
            "games",
            "steps behind",
            "refused",
        )
        rows = [
            (
                actor.name,
                actor.node,
                actor.state,
                str(actor.threads),
                f"{actor.games_per_minute:,.1f}",
                f"{actor.evaluations_per_minute:,.0f}",
                f"{actor.games:,}",
                f"{actor.steps_behind:,}",
                _counts(actor.refused),
            )
            for actor in status.actors
        ]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines += ["", *("  ".join(map(str.ljust, row, widths)).rstrip() for row in (heads, *rows))]
    lines += status.others
    lines += [f"node {node} gets no actors: {why}" for node, why in status.refused_nodes.items()]
    if events:
        lines += ["", *map(_event_text, events[-num_events:])]
    return "\n".join(lines)


def verified_words(status: ClusterStatus) -> str:
    """How many games were replayed through the rules, and how many of these were against them.

    >>> now = ClusterStatus(time="", unix_s=0, address="", nodes=1, step=0, games=3, verified=4, refused={"differs": 1})
    >>> verified_words(now)
    '4 games replayed through the rules, 1 against them'
    """
    wrong = status.refused.get("differs", 0)
    return f"{counted(status.verified or 0, 'game')} replayed through the rules, {wrong:,} against them"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items())


def _event_text(event: dict[str, Any]) -> str:
    who = " ".join(str(event[name]) for name in ("actor", "node") if event.get(name))
    why = f": {event['why']}" if event.get("why") else ""
    return f"{event.get('time', '')}  {event['event']}  {who}{why}"

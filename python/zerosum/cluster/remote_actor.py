"""An actor as the learner's side sees it: what it was asked, when it was heard, and what it has played."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zerosum.cluster.actor import ActorTask, Report
from zerosum.cluster.connection import Node
from zerosum.cluster.ingest import Sender
from zerosum.cluster.status import STATUS_S, ActorStatus, by_word

RATE_S = 60.0
"""Time over which rates are means."""


@dataclass
class RemoteActor:
    """An actor on a node. Times are those of `time.monotonic`."""

    name: str
    node: Node
    threads: int
    gpus: float
    task: ActorTask
    handle: Any
    call: Any
    """Ray's reference to the answer that is awaited."""
    called_at: float
    update_sent: int
    """Number of the network that it was sent last, counted from 0."""
    first_ids: range
    """Numbers of its first games, until they are sent."""
    played_at: float
    """When it was last seen to play, or had a reason not to."""
    report: Report = field(default_factory=Report)
    has_answered: bool = False
    is_leaving: bool = False
    history: deque[tuple[float, int, int]] = field(default_factory=deque)
    """(time, evaluations, games) over the last `RATE_S`."""

    def take(self, report: Report, now: float) -> bool:
        """Note what it says of itself. Returns whether it has played since its last report."""
        before, counts = self.report.counts, report.counts
        # An alpha-beta search plays without evaluations, and a network's search may be long.
        has_played = counts.evaluations > before.evaluations or counts.plies > before.plies or report.num_waiting > 0
        if has_played:
            self.played_at = now
        self.report, self.has_answered = report, True
        return has_played

    def excuse(self, seconds: float, now: float) -> None:
        """Leave out of its times so many seconds in which the learner's side did not listen."""
        self.called_at, self.played_at = min(self.called_at + seconds, now), min(self.played_at + seconds, now)

    def silence(self, now: float, *, limit: float, is_paused: bool, has_answer: Callable[[], bool]) -> str:
        """Why it counts as silent, in words; "" if it does not. Its start may take any time.

        `has_answer` returns whether an answer has arrived that was not taken yet.
        """
        if not self.has_answered:
            return ""
        if is_paused or not self.report.num_free_ids:
            self.played_at = now
        if now - self.called_at > limit and not has_answer():
            return f"it has not answered for {now - self.called_at:.0f} seconds"
        if now - self.played_at > limit:
            return f"it has not played for {now - self.played_at:.0f} seconds (a method of the game may hang)"
        return ""

    def note(self, now: float, num_games: int) -> None:
        """Remember for the rates what it has done, with `num_games` that count."""
        self.history.append((now, self.report.counts.evaluations, num_games))
        while len(self.history) > 2 and now - self.history[0][0] > RATE_S:
            self.history.popleft()

    def status(self, sender: Sender, *, newest_step: int, now: float) -> ActorStatus:
        """What there is to say of it; `sender` is what the ingest knows."""
        (then, evaluations, games), (last, evaluations_now, games_now) = self.history[0], self.history[-1]
        minutes = max((last - then) / 60, 1e-9)
        is_playing = now - self.played_at < 3 * STATUS_S
        return ActorStatus(
            name=self.name,
            node=self.node.name,
            state="playing" if self.has_answered and is_playing else "silent" if self.has_answered else "starting",
            threads=self.threads,
            gpus=self.gpus,
            evaluator=self.report.evaluator,
            pid=self.report.pid,
            evaluations_per_minute=round((evaluations_now - evaluations) / minutes, 1),
            games_per_minute=round((games_now - games) / minutes, 2),
            games=sender.num_games,
            step=self.report.step,
            steps_behind=max(0, newest_step - self.report.step) if self.has_answered else 0,
            refused=by_word(sender.refused_games),
        )

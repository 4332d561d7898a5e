"""How much of the machine's cores a training gets, who has the rest, and who waits for whom.

A budget in minutes buys less on cores that other programs use, and a curve alone does not show it. `CoreClock` measures
the shares between two rows of metrics, `CoreUse` has them and says in words what is wrong.

    the time of all cores  =  used by this training  +  used by others  +  taken by the host  +  idle
                              (learning, measuring,
                               the rest is self-play)
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from zerosum.base.errors import counted
from zerosum.base.settings import num_cores, num_own_cores

ENOUGH = 0.85
"""Share of the cores from which a training has what the machine can give."""
FULL = 0.8
"""Share of busy cores from which a further thread has to wait."""
NOTABLE = 0.1
"""Smallest share that is named as a cause."""
STAT = Path("/proc/stat")


@dataclass(frozen=True)
class CoreUse:
    """Shares of the time of all cores that a training may use, in [0, 1], over a stretch of time."""

    cores: int
    """Number of the cores."""
    cores_used: float
    """Used by the training, its other processes included."""
    cores_others: float | None
    """Used by other programs; None where the system does not tell."""
    cores_stolen: float | None
    """Taken by the host of a virtual machine; None where the system does not tell."""
    cores_learning: float
    """Used by the learner, a part of `cores_used`."""
    cores_measuring: float
    """Used by rating games and solved positions beside self-play, a part of `cores_used`."""
    selfplay_paused: float
    """Share of the time in which self-play waited for the learner."""

    def causes(self, *, is_for_all_cores: bool = False) -> dict[str, str]:
        """The reasons for a small share, in words by column; empty if the training has what the machine can give.

        Args:
            is_for_all_cores: Whether the training has work for every core: self-play on CPUs with a worker for each.
        """
        if self.cores_used >= ENOUGH:
            return {}
        others, stolen = self.cores_others or 0.0, self.cores_stolen or 0.0
        are_full = self.cores_used + others + stolen >= FULL
        causes = {}
        if are_full and others >= NOTABLE:
            causes["cores_others"] = f"other programs used {others:.0%}"
        if are_full and stolen >= NOTABLE:
            causes["cores_stolen"] = f"the host of this virtual machine took {stolen:.0%}"
        if self.selfplay_paused >= NOTABLE:
            causes["selfplay_paused"] = f"self-play waited for the learner {self.selfplay_paused:.0%} of the time"
        if not causes and is_for_all_cores and self.cores_used < FULL:
            causes["cores_used"] = (
                "the system does not say who had the rest"
                if self.cores_others is None
                else f"{1 - self.cores_used - others - stolen:.0%} was idle"
            )
        return causes

    def words(self, *, is_for_all_cores: bool = False) -> str:
        """A sentence on a training that gets less than it could, with the remedy; "" for one that does not."""
        causes = self.causes(is_for_all_cores=is_for_all_cores)
        if not causes:
            return ""
        remedy = ""
        if "cores_others" in causes:
            remedy = " End them, or give a larger budget."
        elif "selfplay_paused" in causes:
            remedy = " A smaller learner.samples_per_position leaves more to self-play."
        return (
            f"The training had {self.cores_used:.0%} of its {counted(self.cores, 'core')}:"
            f" {', '.join(causes.values())}. It plays and learns less in a minute than on a free"
            f" machine.{remedy}"
        )

    def summary(self, *, has_selfplay: bool) -> str:
        """A sentence on the use of the cores: what is wrong, or how much each part of the training used."""
        if words := self.words():
            return words
        rest = self.cores_used - self.cores_measuring
        parts = {"learning": self.cores_learning if has_selfplay else rest, "measuring": self.cores_measuring}
        if has_selfplay:
            parts = {"self-play": rest - self.cores_learning, **parts}
        of_them = ", ".join(f"{name} {max(share, 0.0):.0%}" for name, share in parts.items())
        return f"The training had {self.cores_used:.0%} of its {counted(self.cores, 'core')}: {of_them}."


SHARES = tuple(field.name for field in fields(CoreUse) if field.name != "cores")


class CoreClock:
    """Measures the use of the cores from one call of `lap` to the next."""

    def __init__(
        self,
        cpu_s: Callable[[], float],
        *,
        cores: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        busy_s: Callable[[], tuple[float, float] | None] | None = None,
    ) -> None:
        """Begin to measure.

        Args:
            cpu_s: Returns the CPU-seconds of the training so far, with its other processes.
            cores: Number of cores that it may use; this process's by default.
            clock: Seconds of the time of day.
            busy_s: As `busy_and_stolen_s`, which is the default.
        """
        self._cpu_s, self._cores, self._clock = cpu_s, cores or num_cores(), clock
        self._busy_s = busy_s or busy_and_stolen_s
        self._lock, self._paused_s = threading.Lock(), 0.0
        self._paused_since: float | None = None
        self._before = self._totals(0.0, 0.0)

    def counting(self, is_paused: Callable[[], bool]) -> Callable[[], bool]:
        """The question whether self-play is to wait, with its answers counted. Several threads may ask it."""

        def ask() -> bool:
            answer, now = is_paused(), self._clock()
            with self._lock:
                if answer and self._paused_since is None:
                    self._paused_since = now
                elif not answer and self._paused_since is not None:
                    self._paused_s += now - self._paused_since
                    self._paused_since = None
            return answer

        return ask

    def lap(self, *, learning_s: float = 0.0, measuring_s: float = 0.0) -> CoreUse:
        """The use since the last lap. The arguments are CPU-seconds of these parts of the training so far."""
        before, self._before = self._before, self._totals(learning_s, measuring_s)
        seconds = max(self._before.seconds - before.seconds, 1e-9)
        of_all = seconds * self._cores

        def share(name: str) -> float:
            spent: float = getattr(self._before, name) - getattr(before, name)
            return min(max(spent / of_all, 0.0), 1.0)

        used = share("cpu_s")
        others = stolen = None
        if self._before.busy_s is not None and before.busy_s is not None:
            # The kernel counts in hundredths of a second, and not at the same moments.
            others = min(max((self._before.busy_s - before.busy_s) / of_all - used, 0.0), 1 - used)
            stolen = min(share("stolen_s"), 1 - used - others)
        return CoreUse(
            cores=self._cores,
            cores_used=used,
            cores_others=others,
            cores_stolen=stolen,
            cores_learning=min(share("learning_s"), used),
            cores_measuring=min(share("measuring_s"), used),
            selfplay_paused=min((self._before.paused_s - before.paused_s) / seconds, 1.0),
        )

    def _totals(self, learning_s: float, measuring_s: float) -> _Totals:
        now, busy = self._clock(), self._busy_s()
        with self._lock:
            paused_s = self._paused_s + (now - self._paused_since if self._paused_since is not None else 0.0)
        busy_s, stolen_s = busy if busy is not None else (None, 0.0)
        return _Totals(now, self._cpu_s(), busy_s, stolen_s, learning_s, measuring_s, paused_s)


@dataclass(frozen=True)
class _Totals:
    """What is counted, in seconds since some beginning."""

    seconds: float
    cpu_s: float
    busy_s: float | None
    stolen_s: float
    learning_s: float
    measuring_s: float
    paused_s: float


def busy_and_stolen_s(path: Path = STAT) -> tuple[float, float] | None:
    """Seconds in which this process's cores were busy, and in which the host had them, since the machine began.

    Returns:
        The two sums over the cores; None where the system does not tell (other systems than Linux), and in a container
        with a CPU limit, which has a share of many cores.
    """
    if num_cores() < num_own_cores():
        return None
    try:
        rows = [line.split() for line in path.read_text(encoding="ascii").splitlines() if line.startswith("cpu")]
        own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        # man 5 proc_stat: user nice system idle iowait irq softirq steal; user includes guest.
        times = [[int(word) for word in row[1:9]] for row in rows if row[0] in own]
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None
    if not times or not any(map(any, times)) or any(len(row) < 8 for row in times):
        return None  # a sandbox that shows zeros
    busy = sum(sum(row[:3]) + sum(row[5:7]) for row in times)
    return busy * tick_s, sum(row[7] for row in times) * tick_s


def mean_use(uses: Iterable[CoreUse | None]) -> CoreUse | None:
    """The mean of stretches of about the same length; None if none of them was measured."""
    found = [use for use in uses if use is not None]
    if not found:
        return None

    def mean(name: str) -> float | None:
        values = [value for use in found if (value := getattr(use, name)) is not None]
        return sum(values) / len(values) if values else None

    means = {name: mean(name) for name in SHARES}
    return CoreUse(cores=found[-1].cores, **means)  # type: ignore[arg-type]

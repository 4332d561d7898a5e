"""The results of an exam: tables for people, figures as JSON, and failed tasks as a file that `analyse` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.errors import DataError
from zerosum.base.files import write_durably
from zerosum.notation.own_files import MOVES_SUFFIX, line_text
from zerosum.run.solved import wilson_interval


@dataclass(frozen=True)
class Failure:
    """A task that was not done right."""

    number: int
    """Its number in the part, from 1."""
    position: str
    """The position of the task, in the game's notation."""
    moves: tuple[str, ...]
    """The moves of both sides from there, in the game's notation."""
    reason: str
    """Why it is wrong, in words."""


@dataclass(frozen=True)
class PartResult:
    """How a player did in a part."""

    part: str
    """Name of the part."""
    right: int
    asked: int
    wanted: float
    """The share of right answers that is wanted, in (0, 1]."""
    seconds: float
    """Wall-clock time of all tasks, without that of making them."""
    failures: tuple[Failure, ...]
    """All failed tasks, by number."""

    @property
    def is_passed(self) -> bool:
        """Whether the wanted share was reached."""
        return self.right >= self.wanted * self.asked

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share, in [0, 1]."""
        return wilson_interval(self.right / self.asked, self.asked)

    def json(self, player: str) -> str:
        """The result as one line of JSON, with its failures."""
        low, high = self.interval
        return json.dumps(
            {
                "metric": "exam",
                "player": player,
                "part": self.part,
                "value": self.right / self.asked,
                "low": low,
                "high": high,
                "right": self.right,
                "asked": self.asked,
                "wanted": self.wanted,
                "passed": self.is_passed,
                "seconds": round(self.seconds, 2),
                "failures": [vars(failure) for failure in self.failures],
            }
        )


HEAD = (
    f"{'part':<20} {'right':>6} {'asked':>6} {'share':>6}  {'95 % interval':<15} {'wanted':>6} {'seconds':>8}  verdict"
)


def row(result: PartResult) -> str:
    """The line of a part below `HEAD`."""
    low, high = result.interval
    interval, share = f"{100 * low:.1f} to {100 * high:.1f}", 100 * result.right / result.asked
    verdict = "passed" if result.is_passed else "failed"
    return (
        f"{result.part:<20} {result.right:>6} {result.asked:>6} {share:>6.1f}  {interval:<15}"
        f" {100 * result.wanted:>6.0f} {result.seconds:>8.1f}  {verdict}"
    )


def short_text(results: Iterable[PartResult]) -> str:
    """The results in a line, as cards have them: `mate in 2 199 of 200, …`."""
    return ", ".join(f"{result.part} {result.right} of {result.asked}" for result in results)


def require_failures_file(path: Path) -> None:
    """Refuse a file of failures whose name `analyse` would not read. Raises DataError."""
    if path.suffix.lower() != MOVES_SUFFIX:
        raise DataError(f"{path} is to hold positions and moves: expected a name that ends in {MOVES_SUFFIX}.")


def write_failures(path: Path, results: Sequence[PartResult]) -> None:
    """Write all failed tasks, a line each with the moves that were played, below a comment with the reason.

    Raises:
        DataError: the name does not end in .txt, or the file cannot be written.
    """
    require_failures_file(path)
    lines = [
        f"# {result.part}, task {failure.number}: {failure.reason}.\n{line_text(failure.position, failure.moves)}\n"
        for result in results
        for failure in result.failures
    ]
    try:
        write_durably(path, "".join(lines).encode())
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error

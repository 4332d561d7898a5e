"""What a study is, and the loop that runs its jobs: `run_study`.

A study is a frozen dataclass of its options. Its jobs are independent of each other, and each gives one result, which
is kept (`results.py`). After the last job, and after a stop, a page shows the results so far (`page.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from zerosum.base.errors import printable
from zerosum.base.holding import held
from zerosum.report.drawings import figure
from zerosum.report.studies.page import Findings, write_study_page
from zerosum.report.studies.results import Results

R = TypeVar("R")


@dataclass(frozen=True)
class Job(Generic[R]):
    """A part of a study."""

    name: str
    """Names the result; two jobs of a study never have the same."""
    work: Callable[[Path], R | None]
    """Does the job and returns its result, or None if a signal has stopped it. It gets the study's directory, in which
    it may keep what it needs to go on after a kill."""


class Study(Protocol[R]):
    """A study: a frozen dataclass of its options."""

    @property
    def kind(self) -> type[R]:
        """The dataclass of a job's result (`results.read_as`)."""

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that its results depend on, ready for JSON."""

    def jobs(self) -> Sequence[Job[R]]:
        """All jobs, in the order in which they are done."""

    def findings(self, results: Mapping[str, R]) -> Findings:
        """What the results so far say; there is at least one."""


def run_study(
    study: Study[R], directory: Path, *, write: Callable[[str], None] = print, say: Callable[[str], None] = print
) -> bool:
    """Do the jobs of a study that are not done yet, and write its page.

    Args:
        study: The study.
        directory: Its directory; the same study continues in it after a stop.
        write: Gets the tables and the conclusion.
        say: Gets the progress.

    Returns:
        Whether all jobs are done; False after a stop by a signal.

    Raises:
        DataError: the directory has another study, or is damaged.
        RunError: another process holds it, or it cannot be written.
    """
    figure(1)  # raises without matplotlib, before any work
    jobs = study.jobs()
    with held(directory, option="--out"):
        results = Results(directory, study.about(), study.kind, report=say)
        is_complete = _do(jobs, results, directory, say)
        done = {job.name: results.found[job.name] for job in jobs if job.name in results.found}
        if done:
            found = study.findings(done)
            write(printable(found.text()))
            say(f"The page is {write_study_page(directory, found, num_done=len(done), num_jobs=len(jobs))}.")
    if not is_complete:
        say(f"Stopped after {len(done)} of {len(jobs)} jobs. The same command continues.")
    return is_complete


def _do(jobs: Sequence[Job[R]], results: Results[R], directory: Path, say: Callable[[str], None]) -> bool:
    """Do all jobs without a result. Returns whether none was stopped."""
    try:
        for number, job in enumerate(jobs, start=1):
            if job.name in results.found:
                continue
            say(printable(f"Job {number} of {len(jobs)}: {job.name}"))
            result = job.work(directory)
            if result is None:
                return False
            results.add(job.name, result)
    except KeyboardInterrupt:
        return False
    return True

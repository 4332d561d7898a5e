"""`zerosum bench gpu`: all figures of one GPU in at most eight minutes, beside what they should be.

`sections.py` measures, each section in a process of its own (`section_process.py`); `goals.py` has the goals of an
H100; `page.py` writes the results as JSON and as a section of benches/RESULTS.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from zerosum.base.errors import SettingsError, nearest
from zerosum.bench.gpu.goals import Row
from zerosum.bench.gpu.page import Results, device_of
from zerosum.bench.gpu.section_process import SectionError, figures_of
from zerosum.bench.gpu.sections import SECTIONS, SIMULATED, Trial
from zerosum.network.evaluators.device import torch_devices, uses_gpu

LIMIT_S = 480
"""Seconds after which nothing is measured any more."""


def bench_gpu(
    out: Path,
    *,
    only: Sequence[str] = (),
    device: str = "auto",
    report: Callable[[str], None],
) -> Results:
    """Measure the sections, write the results after each figure, and return them.

    Args:
        out: The JSON file; the Markdown is beside it, with the suffix `.md`.
        only: Names of `SECTIONS`; all if empty.
        device: "auto", "cuda", "cuda:1"; "cpu" and "simulated" try the command without a GPU, with tiny networks.
        report: Gets each row as it is measured, and sentences about what was left out.

    Raises:
        SettingsError: there is no GPU, no such section, or the file cannot be written.
    """
    for name in only:
        if name not in SECTIONS:
            raise SettingsError(f"unknown section {name!r} of --only{nearest(name, SECTIONS)}.")
    if out.suffix != ".json":
        raise SettingsError(f"--out is {str(out)!r}, expected a name that ends in .json.")
    trial = _trial(device)
    results = Results(device_of(trial))
    results.write(out)
    until = time.monotonic() + LIMIT_S
    for name, section in SECTIONS.items():
        if only and name not in only:
            continue
        if trial.is_simulated and section.needs_network:
            results.notes.append(f"{name}: not measured, because a simulated device has no network.")
            report(results.notes[-1])
            continue
        seconds, started = min(section.limit_s, until - time.monotonic()), time.monotonic()
        try:
            if seconds <= 0:
                raise SectionError(f"it was not begun, because {LIMIT_S} seconds had passed")
            for figure in figures_of(name, trial, seconds=seconds):
                results.rows.append(Row.of(figure, has_goals=not trial.is_tiny))
                report(results.rows[-1].text())
                results.seconds[name] = time.monotonic() - started
                results.write(out)
        except SectionError as ended:
            results.notes.append(f"{name}: {ended}.")
            report(results.notes[-1])
        finally:
            results.seconds[name] = time.monotonic() - started
            results.write(out)
    return results


def _trial(device: str) -> Trial:
    """The device to measure, as torch names it.

    Raises:
        SettingsError: there is no such device.
    """
    if device == SIMULATED:
        return Trial(SIMULATED, is_tiny=True)
    if device == "auto" and not uses_gpu():
        raise SettingsError(
            "this machine has no GPU that torch can use. `--device cpu` tries the command with tiny networks, and"
            f" `--device {SIMULATED}` with a device that only takes its time."
        )
    first = torch_devices(device)[0]
    return Trial(str(first), is_tiny=first.type == "cpu")

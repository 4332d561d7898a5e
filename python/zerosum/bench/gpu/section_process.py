"""One section of `zerosum bench gpu` in a process of its own: `python -m zerosum.bench.gpu.section_process`.

A section that hangs, fails, or breaks its GPU's context costs only its own figures that were not yet written. Standard
input has one line of JSON, the section and the trial; standard output a line of JSON for each figure as it is measured.
"""

from __future__ import annotations

import dataclasses
import json
import queue
import sys
import threading
import time
from collections.abc import Iterator

from zerosum.base.child import Child
from zerosum.base.errors import ZerosumError
from zerosum.bench.figure import Figure
from zerosum.bench.gpu.sections import SECTIONS, Trial

MODULE = "zerosum.bench.gpu.section_process"
GRACE_S = 10.0
"""Seconds that a process has to end by itself once its output has ended."""


class SectionError(Exception):
    """Why a section ended before its last figure, in a sentence."""


def figures_of(section: str, trial: Trial, *, seconds: float) -> Iterator[Figure]:
    """The figures of a section as they come.

    Raises:
        SectionError: it failed or took longer than `seconds` seconds; its process has been ended.
    """
    until = time.monotonic() + seconds
    child, lines = Child.of_module(MODULE), queue.SimpleQueue[bytes]()

    def read() -> None:
        with child.output as output:
            for line in output:
                lines.put(line)
        lines.put(b"")

    reader = threading.Thread(target=read, name="figures", daemon=True)
    reader.start()
    grace_s = 0.0
    try:
        child.input.write(json.dumps({"section": section, "trial": dataclasses.asdict(trial)}).encode())
        child.input.close()
        while line := lines.get(timeout=max(until - time.monotonic(), 0.001)):
            said = json.loads(line)
            if "error" in said:
                raise SectionError(said["error"])
            yield Figure(**said)
        grace_s = GRACE_S
    except queue.Empty:
        raise SectionError(f"it was ended after {seconds:.0f} seconds, its limit") from None
    except BrokenPipeError:
        grace_s = GRACE_S  # its exit status says more
    finally:
        child.end(grace_s)
        reader.join()
    if child.status():
        last = child.last_words[-1] if child.last_words else "none"
        raise SectionError(f"its process {child.how_it_ended()}; its last words: {last}")


def main() -> None:
    """Measure the section that the request names."""
    figures, sys.stdout = sys.stdout, sys.stderr
    request = json.load(sys.stdin)
    try:
        for figure in SECTIONS[request["section"]].measure(Trial(**request["trial"])):
            print(figure.json(), file=figures, flush=True)
    except ZerosumError as error:
        print(json.dumps({"error": str(error)}), file=figures, flush=True)


if __name__ == "__main__":
    main()

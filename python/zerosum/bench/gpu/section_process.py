"""One section of `zerosum bench gpu` in a process of its own: `python -m zerosum.bench.gpu.section_process`.

A section that hangs, fails, or breaks its GPU's context costs only its own figures that were not yet written. Standard
input has one line of JSON, the section and the trial; standard output a line of JSON for each figure as it is measured.
"""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

from zerosum.base.errors import ZerosumError
from zerosum.bench.figure import Figure
from zerosum.bench.gpu.sections import SECTIONS, Trial

MODULE = "zerosum.bench.gpu.section_process"


class SectionError(Exception):
    """Why a section ended before its last figure, in a sentence."""


def figures_of(section: str, trial: Trial, *, seconds: float) -> Iterator[Figure]:
    """The figures of a section as they come.

    Raises:
        SectionError: it failed or took longer than `seconds` seconds; its process has been ended.
    """
    command = [sys.executable, "-P", "-m", MODULE]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    until = time.monotonic() + seconds
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, env=environ, text=True
        )
        assert process.stdin is not None and process.stdout is not None
        lines = queue.SimpleQueue[str]()

        def read(output: Iterator[str]) -> None:
            for line in output:
                lines.put(line)
            lines.put("")

        reader = threading.Thread(target=read, args=(process.stdout,), name="figures", daemon=True)
        reader.start()
        try:
            process.stdin.write(json.dumps({"section": section, "trial": dataclasses.asdict(trial)}))
            process.stdin.close()
            while line := lines.get(timeout=max(until - time.monotonic(), 0.001)):
                said = json.loads(line)
                if "error" in said:
                    raise SectionError(said["error"])
                yield Figure(**said)
        except queue.Empty:
            raise SectionError(f"it was ended after {seconds:.0f} seconds, its limit") from None
        except BrokenPipeError:
            pass  # its exit status says more
        finally:
            if process.poll() is None and not _ends(process):
                process.kill()
            process.wait()
            reader.join()
            process.stdout.close()
        if process.returncode:
            words.seek(0)
            last = words.read().decode(errors="replace").strip().rpartition("\n")[2] or "none"
            raise SectionError(f"its process ended with exit status {process.returncode}; its last words: {last}")


def _ends(process: subprocess.Popen[str]) -> bool:
    """Whether a process ends by itself once its output has ended."""
    assert process.stdout is not None
    if not process.stdout.closed and sys.exc_info()[0] is not None:
        return False
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        return False
    return True


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

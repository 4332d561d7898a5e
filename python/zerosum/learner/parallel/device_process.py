"""A device of a `ParallelLearner` as a process: `python -m zerosum.learner.parallel.device_process`, which it starts.

The process reads requests from its standard input, writes an answer to each to its standard output, and ends with its
input. `device_learner.py` answers.
"""

from __future__ import annotations

import os
import signal

from zerosum.learner.parallel.device_learner import DeviceLearner
from zerosum.learner.parallel.messages import read_message, write_message


def main() -> None:
    """Answer requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a group; the parent ends this one
    # The pipes get numbers of their own, so that a library's words cannot mix with the answers.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(2, 1)
    learner = DeviceLearner()
    while (message := read_message(requests)) is not None:
        try:
            write_message(answers, *learner.answer(*message))
        except OSError:
            break  # the parent is gone
    # Without torch's and NCCL's farewells, which wait for processes that may have ended before.
    os._exit(0)


if __name__ == "__main__":
    main()

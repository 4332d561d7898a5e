"""Ctrl-C before a command begins ends it with a message, without a traceback. This file is imported first."""

from __future__ import annotations

import contextlib
import os
import signal


def _end(_number: int, _frame: object) -> None:
    """Print a message and end by the signal. A library that is being imported could catch an exception."""
    os.write(2, b"zerosum: interrupted before anything began.\n")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.raise_signal(signal.SIGINT)


def end_at_interrupt() -> None:
    """End the process at Ctrl-C, unless Ctrl-C is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with contextlib.suppress(ValueError):  # a thread other than the main one loads the program
            signal.signal(signal.SIGINT, _end)


def raise_at_interrupt() -> None:
    """Raise KeyboardInterrupt at Ctrl-C, as usual."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


end_at_interrupt()

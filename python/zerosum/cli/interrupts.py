"""Ctrl-C while the commands are being loaded is a sentence, not a traceback. Imported before them."""

from __future__ import annotations

import sys
from types import TracebackType


def _say(kind: type[BaseException], error: BaseException, place: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("zerosum: interrupted before anything began.", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, place)


sys.excepthook = _say

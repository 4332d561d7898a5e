"""How much nonsense the programs are told."""

from __future__ import annotations

import os


def rounds(number: int) -> int:
    """As many as given if the variable ZEROSUM_FUZZ is set, as in one job of CI; else a fifth of them."""
    return number if os.environ.get("ZEROSUM_FUZZ") else number // 5

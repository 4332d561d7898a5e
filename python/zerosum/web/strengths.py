"""The strength of a player in words, as far as somebody has measured it."""

from __future__ import annotations

from pathlib import Path

from zerosum.play.bundled import CARD, read_card


def measured_strength(path: Path) -> str:
    """The measured strength of a bundled network by its checkpoint, in words; "" of any other."""
    directory = path.parent.parent
    return read_card(directory).strength if (directory / CARD).is_file() else ""

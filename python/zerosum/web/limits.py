"""Limits for one visitor, and for all of them together."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from zerosum.base.errors import SettingsError
from zerosum.base.settings import num_cores

NICENESS = 5
"""Steps by which searches and readers of uploads have a lower priority than answers to clicks."""
LOOKS = 15
"""How many times as long as any other search an analysis may go on."""


@dataclass(frozen=True)
class Limits:
    """Maximum values. A request above one is refused with a message that names it."""

    simulations: int = 100_000
    """Simulations of one search. A search by time of a small network makes `POSITIONS_PER_SIMULATION` times as many
    positions, which take as long."""
    seconds: float = 60.0
    """Seconds of one search."""
    memory_mib: int = 128
    """Mebibytes of one search's tree."""
    message_bytes: int = 1 << 20
    """Size of a message, which bounds an upload."""
    visitors: int = 64
    """Pages connected at a time."""
    plies: int = 2000
    """Plies of a game that is opened or analysed."""
    games: int = 100
    """Games of an uploaded file."""
    networks: int = 12
    """Networks in memory, a bundled one 15 MiB; the least recently used one is dropped. Loading it again takes time."""
    searching: int = num_cores()
    """Searches that run at the same moment."""

    @property
    def looking(self) -> Limits:
        """The longer limits of an analysis that runs while a visitor looks at a position; the memory is the same."""
        return replace(self, seconds=LOOKS * self.seconds, simulations=LOOKS * self.simulations)

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) <= 0:
                raise SettingsError(f"{field.name} is {getattr(self, field.name)}, expected more than 0.")

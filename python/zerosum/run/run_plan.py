"""The plan of a training: made once, before anything is written, and handed to all of its parts."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from zerosum.games import Rules
from zerosum.network import NetworkShape
from zerosum.run.config import RunConfig


@dataclass(frozen=True)
class RunPlan:
    """What is learned, how, and where."""

    directory: Path
    game: Rules
    """The rules, with the planes that the run adds to them."""
    config: RunConfig

    @functools.cached_property
    def shape(self) -> NetworkShape:
        """The network's input and output."""
        return NetworkShape.of(self.game.spec)

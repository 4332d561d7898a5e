"""The plan of a training: made once, before anything is written, and handed to all of its parts."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from zerosum.games import Rules
from zerosum.network import NetworkShape
from zerosum.run.config import RunConfig, configured_game


@dataclass(frozen=True)
class RunPlan:
    """What is learned, how, and where."""

    directory: Path
    game: Rules
    """The rules, with the planes that the run adds to them."""
    config: RunConfig

    @staticmethod
    def of(directory: Path, game: Rules, config: RunConfig) -> RunPlan:
        """The plan of a run of a game, whatever planes `game` has."""
        return RunPlan(directory, configured_game(game, config), config)

    @functools.cached_property
    def shape(self) -> NetworkShape:
        """The network's input and output."""
        return NetworkShape.of(self.game.spec)

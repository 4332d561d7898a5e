"""Networks of the package, for games that no run on this machine has learned.

Each is a folder of `zerosum/data/networks`: a run directory with one checkpoint of `save_network` and a card, without
games. `tools/package_network.py` makes one from a run.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from zerosum.games import Rules, make
from zerosum.play.fit import fits
from zerosum.play.runs import find_run, means_game, network_at, require_run

DIRECTORY = Path(str(resources.files("zerosum") / "data" / "networks"))
CARD = "card.toml"


@dataclass(frozen=True)
class NetworkCard:
    """How a network was made and how strong it is."""

    command: str
    """The command that trained it."""
    date: str
    """Date of the code that trained it, ISO 8601."""
    budget: str
    """The cost of the training, such as "20 CPU-minutes", with that of the network that it began with."""
    earlier: tuple[str, ...]
    """Commands that made the games that it learned from, or the network that it began with, in order."""
    evaluations_per_second: int
    """Evaluations of its self-play per CPU-second; 0 without self-play."""
    rating: str
    """Rating on the game's ladder, with its interval; "" if it was not rated."""
    played: str
    """Its limit in the rated games, such as "100 simulations a move"."""

    @property
    def commands(self) -> list[str]:
        """All commands that made it, in order."""
        return [*self.earlier, self.command]


def bundled_networks() -> list[Path]:
    """The directories of all networks of the package, by name."""
    return sorted(path.parent for path in DIRECTORY.glob(f"*/{CARD}"))


def bundled_network(game: Rules) -> Path | None:
    """The directory of the network of the package that fits the game; None without one."""
    return next((path for path in bundled_networks() if fits(network_at(path), game)), None)


def require_network(word: str) -> Path:
    """As `runs.require_run`, but a game that no run has learned means the network of the package, if there is one.

    Raises:
        DataError: the word means neither a run nor a game with a network.
    """
    if means_game(word) and find_run(word) is None and (bundled := bundled_network(make(word))):
        return bundled
    return require_run(word)


def is_bundled(path: Path) -> bool:
    """Whether a path is the directory of a network of the package."""
    return path.parent == DIRECTORY


def read_card(directory: Path) -> NetworkCard:
    """The card of a bundled network."""
    values = tomllib.loads((directory / CARD).read_text(encoding="utf-8"))
    return NetworkCard(**values | {"earlier": tuple(values["earlier"])})

"""Bundled networks, for games that no run on this machine has learned.

Each is a folder of `zerosum/data/networks`: a run directory with one checkpoint of `save_network` and a card, without
games. `tools/package_network.py` makes one from a run.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.files import MOST_NOTE_BYTES, read_text
from zerosum.games import Rules
from zerosum.network.fit import fits
from zerosum.play.runs import (
    BUNDLED,
    NETWORKS,
    PlayerWord,
    network_at,
    newest_checkpoint,
    newest_run,
)

DIRECTORY = NETWORKS
LITTLE = 0.1
"""Share of a bundled network's minutes of training below which a run of its game counts as weaker."""
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
    exam: str = ""
    """Its results in the parts of the game's exam, "mate in 2 199 of 200, …"; "" if it sat none."""

    @property
    def elo(self) -> int:
        """The rating as a number; 0 if it was not rated on a ladder."""
        found = re.match(r"Elo ([+−-]?\d+)", self.rating)
        return int(found[1].replace("−", "-")) if found else 0

    @property
    def strength(self) -> str:
        """The rating with its scale and limit, in words; "" if it was not rated."""
        rating = re.sub(r"^(Elo [+−-]?\d+( ± \d+)?)", r"\1 above random play", self.rating)
        return f"{rating} at {self.played}" if rating else ""

    @property
    def commands(self) -> list[str]:
        """All commands that made it, in order."""
        return [*self.earlier, self.command]


def bundled_networks() -> list[Path]:
    """The directories of all bundled networks, by name."""
    return sorted(path.parent for path in DIRECTORY.glob(f"*/{CARD}"))


def bundled_network(game: Rules) -> Path | None:
    """The directory of the bundled network that fits the game, the strongest by its card; None without one."""
    fitting = [path for path in bundled_networks() if fits(network_at(path), game)]
    return max(fitting, key=lambda path: read_card(path).elo, default=None)


def require_network(word: str) -> Path:
    """As `PlayerWord.require_run`, but a game that no run has learned means the bundled network, if there is one.

    Raises:
        DataError: the word means neither a run nor a game with a network.
    """
    named = PlayerWord(word)
    if named.game is not None and named.run is None and (bundled := bundled_network(named.rules)):
        return bundled
    return named.require_run()


@dataclass(frozen=True)
class UsualNetwork:
    """The network that plays a game if none is named, and the one that does not."""

    path: Path
    other: str = ""
    """A sentence on the other one: which it is and how to name it; "" if there is none."""


def usual_network(game: Rules, *, runs: Path | None = None) -> UsualNetwork | None:
    """The newest run in `runs` whose network fits the game, else the bundled network; None without either.

    A run that has had less than `LITTLE` of the training of the bundled network is not preferred to it.
    """
    run, bundled = newest_run(game, runs=runs), bundled_network(game)
    if run is None or bundled is None:
        found = run or bundled
        return None if found is None else UsualNetwork(found)
    if (minutes := _minutes_of_little_training(run, bundled)) is not None:
        budget = read_card(bundled).budget
        return UsualNetwork(
            bundled,
            f"The newest run, {run}, has had {minutes:.1f} minutes of training, this network {budget}; {run} names it.",
        )
    return UsualNetwork(run, f"{BUNDLED}{bundled.name} names the network that comes with zerosum.")


def _minutes_of_little_training(run: Path, bundled: Path) -> float | None:
    """The minutes of training of a run that are too few to play better; None if it had more, or if nobody knows.

    A run that began with another network has its training, too.
    """
    newest = newest_checkpoint(run / "checkpoints")
    budget = re.match(r"(\d+) (CPU-)?minutes", read_card(bundled).budget)
    if newest is None or budget is None or _has_beginning(run):
        return None
    minutes = newest[1].training.get("minutes")
    if not isinstance(minutes, int | float) or not 0 <= minutes < LITTLE * int(budget[1]):
        return None
    return float(minutes)


def _has_beginning(run: Path) -> bool:
    """Whether a run began with another network than random weights, or nobody knows."""
    try:
        training = tomllib.loads(read_text(run / "config.toml", most_bytes=MOST_NOTE_BYTES)).get("training", {})
    except (OSError, ValueError):
        return True
    return not isinstance(training, dict) or bool(training.get("initial_network"))


def is_bundled(path: Path) -> bool:
    """Whether a path is the directory of a bundled network."""
    return path.parent == DIRECTORY


def read_card(directory: Path) -> NetworkCard:
    """The card of a bundled network."""
    values = tomllib.loads((directory / CARD).read_text(encoding="utf-8"))
    return NetworkCard(**values | {"earlier": tuple(values["earlier"])})

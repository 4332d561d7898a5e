"""What a run names outside of itself, and the user's yes to it: `zerosum trust RUN`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.consent import allowed
from zerosum.base.files import require_own_files
from zerosum.games.permission import allow_program, is_allowed, program_of
from zerosum.network.config import own_module
from zerosum.run.config import load_config
from zerosum.run.given_game import game_to_load
from zerosum.run.initial_network import allow_network, is_bundled_name


@dataclass(frozen=True)
class Named:
    """Something outside of a run, or a program in it, that is used only with the user's yes."""

    sentence: str
    is_allowed: bool
    allow: Callable[[], str]
    """Remembers the yes. Returns a note for the user if it is not kept, else ""."""


def named_by(run: Path) -> list[Named]:
    """What a run names. Its files are read, and nothing that they name.

    Raises:
        DataError, SettingsError: the run's settings cannot be read.
        GameError: its rules are where no run keeps them.
    """
    require_own_files(run)
    config, found = load_config(run / "config.toml"), list[Named]()
    file = program_of(run, game_to_load(run, config.game))
    if file is not None:
        sentence = f"Its rules are the program {file}, which plays, trainings and engines run."
        found.append(Named(sentence, is_allowed(file), lambda: allow_program(file)))
    if config.network.module:
        own, _ = own_module(config.network)
        sentence = f"Its network is the program {own}, which plays, trainings and engines run."
        found.append(Named(sentence, is_allowed(own), lambda: allow_program(own)))
    network = config.training.initial_network
    if network and not is_bundled_name(network):
        sentence = f"It begins with the network {network}, which the first training reads."
        found.append(Named(sentence, allowed("network", network) is not None, lambda: allow_network(network)))
    return found

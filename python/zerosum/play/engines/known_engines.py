"""Known free engines: their packages, commands and games.

All are packages of Debian and its descendants; no engine is part of this program.
"""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.base.errors import SettingsError, nearest
from zerosum.games import Rules
from zerosum.games.rules import rules_name
from zerosum.play.engines.engine import EngineCommand


@dataclass(frozen=True)
class KnownEngine:
    """A known engine, with the games that it plays by one protocol."""

    package: str
    """Package of Debian."""
    games: tuple[str, ...]
    """Names of games, with any options."""
    command: EngineCommand

    @property
    def name(self) -> str:
        """Name for `find_engine`; an engine with two protocols has two entries of one name."""
        return self.command.label

    @property
    def is_installed(self) -> bool:
        """Whether its program is found on this machine."""
        return self.command.program is not None

    @property
    def how_to_install(self) -> str:
        """A sentence on how to install it."""
        return f"On Debian and Ubuntu, `sudo apt-get install {self.package}` installs {self.name}."


def _uci(program: str, *games: str, package: str = "", protocol: str = "uci", **options: str) -> KnownEngine:
    command = EngineCommand.parse(program, protocol=protocol, options=tuple(options.items()))
    return KnownEngine(package or command.label, games, command)


KNOWN_ENGINES = (
    _uci("stockfish", "chess", "chess960"),
    _uci("fairy-stockfish", "chess", "chess960", "minichess"),
    _uci("fairy-stockfish", "shogi", "minishogi", protocol="usi"),
    # The match chooses the openings, so the engine's book is off.
    _uci("gnuchess --uci", "chess", OwnBook="false"),
    _uci("toga2", "chess", OwnBook="false"),
    _uci("glaurung", "chess", "chess960", OwnBook="false", Threads="1"),
    # It passes while dead stones are on the board, unless told to capture them; our Tromp-Taylor counts them as alive.
    _uci(
        "gnugo --mode gtp --chinese-rules --positional-superko --capture-all-dead --play-out-aftermath",
        "go",
        protocol="gtp",
    ),
)
"""Engines by game, the strongest first."""


def known_engines(game: Rules) -> list[KnownEngine]:
    """The known engines that play a game, installed or not."""
    return [engine for engine in KNOWN_ENGINES if rules_name(game) in engine.games]


def find_engine(name: str, game: Rules) -> EngineCommand:
    """The command of a known engine for a game.

    Raises:
        SettingsError: no engine of this name plays the game, or it is not installed.
    """
    known = {engine.name: engine for engine in known_engines(game)}
    if name not in known:
        raise SettingsError(f"No known engine {name!r} plays {game.spec.full_name}{nearest(name, known)}.")
    if not known[name].is_installed:
        raise SettingsError(f"{name} is not installed. {known[name].how_to_install}")
    return known[name].command

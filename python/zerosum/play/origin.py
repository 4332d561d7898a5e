"""Where a network comes from: the run around it, whose settings say what it has learned and how it searches."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from zerosum.base.errors import DataError, GameError, SettingsError, printable
from zerosum.base.settings import from_mapping, read_settings
from zerosum.games.names import GameName
from zerosum.games.permission import require_allowed
from zerosum.games.source_files import differing, kept_name, rules_files
from zerosum.network import CheckpointInfo, any_size, katago, lc0
from zerosum.search import SearchConfig

LEARNED_RULES = SearchConfig(rules="learned", exact_bounds=False, proof_nodes=0, reuse_tree=False)
"""The search of a network that has learned the rules and lies outside of any run."""

ALPHA_BETA_NODES = 100_000
"""Positions of an alpha-beta search for a move without another limit."""


@dataclass(frozen=True)
class Origin:
    """The run that a network at a path belongs to, if it belongs to one; its settings are read once."""

    path: Path
    """A run directory, a directory of checkpoints, or one network's file."""
    directory: Path
    """The run's directory, or the file's."""
    game: GameName | None = None
    """The run's game; None outside of any run."""
    search: SearchConfig | None = None
    """Its settings of the search, or those of the program that the network comes from; None if neither says them."""

    @staticmethod
    def of(path: Path) -> Origin:
        """The origin of the network at a path.

        A network of Lc0 is searched with Lc0's settings, one of KataGo with KataGo's.

        Raises:
            DataError: the run's settings are damaged.
        """
        directory = path.resolve() if path.is_dir() else path.resolve().parent
        directory = directory.parent if directory.name == "checkpoints" else directory
        if lc0.is_lc0_file(path):
            return Origin(path, directory, search=from_mapping(SearchConfig, lc0.SEARCH, "search"))
        if katago.is_katago_file(path):
            return Origin(path, directory, search=from_mapping(SearchConfig, katago.SEARCH, "search"))
        file = directory / "config.toml"
        if not file.is_file():
            return Origin(path, directory)
        values = read_settings(file)
        game, search = values.get("game", ""), values.get("search", {})
        if not isinstance(game, str) or not isinstance(search, dict):
            raise DataError(f"{file} is damaged: expected game to be a text and search a table. Correct it.")
        try:
            config = from_mapping(SearchConfig, search, "search") if "search" in values else None
        except SettingsError as error:
            raise DataError(f"{file}: {error} Correct or remove that line.") from error
        return Origin(path, directory, GameName.parse(game) if game else None, config)

    def own_search(self, info: CheckpointInfo, num_simulations: int | None) -> SearchConfig:
        """The settings of the network's search, with another number of simulations or positions if one is given."""
        search = self.search or (LEARNED_RULES if info.network.kind == "muzero" else SearchConfig())
        if info.network.kind == "updatable":
            num_simulations = num_simulations or ALPHA_BETA_NODES
        return search if num_simulations is None else replace(search, num_simulations=num_simulations)

    def learned_game(self, info: CheckpointInfo) -> GameName:
        """The name of the game that the network has learned, by its run, which games of your own need.

        Of several boards, as in `mixedgo`, it is the largest.

        A caller may load it: rules that are a program are those of a file that the user has allowed.

        Raises:
            GameError: it was given as an object, it is a game of your own and the checkpoint lies outside of its run,
                or its rules are a program that the user has not allowed to run.
        """
        if self.game is not None and self.game.given_object is not None:
            raise GameError(
                f"{self.path} has learned {self.game.given_object!r}, a game that was given as an object: give it"
                " again, as game=MyGame(), or name its file, as --game path.py:Class."
            )
        if info.game == any_size.MIXED:
            return GameName.parse(any_size.largest_board(info))
        if self.game is not None and self.game.file is not None:
            name = self._own_rules(self.game, self.game.file)
        else:
            name = self.game or GameName.parse(info.full_name)
            if str(name) == info.full_name and not (name.is_core or name.origin == "openspiel"):
                raise GameError(
                    f"{self.path} is a network for {str(name)!r}, a game of your own: name it as path.py:Class."
                )
        require_allowed(self.directory, name)
        return name

    def _own_rules(self, name: GameName, file: Path) -> GameName:
        """The name of a user's game that a run has learned: its file, or the run's copy if the file has moved."""

        def tell(sentence: str) -> None:
            print(printable(sentence), file=sys.stderr)

        kept = kept_name(self.directory, name)
        if kept is not None and not file.is_file():
            tell(f"{file} is not there any more: {self.path} keeps a copy of its rules, which are played.")
            name = kept
        elif kept is not None and (changed := differing(self.directory, rules_files(file))):
            tell(
                f"{', '.join(changed)} changed since {self.path} was trained: it learned the older rules, which are"
                f" played with --game {shlex.quote(str(kept))}."
            )
        return name

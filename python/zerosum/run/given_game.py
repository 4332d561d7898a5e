"""The game of a training, given as a name or an object, and the copy of its rules in the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import GameError
from zerosum.base.files import require_own_files, writing
from zerosum.games import Game, Rules, adopt, check_game, make
from zerosum.games.names import GameName
from zerosum.games.permission import allow_copy, allow_program, require_allowed
from zerosum.games.rules import find_game, require_a_move
from zerosum.games.source_files import class_text, keep, kept_name, rules_files, source_of
from zerosum.run.config import load_config


@dataclass(frozen=True)
class GivenGame:
    """A game as a training needs it."""

    rules: Rules
    name: GameName
    """The name in the run's settings."""
    own: Game[Any] | None
    """The user's object, given or loaded from a file; None for a game of the core."""

    @staticmethod
    def of(game: str | GameName | Game[Any] | Rules) -> GivenGame:
        """The game of a name, of rules, or of an object.

        Raises:
            GameError: as `zerosum.make`.
        """
        if isinstance(game, str | GameName):
            name = (GameName.parse(game) if isinstance(game, str) else game).absolute()
            found = find_game(name)
            if isinstance(found, Rules):
                return GivenGame(found, GameName.of_core(found.spec), None)  # `go9` and `go( size=9 )` get one name
            return GivenGame(adopt(found), name, found)
        rules = game if isinstance(game, Rules) else make(game)
        require_a_move(rules)
        if not rules.is_python:
            return GivenGame(rules, GameName.of_core(rules.spec), None)
        own = None if isinstance(game, Rules) else game
        return GivenGame(rules, (own and source_of(own)) or GameName.of_object(rules.spec), own)

    def doubts(self) -> list[str]:
        """The first lines of the doubts of `check_game` in a few games of a user's game.

        Raises:
            GameError: a rule of the protocol is broken.
        """
        return (
            [] if self.own is None else [doubt.splitlines()[0] for doubt in check_game(self.own, num_games=10).doubts]
        )

    def keep_source(self, directory: Path, *, report: Callable[[str], None]) -> None:
        """Copy the rules of a user's game into the run, and report if they differ from the kept copy.

        Raises:
            RunError: the directory cannot be written.
        """
        file = self.name.file
        if file is None and self.own is None:
            return
        try:
            texts = rules_files(file) if file else class_text(self.own) if self.own else {}
        except GameError as error:  # the game itself was loaded, so it can be trained
            report(f"NOTE: no copy of the rules is kept: {error}")
            return
        with writing(directory):
            changed = keep(directory, texts)
        if file:
            # The user has named it: it may run again when the run names it, and so may the copy.
            for note in dict.fromkeys((allow_program(file), allow_copy(directory, texts))):
                if note:
                    report(note)
        if changed:
            report(
                f"NOTE: {', '.join(changed)} changed since this run was trained: its games and networks follow the old"
                " file. If the rules changed, start a new run."
            )


def recorded_game(run: Path) -> GameName:
    """The name of a run's game, or of the run's copy if the game's file has moved.

    Raises:
        GameError: the game was given as an object, or it is a program that the user has not allowed to run.
        DataError, SettingsError: the run's settings cannot be read.
    """
    require_own_files(run)
    name = load_config(run / "config.toml").game
    if name.origin == "object":
        raise GameError(f"{run} learns a game that was given as an object: resume in Python, zerosum.train(game, run).")
    name = game_to_load(run, name)
    require_allowed(run, name)
    return name


def game_to_load(run: Path, name: GameName) -> GameName:
    """The name of a run's game, or of the run's copy if the game's file has moved."""
    kept = kept_name(run, name)
    return kept if kept is not None and name.file is not None and not name.file.is_file() else name

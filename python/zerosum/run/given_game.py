"""The game of a training, given as a name or an object, and the copy of its rules in the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import GameError
from zerosum.base.files import require_own_files, writing
from zerosum.games import Game, Rules, adopt, check_game, make
from zerosum.games.permission import allow_copy, allow_program, require_allowed
from zerosum.games.python_game import split_name
from zerosum.games.rules import find_game, require_a_move
from zerosum.games.source_files import OBJECT, class_text, keep, kept_name, rules_files, source_of
from zerosum.run.config import game_name, load_config


@dataclass(frozen=True)
class GivenGame:
    """A game as a training needs it."""

    rules: Rules
    name: str
    """The name in the run's settings: as `make` takes it, or "object:NAME" if no other process can load the class."""
    own: Game[Any] | None
    """The user's object, given or loaded from a file; None for a game of the core."""

    @staticmethod
    def of(game: str | Game[Any] | Rules) -> GivenGame:
        """The game of a name, of rules, or of an object.

        Raises:
            GameError: as `zerosum.make`.
        """
        if isinstance(game, str):
            name = game_name(game)
            found = find_game(name)
            rules = found if isinstance(found, Rules) else adopt(found)
            # `go9` and `go( size=9 )` get one name.
            return GivenGame(rules, name if rules.is_python else rules.spec.full_name, _own(found))
        rules = game if isinstance(game, Rules) else make(game)
        require_a_move(rules)
        if not rules.is_python:
            return GivenGame(rules, rules.spec.full_name, None)
        name = (None if isinstance(game, Rules) else source_of(game)) or f"{OBJECT}{rules.spec.full_name}"
        return GivenGame(rules, name, _own(game))

    def with_name(self, name: str) -> GivenGame:
        """The game under the name that a run gives it, with other planes."""
        return self if name == self.name or self.rules.is_python else GivenGame(make(name), name, None)

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
        if split_name(self.name) is None and self.own is None:
            return
        try:
            texts = rules_files(self.name) if split_name(self.name) else class_text(self.own) if self.own else {}
        except GameError as error:  # the game itself was loaded, so it can be trained
            report(f"NOTE: no copy of the rules is kept: {error}")
            return
        with writing(directory):
            changed = keep(directory, texts)
        if own := split_name(self.name):
            # The user has named it: it may run again when the run names it, and so may the copy.
            for note in dict.fromkeys((allow_program(Path(own[0])), allow_copy(directory, texts))):
                if note:
                    report(note)
        if changed:
            report(
                f"NOTE: {', '.join(changed)} changed since this run was trained: its games and networks follow the old"
                " file. If the rules changed, start a new run."
            )


def recorded_game(run: Path) -> str:
    """The name of a run's game, or of the run's copy if the game's file has moved.

    Raises:
        GameError: the game was given as an object, or it is a program that the user has not allowed to run.
        DataError, SettingsError: the run's settings cannot be read.
    """
    require_own_files(run)
    name = load_config(run / "config.toml").game
    if name.startswith(OBJECT):
        raise GameError(f"{run} learns a game that was given as an object: resume in Python, zerosum.train(game, run).")
    name = game_to_load(run, name)
    require_allowed(run, name)
    return name


def game_to_load(run: Path, name: str) -> str:
    """The name of a run's game, or of the run's copy if the game's file has moved."""
    own, kept = split_name(name), kept_name(run, name)
    return kept if own is not None and kept is not None and not Path(own[0]).is_file() else name


def _own(game: Game[Any] | Rules) -> Game[Any] | None:
    return None if isinstance(game, Rules) else game

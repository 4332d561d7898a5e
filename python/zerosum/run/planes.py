"""The planes that a run adds to its game."""

from __future__ import annotations

from zerosum.base.errors import SettingsError
from zerosum.games import Rules
from zerosum.games.rules import PLANE_OPTIONS, given_options, with_options


def with_planes(game: Rules, planes: str) -> Rules:
    """The rules with these options of their planes, "NAME=VALUE, …"; "" for the planes that they have.

    Raises:
        SettingsError: the game has no such option, or is named with another value of it.
    """
    if not planes:
        return game
    values = dict(option.strip().partition("=")[::2] for option in planes.split(","))
    known = [option.name for option in game.spec.known_options if option.name in PLANE_OPTIONS]
    if unknown := [option for option in values if option not in known]:
        raise SettingsError(
            f"training.planes is {planes!r}: {game.spec.full_name} has no option {unknown[0]!r} of planes"
            f"{', only ' + ', '.join(known) if known else ''}. Leave it empty for the game's own planes."
        )
    if differing := [option for option, value in given_options(game).items() if values.get(option, value) != value]:
        raise SettingsError(
            f"{game.spec.full_name} and training.planes={planes!r} disagree about {differing[0]}: leave one of the two"
            " out."
        )
    return with_options(game, **values)

"""Names of games as people type them."""

from __future__ import annotations

import functools

from zerosum._core import core_game_names
from zerosum.games import Rules, make
from zerosum.games.rules import PLANE_OPTIONS, given_options, with_options


def short_name(game: Rules) -> str:
    """The shortest name that makes the rules of a game of the core, without options of its planes.

    A player of the game brings the planes that its network has learned (`with_planes_of`).

    >>> short_name(make("go(size=9, liberties=3)")), short_name(make("shogi(history=1)"))
    ('go9', 'shogi')
    >>> short_name(make("go(size=9, komi=5, history=2)")), short_name(make("go(size=7)"))
    ('go9(komi=5)', 'go(size=7)')
    """
    return game.spec.full_name if game.is_python else _shortest(game.spec.full_name)


@functools.lru_cache(maxsize=256)
def _shortest(full_name: str) -> str:
    game = make(full_name)
    defaults = {option.name: option.default for option in game.spec.known_options}
    plain = with_options(game, **{name: defaults[name] for name in PLANE_OPTIONS if name in defaults})
    names = [name for short in core_game_names() if (name := _named(short, plain)) is not None]
    return min(names, key=lambda name: (len(name), name))


def _named(short: str, game: Rules) -> str | None:
    """The name of a game by a short one and the options that it leaves; None if it is short for something else."""
    made = make(short)
    wanted, known = given_options(game).items(), given_options(made).items()
    if made.spec.name != game.spec.name or not known <= wanted:
        return None
    left = ", ".join(f"{name}={value}" for name, value in wanted if (name, value) not in known)
    return f"{short}({left})" if left else short

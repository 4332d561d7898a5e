"""Presets: settings for a game or a paper, as files of the package, and how layers of settings are put together."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from zerosum._core import core_game_names
from zerosum.base.errors import SettingsError, nearest
from zerosum.games import Rules
from zerosum.games.rules import with_usual_encoding

STRONGEST = "strongest_on_a_cpu"
"""The key of a preset's file with the games of which it reaches the strongest player on a CPU (docs/log.md)."""


def preset_names() -> list[str]:
    """The names of the presets in the package."""
    files = resources.files("zerosum").joinpath("presets").iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".toml"))


def preset_of(game: Rules) -> str:
    """The preset that is named like the game, which may have other planes; "" without one.

    >>> from zerosum.games import make
    >>> preset_of(make("go(size=9, liberties=3)")), preset_of(make("gomoku"))
    ('go9', '')
    """
    known = with_usual_encoding(game).spec.full_name
    games = {*core_game_names()}.intersection(preset_names())
    return next((name for name in sorted(games) if Rules(name).spec.full_name == known), "")


def is_for_another_game(name: str, game: Rules) -> bool:
    """Whether a preset is named like a game of the core, and that game is another one.

    >>> from zerosum.games import make
    >>> [is_for_another_game(name, make("shogi")) for name in ("go9", "shogi", "paper", "")]
    [True, False, False, False]
    """
    return name in core_game_names() and Rules(name).spec.name != game.spec.name


def load_preset(name: str, *, game: str) -> dict[str, dict[str, Any]]:
    """The settings of a preset for a game, by section.

    A preset's settings for one game stand under `[games.NAME.section]`.

    Args:
        name: A name of `preset_names()`.
        game: The game's name without its options.

    Raises:
        SettingsError: no preset has this name.
    """
    if name not in preset_names():
        raise SettingsError(f"unknown preset {name!r}{nearest(name, preset_names())}.")
    values = read_preset(name)
    values.pop(STRONGEST, None)
    own = values.pop("games", {}).get(game, {})
    return merged(values, own)


def read_preset(name: str) -> dict[str, Any]:
    """The content of a preset's file."""
    text = resources.files("zerosum").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def strongest_preset(game: Rules) -> str:
    """The preset that was measured to reach the strongest player of a game on a CPU; "" if none was measured.

    >>> from zerosum.games import make
    >>> strongest_preset(make("chess")), strongest_preset(make("go9"))
    ('nnue', '')
    """
    return next((name for name in preset_names() if game.spec.name in read_preset(name).get(STRONGEST, ())), "")


def merged(
    values: Mapping[str, Mapping[str, Any]], layer: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The settings with those of a layer in their place: a budget in minutes replaces one in steps, and vice versa."""
    found = {section: dict(entries) for section, entries in values.items()}
    for section, entries in layer.items():
        for budget, other in (("minutes", "steps"), ("steps", "minutes")):
            if section == "training" and budget in entries:
                found.get(section, {}).pop(other, None)
        found.setdefault(section, {}).update(entries)
    return found

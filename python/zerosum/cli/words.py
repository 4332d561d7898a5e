"""Arguments, options and messages that several commands share."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from zerosum.play.words import DEFAULT_PLAYER, GAME_AS_PLAYER

DOUBTFUL = 3
"""The exit status for a game that breaks no rule but raises a doubt, and for a player that fails an exam."""
GAME_HELP = (
    "A game's name (`connect4`), options in brackets (`'connect4(max_plies=30)'`), or your own as `path.py:Class`."
)


def require_game_name(word: str) -> str:
    """The name of a game; a run means the game that it has learned."""
    from zerosum.play.choice import game_named

    return game_named(word)


GameArgument = Annotated[
    str, typer.Argument(callback=require_game_name, help=f"{GAME_HELP} A run means its game.", show_default=False)
]
Position = Annotated[str, typer.Option(help="A position in the game's notation, instead of the initial one.")]
WHO_HELP = f"A run or checkpoint (its path, or a run's name), or a game, {GAME_AS_PLAYER} (`bundled/GAME`)."
RUN_HELP = "A run (its path or its name), or a game, for its newest run."
PLAYER_HELP = f"{WHO_HELP} Or `rollouts@1000`. By default {DEFAULT_PLAYER}."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=WHO_HELP, show_default=False)]
PlayerGame = Annotated[
    str,
    typer.Option(
        callback=require_game_name, help="The game, if the player does not name it, or its file, if it has moved."
    ),
]
Simulations = Annotated[
    int | None, typer.Option("--simulations", "-n", min=1, help="Simulations per move; the run's own by default.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting as `section.name=value`; may be repeated.", show_default=False),
]
RatedSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--player", metavar="NAME=VALUE", help="A setting of the player, as in `match --each`.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print only the figures, one JSON object per line.")]


def seed_option(keys: str) -> Any:
    """A seed within the bounds of `training.seed`; the help does not print a bound of 19 digits."""
    return typer.Option(min=0, callback=_require_seed, help=f"Keys {keys}.")


def _require_seed(seed: int | None) -> int | None:
    if seed is not None and seed >= 1 << 63:
        raise typer.BadParameter(f"{seed} is too large: a seed is below 2**63.")
    return seed


def require_pairs_option(games: int) -> int:
    """Check a `--games` for which every opening is played from both sides."""
    from zerosum.arena import require_pairs

    require_pairs("--games", games)
    return games


def require_target(file: Path, suffix: str = "") -> None:
    """Refuse a file to write that is a folder or whose folder does not exist, and to replace one of another suffix."""
    from zerosum.base.errors import SettingsError

    if not file.absolute().parent.is_dir():
        raise SettingsError(f"the folder {file.absolute().parent} does not exist: make it, or name another file.")
    if file.is_dir():
        raise SettingsError(f"{file} is a folder: name a file in it.")
    if file.exists() and suffix not in ("", file.suffix.lower()):
        raise SettingsError(f"{file} exists and does not end in {suffix}, so it stays as it is: name another file.")


def leave_at_signal(stopped: signal.Signals | None) -> None:
    """End the command with 128 plus the number of the signal that stopped its work, as a shell reports it."""
    if stopped is not None:
        raise typer.Exit(128 + stopped)


def say(sentence: str) -> None:
    """Print a message on standard error, beside the result."""
    print(sentence, file=sys.stderr)


def has_colours() -> bool:
    """Whether the output is a terminal with colours, and NO_COLOR is not set (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def refuse(sentence: str, options: dict[str, object]) -> None:
    """Raise SettingsError with the sentence if any of the options is given."""
    from zerosum.base.errors import SettingsError

    if given := [name for name, value in options.items() if value not in (None, "", []) and value is not False]:
        raise SettingsError(f"{sentence}: leave out {', '.join(given)}.")

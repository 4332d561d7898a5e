"""The arguments and options that several commands take, and what all of them say in the same way."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

GAME_HELP = (
    "A game's name (`connect4`), options in brackets (`'connect4(max_plies=30)'`), or your own as `path.py:Class`."
)
GameArgument = Annotated[str, typer.Argument(help=GAME_HELP, show_default=False)]
Position = Annotated[str, typer.Option(help="A position as people write it, instead of the initial one.")]
WHO_HELP = "A run or checkpoint (its path, or a run's name), or a game, whose newest run is meant."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=WHO_HELP, show_default=False)]
PlayerGame = Annotated[
    str, typer.Option(help="The game, where the player does not say it, or its file, where that has moved.")
]
Simulations = Annotated[
    int | None, typer.Option("--simulations", "-n", min=1, help="Simulations a move; the run's own if not given.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting as `section.name=value`; may be repeated.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print the figures alone, one JSON object a line.")]


def seed_option(keys: str) -> Any:
    """A seed within the bounds of `training.seed`; the help does not print a bound of 19 digits."""
    return typer.Option(min=0, callback=_require_seed, help=f"Keys {keys}.")


def _require_seed(seed: int | None) -> int | None:
    if seed is not None and seed >= 1 << 63:
        raise typer.BadParameter(f"{seed} is too large: a seed is below 2**63.")
    return seed


def require_pairs_option(games: int) -> int:
    """`--games`, where every opening is played from both sides."""
    from zerosum.arena import require_pairs

    require_pairs("--games", games)
    return games


def say(sentence: str) -> None:
    """What happens meanwhile, beside the answer."""
    print(sentence, file=sys.stderr)


def has_colours() -> bool:
    """Whether the output is a terminal that shows colours, and nobody asked for none (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def refuse(sentence: str, options: dict[str, object]) -> None:
    """Raise SettingsError, with the sentence, for those options that are given."""
    from zerosum.base.errors import SettingsError

    if given := [name for name, value in options.items() if value not in (None, "", []) and value is not False]:
        raise SettingsError(f"{sentence}: leave out {', '.join(given)}.")

"""Games to learn from that a run did not play itself: `generate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.matches import Concurrency, Draw
from zerosum.cli.words import GameArgument, require_pairs_option, say, seed_option


@app.command(
    epilog="Example: `zerosum generate chess --first stockfish --set nodes=1000 --set option.Threads=1 --games 20000"
    " --run runs/stockfish`, then `zerosum train chess --run runs/stockfish --from-records`"
)
def generate(
    game: GameArgument,
    first: Annotated[
        str, typer.Option(help="A player as `match` takes it: an engine, a run, `rollouts@100`.", show_default=False)
    ],
    run: Annotated[
        Path, typer.Option(help="The run directory, new or there: games lie in its `records`.", show_default=False)
    ],
    second: Annotated[str, typer.Option(help="The opponent; the same as the first if not given.")] = "",
    games: Annotated[
        int,
        typer.Option(
            min=2,
            callback=require_pairs_option,
            help="Games, earlier ones of the same command included; each opening is played from both sides.",
        ),
    ] = 1000,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of both players, or with `first.` or `second.` before it of one; may be repeated:"
            " `nodes=1000`, `option.Threads=1`, as `match --each` has them.",
            show_default=False,
        ),
    ] = None,
    openings: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="File of openings or `chess-human`, as `match` takes it, in random order; random moves if not given.",
            show_default=False,
        ),
    ] = "",
    opening_plies: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Most random plies that open a game, 8 by default; there are 0 to so many. With --openings, most plies"
            " of an opening.",
            show_default=False,
        ),
    ] = None,
    draw: Draw = "",
    exact_nodes: Annotated[
        bool,
        typer.Option(
            "--exact-nodes",
            metavar="",
            help="Give each move just the nodes that are set. Without it they are up to a half more or less, so that"
            " games differ.",
        ),
    ] = False,
    concurrency: Concurrency = None,
    seed: Annotated[int, seed_option("openings and numbers of nodes")] = 0,
) -> None:
    """Have engines play games to learn from, with their evaluations; the same command goes on after a stop."""
    from zerosum.play.contestants import Entry
    from zerosum.run.generation import GenerationSettings, generate_games

    settings = GenerationSettings(games, openings, opening_plies, draw, exact_nodes, concurrency, seed)
    entries = [
        Entry.parse(word, [value for text in set_ or [] if (value := _setting_of(side, text)) is not None])
        for side, word in (("first", first), ("second", second or first))
    ]
    counts = generate_games(game, entries[0], entries[1], run, settings, say=say)
    print(counts)
    if counts.is_interrupted:
        say("Interrupted: the same command goes on.")
        raise typer.Exit(130)


def _setting_of(side: str, text: str) -> str | None:
    """The setting without its side; None if it is the other one's."""
    before, dot, rest = text.partition(".")
    return text if not dot or before not in ("first", "second") else rest if before == side else None

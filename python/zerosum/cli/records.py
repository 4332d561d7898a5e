"""The command that has engines play games to learn from: `generate`."""

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
        Path,
        typer.Option(
            help="The run, new or existing, by directory or name; the games go to its `records`.", show_default=False
        ),
    ],
    second: Annotated[str, typer.Option(help="The opponent; the same as the first if not given.")] = "",
    games: Annotated[
        int,
        typer.Option(
            min=2,
            callback=require_pairs_option,
            help="Games, including earlier ones of the same command; each opening is played from both sides.",
        ),
    ] = 1000,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of both players, or of one with the prefix `first.` or `second.`; may be repeated:"
            " `nodes=1000`, `option.Threads=1`, as in `match --each`.",
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
            help="Most random plies that open a game, 8 by default; drawn per game. With --openings, most plies of an"
            " opening.",
            show_default=False,
        ),
    ] = None,
    draw: Draw = "",
    exact_nodes: Annotated[
        bool,
        typer.Option(
            "--exact-nodes",
            metavar="",
            help="Give each move exactly the set nodes. Without it they are up to a half more or less, so that"
            " games differ.",
        ),
    ] = False,
    line_temperature: Annotated[
        float,
        typer.Option(
            help="Temperature of the policy targets of an engine that compares several moves (--set option.MultiPV=4):"
            " the difference of values at which a move has 1 / e of the best one's share.",
        ),
    ] = 0.1,
    concurrency: Concurrency = None,
    seed: Annotated[int, seed_option("openings and numbers of nodes")] = 0,
) -> None:
    """Have engines play games to learn from, with their evaluations; the same command continues after a stop."""
    from zerosum.play.entries import Entry
    from zerosum.play.runs import run_to_write
    from zerosum.run.generation import GenerationSettings, generate_games

    settings = GenerationSettings(
        games, openings, opening_plies, draw, exact_nodes, concurrency, seed, line_temperature
    )
    entries = [
        Entry.parse(word, [value for text in set_ or [] if (value := _setting_of(side, text)) is not None])
        for side, word in (("first", first), ("second", second or first))
    ]
    counts = generate_games(game, entries[0], entries[1], run_to_write(run), settings, say=say)
    print(counts)
    if counts.is_interrupted:
        say("Interrupted: the same command resumes it.")
        raise typer.Exit(130)


def _setting_of(side: str, text: str) -> str | None:
    """The setting without its side; None if it belongs to the other side."""
    before, dot, rest = text.partition(".")
    return text if not dot or before not in ("first", "second") else rest if before == side else None

"""The command that measures the speed of this machine: `bench`."""

from __future__ import annotations

from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.progress import Countdown
from zerosum.cli.words import Json, Overrides


@app.command(epilog="Example: `zerosum bench search --game connect4 --seconds 5 --json`")
def bench(
    name: Annotated[
        str,
        typer.Argument(
            help="`rules`, `search`, `batches`, `evaluator`, `selfplay`, `train` or `analyse`.", show_default=False
        ),
    ],
    game: Annotated[str, typer.Option(help="A game's name, or your own as `path.py:Class`.")] = "connect4",
    seconds: Annotated[float, typer.Option(min=0.1, help="About how long to measure.")] = 5.0,
    set_: Overrides = None,
    vs: Annotated[
        str | None,
        typer.Option(
            metavar="PEER",
            help="With `search`: `openspiel` or `mctx`, which does the same work in alternation.",
            show_default=False,
        ),
    ] = None,
    peer_python: Annotated[
        str | None,
        typer.Option(metavar="PYTHON", help="The Python that has the peer; this one by default.", show_default=False),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            metavar="none",
            help="With `selfplay`: measure its own cost, with an evaluator that costs nothing.",
            show_default=False,
        ),
    ] = None,
    perft: Annotated[
        bool,
        typer.Option(
            "--perft",
            metavar="",
            help="With `rules`: count the game's perft table again, in full; exit status 1 if a number differs.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Measure how fast this machine plays by the rules, searches, evaluates, plays games, learns and analyses."""
    from zerosum.bench import run_bench

    if perft:
        _check_perft(name, game, json)
        return

    figures = run_bench(
        name, game, seconds=seconds, overrides=set_ or [], vs=vs, peer_python=peer_python, evaluator=evaluator
    )
    with Countdown(f"bench {name}", seconds) as countdown:
        for figure in figures:
            countdown.clear()
            print(figure.json() if json else figure)


def _check_perft(bench: str, game: str, json: bool) -> None:
    from zerosum.base.errors import SettingsError
    from zerosum.games import make
    from zerosum.games.perft import check_perft

    if bench != "rules":
        raise SettingsError(f"--perft goes with the bench 'rules', not {bench!r}.")
    wrong = 0
    for check in check_perft(make(game)):
        print(check.json() if json else check)
        wrong += not check.is_right
    if wrong:
        raise typer.Exit(1)

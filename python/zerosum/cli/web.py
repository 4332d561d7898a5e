"""The command that serves pages to a browser: `web`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.words import say


@app.command(epilog="Example: `zerosum web runs/connect4`")
def web(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Runs, directories of runs, and checkpoints that the page may use; all runs by default.",
            show_default=False,
        ),
    ] = None,
    game: Annotated[
        list[str] | None,
        typer.Option(
            help="A game of your own as `path.py:Class`, or one of OpenSpiel as `openspiel:NAME`; may be repeated.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 for any free one.")] = 8765,
    host: Annotated[
        str, typer.Option(help="Address to listen at. Any other than this computer's own requires a token.")
    ] = "127.0.0.1",
    open_: Annotated[bool, typer.Option("--open", metavar="", help="Open the page in the browser.")] = False,
    train: Annotated[
        bool,
        typer.Option(
            "--train",
            metavar="",
            help="Let the page start, continue and stop trainings. Without RUN it makes the directory of runs.",
        ),
    ] = False,
    tour: Annotated[
        bool,
        typer.Option(
            "--tour",
            metavar="",
            help="Open a tour in the browser: learn Connect Four for two minutes and see what was learned."
            " With --train.",
        ),
    ] = False,
    simulations: Annotated[int, typer.Option(min=1, max=1 << 24, help="Most simulations of a search.")] = 100_000,
    seconds: Annotated[float, typer.Option(min=0.1, max=86400, help="Most seconds of a search.")] = 60.0,
    memory: Annotated[int, typer.Option(min=1, max=1 << 20, help="Most mebibytes of a search's tree.")] = 128,
    visitors: Annotated[int, typer.Option(min=1, max=1000, help="Most pages open at a time.")] = 64,
) -> None:
    """Play, analyse, watch a search and watch runs, in a browser."""
    from zerosum.base.errors import GameError, SettingsError

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise SettingsError(
            f"the web pages need the package {error.name}, which is not installed: pip install 'zerosum[web]'."
        ) from None
    from zerosum.play.bundled import is_bundled, require_network
    from zerosum.play.runs import network_at, runs_directory
    from zerosum.web.library import Library, own_game_of
    from zerosum.web.limits import Limits
    from zerosum.web.server import new_house, serve

    usual, train = runs_directory(), train or tour
    if train and not runs:
        try:
            usual.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                f"the directory of runs {usual.absolute()} cannot be made: {error.strerror or error}. Make it, or name"
                " another one in ZEROSUM_RUNS."
            ) from None
    paths = [require_network(word) for word in runs] if runs else [usual] if usual.is_dir() else []
    paths = [path for path in paths if not is_bundled(path)]  # the pages offer every bundled network
    for path in paths:
        if path.is_file():
            network_at(path)  # raises for a file that is not a checkpoint
    own_games = dict.fromkeys(game or [])
    for path in paths:
        try:
            own_games |= dict.fromkeys([name] if (name := own_game_of(path)) and path.is_dir() else [])
        except GameError as error:  # the page shows the run, but not its games
            say(str(error))
    limits = Limits(simulations=simulations, seconds=seconds, memory_mib=memory, visitors=visitors)
    house = new_house(Library(paths, list(own_games), limits), may_train=train)
    serve(
        house,
        host=host,
        port=port,
        opens_browser=open_ or tour,
        page="tour" if tour else "",
        say=lambda text: print(text, file=sys.stdout, flush=True),
    )

"""Commands about what runs learned: `report`, `plot`, `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.words import RUN_HELP, require_pairs_option, require_target, say, seed_option

Runs = Annotated[list[str], typer.Argument(help=f"One or more. {RUN_HELP}", show_default=False)]


@app.command(epilog="Example: `zerosum report runs/connect4 --out report.html`")
def report(
    runs: Runs,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The HTML file to write.")] = Path("report.html"),
    quick: Annotated[
        bool, typer.Option("--quick", metavar="", help="Read files only, without probing checkpoints: a second or two.")
    ] = False,
) -> None:
    """Write one HTML page about the learning of runs, with pictures and without a server."""
    from zerosum.base.errors import printable
    from zerosum.play.runs import require_run
    from zerosum.report.page import write_page

    require_target(out, ".html")
    for finding in write_page([require_run(run) for run in runs], out, has_probes=not quick, say=say):
        print(printable(finding.text))
    print(f"The page is {out}: open it in a browser.")


@app.command(epilog="Example: `zerosum plot runs/one runs/two --out curves.png`")
def plot(
    runs: Runs,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write: SVG, PNG or PDF.")] = Path("curves.svg"),
) -> None:
    """Draw the learning curves of runs: strength, losses, and mistakes in solved positions."""
    from zerosum.play.runs import require_run
    from zerosum.report.curves import curves

    require_target(out)
    curves(*map(require_run, runs)).save(out)
    print(f"{out} has the curves.")


@app.command(epilog="Example: `zerosum compare runs/one runs/two --games 100 --out compare.html`")
def compare(
    runs: Annotated[list[str], typer.Argument(help=f"Two or more. {RUN_HELP}", show_default=False)],
    games: Annotated[
        int,
        typer.Option(
            min=0,
            callback=require_pairs_option,
            help="Games of the first run's newest checkpoint against that of each other; 0 for none.",
        ),
    ] = 40,
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-n", min=1, help="Simulations per move; each run's own by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="HTML file for the curves in one plot.", show_default=False)
    ] = None,
    seed: Annotated[int, seed_option("openings")] = 0,
) -> None:
    """Compare runs: their settings, their curves in one plot, and a match between them.

    Runs that differ only in their seeds are a group, and groups are compared by their means, with intervals.
    """
    from zerosum.play.runs import require_run
    from zerosum.report.comparison import compare_runs

    if out is not None:
        require_target(out, ".html")
    paths = [require_run(run) for run in runs]
    compare_runs(paths, num_games=games, num_simulations=simulations, out=out, seed=seed, write=print, say=say)

"""Commands about what runs learned: `report`, `plot`, `compare`, `compare-searches`, `study`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from zerosum.cli.application import app
from zerosum.cli.words import RUN_HELP, RunArgument, require_pairs_option, require_target, say, seed_option

Number = TypeVar("Number", int, float)
STUDIES = (
    "nim",
    "parts",
    "thinking-time",
    "diversity",
    "learned-when",
    "piece-values",
    "ablations",
    "stability",
    "one-network",
)
Runs = Annotated[list[str], typer.Argument(help=f"One or more. {RUN_HELP}", show_default=False)]


@app.command(epilog="Example: `zerosum report runs/connect4 --out report.html`")
def report(
    runs: Runs,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The HTML file to write.")] = Path("report.html"),
    quick: Annotated[
        bool, typer.Option("--quick", metavar="", help="Read files only, without probing checkpoints: a second or two.")
    ] = False,
    simulations: Annotated[
        int,
        typer.Option(
            min=100, max=1_000_000, help="Simulations of the search whose tree is drawn after 100, 1,000, … of them."
        ),
    ] = 10_000,
) -> None:
    """Write one HTML page about the learning of runs, with pictures and without a server."""
    from zerosum.base.errors import printable
    from zerosum.play.runs import require_run
    from zerosum.report.page import write_page

    require_target(out, ".html")
    paths = [require_run(run) for run in runs]
    for finding in write_page(paths, out, has_probes=not quick, most_simulations=simulations, say=say):
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


@app.command(
    "compare-searches",
    epilog="Example: `zerosum compare-searches runs/chess --games 40 --evaluations 1000 --out searches.json`",
)
def compare_searches(
    run: RunArgument,
    games: Annotated[int, typer.Option(min=2, callback=require_pairs_option, help="Games of each match.")] = 100,
    evaluations: Annotated[int, typer.Option(min=1, help="Evaluations of a move at factor 1.")] = 400,
    seconds: Annotated[float, typer.Option(min=0.01, help="Seconds of a move at factor 1.")] = 0.05,
    factors: Annotated[str, typer.Option(help="Factors of both, with commas between.")] = "1,3,10,30",
    noise: Annotated[
        str, typer.Option(help="Deviations of a fixed error on each position's value, with commas between.")
    ] = "0.1,0.2,0.4",
    seed: Annotated[int, seed_option("openings and errors")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="File of the results. The same command continues a stopped comparison.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compare tree search with alpha-beta, both with the network of a run: equal evaluations, equal time, errors."""
    from zerosum.play.bundled import require_network
    from zerosum.play.player import load_player
    from zerosum.report.search_comparison import compare_searches as compare_both

    if out is not None:
        require_target(out, ".json")
    compare_both(
        load_player(require_network(run)),
        num_games=games,
        evaluations=evaluations,
        seconds=seconds,
        factors=_numbers("--factors", factors, int),
        noises=_numbers("--noise", noise, float),
        seed=seed,
        out=out,
        write=say,
    )


@app.command(epilog="Example: `zerosum study nim --heaps 6 --seeds 3 --out studies/nim6`")
def study(
    name: Annotated[
        str, typer.Argument(help=f"The study: {', '.join(STUDIES)} (docs/studies.md).", show_default=False)
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GAME] [RUN]", help=f"What it is about, if it takes one. {RUN_HELP}", show_default=False
        ),
    ] = None,
    games: Annotated[
        int | None, typer.Option(min=1, help="Games of each training or match.", show_default=False)
    ] = None,
    simulations: Annotated[
        int | None, typer.Option("--simulations", "-n", min=1, help="Simulations per move.", show_default=False)
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Trainings of each kind.", show_default=False)] = None,
    minutes: Annotated[float | None, typer.Option(help="CPU-minutes of each training.", show_default=False)] = None,
    heaps: Annotated[int | None, typer.Option(help="Heaps of Nim, 5 by default.", show_default=False)] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this variant of the trainings, or several with commas between; may be repeated.",
            show_default=False,
        ),
    ] = None,
    opponent: Annotated[
        str, typer.Option(metavar="PLAYER", help="The opponent, as in `match`.", show_default=False)
    ] = "",
    seed: Annotated[int, seed_option("openings and sampled moves")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory of the results and the page, `studies/NAME` by default. The same command continues a"
            " stopped study.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make an experiment that answers one question, with a figure and a conclusion from its data."""
    from zerosum.report.studies.catalogue import study_of
    from zerosum.report.studies.study import run_study
    from zerosum.report.studies.words import StudyWords

    words = StudyWords(
        names=tuple(names or ()),
        games=games,
        simulations=simulations,
        seeds=seeds,
        minutes=minutes,
        heaps=heaps,
        variants=tuple(word.strip() for words in variant or () for word in words.split(",")),
        opponent=opponent,
        seed=seed,
    )
    if not run_study(study_of(name, words), out or Path("studies") / name, write=print, say=say):
        raise typer.Exit(130)


def _numbers(option: str, text: str, kind: Callable[[str], Number]) -> list[Number]:
    from zerosum.base.errors import SettingsError, shown

    try:
        return [kind(word) for word in text.split(",") if word.strip()]
    except ValueError:
        raise SettingsError(f"{option} is {shown(text)}, expected numbers with commas between.") from None

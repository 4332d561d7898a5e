"""The command that measures the speed of this machine: `bench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.progress import Countdown
from zerosum.cli.words import Json, Overrides

GAME, SECONDS = "connect4", 5.0


@app.command(epilog="Example: `zerosum bench search --game connect4 --seconds 5 --json`")
def bench(
    name: Annotated[
        str,
        typer.Argument(
            help="`rules`, `search`, `batches`, `evaluator`, `selfplay`, `train`, `analyse`, `alphabeta` or `gpu`.",
            show_default=False,
        ),
    ],
    game: Annotated[str, typer.Option(help="A game's name, or your own as `path.py:Class`.")] = GAME,
    seconds: Annotated[float, typer.Option(min=0.1, help="About how long to measure.")] = SECONDS,
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
            metavar="DEVICE",
            help="With `selfplay` and `analyse`: a simulated GPU, such as `simulated:h100-chess-20x256` or"
            " `simulated:latency=0.8,rate=140000`. With `selfplay` also `none`: its own cost, without a network.",
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
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="With `gpu`: the file of the results; beside it FILE.md has them as a page.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="SECTIONS",
            help="With `gpu`: `evaluator`, `selfplay`, `learner`, `analyse` or `train`, several with commas between.",
            show_default=False,
        ),
    ] = "",
    device: Annotated[
        str | None,
        typer.Option(
            help="With `gpu`: the GPU, such as `cuda:1`; `cpu` or `simulated` try the command with tiny networks.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Measure how fast this machine plays by the rules, searches, evaluates, plays games, learns and analyses.

    `gpu` measures all figures of one GPU in at most eight minutes, and says which of them miss their goals.
    """
    from zerosum.bench import run_bench

    others = {"--vs": vs, "--peer-python": peer_python, "--evaluator": evaluator, "--perft": perft, "--set": set_}
    others |= {"--game": game != GAME, "--seconds": seconds != SECONDS}
    if name == "gpu":
        _bench_gpu([option for option, value in others.items() if value], out, only, device)
        return
    _require_none("the bench 'gpu'", name, {"--out": out, "--only": only, "--device": device})
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


def _bench_gpu(others: list[str], out: Path | None, only: str, device: str | None) -> None:
    from zerosum.base.errors import SettingsError
    from zerosum.bench.gpu import bench_gpu

    if others:
        raise SettingsError(f"{others[0]} does not go with the bench 'gpu', which has games and settings of its own.")
    if out is None:
        raise SettingsError("the bench 'gpu' writes its results to a file: add --out gpu.json.")
    sections = [section.strip() for section in only.split(",") if section.strip()]
    results = bench_gpu(out, only=sections, device=device or "auto", report=print)
    for row in results.short:
        print(f"not reached: {row.figure.game} {row.figure.metric}, goal {row.goal}, is {row.figure.value:.4g}")
    print(f"{results.verdict()} The results are in {out} and {out.with_suffix('.md')}.")


def _require_none(whose: str, name: str, options: dict[str, object]) -> None:
    from zerosum.base.errors import SettingsError

    for option, value in options.items():
        if value:
            raise SettingsError(f"{option} goes with {whose}, not {name!r}.")


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

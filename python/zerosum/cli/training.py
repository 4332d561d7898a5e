"""What learns: `train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.words import GameArgument, Overrides, seed_option


@app.command(epilog="Example: `zerosum train connect4 --run runs/mine --minutes 5 --set search.num_simulations=64`")
def train(
    game: GameArgument,
    run: Annotated[
        Path | None, typer.Option(help="The run directory; `runs/GAME` if not given. One that is there goes on.")
    ] = None,
    preset: Annotated[
        str, typer.Option(help="Settings to begin with, such as `connect4`; defaults fit the game's size.")
    ] = "",
    minutes: Annotated[
        float | None, typer.Option(help="The budget, 30 if not given. A larger one makes a finished run go on.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="The budget in learner steps, instead of minutes.")] = None,
    seed: Annotated[int | None, seed_option("every random draw of a new run")] = None,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            metavar="",
            help="A new run that repeats and resumes bit for bit on this machine; its budget is in --steps.",
        ),
    ] = False,
    set_: Overrides = None,
) -> None:
    """Learn a game from its rules alone, or go on with a run that stopped."""
    from zerosum.run.config import directory_name
    from zerosum.run.training import train as train_run

    directory = run or Path("runs") / directory_name(game)
    overrides = [
        *(set_ or []),
        *([] if steps is None else [f"training.steps={steps}"]),
        *(["training.deterministic=true"] if deterministic else []),
    ]
    train_run(game, directory, preset=preset, minutes=minutes, seed=seed, overrides=overrides)

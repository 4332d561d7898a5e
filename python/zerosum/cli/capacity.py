"""The command that plans a training: `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.training import PRESETS
from zerosum.cli.words import GAME_HELP, Json, Overrides


@app.command(epilog="Example: `zerosum plan connect4 --preset connect4 --minutes 60`")
def plan(
    game: Annotated[str, typer.Argument(help=GAME_HELP, show_default=False)],
    preset: Annotated[
        str, typer.Option(help=f"The settings: {', '.join(PRESETS)}. Without a preset, the game's defaults.")
    ] = "",
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Figures of another machine: what `zerosum bench` prints there with --json. By default this machine"
            " is measured.",
            show_default=False,
        ),
    ] = None,
    price: Annotated[
        float | None, typer.Option(min=0.0, help="Price of the machine for an hour.", show_default=False)
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Another budget, in minutes.", show_default=False)] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Another budget, in learner steps.", show_default=False)
    ] = None,
    set_: Overrides = None,
    json: Json = False,
) -> None:
    """Estimate how long a training takes at measured rates, beside the paper's own runs."""
    from zerosum.run.capacity.plan import plan_training

    print(
        plan_training(
            game,
            preset,
            figures=figures,
            price=price,
            minutes=minutes,
            overrides=[*(set_ or []), *([] if steps is None else [f"training.steps={steps}"])],
            as_json=json,
        )
    )

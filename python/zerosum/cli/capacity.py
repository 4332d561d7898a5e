"""The command that plans a training: `plan`."""

from __future__ import annotations

from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.training import PRESETS
from zerosum.cli.words import GAME_HELP, Json, Overrides


@app.command(epilog="Example: `zerosum plan paper --game chess --gpus 8 --cpus 64 --gpu h100 --price 20`")
def plan(
    preset: Annotated[
        str,
        typer.Argument(help=f"The settings: {', '.join(PRESETS)}, or the defaults of the game.", show_default=False),
    ] = "",
    game: Annotated[str, typer.Option(help=f"{GAME_HELP} The preset's game by default.", show_default=False)] = "",
    gpus: Annotated[int, typer.Option(min=0, help="GPUs of a machine.")] = 0,
    cpus: Annotated[
        int | None,
        typer.Option(
            min=1, help="Cores of a machine; by default 8 for each GPU, or this one's without GPUs.", show_default=False
        ),
    ] = None,
    gpu: Annotated[str, typer.Option(help="The kind of GPU: a100, h100, l4, rtx4090 or t4.")] = "a100",
    machines: Annotated[int, typer.Option(min=1, help="Number of machines.")] = 1,
    learners: Annotated[
        int | None,
        typer.Option(min=1, help="Devices that learn; `learner.num_devices` by default.", show_default=False),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option("--measure", metavar="", help="Measure this machine for --seconds, instead of recorded figures."),
    ] = False,
    seconds: Annotated[float, typer.Option(min=1.0, help="Duration of the measurements.")] = 12.0,
    price: Annotated[
        float | None, typer.Option(min=0.0, help="Price of a machine for an hour.", show_default=False)
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="Another budget, in minutes.", show_default=False)] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Another budget, in learner steps.", show_default=False)
    ] = None,
    set_: Overrides = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(help="An assumption as `name=value`; may be repeated.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Estimate how long a training takes on given machines, what limits it and what it costs."""
    from zerosum.capacity.command import plan_training

    print(
        plan_training(
            preset,
            game,
            gpus=gpus,
            cpus=cpus,
            gpu=gpu,
            num_machines=machines,
            num_learners=learners,
            seconds=seconds if measure else None,
            price=price,
            minutes=minutes,
            overrides=[*(set_ or []), *([] if steps is None else [f"training.steps={steps}"])],
            assume=assume or [],
            as_json=json,
        )
    )

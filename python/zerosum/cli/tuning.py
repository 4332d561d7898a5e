"""The command that tunes search settings: `tune`."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.words import Json, RunArgument, Simulations, require_pairs_option, say, seed_option


@app.command(
    epilog="Example: `zerosum tune runs/connect4 --set c_init=0.5:6 --trials 30 --games 100`; the same with more"
    " `--trials` continues"
)
def tune(
    run: RunArgument,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=LOW:HIGH",
            help="A number of the section [search] and its range; may be repeated. By default c_init, c_factor and"
            " unvisited_reduction.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, max=999, help="Proposed settings, including earlier ones.")] = 30,
    games: Annotated[
        int,
        typer.Option(min=2, callback=require_pairs_option, help="Games of each proposal against the run's settings."),
    ] = 100,
    confirm: Annotated[
        int, typer.Option(min=2, callback=require_pairs_option, help="Games of the best proposal, with other openings.")
    ] = 400,
    simulations: Simulations = None,
    opening_plies: Annotated[int, typer.Option(min=0, help="Random plies that open each pair of games.")] = 4,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the tuning; `tuning` in the run by default.", show_default=False),
    ] = None,
    seed: Annotated[int, seed_option("proposals and openings")] = 0,
    json: Json = False,
) -> None:
    """Tune a run's search settings by matches (Bayesian optimisation); the same command continues."""
    from zerosum.arena.tuning import TuningSettings, numbers, tune_player, tuned_settings, verdict
    from zerosum.arena.tuning import tune as tune_search
    from zerosum.base.errors import SettingsError
    from zerosum.play.bundled import is_bundled, require_network

    path = require_network(run)
    if out is None and (is_bundled(path) or not path.is_dir()):
        raise SettingsError(f"{path} is not a run directory: name a folder for the tuning with --out.")
    game, player = tune_player(path, num_simulations=simulations)
    settings = TuningSettings(tuned_settings(set_ or [], player.search), trials, games, confirm, opening_plies, seed)
    directory = out or path / "tuning"
    say(f"{path} plays against its own settings with {player.num_simulations} simulations a move, in {directory}.")
    found = tune_search(game, player, settings, directory, say=say)
    if found.is_interrupted:
        say("Interrupted: the same command continues.")
        raise typer.Exit(130)
    print(json_.dumps(numbers(found)) if json else verdict(found))

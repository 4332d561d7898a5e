"""Commands about one run: `evaluate`, `info`, `clean`, `export`, `trust`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.progress import Progress
from zerosum.cli.words import (
    WHO_HELP,
    Json,
    PlayerGame,
    RunArgument,
    Simulations,
    require_pairs_option,
    require_target,
    seed_option,
)


@app.command(epilog="Example: `zerosum evaluate runs/connect4 --games 0 --positions 1000 --simulations 600`")
def evaluate(
    run: RunArgument,
    game: PlayerGame = "",
    games: Annotated[
        int, typer.Option(min=0, callback=require_pairs_option, help="Games against each opponent; 0 for none.")
    ] = 100,
    positions: Annotated[
        int, typer.Option(min=0, help="Positions of each solved set, if the game has them; 0 for none.")
    ] = 200,
    simulations: Simulations = None,
    table: Annotated[
        str, typer.Option(help="File of `zerosum tables`: draw solved positions from it.", show_default=False)
    ] = "",
    seed: Annotated[int, seed_option("openings, random play and the choice of positions")] = 0,
    json: Json = False,
) -> None:
    """Measure a run's newest checkpoint against fixed opponents and in solved positions, and show a game."""
    from zerosum.play.bundled import require_network
    from zerosum.run.report import evaluate as evaluate_run
    from zerosum.run.report import silent

    with Progress("game") as progress:

        def write(line: str) -> None:
            progress.clear()
            print(line)

        evaluate_run(
            require_network(run),
            game=game,
            num_games=games,
            num_positions=positions,
            num_simulations=simulations,
            table_files=table,
            seed=seed,
            write=silent if json else write,
            write_json=write if json else silent,
            on_game=progress.tell,
        )


@app.command(epilog="Example: `zerosum probe runs/tictactoe --worst 3`")
def probe(
    run: RunArgument,
    game: PlayerGame = "",
    simulations: Annotated[
        list[int] | None,
        typer.Option(
            "--simulations",
            "-n",
            min=1,
            help="Simulations of a search; may be repeated; 1, 10, 100, 800 by default.",
        ),
    ] = None,
    syzygy: Annotated[
        str, typer.Option(help="Folder of Syzygy tables: take positions of chess endings.", show_default=False)
    ] = "",
    table: Annotated[
        str, typer.Option(help="File of `zerosum tables`: take positions from it.", show_default=False)
    ] = "",
    endings: Annotated[
        list[str] | None,
        typer.Option(
            "--ending",
            help="An ending of the tables, such as KRPvKR; may be repeated; for Syzygy KQvK, KRvK, KPvK, KBNvK by"
            " default, else those that the table was made for.",
        ),
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="Blind spots to show.")] = 5,
    seed: Annotated[int, seed_option("the positions that are searched or drawn")] = 0,
    json: Json = False,
) -> None:
    """Find blind spots: solved positions in which the network alone errs, and whether its search repairs them."""
    from json import dumps

    from zerosum.base.errors import SettingsError
    from zerosum.play.bundled import require_network
    from zerosum.play.player import load_player
    from zerosum.report.blind_spots import SIMULATIONS, ExactPosition, exact_positions, probe_blind_spots, records_of
    from zerosum.run.exact_endings import USUAL_ENDINGS, ending_positions
    from zerosum.run.table_positions import table_sets

    path = require_network(run)
    player = load_player(path, game=game or None)
    positions = list[ExactPosition]()
    if syzygy and table:
        raise SettingsError("--syzygy and --table both name tables: leave out one of the two.")
    if syzygy:
        found_positions = ending_positions(player.game, syzygy, endings or USUAL_ENDINGS, seed=seed)
        positions = [ExactPosition(*position) for position in found_positions]
    elif table:
        positions = exact_positions(player.game, table_sets(player.game, table, endings or (), seed=seed))
    elif endings:
        raise SettingsError("--ending needs tables: name their folder by --syzygy, or a file by --table.")
    found = probe_blind_spots(
        player,
        records_of(path),
        positions=positions,
        simulations=sorted(set(simulations or SIMULATIONS)),
        num_worst=worst,
        seed=seed,
    )
    print(dumps(found.numbers()) if json else found.text())


@app.command(epilog="Example: `zerosum info runs/connect4`")
def info(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help=f"{WHO_HELP} All runs by default.", show_default=False)
    ] = "",
    json: Json = False,
) -> None:
    """Describe a run, its progress and the strength of its checkpoints; or list the runs."""
    from zerosum.play.bundled import require_network
    from zerosum.play.runs import runs_directory
    from zerosum.run.report import describe, has_only_records, list_runs, silent

    if not run:
        list_runs(runs_directory(), write=silent if json else print, write_json=print if json else silent)
        return
    named = runs_directory() / run
    found = named if has_only_records(named) and not Path(run).exists() else require_network(run)
    describe(found, write=silent if json else print, write_json=print if json else silent)


@app.command(epilog="Example: `zerosum clean runs/connect4 --checkpoints 10 --dry-run`")
def clean(
    run: Annotated[str, typer.Argument(help="A run, by its path or its name.", show_default=False)],
    checkpoints: Annotated[int, typer.Option(min=1, help="Number of newest checkpoints that stay.")] = 5,
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Only list the files.")] = False,
) -> None:
    """Remove old checkpoints, sealed journals and damaged files of a run. Its games stay."""
    from zerosum.play.runs import run_to_write
    from zerosum.run.cleaning import clean as clean_run

    clean_run(run_to_write(Path(run)), num_checkpoints=checkpoints, is_dry=dry_run)


@app.command(epilog="Example: `zerosum export runs/connect4 net.onnx`")
def export(
    run: RunArgument,
    file: Annotated[Path, typer.Argument(help="The ONNX file to write.", show_default=False)],
    game: Annotated[
        str, typer.Option(help="The game, for a network of KataGo that is to play on its board.", show_default=False)
    ] = "",
) -> None:
    """Write a network as an ONNX file for other programs; its metadata names the game and the encoding."""
    from zerosum.games import make
    from zerosum.network import load_checkpoint
    from zerosum.network.description import require_encoder
    from zerosum.network.evaluators.onnx_graph import export as export_network
    from zerosum.play.bundled import require_network
    from zerosum.play.fit import rules_for

    require_target(file, ".onnx")
    rules = make(game) if game else None
    checkpoint = load_checkpoint(require_network(run), game=rules)
    if rules is not None:
        require_encoder(checkpoint.info, rules_for(checkpoint.info, rules).spec)
    export_network(checkpoint, file)
    print(f"{file}: the network of step {checkpoint.info.step:,} for {checkpoint.info.full_name}.")


@app.command(epilog="Example: `zerosum trust runs/dots`")
def trust(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run: its path, or its name.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Allow it without a question.")] = False,
) -> None:
    """Allow a run from elsewhere to use what it names: the program of its rules, and the network it begins with."""
    from zerosum.base.errors import DataError, printable
    from zerosum.play.runs import require_run
    from zerosum.run.trust import named_by

    directory = require_run(run)
    if not (directory / "config.toml").is_file():
        raise DataError(f"{directory} is not a run: expected a directory with a config.toml.")
    new = [named for named in named_by(directory) if not named.is_allowed]
    if not new:
        print(f"{directory} names nothing that needs your permission.")
        return
    for named in new:
        print(printable(named.sentence))
    if not yes:
        typer.confirm("Do you trust this, and may it be used on this machine?", abort=True)
    for note in filter(None, [named.allow() for named in new]):
        print(note)
    print("Allowed.")

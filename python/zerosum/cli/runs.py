"""Commands about one run: `evaluate`, `exam`, `probe`, `info`, `clean`, `export`, `trust`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.progress import Progress
from zerosum.cli.words import (
    DOUBTFUL,
    WHO_HELP,
    GameArgument,
    Json,
    PlayerGame,
    RatedSettings,
    RunArgument,
    Simulations,
    require_pairs_option,
    require_target,
    seed_option,
)

if TYPE_CHECKING:  # for a quick start of the command line
    from zerosum.run.exam import PartResult


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
    exam_positions: Annotated[
        int, typer.Option("--exam", min=0, help="Positions of each part of the game's `exam`, if it has one.")
    ] = 0,
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
            num_exam_tasks=exam_positions,
            table_files=table,
            seed=seed,
            write=silent if json else write,
            write_json=write if json else silent,
            on_game=progress.tell,
        )


@app.command(
    epilog="Example: `zerosum exam chess bundled/chess --failures failed.txt`, then `zerosum analyse failed.txt --game"
    " chess`"
)
def exam(
    game: GameArgument,
    player: Annotated[
        str, typer.Argument(help="The player, as in `match`. By default the game's network.", show_default=False)
    ] = "",
    has: RatedSettings = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="Only this part, such as `mate in 2`; may be repeated.", show_default=False),
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Positions of each part; 50 to 200 by default.", show_default=False),
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option(
            "--simulations",
            "-n",
            min=1,
            max=1 << 24,
            help="Simulations per move, 800 by default; an alpha-beta search visits 100 times as many positions.",
            show_default=False,
        ),
    ] = None,
    failures: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File (.txt) of the failed positions, for `analyse`.", show_default=False),
    ] = None,
    seed: Annotated[int, seed_option("the positions, and random play")] = 0,
    json: Json = False,
) -> None:
    """Examine a player of chess, shogi or 9x9 Go in positions that are made by rules and tables alone.

    Each part has a share of right answers that is wanted; the exit status is 3 if one is missed.
    """
    from zerosum.games import make
    from zerosum.run.exam import exam_of, named_parts, sit_exam
    from zerosum.run.exam.result import HEAD, require_failures_file, row, write_failures
    from zerosum.run.exam.sitting import examinee

    rules = make(game)
    parts = named_parts(exam_of(rules), part or ())
    if failures is not None:
        require_failures_file(failures)
        require_target(failures)
    contestant = examinee(player or game, has or (), rules, num_simulations=simulations)
    results: list[PartResult] = []
    with Progress("position") as progress:

        def tell(name: str, done: int, of: int) -> None:
            progress.tell(done, of, of_what=f"{name}: ")

        if not json:
            print(f"{contestant.name}\n{HEAD}")
        for result in sit_exam(rules, contestant, parts, num_tasks=positions, seed=seed, on_task=tell):
            progress.clear()
            print(result.json(contestant.name) if json else row(result))
            results.append(result)
    if failures is not None:
        write_failures(failures, results)
    if not all(result.is_passed for result in results):
        raise typer.Exit(DOUBTFUL)


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
    from zerosum.run.info import describe, has_only_records, list_runs
    from zerosum.run.report import silent

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
    file: Annotated[
        Path,
        typer.Argument(
            help="The ONNX file to write; for a MuZero network two, 'net.initial.onnx' and 'net.recurrent.onnx'.",
            show_default=False,
        ),
    ],
    game: Annotated[
        str, typer.Option(help="The game, for a network of KataGo that is to play on its board.", show_default=False)
    ] = "",
) -> None:
    """Write a network as an ONNX file for other programs; its metadata names the game and the encoding."""
    from zerosum.games import make
    from zerosum.network import load_checkpoint
    from zerosum.network.description import require_encoder
    from zerosum.network.evaluators.onnx_graph import export as export_network
    from zerosum.network.fit import rules_for
    from zerosum.play.bundled import require_network

    require_target(file, ".onnx")
    rules = make(game) if game else None
    checkpoint = load_checkpoint(require_network(run), game=rules)
    if rules is not None:
        require_encoder(checkpoint.info, rules_for(checkpoint.info, rules).spec)
    written = " and ".join(map(str, export_network(checkpoint, file)))
    print(f"{written}: the network of step {checkpoint.info.step:,} for {checkpoint.info.full_name}.")


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

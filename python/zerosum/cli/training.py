"""Commands that train and that import games: `train`, `import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zerosum.cli.application import app
from zerosum.cli.words import GAME_HELP, Overrides, leave_at_signal, say, seed_option

PRESETS = sorted(path.stem for path in (Path(__file__).parents[1] / "presets").glob("*.toml"))


@app.command(epilog="Example: `zerosum train connect4 --run runs/mine --minutes 5 --set search.num_simulations=64`")
def train(
    game: Annotated[str, typer.Argument(help=GAME_HELP, show_default=False)],
    run: Annotated[
        Path | None,
        typer.Option(help="The run, by directory or name, `runs/GAME` by default. An existing one continues."),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(help=f"Initial settings: {', '.join(PRESETS)}. Without a preset, defaults fit the game's size."),
    ] = "",
    minutes: Annotated[
        float | None, typer.Option(help="The budget, 30 by default. A larger one continues a finished run.")
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="The budget in learner steps, instead of minutes.")] = None,
    seed: Annotated[int | None, seed_option("every random draw of a new run")] = None,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            metavar="",
            help="Begin a run that repeats and resumes bit for bit on this machine; its budget is in --steps.",
        ),
    ] = False,
    from_records: Annotated[
        bool,
        typer.Option(
            "--from-records",
            metavar="",
            help="Learn from the games of `import` and `generate`, without playing.",
        ),
    ] = False,
    from_network: Annotated[
        str | None,
        typer.Option(
            metavar="NETWORK",
            help="Begin a new run with this network in place of random weights: the path of a run or of a checkpoint's"
            " JSON, or the name of a bundled network.",
        ),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Play the games on a Ray cluster: its address `host:port`, or `local` for one on this machine.",
        ),
    ] = "",
    verify: Annotated[
        bool, typer.Option("--verify", metavar="", help="Replay every game of the cluster through the rules.")
    ] = False,
    store: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Keep a copy of the run at `s3://BUCKET/PREFIX`, now and later; `none` ends this.",
        ),
    ] = "",
    repeat: Annotated[
        int,
        typer.Option(
            min=1, help="Number of runs RUN-1, RUN-2, … with successive seeds, to measure the influence of chance."
        ),
    ] = 1,
    set_: Overrides = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", metavar="", help="Print the settings and an estimate of the budget's work, without starting."
        ),
    ] = False,
) -> None:
    """Learn a game from its rules alone, or from records; or continue a run (name it or its store, not the game)."""
    from zerosum.base.errors import SettingsError, command_text
    from zerosum.games.names import GameName
    from zerosum.play.runs import run_to_write, runs_directory
    from zerosum.run.config import asked_settings
    from zerosum.run.dry_run import dry_run as print_plan
    from zerosum.run.given_game import recorded_game
    from zerosum.run.storage import fetch_run, is_url, store_name
    from zerosum.run.training import train as train_run

    if verify and not cluster:
        raise SettingsError("--verify is for the games of a cluster: give --cluster, or leave it out.")
    if from_network == "":
        raise SettingsError("--from-network is empty: name a network, or leave it out.")
    if store and repeat > 1:
        raise SettingsError("--store is for one run: leave out --repeat, or store each run by a command of its own.")
    name = GameName.parse(game)
    if is_url(game):
        run = run or runs_directory() / store_name(game)
        fetch_run(game, run, report=print)
        name = recorded_game(run)
    run = run and run_to_write(run)
    named = run_to_write(Path(str(name)))
    if run is None and (named / "config.toml").is_file() and (named == Path(str(name)) or not name.can_exist):
        run, name = named, recorded_game(named)
    directory = run or runs_directory() / name.directory
    overrides = [
        *(set_ or []),
        *([] if steps is None else [f"training.steps={steps}"]),
        *(["training.deterministic=true"] if deterministic else []),
        *(["training.source=records"] if from_records else []),
        *([] if from_network is None else [f"training.initial_network={from_network}"]),
        *(["cluster.verify=true"] if verify else []),
    ]
    if dry_run:
        asked = asked_settings(minutes=minutes, seed=seed, overrides=overrides)
        print_plan(name, directory, preset=preset, asked=asked)
        return
    if repeat == 1:
        stopped = train_run(
            name,
            directory,
            preset=preset,
            minutes=minutes,
            seed=seed,
            overrides=overrides,
            cluster=cluster,
            store=store,
        )
        leave_at_signal(stopped)
        return
    runs = [directory.with_name(f"{directory.name}-{number}") for number in range(1, repeat + 1)]
    for number, path in enumerate(runs):
        # An existing run keeps its seed.
        own = None if (path / "config.toml").exists() else (seed or 0) + number
        stopped = train_run(name, path, preset=preset, minutes=minutes, seed=own, overrides=overrides, cluster=cluster)
        leave_at_signal(stopped)
    print(f"All {repeat} runs together on one page: {command_text('report', *runs)}")


@app.command("import", epilog="Example: `zerosum import club.pgn servers/ --run runs/chess`")
def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            help="PGN, SGF, KIF, KI2, CSA or HCPE3 files, or the `.jsonl` of a match; a directory for all of these but"
            " matches in it, `-` for standard input.",
            show_default=False,
        ),
    ],
    run: Annotated[
        Path,
        typer.Option(
            help="The run, new or existing, by directory or name; the games go to its `records`.", show_default=False
        ),
    ],
    game: Annotated[
        str,
        typer.Option(help="The game of a new run, with options in brackets; that of the first record by default."),
    ] = "",
    format: Annotated[
        str, typer.Option(help="`pgn`, `sgf`, `kif`, `csa` or `hcpe3`; by name or content by default.")
    ] = "",
) -> None:
    """Import games of people or programs into a run, with results and evaluations, to learn from them."""
    from zerosum.play.runs import run_to_write
    from zerosum.run.game_import import import_games

    def progress(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    counts = import_games(
        files,
        run_to_write(run),
        game=game,
        format=format or None,
        complain=lambda sentence: say(f"zerosum: {sentence}"),
        report=say,
        progress=progress,
    )
    progress("")
    print(counts)
    if counts.num_failed_files or not (counts.num_games or counts.num_known):
        raise typer.Exit(2)

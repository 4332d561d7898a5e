"""The text of `zerosum info`: a run, a checkpoint or games to learn from, and the list of runs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError, ZerosumError, command_from_anywhere, command_text, counted, printable
from zerosum.base.files import require_own_files
from zerosum.games import Rules, make
from zerosum.network import Checkpoint, NetworkShape, load_checkpoint
from zerosum.network.checkpoint import DamagedCheckpointError, checkpoints_to_play, list_checkpoints, read_info
from zerosum.network.updatable import piece_values
from zerosum.network.weights import num_parameters
from zerosum.play.bundled import is_bundled, read_card
from zerosum.replay.shards import MANIFEST, read_manifest
from zerosum.run.config import RunConfig, load_config
from zerosum.run.config_words import budget_words, minutes_word, tower_words, train_text
from zerosum.run.core_use import mean_use
from zerosum.run.game_import import game_of_records
from zerosum.run.held_out import HeldOutFile, held_out_table
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.mistakes import Mistakes, mean_rate
from zerosum.run.report import Write, elo_json, figure_json, mistake_table, silent
from zerosum.run.run_directory import RECORDS
from zerosum.run.storage.mirror import NOTE as STORE_NOTE
from zerosum.run.storage.mirror import StoreNote
from zerosum.run.strength import Strength, player_name
from zerosum.selfplay.evaluation_learning import values_text

PROTOCOLS = {
    "chess": "uci",
    "chess960": "uci",
    "minichess": "uci",
    "shogi": "usi",
    "minishogi": "usi",
    "go": "gtp",
}
"""The protocol of the games that board programs know."""


def list_runs(runs: Path, *, write: Write = print, write_json: Write = silent) -> None:
    """List the runs in a directory, one line per run: its game, learner step and strength.

    Args:
        runs: The directory.
        write: Gets the text.
        write_json: Gets each run's step, as JSON.
    """
    found = sorted(run for run in runs.glob("*") if (run / "config.toml").exists() or has_only_records(run))
    if not found:
        write(f"There are no runs in {runs.absolute()}. To begin one: {command_text('train', 'connect4')}")
    for run in found:
        try:
            require_own_files(run)
            if has_only_records(run):
                write(printable(_records_text(run)))
                continue
            config, rows = load_config(run / "config.toml"), read_metrics(run / "metrics.csv")
        except ZerosumError as error:
            write(printable(f"{run}: {error}"))
            continue
        step, minutes = (rows[-1].step, rows[-1].minutes) if rows else (0, 0.0)
        newest = Strength(run, None, config)
        elo = f", Elo of step {newest.rated_steps[-1]:,} {newest.newest}" if newest.newest else ""
        unit = minutes_word(config.training)
        write(printable(f"{run}: {config.game}, step {step:,} after {minutes:.1f} {unit}{elo}"))
        write_json(figure_json("step", run=str(run), value=step))


def has_only_records(run: Path) -> bool:
    """Whether games were imported into or generated for a run, and nothing was trained yet."""
    has_more = (run / "config.toml").exists() or (run / "checkpoints").exists()
    return not has_more and (run / RECORDS / MANIFEST).is_file()


def _records_text(run: Path) -> str:
    shards = read_manifest(run / RECORDS).shards
    games, positions = sum(seal.num_games for seal in shards), sum(seal.num_positions for seal in shards)
    return (
        f"{run}: {counted(games, 'game')} of {game_of_records(run) or 'an unknown game'} to learn from,"
        f" {counted(positions, 'position')}; no training yet"
    )


def _describe_records(run: Path, write: Write, write_json: Write) -> None:
    shards = read_manifest(run / RECORDS).shards
    write(_records_text(run))
    train = command_text("train", game_of_records(run) or "GAME", "--run", run, "--from-records")
    write(f"`{train}` learns from them.")
    for metric, value in (
        ("record_games", sum(seal.num_games for seal in shards)),
        ("record_positions", sum(seal.num_positions for seal in shards)),
    ):
        write_json(figure_json(metric, run=str(run), value=value))


def describe(run: Path, *, write: Write = print, write_json: Write = silent) -> None:
    """Describe a run, its progress and the strength of its checkpoints; or a checkpoint, or a bundled network.

    Of a run without a training it describes the games to learn from.

    The run's files alone are read: a user's game is not executed.

    Args:
        run: A run directory, a checkpoint's JSON, or the directory of a bundled network.
        write: Gets the text.
        write_json: Gets each figure, as JSON.

    Raises:
        DataError: it is neither of both, is damaged, or contains a link that leads outside.
    """

    def say(line: str) -> None:
        write(printable(line))

    require_own_files(run)
    if has_only_records(run):
        _describe_records(run, say, write_json)
        return
    if not (run / "config.toml").is_file():
        if not run.exists():
            raise DataError(f"{run} does not exist: name a run directory or a checkpoint's JSON.")
        _describe_checkpoint(run, say, write_json)
        return
    if is_bundled(run):
        _describe_bundled(run, say, write_json)
        return
    config, rows = load_config(run / "config.toml"), read_metrics(run / "metrics.csv")
    say(
        f"{run}: learning {config.game}, budget {budget_words(config.training)}"
        + (f", preset {config.preset}" if config.preset else "")
    )
    if (store := StoreNote.read(run)) is not None:
        say(f"  copied to {store.url}, says its {STORE_NOTE}")
    _describe_progress(run, config, rows, say, write_json)
    game = make(config.game) if config.game.is_core else None
    _describe_network(run, config, game, say, write_json)
    strength, mistakes = Strength(run, None, config), Mistakes(run, None, config)
    say("  learning? " + strength.verdict())
    measured = HeldOutFile(run)
    if figures := [found for split in ("dev", "test") if (found := measured.newest(split)) is not None]:
        say(held_out_table(figures))
        for found in figures:
            write_json(figure_json("held_out", run=str(run), **asdict(found)))
    _describe_checkpoints(run, strength, mistakes, say, write_json)
    if rates := mistakes.of_step(mistakes.rates[-1].step) if mistakes.rates else []:
        say(mistake_table(rates, game=str(config.game)))
    if config.game.origin == "object":
        uses = f"`zerosum.load({str(run)!r}, game=game)` plays it"
    else:
        uses = f"`{command_text('play', run)}` plays it, `{command_text('evaluate', run)}` measures it"
    say(f"{uses}, `{train_text(config, run, **larger_budget(config, rows))}` resumes it.")
    if game is not None and (protocol := PROTOCOLS.get(game.spec.name)):
        say(f"As an engine of a board program: {command_from_anywhere(protocol, run)}")


def _describe_progress(run: Path, config: RunConfig, rows: Sequence[MetricsRow], say: Write, write_json: Write) -> None:
    """How far a run has come, and how much of the cores it got."""
    if rows:
        last, unit = rows[-1], minutes_word(config.training)
        say(
            f"  so far {last.minutes:.1f} {unit}, {last.games:,} games, {last.positions:,} positions,"
            f" {last.evaluations:,} evaluations, learner step {last.step:,}"
        )
        for metric in ("minutes", "games", "positions", "evaluations", "step"):
            write_json(figure_json(metric, run=str(run), value=getattr(last, metric)))
    if (use := mean_use(row.core_use for row in rows)) is not None:
        say(f"  {use.summary(has_selfplay=config.training.source == 'selfplay')}")
        for metric, value in asdict(use).items():
            if value is not None:
                write_json(figure_json(metric, run=str(run), value=value))


def _describe_network(run: Path, config: RunConfig, game: Rules | None, say: Write, write_json: Write) -> None:
    """The network of a run, and the values of pieces if it has learned any; `game` is None for one of the user's."""
    parameters = _num_parameters(run, config, game)
    size = "" if parameters is None else f", {parameters:,} parameters"
    begun = f", begun with {config.training.initial_network}" if config.training.initial_network else ""
    say(f"  network {tower_words(config.network)}{size}{begun}")
    if config.network.kind == "updatable" and checkpoints_to_play(run / "checkpoints"):
        with contextlib.suppress(DataError):  # damaged checkpoints are told below
            if words := _values_words(load_checkpoint(run, report=silent)):
                say(f"  {words}")
    if parameters is not None:
        write_json(figure_json("parameters", run=str(run), value=parameters))


def _describe_checkpoints(run: Path, strength: Strength, mistakes: Mistakes, say: Write, write_json: Write) -> None:
    """A line for each checkpoint: its rating, its mistakes, and whether it plays or is damaged."""
    say("  checkpoints, Elo with random play at 0" + (", mistakes in solved positions:" if mistakes.rates else ":"))
    checkpoints = list_checkpoints(run / "checkpoints")
    best = checkpoints_to_play(run / "checkpoints")[:1]
    for path in checkpoints:
        step = int(path.stem.partition("-")[2])
        rating, rates = strength.ratings.get(player_name(step)), mistakes.of_step(step)
        line = f"    {path.name}  {rating or 'not rated'}"
        if rating is not None:
            write_json(elo_json(str(path), rating))
        if rates:
            mean, error = mean_rate(rates)
            line += f"  {mean:.1%} ± {error:.1%} at {rates[0].num_simulations} simulations"
        line += "  the best, which plays" if [path] == best != checkpoints[-1:] else ""
        say(line + ("  damaged" if _is_damaged(path, whole=path == checkpoints[-1]) else ""))
        for rate in rates:
            write_json(figure_json("mistake_rate", player=str(path), **asdict(rate)))


def _values_words(checkpoint: Checkpoint) -> str:
    """The values of pieces that an updatable network has learned; "" for other networks and for games of one's own."""
    game = checkpoint.info.core_game()
    if checkpoint.info.network.kind != "updatable" or game is None:
        return ""
    return f"values of pieces: {values_text(piece_values(checkpoint, game))}"


def _is_damaged(path: Path, *, whole: bool) -> bool:
    """Whether a checkpoint's description is damaged, or any part of the `whole` checkpoint, which takes longer."""
    try:
        load_checkpoint(path) if whole else read_info(path)
    except DamagedCheckpointError:
        return True
    return False


def _num_parameters(run: Path, config: RunConfig, game: Rules | None) -> int | None:
    """Number of parameters of the run's network; None if only the code of a user's game could tell."""
    if game is not None:
        return num_parameters(config.network, NetworkShape.of(game.spec))
    for path in reversed(list_checkpoints(run / "checkpoints")):
        with contextlib.suppress(DamagedCheckpointError):
            return num_parameters(config.network, read_info(path).shape)
    return None


def larger_budget(config: RunConfig, rows: Sequence[MetricsRow]) -> dict[str, Any]:
    """The arguments of a training that continues the run: twice the budget, or what was used, if it is used up."""
    minutes, seconds, steps = config.training.minutes, config.learning_seconds, config.training.steps
    if rows and minutes is not None and seconds is not None and 60 * rows[-1].minutes >= seconds:
        return {"minutes": round(2 * max(minutes, rows[-1].minutes), 2)}
    if rows and steps is not None and rows[-1].step >= steps:
        return {"steps": 2 * max(steps, rows[-1].step)}
    return {}


def _describe_bundled(directory: Path, write: Write, write_json: Write) -> None:
    card, info = read_card(directory), load_checkpoint(directory).info
    network, parameters = info.network, num_parameters(info.network, info.shape)
    write(f"{info.full_name}: a bundled network, {directory}")
    write(f"  network {tower_words(network)}, {parameters:,} parameters")
    speed = f", {card.evaluations_per_second:,} evaluations a CPU-second" if card.evaluations_per_second else ""
    write(f"  {card.budget} of training{speed}, code of {card.date}:")
    for command in card.commands:
        write(f"    {command}")
    if card.strength:
        write(f"  {card.strength}")
    if card.exam:
        write(f"  exam: {card.exam}")
    write(
        f"`{command_text('play', directory)}` plays it, `{command_text('evaluate', directory)}` measures it,"
        f" `{command_text('train', info.full_name)}` learns one of your own."
    )
    for metric, value in (("step", info.step), ("parameters", parameters)):
        write_json(figure_json(metric, run=str(directory), value=value))
    write_json(figure_json("card", run=str(directory), **asdict(card)))


def _describe_checkpoint(path: Path, write: Write, write_json: Write) -> None:
    info = load_checkpoint(path).info
    network = info.network
    write(
        f"{path}: a network for {info.full_name}, version {info.game_version}, learner step {info.step:,},"
        f" {info.created_at}"
    )
    parameters = num_parameters(network, info.shape)
    write(f"  {tower_words(network)}, {parameters:,} parameters")
    if words := _values_words(load_checkpoint(path)):
        write(f"  {words}")
    for metric, value in (("step", info.step), ("parameters", parameters)):
        write_json(figure_json(metric, checkpoint=str(path), value=value))
    for name, value in info.training.items():
        write(f"  {name}: {f'{value:.4g}' if isinstance(value, float) else value}")

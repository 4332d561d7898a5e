"""The plan of a training: its settings and an estimate, without starting it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zerosum.base.errors import command_text
from zerosum.games import Game, Rules, measure_game
from zerosum.games.names import GameName
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights
from zerosum.network.evaluators import make_evaluator
from zerosum.run.config import RunConfig, dump_config
from zerosum.run.config_words import budget_words, network_words, words_on_preset
from zerosum.run.forecast import Forecast, measure
from zerosum.run.given_game import GivenGame
from zerosum.run.run_directory import plan
from zerosum.run.workers import DETERMINISTIC_GAMES, num_selfplay_workers, plays_in_processes


def dry_run(
    game: str | GameName | Game[Any] | Rules,
    run: str | Path,
    *,
    preset: str = "",
    asked: Mapping[str, Mapping[str, Any]],
    report: Callable[[str], None] = print,
) -> RunConfig:
    """Print the settings that a training would have, and an estimate of how far its budget goes on this machine.

    Nothing is written. The estimate measures self-play and learning for a second each.

    Args:
        game: The game, as `train` takes it.
        run: The run directory.
        preset: A preset's name, for a new run.
        asked: Settings by section, as `asked_settings` returns them.
        report: Gets the text.

    Raises:
        ZerosumError: as `train`.
    """
    given = GivenGame.of(game)
    run_plan = plan(Path(run), given.rules, given.name, preset=preset, asked=asked)
    config = run_plan.config
    report(dump_config(config))
    report(f"# The run would be in {Path(run).absolute()}. Its budget is {budget_words(config.training)}.")
    report(f"# The network: {network_words(config.network, run_plan.shape)}.")
    is_new = not (Path(run) / "config.toml").exists()
    if is_new and (words := words_on_preset(config, run_plan.game)):
        report(f"# {words}")
    if config.training.source == "selfplay":
        report(f"# {estimate(config, run_plan.game)}")
    return config


def measured_here(config: RunConfig, game: Rules) -> Forecast:
    """The forecast of a run by rates that are measured here with an untrained network, in some seconds."""
    info = CheckpointInfo.describe(game.spec, config.network, step=0)
    checkpoint = Checkpoint(info, initial_weights(config.network, info.shape, seed=0))
    num_games = config.selfplay.games_per_worker or DETERMINISTIC_GAMES
    evaluator = make_evaluator(
        checkpoint,
        config.training.evaluator,
        game=game,
        num_threads=1 if plays_in_processes(config, game) else num_selfplay_workers(config),
        batch_size=num_games,
    )
    return measure(config, game, checkpoint, evaluator, num_games=num_games)


def estimate(config: RunConfig, game: Rules) -> str:
    """How far a budget goes on this machine, in a sentence."""
    if config.network.kind == "updatable":
        return (
            "Self-play is an alpha-beta search, whose speed"
            f" `{command_text('bench', 'alphabeta', '--game', config.game)}` measures."
        )
    words = _words(measured_here(config, game), config, game)
    if config.selfplay.alphabeta_depth:
        words += " All games count as the network's. Those of the alpha-beta search take less time."
    return words


def _words(found: Forecast, config: RunConfig, game: Rules) -> str:
    seconds = config.learning_seconds
    if seconds is None or config.training.clock == "cpu":
        return f"Estimate: {found}."
    steps = seconds / (found.seconds / found.steps)
    positions = steps * config.learner.batch_size / config.learner.samples_per_position
    games = positions / (measure_game(game).plies * config.selfplay.full_search_share)
    return (
        f"Estimate: at {found.evaluations_per_second:,.0f} evaluations and {found.samples_per_second:,.0f} samples a"
        f" second, as measured here now, about {steps:,.0f} learner steps, {positions:,.0f} positions and {games:,.0f}"
        " games as long as random ones; more where the search needs fewer evaluations than simulations."
    )

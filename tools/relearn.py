"""Learners compared on the same games: replay a run's games in order through learners with other settings.

    python tools/relearn.py runs/go7 --variants learners.toml --seeds 3

A training depends on its learner twice: the network predicts better, and better networks play better games. This tool
measures the first alone, in the time that the learner takes. Each learner begins with random weights and gets the games
in the order in which they were played, with as many steps for each as in a training. Some games of the last quarter are
held out. At the end the network predicts them, and the command prints a table in Markdown, means over the seeds with
standard errors.

A variant may change the sections `learner`, `network` and `replay`; the file has the form of `tools/ablation.py`. A
better prediction is a reason to try the settings in trainings, which decide.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ablation import read_lists, with_error
from zerosum.base.errors import SettingsError, ZerosumError
from zerosum.games import make
from zerosum.learner import Learner
from zerosum.network import NetworkShape, initial_weights
from zerosum.network.evaluators.torch import TorchEvaluator
from zerosum.replay import ReplayWindow
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord
from zerosum.run.config import RunConfig, asked_settings, changed, load_config
from zerosum.run.held_out import HeldOut, measure
from zerosum.run.learning import learn_step, network_now, new_window
from zerosum.run.pace import LATEST_START
from zerosum.run.run_directory import hold

HELD_OUT = 12
"""One game in so many of the last quarter is held out."""
NUM_POSITIONS = 4096
"""Held-out positions on which each network is measured."""
SECTIONS = {"learner", "network", "replay"}


@dataclass(frozen=True)
class Relearned:
    """One network at the end of the games."""

    steps: int
    cpu_s: float
    """CPU-seconds of the learner, its batches included."""
    held_out: HeldOut


def main() -> None:
    """Read the arguments, train the networks and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("run", type=Path, help="a run that is not in training")
    parser.add_argument("--variants", type=Path, required=True, help="TOML table of names and lists of settings")
    parser.add_argument("--seeds", type=int, default=1, help="trainings of each variant")
    asked = parser.parse_args()
    try:
        print(table(asked.run, read_lists(asked.variants), num_seeds=asked.seeds))
    except ZerosumError as error:
        parser.error(str(error))


def table(run: Path, variants: dict[str, list[str]], *, num_seeds: int) -> str:
    """Train every variant with every seed, and compare them.

    Raises:
        SettingsError: a setting is unknown, out of range or of another section, or the games are too few.
        RunError: the run is in training.
    """
    config = load_config(run / "config.toml")
    configs = {name: changed(config, learning_settings(name, settings)) for name, settings in variants.items()}
    with hold(run):
        store = GameStore(run / "games", report=print)
        games = list(store.recent(num_games=store.num_games))
        store.close()
    lines = [
        "| variant | steps | CPU-seconds | cross-entropy, nats | best move, % | squared error of the value |",
        "|---|---|---|---|---|---|",
    ]
    for name, own in configs.items():
        networks = [relearn(changed(own, {"training": {"seed": seed}}), games) for seed in range(num_seeds)]
        cells = [
            name,
            f"{networks[0].steps:,}",
            with_error([network.cpu_s for network in networks], digits=0),
            with_error([network.held_out.cross_entropy for network in networks], digits=4),
            with_error([100 * network.held_out.top1 for network in networks]),
            with_error([network.held_out.value_error for network in networks], digits=4),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def learning_settings(name: str, settings: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A variant's settings by section. Raises SettingsError if the games of a run do not show what they do."""
    asked = asked_settings(overrides=settings)
    if others := asked.keys() - SECTIONS:
        raise SettingsError(
            f"{name!r} changes the section {min(others)!r}, but games that are there are learned from again: allowed"
            f" are {', '.join(sorted(SECTIONS))}."
        )
    return asked


def relearn(config: RunConfig, games: Sequence[GameRecord]) -> Relearned:
    """Train a network from random weights on these games, in their order, and measure it on those held out."""
    game, shape = make(config.game), NetworkShape.of(make(config.game).spec)
    is_held_out = [4 * index >= 3 * len(games) and index % HELD_OUT == 0 for index in range(len(games))]
    learned_from = [record for record, is_out in zip(games, is_held_out, strict=True) if not is_out]
    window, held_out = new_window(config), ReplayWindow(config.replay)
    for record, is_out in zip(games, is_held_out, strict=True):
        if is_out:
            held_out.add(record)
    num_positions = sum(record.num_positions for record in learned_from)
    if not held_out.num_positions or num_positions < config.learner.batch_size:
        raise SettingsError(f"the run has {len(games)} games with {num_positions} positions: too few to hold some out.")
    begun = time.process_time()
    whole = config.network
    weights = initial_weights(whole, shape, seed=config.training.seed)
    learner = Learner(config.learner, whole, shape, weights, device=config.training.device)
    least_positions = min(config.training.min_positions, LATEST_START * num_positions)
    for record in learned_from:
        window.add(record)
        if window.total_positions < least_positions:
            continue
        owed = window.total_weight * config.learner.samples_per_position
        while (learner.step_number + 1) * config.learner.batch_size <= owed:
            learn_step(learner, window, game, config, progress=window.total_positions / num_positions)
    cpu_s = time.process_time() - begun
    network = network_now(learner, game, training={})
    found = measure(
        game,
        TorchEvaluator(network, device=config.training.device, precision="f32"),
        held_out,
        step=learner.step_number,
        split="test",
        num_positions=NUM_POSITIONS,
        seed=0,
    )
    return Relearned(learner.step_number, cpu_s, found)


if __name__ == "__main__":
    main()

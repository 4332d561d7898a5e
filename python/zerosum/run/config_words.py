"""A run's settings in words: its budget, its network, and the command that resumes it."""

from __future__ import annotations

from pathlib import Path

from zerosum.base.errors import command_text, counted
from zerosum.games import Rules
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.evaluators.device import uses_gpu
from zerosum.network.lc0_config import Lc0Config
from zerosum.network.weights import num_parameters
from zerosum.run.config import RunConfig
from zerosum.run.presets import is_for_another_game, load_preset, preset_of, strongest_preset
from zerosum.run.training_config import TrainingConfig


def minutes_word(training: TrainingConfig) -> str:
    """The unit of a budget in minutes: "minutes" or "CPU-minutes"."""
    return "CPU-minutes" if training.clock == "cpu" else "minutes"


def budget_words(training: TrainingConfig) -> str:
    """The budget, such as "30 minutes" or "2,000 learner steps"."""
    if training.minutes is None:
        return f"{training.steps:,} learner steps"
    number, word = f"{training.minutes:g}", minutes_word(training)
    return f"{number} {word.removesuffix('s') if number == '1' else word}"


def words_on_preset(config: RunConfig, game: Rules) -> str:
    """Sentences on other presets for a new run: the game's own, and the strongest on a CPU; "" if there are none.

    A preset that is named like another game is told first, as a likely slip.
    """
    sentences = list[str]()
    if is_for_another_game(config.preset, game):
        own = preset_of(game)
        fit = f"--preset {own} has settings for it" if own else "without --preset the settings follow from its size"
        sentences.append(
            f"The preset {config.preset} was made for {config.preset}, not for {game.spec.name}: {fit}. If that is not"
            " intended, stop this run and start another with a new --run."
        )
    if not config.preset and (preset := preset_of(game)):
        budget = budget_words(TrainingConfig(minutes=load_preset(preset, game=game.spec.name)["training"]["minutes"]))
        sentences.append(
            f"These settings follow from the game's size and the budget. --preset {preset} has others for this game,"
            f" made for {budget} on a small machine without a GPU."
        )
    strongest = strongest_preset(game)
    if strongest not in ("", config.preset) and not uses_gpu(config.training.device):
        sentences.append(
            f"On a CPU the strongest player of this game came from --preset {strongest} (docs/alpha-beta.md)."
        )
    return " ".join(sentences)


def network_words(network: NetworkConfig, shape: NetworkShape) -> str:
    """The size of a run's network."""
    return f"{tower_words(network)}, {num_parameters(network, shape):,} parameters"


def tower_words(network: NetworkConfig) -> str:
    """The residual tower of a network.

    >>> tower_words(NetworkConfig(num_blocks=5, num_filters=64, pooling_interval=2))
    '5 blocks x 64 filters with global pooling'
    """
    if network.kind == "updatable":
        lines = f" with lines of {network.updatable_lines} squares" if network.updatable_lines else ""
        return f"an updatable network of 2 x {network.updatable_units} units{lines}"
    if isinstance(network, Lc0Config) and network.encoders:
        return network.size
    if network.kind == "muzero":
        blocks = f"{counted(network.num_blocks, 'block')} + {network.dynamics_blocks} of dynamics"
        return f"a MuZero network, {blocks} x {counted(network.num_filters, 'filter')}"
    if network.module:
        return f"a network of its own, {network.module}"
    pooling = " with global pooling" if any(map(network.pools, range(network.num_blocks))) else ""
    return f"{counted(network.num_blocks, 'block')} x {counted(network.num_filters, 'filter')}{pooling}"


def train_text(config: RunConfig, directory: Path, *, minutes: float | None = None, steps: int | None = None) -> str:
    """The command that continues a run, with a larger budget if given; Python for a game that was an object."""
    budget = [("minutes", minutes)] if minutes else [("steps", steps)] if steps else []
    if config.game.given_object is not None:
        more = "".join(f", {name}={value:g}" for name, value in budget)
        return f"zerosum.train(game, {str(directory)!r}{more})"
    words = [word for name, value in budget for word in (f"--{name}", f"{value:g}")]
    return command_text("train", config.game, "--run", directory, *words)

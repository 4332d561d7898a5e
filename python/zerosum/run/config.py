"""A run's settings: what was asked, every default, and where each came from.

A `RunConfig` is the sections of settings that the modules define, together. It comes from defaults that fit the game's
size and the time given, then a preset, then `section.name=value` from the command line; it is written into the run
directory as `config.toml`, which says all of it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import numpy as np

from zerosum._core import __version__
from zerosum.base.errors import DataError, SettingsError, command_text, nearest
from zerosum.base.settings import (
    FORMAT_VERSION,
    check,
    from_mapping,
    parse_value,
    read_settings,
    setting,
    to_mapping,
)
from zerosum.evaluators.backends import Backend, EvaluatorConfig, Precision
from zerosum.evaluators.device import uses_gpu
from zerosum.games import Rules, measure_game
from zerosum.games.python_game import split_name
from zerosum.games.source_files import OBJECT
from zerosum.learner import LearnerConfig
from zerosum.network import NetworkConfig
from zerosum.replay import ReplayConfig
from zerosum.search import SearchConfig
from zerosum.search.config import natural_noise_alpha
from zerosum.selfplay import SelfplayConfig

DEFAULT_MINUTES = 30.0
CACHED_POSITIONS = 1 << 16
"""Evaluations that each self-play worker keeps."""
LONGEST_OPENED_GAME = 80
"""Plies of a random game, up to which self-play opens games at random."""

LONG_GAMES_OPENING_PLIES = 10
"""Random moves that open a longer one, at most, if its settings ask for any."""
GPU_FILTERS, GPU_BLOCKS = 128, 4
"""The least filters, and the blocks of a board without squares, on a GPU (not measured)."""

PAPER_TEMPERATURE_PLIES = 30
"""Where the paper stops to draw moves in each of its games (its pseudocode), however long they last."""


@dataclass(frozen=True)
class TrainingConfig:
    """The budget of a run, and what happens when within it."""

    minutes: float | None = setting(
        None, "budget: minutes of training, resumed ones counted together", low=0.01, high=1e7
    )
    steps: int | None = setting(None, "budget: learner steps, instead of minutes", low=1, high=1 << 40)
    source: Literal["selfplay", "records", "games"] = setting(
        "selfplay",
        "what is learned from: 'selfplay'; 'records', games that were imported or generated; 'games', those that the"
        " run has played so far, without playing more",
    )
    clock: Literal["wall", "cpu"] = setting(
        "wall",
        "how minutes are counted: 'wall', or 'cpu', CPU-minutes of all processes, which compare on a busy machine",
    )
    seed: int = setting(0, "keys every random draw of the run", low=0, high=(1 << 63) - 1)
    deterministic: bool = setting(
        False,
        "on the same machine with the same versions, equal settings give a run that is the same bit for bit, however"
        " often it is stopped or killed; one thread plays and learns in turn, and the budget is in steps",
    )
    num_checkpoints: int = setting(12, "checkpoints over the budget, evenly spread", low=1, high=100_000)
    min_positions: int = setting(
        2000,
        "recorded positions before the first learner step; fewer where a tenth of the budget brings no more of them",
        low=1,
    )
    steps_per_phase: int = setting(
        64, "learner steps after which self-play gets the new network, which costs a compilation", low=1
    )
    backend: Backend = setting("auto", "what evaluates the network")
    device: str = setting(
        "auto",
        "where: 'auto', 'cpu', 'mps', 'cuda' (all GPUs), or some of them, 'cuda:0,cuda:1'; the learner takes the first",
    )
    precision: Precision = setting(
        "auto",
        "what self-play's and the matches' network computes in: 'f32', 'bf16', 'f16' (torch) or 'int8' (openvino; what"
        " it gains and costs is in benches/RESULTS.md)",
    )

    @property
    def evaluator(self) -> EvaluatorConfig:
        """How self-play and rating games evaluate the network."""
        return EvaluatorConfig(self.backend, self.device, self.precision)

    def __post_init__(self) -> None:
        check(self, "training")
        if (self.minutes is None) == (self.steps is None):
            raise SettingsError("the budget is training.minutes or training.steps, one of the two.")
        if self.deterministic and self.steps is None:
            raise SettingsError(
                "training.deterministic needs a budget in learner steps, because in a given time no two runs do"
                " the same: give one, such as --steps 2000."
            )


@dataclass(frozen=True)
class StrengthConfig:
    """How checkpoints are rated while training."""

    budget_share: float = setting(
        0.05,
        "share of the run's evaluations, and of its time (unless it is deterministic), for rating checkpoints; as many"
        " evaluations again for their mistakes in solved positions",
        low=0.0,
        high=0.5,
    )
    num_simulations: int | None = setting(
        None, "simulations a move in rating games; none is search.num_simulations", low=1
    )
    rollout_simulations: tuple[int, ...] = setting(
        (10, 100, 1000), "anchors: pure MCTS with rollouts at so many simulations"
    )
    solved_positions: int = setting(
        100,
        "positions of each solved set, where the game has such sets, that a checkpoint is tried on while training; the"
        " last one takes all; 0 is none at all",
        low=0,
        high=1_000_000,
    )
    solved_simulations: int = setting(600, "simulations a move there (AlphaZero.jl: 600)", low=1, high=1 << 24)
    opening_plies: int = setting(
        2, "random plies that open a rating game; each opening is played from both sides", low=0, high=100
    )

    def __post_init__(self) -> None:
        check(self, "strength")
        if not self.rollout_simulations or min(self.rollout_simulations) < 1:
            raise SettingsError(
                f"strength.rollout_simulations is {self.rollout_simulations}, expected one number or more, from 1."
            )


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run."""

    game: str
    """As `zerosum.games.make` takes it; a file of the user's with its absolute path."""
    preset: str
    """The preset that it began with, "" for none."""
    training: TrainingConfig
    search: SearchConfig
    selfplay: SelfplayConfig
    replay: ReplayConfig
    network: NetworkConfig
    learner: LearnerConfig
    strength: StrengthConfig

    @property
    def learning_seconds(self) -> float | None:
        """A budget in minutes less the time, three minutes at most, in which the last checkpoint is measured."""
        minutes = self.training.minutes
        return None if minutes is None else 60 * minutes - min(self.strength.budget_share * 60 * minutes, 180.0)

    @property
    def selfplay_hash(self) -> str:
        """Names the settings that decide how games are played."""
        parts = [to_mapping(part) for part in (self.search, self.selfplay, self.network)]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def minutes_word(training: TrainingConfig) -> str:
    """What the budget's minutes are: "minutes" or "CPU-minutes"."""
    return "CPU-minutes" if training.clock == "cpu" else "minutes"


def budget_words(training: TrainingConfig) -> str:
    """The budget, such as "30 minutes" or "2,000 learner steps"."""
    if training.minutes is None:
        return f"{training.steps:,} learner steps"
    number, word = f"{training.minutes:g}", minutes_word(training)
    return f"{number} {word.removesuffix('s') if number == '1' else word}"


def train_text(config: RunConfig, directory: Path, *, minutes: float | None = None, steps: int | None = None) -> str:
    """How the run goes on, with a larger budget if one is given: a command, or Python for a game that was an object."""
    budget = [("minutes", minutes)] if minutes else [("steps", steps)] if steps else []
    if config.game.startswith(OBJECT):
        more = "".join(f", {name}={value:g}" for name, value in budget)
        return f"zerosum.train(game, {str(directory)!r}{more})"
    words = [word for name, value in budget for word in (f"--{name}", f"{value:g}")]
    return command_text("train", config.game, "--run", directory, *words)


SECTIONS: dict[str, type] = {
    "training": TrainingConfig,
    "search": SearchConfig,
    "selfplay": SelfplayConfig,
    "replay": ReplayConfig,
    "network": NetworkConfig,
    "learner": LearnerConfig,
    "strength": StrengthConfig,
}
"""The sections of `config.toml`: the fields of a `RunConfig` after the first two."""


def preset_names() -> list[str]:
    """Presets that come with the package."""
    files = resources.files("zerosum").joinpath("presets").iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".toml"))


def load_preset(name: str, *, game: str) -> dict[str, dict[str, Any]]:
    """The settings of a preset for a game, by section.

    What a preset has for some games alone stands in it under `[games.NAME.section]`.

    Args:
        name: A name of `preset_names()`.
        game: The game's name without its options.

    Raises:
        SettingsError: there is no preset of this name.
    """
    if name not in preset_names():
        raise SettingsError(f"unknown preset {name!r}: {nearest(name, preset_names())}.")
    text = resources.files("zerosum").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")
    values = tomllib.loads(text)
    own = values.pop("games", {}).get(game, {})
    _merge(values, own)
    return values


def game_name(text: str) -> str:
    """A game's name as a run keeps it: a path of the user's becomes absolute."""
    own = split_name(text)
    return f"{Path(own[0]).resolve()}:{own[1]}" if own and own[1] else text


def directory_name(text: str) -> str:
    """The name of a run's directory where nobody chose one.

    >>> directory_name("go(size=7, komi=-5.5)"), directory_name("games/mine.py:MyGame")
    ('go-size-7-komi--5.5', 'mygame')
    """
    own = split_name(text)
    return re.sub(r"[^\w.-]+", "-", ((own and own[1]) or text).lower()).strip("-")


def new_config(
    game: Rules,
    name: str,
    *,
    preset: str = "",
    minutes: float | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
) -> RunConfig:
    """The settings of a new run: defaults for this game, then the preset, then what was asked.

    Args:
        game: The game.
        name: Its name, as `game_name` gives it.
        preset: A name of `preset_names()`, or "".
        minutes: The budget, if given.
        seed: The run's seed, if given.
        settings: By `section.name`, or by section.
        overrides: `section.name=value`, as the command line has them.

    Raises:
        SettingsError: an unknown preset or setting (with the nearest names), a value out of range, or a head that the
            game cannot have.
    """
    asked = asked_settings(minutes=minutes, seed=seed, overrides=overrides, settings=settings)
    layers = [load_preset(preset, game=game.spec.name) if preset else {}, asked]
    budgets = [layer["training"]["minutes"] for layer in layers if "minutes" in layer.get("training", {})]
    values = default_settings(game, minutes=budgets[-1] if budgets else DEFAULT_MINUTES)
    for layer in layers:
        _merge(values, layer)
    config = _from_values(name, preset, values)
    if config.network.ownership_head and not _has_owners(game):
        raise SettingsError(
            f"network.ownership_head is true, but squares of {game.spec.full_name} have no owners, as those of Go have:"
            " leave it false."
        )
    return config


def _has_owners(game: Rules) -> bool:
    leaves, no_moves = game.encode([game.initial_state()]), np.zeros(2, np.int64)
    return leaves.owners_after(np.empty(0, np.uint16), no_moves) is not None


def asked_settings(
    *,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    overrides: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """What a caller asks, by section; `overrides` go before `settings`, and the budget and the seed before both.

    >>> asked_settings(steps=9, settings={"search.num_simulations": 64, "learner": {"batch_size": 8}})
    {'search': {'num_simulations': 64}, 'learner': {'batch_size': 8}, 'training': {'steps': 9}}

    Raises:
        SettingsError: a name is unknown, or an override cannot be read.
    """
    asked: dict[str, dict[str, Any]] = {}
    for name, value in (settings or {}).items():
        section, dot, rest = name.partition(".")
        if not dot and not isinstance(value, Mapping):
            raise SettingsError(
                f"{name!r} is not a setting: write 'section.name', such as 'search.num_simulations', or a section with"
                " a mapping of its names."
            )
        _require_section(section)
        asked.setdefault(section, {}).update({rest: value} if dot else value)
    for section, values in parse_overrides(overrides).items():
        asked.setdefault(section, {}).update(values)
    for name, number in (("minutes", minutes), ("steps", steps), ("seed", seed)):
        if number is not None:
            asked.setdefault("training", {})[name] = number
    return asked


def default_settings(game: Rules, *, minutes: float) -> dict[str, dict[str, Any]]:
    """Settings that fit a game's size and the time given, by section: what a run uses where nobody chose.

    Rules of thumb, measured on Connect Four (docs/log.md): blocks enough to see the whole board; filters as many as the
    time can feed; simulations that visit each legal move of a typical position some fourteen times, which is what
    self-play has time for while the learner is busy; temperature for the first half of a typical game, but no longer
    than in the paper; four games in five begin with random moves, of which a random game's length and almost half again
    is the most. Long games begin as the rules have it; where `opening_share` is asked for, a few moves are random,
    because hundreds lead to positions that nobody plays into. On a GPU the network is larger: there a small one costs
    nearly as much.
    """
    size = measure_game(game)
    height, width = game.spec.board_shape
    is_small = height * width <= 16
    num_simulations = int(min(max(14 * size.legal_actions, 32), 200))
    opens, on_gpu = size.plies <= LONGEST_OPENED_GAME, uses_gpu()
    num_filters = 32 if is_small or minutes < 15 else 64 if minutes < 240 else 96
    return {
        "training": {"minutes": minutes},
        "search": {
            "num_simulations": num_simulations,
            "root_noise_alpha": natural_noise_alpha(game),
            "cache_positions": CACHED_POSITIONS,
        },
        "selfplay": {
            # On a CPU the run measures it; a GPU wants two large batches in turn.
            **({"games_per_worker": 512, "num_workers": 2} if on_gpu else {}),
            "temperature_plies": min(max(2, round(size.plies / 2)), PAPER_TEMPERATURE_PLIES),
            "opening_share": 0.8 if opens else 0.0,
            "opening_plies": max(1, round(1.4 * size.plies)) if opens else LONG_GAMES_OPENING_PLIES,
            "fast_simulations": max(num_simulations // 5, 8),
        },
        "network": {
            "num_blocks": 2 if is_small else (GPU_BLOCKS if on_gpu else 2) + max(height, width) // 3,
            "num_filters": num_filters if is_small or not on_gpu else max(GPU_FILTERS, num_filters),
            "policy_head": "planes" if game.spec.has_action_planes and not is_small else "dense",
        },
        "strength": {"opening_plies": 1 if is_small else 2},
    }


def parse_overrides(overrides: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Settings written as `section.name=value`, by section.

    >>> parse_overrides(["search.num_simulations=64"])
    {'search': {'num_simulations': 64}}
    """
    values: dict[str, dict[str, Any]] = {}
    for text in overrides:
        path, equals, value = text.partition("=")
        section, dot, name = path.strip().partition(".")
        if not equals or not dot:
            raise SettingsError(
                f"{text!r} is not a setting: write section.name=value, such as search.num_simulations=64."
            )
        _require_section(section)
        values.setdefault(section, {})[name] = parse_value(SECTIONS[section], name, value.strip(), section)
    return values


def changed(config: RunConfig, values: Mapping[str, Mapping[str, Any]]) -> RunConfig:
    """The same run with some settings changed, by section."""
    merged = {section: to_mapping(getattr(config, section)) for section in SECTIONS}
    _merge(merged, values)
    return _from_values(config.game, config.preset, merged)


def dump_config(config: RunConfig) -> str:
    """The text of `config.toml`: every setting, each with its sentence."""
    head: dict[str, str | int] = {
        "format_version": FORMAT_VERSION,
        "zerosum_version": __version__,
        "game": config.game,
        "preset": config.preset,
    }
    lines = ["# Written by zerosum. Change settings by `zerosum train --run ... --set section.name=value`."]
    lines += [f"{name} = {_toml(value)}" for name, value in head.items()]
    for section, config_type in SECTIONS.items():
        lines += ["", f"[{section}]"]
        for field in dataclasses.fields(config_type):
            value = getattr(getattr(config, section), field.name)
            lines.append(f"# {field.metadata['help']}")
            lines.append(f"# {field.name} is none" if value is None else f"{field.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: str | float | bool | tuple[float, ...]) -> str:
    """A setting's value in TOML, whose strings and numbers are those of JSON."""
    return json.dumps(value, ensure_ascii=False)


def load_config(path: Path) -> RunConfig:
    """Read a `config.toml`.

    Raises:
        DataError: it is damaged, or of a newer format.
        SettingsError: it was edited into something that is not allowed.
    """
    values = read_settings(path)
    values.pop("zerosum_version", None)
    name, preset = str(values.pop("game", "")), str(values.pop("preset", ""))
    try:
        for section in values:
            _require_section(section)
        for section in SECTIONS:
            if not isinstance(values.get(section), dict):
                raise DataError(
                    f"{path} has no section [{section}]: it was cut short. Restore it from a copy, or start a new run."
                )
        return _from_values(name, preset, values)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error


def _merge(values: dict[str, dict[str, Any]], layer: Mapping[str, Mapping[str, Any]]) -> None:
    """Put settings over others. A budget in minutes replaces one in steps, and the other way round."""
    for section, entries in layer.items():
        _require_section(section)
        if section == "training":
            for budget, other in (("minutes", "steps"), ("steps", "minutes")):
                if budget in entries:
                    values.get(section, {}).pop(other, None)
        values.setdefault(section, {}).update(entries)


def _from_values(name: str, preset: str, values: Mapping[str, Mapping[str, Any]]) -> RunConfig:
    sections: dict[str, Any] = {
        section: from_mapping(config_type, values.get(section, {}), section)
        for section, config_type in SECTIONS.items()
    }
    return RunConfig(game=name, preset=preset, **sections)


def _require_section(section: str) -> None:
    if section not in SECTIONS:
        raise SettingsError(f"unknown section of settings {section!r}: {nearest(section, SECTIONS)}.")

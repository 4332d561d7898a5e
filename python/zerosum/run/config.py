"""A run's settings: defaults, presets, and the settings that a caller asks for.

A `RunConfig` holds the sections of settings that the modules define. Its values come from defaults that fit the game's
size and the given time, then from a preset, then from `section.name=value` on the command line. `config.toml` in the
run directory holds all of them.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zerosum.base.errors import DataError, SettingsError, nearest
from zerosum.base.settings import (
    FORMAT_VERSION,
    from_mapping,
    num_cores,
    parse_value,
    read_settings,
    to_mapping,
)
from zerosum.base.version import __version__
from zerosum.cluster import ClusterConfig
from zerosum.games import Rules, make, measure_game
from zerosum.games.names import GameName
from zerosum.games.rules import has_owners
from zerosum.learner import LearnerConfig
from zerosum.network import CheckpointInfo, NetworkConfig, NetworkShape
from zerosum.network.piece_planes import require_piece_planes
from zerosum.network.updatable import lines_of, opponent_view
from zerosum.replay import ReplayConfig
from zerosum.run.defaults import default_settings
from zerosum.run.initial_network import load_initial_network, require_initial_network, setting_text, settings_of
from zerosum.run.planes import with_planes
from zerosum.run.presets import load_preset, merged, preset_names
from zerosum.run.training_config import StrengthConfig, TrainingConfig
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig

DEFAULT_MINUTES = 30.0


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run."""

    game: GameName
    """The game's name; a user's file has its absolute path."""
    preset: str
    """The preset of its first training, or ""."""
    training: TrainingConfig
    search: SearchConfig
    selfplay: SelfplayConfig
    replay: ReplayConfig
    network: NetworkConfig
    learner: LearnerConfig
    strength: StrengthConfig
    cluster: ClusterConfig

    @property
    def learning_seconds(self) -> float | None:
        """Seconds of a budget in minutes without the time for measuring the last checkpoint, at most three minutes."""
        minutes = self.training.minutes
        return None if minutes is None else 60 * minutes - min(self.strength.budget_share * 60 * minutes, 180.0)

    @property
    def plays_alpha_beta(self) -> bool:
        """Whether an alpha-beta search plays some or all games of self-play, with a learned evaluation at first."""
        return bool(self.selfplay.alphabeta_depth) or (
            self.network.kind == "updatable" and self.selfplay.alphabeta_share > 0
        )

    @property
    def alpha_beta_samples(self) -> float:
        """`samples_per_position`, by which positions of an alpha-beta search weigh less than the network's own.

        An updatable network plays by alpha-beta itself: its positions have the full weight.
        """
        return 1.0 if self.network.kind == "updatable" else self.learner.samples_per_position

    @property
    def selfplay_hash(self) -> str:
        """A hash of the settings that decide how games are played."""
        parts = [to_mapping(part) for part in (self.search, self.selfplay, self.network)]
        del parts[0]["proof_nodes"]  # self-play makes none
        for name in ("syzygy_path", "table_files"):
            if not parts[0][name]:
                del parts[0][name]  # games from before the setting have the same hash
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


SECTIONS: dict[str, type] = {
    "training": TrainingConfig,
    "search": SearchConfig,
    "selfplay": SelfplayConfig,
    "replay": ReplayConfig,
    "network": NetworkConfig,
    "learner": LearnerConfig,
    "strength": StrengthConfig,
    "cluster": ClusterConfig,
}
"""The sections of `config.toml`: the fields of a `RunConfig` after `game` and `preset`."""


def new_config(
    game: Rules,
    name: str | GameName,
    *,
    preset: str = "",
    minutes: float | None = None,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    machine: tuple[int, int] | None = None,
) -> RunConfig:
    """The settings of a new run: defaults for this game, then the preset, then the settings asked for.

    Args:
        game: The game.
        name: Its name; a user's path becomes absolute.
        preset: A name of `preset_names()`, or "".
        minutes: The budget, if given.
        seed: The run's seed, if given.
        settings: By `section.name`, or by section.
        overrides: `section.name=value`, as the command line has them.
        machine: The numbers of cores and GPUs; those of this machine if not given.

    Raises:
        SettingsError: a preset or setting is unknown, a value is out of range, or the game cannot have one of the
            heads or the initial network.
        DataError: the initial network is missing, damaged or of another game.
    """
    asked = asked_settings(minutes=minutes, seed=seed, overrides=overrides, settings=settings)
    name = (GameName.parse(name) if isinstance(name, str) else name).absolute()
    return new_run(game, name, preset=preset, asked=asked, machine=machine)[1]


def new_run(
    game: Rules,
    name: GameName,
    *,
    preset: str,
    asked: Mapping[str, Mapping[str, Any]],
    machine: tuple[int, int] | None = None,
) -> tuple[Rules, RunConfig]:
    """The rules of a new run, with the planes that it adds to those of `game`, and its settings.

    `asked` are the settings asked for, by section; the other arguments and the errors are those of `new_config`.
    """
    try:
        return _new_run(game, name, preset=preset, asked=asked, machine=machine)
    except SettingsError as error:
        if preset not in preset_names():
            raise
        # Raises for a fault of the settings that are asked for.
        _new_run(game, name, preset="", asked=asked, machine=machine)
        own = game.spec.name if game.spec.name in preset_names() else ""
        remedy = f", or take --preset {own}" if own else ""
        raise SettingsError(
            f"the preset {preset!r} is not for {game.spec.full_name}: {str(error).rstrip('.')}. Leave out"
            f" --preset{remedy}."
        ) from None


def _new_run(
    game: Rules,
    name: GameName,
    *,
    preset: str,
    asked: Mapping[str, Mapping[str, Any]],
    machine: tuple[int, int] | None,
) -> tuple[Rules, RunConfig]:
    initial, values = _layered(game, preset=preset, asked=asked, machine=machine)
    config = _from_values(name, preset, values)
    if config.training.planes:
        game = with_planes(game, config.training.planes)
        name = GameName.of_core(game.spec)
    network = config.network
    if network.kind == "updatable":
        lines_of(network, game.spec.board_shape)  # refuses lines that the board does not have
        network = dataclasses.replace(network, opponent_view=opponent_view(game))
    if network.module and "module" in asked.get("network", {}):
        from zerosum.network.own_network import as_named

        network = as_named(network, NetworkShape.of(game.spec))
    config = dataclasses.replace(config, game=name, network=network)
    require_fit(config, game, initial)
    return game, config


def _layered(
    game: Rules, *, preset: str, asked: Mapping[str, Mapping[str, Any]], machine: tuple[int, int] | None
) -> tuple[CheckpointInfo | None, dict[str, dict[str, Any]]]:
    """The initial network, and the values of a new run's settings: defaults, preset, those of the network, asked."""
    own = load_preset(preset, game=game.spec.name) if preset else {}
    training = {**own.get("training", {}), **asked.get("training", {})}
    filters = {**own.get("network", {}), **asked.get("network", {})}.get("num_filters")
    cores, gpus = machine or (num_cores(), None)
    defaults = default_settings(
        game,
        minutes=training.get("minutes") or DEFAULT_MINUTES,
        num_cores=1 if training.get("clock") == "cpu" else cores,
        num_gpus=gpus,
        num_filters=filters,
    )
    initial = load_initial_network(training["initial_network"]).info if training.get("initial_network") else None
    beginning = settings_of(initial) if initial else {}
    if training.get("source", "selfplay") != "selfplay":
        for layer in (defaults, beginning):  # records are of the game as it was named when they were made
            layer.get("training", {}).pop("planes", None)
    return initial, functools.reduce(merged, (own, beginning, asked), defaults)


def require_fit(config: RunConfig, game: Rules, network: CheckpointInfo | None) -> None:
    """Refuse settings that the game of a run, with its planes, cannot have.

    `network` is the one that the run begins or continues with; None if that has random weights.

    Raises:
        SettingsError: the game cannot have one of the heads, MuZero's model or an alpha-beta search of self-play, or as
            `require_initial_network`.
        DataError: the network has another encoding.
    """
    spec, steps = game.spec, config.learner.unroll_steps
    if network:
        require_initial_network(network, config.network, spec)
    if config.plays_alpha_beta:
        require_piece_planes(spec)
    for head in config.network.heads_of_owners:
        if not has_owners(game):
            raise SettingsError(
                f"network.{head} is true, but squares of {spec.full_name} have no owners, unlike those of Go: leave it"
                " false."
            )
    if config.network.kind == "muzero" and not measure_game(game).takes_turns:
        raise SettingsError(
            f"network.kind is 'muzero', but in {spec.full_name} a side may move twice in a row, and the search by"
            " learned rules supposes that sides move in turn: learn it with network.kind 'residual'."
        )
    if config.network.kind == "muzero" and steps > spec.max_plies:
        raise SettingsError(
            f"learner.unroll_steps is {steps}, but a game of {spec.full_name} has at most {spec.max_plies} plies:"
            f" expected 1 to {spec.max_plies}."
        )


def configured_game(game: Rules, config: RunConfig) -> Rules:
    """The game as a run with these settings plays it: with the planes that they add (`training.planes`).

    >>> go = make("go9")
    >>> len(go.spec.planes), len(configured_game(go, new_config(go, "go9")).spec.planes)
    (17, 20)
    """
    return game if game.is_python or game.spec.full_name == str(config.game) else make(config.game)


def asked_settings(
    *,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    overrides: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """The settings that a caller asks for, by section.

    `overrides` take precedence over `settings`, and the budget and the seed over both.

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
    if isinstance(network := asked.get("training", {}).get("initial_network"), str):
        asked["training"]["initial_network"] = setting_text(network)
    return asked


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
    """The run with some settings changed, by section."""
    before = {section: to_mapping(getattr(config, section)) for section in SECTIONS}
    return _from_values(config.game, config.preset, merged(before, values))


def dump_config(config: RunConfig) -> str:
    """The text of `config.toml`: every setting with its help text."""
    head: dict[str, str | int] = {
        "format_version": FORMAT_VERSION,
        "zerosum_version": __version__,
        "game": str(config.game),
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
    """A setting's value in TOML, which writes strings and numbers as JSON does."""
    return json.dumps(value, ensure_ascii=False)


def load_config(path: Path) -> RunConfig:
    """Read a `config.toml`.

    Raises:
        DataError: it is damaged, or of a newer format.
        SettingsError: a value is not allowed.
    """
    values = read_settings(path)
    values.pop("zerosum_version", None)
    name, preset = GameName.parse(str(values.pop("game", ""))), str(values.pop("preset", ""))
    try:
        for section in values:
            _require_section(section)
        for section in SECTIONS:
            if not isinstance(values.get(section), dict):
                raise DataError(
                    f"{path} has no section [{section}]: the file is cut off. Restore it from a copy, or start a new"
                    f" run."
                )
        return _from_values(name, preset, values)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from error


def _from_values(name: GameName, preset: str, values: Mapping[str, Mapping[str, Any]]) -> RunConfig:
    sections: dict[str, Any] = {
        section: from_mapping(config_type, values.get(section, {}), section)
        for section, config_type in SECTIONS.items()
    }
    config = RunConfig(game=name, preset=preset, **sections)
    if config.network.kind == "updatable":
        require_updatable(config)
    require_muzero(config)
    for head in config.network.heads_of_owners:
        if config.selfplay.resign_false_positives is not None:
            raise SettingsError(
                "selfplay.resign_false_positives ends games before their squares have owners, from which"
                f" network.{head} learns: switch one of them off, for example --set network.{head}=false."
            )
    return config


def require_updatable(config: RunConfig) -> None:
    """Refuse what a run of an updatable network cannot have. Raises SettingsError."""
    refused = {
        "training.workers=processes": config.training.workers == "processes",
        "training.gate_games": config.training.gate_games > 0,
        "training.leaf_values": config.training.leaf_values != "network",
        "learner.reanalysed_share": config.learner.reanalysed_share > 0,
        "learner.importance_limit": config.learner.importance_limit is not None,
        "selfplay.alphabeta_depth": config.selfplay.alphabeta_depth > 0,
        "selfplay.resign_false_positives": config.selfplay.resign_false_positives is not None,
    }
    for name, is_asked in refused.items():
        if is_asked:
            raise SettingsError(
                f"network.kind is 'updatable', whose self-play is an alpha-beta search in the threads of one process:"
                f" leave out {name}."
            )


def require_muzero(config: RunConfig) -> None:
    """Refuse what a run that learns the rules cannot have, and half of such a run. Raises SettingsError."""
    is_muzero, learns = config.network.kind == "muzero", config.search.rules == "learned"
    if is_muzero != learns:
        raise SettingsError(
            f"network.kind is {config.network.kind!r} and search.rules is {config.search.rules!r}, but a network of"
            " kind 'muzero' and learned rules need each other: --preset muzero sets both."
        )
    refused = {
        "learner.mask_illegal": (config.learner.mask_illegal, "the policy must learn which moves are illegal"),
        "learner.num_devices": (config.learner.num_devices > 1, "its learner has one device"),
        "learner.importance_limit": (
            config.learner.importance_limit is not None,
            "losses of unrolled steps have no such weights",
        ),
        "selfplay.alphabeta_depth": (config.selfplay.alphabeta_depth > 0, "an alpha-beta search needs the rules"),
        "training.leaf_symmetries": (config.training.leaf_symmetries, "no symmetry turns a hidden state"),
        "training.leaf_values": (config.training.leaf_values != "network", "no game is played from a hidden state"),
        "training.source": (config.training.source == "records", "it learns from its own games so far"),
        "training.precision": (config.training.precision in ("f16", "int8"), "it runs in 'bf16' or 'f32'"),
    }
    for name, (is_asked, reason) in refused.items():
        if is_muzero and is_asked:
            section, _, field = name.partition(".")
            raise SettingsError(
                f"network.kind is 'muzero', but {name} is {getattr(getattr(config, section), field)!r}: {reason}."
                " --preset muzero has settings that fit."
            )


def _require_section(section: str) -> None:
    if section not in SECTIONS:
        raise SettingsError(f"unknown section of settings {section!r}{nearest(section, SECTIONS)}.")

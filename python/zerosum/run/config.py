"""A run's settings: defaults, presets, and the settings that a caller asks for.

A `RunConfig` holds the sections of settings that the modules define. Its values come from defaults that fit the game's
size and the given time, then from a preset, then from `section.name=value` on the command line. `config.toml` in the
run directory holds all of them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from zerosum._core import core_game_names
from zerosum.base.errors import DataError, SettingsError, command_text, counted, nearest
from zerosum.base.settings import (
    FORMAT_VERSION,
    check,
    from_mapping,
    num_cores,
    parse_value,
    read_settings,
    setting,
    to_mapping,
)
from zerosum.base.version import __version__
from zerosum.cluster import ClusterConfig
from zerosum.games import Rules, make, measure_game
from zerosum.games.names import GameName
from zerosum.games.permission import allow_program
from zerosum.games.rules import with_usual_encoding
from zerosum.learner import LearnerConfig
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.config import module_path
from zerosum.network.evaluators.backends import Backend, EvaluatorConfig, Precision
from zerosum.network.updatable import opponent_view
from zerosum.network.weights import num_parameters
from zerosum.replay import ReplayConfig
from zerosum.run.defaults import default_settings, has_owners
from zerosum.run.initial_network import load_initial_network, require_initial_network, setting_text, settings_of
from zerosum.run.planes import with_planes
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig
from zerosum.selfplay.piece_terms import PieceTerms

DEFAULT_MINUTES = 30.0


@dataclass(frozen=True)
class TrainingConfig:
    """The budget of a run and its schedule."""

    minutes: float | None = setting(None, "budget in minutes of training, over all resumptions", low=0.01, high=1e7)
    steps: int | None = setting(None, "budget in learner steps, instead of minutes", low=1, high=1 << 40)
    source: Literal["selfplay", "records", "games"] = setting(
        "selfplay",
        "source of the games: 'selfplay'; 'records', imported or generated games; 'games', the games that the run"
        " has played so far, without playing more",
    )
    clock: Literal["wall", "cpu"] = setting(
        "wall",
        "clock of a budget in minutes: 'wall', or 'cpu', the CPU-minutes of all processes, which do not depend on"
        " the load of the machine",
    )
    seed: int = setting(0, "key of every random draw of the run", low=0, high=(1 << 63) - 1)
    deterministic: bool = setting(
        False,
        "repeat the run bit for bit for equal settings, machine and versions, even if it is stopped or killed; one"
        " thread plays and learns in turn, and the budget is in steps",
    )
    num_checkpoints: int = setting(12, "number of checkpoints, evenly spread over the budget", low=1, high=100_000)
    min_positions: int = setting(
        2000,
        "recorded positions before the first learner step; fewer if a tenth of the budget does not record as many",
        low=1,
    )
    steps_per_phase: int = setting(
        64, "learner steps between two updates of self-play's network; each update compiles the network anew", low=1
    )
    backend: Backend = setting("auto", "library that evaluates the network")
    device: str = setting(
        "auto",
        "device: 'auto', 'cpu', 'mps', 'cuda' (all GPUs), or some GPUs, 'cuda:0,cuda:1'; self-play takes all of them,"
        " the learner the first learner.num_devices",
    )
    workers: Literal["auto", "threads", "processes"] = setting(
        "auto",
        "self-play workers: 'threads' of one process, or 'processes', which share no interpreter lock and take more"
        " memory; 'auto' is processes for a game in Python and threads for others (docs/evaluators.md has the gain)",
    )
    leaf_symmetries: bool = setting(
        False,
        "evaluate each position in a random one of the game's symmetries, in self-play and matches of the run (AlphaGo"
        " Zero: true; AlphaZero: false)",
    )
    planes: str = setting(
        "",
        "options of a game's planes that a new run adds to the game's name, such as 'liberties=3' or 'history=2,"
        " liberties=3'; '' for the planes of the game as it is named (paper: '')",
    )
    initial_network: str = setting(
        "",
        "network whose weights a new run begins with: the path of a run or of a checkpoint's JSON, or the name of a"
        " bundled network; '' for random weights",
    )
    gate_games: int = setting(
        0,
        "games that each checkpoint plays against the best one, which self-play has until another replaces it; 0 for no"
        " gate: self-play has the newest network (AlphaGo Zero: 400; AlphaZero: 0)",
        low=0,
        high=100_000,
    )
    gate_score: float = setting(
        0.55,
        "share of the points of these games above which a checkpoint replaces the best one (AlphaGo Zero: 0.55)",
        low=0.5,
        high=0.99,
    )
    precision: Precision = setting(
        "fast",
        "number format of the network in self-play and the run's matches: 'f32', 'bf16', 'f16' (torch), 'int8'"
        " (openvino), 'auto' for the fastest of the others, or 'fast' for int8 where it is faster, else 'auto'"
        " (docs/evaluators.md)",
    )

    @property
    def evaluator(self) -> EvaluatorConfig:
        """How self-play and rating games evaluate the network."""
        symmetry_seed = self.seed if self.leaf_symmetries else None
        return EvaluatorConfig(self.backend, self.device, self.precision, symmetry_seed)

    def __post_init__(self) -> None:
        check(self, "training")
        if (self.minutes is None) == (self.steps is None):
            raise SettingsError("the budget is either training.minutes or training.steps: give one of the two.")
        if self.deterministic and self.steps is None:
            raise SettingsError(
                "training.deterministic needs a budget in learner steps, because two runs of the same time do not do"
                " the same work: give one, such as --steps 2000."
            )
        if self.deterministic and self.workers == "processes":
            raise SettingsError(
                "training.workers is 'processes', but a deterministic run plays on one thread: leave out one of"
                " the two."
            )


@dataclass(frozen=True)
class StrengthConfig:
    """How checkpoints are rated while training."""

    budget_share: float = setting(
        0.05,
        "share of the run's evaluations, and of its time (unless it is deterministic), for rating checkpoints;"
        " mistakes in solved positions get the same share of evaluations again",
        low=0.0,
        high=0.5,
    )
    num_simulations: int | None = setting(
        None, "simulations per move in rating games; none for search.num_simulations", low=1
    )
    rollout_simulations: tuple[int, ...] = setting(
        (10, 100, 1000), "simulations per move of each anchor, pure MCTS with rollouts"
    )
    solved_positions: int = setting(
        100,
        "positions per solved set in the test of a checkpoint during training, if the game has such sets; the last"
        " checkpoint is tested on all positions; 0 for no tests",
        low=0,
        high=1_000_000,
    )
    solved_simulations: int = setting(
        600, "simulations per move in solved positions (AlphaZero.jl: 600)", low=1, high=1 << 24
    )
    opening_plies: int = setting(
        2, "random plies at the beginning of a rating game; each opening is played from both sides", low=0, high=100
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
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


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
    """A sentence on the game's preset, if the run has none; else ""."""
    preset = "" if config.preset else preset_of(game)
    if not preset:
        return ""
    budget = budget_words(TrainingConfig(minutes=load_preset(preset, game=game.spec.name)["training"]["minutes"]))
    return (
        f"These settings follow from the game's size and the budget. --preset {preset} has others for this game, made"
        f" for {budget} on a small machine without a GPU."
    )


def network_words(network: NetworkConfig, shape: NetworkShape) -> str:
    """The size of a run's network."""
    return f"{tower_words(network)}, {num_parameters(network, shape):,} parameters"


def tower_words(network: NetworkConfig) -> str:
    """The residual tower of a network.

    >>> tower_words(NetworkConfig(num_blocks=5, num_filters=64, pooling_interval=2))
    '5 blocks x 64 filters with global pooling'
    """
    if network.kind == "updatable":
        return f"an updatable network of 2 x {network.updatable_units} units"
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


def preset_names() -> list[str]:
    """The names of the presets in the package."""
    files = resources.files("zerosum").joinpath("presets").iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".toml"))


def preset_of(game: Rules) -> str:
    """The preset that is named like the game, which may have other planes; "" without one.

    >>> from zerosum.games import make
    >>> preset_of(make("go(size=9, liberties=3)")), preset_of(make("gomoku"))
    ('go9', '')
    """
    known = with_usual_encoding(game).spec.full_name
    games = {*core_game_names()}.intersection(preset_names())
    return next((name for name in sorted(games) if Rules(name).spec.full_name == known), "")


def load_preset(name: str, *, game: str) -> dict[str, dict[str, Any]]:
    """The settings of a preset for a game, by section.

    A preset's settings for one game stand under `[games.NAME.section]`.

    Args:
        name: A name of `preset_names()`.
        game: The game's name without its options.

    Raises:
        SettingsError: no preset has this name.
    """
    if name not in preset_names():
        raise SettingsError(f"unknown preset {name!r}{nearest(name, preset_names())}.")
    text = resources.files("zerosum").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")
    values = tomllib.loads(text)
    own = values.pop("games", {}).get(game, {})
    _merge(values, own)
    return values


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
    try:
        return _new_config(game, name, preset=preset, asked=asked, machine=machine)
    except SettingsError as error:
        if preset not in preset_names():
            raise
        _new_config(
            game, name, preset="", asked=asked, machine=machine
        )  # raises for a fault of the settings that are asked for
        own = game.spec.name if game.spec.name in preset_names() else ""
        remedy = f", or take --preset {own}" if own else ""
        raise SettingsError(
            f"the preset {preset!r} is not for {game.spec.full_name}: {str(error).rstrip('.')}. Leave out"
            f" --preset{remedy}."
        ) from None


def _new_config(
    game: Rules, name: GameName, *, preset: str, asked: dict[str, dict[str, Any]], machine: tuple[int, int] | None
) -> RunConfig:
    """The settings of a new run; `asked` are those asked for, by section."""
    layers = [load_preset(preset, game=game.spec.name) if preset else {}, asked]
    training = {name: value for layer in layers for name, value in layer.get("training", {}).items()}
    cores, gpus = machine or (num_cores(), None)
    filters = [layer["network"]["num_filters"] for layer in layers if "num_filters" in layer.get("network", {})]
    values = default_settings(
        game,
        minutes=training.get("minutes") or DEFAULT_MINUTES,
        num_cores=1 if training.get("clock") == "cpu" else cores,
        num_gpus=gpus,
        num_filters=filters[-1] if filters else None,
    )
    initial = load_initial_network(training["initial_network"]).info if training.get("initial_network") else None
    if initial:
        layers.insert(1, settings_of(initial))
    if training.get("source", "selfplay") != "selfplay":
        for layer in (values, *layers[1:-1]):  # records are of the game as it was named when they were made
            layer["training"].pop("planes", None)
    for layer in layers:
        _merge(values, layer)
    config = _from_values(name, preset, values)
    if config.network.module and "module" in asked.get("network", {}):
        config = dataclasses.replace(config, network=_own_network(config.network, game))
    config = dataclasses.replace(config, game=with_planes(game, name, config.training.planes))
    if config.network.kind == "updatable":
        view = opponent_view(configured_game(game, config))
        config = dataclasses.replace(config, network=dataclasses.replace(config.network, opponent_view=view))
    if initial:
        require_initial_network(initial, config.network, make(config.game))
    if config.network.ownership_head and not has_owners(game):
        raise SettingsError(
            f"network.ownership_head is true, but squares of {game.spec.full_name} have no owners, unlike those of Go:"
            " leave it false."
        )
    require_pieces(config, game)
    if config.network.kind == "muzero" and not measure_game(game).takes_turns:
        raise SettingsError(
            f"network.kind is 'muzero', but in {game.spec.full_name} a side may move twice in a row, and the search by"
            " learned rules supposes that sides move in turn: learn it with network.kind 'residual'."
        )
    return config


def _own_network(network: NetworkConfig, game: Rules) -> NetworkConfig:
    """The settings of a network of one's own, which the user has named: its program may run from now on."""
    from zerosum.network.own_network import with_shapes

    allow_program(module_path(network))
    return with_shapes(network, NetworkShape.of(game.spec))


def require_pieces(config: RunConfig, game: Rules) -> None:
    """Refuse an alpha-beta search in a game without planes of pieces. Raises SettingsError."""
    if config.plays_alpha_beta:
        PieceTerms(configured_game(game, config))


def configured_game(game: Rules, config: RunConfig) -> Rules:
    """The game as a run with these settings plays it: with the planes that they add (`training.planes`).

    >>> go = make("go9")
    >>> len(go.spec.planes), len(configured_game(go, new_config(go, "go9")).spec.planes)
    (17, 20)
    """
    return game if game.is_python else make(config.game)


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
    merged = {section: to_mapping(getattr(config, section)) for section in SECTIONS}
    _merge(merged, values)
    return _from_values(config.game, config.preset, merged)


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


def _merge(values: dict[str, dict[str, Any]], layer: Mapping[str, Mapping[str, Any]]) -> None:
    """Replace settings by those of a layer.

    A budget in minutes replaces one in steps, and vice versa.
    """
    for section, entries in layer.items():
        _require_section(section)
        if section == "training":
            for budget, other in (("minutes", "steps"), ("steps", "minutes")):
                if budget in entries:
                    values.get(section, {}).pop(other, None)
        values.setdefault(section, {}).update(entries)


def _from_values(name: GameName, preset: str, values: Mapping[str, Mapping[str, Any]]) -> RunConfig:
    sections: dict[str, Any] = {
        section: from_mapping(config_type, values.get(section, {}), section)
        for section, config_type in SECTIONS.items()
    }
    config = RunConfig(game=name, preset=preset, **sections)
    if config.network.kind == "updatable":
        require_updatable(config)
    require_muzero(config)
    if config.network.ownership_head and config.selfplay.resign_false_positives is not None:
        raise SettingsError(
            "selfplay.resign_false_positives ends games before their squares have owners, from which"
            " network.ownership_head learns: switch one of them off, for example --set network.ownership_head=false."
        )
    return config


def require_updatable(config: RunConfig) -> None:
    """Refuse what a run of an updatable network cannot have. Raises SettingsError."""
    refused = {
        "training.workers=processes": config.training.workers == "processes",
        "training.gate_games": config.training.gate_games > 0,
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
        "selfplay.alphabeta_depth": (config.selfplay.alphabeta_depth > 0, "an alpha-beta search needs the rules"),
        "training.leaf_symmetries": (config.training.leaf_symmetries, "no symmetry turns a hidden state"),
        "training.source": (config.training.source == "records", "it learns from its own games so far"),
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

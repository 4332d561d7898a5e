"""The numbers that a plan is made of. Each has a name, a source, and can be changed by `--assume name=value`.

A number is measured here, recorded in `data/capacity.toml` with its source, or a default of this file: a guess.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from zerosum._core import GameSpec
from zerosum.base.errors import SettingsError, nearest
from zerosum.base.settings import check, describe, parse_value, require_known, setting

GUESS = "a guess"
GIVEN = "as given"
RANDOM_LENGTH = "the length of random games"
EVALUATION_SHARE, LEARNING_SHARE = 0.4, 0.3
"""Shares of a GPU's peak that evaluations and learning reach, which nobody has measured for this program."""
_POSITIVE = 1e-9


@dataclass(frozen=True)
class Assumptions:
    """All numbers of a plan besides the run's settings and the machines."""

    plies: float = setting(1.0, "searched plies of a game", low=_POSITIVE)
    evaluations_per_simulation: float = setting(
        1.0, "evaluations of the network per simulation; results of the rules and the cache save some", low=_POSITIVE
    )
    new_simulations: float = setting(
        1.0,
        "share of a move's simulations that are made; the others are visits of a reused tree",
        low=_POSITIVE,
        high=1,
    )
    gpu_evaluation_tflops: float = setting(1.0, "evaluations on one GPU, 10^12 operations a second", low=_POSITIVE)
    gpu_learning_tflops: float = setting(1.0, "learning on one GPU, 10^12 operations a second", low=_POSITIVE)
    cpu_evaluation_gflops: float = setting(
        1.0, "evaluations on one core of a CPU, 10^9 operations a second", low=_POSITIVE
    )
    cpu_learning_gflops: float = setting(1.0, "learning on one core of a CPU, 10^9 operations a second", low=_POSITIVE)
    simulation_us: float = setting(0.0, "CPU time of a simulation without its evaluation, microseconds", low=0)
    ply_us: float = setting(
        0.0, "CPU time of a ply besides its simulations, microseconds; it holds the interpreter lock", low=0
    )
    batch_lock_us: float = setting(300.0, "time that a batch on a GPU holds the interpreter lock, microseconds", low=0)
    sample_us: float = setting(0.0, "CPU time of drawing and encoding a sample for the learner, microseconds", low=0)
    seal_us: float = setting(0.0, "CPU time of sealing a game's ply into a shard, microseconds", low=0)
    ingest_us: float = setting(
        0.0, "CPU time of taking in a ply of a game from another machine, without sealing it, microseconds", low=0
    )
    update_ms: float = setting(
        100.0, "CPU time of giving self-play another network, which is compiled, milliseconds", low=0
    )
    ply_bytes: float = setting(0.0, "bytes of a ply in a shard, with its policy target if it has one", low=0)
    ddp_share: float = setting(
        0.9, "speed of several learners together, as a share of their sum", low=_POSITIVE, high=1
    )
    network_mbytes: float = setting(1000.0, "network between machines, 10^6 bytes a second", low=_POSITIVE)
    disk_mbytes: float = setting(100.0, "disk of the run directory, 10^6 bytes a second", low=_POSITIVE)

    def __post_init__(self) -> None:
        check(self, "--assume")


@dataclass(frozen=True)
class Sourced:
    """Assumptions, and the source of each by name."""

    values: Assumptions
    sources: Mapping[str, str]

    def changed(self, values: Mapping[str, float], source: str) -> Sourced:
        """The same with some numbers from another source."""
        sources = {**self.sources, **dict.fromkeys(values, source)}
        return Sourced(dataclasses.replace(self.values, **values), sources)

    def lines(self) -> list[tuple[str, float, str, str]]:
        """Name, value, meaning and source of each."""
        return [
            (text.name, getattr(self.values, text.name), text.help, self.sources.get(text.name, GUESS))
            for text in describe(Assumptions)
        ]


def recorded_figures() -> dict[str, Any]:
    """The content of `data/capacity.toml`."""
    text = resources.files("zerosum").joinpath("data", "capacity.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def gpu_kinds() -> list[str]:
    """The kinds of GPUs whose peak is recorded."""
    return sorted(recorded_figures()["gpus"])


def figures_name(spec: GameSpec) -> str:
    """The name of a game in `data/capacity.toml`: Go has figures for each board.

    >>> from zerosum.games import make
    >>> figures_name(make("go9").spec), figures_name(make("chess").spec)
    ('go9', 'chess')
    """
    return f"{spec.name}{spec.board_shape[0]}" if spec.name == "go" else spec.name


def recorded(game: str, *, plies: float, gpu: str) -> Sourced:
    """The recorded figures for a game and a kind of GPU.

    Args:
        game: The game's `figures_name`. The figures of Connect Four stand for a game without its own.
        plies: Searched plies of a game, if none are recorded.
        gpu: A name of `gpu_kinds()`.

    Raises:
        SettingsError: the kind of GPU is unknown.
    """
    figures = recorded_figures()
    require_known("--gpu", gpu, tuple(gpu_kinds()))
    machine = figures["machine"]
    known = game in figures["games"]
    own = dict(figures["games"][game if known else "connect4"])
    source = "recorded" if known else "recorded for Connect Four; --measure measures this game"
    lengths = figures["plies"]
    values = {name: machine[name] for name in ("cpu_evaluation_gflops", "cpu_learning_gflops")} | own
    peak = figures["gpus"][gpu]
    values |= {
        "gpu_evaluation_tflops": EVALUATION_SHARE * peak,
        "gpu_learning_tflops": LEARNING_SHARE * peak,
        "plies": lengths.get(game, plies),
    }
    sources = dict.fromkeys(values, source)
    sources["plies"] = lengths["source"] if game in lengths else RANDOM_LENGTH
    for name, share in (("gpu_evaluation_tflops", EVALUATION_SHARE), ("gpu_learning_tflops", LEARNING_SHARE)):
        sources[name] = f"{GUESS}: {share:.0%} of the {peak:g} of an NVIDIA {gpu} (data sheet)"
    return Sourced(Assumptions(**values), sources)


def assumed(base: Sourced, changes: Sequence[str]) -> Sourced:
    """The assumptions with changes `name=value`, as `--assume` has them.

    Raises:
        SettingsError: a name is unknown, or a value out of range.
    """
    names = [field.name for field in dataclasses.fields(Assumptions)]
    values: dict[str, float] = {}
    for text in changes:
        name, equals, value = text.partition("=")
        if not equals:
            raise SettingsError(f"--assume {text!r}: write name=value, such as plies=120.")
        if name.strip() not in names:
            raise SettingsError(f"unknown assumption {name.strip()!r}: {nearest(name.strip(), names)}.")
        values[name.strip()] = parse_value(Assumptions, name.strip(), value.strip(), "--assume")
    return base.changed(values, GIVEN) if values else base

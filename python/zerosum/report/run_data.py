"""The data of runs for a report, read from their files. Runs may be training meanwhile; nothing is written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, ZerosumError
from zerosum.base.files import read_bytes, require_own_files
from zerosum.base.settings import to_mapping
from zerosum.network.checkpoint import list_checkpoints
from zerosum.replay.journal import parse_journal
from zerosum.replay.records import GameRecord
from zerosum.replay.shards import MOST_BYTES, read_manifest, read_shard
from zerosum.run.config import SECTIONS, RunConfig, load_config
from zerosum.run.config_words import minutes_word
from zerosum.run.held_out import HeldOut, HeldOutFile
from zerosum.run.metrics import MetricsRow, read_metrics
from zerosum.run.mistakes import Mistakes, mean_rate
from zerosum.run.strength import Strength, player_name

MOST_BLOCKS = 24
"""Most shards that are read of a run, evenly spread, including the first and the last."""
MARKS = ("step", "minutes", "games")
"""Horizontal axes of curves: columns of `MetricsRow`."""


@dataclass(frozen=True)
class Curve:
    """Values of a run at some of its steps."""

    steps: NDArray[np.float64]
    """[N], ascending."""
    values: NDArray[np.float64]
    """[N]."""
    errors: NDArray[np.float64] | None = None
    """[N], half the widths of the 95 % intervals, if known."""


@dataclass(frozen=True)
class RunData:
    """The contents of a run's files."""

    path: Path
    config: RunConfig
    rows: tuple[MetricsRow, ...]
    strength: Strength
    mistakes: Mistakes
    held_out: HeldOutFile
    checkpoints: tuple[Path, ...]
    """JSON files of the checkpoints, oldest first."""
    complaints: tuple[str, ...]
    """Sentences about files that could not be read."""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name or str(self.path)

    @property
    def unit(self) -> str:
        """The unit of its minutes."""
        return minutes_word(self.config.training)

    @property
    def family(self) -> str:
        """A key that is equal for runs that differ only in their seeds."""
        config = replace(self.config, training=replace(self.config.training, seed=0))
        return json.dumps({section: to_mapping(getattr(config, section)) for section in SECTIONS}, sort_keys=True)

    def at(self, steps: NDArray[np.float64], mark: str) -> NDArray[np.float64]:
        """[N], a mark's values at these steps, interpolated between the rows of the metrics."""
        if mark == "step" or not self.rows:
            return steps
        learning = [(row.step, getattr(row, mark)) for row in self.rows if row.step]
        known = np.array([(0.0, 0.0), *learning])
        return np.asarray(np.interp(steps, known[:, 0], known[:, 1]), np.float64)

    def metric(self, name: str) -> Curve:
        """A column of the metrics, without empty cells."""
        found = [(row.step, value) for row in self.rows if (value := getattr(row, name)) is not None]
        columns = np.array(found, float).reshape(-1, 2)
        return Curve(columns[:, 0], columns[:, 1])

    @property
    def elo(self) -> Curve:
        """Ratings of its checkpoints; random play is 0."""
        steps = self.strength.rated_steps
        ratings = [self.strength.ratings[player_name(step)] for step in steps]
        return Curve(
            np.array(steps, float),
            np.array([rating.elo for rating in ratings], float),
            np.array([rating.error for rating in ratings], float),
        )

    @property
    def mistake_rates(self) -> Curve:
        """Mean share of mistakes in solved positions, by checkpoint."""
        steps = sorted({rate.step for rate in self.mistakes.rates})
        rates = [mean_rate(self.mistakes.of_step(step)) for step in steps]
        values = np.array(rates, float).reshape(-1, 2)
        return Curve(np.array(steps, float), values[:, 0], values[:, 1])

    def held_out_curve(self, name: str) -> Curve:
        """A figure of `HeldOut` on dev, by checkpoint."""
        lines: Sequence[HeldOut] = [line for line in self.held_out.lines if line.split == "dev"]
        return Curve(
            np.array([line.step for line in lines], float), np.array([getattr(line, name) for line in lines], float)
        )

    def games(self) -> Iterator[GameRecord]:
        """The games of all `game_blocks`."""
        return (record for _, records in self.game_blocks() for record in records)

    def game_blocks(self) -> Iterator[tuple[int, list[GameRecord]]]:
        """The played games shard by shard, then the unsealed ones; each with the number of games before.

        Missing, damaged, empty or too large files are left out.
        """
        directory, before = self.path / "games", 0
        manifest = read_manifest(directory)
        shards = manifest.shards
        wanted = set(np.linspace(0, len(shards) - 1, min(len(shards), MOST_BLOCKS)).round().astype(int).tolist())
        for number, seal in enumerate(shards):
            if number in wanted and seal.shard:
                try:
                    records = read_shard(directory / seal.shard)
                except DataError:  # `zerosum train` reports it and sets it aside
                    records = []
                if records:
                    yield before, records
            before += seal.num_games
        journal = directory / manifest.journal
        try:
            records = parse_journal(read_bytes(journal, most_bytes=MOST_BYTES)).finished
        except OSError:
            return
        if records:
            yield before, records


def read_run(path: Path) -> RunData:
    """Read a run.

    Raises:
        DataError: it is not a run, or its settings cannot be read.
    """
    require_own_files(path)
    if not (path / "config.toml").is_file():
        raise DataError(f"{path} is not a run: expected a directory with a config.toml, as `zerosum train` makes it.")
    config = load_config(path / "config.toml")
    complaints: list[str] = []
    try:
        rows = tuple(read_metrics(path / "metrics.csv"))
    except ZerosumError as error:
        rows = ()
        complaints.append(str(error))
    return RunData(
        path,
        config,
        rows,
        Strength(path, None, config),
        Mistakes(path, None, config),
        HeldOutFile(path),
        tuple(list_checkpoints(path / "checkpoints")),
        tuple(complaints),
    )


def families(runs: Sequence[RunData]) -> list[list[RunData]]:
    """Groups of runs that differ only in their seeds, in the order of their first runs."""
    found: dict[str, list[RunData]] = {}
    for run in runs:
        found.setdefault(run.family, []).append(run)
    return list(found.values())


def differing_settings(runs: Sequence[RunData]) -> list[tuple[str, list[str]]]:
    """Settings that differ between runs: the name, and the value in each run."""
    return [(name, values) for name, values in all_settings(runs) if len(set(values)) > 1]


def all_settings(runs: Sequence[RunData]) -> list[tuple[str, list[str]]]:
    """Every setting: the name, and the value in each run."""
    found = [
        ("game", [str(run.config.game) for run in runs]),
        ("preset", [run.config.preset or "none" for run in runs]),
    ]
    for section in SECTIONS:
        mappings = [to_mapping(getattr(run.config, section)) for run in runs]
        names = dict.fromkeys(name for mapping in mappings for name in mapping)
        found += [(f"{section}.{name}", [_shown(mapping.get(name)) for mapping in mappings]) for name in names]
    return found


def _shown(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

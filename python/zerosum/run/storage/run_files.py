"""The files of a run that a copy has: sealed games, whole checkpoints, settings and tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.files import UNFINISHED
from zerosum.network.checkpoint import list_checkpoints
from zerosum.replay.shards import MANIFEST, read_manifest

STORES = ("games", "records")
"""The directories of games: played ones and imported ones."""
CHECKPOINTS = "checkpoints"

# Files of one machine or one process, and those that are made again from others.
_LOCAL = {"holder.lock", "holder.json", "stop", "store.json", "cluster.json", "calibration.json"}
_LOCAL_SUFFIXES = (".damaged", ".prom", UNFINISHED, ".sqlite", "-journal")
_LOCAL_DIRECTORIES = {"tensorboard", *STORES, CHECKPOINTS}


@dataclass(frozen=True)
class RunFile:
    """A file of a run, as far as it is complete."""

    path: str
    """Path in the run directory, with `/`."""
    num_bytes: int
    changed_ns: int
    """Time of the last change; 0 for a file that never changes."""


def complete_files(run: Path) -> list[RunFile]:
    """The files of a run that may be copied now, each after those that it refers to.

    Checkpoints are found before the games, because a checkpoint is saved after the games that it has learned from.
    """
    checkpoints = list(_checkpoint_files(run))
    games = [file for name in STORES for file in _game_files(run, name)]
    return [*_other_files(run), *games, *checkpoints]


def _other_files(run: Path) -> Iterator[RunFile]:
    for folder, folders, names in os.walk(run):
        top = Path(folder) == run
        folders[:] = sorted(
            name
            for name in folders
            if not (name.startswith(".") or name == "__pycache__" or (top and name in _LOCAL_DIRECTORIES))
        )
        for name in sorted(names):
            path = Path(folder) / name
            is_local = name.startswith(".") or name.endswith(_LOCAL_SUFFIXES) or (top and name in _LOCAL)
            if not is_local and not path.is_symlink():
                yield from _changing(run, path)


def _game_files(run: Path, name: str) -> Iterator[RunFile]:
    manifest = read_manifest(run / name)
    for seal in manifest.shards:
        yield RunFile(f"{name}/{seal.shard}", seal.num_bytes, 0)
    if manifest.whole_size:
        yield RunFile(f"{name}/{MANIFEST}", manifest.whole_size, manifest.whole_size)


def _checkpoint_files(run: Path) -> Iterator[RunFile]:
    for path in list_checkpoints(run / CHECKPOINTS):
        for file in (path.with_suffix(".safetensors"), path.with_suffix(".learner.safetensors"), path):
            if file.exists():
                yield RunFile(f"{CHECKPOINTS}/{file.name}", file.stat().st_size, 0)
    yield from _changing(run, run / CHECKPOINTS / "best")


def _changing(run: Path, path: Path) -> Iterator[RunFile]:
    try:
        status = path.stat()
    except FileNotFoundError:  # removed meanwhile
        return
    yield RunFile(path.relative_to(run).as_posix(), status.st_size, status.st_mtime_ns)

"""`zerosum clean`: removes what a run no longer needs.

Games stay: learning goes on from them, and they are the only part that cannot be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.errors import DataError, counted, printable
from zerosum.base.files import UNFINISHED, sync_directory, writing
from zerosum.network.checkpoint import checkpoint_files, checkpoints_to_play, list_checkpoints
from zerosum.replay.shards import MANIFEST, read_manifest
from zerosum.run.run_directory import RECORDS, hold

KEPT_CHECKPOINTS = 5


@dataclass(frozen=True)
class Needless:
    """A file that a run does not need, and the reason."""

    path: Path
    why: str
    size: int
    """Bytes."""


def clean(
    run: Path, *, num_checkpoints: int = KEPT_CHECKPOINTS, is_dry: bool = False, write: Callable[[str], None] = print
) -> list[Needless]:
    """Remove old checkpoints, journals whose games are sealed, and what damage and kills have left behind.

    The newest checkpoints stay, and the one that plays in a run with a gate. The run is locked meanwhile.

    Args:
        run: The run directory.
        num_checkpoints: Number of newest checkpoints that stay, at least 1.
        is_dry: Only list the files.
        write: Gets a line about each file, and the sum.

    Returns:
        The files.

    Raises:
        DataError: it is not a run, or a name in it is a link that leads outside.
        RunError: another process holds the run, or it cannot be written.
    """
    if not (run / "config.toml").is_file():
        raise DataError(f"{run} is not a run: expected a directory with a config.toml, as `zerosum train` makes it.")
    with hold(run):
        found = list(needless(run, num_checkpoints))
        for file in found:
            write(printable(f"{file.path}  {file.size:,} bytes, {file.why}"))
        if not is_dry:
            with writing(run):
                for file in found:
                    file.path.unlink()
                for folder in {file.path.parent for file in found}:
                    sync_directory(folder)
    total = sum(file.size for file in found)
    verb = "would be removed" if is_dry else "removed"
    write(f"{counted(len(found), 'file')} {verb}, {total / 1e6:,.1f} MB.")
    return found


def needless(run: Path, num_checkpoints: int) -> Iterator[Needless]:
    """The files that a run does not need. The JSON of a checkpoint comes first: without it the others are none."""
    checkpoints = run / "checkpoints"
    kept = {*list_checkpoints(checkpoints)[-num_checkpoints:], *checkpoints_to_play(checkpoints)[:1]}
    for path in list_checkpoints(checkpoints):
        if path not in kept:
            for file in checkpoint_files(path):
                yield _needless(file, "an old checkpoint")
    for store in (run / "games", run / RECORDS):
        if (store / MANIFEST).is_file():
            journal = read_manifest(store).journal
            for path in sorted(store.glob("journal-*.bin")):
                if path.name < journal:
                    yield _needless(path, "a journal whose games are sealed")
    for folder in (run, checkpoints, run / "games", run / RECORDS):
        for path in sorted(folder.glob("*")) if folder.is_dir() else ():
            if path.is_file() and path.name.endswith(".damaged"):
                yield _needless(path, "set aside as damaged")
            elif path.is_file() and path.name.startswith(".") and path.name.endswith(UNFINISHED):
                yield _needless(path, "left unfinished by a kill")


def _needless(path: Path, why: str) -> Needless:
    return Needless(path, why, path.stat().st_size)

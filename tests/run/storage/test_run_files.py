"""The files of a run that are copied, and their order."""

from __future__ import annotations

import random
from pathlib import Path

from zerosum.run.storage.run_files import complete_files

COPIED = [
    "config.toml",
    "metrics.csv",
    "tuning/first.json",
    "tuning/games/second.json",
    "tuning/checkpoints/best",
    "tuning/store.json",
    "tuning/holder.lock",
    "tuning/tensorboard/events",
    "prominent",
]
LEFT_OUT = [
    ".hidden",
    ".hidden.d/x",
    "__pycache__/mine.pyc",
    "tuning/__pycache__/mine.pyc",
    "tuning/.x.json.unfinished",
    "x.unfinished",
    "store.json",
    "holder.lock",
    "holder.json",
    "stop",
    "cluster.json",
    "calibration.json",
    "metrics.csv.01234567.damaged",
    "tuning/x.damaged",
    "metrics.prom",
    "games.sqlite",
    "games.sqlite-journal",
    "tensorboard/events",
    "games/not in its manifest.parquet",
    "checkpoints/no checkpoint",
]


def test_files_of_one_machine_and_unfinished_ones_are_not_copied(tmp_path: Path) -> None:
    run = tmp_path / "run"
    names = [*COPIED, *LEFT_OUT]
    random.Random(0).shuffle(names)
    for name in names:
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes(name.encode())
    (run / "link").symlink_to(run / "config.toml")
    (run / "checkpoints" / "best").write_bytes(b"17")
    found = complete_files(run)
    assert sorted(file.path for file in found) == sorted([*COPIED, "checkpoints/best"])
    for file in found:
        status = (run / file.path).stat()
        assert (file.num_bytes, file.changed_ns) == (status.st_size, status.st_mtime_ns)
    inside = [file.path for file in found if file.path.startswith("tuning/") and file.path.count("/") == 1]
    assert inside == sorted(inside), "the order does not depend on that of the disk"
    assert complete_files(run) == found

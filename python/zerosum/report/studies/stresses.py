"""The stresses of the study of stability: copies of a run in which something has gone wrong."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from zerosum.base.holding import LEFT_BY_A_KILL
from zerosum.network import Checkpoint, load_checkpoint, save_checkpoint
from zerosum.network.checkpoint import checkpoint_files, list_checkpoints, load_learner_state, read_info
from zerosum.replay.game_store import GameStore
from zerosum.replay.journal import record_entries
from zerosum.replay.records import GameRecord

CONTROL, RATE, POISON, SET_BACK = "control", "learning-rate", "poisoned-window", "set-back"
RATE_FACTOR = 10
POISONED_SHARE = 0.5
"""Share of the recorded games whose result is negated: as many as leave nothing to learn from the results."""
SET_BACK_SHARE = 0.25
"""The share of the run's steps at which the network stands that replaces the newest."""
STRESSES = {
    CONTROL: "nothing is changed",
    RATE: f"the learning rate x {RATE_FACTOR} for a quarter of the steps",
    POISON: f"the results of {100 * POISONED_SHARE:.0f} % of all recorded games are negated",
    SET_BACK: "an early network with its optimiser in place of the newest, beside the newest games",
}
"""The stresses: what each is."""


def stressed_copy(run: Path, copy: Path, stress: str, *, seed: int) -> None:
    """Copy a run that nobody trains, with the changes that a stress makes to its files.

    Games in flight are left out of every copy. The copy has its name when it is complete.

    Args:
        run: The run, with two checkpoints or more.
        copy: The directory of the copy, which does not exist.
        stress: One of `STRESSES`.
        seed: Draws the games whose results are negated.

    Raises:
        DataError: a file of the run is damaged.
        RunError: a directory cannot be written.
    """
    unfinished = copy.with_name(f"{copy.name}.unfinished")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    shutil.copytree(run, unfinished, ignore=shutil.ignore_patterns("games", "tensorboard", *LEFT_BY_A_KILL))
    share = POISONED_SHARE if stress == POISON else 0.0
    copy_games(run / "games", unfinished / "games", negated_share=share, seed=seed)
    if stress == SET_BACK:
        set_back(unfinished / "checkpoints")
    os.replace(unfinished, copy)


def copy_games(source: Path, target: Path, *, negated_share: float, seed: int) -> None:
    """Copy the finished games of a store into a new one, the results of some of them negated. Raises as `GameStore`."""
    with _store(source) as store:
        records = list(store.recent(num_games=store.num_games))
    order = np.random.default_rng(seed).permutation(len(records))
    for number in order[: round(negated_share * len(records))]:
        records[number] = _negated(records[number])
    with _store(target) as store:
        store.take_games(records, [b"".join(record_entries(record)) for record in records])


def set_back(checkpoints: Path) -> None:
    """Put an early network and its optimiser in the place of a run's newest, whose step and counts stay.

    Raises:
        DataError: a checkpoint is damaged.
    """
    *earlier, newest = list_checkpoints(checkpoints)
    info = load_checkpoint(newest).info
    early = min(earlier, key=lambda path: abs(read_info(path).step - SET_BACK_SHARE * info.step))
    weights, (state, _) = load_checkpoint(early).weights, load_learner_state(early)
    _, counts = load_learner_state(newest)
    for path in checkpoint_files(newest):
        path.unlink()
    save_checkpoint(checkpoints, Checkpoint(info=info, weights=weights), learner_state=state, learner_info=counts)


def _negated(record: GameRecord) -> GameRecord:
    return replace(record, outcome=0.0 - record.outcome)


@contextlib.contextmanager
def _store(directory: Path) -> Iterator[GameStore]:
    store = GameStore(directory, report=lambda _line: None)
    try:
        yield store
    finally:
        store.close()

"""A run's directory before a training: its lock, the checks that it can be used, and the settings of the training.

All checks come before the first write.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zerosum.base.errors import RunError, SettingsError
from zerosum.base.files import (
    MOST_NOTE_BYTES,
    UNFINISHED,
    read_bytes,
    replace_durably,
    require_own_files,
    writing,
)
from zerosum.base.holding import LEFT_BY_A_KILL, held
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.games.rules import names_planes, with_planes_of
from zerosum.network import CheckpointInfo, load_checkpoint
from zerosum.network.checkpoint import DamagedCheckpointError, checkpoint_path, list_checkpoints, require_learner_state
from zerosum.network.evaluators.backends import backend_of
from zerosum.network.evaluators.device import torch_device
from zerosum.network.growing import growth_obstacle
from zerosum.replay.shards import read_manifest
from zerosum.run.config import RunConfig, changed, dump_config, load_config, new_run, require_fit
from zerosum.run.run_plan import RunPlan

STOP = "stop"
"""The file that asks the training to end. The number of a process in a file could be that of any process."""
STOP_POLL_S = 0.5
RECORDS = "records"
"""The directory of imported games, a store like that of played games."""
RECORDS_INDEX = "records-index.sqlite"
"""The file that lists the origins of imported games."""

# Files that a kill can leave before the run has settings.
_BEFORE_SETTINGS = {*LEFT_BY_A_KILL, STOP, f".config.toml{UNFINISHED}"}
# Games may be imported before the run has settings.
_BEFORE_SETTINGS |= {RECORDS, RECORDS_INDEX, f"{RECORDS_INDEX}-journal"}


_PARTS = ("games", RECORDS, "checkpoints", "tensorboard")


@contextlib.contextmanager
def hold(directory: Path) -> Iterator[None]:
    """Lock the directory for this process while it trains.

    Raises:
        RunError: another process holds it, or it cannot be written.
        DataError: a name in it is a link that leads outside.
    """
    with held(directory, option="--run") as begun:
        try:
            for part in _PARTS:
                _require_writable(directory / part)
            _remove_older_request(directory, begun)
            yield
        finally:
            (directory / STOP).unlink(missing_ok=True)


def ask_to_stop(directory: Path) -> Path:
    """Ask the training that holds a run to end. Returns the file that asks; raises RunError."""
    with writing(directory):
        replace_durably(directory / STOP, "")
    return directory / STOP


@contextlib.contextmanager
def stopped_by_request(directory: Path, stop: threading.Event) -> Iterator[None]:
    """Set `stop` when the file appears that asks the training to end."""
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(STOP_POLL_S):
            if (directory / STOP).exists():
                (directory / STOP).unlink(missing_ok=True)
                stop.set()

    thread = threading.Thread(target=look, name="stop", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _remove_older_request(directory: Path, begun: int) -> None:
    """Remove a request to stop an earlier training; one that came since this training began is for this one."""
    with contextlib.suppress(FileNotFoundError):
        if (directory / STOP).lstat().st_mtime_ns < begun:
            (directory / STOP).unlink()


def _require_writable(directory: Path) -> None:
    """Refuse a directory that cannot be written now instead of at the first save."""
    try:
        if directory.exists():
            tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        raise RunError(
            f"{directory} cannot be written ({error.strerror}): make it writable, or name another run with --run."
        ) from error


def plan(
    directory: Path,
    game: Rules,
    name: GameName,
    *,
    preset: str = "",
    asked: Mapping[str, Mapping[str, Any]],
) -> RunPlan:
    """The plan of a training: by the settings of the run with the changes asked for, or by new ones.

    This writes nothing.

    Raises:
        RunError: the directory is not a run, or a run of another game.
        SettingsError: a setting is unknown, out of range, or fixed since the run began.
        DataError: a file of the run has a newer format, or its network does not fit the game.
    """
    require_own_files(directory)
    if (directory / "config.toml").exists():
        game, config = _changed_run(directory, game, name, preset=preset, asked=asked)
    else:
        _require_no_strangers(directory)
        game, config = new_run(game, name, preset=preset, asked=asked)
    if config.training.device != "auto":
        torch_device(config.training.device)
    backend_of(config.training.evaluator, is_muzero=config.network.kind == "muzero")
    return RunPlan(directory, game, config)


def write_config(directory: Path, config: RunConfig) -> None:
    """Write `config.toml` atomically, unless it has the same text already."""
    path, text = directory / "config.toml", dump_config(config)
    with writing(directory):
        if not path.exists() or read_bytes(path, most_bytes=MOST_NOTE_BYTES) != text.encode():
            replace_durably(path, text)


def _require_no_strangers(directory: Path) -> None:
    try:
        strangers = {path.name for path in directory.iterdir()} - _BEFORE_SETTINGS if directory.exists() else set()
    except OSError as error:
        raise RunError(f"{directory} cannot be read ({error.strerror}): name a directory with --run.") from error
    if strangers:
        raise RunError(f"{directory} exists and is not a run: name another directory with --run.")


def _changed_run(
    directory: Path, game: Rules, name: GameName, *, preset: str, asked: Mapping[str, Mapping[str, Any]]
) -> tuple[Rules, RunConfig]:
    """The rules of an existing run, with its planes, and its settings with the changes asked for."""
    before = load_config(directory / "config.toml")
    # The run may come from anybody: a program that it names does not run here.
    if before.training.planes and not names_planes(game) and before.game.is_core:
        game = with_planes_of(game, make(before.game))
        name = GameName.of_core(game.spec)
    if before.game != name:
        # A game's file may have moved with its project. `require_fit` checks that it is the same game.
        parts, theirs = (name.base, name.options), (before.game.base, before.game.options)
        if name.file is None or before.game.file is None or parts != theirs:
            raise RunError(f"{directory} is a run of {before.game}, not of {name}: name another directory with --run.")
    read_manifest(directory / "games")  # raises for a newer format
    network = _newest_network(directory)
    if preset not in ("", before.preset):
        began = f"with the preset {before.preset!r}" if before.preset else "without a preset"
        raise SettingsError(f"{directory} began {began}, which cannot be changed: start a new run for {preset!r}.")
    after = dataclasses.replace(changed(before, asked), game=name)
    if setting := growth_obstacle(before.network, after.network):
        gains = "blocks" if before.network.kind == "muzero" else "blocks, filters"
        raise SettingsError(
            f"{directory}: network.{setting} was {getattr(before.network, setting)} and cannot become"
            f" {getattr(after.network, setting)}, because the network of a run can only gain {gains} or global"
            " pooling; start a new run."
        )
    if _fixed_settings(before) != _fixed_settings(after):
        raise SettingsError(
            f"{directory}: the initial network, the planes and the seed of a run cannot be changed; start a new run."
        )
    if before.training.clock != after.training.clock:
        raise SettingsError(
            f"{directory}: its minutes so far are counted by training.clock={before.training.clock!r}, so they cannot"
            f" be counted by {after.training.clock!r} from now on; start a new run, which may begin with this network:"
            f" --set training.initial_network={directory}."
        )
    require_fit(after, game, network)
    _require_repeatable(directory, before, after)
    return game, after


def _fixed_settings(config: RunConfig) -> tuple[object, ...]:
    """The settings that a run keeps."""
    return config.training.initial_network, config.training.planes, config.training.seed


def _require_repeatable(directory: Path, before: RunConfig, after: RunConfig) -> None:
    """Refuse changes after which a deterministic run would differ from an uninterrupted one."""
    if not after.training.deterministic or dataclasses.replace(before, game=after.game) == after:
        return
    if not before.training.deterministic:
        raise SettingsError(f"{directory} began without training.deterministic: start a new run for it.")
    checkpoints = list_checkpoints(directory / "checkpoints")
    if checkpoints and checkpoints[-1] != checkpoint_path(directory / "checkpoints", before.training.steps or 0):
        raise SettingsError(
            f"{directory} is deterministic: its settings cannot be changed until its budget of {before.training.steps}"
            " steps is used up. Go on without repeating, --set training.deterministic=false, or start a new run."
        )


def _newest_network(directory: Path) -> CheckpointInfo | None:
    """The newest network of a run whose files are whole; None without one.

    Raises:
        DataError: its format is newer, or it is a network for playing only.
    """
    checkpoints = directory / "checkpoints"
    for path in reversed(list_checkpoints(checkpoints)):
        try:
            info = load_checkpoint(path).info
        except DamagedCheckpointError:
            continue  # the training sets it aside and reports it
        require_learner_state(path)
        return info
    return None

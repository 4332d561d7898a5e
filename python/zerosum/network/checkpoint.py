"""A network on disk: weights, their description, and the learner's state. No pickle.

A checkpoint of step 1000 is three files:

    step-00001000.safetensors           weights, float32 (float16 in networks that only play)
    step-00001000.learner.safetensors   optimiser state, only for training
    step-00001000.json                  description, with size and SHA-256 of the other two

The JSON is written last and is the commit: without it the other two are not a checkpoint. Each file is written under a
temporary name, synced, and renamed to its final name, so a file of that name is complete. Checksums, also of the JSON
itself, detect later damage by the disk. Only `load_newest` and `set_aside` rename existing files.

A file `best` names the checkpoint that plays if it is not the newest: that of a run with a gate.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.arrays import pack_arrays
from zerosum.base.errors import DataError, printable, shown
from zerosum.base.files import (
    MOST_NOTE_BYTES,
    read_bytes,
    replace_durably,
    require_own_files,
    sync_directory,
    write_durably,
    writing,
)
from zerosum.base.settings import from_mapping
from zerosum.games import Rules
from zerosum.network.any_size import described_for, for_game
from zerosum.network.config import NetworkConfig
from zerosum.network.description import FORMAT_VERSION, Checkpoint, CheckpointInfo
from zerosum.network.katago import is_katago_file, read_katago
from zerosum.network.lc0 import is_lc0_file, read_lc0
from zerosum.network.weights import weight_shapes

_BEST = "best"
_MOST_LEARNER_SHARE = 8
"""Largest size of the learner's state as a multiple of the weights': the optimisers have at most three arrays each."""
_FILE_NAME = re.compile(r"step-\d{8,}\.json")


class DamagedCheckpointError(DataError):
    """A checkpoint's files are missing, cut off or altered. `set_aside` renames them."""


def save_checkpoint(
    directory: Path,
    checkpoint: Checkpoint,
    *,
    learner_state: Mapping[str, NDArray[Any]],
    learner_info: Mapping[str, Any],
) -> Path:
    """Write a checkpoint durably, and return the path of its JSON.

    `learner_state` has arrays by name, of any dtype of safetensors; `learner_info` is written as JSON. `directory` is
    made if it does not exist.

    Raises:
        FileExistsError: the directory already has a checkpoint of this step.
    """
    parts = {"weights": checkpoint.weights, "learner": learner_state}
    return _write(directory, checkpoint.info, parts, {"learner": dict(learner_info)})


def save_network(directory: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint for playing only, with weights in float16, and return the path of its JSON.

    Raises:
        FileExistsError: the directory already has a checkpoint of this step.
        DataError: a weight is beyond the range of float16.
    """
    largest = np.finfo(np.float16).max
    for name, weight in checkpoint.weights.items():
        if not (np.abs(weight) <= largest).all():
            raise DataError(f"The weights {name} do not fit float16, whose largest number is {largest}.")
    halves = {name: weight.astype(np.float16) for name, weight in checkpoint.weights.items()}
    return _write(directory, checkpoint.info, {"weights": halves}, {})


def _write(
    directory: Path, info: CheckpointInfo, parts: Mapping[str, Mapping[str, NDArray[Any]]], more: Mapping[str, Any]
) -> Path:
    """Write the parts of a checkpoint, each a safetensors file, then its JSON with `more` in it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = checkpoint_path(directory, info.step)
    if path.exists():
        raise FileExistsError(f"The checkpoint of this step exists already: {path}.")
    files = {}
    for part, arrays in parts.items():
        content = pack_arrays(arrays)
        write_durably(_part_path(path, part), content)
        files[part] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    body = {**asdict(info), **more, "files": files}
    body = json.loads(json.dumps(body, allow_nan=False))  # as it will be read, because the checksum is of that form
    body["sha256"] = _body_checksum(body)
    write_durably(path, json.dumps(body, indent=2).encode())
    return path


def checkpoint_path(directory: Path, step: int) -> Path:
    """The path of the JSON of the checkpoint of `step`."""
    return directory / f"step-{step:08d}.json"


def list_checkpoints(directory: Path) -> list[Path]:
    """The JSON files of a directory's checkpoints, by ascending step. Damage is detected on loading.

    Raises:
        DataError: the directory exists but cannot be read.
    """
    try:
        paths = list(directory.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(
            f"The checkpoints in {directory} cannot be read: {error.strerror}. Check that it is a directory and may be"
            " read."
        ) from error
    return sorted((path for path in paths if _FILE_NAME.fullmatch(path.name)), key=_step)


def checkpoint_files(path: Path) -> list[Path]:
    """The existing files of the checkpoint whose JSON is `path`, the JSON first."""
    return [file for file in (path, _part_path(path, "weights"), _part_path(path, "learner")) if file.exists()]


def mark_best(directory: Path, step: int | None) -> None:
    """Let the checkpoint of this step play, whatever newer ones are saved; None lets the newest play.

    Raises:
        RunError: the directory cannot be written.
    """
    with writing(directory):
        if step is None:
            (directory / _BEST).unlink(missing_ok=True)
        else:
            replace_durably(directory / _BEST, f"{checkpoint_path(directory, step).name}\n")


def checkpoints_to_play(directory: Path) -> list[Path]:
    """The JSON files of a directory's checkpoints in the order in which they are tried: the best, then the newest.

    Raises:
        DataError: the directory exists but cannot be read.
    """
    newest_first = list_checkpoints(directory)[::-1]
    try:
        best = read_bytes(directory / _BEST, most_bytes=MOST_NOTE_BYTES).decode(errors="replace").strip()
    except OSError:
        best = ""
    return sorted(newest_first, key=lambda path: path.name != best)  # a stable order


def _print_error(message: str) -> None:
    print(message, file=sys.stderr)


def load_checkpoint(
    path: Path, *, game: Rules | None = None, report: Callable[[str], None] = _print_error
) -> Checkpoint:
    """Read a network from a checkpoint's JSON, or the first undamaged one of a directory or a run directory.

    Files of Lc0 (`lc0.py`) and of KataGo (`katago.py`) are read, too. One of KataGo's, and one of our own that plays
    boards of all sizes, is for the board of `game` (`any_size.py`); other networks have their own.

    The order is that of `checkpoints_to_play`. Only the JSON and the weights are needed. A directory's damaged
    checkpoints are skipped; `report` gets a sentence for each.

    Raises:
        DataError: the checkpoint is missing, damaged or of a newer format, or the run has links that lead outside.
    """
    if not path.exists():
        raise DataError(f"{path} does not exist: name a run directory or a checkpoint's JSON.")
    if not path.is_dir():
        if is_lc0_file(path):
            return read_lc0(path)
        if is_katago_file(path):
            return read_katago(path, game)
        if path.suffix != ".json":
            raise DataError(
                f"{path} is not a network: name a checkpoint's .json file, the directory that holds it, or a network"
                " of Lc0 (.pb.gz) or of KataGo (.bin.gz)."
            )
        return for_game(_read_checkpoint(path), game)
    directory = path / "checkpoints" if (path / "checkpoints").is_dir() else path
    if directory != path:
        require_own_files(path)
    for candidate in checkpoints_to_play(directory):
        try:
            return for_game(_read_checkpoint(candidate), game)
        except DamagedCheckpointError as error:
            report(printable(f"{error} Another checkpoint is used instead."))
    raise DataError(f"{directory} has no undamaged checkpoint: train first, or name a directory that holds one.")


def read_info(path: Path, *, game: Rules | None = None) -> CheckpointInfo:
    """The description of a network from the checkpoint's JSON at `path`, without reading the weights.

    That of a network that plays boards of all sizes is for the board of `game`, as in `load_checkpoint`.

    Raises:
        DataError: the checkpoint is missing, damaged, or of a newer format.
    """
    if is_lc0_file(path):
        return read_lc0(path).info
    if is_katago_file(path):
        return read_katago(path, game).info
    return described_for(_info_of(path, _read_body(path)), game)


def load_learner_state(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The `learner_state` and `learner_info` of the checkpoint whose JSON is `path`.

    Raises:
        DataError: the checkpoint is missing, damaged, or of a newer format.
    """
    body = _read_body(path)
    learner_info = body.get("learner")
    if not isinstance(learner_info, dict):
        raise _nonsense(path, path, TypeError(f"learner is {learner_info!r}"))
    return _read_arrays(path, body, "learner"), learner_info


def require_learner_state(path: Path) -> None:
    """Refuse to train on from a checkpoint that `save_network` wrote.

    Raises:
        DataError: it has no learner state, or it is missing, damaged, or of a newer format.
    """
    if "learner" not in _read_body(path):
        raise DataError(
            f"{path} is a network for playing only, without the learner's state, so its training cannot continue:"
            " begin a new run with it by --from-network, in another directory."
        )


def load_newest(directory: Path) -> tuple[Checkpoint | None, list[str]]:
    """The newest checkpoint of a directory from which training can continue, and messages about damaged ones.

    Its weights and learner state are undamaged; None if no checkpoint is. Newer, damaged checkpoints are set aside,
    with a message each.

    Raises:
        DataError: the newest checkpoint has a newer format; nothing is changed.
    """
    messages: list[str] = []
    for path in reversed(list_checkpoints(directory)):
        try:
            return _read_twice(path), messages
        except DamagedCheckpointError as error:
            messages.append(set_aside(path, str(error)))
    return None, messages


def _read_twice(path: Path) -> Checkpoint:
    """A completely undamaged checkpoint. One that seems damaged is read again, because disks can err once."""
    try:
        load_learner_state(path)
        return _read_checkpoint(path)
    except DamagedCheckpointError:
        load_learner_state(path)
        return _read_checkpoint(path)


def set_aside(path: Path, reason: str) -> str:
    """Rename the files of the checkpoint whose JSON is `path` to `*.damaged`; return a message with `reason`."""
    renamed = []
    for file in checkpoint_files(path):
        os.replace(file, f"{file}.damaged")
        renamed.append(f"{file.name}.damaged")
    sync_directory(path.parent)
    return f"{reason} It was set aside as {', '.join(renamed)}."


def _read_checkpoint(path: Path) -> Checkpoint:
    body = _read_body(path)
    info, weights = _info_of(path, body), _read_arrays(path, body, "weights")
    weights = {
        name: weight.astype(np.float32) if weight.dtype == np.float16 else weight for name, weight in weights.items()
    }
    try:
        return Checkpoint(info=info, weights=weights)
    except DataError as error:
        raise DamagedCheckpointError(f"The checkpoint {path} is damaged: {error}") from error


def _info_of(path: Path, body: dict[str, Any]) -> CheckpointInfo:
    """The description in a body whose checksum is right, if `save_checkpoint` could have written it."""
    _require_known_settings(path, body.get("network"))
    try:
        info = _info_of_body(body)
        for field_of_info in fields(info):
            value = getattr(info, field_of_info.name)
            if field_of_info.type == "str" and not isinstance(value, str):
                raise TypeError(f"{field_of_info.name} is {value!r}")
            if field_of_info.type == "int" and not (type(value) is int and 0 <= value < 1 << 62):
                raise ValueError(f"{field_of_info.name} is {value!r}")
        height, width = info.board_shape
        if not (1 <= height <= 255 and 1 <= width <= 255 and 1 <= info.num_actions <= 65535 and info.planes):
            raise ValueError(f"board {info.board_shape}, {info.num_actions} actions, {len(info.planes)} planes")
        weight_shapes(info.network, info.shape)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _nonsense(path, path, error) from error
    return info


def _require_known_settings(path: Path, network: object) -> None:
    """Raise DataError for a network of another version, which has settings that this one does not know."""
    known = {field.name for field in fields(NetworkConfig)}
    unknown = sorted(network.keys() - known) if isinstance(network, dict) else []
    if unknown:
        raise DataError(
            f"The checkpoint {path} has {', '.join(shown(f'network.{name}') for name in unknown)}, which this version"
            " of zerosum does not have: another version wrote it and can play it. Train a new network, or use that"
            " version; nothing was changed."
        )


def _nonsense(path: Path, file: Path, error: Exception) -> DamagedCheckpointError:
    return DamagedCheckpointError(
        f"The checkpoint {path} is damaged: {file.name} has the right checksum but is not a file of zerosum"
        f" ({shown(f'{type(error).__name__}: {error}')})."
    )


def _info_of_body(body: dict[str, Any]) -> CheckpointInfo:
    values = {name: value for name, value in body.items() if name not in ("learner", "files", "sha256")}
    values["network"] = from_mapping(NetworkConfig, body["network"], "network")
    values["planes"] = tuple((str(name), bool(is_constant)) for name, is_constant in body["planes"])
    values["board_shape"] = tuple(body["board_shape"])
    return CheckpointInfo(**values)


def _read_body(path: Path) -> dict[str, Any]:
    """The content of a checkpoint's JSON, after checks of its format and checksum."""
    content = _read_bytes(path, path, most_bytes=MOST_NOTE_BYTES)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise DamagedCheckpointError(f"The checkpoint {path} is damaged: {path.name} is not complete JSON.")
    version = body.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise DataError(
            f"The checkpoint {path} has format {version}, which is newer than this version of zerosum reads "
            f"({FORMAT_VERSION}). Update zerosum; nothing was changed."
        )
    checksum = body.get("sha256")
    if checksum != _body_checksum(body):
        raise DamagedCheckpointError(f"The checkpoint {path} is damaged: {path.name} does not match its own checksum.")
    return body


def _read_arrays(path: Path, body: dict[str, Any], part: str) -> dict[str, NDArray[Any]]:
    """The arrays of one of a checkpoint's two safetensors files, after checks of size and checksum."""
    import safetensors
    import safetensors.numpy

    file = _part_path(path, part)
    try:
        expected_bytes, expected_sha256 = (body["files"][part][name] for name in ("bytes", "sha256"))
    except (KeyError, TypeError) as error:
        raise _nonsense(path, path, error) from error
    content = _read_bytes(path, file, most_bytes=_most_bytes(path, body, part))
    if len(content) != expected_bytes:
        raise DamagedCheckpointError(
            f"The checkpoint {path} is damaged: {file.name} has {len(content)} bytes, expected {expected_bytes}."
        )
    if hashlib.sha256(content).hexdigest() != expected_sha256:
        raise DamagedCheckpointError(f"The checkpoint {path} is damaged: {file.name} does not match its checksum.")
    try:
        return safetensors.numpy.load(content)
    # NumPy has no bfloat16 and no 8-bit floats; safetensors raises several classes of errors for them.
    except (safetensors.SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise _nonsense(path, file, error) from error


def _most_bytes(path: Path, body: dict[str, Any], part: str) -> int:
    """The most bytes of a part: of the weights those that the description needs, of the learner's state a multiple."""
    info = _info_of(path, body)
    weights = sum(4 * math.prod(shape) for shape in weight_shapes(info.network, info.shape).values())
    return MOST_NOTE_BYTES + (2 if part == "weights" else _MOST_LEARNER_SHARE) * weights


def _read_bytes(path: Path, file: Path, *, most_bytes: int) -> bytes:
    """The content of a checkpoint's file. A failed read is repeated once."""
    try:
        try:
            return read_bytes(file, most_bytes=most_bytes)
        except FileNotFoundError:
            raise
        except OSError:
            return read_bytes(file, most_bytes=most_bytes)
    except FileNotFoundError:
        if file == path:
            raise DataError(f"There is no checkpoint {path}.") from None
        raise DamagedCheckpointError(f"The checkpoint {path} is damaged: {file.name} is missing.") from None
    except OSError as error:
        raise DataError(f"The checkpoint {path} cannot be read: {file.name}: {error.strerror}.") from error


def _step(path: Path) -> int:
    return int(path.stem.removeprefix("step-"))


def _part_path(path: Path, part: str) -> Path:
    return path.with_suffix(".safetensors" if part == "weights" else f".{part}.safetensors")


def _body_checksum(body: Mapping[str, Any]) -> str:
    """SHA-256 of the content of a checkpoint's JSON without the checksum itself, independent of the layout."""
    content = {name: value for name, value in body.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

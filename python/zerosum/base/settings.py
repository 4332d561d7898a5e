"""Frozen dataclasses as settings: checked, written as TOML, read back, changed by `section.name=value`.

A setting lives with the code that obeys it: each module has a frozen `XConfig` whose fields carry a sentence of
documentation in `field(metadata={"help": ...})` through `setting()`. A `Literal` type lists the allowed words.
This file knows no setting by name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import os
import tomllib
import types
import typing
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from zerosum.base.errors import DataError, SettingsError, nearest, shown
from zerosum.base.files import MOST_NOTE_BYTES, read_text
from zerosum.base.version import __version__

FORMAT_VERSION = 1
"""Format version of the `config.toml` in a run directory."""

ConfigT = TypeVar("ConfigT")


def setting(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """A dataclass field with one sentence of help and the range it allows; `low` and `high` are inclusive."""
    return dataclasses.field(default=default, metadata={"help": help, "low": low, "high": high})


def check(config: Any, section: str) -> None:
    """Check the type and range of every field of a config dataclass; called from `__post_init__`.

    Raises:
        SettingsError: a value is not allowed; the message names the setting, its value and the allowed values.
    """
    hints = _type_hints(type(config))
    for field in dataclasses.fields(config):
        value, name, allowed = getattr(config, field.name), f"{section}.{field.name}", field.metadata
        expected = hints[field.name]
        if not _is_of_type(value, expected):
            raise SettingsError(f"{name} is {value!r}, expected {_type_name(expected)}.")
        if value is None:
            continue
        low, high = allowed.get("low"), allowed.get("high")
        if typing.get_origin(expected) is typing.Literal:
            require_known(name, value, typing.get_args(expected))
        if isinstance(value, float) and not math.isfinite(value):
            raise SettingsError(f"{name} is {value!r}, expected a finite number.")
        if (low is not None and value < low) or (high is not None and value > high):
            raise SettingsError(f"{name} is {value!r}, but must be {_bounds_text(low, high)}.")


_cached_type_hints = functools.cache(typing.get_type_hints)


def _type_hints(config_type: type) -> dict[str, Any]:
    """Types by field, kept: to evaluate them takes longer than the checks, and a match makes configs for each game."""
    return _cached_type_hints(typing.cast(Hashable, config_type))


@dataclasses.dataclass(frozen=True)
class SettingText:
    """The documentation of a setting."""

    name: str
    type: str
    """The type in words, and the allowed values."""
    default: str
    """The default in TOML's notation, or "none"."""
    help: str


def describe(config_type: type) -> list[SettingText]:
    """The settings of a config dataclass, in its order."""
    hints = _type_hints(config_type)
    texts = []
    for field in dataclasses.fields(config_type):
        allowed = field.metadata
        hint = hints[field.name]
        words = ", ".join(typing.get_args(hint)) if typing.get_origin(hint) is typing.Literal else _type_name(hint)
        if allowed["low"] is not None or allowed["high"] is not None:
            words = f"{words}, {_range_text(allowed['low'], allowed['high'])}"
        value = list(field.default) if isinstance(field.default, tuple) else field.default
        default = "none" if value is None else json.dumps(value)
        texts.append(SettingText(field.name, words, default, allowed["help"]))
    return texts


def require_known(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Raise SettingsError, with the nearest known values, unless the value is known."""
    if value not in known:
        raise SettingsError(f"{name} is {value!r}{nearest(str(value), known)}.")


def from_mapping(config_type: type[ConfigT], values: Mapping[str, Any], section: str) -> ConfigT:
    """Build a config from plain values (as read from TOML).

    Raises:
        SettingsError: a name is unknown, the message has the nearest ones.
    """
    hints = _type_hints(config_type)
    for name in values:
        _require_name(config_type, name, section)
    return config_type(**{name: _coerce(value, hints[name]) for name, value in values.items()})


def _require_name(config_type: type, name: str, section: str) -> None:
    """Raise SettingsError unless the name is one of a config's fields."""
    known = [field.name for field in dataclasses.fields(typing.cast(Any, config_type))]
    if name not in known:
        raise SettingsError(f"unknown setting {section}.{name}{nearest(name, known)}.")


def true_or_false(name: str, text: str) -> bool:
    """The value of a word in a command. Raises SettingsError if it is neither "true" nor "false"."""
    if text not in ("true", "false"):
        raise SettingsError(f"{name} is {shown(text)}, expected true or false.")
    return text == "true"


def read_settings(path: Path) -> dict[str, Any]:
    """The values of a run's `config.toml`, without its format version.

    Raises:
        DataError: the file is damaged, has a newer format, or cannot be read.
    """
    try:
        values = tomllib.loads(read_text(path, most_bytes=MOST_NOTE_BYTES))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Check that it is a file and may be read.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}. Correct it by hand, or start a new run.") from error
    version = values.pop("format_version", None)
    if not isinstance(version, int):
        raise DataError(f"{path} has no format version: expected the settings of a run, with format_version = 1.")
    if version > FORMAT_VERSION:
        raise DataError(
            f"{path} has format version {version}, this zerosum {__version__} reads up to {FORMAT_VERSION}:"
            " use a newer one."
        )
    return values


def to_mapping(config: Any) -> dict[str, Any]:
    """Plain values of a config, ready for TOML, which has no null: a field that is None is left out."""
    values = dataclasses.asdict(config)
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value is not None
    }


def parse_value(config_type: type, name: str, text: str, section: str) -> Any:
    """The value of `section.name` written as text on the command line, by the field's type."""
    hints = _type_hints(config_type)
    _require_name(config_type, name, section)
    options = typing.get_args(hints[name]) if _is_union(hints[name]) else (hints[name],)
    for option in options:
        parsed = _parse(option, text)
        if parsed is not _UNPARSED:
            return parsed
    raise SettingsError(f"{section}.{name} is {text!r}, expected {_type_name(hints[name])}.")


_UNPARSED = object()


def _parse(option: Any, text: str) -> Any:
    if option is types.NoneType:
        return None if text.lower() == "none" else _UNPARSED
    if option is bool:
        return {"true": True, "false": False}.get(text.lower(), _UNPARSED)
    if option in (int, float):
        try:
            return option(text)
        except ValueError:
            return _UNPARSED
    if option is str or typing.get_origin(option) is typing.Literal:
        return text
    if typing.get_origin(option) is tuple:
        inner = typing.get_args(option)[0]
        parts = [_parse(inner, part.strip()) for part in text.split(",") if part.strip()]
        return _UNPARSED if _UNPARSED in parts else tuple(parts)
    return _UNPARSED


def _coerce(value: Any, expected: Any) -> Any:
    """The value with lists as tuples, and whole numbers as floats if a float is expected, as people write TOML."""
    options = typing.get_args(expected) if _is_union(expected) else (expected,)
    if isinstance(value, list) and any(typing.get_origin(option) is tuple for option in options):
        return tuple(value)
    if isinstance(value, int) and not isinstance(value, bool) and float in options and int not in options:
        return float(value)
    return value


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _is_of_type(value: Any, expected: Any) -> bool:
    if _is_union(expected):
        return any(_is_of_type(value, option) for option in typing.get_args(expected))
    if typing.get_origin(expected) is tuple:
        inner = typing.get_args(expected)[0]
        return isinstance(value, tuple) and all(_is_of_type(item, inner) for item in value)
    if expected in (int, float) and isinstance(value, bool):
        return False
    if typing.get_origin(expected) is typing.Literal:
        return isinstance(value, str)
    if expected is float:
        return isinstance(value, int | float)
    return isinstance(value, expected)


def _type_name(expected: Any) -> str:
    if _is_union(expected):
        return " or ".join(_type_name(option) for option in typing.get_args(expected))
    if typing.get_origin(expected) is tuple:
        return f"{_type_name(typing.get_args(expected)[0]).removeprefix('a ')}s separated by commas"
    if typing.get_origin(expected) is typing.Literal:
        return "a text"
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", types.NoneType: "none"}
    return names.get(expected, str(expected))


def _bounds_text(low: float | None, high: float | None) -> str:
    """The range after "must be"."""
    return _range_text(low, high) if low is None or high is None else f"between {low} and {high}"


def _range_text(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"


CGROUPS = Path("/sys/fs/cgroup")


def num_cores() -> int:
    """Cores that this process may use: those that it may run on, or the CPU limit of its container if that is less."""
    own = num_own_cores()
    limit = container_limit()
    return own if limit is None else min(own, max(1, math.ceil(limit)))


def num_own_cores() -> int:
    """Cores that this process may run on, whatever share of them its container has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def container_limit(root: Path = CGROUPS) -> float | None:
    """The CPU limit of a container in cores, such as that of `docker run --cpus 2.5`; None without one.

    A container sees its own control group as the root, in one file (version 2) or in two (version 1).
    """
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        with contextlib.suppress(OSError, ValueError):
            quota, period = " ".join((root / file).read_text(encoding="ascii") for file in files).split()
            return int(quota) / int(period) if quota != "max" and int(quota) > 0 and int(period) > 0 else None
    return None

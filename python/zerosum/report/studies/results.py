"""The results of a study's jobs in its directory: a line of JSON each, so that a kill loses one job at most.

study.json     what the study is: its name and everything that its results depend on
results.jsonl  {"job": NAME, "result": {…}}, a line for each finished job
runs/          trainings, each of which resumes by itself
index.html     the page
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from zerosum.base.errors import DataError
from zerosum.base.files import (
    MOST_NOTE_BYTES,
    append_line,
    read_lines,
    read_text,
    repair_lines,
    replace_durably,
    writing,
)
from zerosum.base.holding import LEFT_BY_A_KILL

ABOUT = "study.json"
RESULTS = "results.jsonl"

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Line(Generic[R]):
    """A finished job."""

    job: str
    result: R


class Results(Generic[R]):
    """The finished jobs of a study in a directory that this process holds."""

    def __init__(
        self, directory: Path, about: Mapping[str, object], kind: type[R], *, report: Callable[[str], None]
    ) -> None:
        """Read them, or begin. Damaged lines are removed, and `report` gets a sentence about them.

        Args:
            directory: The study's directory, held by this process.
            about: What the results depend on, as JSON has it.
            kind: The dataclass of a result.
            report: Gets messages.

        Raises:
            DataError: the directory has another study, or files that are none.
            RunError: it cannot be written.
        """
        self._path, self._about = directory / RESULTS, directory / ABOUT
        self._require_same(directory, about)
        lines = read_lines(self._path, lambda text: _line(text, kind))
        repair_lines(self._path, lines, report=report)
        self._found = {line.job: line.result for line in lines.entries}

    def _require_same(self, directory: Path, about: Mapping[str, object]) -> None:
        own: Any = json.loads(json.dumps(about))
        if not self._about.exists():
            if others := sorted(path.name for path in directory.iterdir() if path.name not in LEFT_BY_A_KILL):
                raise DataError(
                    f"{directory} has {others[0]} and no {ABOUT}, so it is not a study's: name another directory."
                )
            with writing(directory):
                replace_durably(self._about, json.dumps(own, indent=1))
            return
        try:
            found = json.loads(read_text(self._about, most_bytes=MOST_NOTE_BYTES))
            if not isinstance(found, dict):
                raise ValueError("expected an object")
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{self._about} is damaged ({error}): name another directory.") from error
        names = sorted(name for name in {*own, *found} if own.get(name) != found.get(name))
        if names:
            first = names[0]
            raise DataError(
                f"{directory} has another study: its {first} is {found.get(first)!r}, not {own.get(first)!r}. Name"
                " another directory by --out, or repeat its command."
            )

    @property
    def found(self) -> dict[str, R]:
        """The results by the names of their jobs."""
        return dict(self._found)

    def add(self, job: str, result: R) -> None:
        """Keep the result of a job. Raises RunError if the directory cannot be written."""
        assert is_dataclass(result) and not isinstance(result, type)
        append_line(self._path, json.dumps({"job": job, "result": asdict(result)}))
        self._found[job] = result


def _line(text: str, kind: type[R]) -> Line[R]:
    values = json.loads(text)
    if set(values) != {"job", "result"} or not isinstance(values["job"], str):
        raise ValueError("expected job and result")
    return Line(values["job"], read_as(kind, values["result"]))


def read_as(kind: type[T], value: Any) -> T:
    """A value of JSON as a type: a dataclass, a tuple of one type, a number, a text, or one of these or None.

    >>> read_as(tuple[float, ...], [1, 2.5])
    (1.0, 2.5)

    Raises:
        TypeError, ValueError: the value is of another type.
    """
    found: Any = _read(kind, value)
    return found  # type: ignore[no-any-return]


def _read(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        hints, names = get_type_hints(kind), {field.name for field in fields(kind)}
        if not isinstance(value, dict) or set(value) != names:
            raise ValueError(f"expected the fields {', '.join(sorted(names))}")
        return kind(**{name: _read(hints[name], value[name]) for name in names})  # type: ignore[operator]
    if get_origin(kind) is types.UnionType:
        own, none = get_args(kind)
        assert none is types.NoneType
        return None if value is None else _read(own, value)
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise TypeError("expected a list")
        return tuple(_read(get_args(kind)[0], one) for one in value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value

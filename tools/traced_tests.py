"""Plugins of pytest for tools/mutate.py: which blocks of code each test runs, and a chosen few tests in order."""

from __future__ import annotations

import ast
import itertools
import json
import math
import os
import re
import resource
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypedDict

import pytest


class Traced(TypedDict):
    """What is known of a test."""

    cpu_s: float
    """CPU seconds of the test and the processes that it waited for."""
    blocks: list[tuple[str, int]]
    """The blocks that it ran; those of set-up count for all tests of its file, which may share it, and those of imports
    for all tests."""
    has_children: bool
    """Whether it, or a set-up of its file, started other processes, which are not traced."""


HITS: set[tuple[str, int]] = set()
"""Path, and the first line of each block that instrumented code has run since the last `clear`."""

NAME = "_hits_of_traced_tests"
IMPORT = f"""
try:
    from traced_tests import HITS as {NAME}
except ImportError:  # a program of its own, which does not look for modules here (cluster/guard.py)
    {NAME} = set()
"""


def instrumented(path: str, content: bytes) -> str:
    """The same Python file, whose blocks add themselves to `HITS`: much faster than `sys.settrace`."""
    tree = ast.parse(content)
    for statements in list(_blocks(tree)):
        mark = f"{NAME}.add(({path!r}, {statements[0].lineno}))"
        place = int(_is_text(statements[0]))  # behind a docstring
        statements[place:place] = ast.parse(mark).body
    place = sum(1 for _ in itertools.takewhile(_comes_first, tree.body))
    tree.body[place:place] = ast.parse(IMPORT).body
    return ast.unparse(ast.fix_missing_locations(tree))


def block_of(content: bytes, line: int) -> int:
    """The first line of the innermost block of a function that has a line; 0 outside of functions."""
    spans = [(found[0].lineno, found[-1].end_lineno or 0) for found in _blocks(ast.parse(content))]
    return max((first for first, last in spans if first <= line <= last), default=0)


def _blocks(node: ast.AST, *, is_inside: bool = False) -> Iterator[list[ast.stmt]]:
    """The lists of statements in functions."""
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        if isinstance(statements, list) and statements and (is_inside or is_function):
            yield statements
    for child in ast.iter_child_nodes(node):
        yield from _blocks(child, is_inside=is_inside or is_function)


def _comes_first(node: ast.stmt) -> bool:
    """Whether a statement is a docstring or an import from the future."""
    return _is_text(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class Tracer:
    """Writes a `Traced` of each test that passes to a JSON file."""

    def __init__(self, out: Path) -> None:
        """`out` is the file."""
        self._out = out
        self._tests: dict[str, Traced] = {}
        self._failed = set[str]()
        self._imported = set[tuple[str, int]]()
        self._shared: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self._parents = set[str]()  # files whose set-ups start processes
        self._num_children = 0
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _: object) -> None:
        self._num_children += event in ("subprocess.Popen", "os.fork", "os.posix_spawn")

    def _children(self) -> tuple[int, float]:
        """What grows when another process is started, or has ended."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return self._num_children, ended.ru_utime + ended.ru_stime

    def pytest_collection_finish(self) -> None:
        """Modules have been imported."""
        self._imported |= HITS

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test."""
        children, cpu_s = self._children(), _cpu_s()
        traced = self._tests[item.nodeid] = {"cpu_s": 0.0, "blocks": [], "has_children": False}
        yield
        traced["cpu_s"], traced["has_children"] = _cpu_s() - cpu_s, self._children() != children

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """What is set up may be shared by the tests of the file."""
        children = self._children()
        HITS.clear()
        yield
        self._shared[_file(item.nodeid)] |= HITS
        if self._children() != children:
            self._parents.add(_file(item.nodeid))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """The test itself."""
        HITS.clear()
        yield
        self._tests[item.nodeid]["blocks"] = sorted(HITS)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Leave a test out that fails."""
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        self._tests = {test: traced for test, traced in self._tests.items() if test not in self._failed}
        for test, traced in self._tests.items():
            traced["blocks"] = sorted({*traced["blocks"], *self._shared[_file(test)], *self._imported})
            traced["has_children"] |= _file(test) in self._parents
        self._out.write_text(json.dumps(self._tests), encoding="utf-8")


class Chosen:
    """Runs only some tests, the fast ones first, and ends the process in which one takes too long."""

    def __init__(self, limits: Mapping[str, float], *, wall_factor: float) -> None:
        """`limits` has CPU seconds of each, and times `wall_factor` seconds of the clock."""
        self._limits, self._wall_factor = limits, wall_factor

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Limit the time of a test; its children have the same limit."""
        limit_s = self._limits[item.nodeid]
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, most_s = resource.getrlimit(resource.RLIMIT_CPU)
        soft_s = math.ceil(used.ru_utime + used.ru_stime + limit_s)
        resource.setrlimit(resource.RLIMIT_CPU, (min(soft_s, most_s), most_s))
        timer = threading.Timer(self._wall_factor * limit_s, os.kill, (os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
        yield
        timer.cancel()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose, and sort; tests of a file stay together, because they share fixtures."""
        fastest: dict[str, float] = {}
        chosen = [item for item in items if item.nodeid in self._limits]
        for item in chosen:
            file, limit_s = _file(item.nodeid), self._limits[item.nodeid]
            fastest[file] = min(limit_s, fastest.get(file, limit_s))

        def place(item: pytest.Item) -> tuple[float, str, float]:
            file = _file(item.nodeid)
            return fastest[file], file, self._limits[item.nodeid]

        items[:] = sorted(chosen, key=place)


def outcome(log: Path) -> str:
    """Why the tests of a log failed, or "" if they passed."""
    text = log.read_text(encoding="utf-8", errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.MULTILINE)
    if failed:
        return failed[1]
    return "" if re.search(r"^\d+ passed", text, re.MULTILINE) else "no result"


def _file(test: str) -> str:
    return test.partition("::")[0]


def _cpu_s() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

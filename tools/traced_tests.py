"""Plugins of pytest for tools/mutate.py: which blocks of code each test runs, and a chosen few tests in order."""

from __future__ import annotations

import ast
import itertools
import json
import re
import resource
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
    """The blocks that it ran; those of set-up count for all tests of its file, which may share it."""


HITS: set[tuple[str, int]] = set()
"""Path, and the first line of each block that instrumented code has run since the last `clear`."""

NAME = "_hits_of_traced_tests"


def instrumented(path: str, content: bytes) -> str:
    """The same Python file, whose blocks add themselves to `HITS`: much faster than `sys.settrace`."""
    tree = ast.parse(content)
    for statements in list(_blocks(tree)):
        mark = f"{NAME}.add(({path!r}, {statements[0].lineno}))"
        place = int(_is_text(statements[0]))  # behind a docstring
        statements[place:place] = ast.parse(mark).body
    place = sum(1 for _ in itertools.takewhile(_comes_first, tree.body))
    tree.body[place:place] = ast.parse(f"from traced_tests import HITS as {NAME}").body
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
    """Writes a `Traced` of each test that passes to a JSON file. Other processes are not traced."""

    def __init__(self, out: Path) -> None:
        """`out` is the file."""
        self._out = out
        self._tests: dict[str, Traced] = {}
        self._failed = set[str]()
        self._shared: dict[str, set[tuple[str, int]]] = defaultdict(set)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test."""
        self._tests[item.nodeid] = {"cpu_s": -_cpu_s(), "blocks": []}
        yield
        self._tests[item.nodeid]["cpu_s"] += _cpu_s()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """What is set up may be shared by the tests of the file."""
        HITS.clear()
        yield
        self._shared[_file(item.nodeid)] |= HITS

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
            traced["blocks"] = sorted({*traced["blocks"], *self._shared[_file(test)]})
        self._out.write_text(json.dumps(self._tests), encoding="utf-8")


class Chosen:
    """Runs only some tests, the fast ones first."""

    def __init__(self, costs: Mapping[str, float]) -> None:
        """`costs` has their CPU seconds."""
        self._costs = costs

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose, and sort; tests of a file stay together, because they share fixtures."""
        fastest: dict[str, float] = {}
        chosen = [item for item in items if item.nodeid in self._costs]
        for item in chosen:
            file, cost = _file(item.nodeid), self._costs[item.nodeid]
            fastest[file] = min(cost, fastest.get(file, cost))

        def place(item: pytest.Item) -> tuple[float, str, float]:
            file = _file(item.nodeid)
            return fastest[file], file, self._costs[item.nodeid]

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

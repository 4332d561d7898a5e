"""Planted faults: each is one small change of a program, drawn by a seed, and the tests that notice it are named."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mutate
from mutations import Mutation, mutations_of

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("mutate.py", "mutations.py", "traced_tests.py")


def afters(text: str, path: str = "x.py") -> list[str]:
    """The changed lines of all mutations."""
    return [mutation.after for mutation in mutations_of(path, text.encode())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    g(x < y)", ["pass", "g(x <= y)"]),
        ("def f(a, *, b):\n    return a is not b", ["return None", "return a is b"]),
        ("def f(a):\n    return (a + 1) * 2", None),
        ("def f(a):\n    a += 1", ["a -= 1", "a += 2"]),
        ("if a and not b:\n    pass", ["if a or not b:", "if a and b:"]),
        ("for a in b:\n    break", ["pass"]),
        ("x(f(a, seed=b, strict=True))", ["pass", "x(f(a, strict=True))", "x(f(a, seed=b))"][:2]),
        ("x(g.jumped())", ["pass", "x(g)"]),
        ("x(min(a, b))", ["pass", "x(max(a, b))"]),
        ("while x:\n    pass", ["while not x:"]),
        ("def f():\n    raise E(1 + 2)", ["pass"]),
        ("def f(ä):\n    g(ä == 'ö', 0.5)", ["pass", "g(ä != 'ö', 0.5)", "g(ä == 'ö', 1.5)"]),
    ],
)
def test_faults_of_python(text: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = [
            "return None",
            "return (a - 1) * 2",
            "return (a + 2) * 2",
            "return (a + 1) / 2",
            "return (a + 1) * 3",
        ]
    assert afters(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "SIZE = 1 << 20",
        "def f(x: 1 + 2 = None) -> 3:\n    pass",
        "def f():\n    'text'\n    assert x < 3\n    import y",
        "x(f'{a + 1}')",
        "class C:\n    size: int = setting(3, 'text', low=1)",
        "if TYPE_CHECKING:\n    x()",
        "@d(1)\ndef f():\n    pass",
    ],
)
def test_what_no_behaviour_depends_on_is_left_alone(text: str) -> None:
    assert [after for after in afters(text) if after != "pass"] == []


def test_faults_of_rust() -> None:
    text = """
use a::b;
const SIZE: usize = 3;
/// A comment of 1 < 2.
fn f<T: A + B>(x: &'a str) -> Vec<u8> {
    assert!(x < 3);
    if !x.is_empty() && y <= 10 { return "1 + 1"; }
    self.list.push(x.min(2));
    0.5 * z[0..4]
}

#[cfg(test)]
mod tests {
    fn g() { 1 + 1 }
}
"""
    expected = [
        'if x.is_empty() && y <= 10 { return "1 + 1"; }',
        'if !x.is_empty() || y <= 10 { return "1 + 1"; }',
        'if !x.is_empty() && y < 10 { return "1 + 1"; }',
        'if !x.is_empty() && y <= 11 { return "1 + 1"; }',
        "",
        "self.list.push(x.max(2));",
        "self.list.push(x.min(3));",
        "1.5 * z[0..4]",
        "0.5 / z[0..4]",
        "0.5 * z[1..4]",
    ]
    assert afters(text, "x.rs") == expected


def test_every_fault_of_the_package_is_one_change_of_a_program() -> None:
    paths = [path for room in mutate.ROOMS.values() for path in room.python]
    drawn = mutate.sample(ROOT, paths, seed=3)
    assert len({str(mutation) for mutation in drawn}) > 0.9 * len(drawn) > 3000
    for mutation in drawn[::50]:
        content = (ROOT / mutation.path).read_bytes()
        changed = mutation.applied(content)
        assert changed != content
        ast.parse(changed)
    assert mutate.sample(ROOT, paths, seed=3) == drawn
    assert mutate.sample(ROOT, paths, seed=4) != drawn
    assert {mutation.path for mutation in mutate.sample(ROOT, paths, seed=3, only="replay/w")} == {
        "python/zerosum/replay/window.py"
    }


def test_equivalent_mutants_are_of_the_code_as_it_is() -> None:
    """A line that was changed since is judged again."""
    known = mutate.equivalent(mutate.EQUIVALENT.read_text(encoding="utf-8"))
    paths = {entry.partition("\n")[0] for entry in known}
    found = {str(mutation) for path in paths for mutation in mutations_of(path, (ROOT / path).read_bytes())}
    assert known - found == set()


def test_equivalent_mutants_are_read_as_they_are_printed() -> None:
    mutation = Mutation("a.py", 1, 0, 1, b"y", "x # 1", "y # 1")
    assert mutate.equivalent(f"# A file.\n\n# Why.\n# Because.\n{mutation}\n\n{mutation}\n") == {str(mutation)}


def test_noticed_and_unnoticed_faults_are_told_apart(tmp_path: Path) -> None:
    """A small project with one function, tests of half of it, and one fault that is known to be equivalent."""
    files = {
        "python/zerosum/__init__.py": "",
        "python/zerosum/run/storage/__init__.py": "",
        "python/zerosum/run/storage/sizes.py": """
            def is_large(size):
                return size > 10

            def label(size):
                return "large" if is_large(size) else "small"
            """,
        "tests/run/storage/test_sizes.py": """
            from zerosum.run.storage.sizes import label

            def test_a_label():
                assert label(20) == "large"
                assert label(5) == "small"
            """,
        "tools/equivalent_mutants.txt": """
            # Nobody asks.
            python/zerosum/run/storage/sizes.py
            - return size > 10
            + return size > 11
            """,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n".join(line[12:] for line in text.splitlines()), encoding="utf-8")
    for name in TOOLS:
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    command = [
        sys.executable,
        str(tmp_path / "tools" / "mutate.py"),
        "storage",
        "--directory",
        str(tmp_path / "mutants"),
    ]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1, done.stderr
    table, _, survivors = done.stdout.partition("| room")[2].partition("\n\n")
    assert "| storage | 4 | 3 | 75 % |" in table
    assert survivors.strip() == "python/zerosum/run/storage/sizes.py\n- return size > 10\n+ return size >= 10"
    assert "tests/run/storage/test_sizes.py::test_a_label" in done.stdout
    assert (tmp_path / "mutants/python/zerosum/run/storage/sizes.py").read_bytes() == (
        tmp_path / "python/zerosum/run/storage/sizes.py"
    ).read_bytes()

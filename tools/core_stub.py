"""Write `python/zerosum/_core.pyi`: the types of `crates/zerosum-py/types.pyi` with the docs of the Rust module.

    python tools/core_stub.py

Docs are written once, in Rust, where they are the compiled module's docstrings; types are written once, in `types.pyi`,
because Rust's types do not say what an array holds. Names, parameters and types of the two are compared by
`tests/test_stub.py` and mypy's stubtest. Build the core first: the docs come from the module that is installed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zerosum import _core

ROOT = Path(__file__).resolve().parents[1]
TYPES = ROOT / "crates" / "zerosum-py" / "types.pyi"
STUB = ROOT / "python" / "zerosum" / "_core.pyi"


def stub_text(types: str) -> str:
    """The stub: `types` with the docs of what the module has."""
    lines = types.splitlines()
    for node, real in sorted(_documented(ast.parse(types)), key=lambda found: -_last_line(found[0])):
        text = (inspect.getdoc(real) or "").strip()
        if not text:
            continue
        last = _last_line(node) - 1
        doc = _docstring(text, node.col_offset + 4)
        if isinstance(node, ast.FunctionDef):
            lines[last] = lines[last].removesuffix(" ...")
            is_followed = node.col_offset == 0 and any(lines[last + 1 : last + 2])
            lines[last + 1 : last + 1] = [*doc, ""] if is_followed else doc
        elif lines[last].endswith(": ..."):
            lines[last] = lines[last].removesuffix(" ...")
            lines[last + 1 : last + 1] = doc
        else:
            lines[last + 1 : last + 1] = [*doc, ""]
    return "\n".join([*_docstring((inspect.getdoc(_core) or "").strip(), 0), "", *lines]) + "\n"


def _documented(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.ClassDef, Any]]:
    """The functions, classes, methods and properties that may have docs, and the real ones."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            real = getattr(_core, node.name)
            yield node, real
            for member in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    yield member, getattr(real, member.name)


def _last_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    """The line of the colon: a class's own line, a function's last one."""
    if isinstance(node, ast.ClassDef):
        return node.lineno
    return node.end_lineno or node.lineno


def _docstring(text: str, indent: int) -> list[str]:
    """A docstring's lines: on one line if it is one, else with the closing quotes on a line of their own."""
    blank = " " * indent
    first, *rest = text.splitlines()
    end = [f'{blank}"""'] if rest else []
    quoted = [f'{blank}"""{first}' + ("" if rest else '"""')]
    return [*quoted, *(f"{blank}{line}" if line else "" for line in rest), *end]


if __name__ == "__main__":
    STUB.write_text(stub_text(TYPES.read_text(encoding="utf-8")), encoding="utf-8")

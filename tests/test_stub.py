"""`_core.pyi` and the Rust module agree: names, members, parameters, docs (types: stubtest in `tasks.py test`)."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import core_stub
import zerosum
from zerosum import _core

STUB_TEXT = Path(zerosum.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
STUB = ast.parse(STUB_TEXT)


def is_public(name: str) -> bool:
    return not name.startswith("_")


def names_of(body: list[ast.stmt]) -> set[str]:
    """Public names that a stub's module or class defines."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if is_public(name)}


CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def callables() -> Iterator[tuple[str, ast.FunctionDef, Any]]:
    """(name, stub, real thing) of every function, constructor and method of the stub; properties have no parameters."""
    for owner, body in [("", STUB.body), *((name, node.body) for name, node in CLASSES.items())]:
        real = getattr(_core, owner, None) if owner else _core
        for node in body:
            if isinstance(node, ast.FunctionDef) and not any(
                isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in node.decorator_list
            ):
                is_constructor = node.name in ("__init__", "__new__")
                yield (
                    f"{owner}.{node.name}".lstrip("."),
                    node,
                    real if is_constructor else getattr(real, node.name, None),
                )


def parameters_in_stub(node: ast.FunctionDef) -> list[tuple[str, bool, bool]]:
    """(name, is keyword-only, has a default) of each parameter but self."""
    plain = [*node.args.posonlyargs, *node.args.args]
    first_default = len(plain) - len(node.args.defaults)
    found = [(argument.arg, False, index >= first_default) for index, argument in enumerate(plain)]
    found += [
        (argument.arg, True, default is not None)
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    ]
    return [parameter for parameter in found if parameter[0] not in ("self", "cls")]


def test_same_names_in_the_module() -> None:
    assert names_of(STUB.body) == {name for name in vars(_core) if is_public(name)}


@pytest.mark.parametrize("name", CLASSES)
def test_same_names_in_the_class(name: str) -> None:
    assert names_of(CLASSES[name].body) == {member for member in vars(getattr(_core, name)) if is_public(member)}


@pytest.mark.parametrize(("name", "node", "real"), [pytest.param(*found, id=found[0]) for found in callables()])
def test_same_parameters(name: str, node: ast.FunctionDef, real: Any) -> None:
    found = [
        (
            parameter.name,
            parameter.kind is inspect.Parameter.KEYWORD_ONLY,
            parameter.default is not inspect.Parameter.empty,
        )
        for parameter in inspect.signature(real).parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    assert found == parameters_in_stub(node)


def test_the_stub_is_current() -> None:
    assert core_stub.stub_text(core_stub.TYPES.read_text(encoding="utf-8")) == STUB_TEXT, "run tools/core_stub.py"

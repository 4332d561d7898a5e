"""Small faults for the text of Python and Rust files, as tools/mutate.py plants them.

A *mutation* replaces a few bytes of a file: a comparison, an operator, a number, a condition, a call or one of its
arguments. Text for people (strings, messages of errors), annotations, assertions and declared settings are left alone:
no behaviour depends on them. Start with `mutations_of`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Mutation:
    """A fault that can be planted in a file."""

    path: str
    """The file, relative to the project, with slashes."""
    line: int
    """Its first line, counted from 1."""
    start: int
    """The first byte that is replaced."""
    end: int
    """The byte after the last that is replaced."""
    replacement: bytes
    before: str
    """The lines that it touches, with single spaces."""
    after: str
    """The same lines with the fault."""

    def applied(self, content: bytes) -> bytes:
        """The content of the file with the fault."""
        return content[: self.start] + self.replacement + content[self.end :]

    def __str__(self) -> str:
        return f"{self.path}\n- {self.before}\n+ {self.after}"


def mutations_of(path: str, content: bytes) -> list[Mutation]:
    """All mutations of a Python or Rust file, in the order of their places."""
    find = {".py": _in_python, ".rs": _in_rust}[PurePosixPath(path).suffix]
    found = {place: _mutation(path, content, *place) for place in find(content)}
    return [found[place] for place in sorted(found) if found[place].before != found[place].after]


Place = tuple[int, int, bytes]
"""First byte, end, replacement."""


def _mutation(path: str, content: bytes, start: int, end: int, replacement: bytes) -> Mutation:
    first = content.rfind(b"\n", 0, start) + 1
    last = content.find(b"\n", end)
    last = len(content) if last < 0 else last
    before = content[first:last].decode()
    after = (content[first:start] + replacement + content[end:last]).decode()
    line = content.count(b"\n", 0, start) + 1
    return Mutation(path, line, start, end, replacement, " ".join(before.split()), " ".join(after.split()))


# ---- Python

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: (r"<", "<="),
    ast.LtE: (r"<=", "<"),
    ast.Gt: (r">", ">="),
    ast.GtE: (r">=", ">"),
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
}
_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
_DECLARATIONS = {"setting", "field", "TypeVar", "NewType", "Option", "Argument", "namedtuple"}
"""Calls that declare something: their arguments are facts, which no test should repeat."""


def _in_python(content: bytes) -> Iterator[Place]:
    return _PythonPlaces(content).places()


class _PythonPlaces:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._lines = [0]
        for line in content.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def places(self) -> Iterator[Place]:
        for node in ast.parse(self._content).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) or _is_for_types(node):
                continue  # constants of the file are sizes and texts
            yield from self._walk(node)

    def _walk(self, node: ast.AST) -> Iterator[Place]:
        match node:
            case ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
                return
            case ast.If() if _is_for_types(node):
                return
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _DECLARATIONS:
                return
            case ast.keyword(arg="strict"):  # zip's, an assertion
                return
            case ast.Raise():  # its message is for people
                yield (*self._span(node), b"pass")
                return
        yield from self._own(node)
        # A call that is a statement is taken out as a whole.
        parent = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else node
        for child in _children(parent):
            yield from self._walk(child)

    def _own(self, node: ast.AST) -> Iterator[Place]:
        """The mutations of a node itself."""
        match node:
            case ast.Compare():
                for operator, left, right in zip(
                    node.ops, [node.left, *node.comparators], node.comparators, strict=False
                ):
                    pattern, replacement = _COMPARISONS[type(operator)]
                    yield from self._between(left, right, pattern, replacement)
            case ast.BinOp() if not (_is_text(node.left) or _is_text(node.right)) and type(node.op) in _OPERATORS:
                old, new = _OPERATORS[type(node.op)]
                yield from self._between(node.left, node.right, re.escape(old), new)
            case ast.BoolOp():
                old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self._between(left, right, rf"\b{old}\b", new)
            case ast.UnaryOp(op=ast.Not() | ast.USub() as operator):
                start = self._span(node)[0]
                yield (start, start + (len("not ") if isinstance(operator, ast.Not) else len("-")), b"")
            case ast.Constant(value=bool(value)):
                yield (*self._span(node), str(not value).encode())
            case ast.Constant(value=int(value) | float(value)):
                yield (*self._span(node), str(value + 1).encode())
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                if isinstance(test, ast.Name | ast.Attribute | ast.Call):
                    start = self._span(test)[0]
                    yield (start, start, b"not ")
            case ast.Expr(value=ast.Call()):
                yield (*self._span(node), b"pass")
            case ast.AugAssign() if type(node.op) in _OPERATORS and not _is_text(node.value):
                old, new = _OPERATORS[type(node.op)]
                yield from self._between(node.target, node.value, re.escape(f"{old}="), f"{new}=")
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield (*self._span(node), b"return None")
            case ast.Break() | ast.Continue():
                yield (*self._span(node), b"pass")
            case ast.Call():
                yield from self._call(node)

    def _call(self, node: ast.Call) -> Iterator[Place]:
        _, end = self._span(node)
        if isinstance(node.func, ast.Name) and node.func.id in _NAMES:
            yield (*self._span(node.func), _NAMES[node.func.id].encode())
        if isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
            # x.call() becomes x; x may stand in brackets, which its span leaves out.
            name = self._span(node.func)[1] - len(node.func.attr.encode())
            yield (self._content.rindex(b".", 0, name), end, b"")
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        arguments.sort(key=lambda argument: self._span(argument)[0])
        for before, argument in zip([node.func, *arguments], arguments, strict=False):
            named = isinstance(argument, ast.keyword) and argument.arg not in (None, "strict")
            if named and before is not node.func:
                yield (self._span(before)[1], self._span(argument)[1], b"")

    def _between(self, left: ast.expr, right: ast.expr, pattern: str, replacement: str) -> Iterator[Place]:
        """An operator replaced, which stands between two expressions."""
        start, end = self._span(left)[1], self._span(right)[0]
        found = re.search(pattern.encode(), self._content[start:end])
        if found:
            yield (start + found.start(), start + found.end(), replacement.encode())

    def _span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self._lines[node.lineno - 1] + node.col_offset,
            self._lines[node.end_lineno - 1] + node.end_col_offset,
        )


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that a program runs: no annotations and no decorators."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


# ---- Rust

_RUST_TOKEN = re.compile(
    rb"""
    (?P<skip> //[^\n]* | /\*.*?\*/ | b?"(?:\\.|[^"\\])*" | b?'(?:\\[^']+|[^'\\])' | '[a-z_]\w* | \#!?\[[^\]]*\] )
    | (?P<call> ^[ ]+[\w.:]+\([^{}\n]*\);$ )
    | (?P<float> \b\d[\d_]*\.\d+\b ) | (?P<integer> (?<![.\w])\d[\d_]*(?=\b|[iuf](?:8|16|32|64|size)) )
    | (?P<word> \b(?:true|false)\b ) | (?P<method> (?<=\.)(?:min|max|any|all)(?=\() )
    | (?P<not> (?<=[ (])!(?=[\w(]) )
    | (?P<operator> (?<=[ ])(?:<=|>=|==|!=|&&|\|\||<<|>>|\+=|-=|[-+*/%<>&|^])(?=[ ]) )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_RUST_OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "*": "/", "/": "*", "%": "*", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=",
    "true": "false", "false": "true", "min": "max", "max": "min", "any": "all", "all": "any",
}  # fmt: skip
_RUST_DECLARATION = re.compile(
    rb"\s*(?:(?:pub(?:\(\w+\))? )?(?:use|const|static|type|fn|struct|enum|mod|impl|trait) |"
    rb"where|(?:debug_)?assert|panic|unreachable)"
)


def _in_rust(content: bytes) -> Iterator[Place]:
    code = content.partition(b"#[cfg(test)]\nmod tests")[0]
    for token in _RUST_TOKEN.finditer(code):
        kind, text, (start, end) = token.lastgroup or "skip", token[0].decode(), token.span()
        line = code[code.rfind(b"\n", 0, start + (kind == "call")) + 1 : end]
        if kind == "skip" or _RUST_DECLARATION.match(line):
            continue
        if kind == "call":
            indent = len(text) - len(text.lstrip())
            yield (start + indent, end, b"")
            yield from ((start + first, start + last, new) for first, last, new in _in_rust(code[start : end - 1]))
        elif kind == "float":
            yield (start, end, str(float(text.replace("_", "")) + 1).encode())
        elif kind == "integer":
            yield (start, end, str(int(text.replace("_", "")) + 1).encode())
        elif kind == "not":
            yield (start, end, b"")
        else:
            yield (start, end, _RUST_OPERATORS[text].encode())

"""The documentation as a site: the pages of docs/, a reference made from the code, and the sources that they link to.

    python tools/site_pages.py            # builds build/site; open build/site/index.html

The pages are those of the repository. A link that leaves docs/ leads to a page of its own: another text of the
repository, or a listing of the source file. `reference/python.md` is made from the docstrings of what the package
exports, `reference/commands.md` from the command line. Zensical builds the HTML; any link without a target ends the
build.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import typer

import zerosum
from zerosum.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "benches/RESULTS.md": "speed.md",
}
"""Texts of the repository beside docs/, and their places in the site."""
LANGUAGES = {".py": "python", ".pyi": "python", ".rs": "rust", ".toml": "toml", ".cff": "yaml"}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def main() -> None:
    """Build the site, or end with the status of the program that found a fault."""
    sys.exit(build(ROOT / "build" / "site-pages"))


def build(pages: Path) -> int:
    """Write the pages and let Zensical make HTML of them; its exit status."""
    write_pages(pages)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def write_pages(pages: Path) -> None:
    """Write all pages into a folder, which is made anew."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages)
    places = {path: Path(target) for path, target in places_of_texts()}
    listings: dict[Path, Path] = {}
    for path, target in places.items():
        text = rewritten((ROOT / path).read_text(encoding="utf-8"), path, target, places, listings)
        (pages / target).write_text(text, encoding="utf-8")
    for path, target in listings.items():
        (pages / target).parent.mkdir(parents=True, exist_ok=True)
        (pages / target).write_text(listing(path), encoding="utf-8")
    (pages / "reference").mkdir()
    (pages / "reference" / "python.md").write_text("\n".join(python_reference()), encoding="utf-8")
    (pages / "reference" / "commands.md").write_text("\n".join(command_reference()), encoding="utf-8")


def places_of_texts() -> Iterator[tuple[Path, str]]:
    """The texts of the repository, relative to its root, and their places in the site."""
    for path, target in PAGES.items():
        yield Path(path), target
    for page in sorted((ROOT / "docs").glob("*.md")):
        yield page.relative_to(ROOT), page.name


def rewritten(text: str, path: Path, target: Path, places: dict[Path, Path], listings: dict[Path, Path]) -> str:
    """A page whose links lead to places in the site; source files that it names are added to `listings`."""

    def moved(found: re.Match[str]) -> str:
        address, _, fragment = found[2].partition("#")
        if not address or "://" in address:
            return found[0]
        named = (ROOT / path.parent / address).resolve().relative_to(ROOT)
        if named.parts[0] == "docs" and named not in places:
            place = named.relative_to("docs")  # a picture
        elif named in places:
            place = places[named]
        else:
            place = listings.setdefault(named, Path("source", *named.parent.parts, f"{named.name}.md"))
        return f"{found[1]}{relative(place, target.parent)}{'#' + fragment if fragment else ''}{found[3]}"

    return LINK.sub(moved, text)


def relative(place: Path, folder: Path) -> str:
    """The way from a folder of the site to a place in it."""
    return Path(*[".."] * len(folder.parts), place).as_posix()


def listing(path: Path) -> str:
    """A page with a source file, or with the names in a folder."""
    if (ROOT / path).is_dir():
        names = sorted(f"- `{found.relative_to(ROOT / path).as_posix()}`" for found in (ROOT / path).rglob("*.*"))
        return "\n".join([f"# {path.as_posix()}", "", *names, ""])
    text = (ROOT / path).read_text(encoding="utf-8")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"# {path.as_posix()}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}{fence}\n"


def python_reference() -> Iterator[str]:
    """The page on all that `import zerosum` offers, from the docstrings."""
    yield "# Python reference"
    yield ""
    yield "What `import zerosum` offers. [From Python](../in-python.md) shows how it is used together."
    for name in zerosum.__all__:
        thing = getattr(zerosum, name)
        if not callable(thing):
            continue
        yield from described(f"zerosum.{name}", thing, level=2)
        if inspect.isclass(thing):
            yield from fields_of(thing)
            for member, inner in vars(thing).items():
                if not member.startswith("_") and (callable(inner) or isinstance(inner, (property, classmethod))):
                    yield from described(f"{name}.{member}", inner, level=3)


def described(name: str, thing: Any, *, level: int) -> Iterator[str]:
    """A heading, the signature and the docstring of one thing."""
    yield from ("", f"{'#' * level} {name}", "")
    if not isinstance(thing, property):
        yield from ("```python", name + signature_of(thing), "```", "")
    yield from ("````text", inspect.getdoc(thing) or "", "````")


def signature_of(thing: Any) -> str:
    """The parameters of a function or class, each on a line of its own if they are long."""
    try:
        signature = inspect.signature(getattr(thing, "__func__", thing))
    except ValueError:  # a class of the Rust core has none
        return ""
    text = str(signature)
    if len(text) < 70:
        return text
    parameters = [str(parameter) for parameter in signature.parameters.values()]
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    returned = text[text.rindex(") ->") :] if ") ->" in text else ")"
    return "(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + returned


def fields_of(described_class: type) -> Iterator[str]:
    """A table of the fields of a dataclass, from the strings below them."""
    if "__dataclass_fields__" not in vars(described_class):
        return
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(described_class))).body
    assert isinstance(tree, ast.ClassDef)
    rows = [
        f"| `{field.target.id}` | `{ast.unparse(field.annotation)}` | {' '.join(told.value.value.split())} |"
        for field, told in itertools.pairwise(tree.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(told, ast.Expr)
        and isinstance(told.value, ast.Constant)
        and isinstance(told.value.value, str)
    ]
    if rows:
        yield from ("", "| field | type | meaning |", "|---|---|---|", *rows)


def command_reference() -> Iterator[str]:
    """The page on all commands, from the command line's own help."""
    yield "# Commands"
    yield ""
    yield "Each has `--help`. [Settings](../settings.md) has what `--set` takes."
    group: Any = typer.main.get_command(app)
    context = click.Context(group, info_name="zerosum")
    yield from help_of(group, context, level=2)


def help_of(command: Any, context: click.Context, *, level: int) -> Iterator[str]:
    """The help of a group's commands, and of the groups in it."""
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        inside = click.Context(inner, info_name=name, parent=context)
        yield from ("", f"{'#' * level} {inside.command_path}", "", inner.help or "", "")
        parameters = [parameter for parameter in inner.get_params(inside) if getattr(parameter, "help", None)]
        if parameters:
            yield from ("| argument or option | what it says |", "|---|---|")
            for parameter in parameters:
                words = ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))
                yield f"| {words} | {' '.join(parameter.help.split()).replace('|', chr(92) + '|')} |"
        if hasattr(inner, "list_commands"):
            yield from help_of(inner, inside, level=level + 1)


if __name__ == "__main__":
    main()

"""The docs work: Python blocks run, shell commands parse, links have targets, doctests pass."""

import ast
import doctest
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

import zerosum
from runs_for_tests import SETTINGS, train_a_little
from zerosum._core import core_game_names
from zerosum.cli import app
from zerosum.games import make
from zerosum.games.names import GameName
from zerosum.games.rules import find_game
from zerosum.run import settings_page
from zerosum.run.defaults import default_settings
from zerosum.run.presets import load_preset
from zerosum.run.training import train
from zerosum.search import SearchConfig

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
MODULES = ["zerosum", *(found.name for found in pkgutil.walk_packages(zerosum.__path__, "zerosum."))]

MISSING = {name for name in ("pandas", "polars", "duckdb") if importlib.util.find_spec(name) is None}
"""Other programs that read our files: their examples run where they are installed."""

CARDS = sorted((ROOT / "python" / "zerosum" / "data" / "networks").glob("*/card.toml"))

each_page = pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])


def blocks(page: Path) -> Iterator[tuple[str, int, str]]:
    """(info string, number of the first line, text) of each fenced block of a page."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield found[1].strip(), text.count("\n", 0, found.start(2)) + 1, found[2]


@each_page
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page's blocks run in order as one module, in an empty directory; the README's training is a short one."""
    monkeypatch.chdir(tmp_path)
    if page.name == "README.md":

        def train_briefly(*args: Any, **options: Any) -> None:
            given = inspect.signature(train).bind(*args, **options).arguments
            train(
                given["game"], given["run"], overrides=[*SETTINGS, "strength.solved_positions=0"], report=lambda _: None
            )

        monkeypatch.setattr(zerosum, "train", train_briefly, raising=False)
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for info, line, code in blocks(page):
        if info.split()[0].lower() in ("python", "python3", "py", "pycon"):
            assert info == "python", f"{page.name}:{line}: write ```python; every block runs"
            if set(re.findall(r"^import (\w+)$", code, re.MULTILINE)) & MISSING:
                continue
            exec(compile("\n" * (line - 1) + code, page, "exec"), module.__dict__)


@each_page
def test_commands_parse(page: Path) -> None:
    """Each `$ zerosum ...` names a command, arguments and options that the command line has."""
    for info, line, text in blocks(page):
        commands = re.findall(r"^\$ (zerosum\b.*)$", text.replace("\\\n", ""), re.MULTILINE)
        for command in commands if info == "console" else []:
            try:
                parse(shlex.split(command, comments=True)[1:])
            except Exception as error:
                error.add_note(f"{page.name}:{line}: {command}")
                raise


def test_the_readme_names_every_game() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    games = readme.partition("\n## Games\n")[2].partition("\n## ")[0]
    assert [name for name in core_game_names() if f"`{name}`" not in games] == []


def test_the_readmes_game_is_short_keeps_every_promise_and_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = [code for _, _, code in blocks(ROOT / "README.md") if "class Breakthrough" in code]
    assert len(code.splitlines()) <= 60
    Path("breakthrough.py").write_text(code, encoding="utf-8")
    name = "breakthrough.py:Breakthrough"
    assert zerosum.check_game(find_game(GameName.parse(name)), num_games=20).results.keys() == {-1.0, 1.0}
    train_a_little(name, "runs/breakthrough")
    analysis = zerosum.load("runs/breakthrough").analyse("")
    assert analysis.best_move in analysis.moves
    assert len(analysis.moves) == 13


def test_the_examples_of_help_parse() -> None:
    for command in app.registered_commands:
        examples = re.findall(r"`zerosum (.*?)`", command.epilog or "")
        assert examples, command.name
        for example in examples:
            parse(shlex.split(example))


@pytest.mark.parametrize("card", CARDS, ids=[card.parent.name for card in CARDS])
def test_the_commands_of_the_packages_networks_parse(card: Path) -> None:
    values = tomllib.loads(card.read_text(encoding="utf-8"))
    runs = list[str]()
    for command in (*values["earlier"], values["command"]):
        program, *words = shlex.split(command)
        assert program == "zerosum"
        parse(words)
        runs.append(words[words.index("--run") + 1] if "--run" in words else "")
        if "--from-records" in words:
            assert runs[-2:] == [runs[-1]] * 2, "it learns from the games of the command before it"


def test_the_demo_is_the_readmes(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("tasks", ROOT / "tasks.py")
    assert spec is not None and spec.loader is not None
    tasks = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "tasks", tasks)  # its dataclasses look there
    spec.loader.exec_module(tasks)
    for command in tasks.DEMO:
        program, *arguments = shlex.split(command)
        assert program == "zerosum"
        parse(arguments)
    assert f"`{tasks.DEMO[0]}`" in (ROOT / "README.md").read_text(encoding="utf-8")


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_log_has_an_index_of_all_entries() -> None:
    text = (ROOT / "docs" / "log.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (20.*)$", text, re.MULTILINE)
    entries = ["#" + re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
    assert re.findall(r"^\| \[.*?\]\((#.*?)\) \|", text, re.MULTILINE) == entries


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    failures, _ = doctest.testmod(importlib.import_module(name))
    assert not failures


@functools.cache
def disarmed() -> Any:
    """The command line, with commands that do nothing."""

    def disarm(command: Any) -> None:
        command.callback = lambda **_: None
        for inner in getattr(command, "commands", {}).values():
            disarm(inner)

    command: Any = typer.main.get_command(app)
    disarm(command)
    return command


def parse(arguments: list[str]) -> None:
    """Let the command line take the arguments, with commands that do nothing; raises typer's errors.

    A preset must be there, too.
    """
    disarmed()(arguments, standalone_mode=False)
    if "--preset" in arguments:
        load_preset(arguments[arguments.index("--preset") + 1], game=arguments[1])


def test_what_the_docs_teach_is_public_and_documented() -> None:
    """The table of docs/in-python.md names what the pages import, and each has a docstring."""
    taught: dict[str, set[str]] = {}
    for page in PAGES:
        for info, _, code in blocks(page):
            for node in ast.walk(ast.parse(code)) if info == "python" else ():
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("zerosum"):
                    taught.setdefault(node.module, set()).update(alias.name for alias in node.names)
    table = (ROOT / "docs" / "in-python.md").read_text(encoding="utf-8").partition("## What is public")[2]
    rows = {
        row[1]: set(re.findall(r"`(\w+)`", row[2]))
        for row in re.finditer(r"(?m)^\| `(zerosum\.[\w.]+)` \| (.*) \|$", table)
    }
    assert rows == taught, "the table under 'What is public' has what the pages import"
    for module, names in {**rows, "zerosum": set(zerosum.__all__) - {"__version__"}}.items():
        for name in names:
            found = getattr(importlib.import_module(module), name)
            assert not (callable(found) or isinstance(found, type)) or found.__doc__, f"{module}.{name}"


def test_the_page_of_settings_has_what_one_game_alone_changes() -> None:
    rows = [line.split("|") for line in settings_page.page().splitlines() if line.startswith(("| game |", "| go9 |"))]
    values = {name.strip(): value.strip() for name, value in zip(*rows[:2], strict=True)}  # another table follows
    search = default_settings(make("go9"), minutes=settings_page.DEFAULT_MINUTES, num_cores=2)["search"]
    assert values["`search.c_init`"] == str(search["c_init"]) != str(SearchConfig().c_init)


def test_the_page_of_settings_is_the_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zerosum.run.defaults.uses_gpu", lambda: False)  # whose defaults are others
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page.page(), "write it anew: python -m zerosum.run.settings_page > docs/settings.md"


def test_every_file_of_a_run_is_told(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "run-directory.md").read_text(encoding="utf-8")
    told = [re.sub("N+|HASH", "*", name) for name in re.findall(r"`([\w./*-]+)`", page.partition("\n## ")[0])]
    train_a_little("tictactoe", tmp_path / "run")
    files = [path.relative_to(tmp_path / "run") for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [str(file) for file in files if not any(file.match(name) for name in told)] == []

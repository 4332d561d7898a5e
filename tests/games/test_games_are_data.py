"""Search, self-play, replay, network and learner name no game, so they cannot treat one specially.

Looked at is code: comments, docstrings and doctests may speak of games, and so may a sentence (the help of a setting
that quotes the paper). A file names a game if an identifier has its name as a part (`is_chess`), if a text is its name,
with or without options ("chess", "go(size=9)"), or, in Rust, if it reaches into the folder of games.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

import zerosum
from zerosum import _core

PACKAGE = Path(zerosum.__file__).parent
CORE = Path(__file__).resolve().parents[2] / "crates" / "zerosum-core" / "src"
ROOMS = ("search", "replay", "network", "network/evaluators", "selfplay")
OTHERS = (
    *("learner/learner.py", "learner/inputs.py", "learner/captured_step.py"),
    *("arena/match.py", "arena/played.py", "arena/program_seat.py", "arena/result.py", "arena/seats.py"),
    *("arena/ladder/placement.py", "arena/ladder/results.py", "arena/ladder/rungs.py"),
    *("contest/elo.py", "contest/ratings.py", "games/picture.py", "run/workers.py", "run/defaults.py"),
    *("run/exam/task.py", "run/exam/sitting.py", "run/exam/result.py", "run/exam/mates.py"),
)
OF_ONE_GAME = ("network/lc0.py", "network/katago.py", "network/any_size.py")
"""Readers of files that other programs write for one game, and networks of Go on all boards."""
PYTHON = [
    *(
        path
        for room in ROOMS
        for path in sorted((PACKAGE / room).glob("*.py"))
        if path.relative_to(PACKAGE).as_posix() not in OF_ONE_GAME
    ),
    *(PACKAGE / name for name in OTHERS),
]
RUST = [path for path in sorted(CORE.glob("*.rs")) if path.name != "lib.rs"]
RUST += [path for room in ("erased", "search") for path in sorted((CORE / room).glob("*.rs"))]

NAMES = {*_core.core_game_names(), *(make.partition("(")[0] for make in _core.core_game_names())}
TEXT = re.compile(rf"\s*({'|'.join(sorted(NAMES))})\s*(\(.*\))?\s*")


def names_in_python(source: str) -> Iterator[str]:
    """Identifiers and texts that name a game; a bare text that is a statement is a docstring."""
    tree = ast.parse(source)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in statements and TEXT.fullmatch(node.value):
                yield repr(node.value)
            continue
        for field in ("id", "attr", "arg", "name", "asname"):
            identifier = getattr(node, field, None)
            if isinstance(identifier, str) and NAMES & set(re.split(r"[_.]", identifier.lower())):
                yield identifier


def names_in_rust(source: str) -> Iterator[str]:
    """Paths into the folder of games, but for its options, and texts; comments and unit tests are left out."""
    code = re.sub(r"//[^\n]*", "", source.partition("#[cfg(test)]")[0])
    yield from re.findall(r"\bgames\s*::\s*(?!options\b)[\w{*]+", code)
    yield from (text for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code) if TEXT.fullmatch(text))


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_names_a_game(path: Path) -> None:
    assert not list(names_in_python(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", RUST, ids=lambda path: path.name)
def test_no_file_of_the_core_names_a_game(path: Path) -> None:
    assert not list(names_in_rust(path.read_text(encoding="utf-8")))


def test_the_page_names_the_presets_that_begin_with_another_search() -> None:
    presets = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in (PACKAGE / "presets").glob("*.toml")}
    taught = sorted(name for name, preset in presets.items() if preset.get("selfplay", {}).get("alphabeta_share"))
    page = " ".join((Path(__file__).resolve().parents[2] / "docs" / "games.md").read_text("utf-8").split())
    *most, last = (f"`{name}`" for name in taught)
    assert f"In the presets {', '.join(most)} and {last} self-play begins with an alpha-beta search" in page


def test_the_papers_preset_has_no_knowledge_of_a_game_but_the_papers() -> None:
    """Its settings by game are the paper's: the noise, the policy head and the learner's schedule."""
    preset = tomllib.loads((PACKAGE / "presets" / "paper.toml").read_text("utf-8"))
    assert not any(name.startswith("alphabeta") for name in preset["selfplay"])
    assert (preset["training"]["planes"], preset["network"]["ownership_head"]) == ("", False)
    by_game = {(section, name) for own in preset["games"].values() for section in own for name in own[section]}
    assert by_game == {
        ("search", "root_noise_alpha"),
        *(("network", name) for name in ("policy_head", "policy_filters")),
        *(("learner", name) for name in ("learning_rate", "schedule_steps", "samples_per_position")),
    }


def test_a_name_is_found() -> None:
    """Or else the two above would show nothing."""
    python = """
        'Of connect4.'  # connect4
        x.is_connect4 = y == 'connect4' or 'connect4(max_plies=3)' or 'as in connect4'
    """
    assert set(names_in_python(dedent(python))) == {"is_connect4", "'connect4'", "'connect4(max_plies=3)'"}
    rust = """
        /// connect4 of [`games::connect4`]
        use crate::games::{TicTacToe, connect4};
        use crate::games::options::Options;
        let is_it = name == "connect4" || name == "as in connect4";
        #[cfg(test)]
        use crate::games::TicTacToe;
    """
    assert list(names_in_rust(rust)) == ["games::{TicTacToe", "connect4"]

"""A game written in Python: its protocol, its file, and the object that the program uses.

To write one, read the `Game` protocol here, then `docs/own-game.md`; the smallest complete example is in the README.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import operator
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerosum._core import Game as CoreGame
from zerosum.base.errors import GameError, nearest, shown

__all__ = [
    "Game",
    "adopt",
    "as_planes",
    "load",
    "place_error",
    "start_error",
]

MAX_ACTIONS = (1 << 16) - 1
"""Maximum number of actions."""
DEFAULT_MAX_PLIES = 512
COPY = "game"
"""The folder of a run with the copy of its rules."""

StateT = TypeVar("StateT")
ValueT = TypeVar("ValueT")


class Game(Protocol[StateT]):
    """The interface of a game written in Python: four attributes and eight methods.

    A state is any immutable value that describes a position completely, including the player to move and the history
    that the rules need. Optional attributes: `version` (int, 1; raise it when rules, actions or planes change),
    `max_plies` (int, 512; a longer game is a draw), `constant_planes` (names of planes that hold one number
    everywhere), `symmetries` (permutations of the actions that leave the game unchanged, such as the mirror of a
    board: the learner then also learns from each game's images) and `has_action_planes` (bool, False; True if action
    k * rows * columns + square stands for a square of the board as `planes` shows it: a network's policy may then be a
    convolution; further actions, such as a pass, follow the last plane). Optional methods: `material(state)` (a number:
    the first player's pieces, discs or similar less the second's; only the player `alphabeta` uses it),
    `picture(state)` (a `zerosum.Picture`: the board for drawings, from the same side for both players) and
    `swap_players(state)` (the position with the players' pieces exchanged and the other player to move; only
    `check_game` uses it, to check that planes, actions and results are seen from the right side).

    All methods except `play` and `action_text` are also called for finished positions; `player` may then return either.

    For every reachable state s, and each legal action a:
        legal_actions(s) is empty   if and only if   outcome(s) is not None
        play(s, a) leaves s as it was, and gives the same state each time
        planes(s) is seen from player(s): "own" is the player to move
    """

    # Properties, so that a plain attribute of the class satisfies each of them.

    @property
    def name(self) -> str:
        """Name of the game. Networks fit games with the same name and version."""
        ...

    @property
    def num_actions(self) -> int:
        """Number of different actions, at most 65535."""
        ...

    @property
    def board_shape(self) -> tuple[int, int]:
        """(rows, columns) of every plane."""
        ...

    @property
    def plane_names(self) -> Sequence[str]:
        """Meaning of each plane in order, seen from the player to move."""
        ...

    def initial_state(self) -> StateT:
        """The position before the first move."""
        ...

    def player(self, state: StateT) -> int:
        """The player to move: 0 (the first player) or 1. A player may move several times in a row."""
        ...

    def legal_actions(self, state: StateT) -> Sequence[int]:
        """Different numbers in [0, num_actions); an action keeps its number all game long."""
        ...

    def play(self, state: StateT, action: int) -> StateT:
        """The position after a legal action: a new value, `state` is not touched."""
        ...

    def outcome(self, state: StateT) -> float | None:
        """The first player's result in [-1, 1] (1 a win, 0 a draw), or None while the game goes on."""
        ...

    def planes(self, state: StateT) -> ArrayLike:
        """[number of planes, height, width] of zeros and ones, seen from the player to move."""
        ...

    def action_text(self, state: StateT, action: int) -> str:
        """The text of a legal action: without blanks, different for different actions."""
        ...

    def draw(self, state: StateT) -> str:
        """The board as text."""
        ...


METHODS = ("initial_state", "player", "legal_actions", "play", "outcome", "planes", "action_text", "draw")
ATTRIBUTES = ("name", "num_actions", "board_shape", "plane_names")

ENDING_OF_PYTHON_GAMES = "by the rules"
"""The core's text for the ending of every game written in Python."""

MISTAKES = (Exception, SystemExit)
"""Exceptions of a user's code that are mistakes of the game: all except Ctrl-C."""


def _read_options(text: str) -> tuple[str, dict[str, Any]]:
    """The class and its keyword arguments in `Class(name=value, ...)`: Python's literals; other words are texts.

    >>> _read_options("Dots(size=4, rules=misere)"), _read_options("Dots")
    (('Dots', {'size': 4, 'rules': 'misere'}), ('Dots', {}))
    """
    class_name, bracket, _ = text.partition("(")
    if not bracket:
        return class_name, {}
    expected = f"{class_name}(name=value, ...)"
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        raise GameError(f"{shown(text)} cannot be read, expected {expected}.") from None
    if not isinstance(call, ast.Call) or call.args:
        raise GameError(f"{shown(text)} has an option without a name, expected {expected}.")
    options: dict[str, Any] = {}
    for keyword in call.keywords:
        try:
            value = keyword.value.id if isinstance(keyword.value, ast.Name) else ast.literal_eval(keyword.value)
        except ValueError:
            raise GameError(f"{shown(text)}: {keyword.arg} is not a number, a text, True or False.") from None
        options[str(keyword.arg)] = value
    return class_name, options


def is_copy(file: Path) -> bool:
    """Whether a file is in a run's copy of its rules."""
    return file.parent.name == COPY and (file.parent.parent / "config.toml").is_file()


def load(path: Path, class_name: str) -> Game[Any]:
    """Run a user's file and make an object of the class in it; options in brackets are its constructor's arguments.

    Raises:
        GameError: the file or class does not exist, an option is unknown, or the code fails.
    """
    return made(path, class_name)  # type: ignore[no-any-return]


def made(path: Path, class_name: str, **arguments: Any) -> Any:
    """As `load`, for a class of any kind: an object of it, made with these arguments and the options in brackets."""
    class_name, options = _read_options(class_name)
    if not path.is_file():
        raise GameError(f"the file {str(path)!r} does not exist; your own game is given as path.py:Class.")
    # The module gets another name: a game in json.py must not replace the module json.
    loader = SourceFileLoader(f"zerosum_game_{path.stem}", str(path))
    spec = importlib.util.spec_from_file_location(loader.name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles of the user's classes look up their module.
    sys.modules[spec.name] = module
    # The file can import its neighbours, as a program can; also later, inside its methods.
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    sys.path.insert(0, folder)
    if is_copy(path.resolve()):
        sys.dont_write_bytecode = True  # the copy stays as it is: `permission.py` knows it by its content
    try:
        # The source itself and no cached bytecode: Python knows an old cache by size and whole seconds only, so a
        # file that was edited twice within a second would run as it was before.
        exec(loader.source_to_code(path.read_bytes(), str(path)), vars(module))
        found = _class_of(module, path, class_name)
        _require_options(found, options)
        return found(**options, **arguments)
    except GameError:
        raise
    except MISTAKES as error:
        raise GameError(f"{path} could not be run: {_describe(error)}") from error
    finally:
        sys.path.remove(folder)


def _class_of(module: ModuleType, path: Path, class_name: str) -> Callable[[], Any]:
    classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    own = [name for name, value in classes.items() if value.__module__ == module.__name__]
    if not class_name and own:
        options = " or ".join(f"{path}:{name}" for name in own)
        raise GameError(f"{path} is a file, but a game is a class in it. Name the class: {options}.")
    if not class_name:
        raise GameError(f"{path} has no class: a game is a class with the Game protocol.")
    if class_name not in classes:
        raise GameError(f"{path} has no class {class_name!r}{nearest(class_name, own)}.")
    return classes[class_name]


def _require_options(found: Callable[[], Any], options: dict[str, Any]) -> None:
    parameters = inspect.signature(found).parameters
    for name in options:
        if name not in parameters and not any(other.kind is other.VAR_KEYWORD for other in parameters.values()):
            raise GameError(f"{getattr(found, '__name__', found)} has no option {name!r}{nearest(name, parameters)}.")


def adopt(game: Game[Any], *, source: str | None = None) -> CoreGame:
    """Wrap a Python object with the `Game` protocol as a game of the program.

    Args:
        game: The object.
        source: The name from which `make` makes the same game in another process. Without it, pickles of the game and
            of its states contain the object itself.

    Raises:
        GameError: an attribute or method is missing or of the wrong kind.
    """
    if isinstance(game, type):
        raise GameError(f"{game.__name__} is a class, expected an object of it: {game.__name__}().")
    missing = {
        kind: [repr(name) for name in names if not hasattr(game, name)]
        for kind, names in (("attribute", ATTRIBUTES), ("method", METHODS))
    }
    if parts := [f"{kind}{'s' * (len(names) > 1)} {', '.join(names)}" for kind, names in missing.items() if names]:
        them = "it" if sum(map(len, missing.values())) == 1 else "them"
        raise GameError(f"{type(game).__name__} has no {' and no '.join(parts)}: the Game protocol requires {them}.")

    def read(name: str, reader: Callable[[Any], ValueT], expected: str, default: Any = None) -> ValueT:
        value = getattr(game, name, default)
        try:
            return reader(value)
        except (TypeError, ValueError):
            raise GameError(f"{type(game).__name__}: {name} is {value!r}, expected {expected}.") from None

    def read_number(name: str, low: int, high: int, default: int | None = None) -> int:
        return read(name, lambda value: _whole(value, low, high), f"a whole number, {low} to {high}", default)

    names = read("plane_names", _texts, "a sequence of texts")
    constant = read("constant_planes", _texts, "a sequence of texts", ())
    if unknown := sorted(set(constant) - set(names)):
        raise GameError(f"{type(game).__name__}: constant_planes names {unknown}, not in plane_names {names}.")
    return CoreGame.adopt(
        game,
        read("name", _word, "a word: it names the game's networks"),
        read_number("version", 0, (1 << 32) - 1, 1),
        read_number("num_actions", 1, MAX_ACTIONS),
        read("board_shape", _sides, "two whole numbers, 1 to 255: rows and columns"),
        [(name, name in constant) for name in names],
        read_number("max_plies", 1, 65535, DEFAULT_MAX_PLIES),
        read("symmetries", _permutations, "a sequence of permutations of the actions", ()),
        read("has_action_planes", _flag, "True or False", False),
        source=source,
    )


# These convert an attribute of a user's game for the core, or raise TypeError or ValueError.


def _whole(value: Any, low: int, high: int) -> int:
    if not low <= (number := operator.index(value)) <= high:
        raise ValueError
    return number


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):  # not meant as a sequence of letters
        raise ValueError
    return [_word(text) for text in value]


def _sides(value: Any) -> tuple[int, int]:
    rows, columns = value
    return _whole(rows, 1, 255), _whole(columns, 1, 255)


def _permutations(value: Any) -> list[list[int]]:
    return [[_whole(action, 0, MAX_ACTIONS - 1) for action in permutation] for permutation in value]


def as_planes(planes: ArrayLike) -> NDArray[np.float32]:
    """The answer of a user's `planes(state)` as the core reads it: a float32 array of three dimensions."""
    try:
        array = np.ascontiguousarray(planes, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise GameError(f"planes(state) is not an array of numbers: {error}") from error
    if array.ndim != 3:
        raise GameError(f"planes(state) has {array.ndim} dimensions, expected 3: plane, row, column")
    return array


def place_error(name: str, draw: Callable[[Any], object], state: object, error: BaseException) -> GameError:
    """An error in a user's game, with the position in which it happened."""
    try:
        board = f"\n{draw(state)}"
    except MISTAKES:  # a broken draw() must not hide the error
        board = f" {state!r}"
    what = str(error) if isinstance(error, GameError) else _describe(error)
    placed = GameError(f"{name}: {what}\nat the position{board}")
    placed.__cause__ = error
    return placed


def start_error(name: str, error: BaseException) -> GameError:
    """An error in a user's game before there was a position."""
    placed = GameError(f"{name}: initial_state() failed: {_describe(error)}")
    placed.__cause__ = error
    return placed


def _describe(error: BaseException) -> str:
    """An exception of the user's code in one line, with its place in that code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = str(Path(__file__).parent)
    is_theirs = frames and not frames[-1].filename.startswith((ours, "<frozen "))
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})" if is_theirs else ""
    return f"{type(error).__name__}: {error}{where}"

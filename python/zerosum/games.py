"""Games: make one by name or bring your own; positions and moves as people write them.

`make("connect4")` gives a game of the core; `make("mygame.py:MyGame")` a game written in Python. Both are seen through
the same methods afterwards, so nothing above this file knows the difference. To write a game, read the `Game` protocol
here, then `docs/own-game.md`; the smallest complete example is in the README.
"""

from __future__ import annotations

import functools
import importlib.util
import operator
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerosum import _core, openspiel
from zerosum._core import GameSpec, Leaves, PlaneSpec, State
from zerosum.errors import GameError, near, nearest, shown

__all__ = [
    "Game",
    "GameSpec",
    "Leaves",
    "PlaneSpec",
    "Rules",
    "State",
    "as_planes",
    "drawn_start",
    "make",
    "measure_game",
    "near_moves",
    "parse_action",
    "place_error",
    "start_error",
    "start_state",
    "state_after",
]

Rules = _core.Game
"""A game as the program sees it, of the core or of the user."""

DEFAULT_MAX_PLIES = 512

StateT = TypeVar("StateT")
ValueT = TypeVar("ValueT")


class Game(Protocol[StateT]):
    """What a game written in Python provides: four attributes and eight methods.

    A state is any immutable value that says everything about a position, who is to move and what the rules need to
    remember included. Optional attributes: `version` (int, 1; raise it when rules, actions or planes change),
    `max_plies` (int, 512; a longer game is a draw), `constant_planes` (names of planes that hold one number
    everywhere), `symmetries` (permutations of the actions under which the game is the same, such as the mirror of a
    board: the learner then learns from each game's images, too) and `has_action_planes` (bool, False; True if action
    k * rows * columns + square stands for a square of the board as `planes` shows it: a network's policy may then be a
    convolution).

    Finished positions are asked about, too, all but `play` and `action_text`; `player` may then say either.

    For every reachable state s, and each legal action a:
        legal_actions(s) is empty   if and only if   outcome(s) is not None
        play(s, a) leaves s as it was, and gives the same state each time
        planes(s) is seen from player(s): "own" is the player to move, whoever that is
    """

    # Asked for as read-only: a plain attribute of the class provides each of them.

    @property
    def name(self) -> str:
        """What the game is called; with the version it names the networks that fit."""
        ...

    @property
    def num_actions(self) -> int:
        """How many different actions the game has, at most 65535."""
        ...

    @property
    def board_shape(self) -> tuple[int, int]:
        """(rows, columns) of every plane."""
        ...

    @property
    def plane_names(self) -> Sequence[str]:
        """What each plane means, seen from the player to move; in their order."""
        ...

    def initial_state(self) -> StateT:
        """The position before the first move."""
        ...

    def player(self, state: StateT) -> int:
        """Who is to move: 0 (the first player) or 1. A side may move several times in a row."""
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
        """A legal action as people write it: without blanks, different for different actions."""
        ...

    def draw(self, state: StateT) -> str:
        """The board as text."""
        ...


METHODS = ("initial_state", "player", "legal_actions", "play", "outcome", "planes", "action_text", "draw")
ATTRIBUTES = ("name", "num_actions", "board_shape", "plane_names")

ENDING_OF_PYTHON_GAMES = "by the rules"
"""The core's word for how a game written in Python ended: it does not say more."""

MISTAKES = (Exception, SystemExit)
"""What a user's code may raise that is a mistake of the game: all but Ctrl-C."""


def make(name: str) -> Rules:
    """A game by its name, or a game written in Python as `path/to/file.py:Class`.

    Options stand in brackets behind a name of the core; `openspiel:NAME` is a game of OpenSpiel (`zerosum.openspiel`).

    >>> make("connect4").spec.num_actions
    7
    >>> make("connect4(max_plies=20)").spec.max_plies
    20

    Raises:
        GameError: the name or an option is unknown (with the nearest ones), the file or class is not there, the class
            lacks something that the `Game` protocol asks for, or the game is over before the first move.
    """
    game = find_game(name)
    if isinstance(game, Rules):
        return game
    rules = adopt(game)
    require_a_move(rules)
    return rules


def find_game(name: str) -> Rules | Game[Any]:
    """As `make`, but a game written in Python comes as the object of its class: what `check_game` wants to see."""
    if name.startswith(openspiel.PREFIX):
        return openspiel.load(name.removeprefix(openspiel.PREFIX))
    path, _, class_name = (name, "", "") if name.endswith(".py") else name.rpartition(":")
    if path.endswith(".py"):
        return _load(Path(path), class_name)
    base = name.partition("(")[0].strip()
    if base not in _core.core_game_names():
        raise GameError(
            f"unknown game {shown(base)}: {nearest(base, _core.core_game_names())}."
            " A game of your own is path.py:Class."
        )
    return Rules(name)


def adopt(game: Game[Any]) -> Rules:
    """See a Python object that keeps the `Game` protocol as the program sees games.

    Raises:
        GameError: an attribute or method is missing or of the wrong kind.
    """
    if isinstance(game, type):
        raise GameError(f"{game.__name__} is a class, expected an object of it: {game.__name__}().")
    for attribute in (*ATTRIBUTES, *METHODS):
        if not hasattr(game, attribute):
            kind = "attribute" if attribute in ATTRIBUTES else "method"
            raise GameError(f"{type(game).__name__} has no {kind} {attribute!r}: the Game protocol asks for it.")

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
    return Rules.adopt(
        game,
        read("name", _word, "a word: it names the game's networks"),
        read_number("version", 0, (1 << 32) - 1, 1),
        read_number("num_actions", 1, 65535),
        read("board_shape", _sides, "two whole numbers, 1 to 255: rows and columns"),
        [(name, name in constant) for name in names],
        read_number("max_plies", 1, 65535, DEFAULT_MAX_PLIES),
        read("symmetries", _permutations, "a sequence of permutations of the actions", ()),
        read("has_action_planes", _flag, "True or False", False),
    )


# An attribute of a user's game as the core wants it; TypeError or ValueError if it is of another kind.


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
    if isinstance(value, str):  # a sequence of letters, which nobody means
        raise ValueError
    return [_word(text) for text in value]


def _sides(value: Any) -> tuple[int, int]:
    rows, columns = value
    return _whole(rows, 1, 255), _whole(columns, 1, 255)


def _permutations(value: Any) -> list[list[int]]:
    return [[_whole(action, 0, 65534) for action in permutation] for permutation in value]


def require_a_move(game: Rules) -> None:
    """Refuse a game that is over before the first move.

    Raises:
        GameError: it is, with its start.
    """
    start = game.initial_state()
    if game.outcome(start) is not None:
        raise place_error(game.spec.name, game.draw, start, GameError("the game is over before the first move"))


def _load(path: Path, class_name: str) -> Game[Any]:
    """Run a user's file and make an object of the class in it."""
    if not path.is_file():
        raise GameError(f"there is no file {str(path)!r}; a game of your own is given as path.py:Class.")
    # Under a name of its own: a game in json.py must not become everybody's json.
    spec = importlib.util.spec_from_file_location(f"zerosum_game_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles of the user's classes look their module up.
    sys.modules[spec.name] = module
    # The file's neighbours come first while it is read, as for a program, and stay for imports inside its methods.
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
        return _class_of(module, path, class_name)()  # type: ignore[no-any-return]
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
        raise GameError(f"{path} is a file, and a game is a class in it. Name the class: {options}.")
    if not class_name:
        raise GameError(f"{path} has no class: a game is one that keeps the Game protocol.")
    if class_name not in classes:
        raise GameError(f"{path} has no class {class_name!r}: {nearest(class_name, own)}.")
    return classes[class_name]


def as_planes(planes: ArrayLike) -> NDArray[np.float32]:
    """What a user's `planes(state)` returned as the array that the core reads: float32, three dimensions."""
    try:
        array = np.ascontiguousarray(planes, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise GameError(f"planes(state) is no array of numbers: {error}") from error
    if array.ndim != 3:
        raise GameError(f"planes(state) has {array.ndim} dimensions, expected 3: plane, row, column")
    return array


def place_error(name: str, draw: Callable[[Any], object], state: object, error: BaseException) -> GameError:
    """What went wrong in a user's game, with the position in which it did."""
    try:
        board = f"\n{draw(state)}"
    except MISTAKES:  # the board is a courtesy: a broken draw() must not hide the error that is being told
        board = f" {state!r}"
    what = str(error) if isinstance(error, GameError) else _describe(error)
    placed = GameError(f"{name}: {what}\nat the position{board}")
    placed.__cause__ = error
    return placed


def start_error(name: str, error: BaseException) -> GameError:
    """What went wrong in a user's game before there was a position."""
    placed = GameError(f"{name}: initial_state() failed: {_describe(error)}")
    placed.__cause__ = error
    return placed


def _describe(error: BaseException) -> str:
    """An exception of the user's code in one line, with where in that code it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    is_theirs = frames and frames[-1].filename != __file__ and not frames[-1].filename.startswith("<frozen ")
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno}, in {frames[-1].name})" if is_theirs else ""
    return f"{type(error).__name__}: {error}{where}"


def parse_action(game: Rules, state: State, text: str) -> int:
    """The legal action that people write like this, in any of the game's notations.

    >>> game = make("connect4")
    >>> parse_action(game, game.initial_state(), "4")
    3

    Raises:
        GameError: no legal action is written so; the message lists those that are near.
    """
    action = game.parse_action(state, text)
    if action is not None:
        return action
    raise GameError(f"{shown(text)} is not a legal move here: {near_moves(game, state, text)}.")


_FEW_MOVES = 20


def near_moves(game: Rules, state: State, text: str, *, notation: str | None = None) -> str:
    """What helps after a move that is not legal and a colon: legal ones that are written nearly so, else some or all.

    They are in the game's own way of writing or in `notation`; without it those that are near may be in any.
    """
    legal = game.legal_actions(state, past_soft_endings=True)
    if not legal:
        return f"the game is over ({game.ending(state)})"
    texts = sorted(game.action_text(state, action, notation) for action in legal)
    others = game.notations if notation is None else []
    found = near(
        text, [*texts, *(game.action_text(state, action, other) for other in others for action in legal)], most=5
    )
    if found:
        return f"near are {', '.join(found)}, of {len(legal)} that are legal"
    if len(legal) <= _FEW_MOVES:
        return f"legal are {', '.join(texts)}"
    return f"legal are {', '.join(texts[:5])} and {len(legal) - 5} more"


def state_after(game: Rules, moves: str, *, position: str = "") -> State:
    """The position after moves as people write them, separated by blanks, from the initial state or another position.

    >>> print(make("tictactoe").draw(state_after(make("tictactoe"), "b2 a1")), end="")
    3  . . .
    2  . X .
    1  O . .
       a b c
    >>> print(make("tictactoe").draw(state_after(make("tictactoe"), "c3", position="3/3/OX1 X")), end="")
    3  . . X
    2  . . .
    1  O X .
       a b c

    Raises:
        GameError: a move is illegal or the position is none that the game can read, with what was expected.
    """
    state = game.parse_position(position) if position else game.initial_state()
    for number, text in enumerate(moves.split(), start=1):
        try:
            state = game.play(state, parse_action(game, state, text))
        except GameError as error:
            raise GameError(f"move {number}: {error}") from error
    return state


def start_state(game: Rules, text: str) -> State:
    """The position that a game which was recorded with this start begins with; "" is the initial one.

    One that the rules let a game begin with is found by its text, so that its history is empty; of any other position
    the game says what the moves are that led there.

    Raises:
        GameError: the text is no position of the game.
    """
    # The initial state is made anew: a state of a game in Python remembers what was played from it.
    return _position(game, text) if text else game.initial_state()


@functools.lru_cache(maxsize=4096)
def _position(game: Rules, text: str) -> State:
    number = _start_numbers(game).get(text)
    return game.parse_position(text) if number is None else game.start(number)


@functools.lru_cache(maxsize=8)
def _start_numbers(game: Rules) -> dict[str, int]:
    if game.num_starts == 1:
        return {}
    texts = {number: game.position_text(game.start(number)) for number in range(game.num_starts)}
    return {text: number for number, text in texts.items() if text is not None}


def drawn_start(game: Rules, *, seed: int, number: int) -> str:
    """One of the positions that a game may begin with, as `start_state` takes it: a pure function of seed and number.

    Raises:
        GameError: the game has several starts and no notation for them.
    """
    if game.num_starts == 1:
        return ""
    start = game.start(int(_core.uniform(seed, number, 0, "start") * game.num_starts))
    text = game.position_text(start)
    if text is None:
        raise GameError(f"{game.spec.full_name} has {game.num_starts} starts, and records need a text for each: none.")
    return "" if text == game.position_text(game.initial_state()) else text


@dataclass(frozen=True)
class GameSize:
    """What random games say about a game: the base of default settings."""

    legal_actions: float
    """Mean number of legal actions."""
    plies: float
    """Mean length of a game."""


@functools.lru_cache(maxsize=32)
def measure_game(game: Rules, *, num_games: int = 50, seed: int = 0) -> GameSize:
    """Play uniformly random games and measure them; what was found is kept: many ask, and a game in Python is slow.

    Raises:
        GameError: the game is over before the first move.
    """
    require_a_move(game)
    generator = random.Random(seed)
    num_legal = num_plies = 0
    for _ in range(num_games):
        state = game.initial_state()
        while legal := game.legal_actions(state):
            num_legal += len(legal)
            num_plies += 1
            state = game.play(state, generator.choice(legal))
    return GameSize(legal_actions=num_legal / num_plies, plies=num_plies / num_games)

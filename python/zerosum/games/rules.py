"""Games by name or from a user's class; positions and moves in people's notations.

`make("connect4")` returns a game of the core, `make("mygame.py:MyGame")` a game written in Python (`python_game.py`).
Both have the same methods, so later rooms do not distinguish them.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from zerosum._core import Game as CoreGame
from zerosum._core import GameSpec, Leaves, PlaneSpec, State, core_game_names, uniform
from zerosum.base.errors import GameError, nearest, shown
from zerosum.games import openspiel
from zerosum.games.names import GameName
from zerosum.games.python_game import Game as Game
from zerosum.games.python_game import adopt as adopt
from zerosum.games.python_game import load, place_error

__all__ = [
    "GameSpec",
    "Leaves",
    "PlaneSpec",
    "Rules",
    "State",
    "drawn_start",
    "given_options",
    "make",
    "measure_game",
    "move_number",
    "peoples_notation",
    "plays_chess960",
    "start_state",
    "with_options",
    "with_planes_of",
    "with_usual_encoding",
    "without_ply_cap",
]

Rules = CoreGame
"""A game of the core or of the user, with the methods that the program uses."""
NO_PLY_CAP = 65535
"""Maximum of a game's option `max_plies`."""
PLANE_OPTIONS = ("planes", "history", "history_fill", "liberties")
"""Options that change what a network sees, not the rules and not the numbering of actions in records."""
ENCODING_OPTIONS = ("policy", *PLANE_OPTIONS)
"""Options that change what a network sees or how actions are numbered, not the rules."""


def make(game: str | GameName | Game[Any] | Rules) -> Rules:
    """A game by its name, a game written in Python as `path/to/file.py:Class`, or an object of such a class.

    Options stand in brackets behind a name or a class; `openspiel:NAME` is a game of OpenSpiel (`openspiel.py`).

    >>> make("connect4").spec.num_actions
    7
    >>> make("connect4(max_plies=20)").spec.max_plies
    20

    Raises:
        GameError: the name or an option is unknown, the file or class does not exist, the class lacks a part of the
            `Game` protocol, or the game is over before the first move.
    """
    if isinstance(game, str):
        game = GameName.parse(game)
    found = find_game(game) if isinstance(game, GameName) else game
    if isinstance(found, Rules):
        return found
    rules = adopt(found, source=str(game.absolute()) if isinstance(game, GameName) else None)
    require_a_move(rules)
    return rules


def restore_state(source: str | Game[Any], start: int | str | None, moves: Sequence[int]) -> State:
    """The state of a pickle: the game, the start's number or text (None for the initial state), and the moves.

    Raises:
        GameError: the game has changed, so that the start or a move does not exist.
    """
    game = restored_game(source) if isinstance(source, str) else make(source)
    if start is None:
        state = game.initial_state()
    else:
        state = game.start(start) if isinstance(start, int) else game.parse_position(start)
    return functools.reduce(game.play, moves, state)


@functools.lru_cache(maxsize=32)
def restored_game(source: str) -> Rules:
    """The game of a state, by its name."""
    return make(source)


def find_game(name: GameName) -> Rules | Game[Any]:
    """As `make`, but a game written in Python is returned as the object of its class, for `check_game`."""
    if name.origin == "openspiel":
        return openspiel.load(f"{name.base}{name.options}")
    if name.file is not None:
        return load(name.file, f"{name.base}{name.options}")
    if not name.is_core:
        known = core_game_names()
        raise GameError(f"unknown game {shown(name.base)}{nearest(name.base, known)}. Your own game is path.py:Class.")
    return Rules(str(name))


def is_named(game: Rules, name: str | GameName) -> bool:
    """Whether `make` makes the same game of this name, with the same planes; a game in Python is not compared.

    >>> is_named(make("go9"), "go(size=9)"), is_named(make("go9"), "go(size=9, liberties=3)")
    (True, False)
    """
    return game.is_python or make(name).spec.encoder_id == game.spec.encoder_id


def move_number(game: Rules, state: State, ply: int) -> str:
    """The number of the next move as people write it: in chess both sides' moves have one, elsewhere each its own.

    Args:
        game: The game.
        state: The position before the move.
        ply: The move's number in its game, from 1, for games that number each move.

    >>> from zerosum.games import state_after
    >>> chess, go = make("chess"), make("go9")
    >>> e4, e5 = state_after(chess, "e4"), state_after(chess, "e4 e5")
    >>> [move_number(chess, state, 99) for state in (e4, e5)], move_number(go, go.initial_state(), 1)
    (['1', '2'], '1')
    """
    if "san" not in game.notations:
        return str(ply)
    return (game.position_text(state) or "").split()[-1]


def given_options(game: Rules) -> dict[str, str]:
    """The options that differ from the defaults, by name."""
    return dict(option.split("=") for option in game.spec.options.split(", ") if option)


def options_of(game: Rules) -> dict[str, str]:
    """The values of all options of a game, by name."""
    return {option.name: option.default for option in game.spec.known_options} | given_options(game)


def with_options(game: Rules, **options: str) -> Rules:
    """The same game with those of the options that it has.

    >>> with_options(make("go(size=9, komi=5.5)"), komi="7", entering_king="none").spec.full_name
    'go(size=9)'

    Raises:
        GameError: a value is out of range.
    """
    spec = game.spec
    known = {option.name for option in spec.known_options} & set(options)
    if not known:
        return game
    values = given_options(game) | {name: options[name] for name in known}
    return Rules(f"{spec.name}({', '.join(f'{name}={value}' for name, value in values.items())})")


def names_planes(game: Rules) -> bool:
    """Whether the game's name has options of its planes.

    >>> names_planes(make("go9(komi=5)")), names_planes(make("go9(liberties=3)"))
    (False, True)
    """
    return not given_options(game).keys().isdisjoint(PLANE_OPTIONS)


def with_planes_of(game: Rules, other: Rules) -> Rules:
    """The rules of `game` with the planes of `other`, if both are one game with different options.

    If there are no such planes for it (on a larger board), it is `game` itself.

    >>> with_planes_of(make("go9(komi=5)"), make("go(history=2, liberties=3)")).spec.full_name
    'go(size=9, komi=5, history=2, liberties=3)'
    """
    if game.spec.name != other.spec.name:
        return game
    values = options_of(other)
    try:
        return with_options(game, **{name: values[name] for name in PLANE_OPTIONS if name in values})
    except GameError:
        return game


def with_usual_encoding(game: Rules) -> Rules:
    """The same rules with the default planes and actions, under which results and positions are kept.

    >>> with_usual_encoding(make("go9(history=1, komi=5)")).spec.full_name
    'go(size=9, komi=5)'
    >>> with_usual_encoding(make("shogi(policy=flat, history_fill=zero)")).spec.full_name
    'shogi'
    """
    defaults = {option.name: option.default for option in game.spec.known_options}
    return with_options(game, **{name: defaults[name] for name in ENCODING_OPTIONS if name in defaults})


def plays_chess960(game: Rules) -> bool:
    """Whether the rules are those of Chess960, independent of the encoding for a network.

    >>> plays_chess960(make("chess960")), plays_chess960(make("chess(rules=chess960)")), plays_chess960(make("chess"))
    (True, True, False)
    """
    return rules_name(game) == "chess960"


def rules_name(game: Rules) -> str:
    """The name of the game whose rules are played, independent of the encoding for a network.

    >>> rules_name(make("chess(rules=chess960)")), rules_name(make("chess")), rules_name(make("go9"))
    ('chess960', 'chess', 'go')
    """
    rules = given_options(game).get("rules", "")
    return rules if rules in core_game_names() else game.spec.name


def without_ply_cap(game: Rules, *, most_plies: int = NO_PLY_CAP) -> Rules:
    """The game without a draw by its length before `most_plies`, unless a cap was asked for.

    >>> without_ply_cap(make("connect4")).spec.max_plies, without_ply_cap(make("connect4(max_plies=20)")).spec.max_plies
    (65535, 20)
    """
    return game if "max_plies" in given_options(game) else with_options(game, max_plies=str(most_plies))


def require_a_move(game: Rules) -> None:
    """Check that a game is not over before the first move.

    Raises:
        GameError: it is over; the message shows the position.
    """
    start = game.initial_state()
    if game.outcome(start) is not None:
        raise place_error(game.spec.name, game.draw, start, GameError("the game is over before the first move"))


PEOPLES_NOTATIONS = ("san", "kif")
"""Notations that people read more easily than the game's own."""


def peoples_notation(game: Rules) -> str | None:
    """The notation that people prefer, one of `notations`; None for the game's own.

    >>> peoples_notation(make("chess")), peoples_notation(make("shogi")), peoples_notation(make("go9"))
    ('san', 'kif', None)
    """
    return next((name for name in PEOPLES_NOTATIONS if name in game.notations), None)


def start_state(game: Rules, text: str) -> State:
    """The position that a game which was recorded with this start begins with; "" is the initial one.

    One that the rules let a game begin with is found by its text, so that its history is empty; of any other position
    the game says what the moves are that led there.

    Raises:
        GameError: the text is not a position of the game.
    """
    # The initial state is made anew, because a state of a game in Python remembers the moves played from it.
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


def own_starts(game: Rules) -> Collection[str]:
    """The texts of the positions that the rules let a game begin with; empty if that is the initial one alone."""
    return _start_numbers(game).keys()


def drawn_start(game: Rules, *, seed: int, number: int) -> str:
    """A random starting position of a game, as `start_state` takes it: a pure function of seed and number.

    Raises:
        GameError: the game has several starting positions and no notation for them.
    """
    if game.num_starts == 1:
        return ""
    start = game.start(int(uniform(seed, number, 0, "start") * game.num_starts))
    text = game.position_text(start)
    if text is None:
        raise GameError(
            f"{game.spec.full_name} has {game.num_starts} starting positions but no notation, which records need."
        )
    return "" if text == game.position_text(game.initial_state()) else text


def has_owners(game: Rules) -> bool:
    """Whether the squares of a finished game have owners, as the points of Go.

    >>> has_owners(make("go9")), has_owners(make("chess"))
    (True, False)
    """
    return game.ownership(game.initial_state(), 0, 0) is not None


@dataclass(frozen=True)
class GameSize:
    """Measurements of a game in random games: the base of default settings."""

    legal_actions: float
    """Mean number of legal actions."""
    plies: float
    """Mean length of a game."""
    takes_turns: bool = True
    """Whether no side moved twice in a row."""


@functools.lru_cache(maxsize=32)
def measure_game(game: Rules, *, num_games: int = 50, seed: int = 0) -> GameSize:
    """Measure uniformly random games, from any of the starts. The result is cached, because games in Python are slow.

    Raises:
        GameError: the game is over before the first move.
    """
    require_a_move(game)
    generator = random.Random(seed)
    num_legal = num_plies = 0
    takes_turns = True
    for _ in range(num_games):
        state, before = _random_start(game, generator), -1
        while legal := game.legal_actions(state):
            num_legal += len(legal)
            num_plies += 1
            takes_turns &= (player := game.player(state)) != before
            state, before = game.play(state, generator.choice(legal)), player
    return GameSize(legal_actions=num_legal / num_plies, plies=num_plies / num_games, takes_turns=takes_turns)


def _random_start(game: Rules, generator: random.Random) -> State:
    return game.initial_state() if game.num_starts == 1 else game.start(generator.randrange(game.num_starts))

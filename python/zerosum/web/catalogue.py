"""A page about each game: its board, rules, options, and the planes of the network's input."""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Mapping
from typing import Any

from zerosum.base.errors import GameError
from zerosum.games import Rules, State, state_after
from zerosum.games.board_in_text import board_picture
from zerosum.games.catalogue import plane_table
from zerosum.games.rules import names_planes, options_of, with_options
from zerosum.games.short_names import short_name
from zerosum.network.fit import fits
from zerosum.web.boards import draw_board
from zerosum.web.library import Library

CONTROLS = {"komi": "Komi", "handicap": "Handicap stones"}
"""Options that people set before a game, by their names on pages."""
MOST_HANDICAP = 9
MOST_PLANES = 64
"""Most planes that are drawn."""
MOST_STONES = 30
"""Most stones of a thumbnail."""


def games(library: Library) -> list[dict[str, Any]]:
    """All games, each with a small drawing and whether a network of it can play.

    Games with options, such as another size, are among them if a network has learned them.
    """
    learned = {one.info.encoder_id: one.info for one in library.networks(all_checkpoints=False)}
    games = {name: library.game(name) for name in library.game_names()}
    # The names without options are whole games; the others are abbreviations.
    whole = {name: game for name, game in games.items() if game.is_python or name == game.spec.full_name}
    for info in learned.values():
        if not any(fits(info, game) for game in whole.values()):
            with contextlib.suppress(GameError):
                name = short_name(library.game(info.full_name))
                whole.setdefault(name, library.game(name))
    return [
        {
            "name": name,
            "board": "{} × {}".format(*game.spec.board_shape),
            "svg": _first_board(game),
            "own": game.is_python,
            "network": any(fits(info, game) for info in learned.values()),
        }
        for name, game in whole.items()
    ]


@functools.lru_cache(maxsize=128)
def _first_board(game: Rules) -> str:
    """The initial position. A board that is empty then has some stones, as bare lines look alike."""
    state = game.initial_state()
    picture = board_picture(game, state)
    if picture is not None and not any(picture.cells):
        state = _after_random_moves(game, state, number=min(max(3, len(picture.cells) // 6), MOST_STONES))
    svg: str = draw_board(game, state)["svg"]
    return svg


def _after_random_moves(game: Rules, state: State, *, number: int) -> State:
    """The position after so many random moves, always the same; before the game's end if that comes earlier."""
    generator = random.Random(0)
    for _ in range(number):
        after = game.play(state, generator.choice(game.legal_actions(state)))
        if game.outcome(after) is not None:
            break
        state = after
    return state


def controls(game: Rules) -> list[dict[str, Any]]:
    """The controls of a game's options on pages: name, label, value, and the values to choose from if they are few.

    >>> from zerosum.games import make
    >>> [(one["name"], one["value"], one["values"]) for one in controls(make("go9"))]
    [('komi', '7', []), ('handicap', '0', ['0', '2', '3', '4', '5', '6', '7', '8', '9'])]
    """
    values = options_of(game)
    return [
        {"name": name, "label": label, "value": values[name], "values": _values(game, name)}
        for name, label in CONTROLS.items()
        if name in values
    ]


def _values(game: Rules, name: str) -> list[str]:
    """The whole numbers up to the most handicap stones that an option may have; none for one of other numbers."""
    found = []
    with contextlib.suppress(GameError):
        with_options(game, **{name: "0.5"})
        return []
    for number in map(str, range(MOST_HANDICAP + 1)):
        with contextlib.suppress(GameError):
            with_options(game, **{name: number})
            found.append(number)
    return found


def game_with(library: Library, game: Rules, values: Mapping[str, str]) -> Rules:
    """A game with other values of its controls.

    Raises:
        GameError: a value is out of range.
    """
    return library.game(
        with_options(game, **{name: values[name] for name in CONTROLS if name in values}).spec.full_name
    )


def page(game: Rules, moves: str) -> dict[str, Any]:
    """The page about a game, with the planes of the position after some moves.

    Raises:
        GameError: a move is illegal.
    """
    spec, description = game.spec, game.description
    state = state_after(game, moves)
    planes = game.planes(state)
    rows = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in list(plane_table(spec.planes))[2:]]
    return {
        "name": spec.full_name if names_planes(game) else short_name(game),
        "rules": description.rules,
        "about": description.board,
        "planesText": description.planes,
        "actionsText": description.actions,
        "actions": spec.num_actions,
        "symmetries": len(spec.symmetries) + 1,
        "maxPlies": spec.max_plies,
        "starts": game.num_starts,
        "options": [[one.name, one.default, one.expected] for one in spec.known_options],
        "planeRows": rows,
        "planes": [
            {"name": spec.planes[index].name, "values": [[round(float(v), 2) for v in row] for row in plane]}
            for index, plane in enumerate(planes[:MOST_PLANES])
        ],
        "numPlanes": len(spec.planes),
        "board": draw_board(game, state),
        "own": game.is_python,
    }

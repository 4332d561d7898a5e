"""A page about each game: its board, rules, options, and the planes of the network's input."""

from __future__ import annotations

from typing import Any

from zerosum.games import Rules, state_after
from zerosum.games.catalogue import plane_table
from zerosum.web.boards import draw_board
from zerosum.web.library import Library

MOST_PLANES = 64
"""Most planes that are drawn."""


def games(library: Library) -> list[dict[str, Any]]:
    """All games, each with a drawing of a position after some moves."""
    found = []
    for name in library.game_names():
        game = library.game(name)
        if "(" not in name and game.spec.full_name != name and not game.is_python:
            continue  # an abbreviation of another name
        state = game.initial_state()
        found.append(
            {
                "name": name,
                "board": "{} × {}".format(*game.spec.board_shape),
                "about": game.description.board if not game.is_python else "A game of your own.",
                "svg": draw_board(game, state)["svg"],
                "own": game.is_python,
            }
        )
    return found


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
        "name": spec.full_name,
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

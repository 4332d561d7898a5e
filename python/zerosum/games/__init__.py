"""Games: rules by name or written by the user, positions and moves in people's notations.

`rules.py` makes a game, `python_game.py` has the protocol for your own game, `check.py` checks what the program
relies on. Start with `make`.
"""

from zerosum.games.check import check_game as check_game
from zerosum.games.playthrough import state_after as state_after
from zerosum.games.python_game import Game as Game
from zerosum.games.rules import Rules as Rules
from zerosum.games.rules import State as State
from zerosum.games.rules import adopt as adopt
from zerosum.games.rules import make as make
from zerosum.games.rules import measure_game as measure_game
from zerosum.games.rules import start_state as start_state
from zerosum.games.written_moves import parse_action as parse_action

__all__ = [
    "Game",
    "Rules",
    "State",
    "adopt",
    "check_game",
    "make",
    "measure_game",
    "parse_action",
    "start_state",
    "state_after",
]

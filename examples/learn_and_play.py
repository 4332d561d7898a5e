"""Learn a game from its rules alone, look at what was learned, and play a game against random moves.

    python examples/learn_and_play.py                  # Connect Four, two minutes
    python examples/learn_and_play.py othello 10       # another game, ten minutes

In a notebook, run the same lines: an analysis is shown as a board with its moves, and `zerosum.curves` as a picture.
"""

from __future__ import annotations

import random
import sys

import zerosum


def learn_and_play(game: str, minutes: float, run: str) -> float:
    """Train in the directory `run`, and return the result of a game for the network, which moves first, in [-1, 1]."""
    zerosum.train(game, run, minutes=minutes)
    player = zerosum.load(run)
    print(player.analyse(num_simulations=200))  # the initial position: win rate, moves with their visits, best line

    rules, generator = player.game, random.Random(1)
    state, moves = rules.initial_state(), list[int]()
    while (result := rules.outcome(state)) is None:
        legal = rules.legal_actions(state)
        if rules.player(state) == 0:
            action = player.analyse(state, num_simulations=100).chosen[0]
        else:
            action = generator.choice(legal)
        moves.append(action)
        state = rules.play(state, action)
    print(rules.draw(state))
    return result


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "connect4"
    print("result:", learn_and_play(name, float(sys.argv[2]) if len(sys.argv) > 2 else 2.0, f"runs/example-{name}"))

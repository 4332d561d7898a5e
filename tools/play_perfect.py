"""Games of a Connect Four player against perfect play by bitbully, in a separate environment; for developers.

    python -m venv solver && solver/bin/pip install bitbully==0.0.79 numpy
    python tools/play_perfect.py runs/connect4 --solver solver/bin/python --seconds 5 --games 20

The player moves first and wins a game if it makes no mistake. The solver plays uniformly among the moves that lose
latest. It runs in its own process and answers over a pipe, because it is AGPL and must not be imported.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys


def main() -> None:
    """Play the games, or, in the solver's environment, answer."""
    if sys.argv[1:] == ["--answer"]:
        answer()
        return
    parser = argparse.ArgumentParser(description="Play Connect Four, moving first, against perfect play.")
    parser.add_argument("run", help="a run directory or a checkpoint")
    parser.add_argument("--solver", required=True, help="the Python that has bitbully")
    parser.add_argument("--seconds", type=float, default=5.0, help="seconds a move")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="keys the solver's choices")
    asked = parser.parse_args()

    from zerosum.games import state_after
    from zerosum.play.player import load_player

    player = load_player(asked.run)
    command, generator = [asked.solver, __file__, "--answer"], random.Random(asked.seed)
    wins = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as solver:
        assert solver.stdin is not None and solver.stdout is not None
        for number in range(1, asked.games + 1):
            moves: list[str] = []
            state = state_after(player.game, "")
            while (outcome := player.game.outcome(state)) is None:
                if len(moves) % 2 == 0:
                    moves.append(player.analyse(state, seconds=asked.seconds).best_move)
                else:
                    solver.stdin.write("".join(moves) + "\n")
                    solver.stdin.flush()
                    moves.append(generator.choice(solver.stdout.readline().split()))
                state = state_after(player.game, " ".join(moves))
            wins += outcome > 0
            word = {1.0: "won", 0.0: "drawn", -1.0: "lost"}[outcome]
            print(f"game {number}: {word} after {len(moves)} moves: {' '.join(moves)}", flush=True)
    print(f"{player.name} won {wins} of {asked.games} games, moving first, {asked.seconds:g} seconds a move.")


def answer() -> None:
    """For each input line, the columns played so far (1 to 7), print the columns of the best moves."""
    from bitbully import BitBully, Board

    solver = BitBully()
    for line in sys.stdin:
        scores = solver.score_all_moves(Board([int(column) - 1 for column in line.strip()]))
        best = max(scores.values())
        print(*(column + 1 for column, score in scores.items() if score == best), flush=True)


if __name__ == "__main__":
    main()

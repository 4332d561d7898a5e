"""An exam of a tic-tac-toe player in all 4,520 positions with a move to make, against perfect play; for developers.

    python tools/exam_tictactoe.py runs/tictactoe --simulations 25
    python tools/exam_tictactoe.py runs/tictactoe --simulations 25 --rules known

A position is passed if the move that the player chooses keeps the position's best result. Then the player's moves are
followed against every play of an opponent, from both sides, and lost games are counted. A network that has learned the
rules is searched by them; `--rules known` searches the same weights by the game's own rules.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from dataclasses import replace

from zerosum.games import Rules, State
from zerosum.play.player import Player, load_player
from zerosum.search import new_search
from zerosum.search.answering import answer_all

TREES = 512
"""Positions that are searched at a time."""
Board = tuple[int, ...]
"""A square's owner, 0 or 1, or -1, for each of nine."""
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def main() -> None:
    """Hold the exam and print its result."""
    parser = argparse.ArgumentParser(description="Examine a tic-tac-toe player in every position.")
    parser.add_argument("run", help="a run directory or a checkpoint")
    parser.add_argument("--simulations", type=int, default=25)
    parser.add_argument("--rules", choices=["known", "learned"], help="the search's rules; the run's if not given")
    asked = parser.parse_args()
    player = load_player(asked.run, num_simulations=asked.simulations)
    if asked.rules:
        player = player.judged_by(player.evaluator, replace(player.config, rules=asked.rules))
    positions = all_positions(player.game)
    chosen = dict(zip(positions, choices(player, list(positions.values())), strict=True))
    passed = [value_of(played(board, action)) == -value_of(board) for board, action in chosen.items()]
    lost = [lost_games(chosen, side) for side in (0, 1)]
    print(
        f"step {player.step}, {asked.simulations} simulations, rules {player.config.rules}: best result kept in"
        f" {sum(passed)} of {len(passed)} positions ({sum(passed) / len(passed):.2%}); against every play, lost lines"
        f" as the first player: {lost[0]}, as the second: {lost[1]}."
    )


def all_positions(game: Rules) -> dict[Board, State]:
    """A state of every position with a move to make, by its board."""
    found: dict[Board, State] = {}
    waiting = [((-1,) * 9, game.initial_state())]
    while waiting:
        board, state = waiting.pop()
        if board in found or game.outcome(state) is not None:
            continue
        found[board] = state
        waiting += [(played(board, action), game.play(state, action)) for action in game.legal_actions(state)]
    return found


def choices(player: Player, states: Sequence[State]) -> list[int]:
    """The move that the player chooses in each position."""
    chosen: list[int] = []
    for start in range(0, len(states), TREES):
        some = states[start : start + TREES]
        search = new_search(player.game, replace(player.config, memory_mib=4096), num_trees=len(some))
        for tree, state in enumerate(some):
            search.reset(tree, state)
            search.begin(tree, player.config.num_simulations)
        answer_all(search, player.evaluator, max_leaves=TREES)
        chosen += [search.root(tree).best_action for tree in range(len(some))]
    return chosen


def mover(board: Board) -> int:
    """The player to move."""
    return sum(owner >= 0 for owner in board) % 2


def played(board: Board, action: int) -> Board:
    """The board after a move."""
    return (*board[:action], mover(board), *board[action + 1 :])


@functools.cache
def value_of(board: Board) -> int:
    """The result of perfect play for the player to move."""
    if any(board[a] >= 0 and board[a] == board[b] == board[c] for a, b, c in LINES):
        return -1
    moves = [square for square in range(9) if board[square] < 0]
    return max((-value_of(played(board, move)) for move in moves), default=0)


def lost_games(chosen: dict[Board, int], side: int) -> int:
    """The number of lines of play in which the player, as `side`, loses."""

    @functools.cache
    def lost(board: Board) -> int:
        if board not in chosen:
            return int(value_of(board) < 0 and mover(board) == side)
        if mover(board) == side:
            return lost(played(board, chosen[board]))
        return sum(lost(played(board, square)) for square in range(9) if board[square] < 0)

    return lost((-1,) * 9)


if __name__ == "__main__":
    main()

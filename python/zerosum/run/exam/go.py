"""The exam of Go on 9x9: ladders, two eyes, seki and won endings."""

from __future__ import annotations

import random
from collections.abc import Callable

from zerosum.base.errors import GameError
from zerosum.games import Rules, State
from zerosum.games.rules import with_options
from zerosum.run.exam.go_boards import Board, living_group, open_border, shared_liberties
from zerosum.run.exam.go_ladders import ladders
from zerosum.run.exam.go_solver import Hole, KeepsWin, TooLargeError
from zerosum.run.exam.task import ExamTask, Judge, Part, RightMoves

MOST_RIGHT = 0.5
"""Largest share of the moves of a hole, and the pass, that may be right."""
STEP = 2
"""Points between two results on a board that is filled without neutral points."""


def board_part(
    name: str,
    question: str,
    draw: Callable[[random.Random], Board | None],
    judged: Callable[[Rules, State, Hole], Judge | None],
) -> Part:
    """A part of drawn boards, of which `judged` gives the judge; None for a board that is not asked about."""

    def make_tasks(game: Rules, number: int, seed: int) -> list[ExamTask]:
        generator, found, komi = random.Random(f"{seed} {name}"), dict[str, ExamTask](), _komi(game)
        while len(found) < number:
            drawn = draw(generator)
            board = None if drawn is None else drawn.turned(generator)
            if board is None or not board.is_open(komi):
                continue
            try:
                state = board.state(game, generator.randrange(2))
                judge = judged(game, state, Hole(game, board.hole))
            except (GameError, TooLargeError):
                continue  # a chain without a liberty; a board with too many lines
            if judge is not None:
                text = game.position_text(state) or ""
                found[text] = ExamTask(text, judge)
        return list(found.values())

    return Part(name, question, 0.95, 100, make_tasks)


def decisive_moves(game: Rules, state: State, hole: Hole) -> RightMoves | None:
    """The winning moves, if a pass does not win."""
    passing = game.spec.num_actions - 1
    if hole.wins_by(state, passing) or not hole.wins(state, game.player(state)):
        return None
    right = hole.winning_moves(state)
    return RightMoves(right) if _are_few(game, state, hole, right) else None


def left_alone(game: Rules, state: State, hole: Hole) -> RightMoves | None:
    """The winning moves, if a pass is one of them and no move in the hole is."""
    passing, score = game.spec.num_actions - 1, game.score(state)
    assert score is not None
    if (score if game.player(state) == 0 else -score) <= 0 or not hole.wins_by(state, passing):
        return None
    if any(hole.wins_by(state, action) for action in hole.moves(state) if action != passing):
        return None
    return RightMoves(hole.winning_moves(state))


def won_by_a_point(game: Rules, state: State, hole: Hole) -> KeepsWin | None:
    """A judge of the whole ending, if it is won by the least margin and not by everything."""
    player = game.player(state)
    if not hole.wins(state, player):
        return None
    sign = 1 if player == 0 else -1
    other = with_options(game, komi=f"{_komi(game) + sign * STEP:g}")
    if Hole(other, hole.points).wins(state, player):
        return None
    right = frozenset(action for action in hole.moves(state) if hole.wins_by(state, action))
    return KeepsWin(hole.points) if _are_few(game, state, hole, right) else None


def _komi(game: Rules) -> float:
    """White's points on the empty board."""
    score = game.score(game.initial_state())
    assert score is not None
    return -score


def _are_few(game: Rules, state: State, hole: Hole, right: frozenset[int]) -> bool:
    moves = hole.moves(state)
    return len(right.intersection(moves)) <= MOST_RIGHT * len(moves)


PARTS = (
    ladders(),
    board_part("two eyes", "Make a group live, or kill one.", living_group, decisive_moves),
    board_part("seki", "Leave a seki alone.", shared_liberties, left_alone),
    board_part(
        "won ending", "Win an ending that is won by the least margin, to the pass.", open_border, won_by_a_point
    ),
)

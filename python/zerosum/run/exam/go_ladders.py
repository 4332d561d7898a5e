"""Ladders of Go on which a game hangs: a long chain that ataris capture, or not because a stone is in the way.

    X X X X . . . O O      White's chain comes out of Black's side into a hole. Frames with eyes fill the rest of
    X O O O O X . O O      the board, so that Black cannot win if the chain lives (its side then has enough points
    X X X X . . . O O      for certain), and random games say that Black leads if it is captured.

Reading finds the ladders (`go_reader.py`). What is right is not left to it, but to an exact search of all moves in the
hole (`go_solver.Fate`).
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from zerosum.base.errors import GameError
from zerosum.games import Rules, State
from zerosum.run.exam.go_boards import SIZE, LadderBoard, ladder_boards
from zerosum.run.exam.go_life import beside, whole_chain
from zerosum.run.exam.go_reader import LEAST_ATARIS, Ladder, Stones, TooLongError, bits
from zerosum.run.exam.go_solver import NO_LIMIT, Fate, TooLargeError
from zerosum.run.exam.task import ExamTask, Judge, Part, Step

MOST_RIGHT = 5
"""Most right moves."""
LEAST_LEAD = 3.0
"""Points by which the attacker leads in random games after the capture of the chain."""
NUM_GAMES = 100
"""Number of these games."""
KINDS = ("capture", "run", "save", "do not chase")
"""What is right: to give atari, to flee from it, to save the chain from a ladder that works before it begins,
and to capture it otherwise than by an atari."""


def ladders() -> Part:
    """The part of ladders: the mover must see whether one works, and the game hangs on it."""
    question = "Capture or save a chain on which the game hangs, in a ladder that works or does not."
    return Part("ladders", question, 0.95, 100, ladder_tasks)


def ladder_tasks(game: Rules, number: int, seed: int) -> list[ExamTask]:
    """Positions of `KINDS`, one of each drawn board: of the kind that is rarest so far among those that it has."""
    generator, found, score = random.Random(f"{seed} ladders"), dict[str, ExamTask](), game.score(game.initial_state())
    num_of = dict.fromkeys(KINDS, 0)
    assert score is not None, "a position of Go has a score"
    # A side's lead is twice its points less those of the board, and komi.
    enough = math.ceil((SIZE * SIZE - score) / 2), math.ceil((SIZE * SIZE + score) / 2)
    while len(found) < number:
        rarest_first = sorted(KINDS, key=num_of.__getitem__)
        kind, task = _first_task(game, ladder_boards(generator, enough), rarest_first, generator)
        if task is not None:
            found[task.start] = task
            num_of[kind] += 1
    return list(found.values())


def _first_task(
    game: Rules, boards: Iterable[LadderBoard], kinds: Sequence[str], generator: random.Random
) -> tuple[str, ExamTask | None]:
    """The first task of some boards, and its kind."""
    for drawn in boards:
        for kind in kinds if _is_about_a_ladder(game, drawn) else ():
            with contextlib.suppress(GameError, TooLongError, TooLargeError):  # suicide; lines too many to be read
                if (task := _task(game, drawn, kind, generator)) is not None:
                    return kind, task
    return "", None


def _is_about_a_ladder(game: Rules, drawn: LadderBoard) -> bool:
    """Whether a long ladder captures the board's chain, and the attacker then leads."""
    ladder = Ladder(drawn.target)
    try:
        state = drawn.board.state(game, 1 - drawn.owner)
        board = _stones(game, state, drawn.owner)
        working = ladder.captures(board)
        is_long = working and all(ladder.num_ataris(board, atari) >= LEAST_ATARIS for atari in working)
        return bool(is_long) and _lead_after(game, drawn, state) >= LEAST_LEAD
    except (GameError, TooLongError):
        return False  # a chain without a liberty; lines that are too many to be read


def _task(game: Rules, drawn: LadderBoard, kind: str, generator: random.Random) -> ExamTask | None:
    """The task of a kind on a board with a ladder; None if the board has none of this kind.

    Raises:
        GameError, TooLongError, TooLargeError: the board is not to be asked about.
    """
    attacker, ladder = 1 - drawn.owner, Ladder(drawn.target)
    state = drawn.board.state(game, attacker)
    board = _stones(game, state, drawn.owner)
    working = ladder.captures(board)
    if kind in ("run", "do not chase"):
        blocked = _blocked(drawn, ladder, board, generator)
        if blocked is None:
            return None
        state = blocked.board.state(game, attacker)
    if kind == "run":
        state = game.play(state, working[0])
    elif kind == "save":
        state = drawn.board.state(game, drawn.owner)
    judge = Reads(drawn.board.hole, drawn.target, drawn.owner)
    right = judge.right_moves(game, state)
    if not 0 < len(right) <= MOST_RIGHT:
        return None
    if kind in ("capture", "do not chase") and right.isdisjoint(ladder.liberties(board)) is (kind == "capture"):
        return None
    return ExamTask(game.position_text(state) or "", judge)


def _lead_after(game: Rules, drawn: LadderBoard, state: State) -> float:
    """The attacker's lead in random games after the capture by a ladder; -inf if it does not capture."""
    attacker = 1 - drawn.owner
    while (board := _stones(game, state, drawn.owner)).own >> drawn.target & 1:
        ladder = Ladder(drawn.target)
        if game.player(state) == drawn.owner:
            moves = ladder.flights(board)
        elif len(moves := ladder.liberties(board)) > 1:
            moves = ladder.captures(board)
        legal = sorted(set(moves).intersection(game.legal_actions(state)))
        if not legal and game.player(state) == attacker:
            return -math.inf
        state = game.play(state, legal[0] if legal else game.spec.num_actions - 1)
    owners, komi = game.ownership(state, NUM_GAMES, 0), game.score(game.initial_state())
    assert owners is not None and komi is not None, "points of Go have owners"
    return (1 if attacker == 0 else -1) * (float(owners.sum()) + komi)


def _blocked(drawn: LadderBoard, ladder: Ladder, board: Stones, generator: random.Random) -> LadderBoard | None:
    """The board with one more stone of the chain's side, away from the chain, that makes the ladder fail."""
    near = beside(whole_chain(board.own, drawn.target))
    near |= beside(near)
    points = [point for point in bits(board.empty & ~near) if point in drawn.board.hole]
    generator.shuffle(points)
    for point in points:
        if not ladder.captures(replace(board, own=board.own | 1 << point)):
            cells = list(drawn.board.cells)
            cells[point] = drawn.owner
            return replace(drawn, board=replace(drawn.board, cells=tuple(cells)))
    return None


@dataclass(frozen=True)
class Reads(Judge):
    """The player must capture the chain, or save it, while the other side goes on with the ladder to its end."""

    points: frozenset[int]
    """The points of the hole."""
    target: int
    """A point of the chain."""
    owner: int
    """The player whose chain it is."""

    def right_moves(self, game: Rules, state: State) -> frozenset[int]:
        """All moves after which the chain is captured, or safe, by exact play. Raises TooLargeError."""
        fate = Fate(game, self.points, self.target, self.owner)
        return frozenset(action for action in game.legal_actions(state) if fate.is_kept_by(state, action))

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """As `Judge.judge`; the reply is the move of the ladder that leaves the fewest right answers."""
        fate = Fate(game, self.points, self.target, self.owner, NO_LIMIT)
        if not fate.is_kept_by(state, action):
            result = "can be captured" if game.player(state) == self.owner else "gets away"
            return Step.wrong(f"{game.action_text(state, action)}, after which the chain {result}")
        after = game.play(state, action)
        replies = self._replies(game, after)
        if not replies:
            return Step.right()

        def num_answers(reply: int) -> int:
            answered = game.play(after, reply)
            return sum(fate.is_kept_by(answered, answer) for answer in fate.moves(answered))

        return Step(reply=min(replies, key=num_answers))

    def _replies(self, game: Rules, state: State) -> list[int]:
        """Flights of a chain in atari, or ataris on one with two liberties; none once the ladder is over."""
        ladder, board = Ladder(self.target), _stones(game, state, self.owner)
        if not board.own >> self.target & 1:
            return []
        liberties = ladder.liberties(board)
        if game.player(state) == self.owner:
            found = ladder.flights(board) if len(liberties) == 1 else []
        else:
            found = liberties if len(liberties) == 2 else []
        return sorted(set(found).intersection(game.legal_actions(state)))


def _stones(game: Rules, state: State, owner: int) -> Stones:
    return Stones.of(game.position_text(state) or "", owner)

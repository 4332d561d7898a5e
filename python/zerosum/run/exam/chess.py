"""The exam of chess: won endings with three men, a queen that can be taken for nothing, and mates in two."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass

from zerosum.games import Rules, State, make
from zerosum.run.exact_endings import random_position
from zerosum.run.exam.mates import mate_part
from zerosum.run.exam.task import ExamTask, Judge, Part, RightMoves, Step, is_won, wins_by_force
from zerosum.search.result_tables import ResultTable, make_table

QUEEN = 9
"""A queen's count in `Game.material`."""
CLEAR = 3
"""Count by which taking the queen must be better than every other move."""
AHEAD = 3
"""Plies that are looked ahead after a move."""
RANDOM_PLIES = 80
"""Most plies of a random game in which a hanging queen is looked for."""


@functools.cache
def ending_table() -> ResultTable:
    """Exact results of a king and a pawn against a king, and of the pieces that the pawn becomes; made in seconds."""
    return make_table(make("chess"), endings=["KPvK"])


def ending_part(name: str) -> Part:
    """A part of won positions of an ending of `ending_table`, played against the longest defence."""

    def make_tasks(game: Rules, number: int, seed: int) -> list[ExamTask]:
        table, generator, found = ending_table(), random.Random(f"{seed} {name}"), dict[str, ExamTask]()
        while len(found) < number:
            state = random_position(game, name, generator)
            if (table.get(game, state) or 0) > 0:
                text = game.position_text(state) or ""
                found[text] = ExamTask(text, TableWin(table))
        return list(found.values())

    question = f"Win {name} by the rules, the fifty-move rule included, against the longest defence."
    return Part(name, question, 1.0, 50, make_tasks)


@dataclass(frozen=True)
class TableWin(Judge):
    """The player must win the game, and may not give the win away by the table."""

    table: ResultTable

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """As `Judge.judge`; the reply is the longest defence."""
        player, after = game.player(state), game.play(state, action)
        if is_won(game, after, player):
            return Step.right()
        if (ending := game.ending(after)) is not None:
            return Step.wrong(f"drawn after {num_moves} moves: {ending}")
        if (self.table.get(game, after) or 0) >= 0:
            return Step.wrong(f"{game.action_text(state, action)} gives the win away")
        replies = {reply: game.play(after, reply) for reply in game.legal_actions(after)}
        reply = max(replies, key=lambda reply: self._delay(game, replies[reply]))
        if (ending := game.ending(replies[reply])) is not None:
            return Step.wrong(f"drawn after {num_moves} moves: {ending}")
        return Step(reply=reply)

    def _delay(self, game: Rules, state: State) -> float:
        """Plies to the end of a position that the player to move wins; a draw is later than all."""
        plies = None if game.outcome(state) is not None else self.table.get(game, state)
        return plies if plies is not None and plies > 0 else float("inf")


@dataclass(frozen=True)
class TakesOrMates(RightMoves):
    """A judge of one move: it is one of a set, or it mates by force, however long that takes."""

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """As `Judge.judge`; a search for forced results sees the mates."""
        step = super().judge(game, state, action, num_moves=num_moves)
        wins = wins_by_force(game, game.play(state, action), game.player(state))
        return Step.right() if wins else step


def hanging_queens(game: Rules, number: int, seed: int) -> list[ExamTask]:
    """Positions of random games in which taking a queen is right and everything else is clearly worse, one of a game.

    A search of all lines of a few plies must see that the queen is won for nothing.
    """
    generator, found = random.Random(f"{seed} queens"), list[ExamTask]()
    while len(found) < number:
        state = game.initial_state()
        while game.outcome(state) is None and state.plies < RANDOM_PLIES:
            if right := _queen_takers(game, state):
                found.append(ExamTask(game.position_text(state) or "", TakesOrMates(right)))
                break
            state = game.play(state, generator.choice(game.legal_actions(state)))
    return found


def _queen_takers(game: Rules, state: State) -> frozenset[int]:
    """The moves that take a queen for nothing, if all other moves are clearly worse; else none."""
    sign = 1 if game.player(state) == 0 else -1
    before, takers = sign * game.material(state), set[int]()
    others = list[int]()
    for action in game.legal_actions(state):
        after = game.play(state, action)
        # A promotion gains less than a queen.
        takes = sign * game.material(after) - before >= QUEEN and game.outcome(after) is None
        (takers.add if takes else others.append)(action)
    worth = {action: _worth(game, state, action) for action in sorted(takers)}
    best = max(worth.values(), default=before)
    if best < before + QUEEN or any(_worth(game, state, action) > best - CLEAR for action in others):
        return frozenset()
    return frozenset(action for action, value in worth.items() if value >= before + QUEEN / 2)


def _worth(game: Rules, state: State, action: int) -> float:
    """The count for the player some plies after its move; beyond all counts if it wins or loses by then."""
    after = game.play(state, action)
    if (outcome := game.outcome(after)) is not None:
        return float("inf") if outcome and is_won(game, after, game.player(state)) else 0.0
    found = game.alpha_beta(after, depth=AHEAD, seed=0)
    return -found.result * float("inf") if found.result else -found.evaluation


PARTS = (
    *map(ending_part, ("KQvK", "KRvK", "KPvK")),
    Part("hanging queen", "Take a queen that can be had for nothing.", 0.98, 200, hanging_queens),
    mate_part("mate in 2", 3, wanted=0.98),
)

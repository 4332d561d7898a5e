"""The exam of shogi: mates in one and in three plies, and the declaration of an entered king."""

from __future__ import annotations

import random
from dataclasses import dataclass

from zerosum.base.errors import GameError
from zerosum.games import Rules, State
from zerosum.run.exam.mates import mate_part
from zerosum.run.exam.task import ExamTask, Judge, Part, Step, is_won, wins_by_force

SIDE = 9
CAMP = 3
"""Rows of a camp."""
MEN = {"P": 18, "L": 4, "N": 4, "S": 4, "G": 4, "B": 2, "R": 2}
"""The men of both sides without kings."""
PROMOTED = 0.7
"""Share of men in the opponent's camp that are promoted; golds never are."""
IN_CAMP = (9, 12)
"""Least and largest number of men that have entered with their king; ten are needed."""
HANDS = 0.4
"""Share of the other men that are in hand."""
MOST_RIGHT = 0.8
"""Largest share of right moves in a position that is asked about."""


def declarations(game: Rules, number: int, seed: int) -> list[ExamTask]:
    """Positions with an entered king in which some moves, and by no means all, let the player declare at its next turn.

    The men are placed at random, as the rules allow. Either side may be the one that has entered.
    """
    generator, found = random.Random(f"{seed} declarations"), list[ExamTask]()
    while len(found) < number:
        try:
            state = game.parse_position(_random_sfen(generator))
        except GameError:
            continue  # a king that could be taken, two pawns on a file, a man that could never move
        if game.outcome(state) is None and _asks(game, state):
            found.append(ExamTask(game.position_text(state) or "", Declares()))
    return found


def _asks(game: Rules, state: State) -> bool:
    """Whether some moves but few enough win, and none by a mate."""
    actions = game.legal_actions(state)
    if any(is_won(game, game.play(state, action), game.player(state)) for action in actions):
        return False
    num_right = sum(declares_next(game, state, action) for action in actions)
    return 0 < num_right <= MOST_RIGHT * len(actions)


def declares_next(game: Rules, state: State, action: int) -> bool:
    """Whether the player wins at its next turn whatever the other side replies."""
    player, after = game.player(state), game.play(state, action)
    if game.outcome(after) is not None:
        return is_won(game, after, player)
    return all(is_won(game, game.play(after, reply), player) for reply in game.legal_actions(after))


@dataclass(frozen=True)
class Declares(Judge):
    """The player must make a move after which every reply lets it declare, or which wins by force in another way."""

    def judge(self, game: Rules, state: State, action: int, *, num_moves: int) -> Step:
        """As `Judge.judge`; the task ends with the first move."""
        player, after = game.player(state), game.play(state, action)
        if declares_next(game, state, action) or wins_by_force(game, after, player):
            return Step.right()
        return Step.wrong(f"{game.action_text(state, action)} does not let the king's entry be declared")


def _random_sfen(generator: random.Random) -> str:
    """A position with all men, Black's king and many of its men in White's camp, or the colours exchanged."""
    men = [kind for kind, count in MEN.items() for _ in range(count)]
    generator.shuffle(men)
    num_entered = generator.randint(*IN_CAMP)
    camp = generator.sample([(row, column) for row in range(CAMP) for column in range(SIDE)], num_entered + 1)
    cells = {camp[0]: "K"}
    for cell, kind in zip(camp[1:], men, strict=False):
        cells[cell] = ("+" if kind != "G" and generator.random() < PROMOTED else "") + kind
    rest = [(row, column) for row in range(CAMP, SIDE) for column in range(SIDE)]
    generator.shuffle(rest)
    cells[rest.pop()] = "k"
    hands = dict[str, int]()
    for kind in men[num_entered:]:
        side = generator.choice((kind, kind.lower()))
        if generator.random() < HANDS:
            hands[side] = hands.get(side, 0) + 1
        else:
            cells[rest.pop()] = side
    rows = [[cells.get((row, column), "1") for column in range(SIDE)] for row in range(SIDE)]
    board = "/".join(_joined(row) for row in rows)
    hand = "".join(f"{count if count > 1 else ''}{side}" for side, count in hands.items()) or "-"
    if generator.random() < 0.5:
        return f"{board} b {hand} 1"
    turned = "/".join(_joined(row[::-1]) for row in rows[::-1])
    return f"{turned.swapcase()} w {hand.swapcase()} 1"


def _joined(cells: list[str]) -> str:
    """A row of SFEN, with runs of empty squares as one number."""
    text, num_empty = "", 0
    for cell in [*cells, ""]:
        if cell == "1":
            num_empty += 1
            continue
        text, num_empty = f"{text}{num_empty or ''}{cell}", 0
    return text


PARTS = (
    mate_part("mate in 1", 1, wanted=0.95),
    mate_part("mate in 3", 3, wanted=0.85),
    Part("declaration", "Enter with the king so far that the win can be declared.", 0.95, 100, declarations),
)

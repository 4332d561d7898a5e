"""Reviews of which all is known, and the command that writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from zerosum._core import Root
from zerosum.analysis.review_command import ReviewCommand
from zerosum.analysis.reviewed import Review, ReviewedMove, ReviewedPosition, Thresholds
from zerosum.games import Rules, State, make, parse_action
from zerosum.notation import Move, Record
from zerosum.notation.legality import states_of
from zerosum.play.analysis import Analysis, AnalysisLine
from zerosum.play.choice import Players
from zerosum.play.driver import Task

DATA = Path(__file__).parent / "data"


def moves(text: str) -> tuple[Move, ...]:
    return tuple(Move(word) for word in text.split())


def actions_of(game: Rules, state: State, line: str) -> tuple[int, ...]:
    actions = []
    for text in line.split():
        actions.append(parse_action(game, state, text))
        state = game.play(state, actions[-1])
    return tuple(actions)


def judged(record: Record, values: Sequence[float], better: Sequence[str], *, proven: Sequence[int] = ()) -> Review:
    """A review of which all is known: the first player's values before and after each move, and what was better."""
    states, game = states_of(record), make(record.game)
    positions = []
    for ply, (state, value, line) in enumerate(zip(states, values, better, strict=True)):
        sign = 1 if game.player(state) == 0 else -1
        actions = actions_of(game, state, line)
        found = AnalysisLine(game, state, actions, 80, sign * value, 0.1, None, ply in proven)
        root = SimpleNamespace(player=game.player(state), value=sign * value, num_simulations=100)
        report = Analysis(game, state, cast(Root, root), (found,), 100, 0.1, "simulations", "a sage")
        positions.append(ReviewedPosition(state, report if line else None, value))
    thresholds = Thresholds()
    reviewed = []
    for ply, move in enumerate(record.moves):
        player = game.player(states[ply])
        action = game.parse_action(states[ply], move.text)
        assert action is not None
        loss = max(0.0, (values[ply] - values[ply + 1]) / 2 * (1 if player == 0 else -1))
        reviewed.append(ReviewedMove(move.text, action, player, loss, thresholds.mark(loss)))
    return Review(record, game, tuple(positions), tuple(reviewed), "a sage", thresholds)


class Told:
    """A command, and what it wrote."""

    def __init__(self, **settings: object) -> None:
        self.out: list[str] = []
        self.err: list[str] = []
        self.command = ReviewCommand(
            Players("rollouts@10"),
            Task(num_visits=10),
            write=self.out.append,
            complain=self.err.append,
            **settings,  # type: ignore[arg-type]
        )

    def run(self, *args: str, **settings: str) -> str:
        self.command.run(*args, **settings)
        return "\n".join(self.out)

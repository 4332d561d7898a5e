"""The result of a search: an `Analysis`, with an `AnalysisLine` for each requested move.

Values are in [-1, 1], for the player to move at the position.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from zerosum._core import Root
from zerosum.base.errors import counted
from zerosum.games import Rules, State
from zerosum.games.picture import stacked, svg, text_svg
from zerosum.games.playthrough import Playthrough
from zerosum.games.rules import peoples_notation
from zerosum.games.short_names import short_name

LCB_DEVIATIONS = 5.0
"""Standard errors between the win rate and `lower_win_rate`, as in KataGo's `lcb`."""


def win_rate(value: float) -> float:
    """The chance in [0, 1] for an expected result in [-1, 1]; a draw is half a win."""
    return min(max((1 + value) / 2, 0.0), 1.0)


def lower_win_rate(value: float, visits: int) -> float:
    """A lower bound of the win rate.

    Results in [0, 1] with mean p deviate by at most sqrt(p (1 - p)); the search keeps no closer bound.
    """
    rate = win_rate(value)
    return max(0.0, rate - LCB_DEVIATIONS * math.sqrt(rate * (1 - rate) / max(visits, 1)))


def move_texts(game: Rules, state: State, actions: Iterable[int], *, notation: str | None = None) -> tuple[str, ...]:
    """Successive moves in a notation of the game; None is its own."""
    return Playthrough.of(game, state, actions).texts_in(notation)


@dataclass(frozen=True)
class AnalysisLine:
    """A move and the best play after it."""

    game: Rules = field(repr=False, compare=False)
    state: State = field(repr=False, compare=False)
    """The position before the move."""
    actions: tuple[int, ...]
    """The move, then the best play that the search has seen."""
    visits: int
    """Simulations that began with the move."""
    value: float
    """The expected result, exact if `proven`."""
    prior: float
    """The evaluator's probability of the move, in [0, 1]."""
    draw_share: float | None
    """The probability of a draw; None if the search does not keep it."""
    proven: bool

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The actions as people write them."""
        return move_texts(self.game, self.state, self.actions)

    def texts(self, notation: str | None = None) -> tuple[str, ...]:
        """The actions in one of the game's `notations`; None is the game's own."""
        return move_texts(self.game, self.state, self.actions, notation=notation)

    @property
    def win_rate(self) -> float:
        """The value as a chance, from 0 (certain loss) to 1 (certain win); a draw is half a win."""
        return win_rate(self.value)


@dataclass(frozen=True, eq=False)
class Analysis:
    """The value of a position and of its moves, during a search or at its end."""

    game: Rules = field(repr=False)
    state: State = field(repr=False)
    root: Root = field(repr=False)
    """All statistics of the position, as arrays."""
    lines: tuple[AnalysisLine, ...]
    """The requested lines, the best first; empty before the first evaluation."""
    num_simulations: int
    """Simulations of this search, without those of a kept tree."""
    seconds: float
    stop_reason: str | None
    """The reason why the search ended; None while it goes on.

    "simulations", "time", "depth", "proven", "memory", "stopped" or the answer of `Task.is_enough`.
    """
    by: str
    """The player's name."""
    chosen: tuple[int, ...] = ()
    """The move to play and the best play after it; empty while the search goes on, and if it found nothing."""
    num_leaves: int = 0
    """Number of evaluated positions."""
    num_collisions: int = 0
    """Simulations that met a leaf in evaluation and were put off."""
    num_table_hits: int = 0
    """Positions that tables of exact results knew."""
    depth: int = 0
    """Plies that an alpha-beta search has finished; 0 for a search of a tree."""

    @property
    def player(self) -> int:
        """The player to move: 0 (first) or 1."""
        return self.root.player

    @property
    def value(self) -> float:
        """The value of the position: the mean of the search, or the exact result."""
        return self.root.value

    @property
    def net_value(self) -> float:
        """The evaluator's own value of the position."""
        return self.root.net_value

    @property
    def proven(self) -> float | None:
        """The exact result with best play; None if unknown."""
        return self.root.proven

    @property
    def num_visits(self) -> int:
        """Simulations in the tree, including those kept from an earlier search."""
        return self.root.num_simulations

    @property
    def is_final(self) -> bool:
        """Whether the search has ended."""
        return self.stop_reason is not None

    @cached_property
    def actions(self) -> tuple[int, ...]:
        """The legal actions, ascending. The lists below have the same order."""
        return tuple(self.root.actions.tolist())

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The legal actions as people write them."""
        return tuple(self.game.action_text(self.state, action) for action in self.actions)

    @property
    def visits(self) -> tuple[int, ...]:
        """Simulations that began with each move."""
        return tuple(self.root.visits.tolist())

    @property
    def values(self) -> tuple[float, ...]:
        """The mean (or exact) value of each move, NaN without visits."""
        return tuple(self.root.q.tolist())

    @property
    def priors(self) -> tuple[float, ...]:
        """The evaluator's probability of each move; they sum to 1."""
        return tuple(self.root.priors.tolist())

    @property
    def lower(self) -> tuple[float, ...]:
        """The lower bound of each move's exact result."""
        return tuple(self.root.lower.tolist())

    @property
    def upper(self) -> tuple[float, ...]:
        """The upper bound of each move's exact result."""
        return tuple(self.root.upper.tolist())

    @property
    def best_action(self) -> int:
        """The move to play."""
        assert self.root.best_action is not None
        return self.root.best_action

    @property
    def best_move(self) -> str:
        """The move to play, as people write it."""
        return self.game.action_text(self.state, self.best_action)

    @property
    def best_line(self) -> tuple[str, ...]:
        """The best play from here, as people write it; empty if the best move has no visits and is not proven."""
        return self.lines[0].moves if self.lines and (self.lines[0].visits or self.lines[0].proven) else ()

    @property
    def plies_to_end(self) -> int | None:
        """Plies of the best line if it proves a win or a loss, positive for a win; None else."""
        if not self.lines or not self.lines[0].proven or abs(self.lines[0].value) != 1:
            return None
        state = functools.reduce(self.game.play, self.lines[0].actions, self.state)
        if self.game.outcome(state) is None:
            return None  # the proof is known without its line
        return round(self.lines[0].value) * len(self.lines[0].actions)

    def table(self, *, num_moves: int = 8, notation: str | None = None) -> str:
        """A text for people: the best move, the most visited moves (ties by prior), the best line and the value.

        An alpha-beta search has no visits of other moves: its text is that of the requested lines. Moves are written in
        `notation`, one of the game's `notations`; None is the game's own.
        """
        if self.depth:
            return self.text(notation=notation)
        moves = [self.game.action_text(self.state, action, notation) for action in self.actions]
        visits, values, priors, lower, upper = self.visits, self.values, self.priors, self.lower, self.upper
        order = sorted(
            range(len(self.moves)),
            key=lambda index: (self.actions[index] != self.best_action, -visits[index], -priors[index]),
        )
        width = max(len("move"), *map(columns, moves))
        lines = [f"{'move':<{width}}  visits   value  prior"]
        for index in order[:num_moves]:
            value = f"{values[index]:+.3f}" if visits[index] else "-"
            exact = f"  {_exact_word(lower[index])}" if lower[index] == upper[index] else ""
            move = moves[index] + " " * (width - columns(moves[index]))
            lines.append(f"{move}{visits[index]:8d}{value:>8}{priors[index]:7.1%}{exact}")
        if len(order) > num_moves:
            lines.append(f"and {len(order) - num_moves} more")
        best = self.lines[0].texts(notation) if self.best_line else ()
        lines.append(f"best line: {' '.join(best)}")
        lines.append(f"for the player to move: {self.verdict()}, after {self.work}")
        return "\n".join(lines)

    def _repr_svg_(self) -> str:
        """The board with the table below it, for notebooks."""
        title = short_name(self.game)
        text = text_svg(self.table(notation=peoples_notation(self.game)), title=title)
        return stacked([svg(self.game, self.state), text], title=title)

    @property
    def work(self) -> str:
        """The search in words: its simulations, or the positions and plies of an alpha-beta search."""
        if self.depth:
            plies = "1 ply" if self.depth == 1 else f"{self.depth} plies"
            return f"{counted(self.num_leaves, 'position')}, {plies} deep"
        return counted(self.num_visits, "simulation")

    def verdict(self) -> str:
        """The value in words, for the player to move: the exact result, or the win rate."""
        if self.proven is not None:
            return f"{_exact_word(self.proven)} with best play"
        return f"winning chance {win_rate(self.value):.0%}"

    def numbers(self) -> dict[str, Any]:
        """The lines and the value, ready for JSON."""
        return {
            "player": self.player,
            "value": round(self.value, 6),
            "lines": [
                {
                    "moves": list(line.moves),
                    "visits": line.visits,
                    "value": round(line.value, 6),
                    "prior": round(line.prior, 6),
                    "draw": None if line.draw_share is None else round(line.draw_share, 6),
                    "proven": line.proven,
                }
                for line in self.lines
            ],
            "simulations": self.num_visits,
            "seconds": round(self.seconds, 3),
            "stop_reason": self.stop_reason,
            "by": self.by,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, *, notation: str | None = None) -> str:
        """The requested lines as a text for people; moves are written as in `table`."""
        rows = [("visits", "win rate", "best line")]
        for line in self.lines:
            exact = " (exact)" if line.proven else ""
            rows.append((str(line.visits), f"{line.win_rate:.1%}", " ".join(line.texts(notation)) + exact))
        shown = rows if not self.depth else [row[1:] for row in rows]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)][:-1]
        table = "\n".join("  ".join([*map(str.rjust, row, widths), row[-1]]) for row in shown)
        end = "" if self.stop_reason is None else f" ({self.stop_reason})"
        return f"{table}\nfor the player to move, {self.work} in {self.seconds:.1f} s by {self.by}{end}"


def columns(text: str) -> int:
    """The columns of a terminal that a text takes: characters of East Asia take two.

    >>> columns("7g7f"), columns("７六歩(77)")
    (4, 10)
    """
    return sum(1 + (unicodedata.east_asian_width(character) in "FW") for character in text)


def _exact_word(value: float) -> str:
    words = {1.0: "a win", 0.0: "a draw", -1.0: "a loss"}
    return words.get(value, f"a result of {value:+g}")

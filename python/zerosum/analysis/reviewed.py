"""A review of a played game as data: the value of each position, the loss and the mark of each move."""

from __future__ import annotations

from dataclasses import dataclass, fields

from zerosum.analysis.people import PeoplesShare
from zerosum.base.errors import SettingsError
from zerosum.games import Rules, State
from zerosum.notation.go_status import FinalCount
from zerosum.notation.record import Record
from zerosum.play.analysis import Analysis, win_rate


@dataclass(frozen=True)
class Thresholds:
    """The least loss of win rate, in (0, 1], for each mark of a move.

    The win rate is the expected result, with half a win for a draw. The values are Lichess's (lila,
    `modules/tree/src/main/Advice.scala`: 0.1, 0.2 and 0.3 of a result in [-1, 1]).
    """

    inaccuracy: float = 0.05
    """?!"""
    mistake: float = 0.10
    """?"""
    blunder: float = 0.15
    """??"""

    def __post_init__(self) -> None:
        values = [getattr(self, field.name) for field in fields(self)]
        if not 0 < values[0] <= values[1] <= values[2] <= 1:
            named = ", ".join(f"{field.name} {100 * getattr(self, field.name):g}%" for field in fields(self))
            raise SettingsError(f"{named}: expected losses of the win rate above 0% and at most 100%, in that order.")

    def mark(self, loss: float) -> str:
        """The mark of a move by its loss of win rate: "??", "?", "?!", or "" below all thresholds.

        >>> [Thresholds().mark(loss) for loss in (0.049, 0.05, 0.12, 0.5)]
        ['', '?!', '?', '??']
        """
        marks = [("??", self.blunder), ("?", self.mistake), ("?!", self.inaccuracy)]
        return next((mark for mark, least in marks if loss >= least), "")


MARKS = {"?!": "inaccuracy", "?": "mistake", "??": "blunder"}


@dataclass(frozen=True)
class ReviewedPosition:
    """A position of the game."""

    state: State
    report: Analysis | None
    """The search's result; None if the game is over."""
    value: float
    """The first player's expected result, in [-1, 1]: the search's (`Analysis.value`), or the result itself."""

    count: FinalCount | None = None
    """The count of a game of Go that people finished by two passes."""

    @property
    def searched_value(self) -> float:
        """The search's value alone; the value if the game is over."""
        if self.report is None:
            return self.value
        return self.report.value if self.report.player == 0 else -self.report.value

    @property
    def is_judged_by_search(self) -> bool:
        """Whether the value is an estimate of the search, neither proven nor a count by people."""
        return self.report is not None and self.report.proven is None and self.value == self.searched_value

    @property
    def win_rate(self) -> float:
        """The value as the first player's chance, in [0, 1], with half a win for a draw."""
        return win_rate(self.value)


@dataclass(frozen=True)
class ReviewedMove:
    """A move of the game."""

    text: str
    """The move in the game's notation."""
    action: int
    player: int
    """The player of the move: 0 (first) or 1."""
    loss: float
    """The loss of the mover's win rate, in [0, 1]; 0 for the search's best move."""
    mark: str
    """"?!", "?", "??" or ""."""
    people: tuple[PeoplesShare, ...] = ()
    """How many people play it, by each network that was asked."""
    unsure: str = ""
    """The mark of a loss that chance alone may show, or only later positions: such a move has no `mark`."""
    hindsight: float = 0.0
    """The loss of the mover's win rate that only later positions show (`hindsight.py`), in [0, 1]; 0 for none."""


@dataclass(frozen=True)
class Review:
    """A game and its analysis."""

    record: Record
    game: Rules
    positions: tuple[ReviewedPosition, ...]
    """The positions before the first move and after each move."""
    moves: tuple[ReviewedMove, ...]
    by: str
    """The name of the analysing player."""
    thresholds: Thresholds
    is_interrupted: bool = False
    """Whether Ctrl-C ended it; `record` then has the moves that were reviewed."""

    @property
    def steps(self) -> list[tuple[ReviewedMove, ReviewedPosition, ReviewedPosition]]:
        """Each move with the positions before and after it."""
        return list(zip(self.moves, self.positions[:-1], self.positions[1:], strict=True))

    def num_marks(self, player: int) -> dict[str, int]:
        """The number of a player's inaccuracies, mistakes and blunders."""
        marks = [move.mark for move in self.moves if move.player == player]
        return {word: marks.count(mark) for mark, word in MARKS.items()}

    def mean_loss(self, player: int) -> float | None:
        """The mean loss of win rate of a player's moves; None without moves."""
        losses = [move.loss for move in self.moves if move.player == player]
        return sum(losses) / len(losses) if losses else None

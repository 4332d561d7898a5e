"""What a player thinks of a position, told while it thinks.

    for report in zerosum.analyse("4 4 3", game="connect4", seconds=5):
        print(report)

Start with `AnalysisReport`. An `Analyst` hands out what an `Engine` reports, one report after the other, to whoever
iterates over them: here, for the review of games (`review.py`) and for other programs (`server.py`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from zerosum.base.errors import GameError, SettingsError
from zerosum.games import Rules, State, make, state_after
from zerosum.play.choice import Players
from zerosum.play.engine import REPORT_SECONDS, Engine, Line, Report, Task, win_rate
from zerosum.play.player import MOST_SIMULATIONS, Player, require_seconds

MOST_LINES = 1000
DEFAULT_SIMULATIONS = 1000
"""At each position of a game, where nobody says how many."""


@dataclass(frozen=True)
class AnalysisLine:
    """A move and what would follow. Values are in [-1, 1] for the player to move at the position."""

    moves: tuple[str, ...]
    """As people write them: the move, then best play from there as far as it was searched."""
    visits: int
    """Simulations that began with the move."""
    value: float
    """The expected result, exact if `proven`."""
    prior: float
    """What the evaluator thought of the move before any search, in [0, 1]."""
    draw: float | None
    """How likely a draw is, if the search knows."""
    proven: bool

    @property
    def win_rate(self) -> float:
        """The value as a chance, from 0 (certain loss) to 1 (certain win), half a win for a draw."""
        return win_rate(self.value)


@dataclass(frozen=True)
class AnalysisReport:
    """What a search has found up to now, or in the end."""

    player: int
    """Who is to move: 0 (first) or 1."""
    value: float
    """What the position is worth to that player, in [-1, 1]: the mean of what was searched, or the exact result."""
    lines: tuple[AnalysisLine, ...]
    """The best first."""
    simulations: int
    """In the tree, those known from before included."""
    seconds: float
    limit: str | None
    """Why the search ended: "simulations", "time", "proven", "memory" or "stopped"; None in the reports before."""
    by: str
    """The player's name."""

    @classmethod
    def of(cls, report: Report, player: Player, state: State) -> AnalysisReport:
        """An engine's report, its moves as people write them."""
        return cls(
            player=report.root.player,
            value=report.root.value,
            lines=tuple(_line_of(line, player.game, state) for line in report.lines),
            simulations=report.simulations,
            seconds=report.seconds,
            limit=report.limit,
            by=judge(player),
        )

    @property
    def is_final(self) -> bool:
        """No other report follows."""
        return self.limit is not None

    @property
    def best_move(self) -> str:
        """The move to play, as people write it."""
        return self.lines[0].moves[0]

    def numbers(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        return {
            "player": self.player,
            "value": round(self.value, 6),
            "lines": [
                {
                    "moves": list(line.moves),
                    "visits": line.visits,
                    "value": round(line.value, 6),
                    "prior": round(line.prior, 6),
                    "draw": None if line.draw is None else round(line.draw, 6),
                    "proven": line.proven,
                }
                for line in self.lines
            ],
            "simulations": self.simulations,
            "seconds": round(self.seconds, 3),
            "limit": self.limit,
            "by": self.by,
        }

    def __str__(self) -> str:
        rows = [("visits", "win rate", "best line")]
        for line in self.lines:
            exact = " (exact)" if line.proven else ""
            rows.append((str(line.visits), f"{line.win_rate:.1%}", " ".join(line.moves) + exact))
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        table = "\n".join(f"{row[0]:>{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}" for row in rows)
        end = "" if self.limit is None else f" ({self.limit})"
        return f"{table}\n{self.simulations} simulations in {self.seconds:.1f} s by {self.by}{end}"


def judge(player: Player) -> str:
    """Who searches, without the number of simulations that a name may end with: in an analysis the task says it."""
    return re.sub(r"@\d+$", "", player.name)


def _line_of(line: Line, game: Rules, state: State) -> AnalysisLine:
    return AnalysisLine(
        moves=move_texts(game, state, line.actions),
        visits=line.visits,
        value=line.value,
        prior=line.prior,
        draw=line.draw,
        proven=line.proven,
    )


def move_texts(game: Rules, state: State, actions: Sequence[int]) -> tuple[str, ...]:
    """Moves that follow one another, as people write them."""
    texts = []
    for action in actions:
        texts.append(game.action_text(state, action))
        state = game.play(state, action)
    return tuple(texts)


class Analyst:
    """An engine whose reports are iterated over.

    >>> from zerosum.play.player import rollouts
    >>> tictactoe = make("tictactoe")
    >>> analyst = Analyst(rollouts(tictactoe, 100, seed=0).player(tictactoe))
    >>> [report.limit for report in analyst.reports(Task(simulations=100))]
    ['simulations']
    """

    def __init__(self, player: Player, *, report_seconds: float = REPORT_SECONDS) -> None:
        self.player = player
        self._said = SimpleQueue[Report | Exception]()
        self._engine = Engine(
            player,
            on_report=self._said.put,
            on_answer=self._said.put,
            on_failure=self._said.put,
            report_seconds=report_seconds,
        )

    def reports(self, task: Task, *, start: State | None = None, moves: Sequence[int] = ()) -> Iterator[Report]:
        """Search the position after `moves` from `start`, as `Engine.set_position` takes them.

        The search begins with the first report that is asked for, and ends when its last report, which has a limit, was
        handed out, or when the iterator is closed or forgotten.

        Raises:
            GameError: a move is illegal, or none is left.
        """
        game = self.player.game
        self._engine.set_position(start, moves=moves)
        if not game.legal_actions(self._engine.state, past_soft_endings=True):
            ending, board = game.ending(self._engine.state), game.draw(self._engine.state)
            raise GameError(f"The game is over ({ending}), there is nothing to search in\n{board}")
        return self._reports(task)

    def _reports(self, task: Task) -> Iterator[Report]:
        self._engine.think(task)
        try:
            while True:
                said = self._said.get()
                if isinstance(said, Exception):
                    raise said
                yield said
                if said.limit is not None:
                    return
        finally:
            self._engine.stop()
            while not self._said.empty():
                self._said.get()

    def final(self, task: Task, *, start: State | None = None, moves: Sequence[int] = ()) -> Report:
        """The last of the `reports`."""
        *_, last = self.reports(task, start=start, moves=moves)
        return last


def analyse(
    position: State | str = "",
    *,
    game: Rules | str | None = None,
    player: Player | str | Path | None = None,
    num_simulations: int | None = None,
    seconds: float | None = None,
    num_lines: int = 1,
    report_seconds: float = REPORT_SECONDS,
) -> Iterator[AnalysisReport]:
    """Search a position, and report what was found while the search goes on; the last report has a `limit`.

    The search begins with the first report that is asked for, and ends where the caller stops iterating.

    >>> *_, last = analyse("b2 a1", game="tictactoe", player="rollouts@2000", num_lines=2)
    >>> (last.simulations, last.limit, len(last.lines))
    (2000, 'simulations', 2)

    Args:
        position: A state, a position or the moves that lead to it, as people write them ("4 4 3").
        game: By name ("connect4"), or its rules; the player's own, if it is not given.
        player: One that was made (`zerosum.load`), the path of a run or checkpoint, or "rollouts@1000". If none is
            named: the newest run's in `runs` for that game, or rollouts.
        num_simulations: To make; without a limit, the player's own number.
        seconds: To search; `math.inf` is as long as the caller iterates. A proven position, or a full memory, ends it
            earlier.
        num_lines: Moves to report with what would follow, each with a twentieth of all visits at the least.
        report_seconds: Between two reports.

    Raises:
        GameError: the game is unknown, a move is illegal, the text is no position, or the game is over.
        SettingsError, DataError: there is no such player, or a number is out of range.
    """
    if not isinstance(player, Player):
        player = _player_of(player, game)
    elif game is not None:
        player = player.with_rules(make(game) if isinstance(game, str) else game)
    num_simulations, seconds = limits(num_simulations, seconds, default=player.config.num_simulations)
    if not 1 <= num_lines <= MOST_LINES:
        raise SettingsError(f"num_lines is {num_lines}, allowed is 1 to {MOST_LINES}.")
    if not report_seconds > 0:
        raise SettingsError(f"report_seconds is {report_seconds}, allowed is more than 0.")
    state = position_of(player.game, position) if isinstance(position, str) else position
    task = Task(simulations=num_simulations, seconds=seconds, num_lines=num_lines)
    reports = Analyst(player, report_seconds=report_seconds).reports(task, start=state)
    return (AnalysisReport.of(report, player, state) for report in reports)


def limits(
    num_simulations: int | None, seconds: float | None, *, default: int = DEFAULT_SIMULATIONS
) -> tuple[int | None, float | None]:
    """What is given of simulations and seconds, which may be infinite; `default` simulations if nothing is.

    Raises:
        SettingsError: a number is out of range.
    """
    if num_simulations is not None and not 1 <= num_simulations <= MOST_SIMULATIONS:
        raise SettingsError(f"num_simulations is {num_simulations}, allowed is 1 to {MOST_SIMULATIONS:,}.")
    if seconds is not None and seconds != math.inf:
        require_seconds(seconds)
    return (default, None) if num_simulations is None and seconds is None else (num_simulations, seconds)


def _player_of(named: str | Path | None, game: Rules | str | None) -> Player:
    players = Players("" if named is None else str(named))
    rules = make(game) if isinstance(game, str) else game or players.own_game()
    if rules is None:
        raise SettingsError("analyse needs a game, such as game='connect4', or the path of a player that has one.")
    return players.of(rules)


def position_of(game: Rules, text: str) -> State:
    """The position that a text says: as people write positions, or by the moves that lead there from the initial one.

    >>> game = make("tictactoe")
    >>> game.draw(position_of(game, "b2 a1")) == game.draw(position_of(game, "3/1X1/O2 X"))
    True

    Raises:
        GameError: it is neither; the message says why.
    """
    try:
        return game.parse_position(text) if text else game.initial_state()
    except GameError as error:
        no_position = str(error)
    try:
        return state_after(game, text)
    except GameError as error:
        # Whose first word is a move is meant as moves.
        if game.parse_action(game.initial_state(), text.split()[0] if text.split() else "") is not None:
            raise
        raise GameError(f"neither a position nor moves: {no_position.rstrip('.')}; {error}") from None

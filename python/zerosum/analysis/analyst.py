"""Analyses of positions, reported while the search goes on.

    for report in zerosum.analyse("4 4 3", game="connect4", seconds=5):
        print(report)

An `Analyst` is a `BackgroundSearch` that yields its reports, for people, for reviews of games (`review.py`) and for the
server (`server.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from zerosum.base.errors import GameError, SettingsError
from zerosum.games import Game, Rules, State, make, state_after
from zerosum.play.analysis import Analysis
from zerosum.play.background_search import BackgroundSearch
from zerosum.play.choice import Players
from zerosum.play.driver import REPORT_SECONDS, Task
from zerosum.play.player import MOST_SIMULATIONS, Player, require_seconds, seeing_ends

MOST_LINES = 1000
DEFAULT_SIMULATIONS = 1000
"""Default number of simulations for each position of a game."""


class Analyst:
    """An engine that yields its reports.

    >>> from zerosum.play.contestant import rollouts
    >>> tictactoe = make("tictactoe")
    >>> analyst = Analyst(rollouts(tictactoe, 100, seed=0).player(tictactoe))
    >>> [report.stop_reason for report in analyst.reports(Task(num_visits=100))]
    ['simulations']
    """

    def __init__(self, player: Player, *, report_seconds: float = REPORT_SECONDS) -> None:
        self.player = player = _seeing_ends(player)
        self._said = SimpleQueue[Analysis | Exception]()
        self._engine = BackgroundSearch(
            player,
            on_report=self._said.put,
            on_answer=self._said.put,
            on_failure=self._said.put,
            report_seconds=report_seconds,
        )

    def reports(self, task: Task, *, start: State | None = None, moves: Sequence[int] = ()) -> Iterator[Analysis]:
        """Search the position after `moves` from `start`, as `BackgroundSearch.set_position` takes them.

        The search begins with the first report that is asked for. It ends with its last report, which has a
        `stop_reason`, or when the iterator is closed or deleted.

        Raises:
            GameError: a move is illegal, or the game is over.
        """
        game = self.player.game
        self._engine.set_position(start, moves=moves)
        if not game.legal_actions(self._engine.state, past_soft_endings=True):
            ending, board = game.ending(self._engine.state), game.draw(self._engine.state)
            raise GameError(f"The game is over ({ending}), there is nothing to search in\n{board}")
        return self._reports(task)

    def _reports(self, task: Task) -> Iterator[Analysis]:
        self._engine.think(task)
        try:
            while True:
                said = self._said.get()
                if isinstance(said, Exception):
                    raise said
                yield said
                if said.stop_reason is not None:
                    return
        finally:
            self._engine.stop()
            while not self._said.empty():
                self._said.get()

    def final(self, task: Task, *, start: State | None = None, moves: Sequence[int] = ()) -> Analysis:
        """The last of the `reports`."""
        *_, last = self.reports(task, start=start, moves=moves)
        return last

    def after(self, task: Task, action: int, _state: State) -> Analysis:
        """The last report on the position after one more action than the latest search.

        Its time does not grow with the length of the game. `_state` is that position.
        """
        self._engine.follow(action)
        *_, last = self._reports(task)
        return last


def _seeing_ends(player: Player) -> Player:
    """The player with the settings of `seeing_ends`."""
    config = seeing_ends(player.config, player.evaluator)
    return player if config is player.config else player.judged_by(player.evaluator, config)


def analyse(
    position: State | str = "",
    *,
    game: Rules | Game[Any] | str | None = None,
    player: Player | str | Path | None = None,
    num_simulations: int | None = None,
    seconds: float | None = None,
    num_lines: int = 1,
    report_seconds: float = REPORT_SECONDS,
) -> Iterator[Analysis]:
    """Search a position and yield reports while the search goes on; the last report has a `stop_reason`.

    The search begins with the first report that is asked for, and ends when the caller stops iterating.

    >>> *_, last = analyse("b2 a1", game="tictactoe", player="rollouts", num_simulations=50, num_lines=2)
    >>> (last.num_visits, last.stop_reason, len(last.lines))
    (50, 'simulations', 2)

    Args:
        position: A state, or the text of a position or of the moves that lead to it ("4 4 3").
        game: A name ("connect4") or rules; the player's own game if not given.
        player: A player (`zerosum.load`), the path of a run or checkpoint, or "rollouts@1000". If not given: the newest
            run in `runs` of the game, else the bundled network of the game, else rollouts.
        num_simulations: Number of simulations; without any limit, the player's own number.
        seconds: Duration of the search; `math.inf` is as long as the caller iterates. A proven position or a full
            memory ends it earlier.
        num_lines: Number of moves to report with their best lines, each with at least 1/20 of all visits.
        report_seconds: The interval between two reports.

    Raises:
        GameError: the game is unknown, the position or a move is invalid, or the game is over.
        SettingsError, DataError: the player is unknown, or a number is out of range.
    """
    if not isinstance(player, Player):
        player = _player_of(player, game)
    elif game is not None:
        player = player.with_rules(make(game))
    num_simulations, seconds = limits(num_simulations, seconds, default=player.config.num_simulations)
    if not 1 <= num_lines <= MOST_LINES:
        raise SettingsError(f"num_lines is {num_lines}, but must be between 1 and {MOST_LINES}.")
    if not report_seconds > 0:
        raise SettingsError(f"report_seconds is {report_seconds}, but must be more than 0.")
    state = position_of(player.game, position) if isinstance(position, str) else position
    task = Task(num_visits=num_simulations, seconds=seconds, num_lines=num_lines)
    return Analyst(player, report_seconds=report_seconds).reports(task, start=state)


def limits(
    num_simulations: int | None, seconds: float | None, *, default: int | None = DEFAULT_SIMULATIONS
) -> tuple[int | None, float | None]:
    """Simulations and seconds, checked; seconds may be infinite. `default` simulations if neither limit is given.

    Raises:
        SettingsError: a number is out of range.
    """
    if num_simulations is not None and not 1 <= num_simulations <= MOST_SIMULATIONS:
        raise SettingsError(f"num_simulations is {num_simulations}, but must be between 1 and {MOST_SIMULATIONS:,}.")
    if seconds is not None and seconds != math.inf:
        require_seconds(seconds)
    return (default, None) if num_simulations is None and seconds is None else (num_simulations, seconds)


def _player_of(named: str | Path | None, game: Rules | Game[Any] | str | None) -> Player:
    players = Players("" if named is None else str(named))
    rules = players.own_game() if game is None else make(game)
    if rules is None:
        raise SettingsError("analyse needs a game, such as game='connect4', or the path of a player that has one.")
    return players.of(rules)


def position_of(game: Rules, text: str) -> State:
    """The position of a text: a position in the game's notation, or moves from the initial position.

    >>> game = make("tictactoe")
    >>> game.draw(position_of(game, "b2 a1")) == game.draw(position_of(game, "3/1X1/O2 X"))
    True

    Raises:
        GameError: the text is neither; the message gives the reason.
    """
    try:
        return game.parse_position(text) if text else game.initial_state()
    except GameError as error:
        no_position = str(error)
    try:
        return state_after(game, text)
    except GameError as error:
        # A text whose first word is a move is read as moves.
        if game.parse_action(game.initial_state(), text.split()[0] if text.split() else "") is not None:
            raise
        raise GameError(f"neither a position nor moves: {no_position.rstrip('.')}; {error}") from None

"""The player of a GTP session: its clocks and its searches, without knowledge of commands.

A turn begins with `begin_turn`, has searches (`find`) and ends with `end_turn`, when the clock is charged. `watch` and
`ponder` go on until `stop`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from zerosum._core import Root
from zerosum.analysis.go_score import expected_points, ownership
from zerosum.base.errors import GameError
from zerosum.contest.clock import TimeControl, TimeLeft
from zerosum.contest.time_manager import TimeConfig, TimeManager
from zerosum.games import Rules, measure_game
from zerosum.games.rules import options_of
from zerosum.notation.go_status import NUM_GAMES
from zerosum.notation.legality import game_of
from zerosum.play.analysis import Analysis, win_rate
from zerosum.play.background_search import BackgroundSearch
from zerosum.play.driver import Task, progress_of
from zerosum.play.player import Player
from zerosum.protocols.gtp_analysis import AnalysisOptions, Outlook
from zerosum.protocols.gtp_board import GtpBoard
from zerosum.protocols.gtp_params import GtpConfig, changed, value_of

Teller = Callable[[Analysis], None]
"""Receives the analysis so far, in the search's thread."""


class GtpPlayer:
    """A player that is loaded when first needed, and again for another board or other rules."""

    def __init__(
        self,
        choose: Callable[[Rules], Player],
        *,
        config: GtpConfig,
        time_config: TimeConfig,
        clock: Callable[[], float],
    ) -> None:
        """A player; the arguments are those of `GtpEngine`."""
        self._choose, self._clock = choose, clock
        self.config, self._time_config = config, time_config
        self._changes: dict[str, Any] = {}
        self._player: Player | None = None
        self._engine: BackgroundSearch | None = None
        self._tell: Teller = silent
        self._answer: Analysis | None = None
        self._failure: Exception | None = None
        self._began_s = 0.0
        self.set_control(TimeControl())

    def sit_down(self, board: GtpBoard) -> None:
        """Load the player for a board.

        Raises:
            DataError: no player fits the board.
        """
        game = board.game
        if self._engine is not None and self._engine.game is game:
            return
        self._player = self._choose(board.usual_game).with_rules(game)
        if self.config.memory_mib is not None:
            self._player.config = replace(self._player.config, memory_mib=self.config.memory_mib)
        self._player.config = replace(self._player.config, **self._changes)
        self._engine = BackgroundSearch(
            self._player,
            on_report=lambda report: self._tell(report),
            on_answer=self._take_answer,
            on_failure=self._take_failure,
            clock=self._clock,
        )
        self._manager = TimeManager(
            self._time_config,
            typical_plies=measure_game(game).plies,
            now=self._clock,
            num_batches=self._player.config_by_time().num_batches,
        )

    def learned(self, option: str) -> str | None:
        """The value of a game option in the network's training games; None without a network."""
        if self._player is None or not self._player.learned_game:
            return None
        return options_of(game_of(self._player.learned_game))[option]

    # ---- parameters

    def param(self, name: str) -> str:
        """The value of a parameter of KataGo's. Raises GameError if it is unknown."""
        assert self._player is not None
        return value_of(name, self.config, self._player.config)

    def set_param(self, name: str, text: str) -> None:
        """Change a parameter of KataGo's.

        Raises:
            GameError: the parameter is unknown, or the value is invalid.
        """
        assert self._player is not None and self._engine is not None
        self.config, changes = changed(name, text, self.config, self._changes)
        if changes != self._changes:
            self._changes = changes
            self._player.config = replace(self._player.config, **changes)
            self._engine.change(self._player.config_by_time())

    def seated(self) -> Player:
        """The player that sits at the board."""
        assert self._player is not None
        return self._player

    def outlook(self, board: GtpBoard, options: AnalysisOptions) -> Outlook:
        """What the player knows of the position's end.

        Raises:
            DataError: no player fits the board.
        """
        self.sit_down(board)
        assert self._player is not None
        if not options.owners and not self._player.knows_owners:
            return Outlook()
        owners = ownership(self._player, board.state, NUM_GAMES)
        return Outlook(owners, expected_points(self._player, board.state, owners))

    def _take_answer(self, report: Analysis) -> None:
        self._answer = report

    def _take_failure(self, error: Exception) -> None:
        self._failure = error

    # ---- clocks

    def set_control(self, control: TimeControl) -> None:
        """Start the clocks of another time control."""
        self._control = control
        # Clients may not say how many stones a period still needs: each stone gets an equal share.
        self._unheard = control
        if control.period_moves > 1:
            self._unheard = replace(control, period_s=control.period_s / control.period_moves, period_moves=1)
        self.new_game()

    def new_game(self) -> None:
        """Restart the clocks and forget the hopeless moves of both players."""
        self._left = [self._unheard.start()] * 2
        self._num_hopeless = [0, 0]

    def set_left(self, player: int, seconds: float, stones: int) -> None:
        """Set a player's remaining time, as `time_left` says."""
        self._left[player] = self._control.left_of_gtp(seconds, stones)

    def begin_turn(self) -> None:
        """Start the clock of the player to move."""
        self._began_s = self._clock()

    def end_turn(self, player: int) -> None:
        """Charge the clock of the player that moved; `set_left` overrides the result."""
        start, left = self._unheard.start(), self._left[player]
        if left.is_limited:
            # The client's clock stops later than ours.
            elapsed = self._clock() - self._began_s + self._time_config.overhead_s
            after = self._unheard.after_move(replace(start, main_s=max(left.main_s, 0.0)), elapsed)
            # The client decides whether the player has lost on time.
            self._left[player] = replace(start, main_s=0.0) if after is None else after

    def follow(self, player: int, action: int) -> None:
        """Let the tree follow a player's move in the opponent's time, if the game has clocks."""
        if self._engine is not None and self._left[player].is_limited:
            self._engine.follow(action)

    def _left_now(self, player: int) -> TimeLeft:
        left, elapsed = self._left[player], self._clock() - self._began_s
        if left.is_overtime:
            return replace(left, period_s=max(left.period_s - elapsed, 0.0))
        return replace(left, main_s=left.main_s - elapsed)

    # ---- searches

    def find(self, board: GtpBoard, options: AnalysisOptions, *, tell: Teller | None = None) -> Analysis:
        """Search as long as clock, simulations and memory allow.

        Raises:
            GameError: the options leave no move, or the search failed.
        """
        assert self._player is not None
        left = self._left_now(options.player)
        self._manager.begin(left, num_plies=board.num_moves)

        def is_enough(root: Root, _seconds: float) -> str | None:
            return self._manager.stop_reason(progress_of(root))

        has_clock = left.is_limited or self.config.seconds is not None
        own = None if has_clock else self._player.config.num_simulations
        task = Task(num_visits=self.config.simulations or own, seconds=self.config.seconds, is_enough=is_enough)
        assert self._engine is not None
        self._think(board, options, task, tell or silent)
        self._engine.wait()
        if self._answer is None:
            raise GameError(self.failure() or "the search found nothing")
        return self._answer

    def watch(self, board: GtpBoard, options: AnalysisOptions, tell: Teller) -> None:
        """Search until `stop`, reporting to `tell`. Raises GameError if the options leave no move."""
        self._think(board, options, Task(is_endless=True), tell)

    def ponder(self, board: GtpBoard) -> None:
        """Search the current position until `stop`."""
        if self.config.ponder and board.game.ending(board.state) is None:
            self._think(board, AnalysisOptions(board.mover), Task(is_endless=True), silent)

    def stop(self) -> None:
        """End the running search, if there is one."""
        if self._engine is not None:
            self._engine.stop()

    def forget(self) -> None:
        """Clear the search tree."""
        assert self._engine is not None
        self._engine.new_game()

    def failure(self) -> str:
        """Return and reset the reason of a failed search; "" if it did not fail."""
        failure, self._failure = self._failure, None
        return "" if failure is None else f"the search failed: {failure or type(failure).__name__}"

    def _think(self, board: GtpBoard, options: AnalysisOptions, task: Task, tell: Teller) -> None:
        assert self._engine is not None
        start, actions = board.root(options.player)
        self._engine.set_position(start, moves=actions)
        task = replace(
            task,
            allowed=options.actions(board),
            # Lines take time, also at the end of a turn: two are enough without a listener.
            num_lines=2 if tell is silent else options.most_moves or board.size**2 + 1,
            line_share=0.0,
            report_seconds=options.interval_s,
        )
        self._tell, self._answer, self._failure = tell, None, None
        self._engine.think(task)

    def resigns(self, player: int, value: float) -> bool:
        """Whether to resign: the best move's win rate was low for `resign_moves` turns in a row."""
        is_hopeless = win_rate(value) < self.config.resign_below
        self._num_hopeless[player] = self._num_hopeless[player] + 1 if is_hopeless else 0
        return self._num_hopeless[player] >= self.config.resign_moves


def silent(_report: Analysis) -> None:
    """Ignore a report."""

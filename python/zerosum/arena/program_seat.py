"""Players that think in threads of their own, one for each board: engines, and our searches with a clock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from typing_extensions import override

from zerosum.arena.seats import Decision, Inbox, Seat, Turn
from zerosum.contest.mover import EngineFailure, Mover
from zerosum.games import State
from zerosum.play.deepening_mover import DeepeningMover
from zerosum.play.engines.engine import ExternalEngine
from zerosum.play.search_mover import SearchMover


class ProgramSeat(Seat):
    """A seat with a mover for each of its boards, which is reused from game to game.

    A mover that has failed restarts with the next game. A tournament has as many movers as simultaneous games.
    """

    def __init__(self, open_mover: Callable[[], Mover], inbox: Inbox, *, num_boards: int) -> None:
        """Open the first mover, so that errors of its setup occur before any game.

        Raises:
            EngineFailure, SettingsError: as `Program.open`.
        """
        self._open, self._inbox = open_mover, inbox
        self._idle = [open_mover()]
        """Movers between two games; the one that played last is the next to play."""
        self._opened = list(self._idle)
        self._movers: dict[int, Mover] = {}
        """Movers by board, during its game."""
        self._lock = threading.Lock()
        self._threads = [ThreadPoolExecutor(1, thread_name_prefix="board") for _ in range(num_boards)]
        self._failures: dict[int, EngineFailure] = {}
        """Failures by board, which end this game's mover."""
        self._pondering: dict[int, threading.Event] = {}
        """Events by board that end its pondering."""

    @property
    @override
    def evaluations(self) -> int:
        """Positions evaluated by our own searches; other people's engines do not count."""
        return sum(mover.evaluations for mover in self._opened if isinstance(mover, (SearchMover, DeepeningMover)))

    @override
    def new_game(self, board: int, game_index: int, state: State) -> None:
        self._threads[board].submit(self._new_game, board, game_index)

    @override
    def begin(self, turn: Turn) -> None:
        self._end_pondering(turn.board)
        self._threads[turn.board].submit(self._think, turn)

    @override
    def ponder(self, turn: Turn) -> None:
        is_over = self._pondering[turn.board] = threading.Event()
        self._threads[turn.board].submit(self._ponder, turn, is_over)

    def _end_pondering(self, board: int) -> None:
        if is_over := self._pondering.pop(board, None):
            is_over.set()

    @override
    def end_game(self, turn: Turn, result: float) -> str:
        self._end_pondering(turn.board)
        score: Future[str] = self._threads[turn.board].submit(self._end_game, turn, result)
        return score.result()

    @override
    def close(self) -> None:
        for board in list(self._pondering):
            self._end_pondering(board)
        # Twice: running work ends first, and may have opened another mover meanwhile.
        self._close_movers()
        for thread in self._threads:
            thread.shutdown(wait=True, cancel_futures=True)
        self._close_movers()

    def _close_movers(self) -> None:
        with self._lock:
            movers = list(self._opened)
        for mover in movers:
            mover.close()

    # ---- in the board's thread

    def _take_mover(self) -> Mover:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        mover = self._open()
        with self._lock:
            self._opened.append(mover)
        return mover

    def _new_game(self, board: int, game_index: int) -> None:
        self._failures.pop(board, None)
        try:
            mover = self._movers[board] = self._take_mover()
            mover.new_game(game_index)
        except BaseException as error:  # an engine that cannot begin has not lost: the match raises its failure
            self._inbox.put(error)

    def _think(self, turn: Turn) -> None:
        mover, failure = self._movers.get(turn.board), self._failures.get(turn.board)
        try:
            if failure is not None:
                raise failure
            assert mover is not None
            answer = mover.think(turn.start, turn.actions, turn.limits)
            self._inbox.put(Decision(turn.board, answer.action, answer.thought, answer.ending))
        except EngineFailure as error:
            self._failures[turn.board] = error
            self._inbox.put(Decision(turn.board, None, ending=error.ending, note=str(error)))
        except BaseException as error:
            self._inbox.put(error)

    def _ponder(self, turn: Turn, is_over: threading.Event) -> None:
        mover = self._movers.get(turn.board)
        if mover is None or turn.board in self._failures:
            return
        try:
            mover.ponder(turn.start, turn.actions, turn.limits, is_over)
        except EngineFailure as failure:  # the engine loses when it is to move
            self._failures[turn.board] = failure
        except BaseException as error:
            self._inbox.put(error)

    def _end_game(self, turn: Turn, result: float) -> str:
        mover = self._movers.pop(turn.board, None)
        if mover is None:
            return ""
        try:
            if turn.board in self._failures:
                return ""
            # Only engines that have a score are asked, and only if the rules ended the game.
            score = ""
            if isinstance(mover, ExternalEngine) and mover.game.outcome(turn.state) is not None:
                score = mover.final_score(turn.start, turn.actions)
            mover.end_game(result)
        except EngineFailure:
            return ""  # the finished game does not change; a failed mover restarts with the next game
        finally:
            with self._lock:
                self._idle.append(mover)
        return score

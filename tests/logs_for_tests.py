"""A log of self-play that keeps finished games."""

from __future__ import annotations

from collections.abc import Sequence

from zerosum.replay import GameHeader, GameRecord
from zerosum.replay.records import PackedPly, RunningGame
from zerosum.selfplay import MemoryLog


class FinishedLog(MemoryLog):
    """A `MemoryLog` that keeps finished games; called from several threads, each with its own games."""

    def __init__(self, running: dict[int, RunningGame] | None = None) -> None:
        self.running = dict(running or {})
        self.finished: dict[int, GameRecord] = {}
        super().__init__(self.running)

    def start_game(self, header: GameHeader, opening: Sequence[PackedPly] = ()) -> None:
        assert header.game_id not in self.running and header.game_id not in self.finished
        super().start_game(header, opening)

    def finish_game(self, game_id: int, *, outcome: float, ending: str) -> GameRecord:
        self.finished[game_id] = super().finish_game(game_id, outcome=outcome, ending=ending)
        return self.finished[game_id]

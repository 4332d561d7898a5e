"""Self-play of an updatable network: games of a deepening alpha-beta search, one at a time in each worker.

Until `alphabeta_share` of the budget the search has the linear evaluation that was learned before
(`evaluation_learning`), from then on the run's network. Every move is a function of the position, the network and the
number of nodes; games differ by their random openings.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from zerosum._core import CENTIPAWNS_PER_LOGIT, DeepeningSearch, LinearEvaluation, UpdatableNetwork
from zerosum.games import State, start_state
from zerosum.network.evaluators.updatable import UpdatableEvaluator, value_of
from zerosum.replay.records import (
    NO_TARGET,
    GameHeader,
    GameRecord,
    PlyFlag,
    PlyRecord,
    RunningGame,
    packed_ply,
    policy_target,
)
from zerosum.selfplay.worker import SelfplayCounts, SelfplayTask, Worker

LEAST_ENTRIES = 1 << 12
"""Positions in the table of a search, at least; else twice its nodes."""
DECIDED = 0.995
"""A game counts as decided once the search's value is beyond this ..."""
DECIDED_PLIES = 8
"""... for so many plies in a row, on the same side."""
PLAYED_OUT_EVERY = 8
"""One game in so many is played to its end whatever the values are."""
ADJUDICATED = "adjudication"
"""The ending of a game that counts as decided."""


@dataclass
class _Playing:
    """A game under way."""

    header: GameHeader
    state: State
    num_decided: int = 0
    """Plies in a row that were decided for the first player, or less than 0 for the second."""


class AlphaBetaWorker(Worker):
    """Plays one game at a time, with the interface of a `SelfplayWorker`. For one thread at a time."""

    def __init__(self, task: SelfplayTask, *, running: Iterable[RunningGame] = ()) -> None:
        """Games in flight continue first."""
        assert isinstance(task.evaluator, UpdatableEvaluator), task.evaluator
        self.counts = SelfplayCounts()
        self._task, self._evaluator, self._waiting = task, task.evaluator, list(running)
        self._linear = None if task.evaluation is None else task.evaluation.evaluation(task.game)
        self._linear_values = () if task.evaluation is None else tuple(task.evaluation.values.values())
        self._search: DeepeningSearch | None = None
        self._evaluation: LinearEvaluation | UpdatableNetwork | None = None
        self._playing: _Playing | None = None
        self._ended: list[GameRecord] = []
        """Games that were over when they were to go on."""

    def play_batch(self) -> list[GameRecord]:
        """Play one move. Returns the game if it has ended."""
        if self._playing is None:
            self._playing = self._next_game()
        ended, self._ended = self._ended, []
        playing, task = self._playing, self._task
        search = self._search_now()
        search.clear()
        found = search.think(playing.state, nodes=task.config.alphabeta_nodes)
        assert found is not None, "nothing stops the first iteration"
        action, game = found.line[0], task.game
        value = value_of(found)
        player = game.player(playing.state)
        ply = PlyRecord(
            action=action,
            player=player,
            checkpoint_step=task.network().step,
            search_value=value,
            net_value=0.0,
            num_simulations=0,
            flags=PlyFlag.RECORDED | PlyFlag.EVALUATED,
            # In the middle of an exchange an evaluation cannot be held to what the search has seen.
            target=policy_target([action], [1.0], [1]) if found.is_quiet else NO_TARGET,
        )
        task.log.add_plies([playing.header.game_id], [packed_ply(playing.header.game_id, playing.state.plies, ply)])
        self.counts.plies += 1
        self.counts.evaluations += found.num_nodes
        playing.state = game.play(playing.state, action)
        record = self._finished(playing, value if player == 0 else -value)
        if record is None:
            return ended
        self._playing = None
        return [*ended, record]

    def play_out(self, is_enough: Callable[[], bool], take: Callable[[GameRecord], None]) -> None:
        """Play the game in flight to its end and begin no other; the worker has then ended."""
        while self._playing is not None and not is_enough():
            for record in self.play_batch():
                take(record)

    def _search_now(self) -> DeepeningSearch:
        """A search with the evaluation that plays now."""
        network, config = self._task.network(), self._task.config
        is_linear = self._linear is not None and (network.step == 0 or config.begins_with_linear(network.progress))
        evaluation = self._linear if is_linear else self._evaluator.network
        assert evaluation is not None
        if self._search is None or evaluation is not self._evaluation:
            values = (
                [max(1, round(CENTIPAWNS_PER_LOGIT * value)) for value in self._linear_values]
                if is_linear
                else self._evaluator.piece_values
            )
            self._evaluation = evaluation
            self._search = DeepeningSearch(
                self._task.game,
                evaluation,
                piece_values=values,
                table_entries=max(LEAST_ENTRIES, 2 * config.alphabeta_nodes),
            )
        return self._search

    def _finished(self, playing: _Playing, value: float) -> GameRecord | None:
        """The record of a game that is over, by the rules or because it is decided; `value` is the first player's."""
        game, log, game_id = self._task.game, self._task.log, playing.header.game_id
        outcome, ending = game.outcome(playing.state), game.ending(playing.state)
        if outcome is None:
            sign = (value > DECIDED) - (value < -DECIDED)
            playing.num_decided = playing.num_decided + sign if sign * playing.num_decided > 0 else sign
            if abs(playing.num_decided) < DECIDED_PLIES or game_id % PLAYED_OUT_EVERY == 0:
                return None
            outcome, ending = float(sign), ADJUDICATED
        assert ending is not None
        self.counts.games += 1
        return log.finish_game(game_id, outcome=outcome, ending=ending)

    def _next_game(self) -> _Playing:
        """A game that was in flight before, or a new one."""
        task, game = self._task, self._task.game
        while self._waiting:
            running = self._waiting.pop(0)
            start = start_state(game, running.header.start)
            state = functools.reduce(game.play, (ply.action for ply in running.plies), start)
            playing = _Playing(running.header, state)
            # The process may have ended between the last ply and the game's end.
            if (record := self._finished(playing, 0.0)) is None:
                return playing
            self._ended.append(record)
        header = task.new_header()
        state, opening = task.opening(header)
        task.log.start_game(header, opening)
        return _Playing(header, state)

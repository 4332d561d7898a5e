"""Our own search under a clock, as a mover: it thinks as long as its time manager lets it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from zerosum._core import UNLIMITED_SIMULATIONS, Root, Search, uniform
from zerosum.base.settings import num_cores
from zerosum.contest.clock import TimeLeft
from zerosum.contest.time_manager import Progress, TimeManager
from zerosum.evaluators import answer_all
from zerosum.external.engine import EngineFailure, EngineMove
from zerosum.external.search import EngineAnswer, EngineLimits
from zerosum.games import Rules, measure_game, start_state
from zerosum.play.engine import win_rate
from zerosum.play.player import Contestant
from zerosum.play.skill import drawn_action
from zerosum.search import new_search


class SearchMover:
    """A search of ours at one board, from game to game."""

    def __init__(
        self,
        game: Rules,
        contestant: Contestant,
        *,
        num_boards: int = 1,
        seed: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`num_boards` share the cores, and the memory of the contestant's search; `seed` keys sampled moves."""
        player = contestant.player(game, num_batches=max(1, num_cores() // num_boards))
        config = player.config_by_time()
        self._game, self._contestant, self._seed, self._now = game, contestant, seed, now
        self._evaluator, self._config = player.evaluator, config
        self._memory_mib = max(1, config.memory_mib // num_boards)
        self._manager = TimeManager(
            contestant.terms.time_config,
            typical_plies=measure_game(game).plies,
            now=now,
            num_batches=config.num_batches,
        )
        self._game_number = self._evaluations = 0
        self._is_closed = threading.Event()
        self._search: Search | None = None
        self._start, self._actions = "", tuple[int, ...]()
        self._has_pondered = False
        # In the opponent's time: the tree below the move played, which may take seconds if it is large.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="advance")
        self._advanced: Future[None] | None = None

    def new_game(self, number: int) -> None:
        """See `zerosum.external.program.Mover`."""
        self._wait()
        self._search = None
        self._game_number = number

    @property
    def evaluations(self) -> int:
        """Positions that the evaluator was asked about, in all games."""
        return self._evaluations

    def think(self, start: str, actions: Sequence[int], limits: EngineLimits) -> EngineMove:
        """See `zerosum.external.program.Mover`."""
        began = self._now()
        search = self._searched_to(start, actions)
        self._has_pondered = False
        state = search.state(0)
        player = self._game.player(state)
        self._manager.begin(_time_left(limits, player), num_plies=state.plies, clock_since_s=began)
        search.begin(0, min(limits.nodes or UNLIMITED_SIMULATIONS, UNLIMITED_SIMULATIONS))
        self._evaluations += answer_all(
            search,
            self._evaluator,
            max_leaves=self._config.leaves_a_batch,
            num_batches=self._config.num_batches,
            is_over=lambda: self._is_over(search.root(0)),
        )
        root = search.root(0)
        action = self._choose(root, ply=state.plies)
        answer = EngineAnswer(
            self._game.action_text(state, action),
            self._now() - began,
            nodes=root.num_simulations,
            win_rate=win_rate(root.value),
        )
        self._advanced = self._pool.submit(self._advance, action)
        return EngineMove(action, "", answer)

    def ponder(self, start: str, actions: Sequence[int], limits: EngineLimits, is_over: threading.Event) -> None:
        """See `zerosum.external.program.Mover`: what is found of the opponent's move is kept for the answer to it."""
        search = self._searched_to(start, actions)
        search.begin(0, UNLIMITED_SIMULATIONS)
        self._evaluations += answer_all(
            search,
            self._evaluator,
            max_leaves=self._config.leaves_a_batch,
            num_batches=self._config.num_batches,
            is_over=lambda: is_over.is_set() or self._is_closed.is_set(),
        )
        self._has_pondered = True

    def _is_over(self, root: Root) -> bool:
        if self._is_closed.is_set():
            return True
        return root.best_action is not None and self._manager.limit(Progress.of(root)) is not None

    def end_game(self, result: float) -> None:
        """See `zerosum.external.program.Mover`."""

    def close(self) -> None:
        """See `zerosum.external.program.Mover`."""
        self._is_closed.set()

    def _wait(self) -> None:
        """Until the tree has followed the latest move."""
        advanced, self._advanced = self._advanced, None
        if advanced is not None:
            advanced.result()

    def _advance(self, action: int) -> None:
        assert self._search is not None
        self._search.advance(0, action, keep=self._config.reuse_tree or self._has_pondered)
        self._actions = (*self._actions, action)

    def _searched_to(self, start: str, actions: Sequence[int]) -> Search:
        """The search with this position at its root, and what it knows of it from before."""
        self._wait()
        is_new = self._search is None
        if self._search is None:
            self._search = new_search(self._game, replace(self._config, memory_mib=self._memory_mib))
        known, actions = len(self._actions), tuple(actions)
        if is_new or start != self._start or actions[:known] != self._actions:
            self._search.reset(0, start_state(self._game, start))
            known = 0
        self._start, self._actions = start, actions[:known]
        for action in actions[known:]:
            self._advance(action)
        return self._search

    def _choose(self, root: Root, *, ply: int) -> int:
        if not root.visits.size:
            raise EngineFailure(f"{self._contestant.name} was closed while it was thinking.", ending="forfeit")
        return chosen_action(root, self._contestant, seed=self._seed, game=self._game_number, ply=ply)


def chosen_action(root: Root, contestant: Contestant, *, seed: int, game: int, ply: int) -> int:
    """A contestant's move after a search: the best, or one drawn, as it has it; equal keys, equal moves."""
    if contestant.temperature:
        number = uniform(seed, game, ply, "drawn move")
        return drawn_action(root, number, temperature=contestant.temperature)
    if ply >= contestant.sampled_plies:
        action = root.best_action
        assert action is not None, "a game that goes on has a move"
        return action
    number = uniform(seed, game, ply, "sampled move")
    shares = root.visit_policy().cumsum()
    return int(root.actions[int((shares <= number * shares[-1]).sum())])


def _time_left(limits: EngineLimits, player: int) -> TimeLeft:
    """What the mover's clock says, of what programs are told."""
    if limits.move_time_s is not None:
        return TimeLeft(main_s=0.0, period_s=limits.move_time_s, period_moves=1, num_periods=1)
    if limits.remaining_s is None:
        return TimeLeft()
    has_byoyomi = int(limits.byoyomi_s > 0)
    return TimeLeft(
        main_s=limits.remaining_s[player],
        increment_s=limits.increment_s[player],
        moves_to_go=limits.moves_to_go,
        period_s=limits.byoyomi_s,
        period_moves=has_byoyomi,
        num_periods=has_byoyomi,
    )

"""Our own search as a mover of a match, with a time manager."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from typing_extensions import override

from zerosum._core import Root, uniform
from zerosum.base.settings import num_cores
from zerosum.contest.mover import Answer, MoveLimits, Mover, Thought
from zerosum.contest.time_manager import TimeManager
from zerosum.games import Rules, State, measure_game, start_state
from zerosum.play.analysis import Analysis
from zerosum.play.contestant import SearchContestant
from zerosum.play.driver import SearchDriver, Task, progress_of
from zerosum.play.followed_search import FollowedSearch
from zerosum.play.skill import drawn_action

SAMPLING_TEMPERATURE = 10.0
"""Temperature of the visits in `near_best_action`; the paper's."""


class SearchMover(Mover):
    """A search of ours at one board, from game to game."""

    def __init__(
        self,
        game: Rules,
        contestant: SearchContestant,
        *,
        num_boards: int = 1,
        seed: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`num_boards` boards share the cores and the search's memory; `seed` is the seed of sampled moves."""
        player = contestant.player(game, num_batches=max(1, num_cores() // num_boards))
        player.make_ready()
        config = player.config_by_time()
        self._game, self._contestant, self._seed, self._now = player.game, contestant, seed, now
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
        self._followed: FollowedSearch | None = None
        self._start: tuple[str, State] | None = None
        self._has_pondered = False
        # The tree follows the played move in the opponent's time.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="advance")
        self._advanced: Future[None] | None = None

    @override
    def new_game(self, number: int) -> None:
        self._wait()
        self._followed = None
        self._game_number = number

    @property
    def evaluations(self) -> int:
        """Positions evaluated in all games."""
        return self._evaluations

    @override
    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        began = self._now()
        state = self._follow(start, actions)
        self._has_pondered = False
        player = self._game.player(state)
        self._manager.begin(limits.clocks[player], num_plies=state.plies, clock_since_s=began)
        found = self._drive(
            Task(
                num_visits=limits.nodes,
                choose=lambda root: chosen_action(
                    root, self._contestant, seed=self._seed, game=self._game_number, ply=state.plies
                ),
                is_enough=lambda root, _: self._manager.stop_reason(progress_of(root)),
            ),
            self._is_closed.is_set,
        )
        action, seconds = found.chosen[0], self._now() - began
        score = self._contestant.score(self._game, state, found.value, plies_to_end=found.plies_to_end)
        assert self._followed is not None
        self._advanced = self._pool.submit(self._followed.advance, action, keep=self._keeps_tree)
        return Answer(action, Thought(score, seconds=seconds, nodes=found.num_visits))

    @override
    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None:
        """Statistics below the opponent's move are kept for the answer."""
        self._follow(start, actions)
        self._drive(Task(is_endless=True), lambda: is_over.is_set() or self._is_closed.is_set())
        self._has_pondered = True

    def _drive(self, task: Task, is_stopped: Callable[[], bool]) -> Analysis:
        assert self._followed is not None
        driver = SearchDriver(self._followed.search, self._evaluator, self._config, is_stopped=is_stopped)
        found = driver.run(task)
        self._evaluations += found.num_leaves
        return found

    @override
    def end_game(self, result: float) -> None:
        pass

    @override
    def close(self) -> None:
        self._is_closed.set()

    def _wait(self) -> None:
        """Wait until the tree has followed the latest move."""
        advanced, self._advanced = self._advanced, None
        if advanced is not None:
            advanced.result()

    def _follow(self, start: str, actions: Sequence[int]) -> State:
        """Make a position the root of the tree, with the statistics known of it."""
        self._wait()
        if self._followed is None:
            self._followed = FollowedSearch(self._game, replace(self._config, memory_mib=self._memory_mib))
            self._start = None
        if self._start is None or self._start[0] != start:
            self._start = start, start_state(self._game, start)
        self._followed.set_position(self._start[1], actions, keep=self._keeps_tree)
        return self._followed.state

    @property
    def _keeps_tree(self) -> bool:
        return self._config.reuse_tree or self._has_pondered


def chosen_action(root: Root, contestant: SearchContestant, *, seed: int, game: int, ply: int) -> int:
    """A contestant's move after a search: the best or a drawn one; a function of seed, game and ply."""
    if contestant.temperature:
        number = uniform(seed, game, ply, "drawn move")
        return drawn_action(root, number, temperature=contestant.temperature)
    if ply >= contestant.sampled_plies:
        action = root.best_action
        assert action is not None, "a running game has a move"
        return action
    number = uniform(seed, game, ply, "sampled move")
    if contestant.sampled_within is not None:
        return near_best_action(root, number, within=contestant.sampled_within)
    # A single simulation tells no shares: the policy alone plays.
    shares = (root.visit_policy() if root.num_simulations > 1 else root.priors).cumsum()
    return int(root.actions[int((shares <= number * shares[-1]).sum())])


def near_best_action(root: Root, number: float, *, within: float) -> int:
    """The move that a number in [0, 1) draws among those nearly as good as the best one.

    AlphaZero played different games against an engine with a book "by softmax sampling with a temperature of 10.0 among
    moves for which the value was no more than 1% away from the best move for the first 30 plies" (Science 362, 2018).
    Here the temperature is that of visits, N^(1 / 10), and the value the winning chance; the paper does not say.

    Args:
        root: A root that was searched, with a legal move.
        number: In [0, 1).
        within: The winning chance in [0, 1] that a move may lack to the best one.
    """
    best = root.best_action
    assert best is not None
    is_best = root.actions == best
    # A winning chance is (Q + 1) / 2. Q is NaN without visits, and then a move is not near.
    is_near = is_best | (root.q >= root.q[is_best] - 2 * within)
    weights = np.maximum(root.visits[is_near], 1) ** (1 / SAMPLING_TEMPERATURE)
    shares = weights.cumsum()
    return int(root.actions[is_near][(shares <= number * shares[-1]).sum()])

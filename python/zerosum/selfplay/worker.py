"""Self-play: games of the network against itself, many at a time, each ply written to a log as it is played.

A worker is one thread with its own trees: it gathers one leaf per game into a batch, evaluates it, backs the answers
up, and has the core play a move wherever a search has ended (`GamesInFlight`). With one leaf of a game in flight each
search is exactly the sequential algorithm. This file knows neither disks (a `GameLog` receives the plies) nor training.
"""

from __future__ import annotations

import functools
import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from zerosum._core import GamesInFlight, uniform
from zerosum.games import Rules, State, start_state
from zerosum.games.rules import drawn_start, measure_game
from zerosum.network.evaluators import Evaluator
from zerosum.replay.records import GameHeader, GameRecord, PackedPly, PlyFlag, RunningGame
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.search.config import with_room
from zerosum.selfplay.alpha_beta import AlphaBetaGame
from zerosum.selfplay.config import SelfplayConfig
from zerosum.selfplay.evaluation_learning import PLAYING_NOISE
from zerosum.selfplay.piece_terms import LearnedWeights
from zerosum.selfplay.playing_network import PlayingNetwork
from zerosum.selfplay.resignation import RESIGNATION, Resignation, SentThreshold


class GameLog(Protocol):
    """The log of games as they are played, safe from several threads: `zerosum.replay.game_store.GameStore`."""

    def start_game(self, header: GameHeader, opening: Sequence[PackedPly] = ()) -> None:
        """Begin a game with its random moves, if it has any."""

    def add_plies(self, game_ids: Sequence[int], plies: Sequence[PackedPly]) -> None:
        """Add plies to their games, a game for each."""

    def finish_game(self, game_id: int, *, outcome: float, ending: str) -> GameRecord:
        """End a game and return its record, which counts from now on."""
        ...


class MemoryLog:
    """A `GameLog` without a disk, which keeps games only while they are played."""

    def __init__(self, running: dict[int, RunningGame] | None = None) -> None:
        """A log with games in flight, by number."""
        self._running = {} if running is None else running

    def start_game(self, header: GameHeader, opening: Sequence[PackedPly] = ()) -> None:
        """Begin a game with its random moves, if it has any."""
        self._running[header.game_id] = game = RunningGame(header=header)
        game.plies.packed += opening

    def add_plies(self, game_ids: Sequence[int], plies: Sequence[PackedPly]) -> None:
        """Add plies to their games, a game for each."""
        for game_id, ply in zip(game_ids, plies, strict=True):
            self._running[game_id].plies.packed.append(ply)

    def finish_game(self, game_id: int, *, outcome: float, ending: str) -> GameRecord:
        """End a game and return its record."""
        game = self._running.pop(game_id)
        return GameRecord.from_plies(game.header, game.plies, outcome=outcome, ending=ending)


@dataclass(frozen=True)
class SelfplayTask:
    """The settings and objects that all workers of a run share."""

    game: Rules
    search: SearchConfig
    config: SelfplayConfig
    evaluator: Evaluator
    log: GameLog
    seed: int
    settings_hash: str
    game_ids: Iterator[int] = field(default_factory=itertools.count)
    """Numbers of future games; a counter is safe from several threads."""
    num_staggered: int = 0
    """Games with lower numbers begin at any stage of a game, by random moves: `SelfplayConfig.stagger_starts`."""
    network: Callable[[], PlayingNetwork] = PlayingNetwork
    """The network that the evaluator runs now."""
    evaluation: LearnedWeights | None = None
    """The evaluation of the alpha-beta search, which only a run with `config.alphabeta_depth` has."""
    resignation: Resignation | SentThreshold | None = None
    """The threshold of resignations; None for none (`new_resignation`)."""

    def new_header(self) -> GameHeader:
        """The header of one more game."""
        spec, game_id = self.game.spec, next(self.game_ids)
        return GameHeader(
            game_id=game_id,
            game=spec.name,
            game_version=spec.version,
            options=spec.options,
            start=drawn_start(self.game, seed=self.seed, number=game_id),
            settings_hash=self.settings_hash,
            seed=self.seed,
        )

    def opening(self, header: GameHeader) -> tuple[State, Sequence[PackedPly]]:
        """The position of a new game's first search, and the random moves before it, if it has any."""
        game, game_id = self.game, header.game_id
        state = start_state(game, header.start)
        num_plies = num_opening_plies(
            game, self.config, seed=self.seed, game_id=game_id, num_staggered=self.num_staggered
        )
        return game.draw_opening(state, num_plies, self.seed, game_id) if num_plies else (state, ())


@dataclass
class SelfplayCounts:
    """The work of a worker so far."""

    evaluations: int = 0
    """Positions evaluated."""
    simulations: int = 0
    plies: int = 0
    games: int = 0
    short_searches: int = 0
    """Searches that ended early because their trees were full."""

    def __add__(self, other: SelfplayCounts) -> SelfplayCounts:
        """The sum of both."""
        return SelfplayCounts(
            self.evaluations + other.evaluations,
            self.simulations + other.simulations,
            self.plies + other.plies,
            self.games + other.games,
            self.short_searches + other.short_searches,
        )


def num_trees(games_per_worker: int) -> int:
    """Number of games that a worker has in flight: some more than its batch has rows.

    A search that ends without an evaluation leaves its row of the batch to a spare game.
    """
    return games_per_worker + games_per_worker // 16


class Worker(ABC):
    """A player of self-play games, a batch of evaluations or a move at a time."""

    @abstractmethod
    def play_batch(self) -> list[GameRecord]:
        """Play on by one batch or move. Returns the games that ended."""

    def play_until(
        self,
        is_enough: Callable[[], bool],
        take: Callable[[GameRecord], None],
        *,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play batches until `is_enough`, waiting while `is_paused`; `take` gets each finished game."""
        while not is_enough():
            if is_paused():
                time.sleep(0.01)
                continue
            for record in self.play_batch():
                take(record)


class SelfplayWorker(Worker):
    """Plays `config.games_per_worker` games at a time, and some to spare. For one thread at a time."""

    def __init__(self, task: SelfplayTask, *, running: Iterable[RunningGame] = ()) -> None:
        """Games in flight continue first; they may be more than are played at a time."""
        self.counts = SelfplayCounts()
        self._task = task
        self._waiting = list(running)
        assert task.config.games_per_worker is not None, "the run has measured it"
        self._batch_size = task.config.games_per_worker
        self._num_trees = num_trees(self._batch_size)
        self._evaluator = task.evaluator
        # The trees of many games need more memory than one search, if each is to have its simulations.
        most = replace(task.search, num_simulations=max(task.search.num_simulations, task.config.fast_simulations))
        search = replace(task.search, memory_mib=with_room(task.game, most, self._num_trees).memory_mib)
        self._search = new_search(task.game, search, num_trees=self._num_trees)
        self._in_flight = GamesInFlight(
            self._search,
            (
                task.seed,
                task.config.temperature,
                task.config.temperature_plies,
                task.search.has_root_noise,
                task.search.reuse_tree,
            ),
        )
        self._headers: list[GameHeader] = []
        """The game at each tree."""
        self._cached_step = -1
        self._ended: list[GameRecord] = []
        self._num_playing, self._is_closing = 0, False
        self._alpha_beta_evaluation = None if task.evaluation is None else task.evaluation.evaluation(task.game)
        self._alpha_beta: tuple[GameHeader, AlphaBetaGame] | None = None
        """The alpha-beta search's game under way."""
        if self._replaced_network() is None:
            self._start_games()

    def play_batch(self) -> list[GameRecord]:
        """Evaluate one batch and play the moves that it decides. Returns the games that ended.

        Until `config.alphabeta_share` of the budget is used, an alpha-beta search plays a move instead, in one game at
        a time, and games that were in flight before wait.
        """
        if not self._headers:
            if self._alpha_beta is None and (network := self._replaced_network()):
                self._alpha_beta = self._begin_alpha_beta(network)
            if self._alpha_beta is not None:
                return self._play_alpha_beta(*self._alpha_beta)
            self._start_games()
        if self._task.search.cache_positions and self._cached_step != (step := self._task.network().step):
            # The cached evaluations are another network's.
            self._search.clear_cache()
            self._cached_step = step
        self.counts.evaluations += answer(self._search, self._evaluator, self._batch_size)
        if self._search.finished().size:
            self._play_finished()
        ended, self._ended = self._ended, []
        return ended

    def play_out(self, is_enough: Callable[[], bool], take: Callable[[GameRecord], None]) -> None:
        """Play the games in flight to their ends and begin no others; the worker has then ended."""
        self._is_closing = True
        while (self._num_playing or self._alpha_beta is not None) and not is_enough():
            for record in self.play_batch():
                take(record)

    def _replaced_network(self) -> PlayingNetwork | None:
        """The network in whose place the alpha-beta search plays now; None if the network plays itself."""
        if not self._task.config.alphabeta_depth:
            return None
        network = self._task.network()
        return network if self._task.config.depth_at(network.progress) else None

    def _start_games(self) -> None:
        """Put a game at each tree's root."""
        self._num_playing = self._num_trees
        for tree in range(self._num_trees):
            header, num_opening_plies = self._next_game(tree)
            self._headers.append(header)
            self._in_flight.start(tree, header.game_id, num_opening_plies, self._next_search())

    def _begin_alpha_beta(self, network: PlayingNetwork) -> tuple[GameHeader, AlphaBetaGame]:
        """Begin a game of the alpha-beta search in the place of this network, which another may follow meanwhile."""
        task, header = self._task, self._task.new_header()
        depth, weights = task.config.depth_at(network.progress), task.evaluation
        assert weights is not None and self._alpha_beta_evaluation is not None, "the run has learned it"
        state, opening = task.opening(header)
        task.log.start_game(header, opening)
        return header, AlphaBetaGame(
            game=task.game,
            state=state,
            evaluation=self._alpha_beta_evaluation,
            noise=PLAYING_NOISE * weights.spread,
            depth=depth,
            seed=task.seed,
            game_id=header.game_id,
            step=network.step,
        )

    def _play_alpha_beta(self, header: GameHeader, playing: AlphaBetaGame) -> list[GameRecord]:
        """Play and record a move of the alpha-beta search's game. Returns the game if it has ended."""
        self._task.log.add_plies([playing.game_id], [playing.play()])
        self.counts.plies += 1
        if self._finish_by_rules(header, playing.state):
            self._alpha_beta = None
        ended, self._ended = self._ended, []
        return ended

    def _next_search(self) -> tuple[int, int, float, int]:
        """What searches that begin now are given: simulations of full and of other ones, share of full ones, step."""
        search, config = self._task.search, self._task.config
        return search.num_simulations, config.fast_simulations, config.full_search_share, self._task.network().step

    def _play_finished(self) -> None:
        """Play and record the moves that finished searches decide; start other games where one is over."""
        task, tree, following = self._task, 0, self._next_search()
        while tree < self._num_trees:
            resigning = None if task.resignation is None else task.resignation.rule
            played = self._in_flight.play(tree, following, resigning=resigning)
            tree = played.next_tree
            self.counts.short_searches += played.num_short
            self.counts.simulations += played.num_simulations
            self.counts.plies += len(played.plies)
            if played.plies:
                task.log.add_plies(played.game_ids, played.plies)
            for ended, outcome, ending in played.ended:
                self._finish(self._headers[ended], outcome=outcome, ending=RESIGNATION if ending is None else ending)
                if self._is_closing:
                    self._num_playing -= 1
                    continue
                header, num_opening_plies = self._next_game(ended)
                self._headers[ended] = header
                self._in_flight.start(ended, header.game_id, num_opening_plies, following)

    def _finish_by_rules(self, header: GameHeader, state: State) -> bool:
        """End a game that is over by the rules; returns whether it is."""
        outcome, ending = self._task.game.outcome(state), self._task.game.ending(state)
        if outcome is None:
            return False
        assert ending is not None
        self._finish(header, outcome=outcome, ending=ending)
        return True

    def _finish(self, header: GameHeader, *, outcome: float, ending: str) -> None:
        record = self._task.log.finish_game(header.game_id, outcome=outcome, ending=ending)
        if self._task.resignation is not None:
            self._task.resignation.take(record)
        self._ended.append(record)
        self.counts.games += 1

    def _next_game(self, tree: int) -> tuple[GameHeader, int]:
        """Put a game at a tree's root: one that was in flight before, or a new one.

        Returns it with the number of random moves at its beginning.
        """
        game = self._task.game
        while self._waiting:
            running = self._waiting.pop(0)
            start = start_state(game, running.header.start)
            state = functools.reduce(game.play, (ply.action for ply in running.plies), start)
            # The process may have ended between the last ply and the game's end.
            if not self._finish_by_rules(running.header, state):
                self._search.reset(tree, state)
                num_opening_plies = sum(PlyFlag.OPENING in ply.flags for ply in running.plies)
                return running.header, num_opening_plies
        task, header = self._task, self._task.new_header()
        state, opening = task.opening(header)
        task.log.start_game(header, opening)
        self._search.reset(tree, state)
        return header, state.plies


def num_opening_plies(game: Rules, config: SelfplayConfig, *, seed: int, game_id: int, num_staggered: int) -> int:
    """Random moves with which a game begins, unless they would end it; see `SelfplayTask.num_staggered`."""
    if game_id < num_staggered:
        return int(uniform(seed, game_id, 0, "stage") * measure_game(game).plies)
    if uniform(seed, game_id, 0, "has opening") < config.opening_share:
        return 1 + int(uniform(seed, game_id, 0, "opening plies") * config.opening_plies)
    return 0

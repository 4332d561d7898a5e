"""Self-play: games of the network against itself, many at a time, each ply written to a log as it is played.

A worker is one thread with its own trees: it gathers one leaf per game into a batch, evaluates it, backs the answers
up, and has the core play a move wherever a search has ended (`GamesInFlight`). With one leaf of a game in flight each
search is exactly the sequential algorithm. This file knows neither disks (a `GameLog` receives the plies) nor training.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

from zerosum._core import GamesInFlight, uniform
from zerosum.base.settings import check, setting
from zerosum.evaluators import Evaluator, answer
from zerosum.games import Rules, State, start_state
from zerosum.games.rules import drawn_start, measure_game
from zerosum.network import Checkpoint
from zerosum.replay.records import GameHeader, GameRecord, PackedPly, PlyFlag, RunningGame
from zerosum.search import SearchConfig, new_search
from zerosum.selfplay.alpha_beta import AlphaBetaGame, depth_at, depth_stages
from zerosum.selfplay.archive import Archive, ArchivedPosition, begins_in_archive
from zerosum.selfplay.effort import Effort, EffortPlan, PlayingNetwork, effort_stages
from zerosum.selfplay.material import material_stages, seeing_material
from zerosum.selfplay.resignation import RESIGNATION, Resignation, SentThreshold


@dataclass(frozen=True)
class SelfplayConfig:
    """How games for training are played."""

    RETIRED_SETTINGS: ClassVar[Mapping[str, Any]] = {
        "decided_value": None,
        "decided_plies": 5,
        "decided_simulations": 4,
        "decided_share": 0.1,
        "archive_plies": 0,
    }

    num_workers: int | None = setting(
        None,
        "self-play workers, each a thread or a process (training.workers); none for one per core, on a GPU for the"
        " smallest measured number of threads that keeps it busy, and for one worker in a deterministic run",
        low=1,
        high=256,
    )
    games_per_worker: int | None = setting(
        None,
        "games that a worker plays at a time, which is the size of its batches; none for the smallest measured"
        " number that keeps the evaluator busy (64 in a deterministic run)",
        low=1,
        high=65536,
    )
    temperature: float = setting(
        1.0,
        "temperature of the drawn moves, with probabilities in proportion to visits ** (1 / temperature) (paper: 1);"
        " 0 plays the best move",
        low=0.0,
        high=10.0,
    )
    temperature_plies: int = setting(
        30,
        "number of plies after which the best move is played (paper's pseudocode: 30; its text: all moves)",
        low=0,
        high=65535,
    )

    opening_share: float = setting(
        0.0,
        "share of games that begin with random moves, for positions that the network would not reach by itself"
        " (paper: 0; compare KataGo, arXiv 1902.10565, and Go-Exploit, arXiv 2302.12359)",
        low=0.0,
        high=1.0,
    )
    opening_plies: int = setting(
        8, "largest number of random moves at the beginning; each number from 1 is equally likely", low=1, high=65535
    )

    archive_share: float = setting(
        0.0,
        "share of games that begin at a random position of one of the run's newest 1,000 games, in place of an opening"
        " (Go-Exploit, arXiv 2302.12359; paper: 0); only with threads (training.workers), not on a cluster",
        low=0.0,
        high=1.0,
    )
    full_search_share: float = setting(
        0.25,
        "share of moves that are searched in full, with noise, and learned from; the other moves get"
        " fast_simulations and are not learned from (playout cap randomisation, KataGo section 3.1: 0.25; paper: 1)",
        low=0.01,
        high=1.0,
    )
    fast_simulations: int = setting(16, "simulations per move that is not searched in full", low=1, high=1 << 24)
    stages: str = setting(
        "",
        "search.num_simulations, fast_simulations and full_search_share of self-play that change during the run, as"
        " FULL/FAST/SHARE@BUDGET: '64/12/0.33@0, 100/20/0.25@0.4' changes them once 40 % of the budget are used; ''"
        " for the three settings from beginning to end (compare KataGo, which begins with few visits; paper: '')",
    )
    material: str = setting(
        "",
        "weight of the material in the value of a leaf of self-play's searches, as WEIGHT@BUDGET: '0.8@0, 0.4@0.15,"
        " 0@0.3' takes it away once 30 % of the budget are used; the rest is the network's value. Pieces count by the"
        " game's customary values (docs/games.md), so a run with it does not learn from the rules alone (paper: '')",
    )
    alphabeta: str = setting(
        "",
        "depth in plies of an alpha-beta search that plays in place of the network's searches, as DEPTH@BUDGET: with"
        " '3@0, 0@0.1' it plays the games until 10 % of the budget are used. It counts material where the game has it"
        " (docs/games.md), so a run with it does not learn from the rules alone (paper: '')",
    )
    resign_false_positives: float | None = setting(
        None,
        "largest share of games in which a resignation would be wrong, measured in the games that are played out; the"
        " side to move resigns if the values of the root and of its move are below the threshold that follows from it"
        " (AlphaGo Zero: 0.05); none for no resignation, as in the paper",
        low=0.0,
        high=0.5,
    )
    resign_played_out_share: float = setting(
        0.1, "share of games in which no side resigns (AlphaGo Zero: 0.1)", low=0.01, high=1.0
    )
    reuse_in_full_searches: bool = setting(
        True,
        "whether a move searched in full counts the visits that search.reuse_tree kept, which were made without"
        " noise (KataGo: false)",
    )
    stagger_starts: bool = setting(
        True,
        "begin the first games of a new run with random moves, from none to as many as a random game has, so that"
        " games are at all stages from the start; otherwise the first finished games, and what is learned from them,"
        " would be short; games of an alpha-beta search are not staggered (paper: false)",
    )

    def __post_init__(self) -> None:
        check(self, "selfplay")
        effort_stages(self.stages)
        material_stages(self.material)
        depth_stages(self.alphabeta)

    def efforts(self, search: SearchConfig) -> EffortPlan:
        """The effort of searches over the budget."""
        effort = Effort(search.num_simulations, self.fast_simulations, self.full_search_share)
        return EffortPlan.of(effort, self.stages)


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
    archive: Archive = field(default_factory=Archive)
    """Finished games, for `SelfplayConfig.archive_share`."""
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


class SelfplayWorker:
    """Plays `config.games_per_worker` games at a time, and some to spare. For one thread at a time."""

    def __init__(self, task: SelfplayTask, *, running: Iterable[RunningGame] = ()) -> None:
        """Games in flight continue first; they may be more than are played at a time."""
        self.counts = SelfplayCounts()
        self._task = task
        self._waiting = list(running)
        assert task.config.games_per_worker is not None, "the run has measured it"
        self._batch_size = task.config.games_per_worker
        self._num_trees = num_trees(self._batch_size)
        # The trees of many games need more memory than one search, if each is to have its simulations.
        self._efforts = task.config.efforts(task.search)
        self._evaluator = seeing_material(task.evaluator, task.config.material, lambda: task.network().progress)
        search = self._efforts.with_room(task.game, task.search, self._num_trees)
        self._search = new_search(task.game, search, num_trees=self._num_trees)
        self._in_flight = GamesInFlight(
            self._search,
            (
                task.seed,
                task.config.temperature,
                task.config.temperature_plies,
                task.search.has_root_noise,
                task.search.reuse_tree,
                task.config.reuse_in_full_searches,
            ),
        )
        self._headers: list[GameHeader] = []
        """The game at each tree."""
        self._cached_step = -1
        self._ended: list[GameRecord] = []
        self._num_playing, self._is_closing = 0, False
        self._alpha_beta: tuple[GameHeader, AlphaBetaGame] | None = None
        """The alpha-beta search's game under way."""
        if self._replaced_network() is None:
            self._start_games()

    def play_batch(self) -> list[GameRecord]:
        """Evaluate one batch and play the moves that it decides. Returns the games that ended.

        While `config.alphabeta` has a depth, an alpha-beta search plays a move instead, in one game at a time, and
        games that were in flight before wait.
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

    def play_out(self, is_enough: Callable[[], bool], take: Callable[[GameRecord], None]) -> None:
        """Play the games in flight to their ends and begin no others; the worker has then ended."""
        self._is_closing = True
        while (self._num_playing or self._alpha_beta is not None) and not is_enough():
            for record in self.play_batch():
                take(record)

    def _replaced_network(self) -> PlayingNetwork | None:
        """The network in whose place the alpha-beta search plays now; None if the network plays itself."""
        if not self._task.config.alphabeta:
            return None
        network = self._task.network()
        return network if depth_at(self._task.config.alphabeta, network.progress) else None

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
        depth = depth_at(task.config.alphabeta, network.progress)
        state, opening = self._opening(header)
        task.log.start_game(header, opening)
        return header, AlphaBetaGame(task.game, state, depth, task.seed, header.game_id, network.step)

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
        network = self._task.network()
        effort = self._efforts.at(network.progress)
        return effort.num_simulations, effort.fast_simulations, effort.full_search_share, network.step

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
        if self._task.config.archive_share:
            self._task.archive.add(record)
        self._ended.append(record)
        self.counts.games += 1

    def _next_game(self, tree: int) -> tuple[GameHeader, int]:
        """Put a game at a tree's root: one that was in flight before, or a new one.

        Returns it with the number of random moves at its beginning.
        """
        game = self._task.game
        while self._waiting:
            running = self._waiting.pop(0)
            state = start_state(game, running.header.start)
            for ply in running.plies:
                state = game.play(state, ply.action)
            # The process may have ended between the last ply and the game's end.
            if not self._finish_by_rules(running.header, state):
                self._search.reset(tree, state)
                num_opening_plies = sum(PlyFlag.OPENING in ply.flags for ply in running.plies)
                return running.header, num_opening_plies
        header = self._task.new_header()
        archived = self._archived_position(header.game_id)
        if archived is None:
            state, opening = self._opening(header)
        else:
            header = replace(header, start=archived.start)
            state, opening = self._archived_opening(header, archived.actions)
        self._task.log.start_game(header, opening)
        self._search.reset(tree, state)
        return header, state.plies

    def _archived_position(self, game_id: int) -> ArchivedPosition | None:
        """The position of an earlier game at which a new one begins; None for the beginning of the game."""
        task = self._task
        if game_id < task.num_staggered or not begins_in_archive(
            task.config.archive_share, seed=task.seed, game_id=game_id
        ):
            return None
        return task.archive.draw(seed=task.seed, game_id=game_id)

    def _archived_opening(self, header: GameHeader, actions: Sequence[int]) -> tuple[State, Sequence[PackedPly]]:
        """The position after the moves of an earlier game, and these moves."""
        game = self._task.game
        return game.play_opening(start_state(game, header.start), actions, header.game_id)

    def _opening(self, header: GameHeader) -> tuple[State, Sequence[PackedPly]]:
        """The position of a new game's first search, and the random moves before it, if it has any."""
        task, game, game_id = self._task, self._task.game, header.game_id
        state = start_state(game, header.start)
        num_plies = num_opening_plies(
            game, task.config, seed=task.seed, game_id=game_id, num_staggered=task.num_staggered
        )
        return game.draw_opening(state, num_plies, task.seed, game_id) if num_plies else (state, ())


def num_opening_plies(game: Rules, config: SelfplayConfig, *, seed: int, game_id: int, num_staggered: int) -> int:
    """Random moves with which a game begins, unless they would end it; see `SelfplayTask.num_staggered`."""
    if game_id < num_staggered:
        return int(uniform(seed, game_id, 0, "stage") * measure_game(game).plies)
    if uniform(seed, game_id, 0, "has opening") < config.opening_share:
        return 1 + int(uniform(seed, game_id, 0, "opening plies") * config.opening_plies)
    return 0


def is_full_search(share: float, *, seed: int, game_id: int, ply: int, num_opening_plies: int) -> bool:
    """Whether a ply is searched in full, if so large a share of the plies is."""
    # The position after the random moves is new: it is always learned from.
    if 0 < ply == num_opening_plies:
        return True
    return share == 1.0 or uniform(seed, game_id, ply, "full search") < share


class Selfplay(Protocol):
    """The workers of a run: `SelfplayThreads` or `zerosum.selfplay.processes.SelfplayProcesses`."""

    @property
    def counts(self) -> SelfplayCounts:
        """The work of all workers so far."""

    @property
    def cpu_s(self) -> float:
        """CPU-seconds of workers in other processes so far."""

    def play(
        self,
        is_enough: Callable[[], bool],
        take: Callable[[GameRecord], None],
        *,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play until `is_enough`; `take` gets each finished game. While `is_paused` the workers wait without a core."""

    def update(self, checkpoint: Checkpoint) -> None:
        """Give workers in other processes the weights of `checkpoint`; threads share this process's evaluator."""


class SelfplayThreads:
    """All workers of a run, a thread each."""

    def __init__(self, task: SelfplayTask, *, num_workers: int, running: Iterable[RunningGame] = ()) -> None:
        """Games in flight are distributed among the workers when they begin to play."""
        self._task, self._num_workers, self._running = task, num_workers, list(running)
        self._workers: list[SelfplayWorker] = []
        self._counted = SelfplayCounts()  # of workers that have ended

    @property
    def counts(self) -> SelfplayCounts:
        """The work of all workers so far."""
        return sum((worker.counts for worker in self._workers), self._counted)

    @property
    def cpu_s(self) -> float:
        """0, since all workers are threads of this process."""
        return 0.0

    def update(self, checkpoint: Checkpoint) -> None:
        """Do nothing: the workers share the evaluator of this process."""

    def play(
        self,
        is_enough: Callable[[], bool],
        take: Callable[[GameRecord], None],
        *,
        is_paused: Callable[[], bool] = lambda: False,
    ) -> None:
        """Play until `is_enough`, which every worker asks before each batch; `take` gets each finished game.

        While `is_paused` the workers wait, without using a core.

        Raises:
            The first error of a worker, once all have stopped. KeyboardInterrupt stops them, too.
        """
        if not self._workers:
            games, self._running = self._running, []
            shares = (games[index :: self._num_workers] for index in range(self._num_workers))
            self._workers = [SelfplayWorker(self._task, running=share) for share in shares]
        failures: list[BaseException] = []
        stop = threading.Event()

        def run(worker: SelfplayWorker) -> None:
            try:
                worker.play_until(lambda: stop.is_set() or is_enough(), take, is_paused=is_paused)
            except BaseException as failure:  # handed to the caller's thread below
                failures.append(failure)
                stop.set()

        threads = [threading.Thread(target=run, args=(worker,), name="selfplay") for worker in self._workers]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            # Ctrl-C arrives here: every worker ends its batch, then the exception goes on.
            stop.set()
            for thread in threads:
                thread.join()
        if failures:
            raise failures[0]

    def play_out(self, is_enough: Callable[[], bool], take: Callable[[GameRecord], None]) -> None:
        """Play the games in flight to their ends, one worker after the other, and begin no others until `play`.

        Self-play then has no state except its games: `play` continues as in a new process.
        """
        for worker in self._workers:
            worker.play_out(is_enough, take)
        self._counted, self._workers = self.counts, []

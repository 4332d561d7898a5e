"""A player: rules, an evaluator and search settings. `Player.analyse` searches a position.

player = load_player("runs/demo")
print(player.analyse("4 4 3", num_simulations=800))
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, GameError, SettingsError, printable
from zerosum.base.settings import num_cores
from zerosum.games import Rules, State, make, state_after
from zerosum.games.python_game import Game
from zerosum.games.rules import with_planes_of
from zerosum.network import Checkpoint, CheckpointInfo, load_checkpoint
from zerosum.network.any_size import for_game, plays_all_sizes, untrained_words
from zerosum.network.description import require_encoder
from zerosum.network.evaluators import Evaluator, EvaluatorConfig, make_evaluator
from zerosum.network.evaluators.backends import Precision
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH, NetworkEvaluator, RolloutEvaluator
from zerosum.network.evaluators.ownership import MovesLeft, OwnershipNetwork, Points, has_moves_left, has_ownership
from zerosum.network.evaluators.rollout_values import LeafValues
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.network.fit import rules_for
from zerosum.play.analysis import Analysis
from zerosum.play.bundled import require_network
from zerosum.play.driver import SearchDriver, Task
from zerosum.play.origin import Origin
from zerosum.play.runs import PlayerWord
from zerosum.search import SearchConfig, new_search

BATCHES_ON_GPU = 2
"""Batches in flight of a search by time on a GPU: one is gathered while the other is evaluated."""
LEAST_GAIN = 1.05
"""Gain in evaluations a second for which a batch on a GPU is made twice as large."""
MOST_SECONDS = 1_000_000
MOST_SIMULATIONS = 1 << 24
"""Largest number of simulations that users may set. A search by time has no such limit."""


POSITIONS_PER_SIMULATION = 100
"""Positions of an alpha-beta search in the time of a simulation of a tree search on a CPU, about."""


class Player:
    """Searches positions of one game, each from scratch. Calls share no state, so threads may share a player.

    A search by time has up to `num_batches` batches of `batch_size` leaves in flight (`driver.batch_size`); on a GPU
    `BATCHES_ON_GPU` of as many as keep it busy.
    """

    def __init__(
        self,
        game: Rules,
        evaluator: Evaluator,
        config: SearchConfig,
        *,
        name: str,
        step: int | None = None,
        num_batches: int = 1,
        batch_size: int = CPU_FULL_BATCH,
        path: Path | None = None,
        learned_game: str = "",
        ownership: OwnershipNetwork | None = None,
        moves_left: MovesLeft | None = None,
    ) -> None:
        """`step` is the learner's step of the network and `path` its run or checkpoint, None without a network.

        `learned_game` is its game's full name, "" without one and for a network whose planes tell the rules.
        """
        self.game, self.step, self.path, self.learned_game, self._ownership = game, step, path, learned_game, ownership
        self._moves_left = moves_left
        self.evaluator, self._on_cpu = evaluator, (num_batches, batch_size)
        self._num_batches, self._batch_size = self._on_cpu
        if self.is_on_gpu:
            assert isinstance(evaluator, NetworkEvaluator)
            self._num_batches, self._batch_size = BATCHES_ON_GPU, evaluator.full_batch
        # Without root noise alpha has no effect; a given one saves `new_search` from measuring the game.
        self.config = replace(config, root_noise_fraction=0.0, root_noise_alpha=1.0)
        self.name = name

    @property
    def own_name(self) -> str:
        """The name without its `@N`, for analyses, which have their own numbers of simulations."""
        return PlayerWord.parse(self.name).word

    def with_rules(self, game: Rules) -> Player:
        """The same player with other rules for which its network can play, such as another komi.

        Its game keeps the planes of the network, whatever planes `game` has; the two games share their states.

        Raises:
            DataError: its network does not fit the game.
        """
        if not self.knows(game):
            raise DataError(
                f"{self.name} plays {self.game.spec.full_name}; its network does not fit {game.spec.full_name}: name"
                " a player that has learned it."
            )
        return self._copy(with_planes_of(game, self.game), self.evaluator, self.config)

    def knows(self, game: Rules) -> bool:
        """Whether its network can play a game, with the planes that it has learned."""
        return with_planes_of(game, self.game).spec.encoder_id == self.game.spec.encoder_id

    def judged_by(self, evaluator: Evaluator, config: SearchConfig) -> Player:
        """The same player with another evaluator and other search settings."""
        return self._copy(self.game, evaluator, config)

    def _copy(self, game: Rules, evaluator: Evaluator, config: SearchConfig) -> Player:
        copy = Player(
            game,
            evaluator,
            config,
            name=self.name,
            step=self.step,
            path=self.path,
            num_batches=self._on_cpu[0],
            batch_size=self._on_cpu[1],
            learned_game=self.learned_game,
            ownership=self._ownership,
            moves_left=self._moves_left,
        )
        if evaluator is self.evaluator:
            copy._batch_size = self._batch_size
        return copy

    @property
    def is_on_gpu(self) -> bool:
        """Whether the evaluator wants more leaves at a time than a CPU."""
        return isinstance(self.evaluator, NetworkEvaluator) and self.evaluator.full_batch > CPU_FULL_BATCH

    def points(self, state: State) -> Points | None:
        """What the network expects of the score at the end, for the first player.

        None for a network that does not tell it, and if the game is over.
        """
        if self._ownership is None or not self._ownership.knows_points or self.game.ending(state) is not None:
            return None
        points = self._ownership.points(self.game.encode([state]).planes())
        return points if self.game.player(state) == 0 else points.of_opponent()

    def plies_left(self, state: State) -> float | None:
        """The plies left by the network; None if the network does not predict them, and after the end."""
        if self._moves_left is None or self.game.ending(state) is not None:
            return None
        return self._moves_left.plies(self.game.encode([state]).planes())

    @property
    def knows_owners(self) -> bool:
        """Whether its network has an ownership head."""
        return self._ownership is not None

    @property
    def knows_no_result(self) -> bool:
        """Whether the middle share of its network's evaluations is that of games without a result."""
        return self._ownership is not None and self._ownership.knows_no_result

    def ownership(self, state: State, *, num_games: int) -> NDArray[np.float64] | None:
        """[squares] in [-1, 1]: 1 where the first player will own the square at the end of the game, -1 the second.

        The network's ownership head tells it, or without one `num_games` random games, always the same. If the game is
        over, the squares have their owners. None in a game whose squares have no owners.
        """
        is_over = self.game.ending(state) is not None
        if self._ownership is None or is_over:
            owners = self.game.ownership(state, 1 if is_over else num_games, 0)
            return None if owners is None else owners.astype(np.float64)
        mine: NDArray[np.float64] = self._ownership.owners(self.game.encode([state]).planes())[0]
        return mine if self.game.player(state) == 0 else -mine

    def config_by_time(self) -> SearchConfig:
        """The settings of a search by time, whose number of simulations is unknown when it begins."""
        # Sequential halving needs the number.
        config = replace(self.config, num_simulations=MOST_SIMULATIONS, root_selection="puct")
        if config.leaves_in_flight < (leaves := self._num_batches * self._batch_size):
            config = replace(config, leaves_in_flight=leaves, batches_in_flight=self._num_batches)
        # Beside a GPU the thread of the search is short of time. Without a cache it makes 14 to 28 % more simulations,
        # and a tree meets few of its positions again (docs/gpus.md).
        return replace(config, cache_positions=0) if self.is_on_gpu else config

    def make_ready(self, config: SearchConfig | None = None) -> None:
        """Compile the network for the batches of a search, before a game's clock runs.

        On a GPU the player's searches by time have from then on batches that are no larger than the device needs.

        Args:
            config: The search's settings; those of a search by time if not given.
        """
        if not isinstance(self.evaluator, NetworkEvaluator):
            return
        config, state = config or self.config_by_time(), self.game.initial_state()
        rates = dict[int, float]()
        with ThreadPoolExecutor(config.num_batches) as pool:
            for size in sorted(self.evaluator.batch_sizes(config.leaves_a_batch)):
                batches = [self.game.encode([state] * size) for _ in range(config.num_batches)]
                list(pool.map(self.evaluator.evaluate, batches))
                if not self.is_on_gpu or size < CPU_FULL_BATCH or size & (size - 1):
                    continue
                seconds = list[float]()
                for _ in range(3):
                    started = time.perf_counter()
                    list(pool.map(self.evaluator.evaluate, batches))
                    seconds.append(time.perf_counter() - started)
                rates[size] = size / min(seconds)
                if size // 2 in rates and rates[size] < LEAST_GAIN * rates[size // 2]:
                    self._batch_size = size // 2
                    break

    @property
    def is_alpha_beta(self) -> bool:
        """Whether an alpha-beta search plays, as with an updatable network: its simulations are positions."""
        return isinstance(self.evaluator, UpdatableEvaluator)

    def visits_for(self, simulations: int) -> int:
        """The limit of a search that takes about as long as so many simulations of a tree search.

        An alpha-beta search visits about `POSITIONS_PER_SIMULATION` positions in the time of a simulation on a CPU.
        """
        return simulations * (POSITIONS_PER_SIMULATION if self.is_alpha_beta else 1)

    def analyse(
        self,
        state: State | str = "",
        *,
        num_simulations: int | None = None,
        seconds: float | None = None,
        num_lines: int = 1,
    ) -> Analysis:
        """Search a position.

        Args:
            state: A state, or the moves that lead there as people write them ("4 4 3").
            num_simulations: Simulations, instead of the player's own number.
            seconds: Search for this time instead (at least one simulation), with several leaves in flight. The result
                depends on the machine. A proven position or a full memory ends the search earlier.
            num_lines: Best lines to report.

        Raises:
            GameError: a move is illegal, or the game is over there.
            SettingsError: a number is out of range.
        """
        config, started = self.config, time.monotonic()
        if seconds is not None:
            require_seconds(seconds)
            config = self.config_by_time()
        elif num_simulations is not None:
            config = replace(config, num_simulations=num_simulations)
        if isinstance(state, str):
            state = state_after(self.game, state)
        if (ending := self.game.ending(state)) is not None:
            raise GameError(f"The game is over ({ending}), there is nothing to search in\n{self.game.draw(state)}")
        search = new_search(self.game, config)
        search.reset(0, state)
        num_visits = config.num_simulations if seconds is None else None
        task = Task(num_visits=num_visits, seconds=seconds, num_lines=num_lines)
        return SearchDriver(search, self.evaluator, config, by=self.own_name).run(task, started=started)


def require_seconds(seconds: float) -> float:
    """The number itself, if it is a valid duration of a search. Raises SettingsError."""
    if not 0 < seconds <= MOST_SECONDS:
        raise SettingsError(f"seconds is {seconds:g}, but must be more than 0 and at most {MOST_SECONDS:,}.")
    return seconds


def load_player(
    path: str | Path,
    *,
    num_simulations: int | None = None,
    backend: str = "auto",
    precision: Precision = "fast",
    game: Rules | Game[Any] | str | None = None,
    batch_size: int = CPU_FULL_BATCH,
    leaf_values: LeafValues = "network",
) -> Player:
    """The player of a run directory, a directory of checkpoints (the newest of either) or one checkpoint's JSON.

    In place of a path, `path` may be a run's name or a game, as in commands: its newest run, or the bundled network. It
    searches with the run's settings, and with `num_simulations` per move if given. `precision` is that of the network's
    evaluations (`evaluators.backends.Precision`). `game` ("path.py:Class", an object or its rules) is needed only for a
    game of your own whose checkpoint lies outside of its run, or whose file the run does not know; and for a network
    that plays on boards of all sizes (KataGo's, those of `mixedgo`). `batch_size` is the usual maximum of positions per
    batch of the network; matches use larger ones. A search by time keeps a batch per core in flight, or two on a GPU
    (`Player`). `leaf_values` says where the values of leaves come from, whatever the run's `training.leaf_values` are:
    the network, random games or both. The player's game has the planes that the network has learned, whatever planes
    `game` has.

    Raises:
        DataError: no complete checkpoint exists, or its network does not fit the game.
        GameError: the game is unknown or cannot be loaded.
        SettingsError: a setting is out of range, or the backend cannot be used.
    """
    path = require_network(path) if isinstance(path, str) else path
    asked = make(game) if game else None
    checkpoint, origin = load_checkpoint(path, game=asked), Origin.of(path)
    info = checkpoint.info
    search = origin.own_search(info, num_simulations)
    learned = asked or make(origin.learned_game(info))
    checkpoint = for_game(checkpoint, learned)
    info = checkpoint.info
    if words := untrained_words(info, learned):
        print(printable(f"{path} {words}."), file=sys.stderr)
    rules = rules_for(info, learned)
    evaluator = network_evaluator(
        checkpoint,
        rules,
        backend=backend,
        precision=precision,
        batch_size=max(batch_size, search.leaves_in_flight),
        num_threads=max(num_cores(), search.batches_in_flight),
        leaf_values=leaf_values,
    )
    return Player(
        rules,
        evaluator,
        search,
        name=str(path),
        step=info.step,
        path=path,
        num_batches=num_cores(),
        batch_size=batch_size,
        learned_game="" if plays_all_sizes(info) else info.full_name,
        ownership=OwnershipNetwork(checkpoint) if has_ownership(checkpoint) else None,
        moves_left=MovesLeft(checkpoint) if has_moves_left(checkpoint) else None,
    )


def network_name(info: CheckpointInfo) -> str:
    """The identity of a network, for results and files."""
    return f"step {info.step}, of {info.created_at}"


def network_evaluator(
    checkpoint: Checkpoint,
    game: Rules,
    *,
    backend: str = "auto",
    precision: Precision = "fast",
    batch_size: int,
    num_threads: int = 1,
    leaf_values: LeafValues = "network",
) -> Evaluator:
    """The evaluator of a checkpoint's network, which must know the game's planes. Raises DataError if it does not."""
    require_encoder(checkpoint.info, game.spec)
    config = EvaluatorConfig(backend, precision=precision, leaf_values=leaf_values)
    return make_evaluator(checkpoint, config, batch_size=batch_size, num_threads=num_threads, game=game)


def seeing_ends(config: SearchConfig, evaluator: Evaluator) -> SearchConfig:
    """The settings with exact bounds where random games evaluate: they alone would hardly see a mate."""
    is_blind = isinstance(evaluator, RolloutEvaluator) and not config.exact_bounds
    return replace(config, exact_bounds=True) if is_blind else config

"""A player: rules, an evaluator and search settings. `Player.analyse` searches a position.

    player = load_player("runs/demo")
    print(player.analyse("4 4 3", num_simulations=800))

A `Contestant` describes a player of a match: `parse_player` makes one from a command line's words, and `zerosum.arena`
seats it at many boards.
"""

from __future__ import annotations

import re
import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zerosum._core import MAX_ALPHA_BETA_DEPTH, core_game_names
from zerosum.base.errors import DataError, GameError, SettingsError, near, nearest, printable
from zerosum.base.settings import from_mapping, num_cores, read_settings
from zerosum.contest.adjudication import ResignRule
from zerosum.contest.mover import Program, Terms
from zerosum.evaluators import Evaluator, EvaluatorConfig, RolloutEvaluator, make_evaluator
from zerosum.evaluators.evaluator import NetworkEvaluator
from zerosum.evaluators.ownership import OwnershipNetwork, has_ownership
from zerosum.games import Rules, State, make, measure_game, openspiel, state_after
from zerosum.games.python_game import Game, split_name
from zerosum.games.rules import with_planes_of
from zerosum.games.source_files import OBJECT, differing, kept_name, rules_files
from zerosum.network import Checkpoint, CheckpointInfo, load_checkpoint
from zerosum.network.checkpoint import require_encoder
from zerosum.play.analysis import Analysis
from zerosum.play.bundled import bundled_network
from zerosum.play.driver import SearchDriver, Task
from zerosum.play.fit import rules_for
from zerosum.play.runs import find_run, means_game, run_names, runs_directory
from zerosum.search import SearchConfig, new_search

ROLLOUTS = "rollouts"
DEFAULT_ROLLOUTS = 1000
"""Default number of simulations per move of the `rollouts` player."""
ALPHA_BETA = "alphabeta"
DEFAULT_DEPTH = 3
"""Default depth of the `alphabeta` player, in plies."""


LEAVES_A_BATCH = 16
"""Leaves per batch of a search by time: a CPU evaluates sixteen in little more time than one."""
LEAVES_A_BATCH_ON_GPU = 128
"""Leaves per batch of a search by time on a GPU."""
MOST_SECONDS = 1_000_000
MOST_SIMULATIONS = 1 << 24
"""Largest number of simulations that users may set. A search by time has no such limit."""


class Player:
    """Searches positions of one game, each from scratch. Calls share no state, so threads may share a player.

    A search by time has at least `num_batches` batches of `batch_size` leaves in flight.
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
        batch_size: int = LEAVES_A_BATCH,
        learned_game: str = "",
        ownership: OwnershipNetwork | None = None,
    ) -> None:
        """`step` is the learner's step of the network, None without one; `learned_game` its game's full name."""
        self.game, self.step, self.learned_game, self._ownership = game, step, learned_game, ownership
        self._num_batches, self._batch_size = num_batches, batch_size
        self.evaluator = evaluator
        # Without root noise alpha has no effect; a given one saves `new_search` from measuring the game.
        self.config = replace(config, root_noise_fraction=0.0, root_noise_alpha=1.0)
        self.name = name

    @property
    def own_name(self) -> str:
        """The name without its `@N`, for analyses, which have their own numbers of simulations."""
        return split_player(self.name)[0]

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
        return Player(
            game,
            evaluator,
            config,
            name=self.name,
            step=self.step,
            num_batches=self._num_batches,
            batch_size=self._batch_size,
            learned_game=self.learned_game,
            ownership=self._ownership,
        )

    @property
    def knows_owners(self) -> bool:
        """Whether its network has an ownership head."""
        return self._ownership is not None

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
        return config

    def make_ready(self, config: SearchConfig | None = None) -> None:
        """Compile the network for the batches of a search, before a game's clock runs.

        Args:
            config: The search's settings; those of a search by time if not given.
        """
        if not isinstance(self.evaluator, NetworkEvaluator):
            return
        config, state = config or self.config_by_time(), self.game.initial_state()
        with ThreadPoolExecutor(config.num_batches) as pool:
            for size in self.evaluator.batch_sizes(config.leaves_a_batch):
                batches = [self.game.encode([state] * size) for _ in range(config.num_batches)]
                list(pool.map(self.evaluator.evaluate, batches))

    def analyse(
        self, state: State | str = "", *, num_simulations: int | None = None, seconds: float | None = None
    ) -> Analysis:
        """Search a position.

        Args:
            state: A state, or the moves that lead there as people write them ("4 4 3").
            num_simulations: Simulations, instead of the player's own number.
            seconds: Search for this time instead (at least one simulation), with several leaves in flight. The result
                depends on the machine. A proven position or a full memory ends the search earlier.

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
        task = Task(num_visits=config.num_simulations) if seconds is None else Task(seconds=seconds)
        return SearchDriver(search, self.evaluator, config, by=self.own_name).run(task, started=started)


def require_seconds(seconds: float) -> float:
    """The number itself, if it is a valid duration of a search. Raises SettingsError."""
    if not 0 < seconds <= MOST_SECONDS:
        raise SettingsError(f"seconds is {seconds:g}, allowed is more than 0 and at most {MOST_SECONDS:,}.")
    return seconds


class Contestant(Protocol):
    """The description of a player of a match: `SearchContestant`, `ProgramContestant`, `AlphaBeta` or `RandomPlay`.

    Each is a frozen dataclass and raises SettingsError for terms that its kind cannot use.
    """

    @property
    def name(self) -> str:
        """The name in results and files."""

    @property
    def terms(self) -> Terms:
        """The player's time and limits per move."""

    @property
    def resign(self) -> ResignRule | None:
        """The rule by which the match resigns for the player; None if never."""

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""


@dataclass(frozen=True)
class SearchContestant:
    """A search of ours with an evaluator."""

    name: str
    evaluator: Evaluator
    search: SearchConfig = SearchConfig()
    """`num_simulations` applies if `terms` have neither nodes nor a time."""
    terms: Terms = Terms()
    sampled_plies: int = 0
    """Number of first plies in which moves are drawn in proportion to their visits."""
    temperature: float = 0.0
    """The temperature at which all moves are drawn (`zerosum.play.skill.drawn_action`); 0 plays the best."""
    resign: ResignRule | None = None
    network: str = ""
    """Identity of the evaluator's network: "step 1200, of 2026-01-31T12:00:00"."""
    planes_of: Rules | None = None
    """A game with the planes that the network takes; None if they are those of every game that it plays."""

    def __post_init__(self) -> None:
        if self.terms.depth is not None:
            raise _no_depth(self.name, self.terms)
        if not self.terms.has_clock:
            _require_no_time_management(self.name, self.terms)
        if self.sampled_plies < 0:
            raise not_sampled(self.name, self.sampled_plies)
        if self.temperature and self.sampled_plies:
            raise SettingsError(
                f"{self.name} has a temperature of {self.temperature:g} and sampled_plies={self.sampled_plies}: set one"
                " of them only."
            )

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""
        drawn = {"temperature": self.temperature} if self.temperature else {}
        return {"network": self.network, "search": asdict(self.search), "sampled plies": self.sampled_plies, **drawn}

    @property
    def num_simulations(self) -> int:
        """Simulations of a move without a clock."""
        return self.terms.nodes or self.search.num_simulations

    def rules(self, game: Rules) -> Rules:
        """The rules that are played, with the planes of the network. Both games share their states."""
        return game if self.planes_of is None else with_planes_of(game, self.planes_of)

    def player(self, game: Rules, *, num_batches: int = 1) -> Player:
        """The player for one board, which keeps `num_batches` batches at the evaluator in a search by time."""
        return Player(self.rules(game), self.evaluator, self.search, name=self.name, num_batches=num_batches)


@dataclass(frozen=True)
class ProgramContestant:
    """A program that plays moves, such as an engine (`EngineCommand`)."""

    name: str
    program: Program
    terms: Terms = Terms()
    resign: ResignRule | None = None

    def __post_init__(self) -> None:
        _require_no_management(self.name, self.terms)

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""
        return {"program": repr(self.program)}


@dataclass(frozen=True)
class AlphaBeta:
    """Alpha-beta search of a fixed depth with a plain material count: it plays any game and learns nothing.

    It is `zerosum._core.Game.alpha_beta`: `depth` plies without quiescence search; a result outweighs material.
    """

    name: str
    depth: int
    terms: Terms = Terms()
    """Only a clock is allowed."""

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= MAX_ALPHA_BETA_DEPTH:
            raise SettingsError(f"{ALPHA_BETA}@{self.depth}: expected a depth of 1 to {MAX_ALPHA_BETA_DEPTH} plies.")
        _require_clock_alone(self.name, self.terms, "its depth is the number after the @")

    @property
    def resign(self) -> None:
        """None: it does not evaluate its position."""

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""
        return {}


@dataclass(frozen=True)
class RandomPlay:
    """Uniformly random moves: the zero of every rating."""

    name: str = "random"
    terms: Terms = Terms()
    """Only a clock is allowed."""

    def __post_init__(self) -> None:
        _require_clock_alone(self.name, self.terms, "random play does not search")

    @property
    def resign(self) -> None:
        """None: it does not evaluate its position."""

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""
        return {}


OwnContestant = SearchContestant | AlphaBeta | RandomPlay
"""The results of `parse_player`."""


def _no_depth(name: str, terms: Terms) -> SettingsError:
    return SettingsError(f"{name} has a depth of {terms.depth}, which only engines take: use nodes.")


def _require_no_management(name: str, terms: Terms) -> None:
    if terms.time_config != Terms().time_config:
        said = f"manager={terms.manager} and overhead={terms.overhead_s:g}"
        raise SettingsError(f"{name} has {said}, which only our own searches with a clock take.")


def _require_no_time_management(name: str, terms: Terms) -> None:
    _require_no_management(name, terms)
    if terms.ponder:
        raise SettingsError(
            f"{name} cannot ponder, as engines and our own searches with a clock do: add tc or st, or leave it out."
        )


def _require_clock_alone(name: str, terms: Terms, why_no_nodes: str) -> None:
    if terms.depth is not None:
        raise _no_depth(name, terms)
    if terms.nodes is not None:
        raise SettingsError(f"{name} has {terms.nodes} nodes, but {why_no_nodes}.")
    _require_no_time_management(name, terms)


def not_sampled(name: str, num_plies: int) -> SettingsError:
    """The error for a player whose first moves cannot be sampled."""
    return SettingsError(
        f"{name} cannot sample its moves in the first {num_plies} plies: expected a run, a checkpoint or rollouts, and"
        " a number of at least 0."
    )


RANDOM = RandomPlay()


def alpha_beta(depth: int) -> AlphaBeta:
    """Alpha-beta search of this depth. Raises SettingsError if it is out of range."""
    return AlphaBeta(f"{ALPHA_BETA}@{depth}", depth)


def rollouts(game: Rules, num_simulations: int, *, seed: int) -> SearchContestant:
    """Pure Monte Carlo tree search: equal priors, one random game per simulation, a new tree for every move.

    c_init is in proportion to the number of legal moves, so that c * P is about 0.6 in any game: of the values tried on
    Connect Four none was stronger (0.3 to 1.5 scored 30 to 50 % against it at 1000 and 4000 simulations). Exact bounds
    would make it stronger (56 % at 1000 simulations, 58 % at 100), but no longer pure.

    Each call advances the evaluator's random numbers, so make a new contestant to repeat a game.
    """
    search = SearchConfig(
        num_simulations=num_simulations,
        c_init=min(0.6 * measure_game(game).legal_actions, 100.0),  # 100 is the maximum of c_init
        c_factor=0.0,
        unvisited_value="parent",
        unvisited_reduction=0.0,
        root_noise_fraction=0.0,
        exact_bounds=False,
        reuse_tree=False,
    )
    return SearchContestant(f"{ROLLOUTS}@{num_simulations}", RolloutEvaluator(seed=seed), search)


def load_player(
    path: str | Path,
    *,
    num_simulations: int | None = None,
    backend: str = "auto",
    game: Rules | Game[Any] | str | None = None,
    batch_size: int = LEAVES_A_BATCH,
) -> Player:
    """The player of a run directory, a directory of checkpoints (the newest of either) or one checkpoint's JSON.

    It searches with the run's settings, and with `num_simulations` per move if given. `game` ("path.py:Class", an
    object or its rules) is needed only for a game of your own whose checkpoint lies outside of its run, or whose
    file the run does not know. `batch_size` is the usual maximum of positions per batch of the network; matches use
    larger ones. A search by time keeps a batch per core in flight, or two on a GPU. The player's game has the planes
    that the network has learned, whatever planes `game` has.

    Raises:
        DataError: no complete checkpoint exists, or its network does not fit the game.
        GameError: the game is unknown or cannot be loaded.
        SettingsError: a setting is out of range, or the backend cannot be used.
    """
    path = Path(path)
    checkpoint, run = load_checkpoint(path), _read_run_config(path)
    info = checkpoint.info
    game = game or learned_game(path, info)
    rules, search = rules_for(info, make(game)), _search_of(run, num_simulations)
    num_batches, by_time = (2, LEAVES_A_BATCH_ON_GPU) if EvaluatorConfig(backend).on_gpu else (num_cores(), batch_size)
    evaluator = _evaluator_of(
        checkpoint,
        rules,
        backend=backend,
        batch_size=max(batch_size, search.leaves_in_flight),
        num_threads=max(num_batches, search.batches_in_flight),
    )
    return Player(
        rules,
        evaluator,
        search,
        name=str(path),
        step=info.step,
        num_batches=num_batches,
        batch_size=by_time,
        learned_game=info.full_name,
        ownership=OwnershipNetwork(checkpoint) if has_ownership(checkpoint) else None,
    )


def learned_game(path: Path, info: CheckpointInfo) -> Rules:
    """The game that the network at a path has learned, by the name in its run, which games of your own need.

    Raises:
        GameError: the game cannot be loaded, or it is a game of your own and the checkpoint lies outside of its run.
        DataError: the run's settings are damaged.
    """
    name = _read_run_config(path).get("game") or info.full_name
    is_known = info.game in core_game_names() or info.game.startswith(openspiel.PREFIX)
    if name.startswith(OBJECT):
        raise GameError(
            f"{path} has learned {name.removeprefix(OBJECT)!r}, a game that was given as an object: give it again, as"
            " game=MyGame(), or name its file, as --game path.py:Class."
        )
    if name == info.full_name and not is_known:
        raise GameError(f"{path} is a network for {name!r}, a game of your own: name it as path.py:Class.")
    if split_name(name) is not None:
        name = _own_rules(path, name)
    return make(name)


def _own_rules(path: Path, name: str) -> str:
    """The name of a user's game that a run has learned: its file, or the run's copy if the file has moved."""

    def tell(sentence: str) -> None:
        print(printable(sentence), file=sys.stderr)

    own, directory = split_name(name), _run_directory(path)
    assert own is not None
    kept = kept_name(directory, name)
    if kept is not None and not Path(own[0]).is_file():
        tell(f"{own[0]} is not there any more: {path} keeps a copy of its rules, which are played.")
        name = kept
    elif kept is not None and (changed := differing(directory, rules_files(name))):
        tell(
            f"{', '.join(changed)} changed since {path} was trained: it learned the older rules, which are played with"
            f" --game {shlex.quote(kept)}."
        )
    file = name.rpartition(":")[0]
    warning = f"{path} has its rules in {file}, a program that runs now: only run programs that you trust"
    tell(f"{warning} (`zerosum info` and `zerosum export` need none).")
    return name


def search_contestant(text: str, game: Rules, *, batch_size: int = 32, seed: int = 0) -> SearchContestant:
    """A player that searches, in the words of `parse_player`.

    Raises:
        SettingsError, DataError: as `parse_player`, or the player does not search by simulations.
    """
    player = parse_player(text, game, batch_size=batch_size, seed=seed)
    if not isinstance(player, SearchContestant):
        raise _no_search(player.name)
    return player


def parse_player(
    text: str, game: Rules, *, batch_size: int = 32, num_threads: int = 1, backend: str = "auto", seed: int = 0
) -> OwnContestant:
    """The player that the words of a command line name.

        random        uniformly random moves
        alphabeta     alpha-beta search that counts material; `@N` is its depth in plies
        rollouts      pure Monte Carlo tree search with random games
        runs/demo     the newest checkpoint of a run, or of a directory of checkpoints, or one checkpoint's JSON
        demo          the same of a run in the directory of runs
        connect4      the newest run of a game

    With `@N` all players after alphabeta search N simulations per move: "runs/demo@100". `batch_size` is the usual
    number of positions per batch of the network (half of a match's games wait for each side), `num_threads` the number
    of threads that evaluate at once, and `seed` the seed of rollouts.

    Raises:
        SettingsError: the player is unknown, or a number is out of range.
        DataError: a checkpoint is damaged, or its network does not fit the game.
    """
    word, num_simulations = split_player(text)
    if word == RANDOM.name:
        if num_simulations is not None:
            raise SettingsError(f"{text!r}: random play does not search, so it takes no number of simulations.")
        return RANDOM
    if word == ALPHA_BETA:
        return alpha_beta(DEFAULT_DEPTH if num_simulations is None else num_simulations)
    if word == ROLLOUTS:
        return rollouts(game, DEFAULT_ROLLOUTS if num_simulations is None else num_simulations, seed=seed)
    path = existing_run(word)
    search = _search_of(_read_run_config(path), num_simulations)
    checkpoint = load_checkpoint(path)
    own = rules_for(checkpoint.info, game)
    evaluator = _evaluator_of(checkpoint, own, backend=backend, batch_size=batch_size, num_threads=num_threads)
    name = f"{word}@{search.num_simulations}"
    return SearchContestant(name, evaluator, search, network=network_name(checkpoint.info), planes_of=own)


def network_name(info: CheckpointInfo) -> str:
    """The identity of a network, for results and files."""
    return f"step {info.step}, of {info.created_at}"


def _no_search(name: str) -> SettingsError:
    what = "a search that values its moves" if name.startswith(ALPHA_BETA) else "a search"
    return SettingsError(f"{name!r} plays without {what}: use 'rollouts@10' instead, which is weak, too.")


def split_player(text: str) -> tuple[str, int | None]:
    """The player's word, and the number after the @, if there is one."""
    match = re.fullmatch(r"(.+)@(\d+)", text)
    return (match[1], int(match[2])) if match else (text, None)


def existing_run(word: str, *, runs: Path | None = None) -> Path:
    """The run or checkpoint that is named as a player, as in `find_run`, or else the package's network of a game.

    Raises:
        SettingsError: none is found.
    """
    path = find_run(word, runs=runs)
    if path is None and means_game(word):
        path = bundled_network(make(word))
        if path is not None:
            return path
        raise SettingsError(
            f"No run in {(runs or runs_directory()).absolute()} has learned {word}: name another player."
        )
    if path is None:
        games = near(word, core_game_names())  # a game's newest run is a player, too
        words = (RANDOM.name, ALPHA_BETA, ROLLOUTS, *run_names(runs), *games)
        raise SettingsError(
            f"unknown player {word!r}: {nearest(word, words)} and the path of a run or checkpoint."
            f" {ROLLOUTS.capitalize()} and paths with @N search N simulations per move, {ALPHA_BETA} N plies."
        )
    return path


def _evaluator_of(
    checkpoint: Checkpoint, game: Rules, *, backend: str, batch_size: int, num_threads: int = 1
) -> Evaluator:
    require_encoder(checkpoint.info, game.spec)
    return make_evaluator(checkpoint, EvaluatorConfig(backend), batch_size=batch_size, num_threads=num_threads)


def _search_of(run: dict[str, Any], num_simulations: int | None) -> SearchConfig:
    """The search settings of a run, with another number of simulations if one is given."""
    search = from_mapping(SearchConfig, run.get("search", {}), "search")
    return search if num_simulations is None else replace(search, num_simulations=num_simulations)


def _read_run_config(path: Path) -> dict[str, Any]:
    """The `config.toml` of the run that a path belongs to; empty if it lies outside of any run."""
    file = _run_directory(path) / "config.toml"
    if not file.is_file():
        return {}
    values = read_settings(file)
    if not isinstance(values.get("game", ""), str) or not isinstance(values.get("search", {}), dict):
        raise DataError(f"{file} is damaged: expected game to be a text and search a table. Correct it.")
    try:
        from_mapping(SearchConfig, values.get("search", {}), "search")
    except SettingsError as error:
        raise DataError(f"{file}: {error} Correct or remove that line.") from error
    return values


def _run_directory(path: Path) -> Path:
    """The directory of the run that a path belongs to, if it belongs to one."""
    directory = path.resolve() if path.is_dir() else path.resolve().parent
    return directory.parent if directory.name == "checkpoints" else directory

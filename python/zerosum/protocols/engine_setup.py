"""The setup of an engine by its options and its command line: game, player, search and time management.

An `EngineSetup` offers options, keeps their values, and derives the settings that `line_engine.py` plays with. It does
not know the protocol's lines and answers.
"""

from __future__ import annotations

import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

from zerosum.base.errors import SettingsError, ZerosumError, nearest, shown
from zerosum.base.settings import parse_value
from zerosum.contest.time_manager import Manager, TimeConfig
from zerosum.games import Rules
from zerosum.games.rules import without_ply_cap
from zerosum.network.checkpoint import load_checkpoint
from zerosum.network.description import require_encoder
from zerosum.network.evaluators.backends import BACKENDS
from zerosum.network.fit import rules_for
from zerosum.notation.centipawns import coefficient_of
from zerosum.play.bundled import usual_network
from zerosum.play.choice import choose_player, usual_rollouts
from zerosum.play.contestant import ROLLOUTS
from zerosum.play.like_people import TEMPERATURE, like_people, peoples_rating
from zerosum.play.player import MOST_SIMULATIONS, Player, seeing_ends
from zerosum.play.runs import network_at
from zerosum.play.skill import (
    HIGHEST_TEMPERATURE,
    MOST_SKILL,
    levels_of,
    skilled_search,
    temperature_of,
    visits_of,
)
from zerosum.play.words import DEFAULT_PLAYER
from zerosum.protocols.engine_options import OWN, OfferedOption, button, check, combo, decimal, spin, text
from zerosum.search import SearchConfig

OpenPlayer = Callable[..., Player]
"""A function with the parameters of `zerosum.play.choice.choose_player`."""

MOST_LINES = 256
MOST_THREADS = 256
MOST_LEAVES = 4096
MOST_HASH_MIB = 1 << 20
MOST_OVERHEAD_MS = 60_000
EXACT_OVERHEAD_S = 0.01
"""Most overhead kept back of a fixed time for one move: clients that give such a time do not count in clocks."""
MATE_NODES = 5000
"""`search.proof_nodes` of a search for mates, which gives them nearly all of its time."""
NEWEST = "<newest>"
"""The value of `WeightsFile` that leaves the choice to `choose_player`."""

TREE_OPTIONS = ("CPuct", "FpuStrategy", "FpuValue", "PolicyTemperature")
"""Options that an alpha-beta search does not have."""

SECTIONS: dict[str, type[Any]] = {"search": SearchConfig, "time": TimeConfig}


class EngineSetup(ABC):
    """The options and their values, which begin as the command line has them."""

    names: ClassVar[Mapping[str, str]] = {}
    """Options with another name in this protocol: UCI's name to this protocol's."""

    def __init__(
        self,
        game: Rules,
        *,
        weights: str | Path | None = None,
        num_simulations: int | None = None,
        overrides: Sequence[str] = (),
        open_player: OpenPlayer = choose_player,
    ) -> None:
        """A setup that has not loaded anything yet.

        Args:
            game: The game, until an option names another. Its ply cap is dropped unless it differs from the default.
            weights: A run or checkpoint, or `ROLLOUTS`; None is the default player of the game.
            num_simulations: The default of the option `Simulations`; None for no limit.
            overrides: Settings as `search.name=value` or `time.name=value`; they override the run's.
            open_player: Opens the player.

        Raises:
            SettingsError: `weights` does not exist, or an override is unknown or out of range.
            DataError: `weights` is not a checkpoint, is damaged, or has not learned the game.
        """
        named = str(weights or NEWEST)
        _require_player(named)
        if named not in (NEWEST, ROLLOUTS):
            _require_network(Path(named), game)
        overrides_of = _parse_overrides(overrides)
        self.asked_game, self._open_player = game, open_player
        self._own_seed = secrets.randbits(62)
        self.search_overrides, self._time = overrides_of["search"], TimeConfig(**overrides_of["time"])
        SearchConfig(**self.search_overrides)  # refuses what is out of range
        self._describe(game, named)
        self.options = {offered.listed.name: offered for offered in self._offer(named, num_simulations or 0)}
        self.values = {name: offered.listed.default for name, offered in self.options.items()}
        self.game = without_ply_cap(self._game_asked())
        """The game that is played."""

    @abstractmethod
    def _game_asked(self) -> Rules:
        """The game that the options ask for."""

    def _offer_more(self) -> Iterable[OfferedOption]:
        """Options that only this protocol has."""
        return ()

    def _describe(self, game: Rules, named: str) -> None:
        """Read the description of the network that a value of `WeightsFile` names, and its measured levels."""
        usual = usual_network(game) if named == NEWEST else None
        path = usual.path if usual else None if named == ROLLOUTS else path_of(named)
        self._network = None if path is None else network_at(path)
        self._levels = levels_of(game, path)
        self._peoples_rating = None if path is None or self._levels is not None else peoples_rating(path)

    @property
    def skill(self) -> float:
        """The playing strength, at most `MOST_SKILL`."""
        if self.is_set("UCI_LimitStrength") and self._levels is not None:
            return self._levels.skill_for(self.number("UCI_Elo"))
        return self.number("Skill Level")

    @property
    def is_like_people(self) -> bool:
        """Whether moves are drawn as often as people of the network's rank play them."""
        return self.is_set("UCI_LimitStrength") and self._peoples_rating is not None

    def visits_of_strength(self, *, is_alpha_beta: bool) -> int | None:
        """The visits to which the strength limits a move of a game; None without a limit."""
        if self.is_like_people:
            return 1
        return visits_of(self.skill, is_alpha_beta=is_alpha_beta) if self.skill < MOST_SKILL else None

    @property
    def temperature(self) -> float:
        """The temperature at which moves are drawn."""
        if self.is_like_people:
            return TEMPERATURE
        return max(float(self.value("Temperature")), temperature_of(self.skill))

    @property
    def seed(self) -> int:
        """The seed of those draws."""
        return self.number("Seed") or self._own_seed

    @property
    def shows_draws(self) -> bool:
        """Whether reports say how likely draws are."""
        return False

    def doubts(self) -> Iterator[str]:
        """Sentences about options that cannot do all they say for the loaded player."""
        if self.is_set("UCI_LimitStrength") and self._levels is None and self._peoples_rating is None:
            yield "UCI_Elo has no effect: measure this player's skill levels with `zerosum levels` first."
        if self._network is not None and self._network.network.kind == "updatable":
            changed = [name for name in TREE_OPTIONS if self.value(name) != self.options[name].listed.default]
            if changed:
                have = "has" if len(changed) == 1 else "have"
                yield f"{', '.join(changed)} {have} no effect: this network plays by an alpha-beta search."
        if self.shows_draws and self._network is not None and self._network.network.value_head == "scalar":
            yield "This network does not tell draws from even fights: wdl counts only draws that the search reaches."

    def value(self, name: str) -> str:
        """The value of an option, by its name in UCI."""
        return self.values[self.name_of(name)]

    def number(self, name: str) -> int:
        """The value of an integer option."""
        return int(self.value(name))

    def is_set(self, name: str) -> bool:
        """The value of a true-or-false option; False if there is no such option."""
        return self.values.get(self.name_of(name)) == "true"

    def name_of(self, name: str) -> str:
        """This protocol's name of an option of UCI."""
        return self.names.get(name, name)

    def set(self, said_name: str, said_value: str) -> OfferedOption:
        """Set an option and return it.

        Raises:
            SettingsError: the option is unknown or does not accept the value; nothing changes.
        """
        name = next((known for known in self.options if known.casefold() == said_name.casefold()), None)
        if name is None:
            raise SettingsError(f"No option {shown(said_name)}{nearest(said_name[:40], self.options)}.")
        offered = self.options[name]
        value = offered.read(said_value)
        if name == "WeightsFile":
            _require_player(value)
        before, self.values[name] = self.values[name], value
        try:
            game = without_ply_cap(self._game_asked())
        except ZerosumError:
            self.values[name] = before
            raise
        if game.spec.full_name != self.game.spec.full_name:
            self.game = game
        return offered

    @property
    def player_key(self) -> tuple[str, ...]:
        """The identity of the player: two players with equal keys are the same."""
        return self.game.spec.full_name, self.value("WeightsFile"), self.value("Backend")

    def load_player(self, tell: Callable[[str], None]) -> Player:
        """The player that the options name, ready to search; `tell` receives its description.

        If that player cannot be loaded, the default player of the game replaces it, and at last rollouts: a game may be
        waiting for a move. What the command line names was checked before any game.
        """
        game = self._game_asked()
        for named in dict.fromkeys((self.value("WeightsFile") or NEWEST, NEWEST)):
            try:
                self._describe(game, named)
                told: list[str] = []
                player = self._open(game, named, told.append)
                player.make_ready(self._config_to_make_ready(player))
            except Exception as error:
                tell(failure_text(error))
            else:
                tell(" ".join(told))
                return player
        self._network = self._levels = self._peoples_rating = None
        tell("Playing with uniform priors and rollouts instead.")
        return usual_rollouts(game)

    def _config_to_make_ready(self, player: Player) -> SearchConfig | None:
        try:
            return self.search_config(player, is_limited=False)
        except SettingsError:
            return None  # each search tells it, and the player stays

    def _open(self, game: Rules, named: str, tell: Callable[[str], None]) -> Player:
        """The player that a value of `WeightsFile` names."""
        if named == ROLLOUTS:
            tell("Playing with uniform priors and rollouts.")
            return usual_rollouts(game)
        return self._open_player(game, path_of(named), backend=self.value("Backend"), say=tell)

    def search_config(self, player: Player, *, proofs: bool = False, is_limited: bool = True) -> SearchConfig:
        """The player's search settings, changed by the options and the command line.

        Args:
            player: The player that searches.
            proofs: Whether to look for proven results.
            is_limited: Whether the skill option applies.

        Raises:
            SettingsError: settings contradict each other.
        """
        config = seeing_ends(player.config_by_time(), player.evaluator)
        if (threads := self.number("Threads")) and player.is_on_gpu:
            config = replace(config, threads=threads)  # a GPU has its batches, which so many threads prepare
        elif threads:
            leaves = min(threads * config.leaves_a_batch, MOST_LEAVES)
            config = replace(config, leaves_in_flight=leaves, batches_in_flight=threads)
        config = replace(config, **{**self.search_overrides, **self._exploration()})
        if is_limited and not proofs and self.is_like_people:
            config = like_people(config)
        elif is_limited and not proofs and self.skill < MOST_SKILL:
            config = skilled_search(config)
        config = replace(config, memory_mib=self.number("Hash"), keep_draws=config.keep_draws or self.shows_draws)
        return config.proving(proof_nodes=MATE_NODES) if proofs else config

    def _exploration(self) -> dict[str, Any]:
        """The search settings that options change."""
        numbers = {
            "CPuct": "c_init",
            "FpuValue": "unvisited_reduction",
            "PolicyTemperature": "prior_temperature",
        }
        given = {ours: float(self.value(name)) for name, ours in numbers.items() if self.value(name) != OWN}
        strategy = self.value("FpuStrategy")
        return given if strategy == OWN else {**given, "unvisited_value": strategy}

    def time_config(self, *, is_exact: bool) -> TimeConfig:
        """Time management of searches by clocks, or of searches with a fixed time, which they use almost completely."""
        overhead_s = self.number("Move Overhead") / 1000
        return replace(
            self._time,
            manager=cast(Manager, self.value("TimeManager")),
            overhead_s=min(overhead_s, EXACT_OVERHEAD_S) if is_exact else overhead_s,
            stop_early=self._time.stop_early and not is_exact,
        )

    def _offer(self, named: str, num_simulations: int) -> Iterator[OfferedOption]:
        overrides, name_of = self.search_overrides, self.name_of
        memory = overrides.get("memory_mib", SearchConfig().memory_mib)
        yield spin(
            "Threads",
            0,
            0,
            MOST_THREADS,
            "batches of positions evaluated at the same time, each by a thread of its own; 0 is one per core. On a GPU,"
            " which has two batches: threads that prepare a batch together; 0 is one",
        )
        yield spin(name_of("Hash"), memory, 1, MOST_HASH_MIB, "most memory of the search tree, in MiB")
        yield button(name_of("Clear Hash"), "clears the search tree; a running search ends")
        yield check(name_of("Ponder"), False, "whether `bestmove` names the reply to ponder on")
        yield spin("MultiPV", 1, 1, MOST_LINES, "number of moves reported, the best first")
        yield spin("MultiPVShare", 5, 0, 100, "least percentage of all visits for each of several reported moves")
        yield spin(
            name_of("Move Overhead"),
            round(1000 * self._time.overhead_s),
            0,
            MOST_OVERHEAD_MS,
            "most milliseconds per move that pass outside of the engine",
        )
        yield combo(
            "TimeManager", self._time.manager, ("adaptive", "paper"), "how clock time is used, see *Time* above"
        )
        most = min(num_simulations, MOST_SIMULATIONS)
        yield spin("Simulations", most, 0, MOST_SIMULATIONS, "most simulations per move, also for `go`; 0 for no limit")
        yield text(
            "WeightsFile",
            named,
            f"a run, a checkpoint or `rollouts`; `{NEWEST}` is {DEFAULT_PLAYER}",
        )
        yield combo("Backend", "auto", BACKENDS, "the library that evaluates the network")
        yield spin(
            "Eval_Coef",
            coefficient_of(self.asked_game.spec.name),
            1,
            10_000,
            "the scale of centipawns, see *Scores* above",
        )
        yield decimal(
            "CPuct", str(overrides.get("c_init", OWN)), 0.0, 100.0, "exploration: `c_init` of the [search](search.md)"
        )
        yield combo(
            "FpuStrategy",
            str(overrides.get("unvisited_value", OWN)),
            (OWN, "parent", "zero", "loss"),
            "value of unvisited moves: the search's `unvisited_value`",
        )
        yield decimal(
            "FpuValue",
            str(overrides.get("unvisited_reduction", OWN)),
            0.0,
            2.0,
            "the search's `unvisited_reduction`, for `FpuStrategy` parent",
        )
        yield decimal(
            "PolicyTemperature",
            str(overrides.get("prior_temperature", OWN)),
            0.05,
            20.0,
            "the search's `prior_temperature`: above 1 it trusts the network's favourites less",
        )
        yield check("VerboseMoveStats", False, "prints the search's statistics of each move before each answer")
        yield from self._offer_strength()
        yield from self._offer_more()

    def _offer_strength(self) -> Iterator[OfferedOption]:
        yield spin(self.name_of("Skill Level"), MOST_SKILL, 0, MOST_SKILL, "playing strength, see *Strength* above")
        if self._levels is not None:
            low, high = self._levels.lowest, self._levels.highest
            yield check(self.name_of("UCI_LimitStrength"), False, "limits the strength to the next option's")
            yield spin(self.name_of("UCI_Elo"), high, low, high, "rating on the game's [ladder](ladder.md)")
        elif (rating := self._peoples_rating) is not None:
            yield check(self.name_of("UCI_LimitStrength"), False, "plays as people rated as the next option says do")
            yield spin(self.name_of("UCI_Elo"), rating, rating, rating, "rating on lichess of the network's people")
        yield decimal("Temperature", "0", 0.0, HIGHEST_TEMPERATURE, "temperature of draws by visits; 0 plays the best")
        yield spin("Seed", 0, 0, (1 << 31) - 1, "seed of those draws; 0 is a random number at each start")


def failure_text(error: Exception) -> str:
    """The message of an error, with its type if it is not one of ours."""
    return str(error) if isinstance(error, ZerosumError) else f"{type(error).__name__}: {error}"


def _parse_overrides(overrides: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parse texts such as "search.c_init=1.5" into values by section and name."""
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for override in overrides:
        path, equals, value = override.partition("=")
        section, dot, name = path.strip().partition(".")
        if not equals or not dot or section not in SECTIONS:
            raise SettingsError(
                f"{override!r} is not a setting of an engine: write search.name=value or time.name=value, such as"
                " search.c_init=1.5."
            )
        values[section][name] = parse_value(SECTIONS[section], name, value.strip(), section)
    return values


def path_of(named: str) -> Path | None:
    """The path in a value of `WeightsFile`; None for `NEWEST`."""
    return None if named in ("", NEWEST) else Path(named)


def _require_player(named: str) -> None:
    if named not in ("", NEWEST, ROLLOUTS) and not os.path.exists(named):  # `Path.exists` raises for some texts
        raise SettingsError(f"{named} does not exist: name a run directory, a checkpoint's JSON or {ROLLOUTS}.")


def _require_network(path: Path, game: Rules) -> None:
    """Raise DataError if there is no whole network at a path, or it does not fit the game."""
    info = network_at(path)
    require_encoder(info, rules_for(info, game).spec)
    load_checkpoint(path, report=lambda _: None)  # the player's own loading tells what is damaged and skipped

"""Games and players that visitors may name. Names are looked up among those given at the start, and are never paths.

Players are written as in commands: `rollouts@400`, `alphabeta@3`, `random`, and runs and checkpoints by their labels
(`connect4`, `connect4 step 1200`). The bundled network of a game is `zerosum's network`. Networks are loaded at their
first use.
"""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from zerosum._core import core_game_names
from zerosum.base.errors import DataError, GameError, SettingsError, ZerosumError, nearest, shown
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.games.permission import require_allowed
from zerosum.network import CheckpointInfo
from zerosum.network.checkpoint import list_checkpoints, read_info
from zerosum.network.fit import fits
from zerosum.play.bundled import bundled_networks, read_card
from zerosum.play.choice import BUNDLED_NAME
from zerosum.play.contestant import (
    ALPHA_BETA,
    DEFAULT_DEPTH,
    DEFAULT_ROLLOUTS,
    RANDOM,
    ROLLOUTS,
    RulesPlayer,
    alpha_beta,
    rollouts,
)
from zerosum.play.like_people import peoples_rating
from zerosum.play.player import Player, load_player
from zerosum.play.runs import BUNDLED
from zerosum.play.skill import Levels, levels_of
from zerosum.web.limits import Limits
from zerosum.web.strengths import measured_strength

MOST_DEPTH = 6
"""Largest depth of `alphabeta`, whose search cannot be stopped."""
LONGEST_NAME = 200
MOST_CHECKPOINTS = 30
"""Most checkpoints of a run that are listed: the newest ones."""

Computer = Player | RulesPlayer


@dataclass(frozen=True)
class Network:
    """A checkpoint, or the newest one of a run, that visitors may name."""

    label: str
    path: Path
    info: CheckpointInfo


@dataclass
class Library:
    """The games and players that visitors may name."""

    runs: Sequence[Path]
    """Run directories, directories of runs, and checkpoints' JSON files."""
    own_games: Sequence[str] = ()
    """Games written in Python, `path.py:Class` or `openspiel:NAME`: their code is executed when the library is made."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._players: OrderedDict[tuple[str, str], Player] = OrderedDict()
        self._rules: OrderedDict[str, Rules] = OrderedDict()
        # A page sees the file's name without its directory.
        self._own: dict[str, Rules] = {name.short: make(name) for name in map(GameName.parse, self.own_games)}

    # ---- games

    def game_names(self) -> list[str]:
        """The names of games, own games first."""
        return [*self._own, *sorted(core_game_names())]

    def game(self, name: str) -> Rules:
        """The rules of a game, by a name with options or the name of an own game.

        Raises:
            GameError: the name is unknown, or an option is out of range.
        """
        name = name.strip()
        if len(name) <= LONGEST_NAME * 5 and (own_rules := self._own.get(GameName.parse(name).short)) is not None:
            return own_rules
        for own, rules in self._own.items():
            if rules.spec.full_name == name or own.rpartition(":")[2] == name:
                return rules
        base = name.partition("(")[0].strip()
        if len(name) > LONGEST_NAME or base not in core_game_names():
            raise GameError(self._unknown_game(name, base))
        with self._lock:
            if name not in self._rules:
                self._rules[name] = make(name)
                if len(self._rules) > 64:
                    self._rules.popitem(last=False)
            return self._rules[name]

    def _unknown_game(self, name: str, base: str) -> str:
        """The message about an unknown name. The game of a run is a program, which the page's owner has to allow."""
        for label, run in self.run_directories().items():
            own = own_game_of(run)
            if own is not None and name in (label, GameName.parse(own).short, own.rpartition(":")[2]):
                return (
                    f"{shown(name)} is the game of the run {shown(label)}, a program that has not been allowed to run"
                    f" here: start the page with `zerosum web {label}`, or with --game and the game's file."
                )
        return f"unknown game {shown(name)}{nearest(base[:LONGEST_NAME], self.game_names())}."

    # ---- runs

    def run_directories(self) -> dict[str, Path]:
        """Runs by their labels."""
        found: dict[str, Path] = {}
        for path in self.runs:
            for directory in [path, *_directories(path)]:
                if (directory / "config.toml").is_file():
                    found[_label(directory, found)] = directory
        return found

    def run_directory(self, label: str) -> Path:
        """The directory of a run.

        Raises:
            SettingsError: no run has this label.
        """
        found = self.run_directories()
        if label not in found:
            raise SettingsError(f"unknown run {shown(label)}{nearest(label[:LONGEST_NAME], found)}.")
        return found[label]

    def networks(self, *, all_checkpoints: bool = True) -> list[Network]:
        """Each run's newest network, then its checkpoints; then single checkpoints, then the bundled networks."""
        found: list[Network] = []
        for label, directory in self.run_directories().items():
            checkpoints = list_checkpoints(directory / "checkpoints")[-MOST_CHECKPOINTS:]
            networks = [one for path in reversed(checkpoints) if (one := _network(path, label)) is not None]
            found += [replace(one, label=label) for one in networks[:1]]
            if all_checkpoints:
                found += [replace(one, label=f"{label} step {one.info.step}") for one in networks]
        for path in self.runs:
            if path.is_file() and (one := _network(path, str(path))) is not None:
                found.append(one)
        return [*found, *_bundled()]

    # ---- players

    def opponents(self, game: Rules) -> list[dict[str, Any]]:
        """Players of a game for the page: name, kind, and a network's step, measured strength and rank of people.

        The kind says what a number after the name means: simulations (`network`, `search`), positions of an alpha-beta
        search (`small network`), plies (`depth`), or nothing (`random`).
        """
        networks = [
            {
                "name": one.label,
                "kind": "small network" if one.info.network.kind == "updatable" else "network",
                "step": one.info.step,
                "measured": measured_strength(one.path),
                "people": peoples_rating(one.path),
            }
            for one in self.networks()
            if fits(one.info, game)
        ]
        return [
            *networks,
            {"name": ROLLOUTS, "kind": "search"},
            {"name": ALPHA_BETA, "kind": "depth"},
            {"name": RANDOM.name, "kind": "random"},
        ]

    def usual_opponent(self, game: Rules, *, has_tree: bool = False) -> str:
        """The default opponent: the newest network, or rollouts; with `has_tree` the first that searches a tree."""
        kinds = ("network", "search") if has_tree else ("network", "small network", "search")
        return next(str(one["name"]) for one in self.opponents(game) if one["kind"] in kinds)

    def player(self, word: str, game: Rules) -> Computer:
        """The player of a game by its words. Loading a network takes seconds.

        Raises:
            SettingsError: the words name no player, or a number is above its limit.
            DataError: a checkpoint is damaged or of another game.
        """
        name, number = _split(word)
        if name == RANDOM.name:
            return RANDOM
        if name == ALPHA_BETA:
            depth = DEFAULT_DEPTH if number is None else number
            if not 1 <= depth <= MOST_DEPTH:
                raise SettingsError(f"{ALPHA_BETA}@{depth} is out of range: 1 to {MOST_DEPTH} plies are allowed.")
            return alpha_beta(depth)
        if number is not None and not 1 <= number <= self.limits.simulations:
            raise SettingsError(
                f"{number:,} simulations are out of range: 1 to {self.limits.simulations:,} are allowed here."
            )
        if name == ROLLOUTS:
            player = rollouts(game, number or DEFAULT_ROLLOUTS, seed=0).player(game)
        else:
            player = self._network_player(name, game)
            if number is not None:
                config = replace(player.config, num_simulations=number)
                player = player.judged_by(player.evaluator, config)
        most = min(player.config.num_simulations, self.limits.simulations)
        memory = min(player.config.memory_mib, self.limits.memory_mib)
        return player.judged_by(player.evaluator, replace(player.config, num_simulations=most, memory_mib=memory))

    def analyst(self, word: str, game: Rules) -> Player:
        """A player by its words that can analyse.

        Raises:
            SettingsError, DataError: as `player`; or the player has no search.
        """
        player = self.player(word or self.usual_opponent(game), game)
        if not isinstance(player, Player):
            raise SettingsError(f"{player.name} has no search that evaluates moves: name a network or rollouts.")
        return player

    def levels(self, word: str, game: Rules) -> Levels | None:
        """The measured skills of a player by its words; None if it has none.

        Raises:
            SettingsError, DataError: as `player`.
        """
        name, _ = _split(word)
        if name == ROLLOUTS:
            return levels_of(game, None)
        if name in (RANDOM.name, ALPHA_BETA):
            return None
        return levels_of(game, self._network(name, game).path)

    def require_people(self, word: str, game: Rules) -> None:
        """Refuse a player whose moves are not those of people.

        Raises:
            SettingsError, DataError: as `player`; or the player has not learned from people.
        """
        name, _ = _split(word)
        if name in (ROLLOUTS, RANDOM.name, ALPHA_BETA) or peoples_rating(self._network(name, game).path) is None:
            raise SettingsError(
                f"{name} has not learned from people of a rank: give it simulations or seconds, or name a network of"
                " Maia, such as maia-1500.pb.gz."
            )

    def _network(self, label: str, game: Rules) -> Network:
        """The network of a game with a label.

        Raises:
            SettingsError: no network has this label.
            DataError: it is one of another game.
        """
        named = [one for one in self.networks() if one.label == label]
        if not named:
            known = [*(one["name"] for one in self.opponents(game))]
            raise SettingsError(f"unknown player {shown(label)}{nearest(label[:LONGEST_NAME], known)}.")
        network = next((one for one in named if fits(one.info, game)), None)
        if network is None:
            learned = " and ".join(one.info.full_name for one in named)
            raise DataError(f"{label} has learned {learned}, not {game.spec.full_name}: name another player.")
        return network

    def _network_player(self, label: str, game: Rules) -> Player:
        network = self._network(label, game)
        key = (str(network.path), game.spec.encoder_id)
        with self._lock:
            if key not in self._players:
                player = load_player(network.path, game=game)
                player.name = label
                if player.is_on_gpu:
                    player.make_ready()  # graphs are captured before anyone's clock runs
                self._players[key] = player
                if len(self._players) > self.limits.networks:
                    self._players.popitem(last=False)
            self._players.move_to_end(key)
            player = self._players[key]
        return player if player.game.spec.full_name == game.spec.full_name else player.with_rules(game)


def _split(word: str) -> tuple[str, int | None]:
    """A player's name and the number after the @."""
    if len(word) > 2 * LONGEST_NAME:
        raise SettingsError(f"unknown player {shown(word)}: a name has {2 * LONGEST_NAME} letters at most.")
    found = re.fullmatch(r"(.+)@(\d{1,9})", word, re.ASCII)
    return (found[1], int(found[2])) if found else (word, None)


def _directories(path: Path) -> list[Path]:
    return sorted(one for one in path.iterdir() if one.is_dir()) if path.is_dir() else []


def _label(directory: Path, taken: dict[str, Path]) -> str:
    """The name of a run: its directory's, with a number if another run has it."""
    name = re.sub(r"[@\s]+", "-", directory.resolve().name)
    number, label = 2, name
    while label in taken:
        label, number = f"{name}-{number}", number + 1
    return label


def _network(path: Path, label: str) -> Network | None:
    """A checkpoint's description; None if it is damaged."""
    with contextlib.suppress(ZerosumError, OSError):
        return _described(path, path.stat().st_mtime_ns, label)
    return None


@functools.lru_cache(maxsize=4096)
def _described(path: Path, _written_ns: int, label: str) -> Network:
    """The description of a file's checkpoint, read again when the file changes."""
    return Network(label, path, read_info(path))


def _bundled() -> list[Network]:
    """The bundled networks, a game's strongest first. It has the label `BUNDLED_NAME`; others have their own names."""
    found = list[Network]()
    for directory in sorted(bundled_networks(), key=lambda path: -read_card(path).elo):
        for path in list_checkpoints(directory / "checkpoints")[-1:]:
            if (one := _network(path, BUNDLED_NAME)) is not None:
                is_second = any(one.info.game == other.info.game for other in found)
                found.append(replace(one, label=f"{BUNDLED}{directory.name}") if is_second else one)
    return found


def own_game_of(run: Path) -> str | None:
    """The `path.py:Class` or `openspiel:NAME` that a run's settings name; None for a game of the core.

    Raises:
        GameError: it is a program that the user has not allowed to run.
    """
    from zerosum.base.settings import read_settings

    try:
        name = read_settings(run / "config.toml").get("game")
    except DataError:
        return None
    named = GameName.parse(name) if isinstance(name, str) else None
    if named is None or named.origin not in ("file", "openspiel"):
        return None
    require_allowed(run, named)
    return name

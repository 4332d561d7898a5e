"""The default player of a game: the network of the newest run, or rollouts if no run has learned it.

Engines and analyses take their players from here and print the choice (`ChosenPlayer.sentence`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.errors import DataError
from zerosum.evaluators import RolloutEvaluator
from zerosum.games import Rules, make
from zerosum.games.rules import NO_PLY_CAP, without_ply_cap
from zerosum.network import CheckpointInfo
from zerosum.network.checkpoint import list_checkpoints, read_info
from zerosum.play.player import (
    DEFAULT_ROLLOUTS,
    Player,
    learned_game,
    load_player,
    rollouts,
    search_contestant,
    split_player,
)

RUNS = Path("runs")
"""The directory in which `zerosum train` creates runs."""


@dataclass(frozen=True)
class ChosenPlayer:
    """A player and the reason for the choice."""

    player: Player
    sentence: str
    """A text for people: the checkpoint, or that there is none."""


def choose_player(game: Rules, path: Path | None = None, *, runs: Path = RUNS, backend: str = "auto") -> ChosenPlayer:
    """The player of a run or checkpoint, or if none is named, of the newest run in `runs` whose network fits the game.

    Without any, pure Monte Carlo tree search: uniform priors and random games. They play as `by_people_rules` has it.

    Raises:
        DataError: `path` holds no whole checkpoint, or one whose network does not fit the game.
        SettingsError: a setting is out of range, or the backend cannot be used.
    """
    taken = path or newest_run(game, runs=runs)
    if taken is None:
        where = f"No run in {runs.absolute()} has learned {game.spec.full_name}"
        return ChosenPlayer(usual_rollouts(game), f"{where}: playing with uniform priors and rollouts.")
    player = by_people_rules(load_player(taken, game=game, backend=backend), game)
    return ChosenPlayer(player, f"Playing with {'' if path else 'the newest run, '}{player.name}, step {player.step}.")


def usual_rollouts(game: Rules) -> Player:
    """The player without a network."""
    return by_people_rules(rollouts(game, DEFAULT_ROLLOUTS, seed=0).player(game), game)


def by_people_rules(player: Player, game: Rules) -> Player:
    """The player at a game without its ply cap, unless one was asked for.

    Random play may hardly ever end (two kings in shogi): rollouts get four times the game's own, which no game of
    people's meets.

    Raises:
        DataError: its network does not fit the game.
    """
    is_random = isinstance(player.evaluator, RolloutEvaluator)
    most_plies = min(4 * game.spec.max_plies, NO_PLY_CAP) if is_random else NO_PLY_CAP
    return player.with_rules(without_ply_cap(game, most_plies=most_plies))


def describe_network(game: Rules, path: Path | None = None, *, runs: Path = RUNS) -> CheckpointInfo | None:
    """What is known, without a look at its weights, of the network that `choose_player` would take; None without one.

    Raises:
        DataError: as `network_at`.
    """
    taken = path or newest_run(game, runs=runs)
    return None if taken is None else network_at(taken)


def network_at(path: Path) -> CheckpointInfo:
    """What the newest checkpoint of a run or of a directory of checkpoints, or one checkpoint, says of its network.

    Raises:
        DataError: there is no checkpoint whose description is whole.
    """
    if not path.exists():
        raise DataError(f"{path} is not there: name a run directory or a checkpoint's JSON.")
    if path.suffix == ".json":
        return read_info(path)
    found = _newest_checkpoint(path / "checkpoints") or _newest_checkpoint(path)
    if found is None:
        raise DataError(f"There is no checkpoint in {path}: name a run directory or a checkpoint's JSON.")
    return found[1]


def game_at(path: Path) -> Rules:
    """The game that the network of a run or checkpoint has learned.

    Raises:
        DataError: as `network_at`.
        GameError: as `zerosum.play.player.learned_game`.
    """
    return learned_game(path, network_at(path))


class Players:
    """The player of each game, chosen at its first use; a network is loaded once for all rules that it can read.

    They play as `by_people_rules` has it, so a player's game is another object than the one asked for.

    Args:
        named: A run, a checkpoint or the words of `parse_player`, if somebody is named for all games.
        say: Takes the sentence of each choice.
        runs: The directory of the runs.
    """

    def __init__(
        self, named: str = "", *, say: Callable[[str], None] = lambda _: None, runs: Path = RUNS, backend: str = "auto"
    ) -> None:
        self._named, self._say, self._runs, self._backend = named, say, runs, backend
        self._chosen: dict[str, Player] = {}
        self._lock = threading.Lock()

    @property
    def num_simulations(self) -> int | None:
        """The number after the @ of the name; None without one."""
        return split_player(self._named)[1]

    def of(self, game: Rules) -> Player:
        """The game's player; may be asked for from several threads.

        Raises:
            SettingsError, DataError: as `choose_player` and `open_player`.
        """
        name = game.spec.full_name
        with self._lock:
            if name not in self._chosen:
                alike = (one for one in self._chosen.values() if one.game.spec.encoder_id == game.spec.encoder_id)
                known = next(alike, None)
                self._chosen[name] = self._choose(game) if known is None else by_people_rules(known, game)
            return self._chosen[name]

    def own_game(self) -> Rules | None:
        """The game that the named network has learned; None if no network is named.

        Raises:
            SettingsError: nobody who analyses goes by the words.
            DataError, GameError: as `game_at`.
        """
        if not self._named:
            return None
        if not Path(self._named).exists():
            self._in_words(make("go"))  # in any game, whoever is known analyses
            return None
        return game_at(Path(self._named))

    @property
    def chosen(self) -> list[Player]:
        """The players in use."""
        return list(self._chosen.values())

    def _choose(self, game: Rules) -> Player:
        if self._named and not Path(self._named).exists():
            return self._in_words(game)
        path = Path(self._named) if self._named else None
        chosen = choose_player(game, path, runs=self._runs, backend=self._backend)
        self._say(chosen.sentence)
        return chosen.player

    def _in_words(self, game: Rules) -> Player:
        """Rollouts at any number of simulations, and the error for words that name nobody."""
        return by_people_rules(search_contestant(self._named, game).player(game), game)


def newest_run(game: Rules, *, runs: Path = RUNS) -> Path | None:
    """The directory in `runs` with the newest checkpoint whose network fits the game; None if there is none.

    A run that has not learned yet, with the untrained network alone, does not count.
    """
    found = {run: newest for run in _directories(runs) if (newest := _newest_checkpoint(run / "checkpoints"))}
    fitting = [run for run, (_, info) in found.items() if info.step > 0 and info.encoder_id == game.spec.encoder_id]
    return max(fitting, key=lambda run: found[run][0].stat().st_mtime_ns, default=None)


def _directories(runs: Path) -> list[Path]:
    return sorted(path for path in runs.iterdir() if path.is_dir()) if runs.is_dir() else []


def _newest_checkpoint(directory: Path) -> tuple[Path, CheckpointInfo] | None:
    """The newest checkpoint whose description is whole."""
    for path in reversed(list_checkpoints(directory)):
        with contextlib.suppress(DataError):  # `load_player` says what is damaged, should it be taken
            return path, read_info(path)
    return None

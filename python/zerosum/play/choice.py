"""Who plays a game where nobody says who: the network of the newest run, or rollouts if no run has learned it.

Engines and analyses start from here, and say whom they took (`ChosenPlayer.sentence`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zerosum.checkpoint import list_checkpoints, read_info
from zerosum.errors import DataError
from zerosum.games import Rules, make
from zerosum.play.player import DEFAULT_ROLLOUTS, Player, load_player, parse_player, rollouts

RUNS = Path("runs")
"""Where `zerosum train` puts runs."""
NO_PLY_CAP = 65535
"""The most plies that a game's option `max_plies` takes."""


@dataclass(frozen=True)
class ChosenPlayer:
    """A player, and why it is this one."""

    player: Player
    sentence: str
    """For people: which checkpoint it is, or that there is none."""


def choose_player(game: Rules, path: Path | None = None, *, runs: Path = RUNS, backend: str = "auto") -> ChosenPlayer:
    """The player of a run or checkpoint, or if none is named, of the newest run in `runs` whose network fits the game.

    Without any, pure Monte Carlo tree search: uniform priors and random games.

    Raises:
        DataError: `path` holds no whole checkpoint, or one whose network does not fit the game.
        SettingsError: a setting is out of range, or the backend cannot be used.
    """
    taken = path or newest_run(game, runs=runs)
    if taken is None:
        player = rollouts(game, DEFAULT_ROLLOUTS, seed=0).player(game)
        where = f"No run in {runs.absolute()} has learned {game.spec.full_name}"
        return ChosenPlayer(player, f"{where}: playing with uniform priors and rollouts.")
    # A game of the user's own is known by the run's path to it, and not by its name.
    player = load_player(taken, game=None if game.is_python else game.spec.full_name, backend=backend).with_rules(game)
    return ChosenPlayer(player, f"Playing with {'' if path else 'the newest run, '}{player.name}, step {player.step}.")


def without_ply_cap(game: Rules) -> Rules:
    """The game as it is analysed: never a draw for its length alone, unless a cap was asked for.

    >>> without_ply_cap(make("connect4")).spec.max_plies, without_ply_cap(make("connect4(max_plies=20)")).spec.max_plies
    (65535, 20)
    """
    options = game.spec.options
    if "max_plies" in options or not any(option.name == "max_plies" for option in game.spec.known_options):
        return game
    return make(f"{game.spec.name}({', '.join([*([options] if options else []), f'max_plies={NO_PLY_CAP}'])})")


class Players:
    """Whoever analyses a game, chosen when it is first asked for; a network is loaded once for all rules it can read.

    They play without a ply cap (`without_ply_cap`), so a player's game is another object than the one asked for.

    Args:
        named: A run, a checkpoint or the words of `parse_player`, if somebody is named for all games.
        say: Told the sentence of each choice.
        runs: Where runs are looked for.
    """

    def __init__(
        self, named: str = "", *, say: Callable[[str], None] = lambda _: None, runs: Path = RUNS, backend: str = "auto"
    ) -> None:
        self._named, self._say, self._runs, self._backend = named, say, runs, backend
        self._chosen: dict[str, Player] = {}
        self._lock = threading.Lock()

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
                player = self._choose(game) if known is None else known
                self._chosen[name] = player.with_rules(without_ply_cap(game))
            return self._chosen[name]

    def own_game(self) -> Rules | None:
        """The game that the named network has learned; None if no network is named."""
        if not self._named or not Path(self._named).exists():
            return None
        player = load_player(self._named, backend=self._backend)
        self._chosen[player.game.spec.full_name] = player.with_rules(without_ply_cap(player.game))
        self._say(f"Playing with {player.name}, step {player.step}.")
        return player.game

    @property
    def chosen(self) -> list[Player]:
        """Those that were asked for."""
        return list(self._chosen.values())

    def _choose(self, game: Rules) -> Player:
        if self._named and not Path(self._named).exists():
            # Rollouts at any number of simulations, and the error for words that name nobody.
            return parse_player(self._named, game).player(game)
        path = Path(self._named) if self._named else None
        chosen = choose_player(game, path, runs=self._runs, backend=self._backend)
        self._say(chosen.sentence)
        return chosen.player


def newest_run(game: Rules, *, runs: Path = RUNS) -> Path | None:
    """The directory in `runs` with the newest checkpoint whose network fits the game; None if there is none."""
    newest = {run: checkpoint for run in _directories(runs) if (checkpoint := _fitting_checkpoint(run, game))}
    return max(newest, key=lambda run: newest[run].stat().st_mtime_ns, default=None)


def _directories(runs: Path) -> list[Path]:
    return sorted(path for path in runs.iterdir() if path.is_dir()) if runs.is_dir() else []


def _fitting_checkpoint(run: Path, game: Rules) -> Path | None:
    """The newest checkpoint of a run whose description is whole, if its network fits the game."""
    for path in reversed(list_checkpoints(run / "checkpoints")):
        try:
            return path if read_info(path).encoder_id == game.spec.encoder_id else None
        except DataError:
            continue  # `load_player` says what is damaged, should this run be taken
    return None

"""Who plays a game where nobody says who: the network of the newest run, or rollouts if no run has learned it.

Engines and analyses start from here, and say whom they took (`ChosenPlayer.sentence`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from zerosum.checkpoint import list_checkpoints, read_info
from zerosum.errors import DataError
from zerosum.games import Rules
from zerosum.play.player import DEFAULT_ROLLOUTS, Player, load_player, open_player, rollouts

RUNS = Path("runs")
"""Where `zerosum train` puts runs."""


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
    player = load_player(taken, game=game.spec.full_name, backend=backend)
    return ChosenPlayer(player, f"Playing with {'' if path else 'the newest run, '}{player.name}, step {player.step}.")


def choose_by_words(words: str, game: Rules, *, runs: Path = RUNS) -> ChosenPlayer:
    """The player that somebody named: a run, a checkpoint, `rollouts@1000`, or "" for whoever `choose_player` takes.

    Raises:
        DataError, SettingsError: as `choose_player` and `open_player`.
    """
    if not words or Path(words).exists():
        return choose_player(game, Path(words) if words else None, runs=runs)
    player = open_player(words, game=game.spec.full_name)
    return ChosenPlayer(player, f"Playing with {player.name}.")


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

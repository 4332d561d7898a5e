"""Runs on disk: their directory, and the run that a word means."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from zerosum.base.errors import DataError, SettingsError
from zerosum.base.files import require_own_files
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.network import CheckpointInfo
from zerosum.network.any_size import described_for
from zerosum.network.checkpoint import checkpoints_to_play, list_checkpoints, read_info
from zerosum.network.fit import fits
from zerosum.network.katago import SUFFIX
from zerosum.network.lc0 import SUFFIXES
from zerosum.play.words import GAME_AS_PLAYER, OWN_WORDS

VARIABLE = "ZEROSUM_RUNS"
"""The environment variable that names the directory of runs."""


BUNDLED = "bundled/"
"""The beginning of the name of a bundled network, as in `bundled/connect4`."""
NETWORKS = Path(str(resources.files("zerosum") / "data" / "networks"))
"""The directory of the bundled networks."""


def runs_directory() -> Path:
    """The directory in which `zerosum train` creates runs: that of the variable ZEROSUM_RUNS, or `runs`."""
    return Path(os.environ.get(VARIABLE) or "runs")


@dataclass(frozen=True)
class PlayerWord:
    """A player as people name it, `runs/demo@100`, parsed once. What it means is looked up at its first use and kept.

    `PlayerWord(word)` is a name whose @ has no meaning, such as a run's.
    """

    word: str
    """The name: a path, a run's name, `bundled/NAME`, a game, one of `OWN_WORDS`, an engine; "" names none."""
    number: int | None = None
    """The number after the @: simulations, nodes or plies."""
    runs: Path | None = None
    """The directory of the runs; None for `runs_directory()`."""

    @staticmethod
    def parse(text: str, *, runs: Path | None = None) -> PlayerWord:
        """The name and the number of `NAME@N`.

        >>> PlayerWord.parse("rollouts@50"), PlayerWord.parse("runs/a@b").word
        (PlayerWord(word='rollouts', number=50, runs=None), 'runs/a@b')
        """
        match = re.fullmatch(r"(.+)@(\d+)", text)
        return PlayerWord(match[1], int(match[2]), runs) if match else PlayerWord(text, runs=runs)

    def __str__(self) -> str:
        return self.word if self.number is None else f"{self.word}@{self.number}"

    @property
    def is_own(self) -> bool:
        """Whether it is one of our players without a network."""
        return self.word in OWN_WORDS

    @functools.cached_property
    def game(self) -> GameName | None:
        """The game that it names; None for other words, and for a run's path."""
        name = GameName.parse(self.word)
        return name if name.can_exist and not _is_run(Path(self.word)) else None

    @functools.cached_property
    def rules(self) -> Rules:
        """The rules of `game`. Raises GameError if they cannot be loaded."""
        assert self.game is not None
        return make(self.game)

    @functools.cached_property
    def run(self) -> Path | None:
        """The run or checkpoint that it means: a path, a run's name in `runs`, or a game, whose newest run it is.

        `bundled/NAME` is a bundled network. None if it means none. Raises GameError as `rules`.
        """
        path = Path(self.word)
        if self.word and _is_run(path):
            return path
        if self.game is not None:
            return newest_run(self.rules, runs=self.runs)
        if self.word.startswith(BUNDLED) and _is_run(bundled := NETWORKS / self.word.removeprefix(BUNDLED)):
            return bundled
        named = self.runs_directory / self.word
        if self.word and not path.is_absolute() and _is_run(named):
            return named
        return path if self.word and path.exists() else None

    @property
    def runs_directory(self) -> Path:
        """The directory of the runs."""
        return self.runs or runs_directory()

    def require_run(self) -> Path:
        """As `run`, but it raises an error instead of None.

        Raises:
            DataError: the word does not name a run.
        """
        if self.run is not None:
            return self.run
        where = self.runs_directory.absolute()
        if self.game is not None:
            raise DataError(f"No run in {where} has learned {self.word}: train one, or name a run directory.")
        raise DataError(
            f"{self.word} does not exist: name a run directory, a checkpoint's JSON, a run in {where}, or a game that"
            " one of them has learned."
        )

    def require_not_path(self) -> None:
        """Refuse the word of a player that means no run although it is written as a path.

        Raises:
            SettingsError: the word has a separator of folders, or ends as a checkpoint's JSON does.
        """
        if "/" in self.word or "\\" in self.word or self.word.endswith((".json", SUFFIX, *SUFFIXES)):
            raise SettingsError(
                f"{self.word} does not exist: name a run directory, a checkpoint's JSON, a run in"
                f" {self.runs_directory.absolute()}, or a game, {GAME_AS_PLAYER}."
            )


def run_to_write(path: Path, *, runs: Path | None = None) -> Path:
    """The directory of a run to begin or to go on with: the path, or one of this name in `runs` if the path is new."""
    named = (runs or runs_directory()) / path
    return named if named.is_dir() and not path.exists() else path


def require_run(word: str) -> Path:
    """The run or checkpoint that a word of a command means, by `PlayerWord.require_run`."""
    return PlayerWord(word).require_run()


def newest_run(game: Rules, *, runs: Path | None = None) -> Path | None:
    """The directory in `runs` with the newest checkpoint whose network fits the game; None if there is none.

    A run with only its first network does not count.
    """
    found = {run: newest for run in directories(runs) if (newest := newest_checkpoint(run / "checkpoints"))}
    fitting = [run for run, (_, info) in found.items() if info.step > 0 and fits(info, game)]
    return max(fitting, key=lambda run: found[run][0].stat().st_mtime_ns, default=None)


def directories(runs: Path | None = None) -> list[Path]:
    """The directories in `runs`, by name."""
    runs = runs or runs_directory()
    return sorted(path for path in runs.iterdir() if path.is_dir()) if runs.is_dir() else []


def newest_checkpoint(directory: Path) -> tuple[Path, CheckpointInfo] | None:
    """The checkpoint of a directory that plays, the first with a complete description; None without one."""
    for path in checkpoints_to_play(directory):
        with contextlib.suppress(DataError):  # `load_player` reports the damage if the checkpoint is used
            return path, read_info(path)
    return None


def spread_checkpoints(run: Path, count: int) -> list[Path]:
    """The JSON files of `count` checkpoints of a run, evenly spread from the first to the last; all if it has fewer.

    Raises:
        DataError: the run contains a link that leads outside, or cannot be read.
    """
    require_own_files(run)
    found = list_checkpoints(run / "checkpoints")
    if count >= len(found):
        return found
    return [found[round(number * (len(found) - 1) / (count - 1))] for number in range(count)]


def network_at(path: Path, *, game: Rules | None = None) -> CheckpointInfo:
    """The description of a network: of a run or a directory of checkpoints (the newest), or of one checkpoint.

    `game` chooses the board of a network that plays boards of all sizes, as in `load_checkpoint`.

    Raises:
        DataError: there is no checkpoint with a complete description.
    """
    if not path.exists():
        raise DataError(f"{path} does not exist: name a run directory or a checkpoint's JSON.")
    if path.is_file():
        return read_info(path, game=game)
    found = newest_checkpoint(path / "checkpoints") or newest_checkpoint(path)
    if found is None:
        raise DataError(f"There is no checkpoint in {path}: name a run directory or a checkpoint's JSON.")
    return described_for(found[1], game)


def run_names(runs: Path | None = None) -> list[str]:
    """The names of the runs in a directory."""
    return [path.name for path in directories(runs) if _is_run(path)]


def _is_run(path: Path) -> bool:
    """Whether a path is a file, or a directory with a run or checkpoints."""
    try:
        if path.is_file():
            return not GameName.parse(str(path)).can_exist
        return (
            (path / "config.toml").is_file()
            or (path / "checkpoints").is_dir()
            or bool(path.is_dir() and list_checkpoints(path))
        )
    except (OSError, ValueError):  # not a valid name of a file
        return False

"""The words of a study on the command line, and the player and the game that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zerosum.base.errors import SettingsError
from zerosum.games import Rules, make
from zerosum.games.names import GameName
from zerosum.play.bundled import require_network
from zerosum.play.player import Player, load_player
from zerosum.run.given_game import recorded_game


@dataclass(frozen=True)
class StudyWords:
    """What was typed after the name of a study; None, or nothing, for the study's own defaults."""

    names: tuple[str, ...] = ()
    """A game, a run, or a game and runs."""
    games: int | None = None
    simulations: int | None = None
    seeds: int | None = None
    minutes: float | None = None
    heaps: int | None = None
    variants: tuple[str, ...] = ()
    opponent: str = ""
    seed: int = 0

    @property
    def given(self) -> list[str]:
        """The options that were typed."""
        options = {
            "--games": self.games is not None,
            "--simulations": self.simulations is not None,
            "--seeds": self.seeds is not None,
            "--minutes": self.minutes is not None,
            "--heaps": self.heaps is not None,
            "--variant": bool(self.variants),
            "--opponent": bool(self.opponent),
        }
        return [option for option, is_given in options.items() if is_given]


def require_no_names(study: str, words: StudyWords) -> None:
    """Refuse a game or a run for a study that takes none. Raises SettingsError."""
    if words.names:
        raise SettingsError(f"the study {study} takes no game and no run: leave out {words.names[0]!r}.")


def require_positive(numbers: Mapping[str, float]) -> None:
    """Refuse a number of an option, by its name, that is not above 0. Raises SettingsError."""
    for name, number in numbers.items():
        if not number > 0:
            raise SettingsError(f"{name} is {number:g}, expected a number above 0.")


def one_game(study: str, words: StudyWords, default: str) -> str:
    """The name of the game of a study of one game, `default` if none is named.

    Raises:
        SettingsError: there are several names, or one of a run.
        GameError: the game is unknown.
    """
    if len(words.names) > 1:
        raise SettingsError(f"the study {study} is of one game, got {len(words.names)} names: name a game only.")
    name = words.names[0] if words.names else default
    if not GameName.parse(name).can_exist and Path(name).exists():
        raise SettingsError(f"{name!r} is not a game: the study {study} trains networks of its own, name their game.")
    make(name)  # raises for an unknown one
    return name


def one_run(study: str, words: StudyWords) -> tuple[Path, Rules | None]:
    """The run of a study of one run, and its game if that is named before it.

    Raises:
        SettingsError: there is no name, or too many.
        DataError: the word does not name a run.
    """
    if not words.names:
        raise SettingsError(f"the study {study} needs a run: name one, or a game for its newest run.")
    *games, run = words.names
    if len(games) > 1:
        raise SettingsError(f"the study {study} is of one run, got {len(words.names)} names: GAME RUN, or RUN.")
    if games and not GameName.parse(games[0]).can_exist:
        raise SettingsError(f"{games[0]!r} is not a game: the study {study} is of one run, named after its game.")
    return require_network(run), make(games[0]) if games else None


def run_and_game(study: str, words: StudyWords) -> tuple[Path, Rules]:
    """The run of a study of one run, and the game that it has learned. Raises as `one_run`, and for another game."""
    path, named = one_run(study, words)
    game = make(recorded_game(path))
    if named is not None and named.spec.name != game.spec.name:
        raise SettingsError(
            f"{path} has learned {game.spec.full_name}, not {named.spec.full_name}: name a run of that game."
        )
    return path, game


def study_player(study: str, words: StudyWords, *, batch_size: int) -> Player:
    """The player of the run of a study, with its number of simulations. Raises as `one_run` and `load_player`."""
    path, game = one_run(study, words)
    return load_player(path, num_simulations=words.simulations, game=game, batch_size=batch_size)


def subject(player: Player) -> str:
    """A player's run, without its folder, and its game if that has another name."""
    run, game = Path(player.own_name).name, player.game.spec.full_name
    return run if run == game else f"{run}, {game}"


def about_matches(study: str, player: Player, **options: object) -> Mapping[str, object]:
    """What the results of matches of a run's player depend on: the player, and the study's options."""
    return {
        "study": study,
        "game": player.game.spec.full_name,
        "player": player.own_name,
        "step": player.step,
        "simulations": player.config.num_simulations,
        **options,
    }

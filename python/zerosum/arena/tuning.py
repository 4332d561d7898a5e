"""Search settings tuned by matches, by Bayesian optimisation.

AlphaGo Zero's search settings were "selected by Gaussian process optimisation" (Silver et al. 2017, Methods). Here
Optuna proposes settings, and a match against the player's own settings says how good they are. The best ones play a
second match, with other openings and more games: of many proposals, the best result is mostly luck.

A tuning is a folder: `tuning.jsonl` has what is tuned and each proposal, and beside it are the files of the matches. So
the same command continues a tuning after a kill, in the middle of a match. A proposal follows from the results before
it and the seed.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zerosum.arena.plan import GAMES_AT_ONCE, MatchPlan, MatchSettings
from zerosum.arena.result import MatchResult
from zerosum.arena.session import play_session
from zerosum.base.errors import DataError, SettingsError, nearest, shown
from zerosum.base.files import append_line, read_lines, repair_lines
from zerosum.games import Rules
from zerosum.play.choice import game_at
from zerosum.play.contestant import SearchContestant
from zerosum.play.entries import Entry, enter
from zerosum.search import SearchConfig

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

FORMAT = "zerosum tuning 1"
FILE = "tuning.jsonl"
RANDOM_TRIALS = 6
"""Trials with random settings, before the results say where to look."""
DEFAULT_RANGES = ("c_init=0.5:6", "c_factor=0:6", "unvisited_reduction=0:1")
"""Ranges of the settings that are tuned by default; the last one only if the search uses it."""

Say = Callable[[str], None]
Values = dict[str, float]
"""Values of tuned settings, by name."""


@dataclass(frozen=True)
class TunedSetting:
    """A number of `SearchConfig` and the range in which the best value is sought."""

    name: str
    low: float
    high: float
    is_whole: bool
    """Whether only whole numbers are allowed."""

    @classmethod
    def parse(cls, text: str) -> TunedSetting:
        """A setting written as `c_init=0.5:6`, or `search.c_init=0.5:6`.

        Raises:
            SettingsError: it is not a number of the search, or the range is empty or too wide.
        """
        name, equals, ends = text.partition("=")
        name = name.strip().removeprefix("search.")
        types = _numbers()
        if name not in types:
            raise SettingsError(f"{shown(name)} is not a number of the search's settings{nearest(name, types)}.")
        low, colon, high = ends.partition(":")
        try:
            if not (equals and colon):
                raise ValueError
            found = cls(name, float(low), float(high), is_whole=types[name] is int)
        except ValueError:
            raise SettingsError(
                f"{shown(text)} has no range: expected NAME=LOWEST:HIGHEST, such as c_init=0.5:6."
            ) from None
        if not found.low < found.high:
            raise SettingsError(f"{shown(text)}: the range is empty, its lowest value must be below the highest.")
        for end in (found.low, found.high):
            if found.is_whole and end != int(end):
                raise SettingsError(f"{shown(text)}: {name} takes whole numbers only.")
            found.applied(SearchConfig(), {name: end})
        return found

    def applied(self, config: SearchConfig, values: Mapping[str, float]) -> SearchConfig:
        """The settings with this one changed. Raises SettingsError if the search does not take the value."""
        changed: dict[str, Any] = {self.name: int(values[self.name]) if self.is_whole else values[self.name]}
        return replace(config, **changed)

    def distribution(self) -> BaseDistribution:
        """The range as Optuna takes it."""
        from optuna.distributions import FloatDistribution, IntDistribution

        return (
            IntDistribution(int(self.low), int(self.high)) if self.is_whole else FloatDistribution(self.low, self.high)
        )


def _numbers() -> dict[str, type]:
    """The types of the search's settings that are numbers, by name."""
    hints = typing.get_type_hints(SearchConfig)
    types = {field.name: hints[field.name] for field in dataclasses.fields(SearchConfig)}
    return {
        name: int if found is int else float for name, found in types.items() if found in (int, float, float | None)
    }


@dataclass(frozen=True)
class TuningSettings:
    """What a tuning does."""

    tuned: tuple[TunedSetting, ...]
    num_trials: int
    games_a_trial: int
    """Games of a trial's match; even."""
    games_to_confirm: int
    """Games of the second match of the best trial; even."""
    opening_plies: int
    seed: int
    """Keys the proposals and the openings."""


@dataclass(frozen=True)
class Trial:
    """Proposed settings and their result against the player's own."""

    number: int
    """Number of the trial, from 1 on."""
    values: Values
    result: MatchResult


@dataclass(frozen=True)
class Tuned:
    """The result of a tuning."""

    trials: tuple[Trial, ...]
    best: Trial | None
    """The trial with the best score; None if none scores more than half."""
    confirmation: MatchResult | None
    """The second match of the best trial."""
    is_interrupted: bool = False

    @property
    def has_found(self) -> bool:
        """Whether the 95 % interval of the second match's Elo lies above 0."""
        elo = self.confirmation.statistics.elo if self.confirmation else None
        return elo is not None and elo.low > 0


def tuned_settings(ranges: Sequence[str], config: SearchConfig) -> tuple[TunedSetting, ...]:
    """The settings to tune; without `ranges` the default ones that the search uses.

    Raises:
        SettingsError: a range is invalid, or a setting is named twice.
    """
    if not ranges:
        uses_reduction = config.unvisited_value == "parent"
        ranges = DEFAULT_RANGES if uses_reduction else DEFAULT_RANGES[:-1]
    tuned = tuple(TunedSetting.parse(text) for text in ranges)
    names = [each.name for each in tuned]
    if twice := {name for name in names if names.count(name) > 1}:
        raise SettingsError(f"{min(twice)} has two ranges: give it one.")
    return tuned


def tune(
    game: Rules, player: SearchContestant, settings: TuningSettings, directory: Path, *, say: Say = lambda _said: None
) -> Tuned:
    """Tune a player's search settings, or continue the tuning in the folder.

    Raises:
        DataError: the folder holds another tuning.
        RunError: the folder cannot be written, or another process writes it.
        SettingsError: Optuna is not installed, or a number is out of range.
    """
    if importlib.util.find_spec("optuna") is None:
        raise SettingsError("Optuna is not installed: 'pip install zerosum[tune]'.")
    tuning = _Tuning(game, player, settings, directory, say)
    trials: list[Trial] = []
    for number in range(1, settings.num_trials + 1):
        values = tuning.proposal(number, trials)
        result, is_interrupted = tuning.play(values, f"trial-{number:03}", settings.games_a_trial, settings.seed)
        if is_interrupted:
            return Tuned(tuple(trials), None, None, is_interrupted=True)
        trials.append(Trial(number, values, result))
        best = max(trials, key=lambda trial: trial.result.score)
        say(
            f"trial {number} of {settings.num_trials}: {values_text(values)}: {result.score:.1%} of"
            f" {len(result.games)} games; the best is trial {best.number}, {best.result.score:.1%}"
        )
    best = max(trials, key=lambda trial: trial.result.score)
    if best.result.score <= 0.5:
        return Tuned(tuple(trials), None, None)
    say(f"Trial {best.number} plays {settings.games_to_confirm} games with other openings.")
    # The number is in the name, because more trials may have another best one.
    name = f"confirmation-{best.number:03}"
    result, is_interrupted = tuning.play(best.values, name, settings.games_to_confirm, settings.seed + 1)
    return Tuned(tuple(trials), best, None if is_interrupted else result, is_interrupted)


def values_text(values: Mapping[str, float]) -> str:
    """The settings as people read them.

    >>> values_text({"c_init": 1.75, "threads": 2.0})
    'c_init 1.75, threads 2'
    """
    return ", ".join(f"{name} {value:g}" for name, value in values.items())


class _Tuning:
    """A folder of proposals and matches."""

    def __init__(
        self, game: Rules, player: SearchContestant, settings: TuningSettings, directory: Path, say: Say
    ) -> None:
        self._game, self._player, self._settings, self._directory, self._say = game, player, settings, directory, say
        self._header = json.dumps(
            {
                "format": FORMAT,
                "game": game.spec.full_name,
                "player": player.description(),
                "simulations": player.num_simulations,
                "tuned": [asdict(each) for each in settings.tuned],
                "games a trial": settings.games_a_trial,
                "opening plies": settings.opening_plies,
                "seed": settings.seed,
            }
        )
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / FILE
        found = read_lines(path, self._parse, header=self._header)
        if found.header not in ("", self._header):
            raise DataError(
                f"{path} holds another tuning, of another network or with other settings: name another folder with"
                " --out, or remove this one."
            )
        repair_lines(path, found, report=say, header=self._header)
        self._proposed: list[Values] = found.entries

    def _parse(self, line: str) -> Values:
        values = json.loads(line)
        if not isinstance(values, dict) or values.keys() != {each.name for each in self._settings.tuned}:
            raise ValueError(line)
        for each in self._settings.tuned:
            if type(values[each.name]) not in (int, float) or not each.low <= values[each.name] <= each.high:
                raise ValueError(line)
        return values

    def proposal(self, number: int, before: Sequence[Trial]) -> Values:
        """The settings of a trial: those in the file, or new ones, which are written there first."""
        if number > len(self._proposed):
            values = self._propose(number, before)
            append_line(self._directory / FILE, json.dumps(values), header=self._header)
            self._proposed.append(values)
        return self._proposed[number - 1]

    def _propose(self, number: int, before: Sequence[Trial]) -> Values:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        distributions = {each.name: each.distribution() for each in self._settings.tuned}
        sampler = optuna.samplers.GPSampler(
            # A proposal is a function of its number and of the results before it.
            seed=(self._settings.seed << 16) + number,
            n_startup_trials=RANDOM_TRIALS,
            deterministic_objective=False,
        )
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for trial in before:
            study.add_trial(
                optuna.trial.create_trial(params=trial.values, distributions=distributions, value=trial.result.score)
            )
        proposed: Values = study.ask(distributions).params
        return proposed

    def play(self, values: Values, name: str, num_games: int, seed: int) -> tuple[MatchResult, bool]:
        """The match of these settings against the player's own, and whether the keyboard interrupted it."""
        config = self._player.search
        for each in self._settings.tuned:
            config = each.applied(config, values)
        plan = MatchPlan(
            self._game,
            (replace(self._player, name=values_text(values), search=config), self._player),
            MatchSettings(num_games, seed, self._settings.opening_plies),
        )
        session = play_session(plan, file=self._directory / f"{name}.jsonl", say=self._say)
        return session.result, session.is_interrupted


def tune_player(path: Path, *, num_simulations: int | None = None) -> tuple[Rules, SearchContestant]:
    """The game that a network has learned, and its player with the run's settings.

    Raises:
        DataError: there is no network, or it is damaged.
    """
    game = game_at(path)
    word = str(path) if num_simulations is None else f"{path}@{num_simulations}"
    player = enter(Entry(word), game, batch_size=GAMES_AT_ONCE)
    assert isinstance(player, SearchContestant)
    return game, player


def numbers(found: Tuned) -> dict[str, Any]:
    """The result, ready for JSON."""
    return {
        "trials": [{**trial.values, "score": trial.result.score} for trial in found.trials],
        "best": found.best.values if found.best else None,
        "confirmation": found.confirmation.statistics.numbers() if found.confirmation else None,
        "has_found": found.has_found,
    }


def verdict(found: Tuned) -> str:
    """The result in words."""
    if found.best is None:
        return f"Found nothing: none of {len(found.trials)} trials scores more than half against the run's own."
    assert found.confirmation is not None
    result = found.confirmation
    told = f"{result.score:.1%} of {len(result.games)} games against the run's own: Elo {result.statistics.elo}"
    if not found.has_found:
        return f"Found nothing: in its second match the best, {values_text(found.best.values)}, scores {told}."
    lines = "\n".join(f"  {name} = {value!r}" for name, value in found.best.values.items())
    return f"Found better settings, {told}. In the section [search] of the run's config.toml:\n{lines}"

"""How to play weaker than one can, against people: few simulations a move, and moves that are drawn by lot.

Skill goes from 0 to 20, and 20 is all that there is. Below that a move has `simulations_of(skill)` simulations, and is
drawn by `drawn_action` at `temperature_of(skill)`. How many Elo that is, depends on the network and has to be measured:
`Levels` holds what `zerosum levels` found.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np

from zerosum._core import Root
from zerosum.base.errors import DataError, SettingsError
from zerosum.base.files import replace_durably
from zerosum.evaluators.evaluator import RolloutEvaluator
from zerosum.games import Rules, make
from zerosum.games.rules import given_options
from zerosum.play.player import Contestant, SearchContestant, split_player
from zerosum.search import SearchConfig

MOST_SKILL = 20
"""Nothing is held back."""
HIGHEST_TEMPERATURE = 10.0
LEVELS_FILE = "levels.json"
"""In a run's directory."""


def simulations_of(skill: float) -> int:
    """Simulations a move at a skill below 20.

    >>> [simulations_of(skill) for skill in (0, 5, 10, 15, 19)]
    [4, 13, 40, 128, 323]
    """
    return round(4 * 2 ** (skill / 3))


def temperature_of(skill: float) -> float:
    """The temperature at which moves are drawn at a skill; 0 plays the best.

    >>> [temperature_of(skill) for skill in (0, 5, 10, 15, 20)]
    [2.0, 1.125, 0.5, 0.125, 0.0]
    """
    return float(2 * (1 - skill / MOST_SKILL) ** 2)


def skilled_search(config: SearchConfig) -> SearchConfig:
    """A player's settings for a search with few simulations: one leaf at a time, by PUCT."""
    return replace(config, root_selection="puct", leaves_in_flight=1, batches_in_flight=1)


def with_skill(contestant: Contestant, skill: float) -> SearchContestant:
    """A search of ours with this skill, as engines limit it.

    Raises:
        SettingsError: the skill is out of range, or this is no search.
    """
    if not 0 <= skill <= MOST_SKILL:
        raise SettingsError(f"skill is {skill:g}, expected a number from 0 to {MOST_SKILL}.")
    if not isinstance(contestant, SearchContestant):
        raise SettingsError(f"{contestant.name} has no search of ours, which a skill would limit: leave skill out.")
    if skill == MOST_SKILL:
        return contestant
    config = replace(skilled_search(contestant.search), num_simulations=simulations_of(skill))
    if isinstance(contestant.evaluator, RolloutEvaluator):
        config = replace(config, exact_bounds=True)  # as engines have it
    name = f"{split_player(contestant.name)[0]}, skill {skill:g}"
    return replace(contestant, name=name, search=config, temperature=temperature_of(skill))


def drawn_action(root: Root, number: float, *, temperature: float, allowed: Sequence[int] = ()) -> int:
    """The move that a number in [0, 1) draws, in proportion to (N + P)^(1 / temperature); at 0 the best.

    N are a move's visits, P its prior: as if one visit more had been shared out by priors, so that a high temperature
    plays anything. A proven win is always played, and a proven loss only where nothing else is left.

    Args:
        root: A root that was searched.
        number: In [0, 1).
        temperature: At least 0.
        allowed: Moves to choose from; all legal ones, if there are none.
    """
    assert root.best_action is not None
    if temperature == 0:
        return root.best_action
    is_allowed = np.isin(root.actions, allowed) if allowed else np.ones(len(root.actions), bool)
    is_proven = root.lower == root.upper
    for is_choice in (is_proven & (root.lower > 0), ~(is_proven & (root.upper < 0)), is_allowed):
        if (choice := is_choice & is_allowed).any():
            break
    logarithms = np.log(root.visits[choice] + np.maximum(root.priors[choice], 1e-6).astype(np.float64))
    shares = np.exp((logarithms - logarithms.max()) / temperature).cumsum()
    return int(root.actions[choice][(shares <= number * shares[-1]).sum()])


@dataclass(frozen=True)
class Level:
    """What a skill was measured to be worth."""

    skill: int
    elo: float
    """On the ladder of the game, where random play is 0."""
    error: float
    """Half of the 95 % interval."""
    num_games: int


@dataclass(frozen=True)
class Levels:
    """What skills are worth for one player of one game."""

    game: str
    """By its full name."""
    player: str
    """`rollouts`, or which network: as `zerosum.play.player.SearchContestant.network`."""
    levels: tuple[Level, ...]
    """At least two, by skill."""

    def skill_for(self, elo: float) -> float:
        """The skill that is worth so much, between those that were measured."""
        # Where a measurement says that more skill is worth less, it is taken to be worth the same.
        elos = np.maximum.accumulate([level.elo for level in self.levels])
        return float(np.interp(elo, elos, [level.skill for level in self.levels]))

    @property
    def lowest(self) -> int:
        """The least Elo that can be asked for."""
        return round(self.levels[0].elo)

    @property
    def highest(self) -> int:
        """The most Elo that can be asked for."""
        return round(max(level.elo for level in self.levels))

    def write(self, path: Path) -> None:
        """Keep them in a file of JSON."""
        replace_durably(path, json.dumps(asdict(self), indent=1) + "\n")


def read_levels(path: Path) -> Levels | None:
    """What is in the file; None without one.

    Raises:
        DataError: it is no such file.
    """
    return _parsed(path.read_text(encoding="utf-8"), str(path)) if path.is_file() else None


def levels_of(game: Rules, run: Path | None, network: str) -> Levels | None:
    """What is known of a player's skills: of a network from its run, of rollouts from what comes with the program.

    None if nothing is, or the run has learned on since.

    Raises:
        DataError: the run's file is damaged.
    """
    if run is not None:
        for directory in (run, *run.parents[:2]):  # a run, its checkpoints, or one of them
            found = read_levels(directory / LEVELS_FILE)
            if found is not None:
                return found if found.player == network else None
        return None
    packaged = resources.files("zerosum").joinpath(f"data/levels/{game.spec.name}.json")
    if not packaged.is_file():
        return None
    found = _parsed(packaged.read_text(encoding="utf-8"), str(packaged))
    return found if _without_endings(game) == _without_endings(make(found.game)) else None


def _without_endings(game: Rules) -> tuple[str, dict[str, str]]:
    """What a game is but for options that hardly matter to how strong somebody is."""
    return game.spec.name, {
        name: value for name, value in given_options(game).items() if name not in ("max_plies", "entering_king")
    }


def _parsed(text: str, path: str) -> Levels:
    try:
        return _built(json.loads(text))
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path} is damaged ({error}): measure again with `zerosum levels`.") from error


def _built(values: dict[str, object]) -> Levels:
    levels = values["levels"]
    if not isinstance(levels, list) or len(levels) < 2:
        raise ValueError("expected two levels or more")
    return Levels(str(values["game"]), str(values["player"]), tuple(Level(**level) for level in levels))

"""Weaker play against people: few simulations per move, and moves drawn at random.

Skill ranges from 0 to 20, the full strength. Below 20 a move has `simulations_of(skill)` simulations, or
`positions_of(skill)` positions of an alpha-beta search, and is drawn by
`drawn_action` at `temperature_of(skill)`. The strength in Elo depends on the network: `zerosum levels` measures it, and
`Levels` holds the result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np

from zerosum._core import Root
from zerosum.base.errors import DataError, SettingsError, shown
from zerosum.base.files import MOST_NOTE_BYTES, read_text, replace_durably
from zerosum.games import Rules, make
from zerosum.games.rules import given_options
from zerosum.network.evaluators.evaluator import Evaluator
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.play.origin import ALPHA_BETA_NODES
from zerosum.play.player import Player, network_name, seeing_ends
from zerosum.play.runs import network_at
from zerosum.search import SearchConfig

MOST_SKILL = 20
"""The skill of full strength."""
HIGHEST_TEMPERATURE = 10.0
LEVELS_FILE = "levels.json"
"""Name of the file of levels in a run's directory."""


def simulations_of(skill: float) -> int:
    """Simulations per move at a skill below 20.

    >>> [simulations_of(skill) for skill in (0, 5, 10, 15, 19)]
    [4, 13, 40, 128, 323]
    """
    return round(4 * 2 ** (skill / 3))


def positions_of(skill: float) -> int:
    """Positions per move of an alpha-beta search at a skill below 20, a constant factor more with each skill.

    >>> [positions_of(skill) for skill in (0, 5, 10, 15, 19)]
    [4, 50, 632, 7953, 60270]
    """
    return round(4 * math.pow(ALPHA_BETA_NODES / 4, skill / MOST_SKILL))


def temperature_of(skill: float) -> float:
    """The temperature of drawn moves at a skill; 0 plays the best.

    >>> [temperature_of(skill) for skill in (0, 5, 10, 15, 20)]
    [2.0, 1.125, 0.5, 0.125, 0.0]
    """
    return float(2 * (1 - skill / MOST_SKILL) ** 2)


def skilled_search(config: SearchConfig) -> SearchConfig:
    """A player's settings for a search of few simulations: one leaf at a time, PUCT, no search for mates."""
    return replace(config, root_selection="puct", leaves_in_flight=1, batches_in_flight=1, proof_nodes=0)


def visits_of(skill: float, *, is_alpha_beta: bool) -> int:
    """Positions of an alpha-beta search, or simulations of a tree search, per move at a skill below 20."""
    return positions_of(skill) if is_alpha_beta else simulations_of(skill)


def search_of_skill(config: SearchConfig, evaluator: Evaluator, skill: float) -> SearchConfig:
    """The shorter search of a skill below 20; its moves are drawn at `temperature_of(skill)`."""
    number = visits_of(skill, is_alpha_beta=isinstance(evaluator, UpdatableEvaluator))
    return seeing_ends(replace(skilled_search(config), num_simulations=number), evaluator)


def with_search_of_skill(player: Player, skill: float) -> Player:
    """The player with the search of `search_of_skill`."""
    return player.judged_by(player.evaluator, search_of_skill(player.config, player.evaluator, skill))


def drawn_action(root: Root, number: float, *, temperature: float, allowed: Sequence[int] = ()) -> int:
    """The move drawn by a number in [0, 1), in proportion to (N + P)^(1 / temperature); at 0 the best.

    N are a move's visits, P its prior: P spreads one further visit over all moves, so that a high temperature can draw
    any of them. After a single simulation N says nothing, and the draw is in proportion to P^(1 / temperature): the
    policy alone, such as that of a network that learned which moves people play. A proven win is always played, a
    proven loss only if all moves are proven losses.

    Args:
        root: A root that was searched.
        number: In [0, 1).
        temperature: At least 0.
        allowed: Moves to choose from; empty for all legal ones.
    """
    assert root.best_action is not None
    if temperature == 0:
        return root.best_action
    is_allowed = np.isin(root.actions, allowed) if allowed else np.ones(len(root.actions), bool)
    is_proven = root.lower == root.upper
    for is_choice in (is_proven & (root.lower > 0), ~(is_proven & (root.upper < 0)), is_allowed):
        if (choice := is_choice & is_allowed).any():
            break
    visits = root.visits[choice] if root.num_simulations > 1 else 0
    logarithms = np.log(visits + np.maximum(root.priors[choice], 1e-6).astype(np.float64))
    shares = np.exp((logarithms - logarithms.max()) / temperature).cumsum()
    return int(root.actions[choice][(shares <= number * shares[-1]).sum()])


@dataclass(frozen=True)
class Level:
    """The measured strength of a skill."""

    skill: int
    elo: float
    """Rating on the game's ladder, where random play is 0."""
    error: float
    """Half of the 95 % interval."""
    num_games: int


@dataclass(frozen=True)
class Levels:
    """The measured strength of skills, for one player of one game."""

    game: str
    """The game's full name."""
    player: str
    """`rollouts`, or the network's identity (`zerosum.play.contestant.SearchContestant.network`)."""
    levels: tuple[Level, ...]
    """At least two levels, ordered by skill."""

    def skill_for(self, elo: float) -> float:
        """The skill of a rating, interpolated between measured ones; the nearest one outside of them."""
        # A skill that measured weaker than a lower one counts as equally strong.
        elos = np.maximum.accumulate([level.elo for level in self.levels])
        return float(np.interp(elo, elos, [level.skill for level in self.levels]))

    def require(self, elo: float) -> float:
        """As `skill_for`, but it raises SettingsError outside of the measured ratings."""
        if not self.lowest <= elo <= self.highest:
            raise SettingsError(
                f"elo is {elo:g}, expected {self.lowest} to {self.highest}: the measured ratings on the ladder of"
                f" {self.game}, where random play is 0."
            )
        return self.skill_for(elo)

    @property
    def lowest(self) -> int:
        """The lowest rating that a client can set."""
        return round(self.levels[0].elo)

    @property
    def highest(self) -> int:
        """The highest rating that a client can set."""
        return round(max(level.elo for level in self.levels))

    def write(self, path: Path) -> None:
        """Write the levels to a JSON file."""
        replace_durably(path, json.dumps(asdict(self), indent=1) + "\n")


def read_levels(path: Path) -> Levels | None:
    """Read levels from a file; None if it does not exist.

    Raises:
        DataError: the file is damaged.
    """
    try:
        return _parsed(read_text(path, most_bytes=MOST_NOTE_BYTES), str(path))
    except (FileNotFoundError, NotADirectoryError):  # a checkpoint that is named by its file has none beside it
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(str(path), error) from error


def levels_of(game: Rules, run: Path | None) -> Levels | None:
    """The levels of a player: a network's from its run, those of rollouts (None) from a file of this package.

    None if nothing was measured, or the run has learned since.

    Raises:
        DataError: the run's file is damaged, or as `network_at`.
    """
    if run is not None:
        for directory in (run, *run.parents[:2]):  # a run, its checkpoints, or one of them
            found = read_levels(directory / LEVELS_FILE)
            if found is not None:
                return found if found.player == network_name(network_at(run)) else None
        return None
    packaged = resources.files("zerosum").joinpath(f"data/levels/{game.spec.name}.json")
    if not packaged.is_file():
        return None
    found = _parsed(packaged.read_text(encoding="utf-8"), str(packaged))
    return found if _without_endings(game) == _without_endings(make(found.game)) else None


def _without_endings(game: Rules) -> tuple[str, dict[str, str]]:
    """A game's name and its options, without those that hardly change a player's strength."""
    return game.spec.name, {
        name: value for name, value in given_options(game).items() if name not in ("max_plies", "entering_king")
    }


def _parsed(text: str, path: str) -> Levels:
    try:
        return _built(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _damaged(path, error) from error


def _damaged(path: str, error: Exception) -> DataError:
    return DataError(f"{path} is damaged ({shown(str(error))}): measure again with `zerosum levels`.")


def _built(values: dict[str, object]) -> Levels:
    levels = values["levels"]
    if not isinstance(levels, list) or len(levels) < 2:
        raise ValueError("expected two levels or more")
    return Levels(str(values["game"]), str(values["player"]), tuple(Level(**level) for level in levels))

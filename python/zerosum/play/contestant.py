"""Descriptions of the players of a match, which `zerosum.arena` seats at many boards.

A search of ours, another program, or a player without a network (random moves, alpha-beta of a fixed depth).
`own_contestants.py` makes ours from words, `entries.py` all of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from zerosum._core import MAX_ALPHA_BETA_DEPTH
from zerosum.base.errors import SettingsError
from zerosum.contest.adjudication import ResignRule, Score, moves_to_mate
from zerosum.contest.mover import Program, Terms
from zerosum.games import Rules, State, measure_game
from zerosum.games.rules import with_planes_of
from zerosum.network.evaluators import Evaluator, RolloutEvaluator
from zerosum.network.evaluators.ownership import OwnershipNetwork
from zerosum.play.analysis import win_rate
from zerosum.play.player import Player
from zerosum.play.words import ALPHA_BETA as ALPHA_BETA
from zerosum.play.words import ROLLOUTS as ROLLOUTS
from zerosum.search import SearchConfig

DEFAULT_ROLLOUTS = 1000
"""Default number of simulations per move of the `rollouts` player."""
DEFAULT_DEPTH = 3
"""Default depth of the `alphabeta` player, in plies."""


@dataclass(frozen=True)
class SearchContestant:
    """A search of ours with an evaluator."""

    name: str
    evaluator: Evaluator
    search: SearchConfig = SearchConfig()
    """`num_simulations` applies if `terms` have neither nodes nor a time."""
    terms: Terms = Terms()
    sampled_plies: int = 0
    """Number of first plies in which moves are drawn in proportion to their visits."""
    sampled_within: float | None = None
    """Most winning chance in [0, 1] that a move drawn in these plies may lack to the best one (`near_best_action` in
    `search_mover.py`); None for no limit."""
    temperature: float = 0.0
    """The temperature at which all moves are drawn (`zerosum.play.skill.drawn_action`); 0 plays the best."""
    resign: ResignRule | None = None
    network: str = ""
    """Identity of the evaluator's network: "step 1200, of 2026-01-31T12:00:00"."""
    planes_of: Rules | None = None
    """A game with the planes that the network takes; None if they are those of every game that it plays."""
    ownership: OwnershipNetwork | None = None
    """The network, if it tells what will be whose at the end of the game."""

    def __post_init__(self) -> None:
        if self.terms.depth is not None:
            raise _no_depth(self.name, self.terms)
        if not self.terms.has_clock:
            _require_no_time_management(self.name, self.terms)
        if self.sampled_plies < 0:
            raise not_sampled(self.name, self.sampled_plies)
        if self.sampled_within is not None and not (self.sampled_plies and 0 <= self.sampled_within <= 1):
            raise SettingsError(
                f"{self.name} draws moves within {100 * self.sampled_within:g} % of the best one: expected 0 to 100,"
                " and a number of plies (sample)."
            )
        if self.temperature and self.sampled_plies:
            raise SettingsError(
                f"{self.name} has a temperature of {self.temperature:g} and sampled_plies={self.sampled_plies}: set one"
                " of them only."
            )
        if self._resigns_by_lead and (self.ownership is None or not self.ownership.knows_points):
            raise SettingsError(
                f"{self.name} resigns by {self.resign}, but has no network that tells the score: use winrate."
            )

    @property
    def _resigns_by_lead(self) -> bool:
        return self.resign is not None and self.resign.lead is not None

    def score(self, game: Rules, state: State, value: float, *, plies_to_end: int | None) -> Score:
        """The score of a searched position; its lead, by the network, is there if the rule of resignation needs it.

        Args:
            game: It has the planes of the network (`rules`).
            state: The position, which is not over.
            value: The search's value for the player to move, in [-1, 1].
            plies_to_end: Plies to a forced end, positive for a win of the player to move; None if none is known.
        """
        if plies_to_end is not None:
            return Score(mate=moves_to_mate(plies_to_end))
        if not self._resigns_by_lead:
            return Score(win_rate=win_rate(value))
        assert self.ownership is not None
        return Score(win_rate=win_rate(value), lead=self.ownership.points(game.encode([state]).planes()).lead)

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""
        drawn = {"temperature": self.temperature} if self.temperature else {}
        drawn |= {} if self.sampled_within is None else {"sampled within": self.sampled_within}
        return {"network": self.network, "search": asdict(self.search), "sampled plies": self.sampled_plies, **drawn}

    @property
    def num_simulations(self) -> int:
        """Simulations of a move without a clock."""
        return self.terms.nodes or self.search.num_simulations

    def rules(self, game: Rules) -> Rules:
        """The rules that are played, with the planes of the network. Both games share their states."""
        return game if self.planes_of is None else with_planes_of(game, self.planes_of)

    def player(self, game: Rules, *, num_batches: int = 1) -> Player:
        """The player for one board, which keeps `num_batches` batches at the evaluator in a search by time."""
        return Player(
            self.rules(game),
            self.evaluator,
            self.search,
            name=self.name,
            num_batches=num_batches,
            ownership=self.ownership,
        )


@dataclass(frozen=True)
class ProgramContestant:
    """A program that plays moves, such as an engine (`EngineCommand`)."""

    name: str
    program: Program
    terms: Terms = Terms()
    resign: ResignRule | None = None

    def __post_init__(self) -> None:
        _require_no_management(self.name, self.terms)
        if self.resign is not None and self.resign.lead is not None:
            raise SettingsError(
                f"{self.name} resigns by {self.resign}, but only our tree search tells the lead: use score or winrate."
            )

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""
        return {"program": repr(self.program)}


@dataclass(frozen=True)
class RulesPlayer:
    """A player without a network and without memory of earlier moves: random moves, or alpha-beta of a fixed depth.

    Alpha-beta is `zerosum._core.Game.alpha_beta`: a plain count of material without quiescence search, which a result
    outweighs. It plays any game and learns nothing.
    """

    name: str
    depth: int | None = None
    """Plies of the alpha-beta search; None plays uniformly random moves, the zero of every rating."""
    terms: Terms = Terms()
    """Only a clock is allowed."""

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth <= MAX_ALPHA_BETA_DEPTH:
            raise SettingsError(f"{ALPHA_BETA}@{self.depth}: expected a depth of 1 to {MAX_ALPHA_BETA_DEPTH} plies.")
        is_random = self.depth is None
        why = "random play does not search" if is_random else "its depth is the number after the @"
        if self.terms.depth is not None:
            raise _no_depth(self.name, self.terms)
        if self.terms.nodes is not None:
            raise SettingsError(f"{self.name} has {self.terms.nodes} nodes, but {why}.")
        _require_no_time_management(self.name, self.terms)

    @property
    def resign(self) -> None:
        """None: it does not evaluate its position."""

    def description(self) -> dict[str, Any]:
        """Everything else that its moves depend on, ready for JSON."""
        return {}


Contestant = SearchContestant | ProgramContestant | RulesPlayer
"""A player of a match, described. Each kind raises SettingsError for terms that it cannot use."""


def _no_depth(name: str, terms: Terms) -> SettingsError:
    return SettingsError(f"{name} has a depth of {terms.depth}, which only engines take: use nodes.")


def _require_no_management(name: str, terms: Terms) -> None:
    if terms.time_config != Terms().time_config:
        said = f"manager={terms.time_config.manager} and overhead={terms.time_config.overhead_s:g}"
        raise SettingsError(f"{name} has {said}, which only our own searches with a clock take.")


def _require_no_time_management(name: str, terms: Terms) -> None:
    _require_no_management(name, terms)
    if terms.ponder:
        raise SettingsError(
            f"{name} cannot ponder, as engines and our own searches with a clock do: add tc or st, or leave it out."
        )


def not_sampled(name: str, num_plies: int) -> SettingsError:
    """The error for a player whose first moves cannot be sampled."""
    return SettingsError(
        f"{name} cannot sample its moves in the first {num_plies} plies: expected a run, a checkpoint or rollouts, and"
        " a number of at least 0."
    )


RANDOM = RulesPlayer("random")


def alpha_beta(depth: int) -> RulesPlayer:
    """Alpha-beta search of this depth. Raises SettingsError if it is out of range."""
    return RulesPlayer(f"{ALPHA_BETA}@{depth}", depth)


def rollouts(game: Rules, num_simulations: int, *, seed: int) -> SearchContestant:
    """Pure Monte Carlo tree search: equal priors, one random game per simulation, a new tree for every move.

    c_init is in proportion to the number of legal moves, so that c * P is about 0.6 in any game: of the values tried on
    Connect Four none was stronger (0.3 to 1.5 scored 30 to 50 % against it at 1000 and 4000 simulations). Exact bounds
    would make it stronger (56 % at 1000 simulations, 58 % at 100), but no longer pure.

    Each call advances the evaluator's random numbers, so make a new contestant to repeat a game.
    """
    search = SearchConfig(
        num_simulations=num_simulations,
        c_init=min(0.6 * measure_game(game).legal_actions, 100.0),  # 100 is the maximum of c_init
        c_factor=0.0,
        unvisited_value="parent",
        unvisited_reduction=0.0,
        root_noise_fraction=0.0,
        exact_bounds=False,
        reuse_tree=False,
    )
    return SearchContestant(f"{ROLLOUTS}@{num_simulations}", RolloutEvaluator(seed=seed), search)

"""The study of parts: the network alone, the search alone, and both together, for one run.

AlphaGo's papers show that neither part plays as well by itself. Here the network alone plays the move that its policy
prefers; the search alone has equal priors and values, or random games in place of a network; all searches have the same
number of simulations. Everybody plays everybody.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zerosum.arena import play_match
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.contestant import SearchContestant, rollouts
from zerosum.play.player import Player
from zerosum.report.studies.matches import (
    HEAD,
    OPENING_PLIES,
    Played,
    bars,
    ratings_of,
    require_games,
    require_tree_search,
)
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.study import Job
from zerosum.report.studies.words import StudyWords, about_matches, study_player, subject

GAMES = 100
UNIFORM, ROLLOUTS, NETWORK, BOTH = "search, uniform", "search, rollouts", "network alone", "network and search"
PARTS = (UNIFORM, ROLLOUTS, NETWORK, BOTH)


@dataclass(frozen=True)
class PartsStudy:
    """The options of the study."""

    player: Player = field(repr=False)
    games: int = GAMES
    """Games of each match."""
    seed: int = 0

    @classmethod
    def of(cls, words: StudyWords) -> PartsStudy:
        """The study of a run. Raises SettingsError or DataError if the words do not name one with a policy."""
        games = require_games(words.games, GAMES)
        player = study_player("parts", words, batch_size=64)
        require_tree_search("parts", player.name, is_alpha_beta=player.is_alpha_beta)
        return cls(player, games, words.seed)

    @property
    def kind(self) -> type[Played]:
        """The result of a match."""
        return Played

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that its results depend on."""
        return about_matches("parts", self.player, games=self.games, seed=self.seed)

    def jobs(self) -> Sequence[Job[Played]]:
        """A match of each pair; the stronger one is named first."""
        return [
            Job(f"{first} against {second}", functools.partial(self._play, first, second))
            for second, first in itertools.combinations(PARTS, 2)
        ]

    def _play(self, first: str, second: str, _directory: Path) -> Played:
        one, other = (self._contestant(name) for name in (first, second))
        result = play_match(
            self.player.game, one, other, num_games=self.games, opening_plies=OPENING_PLIES, seed=self.seed
        )
        return Played.of(result, first, second)

    def _contestant(self, name: str) -> SearchContestant:
        # Proofs and tables are knowledge of neither part.
        own, game = replace(self.player.config, proof_nodes=0, syzygy_path="", table_files=""), self.player.game
        if name == BOTH:
            return SearchContestant(name, self.player.evaluator, own)
        if name == NETWORK:
            # The first simulation goes to the move with the largest prior.
            return SearchContestant(name, self.player.evaluator, replace(own, num_simulations=1, exact_bounds=False))
        pure = rollouts(game, own.num_simulations, seed=self.seed)
        return replace(pure, name=name, evaluator=UniformEvaluator() if name == UNIFORM else pure.evaluator)

    def findings(self, results: Mapping[str, Played]) -> Findings:
        """What the matches so far say."""
        matches, simulations = list(results.values()), self.player.config.num_simulations
        title = f"Parts of {subject(self.player)}, {simulations:,} simulations a move"
        sentences = [
            f"{match.first.capitalize()} against {match.second}: {100 * match.score:.1f} % of {match.num_games} games,"
            f" {match.verdict}."
            for match in reversed(matches)
            if NETWORK in (match.first, match.second) or BOTH in (match.first, match.second)
        ]
        tables = [Table("Matches", HEAD, tuple(match.row for match in matches))]
        if len(matches) == len(self.jobs()):
            ratings = ratings_of(matches, UNIFORM)
            rows = tuple((name, str(ratings[name]) if name != UNIFORM else "0") for name in PARTS)
            tables.append(Table("Ratings by all matches", ("player", "Elo"), rows))
        return Findings(
            title,
            " ".join(sentences) or "The matches of the network are still to be played.",
            tuple(tables),
            (bars(matches, "Matches", "Games won, drawn and lost by the player named first."),),
            (
                f"Each pair of games begins with {OPENING_PLIES} random plies. The network alone has one simulation,"
                " which goes to the move of the largest prior; the uniform search knows only how finished games ended.",
            ),
        )

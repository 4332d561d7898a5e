"""The study of diversity: sampling the first moves against an engine that repeats itself.

Two players that always play their best move repeat one game. In the AlphaZero paper (Science 362, 2018) the player's
wins against such an engine went from 5.8 % to 14 % when it sampled its moves in the first 30 plies. Here one run plays
both ways from the initial position, and samples as there (`near_best_action`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zerosum.arena import play_match
from zerosum.play.contestant import SearchContestant
from zerosum.play.player import POSITIONS_PER_SIMULATION, Player
from zerosum.report.studies.matches import HEAD, Played, bars, engine_of, require_games, require_tree_search
from zerosum.report.studies.page import Findings, Table
from zerosum.report.studies.study import Job
from zerosum.report.studies.words import StudyWords, about_matches, study_player, subject

GAMES = 100
SAMPLED_PLIES, SAMPLED_WITHIN = 30, 0.01
"""Those of the paper."""
BEST, SAMPLED = "best moves", "first 30 plies sampled"


@dataclass(frozen=True)
class DiversityStudy:
    """The options of the study."""

    player: Player = field(repr=False)
    opponent: str = ""
    """A word of `zerosum match`; "" for our alpha-beta search that counts material."""
    games: int = GAMES
    """Games of each match."""
    seed: int = 0

    @classmethod
    def of(cls, words: StudyWords) -> DiversityStudy:
        """The study of a run. Raises SettingsError or DataError if the words do not name one with a policy."""
        games = require_games(words.games, GAMES)
        player = study_player("diversity", words, batch_size=64)
        require_tree_search("diversity", player.name, is_alpha_beta=player.is_alpha_beta)
        study = cls(player, words.opponent, games, words.seed)
        engine_of(study.opponent, player.game, study.nodes, name="engine")  # raises before any work
        return study

    @property
    def nodes(self) -> int:
        """Positions of the engine's moves."""
        return POSITIONS_PER_SIMULATION * self.player.config.num_simulations

    @property
    def kind(self) -> type[Played]:
        """The result of a match."""
        return Played

    def about(self) -> Mapping[str, object]:
        """Its name, and everything that its results depend on."""
        return about_matches("diversity", self.player, opponent=self.opponent, games=self.games, seed=self.seed)

    def jobs(self) -> Sequence[Job[Played]]:
        """A match with the best moves, and one with sampled moves."""
        return [
            Job(name, functools.partial(self._play, name, plies))
            for name, plies in ((BEST, 0), (SAMPLED, SAMPLED_PLIES))
        ]

    def _play(self, name: str, sampled_plies: int, _directory: Path) -> Played:
        config = replace(self.player.config, proof_nodes=0)
        player = SearchContestant(
            name,
            self.player.evaluator,
            config,
            sampled_plies=sampled_plies,
            sampled_within=SAMPLED_WITHIN if sampled_plies else None,
        )
        engine = engine_of(self.opponent, self.player.game, self.nodes, name="engine")
        return Played.of(
            play_match(self.player.game, player, engine, num_games=self.games, seed=self.seed), name, "engine"
        )

    def findings(self, results: Mapping[str, Played]) -> Findings:
        """What the matches so far say."""
        matches = list(results.values())
        rows = tuple((*match.row, str(match.num_distinct)) for match in matches)
        return Findings(
            f"Diversity: {subject(self.player)}",
            " ".join(_sentences(results)),
            (Table("Matches", (*HEAD, "different games"), rows),),
            (bars(matches, "Matches", "Games won, drawn and lost by the run's player."),),
            (
                "All games begin in the initial position. A pair of games that repeats an earlier one move for move"
                " adds nothing to the interval.",
            ),
        )


def _sentences(results: Mapping[str, Played]) -> list[str]:
    sentences = [
        f"With its {name} the player wins {100 * match.wins / match.num_games:.1f} % of {match.num_games} games, of"
        f" which {match.num_distinct} are different: {100 * match.score:.1f} % of the points, {match.verdict}."
        for name, match in results.items()
    ]
    if len(results) == 2:
        best, sampled = results[BEST], results[SAMPLED]
        sentences.append(
            f"Sampling changes the share of wins by {100 * (sampled.wins - best.wins) / best.num_games:+.1f} percentage"
            " points; in the paper by +8.2, from 5.8 % to 14 %."
        )
        if best.num_distinct <= 2:
            sentences.append("Without sampling the match is the same two games over and over, so it says little.")
    return sentences

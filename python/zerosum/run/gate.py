"""AlphaGo Zero's gate: self-play has the best network so far, which a newer one must beat to replace it.

Silver et al., Nature 550 (2017), Methods, "Evaluator": each checkpoint plays 400 games against the best network, and
replaces it if it wins more than 55 % of them. AlphaZero has no gate (`training.gate_games` 0).

    runs/go9/gate.jsonl          a line for each match
    runs/go9/checkpoints/best    the name of the checkpoint that plays
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

from zerosum.arena import play_match
from zerosum.base.files import append_line, read_lines, repair_lines
from zerosum.network import Checkpoint, load_checkpoint
from zerosum.network.checkpoint import checkpoint_path, mark_best
from zerosum.network.evaluators import make_evaluator
from zerosum.play.contestant import SearchContestant
from zerosum.run.rating_games import GAMES_AT_ONCE, rating_search
from zerosum.run.run_plan import RunPlan
from zerosum.run.strength import player_name


@dataclass(frozen=True)
class GateMatch:
    """One line of `gate.jsonl`: a candidate against the best network."""

    step: int
    """The candidate's."""
    best: int
    """The step of the best network before the match."""
    points: float
    """The candidate's points: 1 for a win, half for a draw."""
    num_games: int
    """Games until the verdict was certain, at most `training.gate_games`."""
    is_passed: bool
    """Whether the candidate is the best network now."""

    def __str__(self) -> str:
        share = f"{self.points:g} of {self.num_games} points against step {self.best:,}"
        return f"step {self.step:,} {'replaces it' if self.is_passed else 'does not replace it'}: {share}"


class Gate:
    """The best network of a run, and the matches for its place."""

    def __init__(self, plan: RunPlan, *, report: Callable[[str], None]) -> None:
        """Read the matches so far; remove damaged lines with a report.

        Raises:
            RunError: the directory cannot be written.
            DataError: the matches cannot be read.
        """
        self._path, self._checkpoints = plan.directory / "gate.jsonl", plan.directory / "checkpoints"
        self._game, self._config, self._report = plan.game, plan.config, report
        found = read_lines(self._path, _parse_match)
        repair_lines(self._path, found, report=report)
        self._matches = found.entries
        mark_best(self._checkpoints, self.best_step)

    @property
    def best_step(self) -> int:
        """The step of the best network; 0, the first one, before the first change."""
        return max((match.step for match in self._matches if match.is_passed), default=0)

    def best(self) -> Checkpoint:
        """The best network. Raises DataError if its checkpoint is missing or damaged."""
        return load_checkpoint(checkpoint_path(self._checkpoints, self.best_step))

    def judge(self, step: int, *, is_stopped: Callable[[], bool]) -> Checkpoint | None:
        """Let the saved checkpoint of this step meet the best network; return it if it replaces that one.

        The match ends as soon as the games left cannot change the verdict. `is_stopped` ends it without a verdict,
        which the next call for the step makes. A step that has a verdict plays no match.

        Raises:
            RunError: the directory cannot be written.
            DataError: a checkpoint is missing or damaged.
        """
        if step <= self.best_step or any(match.step == step for match in self._matches):
            return None
        match = self._play(step, is_stopped)
        if match is None:
            return None
        append_line(self._path, json.dumps(asdict(match)))
        self._matches.append(match)
        self._report(f"      gate: {match}")
        if not match.is_passed:
            return None
        mark_best(self._checkpoints, step)
        return self.best()

    def _play(self, step: int, is_stopped: Callable[[], bool]) -> GateMatch | None:
        training, best_step = self._config.training, self.best_step
        players = [self._player(number) for number in (step, best_step)]
        points, num_games = 0.0, 0
        # Exact, as a person computes it: in floating point, 0.57 of 100 games are fewer than 57 points.
        least_points = Fraction(str(training.gate_score)) * training.gate_games
        while not is_stopped():
            most_points = points + training.gate_games - num_games
            if points > least_points or most_points <= least_points:
                return GateMatch(step, best_step, points, num_games, points > least_points)
            result = play_match(
                self._game,
                *players,
                num_games=min(GAMES_AT_ONCE, training.gate_games - num_games),
                opening_plies=self._config.strength.opening_plies,
                seed=int(np.random.SeedSequence((training.seed, step, num_games)).generate_state(1)[0]),
                max_games_at_once=GAMES_AT_ONCE,
            )
            points += sum(result.points)
            num_games += len(result.points)
        return None

    def _player(self, step: int) -> SearchContestant:
        checkpoint = load_checkpoint(checkpoint_path(self._checkpoints, step))
        evaluator = make_evaluator(
            checkpoint, self._config.training.evaluator, batch_size=GAMES_AT_ONCE, game=self._game
        )
        return SearchContestant(player_name(step), evaluator, rating_search(self._config))


def _parse_match(line: str) -> GateMatch:
    """A line as a match. Raises ValueError or TypeError if it is not one."""
    match = GateMatch(**json.loads(line))
    counts = (match.step, match.best, match.num_games)
    if not all(type(count) is int and count >= 0 for count in counts) or match.step <= match.best:
        raise ValueError("not a later step against an earlier one")
    if not 0 <= match.points <= match.num_games or not isinstance(match.is_passed, bool):
        raise ValueError("not a verdict on so many games")
    return match

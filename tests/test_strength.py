"""Rating games of a run's checkpoints: played once, written down, within their budget, and what they say of the run."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from zerosum._core import Leaves
from zerosum.checkpoint import Checkpoint, CheckpointInfo, save_checkpoint
from zerosum.config import RunConfig, new_config
from zerosum.errors import DataError
from zerosum.evaluator import Evaluations, UniformEvaluator
from zerosum.games import make
from zerosum.network import initial_weights
from zerosum.strength import RatingMatch, Strength, player_name, read_matches

GAME = make("tictactoe")
SETTINGS = [
    "training.steps=100",
    "search.num_simulations=8",
    "strength.rollout_simulations=5,2",
    "network.num_blocks=1",
    "network.num_filters=4",
]


class CountingEvaluator(UniformEvaluator):
    """Counts the positions that it is asked about."""

    num_leaves = 0

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.num_leaves += len(leaves)
        return super().evaluate(leaves)


def config_with(*overrides: str) -> RunConfig:
    return new_config(GAME, "tictactoe", overrides=[*SETTINGS, *overrides])


def strength_of(run: Path, *matches: RatingMatch, overrides: tuple[str, ...] = ()) -> Strength:
    """The ratings of a run in which these matches were played so far."""
    if matches:
        lines = [json.dumps(asdict(match)) + "\n" for match in matches]
        (run / "strength.jsonl").write_text("".join(lines), encoding="utf-8")
    return Strength(run, GAME, config_with(*overrides))


def match(player: str, opponent: str, points: float, *, num_games: int = 100) -> RatingMatch:
    return RatingMatch(player, opponent, points, num_games, evaluations=0, seconds=0.0)


def opponents_of(strength: Strength, player: str) -> list[str]:
    return [played.opponent for played in strength.matches if played.player == player]


# What is played


def test_a_checkpoint_is_rated_once_and_the_games_are_written_down(tmp_path: Path) -> None:
    strength = strength_of(tmp_path)
    strength.rate(5, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert strength.rated_steps == [5]
    assert strength.newest == strength.ratings[player_name(5)]
    played = list(strength.matches)
    strength.rate(5, UniformEvaluator(), num_evaluations=10**7, elapsed_s=1e7)
    assert strength.matches == played
    again = strength_of(tmp_path)
    assert again.matches == played
    assert again.ratings == strength.ratings
    again.rate(5, UniformEvaluator(), num_evaluations=10**7, elapsed_s=1e7)
    assert again.matches == played
    again.rate(9, UniformEvaluator(), num_evaluations=10**7, elapsed_s=1e7)
    assert again.rated_steps == [5, 9]


def test_anchors_are_linked_down_to_random_play(tmp_path: Path) -> None:
    """An anchor meets the next weaker one before a checkpoint meets it; once it is beaten, the next stronger comes."""
    strength = strength_of(tmp_path)
    strength.rate(5, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert opponents_of(strength, "rollouts@2") == ["random"]
    assert "rollouts@2" in opponents_of(strength, "step 5")
    strength = strength_of(tmp_path, match("rollouts@2", "random", 80), match("step 5", "rollouts@2", 99))
    strength.rate(7, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert opponents_of(strength, "rollouts@2") == ["random"]
    assert opponents_of(strength, "rollouts@5") == ["rollouts@2"]
    assert "rollouts@5" in opponents_of(strength, "step 7")
    assert "rollouts@2" not in opponents_of(strength, "step 7")
    assert set(strength.ratings) == {"random", "rollouts@2", "rollouts@5", "step 5", "step 7"}
    strength.rate(8, UniformEvaluator(), num_evaluations=10**7, elapsed_s=1e7)
    assert opponents_of(strength, "rollouts@5") == ["rollouts@2"], "once is enough"


def test_the_checkpoint_before_is_met(tmp_path: Path) -> None:
    config = config_with()
    for step in (0, 5, 9):
        info = CheckpointInfo.describe(GAME.spec, config.network, step=step)
        weights = initial_weights(config.network, info.shape, seed=step)
        save_checkpoint(tmp_path / "checkpoints", Checkpoint(info, weights), learner_state={}, learner_info={})
    strength = strength_of(tmp_path)
    for step in (5, 9):
        strength.rate(step, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert "step 0" in opponents_of(strength, "step 5")
    assert "step 5" in opponents_of(strength, "step 9")


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_the_budget_of_evaluations_is_kept(tmp_path: Path, share: float) -> None:
    """At most one match goes beyond it: how long games are is known when they are over."""
    strength = strength_of(tmp_path, overrides=(f"strength.budget_share={share}",))
    evaluator = CountingEvaluator()
    for step in range(1, 9):
        strength.rate(step, evaluator, num_evaluations=10_000 * step, elapsed_s=1e6)
        assert evaluator.num_leaves == sum(played.evaluations for played in strength.matches)
        largest = max(played.evaluations for played in strength.matches)
        assert evaluator.num_leaves <= share * 10_000 * step + largest
    assert evaluator.num_leaves > 0.5 * share * 80_000, "and it is used"


@pytest.mark.parametrize(("num_evaluations", "elapsed_s"), [(0, 1e6), (10**6, 0.0)])
def test_without_evaluations_or_time_no_checkpoint_plays(
    tmp_path: Path, num_evaluations: int, elapsed_s: float
) -> None:
    strength, evaluator = strength_of(tmp_path), CountingEvaluator()
    strength.rate(5, evaluator, num_evaluations=num_evaluations, elapsed_s=elapsed_s)
    assert (strength.rated_steps, strength.newest, evaluator.num_leaves) == ([], None, 0)


# The file


def test_a_line_that_was_cut_short_is_dropped(tmp_path: Path) -> None:
    whole = [match("step 1", "random", 60), match("step 2", "random", 80)]
    path = tmp_path / "strength.jsonl"
    strength_of(tmp_path, *whole)
    before = path.read_text(encoding="utf-8")
    path.write_text(before + before[:30], encoding="utf-8")
    assert read_matches(path) == whole
    assert path.read_text(encoding="utf-8") == before, "what is written next begins a line"


@pytest.mark.parametrize("damaged", ['{"player": "step 2"', "[]", '{"player": "step 2"}', '{"unknown": 3}', ""])
def test_a_damaged_line_is_named(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "strength.jsonl"
    line = json.dumps(asdict(match("step 1", "random", 60)))
    path.write_text(f"{line}\n{damaged}\n{line}\n", encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"strength.jsonl, line 2 is damaged \(.*\): take the line out to go on"):
        Strength(tmp_path, GAME, config_with())
    assert path.read_bytes() == before


def test_a_run_without_rating_games_has_no_ratings(tmp_path: Path) -> None:
    strength = strength_of(tmp_path)
    assert (strength.matches, strength.ratings, strength.newest) == ([], {}, None)
    assert not (tmp_path / "strength.jsonl").exists()


# What it says

DIFFERENCE = r"[+-]\d+ Elo"


@pytest.mark.parametrize(
    ("points", "verdict"),
    [
        ({}, "too early to tell"),
        ({1: 90}, "too early to tell"),
        ({1: 50, 2: 90}, rf"yes, {DIFFERENCE} since step 1"),
        ({0: 50, 1: 70, 2: 90}, rf"yes, {DIFFERENCE} since step 0"),
        ({1: 99, 2: 100}, rf"not visibly, {DIFFERENCE} since step 1"),
        ({1: 80, 2: 100}, rf"yes, {DIFFERENCE} since step 1"),
        ({1: 50, 2: 53}, rf"not visibly, {DIFFERENCE} since step 1"),
        ({1: 90, 2: 88, 3: 91}, rf"not visibly, {DIFFERENCE} since step 1"),
        ({1: 50, 2: 95, 3: 60}, r"it did, but step 2 is stronger by \d+ Elo"),
        ({1: 90, 2: 50}, r"it did, but step 1 is stronger by \d+ Elo"),
    ],
)
def test_is_it_learning(tmp_path: Path, points: dict[int, float], verdict: str) -> None:
    """Against random play each checkpoint had so many points of a hundred."""
    matches = [match(player_name(step), "random", gained) for step, gained in points.items()]
    said = strength_of(tmp_path, *matches).verdict()
    assert re.fullmatch(verdict, said), said

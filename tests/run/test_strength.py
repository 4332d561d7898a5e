"""Rating games of a run's checkpoints: played once, written down, within their budget, and what they say of the run."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from zerosum._core import Leaves
from zerosum.base.errors import RunError
from zerosum.contest.elo import Rating
from zerosum.games import make
from zerosum.games.rules import GameSize
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights, save_checkpoint
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.run.config import RunConfig, new_config
from zerosum.run.rating_games import RatingGames, RatingPlayer
from zerosum.run.strength import (
    CHUNK,
    EARLY_SHARE,
    FINAL_GAMES,
    LINK_GAMES,
    REFERENCE_GAMES,
    REFERENCE_SHARE,
    RatingMatch,
    Strength,
    player_name,
)

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


def save_steps(run: Path, *steps: int) -> None:
    """Checkpoints of networks that know nothing."""
    config = config_with()
    for step in steps:
        info = CheckpointInfo.describe(GAME.spec, config.network, step=step)
        weights = initial_weights(config.network, info.shape, seed=step)
        save_checkpoint(run / "checkpoints", Checkpoint(info, weights), learner_state={}, learner_info={})


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
    assert opponents_of(strength, "rollouts@2") == ["random"] * (LINK_GAMES // CHUNK)
    assert "rollouts@2" in opponents_of(strength, "step 5")
    strength = strength_of(tmp_path, match("rollouts@2", "random", 80), match("step 5", "rollouts@2", 99))
    links = ["rollouts@2"] * (LINK_GAMES // CHUNK)
    strength.rate(7, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert opponents_of(strength, "rollouts@2") == ["random"]
    assert opponents_of(strength, "rollouts@5") == links
    assert "rollouts@5" in opponents_of(strength, "step 7")
    assert "rollouts@2" not in opponents_of(strength, "step 7")
    assert set(strength.ratings) == {"random", "rollouts@2", "rollouts@5", "step 5", "step 7"}
    strength.rate(8, UniformEvaluator(), num_evaluations=10**7, elapsed_s=1e7)
    assert opponents_of(strength, "rollouts@5") == links, "once is enough"


def test_the_checkpoint_before_is_met(tmp_path: Path) -> None:
    save_steps(tmp_path, 0, 5, 9)
    strength = strength_of(tmp_path)
    for step in (5, 9):
        strength.rate(step, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert "step 0" in opponents_of(strength, "step 5")
    assert "step 5" in opponents_of(strength, "step 9")


@pytest.mark.parametrize("share", [0.02, 0.2])
def test_the_budget_of_evaluations_is_kept(tmp_path: Path, share: float) -> None:
    """At most one match exceeds the budget, because the length of games is known only at their end."""
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


def test_without_room_nobody_is_loaded_and_no_link_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_steps(tmp_path, 0, 5)
    strength = strength_of(tmp_path, match("step 5", "random", 60), overrides=("search.num_simulations=64",))
    for name in ("strength.load_checkpoint", "strength.play_rating_games", "rating_games.rollouts"):
        monkeypatch.setattr(f"zerosum.run.{name}", None)
    strength.rate(7, UniformEvaluator(), num_evaluations=2000, elapsed_s=1e6)
    strength.rate(7, UniformEvaluator(), num_evaluations=10**7, elapsed_s=0.0)


def test_links_of_slow_games_keep_the_time_and_go_on_later(tmp_path: Path) -> None:
    clock = itertools.count(step=10.0)
    strength = Strength(tmp_path, GAME, config_with(), clock=lambda: next(clock))
    share = 2 * config_with().strength.budget_share * EARLY_SHARE * REFERENCE_SHARE
    strength.rate(5, UniformEvaluator(), num_evaluations=10**7, elapsed_s=25 / share)
    assert opponents_of(strength, "rollouts@2") == ["random"] * 3, "after 0, 10 and 20 seconds"
    assert strength.rated_steps == [5], "links leave time for the checkpoint"
    strength.rate(6, UniformEvaluator(), num_evaluations=10**7, elapsed_s=1e6)
    assert len(opponents_of(strength, "rollouts@2")) == LINK_GAMES // CHUNK
    assert strength.rated_steps == [5, 6]


def test_the_untrained_network_is_rated_first(tmp_path: Path) -> None:
    save_steps(tmp_path, 0)
    strength = strength_of(tmp_path)
    strength.rate(5, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    played = [match for match in strength.matches if match.player == "step 0"]
    assert {match.opponent for match in played} == {"random", "rollouts@2"}
    assert sum(match.num_games for match in played) == REFERENCE_GAMES
    strength.rate(6, UniformEvaluator(), num_evaluations=10**7, elapsed_s=1e7)
    assert [match for match in strength.matches if match.player == "step 0"] == played, "once is enough"
    assert strength.rated_steps == [0, 5, 6]


def test_the_first_games_are_as_many_as_random_games_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = []
    for plies in (4, 4000):
        monkeypatch.setattr(
            "zerosum.run.strength.measure_game",
            lambda game, num_games, plies=plies: GameSize(legal_actions=5, plies=plies),
        )
        (run := tmp_path / str(plies)).mkdir()
        strength = strength_of(run)
        strength.rate(5, UniformEvaluator(), num_evaluations=20_000, elapsed_s=1e6)
        numbers.append(sum(match.num_games for match in strength.matches if match.player == "step 5"))
    assert numbers[0] > 10
    assert numbers[1] == 0


def test_a_part_of_the_budget_is_kept_for_the_last_checkpoint(tmp_path: Path) -> None:
    strength, evaluator = strength_of(tmp_path), CountingEvaluator()
    budget = config_with().strength.budget_share * 80_000
    for step in range(1, 20):
        strength.rate(step, evaluator, num_evaluations=80_000, elapsed_s=1e6)
    largest = max(played.evaluations for played in strength.matches)
    assert EARLY_SHARE * budget - largest < evaluator.num_leaves <= EARLY_SHARE * budget + largest
    before = evaluator.num_leaves
    strength.rate_last(strength.rated_steps[-1], evaluator, num_evaluations=80_000, seconds=1e6)
    assert evaluator.num_leaves > before, "it was rated, and plays on"
    assert evaluator.num_leaves <= budget + largest


@pytest.mark.parametrize(("num_evaluations", "seconds"), [(100, 1e6), (10**6, 0.0)])
def test_the_last_checkpoint_is_rated_whatever_other_games_used(
    tmp_path: Path, num_evaluations: int, seconds: float
) -> None:
    spent = RatingMatch("step 0", "random", 20.0, 32, evaluations=10**6, seconds=1e6)
    strength = strength_of(tmp_path, spent)
    strength.rate(7, UniformEvaluator(), num_evaluations=num_evaluations, elapsed_s=1e6)
    assert strength.rated_steps == [0]
    strength.rate_last(9, UniformEvaluator(), num_evaluations=num_evaluations, seconds=seconds)
    assert strength.rated_steps == [0, 9]
    assert opponents_of(strength, "step 9") == ["rollouts@2"], "and no more than its first games"


def test_the_last_checkpoint_climbs_to_the_strongest_anchor_and_meets_it_often(tmp_path: Path) -> None:
    """A player that wins every game meets each anchor a few times, and the strongest in as many games as are needed."""

    def won(player: RatingPlayer, opponent: RatingPlayer, *, num_games: int, seed: int) -> RatingGames:
        return RatingGames([((), 1.0)] * num_games, evaluations=10, seconds=0.1)

    strength = Strength(tmp_path, GAME, config_with(), play=won)
    strength.rate_last(9, UniformEvaluator(), num_evaluations=10**6, seconds=1e6)
    met = {
        name: sum(
            played.num_games for played in strength.matches if (played.player, played.opponent) == ("step 9", name)
        )
        for name in opponents_of(strength, "step 9")
    }
    assert met["rollouts@5"] == FINAL_GAMES
    assert met["rollouts@2"] == CHUNK
    assert strength.summary(9) == f"beats rollouts@5: {FINAL_GAMES} of {FINAL_GAMES} points"


def test_without_a_limit_of_time_the_last_checkpoints_anchors_are_linked_in_full(tmp_path: Path) -> None:
    """As in a deterministic run, whose budget is evaluations alone."""
    strength = strength_of(tmp_path)
    strength.rate_last(9, UniformEvaluator(), num_evaluations=10**6, seconds=math.inf)
    games = [
        match.num_games for match in strength.matches if (match.player, match.opponent) == ("rollouts@2", "random")
    ]
    assert sum(games) == LINK_GAMES


def test_a_line_that_two_networks_play_with_both_colours_counts_with_its_mean(tmp_path: Path) -> None:
    def played(player: RatingPlayer, opponent: RatingPlayer, *, num_games: int, seed: int) -> RatingGames:
        games = [((1, 2), 1.0), ((1, 2), 0.0), ((1, 2), 1.0), ((1, 2), 0.0), ((3,), 1.0)]
        return RatingGames(games, evaluations=10, seconds=0.1)

    save_steps(tmp_path, 0, 5)
    strength = Strength(tmp_path, GAME, config_with(), play=played)
    strength.rate(0, None, num_evaluations=10**6, elapsed_s=1e6)
    strength.rate(5, None, num_evaluations=10**6, elapsed_s=1e6)
    (met,) = [match for match in strength.matches if (match.player, match.opponent) == ("step 5", "step 0")]
    assert (met.points, met.num_games) == (1.5, 2)


def test_a_summary_names_the_strongest_anchor_that_was_beaten(tmp_path: Path) -> None:
    beaten = [match("step 5", "rollouts@2", 90), match("step 5", "rollouts@5", 61.5)]
    assert strength_of(tmp_path, *beaten).summary(5) == "beats rollouts@5: 61.5 of 100 points"
    by_chance = [match("step 5", "rollouts@2", 90), match("step 5", "rollouts@5", 51.5)]
    assert strength_of(tmp_path, *by_chance).summary(5) == "beats rollouts@2: 90 of 100 points"
    unclear = strength_of(tmp_path, *by_chance[1:]).summary(5)
    assert unclear == "has no clear lead over rollouts@5: 51.5 of 100 points"
    lost = [match("step 5", "rollouts@2", 60), match("step 5", "rollouts@5", 20)]
    assert strength_of(tmp_path, *lost).summary(5) == "beats rollouts@2: 60 of 100 points"
    assert strength_of(tmp_path, *lost[1:]).summary(5) == "does not beat rollouts@5: 20 of 100 points"
    level = match("step 5", "rollouts@2", 50)
    assert strength_of(tmp_path, level).summary(5) == "draws level with rollouts@2: 50 of 100 points"
    assert strength_of(tmp_path, level).summary(6) == ""


def test_rating_games_are_timed_by_the_clock_that_is_given(tmp_path: Path) -> None:
    clock = itertools.count(step=7.0)
    strength = Strength(tmp_path, GAME, config_with(), clock=lambda: next(clock))
    strength.rate(5, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert {played.seconds for played in strength.matches} == {7.0}


def test_a_damaged_checkpoint_is_no_opponent(tmp_path: Path) -> None:
    save_steps(tmp_path, 0)
    (tmp_path / "checkpoints" / "step-00000000.safetensors").write_bytes(b"")
    messages: list[str] = []
    strength = Strength(tmp_path, GAME, config_with(), report=messages.append)
    strength.rate(5, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)
    assert strength.rated_steps == [5]
    assert messages
    assert all("step-00000000.safetensors has 0 bytes" in said for said in messages)


# The file


def test_a_line_that_was_cut_short_is_left_out_and_the_trainer_takes_it_out(tmp_path: Path) -> None:
    whole = [match("step 1", "random", 60), match("step 2", "random", 80)]
    path = tmp_path / "strength.jsonl"
    strength_of(tmp_path, *whole)
    before = path.read_text(encoding="utf-8")
    path.write_text(before + before[:30], encoding="utf-8")
    assert strength_of(tmp_path).matches == whole
    assert path.read_text(encoding="utf-8") == before + before[:30], "who only reads writes nothing"
    messages: list[str] = []
    assert Strength(tmp_path, GAME, config_with(), report=messages.append).matches == whole
    assert path.read_text(encoding="utf-8") == before, "what is written next begins a line"
    assert messages == [f"The last line of {path} was cut off while it was written, and is removed."]


LINE = json.dumps(asdict(RatingMatch("step 1", "random", 60.0, 100, 0, 0.0)))


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"player": "step 2"',
        b"[]",
        b'{"player": "step 2"}',
        b'{"unknown": 3}',
        b"",
        b"\xff\xfe" + LINE.encode(),
        LINE.replace("random", "rand0m").encode(),
        LINE.replace("step 1", "step q").encode(),
        LINE.replace("60.0", "160.0").encode(),
        LINE.replace("60.0", "NaN").encode(),
        LINE.replace("100", "1e999").encode(),
        LINE.replace(" 100", ' "100"').encode(),
    ],
)
def test_a_damaged_line_costs_itself(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "strength.jsonl"
    path.write_bytes(before := b"\n".join([LINE.encode(), damaged, LINE.encode(), b""]))
    expected = [RatingMatch(**json.loads(LINE))] * 2
    assert Strength(tmp_path, GAME, config_with()).matches == expected
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "who only reads writes nothing"
    messages: list[str] = []
    assert Strength(tmp_path, GAME, config_with(), report=messages.append).matches == expected
    (aside,) = tmp_path.glob("*.damaged")
    assert aside.read_bytes() == before
    assert path.read_text() == f"{LINE}\n{LINE}\n"
    assert messages == [
        f"{path} is damaged in line 2: it is removed, and the other lines count. The old file is kept as {aside.name}."
    ]


def test_players_whom_a_lost_line_leaves_in_the_air_have_no_rating(tmp_path: Path) -> None:
    strength = strength_of(tmp_path, match("step 5", "rollouts@2", 60), match("step 6", "random", 60))
    assert set(strength.ratings) == {"step 6", "random"}
    assert strength.verdict() == "too early to tell"


def test_ratings_from_the_first_checkpoint_are_the_same_differences(tmp_path: Path) -> None:
    played = [match("step 0", "random", 55), match("step 5", "step 0", 64), match("step 9", "step 5", 50)]
    strength = strength_of(tmp_path, *played, match("step 12", "rollouts@2", 60))
    found = strength.ratings_from_first(1000.0)
    assert list(found) == [0, 5, 9] and found[0] == Rating(1000.0, 0.0), "no chain of results leads to step 12"
    for step in (5, 9):
        difference = strength.ratings[player_name(step)].elo - strength.ratings[player_name(0)].elo
        assert found[step].elo - 1000 == pytest.approx(difference, abs=0.5)
    # A player met 100 times with 64 points: +100 Elo, by the logistic model.
    assert found[5].elo == pytest.approx(1100, abs=3) and 60 < found[5].error < 85


@pytest.mark.parametrize("played", [[], [("step 5", "random")], [("step 0", "random")]])
def test_without_games_between_checkpoint_0_and_others_there_is_no_such_scale(
    tmp_path: Path, played: list[tuple[str, str]]
) -> None:
    assert strength_of(tmp_path, *(match(*pair, 60) for pair in played)).ratings_from_first(1000.0) == {}


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strength = strength_of(tmp_path)

    def full(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(RunError, match=f"{tmp_path.name} cannot be written: No space left on device"):
        strength.rate(5, UniformEvaluator(), num_evaluations=10**6, elapsed_s=1e6)


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
        ({1: 99, 2: 100}, "too few games to tell: step 2 has 100 of 100 points against random"),
        ({1: 80, 2: 100}, rf"yes, {DIFFERENCE} since step 1"),
        ({1: 50, 2: 53}, "too few games to tell: step 2 has 53 of 100 points against random"),
        ({1: 90, 2: 88, 3: 91}, "too few games to tell: step 3 has 91 of 100 points against random"),
        ({1: 90, 2: 88, 3: 92, 4: 91}, "level since step 1, stronger than every anchor it met"),
        ({1: 50, 2: 53, 3: 49, 4: 50}, "too few games to tell: step 4 has 50 of 100 points against random"),
        ({0: 50, 1: 70, 2: 90, 3: 88, 4: 92, 5: 91}, rf"yes, {DIFFERENCE} since step 0"),
        ({1: 50, 2: 95, 3: 60}, r"it did, but step 2 is stronger by \d+ Elo"),
        ({1: 90, 2: 50}, r"not now, step 1 is stronger by \d+ Elo"),
    ],
)
def test_is_it_learning(tmp_path: Path, points: dict[int, float], verdict: str) -> None:
    """Against random play each checkpoint had so many points of a hundred."""
    matches = [match(player_name(step), "random", gained) for step, gained in points.items()]
    said = strength_of(tmp_path, *matches).verdict()
    assert re.fullmatch(verdict, said), said


def test_a_run_that_was_good_at_once_is_not_said_to_get_worse(tmp_path: Path) -> None:
    """The first rated checkpoint of a small game won all of its four games, and those after it draw at times."""
    matches = [match("step 16", "random", 4, num_games=4)]
    matches += [match(player_name(step), "random", 29, num_games=30) for step in (100, 200, 300)]
    assert strength_of(tmp_path, *matches[:2]).verdict() == (
        "too few games to tell: step 100 has 29 of 30 points against random"
    )
    assert strength_of(tmp_path, *matches).verdict() == "level since step 16, stronger than every anchor it met"
    untrained = match("step 0", "random", 20, num_games=32)
    said = strength_of(tmp_path, untrained, *matches).verdict()
    assert re.fullmatch(r"yes, \+\d+ Elo since step 0", said), said

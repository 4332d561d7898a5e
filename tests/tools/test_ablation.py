"""Ablations: variants change something, matches go on where they stopped, tables compare seed by seed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import ablation
from ablation import Result, changed, main, mean_difference, mistake_table, rating_table, training_table, variants_of
from runs_for_tests import train_a_little
from zerosum.arena.ladder.results import PlayedPair, read_pairs
from zerosum.base.errors import SettingsError
from zerosum.contest.ratings import PairScore, fit_ratings
from zerosum.games import make
from zerosum.run.config import RunConfig, new_config


def defaults_of(game: str) -> RunConfig:
    return new_config(make(game), game, minutes=2, overrides=ablation.COMMON)


CASES = [(game, variant) for game in ("connect4", "go(size=7)") for variant in variants_of(defaults_of(game))]


@pytest.mark.parametrize(("game", "variant"), CASES)
def test_every_variant_but_the_first_differs_from_the_defaults(game: str, variant: str) -> None:
    defaults = defaults_of(game)
    variants = variants_of(defaults)
    assert (changed(defaults, variants[variant]) == defaults) == (variant == next(iter(variants)))
    for setting in variants[variant]:
        assert changed(defaults, [setting]) != defaults, f"{setting} is the default"


def test_variants_follow_the_game() -> None:
    connect4, chess = variants_of(defaults_of("connect4")), variants_of(defaults_of("chess"))
    assert "no random openings" in connect4 and "no random openings" not in chess  # that has none by default
    assert connect4["half of the simulations"] == ["search.num_simulations=48", "selfplay.fast_simulations=10"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("defaults = [", "is not valid TOML"),
        ("", "holds no variant"),
        ("a = 3", "'a' is 3, expected a list"),
        ('a = ["search.num_simulation=3"]', "num_simulations"),
        ('a = ["learner.batch_size=0"]', "learner.batch_size is 0"),
    ],
)
def test_a_file_of_variants_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "variants.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=message):
        ablation.read_variants(path, defaults_of("connect4"))


def result_of(variant: str, seed: int, *, rate: float = 0.0, games: int = 10) -> Result:
    return Result(
        variant,
        seed,
        games=games,
        games_in_flight=1,
        plies=30 * games,
        positions=8 * games,
        evaluations=3_000_000,
        simulations=400 * games,
        step=40,
        cpu_s=120.0,
        learner_cpu_s=30.0,
        endings={"two passes": games - 2, "ply cap": 2},
        draws=1,
        mistakes={"1": [2 * rate], "600": [rate]},
    )


def test_differences_in_mistakes_are_to_the_first_variant_seed_by_seed() -> None:
    rates = {("defaults", 0): 0.04, ("defaults", 1): 0.06, ("no symmetries", 0): 0.05, ("no symmetries", 1): 0.08}
    lines = mistake_table([result_of(*key, rate=rate) for key, rate in rates.items()]).splitlines()
    assert lines[2] == "| defaults | 2 | 5.00 ± 1.00 |  | 10.00 ± 2.00 |"
    assert lines[3] == "| no symmetries | 2 | 6.50 ± 1.50 | +1.50 ± 0.50 | 13.00 ± 3.00 |"


def test_what_trainings_did_is_added_up_over_the_seeds() -> None:
    lines = training_table([result_of("defaults", 0), result_of("defaults", 1, games=30)]).splitlines()
    endings = "two passes 90.0%, ply cap 10.0%"
    assert lines[2] == f"| defaults | 20 | 160 | 3.00 M | 50 | 30.0 | 5.0% | {endings} | 25% | 1 (5.0%) | 33,333 |"


def pairs_of(first: str, second: str, wins: int, losses: int) -> list[PlayedPair]:
    won = PlayedPair("go", "", first, second, wins=2, draws=0, losses=0)
    lost = PlayedPair("go", "", first, second, wins=0, draws=0, losses=2)
    return [won] * wins + [lost] * losses


def test_ratings_compare_variants_of_the_same_seed() -> None:
    pairs = [
        *pairs_of("new, seed 0", "old, seed 0", 30, 10),
        *pairs_of("new, seed 1", "old, seed 1", 20, 20),
        *(
            pair
            for player in ("old", "new")
            for seed in "01"
            for pair in pairs_of(f"{player}, seed {seed}", "random", 9, 1)
        ),
    ]
    ratings = fit_ratings([pair.score for pair in pairs], {}, zero="random")
    results = [result_of(variant, seed) for variant in ("old", "new") for seed in (0, 1)]
    head, _, old, new = rating_table(results, ratings, pairs).splitlines()
    assert head == "| variant | seeds | Elo | difference | by seed | random |"
    assert old.endswith("|  |  | 90% of 40 |")
    gain, bar = mean_difference(
        ratings, ["new, seed 0", "new, seed 1"], ["old, seed 0", "old, seed 1"]
    ).__dict__.values()
    assert 75 < gain < 110 and 35 < bar < 75  # 191 and 0 by the scores, of 80 games each
    assert f"| {gain:+.0f} ± {bar:.0f} |" in new


def test_the_mean_of_a_difference_knows_that_errors_go_together() -> None:
    scores = [PairScore("a", "b", 50, 0, 50), PairScore("a", "random", 3, 0, 1)]
    ratings = fit_ratings(scores, {}, zero="random")
    assert mean_difference(ratings, ["a"], ["b"]).error < ratings.rating("a").error / 2
    assert mean_difference(ratings, ["a"], []) == ratings.rating("a")


def test_a_round_robin_is_played_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trained: list[str] = []

    def train(run: Path, game: str, *, minutes: float, seed: int, settings: Sequence[str]) -> None:
        assert minutes == 2.0 and set(ablation.COMMON) <= set(settings)
        trained.append(f"{run.name}: {settings[-1]}, seed {seed}")
        train_a_little(game, run)

    monkeypatch.setattr(ablation, "train", train)
    variants = tmp_path / "variants.toml"
    variants.write_text('"defaults" = []\n"other" = ["search.c_init=1"]\n"not asked for" = ["search.c_init=2"]')
    asked = ["ablation", str(tmp_path / "results"), "--game", "tictactoe", "--minutes", "2", "--seeds", "1"]
    asked += ["--variants", str(variants), "--only", "other", "--jobs", "1", "--games", "20"]
    asked += ["--opponent-games", "4", "--opponents", "rollouts@10", "alphabeta@1", "--simulations", "8"]
    monkeypatch.setattr("sys.argv", asked)
    main()
    printed = capsys.readouterr().out
    assert trained == ["defaults-0: strength.solved_positions=0, seed 0", "other-0: search.c_init=1, seed 0"]
    assert "| other | 1 | " in printed and "| of 4 |" not in printed
    results = [json.loads(line) for line in (tmp_path / "results" / "results.jsonl").read_text().splitlines()]
    assert [result["variant"] for result in results] == ["defaults", "other"]
    assert all(sum(result["endings"].values()) == result["games"] > 0 for result in results)
    assert all(result["simulations"] > 0 and result["learner_cpu_s"] > 0 for result in results)

    games = tmp_path / "results" / "games.jsonl"
    pairs = read_pairs(games).entries
    assert len(pairs) == 20 // 2 + 4 * 4 // 2
    lines = games.read_text().splitlines(keepends=True)
    games.write_text("".join(lines[:7]))  # stopped after fourteen games
    main()
    assert len(read_pairs(games).entries) == len(pairs) and len(trained) == 2
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("| other | 1 | ")]

    monkeypatch.setattr("sys.argv", [*asked, "--table"])
    games.write_text("".join(lines[:7]))
    main()
    assert len(read_pairs(games).entries) == 7


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--only", "nothing"], "unknown variant 'nothing'"),
        (["--games", "3"], "--games is 3, expected an even number"),
        (["--set", "search.unknown=3"], "search.unknown"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    monkeypatch.setattr("sys.argv", ["ablation", str(tmp_path / "results"), *more])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert message in capsys.readouterr().err

"""The study of ablations: which variants a game can have, what they change, and a whole study of tiny trainings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studies_for_tests import SMALL, counts, quiet
from zerosum.base.errors import GameError, SettingsError
from zerosum.contest.sprt import MatchCounts
from zerosum.games import make
from zerosum.network.evaluators.rollout_values import RolloutValuesEvaluator
from zerosum.play.player import Player, load_player
from zerosum.report.studies import trainings
from zerosum.report.studies.ablation_findings import ablation_findings
from zerosum.report.studies.ablation_results import DEFAULTS, Ablated
from zerosum.report.studies.ablation_variants import VARIANTS, baseline_config, settings_of, variants_for
from zerosum.report.studies.ablations import AblationsStudy
from zerosum.report.studies.catalogue import study_of
from zerosum.report.studies.study import run_study
from zerosum.report.studies.trainings import Extent, Pooled
from zerosum.report.studies.words import StudyWords
from zerosum.run.config import load_config, new_config


@pytest.mark.parametrize("game", ["tictactoe", "othello", "minishogi", "go(size=5)"])
def test_each_variant_that_a_game_can_have_changes_its_own_settings_alone(game: str) -> None:
    baseline = baseline_config(game, 1.0)
    found = variants_for(game, baseline)
    assert {"unmasked-loss", "gate", "rollouts", "half-rollouts", "importance"} <= set(found)
    for name in found:
        config = new_config(make(game), game, minutes=1.0, settings=settings_of(name, game, baseline))
        sections = ("training", "search", "selfplay", "replay", "network", "learner", "strength")
        differing = {
            f"{section}.{field}"
            for section in sections
            for field, value in vars(getattr(config, section)).items()
            if value != getattr(getattr(baseline, section), field)
        }
        assert differing == set(VARIANTS[name].settings) | ({"training.planes"} if VARIANTS[name].planes else set())


def test_a_variant_adds_to_the_planes_that_a_game_has_by_default() -> None:
    game = "go(size=5)"
    settings = settings_of("history-1", game, baseline_config(game, 1.0))
    assert settings["training.planes"] == "liberties=3, history=1"


@pytest.mark.parametrize(
    ("game", "variant", "message"),
    [
        ("chess", "no-symmetries", "no-symmetries is not for chess, which has no symmetries: leave it out"),
        ("connect4", "history-1", "history-1 is not for connect4, which has no option 'history' of planes"),
        ("connect4", "flat-policy", r"which is learned so by default \(network.policy_head = dense\)"),
        ("minishogi(history=1)", "history-1", r"which is learned so by default \(history=1\)"),
        ("connect4", "importence", "unknown variant 'importence': did you mean 'importance'?"),
        ("connect4", "gated", r"unknown variant 'gated': did you mean 'gate'\?"),
    ],
)
def test_a_variant_that_a_game_cannot_have_is_refused_before_any_work(game: str, variant: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        study_of("ablations", StudyWords(names=(game,), variants=(variant,)))


def test_options_are_checked(tmp_path: Path) -> None:
    for words, message in (
        (StudyWords(seeds=0), "--seeds is 0, expected a number above 0"),
        (StudyWords(minutes=0.0), "--minutes is 0, expected a number above 0"),
        (StudyWords(games=3), "--games is 3, expected an even number"),
        (StudyWords(names=("a/b", "c")), "the study ablations is of one game, got 2 names"),
        (StudyWords(names=(str(tmp_path),)), "is not a game: the study ablations trains networks of its own"),
    ):
        with pytest.raises(SettingsError, match=message):
            study_of("ablations", words)
    with pytest.raises(GameError, match="unknown game 'conect4'"):
        study_of("ablations", StudyWords(names=("conect4",)))
    found = study_of("ablations", StudyWords())
    assert isinstance(found, AblationsStudy)
    assert found.extent.game == "connect4" and len(found.jobs()) == found.extent.seeds * (1 + len(found.variants))


def test_a_study_of_tiny_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setitem(trainings.EQUAL, name, value)
    study = AblationsStudy(Extent(0.02, 4, "tictactoe", seeds=1, simulations=4), ("no-symmetries",))
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    assert "There is one seed" in written[0] and "no-symmetries: no symmetries, as AlphaZero" in written[0]
    page = (tmp_path / "index.html").read_text()
    assert "<img class=chart" in page and "evaluations a CPU-second" in page
    configs = [load_config(tmp_path / "runs" / f"{name}-0" / "config.toml") for name in (DEFAULTS, "no-symmetries")]
    assert [config.replay.use_symmetries for config in configs] == [True, False]
    assert len({(config.training.seed, config.training.minutes, config.training.clock) for config in configs}) == 1
    # A kill after the trainings and before their results: no training is made again, and the match is the same.
    before = [(tmp_path / "runs" / f"{name}-0" / "metrics.csv").read_bytes() for name in (DEFAULTS, "no-symmetries")]
    (tmp_path / "results.jsonl").write_text("")
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    after = [(tmp_path / "runs" / f"{name}-0" / "metrics.csv").read_bytes() for name in (DEFAULTS, "no-symmetries")]
    assert after == before and written[1] == written[0]


def test_random_games_evaluate_the_variants_leaves_in_its_matches_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SMALL.items():
        monkeypatch.setitem(trainings.EQUAL, name, value)
    loaded: list[tuple[str, str]] = []

    def load(path: Path, **named: Any) -> Player:
        player = load_player(path, **named)
        of = player.evaluator.__class__.__name__
        loaded.append((path.name, "network" if of != RolloutValuesEvaluator.__name__ else named["leaf_values"]))
        return player

    monkeypatch.setattr(trainings, "load_player", load)
    names = ("rollouts", "half-rollouts", "importance")
    study = AblationsStudy(Extent(0.02, 2, "tictactoe", seeds=1, simulations=4), names)
    assert run_study(study, tmp_path, write=quiet, say=quiet)
    values = {"rollouts-0": "rollouts", "half-rollouts-0": "mean", "importance-0": "network"}
    assert loaded == [pair for run in values for pair in ((run, values[run]), (f"{DEFAULTS}-0", "network"))]
    configs = {name: load_config(tmp_path / "runs" / f"{name}-0" / "config.toml") for name in (DEFAULTS, *names)}
    assert [config.training.leaf_values for config in configs.values()] == ["network", "rollouts", "mean", "network"]
    assert [config.learner.importance_limit for config in configs.values()] == [None, None, None, 1.0]


def ablated(name: str, seed: int, match: MatchCounts | None) -> Ablated:
    return Ablated(name, seed, 100, 1000, 50, 4.0, 2000.0, match)


def test_a_difference_needs_the_games_and_the_seeds() -> None:
    alike, apart = Pooled((counts(40, 10),) * 3), Pooled((counts(50, 0), counts(50, 0), counts(10, 40)))
    assert alike.is_clear and alike.counts == counts(120, 30)
    assert apart.elo.low > 0 and not apart.is_clear
    assert apart.verdict.endswith("no difference shown")
    assert not Pooled((counts(26, 24),)).is_clear and Pooled((counts(50, 0),)).is_clear


def test_conclusions_follow_the_figures() -> None:
    matches = {"gate": counts(10, 40), "unmasked-loss": counts(26, 24), "no-symmetries": counts(0, 50)}
    results = [ablated(DEFAULTS, seed, None) for seed in range(3)]
    results += [ablated(name, seed, match) for name, match in matches.items() for seed in range(3)]
    found = ablation_findings(results, tuple(matches), title="Ablations", simulations=64)
    worse, others = found.conclusion.split("No difference shown: ")
    assert worse.startswith("At equal CPU-minutes worse than the defaults: gate (-")
    assert "no-symmetries (no points (95 %: below -" in worse and "better" not in found.conclusion
    assert others.startswith("unmasked-loss (+") and "one seed" not in others
    assert found.tables[1].rows[0] == (DEFAULTS, "3", "4.0", "100", "1,000", "50", "2,000")
    only = ablation_findings(results[:1], tuple(matches), title="Ablations", simulations=64)
    assert only.conclusion == "The variants are still to be trained." and not only.pictures

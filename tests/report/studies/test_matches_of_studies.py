"""The studies of matches: parts, thinking time, diversity."""

from __future__ import annotations

from pathlib import Path

import pytest

from updatable_for_tests import random_updatable, saved
from zerosum.base.errors import SettingsError
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.player import Player
from zerosum.report.studies.catalogue import study_of
from zerosum.report.studies.diversity import BEST, SAMPLED, DiversityStudy
from zerosum.report.studies.matches import Played
from zerosum.report.studies.parts import BOTH, NETWORK, PARTS, PartsStudy
from zerosum.report.studies.study import run_study
from zerosum.report.studies.thinking_time import ENGINE, PLAYER, ThinkingTimeStudy
from zerosum.report.studies.words import StudyWords
from zerosum.search import SearchConfig


def player(game: str = "tictactoe", *, simulations: int = 30) -> Player:
    config = SearchConfig(num_simulations=simulations)
    return Player(make(game), UniformEvaluator(), config, name="runs/a", step=3)


def played(first: str, second: str, wins: int, draws: int, losses: int) -> Played:
    return Played(first, second, wins, draws, losses, 9, 1.0, 10.0, -20.0, 40.0)


def quiet(_line: str) -> None:
    pass


def test_parts_are_what_they_say(tmp_path: Path) -> None:
    study = PartsStudy(player(), games=2)
    own = {name: study._contestant(name) for name in PARTS}
    assert own[NETWORK].search.num_simulations == 1 and own[BOTH].search.num_simulations == 30
    assert {one.search.num_simulations for name, one in own.items() if name != NETWORK} == {30}
    assert len(study.jobs()) == 6
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    assert "Ratings by all matches" in written[0]
    assert f"{BOTH.capitalize()} against {NETWORK}: " in written[0].splitlines()[-1]


def test_a_difference_is_said_only_if_the_interval_leaves_out_0() -> None:
    assert played("a", "b", 5, 0, 4).verdict == "+10 Elo (95 %: -20 to +40), no difference shown"
    assert Played("a", "b", 5, 0, 4, 9, 1.0, 30.0, 10.0, 50.0).verdict == "+30 Elo (95 %: +10 to +50)"
    assert Played("a", "b", 5, 0, 0, 5, 1.0, None, None, None).verdict == "all points"


def test_both_sides_are_scaled(tmp_path: Path) -> None:
    study = ThinkingTimeStudy(player(), games=2, factors=("1/3", "1", "3"))
    assert [study.size(PLAYER, factor) for factor in study.factors] == [10, 30, 90]
    assert [study.size(ENGINE, factor) for factor in study.factors] == [1000, 3000, 9000]
    assert len(study.jobs()) == 3 + 2 + 2
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    assert "From x 1/3 to x 3 the search is worth" in written[0]
    page = (tmp_path / "index.html").read_text()
    assert "<img class=chart" in page and "Elo by the size of the search" in page


def test_an_alpha_beta_player_is_scaled_in_positions(tmp_path: Path) -> None:
    path = saved(random_updatable(make("breakthrough(size=5)")), tmp_path / "checkpoints")
    found = study_of("thinking-time", StudyWords(names=("breakthrough(size=5)", str(path)), games=2, simulations=30))
    assert isinstance(found, ThinkingTimeStudy)
    assert found.size(PLAYER, "1/30") == found.size(ENGINE, "1/30") == 100
    result = found.jobs()[0].work(tmp_path)
    assert result is not None and result.num_games == 2


def test_a_part_of_the_matches_gives_no_ratings() -> None:
    study = ThinkingTimeStudy(player(), games=2, factors=("1/3", "1", "3"))
    found = study.findings({"player x 1 against engine x 1": played("player x 1", "engine x 1", 1, 0, 1)})
    assert found.conclusion == "Too few matches are played to rate all sizes." and not found.pictures


def test_repeated_games_are_told(tmp_path: Path) -> None:
    study = DiversityStudy(player(), games=8)
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    lines = [line.split() for line in written[0].splitlines() if "against engine" in line]
    best, sampled = (int(line[-1]) for line in lines)
    assert best == 2 < sampled
    assert "the same two games over and over" in written[0]


def test_sampling_is_compared_with_the_paper() -> None:
    results = {BEST: played(BEST, "engine", 1, 0, 19), SAMPLED: played(SAMPLED, "engine", 3, 1, 16)}
    conclusion = DiversityStudy(player()).findings(results).conclusion
    assert "changes the share of wins by +10.0 percentage points; in the paper by +8.2" in conclusion
    assert "over and over" not in conclusion


def test_what_a_study_of_matches_refuses(tmp_path: Path) -> None:
    words = StudyWords(names=("connect4", "bundled/connect4"))
    for name in ("parts", "diversity", "thinking-time"):
        with pytest.raises(SettingsError, match="--games is 3, expected an even number"):
            study_of(name, StudyWords(names=words.names, games=3))
        with pytest.raises(SettingsError, match=f"the study {name} is of one run, got 3 names"):
            study_of(name, StudyWords(names=("connect4", "a", "b")))
        with pytest.raises(SettingsError, match=f"'a' is not a game: the study {name} is of one run"):
            study_of(name, StudyWords(names=("a", "bundled/connect4")))
    with pytest.raises(SettingsError, match="--simulations is 20, expected at least 30"):
        study_of("thinking-time", StudyWords(names=words.names, simulations=20))
    with pytest.raises(SettingsError, match="unknown player 'nobody'"):
        study_of("diversity", StudyWords(names=words.names, opponent="nobody"))
    path = saved(random_updatable(make("breakthrough")), tmp_path / "checkpoints")
    with pytest.raises(SettingsError, match="has an updatable network, which has no policy"):
        study_of("parts", StudyWords(names=(str(path),)))

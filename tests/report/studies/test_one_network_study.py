"""The study of one network for several games: its options, its trainings, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies_for_tests import SMALL, counts, quiet
from zerosum.base.errors import SettingsError
from zerosum.contest.sprt import MatchCounts
from zerosum.games import make
from zerosum.games.rules import start_state
from zerosum.network.checkpoint import list_checkpoints, read_info
from zerosum.replay.game_store import GameStore
from zerosum.report.studies import trainings
from zerosum.report.studies.catalogue import study_of
from zerosum.report.studies.one_network import OneNetworkStudy
from zerosum.report.studies.one_network_findings import one_network_findings
from zerosum.report.studies.one_network_results import JOINT, Taught
from zerosum.report.studies.study import run_study
from zerosum.report.studies.trainings import Extent
from zerosum.report.studies.words import StudyWords
from zerosum.run.config import SECTIONS, load_config


def test_the_games_are_those_of_the_medley() -> None:
    assert OneNetworkStudy().parts == ("hex", "gomoku", "breakthrough")
    found = study_of("one-network", StudyWords(names=("medley(size=4, games=hex-breakthrough)",), seeds=2))
    assert isinstance(found, OneNetworkStudy) and found.parts == ("hex", "breakthrough")
    assert [job.name for job in found.jobs()] == [f"{name} {seed}" for seed in (0, 1) for name in (JOINT, *found.parts)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            StudyWords(names=("connect4",)),
            "of several games as one, got 'connect4': name a medley of two games or more",
        ),
        (StudyWords(names=("medley(games=hex)",)), r"got 'medley\(games=hex\)': name a medley"),
        (StudyWords(seeds=0), "--seeds is 0, expected a number above 0"),
        (StudyWords(minutes=-1.0), "--minutes is -1, expected a number above 0"),
        (StudyWords(games=3), "--games is 3, expected an even number"),
        (StudyWords(variants=("hex",)), "the study one-network has no --variant"),
    ],
)
def test_options_are_checked_before_any_work(words: StudyWords, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        study_of("one-network", words)


def test_a_study_of_tiny_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setitem(trainings.EQUAL, name, value)
    study = OneNetworkStudy(Extent(0.03, 4, "medley(size=4, games=gomoku-breakthrough)", seeds=1, simulations=4))
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    assert "There is one seed" in written[0] and "<img class=chart" in (tmp_path / "index.html").read_text()
    runs = {name: tmp_path / "runs" / f"{name}-0" for name in (JOINT, *study.parts)}
    configs = {name: load_config(run / "config.toml") for name, run in runs.items()}
    # Equal compute in sum, and nothing else differs: planes, actions, layers, searches and the learner are the same.
    assert configs[JOINT].training.minutes == pytest.approx(0.06)
    assert {configs[name].training.minutes for name in study.parts} == {0.03}
    for section in set(SECTIONS) - {"training"}:
        assert len({repr(getattr(config, section)) for config in configs.values()}) == 1, section
    ids = {read_info(list_checkpoints(run / "checkpoints")[-1]).encoder_id for run in runs.values()}
    assert ids == {make(study.extent.game).spec.encoder_id}
    # The joint network's games are of both kinds, each other network's of its own.
    assert kinds_of(runs[JOINT]) == set(study.parts)
    assert [kinds_of(runs[name]) for name in study.parts] == [{name} for name in study.parts]
    # A kill after the trainings and before their results: no training is made again, and the matches are the same.
    before = [(run / "metrics.csv").read_bytes() for run in runs.values()]
    (tmp_path / "results.jsonl").write_text("")
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    assert [(run / "metrics.csv").read_bytes() for run in runs.values()] == before and written[1] == written[0]


def kinds_of(run: Path) -> set[str]:
    """The games that a run's games were of, by the positions that they began with."""
    store, game = GameStore(run / "games", report=quiet), make(str(load_config(run / "config.toml").game))
    try:
        states = [start_state(game, record.start) for record in store.recent(num_games=store.num_games)]
    finally:
        store.close()
    return {(game.position_text(state) or "").partition(":")[0] for state in states}


def taught(game: str, seed: int, match: MatchCounts | None) -> Taught:
    return Taught(game, seed, 100, 1000, 50, 4.0, match)


def test_conclusions_follow_the_figures() -> None:
    matches = {"hex": counts(10, 40), "gomoku": counts(26, 24), "breakthrough": counts(45, 5)}
    results = [taught(JOINT, seed, None) for seed in range(3)]
    results += [taught(name, seed, match) for name, match in matches.items() for seed in range(3)]
    found = one_network_findings(results, tuple(matches), title="One network", simulations=64)
    weaker, stronger, others = found.conclusion.split(". ")
    assert weaker.startswith("At equal compute one network for all games is weaker than a game's own: hex (-")
    assert "stronger than a game's own: breakthrough (+" in stronger
    assert others.startswith("No difference shown: gomoku (+")
    assert found.tables[1].rows[0] == (JOINT, "3", "4.0", "100", "1,000", "50")
    only = one_network_findings(results[:1], tuple(matches), title="One network", simulations=64)
    assert only.conclusion == "The games' own networks are still to be trained." and not only.pictures

"""The study of stability: copies of a run that have a fault, the dips of courses, a whole study of tiny trainings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from studies_for_tests import SMALL, counts, quiet
from zerosum.base.errors import SettingsError
from zerosum.network import load_checkpoint
from zerosum.network.checkpoint import list_checkpoints, load_learner_state, read_info
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord
from zerosum.report.studies import stability, trainings
from zerosum.report.studies.catalogue import study_of
from zerosum.report.studies.stability import StabilityStudy
from zerosum.report.studies.stability_findings import dip_of, stability_findings
from zerosum.report.studies.stability_results import Course, Point
from zerosum.report.studies.stresses import CONTROL, POISON, RATE, SET_BACK, STRESSES, stressed_copy
from zerosum.report.studies.study import run_study
from zerosum.report.studies.trainings import Extent
from zerosum.report.studies.words import StudyWords
from zerosum.run.config import load_config


def games_of(run: Path) -> dict[int, GameRecord]:
    store = GameStore(run / "games", report=quiet)
    try:
        return {record.game_id: record for record in store.recent(num_games=store.num_games)}
    finally:
        store.close()


def test_a_study_of_tiny_trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setitem(trainings.EQUAL, name, value)
    monkeypatch.setattr(stability, "POINTS", 2)
    monkeypatch.setattr(stability, "STRESSED_POINTS", 1)
    study = StabilityStudy(Extent(0.02, 2, "tictactoe", seeds=1, simulations=2), (SET_BACK,))
    written: list[str] = []
    assert run_study(study, tmp_path, write=written.append, say=quiet)
    assert written[0].count("a gate would have refused") == 2 and "There is one seed" in written[0]
    assert "<img class=chart" in (tmp_path / "index.html").read_text()
    before, control = tmp_path / "runs" / "before-0", tmp_path / "runs" / f"{CONTROL}-0"
    begun = read_info(list_checkpoints(before / "checkpoints")[-1]).step
    for stress in (CONTROL, SET_BACK):
        newest = read_info(list_checkpoints(tmp_path / "runs" / f"{stress}-0" / "checkpoints")[-1]).step
        assert newest == begun + 2 * stability._spacing(begun)
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [len(line["result"]["points"]) for line in lines] == [2, 2]
    # The games before the stress are in the copies. Few steps need no new game.
    recorded, of_control = (
        {game_id: (game.plies["action"].tolist(), game.outcome) for game_id, game in games_of(run).items()}
        for run in (before, control)
    )
    assert recorded and {game_id: of_control[game_id] for game_id in recorded} == recorded
    _the_copies_have_the_faults(before, tmp_path, begun)
    _the_rate_is_higher_for_a_while(study, before, tmp_path / f"{RATE}-0", begun, monkeypatch)


def _the_copies_have_the_faults(before: Path, directory: Path, begun: int) -> None:
    copies = {stress: directory / f"{stress}-copy" for stress in (CONTROL, POISON, SET_BACK)}
    for stress, copy in copies.items():
        stressed_copy(before, copy, stress, seed=0)
    original, same, poisoned = games_of(before), games_of(copies[CONTROL]), games_of(copies[POISON])
    assert original.keys() == same.keys() == poisoned.keys()
    assert all(same[number].outcome == record.outcome for number, record in original.items())
    assert all(np.array_equal(poisoned[number].plies, record.plies) for number, record in original.items())
    decided = [number for number, record in original.items() if record.outcome]
    negated = sum(poisoned[number].outcome == -original[number].outcome for number in decided)
    assert 0.3 * len(decided) < negated < 0.7 * len(decided) and len(decided) > 100
    newest, *_, first = reversed(list_checkpoints(copies[SET_BACK] / "checkpoints"))
    early = [load_checkpoint(path) for path in list_checkpoints(before / "checkpoints")[:-1]]
    found = load_checkpoint(newest)
    assert found.info.step == begun and read_info(first).step == 0
    sources = [one for one in early if _are_equal(one.weights, found.weights)]
    assert len(sources) == 1 and sources[0].info.step < begun / 2
    _, kept = load_learner_state(newest)
    _, own = load_learner_state(list_checkpoints(before / "checkpoints")[-1])
    assert kept == own


def _are_equal(one: Mapping[str, NDArray[np.float32]], other: Mapping[str, NDArray[np.float32]]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def _the_rate_is_higher_for_a_while(
    study: StabilityStudy, before: Path, run: Path, begun: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, float]] = []
    phases: set[int] = set()

    def train(_game: str, _run: Path, *, steps: int, settings: Mapping[str, Any], **_: object) -> None:
        asked.append((steps, settings["learner.learning_rate"]))
        phases.add(settings["training.steps_per_phase"])

    monkeypatch.setattr(stability, "train", train)
    stressed_copy(before, run, RATE, seed=0)
    assert study._go_on(run, before, RATE)
    rate, spacing = load_config(before / "config.toml").learner.learning_rate, stability._spacing(begun)
    assert max(phases) <= max(1, spacing // 2), "two measured checkpoints may share a phase"
    assert asked == [(begun + spacing, 10 * rate), (begun + 2 * spacing, rate)]


def test_options_are_checked() -> None:
    with pytest.raises(SettingsError, match=r"unknown stress 'poison': did you mean 'poisoned-window'\?"):
        study_of("stability", StudyWords(variants=("poison",)))
    with pytest.raises(SettingsError, match="--minutes is -1, expected a number above 0"):
        study_of("stability", StudyWords(minutes=-1.0))
    with pytest.raises(SettingsError, match="the study stability has no --heaps"):
        study_of("stability", StudyWords(heaps=3))
    found = study_of("stability", StudyWords(variants=(RATE,)))
    assert isinstance(found, StabilityStudy) and found.stresses == (CONTROL, RATE)
    assert len(study_of("stability", StudyWords()).jobs()) == stability.DEFAULT.seeds * len(STRESSES)


def course(stress: str, wins: tuple[int, ...], *, seed: int = 0) -> Course:
    """A course whose checkpoints, 100 steps apart, win so many of 40 pairs."""
    points = tuple(Point(100 * number, counts(won, 40 - won)) for number, won in enumerate(wins, start=1))
    return Course(stress, seed, 800, points)


@pytest.mark.parametrize(
    ("wins", "deepest", "gone"),
    [
        ((20, 22, 25), None, 100),
        ((4, 10, 21), 100, 300),
        ((20, 4, 20), 200, 300),
        ((30, 10, 4), 300, None),
        ((0, 4, 20), 100, 300),
    ],
)
def test_a_dip_has_a_depth_and_an_end(wins: tuple[int, ...], deepest: int | None, gone: int | None) -> None:
    dip = dip_of([course(RATE, wins, seed=seed) for seed in range(3)])
    assert (dip.deepest.steps if dip.deepest else None, dip.gone.steps if dip.gone else None) == (deepest, gone)
    assert dip.num_checkpoints == 9 and dip.num_refused == 3 * sum(won <= 22 for won in wins)


def test_conclusions_follow_the_figures() -> None:
    results = [course(CONTROL, (20, 30), seed=seed) for seed in range(2)]
    results += [course(RATE, (2, 20), seed=seed) for seed in range(2)]
    results += [course(POISON, (10, 4), seed=seed) for seed in range(2)]
    found = stability_findings(results, (CONTROL, RATE, POISON, SET_BACK), title="Stability", simulations=64)
    control, rate, poison = found.conclusion.split(" checkpoints. ")
    assert control.startswith("Control: no dip shown; at the end +") and control.endswith("refused 2 of 4")
    assert ", gone after 200; at the end +0 Elo" in rate and "after 100 steps" in rate
    assert ", not gone after 200; at the end -" in poison and poison.endswith("refused 4 of 4 checkpoints.")
    assert len(found.tables[0].rows) == 3 and len(found.tables[1].rows) == 6

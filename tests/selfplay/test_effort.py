"""The effort of self-play's searches changes by stages of the run's budget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zerosum
from runs_for_tests import SETTINGS
from selfplay_for_tests import CONFIG, GAMES, SEARCH, new_task
from zerosum.base.errors import SettingsError
from zerosum.network.checkpoint import load_checkpoint
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord, PlyFlag
from zerosum.search.config import with_room
from zerosum.selfplay import SelfplayConfig
from zerosum.selfplay.effort import Effort, EffortPlan, PlayingNetwork, effort_stages
from zerosum.selfplay.worker import SelfplayWorker

STAGES = "5/2/0.5@0, 9/3/1@0.6"


def test_without_stages_the_three_settings_hold_from_beginning_to_end() -> None:
    plan = SelfplayConfig(fast_simulations=3, full_search_share=0.5).efforts(SEARCH)
    assert plan.at(0.0) == plan.at(1.0) == plan.mean == Effort(SEARCH.num_simulations, 3, 0.5)


def test_each_search_has_the_effort_of_its_network() -> None:
    search = replace(SEARCH, reuse_tree=False, exact_bounds=False)
    progress = [0.0]
    networks = {0.0: PlayingNetwork(1, 0.0), 0.5: PlayingNetwork(2, 0.5), 0.6: PlayingNetwork(3, 0.6)}
    config = replace(CONFIG, stages=STAGES)
    worker = SelfplayWorker(new_task(search=search, config=config, network=lambda: networks[progress[0]]))
    records = list[GameRecord]()
    for share in networks:
        progress[0] = share
        for _ in range(150):
            records += worker.play_batch()
    found = {
        (int(ply.checkpoint_step), PlyFlag.FULL_SEARCH in ply.flags, int(ply.num_simulations))
        for record in records
        for ply in map(record.ply, range(record.num_plies))
    }
    assert found == {(1, True, 5), (1, False, 2), (2, True, 5), (2, False, 2), (3, True, 9)}


def test_trees_have_room_for_the_largest_stage() -> None:
    """A tree for four simulations has a mebibyte at least; the stage of 50,000 needs more."""
    game, plan = GAMES["connect4"], EffortPlan.of(Effort(4, 2, 0.5), "4/2/0.5@0, 50000/2/0.5@0.9")
    search = replace(SEARCH, num_simulations=4, memory_mib=1)
    assert plan.with_room(game, search, 8) == replace(
        search, memory_mib=with_room(game, replace(search, num_simulations=50000), 8).memory_mib
    )


@given(
    st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500), st.floats(0.01, 1.0)), min_size=1, max_size=4),
    st.floats(0.1, 0.9),
)
def test_the_mean_lies_between_the_stages(values: list[tuple[int, int, float]], first: float) -> None:
    begins = [0.0, *(first + (1 - first) * number / len(values) for number in range(len(values) - 1))]
    parts = [f"{a}/{b}/{share}@{at}" for (a, b, share), at in zip(values, begins, strict=True)]
    mean, efforts = EffortPlan.of(Effort(1, 1, 1.0), ", ".join(parts)).mean, [Effort(*value) for value in values]
    for name in ("num_simulations", "full_search_share"):
        of_stages = [getattr(effort, name) for effort in efforts]
        assert min(of_stages) - 1e-9 <= getattr(mean, name) <= max(of_stages) + 1e-9


def test_a_stage_of_cheap_plies_has_more_of_them() -> None:
    """Half of the budget pays for 1,000 plies of 10 simulations and 100 of 100: 110 of 1,100 plies in full."""
    plan = EffortPlan.of(Effort(1, 1, 1.0), "10/10/0.01@0, 100/100/1@0.5")
    assert plan.mean.full_search_share == pytest.approx((10 + 100) / 1100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("64@0", "'64' is not FULL/FAST/SHARE"),
        ("64/12/x@0", "'64/12/x' is not FULL/FAST/SHARE"),
        ("0/12/0.3@0", "number of simulations outside of 1 to 16777216"),
        ("64/12/33@0", "share of full searches outside of 0.01 to 1"),
        ("64/12/nan@0", "share of full searches outside of 0.01 to 1"),
        ("64/12/0.3@0.5", "expected 0"),
        ("64/12/0.3@0, 64/12/0.3@1.5", "expected a share of the budget"),
    ],
)
def test_what_is_no_effort_is_told(text: str, message: str) -> None:
    with pytest.raises(SettingsError, match="^selfplay.stages: ") as caught:
        SelfplayConfig(stages=text)
    assert message in str(caught.value)
    assert not effort_stages("")


def test_a_run_changes_its_effort_and_goes_on_with_it(tmp_path: Path) -> None:
    """A deterministic run of 10 steps: networks of 60 % of the budget and more have the second stage's searches."""
    settings = [
        *SETTINGS,
        "training.deterministic=true",
        "training.steps=10",
        "training.num_checkpoints=10",
        "search.reuse_tree=false",
        "search.exact_bounds=false",
        f"selfplay.stages={STAGES}",
    ]
    said: list[str] = []
    zerosum.train("tictactoe", tmp_path, overrides=settings, report=said.append)
    assert sum("100% of self-play's searches have 9 simulations" in line for line in said) == 1
    found = [load_checkpoint(path).info for path in (tmp_path / "checkpoints").glob("*.json")]
    made_at = {info.step: PlayingNetwork.of(info).progress for info in found}
    assert made_at[0] == 0 and made_at[6] == 0.6 and made_at[10] == 1
    store = GameStore(tmp_path / "games", report=lambda _: None)
    plies = [ply for record in store.recent(num_games=10_000) for ply in map(record.ply, range(record.num_plies))]
    store.close()
    full = {(ply.checkpoint_step >= 6, ply.num_simulations) for ply in plies if PlyFlag.FULL_SEARCH in ply.flags}
    assert full == {(False, 5), (True, 9)}

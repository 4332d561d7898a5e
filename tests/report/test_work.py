"""The table of a run's work beside the paper's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runs_for_tests import train_a_little
from zerosum.games.names import GameName
from zerosum.report.run_data import RunData, read_run
from zerosum.report.work import work_table


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    """A run of tic-tac-toe with 90 minutes and 2,000 evaluations a second, 4 simulations a move."""
    path = tmp_path_factory.mktemp("runs") / "tiny"
    train_a_little("tictactoe", path)
    read = read_run(path)
    return replace(read, rows=(replace(read.rows[-1], minutes=90.0, evaluations_per_second=2000.0),))


def of_game(run: RunData, game: str) -> RunData:
    return replace(run, config=replace(run.config, game=GameName.parse(game)))


def cells(run: RunData) -> dict[str, list[str]]:
    _, rows = work_table([run])
    return {name: values for name, *values in rows}


def test_a_run_stands_beside_table_s3(run: RunData) -> None:
    found = cells(of_game(run, "chess"))
    assert found["training time"] == ["1.50 hours (90.0 minutes)", "9 hours"]
    assert found["time of these simulations"] == ["2 ms on the whole machine", "40 ms on one TPU of 5,000"]
    assert found["learner steps"] == ["2", "700,000"] and found["batch"] == ["8", "4,096"]
    assert found["games"][1] == "44,000,000" and found["simulations per move"] == ["4", "800"]
    shogi = cells(of_game(run, "shogi"))
    assert (shogi["training time"][1], shogi["games"][1]) == ("12 hours", "24,000,000")
    assert shogi["time of these simulations"][1].startswith("80 ms")


def test_go_has_the_figures_of_both_papers(run: RunData) -> None:
    found = cells(of_game(run, "go(size=9)"))
    assert found["training time"][1] == "312 hours (preprint: 34)"
    assert found["games"][1] == "140,000,000 (preprint: 21,000,000)"


def test_another_game_has_no_column_of_the_paper(run: RunData) -> None:
    head, rows = work_table([run, run])
    assert head == ["", "tiny", "tiny"] and {len(row) for row in rows} == {3}
    without = replace(run, rows=(replace(run.rows[0], evaluations_per_second=0.0),))
    assert "time of these simulations" not in cells(without)

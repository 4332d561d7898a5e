"""Checkpoints among other players on the page of a run: the curve, the lines, and who was passed when."""

from __future__ import annotations

import html
import itertools
import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from runs_for_tests import train_a_little
from zerosum.arena.ladder.results import PlayedPair
from zerosum.contest.elo import MOST_ELO_ERROR
from zerosum.games import make
from zerosum.report.among_others import AmongOthers, among_others
from zerosum.report.drawings import LABEL_SHARE
from zerosum.report.page import write_page
from zerosum.report.run_data import RunData, read_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of tic-tac-toe, whose ladder has packaged results."""
    path = tmp_path_factory.mktemp("runs") / "tiny"
    train_a_little("tictactoe", path)
    return path


def with_results(run: Path, tmp_path: Path, *results: tuple[str, str, int, int, int], name: str = "run") -> RunData:
    """A copy of the run, with pairs of games (first, second, wins, draws, losses)."""
    path = tmp_path / name
    shutil.copytree(run, path)
    pairs = [
        PlayedPair(game="tictactoe", placed=one, first=one, second=other, wins=wins, draws=draws, losses=losses)
        for one, other, wins, draws, losses in results
    ]
    (path / "ladder.jsonl").write_text("".join(f"{json.dumps(asdict(pair))}\n" for pair in pairs))
    return read_run(path)


WEAK = [("step 0@9", "random", 1, 0, 1)] * 20
STRONG = [("step 2@9", "random", 2, 0, 0)] * 20 + [("step 2@9", "rollouts@1000", 1, 1, 0)] * 20


def rated(*runs: RunData) -> AmongOthers:
    found = among_others(runs, make("tictactoe"))
    assert found is not None
    return found


def test_a_curve_has_the_checkpoints_of_one_limit(run: Path, tmp_path: Path) -> None:
    other_limit = [("step 1 (st=1)", "random", 2, 0, 0)]
    found = rated(with_results(run, tmp_path, *WEAK, *STRONG, *other_limit))
    curve = found.curve(0)
    assert curve.steps.tolist() == [0, 2] == found.steps(0) and found.limits == ("9 simulations a move",)
    assert abs(curve.values[0]) < 100 < curve.values[1], "the first plays as random play does"
    assert among_others([read_run(run)], make("tictactoe")) is None


def test_runs_share_opponents_but_no_checkpoints(run: Path, tmp_path: Path) -> None:
    one = with_results(run, tmp_path, *WEAK, name="one")
    other = with_results(run, tmp_path, *[("step 0@9", "random", 2, 0, 0)] * 20, name="other")
    found = rated(one, read_run(run), other)
    assert found.runs == (one, other) and found.curve(0).values[0] < 100 < found.curve(1).values[0]


def test_when_opponents_were_passed(run: Path, tmp_path: Path) -> None:
    found = rated(with_results(run, tmp_path, *WEAK, *STRONG))
    rows = {row[0]: row for row in found.rows(0)}
    assert list(rows) == list(found.opponents) and "rollouts@1000" in rows
    for name, elo, step, minutes, games, shown in rows.values():
        rating = found.ratings.rating(name)
        assert str(rating) == elo and rating.error <= MOST_ELO_ERROR
        above = [at for at, value in zip(found.steps(0), found.curve(0).values, strict=True) if value > rating.elo]
        assert step == (f"{above[0]}" if above else "not passed")
        assert bool(minutes) == bool(games) == bool(shown) == bool(above)
    last = found.runs[0].rows[-1]
    assert rows["rollouts@1000"][2:5] == ["2", f"{last.minutes:,.1f}", f"{last.games:,}"]


@pytest.mark.parametrize("high", [300.0, 2500.0])
def test_lines_that_are_named_are_apart(run: Path, tmp_path: Path, high: float) -> None:
    found = rated(with_results(run, tmp_path, *WEAK))
    lines = found.lines(-100, high)
    elos = sorted(lines.values())
    assert lines["random"] == 0 and all(-100 <= elo <= high for elo in elos)
    assert all(b - a >= LABEL_SHARE * (high + 100) for a, b in itertools.pairwise(elos))
    left_out = [found.ratings.rating(name).elo for name in found.opponents if name not in lines]
    assert all(elo > high or min(abs(elo - other) for other in elos) < LABEL_SHARE * (high + 100) for elo in left_out)


def test_the_page_has_the_picture_and_the_table(run: Path, tmp_path: Path) -> None:
    data = with_results(run, tmp_path, *WEAK, *STRONG)
    write_page([data.path], tmp_path / "page.html", has_probes=False, say=pytest.fail)
    text = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "Elo among other players" in text and "Checkpoints at 9 simulations a move" in text
    assert re.search(r"<td>rollouts@1000</td><td class=number>\+\d+ ± \d+</td><td class=number>2</td>", text)
    (data.path / "ladder.jsonl").write_text("no results\n")
    said: list[str] = []
    write_page([data.path], tmp_path / "page.html", has_probes=False, say=said.append)
    assert "Left out: the ladder of tictactoe. " in said[0] and "no line that is a ladder's result" in said[0]

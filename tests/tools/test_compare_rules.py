"""The tool that compares rules in full: it counts, and tells a difference and an event that hardly came up."""

import sys
from pathlib import Path

import pytest

import compare_rules

ORACLE = """
from collections import Counter

EVENTS = ("draw", "win")


def compare(num_positions, seed):
    assert seed != 9, "after a1 b2: legal moves are [1], expected [1, 2]"
    return Counter(win=num_positions, draw=150, other=seed)
"""


@pytest.fixture
def tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one comparison."""
    (tmp_path / "oracle_pebbles.py").write_text(ORACLE, encoding="utf-8")
    monkeypatch.setattr(compare_rules, "TESTS", tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "oracle_pebbles", raising=False)
    return tmp_path


@pytest.mark.usefixtures("tests")
def test_events_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare_rules.oracles() == ["pebbles"]
    compare_rules.main(["pebbles", "--positions", "2000", "--seed", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "pebbles: 2,000 positions, seed 3",
        "           150  draw",
        "             3  other",
        "         2,000  win",
    ]


@pytest.mark.usefixtures("tests")
def test_a_rare_event_is_a_failure() -> None:
    with pytest.raises(
        SystemExit, match=r"^pebbles: too rare to say anything, fewer than 100 times: 'win' \(50 times\)$"
    ):
        compare_rules.main(["pebbles", "--positions", "50"])


@pytest.mark.usefixtures("tests")
def test_a_difference_is_a_failure() -> None:
    with pytest.raises(SystemExit, match="^pebbles: the rules differ: after a1 b2: legal moves are"):
        compare_rules.main(["pebbles", "--seed", "9"])


def test_events_need_not_be_named(tests: Path) -> None:
    (tests / "oracle_pebbles.py").write_text(ORACLE.replace("EVENTS", "OTHER"), encoding="utf-8")
    compare_rules.main(["pebbles", "--positions", "1"])

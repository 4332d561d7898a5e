"""`zerosum.analyse`: what it reports, when it stops, whom it asks, and what it refuses."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import pytest

import zerosum
from networks_for_tests import save_network
from zerosum.analysis.analyst import analyse
from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.games import make, state_after
from zerosum.network.evaluators import RolloutEvaluator, UniformEvaluator
from zerosum.play.analysis import Analysis
from zerosum.play.choice import Players
from zerosum.play.player import Player
from zerosum.search import SearchConfig

CONNECT4 = make("connect4")
PLAYER = Player(CONNECT4, UniformEvaluator(), SearchConfig(num_simulations=300), name="uniform")


def last(*args: object, **kwargs: object) -> Analysis:
    *_, report = analyse(*args, **kwargs)  # type: ignore[arg-type]
    return report


def test_it_is_the_front_doors() -> None:
    assert zerosum.analyse is analyse and zerosum.Analysis is Analysis


def test_the_last_report_has_a_limit_and_says_what_was_found() -> None:
    report = last("4 4 3", player=PLAYER, num_simulations=400, num_lines=3)
    assert (report.stop_reason, report.num_visits, report.player, report.by) == ("simulations", 400, 1, "uniform")
    assert report.is_final and len(report.lines) == 3
    assert sum(line.visits for line in report.lines) <= 400
    best = report.lines[0]
    assert best.moves[0] == report.best_move and best.win_rate == (1 + best.value) / 2
    state = state_after(CONNECT4, " ".join(("4 4 3", *best.moves)))
    assert state.plies == 3 + len(best.moves)
    numbers = report.numbers()
    assert numbers["lines"][0]["moves"] == list(best.moves) and numbers["stop_reason"] == "simulations"


def test_a_report_is_read_by_people() -> None:
    report = last("1 2 1 2 1 7", player=PLAYER)
    assert (report.stop_reason, report.value, report.lines[0].proven) == ("proven", 1.0, True)
    table, _, end = str(report).rpartition("\n")
    assert table.startswith("visits  win rate  best line\n") and table.endswith("    100.0%  1 (exact)")
    assert end.endswith(" s by uniform (proven)")


def test_reports_come_while_the_search_goes_on_and_stop_with_the_caller() -> None:
    player = Player(CONNECT4, RolloutEvaluator(), SearchConfig(), name="rollouts")
    reports = analyse(player=player, seconds=math.inf, report_seconds=0.01)
    assert not searching(), "nothing begins before it is asked for"
    first, second = next(reports), next(reports)
    assert first.num_visits < second.num_visits and first.stop_reason is None is second.stop_reason
    assert searching()
    reports.close()  # type: ignore[attr-defined]
    assert not searching()
    for _ in analyse(player=player, seconds=math.inf, report_seconds=0.01):
        break
    assert not searching()


def searching() -> bool:
    return any(thread.name == "search" for thread in threading.enumerate())


def test_positions_come_in_three_forms() -> None:
    state = state_after(CONNECT4, "4 4 3")
    texts = ("4 4 3", CONNECT4.position_text(state), state)
    found = [last(position, game="connect4", player="rollouts@200").lines for position in texts]
    assert found[0] == found[1] == found[2]
    assert last("", player=PLAYER).player == 0


def test_a_game_goes_on_past_a_soft_ending_and_past_the_ply_cap() -> None:
    repeated = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"
    assert last(repeated, game="chess", player="rollouts@20").lines
    player = Players("rollouts@20").of(CONNECT4)
    assert player.game.spec.max_plies == 4 * CONNECT4.spec.max_plies


def test_whom_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert last(game="tictactoe", num_simulations=5).by == "rollouts"
    save_network(Path("runs/mine/checkpoints"), make("tictactoe"))
    assert last(game="tictactoe", num_simulations=5).by == str(Path("runs/mine"))
    assert last(player="runs/mine", num_simulations=5).by == "runs/mine"
    assert last(player=zerosum.load("runs/mine"), num_simulations=5).by == "runs/mine"
    assert last(game="tictactoe", player=Path("runs/mine"), num_simulations=5).by == "runs/mine"
    with pytest.raises(DataError, match="connect4"):
        analyse(game="connect4", player="runs/mine")
    with pytest.raises(DataError, match="does not fit tictactoe"):
        analyse(game="tictactoe", player=PLAYER)


@pytest.mark.parametrize(
    ("position", "settings", "sentence"),
    [
        ("4 4 9", {}, "move 3: '9' is not a legal move here"),
        ("7/7 X", {}, 'neither a position nor moves: "7/7" has 2 rows'),
        ("nonsense", {}, "neither a position nor moves: "),
        ("1 2 1 2 1 2 1", {}, r"The game is over \(four in a row\), there is nothing to search"),
        ("", {"num_simulations": 0}, "num_simulations is 0, but must be between 1 and"),
        ("", {"seconds": -1}, "seconds is -1, but must be"),
        ("", {"num_lines": 0}, "num_lines is 0, but must be between 1 and 1000"),
        ("", {"report_seconds": 0}, "report_seconds is 0, but must be more than 0"),
        ("", {"game": "conect4", "player": None}, "unknown game 'conect4': did you mean 'connect4'"),
        ("", {"game": "connect4", "player": "nobody"}, "unknown player 'nobody'"),
        ("", {"player": None}, "analyse needs a game, such as game='connect4'"),
    ],
)
def test_what_is_wrong_is_said_at_once(position: str, settings: dict[str, object], sentence: str) -> None:
    with pytest.raises((GameError, SettingsError), match=sentence):
        analyse(position, **{"player": PLAYER, **settings})  # type: ignore[arg-type]

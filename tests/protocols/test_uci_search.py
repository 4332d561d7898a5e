"""The engine by UCI: limits, pondering, clocks, failures in a search, and proven mates."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from line_clients import FakeTime, TimedEvaluator, answers, strings, value_of
from uci_for_tests import FOOLS_MATE, MATE_IN_ONE, client
from zerosum.games import make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations
from zerosum.protocols.line_words import Position
from zerosum.protocols.uci import UciEngine, UciSetup


def test_every_limit_ends_a_search_and_is_named() -> None:
    ticks = FakeTime()
    engine = client(evaluator=TimedEvaluator(ticks, 0.01), clock=ticks)
    for limits, reason in (
        ("nodes 100", "simulations"),
        ("", "simulations"),
        ("nodes 0", "simulations"),
        ("nodes -4 joho", "simulations"),
        ("movetime 400", "time"),
        ("depth 3", "depth"),
        ("depth 0", "depth"),
        ("wtime 3000 btime 3000 winc 100 binc 100", r"time|overtaken|maximum time"),
        ("wtime 3000 btime 3000 movestogo 1", r"time|overtaken|maximum time"),
        ("wtime 0 btime 0", "time"),
        ("wtime -500 btime 1", "time"),
        ("movetime 0", "time"),
    ):
        said = engine.ask("ucinewgame", f"go {limits}")
        assert re.search(f"^info string ended by: ({reason})$", "\n".join(said), re.MULTILINE), (limits, said)
        assert len(answers(said)) == 1
    before = ticks.now_s
    engine.ask("ucinewgame", "go movetime 400")
    assert 0.34 <= ticks.now_s - before <= 0.4, "a time of its own is used"
    assert "ended by: proven" in "\n".join(engine.ask(MATE_IN_ONE, "go mate 1", "isready"))


def test_memory_is_a_limit() -> None:
    said = client().ask("setoption name Hash value 1", "isready", "go movetime 1000000")
    assert strings(said)[-1] == "info string ended by: memory"
    assert int(value_of([line for line in said if line.startswith("info depth")][-1], "hashfull")) > 700


def test_settings_that_are_refused_are_said_and_a_move_is_made() -> None:
    engine = client()
    engine.engine.setup.search_overrides = {"c_init": -1.0}
    said = engine.ask("go infinite")
    assert "search.c_init is -1.0" in strings(said)[-1] and not answers(said)
    assert engine.tell("stop") == ["bestmove a2a3"]


def test_only_the_moves_that_are_allowed() -> None:
    engine = client()
    assert engine.answer("position startpos", "go nodes 40 searchmoves a2a3") == "bestmove a2a3"
    said = engine.ask("setoption name MultiPV value 9", "go searchmoves a2a3 h2h3 e2e5 h2h3 nodes 40")
    assert {value_of(line, "pv") for line in said if line.startswith("info depth")} == {"a2a3", "h2h3"}
    assert "e2e5' is not a legal move and is ignored (near are" in strings(said)[0]
    assert engine.answer("go searchmoves 0000") == "bestmove (none)", "python-chess says so for no moves at all"


def test_infinite_is_answered_after_stop_alone() -> None:
    engine = client()
    for position in (MATE_IN_ONE, FOOLS_MATE):
        assert "ended by: proven" in strings(engine.ask("ucinewgame", position, "go infinite"))[-1]
        assert engine.tell("isready", "ponderhit") == ["readyok", "info string ponderhit: the engine is not pondering."]
        assert [line.split()[0] for line in engine.tell("stop")] == ["bestmove"]
    engine.tell("ucinewgame", "position startpos", "go infinite", "isready")
    assert answers(engine.tell("isready")) == []
    assert len(answers(engine.tell("stop", "stop"))) == 1


def test_a_go_during_a_search_ends_it() -> None:
    engine = client()
    engine.tell("go infinite", "position startpos moves e2e4", "setoption name MultiPV value 2", "go infinite")
    assert len(answers(engine.said)) == 1
    engine.tell("ucinewgame")
    assert len(answers(engine.said)) == 2
    engine.tell("go infinite")
    engine.engine.close()
    assert len(answers(engine.said)) == 3


def test_pondering_is_answered_after_its_hit_and_never_charged() -> None:
    ticks = FakeTime()
    engine = client(evaluator=TimedEvaluator(ticks, 0.004), clock=ticks)
    engine.tell("setoption name Move Overhead value 0", "position startpos moves e2e4 e7e5")
    for clocks, most_s in (("wtime 3000 btime 3000 winc 20 binc 20", 3.0), ("wtime 20 btime 3000", 0.02)):
        engine.tell("ucinewgame", f"go ponder {clocks}")
        while ticks.now_s < 1004:  # longer than all of the clock
            time.sleep(0.001)
        assert not answers(engine.said)
        said = engine.ask("ponderhit")
        assert len(answers(said)) == 1
        assert engine.engine._go.manager.elapsed_s <= most_s
        engine.said.clear()
        ticks.now_s = 1000.0
    assert engine.tell("ponderhit") == ["info string ponderhit: the engine is not pondering."]
    engine.tell("go ponder wtime 3000 btime 3000")
    assert len(answers(engine.tell("stop"))) == 1
    assert "ended by: proven" in strings(engine.ask(FOOLS_MATE, "go ponder wtime 1000 btime 1000"))[-1]
    assert engine.tell("ponderhit") == ["bestmove d8h4"]
    assert engine.tell("stop") == []


def test_loading_is_on_the_clock_if_nobody_asked_to_be_ready() -> None:
    ticks = FakeTime()
    engine = client(evaluator=TimedEvaluator(ticks, 0.3), clock=ticks)
    engine.ask("go wtime 60000 btime 60000")
    assert engine.engine._go.manager.elapsed_s == ticks.now_s - 1000 > 0.9, "three batches to get ready"


@pytest.mark.parametrize(("main_s", "increment_s", "session"), [(1.0, 0.05, None), (2.0, 0.0, None), (5.0, 0.0, 40)])
def test_no_flag_falls_in_a_game_by_the_clock(main_s: float, increment_s: float, session: int | None) -> None:
    ticks = FakeTime()
    engine = client(evaluator=TimedEvaluator(ticks, 0.008), clock=ticks, overrides=["time.stop_early=false"])
    left_s, moves = main_s, list[str]()
    engine.tell("isready")
    for number in range(60):
        to_go = "" if session is None else f" movestogo {session - number % session}"
        clocks = f"go wtime {int(1000 * left_s)} btime 1000 winc {int(1000 * increment_s)}{to_go}"
        began = ticks.now_s
        move = engine.answer(f"position startpos moves {' '.join(moves)}", clocks).split()[1]
        left_s += increment_s - (ticks.now_s - began + 0.005)  # and what a client loses
        assert left_s > increment_s, f"move {number}"
        if session is not None and (number + 1) % session == 0:
            left_s += main_s
        if move == "(none)":
            break
        moves.append(move)
        position = Position.after(engine.engine.setup.game, "", tuple(moves))
        if not position.legal:
            break
        moves += position.texts(position.legal[:1])


class Broken:
    """Fails once it is asked about a position; it is not a network, so nothing makes it ready."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        raise ValueError("no answer")


@pytest.mark.parametrize(
    ("go", "follows"),
    [
        ("wtime 60000 btime 60000", True),
        ("wtime 9000 btime 9000 movestogo 3 nodes 50", True),
        ("movetime 50", False),
        ("nodes 50", False),
        ("depth 2", False),
    ],
)
def test_the_tree_follows_in_the_opponents_time(go: str, follows: bool) -> None:
    """The tree follows in a game with clocks; in an analysis the same position may come again."""
    engine = client("connect4", clock=FakeTime(), overrides=["time.stop_early=true"])
    engine.tell("setoption name Simulations value 200")
    move = engine.answer("position startpos moves 4", f"go {go}").split()[1]
    assert engine.engine._engine is not None
    engine.engine._engine._require_idle()
    followed = engine.engine._engine._followed
    assert len(followed._actions) == (2 if follows else 1)
    assert followed.search.root(0).num_simulations > 0
    said = engine.ask(f"position startpos moves 4 {move}", "go nodes 100")
    assert len(answers(said)) == 1


def test_a_search_that_fails_says_so_and_a_move_is_made() -> None:
    engine = client(evaluator=Broken())
    said = engine.ask("position startpos", "go nodes 100")
    assert strings(said)[-1] == "info string ValueError: no answer"
    assert answers(said) == ["bestmove a2a3"]
    assert answers(engine.ask("go infinite")) == []
    assert engine.tell("stop") == ["bestmove a2a3"]
    assert len(strings(engine.ask("debug on", "go nodes 10"))) > 3, "with its traceback"


@pytest.mark.parametrize(("broken", "move"), [("_score", "a1a8"), ("_answer", "a1a2")])
def test_an_answer_that_fails_says_so_and_a_move_is_made(
    broken: str, move: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("no words")

    engine = client(clock=FakeTime())
    monkeypatch.setattr(engine.engine, broken, fail)
    said = engine.ask(MATE_IN_ONE, "go nodes 2000")
    assert (strings(said)[-1], answers(said)) == ("info string ValueError: no words", [f"bestmove {move}"])


def test_mates_are_proven_and_counted_in_moves() -> None:
    engine = client()
    said = engine.ask(MATE_IN_ONE, "setoption name MultiPV value 2", "go mate 1")
    best, other = (line for line in said if line.startswith("info depth"))
    assert " score mate 1 " in best and " score cp 0 " in other
    assert answers(said) == ["bestmove a1a8"]
    lost = engine.ask("position fen 7k/8/6K1/8/8/8/8/R7 b - - 0 1", "go nodes 4000")
    assert " score mate -1 " in next(line for line in reversed(lost) if line.startswith("info depth 2"))


def test_a_mate_is_seen_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where there is no run
    said = list[str]()
    engine = UciEngine(UciSetup(make("chess")), write=said.append)
    for line in (MATE_IN_ONE, "go nodes 3000"):
        engine.obey(line)
    engine.close()
    assert " score mate 1 " in [line for line in said if line.startswith("info depth")][-1]
    assert said[-1].startswith("bestmove a1a8")
    by_rollouts_alone = UciSetup(make("chess"), overrides=["search.exact_bounds=false"])
    engine = UciEngine(by_rollouts_alone, write=said.append)
    for line in (MATE_IN_ONE, "go nodes 3000"):
        engine.obey(line)
    engine.close()
    assert not engine._config.exact_bounds
    assert " score mate 1 " in [line for line in said if line.startswith("info depth")][-1], "a move that mates is one"


def test_several_lines_are_filled_where_the_best_is_proven() -> None:
    said = client().ask(MATE_IN_ONE, "setoption name MultiPV value 5", "go nodes 2000")
    lines = [line for line in said if line.startswith("info depth")][-5:]
    assert [value_of(line, "multipv") for line in lines] == ["1", "2", "3", "4", "5"]
    assert len({value_of(line, "pv") for line in lines}) == 5 and value_of(lines[0], "pv") == "a1a8"
    assert all(abs(int(value_of(line, "cp"))) < 10_000 for line in lines[1:] if " cp " in line)

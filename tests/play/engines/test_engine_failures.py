"""External engines that misbehave lose by it, block nobody and leave no process behind."""

import collections
import re
import signal
import subprocess
import sys
import time

import pytest

from engines_for_tests import DEPTH, GAMES, PROTOCOLS, SCRIPTS, failure_of, fake, is_gone
from zerosum.base.errors import ZerosumError
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import EngineFailure, MoveLimits
from zerosum.games import make
from zerosum.play.engines.engine import EngineCommand, EngineTimeouts, ExternalEngine

STEPS = {
    ("uci", "uci"): EngineTimeouts(handshake_s=0.3),
    ("usi", "isready"): EngineTimeouts(ready_s=0.3),
    ("uci", "go"): EngineTimeouts(search_s=0.3),
    ("gtp", "genmove"): EngineTimeouts(search_s=0.3),
}
"""(protocol, the command after which it happens): the one time-out that has to run out, if any has to."""


@pytest.mark.parametrize(("protocol", "word"), STEPS)
@pytest.mark.parametrize(
    ("what", "message"),
    [
        (["!exit 3"], ". It ended with exit status 3."),
        (
            ["!stderr out of memory", "!exit 1"],
            ". It ended with exit status 1. Its standard error ends: out of memory.",
        ),
        ([f"!signal {int(signal.SIGSEGV)}"], ". It was ended by SIGSEGV."),
        (["!close", "!sleep 600"], "fake has ended its output."),
        (["!flood"], "fake wrote more than 65536 bytes without ending the line."),
        (["!bytes ff00fe0a", "!exit 0"], ", the last from it '�\\x00�'. It ended with exit status 0."),
        ([], "within 0.3"),
        (["!sleep 600"], "within 0.3"),
        (["!part bestmove "], "within 0.3"),
        (["!spam info string still here"], "within 0.3"),
        (["!child", "!exit 0"], "within 0.3"),
        (["!child", "!sleep 600"], "within 0.3"),
    ],
)
def test_it_ends_in_a_failure(protocol: str, word: str, what: list[str], message: str) -> None:
    timeouts = STEPS[protocol, word] if "within" in message else EngineTimeouts()
    failure = failure_of(fake(protocol, {word: what}), timeouts=timeouts)
    assert failure.ending == "forfeit"
    assert message in str(failure)
    assert re.search(rf"The last line sent to it was '(\d )?{word}\b", str(failure))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("what", [[], ["!spam info string still here"], ["!part bestmove e2e4"]])
def test_no_answer_in_the_time_loses_by_it(protocol: str, what: list[str]) -> None:
    failure = failure_of(
        fake(protocol, {"go": what, "genmove": what}),
        limits=MoveLimits((TimeLeft(0.1), TimeLeft(1000.0)), margin_s=0.1),
    )
    assert failure.ending == "time"


@pytest.mark.parametrize(
    ("protocol", "answer", "message"),
    [
        ("uci", "bestmove e2e5", r"answered 'e2e5', which is not a legal move here \(near are e2e"),
        ("uci", "bestmove (none)", "answered '\\(none\\)', which is not a legal move"),
        ("uci", "bestmove 0000", "not a legal move"),
        ("uci", "bestmove resign", "not a legal move"),
        ("usi", "bestmove 7g7e", "not a legal move"),
        ("usi", f"bestmove {'x' * 5000}", "answered 'x{40}…', which"),
        ("gtp", "=# A10", "not a legal move"),
        ("gtp", "=# I5", "not a legal move"),
    ],
)
def test_an_illegal_move_loses(protocol: str, answer: str, message: str) -> None:
    failure = failure_of(fake(protocol, {"go": [answer], "genmove": [answer, ""]}))
    assert failure.ending == "illegal move"
    assert re.search(message, str(failure))


@pytest.mark.parametrize(
    ("protocol", "script", "message"),
    [
        ("uci", {"go": ["bestmove"]}, "answered without a move"),
        ("gtp", {"genmove": ["=#", ""]}, "answered without a move"),
        ("gtp", {"genmove": ["=7# C4", ""]}, "answered a command with the number 7"),
        ("gtp", {"genmove": ["= C4", ""]}, "answered a command with the number none"),
        ("gtp", {"boardsize": ["?# unacceptable size", ""]}, "refused a command.*boardsize 9.*unacceptable size"),
        ("uci", {"isready": ["bestmove e2e4", "readyok"]}, "without being asked"),
    ],
)
def test_a_malformed_answer_loses(protocol: str, script: dict[str, list[str]], message: str) -> None:
    failure = failure_of(fake(protocol, script))
    assert failure.ending == "forfeit"
    assert re.search(message, str(failure)), str(failure)


@pytest.mark.parametrize("protocol", ["uci", "usi"])
def test_two_moves_at_once_are_one_too_many(protocol: str) -> None:
    move = SCRIPTS[protocol]["go"][0]
    game = make(GAMES[protocol])
    with ExternalEngine(fake(protocol, {"go": [f"{move}\n{move}"]}), game) as engine:
        engine.new_game()
        engine.think("", [], DEPTH)
        time.sleep(0.1)  # only makes it likelier that USI, which cannot ask, sees the second one before it asks again
        with pytest.raises(EngineFailure, match="without being asked"):
            collections.deque(engine.think("", [], DEPTH) for _ in range(100))
        assert is_gone(engine.pid)


def test_an_engine_that_does_not_read_holds_nobody_up() -> None:
    """The pipe to it is full long before all has been written."""
    command = fake("usi", {"usinewgame": ["!sleep 600"]})
    with ExternalEngine(command, make("shogi"), timeouts=EngineTimeouts(search_s=0.3)) as engine:
        engine.new_game()
        for _ in range(20_000):
            engine.end_game(0.0)
        with pytest.raises(EngineFailure, match="did not move within 0.3 s"):
            engine.think("", [], DEPTH)
        assert is_gone(engine.pid)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(EngineFailure, match="no-such-engine cannot be started: no-such-engine: No such file"):
        ExternalEngine(EngineCommand(("no-such-engine",), "uci"), make("chess"))
    assert issubclass(EngineFailure, ZerosumError)


def test_another_game_starts_another_process_after_a_failure() -> None:
    chess = make("chess")
    with ExternalEngine(fake("uci", {"go 2": ["bestmove e2e5"]}), chess) as engine:
        pids = set[int]()
        for _ in range(2):
            engine.new_game()
            pids.add(engine.pid)
            assert engine.think("", [], DEPTH).action is not None
            with pytest.raises(EngineFailure):
                engine.think("", [], DEPTH)
            engine.end_game(-1.0)
        assert len(pids) == 2
    engine.close()
    assert not engine.is_running and all(map(is_gone, pids))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("what", [["!sleep 600"], ["!child", "!sleep 600"], ["!exit 0"], ["!spam x"]])
def test_nothing_is_left_of_an_engine_that_does_not_leave(protocol: str, what: list[str]) -> None:
    engine = ExternalEngine(fake(protocol, {"quit": what}), make(GAMES[protocol]), timeouts=EngineTimeouts(quit_s=0.2))
    engine.close()
    engine.close()
    assert is_gone(engine.pid)


def test_nothing_is_left_of_an_engine_that_nobody_closed() -> None:
    program = f"""
from zerosum.games.rules import make
from zerosum.play.engines.engine import EngineCommand, ExternalEngine
engine = ExternalEngine({fake("uci", {"uci": ["uciok", "!sleep 600"]})!r}, make("chess"))
print(engine.pid)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert is_gone(int(ended.stdout))


def test_what_does_not_start_as_an_engine_gets_advice() -> None:
    with pytest.raises(EngineFailure, match=r"has ended its output.*Check that its command is one of .* speaks UCI\.$"):
        ExternalEngine(EngineCommand(("true",), "uci"), make("chess"))

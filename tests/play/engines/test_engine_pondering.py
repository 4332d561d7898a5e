"""External engines ponder on the reply that they expect, and their pondering is not charged."""

import threading
import time
from pathlib import Path

import pytest

from engines_for_tests import DEPTH, GAMES, MOVE_TIME, fake, heard
from zerosum.base.errors import SettingsError
from zerosum.contest.adjudication import Score
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import EngineFailure, MoveLimits
from zerosum.games import Rules, make
from zerosum.play.engines.engine import EngineTimeouts, ExternalEngine


def ponder(engine: ExternalEngine, actions: list[int], limits: MoveLimits) -> None:
    """Tell the engine to ponder, and stop at once."""
    is_over = threading.Event()
    is_over.set()
    engine.ponder("", actions, limits, is_over)


@pytest.mark.parametrize(
    ("protocol", "moves", "clocks", "name"),
    [
        ("uci", ["e2e4", "e7e5", "d2d4", "d7d5", "c2c4"], "wtime 60000 btime 50000", "Ponder"),
        ("usi", ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e"], "btime 60000 wtime 50000 byoyomi 0", "USI_Ponder"),
    ],
)
def test_an_engine_ponders_on_the_reply_that_it_expects(
    tmp_path: Path, protocol: str, moves: list[str], clocks: str, name: str
) -> None:
    """Its first guess comes true; the second does not, and what it answers to `stop` is thrown away."""
    log, game = tmp_path / "log", make(GAMES[protocol])
    script = {
        "go 1": [f"bestmove {moves[0]} ponder {moves[1]}"],
        "go 2": ["info depth 7 score cp 33"],
        "ponderhit": [f"bestmove {moves[2]} ponder {moves[3]}"],
        "go 3": [],
        "stop": [f"bestmove {moves[0]} ponder {moves[1]}"],
        "go 4": [f"bestmove {moves[4]}"],
    }
    actions, state = list[int](), game.initial_state()
    for text in moves:
        action = game.parse_action(state, text)
        assert action is not None
        actions.append(action)
        state = game.play(state, action)
    other = next(action for action in game.legal_actions(game.initial_state()) if action != actions[0])
    limits = MoveLimits((TimeLeft(60), TimeLeft(50)))
    with ExternalEngine(fake(protocol, script, log=log), game) as engine:
        engine.new_game()
        assert engine.think("", [], limits).action == actions[0]
        ponder(engine, actions[:1], limits)
        hit = engine.think("", actions[:2], limits)
        assert (hit.action, hit.thought.score, hit.thought.depth) == (actions[2], Score(centipawns=33), 7)
        ponder(engine, actions[:3], limits)
        wrong = [*actions[:3], next(iter({*legal_after(game, actions[:3])} - {actions[3], actions[4]}))]
        answer = engine.think("", wrong, limits)
        assert answer.action is not None and texts(game, [*wrong, answer.action])[-1] == moves[4]
        ponder(engine, [*wrong, other], limits)  # it expects nothing now
        engine.end_game(0.0)
    word = "sfen" if protocol == "usi" else "fen"
    assert word not in "".join(heard(log))
    ready = [] if protocol == "usi" else ["isready"]
    told = heard(log)[heard(log).index("position startpos") :]
    assert told[: told.index("quit")] == [
        *("position startpos", *ready, f"go {clocks}"),
        *(f"position startpos moves {' '.join(moves[:2])}", *ready, f"go ponder {clocks}", "ponderhit"),
        *(f"position startpos moves {' '.join(moves[:4])}", *ready, f"go ponder {clocks}", "stop"),
        *(f"position startpos moves {' '.join(moves[:3])} {texts(game, wrong)[-1]}", *ready, f"go {clocks}"),
        *(["gameover draw"] if protocol == "usi" else []),
    ]


def legal_after(game: Rules, actions: list[int]) -> list[int]:
    state = game.initial_state()
    for action in actions:
        state = game.play(state, action)
    return game.legal_actions(state)


def texts(game: Rules, actions: list[int]) -> list[str]:
    found, state = [], game.initial_state()
    for action in actions:
        found.append(game.action_text(state, action))
        state = game.play(state, action)
    return found


@pytest.mark.parametrize("reply", ["", " ponder", " ponder e7e6x", " ponder e2e4"])
def test_without_a_reply_that_is_legal_nothing_is_pondered(tmp_path: Path, reply: str) -> None:
    log = tmp_path / "log"
    with ExternalEngine(fake("uci", {"go": [f"bestmove e2e4{reply}"]}, log=log), make("chess")) as engine:
        engine.new_game()
        action = engine.think("", [], DEPTH).action
        assert action is not None
        ponder(engine, [action], DEPTH)
    assert heard(log).count("go depth 1") == 1 and not any("go ponder" in line for line in heard(log))


def test_pondering_is_not_charged() -> None:
    """The charged time and the pondering are parts of the elapsed time, which may be long."""
    chess = make("chess")
    script = {"go 1": ["bestmove e2e4 ponder e7e5"], "go 2": [], "ponderhit": ["!sleep 0.1", "bestmove d2d4"]}
    with ExternalEngine(fake("uci", script), chess) as engine:
        engine.new_game()
        first = engine.think("", [], DEPTH).action
        assert first is not None
        started = time.monotonic()
        is_over = threading.Event()
        threading.Timer(0.3, is_over.set).start()
        engine.ponder("", [first], DEPTH, is_over)
        reply = chess.parse_action(chess.play(chess.initial_state(), first), "e7e5")
        assert reply is not None
        seconds = engine.think("", [first, reply], MOVE_TIME).thought.seconds
        assert seconds is not None and 0.1 <= seconds <= time.monotonic() - started - 0.3


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ({"go 2": [], "stop": []}, "did not stop pondering within 0.3 s"),
        ({"go 2": ["!exit 3"]}, "exit status 3"),
    ],
)
def test_who_ponders_badly_fails(script: dict[str, list[str]], message: str) -> None:
    chess = make("chess")
    command = fake("uci", {"go 1": ["bestmove e2e4 ponder e7e5"], **script})
    with ExternalEngine(command, chess) as engine:
        engine.new_game()
        first = engine.think("", [], DEPTH).action
        assert first is not None

        def go_on() -> None:
            ponder(engine, [first], DEPTH)
            engine._client._timeouts = EngineTimeouts(ready_s=0.3)  # for the end alone: it gets ready in its own time
            engine.think("", [first, chess.legal_actions(chess.play(chess.initial_state(), first))[0]], DEPTH)

        with pytest.raises(EngineFailure, match=message):
            go_on()


def test_who_moves_while_it_ponders_fails() -> None:
    command = fake("uci", {"go 1": ["bestmove e2e4 ponder e7e5"], "go 2": ["bestmove d2d4"]})
    with ExternalEngine(command, make("chess")) as engine:
        engine.new_game()
        first = engine.think("", [], DEPTH).action
        assert first is not None
        with pytest.raises(EngineFailure, match="made a move without being asked"):
            engine.ponder("", [first], DEPTH, threading.Event())


def test_gtp_has_no_words_for_pondering() -> None:
    with (
        ExternalEngine(fake("gtp"), make("go9")) as engine,
        pytest.raises(SettingsError, match="fake is set to ponder, which GTP cannot ask for"),
    ):
        ponder(engine, [], MoveLimits())

"""External engines: their input, the use of their answers, and that no fault of theirs blocks us.

`fake_engine.py` plays them all. Where an engine has to fail, its time-outs are short; where it has to succeed, they are
long: a slow machine fails no test.
"""

import collections
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zerosum.base.errors import GameError, SettingsError, ZerosumError
from zerosum.contest.mover import UNKNOWN_MATE, EngineFailure, EngineLimits, EngineMove
from zerosum.external.engine import EngineCommand, EngineTimeouts, ExternalEngine
from zerosum.external.uci_client import EngineOption
from zerosum.games import Rules, make
from zerosum.notation.record import ENDINGS

FAKE = Path(__file__).parents[1] / "fake_engine.py"
OPTIONS = [
    "option name Skill Level type spin default 20 min -20 max 20",
    "option name Style type combo default Very Solid var Very Solid var Wild",
    "option name Clear Hash type button",
    "option name OwnBook type check default true",
    "option name Book File type string default <empty>",
]
SCRIPTS: dict[str, dict[str, list[str]]] = {
    "uci": {
        "uci": ["Fake 1 by nobody", "id name Fake 1", "id author nobody", *OPTIONS, "uciok"],
        "isready": ["readyok"],
        "go": ["bestmove e2e4"],
    },
    "usi": {"usi": ["id name Fake 1", *OPTIONS, "usiok"], "isready": ["readyok"], "go": ["bestmove 7g7f"]},
    "gtp": {
        "name": ["=# Fake", ""],
        "version": ["=# 1", ""],
        "list_commands": ["=# play", "genmove", "time_settings", "time_left", ""],
        "genmove": ["=# C4", ""],
        **{
            word: ["=#", ""]
            for word in ("boardsize", "komi", "clear_board", "play", "time_settings", "time_left", "quit")
        },
        "kata-time_settings": ["=#", ""],
    },
}
GAMES = {"uci": "chess", "usi": "shogi", "gtp": "go(size=9)"}
DEPTH, MOVE_TIME = EngineLimits(depth=1), EngineLimits(move_time_s=1000.0)
LIMITS = {"uci": DEPTH, "usi": DEPTH, "gtp": EngineLimits()}
PROTOCOLS = sorted(SCRIPTS)


def fake(
    protocol: str,
    script: dict[str, list[str]] | None = None,
    *,
    log: Path | None = None,
    options: tuple[tuple[str, str], ...] = (),
    **fields: Any,
) -> EngineCommand:
    """The well-behaved engine of a protocol but for what the script says."""
    whole = json.dumps({**SCRIPTS[protocol], **(script or {})})
    argv = (sys.executable, "-I", "-S", str(FAKE), whole, *([str(log)] if log else []))
    return EngineCommand(argv, protocol, options, **{"name": "fake", **fields})


def first_move(
    command: EngineCommand,
    *,
    limits: EngineLimits | None = None,
    timeouts: EngineTimeouts | None = None,
    game: str = "",
) -> EngineMove:
    with ExternalEngine(command, make(game or GAMES[command.protocol]), timeouts=timeouts) as engine:
        engine.new_game()
        try:
            return engine.think("", [], limits or LIMITS[command.protocol])
        except EngineFailure:
            assert not engine.is_running and is_gone(engine.pid)
            raise


def failure_of(
    command: EngineCommand, *, limits: EngineLimits | None = None, timeouts: EngineTimeouts | None = None
) -> EngineFailure:
    """The failure of the first move of the first game."""
    with pytest.raises(EngineFailure) as caught:
        first_move(command, limits=limits, timeouts=timeouts)
    assert caught.value.ending in ENDINGS
    return caught.value


def is_gone(pid: int) -> bool:
    """Whether the process was reaped and its group has no living process (the system reaps an orphan's zombie)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        pass
    else:
        return False
    deadline = time.monotonic() + 200  # a killed process takes a moment to die
    while is_alive := any(map(is_alive_in(pid), Path("/proc").glob("[0-9]*/stat"))):
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    return not is_alive


def is_alive_in(group: int) -> Callable[[Path], bool]:
    def is_alive(stat: Path) -> bool:
        try:
            state, _, of_group, *_ = stat.read_text().rpartition(")")[2].split()  # behind the name, in brackets
        except (FileNotFoundError, ProcessLookupError):
            return False
        return of_group == str(group) and state != "Z"

    return is_alive


def heard(log: Path) -> list[str]:
    """The lines that the engine read, without the numbers of GTP commands."""
    return [line.lstrip("0123456789").strip() for line in log.read_text(encoding="utf-8").splitlines()]


# Conversations as a reader of the protocols would write them.


def test_uci_conversation(tmp_path: Path) -> None:
    log, chess = tmp_path / "log", make("chess")
    command = fake("uci", log=log, options=(("skill level", "-5"), ("Clear Hash", ""), ("Style", "Very Solid")))
    with ExternalEngine(command, chess) as engine:
        assert engine.reported_name == "Fake 1"
        engine.new_game()
        move = engine.think("", [], EngineLimits(remaining_s=(60.0, 59.9994), increment_s=(0.5, 0.0), moves_to_go=40))
        assert (chess.action_text(chess.initial_state(), move.action or 0), move.ending) == ("e2e4", "")
        fen = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2"
        engine.think(fen, [], EngineLimits(move_time_s=100.0, nodes=5, depth=3))
        engine.end_game(1.0)
        with pytest.raises(SettingsError, match="UCI cannot express byoyomi"):
            engine.think("", [], EngineLimits(remaining_s=(0, 0), byoyomi_s=1))
        with pytest.raises(SettingsError, match="has no limit"):
            engine.think("", [], EngineLimits())
        engine.new_game()
    assert heard(log) == [
        "uci",
        "setoption name Skill Level value -5",
        "setoption name Clear Hash",
        "setoption name Style value Very Solid",
        "ucinewgame",
        "isready",
        "position startpos",
        "isready",
        "go wtime 60000 btime 59999 winc 500 binc 0 movestogo 40",
        f"position fen {fen}",
        "isready",
        "go movetime 100000 nodes 5 depth 3",
        "ucinewgame",
        "isready",
        "quit",
    ]


def test_usi_conversation(tmp_path: Path) -> None:
    log, shogi = tmp_path / "log", make("shogi")
    script = {"go 2": ["bestmove 3c3d"], "go 3": ["bestmove 2g2f"], "go 4": ["bestmove 8h2b+"]}
    with ExternalEngine(fake("usi", script, log=log, options=(("USI_Hash", "64"),)), shogi) as engine:
        engine.new_game()
        actions, state = list[int](), shogi.initial_state()
        for limits in (
            EngineLimits(remaining_s=(300, 300), byoyomi_s=10),
            EngineLimits(remaining_s=(290, 300), increment_s=(5, 5)),
            EngineLimits(move_time_s=500, nodes=9),
        ):
            action = engine.think("", actions, limits).action
            assert action is not None
            actions.append(action)
            state = shogi.play(state, action)
        engine.end_game(-1.0)
        engine.new_game()
        sfen = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 1"
        assert engine.think(sfen, [], EngineLimits(nodes=1)).action is not None
        for limits in (
            EngineLimits(remaining_s=(1, 1), byoyomi_s=1, increment_s=(1, 1)),
            EngineLimits(remaining_s=(1, 1), moves_to_go=3),
            EngineLimits(remaining_s=(1, 1), move_time_s=3),
        ):
            with pytest.raises(SettingsError, match="USI"):
                engine.think("", [], limits)
    assert heard(log) == [
        "usi",
        "setoption name USI_Hash value 64",
        "isready",
        "usinewgame",
        "position startpos",
        "go btime 300000 wtime 300000 byoyomi 10000",
        "position startpos moves 7g7f",
        "go btime 290000 wtime 300000 binc 5000 winc 5000",
        "position startpos moves 7g7f 3c3d",
        "go btime 0 wtime 0 byoyomi 500000 nodes 9",
        "gameover lose",
        "isready",
        "usinewgame",
        f"position sfen {sfen}",
        "go nodes 1",
        "quit",
    ]


def test_gtp_conversation(tmp_path: Path) -> None:
    log, go = tmp_path / "log", make("go(size=9, komi=5.5)")
    with ExternalEngine(fake("gtp", {"genmove 2": ["=# d4", ""]}, log=log), go) as engine:
        assert engine.reported_name == "Fake 1"
        engine.new_game()
        black = engine.think("", [], EngineLimits(remaining_s=(60.7, 60.2))).action
        assert black is not None
        white = go.parse_action(go.play(go.initial_state(), black), "pass")
        assert white is not None
        engine.think("", [black, white], EngineLimits(remaining_s=(0.4, 50), byoyomi_s=10))
        # Another game than the one the engine knows is told from its start; the game's own stones come first.
        engine.think("9/9/9/9/9/9/9/9/OX7 X", [], EngineLimits(move_time_s=100))
        engine.think("9/9/9/9/9/9/9/9/OX7 X", [], EngineLimits(remaining_s=(300, 300), moves_to_go=25))
        with pytest.raises(SettingsError, match="cannot limit nodes or depth"):
            engine.think("", [], DEPTH)
        with pytest.raises(SettingsError, match="whole seconds"):
            engine.think("", [], EngineLimits(move_time_s=0.5))
    assert heard(log) == [
        *("name", "version", "list_commands", "boardsize 9", "komi 5.5", "clear_board"),
        *("time_settings 60 0 0", "time_left b 60 0", "time_left w 60 0", "genmove b"),
        *("play w pass", "time_settings 0 10 1", "time_left b 10 1", "time_left w 50 0", "genmove b"),
        *("clear_board", "play w a1", "play b b1"),
        *("time_settings 0 100 1", "time_left b 100 1", "genmove b"),
        *("clear_board", "play w a1", "play b b1"),
        *("time_settings 0 300 25", "time_left b 300 25", "genmove b"),
        "quit",
    ]


def test_gtp_increments_by_kata_time_settings(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = {"list_commands": ["=# time_settings", "kata-time_settings", ""]}
    first_move(fake("gtp", script, log=log), limits=EngineLimits(remaining_s=(60, 50), increment_s=(0.5, 0.5)))
    assert "kata-time_settings fischer 60 0.5" in heard(log)


def test_chess960_castles_onto_the_rook(tmp_path: Path) -> None:
    """Chess960 is switched on in engines that list the option; an engine without it cannot play the game."""
    log, game = tmp_path / "log", make("chess960")
    lists = {"uci": ["option name UCI_Chess960 type check default false", "uciok"], "go": ["bestmove e1h1"]}
    start = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    with ExternalEngine(fake("uci", lists, log=log), game) as engine:
        engine.new_game()
        action = engine.think(start, [], DEPTH).action
        assert action == game.parse_action(game.parse_position(start), "O-O")
        lists = {**lists, "go": ["bestmove e8e7"]}
    with ExternalEngine(fake("uci", lists, log=log), game) as engine:
        engine.new_game()
        engine.think(start, [action or 0], DEPTH)
    assert "setoption name UCI_Chess960 value true" in heard(log)
    assert f"position fen {start} moves e1h1" in heard(log)
    with pytest.raises(SettingsError, match="fake has no option 'UCI_Chess960'"):
        ExternalEngine(fake("uci"), game)


def test_chess_castles_by_the_kings_squares() -> None:
    game, start = make("chess"), "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    with ExternalEngine(fake("uci", {"go": ["bestmove e1g1"]}), game) as engine:
        engine.new_game()
        assert engine.think(start, [], DEPTH).action == game.parse_action(game.parse_position(start), "O-O")


def test_an_engine_of_many_games_is_told_which(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lists = {"usi": ["option name UCI_Variant type combo default shogi var shogi var minishogi", "usiok"]}
    lists["go"] = ["bestmove 4e4d"]
    first_move(fake("usi", lists, log=log), game="minishogi")
    assert "setoption name UCI_Variant value minishogi" in heard(log)
    log.unlink()
    with ExternalEngine(fake("usi", lists, log=log), make("shogi")):
        pass
    assert "setoption name UCI_Variant value shogi" in heard(log)
    log.unlink()
    with ExternalEngine(fake("usi", lists, log=log, options=(("uci_variant", "shogi"),)), make("minishogi")):
        pass
    assert [line for line in heard(log) if "Variant" in line] == ["setoption name UCI_Variant value shogi"]


# Answers.


@pytest.mark.parametrize(
    ("protocol", "answer", "ending"),
    [
        ("usi", ["bestmove resign"], "resignation"),
        ("usi", ["bestmove win"], "declaration"),
        ("gtp", ["=# resign", ""], "resignation"),
        ("gtp", ["=# RESIGN", ""], "resignation"),
    ],
)
def test_an_engine_may_end_the_game(protocol: str, answer: list[str], ending: str) -> None:
    move = first_move(fake(protocol, {"go": answer, "genmove": answer}))
    assert (move.action, move.ending) == (None, ending)
    assert move.ending in ENDINGS


@pytest.mark.parametrize("text", ["pass", "PASS", "J9", "j9"])
def test_vertices_in_small_letters_and_capitals(text: str) -> None:
    action = first_move(fake("gtp", {"genmove": [f"=# {text}", ""]})).action
    assert action == (81 if text.lower() == "pass" else 8)


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (["info depth 3 score cp -31 nodes 77 pv e2e4 e7e5"], (-31, None, 3, 77, ("e2e4", "e7e5"))),
        (["info depth 3 seldepth 9 score mate -4 nodes 5"], (None, -4, 3, 5, ())),
        (["info score cp 12", "info score mate 2"], (None, 2, None, None, ())),
        (["info score mate 2", "info score cp 12"], (12, None, None, None, ())),
        (["info score mate +"], (None, UNKNOWN_MATE, None, None, ())),
        (["info score mate -"], (None, -UNKNOWN_MATE, None, None, ())),
        (["info depth 4 score cp 12", "info depth 5 score cp 99 lowerbound"], (12, None, 5, None, ())),
        (
            ["info multipv 1 score cp 12 pv e2e4", "info multipv 2 score cp 5 pv d2d4"],
            (12, None, None, None, ("e2e4",)),
        ),
        (
            ["info string depth 9 score cp 5", "joho", "", "info", "info depth x score cp y"],
            (None, None, None, None, ()),
        ),
        (["info depth 3 score cp 5", "info depth 4 currmove e2e4 currmovenumber 1"], (5, None, 4, None, ())),
    ],
)
def test_the_last_score(info: list[str], expected: tuple[object, ...]) -> None:
    answer = first_move(fake("uci", {"go": [*info, "bestmove e2e4 ponder e7e5"]})).answer
    assert (answer.centipawns, answer.mate, answer.depth, answer.nodes, answer.pv) == expected
    assert answer.seconds > 0


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (["info score cp 12 pv e2e4"], []),
        (["info multipv 1 score cp 12 pv e2e4"], []),
        (
            ["info multipv 1 score cp 12 pv e2e4 e7e5", "info multipv 2 score mate -3 pv d2d4"],
            [("e2e4", 12, None), ("d2d4", None, -3)],
        ),
        (  # the ranks have changed between two depths, and the search ended within the second
            [
                "info depth 1 multipv 1 score cp 12 pv e2e4",
                "info depth 1 multipv 2 score cp 5 pv d2d4",
                "info depth 1 multipv 3 score cp 1 pv c2c4",
                "info depth 2 multipv 1 score cp 30 pv d2d4",
            ],
            [("d2d4", 30, None), ("c2c4", 1, None)],
        ),
        (
            ["info multipv 1 score cp 12 pv e2e4", "info multipv 2 score cp 9 lowerbound pv d2d4"],
            [],
        ),
        (["info multipv 1 score cp 12 pv e2e4", "info multipv x score cp 9 pv d2d4", "info multipv 2 pv d2d4"], []),
    ],
)
def test_the_compared_moves(info: list[str], expected: list[tuple[object, ...]]) -> None:
    move = first_move(fake("uci", {"go": [*info, "bestmove e2e4"]}))
    assert [(line.move, line.centipawns, line.mate) for line in move.answer.lines] == expected
    assert [line for _, line in move.lines] == list(move.answer.lines)


def test_an_illegal_compared_move_is_left_out() -> None:
    infos = [f"info multipv {rank} score cp 0 pv {move}" for rank, move in ((1, "e2e4"), (2, "e2e5"), (3, "d2d4"))]
    move = first_move(fake("uci", {"go": [*infos, "bestmove e2e4"]}))
    assert [line.move for _, line in move.lines] == ["e2e4", "d2d4"]
    game = make("chess")
    state = game.initial_state()
    assert [game.action_text(state, action) for action, _ in move.lines] == ["e2e4", "d2d4"]


def test_the_clock_runs_while_the_engine_thinks_alone() -> None:
    """Not while it gets ready, and up to when its answer came."""
    answer = first_move(fake("uci", {"go": ["!sleep 0.2", "bestmove e2e4"]}), limits=MOVE_TIME).answer
    assert answer.seconds >= 0.2
    script = {"isready": ["!sleep 0.2", "readyok"]}
    with ExternalEngine(fake("uci", script), make("chess")) as engine:
        started = time.monotonic()
        engine.new_game()
        answer = engine.think("", [], MOVE_TIME).answer
        assert answer.seconds + 0.4 <= time.monotonic() - started


def test_an_answer_within_the_margin_is_in_time() -> None:
    script = {"go": ["!sleep 0.1", "bestmove e2e4"]}
    with ExternalEngine(fake("uci", script), make("chess")) as engine:
        engine.new_game()
        assert engine.think("", [], EngineLimits(remaining_s=(-0.5, 1), margin_s=100.0)).answer.seconds >= 0.1


# Pondering.


def ponder(engine: ExternalEngine, actions: list[int], limits: EngineLimits) -> None:
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
    limits = EngineLimits(remaining_s=(60, 50))
    with ExternalEngine(fake(protocol, script, log=log), game) as engine:
        engine.new_game()
        assert engine.think("", [], limits).action == actions[0]
        ponder(engine, actions[:1], limits)
        hit = engine.think("", actions[:2], limits)
        assert (hit.action, hit.answer.centipawns, hit.answer.depth) == (actions[2], 33, 7)
        ponder(engine, actions[:3], limits)
        wrong = [*actions[:3], next(iter({*legal_after(game, actions[:3])} - {actions[3], actions[4]}))]
        assert engine.think("", wrong, limits).answer.move == moves[4]
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
        answer = engine.think("", [first, reply], MOVE_TIME).answer
        assert 0.1 <= answer.seconds <= time.monotonic() - started - 0.3


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
        ponder(engine, [], EngineLimits())


# Options.


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Skil Level", "3", "fake has no option 'Skil Level': did you mean 'Skill Level'. Known are Book File, "),
        ("Skill Level", "21", "option Skill Level of fake is '21', expected an integer from -20 to 20."),
        ("Skill Level", "high", "option Skill Level of fake is 'high', expected an integer from -20 to 20."),
        ("Style", "Solid", "option Style of fake is 'Solid', expected one of Very Solid, Wild."),
        ("OwnBook", "no", "option OwnBook of fake is 'no', expected true or false."),
        ("Clear Hash", "now", "option Clear Hash of fake is 'now', expected no value, because it is a button."),
        ("USI_Hash", "64", "fake has no option 'USI_Hash'"),
    ],
)
def test_an_option_has_to_be_there_and_to_take_the_value(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ExternalEngine(fake("uci", options=((name, value),)), make("chess"))
    assert str(caught.value).replace("?", ".").startswith(message)


def test_usi_is_for_shogi() -> None:
    with pytest.raises(SettingsError, match="fake speaks USI, which is for shogi and minishogi, not for chess"):
        ExternalEngine(fake("usi"), make("chess"))


def test_gtp_has_no_options_and_is_for_go() -> None:
    with pytest.raises(SettingsError, match="GTP, which has no options"):
        ExternalEngine(fake("gtp", options=(("level", "3"),)), make("go9"))
    with pytest.raises(SettingsError, match="GTP, which is for Go, not for chess"):
        ExternalEngine(fake("gtp"), make("chess"))
    with pytest.raises(SettingsError, match="has no time_settings"):
        first_move(fake("gtp", {"list_commands": ["=# play", ""]}), limits=EngineLimits(move_time_s=5))


def test_option_lines() -> None:
    line = "option name Analysis Contempt type combo default Both var Both var Very Black"
    assert EngineOption.parse(line) == EngineOption(
        "Analysis Contempt", "combo", "Both", choices=("Both", "Very Black")
    )
    assert EngineOption.parse("option name H type spin default 1 min 0 max 9") == EngineOption(
        "H", "spin", "1", "0", "9"
    )
    assert EngineOption.parse("option") == EngineOption("")


@pytest.mark.parametrize(
    ("make_it", "message"),
    [
        (lambda: EngineCommand((), "uci"), "command is empty"),
        (lambda: EngineCommand(("x",), "cecp"), "protocol is 'cecp'"),
        (lambda: EngineCommand.parse("a 'b", protocol="uci"), "cannot be read: No closing quotation"),
        (lambda: EngineCommand(("x",), "uci", (("a", "b\nquit"),)), "expected one line"),
        (lambda: EngineTimeouts(quit_s=-1.0), "engine.quit_s is -1.0"),
        (lambda: EngineLimits(byoyomi_s=3), "needs a clock"),
        (lambda: EngineLimits(nodes=0), "nodes is 0"),
        (lambda: EngineLimits(move_time_s=float("nan")), "move_time_s is nan"),
        (lambda: EngineLimits(remaining_s=(1, float("inf"))), "remaining_s is"),
        (lambda: EngineLimits(remaining_s=(1, 1), increment_s=(-1, 0)), "increment_s is"),
    ],
)
def test_a_setting_that_is_wrong_is_named(make_it: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make_it()


def test_a_command_line_and_where_it_runs(tmp_path: Path) -> None:
    command = EngineCommand.parse("gnugo --mode 'g tp'", protocol="gtp")
    assert (command.argv, command.label) == (("gnugo", "--mode", "g tp"), "gnugo")
    (tmp_path / "its home").mkdir()
    script = {"uci": ["!directory", "uciok"]}
    with ExternalEngine(fake("uci", script, directory=str(tmp_path / "its home")), make("chess")) as engine:
        assert engine.reported_name == "its home"


def test_nothing_is_asked_where_a_game_is_over() -> None:
    with ExternalEngine(fake("uci"), make("chess")) as engine:
        with pytest.raises(GameError, match="The game is over"):
            engine.think("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", [], DEPTH)
        assert engine.is_running


# Misbehaviour. What is said of it, and that it takes no longer than the time-outs.


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
        limits=EngineLimits(remaining_s=(0.1, 1000.0), margin_s=0.1),
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
from zerosum.external.engine import EngineCommand, ExternalEngine
engine = ExternalEngine({fake("uci", {"uci": ["uciok", "!sleep 600"]})!r}, make("chess"))
print(engine.pid)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert is_gone(int(ended.stdout))


def test_what_does_not_start_as_an_engine_gets_advice() -> None:
    with pytest.raises(EngineFailure, match=r"has ended its output.*Check that its command is one of .* speaks UCI\.$"):
        ExternalEngine(EngineCommand(("true",), "uci"), make("chess"))

"""External engines' answers: moves, ends of games, scores, compared moves and the time that they took."""

import time
from typing import Any

import pytest

from engines_for_tests import DEPTH, MOVE_TIME, fake, first_move
from zerosum.base.errors import GameError
from zerosum.contest.adjudication import Score
from zerosum.contest.clock import TimeLeft
from zerosum.contest.mover import MoveLimits
from zerosum.games import make
from zerosum.notation.record import ENDINGS
from zerosum.play.engines.engine import ExternalEngine
from zerosum.play.engines.uci_client import UNKNOWN_MATE

CHESS = make("chess")
FIRST_MOVES = {
    action: CHESS.action_text(CHESS.initial_state(), action) for action in CHESS.legal_actions(CHESS.initial_state())
}


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
    ("info", "score", "depth", "nodes"),
    [
        (["info depth 3 score cp -31 nodes 77 pv e2e4 e7e5"], Score(centipawns=-31), 3, 77),
        (["info depth 3 seldepth 9 score mate -4 nodes 5"], Score(mate=-4), 3, 5),
        (["info score cp 12", "info score mate 2"], Score(mate=2), None, None),
        (["info score mate 2", "info score cp 12"], Score(centipawns=12), None, None),
        (["info score mate 0"], Score(mate=0), None, None),
        (["info score mate +"], Score(mate=UNKNOWN_MATE), None, None),
        (["info score mate -"], Score(mate=-UNKNOWN_MATE), None, None),
        (["info depth 4 score cp 12", "info depth 5 score cp 99 lowerbound"], Score(centipawns=12), 5, None),
        (
            ["info multipv 1 score cp 12 pv e2e4", "info multipv 2 score cp 5 pv d2d4"],
            Score(centipawns=12),
            None,
            None,
        ),
        (["info string depth 9 score cp 5", "joho", "", "info", "info depth x score cp y"], None, None, None),
        (["info depth 3 score cp 5", "info depth 4 currmove e2e4 currmovenumber 1"], Score(centipawns=5), 4, None),
    ],
)
def test_the_last_score(info: list[str], score: Score | None, depth: int | None, nodes: int | None) -> None:
    thought = first_move(fake("uci", {"go": [*info, "bestmove e2e4 ponder e7e5"]})).thought
    assert (thought.score, thought.depth, thought.nodes) == (score, depth, nodes)
    assert thought.seconds is not None and thought.seconds > 0


@pytest.mark.parametrize(
    ("mate", "moves"), [("3", 2), ("-2", -1), ("1", 1), ("-1", 0), ("+", UNKNOWN_MATE), ("-", -UNKNOWN_MATE)]
)
def test_usi_counts_the_plies_of_a_mate(mate: str, moves: int) -> None:
    thought = first_move(fake("usi", {"go": [f"info score mate {mate}", "bestmove 7g7f"]})).thought
    assert thought.score == Score(mate=moves)


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (["info score cp 12 pv e2e4"], []),
        (["info multipv 1 score cp 12 pv e2e4"], []),
        (
            ["info multipv 1 score cp 12 pv e2e4 e7e5", "info multipv 2 score mate -3 pv d2d4"],
            [("e2e4", Score(centipawns=12)), ("d2d4", Score(mate=-3))],
        ),
        (  # the ranks have changed between two depths, and the search ended within the second
            [
                "info depth 1 multipv 1 score cp 12 pv e2e4",
                "info depth 1 multipv 2 score cp 5 pv d2d4",
                "info depth 1 multipv 3 score cp 1 pv c2c4",
                "info depth 2 multipv 1 score cp 30 pv d2d4",
            ],
            [("d2d4", Score(centipawns=30)), ("c2c4", Score(centipawns=1))],
        ),
        (
            ["info multipv 1 score cp 12 pv e2e4", "info multipv 2 score cp 9 lowerbound pv d2d4"],
            [],
        ),
        (["info multipv 1 score cp 12 pv e2e4", "info multipv x score cp 9 pv d2d4", "info multipv 2 pv d2d4"], []),
    ],
)
def test_the_compared_moves(info: list[str], expected: list[tuple[str, Score]]) -> None:
    answer = first_move(fake("uci", {"go": [*info, "bestmove e2e4"]}))
    assert [(FIRST_MOVES[action], score) for action, score in answer.thought.lines] == expected


def test_an_illegal_compared_move_is_left_out() -> None:
    infos = [f"info multipv {rank} score cp 0 pv {move}" for rank, move in ((1, "e2e4"), (2, "e2e5"), (3, "d2d4"))]
    answer = first_move(fake("uci", {"go": [*infos, "bestmove e2e4"]}))
    assert [FIRST_MOVES[action] for action, _ in answer.thought.lines] == ["e2e4", "d2d4"]


def test_the_clock_runs_while_the_engine_thinks_alone() -> None:
    """Not while it gets ready, and up to when its answer came."""
    seconds = first_move(fake("uci", {"go": ["!sleep 0.2", "bestmove e2e4"]}), limits=MOVE_TIME).thought.seconds
    assert seconds is not None and seconds >= 0.2
    script = {"isready": ["!sleep 0.2", "readyok"]}
    with ExternalEngine(fake("uci", script), make("chess")) as engine:
        started = time.monotonic()
        engine.new_game()
        seconds = engine.think("", [], MOVE_TIME).thought.seconds
        assert seconds is not None and seconds + 0.4 <= time.monotonic() - started


def test_an_answer_within_the_margin_is_in_time() -> None:
    script = {"go": ["!sleep 0.1", "bestmove e2e4"]}
    with ExternalEngine(fake("uci", script), make("chess")) as engine:
        engine.new_game()
        limits = MoveLimits((TimeLeft(-0.5), TimeLeft(1)), margin_s=100.0)
        seconds = engine.think("", [], limits).thought.seconds
        assert seconds is not None and seconds >= 0.1


def test_nothing_is_asked_where_a_game_is_over() -> None:
    with ExternalEngine(fake("uci"), make("chess")) as engine:
        with pytest.raises(GameError, match="The game is over"):
            engine.think("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", [], DEPTH)
        assert engine.is_running


class LateQueue:
    """A queue after whose `put` the calling thread does not run for a while, as on a busy machine."""

    def __init__(self, queue: Any) -> None:
        self._queue, self.get = queue, queue.get

    def put(self, line: bytes | None) -> None:
        self._queue.put(line)
        time.sleep(0.2 if line is not None and line.startswith(b"go") else 0.0)


def test_an_engine_may_answer_before_the_thread_that_asked_goes_on() -> None:
    game = make("chess")
    with ExternalEngine(fake("uci", {"go": ["bestmove e2e4"]}), game) as engine:
        engine.new_game()
        process: Any = engine._process
        process._outbox = LateQueue(process._outbox)
        assert engine.think("", [], DEPTH).action == game.parse_action(game.initial_state(), "e2e4")

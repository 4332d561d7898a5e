"""The engine by USI: shogi's own words, and a client with the habits of ShogiHome that plays games to their end."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzz_for_tests import rounds
from line_clients import FakeTime, LineClient, TimedEvaluator, answers, fuzz, noise, strings, value_of
from zerosum.contest.clock import TimeControl
from zerosum.games import make
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations
from zerosum.network.evaluators.evaluator import RolloutEvaluator
from zerosum.play.engines.uci_client import EngineOption
from zerosum.play.mates import RepliesEvaluator
from zerosum.protocols.engine_options import option_table
from zerosum.protocols.line_words import Position
from zerosum.protocols.usi import UsiEngine, UsiSetup

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "zerosum", "usi")
DECLARED = "position sfen 4K4/PPPPPPPPP/1BR6/9/9/9/9/9/8k b RB2G 1"
MATE_IN_ONE = "position sfen 8k/9/8P/9/9/9/9/9/K8 b G2r2b3g4s4n4l17p 1"
MATED = "position sfen 8k/8G/8P/9/9/9/9/9/K8 w 2r2b3g4s4n4l17p 1"
MATE_IN_THREE = "position sfen 7k1/9/7P1/9/9/9/9/9/K8 b 2G2r2b2g4s4n4l17p 1"

WORDS = """\
usi isready setoption usinewgame position go stop ponderhit gameover startpos sfen moves win lose
searchmoves ponder btime wtime byoyomi binc winc movetime nodes depth mate infinite 7g7f 3c3d 8h2b+ P*5e
5i5h 1e1d G*1b resign
"""


def client(game: str = "shogi", **more: Any) -> LineClient:
    return LineClient("usi", game, **more)


# Words of its own


def test_option_names_have_no_blanks() -> None:
    lines = client().tell("usi")
    assert lines[0].startswith("id name zerosum ") and lines[-1] == "usiok"
    options = [line for line in lines if line.startswith("option ")]
    assert all(re.match(r"option name \S+ type ", line) for line in options)
    names = {EngineOption.parse(line).name for line in options}
    assert names >= {"USI_Hash", "USI_Ponder", "MultiPV", "Resign_Threshold", "EnteringKingRule", "MaxMovesToDraw"}
    assert client().tell("setoption name USI_Hash value 64", "setoption name USI_Ponder value true") == []


def test_a_declaration_wins() -> None:
    engine = client()
    assert engine.answer(DECLARED, "go btime 0 wtime 0 byoyomi 1000") == "bestmove win"
    assert answers(engine.ask("go infinite")) == []
    assert engine.tell("stop") == ["bestmove win"]
    engine.tell("setoption name EnteringKingRule value NoEnteringKing")
    assert engine.answer("go nodes 20") not in ("bestmove win", "bestmove resign")
    assert engine.answer("setoption name EnteringKingRule value CSARule27", "go nodes 20") == "bestmove win"
    assert client("shogi(entering_king=none)").answer(DECLARED, "go nodes 20") != "bestmove win"
    other_side = "position sfen 8K/9/9/9/9/9/1br6/ppppppppp/4k4 w rb2g 1"
    assert engine.answer(other_side, "go nodes 20") == "bestmove win"


def test_a_draw_that_could_be_declared_proves_nothing() -> None:
    """Black could declare a draw with 24 points, and has a mate in three: USI has no word for the draw."""
    engine = client()
    position = "position sfen +R+B+R+BK4/+P+P+P+P+P+P3/9/9/9/9/9/8k/5+P+P2 b 2GP2g4s4n4l9p 201"
    engine.tell("setoption name EnteringKingRule value CSARule24")
    words = engine.answer(position, "go mate infinite").split()
    assert words[:3] == ["checkmate", "G*2h", "1h1i"] and len(words) == 4
    assert engine.answer("go nodes 2000") == "bestmove G*2h"
    assert engine.answer("position sfen 4K4/PPPPPPPPP/1BR6/9/9/9/9/9/8k b RB2G 1", "go nodes 20") == "bestmove win", (
        "31 points"
    )
    by_name = client("shogi(entering_king=csa24)").engine.setup
    assert by_name.values["EnteringKingRule"] == "CSARule24" and "csa24-wins" in by_name.game.spec.full_name


def test_mates_are_looked_for_without_random_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine has no network."""
    monkeypatch.chdir(tmp_path)
    said = list[str]()
    engine = UsiEngine(UsiSetup(make("shogi")), write=said.append)
    problem = "+R+B+R+BK4/+P+P+P+P+P+P3/9/9/9/9/9/8k/5+P+P2 b 2GP2g4s4n4l9p 201"
    options = ("setoption name EnteringKingRule value CSARule24", "setoption name Threads value 1")
    for line in (*options, f"position sfen {problem}", "go mate infinite"):
        engine.obey(line)
    engine._engine.wait()
    assert answers(said)[-1].startswith("checkmate G*2h 1h1i ")
    assert engine._go.report.num_visits < 3000
    assert isinstance(engine._engine.player.evaluator, RepliesEvaluator)
    engine.obey("go nodes 3")
    engine.close()
    assert isinstance(engine._engine.player.evaluator, RolloutEvaluator), "a game is played as before"


def test_a_refused_position_is_resigned() -> None:
    engine = client()
    said = engine.ask("position startpos moves 7g7f 7g7f", "go nodes 20")
    assert answers(said) == ["bestmove resign"] and "was refused: position, move 2" in strings(said)[-1]
    assert engine.answer("go mate infinite") == "checkmate notimplemented"
    assert (
        engine.answer("position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 0", "go nodes 9")[9:]
        != "resign"
    )


def test_who_has_no_move_resigns() -> None:
    assert client().answer(MATED, "go byoyomi 100") == "bestmove resign"


class Hopeless:
    """An evaluator for which the first player loses."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        said = TimedEvaluator(FakeTime(), 0).evaluate(leaves)
        said.values[:] = [-0.95 if player == 0 else 0.95 for player in leaves.players]
        return said


def test_resigns_below_the_threshold() -> None:
    engine = client(evaluator=Hopeless())
    assert engine.answer("go nodes 50") != "bestmove resign"
    engine.tell("setoption name Resign_Threshold value 50")
    assert engine.answer("go nodes 50") == "bestmove resign"
    assert engine.answer("position startpos moves 7g7f", "go nodes 50") != "bestmove resign", "the other side wins"
    engine.tell("position startpos", "go infinite")
    assert answers(engine.tell("stop")) != ["bestmove resign"], "an analysis wants a move"
    engine.tell("setoption name Resign_Threshold value 20")
    assert engine.answer("go nodes 50") != "bestmove resign"


def test_mates_are_answered_in_words_of_their_own() -> None:
    engine = client()
    assert engine.answer(MATE_IN_ONE, "go mate infinite") == "checkmate G*1b"
    assert engine.answer(MATE_IN_ONE, "go mate 60000") == "checkmate G*1b"
    assert engine.answer(MATED, "go mate 1000") == "checkmate nomate"
    forced = engine.answer(MATE_IN_THREE, "go mate infinite").split()
    assert forced[0] == "checkmate" and len(forced[1:]) % 2 == 1
    state = engine.engine._position.state
    game = engine.engine.setup.game
    for move in forced[1:]:
        action = game.parse_action(state, move)
        assert action is not None
        state = game.play(state, action)
    assert not game.legal_actions(state, past_soft_endings=True)
    engine.tell("position startpos", "go mate infinite")
    assert engine.tell("stop")[-1] == "checkmate timeout"
    time = FakeTime()
    assert client(evaluator=TimedEvaluator(time, 0.01), clock=time).answer("go mate 300") == "checkmate timeout"
    assert time.now_s <= 1000.3
    problem = engine.ask("position sfen 8k/9/8P/9/9/9/9/9/9 b G 1", "go mate infinite")
    assert "Black has 0 kings" in strings(problem)[0]
    assert answers(problem) == ["checkmate notimplemented"], "a problem without the king that our rules want"


def test_there_is_no_mate_where_the_other_side_wins() -> None:
    """Black has a lone king, and White mates whatever it does."""
    assert client().answer("position sfen K8/2+r6/1g7/9/9/9/9/9/8k b - 1", "go mate infinite") == "checkmate nomate"


def test_mates_are_counted_in_plies() -> None:
    infos = [line for line in client().ask(MATE_IN_ONE, "go nodes 500") if line.startswith("info depth")]
    assert " score mate 1 " in infos[-1]
    infos = client().ask(MATE_IN_THREE, "go mate infinite")
    depth = next(line for line in infos if line.startswith("info depth"))
    assert value_of(depth, "mate") == value_of(depth, "depth") and int(value_of(depth, "mate")) % 2 == 1


def test_minishogi_by_option_or_by_name() -> None:
    engine = client()
    engine.tell("setoption name UCI_Variant value minishogi", "isready", "usinewgame", "position startpos")
    assert engine.answer("go nodes 30 searchmoves 1e1d") == "bestmove 1e1d"
    assert engine.loaded == ["minishogi"]
    assert client("minishogi").engine.setup.game.spec.name == "minishogi"


def test_a_longest_game_is_a_draw() -> None:
    moves = " ".join(["5i5h", "5a5b"])
    engine = client()
    engine.tell("setoption name MaxMovesToDraw value 2", f"position startpos moves {moves}")
    assert engine.engine.setup.game.spec.max_plies == 2
    assert engine.answer("go nodes 10") != "bestmove resign", "played on, if a client wants that"
    engine.tell("setoption name MaxMovesToDraw value 0")
    assert engine.engine.setup.game.spec.max_plies == 65535


def test_whose_clock_it_is() -> None:
    time = FakeTime()
    engine = client(evaluator=TimedEvaluator(time, 0.01), clock=time, overrides=["time.stop_early=false"])
    engine.tell("isready", "usinewgame")
    for position, words in (
        ("position startpos", "btime 100 wtime 90000"),
        ("position startpos moves 7g7f", "btime 90000 wtime 100"),
        ("position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", "btime 90000 wtime 100"),
    ):
        before = time.now_s
        engine.answer(position, f"go {words}")
        assert time.now_s - before <= 0.1
        before = time.now_s
        engine.answer(position, f"go {words} byoyomi 500")
        assert 0.3 < time.now_s - before <= 0.6


# A client


class ShogiHome:
    """Its habits: `usinewgame` behind each `readyok`, early pondering, `stop` where it was in vain, `gameover`."""

    def __init__(self, engine: LineClient, evaluator: TimedEvaluator, control: str, *, is_early: bool) -> None:
        self._engine, self._evaluator, self._ticks, self._is_early = engine, evaluator, evaluator.time, is_early
        self._control = TimeControl.parse(control)
        self._lefts = [self._control.start(), self._control.start()]

    def _clocks(self, player: int, ponder: bool = False) -> str:
        words = [f"{name}time {max(int(1000 * left.main_s), 0)}" for name, left in zip("bw", self._lefts, strict=True)]
        if self._control.increment_s:
            words += [f"{name}inc {int(1000 * self._control.increment_s)}" for name in "bw"]
        else:
            words.append(f"byoyomi {int(1000 * self._control.period_s)}")
        return " ".join(words)

    def play(self, most_plies: int) -> tuple[list[str], str]:
        """A game of the engine against itself, with pondering by one instance; how it ended."""
        engine, moves, expected = self._engine, list[str](), ""
        assert engine.tell("isready")[-1] == "readyok"
        engine.tell("usinewgame")
        while len(moves) < most_plies:
            player = len(moves) % 2
            position = f"position startpos{' moves ' if moves else ''}{' '.join(moves)}"
            before = self._ticks.now_s
            if expected and expected == moves[-1]:
                with self._evaluator.lock:
                    before, told = self._ticks.now_s, len(engine.said)
                    engine.tell(f"ponderhit {self._clocks(player)}" if self._is_early else "ponderhit")
                engine.wait()
                said = engine.said[told:]
            else:
                if expected:
                    (in_vain,) = answers(engine.tell("stop"))
                    assert in_vain.startswith("bestmove ")
                    before = self._ticks.now_s
                said = engine.ask(position, f"go {self._clocks(player)}")
            (answer,) = answers(said)
            left = self._control.after_move(self._lefts[player], self._ticks.now_s - before)
            assert left is not None, f"the flag fell at move {len(moves) + 1}"
            self._lefts[player] = left
            _, move, *ponder = answer.split()
            if move in ("resign", "win"):
                break
            moves.append(move)
            expected = ""
            if ponder:  # the reply is played as expected, every other time
                assert ponder[0] == "ponder"
                reply = ponder[1] if len(moves) % 4 == 1 else self._other(moves, ponder[1])
                if reply is None:
                    break
                expected = ponder[1]
                clocks = "" if self._is_early else f" {self._clocks(1 - player)}"
                line = " ".join(moves)
                assert not answers(engine.tell(f"position startpos moves {line} {expected}", f"go ponder{clocks}"))
                moves.append(reply)
        if expected:
            assert len(answers(engine.tell("stop"))) == 1
        assert answers(engine.tell("gameover draw")) == []
        return moves, answer

    def _other(self, moves: list[str], expected: str) -> str | None:
        position = Position.after(self._engine.engine.setup.game, "", tuple(moves))
        return next((text for action in position.legal if (text := position.texts([action])[0]) != expected), expected)


@pytest.mark.parametrize("control", ["0+1x1", "1+0.1", "2+1x1"])
@pytest.mark.parametrize("is_early", [False, True], ids=["clocks with go", "clocks with ponderhit"])
def test_shogihome_plays_by_the_clock(control: str, is_early: bool) -> None:
    ticks = FakeTime()
    evaluator = TimedEvaluator(ticks, 0.02)
    engine = client(evaluator=evaluator, clock=ticks)
    engine.tell("usi", "setoption name USI_Ponder value true", "setoption name USI_Hash value 32")
    moves, _ = ShogiHome(engine, evaluator, control, is_early=is_early).play(30)
    assert len(moves) >= 30
    again, _ = ShogiHome(engine, evaluator, control, is_early=is_early).play(6)
    assert len(again) >= 6


def test_what_people_ask_at_a_keyboard() -> None:
    engine = client()
    said = engine.tell("position startpos moves 7g7f", "d")
    assert "Sfen: lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2" in said
    assert engine.tell("go perft 2")[-1] == "Nodes searched: 1110", "as Fairy-Stockfish counts"
    assert engine.tell("eval")[-2:-1] == ["Value for the player to move: +0.0000 (50.0%, 0 centipawns)"]
    engine.tell("setoption name VerboseMoveStats value true")
    assert len([line for line in engine.ask("go nodes 40") if "(P: 3.33%)" in line]) == 30


def test_strength_by_options_without_blanks() -> None:
    engine = client()
    engine.tell("setoption name SkillLevel value 0", "setoption name Seed value 3", "position startpos")
    assert engine.engine.setup.skill == 0
    assert len({engine.answer("usinewgame", "go byoyomi 1000") for _ in range(8)}) > 3
    infos = [line for line in engine.said if line.startswith("info depth")]
    assert max(int(value_of(line, "nodes")) for line in infos) == 4  # a slow machine reports on the way as well
    engine.ask("go nodes 90")
    assert engine.tell("setoption name ClearHash") == []
    engine.tell("setoption name SkillLevel value 20", "setoption name Temperature value 5")
    assert len({engine.answer("usinewgame", "go nodes 30") for _ in range(8)}) > 3


def test_gameover_ends_pondering() -> None:
    engine = client()
    engine.tell("position startpos moves 7g7f", "go ponder")
    assert len(answers(engine.tell("gameover win"))) == 1
    assert engine.tell("gameover lose") == []


def test_early_pondering_without_any_clock_is_answered_like_a_bare_go() -> None:
    engine = client()
    engine.tell("go ponder")
    assert len(answers(engine.ask("ponderhit"))) == 1


def test_lines_of_anything() -> None:
    words = (
        *WORDS.split(),
        "setoption name MultiPV value 3",
        "setoption name USI_Hash value 2",
        "setoption name EnteringKingRule value CSARule24",
        "setoption name UCI_Variant value minishogi",
        "setoption name UCI_Variant value shogi",
        "setoption name MaxMovesToDraw value 30",
    )
    positions = (
        "position startpos",
        "position startpos moves 7g7f 3c3d 8h2b+",
        "position startpos moves 7g7f 3c3d 8h2b+ 3a2b",
        "position sfen rbsgk/4p/5/P4/KGSBR b - 1",
        DECLARED,
        MATED,
        MATE_IN_ONE,
        "go btime 5 wtime 5 byoyomi 10",
        "go mate 5",
        "go infinite",
        "go ponder",
        "ponderhit btime 1 wtime 1 byoyomi 3",
        "stop",
    )
    fuzz(client(overrides=["search.memory_mib=4"]), noise(2, rounds(10_000), words, positions))


def test_the_documentation_has_the_options() -> None:
    page = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
    assert option_table(client().engine.setup.options.values()) in page


def test_the_command_answers_at_once_and_ends_with_its_input(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND, input="usi\nposition startpos\ngo infinite\n", capture_output=True, text=True, cwd=tmp_path, check=True
    )
    lines = done.stdout.splitlines()
    assert "usiok" in lines and len(answers(lines)) == 1 and not done.stderr

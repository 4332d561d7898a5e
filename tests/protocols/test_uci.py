"""The engine by UCI: what clients rely on, in this process, and whole games of a real client with the real command."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from line_clients import FakeTime, LineClient, TimedEvaluator, answers, fuzz, noise, strings, value_of
from networks_for_tests import SMALL, save_network
from searches_for_tests import Compiling
from zerosum.base.errors import DataError, SettingsError
from zerosum.evaluators import Evaluations, RolloutEvaluator
from zerosum.external.uci_client import EngineOption
from zerosum.games import make
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.protocols.engine_options import option_table
from zerosum.protocols.line_words import Position
from zerosum.protocols.uci import UciEngine, UciSetup

MATE_IN_ONE = "position fen 6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"
MATED = "position fen R5k1/5ppp/8/8/8/8/8/7K b - - 0 1"
FOOLS_MATE = "position startpos moves f2f3 e7e5 g2g4"
STALEMATE = "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
COMMAND = (sys.executable, "-m", "zerosum", "uci")

WORDS = """\
uci debug isready setoption register ucinewgame position go stop ponderhit startpos fen moves searchmoves
ponder wtime btime winc binc movestogo movetime nodes depth mate infinite e2e4 e7e5 g1f3 e1g1 a7a8q 0000
Nf3 O-O
"""


def client(game: str = "chess", **more: Any) -> LineClient:
    return LineClient("uci", game, **more)


# The handshake and the options


def test_the_handshake_lists_what_clients_set_unasked() -> None:
    lines = client().tell("uci")
    assert lines[0].startswith("id name zerosum ") and lines[-1] == "uciok"
    names = {EngineOption.parse(line).name for line in lines if line.startswith("option ")}
    assert names >= {
        *("Move Overhead", "Threads", "Hash", "Ponder", "MultiPV", "UCI_AnalyseMode", "UCI_Chess960", "UCI_Opponent"),
        *("SyzygyPath", "UCI_ShowWDL", "Clear Hash"),
    }
    for name, offered in client().engine.setup.options.items():
        assert EngineOption.parse(offered.line) == offered.listed and offered.listed.name == name
        assert not re.search(r"\b(name|type|default|min|max|var)\b", name), "python-chess splits lines there"


def test_the_handshake_loads_nothing_and_says_who_plays_afterwards() -> None:
    engine = client()
    engine.tell("uci", "setoption name Hash value 64", "ucinewgame", "position startpos moves e2e4")
    assert not engine.loaded
    assert engine.tell("isready") == ["info string Playing uniformly.", "readyok"]
    assert engine.tell("isready", "ucinewgame", "isready") == ["readyok"] * 2
    assert engine.loaded == ["chess"]


@pytest.mark.parametrize("name", ["UCI_AnalyseMode", "UCI_Opponent", "SyzygyPath"])
def test_an_option_that_acts_on_nothing_says_so(name: str) -> None:
    (line,) = client().tell(f"setoption name {name} value true")
    assert line.startswith(f"info string {name} has no effect: ")


def test_every_other_option_acts() -> None:
    engine = client()
    engine.tell(
        "setoption name Hash value 3",
        "setoption name threads value 2",
        "setoption name MultiPV value 3",
        "setoption name MultiPVShare value 30",
        "setoption name move overhead value 10",
        "setoption name TimeManager value PAPER",
        "setoption name Simulations value 90",
        "setoption name Ponder value true",
        "setoption name Eval_Coef value 500",
        "setoption name Backend value torch",
    )
    lines = engine.ask("go infinite")
    answer = engine.tell("stop")[-1]
    config = engine.engine._config
    assert (config.memory_mib, config.batches_in_flight, config.leaves_in_flight) == (3, 2, 32)
    manager, _ = engine.engine._managers
    assert (manager.overhead_s, manager.manager) == (0.01, "paper")
    infos = [line for line in lines if line.startswith("info depth")]
    assert [value_of(line, "multipv") for line in infos[-3:]] == ["1", "2", "3"]
    assert all(int(value_of(line, "visits")) >= 0.25 * 90 for line in infos[-3:])
    assert value_of(infos[-1], "nodes") == "90" and "info string ended by: simulations" in lines
    assert re.fullmatch(r"bestmove \w+ ponder \w+", answer)
    assert engine.engine.setup.number("Eval_Coef") == 500
    assert engine.loaded == ["chess"]


def test_refused_options_stay_as_they_were(tmp_path: Path) -> None:
    engine = client()
    for line, message in (
        ("setoption name Hash value 0", "Option Hash is '0', expected an integer from 1 to 1048576"),
        ("setoption name MultiPV value many", "Option MultiPV is 'many', expected an integer"),
        ("setoption name Ponder value 1", "Option Ponder is '1', expected true or false"),
        ("setoption name Backend value tpu", "expected one of auto, openvino, torch, onnx"),
        ("setoption name Hsah value 5", "No option 'Hsah': did you mean 'Hash'?"),
        ("setoption Hash 5", "expected setoption name NAME value VALUE"),
        ("setoption", "expected setoption name NAME value VALUE"),
        (f"setoption name WeightsFile value {tmp_path / 'no run'}", "no run does not exist: name a run"),
    ):
        values = dict(engine.engine.setup.values)
        (said,) = engine.tell(line)
        assert said.startswith("info string ") and message in said
        assert engine.engine.setup.values == values
    assert engine.answer("go nodes 10").startswith("bestmove ")


def test_a_network_brings_its_game_and_what_it_knows(tmp_path: Path) -> None:
    path = save_network(tmp_path / "a run" / "checkpoints", make("tictactoe"))
    engine = client("tictactoe", weights=tmp_path / "a run")
    assert "option name UCI_ShowWDL type check default false" in engine.tell("uci")
    plain = engine.ask("isready", "position startpos moves b2", "go nodes 30")
    assert plain[0] == f"info string Playing with {tmp_path / 'a run'}, step 7."
    assert not any(" wdl " in line for line in plain)
    told = engine.ask("setoption name UCI_ShowWDL value true", "go nodes 60")
    for line in (line for line in told if line.startswith("info depth")):
        assert sum(wdl_of(line)) == 1000 and min(wdl_of(line)) >= 0
    other = client("tictactoe")
    other.tell(f"setoption name WeightsFile value {path}")
    assert "step 7" in other.ask("go nodes 5")[0]
    assert "Playing uniformly" in other.ask("setoption name WeightsFile value <newest>", "go nodes 5")[0]


def wdl_of(line: str) -> list[int]:
    return [int(word) for word in line[line.index(" wdl ") :].split()[1:4]]


def test_the_chances_of_a_draw_are_what_the_player_knows_of_them(tmp_path: Path) -> None:
    """Rollouts report drawn random games; a network without a draw head reports draws that the search reached."""
    show = "setoption name UCI_ShowWDL value true"
    rollouts = client("tictactoe", evaluator=RolloutEvaluator())

    def last_report(*lines: str) -> str:
        return [line for line in rollouts.ask(*lines) if line.startswith("info depth")][-1]

    win, draw, loss = wdl_of(last_report(show, "go nodes 300"))
    assert win > draw > 0 < loss and win + draw + loss == 1000
    last_move = last_report("position startpos moves a1 b2 c3 a3 c1 b1 b3 c2", "go nodes 5")
    assert wdl_of(last_move) == [0, 1000, 0], "the last move of a drawn game"
    scalar = replace(SMALL, value_head="scalar")
    silent = client("tictactoe", weights=save_network(tmp_path, make("tictactoe"), network=scalar))
    sentence = "This network does not tell draws from even fights: wdl counts only draws that the search reaches."
    said = silent.ask("isready", show, "position startpos moves b2", "go nodes 3")
    assert strings(said).count(f"info string {sentence}") == 1
    assert wdl_of(next(line for line in said if line.startswith("info depth")))[1] == 0
    assert f"info string {sentence}" not in silent.ask("go nodes 4"), "once is enough"


def test_the_network_of_the_package_has_options_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those that were measured for rollouts."""
    path = save_network(tmp_path, make("chess"))
    assert "UCI_Elo" in client().engine.setup.options
    monkeypatch.setattr("zerosum.play.choice.bundled_network", lambda _game: path)
    assert "UCI_Elo" not in client().engine.setup.options


@pytest.mark.parametrize(
    ("overrides", "sizes"),
    [([], [1, 4, 16]), (["search.leaves_in_flight=96", "search.batches_in_flight=2"], [1, 4, 16, 64])],
)
def test_a_network_is_compiled_before_the_clock_runs(overrides: list[str], sizes: list[int]) -> None:
    """The network is compiled for the batch sizes of the settings alone."""
    network = Compiling()
    engine = client(evaluator=network, overrides=overrides)
    engine.tell("isready")
    assert network.compiled == sizes
    engine.ask("go nodes 700", "setoption name Threads value 3", "go nodes 1500", "go mate 1", "stop")
    assert network.compiled == sizes


def test_a_network_that_cannot_play_is_said_and_rollouts_play(tmp_path: Path) -> None:
    path = save_network(tmp_path, make("tictactoe"))
    engine = client("chess")
    said = engine.ask(f"setoption name WeightsFile value {path}", "isready", "go nodes 4")
    assert "does not fit chess" in said[0]
    assert said[1] == "info string Playing uniformly.", "as where nobody is named"
    assert len(answers(said)) == 1
    nobody = client("chess", evaluator=NoEvaluator())
    assert strings(nobody.tell("isready")) == [
        "info string ValueError: no answer",
        "info string Playing with uniform priors and rollouts instead.",
    ]
    assert len(answers(nobody.ask("go nodes 4"))) == 1


def test_rollouts_play_at_request_although_a_network_has_learned_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_network(tmp_path / "runs" / "one" / "checkpoints", make("tictactoe"), step=3)
    said = "info string Playing with uniform priors and rollouts."
    for words, simulations in (("rollouts@30 --game tictactoe", "30"), ("rollouts --game tictactoe", "0")):
        lines = "uci\nisready\nsetoption name WeightsFile value <newest>\nisready\nquit\n"
        told = subprocess.run(
            [*COMMAND, *words.split()], input=lines, capture_output=True, text=True, check=True
        ).stdout
        for option in ("WeightsFile type string default rollouts", f"Simulations type spin default {simulations} min"):
            assert f"option name {option}" in told
        assert said in told and "step 3" in told[told.index("readyok") :]
    here = client("tictactoe", weights=tmp_path / "runs" / "one")
    assert "step 3" in here.ask("isready")[0]
    assert here.ask("setoption name WeightsFile value rollouts", "isready") == [said, "readyok"]
    assert len(answers(here.ask("go nodes 4"))) == 1
    for word, reason in (("random", "plays without a search"), ("nobody", "unknown player 'nobody'")):
        refused = subprocess.run([*COMMAND, word], input="", capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and reason in refused.stderr and "Traceback" not in refused.stderr


def test_a_bad_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist: name a run directory"):
        client(weights=tmp_path / "nowhere")
    with pytest.raises(DataError, match="There is no checkpoint in"):
        client(weights=tmp_path)
    with pytest.raises(SettingsError, match="not a setting of an engine"):
        client(overrides=["learner.batch_size=3"])
    with pytest.raises(SettingsError, match=r"search.c_init is -1.0, allowed is"):
        client(overrides=["search.c_init=-1"])
    assert client(overrides=["time.manager=paper"]).engine.setup.values["TimeManager"] == "paper"
    assert client(overrides=["search.memory_mib=99"]).engine.setup.values["Hash"] == "99"


# Positions


def test_a_rejected_line_is_answered_and_the_position_stays() -> None:
    engine = client()
    engine.tell("position startpos moves e2e4 e7e5")
    board = engine.board
    for line in (
        "position startpos moves e2e4 e2e4",
        "position fen 8/8/8 w",
        "position fen",
        "position",
        "position rnbq moves",
        "position startpos e2e4",
    ):
        (said,) = engine.tell(line)
        assert said.startswith("info string "), line
        assert engine.board == board
        refused = engine.ask("go nodes 10")
        assert answers(refused) == ["bestmove (none)"], "a move of the position before would be none of this one"
        assert strings(refused)[-1].startswith("info string No move, because the latest position was refused: ")
    assert answers(engine.ask("go infinite")) == []
    assert engine.tell("stop") == ["bestmove (none)"]
    assert engine.tell("d") == [f"info string The latest position was refused: {said.removeprefix('info string ')}"]
    assert engine.answer("position startpos moves e2e4 e7e5", "go nodes 10") != "bestmove (none)"
    assert engine.tell("", "   ") == []
    assert engine.tell("hello")[0].startswith("info string Unknown command 'hello'")
    assert engine.tell("joho debug on") == [] and engine.engine._is_debugging


def test_a_move_number_of_0_is_read() -> None:
    """python-chess writes it."""
    engine = client()
    assert engine.tell("position fen 6k1/5ppp/8/8/8/8/8/R6K w - - 0 0") == []
    assert engine.answer("go nodes 2000") == "bestmove a1a8"


def test_a_game_that_goes_on_keeps_its_tree() -> None:
    engine = client()
    for start in ("startpos", "fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"):
        engine.ask(f"position {start}", "go nodes 3000")
        (move, reply) = engine.engine._position.texts(engine.engine._go.report.lines[0].actions[:2])
        engine.ask(f"position {start} moves {move} {reply}", "go nodes 3000")
        assert engine.engine._go.report.num_simulations < 3000
        engine.ask("ucinewgame", "go nodes 3000")
        assert engine.engine._go.report.num_simulations == 3000


def test_chess960_and_variants_are_games_of_their_own() -> None:
    engine = client()
    engine.ask("position startpos", "setoption name UCI_Chess960 value true", "isready")
    fen = "4k3/8/8/8/8/8/8/RK5R w HA - 0 1"
    assert engine.tell(f"position fen {fen}") == []
    assert engine.answer("go nodes 50 searchmoves b1h1") == "bestmove b1h1", "the king takes its rook"
    assert engine.loaded == ["chess960"]
    (said,) = engine.tell("setoption name UCI_Chess960 value false")
    assert said.startswith("info string chess(max_plies=65535) begins at its start: "), "no such castling there"
    engine.tell("position startpos moves e2e4")
    engine.ask("setoption name UCI_Variant value gardner", "position startpos moves b2b3", "go nodes 5")
    assert engine.loaded == ["chess960", "minichess"]
    engine.ask("setoption name UCI_Variant value chess", "position startpos moves e2e4 e7e5 g1f3", "go nodes 5")
    assert engine.loaded == ["chess960", "minichess", "chess"]
    assert client("chess960").engine.setup.is_set("UCI_Chess960")


def test_a_long_game_is_no_draw() -> None:
    """No ply cap, unless it was asked for."""
    assert client().engine.setup.game.spec.max_plies == 65535
    assert client("chess(max_plies=40)").engine.setup.game.spec.max_plies == 40
    moves = " ".join(["g1f3 g8f6 f3g1 f6g8"] * 3)
    assert client().answer(f"position startpos moves {moves}", "go nodes 20") != "bestmove (none)", "past repetitions"


# Searches


@pytest.mark.parametrize("position", [MATED, STALEMATE])
def test_a_root_without_moves(position: str) -> None:
    engine = client()
    assert engine.answer(position, "go wtime 1000 btime 1000") == "bestmove (none)"
    assert answers(engine.ask("go infinite")) == []
    assert engine.tell("stop") == ["bestmove (none)"]
    assert engine.tell("stop") == []
    engine.tell("go ponder wtime 1000")
    assert engine.tell("ponderhit") == ["bestmove (none)"]


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


def test_settings_that_exclude_each_other_are_said_and_a_move_is_made() -> None:
    engine = client()
    engine.engine.setup.search_overrides = {
        "forced_playouts": 2.0,
        "root_selection": "gumbel",
    }  # as with a run whose settings do not go with them
    said = engine.ask("go infinite")
    assert "search.forced_playouts is 2.0, which is for" in strings(said)[-1] and not answers(said)
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


class NoEvaluator:
    """A network that fails from the first."""

    description = "none"

    def batch_sizes(self, most: int) -> list[int]:
        return [1, most]

    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        raise ValueError("no network")

    def evaluate(self, leaves: Leaves) -> Evaluations:
        raise ValueError("no answer")


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


# What people ask at a keyboard


def test_the_board_is_shown() -> None:
    engine = client()
    said = engine.tell("position startpos moves e2e4", "d")
    assert "Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1" in said
    assert any(line.startswith("8  r n b q k b n r") for line in said)
    assert next(line for line in said if line.startswith("Legal moves: ")).count(" ") == 2 + 20 - 1
    assert (
        engine.tell(FOOLS_MATE, "position startpos moves f2f3 e7e5 g2g4 d8h4", "d")[-1] == "The game is over: checkmate"
    )


def test_perft_by_moves() -> None:
    engine = client()
    said = engine.tell("position startpos", "go perft 3")
    assert said[-1] == "Nodes searched: 8902" and "e2e4: 600" in said and len(said) == 21
    assert engine.tell(FOOLS_MATE, "position startpos moves f2f3 e7e5 g2g4 d8h4", "go perft 2") == ["Nodes searched: 0"]
    assert engine.tell("go perft 0") == ["info string go perft 0: expected 1 to 255 plies."]
    castling = "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    assert engine.tell(castling, "go perft 2")[-1] == "Nodes searched: 2039"


def test_the_evaluator_is_asked_without_a_search(tmp_path: Path) -> None:
    save_network(tmp_path / "run" / "checkpoints", make("tictactoe"))
    engine = client("tictactoe", weights=tmp_path / "run")
    said = engine.tell("position startpos moves b2", "eval")[1:]
    assert re.fullmatch(r"Value for the player to move: [+-]0\.\d{4} \(\d+\.\d%, -?\d+ centipawns\)", said[0])
    shares = [float(share) for share in re.findall(r"([\d.]+)%", said[1])]
    assert said[1].startswith("Win, draw, loss: ") and sum(shares) == pytest.approx(100, abs=0.2)
    priors = [float(prior) for prior in re.findall(r" [abc][123] ([\d.]+)%", said[-1])]
    assert len(priors) == 8 and priors == sorted(priors, reverse=True) and sum(priors) == pytest.approx(100, abs=0.1)
    assert engine.tell("position startpos moves a1 a2 b1 b2 c1", "eval")[-1].startswith("The game is over: ")


def test_each_move_of_a_search_is_told() -> None:
    engine = client()
    engine.tell("setoption name VerboseMoveStats value true")
    said = engine.ask("position startpos", "go nodes 400")
    moves = [line.split() for line in strings(said) if "(P: " in line]
    assert len(moves) == 20 and all(re.fullmatch(r"\(\d+\)", words[3]) for words in moves)
    visits = [int(words[5]) for words in moves]
    assert visits == sorted(visits) and sum(visits) == 400
    (node,) = [line for line in strings(said) if line.startswith("info string node (20) N: 400 (Q: ")]
    assert re.search(r"\(V: -?[\d.]+\)$", node)
    best = " ".join(moves[-1])
    assert re.search(r"\(P: 5\.00%\) \(Q: -?[\d.]+\) \(V: -?0\.0000\)$", best), "uniform"
    mate = engine.ask("ucinewgame", MATE_IN_ONE, "go nodes 900")
    assert "info string a1a8 " in " ".join(mate) and any("(V: 1.0000) (proven)" in line for line in mate)
    assert not any("(P: " in line for line in client().ask("go nodes 30"))


def test_the_hash_is_cleared_by_a_button() -> None:
    engine = client()
    assert "option name Clear Hash type button" in engine.tell("uci")
    engine.ask("go nodes 300")
    assert engine.ask("go nodes 300") and engine.engine._go.report.num_simulations == 0
    assert engine.tell("setoption name Clear Hash") == []
    engine.ask("go nodes 300")
    assert engine.engine._go.report.num_simulations == 300
    engine.tell("go infinite")
    assert len(answers(engine.tell("setoption name Clear Hash"))) == 1


def test_exploration_by_options() -> None:
    engine = client(overrides=["search.c_init=2.5"])
    assert engine.engine.setup.value("CPuct") == "2.5"
    assert (client().engine.setup.value("CPuct"), client().engine.setup.value("FpuValue")) == ("<own>", "<own>")
    engine.tell(
        "setoption name CPuct value 3.25", "setoption name FpuStrategy value ZERO", "setoption name FpuValue value .5"
    )
    engine.ask("go nodes 20")
    config = engine.engine._config
    assert (config.c_init, config.unvisited_value, config.unvisited_reduction) == (3.25, "zero", 0.5)
    assert "expected a number from 0 to 100" in engine.tell("setoption name CPuct value -1")[0]


def test_the_deepest_simulation_is_told() -> None:
    infos = [line for line in client().ask("go nodes 2000") if line.startswith("info depth")]
    depths = [(int(value_of(line, "depth")), int(value_of(line, "seldepth"))) for line in infos]
    assert all(depth <= deepest for depth, deepest in depths) and 2 <= depths[-1][1] < 60
    one = client().ask("go nodes 1")
    assert value_of([line for line in one if line.startswith("info depth")][-1], "seldepth") == "1"


def test_a_network_of_chess_plays_chess960(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    position, castle = "position fen 4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "go nodes 30 searchmoves b1a1"
    save_network(tmp_path / "chess" / "checkpoints", make("chess"))
    engine = client(weights=tmp_path / "chess")
    engine.tell("setoption name UCI_Chess960 value true")
    assert engine.engine.setup.game.spec.full_name == "chess(rules=chess960, max_plies=65535)"
    said = engine.ask(position, castle)
    assert f"Playing with {tmp_path / 'chess'}, step 7." in said[0] and answers(said) == ["bestmove b1a1"]
    engine.tell("setoption name UCI_Chess960 value false")
    assert engine.answer("position startpos", "go nodes 5 searchmoves e2e4") == "bestmove e2e4"
    own = save_network(tmp_path / "chess960" / "checkpoints", make("chess960"))
    engine.tell(f"setoption name WeightsFile value {own}", "setoption name UCI_Chess960 value true")
    assert engine.engine.setup.game.spec.name == "chess960" and engine.answer(position, castle) == "bestmove b1a1"
    assert client("chess(rules=chess960)", weights=tmp_path / "chess").engine.setup.is_set("UCI_Chess960")


def test_ten_thousand_lines_of_anything() -> None:
    words = (
        *WORDS.split(),
        "setoption name MultiPV value 3",
        "setoption name Hash value 2",
        "setoption name UCI_Chess960 value true",
        "setoption name UCI_Variant value gardner",
        "setoption name UCI_Variant value chess",
    )
    positions = (
        "position startpos",
        "position startpos moves e2e4 e7e5 g1f3",
        "position startpos moves e2e4 e7e5 g1f3 b8c6",
        "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 moves e1g1",
        "position fen 4k3/8/8/8/8/8/8/RK5R w HA - 0 1",
        MATED,
        MATE_IN_ONE,
        "go wtime 10 btime 10",
        "go infinite",
        "go ponder wtime 5 btime 5",
        "ponderhit",
        "stop",
    )
    fuzz(client(overrides=["search.memory_mib=4"]), noise(1, 10_000, words, positions))


def test_the_documentation_has_the_options() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    assert option_table(client().engine.setup.options.values()) in page


# The command


def test_the_command_answers_at_once_and_ends_with_its_input(tmp_path: Path) -> None:
    done = subprocess.run(
        COMMAND, input="uci\nposition startpos\ngo infinite\n", capture_output=True, text=True, cwd=tmp_path, check=True
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith("id name zerosum") and len(answers(lines)) == 1 and not done.stderr
    bytes_ = subprocess.run(COMMAND, input=b"\xff\xfe uci\r\nquit\r\n", capture_output=True, cwd=tmp_path, check=True)
    assert b"uciok" in bytes_.stdout


def test_python_chess_plays_whole_games(tmp_path: Path) -> None:
    chess = pytest.importorskip("chess")
    engines = pytest.importorskip("chess.engine")
    with engines.SimpleEngine.popen_uci(list(COMMAND), cwd=tmp_path) as engine:
        engine.configure({"Simulations": 8, "Threads": 1, "Hash": 32, "Move Overhead": 30, "SyzygyPath": "/nowhere"})
        for number in (0, 1):
            board = chess.Board() if number == 0 else chess.Board.from_chess960_pos(95)
            while not board.is_game_over() and board.ply() < 400:
                limit = engines.Limit(white_clock=5, black_clock=5, white_inc=0.1, black_inc=0.1)
                result = engine.play(board, limit, game=number, ponder=board.ply() < 40, info=engines.INFO_ALL)
                assert result.move in board.legal_moves
                assert result.info["nodes"] >= 1 and result.info["score"] is not None
                board.push(result.move)


def test_python_chess_analyses(tmp_path: Path) -> None:
    chess = pytest.importorskip("chess")
    engines = pytest.importorskip("chess.engine")
    board = chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1")
    with engines.SimpleEngine.popen_uci(list(COMMAND), cwd=tmp_path) as engine:
        infos = engine.analyse(board, engines.Limit(mate=1), multipv=3)
        assert [info["multipv"] for info in infos] == [1, 2, 3]
        assert infos[0]["score"].white() == engines.Mate(1) and infos[0]["pv"][0] == chess.Move.from_uci("a1a8")
        assert all(info["nodes"] and "hashfull" in info for info in infos)
        mated = chess.Board("R5k1/5ppp/8/8/8/8/8/7K b - - 0 1")
        assert engine.play(mated, engines.Limit(time=1)).move is None
        assert engine.play(board, engines.Limit(nodes=5), root_moves=[]).move is None
        with engine.analysis(chess.Board()) as analysis:
            for info in analysis:
                if info.get("nodes", 0) > 16:
                    break

"""The engine by UCI: lines and positions, what it shows, and whole games of a real client with the real command."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fuzz_for_tests import rounds
from line_clients import answers, fuzz, noise, strings, value_of
from networks_for_tests import save_network
from uci_for_tests import COMMAND, FOOLS_MATE, MATE_IN_ONE, MATED, STALEMATE, client
from zerosum.games import make

WORDS = """\
uci debug isready setoption register ucinewgame position go stop ponderhit startpos fen moves searchmoves
ponder wtime btime winc binc movestogo movetime nodes depth mate infinite e2e4 e7e5 g1f3 e1g1 a7a8q 0000
Nf3 O-O
"""


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
    engine.tell("setoption name PolicyTemperature value 1.4")
    engine.ask("go nodes 20")
    config = engine.engine._config
    assert (config.c_init, config.unvisited_value, config.unvisited_reduction) == (3.25, "zero", 0.5)
    assert config.prior_temperature == 1.4
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


def test_lines_of_anything() -> None:
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
    fuzz(client(overrides=["search.memory_mib=4"]), noise(1, rounds(10_000), words, positions))


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

"""The engine by UCI: the handshake, its options, and the networks that it loads."""

from __future__ import annotations

import gzip
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from books_for_tests import PUBLISHED, book_file
from lc0_files import Lc0File, lc0_network
from line_clients import answers, strings, value_of
from networks_for_tests import SMALL, save_network
from searches_for_tests import Compiling
from syzygy_for_tests import constant_file
from uci_for_tests import COMMAND, NoEvaluator, client
from updatable_for_tests import random_updatable, saved
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import make
from zerosum.network.evaluators import RolloutEvaluator
from zerosum.play.engines.uci_client import EngineOption
from zerosum.play.skill import positions_of
from zerosum.protocols.engine_options import option_table

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


@pytest.mark.parametrize("name", ["UCI_AnalyseMode", "UCI_Opponent"])
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


def test_tables_of_endings_are_told_and_play(tmp_path: Path) -> None:
    for ending in (".rtbw", ".rtbz"):
        (tmp_path / f"KRvK{ending}").write_bytes(constant_file("KRvK", ending, 0))
    engine = client()
    assert engine.tell(f"setoption name SyzygyPath value {tmp_path}") == [
        "info string Syzygy endings: 1 of 5 with 3 men."
    ]
    lines = engine.ask("position fen 8/8/8/8/2k5/8/8/r1Q4K b - - 0 1", "go nodes 100")
    infos = [line for line in lines if line.startswith("info depth")]
    assert int(value_of(infos[-1], "tbhits")) > 0 and lines[-1].startswith("bestmove a1c1")
    assert engine.tell("setoption name SyzygyPath value /nowhere") == [
        "info string Syzygy tables: '/nowhere' does not exist. Name the folder that has the files .rtbw and .rtbz."
    ]
    assert engine.engine.setup.syzygy_path == str(tmp_path)
    assert engine.tell("setoption name SyzygyPath value <empty>") == [] and not engine.engine.setup.syzygy_path
    assert not any(" tbhits " in line for line in engine.ask("go nodes 20"))
    (said,) = client("minichess").tell("setoption name SyzygyPath value /nowhere")
    assert said == "info string SyzygyPath has no effect: the tables are of chess."


def test_a_small_network_has_no_tree_and_its_skill_counts_positions(tmp_path: Path) -> None:
    """It stands behind the engine as any other; what its alpha-beta search lacks is said once."""
    engine = client(weights=saved(random_updatable(make("chess(history=1)")), tmp_path / "run"))
    assert not any("no effect" in line for line in engine.tell("isready"))
    told = engine.tell("setoption name CPuct value 2", "setoption name FpuStrategy value zero", "isready", "isready")
    effects = [line for line in told if "no effect" in line]
    assert effects == ["info string CPuct, FpuStrategy have no effect: this network plays by an alpha-beta search."]
    lines = engine.ask("setoption name Skill Level value 15", "position startpos", "go movetime 60000")
    nodes = [int(value_of(line, "nodes")) for line in lines if line.startswith("info depth")]
    assert 5000 < max(nodes) <= positions_of(15) + 1
    constant = constant_file("KQvK", ".rtbw", 0), constant_file("KQvK", ".rtbz", 0)
    for ending, content in zip((".rtbw", ".rtbz"), constant, strict=True):
        (tmp_path / f"KQvK{ending}").write_bytes(content)
    lines = engine.ask(
        "setoption name Skill Level value 20",
        f"setoption name SyzygyPath value {tmp_path}",
        "position fen 8/8/8/3r4/2K5/8/Q7/7k w - - 0 1",
        "go nodes 300",
    )
    infos = [line for line in lines if line.startswith("info depth")]
    assert int(value_of(infos[-1], "tbhits")) > 0 and lines[-1].startswith("bestmove c4d5")


def test_refused_options_stay_as_they_were(tmp_path: Path) -> None:
    engine = client()
    for line, message in (
        ("setoption name Hash value 0", "Option Hash is '0', expected an integer from 1 to 1048576"),
        ("setoption name MultiPV value many", "Option MultiPV is 'many', expected an integer"),
        ("setoption name Ponder value 1", "Option Ponder is '1', expected true or false"),
        ("setoption name Backend value tpu", "expected one of auto, openvino, torch"),
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
    monkeypatch.setattr("zerosum.play.bundled.bundled_network", lambda _game: path)
    assert "UCI_Elo" not in client().engine.setup.options


def test_a_network_that_learned_from_people_plays_as_they_do(tmp_path: Path) -> None:
    """Its rating is that of its people, and each move is drawn from the policy without a search."""
    maia = tmp_path / "maia-1500.pb.gz"
    maia.write_bytes(gzip.compress(Lc0File(lc0_network()).content()))
    engine = client(weights=maia)
    elo = engine.engine.setup.options["UCI_Elo"].listed
    assert (elo.default, elo.low, elo.high) == ("1500", "1500", "1500")
    limited = ("setoption name UCI_LimitStrength value true", "setoption name Seed value 3")
    said = engine.ask("isready", *limited, "position startpos", "go nodes 50")
    assert not any("has no effect" in line for line in strings(said))
    moves = {engine.ask("go movetime 1000")[-1].split()[1] for _ in range(8)}
    assert len(moves) > 1, "the moves are drawn"
    infos = [line for line in engine.ask("go movetime 1000") if line.startswith("info depth")]
    assert {re.search(r" nodes (\d+)", line)[1] for line in infos} == {"1"}
    named = tmp_path / "other-1500.pb.gz"
    named.write_bytes(maia.read_bytes())
    assert "UCI_Elo" not in client(weights=named).engine.setup.options


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


def test_threads_prepare_the_batches_of_a_gpu() -> None:
    network = Compiling()
    network.full_batch = 64
    engine = client(evaluator=network)
    engine.ask("setoption name Threads value 3", "go nodes 100")
    config = engine.engine._config
    assert (config.threads, config.batches_in_flight, config.leaves_in_flight) == (3, 2, 128)
    assert network.compiled == [1, 4, 16, 64]


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
    known = "unknown player 'nobody'; available: one, rollouts, the path of a run or checkpoint, and a game, for its"
    for word, reason in (("random", "plays without a search"), ("nobody", known), ("no/where", "does not exist")):
        refused = subprocess.run([*COMMAND, word], input="", capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and reason in refused.stderr and "Traceback" not in refused.stderr


def test_a_bad_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist: name a run directory"):
        client(weights=tmp_path / "nowhere")
    with pytest.raises(DataError, match="There is no checkpoint in"):
        client(weights=tmp_path)
    with pytest.raises(SettingsError, match="not a setting of an engine"):
        client(overrides=["learner.batch_size=3"])
    with pytest.raises(SettingsError, match=r"search.c_init is -1.0, but must be"):
        client(overrides=["search.c_init=-1"])
    assert client(overrides=["time.manager=paper"]).engine.setup.values["TimeManager"] == "paper"
    assert client(overrides=["search.memory_mib=99"]).engine.setup.values["Hash"] == "99"


def test_a_named_network_that_cannot_play_is_refused_at_the_start(tmp_path: Path) -> None:
    """No other player takes the place of a network that is damaged or of another game, by UCI and USI."""
    path = save_network(tmp_path, make("tictactoe"))
    for protocol, game in (("uci", "chess"), ("usi", "shogi")):
        command = [*COMMAND[:-1], protocol, str(path), "--game", game]
        refused = subprocess.run(command, input="isready\nquit\n", capture_output=True, text=True, check=False)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"for tictactoe does not fit {game}: in the network, the game is tictactoe" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert client("tictactoe", weights=path).ask("isready")[-1] == "readyok"
    path.with_suffix(".safetensors").write_bytes(b"short")
    with pytest.raises(DataError, match=r"damaged: .*safetensors has 5 bytes, expected"):
        client("tictactoe", weights=path)
    with pytest.raises(DataError, match="has no undamaged checkpoint"):
        client("tictactoe", weights=tmp_path)


def test_the_documentation_has_the_options() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    assert option_table(client().engine.setup.options.values()) in page


# The book


def test_the_book_answers_until_it_ends(tmp_path: Path) -> None:
    entries = sorted([(PUBLISHED[""], "e2e4", 3), (PUBLISHED["e2e4 d7d5"], "e4d5", 1)])
    book = book_file(tmp_path / "book.bin", *entries)
    engine = client()
    engine.tell("setoption name OwnBook value true", f"setoption name BookFile value {book}")
    engine.tell("setoption name Simulations value 5")
    said = engine.tell("position startpos", "go wtime 1000 btime 1000")
    assert answers(said)[-1] == "bestmove e2e4"
    assert f"info string {book}, entry 2, weight 3" in said
    assert answers(engine.tell("position startpos moves e2e4 d7d5", "go nodes 5"))[-1] == "bestmove e4d5"
    said = engine.tell("position startpos moves d2d4", "go nodes 5", "stop")
    assert not [line for line in strings(said) if "entry" in line]
    # Analysis is searched.
    assert not [line for line in engine.tell("position startpos", "go infinite", "stop") if "entry" in line]


def test_a_book_that_cannot_be_read_is_told_and_the_search_answers(tmp_path: Path) -> None:
    engine = client()
    engine.tell("setoption name Simulations value 5", "setoption name OwnBook value true")
    said = engine.tell("position startpos", "go nodes 5", "stop")
    assert "info string OwnBook is on without a book: set BookFile to a Polyglot book (.bin)." in said
    engine.tell(f"setoption name BookFile value {tmp_path / 'none.bin'}")
    said = engine.tell("position startpos", "go nodes 5", "stop")
    assert [line for line in strings(said) if "none.bin cannot be read" in line]
    bad = book_file(tmp_path / "bad.bin", (PUBLISHED[""], "e2e5", 3))
    engine.tell(f"setoption name BookFile value {bad}")
    said = engine.tell("position startpos", "go nodes 5", "stop")
    assert [line for line in strings(said) if "entry 1" in line]
    assert len(answers(engine.said)) == 3

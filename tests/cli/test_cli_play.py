"""The commands that play, analyse, show and measure, each at work."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import zerosum
from commands_for_tests import Answer, Command
from zerosum._core import core_game_names
from zerosum.base.errors import GameError
from zerosum.games import make, perft, state_after
from zerosum.games.picture import svg


def test_evaluate(zero: Command, learned: Path) -> None:
    answer = zero("evaluate", learned, "--games", "2", "--simulations", "3", "--seed", "1")
    assert (answer.status, answer.err) == (0, "")
    for opponent in ("random", "rollouts@3", "rollouts@30"):
        assert f"{learned}@3 against {opponent}: " in answer.out
    assert "A game: " in answer.out and f"Play it yourself: zerosum play {learned}" in answer.out
    ratings = re.findall(r"^  (\S+ +)[+-]\d+ ± \d+$", answer.out, re.MULTILINE)
    assert len(ratings) == 4 and len(set(map(len, ratings))) == 1, "one column, however long the run's path"


def test_match(zero: Command, learned: Path) -> None:
    answer = zero("match", "connect4", "rollouts@10", "random", "--games", "4")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("rollouts@10 against random: ") and " of 4 games\n  Elo            " in answer.out
    assert zero("match", "connect4", "rollouts@10", "random", "--games", "4").out == answer.out, "equal seeds"
    answer = zero("match", "tictactoe", learned, f"{learned}@2", "--games", "2", "--opening-plies", "1")
    assert (answer.status, answer.err) == (0, "")


def test_a_match_of_two_networks_that_are_one(zero: Command, learned: Path) -> None:
    answer = zero("match", "tictactoe", learned, f"{learned}@2", "--games", "4", "--each", "sample=3", "--json")
    (line,) = answer.out.splitlines()
    assert (answer.status, answer.err) == (0, "") and json.loads(line)["failures"]["time"] == [0, 0]


def test_a_match_that_is_kept_goes_on(zero: Command, tmp_path: Path) -> None:
    words = ("match", "connect4", "rollouts@5", "random", "--out", tmp_path / "games.jsonl", "--sprt", "-900,-800")
    answer = zero(*words, "--games", "4")
    assert (answer.status, answer.err) == (0, "") and "H0 -900, H1 -800, normalized" in answer.out
    more = zero(*words, "--games", "6")
    assert more.err == f"{tmp_path / 'games.jsonl'} has 4 games of this match, which count.\n"
    assert " of 6 games" in more.out


def test_a_match_against_an_engine(zero: Command, tmp_path: Path) -> None:
    """An engine makes illegal moves: the match goes on, and the engine is named."""
    script = json.dumps({"uci": ["uciok"], "isready": ["readyok"], "go": ["bestmove a1a1"]})
    engine = shlex.join([sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "fake_engine.py"), script])
    out = tmp_path / "games.pgn"
    words = ("--games", "2", "--second", "depth=1", "--second", "name=Cheat", "--out", out, "--openings", "chess-human")
    answer = zero("match", "chess", "random", f"uci:{engine}", *words)
    assert answer.status == 0 and "failures       Cheat lost 2 by illegal move" in answer.out
    assert answer.err.startswith("Game ") and "lost by illegal move. Cheat answered 'a1a1'" in answer.err
    assert out.read_text(encoding="utf-8").count('[Termination "rules infraction"]') == 2


def test_tournament(zero: Command, tmp_path: Path) -> None:
    words = ("tournament", "tictactoe", "rollouts@20", "random", "rollouts", "nodes=5", "name=weak", "--games", "4")
    answer = zero(*words, "--out", tmp_path / "games.jsonl")
    assert (answer.status, answer.err) == (0, "") and answer.out.splitlines()[0].split() == [
        *("player", "Elo", "points", "games", "1", "2", "3")
    ]
    again = zero(*words, "--out", tmp_path / "games.jsonl", "--json")
    assert again.err.endswith("has 12 games of this match, which count.\n")
    assert [player["games"] for player in json.loads(again.out)["players"]] == [8, 8, 8]
    two = zero("tournament", "tictactoe", "random", "rollouts@5")
    assert two.status == 2 and "a tournament needs three or more players, got 2: `match` plays two" in two.err


def test_levels_are_kept_where_an_engine_finds_them(zero: Command, tmp_path: Path) -> None:
    kept = tmp_path / "levels.json"
    answer = zero("levels", "tictactoe", "rollouts", "--games", "2", "--opponent", "rollouts@10", "--out", kept)
    assert answer.status == 0 and len(answer.out.splitlines()) == 7 and f"Kept in {kept}." in answer.err
    found = json.loads(kept.read_text(encoding="utf-8"))
    assert [level["skill"] for level in found["levels"]] == [0, 5, 10, 15, 19]
    for word in ("random", "alphabeta@3", "stockfish", "nobody"):
        refused = zero("levels", "tictactoe", word)
        assert f"zerosum: levels needs a run or rollouts, not '{word}': name a run" in refused.err
    assert "no/where does not exist" in zero("levels", "tictactoe", "no/where").err


def test_ladder(zero: Command, learned: Path, tmp_path: Path) -> None:
    words = ("ladder", "tictactoe", learned, "--player", "nodes=4", "--opening-plies", "1", "--results", tmp_path / "x")
    answer = zero(*words, "--games", "6")
    assert answer.status == 0 and "6 games; random play is 0" in answer.out and ", step 2, of " in answer.out
    assert len(answer.err.splitlines()) == 3, "two games each while little is known"
    again = zero(*words, "--games", "8", "--json")
    step, result = map(json.loads, again.out.splitlines())
    assert step["wins"] + step["draws"] + step["losses"] == 2 and result["games"] == 8 and again.err == ""
    assert zero("ladder", "chess", "--games", "0").status == 0
    assert "--games is 5, expected an even number" in zero("ladder", "tictactoe", "--games", "5").err


def test_analyse(zero: Command, learned: Path, games: Path, tmp_path: Path) -> None:
    answer = zero("analyse", "--game", "tictactoe", "b2 a1", "--player", learned, "-n", "20")
    assert (answer.status, answer.err) == (0, f"Playing with {learned}, step 2.\n")
    assert answer.out.startswith("Game 1: tictactoe. Win rates are the first player's, by ")
    answer = zero("analyse", "--game", f"{games}:Good", "--player", "rollouts", "--moves", "+2 +1", "-n", "20")
    assert (answer.status, answer.err) == (0, "") and "+2" in answer.out
    path = tmp_path / "game.pgn"
    path.write_text("1. e4 e5 *\n\n1. e4 e6 2. Ke3 *\n")
    answer = zero("analyse", path, "--player", "rollouts", "-n", "5", "--format", "same")
    assert answer.status == 2 and "1. e4 " in answer.out
    assert answer.err.startswith(
        f"zerosum: Game 2 is analysed up to move 2: {path}, line 3: 'Ke3', move 3, is not legal"
    )
    assert "leave out WHAT, --last" in zero("analyse", path, "--json-lines", "--last").err
    assert "expected losses of the win rate" in zero("analyse", path, "--blunder", "1").err


def test_import(zero: Command, tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text("1. e4 e5 1-0\n\n1. e4 Ke4 0-1\n")
    answer = zero("import", tmp_path, "--run", tmp_path / "run", "--game", "chess")
    assert answer.status == 0 and "Ke4', move 2, is not legal here" in answer.err
    assert answer.out.startswith("1 game imported from 1 file, 2 positions, 0 of them evaluated; refused 1 damaged")
    answer = zero("import", tmp_path / "a.pgn", "--run", tmp_path / "run")
    assert answer.status == 0 and ", 1 was there; " in answer.out
    assert zero("import", tmp_path / "no.pgn", "--run", tmp_path / "run").status == 2
    assert "not of shogi" in zero("import", tmp_path / "a.pgn", "--run", tmp_path / "run", "--game", "shogi").err


def test_who_analyses_may_bring_a_number_of_simulations(zero: Command) -> None:
    answer = zero("analyse", "--game", "tictactoe", "b2 a1", "--player", "rollouts@7", "--last")
    assert answer.status == 0 and "7 simulations" in answer.out, answer
    assert "leave out --lines" in zero("analyse", "--game", "tictactoe", "b2 a1", "--lines", "2").err
    assert (
        "5 simulations"
        in zero("analyse", "--game", "tictactoe", "b2", "--player", "rollouts@7", "-n", "5", "--last").out
    )


def test_play(zero: Command, learned: Path) -> None:
    for words, seat in ((("play", learned), "first"), (("play", learned, "--second", "-n", "2"), "second")):
        answer = zero(*words, typed="hint\nquit\n")
        assert (answer.status, answer.err) == (0, "")
        assert f"You move {seat}." in answer.out and "best line" in answer.out
    answer = zero("play", "rollouts", "--game", "chess", "--elo", "200", typed="quit\n")
    assert "plays at a rating of about +200, where random play is 0" in answer.words
    assert "elo is 900, expected 102 to 441" in zero("play", "rollouts", "--game", "chess", "--elo", "900").err
    assert "leave out --simulations" in zero("play", learned, "--elo", "200", "-n", "5").err
    answer = zero("play", "rollouts@5", "--game", "connect4")
    assert answer.status == 0, "a pipe that ends is as good as 'quit'"
    assert "connect4 against rollouts@5." in answer.out
    answer = zero("play", learned, "--position", "XX1/OO1/3 X", typed="c3\nyes\nmoves\nquit\n")
    assert "You win: three in a row, after 1 moves." in answer.out and "c3 c2 a1 b1 c1" in answer.out
    assert zero("play", learned, "--position", "XX1").err.startswith('zerosum: "XX1" lacks the side to move')


def test_games(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    names = core_game_names()
    monkeypatch.setenv("COLUMNS", "80")
    answer = zero("games")
    assert (answer.status, answer.err) == (0, "")
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    for table in answer.out.split("\n\n")[:2]:
        # A row that has not enough room goes on below, behind blanks.
        assert [line.split()[0] for line in table.splitlines()[1:] if not line.startswith(" ")] == names
    entries = {entry["name"]: entry for entry in map(json.loads, zero("games", "--json").out.splitlines())}
    assert list(entries) == names
    assert entries["connect4"]["options"] == [["max_plies", "42", "a number from 1 to 65535"]]


def test_show(zero: Command, tmp_path: Path, games: Path) -> None:
    picture = tmp_path / "board.svg"
    answer = zero("show", "tictactoe", "--moves", "b2 a1 c3", "--svg", picture)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.splitlines()[-2:] == [
        "Position: 2X/1X1/O2 O",
        "The second player is to move, with 6 legal moves.",
    ]
    assert picture.read_text(encoding="utf-8") == svg(make("tictactoe"), state_after(make("tictactoe"), "b2 a1 c3"))
    answer = zero("show", "tictactoe", "--position", "XX1/OO1/3 X", "--moves", "c3")
    assert answer.out.splitlines()[-1] == "The game is over: the first player wins (three in a row)."
    assert "0 of 12, player 0 to move" in zero("show", f"{games}:Good").out
    answer = zero("show", "tictactoe", "--position", "XX1/OO2/3 X")
    assert (answer.status, answer.out) == (2, "") and answer.err.startswith("zerosum: row 2")
    answer = zero("show", "tictactoe", "XX1/OO1/3 X")
    assert answer.status == 2 and "has no option before it: name a position by --position 'XX1/OO1/3 X'" in answer.err
    answer = zero("show", "tictactoe", "--moves", "b2 b2")
    assert answer.err.startswith("zerosum: move 2: 'b2' is not a legal move here")
    answer = zero("show", "tictactoe", "--svg", tmp_path / "no" / "board.svg")
    assert answer.status == 2 and "board.svg cannot be used: No such file or directory" in answer.err


def test_words_that_are_no_text(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of another encoding, as a shell hands them on."""
    for option in ("--moves", "--position"):
        answer = zero("show", "chess", option, "e4 \udcff")
        assert (
            (answer.status, answer.out) == (2, "") and answer.err.startswith("zerosum: '") and "type it" in answer.err
        )
    monkeypatch.setattr(zerosum.games, "make", lambda _: "\udcff".encode())
    with pytest.raises(UnicodeEncodeError):
        zero("show", "chess")


def test_perft(zero: Command) -> None:
    assert zero("perft", "connect4", "5").out == "16807\n"
    assert zero("perft", "connect4", "0", "--divide").out == "1\n"
    answer = zero("perft", "tictactoe", "2", "--position", "XX1/OO1/3 X", "--divide")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.splitlines() == ["c3: 0", "c2: 4", "a1: 4", "b1: 4", "c1: 4", "16"]
    lines = [json.loads(line) for line in zero("perft", "tictactoe", "1", "--divide", "--json").out.splitlines()]
    assert [line["move"] for line in lines] == ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1", None]
    assert lines[-1] == {"game": "tictactoe", "position": "3/3/3 X", "depth": 1, "move": None, "count": 9}


def test_perft_ends_before_the_stack_does(zero: Command) -> None:
    assert zero("perft", "tictactoe", "255").out == "0\n"
    answer = zero("perft", "chess", "256")
    assert (answer.status, answer.out) == (2, "") and "Traceback" not in answer.err
    game = make("chess")
    for depth in (-1, 256, 1 << 32):
        with pytest.raises(GameError, match=f"lines of {depth} plies cannot be counted, expected 0 to 255"):
            game.perft(game.initial_state(), depth)


def test_bench_rules_perft(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = zero("bench", "rules", "--game", "tictactoe", "--perft")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.splitlines()[8].startswith("tictactoe, start, depth 9: 127,872, expected 127,872: OK (")
    monkeypatch.setattr(perft, "load_perft", lambda _: perft.parse_perft("start | | 9 71"))
    answer = zero("bench", "rules", "--game", "tictactoe", "--perft", "--json")
    assert answer.status == 1
    assert [json.loads(line)["is_right"] for line in answer.out.splitlines()] == [True, False]
    assert "expected 71: WRONG by +1 (" in zero("bench", "rules", "--game", "tictactoe", "--perft").out
    answer = zero("bench", "search", "--perft")
    assert (answer.status, answer.err) == (2, "zerosum: --perft goes with the bench 'rules', not 'search'.\n")


def test_a_game_and_a_runs_name_stand_for_a_run(
    zero: Command, learned: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZEROSUM_RUNS", str(learned.parent))
    answer = zero("play", "tictactoe", typed="b2\nsave it.txt\nquit\n")
    assert answer.status == 0 and f"Playing with the newest run, {learned}, step " in answer.err
    assert Path("it.txt").read_text().split()[0] == "b2" and "\x1b" not in answer.out
    assert "connect4 against rollouts@1000" in zero("play", "connect4", typed="quit\n").out
    for word in ("tictactoe", learned.name):
        assert zero("info", word).out.startswith(f"{learned}: learning tictactoe")
        assert zero("evaluate", word, "--games", "0", "--positions", "0", "-n", "2").out.startswith(f"{learned}: 2 ")
        assert zero("explain", word, "-n", "2").status == 0
        assert zero("match", "tictactoe", word, "random", "--games", "2").status == 0
        assert f"{learned}, step " in zero("uci", word, typed="setoption name Backend value torch\nisready\nquit\n").out
    assert zero("evaluate", "connect4").err.startswith(f"zerosum: No run in {learned.parent} has learned connect4")


# Pictures


def test_curves_are_drawn_beside_their_labels(zero: Command, learned: Path, tmp_path: Path) -> None:
    for suffix, head in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        path = tmp_path / f"curves{suffix}"
        assert zero("plot", learned, learned, "--out", path) == Answer(0, f"{path} has the curves.\n", "")
        assert path.read_bytes().startswith(head)
    text = (tmp_path / "curves.svg").read_text()
    assert "random play" in text and zerosum.curves(learned)._repr_svg_().startswith("<?xml")
    figure = zerosum.curves(learned).figure()
    figure.savefig(tmp_path / "curves.png")  # which puts everything in its place
    strength = figure.axes[0]
    assert strength.texts and all(
        label.get_window_extent().x0 > strength.get_window_extent().x1 for label in strength.texts
    )
    assert "name a file that ends in .svg, .png, .pdf" in zero("plot", learned, "--out", tmp_path / "x.gif").err
    assert "does not exist" in zero("plot", tmp_path / "nobody").err


def test_notebooks_show_states_and_analyses() -> None:
    for name, moves in (("connect4", "4 4 3"), ("chess", "e4")):
        game = make(name)
        state = state_after(game, moves)
        *_, analysis = zerosum.analyse(state, game=game, player="rollouts@20")
        assert ElementTree.fromstring(analysis._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"
        assert "for the player to move" in analysis._repr_svg_()
        assert isinstance(analysis.best_action, int) and isinstance(analysis.value, float)
        assert type(analysis.visits[0]) is int and type(analysis.values[0]) is float
        assert json.dumps([analysis.visits, analysis.priors, analysis.actions, analysis.best_move])

"""Reviews as texts, JSON, and records that read back as they were, with more said of them."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviews_for_tests import DATA, Told, judged, moves
from zerosum.analysis.analyst import Analyst
from zerosum.analysis.review import review
from zerosum.analysis.review_record import annotated
from zerosum.analysis.review_text import review_numbers, review_text
from zerosum.games import make
from zerosum.notation import Evaluation, Record, game_text, read_games
from zerosum.play.choice import Players
from zerosum.play.driver import Task

FILES = ("games.pgn", "games.sgf", "game.kifu", "handicap.kif", "games.csa")

WHO = "Analysed by a sage; a move is marked by its loss of win rate, ?! from 5%, ? from 10%, ?? from 15%."
CHESS = Record("chess", moves("f2f3 e7e5 g2g4 d8h4"), result=-1.0)
CHESS_VALUES = (0.1, -0.05, -0.1, -1.0, -1.0)
CHESS_BETTER = ("e2e4 e7e5", "e7e5", "b1c3 b8c6 e2e4", "d8h4", "")


def test_a_review_as_text() -> None:
    assert (
        review_text(judged(CHESS, CHESS_VALUES, CHESS_BETTER))
        == """\
Game 1: chess. Win rates are the first player's, by a sage.
no.  by     move  win rate   lost
                     55.0%
  1  White  f3?!     47.5%   7.5%  better: e4 e5
  1  Black  e5       45.0%
  2  White  g4??      0.0%  45.0%  better: Nc3 Nc6 e4
  2  Black  Qh4#      0.0%
first player: 1 inaccuracy, 0 mistakes, 1 blunder; 26.2% lost per move
second player: 0 inaccuracies, 0 mistakes, 0 blunders; 0.0% lost per move
The game is over: checkmate."""
    )


def test_rollouts_judge_by_exact_results_and_mark_nothing_within_their_noise() -> None:
    text = Told().run("", game="chess", position="6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", moves="Ra8#")
    assert re.search(r"\n +100.0%\n +1  White  Ra8# +100.0%\n", text), "a mate in one is a win"
    few = Told().run("", game="connect4", moves="4 4 3 5 1 2 7 7 6 1")
    assert "?" not in few and "first player: 0 inaccuracies, 0 mistakes, 0 blunders" in few


def test_what_was_reviewed_survives_ctrl_c(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reports, calls = Analyst._reports, iter(range(100))

    def interrupted(*args: Any, **options: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return reports(*args, **options)

    monkeypatch.setattr(Analyst, "_reports", interrupted)
    path = tmp_path / "games.pgn"
    path.write_text("1. e4 e5 2. Nf3 Nc6 *\n\n1. d4 d5 *\n", encoding="utf-8")
    told = Told(format="pgn")
    (record,) = read_games(io.StringIO(told.run(str(path))), format="pgn")
    assert told.command.is_interrupted and [move.text for move in record.moves] == ["e2e4", "e7e5"]
    assert "The review was interrupted after this move." in " ".join(record.moves[-1].comments)


def test_a_review_as_json() -> None:
    found = json.loads(json.dumps(review_numbers(judged(CHESS, CHESS_VALUES, CHESS_BETTER)), allow_nan=False))
    assert found["positions"][3]["move"] == "g2g4"
    assert (found["positions"][3]["mark"], found["positions"][3]["loss"]) == ("??", 0.45)
    assert found["positions"][3]["lines"][0]["moves"] == ["d8h4"]
    assert found["positions"][4]["ending"] == "checkmate" and "lines" not in found["positions"][4]
    assert [player["blunder"] for player in found["players"]] == [1, 0]


def test_a_review_as_pgn() -> None:
    record = annotated(judged(CHESS, CHESS_VALUES, CHESS_BETTER, proven=(3,)), format="pgn")
    assert (
        game_text(record, format="pgn").partition("\n\n")[2]
        == """\
{Analysed by a sage; a move is marked by its loss of win rate, ?! from 5%, ?
from 10%, ?? from 15%.} 1. f3 $6 {[%eval -0.27] Inaccuracy, 55.0% -> 47.5% for
the mover. Better: e4.} (1. e4 e5) 1... e5 {[%eval -0.55]} 2. g4 $4 {[%eval #-1]
Blunder, 45.0% -> 0.0% for the mover. Better: Nc3.} (2. Nc3 Nc6 3. e4) 2... Qh4#
0-1

"""
    )


def test_a_review_as_sgf() -> None:
    record = Record("go(size=9)", moves("E5 G3 pass"))
    found = judged(record, (0.0, 0.1, 0.2, -0.6), ("E5", "C3 G7", "G7 C3", "D4"))
    assert (
        game_text(annotated(found, format="sgf"), format="sgf")
        == f"""\
(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[7]C[{WHO}]
;B[ee]SBKV[55.00]C[Black 55.0%.]
(
;W[gg]DO[]SBKV[60.00]C[Black 60.0%. Inaccuracy, 45.0% -> 40.0% for the mover. Better: C3.]
(
;B[]BM[2]SBKV[20.00]C[Black 20.0%. Blunder, 60.0% -> 20.0% for the mover. Better: G7.])
(
;B[gc]
;W[cg]))
(
;W[cg]
;B[gc]))
"""
    )


def test_a_reviewed_sgf_has_no_node_without_a_move() -> None:
    """A comment of the file and the review's are one, as SGF has one a node; reviewed again, nothing is said twice."""
    (record,) = read_games(io.StringIO("(;SZ[9]C[A quiet day];B[ee]C[the centre];W[gg])"))
    values, lines = (0.0, 0.1, 0.2), ("E5", "G3", "C7")
    text = game_text(annotated(judged(record, values, lines), format="sgf"), format="sgf")
    (again,) = read_games(io.StringIO(text))
    for written in (text, game_text(annotated(judged(again, values, lines), format="sgf"), format="sgf")):
        assert [line[:2] for line in written.splitlines() if line.startswith(";")] == [";B", ";W"]
        assert f"C[A quiet day\n{WHO}]" in written and "C[the centre\nBlack 55.0%.]" in written
        assert written.count(";C[") == 0


def test_a_review_as_kif_and_csa() -> None:
    record = Record("shogi", moves("7g7f 3c3d 8h2b+"))
    found = judged(record, (0.0, 0.1, 0.1, -0.4), ("2g2f", "3c3d", "2g2f 8c8d", "3a2b"))
    kif = game_text(annotated(found, format="kif"), format="kif")
    assert (
        "   3 ２二角成(88)+\n*#評価値=-508\n"
        "*Blunder, 55.0% -> 30.0% for the mover. Better: ２六歩(27).\n\n"
        "変化\uff1a3手\n   3 ２六歩(27)\n   4 ８四歩(83)\n"
    ) in kif
    csa = game_text(annotated(found, format="csa"), format="csa")
    assert "+8822UM\n'** -508 -3122GI\n'Blunder, 55.0% -> 30.0% for the mover. Better: +2726FU.\n" in csa


@pytest.mark.parametrize("name", FILES)
def test_annotating_changes_no_move_and_reads_back(name: str) -> None:
    """All that was said stays, but for evaluations; what is written twice is said once."""
    players = Players("rollouts@8")
    for record in read_games(DATA / name):
        if record.errors:
            continue
        found = review(record, Analyst(players.of(make(record.game))), Task(num_visits=8, num_lines=2))
        said = annotated(found, format=record.format)
        (back,) = read_games(io.StringIO(game_text(said, format=record.format)), format=record.format)
        assert not back.errors
        assert [move.text for move in back.moves] == [move.text for move in record.moves]
        assert (back.headers, back.start, back.result) == (record.headers, record.start, record.result)
        assert all(text in "\n".join(back.comments) for text in record.comments)
        for before, after in zip(record.moves, back.moves, strict=True):
            assert (after.clock_s, after.spent_s) == (before.clock_s, before.spent_s)
            assert set(before.nags) <= set(after.nags)
            assert after.variations[: len(before.variations)] == before.variations
            kept = {text for text in before.comments if not text.startswith("** ")}
            assert all(text in "\n".join(after.comments) for text in kept)
        again = annotated(replace(found, record=back), format=record.format)
        assert [move.variations for move in again.moves] == [move.variations for move in back.moves]
        assert [sorted(move.comments) for move in again.moves] == [sorted(move.comments) for move in back.moves]


def test_python_chess_reads_the_pgn() -> None:
    pgn = pytest.importorskip("chess.pgn")
    record = annotated(judged(CHESS, CHESS_VALUES, CHESS_BETTER, proven=(3,)), format="pgn")
    game = pgn.read_game(io.StringIO(game_text(record, format="pgn")))
    assert not game.errors
    first, third = game.variations[0], game.variations[0].variations[0].variations[0]
    assert (first.nags, first.eval().white().cp, third.eval().white().mate()) == ({6}, -27, -1)
    better = game.variations[1]
    assert (better.move.uci(), better.variations[0].move.uci()) == ("e2e4", "e7e5")


def test_marks_of_people_stay_alone() -> None:
    (record,) = read_games(io.StringIO("1. f3! {[%eval 3] bold} e5 2. g4 *"), format="pgn")
    said = annotated(judged(record, (0.1, -0.3, -0.3, -1.0), ("e2e4", "e7e5", "e2e4", "d8h4")), format="pgn")
    assert said.moves[0].nags == (1,)
    assert said.moves[0].evaluation == Evaluation(pawns=-1.68)
    assert said.moves[0].comments[0] == "bold"

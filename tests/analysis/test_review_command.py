"""`zerosum review`: whole files, what is wrong with one, and every way to name positions."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from reviews_for_tests import DATA, Told
from zerosum.analysis.review_command import ReviewCommand
from zerosum.base.errors import DataError, SettingsError
from zerosum.notation import read_games
from zerosum.play.choice import Players
from zerosum.play.driver import Task


def test_every_game_of_a_file_and_what_is_wrong_with_one(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text("1. e4 e5 *\n\n1. e4 Ke4 *\n\n1. d4 d5 *\n")
    told = Told()
    text = told.run(str(path))
    assert all(f"Game {number}: chess" in text for number in (1, 2, 3))
    assert told.command.num_refused == 1
    (sentence,) = told.err
    assert sentence.startswith(f"Game 2 is analysed up to move 1: {path}, line 3: 'Ke4', move 2, is not legal here")
    told = Told(format="same", output=tmp_path / "out.pgn")
    assert told.run(str(path)) == ""
    written = list(read_games(tmp_path / "out.pgn"))
    assert [len(record.moves) for record in written] == [2, 1, 2]
    assert (
        written[1]
        .moves[0]
        .comments[-1]
        .startswith("The record was not readable after this move: line 3: 'Ke4', move 2, is not legal here")
    )
    lines = [json.loads(line) for line in Told(format="json").run(str(path)).splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3]
    assert [len(line["warnings"]) for line in lines] == [0, 1, 0]
    path.write_text('[Variant "Atomic"]\n\n1. e4 *\n\n[Event "B"]\n\n1. d4 *\n')
    told = Told()
    assert "Game 2: chess" in told.run(str(path)) and told.command.num_refused == 1
    assert told.err[0].startswith(f"Game 1 is not analysed: {path}, line 1: the variant 'Atomic' is unknown")


def test_files_of_moves_and_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `zerosum play` and `zerosum match` write of a game without a record format."""
    moves, match = tmp_path / "game.txt", tmp_path / "match.jsonl"
    moves.write_text("4 4 3\n")
    text = Told().run(str(moves), game="connect4")
    assert text == Told().run("", game="connect4", moves="4 4 3")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(moves.read_bytes())))
    assert Told().run("-", game="connect4") == text
    with pytest.raises(DataError, match=r"game.txt begins like no known game record .*: for moves, name their --game"):
        Told().run(str(moves))
    with pytest.raises(SettingsError, match="game.txt is a file of games: leave out --position and --moves"):
        Told().run(str(moves), game="connect4", moves="4")
    header = {"format": "zerosum match 1", "game": "connect4", "first": {"name": "A"}, "second": {"name": "B"}}
    game = {"game": 1, "first_is_player": 1, "result": 1, "ending": "resignation", "moves": ["4", "4", "3"]}
    match.write_text("".join(f"{json.dumps(line)}\n" for line in (header, {}, game)))
    for named in ("", "connect4"):
        told = Told()
        text = told.run(str(match), game=named)
        assert text.startswith("Game 2: connect4, B - A. ") and told.command.num_refused == 1
        assert told.err == [
            f"Game 1 is not analysed: {match}, line 2: '{{}}' is not a game of a match, or is cut off; remove the line"
        ]
    match.write_text(
        "".join(f"{json.dumps(line)}\n" for line in (header | {"game": "chess"}, game | {"moves": ["e4"]}))
    )
    (line,) = Told(format="pgn").run(str(match)).splitlines()[-1:]
    assert line.endswith("0-1")
    shogi = (header | {"game": "shogi"}, game | {"ending": "forfeit", "moves": ["7g7f"]})
    match.write_text("".join(f"{json.dumps(line)}\n" for line in shogi))
    assert "'Ended by forfeit: the second player won.\n" in Told(format="csa").run(str(match)), "CSA has no word for it"
    with pytest.raises(SettingsError, match="--format same is for files of pgn, sgf, kif, csa: name one of these"):
        Told(format="same").run(str(match))


STEERING = "\x1b[2J\x9b5m\u202e"


def test_no_file_steers_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tags and comments with escape sequences and turned writing are shown escaped; a file keeps them."""
    path, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    path.write_text(f'[White "W{STEERING}"]\n\n1. e4 {{a{STEERING}}} e5{STEERING} *\n', encoding="utf-8")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for format in ("text", "json", "same"):
        ReviewCommand(Players("rollouts@10"), Task(num_visits=10), format=format).run(str(path))
        shown = capsys.readouterr()
        assert "2J" in shown.out and "2J" in shown.err
        assert not set(STEERING[::4]) & set(shown.out + shown.err) and "\u202e" not in shown.out + shown.err
        if format == "json":
            assert ["White", f"W{STEERING}"] in json.loads(shown.out)["headers"]
    Told(format="same", output=out).run(str(path))
    (again,) = read_games(out)
    assert STEERING in "".join(again.moves[0].comments)


def test_blemishes_are_told_and_the_game_is_analysed(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Event "a "b""]\n\n1. e4 (1. d4 Ke4) 1... e5* \n')
    told = Told(format="json")
    (line,) = told.run(str(path)).splitlines()
    assert told.command.num_refused == 0 and len(json.loads(line)["positions"]) == 3
    assert [sentence.partition(": ")[2].removeprefix(f"{path}, ")[:24] for sentence in told.err] == [
        'line 1: \'[Event "a "b""]',
        "line 3: 'e5*': expected ",
        "line 3: 'Ke4', move 2, i",
    ]
    assert all(sentence.startswith("Game 1: ") and sentence.endswith(".") for sentence in told.err)
    told = Told(format="same", output=tmp_path / "out.pgn")
    told.run(str(path))
    (again,) = read_games(tmp_path / "out.pgn")
    assert again.header("Event") == 'a "b"' and not again.warnings


@pytest.mark.parametrize("suffix", [".kifu", ".csa", ".sgf"])
def test_a_game_that_stops_is_annotated_up_to_there(suffix: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"game{suffix}", tmp_path / f"out{suffix}"
    text = {
        ".kifu": "   1 ７六歩(77)\n   2 ９九歩(33)\n   3 投了\n",
        ".csa": "PI\n+\n+7776FU\n-3399FU\n%TORYO\n",
        ".sgf": "(;SZ[9]RE[B+R];B[ee];W[ee])",
    }[suffix]
    path.write_text(text, encoding="utf-8")
    told = Told(format="same", output=out)
    told.run(str(path))
    (record,) = read_games(out)
    assert len(record.checked().moves) == 1 and told.command.num_refused == 1
    assert "The record was not readable after this move" in " ".join(record.moves[0].comments)


def test_moves_and_positions_of_any_game() -> None:
    assert "Game 1: connect4. " in Told().run("4 4 3", game="connect4")
    assert "Game 1: hex(size=5). " in Told().run("", game="hex(size=5)", moves="a1 b2")
    text = Told().run("", game="chess", position="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", moves="e2e4 e8e7")
    assert re.search(r"1  White  e4 .*\n *1  Black  Ke7 ", text), "who moved, as people write it"
    text = Told().run("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", game="chess")
    assert "Position: 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" in text and "best line" in text
    assert json.loads(Told(format="json").run("", game="tictactoe"))["simulations"] == 10
    assert "Position: 7/7/7/7/3O3/2XX3 O" in Told(last=True).run("4 4 3", game="connect4")
    pgn = Told(format="pgn").run("e4 e5", game="chess")
    assert [move.text for move in next(read_games(io.StringIO(pgn), format="pgn")).moves] == ["e2e4", "e7e5"]


@pytest.mark.parametrize(
    ("words", "settings", "sentence"),
    [
        (("nothing.pgn",), {}, "nothing.pgn cannot be read"),
        (("empty.pgn",), {}, "empty.pgn contains no game: expected at least one"),
        (("nothing",), {}, "'nothing' is not a file of games: name a file, or the --game"),
        ((), {}, "There is nothing to analyse: name a file, or the --game of the position"),
        (("x.pgn",), {"game": "chess"}, "is a file of games"),
        (("4",), {"game": "connect4", "moves": "4"}, "excludes --position and --moves"),
        (("4 4 9",), {"game": "connect4"}, "move 3: '9' is not a legal move here"),
        (("hello",), {"game": "connect4"}, "neither a position nor moves"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    settings: dict[str, str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.pgn").touch()
    with pytest.raises(Exception, match=sentence) as caught:
        Told().run(*(words or ("",)), **settings)
    assert "zerosum.base.errors" in type(caught.value).__mro__[1].__module__


def test_a_format_without_words_is_refused_before_the_work() -> None:
    with pytest.raises(SettingsError, match="PGN cannot represent connect4"):
        Told(format="pgn").run("4 4", game="connect4")
    with pytest.raises(SettingsError, match="--format same is for files"):
        Told(format="same").run("4 4", game="connect4")
    with pytest.raises(SettingsError, match="--format is 'png': did you mean 'pgn'"):
        Told(format="png")
    with pytest.raises(SettingsError, match="--last is for text and json"):
        Told(format="same", last=True).run(str(DATA / "games.pgn"))
    with pytest.raises(SettingsError, match="--format pgn is for games"):
        Told(format="pgn").run("", game="chess")


def test_moves_have_the_numbers_that_people_give_them() -> None:
    """A chess move is numbered with its reply, also from a position in the middle of a game; a Go move by itself."""
    middle = Told().run("", game="chess", position="6k1/5ppp/8/8/8/8/8/R5K1 b - - 3 29", moves="h6 Ra8+ Kh7")
    assert [line.split()[:3] for line in middle.splitlines()[3:6]] == [
        ["29", "Black", "h6"],
        ["30", "White", "Ra8+"],
        ["30", "Black", "Kh7"],
    ]
    go = Told().run("", game="go(size=5)", moves="C3 B2 D4")
    assert [line.split()[:3] for line in go.splitlines()[3:6]] == [
        ["1", "Black", "C3"],
        ["2", "White", "B2"],
        ["3", "Black", "D4"],
    ]

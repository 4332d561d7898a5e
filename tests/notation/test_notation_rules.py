"""Game records by the rules of their games: random games through each format, illegal moves, other readers."""

from __future__ import annotations

import dataclasses
import io
import random
import tempfile
from pathlib import Path

import pytest

from fuzz_notation import DATA
from zerosum.base.errors import DataError, GameError
from zerosum.games import Rules, State, make, state_after
from zerosum.notation import (
    Evaluation,
    Move,
    Record,
    RecordError,
    append_game,
    game_text,
    read_games,
    states_of,
    write_game,
    write_games,
)

GAMES = {
    "chess": ["pgn"],
    "chess960": ["pgn"],
    "go(size=5)": ["sgf"],
    "go(size=9, komi=6.5)": ["sgf"],
    "go(size=21)": ["sgf"],
    "go(size=7, suicide=true, superko=simple)": ["sgf"],
    "shogi": ["kif", "csa"],
}
each_game = pytest.mark.parametrize("name", GAMES)


def random_line(game: Rules, state: State, length: int, depth: int, rng: random.Random) -> tuple[Move, ...]:
    """Legal moves at random, past soft endings, with variations."""
    line: list[Move] = []
    for left in reversed(range(length)):
        legal = game.legal_actions(state, past_soft_endings=True)
        if not legal:
            break
        action = rng.choice(legal)
        after = game.play(state, action)
        variations: tuple[tuple[Move, ...], ...] = ()
        if left and depth and rng.random() < 0.05 and game.legal_actions(after, past_soft_endings=True):
            variations = (random_line(game, after, rng.randint(1, 9), depth - 1, rng),)
        line.append(Move(game.action_text(state, action), variations=variations))
        state = after
    return tuple(line)


def random_record(name: str, rng: random.Random) -> Record:
    """A random game from the beginning or, one time in two, from where another one was."""
    game = make(name)
    state, start = game.start(rng.randrange(game.num_starts)), ""
    if rng.random() < 0.5 or game.position_text(state) != game.position_text(game.initial_state()):
        for _ in range(rng.randint(0, 30)):
            if legal := game.legal_actions(state):
                state = game.play(state, rng.choice(legal))
        start = (game.position_text(state) or "").partition(" ko=")[0].partition(" passes=")[0]
        state = game.parse_position(start)
    line = random_line(game, state, rng.randint(0, 120), 2, rng)
    return Record(game=game.spec.full_name, start=start, moves=line)


@each_game
def test_random_games_come_back(name: str) -> None:
    for number in range(60):
        record = random_record(name, random.Random(f"{name} {number}"))
        for format in GAMES[name]:
            sent = record.without("variations") if format == "csa" else record
            if format == "csa" and sent.start:
                sent = dataclasses.replace(sent, start=sent.start.rpartition(" ")[0] + " 1")
            (read,) = read_games(io.StringIO(game_text(sent, format=format)), format=format)
            assert read.errors == ()
            read = dataclasses.replace(read, format="", headers=())
            start = "" if sent.start == make(name).position_text(make(name).initial_state()) else sent.start
            assert read == dataclasses.replace(sent, start=start)


@pytest.mark.parametrize("path", sorted(filter(Path.is_file, DATA.iterdir())), ids=lambda path: path.name)
def test_the_samples_read_and_write(path: Path, tmp_path: Path) -> None:
    records = list(read_games(path))
    assert records and not any(record.errors for record in records)
    again = tmp_path / path.name
    write_games(records, again)
    assert [sort_headers(record) for record in read_games(again)] == [sort_headers(record) for record in records]
    states = states_of(records[0])
    assert len(states) == len(records[0].moves) + 1


def sort_headers(record: Record) -> Record:
    return dataclasses.replace(record, headers=tuple(sorted(record.headers)))


def test_moves_come_in_the_games_own_notation() -> None:
    text = "1. e2-e4 e5 2. Ng1f3 Nc6 3. Bc4 Bc5 4. 0-0 d6 (4... Nf6)"
    (record,) = read_games(io.StringIO(f"{text} *"), format="pgn")
    assert not record.errors
    moves = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 d7d6"
    assert " ".join(move.text for move in record.moves) == moves
    game = make("chess")
    assert game.position_text(states_of(record)[-1]) == game.position_text(state_after(game, moves))
    written = game_text(record, format="pgn").splitlines()[-2]
    assert written == "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O d6 (4... Nf6) *"


def test_an_illegal_move_ends_the_record_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(
        '[Event "A"]\n\n1. e4 e5 (1... Ke6) (1... c5) 2. Nf3\n2... Nd6 3. d4 1-0\n\n[Event "B"]\n\n1. d4 *\n'
    )
    broken, whole = read_games(path)
    assert [move.text for move in broken.moves] == ["e2e4", "e7e5", "g1f3"]
    assert [[move.text for move in line] for line in broken.moves[0].variations] == [["c7c5"]]
    (variation,), (main,) = broken.warnings, broken.errors
    assert variation.startswith(f"{path}, line 3: 'Ke6', move 2, is not legal here: ")
    assert variation.endswith("; the variation stops here")
    assert main.startswith(f"{path}, line 4: 'Nd6', move 4, is not legal here: near are ")
    assert "Nf6" in main and main.endswith("; the record stops here")
    assert broken.result == 1.0 and broken.header("event") == "A"
    assert [move.text for move in whole.checked().moves] == ["d2d4"]
    with pytest.raises(RecordError, match="Nd6"):
        write_game(broken, tmp_path / "again.pgn")
    assert not (tmp_path / "again.pgn").exists()


def test_null_moves_end_their_line(tmp_path: Path) -> None:
    """Analyses show threats by them; what stands before is kept, and the game that was played is whole."""
    path = tmp_path / "threat.pgn"
    path.write_text("1. e4 e5 (1... d5 2. Z0 dxe4) (1... -- 2. d4) 2. Nf3 (2. Bc4\n0000 3. Qh5) Nc6 *\n")
    (record,) = read_games(path)
    assert " ".join(move.text for move in record.checked().moves) == "e2e4 e7e5 g1f3 b8c6"
    assert [[move.text for move in line] for line in record.moves[0].variations] == [["d7d5"]]
    assert [[move.text for move in line] for line in record.moves[1].variations] == [["f1c4"]]
    null = "is a null move, which the rules do not know; the variation stops here"
    assert record.warnings == (
        f"{path}, line 1: 'Z0', move 3, {null}",
        f"{path}, line 1: '--', move 2, {null}",
        f"{path}, line 2: '0000', move 4, {null}",
    )
    write_game(record, tmp_path / "again.pgn")
    (again,) = read_games(tmp_path / "again.pgn")
    assert again == record and not again.warnings
    (record,) = read_games(io.StringIO("1. e4 -- 2. d4 *"), format="pgn")
    assert [move.text for move in record.moves] == ["e2e4"]
    (warning,) = record.checked().warnings
    assert warning == "line 1: '--', move 2, is a null move, which the rules do not know; the moves end before it"
    # python-chess does not read promotions in brackets.
    (record,) = read_games(io.StringIO("1. h4 g5 2. hxg5 h6 3. gxh6 Bg7 4. hxg7 Nf6 5. gxh8(Q)+ Ng8 *"), format="pgn")
    assert record.checked().moves[8].text == "g7h8q" and "a promotion is written gxh8=Q+" in record.warnings[0]


def test_games_that_the_rules_counted_get_their_margin() -> None:
    """Only our own games: other records do not say which stones the players agreed to be dead."""
    moves = (Move("C3"), Move("pass"), Move("pass"))
    for result, ending, said in [
        (1.0, "", "RE[B+24.5]"),
        (1.0, "two passes", "RE[B+24.5]"),
        (-1.0, "", "RE[W+]"),  # which the rules would not say
        (1.0, "resignation", "RE[B+R]"),
        (None, "", ""),
    ]:
        text = game_text(Record("go(size=5, komi=0.5)", moves, result=result, ending=ending), format="sgf")
        assert (said or "SZ[5]") in text and text.count("RE[") == bool(said)
    capped = Record("go(size=5, komi=3.5, max_plies=3)", moves, result=1.0, ending="ply cap")
    assert "RE[B+21.5]" in game_text(capped, format="sgf")
    unfinished = Record("go(size=5)", moves[:1], result=1.0)
    assert "RE[B+]" in game_text(unfinished, format="sgf")
    (read,) = read_games(io.StringIO("(;SZ[5]KM[0.5]RE[B+];B[cc];W[];B[])"))
    assert "RE[B+]" in game_text(read, format="sgf")


def test_a_record_may_go_on_past_a_soft_ending_but_no_mate() -> None:
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 5
    (record,) = read_games(io.StringIO(f"{shuffle} e4 *"), format="pgn")
    assert not record.errors and len(record.moves) == 21
    (record,) = read_games(io.StringIO("1. f3 e5 2. g4 Qh4# 3. a3 0-1"), format="pgn")
    assert len(record.moves) == 4
    assert "'a3', move 5, is not legal here: the game is over (checkmate)" in record.errors[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "line 1: "),
        ('[FEN "hello"]\n\n1. e4 *', "line 1: "),
    ],
)
def test_a_start_that_is_none(text: str, sentence: str) -> None:
    (record,) = read_games(io.StringIO(text), format="pgn")
    assert record.moves == () and record.errors[0].startswith(sentence)


def test_go_records_follow_the_rules_that_they_name() -> None:
    suicide = "(;SZ[5]{rules}AB[ba][ab]PL[W];W[aa])"
    for rules, is_legal in [("", False), ("RU[Japanese]", False), ("RU[NZ]", True)]:
        (record,) = read_games(io.StringIO(suicide.replace("{rules}", rules)))
        assert "suicide=true" in record.game and len(record.checked().moves) == 1
        assert [warning.endswith("suicide=true") for warning in record.warnings] == ([] if is_legal else [True])
    (record,) = read_games(io.StringIO("(;SZ[9]KM[100000];B[aa])"))
    assert "komi" in record.errors[0] and not record.moves


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("go(size=9)", "SZ[9]KM[7]\n;B[aa]\n;W[ba])"),
        ("go(size=9, komi=0)", "SZ[9]KM[0]\n;B[aa]\n;W[ba])"),
        ("go(size=9, handicap=2)", "SZ[9]KM[7]HA[2]\nAB[gc][cg]PL[W]\n;W[aa]\n;B[ba])"),
        ("go(size=9, superko=simple)", "SZ[9]KM[7]RU[superko=simple]\n;B[aa]\n;W[ba])"),
        ("go(size=9, rules=tromp-taylor)", "SZ[9]KM[7]RU[suicide=true]\n;B[aa]\n;W[ba])"),
    ],
)
def test_sgf_says_what_the_options_of_go_say(name: str, said: str) -> None:
    record = Record(name, (Move("A9"), Move("B9")))
    text = game_text(record, format="sgf")
    assert text == f"(;GM[1]FF[4]CA[UTF-8]{said}\n"
    (read,) = read_games(io.StringIO(text))
    ours, theirs = make(name), make(read.game)
    for state, other in zip(states_of(record), states_of(read.checked()), strict=True):
        assert theirs.position_text(other) == ours.position_text(state)
        assert theirs.legal_actions(other) == ours.legal_actions(state)
        assert theirs.score(other) == ours.score(state)


def test_a_start_of_the_rules_has_nothing_before_it() -> None:
    game = make("chess960")
    start = game.start(95)
    record = Record("chess960", (Move("e2e4"),), start=game.position_text(start) or "")
    (read,) = read_games(io.StringIO(game_text(record, format="pgn")))
    assert (game.planes(states_of(read)[0]) == game.planes(start)).all()


@pytest.mark.parametrize(
    ("format", "text", "sentence"),
    [
        ("kif", "1 ７六銀(77)", "line 1: '７六銀(77)', move 1, is not legal here: near are ７六歩(77), "),
        ("kif", "1 ７六歩(77)\n2 ７五歩(77)", "line 2: '７五歩(77)', move 2, is not legal here: "),
        ("kif", "手合割：二枚落ち\n1 ７六歩(77)", "line 2: '７六歩(77)', move 1, is not legal here: "),
        ("kif", "|" + " 歩" * 9 + "|\n" * 9, "line 1: "),
        ("csa", "PI\n+\n-3334FU", "line 3: '-3334FU', move 1, is not legal here: "),
        ("csa", "PI\n+\n+7776TO", "line 3: '+7776TO', move 1, is not legal here: near are +7776FU"),
    ],
)
def test_illegal_shogi(format: str, text: str, sentence: str) -> None:
    (record,) = read_games(io.StringIO(text), format=format)
    assert record.errors[-1].startswith(sentence) and record.errors[-1].endswith("; the record stops here")


def test_a_stream_of_text_gets_text_and_one_of_bytes_bytes(tmp_path: Path) -> None:
    record = Record("chess", comments=("é",))
    for mode, encoding in (("w", "utf-8"), ("wb", None)):
        with tempfile.NamedTemporaryFile(mode, encoding=encoding, dir=tmp_path, suffix=".pgn") as file:
            write_game(record, file, format="pgn")
            file.flush()
            assert next(read_games(file.name)).comments == ("é",)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    for nowhere in ("", "/"):
        with pytest.raises(DataError, match="is not a file that can be written: name one"):
            write_game(Record("chess"), nowhere, format="pgn")
    for nothing in ("a\0.pgn", "\ud800.pgn"):
        with pytest.raises(DataError, match="is not a valid name of a file"):
            write_game(Record("chess"), tmp_path / nothing)
        with pytest.raises(DataError, match="is not a valid name of a file"):
            next(read_games(tmp_path / nothing))
    broken = Record("shogi", comments=("\ud800",))
    for target, sentence in (("a.csa", "is not a character"), ("a.kif", "Shift-JIS has no '.ud800': write to")):
        with pytest.raises(RecordError, match=sentence):
            write_game(broken, tmp_path / target)
    with pytest.raises(RecordError, match="in a text of the record is not a character"):
        write_game(broken, io.BytesIO(), format="csa")
    assert not list(tmp_path.iterdir())
    with pytest.raises(RecordError, match="a record of chess cannot be written as SGF: expected one of go"):
        game_text(Record("chess"), format="sgf")
    with pytest.raises(GameError, match=r"^'e5', move 1, is not legal here: [^;]*\.$"):
        game_text(Record("chess", (Move("e5"),)), format="pgn")
    with pytest.raises(GameError, match="'e5', move 1, is not legal here"):
        states_of(Record("chess", (Move("e5"),)))
    with pytest.raises(RecordError, match="SGF has no words for a ko or passes before it"):
        game_text(Record("go(size=5)", start="5/5/5/5/5 X passes=1"), format="sgf")


# ---- other readers


def test_python_chess_reads_the_same() -> None:
    chess = pytest.importorskip("chess")
    reader = pytest.importorskip("chess.pgn")
    records = [random_record(name, random.Random(f"{name} {n}")) for n in range(60) for name in ("chess", "chess960")]
    records = [dataclasses.replace(record, moves=decorate(record.moves)) for record in records]
    stream = io.StringIO("".join(game_text(record, format="pgn") for record in records))
    for record in records:
        theirs = reader.read_game(stream)
        assert theirs.errors == []
        compare_nodes(theirs, record.moves, record.variations)
    assert reader.read_game(stream) is None
    with (DATA / "games.pgn").open(encoding="utf-8") as file:
        for record in read_games(DATA / "games.pgn"):
            theirs = reader.read_game(file)
            compare_nodes(theirs, record.moves, record.variations)
            assert theirs.headers["Result"] == {1.0: "1-0", 0.0: "1/2-1/2", -1.0: "0-1", None: "*"}[record.result]
            assert chess.Board(record.start or chess.STARTING_FEN, chess960=True).fen() == theirs.board().fen()


BLEMISHED = (
    "1. e4 d5 2. exd5 e6 3. c4 c5 4. d4 b5 5. cxb5 a5 6. bxa6 e.p. Nc6*",
    "1. e4 (1. d4 d5 2. -- e5) e5 (1... c5 2. Ke3 d6) 2. Nf3!!! Nc6 3. Bb5 1-0",
    "1. h4 g5 2. hxg5 h5 3. gxh6 e.p. Bg7 4. hxg7 Nf6 1/2-1/2",
    '[Event "The "Big" Open"]\n[White]\n[Black "B"]\n\n1. d4 d5 *',
    "1. e4 e5 2. Z0 Nc6",
)


def test_python_chess_reads_on_behind_the_same_blemishes() -> None:
    pytest.importorskip("chess")
    reader = pytest.importorskip("chess.pgn")
    for text in BLEMISHED:
        theirs = reader.read_game(io.StringIO(text))
        (ours,) = read_games(io.StringIO(text), format="pgn")
        assert ours.warnings or ours.errors
        moves = [move.uci() for move in theirs.mainline_moves()]
        until = moves.index("0000") if "0000" in moves else len(moves)
        assert [move.text for move in ours.moves] == moves[:until]
        assert ours.header("Event") == theirs.headers["Event"].replace("?", "")


def test_python_chess_writes_quotation_marks_that_are_read() -> None:
    reader = pytest.importorskip("chess.pgn")
    game = reader.Game()
    names = ('The "Big" Open', "a\\b", 'ends in "q"', "ends in \\", '"')
    for tag, name in zip(("Event", "Site", "White", "Black", "Annotator"), names, strict=True):
        game.headers[tag] = name
    (read,) = read_games(io.StringIO(str(game)), format="pgn")
    assert tuple(map(read.header, ("Event", "Site", "White", "Black", "Annotator"))) == names
    assert not read.errors and len(read.warnings) == 4
    (again,) = read_games(io.StringIO(game_text(read, format="pgn")))
    assert sort_headers(again) == sort_headers(read) and not again.warnings


def decorate(line: tuple[Move, ...]) -> tuple[Move, ...]:
    """The moves with clocks, evaluations, glyphs and comments on some of them."""
    said = [
        {"clock_s": 61.5, "evaluation": Evaluation(pawns=-1.25, depth=8)},
        {"nags": (1, 14), "comments": ('"a" [b] % ; \\',)},
        {"spent_s": 3.0, "evaluation": Evaluation(mate=-4)},
        {},
        {},
    ]
    return tuple(dataclasses.replace(move, **said[number % 5]) for number, move in enumerate(line))


def compare_nodes(node, line, variations) -> None:
    """python-chess's tree holds the same moves, comments and values."""
    for move in line:
        theirs = [node.variations[0], *node.variations[1:]]
        assert len(theirs) == 1 + len(variations)
        for other, variation in zip(theirs[1:], variations, strict=True):
            compare_move(other, variation[0])
            compare_nodes(other, variation[1:], variation[0].variations)
        node, variations = theirs[0], move.variations
        compare_move(node, move)
    assert not node.variations


def compare_move(node, move: Move) -> None:
    board = node.parent.board()
    assert board.uci(node.move) == move.text
    assert node.nags == set(move.nags)
    assert node.clock() == move.clock_s and node.emt() == move.spent_s
    if move.evaluation is not None:
        score = node.eval().white()
        assert score.mate() == move.evaluation.mate
        if move.evaluation.pawns is not None:
            assert score.score() == pytest.approx(100 * move.evaluation.pawns)
        assert node.eval_depth() == move.evaluation.depth
    for comment in move.comments:
        # python-chess leaves out comments that end with their line.
        assert comment in " ".join(node.comment.split()) or comment == "loses at once"


def test_sgfmill_reads_the_same() -> None:
    sgf = pytest.importorskip("sgfmill.sgf")
    records = [
        random_record(name, random.Random(f"{name} {n}")) for n in range(40) for name in ("go(size=9, komi=6.5)",)
    ]
    contents = [game_text(record, format="sgf") for record in records]
    pairs = [(record, sgf.Sgf_game.from_string(text)) for record, text in zip(records, contents, strict=True)]
    first = next(iter(read_games(DATA / "games.sgf")))
    text = (DATA / "games.sgf").read_text(encoding="utf-8")
    pairs.append((first, sgf.Sgf_game.from_bytes(text[: text.index("(;FF[3]")].encode())))
    for record, theirs in pairs:
        assert theirs.get_size() == make(record.game).spec.board_shape[0]
        assert theirs.get_komi() == 6.5
        moves = [node.get_move() for node in theirs.get_main_sequence() if node.get_move()[0] is not None]
        columns = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
        names = ["pass" if point is None else f"{columns[point[1]]}{point[0] + 1}" for _, point in moves]
        assert names == [move.text for move in record.moves]


def test_sgfmill_takes_damaged_values_as_they_are() -> None:
    """Its moves of a file with blemishes in the first node are ours."""
    sgf = pytest.importorskip("sgfmill.sgf")
    for root in ("KM[6,5]", "KM[375]RU[Chinese]", "HA[x]", "PB[a\nb]KM[six\nseven]"):
        text = f"(;SZ[9]{root};B[aa];W[bb](;B[cc])(;B[zz]))"
        theirs = sgf.Sgf_game.from_string(text)
        (ours,) = read_games(io.StringIO(text))
        points = [node.get_move()[1] for node in theirs.get_main_sequence() if node.get_move()[0]]
        columns = "ABCDEFGHJ"
        assert [f"{columns[column]}{row + 1}" for row, column in points] == [move.text for move in ours.checked().moves]
        assert any("B[zz]: expected a point" in warning for warning in ours.warnings)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("▲７六歩 △３四歩 ▲２二角成 △同　銀 ▲４五角", "7g7f 3c3d 8h2b+ 3a2b B*4e"),
        ("▲５八金右", "4i5h"),
        ("▲５八金左", "6i5h"),
        ("▲５八金左 △３四歩 ▲４八金上", "6i5h 3c3d 4i4h"),
        ("▲５八金左 △３四歩 ▲４八金直", "6i5h 3c3d 4i4h"),
        ("▲５八金左 △３四歩 ▲４八金寄", "6i5h 3c3d 5h4h"),
        ("▲５八金左 △３四歩 ▲４八金直 △３五歩 ▲４九金右引", "6i5h 3c3d 4i4h 3d3e 4h4i"),
        ("☗５八金右 ☖５二金左 ☗７六歩 ☖６二金寄", "4i5h 4a5b 7g7f 5b6b"),
        ("☗５八金右 ☖５二金左 ☗７六歩 ☖６二金上", "4i5h 4a5b 7g7f 6a6b"),
    ],
)
def test_ki2_moves_are_found_by_the_rules(text: str, moves: str) -> None:
    (record,) = read_games(io.StringIO(text))
    assert not record.errors and " ".join(move.text for move in record.moves) == moves
    (again,) = read_games(io.StringIO(game_text(record, format="kif")), format="kif")
    assert again == record and not again.warnings


def test_ki2_that_means_several_moves_or_none() -> None:
    for text in ("▲５八金", "▲５八金直", "▲５八金右引", "▲５八金打", "▲７六角", "△７六歩"):
        (record,) = read_games(io.StringIO(text), format="kif")
        assert record.moves == () and "move 1, is not legal here" in record.errors[0]


def test_ki2_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.ki2"
    path.write_text("▲７六歩\n", encoding="cp932")
    (record,) = read_games(path)
    assert [move.text for move in record.moves] == ["7g7f"]
    for write in (write_game, append_game):
        with pytest.raises(DataError, match="a.ki2: KI2 is read, but not written. Name a .kif, .kifu or .csa file"):
            write(record, path)


def test_rsshogi_writes_ki2_that_is_read() -> None:
    """Its words for moves are enough but once in thousands: 右 where two golds stand to the right."""
    rsshogi = pytest.importorskip("rsshogi.record")
    game = make("shogi")
    num_read, num_all = 0, 0
    for number in range(12):
        moves = [move.text for move in random_line(game, game.initial_state(), 250, 0, random.Random(f"ki2 {number}"))]
        text = rsshogi.Record.from_usi_position(f"startpos moves {' '.join(moves)}").to_ki2()
        (record,) = read_games(io.StringIO(text), format="kif")
        read = [move.text for move in record.moves]
        assert read == moves[: len(read)]
        assert read == moves or "金右'" in record.errors[0]
        num_read, num_all = num_read + len(read), num_all + len(moves)
    assert num_read > 0.95 * num_all > 1000


def test_cshogi_reads_the_same() -> None:
    cshogi_kif, cshogi_csa = pytest.importorskip("cshogi.KIF"), pytest.importorskip("cshogi.CSA")
    cshogi = pytest.importorskip("cshogi")
    for number in range(60):
        record = random_record("shogi", random.Random(f"cshogi {number}")).without("variations")
        if record.start:
            record = dataclasses.replace(record, start=record.start.rpartition(" ")[0] + " 1")
        expected = [move.text for move in record.moves]
        (theirs,) = cshogi_csa.Parser.parse_str(game_text(record, format="csa"))
        assert [cshogi.move_to_usi(move) for move in theirs.moves] == expected
        if not record.start:
            theirs = cshogi_kif.Parser.parse_str(game_text(record, format="kif"))
            assert [cshogi.move_to_usi(move) for move in theirs.moves] == expected

"""Files of game records: their formats and their encodings."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest

from records_for_tests import texts
from zerosum.base.errors import DataError
from zerosum.notation import read_games
from zerosum.notation.game_files import read_raw_games


def test_a_long_file_is_read_game_by_game() -> None:
    """Two thousand games: the first comes before the file is read, and memory stays that of a few games."""
    game = b'[Event "A"]\n[Result "1-0"]\n\n1. e4 {a comment} e5 (1... c5) 2. Nf3 1-0\n\n'

    class Endless(io.RawIOBase):
        num_read = 0

        def read(self, size: int = -1) -> bytes:
            self.num_read += 1
            return game * 100 if self.num_read <= 20 else b""

    stream, num_games = Endless(), 0
    tracemalloc.start()
    for number, record in enumerate(read_raw_games(stream, format="pgn")):
        assert texts(record.moves) == "e4 e5 Nf3"
        if number == 0:
            assert stream.num_read <= 2
        num_games += 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert num_games == 2000
    assert peak < 400_000


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('[White "Zoë"]\n\n*\n'.encode(), "Zoë"),
        (b"\xef\xbb\xbf" + '[White "Zoë"]\n\n*\n'.encode(), "Zoë"),
        ('[White "Zoë"]\n\n*\n'.encode("latin-1"), "Zoë"),
        ("(;PB[Zoë])".encode(), "Zoë"),
        ("(;PB[Zoë])".encode("latin-1"), "Zoë"),
        *(
            (f"(;CA[{name}]PB[{text}])".encode(name), text)
            for name, text in (("Shift_JIS", "棋士"), ("GB2312", "棋士"), ("Big5", "棋士"), ("EUC-KR", "기사"))
        ),
        *((f"(;CA[{name}]PB[Zoë])".encode(name), "Zoë") for name in ("ISO-8859-1", "windows-1252", "UTF-8")),
        ("先手：棋士\n".encode(), "棋士"),
        ("先手：棋士\r\n".encode("cp932"), "棋士"),
        ("#KIF version=2.0 encoding=Shift_JIS\n先手：棋士\n".encode("cp932"), "棋士"),
        (b"\xef\xbb\xbf" + "#KIF version=2.0 encoding=UTF-8\n先手：棋士\n".encode(), "棋士"),
        ("'CSA encoding=SHIFT_JIS\nV3.0\nN+棋士\nPI\n+\n".encode("cp932"), "棋士"),
        ("V2.2\nN+棋士\nPI\n+\n".encode("cp932"), "棋士"),
    ],
)
def test_formats_and_encodings_are_found(content: bytes, name: str) -> None:
    (record,) = read_raw_games(io.BytesIO(content))
    assert record.players[0] == name


@pytest.mark.parametrize("name", ["羽生善治", "佐藤大五郎", "渡邊明", "カサパロフ", "ゆめ", "AI将棋"])
@pytest.mark.parametrize("declares", [False, True])
def test_shogi_in_euc_jp(name: str, *, declares: bool) -> None:
    csa = f"V2.2\nN+{name}\nN-B\nPI\n+\n+7776FU\n%TORYO\n"
    kif = f"手合割：平手\n先手：{name}\n後手：B\n   1 ７六歩(77)\n   2 投了\n"
    heads = ("'CSA encoding=EUC-JP\n", "#KIF version=2.0 encoding=EUC-JP\n") if declares else ("", "")
    for text in (heads[0] + csa, heads[1] + kif):
        (record,) = read_games(io.BytesIO(text.encode("euc_jp")))
        assert record.players == (name, "B") and len(record.moves) == 1
        assert any("it is read as EUC-JP" in warning for warning in record.warnings) != declares
        (record,) = read_games(io.BytesIO(text.replace("EUC-JP", "Shift_JIS").encode("cp932")))
        assert record.players == (name, "B") and not record.warnings


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"hello", "the stream begins like no known game record: name its format, pgn, sgf, kif, csa."),
        (b"", "the stream begins like no known game record"),
        ("(;GM[1])".encode("utf-16"), "the text is UTF-16: save it as UTF-8."),
        *(
            (
                f"(;CA[{name}]C[".encode() + b"\xe9])",
                f"the character set CA[{name}] is unknown: save the file as UTF-8.",
            )
            for name in ("klingon", "unicode_escape", "hex", "idna", "utf-7", "utf-16")
        ),
        (
            b"#KIF version=2.0 encoding=EUC-KR\n",
            "line 1: the encoding 'euc_kr' is none of UTF-8, Shift_JIS and EUC-JP.",
        ),
    ],
)
def test_files_that_are_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_games(io.BytesIO(content)))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (
            b'[Event "A"]\n[White "Zo\xeb"]\n\n*',
            "Zo\xeb",
            "line 2: the byte 0xEB is not UTF-8: the line is read, and others",
        ),
        (
            b'[White "\xe6\xa3\x8b"]\n[Black "x\xff"]\n\n*',
            "棋",
            "line 2: the byte 0xFF is not UTF-8: the line is read as Latin-1; save",
        ),
        (
            b"(;CA[UTF-8]PB[\xe6\xa3\x8b]\nC[\xff])",
            "棋",
            "line 2: the byte 0xFF is not UTF-8: it is read as \ufffd; save",
        ),
        (b"(;PB[\xe6\xa3\x8b]\nC[\xff])", "棋", "line 2: the byte 0xFF is not UTF-8: the line is read as Latin-1"),
        ("(;CA[Big5]PB[棋]C[".encode("big5") + b"\xff])", "棋", "line 1: the byte 0xFF is not Big5: it is read as"),
        ("先手：棋\n".encode() + b"*\xff\n", "棋", "line 2: the byte 0xFF is not UTF-8: it is read as \ufffd"),
        (
            b"#KIF encoding=Shift_JIS\n" + "先手：棋\n*".encode("cp932") + b"\x85",
            "棋",
            "line 3: the byte 0x85 is not Shift_JIS",
        ),
        ("V2.2\nN+棋\nPI\n+\n'".encode() + b"\xff\n", "棋", "line 5: the byte 0xFF is not UTF-8"),
    ],
)
def test_a_byte_that_is_no_character_is_named(content: bytes, name: str, sentence: str) -> None:
    (record,) = read_raw_games(io.BytesIO(content))
    (warning,) = record.checked().warnings
    assert record.players[0] == name and warning.startswith(sentence)


def test_wider_character_sets_are_read_without_a_word() -> None:
    for named, written_in, text in (("GB2312", "gbk", "囍"), ("Shift_JIS", "cp932", "①"), ("EUC-KR", "cp949", "똠")):
        (record,) = read_raw_games(io.BytesIO(f"(;CA[{named}]PB[{text}])".encode(written_in)))
        assert record.players[0] == text and not record.warnings


def test_a_byte_that_is_no_character_is_told_with_its_game() -> None:
    games = b'[Event "\xe6\xa3\x8b"]\n\n1. e4 {\xff} *\n\n[Event "B"]\n\n*\n\n[Event "\xff"]\n\n*\n'
    found = [record.warnings for record in read_raw_games(io.BytesIO(games))]
    assert [len(warnings) for warnings in found] == [1, 0, 1]
    assert found[0][0].startswith("line 3: ") and found[2][0].startswith("line 9: ")


def test_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no.pgn cannot be read: No such file or directory\."):
        list(read_games(tmp_path / "no.pgn"))
    with pytest.raises(DataError, match="unknown format 'ki2': expected one of pgn, sgf, kif, csa"):
        list(read_games(tmp_path / "no.pgn", format="ki2"))
    (tmp_path / "no.sgf").write_text("nothing")
    with pytest.raises(DataError, match="^.*no.sgf, no game begins here"):
        list(read_games(tmp_path / "no.sgf"))

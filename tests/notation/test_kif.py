"""KIF and KI2: handicaps, boards and moves, and a sentence for what is wrong."""

from __future__ import annotations

import pytest

from fuzz_notation import DATA, written
from records_for_tests import one, read_raw, texts
from zerosum.notation import kif
from zerosum.notation.shogi_position import START, ShogiPosition


@pytest.mark.parametrize("name", list(kif.HANDICAPS))
def test_kif_handicaps(name: str) -> None:
    """Each is the start without White's pieces of the name; they add up to their number."""
    record = one("kif", f"手合割：{name}　　\n   1 ６二銀(71)")
    start = ShogiPosition.from_sfen(record.start or START)
    missing = start.missing()
    number = {"平": 0, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "十": 10}
    assert start.is_black == (name == "平手")
    assert sum(missing.values()) == next(
        (number[sign] for sign in name if sign in number), 2 if name == "飛香落ち" else 1
    )
    assert sum(is_black for is_black, _ in start.board.values()) == 20
    assert bool(missing["R"]) == (name[0] in "飛二三四五六七八十" or name[1] in "五七")
    assert kif.HANDICAPS[name] == start.sfen()


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("   1 ７六歩(77)   ( 0:16/00:00:16)", "７六歩(77)"),
        ("1 76歩(77)", "７六歩(77)"),
        ("   1 ２二角成(88)+", "２二角成(88)"),
        ("   1 ２二角不成(88)", "２二角(88)"),
        ("   1 ５二成銀(41)", "５二全(41)"),
        ("   1 ５五竜(25) ( 12:05/01:00:16)+", "５五龍(25)"),
        ("   1 ５九王(58)", "５九玉(58)"),
        ("   1 ５二銀打", "５二銀打"),
    ],
)
def test_kif_moves_as_programs_write_them(line: str, move: str) -> None:
    record = one("kif", line)
    assert (texts(record.moves), record.errors) == (move, ())


def test_kif_variations_belong_to_the_line_before_them() -> None:
    (record,) = read_raw(DATA / "game.kifu")
    lines = [(len(before), texts(line)) for before, line in record.lines()]
    assert lines[1:] == [
        (0, "２六歩(27)"),
        (2, "２六歩(27) ４四歩(43) ２五歩(26)"),
        (3, "２二飛(82) ６五角打"),
        (7, "３三銀(22)"),
        (3, "８四歩(83)"),
    ]
    assert record.moves[3].text == "２二銀(31)"
    assert record.moves[1].comments == ("交換は早いか。", "それとも。")
    assert record.moves[4].properties == (("&", "ここまで"),)
    assert record.moves[6].variations[0][-1].ending == "resignation"
    assert (record.result, record.ending, record.ending_spent_s) == (1.0, "resignation", 30.0)


def test_kif_boards_are_drawn() -> None:
    (record,) = read_raw(DATA / "diagram.kifu")
    assert record.start == "4k4/9/4P4/9/7+r1/9/9/9/4K1+L2 b R2G12Pg4p 1"
    assert written(record).splitlines()[1:6] == [
        "  ９ ８ ７ ６ ５ ４ ３ ２ １",
        "+---------------------------+",
        "| ・ ・ ・ ・v玉 ・ ・ ・ ・|一",
        "| ・ ・ ・ ・ ・ ・ ・ ・ ・|二",
        "| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三",
    ]


@pytest.mark.parametrize(
    ("text", "result", "ending"),
    [
        ("   1 投了", -1.0, "resignation"),
        ("   1 ７六歩(77)\n   2 投了", 1.0, "resignation"),
        ("手合割：角落ち\n   1 投了", 1.0, "resignation"),
        ("   1 反則勝ち", 1.0, "opponent's illegal move"),
        *((f"   1 {word}", 1.0, "declaration") for word in ("入玉勝ち", "入玉宣言", "入玉宣言勝ち", "宣言勝ち")),
        ("   1 ７六歩(77)\nまで1手で入玉宣言", -1.0, "declaration"),
        ("   1 千日手", 0.0, "fourfold repetition"),
        ("   1 中断", None, "interrupted"),
        ("   1 ７六歩(77)\nまで1手で後手の勝ち", -1.0, ""),
        ("   1 ７六歩(77)\nまで1手で千日手", 0.0, "fourfold repetition"),
        ("   1 ７六歩(77)\nまで1手で投了", 1.0, "resignation"),
        ("   1 ７六歩(77)\n   2 ３四歩(33)\nまで2手で反則負け", -1.0, "illegal move"),
    ],
)
def test_kif_ends(text: str, result: float | None, ending: str) -> None:
    record = one("kif", text)
    assert (record.result, record.ending, record.errors) == (result, ending, ())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("手合割：銀落ち", "line 1: the handicap '銀落ち': expected 平手, 香落ち, "),
        (
            "   1 ７六金歩",
            "line 1: '７六金歩' is not a move: expected one such as ７六歩(77), 同　角成(88) or ５二銀打",
        ),
        ("   1 同　歩(77)", "line 1: '同\\u3000歩(77)': 同 without a move before"),
        ("   2 ７六歩(77)", "line 1: move number 2: expected 1"),
        ("   1 投了\n   2 ７六歩(77)", "line 2: "),
        (
            "   1 ７六歩(77)\n|v香v桂v銀v金v玉v金v銀v桂v香|一",
            "line 2: '|v香v桂v銀v金v玉v金v銀v桂v香|一' after",
        ),
        ("|v香v桂|一", "line 1: row 1 of the board, '|v香v桂|一': expected nine rows of nine squares"),
        ("先手の持駒：玉", "line 1: '玉' in hand: expected pieces such as 飛, 銀二 or 歩十八, or なし"),
        ("nothing", "line 1: 'nothing' is neither a header"),
    ],
)
def test_kif_says_what_is_wrong(text: str, sentence: str) -> None:
    (error,) = one("kif", text).errors
    assert error.startswith(sentence), error


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("変化：3手", "line 3: 変化：3手: expected a number from 1 to 2; the variation stops here"),
        ("変化：1手\n   1 nothing\n   2 ３四歩(33)", "line 4: a variation that is nothing alone: expected a move"),
        (
            "nothing",
            "line 3: 'nothing' is neither a header (名前：値), a move, a comment nor a part of a board; it is left out",
        ),
        ("   2 ３四歩(33)   ( 0:xx)", "line 3: '( 0:xx)': expected the time taken, ( 0:05/00:01:23); it is left out"),
        ("   2 ３四歩", "line 3: '３四歩' does not name its source, as KIF does: it is read as KI2"),
    ],
)
def test_kif_reads_on_behind_a_blemish(text: str, sentence: str) -> None:
    record = one("kif", f"先手：A\n   1 ７六歩(77)\n{text}\n変化：1手\n   1 ２六歩(27)\n").checked()
    (warning,) = record.warnings
    assert warning.startswith(sentence)
    assert record.moves[0].text == "７六歩(77)" and texts(record.variations[-1]) == "２六歩(27)"


@pytest.mark.parametrize(
    ("hand", "sfen"),
    [
        ("飛　角　金二　歩十八", "RB2G18P"),
        ("歩18 金2", "2G18P"),
        ("歩１８　金２", "2G18P"),
        ("銀四歩十", "4S10P"),
        ("なし", "-"),
    ],
)
def test_kif_hands_in_numerals_of_all_kinds(hand: str, sfen: str) -> None:
    record = one("kif", f"{'|' + ' ・' * 9 + '|'}\n" * 9 + f"先手の持駒：{hand}").checked()
    assert record.start.split()[2] == sfen


@pytest.mark.parametrize("hand", ["歩19", "歩二十", "歩0", "2", "歩1234", "歩十二三", "歩" + "9" * 5000])
def test_kif_hands_that_are_none(hand: str) -> None:
    (error,) = one("kif", f"先手の持駒：{hand}").errors
    assert "in hand: expected pieces such as" in error


def test_ki2_is_read_as_kif() -> None:
    record = one(
        "kif",
        "先手：A\n▲７六歩    △３四歩  ▲２二角成\n*交換\n△同　銀 ▲５八金右\nまで5手で先手の勝ち\n\n"
        "変化：2手\n△８四歩　▲2六歩 △投了\n",
    ).checked()
    assert texts(record.moves) == "▲７六歩 △３四歩 ▲２二角成 △２二銀 ▲５八金右"
    assert record.moves[2].comments == ("交換",) and record.result == 1.0
    ((variation),) = record.moves[0].variations
    assert texts(variation) == "△８四歩 ▲２六歩" and variation[-1].ending == "resignation"
    assert one("kif", "☗同銀").errors == ("line 1: '同銀': 同 without a move before; the record stops here",)
    assert "'nothing' is not a move" in one("kif", "▲７六歩 △nothing").errors[0]
    assert "'３四歩' after the game's end" in one("kif", "▲投了 △３四歩").errors[0]

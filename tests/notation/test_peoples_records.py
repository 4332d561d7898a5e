"""Records as people, servers and older programs write them: `tests/data/people` has one file for each custom."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from records_for_tests import one, texts
from zerosum.notation import Record, game_text, read_games
from zerosum.notation.sgf import COLUMNS

DATA = Path(__file__).parents[1] / "data" / "people"


def read(name: str) -> list[Record]:
    return list(read_games(DATA / name))


def sgf(text: str) -> Record:
    (record,) = read_games(io.StringIO(text), format="sgf")
    return record


def pgn(text: str) -> Record:
    (record,) = read_games(io.StringIO(text), format="pgn")
    return record


# ---- SGF: the text's character set


@pytest.mark.parametrize(
    ("name", "players", "komi", "said"),
    [
        ("sgf12_sjis_no_CA_backslash_byte.sgf", ("山田表", "鈴木能"), "6.5", "read as Shift_JIS"),
        ("sgf12b_sjis_CA_backslash_byte.sgf", ("山田表", "鈴木能"), "6.5", ""),
        ("sgf12c_sjis_no_CA_plain.sgf", ("党毅飛", "井山"), "6.5", "read as Shift_JIS"),
        ("sgf12d_sjis_no_CA_komi_swallowed.sgf", ("山田表", ""), "0.5", "read as Shift_JIS"),
        ("sgf12f_sjis_no_CA_bracket_byte.sgf", ("云本", "林"), "6.5", "read as Shift_JIS"),
        ("sgf13_gbk_no_CA.sgf", ("柯洁", "古力"), "7.5", "read as GB18030"),
        ("sgf16_CA_UTF8_lower_with_BOM.sgf", ("Zoë", ""), "6.5", ""),
        ("sgf16b_CA_wrong_gb2312_but_utf8.sgf", ("柯洁", "古力"), "6.5", "CA[gb2312], but the text is UTF-8"),
        ("sgf17_windows1251_no_CA.sgf", ("Иванов", "Петров"), "6.5", "read as Windows-1251"),
    ],
)
def test_the_character_set_of_a_file(name: str, players: tuple[str, str], komi: str, said: str) -> None:
    (record,) = read(name)
    assert record.checked().players == players and len(record.moves) == 2 and record.header("KM") == komi
    assert [said in warning for warning in record.warnings] == ([True] if said else [])


@pytest.mark.parametrize(
    ("word", "encoding", "said"),
    [
        ("許功蓋", "big5", "Big5"),  # the second byte of 功, 許 and 蓋 is a backslash
        ("이세돌", "euc_kr", "EUC-KR"),
        ("黄誠明", "gbk", "GB18030"),  # of 誠 too
        ("アルファ碁は強い", "euc_jp", "EUC-JP"),
        ("Jönsson", "latin-1", "as Latin-1"),
        ("本因坊秀策", "iso2022_jp", "ISO-2022-JP"),  # seven bits, and the second byte of 本 is a backslash
        ("翻", "iso2022_jp", "ISO-2022-JP"),  # a bracket
        ("柯洁", "hz", "HZ"),
    ],
)
def test_a_character_set_without_ca(word: str, encoding: str, said: str) -> None:
    content = "(;GM[1]SZ[9]PB[{}]KM[5.5]PW[{}];B[aa];W[bb])".replace("{}", word).encode(encoding)
    (record,) = read_games(io.BytesIO(content))
    assert record.checked().players == (word, word) and record.game == "go(size=9, komi=5.5)"
    assert said in record.warnings[0]


@pytest.mark.parametrize(
    ("declared", "word", "encoding", "said"),
    [
        ("ISO-8859-1", "Zoë", "utf-8", "CA[ISO-8859-1], but the text is UTF-8; it is read as such"),
        ("UTF-8", "山田表裏", "cp932", "CA[UTF-8], but the text is Shift_JIS; it is read as such"),
        ("x-user", "Zoë", "utf-8", "the character set CA[x-user] is unknown; the file is read as UTF-8"),
        ("x-sjis", "山田表", "cp932", ""),
        ("Windows-31J", "山田表", "cp932", ""),
        ("windows-949", "똠방각하", "cp949", ""),
        ("EUC-JP", "山田表能", "cp932", "CA[EUC-JP], but the text is Shift_JIS; it is read as such"),
        ("gb2312", "联通", "gb2312", ""),  # as UTF-8 it would be two other characters
    ],
)
def test_a_declared_character_set_that_is_wrong(declared: str, word: str, encoding: str, said: str) -> None:
    content = f"(;GM[1]CA[{declared}]SZ[9]PB[{word}];B[aa])".encode(encoding)
    (record,) = read_games(io.BytesIO(content))
    assert record.players[0] == word and len(record.moves) == 1
    assert record.warnings == ((f"line 1: {said}",) if said else ())


# ---- SGF: komi, handicap, rules, results


@pytest.mark.parametrize(
    ("name", "komi"),
    [
        ("sgf01_fox_km50.sgf", "0.5"),
        ("sgf01b_fox_km375.sgf", "7.5"),
        ("sgf01c_gokifu_km325.sgf", "6.5"),
        ("sgf01e_fox_km375_norules.sgf", "7.5"),
        ("sgf01f_fox_km0.sgf", "0"),
        ("sgf01g_km750.sgf", "7.5"),
    ],
)
def test_komi_of_servers(name: str, komi: str) -> None:
    (record,) = read(name)
    assert len(record.checked().moves) == 2 and _komi(record) == komi
    said = record.header("KM")
    assert any(f"the komi KM[{said}]" in warning for warning in record.warnings) == (said != komi)


def _komi(record: Record) -> str:
    options = dict(option.split("=") for option in record.game.partition("(")[2].rstrip(")").split(", ") if option)
    return options.get("komi", "7.5" if options.get("size", "19") != "9" else "7")


@pytest.mark.parametrize(
    ("root", "komi"),
    [
        ("AP[foxwq]KM[275]", "5.5"),
        ("AP[foxwq]KM[550]", "5.5"),
        ("AP[foxwq]KM[350]RU[Chinese]", "7"),
        ("AP[foxwq]KM[700]", "7"),
        ("AP[foxwq]KM[-650]", "-6.5"),
        ("AP[foxwq]KM[6.5]", "6.5"),
        ("AP[Tygem]KM[65]", "6.5"),
        ("AP[tygem:1.0]KM[75]", "7.5"),
        ("AP[Tygem]KM[-55]", "-5.5"),
        ("AP[Tygem]KM[6.5]", "6.5"),
        ("AP[Tygem]KM[0]", "0"),
        ("AP[Tygem]KM[8]", "8"),
        ("AP[Tygem]KM[650]", "6.5"),
        ("AP[CGoban:3]KM[65]", "65"),
        ("AP[GNU Go:3.8]GN[]KM[50]", "0.5"),
        ("AP[SGFC:2.0]KM[150]", "1.5"),
        ("KM[50]", "50"),
        ("KM[3.75]RU[Chinese]", "7.5"),
        ("KM[3.75]RU[中国规则]", "7.5"),
        ("KM[6½]", "6.5"),
        ("KM[6目半]", "6.5"),
        ("KM[6 1/2 points]", "6.5"),
        ("KM[５．５]", "5.5"),
        ("KM[3又3/4子]RU[Chinese]", "7.5"),
        ("KM[3¾]RU[Chinese]", "7.5"),
    ],
)
def test_komi_in_hundredths_and_in_stones(root: str, komi: str) -> None:
    assert _komi(sgf(f"(;{root};B[aa])").checked()) == komi


def test_a_komi_that_is_no_number_is_left_out() -> None:
    for said in ("nan", "1e3", "1000000", "目", "6 5", "6/2"):
        record = sgf(f"(;KM[{said}];B[aa])").checked()
        assert record.game == "go" and "it is left out" in record.warnings[0], said


def test_handicap_stones_as_first_moves() -> None:
    (record,) = read("sgf02_fox_leading_black_moves.sgf")
    assert texts(record.checked().moves) == "D16 O17 R6"
    assert record.start.count("X") == 3 and record.start.split()[1] == "O"
    assert any("Black's first 3 moves are the handicap" in warning for warning in record.warnings)


@pytest.mark.parametrize("skip", ["", "tt"])
def test_white_may_pass_between_handicap_stones(skip: str) -> None:
    record = sgf(f"(;SZ[19]HA[3];B[pd];W[{skip}];B[dp];W[{skip}];B[pp];W[dd];B[];W[])").checked()
    assert texts(record.moves) == "D16 pass pass" and record.start.count("X") == 3 and record.start.endswith("O")


def test_players_of_older_programs_in_pl() -> None:
    assert sgf("(;AB[pd][dp]PL[2];W[aa])").checked().start.endswith(" O")
    assert sgf("(;AW[pd][dp]PL[1];B[aa])").checked().start.endswith(" X")


@pytest.mark.parametrize(
    ("root", "points"),
    [
        ("HA[2]", "dp pd"),
        ("HA[6]DT[2020-01-01]", "dd dj dp pd pj pp"),
        ("HA[6]DT[2016-05-01]", "dd dp jd jp pd pp"),
        ("HA[9]", "dd dj dp jd jj jp pd pj pp"),
    ],
)
def test_handicap_stones_that_fox_leaves_out(root: str, points: str) -> None:
    record = one("sgf", f"(;AP[foxwq]SZ[19]{root};W[aa];B[ss])")
    rows = [re.sub(r"\d+", lambda found: "." * int(found[0]), row) for row in record.start.split()[0].split("/")]
    found = [
        COLUMNS[at] + COLUMNS[row] for row, cells in enumerate(rows) for at, cell in enumerate(cells) if cell == "X"
    ]
    assert sorted(found) == sorted(points.split()) and texts(record.checked().moves) == "aa ss"
    assert any("the stones stand where Fox Weiqi puts them" in warning for warning in record.warnings)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("(;HA[3];B[aa];B[bb];W[cc])", "HA[3], but Black has 2 moves before White's: expected AB with 3 points"),
        ("(;HA[2];W[aa])", "HA[2], but no stones are set up: expected AB with 2 points"),
        ("(;AP[foxwq]SZ[13]HA[2];W[aa])", "HA[2], but no stones are set up: expected AB with 2 points"),
    ],
)
def test_a_handicap_that_is_unknown(text: str, sentence: str) -> None:
    (error,) = one("sgf", text).errors
    assert error == f"line 1: {sentence}; the record stops here"


@pytest.mark.parametrize(
    ("named", "options"),
    [
        ("Chinese", "superko=simple"),
        ("Japanese Rules", "superko=simple"),
        ("japanese-rules", "superko=simple"),
        ("日本ルール", "superko=simple"),
        ("Chinese, Pair Go", "superko=simple"),
        ("nz rules", "superko=situational, suicide=true"),
        ("New_Zealand", "superko=situational, suicide=true"),
        ("AGA", "superko=situational"),
        ("chinese-kgs", ""),
        ("Chinese OGS", ""),
        ("TrompTaylor", "suicide=true"),
        ("GOE", "suicide=true"),
        ("koPOSITIONALscoreAREAtaxNONEsui1", "suicide=true"),
        ("koSITUATIONALscoreTERRITORYtaxSEKIsui0button0whb0komi6.5", "superko=situational"),
        ('{"ko":"SIMPLE","scoring":"AREA","suicide":true}', "superko=simple, suicide=true"),
    ],
)
def test_rules_in_every_spelling(named: str, options: str) -> None:
    record = one("sgf", f"(;SZ[9]KM[5.5]RU[{named}];B[aa])").checked()
    assert record.game == f"go({', '.join(filter(None, ('size=9, komi=5.5', options)))})"
    assert not record.warnings


def test_rules_that_are_unknown_are_said() -> None:
    (warning,) = one("sgf", "(;SZ[9]RU[house];B[aa])").warnings
    assert warning == "line 1: the rules RU[house] are unknown: the moves are checked by our defaults"


@pytest.mark.parametrize("name", ["sgf30_long_cycle_chinese.sgf", "sgf30_long_cycle_japanese.sgf"])
def test_a_board_may_repeat_by_the_rules_of_the_record(name: str) -> None:
    (record,) = read(name)
    assert len(record.checked().moves) == 24 and not record.warnings


def test_a_record_against_its_own_rules_is_read_by_milder_ones() -> None:
    text = (DATA / "sgf30_long_cycle_chinese.sgf").read_text().replace("RU[Chinese]", "")
    record = sgf(text).checked()
    assert len(record.moves) == 24 and record.game == "go(size=5, komi=0.5, superko=simple)"
    (warning,) = record.warnings
    assert "move 22, is not legal here" in warning and warning.endswith("; the record is read with superko=simple")


def test_a_ko_that_is_taken_back_at_once_is_read_by_no_rule_against_it() -> None:
    """KO marks a move that is made although the rules forbid it."""
    (record,) = read("sgf31_ko_property.sgf")
    assert len(record.checked().moves) == 10 and record.game == "go(size=9, komi=6.5, superko=none)"
    assert record.moves[8].properties == (("KO", ""),)
    (warning,) = record.warnings
    assert "'cb', move 9, is not legal here" in warning and warning.endswith("; the record is read with superko=none")
    (again,) = read_games(io.StringIO(game_text(record, format="sgf")), format="sgf")
    assert again.moves == record.moves and again.game == record.game


def test_the_mildest_rules_are_no_stricter_than_they_need_to_be() -> None:
    text = (DATA / "sgf31_ko_property.sgf").read_text()
    assert sgf(text.split(";B[cb]KO[];W[ee]")[0] + ")").game == "go(size=9, komi=6.5)"
    assert sgf(text.replace("W[ee]", "W[cb]")).errors, "an occupied point is legal by no rules"


@pytest.mark.parametrize(
    ("said", "result", "ending"),
    [
        ("b+r", 1.0, "resignation"),
        ("Black+R", 1.0, "resignation"),
        ("W+2,5", -1.0, "2.5 points"),
        ("W + 3½", -1.0, "3.5 points"),
        ("White wins by resignation", -1.0, "resignation"),
        ("B+0.5 points", 1.0, "0.5 points"),
        ("黑中盘胜", 1.0, "resignation"),
        ("白番時間切れ勝ち", -1.0, "time"),
        ("흑 불계승", 1.0, "resignation"),
        ("백 시간승", -1.0, "time"),
        ("黑贏1.5目", 1.0, "黑贏1.5目"),
        ("Jigo", 0.0, ""),
        ("Void", None, "Void"),
    ],
)
def test_results_in_other_spellings(said: str, result: float | None, ending: str) -> None:
    record = one("sgf", f"(;RE[{said}];B[aa])").checked()
    assert (record.result, record.ending) == (result, ending)


@pytest.mark.parametrize(("said", "is_known"), [("1-0", False), ("Black", False), ("Void", True), ("?", True)])
def test_a_result_that_is_unknown_is_said(said: str, is_known: bool) -> None:
    record = one("sgf", f"(;RE[{said}];B[aa])").checked()
    assert record.result is None and [f"RE[{said}]" in warning for warning in record.warnings] == [True] * (
        not is_known
    )


# ---- PGN

SIGNS = "□ ⨀ = ∞ ⩲ ⩱ ± ∓ +− +- -+ N ↑↑ ↑ → ⇆ ⊕ =∞ ∆ △ Δ ⌓ ∇ ⟳ ⇄ ⇔ D RR ⊙ −+ ∓± ⯹ =/∞ +/= =/+ +/- -/+ ⟪ +/− !□ ?⊕"


def test_signs_lose_no_move() -> None:
    for sign in SIGNS.split():
        record = pgn(f"1. e4 e5 2. Nf3 {sign} Nc6 *").checked()
        assert texts(record.moves) == "e2e4 e7e5 g1f3 b8c6" and record.moves[2].nags and not record.warnings, sign
        if sign not in ("=", "N", "D", "RR"):
            attached = pgn(f"1. e4 e5 2. Nf3{sign} Nc6 *").checked()
            assert attached.moves == record.moves and not attached.warnings, sign
        stopped = pgn(f"1. e4 e5 2. Nf3 {sign}; Nc6 3. Bb5 {sign}; *").checked()
        assert len(stopped.moves) == (3 if sign in ("N", "D", "RR") else 5), sign
    for sign in ("@", "^", "~", "||", "⁂"):
        record = pgn(f"1. e4 e5 2. Nf3 {sign} Nc6 *").checked()
        assert len(record.moves) == 4 and record.warnings == (f"line 1: '{sign}' is not a move: it is left out",)


@pytest.mark.parametrize("sign", ["TN", "¹", "ch", "mate", "dis.ch", "⩲/=", "±/=", "~=", "…", "\u25fb", "❗", "⇗"])
def test_signs_of_other_fonts_and_words_of_check_lose_no_move(sign: str) -> None:
    for blank in (" ", ""):
        record = pgn(f"1. e4 e5 2. Nf3{blank}{sign} Nc6 *").checked()
        assert texts(record.moves) == "e2e4 e7e5 g1f3 b8c6", blank


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("1. ♘f3 ♞f6 2. ♙g3 g6 3. ♗g2 ♝g7 4. O–O O—O", "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8"),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. О-О 0−0", "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8"),
        ("1. a4 b5 2. axb5 a6 3. bxa6 Bb7 4. axb7mate h5 5. bxa8=q h4", "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7"),
        (
            "1. a4 b5 2. axb5 a6 3. bxa6 Bb7 4. axb7 h5 5. bxa8♕ h4",
            "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h5 b7a8q h5h4",
        ),
        ("1. e4 2… e5", "e2e4 e7e5"),
    ],
)
def test_moves_in_other_letters(text: str, moves: str) -> None:
    record = pgn(f"{text} *").checked()
    assert texts(record.moves).startswith(moves) and len(record.moves) == len(re.findall(r"[^\s\d.…]\S*", text))


@pytest.mark.parametrize("comment", ["good", "Nc6 loses", "2... Nc6 is best 1-0", "", "12", "= (equal)"])
def test_a_semicolon_behind_a_sign_begins_a_comment_unless_moves_follow(comment: str) -> None:
    record = pgn(f"1. e4 e5 2. Nf3 ⩱; {comment}\nNc6 *").checked()
    assert texts(record.moves) == "e2e4 e7e5 g1f3 b8c6" and not record.warnings
    assert record.moves[2].comments == ((comment,) if comment else ())


def test_signs_everywhere() -> None:
    (record,) = read("pgn11_nags_everywhere.pgn")
    assert len(record.checked().moves) == 13 and record.result == 1.0 and not record.warnings
    assert [move.nags for move in record.moves] == [
        *[()] * 4,
        (1,),
        (16,),
        (1, 18),
        (7,),
        (4, 16, 5, 13),
        (14,),
        (7,),
        (15,),
        (19,),
    ]


@pytest.mark.parametrize(
    ("end", "result"),
    [
        ("1:0", 1.0),
        ("0–1", -1.0),
        ("½-½", 0.0),
        ("1/2", 0.0),
        ("0.5-0.5", 0.0),
        ("1 - 0", 1.0),
        ("0 : 1", -1.0),
        ("1/2 - 1/2", 0.0),
        ("1-0F", 1.0),
        ("0-1+", -1.0),
        ("1-O", 1.0),
        ("O-1", -1.0),
        ("o : 1", -1.0),
        ("l-0", 1.0),
        ("0-l", -1.0),
        ("[1-0]", 1.0),
        ("*0-1", -1.0),
        ("White resigns", None),
        ("Black won on time 1-0", 1.0),
    ],
)
def test_ends_of_moves_in_other_spellings(end: str, result: float | None) -> None:
    record = pgn(f"1. e4 e5 2. Nf3 Nc6 {end}").checked()
    assert len(record.moves) == 4 and record.result == result and record.warnings


def test_castling_is_no_result() -> None:
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 5. d3 d6 6. Bg5 O-O"
    assert (castled := pgn(f"{moves} 1-O").checked()).result == 1.0 and len(castled.moves) == 12
    assert (without := pgn(moves).checked()).result is None and len(without.moves) == 12


def test_the_tag_result_in_another_spelling() -> None:
    assert pgn('[Result "O-1"]\n\n1. e4 e5 *').checked().result == -1.0
    record = pgn('[Result "½-½"]\n\n1. e4 e5 *').checked()
    assert record.result == 0.0 and "is '½-½'" in record.warnings[0]


def test_words_that_may_be_moves_are_no_remarks() -> None:
    for word in ("Nf33", "Sf3", "ex", "Sxe", "oo"):
        assert pgn(f"1. e4 {word} d5 *").errors, word


def test_chess960_is_seen_by_castling_rights() -> None:
    (rapid,) = read("pgn03_960_without_variant.pgn")
    assert rapid.checked().game == "chess960" and len(rapid.moves) == 5
    (warning,) = rapid.warnings
    assert "there is no tag Variant, but the castling rights of the FEN are those of Chess960" in warning
    first, second = read("pgn03d_960_from_position.pgn")
    assert [record.checked().game for record in (first, second)] == ["chess960", "chess960"]
    assert [len(record.moves) for record in (first, second)] == [3, 2]
    assert "the tag Variant is 'Standard'" in second.warnings[0]


@pytest.mark.parametrize("variant", ["Classical", "?", "Standard Chess", "wild/fr", "Fischerandom Chess"])
def test_variants_by_their_other_names(variant: str) -> None:
    record = pgn(f'[Variant "{variant}"]\n\n1. e4 e5 *').checked()
    assert record.game == ("chess960" if "f" in variant.lower() else "chess") and len(record.moves) == 2


@pytest.mark.parametrize(
    ("fen", "game"),
    [
        ("4k3/8/8/8/8/8/8/1R2K3 w Q - 0 1", "chess960"),  # a rook on b1
        ("r4k1r/8/8/8/8/8/8/4K3 b k - 0 1", "chess960"),  # Black's king on f8
        ("4k3/8/8/8/8/8/8/4KR1R w F - 0 1", "chess960"),  # the inner rook
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "chess"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "chess"),
        ("4k3/8/8/8/8/8/8/RK5R w - - 0 1", "chess"),
    ],
)
def test_the_game_of_a_position(fen: str, game: str) -> None:
    assert pgn(f'[SetUp "1"]\n[FEN "{fen}"]\n\n*').checked().game == game


def test_two_games_of_tags_alone() -> None:
    starts = [record.start.split()[0].split("/")[-1] for record in read("pgn09_fen_only_games.pgn")]
    assert starts == ["2BQKBNR", "R1BQKBNR"]
    players = '[White "A"]\n[Black "B"]\n\n[White "C"]\n[Black "D"]\n'
    assert [record.players for record in read_games(io.StringIO(players))] == [("A", "B"), ("C", "D")]


# ---- KIF


@pytest.mark.parametrize("name", ["kif01_tsume_teai.kifu", "kif01c_hirate_with_board.kifu"])
def test_a_drawn_board_counts(name: str) -> None:
    (record,) = read(name)
    assert record.checked().start.startswith("8k/9/8P") and texts(record.moves) == "G*1b"
    assert (record.result, record.ending) == (1.0, "checkmate")
    assert ["the handicap '詰将棋'" in warning for warning in record.warnings] == ([True] if "tsume" in name else [])


def test_an_unknown_handicap_without_a_board_is_an_error() -> None:
    (error,) = one("kif", "手合割：新しい\n   1 ７六歩(77)\n").errors
    assert error.startswith("line 1: the handicap '新しい': expected 平手") and error.endswith("the record stops here")


def test_a_drop_with_a_source() -> None:
    (record,) = read("kif04_uchi_00_and_comments.kifu")
    assert texts(record.checked().moves) == "7g7f 3c3d 8h2b+ 3a2b B*4e" and not record.warnings
    assert (record.result, record.ending) == (1.0, "time")


@pytest.mark.parametrize(
    ("end", "result"),
    [
        ("封じ手", None),
        ("トライ勝ち\nまで2手で先手の勝ち", 1.0),
        ("立会人裁定\nまで2手で後手の勝ち", -1.0),
    ],
)
def test_last_words_that_are_unknown(end: str, result: float | None) -> None:
    record = one("kif", f"   1 ７六歩(77)\n   2 ３四歩(33)\n   3 {end}\n").checked()
    word = end.split("\n")[0]
    assert len(record.moves) == 2 and (record.result, record.ending) == (result, word)
    assert record.warnings[0].startswith(f"line 3: '{word}' is not an ending: expected one of 投了")


def test_a_foul_that_ended_the_game() -> None:
    (record,) = read("kif10_illegal_last_move.kifu")
    assert len(record.checked().moves) == 8 and (record.result, record.ending) == (-1.0, "illegal move")
    assert record.moves[-1].comments[-1] == "二歩"
    (warning,) = record.warnings
    assert "'７五歩打', move 9, is not legal here" in warning and warning.endswith("; the game was lost by it")


@pytest.mark.parametrize(
    ("format", "text", "is_foul"),
    [
        ("pgn", '[Termination "rules infraction"]\n\n1. e4 e5 2. Ke3 0-1', True),
        ("pgn", '[Termination "rules infraction"]\n\n1. e4 e5 2. Ke3 1-0', False),
        ("pgn", "1. e4 e5 2. Ke3 0-1", False),
        ("csa", "PI\n+\n+7776FU\n-3334FU\n+8822KA\n-3122GI\n+0076FU\n%+ILLEGAL_ACTION\n", True),
        ("csa", "PI\n+\n+7776FU\n-3334FU\n+9998KA\n%TORYO\n", False),
    ],
)
def test_an_illegal_last_move_and_the_ending(format: str, text: str, is_foul: bool) -> None:
    (record,) = read_games(io.StringIO(text), format=format)
    assert (not record.errors) == is_foul
    assert record.moves and (record.ending == "illegal move" if is_foul else "not legal" in record.errors[0])

"""Openings from files, books and the package: what each format says, what is refused and in which words, orders."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from books_for_tests import PUBLISHED, book_file
from zerosum.arena.openings import (
    BookOpenings,
    Opening,
    OpeningList,
    RandomOpenings,
    find_openings,
    packaged_openings,
    read_openings,
)
from zerosum.base.errors import DataError, SettingsError
from zerosum.games import Rules, make, state_after
from zerosum.games.random_play import random_opening
from zerosum.notation.polyglot import read_book

CHESS, SHOGI, GO9, CONNECT4 = make("chess"), make("shogi"), make("go(size=9)"), make("connect4")
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -"


def texts(game: Rules, opening: Opening, notation: str | None = None) -> str:
    """The moves of an opening as people write them."""
    states = [Opening("", opening.start, opening.actions[:ply]).state(game) for ply in range(len(opening.actions))]
    return " ".join(
        game.action_text(state, action, notation) for state, action in zip(states, opening.actions, strict=True)
    )


def read(path: Path, content: str, game: Rules, *, plies: int | None = None) -> tuple[Opening, ...]:
    path.write_text(content, encoding="utf-8")
    return read_openings(path, game, plies=plies)


def test_pgn(tmp_path: Path) -> None:
    path = tmp_path / "book.pgn"
    content = (
        f'[ECO "B30"]\n[Opening "Sicilian"]\n\n1. e4 c5 (1... e5) 2. Nf3 *\n\n[FEN "{AFTER_E4} 0 1"]\n\n1... e6 *\n'
    )
    first, second = read(path, content, CHESS)
    assert (first.name, first.start, first.file, first.line) == ("B30 Sicilian", "", str(path), 1)
    assert texts(CHESS, first, "san") == "e4 c5 Nf3"
    assert (second.name, second.start, second.line) == ("", f"{AFTER_E4} 0 1", 6)
    assert texts(CHESS, second, "san") == "e6"


@pytest.mark.parametrize("plies", [0, 1, 2, 3, 9])
def test_a_cut_leaves_the_first_moves(tmp_path: Path, plies: int) -> None:
    for name, content in (("a.pgn", "1. e4 c5 2. Nf3 *\n"), ("a.txt", "e4 c5 Nf3\n")):
        (opening,) = read(tmp_path / name, content, CHESS, plies=plies)
        assert texts(CHESS, opening, "san").split() == ["e4", "c5", "Nf3"][:plies]


def test_a_whole_game_serves_if_it_is_cut(tmp_path: Path) -> None:
    content = "1. f3 e5 2. g4 Qh4# 0-1\n"
    with pytest.raises(
        DataError, match=r"a\.pgn, line 1: the game is over after 4 moves \(checkmate\): expected an op"
    ):
        read(tmp_path / "a.pgn", content, CHESS)
    assert len(read(tmp_path / "a.pgn", content, CHESS, plies=3)[0].actions) == 3
    source = find_openings(str(tmp_path / "a.pgn"), CHESS, plies=2, seed=1, is_shuffled=False)
    assert texts(CHESS, source(0), "san").split() == ["f3", "e5"]


def test_epd(tmp_path: Path) -> None:
    content = (
        f'# a comment\n\n{AFTER_E4} id "B00; the king\'s pawn moves"; bm e5;\n{AFTER_E4} 3 7\n'
        f"{AFTER_E4} hmvc 3; fmvn 7;\nfen {AFTER_E4} 0 1 moves e7e5 g1f3\nposition startpos moves e2e4\nstartpos\n"
    )
    openings = read(tmp_path / "a.epd", content, CHESS)
    assert [opening.line for opening in openings] == [3, 4, 5, 6, 7, 8]
    assert openings[0].name == "B00; the king's pawn moves"
    starts = [opening.start for opening in openings]
    assert starts == [f"{AFTER_E4} 0 1", f"{AFTER_E4} 3 7", f"{AFTER_E4} 3 7", f"{AFTER_E4} 0 1", "", ""]
    assert [texts(CHESS, opening) for opening in openings] == ["", "", "", "e7e5 g1f3", "e2e4", ""]


def test_the_initial_position_is_no_start_of_its_own(tmp_path: Path) -> None:
    for game in (CHESS, SHOGI, CONNECT4, make("nim")):
        text = game.position_text(game.initial_state()) or ""
        assert read(tmp_path / "a.fen", f"{text}\n", game)[0].start == ""


def test_a_start_of_chess960_keeps_its_rights(tmp_path: Path) -> None:
    game = make("chess960")
    start = game.position_text(game.start(3)) or ""
    (opening,) = read(tmp_path / "a.epd", f"{start}\n", game)
    assert opening.start == start
    assert (game.planes(opening.state(game)) == game.planes(game.start(3))).all()


def test_sfen(tmp_path: Path) -> None:
    after = SHOGI.position_text(state_after(SHOGI, "7g7f")) or ""
    content = f"startpos moves 7g7f 3c3d\nsfen {after}\n{after} moves 8c8d\nposition sfen {after} moves 3c3d\n"
    openings = read(tmp_path / "a.sfen", content, SHOGI)
    assert [opening.start for opening in openings] == ["", after, after, after]
    assert [texts(SHOGI, opening) for opening in openings] == ["7g7f 3c3d", "", "8c8d", "3c3d"]


def test_sgf_with_another_komi_and_handicap_stones(tmp_path: Path) -> None:
    content = "(;GM[1]FF[4]SZ[9]KM[0.5]HA[2]GN[two stones]AB[gc][cg];W[ee];B[dd])"
    (opening,) = read(tmp_path / "a.sgf", content, GO9)
    assert (opening.name, texts(GO9, opening)) == ("two stones", "E5 D6")
    assert opening.start == "9/9/6X2/9/9/9/2X6/9/9 O"


def test_kif_and_csa(tmp_path: Path) -> None:
    assert texts(SHOGI, read(tmp_path / "a.csa", "V2.2\nPI\n+\n+7776FU\n-3334FU\n", SHOGI)[0]) == "7g7f 3c3d"
    kif = "手合割:平手\n戦型:横歩取り\n1 ７六歩(77)\n2 ３四歩(33)\n"
    (opening,) = read(tmp_path / "a.kifu", kif, SHOGI)
    assert (opening.name, texts(SHOGI, opening)) == ("横歩取り", "7g7f 3c3d")


def test_plain_lines_of_moves(tmp_path: Path) -> None:
    lines = ["1. e4 c5 2. Nf3", "1.e4 c5 2.Nf3", "e2e4 c7c5 g1f3", "e4 1... c5 2. Nf3", "startpos moves e2e4 c7c5 g1f3"]
    openings = read(tmp_path / "a.txt", "\n".join(lines), CHESS)
    assert [texts(CHESS, opening, "san") for opening in openings] == ["e4 c5 Nf3"] * 5
    assert texts(CONNECT4, read(tmp_path / "a.txt", "4 4 1\n", CONNECT4)[0]) == "4 4 1"
    nim = make("nim")
    (opening,) = read(tmp_path / "a.txt", "position 1-3-5-6 O moves 1:1\n", nim)
    assert (opening.start, texts(nim, opening)) == ("1-3-5-6 O", "1:1")


def test_a_mark_and_foreign_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfe4 e5\r\nd4\r\n")
    assert [texts(CHESS, opening, "san") for opening in read_openings(path, CHESS)] == ["e4 e5", "d4"]


REFUSED = [
    ("a.txt", "e4 e5\nd4 e5 Ke2\n", CHESS, r"a\.txt, line 2: move 3: 'Ke2' is not a legal move here: near are"),
    ("a.epd", "8/8/8/8/8/8/8/8 w - -\n", CHESS, r"a\.epd, line 1: .*king"),
    (
        "a.epd",
        f"{AFTER_E4} bm e5\n",
        CHESS,
        r"line 1: .* is neither FEN nor EPD: expected four fields, then two counts",
    ),
    ("a.epd", f'{AFTER_E4} id "x;\n', CHESS, r"line 1: .* is neither FEN nor EPD"),
    ("a.epd", f"{AFTER_E4} 0\n", CHESS, r"line 1: .* is neither FEN nor EPD"),
    ("a.epd", f"{AFTER_E4} hmvc x;\n", CHESS, r"a\.epd, line 1: "),
    ("a.epd", "position\n", CHESS, r"a\.epd, line 1: '' is neither FEN nor EPD"),
    ("a.fen", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\n", CHESS, r"line 1: the game is over after 0 moves \(stalemate\)"),
    ("a.sfen", "startpos\nstartpos moves 7g7e\n", SHOGI, r"a\.sfen, line 2: move 1: '7g7e' is not a legal move here"),
    ("a.pgn", "1. e4 e5\n2. Ke3 *\n", CHESS, r"a\.pgn, line 2: 'Ke3', move 3, is not legal here: near are"),
    ("a.pgn", "1. e4 *\n", make("chess960"), r"a\.pgn, line 1: a game of chess, expected one of chess960\."),
    ("a.sgf", "(;GM[1]SZ[19];B[cc])", GO9, r"a\.sgf, line 1: a game of go, expected one of go\(size=9\)\."),
    ("a.txt", "\n# nothing\n", CHESS, r"a\.txt contains no opening: expected at least one\."),
    ("a.pgn", "", CHESS, r"a\.pgn contains no opening"),
    ("a.xyz", "e4\n", CHESS, r"a\.xyz has no known suffix: expected one of \.pgn, .*\.txt\.$"),
    (
        "a.bin",
        "e4\n",
        CHESS,
        r"a\.bin has no known suffix.* It looks like a Polyglot book, which is drawn from, not listed\.$",
    ),
]


@pytest.mark.parametrize(("name", "content", "game", "message"), REFUSED)
def test_refused(tmp_path: Path, name: str, content: str, game: Rules, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path / name, content, game)


def test_unreadable(tmp_path: Path) -> None:
    for suffix in (".txt", ".pgn"):
        with pytest.raises(DataError, match=r"cannot be read: No such file"):
            read_openings(tmp_path / f"none{suffix}", CHESS)
    path = tmp_path / "a.txt"
    path.write_bytes(b"e4\nd4 \xff\n")
    with pytest.raises(DataError, match=r"a\.txt, line 2: the text is not UTF-8"):
        read_openings(path, CHESS)
    with pytest.raises(SettingsError, match="plies is -1, but must be at least 0"):
        read_openings(path, CHESS, plies=-1)


@given(st.text(alphabet='e4d5 Nf3.1"#;/KQkq-wmovespt\n\x00é', max_size=60), st.sampled_from([".epd", ".txt", ".sfen"]))
def test_any_text_gives_openings_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, text: str, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    for game in (CHESS, SHOGI, CONNECT4):
        message = ""
        try:
            openings = read(path, text, game)
        except DataError as error:
            openings, message = (), str(error)
        assert all(game.outcome(opening.state(game)) is None for opening in openings)
        assert openings or (path.name in message and message.endswith("."))


# ---- orders

FIVE = tuple(Opening(f"{number}", "", (number,)) for number in range(5))


def test_in_order_from_any_of_them_and_over_again() -> None:
    assert [OpeningList(FIVE)(pair).name for pair in range(7)] == ["0", "1", "2", "3", "4", "0", "1"]
    assert [OpeningList(FIVE, first=4)(pair).name for pair in range(3)] == ["3", "4", "0"]


@given(st.integers(0, 2**40), st.integers(1, 5))
def test_a_shuffle_has_each_once_and_repeats(seed: int, first: int) -> None:
    order = [OpeningList(FIVE, shuffle_seed=seed)(pair) for pair in range(10)]
    assert sorted(order[:5], key=lambda opening: opening.name) == list(FIVE) and order[5:] == order[:5]
    moved = OpeningList(FIVE, shuffle_seed=seed, first=first)
    assert [moved(pair) for pair in range(5)] == order[first - 1 : first + 4]


def test_shuffles_differ() -> None:
    orders = {tuple(map(OpeningList(FIVE, shuffle_seed=seed), range(5))) for seed in range(50)}
    assert len(orders) > 20


def test_orders_out_of_range() -> None:
    with pytest.raises(SettingsError, match="the list of openings is empty"):
        OpeningList(())
    for first in (0, 6):
        with pytest.raises(SettingsError, match=f"the first opening is number {first}, but must be between 1 and 5"):
            OpeningList(FIVE, first=first)


# ---- drawn openings


def test_random_openings_are_the_random_moves_of_a_start() -> None:
    game = make("chess960")
    openings = [RandomOpenings(game, num_plies=4, seed=3)(pair) for pair in range(20)]
    assert len({opening.start for opening in openings}) > 10
    for pair, opening in enumerate(openings):
        expected = random_opening(game, num_plies=4, seed=3, pair=pair, start=opening.start)
        assert opening.actions == expected and opening.state(game).plies == 4
    with pytest.raises(SettingsError, match="num_plies is -1"):
        RandomOpenings(game, num_plies=-1, seed=3)


def test_book_moves_are_drawn_by_weight_until_the_book_ends(tmp_path: Path) -> None:
    entries = [(PUBLISHED[""], "e2e4", 300), (PUBLISHED[""], "d2d4", 100), (PUBLISHED[""], "a2a3", 0)]
    entries += [(PUBLISHED["e2e4"], "d7d5", 1), (PUBLISHED["e2e4 d7d5"], "e4e5", 1)]
    book = read_book(book_file(tmp_path / "a.bin", *sorted(entries, key=lambda entry: entry[0])))
    source = BookOpenings(CHESS, book, num_plies=8, seed=1)
    counts = Counter(texts(CHESS, source(number)) for number in range(400))
    assert set(counts) == {"e2e4 d7d5 e4e5", "d2d4"}
    assert 60 < counts["d2d4"] < 140  # 100 expected, standard deviation 8.7
    assert source(7) == BookOpenings(CHESS, book, num_plies=8, seed=1)(7)
    assert source(7).file == str(tmp_path / "a.bin")
    short = BookOpenings(CHESS, book, num_plies=1, seed=1)
    assert {texts(CHESS, short(number)) for number in range(50)} == {"e2e4", "d2d4"}


def test_a_book_that_does_not_fit(tmp_path: Path) -> None:
    book = read_book(book_file(tmp_path / "a.bin", (PUBLISHED[""], "e2e5", 1)))
    with pytest.raises(DataError, match=r"a\.bin, entry 1: 'e2e5' is not a legal move here: near are"):
        BookOpenings(CHESS, book, num_plies=1, seed=1)(0)
    with pytest.raises(SettingsError, match=r"a\.bin is a Polyglot book, which is for chess, not for shogi"):
        BookOpenings(SHOGI, book, num_plies=1, seed=1)
    with pytest.raises(SettingsError, match="num_plies is -1"):
        BookOpenings(CHESS, book, num_plies=-1, seed=1)
    other = read_book(book_file(tmp_path / "b.bin", (PUBLISHED["e2e4"], "e7e5", 1)))
    with pytest.raises(DataError, match=r"b\.bin has no move to play in the initial position"):
        BookOpenings(CHESS, other, num_plies=1, seed=1)


# ---- the package's


def test_the_papers_human_openings() -> None:
    """The openings have the paper's ECO codes and moves; reading them checks that they are legal."""
    openings = packaged_openings("chess-human", CHESS)
    assert {opening.name.split()[0]: texts(CHESS, opening, "san") for opening in openings} == {
        "A10": "c4",
        "D06": "d4 d5 c4",
        "A46": "d4 Nf6 Nf3",
        "E00": "d4 Nf6 c4 e6",
        "E61": "d4 Nf6 c4 g6 Nc3",
        "C00": "e4 e6",
        "B50": "e4 c5 Nf3 d6",
        "B30": "e4 c5 Nf3 Nc6",
        "B40": "e4 c5 Nf3 e6",
        "C60": "e4 e5 Nf3 Nc6 Bb5",
        "B10": "e4 c6",
        "A05": "Nf3 Nf6",
    }
    assert len({(opening.start, opening.actions) for opening in openings}) == len(openings)
    assert [texts(SHOGI, opening) for opening in packaged_openings("shogi-human", SHOGI)] == ["2g2f", "7g7f"]


def test_packaged_openings_that_are_not_there() -> None:
    with pytest.raises(DataError, match=r"no openings 'ches-human': did you mean 'chess-human' or 'shogi-human'\?"):
        packaged_openings("ches-human", CHESS)
    with pytest.raises(DataError, match="a game of chess, expected one of shogi"):
        packaged_openings("chess-human", SHOGI)


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_openings_by_a_name_or_a_file(tmp_path: Path, is_shuffled: bool) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("e4 e5 Nf3\nd4 d5\nc4\n")
    chess = make("chess")
    source = find_openings(str(path), chess, plies=2, seed=1, is_shuffled=is_shuffled)
    drawn = [source(number) for number in range(6)]
    assert drawn[:3] == drawn[3:] and {len(opening.actions) for opening in drawn} == {1, 2}
    assert {opening.line for opening in drawn[:3]} == {1, 2, 3}
    assert is_shuffled or [opening.line for opening in drawn[:3]] == [1, 2, 3]
    book = book_file(tmp_path / "a.bin", (PUBLISHED[""], "e2e4", 1))
    assert isinstance(find_openings(str(book), chess, seed=1, is_shuffled=is_shuffled), BookOpenings)
    human = find_openings("chess-human", chess, seed=1, is_shuffled=False)
    assert human(0).name.startswith("A10") and human(0) == human(12)
    assert len(find_openings("chess-human", chess, plies=1, seed=1, is_shuffled=False)(0).actions) == 1
    with pytest.raises(DataError, match="openings 'human' are neither a file nor bundled openings"):
        find_openings("human", chess, seed=1, is_shuffled=False)

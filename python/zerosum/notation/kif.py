"""KIF, the shogi players' game record: text to records and back, without the rules of shogi.

Source: the description by its author (Y. Kakinoki, 2024). Moves are read as in the file, but 同 (the square of the move
before) is replaced by the square: `７六歩(77)`, `３三角成(88)`, `５二銀打`. Each line of a comment (`*`) is its own;
bookmarks (`&`) are the property "&". Lines that begin with # are for programs and left out. KI2, which has several
moves per line (`▲７六歩　△３四歩`), is read, too; `ki2.py` finds its moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from zerosum.base.errors import shown
from zerosum.notation import ki2
from zerosum.notation.record import (
    MAX_DEPTH,
    Draft,
    Move,
    Record,
    RecordError,
    finished,
    headers_in,
    one_line,
    refuse,
    require_result,
    result_of,
)
from zerosum.notation.shogi_position import (
    DIGITS,
    KANJI_DIGITS,
    NUM_PIECES,
    PIECES,
    SIGNS,
    START,
    ShogiPosition,
    square_of,
)

_REST = "/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"

HANDICAPS = {
    "平手": START,
    "香落ち": f"lnsgkgsn1/1r5b1{_REST}",
    "右香落ち": f"1nsgkgsnl/1r5b1{_REST}",
    "角落ち": f"lnsgkgsnl/1r7{_REST}",
    "飛車落ち": f"lnsgkgsnl/7b1{_REST}",
    "飛香落ち": f"lnsgkgsn1/7b1{_REST}",
    "二枚落ち": f"lnsgkgsnl/9{_REST}",
    "三枚落ち": f"lnsgkgsn1/9{_REST}",
    "四枚落ち": f"1nsgkgsn1/9{_REST}",
    "五枚落ち": f"2sgkgsn1/9{_REST}",
    "左五枚落ち": f"1nsgkgs2/9{_REST}",
    "六枚落ち": f"2sgkgs2/9{_REST}",
    "左七枚落ち": f"2sgkg3/9{_REST}",
    "右七枚落ち": f"3gkgs2/9{_REST}",
    "八枚落ち": f"3gkg3/9{_REST}",
    "十枚落ち": f"4k4/9{_REST}",
}
"""Start positions by 手合割; その他 stands for a drawn position."""

SPECIAL = {
    "投了": "resignation",
    "千日手": "fourfold repetition",
    "持将棋": "impasse",
    "中断": "interrupted",
    "詰み": "checkmate",
    "詰": "checkmate",
    "切れ負け": "time",
    "時間切れ": "time",
    "反則負け": "illegal move",
    "反則勝ち": "opponent's illegal move",
    "入玉勝ち": "declaration",
    "入玉勝": "declaration",
    "入玉宣言": "declaration",
    "入玉宣言勝ち": "declaration",
    "宣言勝ち": "declaration",
    "不戦敗": "forfeit",
    "不戦勝": "opponent's forfeit",
    "不詰": "no checkmate",
    "引き分け": "agreement",
    "最大手数": "ply cap",
}
"""Words for endings in place of a move. The first of several words for an ending is written."""

MOVE = re.compile(
    r"(?:([1-9１-９])([1-9一二三四五六七八九])|同)[ 　]*(成[香桂銀]|[歩香桂銀金角飛玉王と杏圭全馬龍竜])"
    r"(成|不成)?(打(?:[(（]00[)）])?|[(（]([1-9])([1-9])[)）])"
)
PART_OF_MOVE = re.compile(r"[1-9１-９]|[一二三四五六七八九][^手]|^同|打|[(（]")
"""What every move has, and no word for an ending."""
KI2_MOVE = re.compile(r"([▲△▼▽☗☖])[ 　]*([^▲△▼▽☗☖]+)")
NUMBERED = re.compile(r"[ 　]*(\d{1,5})[ 　]+(.*)", re.ASCII)
TIME = re.compile(r"[(（] *(\d{1,6}):(\d{1,2})(?:/[ \d:]*)?[)）][ 　]*\+?[ 　]*", re.ASCII)
HEADER = re.compile(r"([^：:#*&|+][^：:]{0,39})[：:](.*)")
BRANCH = re.compile(r"変化[：:][ 　]*(\d{1,5})手", re.ASCII)
SUMMARY = re.compile(r"まで、?(?:\d+手)?で?(.*)")
HAND = re.compile(r"(\S)(\d{1,3}|[〇一二三四五六七八九十]*)")
HANDS = {"先手の持駒": True, "下手の持駒": True, "後手の持駒": False, "上手の持駒": False}
TURNS = {"先手番": True, "下手番": True, "後手番": False, "上手番": False}


class _KifError(Exception):
    """An error, as a sentence, after which the line of moves cannot continue."""


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """The game of a file. Its errors are in `errors`."""
    reader = _GameReader()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        reader.line = reader.line or number
        try:
            reader.read(text, number)
        except _KifError as error:
            if not reader.has_branched:
                reader.errors.append(f"line {number}: {error}; the record stops here")
                break
            reader.warn(number, f"{error}; the variation stops here")
            reader.is_stopped = True
    if reader.line:
        yield reader.finish()


class _Line:
    """A line of moves during reading."""

    def __init__(self, moves: list[Draft], first: int, points: list[Draft], squares: list[str]) -> None:
        self.moves, self.first, self.points, self.squares = moves, first, points, squares
        """`first` is the number of its first move; `points[i]` stands before move number i + 1 of the game along this
        line, and `squares[i]` is where the move before it went."""
        self.before: list[str] = []
        """Comments before the first move of a variation."""
        self.is_over = False

    @property
    def next(self) -> int:
        return len(self.points)


class _GameReader:
    """One game, line by line."""

    def __init__(self) -> None:
        self.line = 0
        self.headers: list[tuple[str, str]] = []
        self.handicap, self.handicap_line = "", 0
        self.position = ShogiPosition()
        self.num_rows = 0
        self.root = Draft()
        self.main: list[Draft] = []
        self.lines = [_Line(self.main, 1, [self.root], [""])]
        """The main line and, innermost last, the variations in which the next 変化 may branch."""
        self.ending = ""
        self.spent_s: float | None = None
        self.summary = ""
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.has_content = False
        self.has_branched = False
        """Whether the main line is complete and variations follow."""
        self.is_stopped = False
        """Whether text is skipped until the next variation."""

    def warn(self, number: int, what: str) -> None:
        self.warnings.append(f"line {number}: {what}")

    def read(self, text: str, number: int) -> None:
        """Read a line of the file that is not empty."""
        if self.is_stopped and not BRANCH.match(text):
            return
        self.is_stopped = False
        if not self._read_line(text, number):
            sentence = f"{shown(text)} is neither a header (名前：値), a move, a comment nor a part of a board"
            if not self.has_content:
                raise _KifError(sentence)
            self.warn(number, f"{sentence}; it is left out")
        self.has_content = True

    def _read_line(self, text: str, number: int) -> bool:
        """Read a line. Returns whether it is part of KIF."""
        line = self.lines[-1]
        if text.startswith("*"):
            comments = line.points[-1].comments if line.moves or line.moves is self.main else line.before
            comments.append(text[1:])
        elif text.startswith("&"):
            line.points[-1].properties.append(("&", text[1:]))
        elif found := BRANCH.match(text):
            self._branch(int(found[1]))
        elif text.startswith(tuple(ki2.MARKS)):
            self._read_ki2(text, number)
        elif found := NUMBERED.fullmatch(text):
            self._read_move(int(found[1]), found[2], number)
        elif text.startswith(("手数--", "手数ーー", "+-", "９")):
            pass
        elif found := SUMMARY.match(text):
            if len(self.lines) == 1:
                self.summary = found[1].strip()
        elif text.startswith("|"):
            self._read_row(text)
        elif text in TURNS:
            self._require_start(text)
            self.position.is_black = TURNS[text]
        elif found := re.match(r"手数[＝=](\d{1,5})", text, re.ASCII):
            self._require_start(text)
            self.position.number = int(found[1]) + 1
        elif found := HEADER.fullmatch(text):
            self._read_header(found[1].strip(), found[2].strip(" 　"), number)
        else:
            return False
        return True

    def _require_start(self, what: str) -> None:
        if self.main or len(self.lines) > 1:
            raise _KifError(f"{shown(what)} after the first move: a position is drawn before it")

    def _read_header(self, name: str, value: str, line_number: int) -> None:
        if name in HANDS:
            self._require_start(name)
            self._read_hand(HANDS[name], value)
        elif name == "手合割":
            self._require_start(name)
            self.handicap, self.handicap_line = value, line_number
        else:
            self.headers.append((name, value))

    def _read_hand(self, is_black: bool, text: str) -> None:
        if text == "なし":
            return
        for sign, count in HAND.findall(text):
            piece = SIGNS.get(sign, "")
            value = _number_of(count) if count else 1
            if piece not in NUM_PIECES or not 1 <= value <= 18:
                raise _KifError(f"{shown(sign + count)} in hand: expected pieces such as 飛, 銀二 or 歩十八, or なし")
            self.position.hands[is_black][piece] += value

    def _read_row(self, text: str) -> None:
        self._require_start(text)
        self.num_rows += 1
        cells = re.findall(r"([ v^V])(\S)", text[1:].partition("|")[0])
        if self.num_rows > 9 or len(cells) != 9:
            raise _KifError(
                f"row {self.num_rows} of the board, {shown(text)}: expected nine rows of nine squares, |v香 ・ …|"
            )
        for file, (owner, sign) in zip(range(9, 0, -1), cells, strict=True):
            if sign in SIGNS:
                self.position.board[file, self.num_rows] = (owner not in "vV", SIGNS[sign])
            elif sign not in "・･.":
                raise _KifError(f"row {self.num_rows} of the board: {shown(sign)} is not a piece")

    def _branch(self, first: int) -> None:
        """Begin a variation: move number `first` of the innermost line that began before it."""
        self.has_branched = True
        while len(self.lines) > 1 and self.lines[-1].first >= first:
            self.lines.pop()
        parent = self.lines[-1]
        if not parent.first <= first <= parent.next:
            raise _KifError(f"変化：{first}手: expected a number from {parent.first} to {parent.next}")
        if len(self.lines) > MAX_DEPTH:
            raise _KifError(f"variations more than {MAX_DEPTH} deep")
        moves: list[Draft] = []
        parent.points[first - 1].variations.append(moves)
        self.lines.append(_Line(moves, first, parent.points[:first], parent.squares[:first]))

    def _read_move(self, number: int, text: str, line_number: int) -> None:
        line = self.lines[-1]
        if line.is_over:
            raise _KifError(f"{shown(text)} after the game's end: expected 変化 or the end of the file")
        if number != line.next:
            raise _KifError(f"move number {number}: expected {line.next}")
        body = text
        spent_s: float | None = None
        if found := re.search(r"[(（] *\d+:", text):
            body = text[: found.start()]
            time = TIME.fullmatch(text[found.start() :].strip())
            if time is None:
                said = shown(text[found.start() :])
                self.warn(line_number, f"{said}: expected the time taken, ( 0:05/00:01:23); it is left out")
            else:
                spent_s = float(60 * int(time[1]) + int(time[2]))
        body = body.strip(" 　+")
        if body in SPECIAL:
            self._end(body, spent_s)
        elif found := MOVE.fullmatch(body):
            file, rank, sign, promotion, origin, from_file, from_rank = found.groups()
            source = "打" if origin[0] == "打" else f"({from_file}{from_rank})"
            words = f"{PIECES[SIGNS[sign]][0]}{'成' if promotion == '成' else ''}{source}"
            self._add_move(self._square(body, file, rank), words, line_number, spent_s)
        elif not PART_OF_MOVE.search(body):
            self._end(body, spent_s)
            self.warn(line_number, f"{shown(body)} is not an ending: expected one of {', '.join(SPECIAL)}")
        else:
            self._add_ki2_move(body, line_number, spent_s)
            self.warn(line_number, f"{shown(body)} does not name its source, as KIF does: it is read as KI2")

    def _end(self, word: str, spent_s: float | None) -> None:
        line = self.lines[-1]
        line.is_over = True
        if len(self.lines) == 1:
            self.ending, self.spent_s = SPECIAL.get(word, word), spent_s
        elif line.moves:
            line.moves[-1].ending = SPECIAL.get(word, word)
        else:
            raise _KifError(f"a variation that is {word} alone: expected a move")

    def _read_ki2(self, text: str, line_number: int) -> None:
        """Read a line with several moves, each after the mark of its side."""
        for mark, said in KI2_MOVE.findall(text):
            word = said.strip(" 　")
            if self.lines[-1].is_over:
                raise _KifError(f"{shown(word)} after the game's end: expected 変化 or the end of the file")
            if word in SPECIAL:
                self._end(word, None)
            else:
                self._add_ki2_move(word, line_number, None, mark=mark)

    def _add_ki2_move(self, word: str, line_number: int, spent_s: float | None, *, mark: str = "") -> None:
        same = re.match(r"同[ 　]*", word)
        square = self._square(word, "", "") if same else ""
        found = ki2.MOVE.fullmatch(square + word[same.end() :] if same else word)
        if found is None:
            raise _KifError(f"{shown(word)} is not a move: expected one such as ７六歩(77), 同　角成(88) or ５二銀打")
        file, rank, sign, side, way, promotion, drop = found.groups()
        promotion = "成" if promotion == "成" else "不成" if promotion else ""
        words = f"{PIECES[SIGNS[sign]][0]}{side}{way}{promotion}{drop or ''}"
        self._add_move(_square_text(file, rank), words, line_number, spent_s, mark=mark)

    def _square(self, body: str, file: str | None, rank: str) -> str:
        """The square of numerals, or that of the move before if there are none."""
        square = _square_text(file, rank) if file else self.lines[-1].squares[-1]
        if not square:
            raise _KifError(f"{shown(body)}: 同 without a move before")
        return square

    def _add_move(self, square: str, words: str, line_number: int, spent_s: float | None, *, mark: str = "") -> None:
        line = self.lines[-1]
        move = Draft(mark + square + words, line_number, spent_s=spent_s)
        if line.before:
            move.comments_before.extend(line.before)
            line.before = []
        line.moves.append(move)
        line.points.append(move)
        line.squares.append(square)

    def _start(self) -> str:
        if self.num_rows:
            # A drawn board counts; a handicap beside it is its name.
            return self.position.sfen()
        return "" if self.handicap in ("", "平手") else HANDICAPS.get(self.handicap, "")

    def _doubt_handicap(self) -> None:
        """A handicap that has no known name: a drawn board says what it is, else the start is unknown."""
        what = f"the handicap {shown(self.handicap)}: expected {', '.join(HANDICAPS)} or その他"
        if self.num_rows:
            self.warn(self.handicap_line, f"{what}; the drawn board counts")
        else:
            self.errors.insert(0, f"line {self.handicap_line}: {what}; the record stops here")

    def finish(self) -> Record:
        game = "shogi"
        if self.handicap not in ("", "その他", *HANDICAPS):
            self._doubt_handicap()
        if (self.num_rows not in (0, 9) or (self.handicap == "その他" and not self.num_rows)) and not self.errors:
            self.errors.append(f"line {self.line}: a board with {self.num_rows} rows: expected nine")
            game = ""
        start = self._start()
        is_first = ShogiPosition.from_sfen(start or START).is_black_after(len(self.main))
        ending, result = self.ending, result_of(self.ending, is_first=is_first)
        if ending not in SPECIAL.values():
            summed_up, result = _read_summary(self.summary, is_first=is_first)
            ending = ending or summed_up
        return Record(
            game=game,
            moves=finished(self.main),
            headers=tuple(self.headers),
            start=start,
            comments=tuple(self.root.comments),
            properties=tuple(self.root.properties),
            variations=self.root.finish_variations(),
            result=result,
            ending=ending,
            ending_spent_s=self.spent_s,
            format="kif",
            errors=tuple(self.errors),
            warnings=tuple(self.warnings),
            line=self.line,
        )


def _square_text(file: str, rank: str) -> str:
    """A square as KIF writes it.

    >>> _square_text("5", "2")
    '５二'
    """
    numbers = square_of(file, rank)
    return DIGITS[numbers[0]] + KANJI_DIGITS[numbers[1]]


def _number_of(text: str) -> int:
    """A number in numerals of any kind; 0 if it is not a number.

    >>> [_number_of(text) for text in ("十八", "二十", "九", "18", "十二三")]
    [18, 20, 9, 18, 0]
    """
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if len(tens) > 1 or len(ones) > 1:
        return 0
    return (10 * KANJI_DIGITS.find(tens or "一") if ten else 0) + KANJI_DIGITS.find(ones or "〇")


def _read_summary(text: str, *, is_first: bool) -> tuple[str, float | None]:
    """Ending and result of the line `まで…手で…`, if no move line has them; `is_first` if Black is to move."""
    if text in SPECIAL:
        return SPECIAL[text], result_of(SPECIAL[text], is_first=is_first)
    found = re.fullmatch(r"(?:時間切れにより)?(先手|下手|後手|上手)の勝ち", text)
    if found is None:
        return "", None
    return "time" if text.startswith("時間") else "", 1.0 if found[1] in ("先手", "下手") else -1.0


# ---- writing


def write(record: Record) -> str:
    """A record with moves in KIF's notation (`７六歩(77)`) as a file.

    Raises:
        RecordError: KIF cannot express a part of the record, which the message names.
    """
    refuse(record, "KIF", "nags", "clock_s", "evaluation")
    start = ShogiPosition.from_sfen(record.start or START)
    handicap = next((name for name, sfen in HANDICAPS.items() if sfen == start.sfen()), "")
    lines = [f"手合割：{handicap}"] if handicap else _board_lines(start)
    for name, value in headers_in(record, "kif"):
        if record.format != "kif" and handicap != "平手":
            name = {"先手": "下手", "後手": "上手"}.get(name, name)
        lines.append(f"{name}：{one_line(value)}")
    lines.append("手数----指手---------消費時間--")
    lines.extend(_comment_lines(record, record.comments, record.properties))
    writer = _MoveWriter(record)
    last = writer.add_line(record.moves, _Point(1, "", (0, 0)), bool(record.variations))
    lines.extend([*writer.lines, *_end_lines(record, last, start.is_black_after(len(record.moves)))])
    writer.lines = []
    writer.add_variations(record.moves, record.variations, _Point(1, "", (0, 0)))
    return "\n".join([*lines, *writer.lines]) + "\n"


def _board_lines(position: ShogiPosition) -> list[str]:
    """The drawing of a position."""

    def hand(is_black: bool) -> str:
        pieces = position.hands[is_black]
        return "　".join(PIECES[name][0] + _count(pieces[name]) for name in NUM_PIECES if pieces[name]) or "なし"

    def cell(file: int, rank: int) -> str:
        is_black, piece = position.board.get((file, rank), (True, ""))
        return f"{' ' if is_black else 'v'}{PIECES[piece][0] if piece else '・'}"

    rows = [f"|{''.join(cell(file, rank) for file in range(9, 0, -1))}|{KANJI_DIGITS[rank]}" for rank in range(1, 10)]
    border = "+---------------------------+"
    lines = [
        f"後手の持駒：{hand(False)}",
        "  ９ ８ ７ ６ ５ ４ ３ ２ １",
        border,
        *rows,
        border,
        f"先手の持駒：{hand(True)}",
    ]
    lines += [] if position.number == 1 else [f"手数＝{position.number - 1}"]
    return lines if position.is_black else [*lines, "後手番"]


def _count(number: int) -> str:
    tens = "十" if number >= 10 else ""
    return "" if number == 1 else tens + (KANJI_DIGITS[number % 10] if number % 10 else "")


def _comment_lines(record: Record, comments: Iterable[str], properties: Iterable[tuple[str, str]]) -> list[str]:
    bookmarks = [f"&{value}" for name, value in properties if name == "&" and record.format == "kif"]
    return [*(f"*{line}" for comment in comments for line in comment.split("\n")), *bookmarks]


@dataclass(frozen=True)
class _Point:
    """A place between two moves: the next move's number, the square of the last one, and the times of both sides."""

    number: int
    square: str
    spent_s: tuple[int, int]

    def after(self, move: Move) -> _Point:
        mine, other = self.spent_s
        square = self.square if move.text.startswith("同") else move.text[:2]
        return _Point(self.number + 1, square, (other, mine + int(move.spent_s or 0)))


class _MoveWriter:
    """Lines of moves; the variations of a line follow it, the last ones first."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.lines: list[str] = []

    def add_line(self, line: tuple[Move, ...], point: _Point, has_others: bool) -> _Point:
        """Add moves without their variations; return the place after the last one."""
        for move in line:
            if move.spent_s is not None and not move.spent_s.is_integer():
                raise RecordError(f"{move.text} took {move.spent_s} s: KIF has whole seconds.", record=self.record)
            same = move.text[:2] == point.square
            text = f"同　{move.text[2:]}" if same else move.text
            self.lines.append(_numbered(point, text, move.spent_s) + ("+" if has_others else ""))
            self.lines.extend(_comment_lines(self.record, move.comments, move.properties))
            point, has_others = point.after(move), bool(move.variations)
        return point

    def add_variations(self, line: tuple[Move, ...], variations: tuple[tuple[Move, ...], ...], point: _Point) -> None:
        """Add the variations of a line, and their variations."""
        forks = [(variations, point)]
        forks.extend((move.variations, point := point.after(move)) for move in line)
        for replacing, fork in reversed(forks):
            for index, variation in enumerate(replacing):
                self.lines += ["", f"変化：{fork.number}手"]
                self.lines += _comment_lines(self.record, variation[0].comments_before, ())
                last = self.add_line(variation, fork, index + 1 < len(replacing))
                if ending := variation[-1].ending:
                    self.lines.append(_numbered(last, _special(self.record, ending), None))
                self.add_variations(variation, (), fork)


def _numbered(point: _Point, text: str, spent_s: float | None) -> str:
    if spent_s is None:
        return f"{point.number:4} {text}"
    taken, total = int(spent_s), point.spent_s[0] + int(spent_s)
    clock = f"{total // 3600:02}:{total // 60 % 60:02}:{total % 60:02}"
    return f"{point.number:4} {text}   ({taken // 60:2}:{taken % 60:02}/{clock})"


def _special(record: Record, ending: str) -> str:
    for text, word in SPECIAL.items():
        if word == ending:
            return text
    raise RecordError(f"the ending {ending!r}: KIF knows {', '.join(SPECIAL.values())}.", record=record)


def _end_lines(record: Record, point: _Point, is_black: bool) -> list[str]:
    """The ending in place of a move, and the summary line."""
    winner = {1.0: "先手の勝ち", -1.0: "後手の勝ち"}.get(record.result or 0.0, "")
    if not record.ending:
        if record.result == 0:
            raise RecordError(
                "a draw: KIF expresses it by the ending, and the record's ending is empty.", record=record
            )
        return [f"まで{len(record.moves)}手で{winner}"] if winner else []
    special = _special(record, record.ending)
    require_result(record, "KIF", is_first=is_black)
    return [_numbered(point, special, record.ending_spent_s), f"まで{len(record.moves)}手で{winner or special}"]

"""PGN, the chess players' game record: text to records and back, without the rules of chess.

Source: the PGN standard (S. J. Edwards, 1994). The reader accepts any order of tags, comments of both kinds, glyphs as
numbers or signs, escape lines, and any words as moves (`legality.py` checks them). The writer uses the standard's
export format: the seven tags of the roster first, the other tags by name, lines of at most 80 columns. Faults that
leave no doubt about the moves of the game are warnings. Blanks and line ends within a comment count as one blank. Of
the commands in comments, `[%clk]`, `[%emt]` and `[%eval]` become values; others stay in the comment's text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from zerosum.base.errors import shown
from zerosum.notation.pgn_words import (
    MOVE,
    RESULTS,
    SIGNS,
    VARIANTS,
    glyphs_of,
    has_no_letters,
    is_chess960,
    is_remark,
    result_word,
    split_signs,
    usual_move,
)
from zerosum.notation.record import (
    MAX_DEPTH,
    Draft,
    Evaluation,
    Move,
    Record,
    RecordError,
    clock_text,
    finished,
    headers_in,
    one_line,
)

ROSTER = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
"""The tags of every game, with the text for "unknown"; the seventh is Result."""

TERMINATIONS = {"time forfeit": "time", "rules infraction": "illegal move"}
"""Values of the tag Termination that records call differently."""

TAG = re.compile(r'\[\s*([A-Za-z0-9_+#=:-]+)\s+"([^"\\]*(?:\\.[^"\\]*)*)"\s*\]')
LOOSE_TAG = re.compile(r'\[\s*([A-Za-z0-9_+#=:-]+)\s+"(.*?)"\s*\](?=\s*(?:\[|$))')
"""A tag whose value has quotation marks that are not escaped."""
TOKEN = re.compile(
    r"\{|;.*|(?<!\S)(?:[1lI]\s+[-:–—−]\s+[0Oo]|[0Oo]\s+[-:–—−]\s+[1lI]|(1/2|½)\s+[-:–—−]\s+\1)(?!\S)"
    r"|[^\s(){};$]*[a-h][18]\([QRBNqrbn]\)[^\s(){};$]*|\(|\)|\$\d+|[^\s(){};$]+|\$"
)
PROMOTION = re.compile(r"(.*[a-h][18])\(([QRBNqrbn])\)(.*)")
MOST_LETTERS = 20
"""Longest text of a move."""
NULL_MOVES = ("--", "Z0", "0000", "@@@@")
"""Texts of null moves, by which analyses show threats; games do not have them."""
STANDARD_MOVE = re.compile(r"[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](?:=[QRBN])?[+#]?|O-O(?:-O)?[+#]?")
END_SIGNS = re.compile(r"[^\w+#=/-]+$")
"""Signs at the end of a word."""
UNKNOWN_SIGNS = re.compile(r"(?<=.)(?![+#]+$).+$")
"""What stands behind a move, unless it is a check alone."""
SIGN_AT_END = re.compile(r"[^A-Za-z0-9_\s;]+$")
EN_PASSANT = re.compile(r"(.*?)e\.?p\.?([+#!?]*)")
MOVE_WITH_RESULT = re.compile(r"([a-hKQRBNO].*?[\dQRBNO+#!?])(1[-:–—−][0Oo]|0[-:–—−]1|1/2[-:–—−]1/2|½[-:–—−]½|\*)")
NUMBER = re.compile(r"\d+[.…]+|\d+$|[.…]+")
COMMAND = re.compile(r"\[%(clk|emt|eval)\s+([^\]]*)\]")
CLOCK = re.compile(r"(\d{1,6}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII)
SCORE = re.compile(r"(?:#([+-]?\d{1,6})|([+-]?\d{1,6}(?:\.\d{1,9})?))(?:,(\d{1,6}))?", re.ASCII)


def parse(lines: Iterable[str]) -> Iterator[Record]:
    """The games of a file of any length, one at a time, with moves as in the file.

    Errors of a game are in its `errors`; reading continues with the next game.
    """
    reader = _GameReader()
    number, was_blank = 0, True
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        if reader.opened_comment and was_blank and text.startswith('[Event "'):
            reader.stop_record(reader.opened_comment, "a comment that is not closed: expected } before the next game")
            reader.opened_comment = 0
        if not reader.opened_comment and text.startswith("%"):
            continue
        is_tag = text.lstrip().startswith("[") and not reader.opened_comment
        if is_tag and (reader.has_moves or (was_blank and reader.begins_anew(text))):
            yield reader.finish(number)
            reader = _GameReader()
        if is_tag:
            reader.read_tags(text.strip(), number)
        else:
            next_game = reader.read_moves(text, number)
            while next_game is not None:
                yield reader.finish(number)
                reader = _GameReader()
                next_game = reader.read_moves(text, number, at=next_game)
        was_blank = not text.strip()
    if reader.line:
        yield reader.finish(number)


@dataclass
class _OpenLine:
    """The main line, or a variation that is not closed yet."""

    moves: list[Draft]
    point: Draft
    """The place before its first move."""
    before: list[str] = field(default_factory=list)
    """Comments before the first move of a variation."""
    is_stopped: bool = False
    """Whether text is skipped until the line is closed."""
    num_skipped: int = 0
    """Open variations in it that are skipped."""
    number: int = 0
    """The number of a variation among those after `point`."""


class _GameReader:
    """One game, line by line."""

    def __init__(self) -> None:
        self.line = 0
        self.tags: list[tuple[str, str]] = []
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.root = Draft()
        self.main: list[Draft] = []
        self.open = [_OpenLine(self.main, self.root)]
        """The main line and the variations that are open."""
        self.result: str | None = None
        self.comment: list[str] = []
        self.opened_comment = 0
        """The line number of an open comment's beginning, or 0."""
        self.has_moves = False
        self.line_of_moves = 0
        """The newest line that continues with moves behind a sign and a semicolon."""

    def say(self, number: int, what: str) -> None:
        self.errors.append(f"line {number}: {what}")

    def warn(self, number: int, what: str) -> None:
        self.warnings.append(f"line {number}: {what}")

    def stop(self, number: int, what: str) -> None:
        """End the innermost line: the record, or a variation."""
        if len(self.open) == 1:
            self.stop_record(number, what)
        else:
            self.open[-1].is_stopped = True
            self.warn(number, f"{what}; the variation stops here")

    def stop_record(self, number: int, what: str) -> None:
        if not self.open[0].is_stopped:
            self.say(number, f"{what}; the record stops here")
        self.open = self.open[:1]
        self.open[0].is_stopped = True

    def begins_anew(self, text: str) -> bool:
        """Whether a tag after an empty line begins the next game, although this one has no moves yet."""
        found = TAG.match(text.lstrip())
        name = found[1] if found else ""
        return name == "Event" or any(name == known for known, _ in self.tags) if self.tags else False

    def read_tags(self, text: str, number: int) -> None:
        self.line = self.line or number
        at = 0
        while at < len(text):
            found = TAG.match(text, at)
            value = re.sub(r'\\(["\\])', r"\1", found[2]) if found else ""
            if found is None and (found := LOOSE_TAG.match(text, at)):
                value = found[2]
                self.warn(number, f'{shown(found[0])}: a quotation mark in a value is written \\"; it is read as one')
            if found is None:
                self.warn(number, f'{shown(text[at:])} is not a tag: expected [Name "value"]; it is left out')
                return
            name = found[1]
            if any(name == other for other, _ in self.tags):
                self.warn(number, f"the tag {name} stands twice: the first one counts")
            else:
                self.tags.append((name, one_line(value)))
            at = found.end() + len(text[found.end() :]) - len(text[found.end() :].lstrip())

    def read_moves(self, text: str, number: int, *, at: int = 0) -> int | None:
        """Read a line from a column on. Returns the column where a next game without tags begins, or None."""
        while True:
            if self.opened_comment:
                end = text.find("}", at)
                self.comment.append(text[at:] if end < 0 else text[at:end])
                if end < 0:
                    return None
                at, self.opened_comment = end + 1, 0
                self.add_comment(" ".join(self.comment))
                self.comment = []
            found = TOKEN.search(text, at)
            if found is None:
                return None
            token = found[0]
            if self.result is None and token[-1] == "." and token[:-1].isdecimal():  # a number, every second token
                at, self.line, self.has_moves = found.end(), self.line or number, True
                continue
            if self.result is None and STANDARD_MOVE.fullmatch(token) and self.takes_moves:
                at, self.line, self.has_moves = found.end(), self.line or number, True
                self.add_move(token, (), number)
                continue
            if token.startswith(";") and self.is_part_of_sign(text, found.start(), number):
                at = found.start() + 1
                continue
            is_comment = token == "{" or token.startswith(";")
            if self.result is not None and not is_comment:
                return found.start()
            at = found.end()
            self.line = self.line or number
            self.has_moves = True
            if token == "{":
                self.opened_comment = number
            elif is_comment:
                self.add_comment(token[1:])
            else:
                self.read_token(token, number)

    def is_part_of_sign(self, text: str, at: int, number: int) -> bool:
        """Whether a semicolon ends a sign, as in "⩱; Nc6 3. Bb5".

        As the beginning of a comment it would lose the other moves of the line.
        """
        sign = SIGN_AT_END.search(text, max(at - MOST_LETTERS, 0), at)
        if sign is None or glyphs_of(sign[0]) is None:
            return False
        if self.line_of_moves != number:
            rest = [_without_number(word) for word in text[at + 1 :].split() if word not in RESULTS]
            words = [word for word in rest if word and glyphs_of(word.removesuffix(";")) is None]
            if not words or not all(map(STANDARD_MOVE.fullmatch, words)):
                return False
            self.line_of_moves = number
        self.warn(number, f"{shown(sign[0] + ';')}: moves follow in the line, so ; begins no comment; it is left out")
        return True

    @property
    def takes_moves(self) -> bool:
        """Whether the innermost line is neither stopped nor skipped."""
        line = self.open[-1]
        return not line.is_stopped and not line.num_skipped

    def read_token(self, token: str, number: int) -> None:
        line = self.open[-1]
        if token == "(":
            self.open_variation(number)
        elif token == ")":
            self.close_variation(number)
        elif (result := self.read_result(token, number)) and len(self.open) == 1 and not line.num_skipped:
            self.result = result
        elif line.is_stopped or line.num_skipped:
            pass
        elif result and line.moves:
            line.moves[-1].ending = result
        elif token.startswith("$"):
            self.add_glyph(int(token[1:]) if 1 < len(token) < 5 else 256, token, number)
        elif token in NULL_MOVES:
            self.add_move(token, (), number)
        else:
            self.read_word(token, number)

    def read_result(self, token: str, number: int) -> str:
        """The result that a token is in any spelling; "" if it is none."""
        if token in RESULTS or token[0] not in "01½=[*OolI":
            return token if token in RESULTS else ""
        result = result_word(token.removeprefix("["))
        if result:
            self.warn(number, f"{shown(token)}: expected one of {', '.join(RESULTS)}; it is read as {result}")
        return result

    def open_variation(self, number: int) -> None:
        line = self.open[-1]
        if line.is_stopped or line.num_skipped:
            line.num_skipped += 1
        elif not line.moves:
            line.num_skipped = 1
            self.warn(number, "a variation before a move that it could replace; it is left out")
        elif len(self.open) > MAX_DEPTH:
            line.num_skipped = 1
            self.warn(number, f"variations more than {MAX_DEPTH} deep; the deeper ones are left out")
        else:
            point = line.moves[-2] if len(line.moves) > 1 else line.point
            variation: list[Draft] = []
            self.open.append(_OpenLine(variation, point, number=len(point.variations)))
            point.variations.append(variation)

    def close_variation(self, number: int) -> None:
        line = self.open[-1]
        if line.num_skipped:
            line.num_skipped -= 1
        elif len(self.open) > 1:
            if not line.moves and not line.is_stopped:
                self.warn(number, "a variation without a move")
            line.point.variations[line.number] = finished(line.moves)  # many drafts take much memory
            self.open.pop()
        elif not line.is_stopped:
            self.warn(number, "')' without '('; it is left out")

    def read_word(self, token: str, number: int) -> None:
        word = _without_number(token)
        if glyphs := glyphs_of(word) if word else None:
            for glyph in glyphs:
                self.add_glyph(glyph, token, number)
        elif word and is_remark(word) and word not in NULL_MOVES:
            self.warn(number, f"{shown(token)} is not a move: it is left out")
        elif word and len(word) <= MOST_LETTERS:
            self.read_move(word, number)
        elif word:
            self.stop(number, f"{shown(token)} is not a move")

    def read_move(self, word: str, number: int) -> None:
        """Read a move, with signs that follow it without a blank."""
        if STANDARD_MOVE.fullmatch(word):
            self.add_move(word, (), number)
            return
        ending = ""
        if found := MOVE_WITH_RESULT.fullmatch(word):
            self.warn(number, f"{shown(word)}: expected a blank before {found[2]}")
            word, ending = found[1], found[2]
        if found := EN_PASSANT.fullmatch(word):
            self.warn(number, f"{shown(word)}: PGN has no word for a capture en passant; e.p. is left out")
            word = found[1] + found[2]
        if found := PROMOTION.fullmatch(word):
            plain = f"{found[1]}={found[2].upper()}{found[3]}"
            self.warn(number, f"{shown(word)}: a promotion is written {plain}; it is read as one")
            word = plain
        if word:
            self.add_move(*self.without_signs(usual_move(word), number), number)
        if ending:
            self.read_token(ending, number)

    def without_signs(self, word: str, number: int) -> tuple[str, tuple[int, ...]]:
        """A move, and the glyphs of the signs behind it. Signs that are not known are left out with a warning."""
        if split := split_signs(word):
            return split[0], tuple(split[1])
        signs = END_SIGNS.search(word)
        if signs is None and (move := MOVE.match(word)) and has_no_letters(word[move.end() :]):
            signs = UNKNOWN_SIGNS.match(word, move.end())
        if signs is None:
            return word, ()
        expected = " ".join(list(SIGNS)[:6])
        self.warn(number, f"{shown(word)}: expected one of {expected} after a move; {signs[0]} is left out")
        return word[: signs.start()], ()

    def add_move(self, word: str, glyphs: tuple[int, ...], number: int) -> None:
        line = self.open[-1]
        move = Draft(sys.intern(word), number)
        if glyphs:
            move.nags.extend(glyphs)
        if line.before:
            move.comments_before.extend(line.before)
            line.before = []
        line.moves.append(move)

    def add_glyph(self, glyph: int, token: str, number: int) -> None:
        moves = self.open[-1].moves
        if glyph > 255:
            self.warn(number, f"{shown(token)} is not an annotation: expected $0 to $255; it is left out")
        elif not moves:
            self.warn(number, f"{shown(token)} annotates no move: expected it after one; it is left out")
        else:
            moves[-1].nags.append(glyph)

    def add_comment(self, text: str) -> None:
        line = self.open[-1]
        if line.is_stopped or line.num_skipped:
            return
        if line.moves:
            text = COMMAND.sub(lambda found: _take_command(line.moves[-1], found), text)
        if words := " ".join(text.split()):
            before = self.root.comments if len(self.open) == 1 else line.before
            (line.moves[-1].comments if line.moves else before).append(words)

    def finish(self, number: int) -> Record:
        """The game, as of line `number`."""
        if self.opened_comment:
            self.stop_record(self.opened_comment, "a comment that is not closed: expected }")
        if len(self.open) > 1:
            self.stop_record(number, "a variation that is not closed: expected )")
        tags = dict(self.tags)
        result = self.result_with(tags.get("Result"))
        variant = tags.get("Variant", "")
        game = VARIANTS.get(variant.strip().lower(), "")
        if not game:
            self.say(self.line, f"the variant {shown(variant)} is unknown: expected Chess960 or no tag Variant")
        if game == "chess" and is_chess960(tags.get("FEN", "")):
            said = f"the tag Variant is {shown(variant)}" if variant else "there is no tag Variant"
            self.warn(
                self.line, f"{said}, but the castling rights of the FEN are those of Chess960: it is read as such"
            )
            game = "chess960"
        if tags.get("SetUp", "0") == "1" and "FEN" not in tags:
            self.say(self.line, "SetUp is 1, but there is no tag FEN: the start position is unknown")
            game = ""
        termination = tags.get("Termination", "")
        consumed = {"Result", "Variant", "SetUp", "FEN", "Termination"}
        main = finished(self.main)
        return Record(
            game=game,
            moves=main,
            headers=tuple(
                (name, value) for name, value in self.tags if name not in consumed and ROSTER.get(name) != value
            ),
            start=tags.get("FEN", "").strip(),
            comments=tuple(self.root.comments),
            variations=self.root.finish_variations(),
            result=RESULTS[result],
            ending=TERMINATIONS.get(termination.lower(), termination),
            format="pgn",
            errors=tuple(self.errors),
            warnings=tuple(self.warnings),
            line=self.line,
        )

    def result_with(self, said: str | None) -> str:
        """The game's result by its tag and by the end of the moves; "*" if they contradict each other."""
        if said is not None and said not in RESULTS:
            meant = result_word(said)
            taken = f"; it is read as {meant}" if meant else ""
            self.warn(self.line, f"the tag Result is {shown(said)}: expected one of {', '.join(RESULTS)}{taken}")
            said = meant or None
        found = list(dict.fromkeys(result for result in (said, self.result) if result is not None))
        if len(found) < 2:
            return found[0] if found else "*"
        decided = [result for result in found if result != "*"]
        result = decided[0] if len(decided) == 1 else "*"
        taken = f"{result} is taken" if len(decided) == 1 else "no result is taken"
        self.warn(self.line, f"the tag Result is {said}, but the moves end with {self.result}; {taken}")
        return result


def _without_number(word: str) -> str:
    """A word without the number of a move before it.

    >>> _without_number("12...Nf6"), _without_number("12."), _without_number("e4")
    ('Nf6', '', 'e4')
    """
    while found := NUMBER.match(word):
        word = word[found.end() :]
    return word


def _take_command(move: Draft, found: re.Match[str]) -> str:
    """Give a command's value to its move. An invalid or second value stays in the text."""
    name, value = found[1], found[2].strip()
    if name == "eval" and move.evaluation is None and (score := SCORE.fullmatch(value)):
        depth = int(score[3]) if score[3] else None
        mate, pawns = (int(score[1]), None) if score[1] else (None, float(score[2]))
        move.evaluation = Evaluation(pawns=pawns, mate=mate, depth=depth)
        return " "
    clock = CLOCK.fullmatch(value) if name != "eval" else None
    seconds = 3600 * int(clock[1]) + 60 * int(clock[2]) + float(clock[3]) if clock else None
    if seconds is not None and name == "clk" and move.clock_s is None:
        move.clock_s = round(seconds, 3)
    elif seconds is not None and name == "emt" and move.spent_s is None:
        move.spent_s = round(seconds, 3)
    else:
        return found[0]
    return " "


# ---- writing


def write(record: Record) -> str:
    """A record whose moves are written in SAN, as a game of a PGN file with an empty line after it.

    Raises:
        RecordError: PGN cannot express a part of the record, which the message names.
    """
    tags = dict(headers_in(record, "pgn"))
    result = next((text for text, value in RESULTS.items() if value == record.result), None)
    if result is None:
        raise RecordError(f"the result is {record.result}: PGN has only 1, 0 and -1.", record=record)
    if record.start:
        tags |= {"SetUp": "1", "FEN": record.start}
    if "chess960" in record.game:  # includes chess(rules=chess960)
        tags["Variant"] = "Chess960"
    if record.ending:
        tags["Termination"] = next((tag for tag, word in TERMINATIONS.items() if word == record.ending), record.ending)
    roster = [(name, tags.pop(name, unknown)) for name, unknown in ROSTER.items()]
    lines = [_tag_text(name, value) for name, value in [*roster, ("Result", result), *sorted(tags.items())]]
    text = "\n".join([*lines, "", *_wrap([*_move_tokens(record), result])])
    return f"{text}\n\n"


def _tag_text(name: str, value: str) -> str:
    escaped = one_line(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]'


def _move_tokens(record: Record) -> Iterator[str]:
    """The words of the move text; a comment to the end of its line ends in a line end."""
    fields = record.start.split()
    is_black = len(fields) > 1 and fields[1] == "b"
    first = int(fields[5]) if len(fields) > 5 and fields[5].isascii() and fields[5].isdigit() else 1
    yield from _comment_tokens(record.comments)
    if record.variations and not record.moves:
        raise RecordError("a variation without a move that it could replace: PGN has no words for it.", record=record)
    yield from _line_tokens(record, record.moves, record.variations, 2 * first + is_black)


def _line_tokens(
    record: Record, line: tuple[Move, ...], variations: tuple[tuple[Move, ...], ...], ply: int
) -> Iterator[str]:
    """The words of a line. `variations` replace its first move; `ply` is twice its number, plus 1 for Black."""
    needs_number = True
    for index, move in enumerate(line):
        yield from _comment_tokens(move.comments_before)
        if ply % 2 == 0 or needs_number or move.comments_before:
            yield f"{ply // 2}{'...' if ply % 2 else '.'}"
        yield move.text
        yield from (f"${glyph}" for glyph in move.nags)
        comments = _comments_of(move)
        yield from _comment_tokens(comments)
        for variation in variations:
            yield from _in_brackets(_line_tokens(record, variation, (), ply))
        needs_number = bool(comments or variations)
        variations = move.variations
        if variations and index + 1 == len(line):
            raise RecordError(
                f"a variation after the line's last move, {move.text}: PGN has no words for it.", record=record
            )
        if move.ending in RESULTS:
            yield move.ending
        elif move.ending:
            yield from _comment_tokens((move.ending,))
        ply += 1


def _in_brackets(tokens: Iterable[str]) -> Iterator[str]:
    """The words of a variation in brackets. A comment to the end of its line must not hide the closing one."""
    first, *others = tokens
    *words, last = f"({first}", *others
    yield from words
    if last.endswith("\n"):
        yield last
        yield ")"
    else:
        yield f"{last})"


def _comments_of(move: Move) -> tuple[str, ...]:
    """The comments after a move, with its values as commands in the first one."""
    commands = []
    if move.evaluation is not None:
        score, depth = move.evaluation, move.evaluation.depth
        pawns = f"{score.pawns or 0:.4f}".rstrip("0").rstrip(".")
        value = f"#{score.mate}" if score.mate is not None else pawns
        commands.append(f"[%eval {value}{f',{depth}' if depth is not None else ''}]")
    if move.clock_s is not None:
        commands.append(f"[%clk {clock_text(move.clock_s)}]")
    if move.spent_s is not None:
        commands.append(f"[%emt {clock_text(move.spent_s)}]")
    if not commands:
        return move.comments
    first, *rest = move.comments or ("",)
    return (" ".join([*commands, *first.split()]), *rest)


def _comment_tokens(comments: Iterable[str]) -> Iterator[str]:
    for comment in comments:
        words = comment.split()
        if "}" in comment:
            yield f"; {' '.join(words)}\n"
        elif words:
            words[0] = "{" + words[0]
            words[-1] += "}"
            yield from words


def _wrap(tokens: Iterable[str]) -> Iterator[str]:
    """Lines of at most 80 columns, except longer words and comments to the end of a line."""
    line = ""
    for token in tokens:
        joined = f"{line} {token}" if line else token
        # At the start of a line % is an escape, and a tag Event would begin the next game.
        if len(joined) > 80 and line and not token.startswith(("%", "[Event")):
            yield line
            joined = token
        line = joined
        if line.endswith("\n"):
            yield line.rstrip("\n")
            line = ""
    if line:
        yield line

"""SGF, the Go players' game tree: text to records and back, without the rules of Go.

Sources: the specification of FF[4] (A. Hollosi, 1997), and the customs of older files: lower-case letters in property
names (`SiZe`), `tt` for a pass on boards up to 19x19, and collections of several games. A record is a line with
variations, so the annotations of a node without a move are added to the place before it. Stones set up before the first
move are the starting position; stones set up later end their line, because a record has one start.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from zerosum.base.errors import DataError, shown
from zerosum.notation import sgf_root
from zerosum.notation.record import MAX_DEPTH, Draft, Move, Record, RecordError, finished, headers_in, refuse

COLUMNS = "abcdefghijklmnopqrstuvwxyz"
MIN_SIZE, MAX_SIZE = 5, 25
PASS = "pass"

PROPERTY = re.compile(r"([A-Za-z]+)\s*(?=\[)")
VALUE = re.compile(r"\[([^\]\\]*(?:\\.[^\]\\]*)*)\]", re.DOTALL)
BLANKS = re.compile(r"[\s\0]*")
CLOCK = re.compile(r"\d{1,6}(\.\d{0,6})?|\.\d{1,6}", re.ASCII)
OLD_PLAYERS = {"1": "B", "2": "W"}
"""PL as programs wrote it before FF[3]."""
SETUP = ("AE", "AB", "AW", "PL")
OF_NODES = {"AR", "BL", "BM", "CR", "DD", "DM", "DO", "FG", "GB", "GW", "HO", "IT", "KO", "LB", "LN", "MA", "MN", "N"}
OF_NODES |= {"OB", "OW", "PM", "SL", "SQ", "TB", "TE", "TR", "TW", "UC", "V", "VW", "WL"}
"""Properties of a node that a root may also have. Its other properties describe the game."""
ROOT_ONLY = {"FF", "GM", "CA", "SZ", "KM", "HA", "RU", "RE"}

Properties = dict[str, list[str]]


def parse(text: str) -> Iterator[Record]:
    """The games of a collection, with moves as in the file; a pass is "pass".

    Errors of a game are in its `errors`; reading continues with the next game.

    Raises:
        DataError: the text has no game.
    """
    begin = re.search(r"\(\s*;", text)
    if begin is None:
        raise DataError("no game begins here: expected '(;' before anything else in an SGF file.")
    scanner = _Scanner(text)
    scanner.go_to(begin.start())
    while scanner.find_game():
        yield _GameReader(scanner).read()


class _Scanner:
    """The parentheses, semicolons and properties of a text, with the line that each stands on."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._line, self._counted = 1, 0

    @property
    def line(self) -> int:
        """The line number here, from 1. Line ends are counted when it is asked for."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def go_to(self, at: int) -> None:
        """Go on to a place."""
        self.at = at

    def skip_blanks(self) -> None:
        if not " " < self.text[self.at : self.at + 1] < "\x7f" and (found := BLANKS.match(self.text, self.at)):
            self.at = found.end()

    def find_game(self) -> bool:
        """Go to the next game's parenthesis. Text between games is not part of the format."""
        found = self.text.find("(", self.at)
        if found >= 0:
            self.go_to(found)
        return found >= 0

    def peek(self) -> str:
        """The next character, "" at the end."""
        self.skip_blanks()
        return self.text[self.at : self.at + 1]

    def name(self) -> str:
        """The name of the property that begins here, "" if none does."""
        self.skip_blanks()
        found = PROPERTY.match(self.text, self.at)
        if found is None:
            return ""
        self.go_to(found.end())
        return found[1]

    def value(self) -> str | None:
        """The raw value between the brackets that begin here; None if none does."""
        self.skip_blanks()
        found = VALUE.match(self.text, self.at)
        if found is None:
            return None
        self.go_to(found.end())
        return found[1]

    def skip_game(self, depth: int) -> None:
        """Go to the end of the outermost of `depth` open trees."""
        while depth and self.peek():
            if self.value() is None:
                depth += {"(": 1, ")": -1}.get(self.peek(), 0)
                self.go_to(self.at + 1)


@dataclass(slots=True)
class _Tree:
    """An open tree during reading."""

    line: list[Draft]
    """The moves of its line: the parent's line, or a variation."""
    last: Draft
    """The move or place that the next node follows."""
    num_moves: int = 0
    """Number of moves from the start to `last`."""
    depth: int = 0
    """Number of enclosing variations."""
    pending: Draft = field(default_factory=Draft)
    """Annotations of a variation before its first move."""
    num_children: int = 0
    is_stopped: bool = False
    place: tuple[Draft, int] | None = None
    """The move that the variation follows, and its number there, if the tree begins one."""

    def child(self) -> _Tree:
        """A tree in this one. The first continues its line; the others are variations."""
        self.num_children += 1
        line, depth, pending, place = self.line, self.depth, self.pending, None
        if self.num_children > 1:
            line, depth, pending, place = [], depth + 1, Draft(), (self.last, len(self.last.variations))
            self.last.variations.append(line)
        return _Tree(line, self.last, self.num_moves, depth, pending, is_stopped=self.is_stopped, place=place)

    def close(self) -> None:
        """Finish the variation that the tree has begun, if any: many drafts take much memory."""
        if self.place is not None:
            move, number = self.place
            move.variations[number] = finished(self.line)


class _SgfError(Exception):
    """An error in a node, as a sentence."""


class _GameReader:
    """One game of a collection."""

    def __init__(self, scanner: _Scanner) -> None:
        self.scanner = scanner
        self.line = scanner.line
        self.root = Draft(line=scanner.line)
        self.main: list[Draft] = []
        self.headers: list[tuple[str, str]] = []
        self.size, self.handicap = 19, 0
        self.num_placed = 0
        """Number of handicap stones that stand in the file as moves of Black."""
        self.missing_stones: list[str] = []
        """Points of the handicap stones where the file leaves them out, if they are known."""
        self.options: list[str] = []
        self.result: tuple[float | None, str] = (None, "")
        self.stones: dict[str, str] = {}
        self.to_move = ""
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.is_go = True

    def read(self) -> Record:
        """Read the game at the scanner's parenthesis to its end."""
        open_trees: list[_Tree] = []
        num_nodes = 0
        try:
            while True:
                letter = self.scanner.peek()
                if letter == "(":
                    open_trees.append(open_trees[-1].child() if open_trees else _Tree(self.main, self.root))
                    if open_trees[-1].depth > MAX_DEPTH or len(open_trees) > 100 * MAX_DEPTH:
                        raise _SgfError(f"variations more than {MAX_DEPTH} deep")
                elif letter == ")":
                    open_trees.pop().close()
                elif letter != ";":
                    raise _SgfError(f"{shown(letter) if letter else 'the end of the file'}: expected '(', ')' or ';'")
                self.scanner.go_to(self.scanner.at + 1)
                if not open_trees:
                    break
                if letter == ";":
                    line, properties = self.scanner.line, self._read_node()
                    if not open_trees[-1].is_stopped:
                        self._add_node(open_trees[-1], properties, line, is_root=not num_nodes)
                    num_nodes += 1
        except _SgfError as error:
            self._say(self.scanner.line, error)
            self.scanner.skip_game(len(open_trees))
        return self._finish()

    def _say(self, line: int, what: object) -> None:
        self.errors.append(f"line {line}: {what}; the record stops here")

    def _warn(self, line: int, what: object) -> None:
        self.warnings.append(f"line {line}: {what}")

    def _read_node(self) -> Properties:
        """The properties after a semicolon."""
        properties: Properties = {}
        while name := self.scanner.name():
            # FF[3] and older: only the upper-case letters of a name count.
            short = "".join(letter for letter in name if letter.isupper())
            if not short:
                raise _SgfError(f"{shown(name)}: expected a property's name in upper case")
            if short in properties:
                what = f"{shown(name)} stands twice in a node: its values are taken together, or the first one counts"
                self._warn(self.scanner.line, what)
            values = properties.setdefault(short, [])
            while self.scanner.peek() == "[":
                value = self.scanner.value()
                if value is None:
                    raise _SgfError(f"a value of {short} that is not closed: expected ]")
                values.append(value)
        return properties

    def _add_node(self, tree: _Tree, properties: Properties, line: int, *, is_root: bool) -> None:
        try:
            is_bare = self.main and len(properties) == 1 and tree.pending.lists is None
            if is_bare and (colour := next(iter(properties))) in ("B", "W"):
                self._add_move(tree, colour, properties[colour], line)
                return
            if is_root:
                self._read_root(properties, line)
            elif late := sorted(ROOT_ONLY & set(properties)):
                said = " and ".join(_quoted(name, properties.pop(name)[:1]) for name in late)
                self._warn(line, f"{said} after the first node: expected in it; it is left out")
            colours = [colour for colour in ("B", "W") if colour in properties]
            setup = [name for name in SETUP if name in properties]
            if setup and (self.main or tree.line is not self.main):
                raise _SgfError(f"{' and '.join(setup)} after the first move: a record's position is set up before it")
            if len(colours) > 1:
                raise _SgfError("B and W in one node: expected one move")
            if setup and colours:
                what = f"{' and '.join([*setup, *colours])} in one node: expected a move or a set-up"
                self._warn(line, f"{what}; the position is set up before the move")
            if setup:
                self._set_up({name: properties.pop(name) for name in setup})
            if colours == ["W"] and self._is_pass_for_handicap(tree, properties["W"]):
                properties.pop("W")
            elif colours and self._is_handicap_stone(tree, colours[0]):
                self._add_handicap_stone(properties.pop("B"), line)
            elif colours:
                self._add_move(tree, colours[0], properties.pop(colours[0]), line)
        except _SgfError as error:
            if tree.depth:
                self._warn(line, f"{error}; the variation stops here")
            else:
                self._say(line, error)
            tree.is_stopped = True
            return
        target = tree.last if tree.line or tree.line is self.main else tree.pending
        if texts := [text for value in properties.pop("C", []) if (text := _unescape(value))]:
            target.comments.extend(texts)
        for name, values in properties.items():
            if (is_root or target is self.root) and name not in OF_NODES:
                self.headers.extend((name, _unescape(value)) for value in values)
            else:
                target.properties.extend((name, value) for value in values)
        # The values of a property of several nodes are joined, as they will be written.
        if target.lists is None or not target.properties:
            return
        names = [name for name, _ in target.properties]
        target.properties.sort(key=lambda pair: names.index(pair[0]))
        if target.text and target.clock_s is None:
            mover = "BW"[(self.to_move == "B") == (tree.num_moves % 2 == 0)]
            _take_clock(target, f"{mover}L")

    def _read_root(self, properties: Properties, line: int) -> None:
        """Read the first node. Faults that do not affect the game are warnings."""

        def value(name: str, default: str) -> str:
            return _unescape(properties.get(name, [""])[0]) or default

        if (kind := value("GM", "1")) != "1":
            self.is_go = False
            raise _SgfError(f"{_quoted('GM', [kind])} is another game: expected GM[1], Go")
        size = value("SZ", "19")
        sides = re.fullmatch(r"(\d{1,3})(?:\s*:\s*\1)?", size, re.ASCII)
        if not sides or not MIN_SIZE <= int(sides[1]) <= MAX_SIZE:
            self.is_go = False
            raise _SgfError(f"the board's size {_quoted('SZ', [size])}: expected {MIN_SIZE} to {MAX_SIZE}, square")
        self.size = int(sides[1])
        named = value("RU", "")
        if named and not sgf_root.OPTIONS.fullmatch(named) and sgf_root.parse_rules(named) is None:
            self._warn(line, f"the rules {_quoted('RU', [named])} are unknown: the moves are checked by our defaults")
        komi, doubt = sgf_root.komi_of(properties)
        if doubt:
            self._warn(line, f"the komi {_quoted('KM', [value('KM', '')])}: {doubt}")
        if not komi:
            properties.pop("KM", None)
        self.options = [option for option in (f"komi={komi}" if komi else "", sgf_root.move_options(named)) if option]
        handicap = value("HA", "0")
        if re.fullmatch(r"\d{1,3}", handicap, re.ASCII):
            self.handicap = int(handicap)
            self.missing_stones = sgf_root.missing_handicap(properties, self.handicap)
        else:
            self._warn(line, f"the handicap {_quoted('HA', [handicap])}: expected a number of stones; it is left out")
            del properties["HA"]
        self.result = sgf_root.result_of(value("RE", ""))
        said = value("RE", "")
        if self.result[0] is None and said.lower() not in sgf_root.NO_RESULTS:
            what = "expected a winner, such as B+R or W+2.5, or Draw, Void or ?; the result is unknown"
            self._warn(line, f"the result {_quoted('RE', [said])}: {what}")
        for name in ("FF", "CA", "GM", "SZ", "RE"):
            properties.pop(name, None)

    def _set_up(self, properties: Properties) -> None:
        for name, values in properties.items():
            if name == "PL":
                player = OLD_PLAYERS.get(values[0].strip(), values[0].strip()[:1].upper())
                if player not in ("B", "W"):
                    raise _SgfError(f"{_quoted('PL', values[:1])}: expected B or W")
                self.to_move = player
                continue
            for value in values:
                stone = {"AB": "B", "AW": "W"}.get(name, "")
                self.stones |= dict.fromkeys(self._points(name, value), stone)

    def _points(self, name: str, text: str) -> list[str]:
        """The points of a value of AB, AW or AE: one, or a rectangle by two corners."""
        corners = text.strip().split(":")
        board = COLUMNS[: self.size]
        if len(corners) < 3 and all(len(corner) == 2 and set(corner) <= set(board) for corner in corners):
            first, last = corners[0], corners[-1]
            columns = board[board.index(first[0]) : board.index(last[0]) + 1]
            rows = board[board.index(first[1]) : board.index(last[1]) + 1]
            if points := [column + row for row in rows for column in columns]:
                return points
        raise _SgfError(
            f"{_quoted(name, [text])}: expected a point of a {self.size}x{self.size} board such as {name}[dd]"
        )

    def _is_handicap_stone(self, tree: _Tree, colour: str) -> bool:
        """Whether a first move of Black is one of the handicap stones, which Fox Weiqi writes as moves."""
        is_start = tree.line is self.main and not self.main
        are_missing = "B" not in self.stones.values() or 0 < self.num_placed < self.handicap
        return colour == "B" and is_start and self.handicap > 1 and are_missing

    def _is_pass_for_handicap(self, tree: _Tree, values: list[str]) -> bool:
        """Whether White passes between handicap stones that stand in the file as moves."""
        is_start = tree.line is self.main and not self.main
        return is_start and 0 < self.num_placed < self.handicap and values in ([""], ["tt"])

    def _add_handicap_stone(self, values: list[str], line: int) -> None:
        self._set_up({"AB": values})
        self.num_placed += 1
        if self.num_placed == self.handicap:
            self.to_move = self.to_move or "W"
            self._warn(line, f"HA[{self.handicap}] without AB: Black's first {self.handicap} moves are the handicap")

    def _complete_handicap(self, line: int) -> None:
        """Set up the handicap stones that Fox Weiqi leaves out.

        Raises:
            _SgfError: stones of the handicap are missing, and where they stood is unknown.
        """
        expected = f"expected AB with {self.handicap} points"
        if 0 < self.num_placed < self.handicap:
            raise _SgfError(f"HA[{self.handicap}], but Black has {self.num_placed} moves before White's: {expected}")
        if self.handicap > 1 and "B" not in self.stones.values():
            if not self.missing_stones:
                raise _SgfError(f"HA[{self.handicap}], but no stones are set up: {expected}")
            self._set_up({"AB": self.missing_stones})
            placed = "".join(f"[{point}]" for point in self.missing_stones)
            self._warn(line, f"HA[{self.handicap}] without AB: the stones stand where Fox Weiqi puts them, {placed}")

    def _add_move(self, tree: _Tree, colour: str, values: list[str], line: int) -> None:
        point, board = "".join(values[0].split()), COLUMNS[: self.size]
        if len(values) > 1:
            raise _SgfError(f"{colour} has {len(values)} values: expected one point")
        if tree.line is self.main and not self.main:
            self._complete_handicap(line)
        self.to_move = self.to_move or colour  # without PL the first mover is to move
        if (colour == self.to_move) != (tree.num_moves % 2 == 0):
            other = "White" if colour == "B" else "Black"
            raise _SgfError(f"{colour}[{point}]: expected a move of {other}, whose turn it is, because sides alternate")
        if not point or (point == "tt" and self.size <= 19):
            point = PASS
        elif len(point) != 2 or not set(point) <= set(board):
            where = f"a point of a {self.size}x{self.size} board such as {colour}[dd]"
            raise _SgfError(f"{_quoted(colour, values)}: expected {where}")
        move = tree.pending
        move.text, move.line = sys.intern(point), line  # thousands of moves share a few hundred texts
        move.place_comments_before()
        tree.line.append(move)
        tree.pending, tree.last = Draft(), move
        tree.num_moves += 1

    def _finish(self) -> Record:
        handicap = self.handicap > 1 and any(self.stones.values())
        to_move = self.to_move or ("W" if handicap else "B")
        is_set_up = any(self.stones.values()) or to_move == "W"
        result, ending = self.result
        return Record(
            game=f"go({', '.join([f'size={self.size}', *self.options])})" if self.is_go else "",
            moves=finished(self.main),
            headers=tuple(self.headers),
            start=position_text(self.size, self.stones, to_move) if is_set_up else "",
            comments=tuple(self.root.comments),
            properties=tuple(self.root.properties),
            variations=self.root.finish_variations(),
            result=result,
            ending=ending,
            format="sgf",
            errors=tuple(self.errors),
            warnings=tuple(self.warnings),
            line=self.line,
        )


def _take_clock(move: Draft, name: str) -> None:
    """The first value of a property as the move's clock, if it is one."""
    at = next((at for at, (found, _) in enumerate(move.properties) if found == name), None)
    if at is not None and CLOCK.fullmatch(move.properties[at][1].strip()):
        move.clock_s = round(float(move.properties.pop(at)[1]), 3)


def _quoted(name: str, values: list[str]) -> str:
    """A property for a message, in one line.

    >>> _quoted("KM", ["six  seven"])
    'KM[six seven]'
    """
    return name + "".join(f"[{shown(' '.join(value.split()))[1:-1]}]" for value in values)


def _unescape(value: str) -> str:
    r"""A text: `\` removes a line end after it and protects any other character; white space becomes blanks."""
    text = re.sub(r"\r\n?|\n\r", "\n", value)
    text = re.sub(r"\\(.)", lambda found: "" if found[1] == "\n" else found[1], text, flags=re.DOTALL)
    return re.sub(r"[\t\v\f]", " ", text).strip()


def position_text(size: int, stones: dict[str, str], to_move: str) -> str:
    """A position in the notation of the game of Go: rows from the top, X Black, O White, the side to move."""
    letters = {"B": "X", "W": "O", "": "."}
    rows = ("".join(letters[stones.get(column + row, "")] for column in COLUMNS[:size]) for row in COLUMNS[:size])
    packed = (re.sub(r"\.+", lambda found: str(len(found[0])), row) for row in rows)
    return f"{'/'.join(packed)} {letters[to_move]}"


def _stones_of(start: str) -> tuple[Properties, str]:
    """AB and AW of a position in the game's notation, and the side to move."""
    rows, _, side = start.partition(" ")
    setup: Properties = {"AB": [], "AW": []}
    for row, text in zip(COLUMNS, rows.split("/"), strict=False):
        cells = re.sub(r"\d+", lambda found: "." * int(found[0]), text)
        for column, letter in zip(COLUMNS, cells, strict=False):
            if letter in "XO":
                setup["AB" if letter == "X" else "AW"].append(column + row)
    return {name: points for name, points in setup.items() if points}, "W" if side.split()[:1] == ["O"] else "B"


# ---- writing


def write(record: Record, *, options: Mapping[str, str]) -> str:
    """A record with points such as "dd", or "pass", as moves, as a game tree.

    Args:
        record: The record.
        options: Options of its game, by name; others have their defaults.

    Raises:
        RecordError: SGF cannot express a part of the record, which the message names.
    """
    refuse(record, "SGF", "nags", "spent_s", "evaluation", "ending")
    if "=" in record.start:
        raise RecordError(f"the start {record.start}: SGF has no words for a ko or passes before it.", record=record)
    setup, to_move = _stones_of(record.start)
    pieces = [f"(;GM[1]FF[4]CA[UTF-8]SZ[{options['size']}]"]
    headers = headers_in(record, "sgf")
    if record.format != "sgf":
        headers.extend(_rule_headers(options))
    pieces.extend(_values(record, [(name, _escape(value)) for name, value in headers]))
    if result := _result_text(record):
        pieces.append(f"RE[{_escape(result)}]")
    pieces.extend(f"\n{name}{''.join(f'[{point}]' for point in points)}" for name, points in setup.items())
    if setup or to_move == "W":
        pieces.append(f"PL[{to_move}]")
    pieces.extend(_node_pieces(record, record.comments, record.properties if record.format == "sgf" else ()))
    pieces.extend(_line_pieces(record, record.moves, record.variations, to_move))
    return f"{''.join(pieces)})\n"


def _rule_headers(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The headers about the rules: komi, handicap, and other options."""
    if komi := options.get("komi"):
        yield "KM", f"{komi}.0" if sgf_root.HUNDREDFOLD.fullmatch(komi) else komi
    if (handicap := options.get("handicap", "0")) != "0":
        yield "HA", handicap
    others = [("suicide", "false"), ("superko", "positional")]
    if changed := [f"{name}={options[name]}" for name, usual in others if options.get(name, usual) != usual]:
        yield "RU", ", ".join(changed)


def _line_pieces(
    record: Record, line: tuple[Move, ...], variations: tuple[tuple[Move, ...], ...], colour: str
) -> Iterator[str]:
    """A line of moves, the first of this colour; `variations` replace its first move."""
    forks = []
    for move in line:
        if variations:
            yield "\n("
            forks.append((variations, colour))
        yield from (f"\n;C[{_escape(comment)}]" for comment in move.comments_before)
        yield f"\n;{colour}[{'' if move.text == PASS else move.text}]"
        yield from _node_pieces(record, move.comments, _with_clock(record, move, f"{colour}L"))
        variations, colour = move.variations, "W" if colour == "B" else "B"
    if variations:
        raise RecordError("a variation after a line's last move: SGF would take it for the line itself.", record=record)
    for replacing, mover in reversed(forks):
        yield ")"
        for variation in replacing:
            yield "\n("
            yield from _line_pieces(record, variation, (), mover)
            yield ")"


def _with_clock(record: Record, move: Move, name: str) -> list[tuple[str, str]]:
    """A move's properties from SGF, with its clock before other values of the same name."""
    said = list(move.properties) if record.format == "sgf" else []
    if move.clock_s is not None:
        names = [*(other for other, _ in said), name]
        at = names.index(name) if name in names[:-1] else 0
        said.insert(at, (name, f"{move.clock_s:.3f}".rstrip("0").rstrip(".")))
    return said


def _node_pieces(record: Record, comments: Iterable[str], properties: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The text of a node; comments after the first one get their own nodes."""
    yield from _values(record, properties)
    yield ";".join(f"C[{_escape(comment)}]" for comment in comments)


def _values(record: Record, properties: Iterable[tuple[str, str]]) -> Iterator[str]:
    values: Properties = {}
    for name, value in properties:
        if not re.fullmatch("[A-Z]+", name) or not VALUE.fullmatch(f"[{value}]"):
            raise RecordError(f"{name}[{value}] is not a property of SGF.", record=record)
        values.setdefault(name, []).append(f"[{value}]")
    yield from (f"{name}{''.join(values[name])}" for name in values)


def _escape(text: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", text)


def _result_text(record: Record) -> str:
    """RE, "" if the result is unknown."""
    ways = {word: way for way, word in [("R", "resignation"), ("T", "time"), ("F", "forfeit")]}
    if record.result is None:
        return record.ending
    if record.result == 0 and not record.ending:
        return "0"
    if record.result not in (1, -1):
        ending = f" by {record.ending}" if record.ending else ""
        raise RecordError(f"the result {record.result:g}{ending}: SGF has no words for it.", record=record)
    points = re.fullmatch(r"([\d.]+) points", record.ending)
    return f"{'B' if record.result > 0 else 'W'}+{points[1] if points else ways.get(record.ending, record.ending)}"

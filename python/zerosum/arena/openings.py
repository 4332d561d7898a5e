"""Openings: the first positions and moves of a match's games.

A match asks an `OpeningSource` for the opening of each pair of games. `read_openings` reads a file's openings,
`OpeningList` orders them; `BookOpenings` draws from a Polyglot book, `RandomOpenings` draws random moves. The match
decides who plays them and how often.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from zerosum._core import uniform
from zerosum.base.errors import DataError, GameError, SettingsError, nearest, shown
from zerosum.games import Rules, State, parse_action, start_state
from zerosum.games.random_play import random_opening
from zerosum.games.rules import drawn_start, plays_chess960
from zerosum.games.written_moves import read_moves
from zerosum.notation import Record, read_games
from zerosum.notation.legality import game_of
from zerosum.notation.own_files import MOVES_SUFFIX, split_line
from zerosum.notation.polyglot import SUFFIX as BOOK_SUFFIX
from zerosum.notation.polyglot import BookMove, PolyglotBook, read_book

RECORD_SUFFIXES = (".pgn", ".sgf", ".kif", ".kifu", ".csa")
POSITION_SUFFIXES = (".epd", ".fen", ".sfen")
"""Suffixes of files with one position per line."""
LINE_SUFFIXES = (*POSITION_SUFFIXES, MOVES_SUFFIX)

NAME_HEADERS = {"pgn": ("ECO", "Opening", "Variation"), "sgf": ("GN",), "kif": ("戦型",), "csa": ("OPENING",)}
"""The headers of each format that name the opening."""

EPD_GAMES = ("chess", "chess960", "minichess")
EPD = re.compile(r"(\S+ \S+ \S+ \S+)(?: (\d+) (\d+))?((?: [A-Za-z]\w*(?: (?:\"[^\"]*\"|[^\s;\"]+))*\s?;)*)")
"""A line of EPD: four fields, optionally the two counts of a FEN, and operations."""
OPERATION = re.compile(r" ([A-Za-z]\w*)((?: (?:\"[^\"]*\"|[^\s;\"]+))*)\s?;")


@dataclass(frozen=True)
class Opening:
    """The start position of a game, and the moves that are made before the players think."""

    name: str
    """The name in its file; "" if it has none."""
    start: str
    """The position before the moves, as `zerosum.games.start_state` takes it; "" is the game's own."""
    actions: tuple[int, ...]
    """Legal actions, after which the game goes on."""
    file: str = ""
    """The file of the opening; "" if it was drawn."""
    line: int = 0
    """The line in the file, from 1; 0 if it was drawn."""

    def state(self, game: Rules) -> State:
        """The position from which the players think, with its history."""
        return functools.reduce(game.play, self.actions, start_state(game, self.start))


OpeningSource = Callable[[int], Opening]
"""Returns the opening of a pair of games by the pair's number from 0; equal numbers give equal openings."""


# ---- sources of openings


@dataclass(frozen=True)
class OpeningList:
    """Openings in order, repeated endlessly."""

    openings: tuple[Opening, ...]
    shuffle_seed: int | None = None
    """Seed of the order; None keeps the order of the list."""
    first: int = 1
    """The opening of pair 0, by its number in this order from 1."""

    def __post_init__(self) -> None:
        if not self.openings:
            raise SettingsError("the list of openings is empty: expected at least one.")
        if not 1 <= self.first <= len(self.openings):
            raise SettingsError(
                f"the first opening is number {self.first}, but must be between 1 and {len(self.openings)}."
            )

    def __call__(self, number: int) -> Opening:
        """The opening of a pair; the list begins again after its end."""
        return self._ordered[(self.first - 1 + number) % len(self.openings)]

    @functools.cached_property
    def _ordered(self) -> tuple[Opening, ...]:
        if self.shuffle_seed is None:
            return self.openings
        return tuple(random.Random(self.shuffle_seed).sample(self.openings, len(self.openings)))


@dataclass(frozen=True)
class RandomOpenings:
    """Uniformly random legal moves, from a drawn start if the game has several."""

    game: Rules
    num_plies: int
    """Maximum length; an opening is shorter if every further move would end the game."""
    seed: int

    def __post_init__(self) -> None:
        _require_plies("num_plies", self.num_plies)

    def __call__(self, number: int) -> Opening:
        """The opening of a pair: the pair's number keys its moves."""
        start = drawn_start(self.game, seed=self.seed, number=number)
        actions = random_opening(self.game, num_plies=self.num_plies, seed=self.seed, pair=number, start=start)
        return Opening("", start, actions)


@dataclass(frozen=True)
class BookOpenings:
    """Lines of a Polyglot book from the initial position, each move drawn by its weight."""

    game: Rules
    book: PolyglotBook
    num_plies: int
    """Maximum length; an opening is shorter if the book ends, or the game would."""
    seed: int

    def __post_init__(self) -> None:
        _require_plies("num_plies", self.num_plies)
        if self.game.spec.name != "chess" or plays_chess960(self.game):
            raise SettingsError(
                f"{self.book.name} is a Polyglot book, which is for chess, not for {self.game.spec.full_name}."
            )
        if self._drawn(self.game.initial_state(), "", 0.0) is None:
            raise DataError(f"{self.book.name} has no move to play in the initial position: expected a book for it.")

    def __call__(self, number: int) -> Opening:
        """The opening of a pair: the pair's number keys the draws from the book.

        Raises:
            DataError: a move of the book is illegal.
        """
        state, last_move = self.game.initial_state(), ""
        actions: list[int] = []
        for ply in range(self.num_plies):
            move = self._drawn(state, last_move, uniform(self.seed, number, ply, "book"))
            if move is None:
                break
            action = self._action(state, move)
            state, last_move = self.game.play(state, action), move.text
            if self.game.outcome(state) is not None:
                break
            actions.append(action)
        return Opening("", "", tuple(actions), file=self.book.name)

    def _drawn(self, state: State, last_move: str, number: float) -> BookMove | None:
        fen = self.game.position_text(state)
        assert fen is not None, "chess has a notation for positions"
        return self.book.drawn(fen, last_move=last_move, number=number)

    def _action(self, state: State, move: BookMove) -> int:
        try:
            return parse_action(self.game, state, move.text)
        except GameError as error:
            raise DataError(f"{self.book.name}, entry {move.entry}: {error}") from error


# ---- files


def read_openings(path: str | Path, game: Rules, *, plies: int | None = None) -> tuple[Opening, ...]:
    """The openings of a file, in its order.

    The suffix names the format:

    - .pgn, .sgf, .kif, .kifu, .csa: the main lines of records. A record of Go may have another komi or other rules,
      but the same board.
    - .epd, .fen, .sfen: one position per line, in the game's notation. In chess it may be EPD, whose operations `id`
    (the name), `hmvc` and `fmvn` are used and others ignored.
    - .txt: moves in the game's notation, separated by blanks, with or without move numbers.

    In .epd, .fen, .sfen and .txt a line may also be `startpos`, `fen POSITION` or `sfen POSITION`, with or without
    `position` before it. `moves` and moves may follow any position. Empty lines and lines that begin with # are
    ignored.

    Args:
        path: The file.
        game: The game of the openings.
        plies: Maximum length of an opening; further moves are dropped.

    Raises:
        DataError: the file cannot be read or has no opening, or one is illegal or ends the game; the message names the
        line.
        SettingsError: `plies` is negative.
    """
    _require_plies("plies", plies or 0)
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in RECORD_SUFFIXES:
        openings = tuple(_record_opening(record, game, plies) for record in read_games(path))
    elif suffix in LINE_SUFFIXES:
        is_position = suffix in POSITION_SUFFIXES
        openings = tuple(_line_opening(*line, game, plies, is_position=is_position) for line in _lines(path))
    else:
        kinds = ", ".join((*RECORD_SUFFIXES, *LINE_SUFFIXES))
        book = " It looks like a Polyglot book, which is drawn from, not listed." if suffix == BOOK_SUFFIX else ""
        raise DataError(f"{path} has no known suffix: expected one of {kinds}.{book}")
    if not openings:
        raise DataError(f"{path} contains no opening: expected at least one.")
    return openings


PACKAGED = resources.files("zerosum") / "data" / "openings"


def packaged_openings(name: str, game: Rules, *, plies: int | None = None) -> tuple[Opening, ...]:
    """Openings that come with the package: "chess-human" or "shogi-human", those of the AlphaZero paper.

    `plies` is their maximum length, as in `read_openings`.

    Raises:
        DataError: the name is unknown, or the openings are of another game.
    """
    known = {file.name.rpartition(".")[0]: file for file in PACKAGED.iterdir()}
    if name not in known:
        raise DataError(f"the package has no openings {shown(name)}{nearest(name, known)}.")
    with resources.as_file(known[name]) as path:
        return read_openings(path, game, plies=plies)


BOOK_PLIES = 8
"""Default length of an opening from a Polyglot book: the lines of many books are endless."""


def find_openings(word: str, game: Rules, *, plies: int | None = None, seed: int, is_shuffled: bool) -> OpeningSource:
    """The source of openings of a word: a file, a Polyglot book (.bin), or a name of `packaged_openings`.

    Args:
        word: The path or name.
        game: The game of the openings.
        plies: Maximum length of an opening; by default all moves of a file's, and `BOOK_PLIES` of a book's.
        seed: Seed of draws from a book, and of the order of a list.
        is_shuffled: Whether to shuffle the openings of a file.

    Raises:
        DataError, SettingsError: as `read_openings` and `BookOpenings`, or the word is neither a file nor a name.
    """
    path = Path(word)
    if path.suffix.lower() == BOOK_SUFFIX:
        return BookOpenings(game, read_book(path), BOOK_PLIES if plies is None else plies, seed)
    names = [file.name.rpartition(".")[0] for file in PACKAGED.iterdir()]
    if word not in names and not path.exists():
        raise DataError(f"openings {shown(word)} are neither a file nor bundled openings{nearest(word, names)}.")
    listed = packaged_openings(word, game, plies=plies) if word in names else read_openings(path, game, plies=plies)
    return OpeningList(listed, shuffle_seed=seed if is_shuffled else None)


def _require_plies(name: str, plies: int) -> None:
    if plies < 0:
        raise SettingsError(f"{name} is {plies}, but must be at least 0.")


@dataclass(frozen=True)
class _FileLine:
    """The file and line of an opening, for errors."""

    file: str
    line: int

    def refuse(self, why: object) -> DataError:
        return DataError(f"{self.file}, line {self.line}: {str(why).rstrip('.')}.")


def _record_opening(record: Record, game: Rules, plies: int | None) -> Opening:
    if record.errors:
        raise DataError(f"{record.errors[0]}.")
    place = _FileLine(record.file, record.line)
    _require_game(record, game, place)
    name = " ".join(filter(None, map(record.header, NAME_HEADERS[record.format])))
    return _opening(name, record.start, (move.text for move in record.moves), game, plies, place)


def _require_game(record: Record, game: Rules, place: _FileLine) -> None:
    """Check that a record's game fits the match's: options may differ unless they change the actions."""
    own, expected = game_of(record.game).spec, game.spec
    if (own.name, own.num_actions, own.board_shape) != (expected.name, expected.num_actions, expected.board_shape):
        raise place.refuse(f"a game of {own.full_name}, expected one of {expected.full_name}")


def _lines(path: Path) -> Iterator[tuple[_FileLine, list[str]]]:
    """The words of each line of a file that is neither empty nor a comment."""
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error
    for number, line in enumerate(content.splitlines(), start=1):
        place = _FileLine(str(path), number)
        try:
            words = line.decode("utf-8").split()
        except UnicodeDecodeError:
            raise place.refuse("the text is not UTF-8: save the file as UTF-8") from None
        if words and not words[0].startswith("#"):
            yield place, words


def _line_opening(place: _FileLine, words: list[str], game: Rules, plies: int | None, *, is_position: bool) -> Opening:
    before, moves = split_line(words, is_position=is_position)
    if before == ["startpos"]:
        return _opening("", "", moves, game, plies, place)
    name, position = _epd(" ".join(before), place) if game.spec.name in EPD_GAMES else ("", " ".join(before))
    return _opening(name, position, moves, game, plies, place)


def _epd(text: str, place: _FileLine) -> tuple[str, str]:
    """(name, FEN) of a line that is FEN or EPD."""
    found = EPD.fullmatch(text)
    if found is None:
        expected = 'four fields, then two counts or operations such as id "B30";'
        raise place.refuse(f"{shown(text)} is neither FEN nor EPD: expected {expected}")
    position, halfmoves, number, rest = found.groups()
    operations = {opcode: operand.strip().strip('"') for opcode, operand in OPERATION.findall(rest)}
    halfmoves, number = operations.get("hmvc", halfmoves or "0"), operations.get("fmvn", number or "1")
    return operations.get("id", ""), f"{position} {halfmoves} {number}"


def _opening(
    name: str, position: str, moves: Iterable[str], game: Rules, plies: int | None, place: _FileLine
) -> Opening:
    actions: list[int] = []
    try:
        state = start_state(game, position)
        start = (game.position_text(state) or "") if position else ""
        if start == game.position_text(game.initial_state()):
            start = ""
        _require_open(game, state)
        for action, after in read_moves(game, state, itertools.islice(moves, plies)):
            actions.append(action)
            _require_open(game, after)
    except GameError as error:
        raise place.refuse(error) from error
    return Opening(name, start, tuple(actions), file=place.file, line=place.line)


def _require_open(game: Rules, state: State) -> None:
    ending = game.ending(state)
    if ending is not None:
        raise GameError(
            f"the game is over after {state.plies} moves ({ending}): expected an opening that leaves it open"
        )

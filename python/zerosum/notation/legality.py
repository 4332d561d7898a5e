"""Checks a record by its game's rules: translates its moves from a file's notation into the game's, and back.

The module knows games only by `zerosum.games.Rules`. A line of moves ends before its first illegal move. The record's
errors (or its warnings, in a variation) name that move, its line in the file, and similar legal moves.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

from zerosum.base.errors import GameError, shown
from zerosum.games import Rules, State, make, start_state
from zerosum.games.names import GameName
from zerosum.games.rules import options_of, with_options
from zerosum.games.written_moves import near_moves
from zerosum.notation import ki2, pgn
from zerosum.notation.record import Move, Record, RecordError

NOTATIONS = {"pgn": "san", "sgf": "sgf", "kif": "kif", "csa": "csa"}
"""The notation of moves in each format, by the games' names for them."""


class NullMoveError(GameError):
    """A line of moves ends, because its next move is a null move: its mover passes, as analyses show threats."""


@functools.lru_cache(maxsize=64)
def game_of(name: str) -> Rules:
    """The game that a record names. A record may come from anybody, so it cannot name a file with rules, a program.

    Raises:
        GameError: the name is unknown or that of a file, or an option is out of range.
    """
    named = GameName.parse(name)
    if named.file is not None:
        raise GameError(f"the game is {shown(name)}, a file, which no record can name: name the game yourself.")
    return make(named)


def states_of(record: Record) -> list[State]:
    """The positions of the main line: before the first move, and after each move.

    Raises:
        GameError: a move is illegal, or the game or its start is invalid.
    """
    game = game_of(record.game)
    states = [start_state(game, record.start)]
    for number, move in enumerate(record.moves, start=1):
        states.append(game.play(states[-1], parse_move(game, states[-1], move, number, None)))
    return states


def check_record(record: Record, known: Rules | None = None) -> Record:
    """Translate a parsed record into the game's own notation.

    Each line of moves ends before the first illegal move, which an error names; a warning in a variation. `known` is
    the game of the record if its name alone does not find it.
    """
    if not record.game:
        return dataclasses.replace(record, moves=(), variations=())
    place = f"{record.file}, " if record.file else ""
    try:
        game = known if known is not None and known.spec.full_name == record.game else game_of(record.game)
        start = start_state(game, record.start)
    except GameError as error:
        errors = (*record.errors, f"{place}line {record.line}: {str(error).rstrip('.')}; the record stops here")
        return dataclasses.replace(record, moves=(), variations=(), errors=errors)
    reading = _Reading.of(record, game)
    if reading.errors and known is None:
        reading = _by_milder_rules(record, reading)
    record = _without_foul(record, reading)
    game = reading.game
    start_text = game.position_text(start) if record.start else None
    return dataclasses.replace(
        record,
        game=game.spec.full_name,
        start="" if start_text in (None, game.position_text(game.initial_state())) else start_text,
        moves=reading.moves,
        variations=reading.variations,
        errors=(*record.errors, *(f"{place}{error}; the record stops here" for error in reading.errors)),
        warnings=(*record.warnings, *(f"{place}{warning}" for warning in reading.warnings)),
    )


@dataclass
class _Reading:
    """A record's moves in the own notation of a game, up to the first illegal one of each line."""

    game: Rules
    moves: tuple[Move, ...]
    variations: tuple[tuple[Move, ...], ...]
    errors: list[str]
    """The error that ends the main line, if any. A null move is none: it ends the moves, and the game stays sound."""
    warnings: list[str]

    @classmethod
    def of(cls, record: Record, game: Rules) -> _Reading:
        walk = _Walk(game, NOTATIONS.get(record.format), None)
        moves, variations = walk.translate(record, start_state(game, record.start))
        warnings = [f"{error}; the moves end before it" for error in walk.errors if isinstance(error, NullMoveError)]
        warnings += [f"{error}; the variation stops here" for error in walk.warnings]
        errors = [str(error) for error in walk.errors if not isinstance(error, NullMoveError)]
        return cls(game, moves, variations, errors, warnings)


MILDER_RULES = (
    {"superko": "simple"},
    {"suicide": "true"},
    {"superko": "simple", "suicide": "true"},
    {"superko": "none"},
    {"superko": "none", "suicide": "true"},
)
"""Options of Go that forbid less, the mildest last."""


def _by_milder_rules(record: Record, reading: _Reading) -> _Reading:
    """The reading by rules of Go that forbid less, if more of the main line is legal by them; a warning says so.

    People's games do not always follow the rules that their records name, or name none.
    """
    if reading.game.spec.name != "go":
        return reading
    own, found = options_of(reading.game), reading
    for milder in MILDER_RULES:
        changed = {name: value for name, value in milder.items() if own[name] != value}
        if not changed:
            continue
        other = _Reading.of(record, with_options(reading.game, **changed))
        if len(other.moves) > len(found.moves):
            named = ", ".join(f"{name}={value}" for name, value in changed.items())
            other.warnings.insert(0, f"{reading.errors[0]}; the record is read with {named}")
            found = other
    return found


FOULS = ("illegal move", "opponent's illegal move")


def explains_foul(record: Record, *, num_legal: int, is_first: bool) -> bool:
    """Whether the first illegal move of a record is its last one, and its mover lost by it.

    Args:
        record: A record whose move number `num_legal` + 1 is illegal.
        num_legal: Number of its legal moves.
        is_first: Whether the first player made the illegal move.
    """
    has_lost = record.result == (-1.0 if is_first else 1.0)
    return has_lost and record.ending in FOULS and num_legal + 1 == len(record.moves)


def _without_foul(record: Record, reading: _Reading) -> Record:
    """The record that ends by its illegal last move, if its ending names that as the loss.

    The move itself is left out, with a warning; its comments are those of the move before it.
    """
    game, num_legal = reading.game, len(reading.moves)
    is_first = (game.player(start_state(game, record.start)) == 0) == (num_legal % 2 == 0)
    if not reading.errors or not explains_foul(record, num_legal=num_legal, is_first=is_first):
        return record
    reading.warnings.append(f"{reading.errors.pop()}; the game was lost by it")
    if told := record.moves[num_legal].comments:
        if not num_legal:
            return dataclasses.replace(record, ending=FOULS[0], comments=(*record.comments, *told))
        last = reading.moves[-1]
        told_there = dataclasses.replace(last, comments=(*last.comments, *told))
        reading.moves = (*reading.moves[:-1], told_there)
    return dataclasses.replace(record, ending=FOULS[0])


def in_notation(record: Record, format: str) -> Record:
    """The record with its moves as a format writes them.

    Raises:
        RecordError: the record has errors, or a move of it is illegal.
        GameError: the record's game or start is invalid.
    """
    record.checked()
    game = game_of(record.game)
    start = start_state(game, record.start)
    walk = _Walk(game, None, NOTATIONS[format])
    moves, variations = walk.translate(record, start)
    if wrong := [*walk.errors, *walk.warnings]:
        raise RecordError(f"{wrong[0]}.", record=record)
    return dataclasses.replace(record, moves=moves, variations=variations)


class _Walk:
    """Goes through a record's lines and writes their moves in another notation."""

    def __init__(self, game: Rules, read: str | None, write: str | None) -> None:
        self.game, self.read = game, _known(game, read)
        self.write = _known(game, write)
        self.texts: dict[str, str] = {}
        """One string of each text, however often it is played."""
        self.errors: list[GameError] = []
        """Errors that end the main line."""
        self.warnings: list[GameError] = []
        """Errors that end variations."""

    def translate(self, record: Record, start: State) -> tuple[tuple[Move, ...], tuple[tuple[Move, ...], ...]]:
        """The main line and the variations that leave it before its first move."""
        return self._line(record.moves, start, 1, self.errors), self._variations(record.variations, start, 1)

    def _line(self, line: tuple[Move, ...], state: State, number: int, complaints: list[GameError]) -> tuple[Move, ...]:
        done: list[Move] = []
        for move in line:
            try:
                action = parse_move(self.game, state, move, number, self.read)
            except GameError as error:
                complaints.append(error)
                break
            text = self.game.action_text(state, action, self.write)
            text = self.texts.setdefault(text, text)
            state, number = self.game.play(state, action), number + 1
            if move.variations:
                move = dataclasses.replace(move, variations=self._variations(move.variations, state, number))
            done.append(move.with_text(text))
        return tuple(done)

    def _variations(
        self, variations: tuple[tuple[Move, ...], ...], state: State, number: int
    ) -> tuple[tuple[Move, ...], ...]:
        lines = (self._line(variation, state, number, self.warnings) for variation in variations)
        return tuple(line for line in lines if line)


def _known(game: Rules, notation: str | None) -> str | None:
    """A notation if the game has it under this name; else it is the game's own."""
    return notation if notation in game.notations else None


def parse_move(game: Rules, state: State, move: Move, number: int, notation: str | None) -> int:
    """The action that a record's move is, in any notation of its game.

    Args:
        game: The game of the move.
        state: The position before the move.
        move: A parsed move, or one in the game's own notation.
        number: The number of the move in its game, from 1.
        notation: That of a text whose form does not tell it, for an error's legal moves; None is the game's own.

    Raises:
        NullMoveError: the move is a null move of PGN.
        GameError: the move is illegal; the message names the line, the move and similar legal moves.
    """
    action = game.parse_action(state, move.text)
    if action is None and notation == "kif":
        action = ki2.find_action(game, state, move.text)
    if action is not None:
        return action
    place = f"line {move.line}: " if move.line else ""
    if move.text in pgn.NULL_MOVES:
        raise NullMoveError(f"{place}{shown(move.text)}, move {number}, is a null move, which the rules do not know")
    near = near_moves(game, state, move.text, notation=notation)
    raise GameError(f"{place}{shown(move.text)}, move {number}, is not legal here: {near}")

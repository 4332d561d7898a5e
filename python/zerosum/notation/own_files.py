"""Files of games that only zerosum writes: moves as text (`.txt`), and matches (`.jsonl`). Both hold any game.

A line of moves is that of `zerosum play` and of `zerosum match --openings`; `split_line` describes it. A match is a
line of JSON for the match and one for each game, as `arena/store.py` writes them. Moves are in the game's own notation,
and `legality.py` checks them. A damaged line becomes a record with an error; the other lines count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from zerosum.base.errors import DataError, GameError, shown
from zerosum.games import Rules
from zerosum.notation.legality import game_of
from zerosum.notation.record import Move, Record

MOVES, MATCH = "moves", "match"
MOVES_SUFFIX, MATCH_SUFFIX = ".txt", ".jsonl"
OWN_SUFFIXES = {MOVES_SUFFIX: MOVES, MATCH_SUFFIX: MATCH}
MATCH_FORMAT = "zerosum match 1"
"""The format in the first line of a match."""
MATCH_BEGINNING = json.dumps({"format": MATCH_FORMAT}).rpartition(" ")[0].encode()
"""The beginning of that line in any version of the format."""

MOVE_NUMBER = re.compile(r"\d+\.+")


def split_line(words: Sequence[str], *, is_position: bool = False) -> tuple[list[str], list[str]]:
    """The position and the moves of a line: the words of the position, `startpos` for the initial one, and the moves.

    A line has moves, with or without their numbers, or begins with `startpos`, `fen POSITION`, `sfen POSITION` or
    `position POSITION`, after which `moves` and moves may follow.

    >>> split_line("1. e4 e5 2.Nf3".split())
    (['startpos'], ['e4', 'e5', 'Nf3'])
    >>> split_line("position fen 7k/8/8/8/8/8/8/K7 w - - 0 1 moves a1a2".split())
    (['7k/8/8/8/8/8/8/K7', 'w', '-', '-', '0', '1'], ['a1a2'])

    Args:
        words: The words of the line, at least one.
        is_position: Whether the line begins with a position without any word before it.
    """
    if words[0] == "position":
        words, is_position = words[1:], True
    before, moves = list(words), list[str]()
    if "moves" in words and not any('"' in word for word in words):  # a quoted text of EPD may contain the word
        at = words.index("moves")
        before, moves = before[:at], before[at + 1 :]
    elif not is_position and words[0] not in ("startpos", "fen", "sfen"):
        return ["startpos"], [move for word in words if (move := MOVE_NUMBER.sub("", word, count=1))]
    return before[1:] if before[:1] in (["fen"], ["sfen"]) else before, moves


def line_text(position: str, moves: Sequence[str]) -> str:
    """The line of a game that `split_line` reads, from its position, "" for the initial one, and its moves."""
    return " ".join((f"position {position} moves", *moves) if position else moves)


def parse_moves(lines: Iterator[str], game: Rules) -> Iterator[Record]:
    """The games of lines of moves; empty lines and lines that begin with # are left out."""
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            position, moves = split_line(words)
            texts = tuple(Move(text, line=number) for text in moves)
            start = "" if position == ["startpos"] else " ".join(position)
            yield Record(game.spec.full_name, moves=texts, start=start, line=number)


def parse_match(lines: Iterator[str], game: Rules | None) -> Iterator[Record]:
    """The games of a match, without their clocks and evaluations.

    Args:
        lines: The lines of the file.
        game: The game of the match, where its name alone does not find it.

    Raises:
        DataError: the first line is not that of a match, or the match is of another or an unknown game.
    """
    match = _match_of(next(lines, ""))
    name = match["game"]
    if game is None:
        try:
            game_of(name)
        except GameError as error:
            raise DataError(f"line 1: {error}") from error
    elif game.spec.full_name != name:
        raise DataError(f"line 1: the match is of {name}, not of {game.spec.full_name}: name the game of the match.")
    for number, line in enumerate(lines, start=2):
        try:
            yield _game_of_match(match, json.loads(line), number)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            why = f"line {number}: {shown(line)} is not a game of a match, or is cut off; remove the line"
            yield Record(errors=(why,), line=number)


def _match_of(line: str) -> dict[str, Any]:
    try:
        match = json.loads(line)
    except (ValueError, RecursionError):
        match = None
    if not isinstance(match, dict) or match.get("format") != MATCH_FORMAT or not isinstance(match.get("game"), str):
        expected = json.dumps({"format": MATCH_FORMAT})[:-1]
        raise DataError(
            f"line 1: {shown(line)} is not the first line of a match: expected one that begins with {expected}, as"
            " zerosum match writes it."
        )
    sides = [match.get(side) for side in ("first", "second")]
    if "players" not in match and not all(
        isinstance(side, dict) and isinstance(side.get("name"), str) for side in sides
    ):
        raise DataError("line 1: the match does not name its players, as zerosum match does.")
    return match


def _game_of_match(match: dict[str, Any], values: dict[str, Any], line: int) -> Record:
    """The record of a line. Raises ValueError, TypeError, KeyError or AttributeError if it is not a game of a match."""
    first, result = values["first_is_player"], values["result"]
    moves, opening_plies = values.get("moves", []), values.get("opening_plies", 0)
    if first not in (0, 1) or not -1 <= result <= 1 or not isinstance(moves, list):
        raise ValueError(values)
    if type(opening_plies) is not int or not 0 <= opening_plies <= len(moves):
        raise ValueError(values)
    for text in (*moves, values["ending"], start := values.get("start", "")):
        text.encode()  # JSON can hold halves of characters, which no file can
    names = values.get("players") or [match[side]["name"] for side in ("first", "second")][:: -1 if first else 1]
    return Record(
        game=match["game"],
        moves=tuple(Move(text, line=line) for text in moves),
        headers=tuple(zip(("first player", "second player"), map(str, names), strict=True)),
        start=start,
        result=float(-result if first else result),
        ending=values["ending"],
        opening_plies=opening_plies,
        line=line,
    )

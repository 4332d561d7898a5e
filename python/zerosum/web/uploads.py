"""Files of games that visitors upload. A large one is read by a process of its own.

The readers are Python, and so are the answers to clicks: in one process the readers would hold the interpreter lock,
and a thread of low priority that holds it on a busy computer can keep it for half a second. The process returns the
titles of all games and the moves of one, and its memory goes back to the system.

    upload = read_upload(text, index=0, game=None, limits=limits)
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from zerosum.base.errors import DataError, GameError, SettingsError, ZerosumError
from zerosum.games import Rules, make
from zerosum.notation.game_files import read_raw_games
from zerosum.notation.record import Evaluation, Move, Record
from zerosum.web.limits import NICENESS, Limits

LARGE = 1 << 16
"""Characters from which a text is read by another process; a smaller one is read in some hundredths of a second."""
MOST_SECONDS = 60
"""Processor time of the process, where the system limits it: a busy computer is not a reason to refuse a file."""
MOST_WAIT_SECONDS = 600.0
"""Time until the process is ended in any case."""
MOST_IN_VARIATIONS = 10
"""Moves of a record with its variations, as a multiple of the plies that a game may have."""
MOST_TITLE = 120
ERRORS: Mapping[str, type[ZerosumError]] = {one.__name__: one for one in (DataError, GameError, SettingsError)}
"""What the process may say about a text, by the names that it sends."""


@dataclass(frozen=True)
class Upload:
    """A file of games."""

    titles: tuple[str, ...]
    """Names of the players and the date of each game."""
    record: Record
    """The chosen game, with moves that no rules have checked."""


def read_upload(text: str, *, index: int, game: Rules | None, limits: Limits) -> Upload | None:
    """The games of a text, in any format that the program reads; None if there is none in it.

    Args:
        text: The text.
        index: Number of the game whose moves are returned, from 0.
        game: The game of a file that does not name its own.
        limits: The most games, and moves of the chosen one.

    Raises:
        DataError: the text is not a file of games.
        SettingsError: a limit is passed, or there is no game with this number.
    """
    if len(text) < LARGE or (game is not None and game.is_python):  # the other process has no games of one's own
        return _read(text, index, game, limits)
    task = {"text": text, "index": index, "game": game and game.spec.full_name, "limits": asdict(limits)}
    task["seconds"] = MOST_SECONDS
    command = [sys.executable, "-m", "zerosum.web.uploads"]
    try:
        found = subprocess.run(
            command, input=json.dumps(task).encode(), capture_output=True, timeout=MOST_WAIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise SettingsError("this computer is too busy to read the text: try again later, or split it.") from None
    if hasattr(signal, "SIGXCPU") and found.returncode == -signal.SIGXCPU:
        raise SettingsError(f"reading the text took more than {MOST_SECONDS} seconds: split it.")
    if found.returncode != 0:
        raise SettingsError("the text could not be read, because the process that reads it failed: split it.")
    answer = json.loads(found.stdout)
    if answer is None:
        return None
    if "error" in answer:
        raise ERRORS[answer["error"]](answer["says"])
    return Upload(tuple(answer["titles"]), _record(answer["record"]))


def _record(fields: Mapping[str, Any]) -> Record:
    """The record of `asdict`, after JSON has made lists of its tuples."""
    named = {name: _tuples(value) for name, value in fields.items()}
    return Record(**named | {"moves": _line(fields["moves"]), "variations": tuple(map(_line, fields["variations"]))})


def _line(moves: list[dict[str, Any]]) -> tuple[Move, ...]:
    return tuple(map(_move, moves))


def _move(fields: Mapping[str, Any]) -> Move:
    evaluation = fields["evaluation"]
    named = {name: _tuples(value) for name, value in fields.items()}
    return Move(
        **named
        | {
            "evaluation": None if evaluation is None else Evaluation(**evaluation),
            "variations": tuple(map(_line, fields["variations"])),
        }
    )


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _read(text: str, index: int, game: Rules | None, limits: Limits) -> Upload | None:
    titles, chosen = list[str](), None
    for record in read_raw_games(io.StringIO(text), game=game):
        if len(titles) >= limits.games:
            raise SettingsError(f"the text has more than {limits.games} games: split it.")
        chosen = record if len(titles) == index else chosen
        titles.append(_title(record))
    if not titles:
        return None
    if chosen is None:
        raise SettingsError(f"game {index + 1} is out of range: the text has {len(titles)}.")
    _require_short(chosen, limits.plies)
    return Upload(tuple(titles), chosen)


def _require_short(record: Record, most: int) -> None:
    """Refuse a game that is too long before its moves are checked by the rules, which takes the most time."""
    if len(record.moves) > most:
        raise SettingsError(f"the game has {len(record.moves):,} moves, but at most {most:,} are allowed.")
    number, ahead = 0, [record.moves, *record.variations]
    while ahead:
        line = ahead.pop()
        number += len(line)
        ahead += [variation for move in line for variation in move.variations]
    if number > MOST_IN_VARIATIONS * most:
        raise SettingsError(
            f"the game has {number:,} moves with its variations, but at most {MOST_IN_VARIATIONS * most:,} are allowed:"
            " leave variations out."
        )


def _title(record: Record) -> str:
    names = " – ".join(name or "?" for name in record.players) if any(record.players) else record.game
    return f"{names} {record.header('date')}".strip()[:MOST_TITLE]


def _limit_processor_time(seconds: int) -> None:
    """Have the system end this process after so much processor time; Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def main() -> None:
    """Read the text of standard input, as the other process."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    task = json.loads(sys.stdin.buffer.read())
    _limit_processor_time(task["seconds"])
    game = None if task["game"] is None else make(task["game"])
    answer: dict[str, Any] | None
    try:
        found = _read(task["text"], task["index"], game, Limits(**task["limits"]))
        answer = None if found is None else asdict(found)
    except ZerosumError as error:
        kind = next((name for name, one in ERRORS.items() if isinstance(error, one)), "SettingsError")
        answer = {"error": kind, "says": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()

"""The store of a match, so that it continues after a kill: a line of JSON for the match, then one per game.

A game counts once its line is whole. Results are computed from the games, never stored.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import filelock

from zerosum.arena.played import PlayedGame
from zerosum.base.errors import DataError, RunError, shown
from zerosum.base.files import append_line, read_lines, repair_lines
from zerosum.contest.adjudication import Score
from zerosum.contest.mover import Thought
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.notation.own_files import MATCH_FORMAT as FORMAT


class MatchStore:
    """A match's file, locked by this process until `close`."""

    def __init__(
        self,
        path: Path,
        game: Rules,
        settings: dict[str, Any],
        *,
        names_at: Callable[[int], tuple[str, ...]] = lambda _index: (),
        report: Callable[[str], None] = lambda _said: None,
    ) -> None:
        """Open the file of a match, or begin one.

        Args:
            path: The file.
            game: The rules.
            settings: All that a game of the match depends on, as JSON takes it.
            names_at: Players of a game by its number, the one that moves first before the other; empty in a match of
                two, whose settings name them.
            report: Gets a sentence about damaged lines, which are removed.

        Raises:
            DataError: the file holds another match, is not a match file, or cannot be read.
            RunError: another process writes it, or it is not writable.
        """
        self._path, self._game, self._names_at = path, game, names_at
        self._lock = filelock.FileLock(f"{path}.lock", timeout=0)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise RunError(f"{path} is written by another match: wait for it, or name another file.") from None
        except OSError as error:
            raise RunError(f"{path} cannot be written: {error.strerror or error}. Name another file.") from error
        try:
            self.games = self._read(settings, report)
        except BaseException:
            self.close()
            raise

    def add(self, played: PlayedGame) -> None:
        """Keep a game. Raises RunError if the file cannot be written."""
        append_line(self._path, game_line(self._game, played, self._names_at(played.index)))
        self.games.append(played)

    def close(self) -> None:
        """Unlock the file."""
        if self._lock.is_locked:
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()

    def _read(self, settings: dict[str, Any], report: Callable[[str], None]) -> list[PlayedGame]:
        header = json.dumps({"format": FORMAT, **settings}, ensure_ascii=False)
        seen = set[int]()

        def parse(line: str) -> PlayedGame:
            played = parse_game(self._game, line)
            if played.index in seen:
                raise ValueError("a game with the number of an earlier one")
            seen.add(played.index)
            return played

        found = read_lines(self._path, parse, header=header)
        if not found.header:
            if found.entries or found.damaged:
                raise self._not_a_match()
            self._path.unlink(missing_ok=True)  # a header that was cut short
            append_line(self._path, header)
            return []
        if found.header != header:
            raise self._refusal(found.header, {"format": FORMAT, **settings})
        repair_lines(self._path, found, report=report, header=header)
        return found.entries

    def _refusal(self, header: str, expected: dict[str, Any]) -> DataError:
        try:
            there = json.loads(header)
            assert isinstance(there, dict) and there["format"] == FORMAT
        except (ValueError, KeyError, AssertionError):
            return self._not_a_match()
        name, before, now = _first_difference(there, expected)
        return DataError(
            f"{self._path} holds another match: {name} is {before} there and {now} here. Repeat the command of that"
            " match to resume it, or name another file."
        )

    def _not_a_match(self) -> DataError:
        return DataError(f"{self._path} is not a match file: its first line differs. Name another file.")


def _first_difference(there: Any, here: Any, name: str = "") -> tuple[str, str, str]:
    """The first difference: its name, and both values as text."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys((*here, *there)):
            if there.get(key) != here.get(key):
                return _first_difference(there.get(key), here.get(key), f"{name}.{key}" if name else key)
    return name, shown(str(there)), shown(str(here))


def game_line(game: Rules, played: PlayedGame, players: tuple[str, ...] = ()) -> str:
    """A game as a line of JSON, with moves in the game's notation, and the players' names if given."""
    line: dict[str, Any] = {
        "game": played.index,
        "players": players,
        "first_is_player": played.first_is_player,
        "result": played.result,
        "ending": played.ending,
        "date": played.date,
        "start": played.start,
        "opening": played.opening,
        "opening_plies": played.opening_plies,
        "moves": Playthrough.of(game, played.start, played.actions).texts,
        "thoughts": [_thought_values(thought) for thought in played.thoughts],
        "notes": played.notes,
    }
    return json.dumps({name: value for name, value in line.items() if value not in ("", [], ())}, ensure_ascii=False)


def _thought_values(thought: Thought) -> dict[str, Any]:
    """Values of a thought in a line of the file."""
    values = asdict(thought)
    del values["lines"], values["shares"]
    return _without_none(values)


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_none(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None
    }


def parse_game(game: Rules, line: str) -> PlayedGame:
    """The game of a line that `game_line` wrote.

    Raises:
        ValueError, TypeError: it is not such a line, or breaks the rules.
    """
    values = json.loads(line)
    if not isinstance(values, dict) or not isinstance(values.get("game"), int) or values["game"] < 0:
        raise ValueError("not a game of a match")
    if missing := {"result", "ending"} - values.keys():
        raise ValueError(f"no {missing.pop()}")
    start = values.get("start", "")
    so_far = Playthrough.read(game, values.get("moves", []), start)
    first_is_player, result, outcome = values["game"] % 2, values["result"], so_far.outcome
    if outcome is not None and result != (outcome if first_is_player == 0 else -outcome):
        raise ValueError("the result contradicts the rules")
    if not -1 <= result <= 1:
        raise ValueError("not a result")
    return PlayedGame(
        index=values["game"],
        actions=so_far.actions,
        opening_plies=operator.index(values.get("opening_plies", 0)),
        first_is_player=first_is_player,
        result=float(result),
        ending=str(values["ending"]),
        start=start,
        opening=str(values.get("opening", "")),
        thoughts=tuple(map(_thought, values.get("thoughts", []))),
        date=str(values.get("date", "")),
        notes=_texts(values.get("notes", [])),
    )


def _thought(values: Any) -> Thought:
    if not isinstance(values, dict):
        raise TypeError("not a thought")
    score = values.pop("score", None)
    if not isinstance(score, dict | None):
        raise TypeError("not a score")
    for value in [*values.values(), *(score or {}).values()]:
        if type(value) not in (int, float) or not math.isfinite(value):
            raise ValueError(f"{shown(str(value))} is not a number")
    return Thought(None if score is None else Score(**score), **values)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))

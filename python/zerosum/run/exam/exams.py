"""The exam of each game: no other file names the games that have one."""

from __future__ import annotations

from collections.abc import Sequence

from zerosum.base.errors import SettingsError, nearest, shown
from zerosum.games import Rules
from zerosum.games.rules import with_usual_encoding
from zerosum.run.exam import chess, go, shogi
from zerosum.run.exam.task import Part

EXAMS: dict[str, tuple[Part, ...]] = {"chess": chess.PARTS, "go(size=9)": go.PARTS, "shogi": shogi.PARTS}
"""The parts of each exam by the full name of its game, with the usual planes and actions."""


def has_exam(game: Rules) -> bool:
    """Whether a game of the core has an exam; other options than its own make another game."""
    return not game.is_python and with_usual_encoding(game).spec.full_name in EXAMS


def exam_of(game: Rules) -> tuple[Part, ...]:
    """The parts of the exam of a game.

    Raises:
        SettingsError: the game has none.
    """
    if not has_exam(game):
        raise SettingsError(f"{game.spec.full_name} has no exam; games that have one are {', '.join(sorted(EXAMS))}.")
    return EXAMS[with_usual_encoding(game).spec.full_name]


def named_parts(parts: Sequence[Part], names: Sequence[str]) -> tuple[Part, ...]:
    """The parts with these names, in the order of the exam; all of them without names.

    Raises:
        SettingsError: a name is not a part's.
    """
    known = [part.name for part in parts]
    for name in names:
        if name not in known:
            raise SettingsError(f"The exam has no part {shown(name)}{nearest(name, known)}.")
    return tuple(part for part in parts if not names or part.name in names)

"""Doubts about moves that a review found no fault with, by what it found later in the game.

A search of a position sees less than the searches of those that follow in the game. Where the mover's chances turn out
worse than they were thought to be, either this move has lost them or an earlier one; so the later values are backed up
along the game, as in a search: a position is worth to its mover the best of the value after the move that was played
and the values of the other moves that the search knows. The other moves were not looked into as deeply as the one that
was played, so what this shows is a doubt and no mark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from zerosum.analysis.reviewed import ReviewedMove, ReviewedPosition, Thresholds
from zerosum.play.analysis import Analysis


def in_hindsight(
    moves: Sequence[ReviewedMove],
    positions: Sequence[ReviewedPosition],
    thresholds: Thresholds,
    look_longer: Callable[[int], Analysis],
) -> list[ReviewedMove]:
    """The moves, those in doubt with `unsure` and `hindsight`.

    Args:
        moves: The moves with their marks; a marked one keeps its mark.
        positions: The positions before the first move and after each move.
        thresholds: The least losses of the marks.
        look_longer: The result of a longer search of the position of a ply, with two lines at least. It is asked about
            the positions whose mover's chances turned out worse by an inaccuracy or more.
    """
    found = list(moves)
    later = positions[-1].win_rate  # the first player's chance, by the moves that were played
    for ply in reversed(range(len(moves))):
        move, before = moves[ply], positions[ply]
        rate, after = (_of_mover(value, move.player) for value in (before.win_rate, later))
        best = max(rate, after)
        if not (move.mark or move.unsure) and before.is_judged_by_search:
            best = max(after, _others(before.report, move, rate))
            if rate - after >= thresholds.inaccuracy:
                best = max(after, _others(look_longer(ply), move, after))
                if doubt := thresholds.mark(best - after):
                    found[ply] = replace(move, unsure=doubt, hindsight=best - after)
        later = _of_mover(best, move.player)
    return found


def _of_mover(rate: float, player: int) -> float:
    """A chance of the first player as that of a player, and the other way round."""
    return rate if player == 0 else 1 - rate


def _others(report: Analysis | None, move: ReviewedMove, unknown: float) -> float:
    """The mover's best chance by a line that begins with another move; `unknown` if there is none."""
    lines = () if report is None else report.lines
    return max((line.win_rate for line in lines if line.actions[0] != move.action), default=unknown)

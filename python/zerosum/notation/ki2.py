"""KI2, the notation of printed shogi games: `▲５八金右`. Moves do not name their source, which the rules find.

Source: the Japan Shogi Association's rules for writing moves (棋譜の表記方法). If several pieces of a kind can move to
the square, a word tells how the piece moves (上 or 行 forward, 寄 sideways, 引 back), where it stood (左, 直, 右, from
its owner's side), or that it was dropped (打). Without 打 a piece on the board takes precedence over one in hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from zerosum.games import Rules, State
from zerosum.notation.shogi_position import PIECES, SIGNS, square_of

MARKS = {"▲": "+", "▼": "+", "☗": "+", "△": "-", "▽": "-", "☖": "-"}
"""Marks of the sides before moves, with CSA's signs."""
MOVE = re.compile(
    r"([1-9１-９])([1-9一二三四五六七八九])[ 　]*"
    r"(成[香桂銀]|[歩香桂銀金角飛玉王と杏圭全馬龍竜])([左右直]?)([上行入寄引]?)(成|不成|生)?(打)?"
)


@dataclass(frozen=True)
class _Candidate:
    """A legal board move of the named piece to the named square."""

    action: int
    left: int
    """Files by which the piece stands left of the square, from its owner's side; negative to the right."""
    forward: int
    """Ranks that the piece moves forward."""


def find_action(game: Rules, state: State, text: str) -> int | None:
    """The only legal move that a text such as `５八金右` can mean, else None.

    Args:
        game: Shogi.
        state: The position before the move.
        text: With or without the mark of the side, and with the square in the place of 同.
    """
    mark = text[:1] if text[:1] in MARKS else ""
    found = MOVE.fullmatch(text.removeprefix(mark))
    if found is None:
        return None
    file, rank, sign, side, way, promotion, drop = found.groups()
    target, piece = square_of(file, rank), SIGNS[sign]
    candidates, drops = [], []
    for action in game.legal_actions(state, past_soft_endings=True):
        csa, promotes = game.action_text(state, action, "csa"), game.action_text(state, action).endswith("+")
        if (int(csa[3]), int(csa[4])) != target or promotes != (promotion == "成"):
            continue
        if mark and csa[0] != MARKS[mark]:
            return None
        name = _NAMES[csa[5:]]
        if (name[-1] if promotes else name) != piece:
            continue
        if csa[1:3] == "00":
            drops.append(action)
            continue
        turn = 1 if csa[0] == "+" else -1
        left, forward = turn * (int(csa[1]) - target[0]), turn * (int(csa[2]) - target[1])
        candidates.append(_Candidate(action, left, forward))
    if drop or not (candidates or side or way):
        return drops[0] if drops and not (side or way) else None
    chosen = _by_side(_by_way(candidates, way), side)
    return chosen[0].action if len(chosen) == 1 else None


_NAMES = {csa: piece for piece, (_, csa) in PIECES.items()}


def _by_way(candidates: list[_Candidate], way: str) -> list[_Candidate]:
    signs = {"上": 1, "行": 1, "入": 1, "寄": 0, "引": -1}
    if not way:
        return candidates
    return [one for one in candidates if (one.forward > 0) - (one.forward < 0) == signs[way]]


def _by_side(candidates: list[_Candidate], side: str) -> list[_Candidate]:
    if side == "直":
        return [one for one in candidates if one.left == 0 and one.forward == 1]
    if side and candidates:
        outermost = (max if side == "左" else min)(one.left for one in candidates)
        return [one for one in candidates if one.left == outermost]
    return candidates

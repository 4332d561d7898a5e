"""Analysis lines for boards while a Go engine thinks: options and output of lz-analyze and kata-analyze.

Sources: KataGo's "GTP Extensions" and Leela Zero's `lz-analyze`. The module knows neither the session nor the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zerosum.analysis.go_score import Leads
from zerosum.base.errors import GameError
from zerosum.network.evaluators.ownership import Points
from zerosum.notation.go_words import PLAYERS
from zerosum.play.analysis import Analysis, lower_win_rate, win_rate
from zerosum.protocols.gtp_board import GtpBoard

DEFAULT_INTERVAL_S = 0.5


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is known of a position's end, besides its value; for Black."""

    owners: NDArray[np.float64] | None = None
    """[points] in [-1, 1] (`Player.ownership`); None if they are not requested and the network does not know them."""
    points: Points | None = None
    """The score that a network with a head of the score or of ownership expects."""


@dataclass(frozen=True)
class AnalysisOptions:
    """The options of an analysis command."""

    player: int
    """The player to move."""
    interval_s: float = DEFAULT_INTERVAL_S
    fewest_moves: int = 0
    """Least number of moves reported, unvisited ones included."""
    most_moves: int | None = None
    allowed: frozenset[int] | None = None
    """The moves of `player` that may be considered; None is all."""
    avoided: frozenset[int] = frozenset()
    has_root: bool = False
    """Whether to report the value of the position itself."""
    owners: tuple[str, ...] = ()
    """"ownership" and "ownershipStdev", if requested."""
    unknown: tuple[str, ...] = ()
    """Requested values that are not reported, because no network predicts them."""

    @classmethod
    def parse(cls, words: list[str], board: GtpBoard) -> AnalysisOptions:
        """The options as GTP has them: `[colour] [interval] [name value ...]`.

        Raises:
            GameError: a word does not belong there, or no move is left to choose from.
        """
        ahead = [word.lower() for word in words]
        player = parse_player(ahead.pop(0)) if ahead and ahead[0] in PLAYERS else board.mover
        options = cls(player)
        if ahead and ahead[0].isdecimal():
            options = replace(options, interval_s=_number(ahead.pop(0)) / 100)
        while ahead:
            name = ahead.pop(0)
            if name in ("avoid", "allow"):
                options = options._restricted(name, ahead[:3], board)
                del ahead[:3]
            else:
                options = options._with(name, ahead.pop(0) if ahead else "")
        options.actions(board)
        return options

    def _with(self, name: str, value: str) -> AnalysisOptions:
        if name == "interval":
            return replace(self, interval_s=_number(value) / 100)
        if name == "minmoves":
            return replace(self, fewest_moves=_number(value))
        if name == "maxmoves":
            return replace(self, most_moves=_number(value))
        if value not in ("true", "false"):
            raise GameError("syntax error")
        if name == "rootinfo":
            return replace(self, has_root=value == "true")
        if name in _OWNERS:
            return replace(self, owners=(*self.owners, _OWNERS[name])) if value == "true" else self
        if name in _UNKNOWN:
            return replace(self, unknown=(*self.unknown, _UNKNOWN[name])) if value == "true" else self
        raise GameError("syntax error")

    def _restricted(self, name: str, words: list[str], board: GtpBoard) -> AnalysisOptions:
        """Apply `avoid` or `allow`, whose words are the colour, the points with commas, and the depth.

        The restriction applies only to the next move, whatever the depth.
        """
        if len(words) != 3 or words[0] not in PLAYERS or _number(words[2]) < 1:
            raise GameError("syntax error")
        actions = frozenset(board.action(vertex) for vertex in words[1].split(","))
        if parse_player(words[0]) != self.player:
            return self
        if name == "avoid":
            return replace(self, avoided=self.avoided | actions)
        return replace(self, allowed=actions | (self.allowed or frozenset()))

    def considers(self, action: int) -> bool:
        """Whether a move is neither avoided nor missing from the allowed ones."""
        return action not in self.avoided and (self.allowed is None or action in self.allowed)

    def actions(self, board: GtpBoard) -> tuple[int, ...]:
        """The moves to choose from, in the form of `Task.allowed`: () is all.

        Raises:
            GameError: no move is left.
        """
        legal = board.legal_actions(self.player)
        considered = tuple(filter(self.considers, legal))
        if not considered:
            raise GameError("no legal move is left to choose from")
        return () if len(considered) == len(legal) else considered


_OWNERS = {"ownership": "ownership", "ownershipstdev": "ownershipStdev"}
_UNKNOWN = {name.lower(): name for name in ("movesOwnership", "movesOwnershipStdev", "pvVisits", "pvEdgeVisits")}
"""Options that are accepted and whose values are never reported."""


def parse_player(word: str) -> int:
    """0 for Black, 1 for White. Raises GameError if the word is not a colour."""
    if word.lower() not in PLAYERS:
        raise GameError("invalid color")
    return PLAYERS[word.lower()]


def _number(word: str) -> int:
    if not word.isdecimal() or len(word) > 9:
        raise GameError("syntax error")
    return int(word)


def leela_line(report: Analysis, options: AnalysisOptions, board: GtpBoard, _outlook: Outlook) -> str:
    """A line of lz-analyze: win rates, priors and bounds in ten-thousandths, for the player to move."""
    return " ".join(
        f"info move {move.vertex} visits {move.visits} winrate {_whole(move.winrate)} prior {_whole(move.prior)}"
        f" lcb {_whole(move.lcb)} order {order} pv {move.line}"
        for order, move in enumerate(_moves(report, options, board))
    )


def kata_line(report: Analysis, options: AnalysisOptions, board: GtpBoard, outlook: Outlook) -> str:
    """A line of kata-analyze: win rates, priors and bounds in [0, 1], for the player to move.

    `utility` is the expected result, in [-1, 1], and the scores are those of `analysis/go_score.py`. In the line, 1 in
    `ownership` is for the player to move.
    """
    sign = 1 if options.player == 0 else -1
    points = outlook.points if outlook.points is None or sign == 1 else outlook.points.of_opponent()
    leads = Leads(board.game.spec.board_shape[0], report.root.value, points)

    def values(visits: int, winrate: float) -> str:
        lead = f"{leads.of(2 * winrate - 1):.6f}"
        return (
            f"visits {visits} utility {2 * winrate - 1:.6f} winrate {winrate:.6f} scoreMean {lead}"
            f" scoreStdev {leads.deviation:.6f} scoreLead {lead} scoreSelfplay {lead}"
        )

    told = [
        f"info move {move.vertex} {values(move.visits, move.winrate)} prior {move.prior:.6f} lcb {move.lcb:.6f}"
        f" utilityLcb {2 * move.lcb - 1:.6f} order {order} pv {move.line}"
        for order, move in enumerate(_moves(report, options, board))
    ]
    if options.has_root:
        told.append(f"rootInfo {values(report.num_visits, win_rate(report.root.value))}")
    owners = outlook.owners
    for name in options.owners:
        assert owners is not None
        shown = sign * owners if name == "ownership" else np.sqrt(1 - owners**2)
        told.append(f"{name} {' '.join(f'{value:.6f}' for value in shown)}")
    return " ".join(told)


@dataclass(frozen=True)
class _Move:
    vertex: str
    visits: int
    winrate: float
    lcb: float
    prior: float
    line: str


def _moves(report: Analysis, options: AnalysisOptions, board: GtpBoard) -> list[_Move]:
    """The moves to report, the best first: visited ones, then others by their priors until there are enough."""
    visited = [
        _Move(
            vertex=board.vertex(line.actions[0]),
            visits=line.visits,
            winrate=win_rate(line.value),
            lcb=lower_win_rate(line.value, line.visits),
            prior=line.prior,
            line=" ".join(board.vertex(action) for action in line.actions),
        )
        for line in report.lines
    ]
    known = {line.actions[0] for line in report.lines}
    root = report.root
    priors = sorted(zip((-root.priors).tolist(), root.actions.tolist(), strict=True))
    others = [
        _Move(
            board.vertex(action), 0, win_rate(root.value), lower_win_rate(root.value, 0), -prior, board.vertex(action)
        )
        for prior, action in priors
        if action not in known and options.considers(action)
    ]
    return [*visited, *others[: max(0, options.fewest_moves - len(visited))]][: options.most_moves]


def _whole(share: float) -> int:
    return round(10_000 * share)

"""Early endings of a match's games: resignations and agreed draws by the players' scores, and a maximum length.

A match passes on the players' scores of the positions in which they move (`ScoredMove`); `adjudicate` returns the
`Verdict`,
or None while the game goes on. It is a pure function of the reports, so a resumed match comes to the same end. The
match decides which rules apply to which player; those of the AlphaZero paper are in `zerosum.contest.paper`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.base.errors import SettingsError, nearest, shown
from zerosum.base.settings import true_or_false


@dataclass(frozen=True)
class Score:
    """A player's evaluation of the position, from its own perspective.

    Exactly one of `win_rate`, `centipawns` and `mate` is given, and `lead` beside a win rate at most.
    """

    win_rate: float | None = None
    """Expected points in [0, 1]: (value + 1) / 2."""
    centipawns: int | None = None
    mate: int | None = None
    """Moves to mate: positive if the player mates, negative if it is mated; 0 if it is mated now."""
    lead: float | None = None
    """Points by which the player expects to lead at the end of the game, where points decide it."""

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.win_rate, self.centipawns, self.mate)) != 1:
            raise SettingsError(f"{self}: expected exactly one of win_rate, centipawns and mate.")
        if self.win_rate is not None and not 0 <= self.win_rate <= 1:
            raise SettingsError(f"win_rate is {self.win_rate}, but must be between 0 and 1.")
        if self.lead is not None and self.win_rate is None:
            raise SettingsError(f"{self}: a lead stands beside a win rate.")


def moves_to_mate(plies: int) -> int:
    """The number of `Score.mate` for a forced end in so many plies, negative for a loss.

    >>> moves_to_mate(3), moves_to_mate(-2)
    (2, -1)
    """
    return (plies + 1) // 2 if plies > 0 else -(-plies // 2)


@dataclass(frozen=True)
class ScoredMove:
    """One move of a player."""

    player: int
    """The player that moved: 0 (first) or 1 (second)."""
    score: Score | None
    """The player's score; None if it gave none."""


@dataclass(frozen=True)
class ResignRule:
    """A player resigns after `num_moves` own moves in a row with a lost score: one below a limit in the score's unit.

    A score in a unit without a limit is never lost; being mated always is.
    """

    win_rate: float | None = None
    """A lower win rate is lost; in [0, 0.5]."""
    centipawns: int | None = None
    """This score or a lower one is lost; at most 0."""
    lead: float | None = None
    """A lead of so many points or less is lost; at most 0. It decides beside the other limits: either may."""
    num_moves: int = 1
    both: bool = False
    """Whether the opponent's last `num_moves` scores must agree: above 1 - win_rate, -centipawns or -lead or more, or a
    mate."""

    def __post_init__(self) -> None:
        if self.win_rate is None and self.centipawns is None and self.lead is None:
            raise SettingsError("a resignation rule has no win_rate, centipawns or lead: expected at least one.")
        if self.lead is not None and not -math.inf < self.lead <= 0:
            raise SettingsError(f"resigning at a lead of {self.lead} points: it must be at most 0, such as -20.")
        if self.win_rate is not None and not 0 <= self.win_rate <= 0.5:
            raise SettingsError(f"resigning under a win rate of {self.win_rate}: it must be between 0 and 0.5.")
        if self.centipawns is not None and self.centipawns > 0:
            raise SettingsError(f"resigning at {self.centipawns} centipawns: it must be at most 0, such as -650.")
        _require_at_least("num_moves", self.num_moves, 1)

    @classmethod
    def parse(cls, text: str) -> ResignRule:
        """Parse words in fastchess' notation; `winrate` (in percent) and `lead` (in points) are additional words.

        >>> ResignRule.parse("score=650 movecount=4 twosided=true")
        ResignRule(win_rate=None, centipawns=-650, lead=None, num_moves=4, both=True)
        >>> print(ResignRule.parse("winrate=5"))
        a win rate under 0.05
        >>> print(ResignRule.parse("lead=20 movecount=3"))
        20 points behind or more for 3 moves in a row

        Raises:
            SettingsError: a word is unknown, or its value is out of range.
        """
        words = _words(text, "to resign", ("score", "winrate", "lead", "movecount", "twosided"))
        return cls(
            win_rate=percentage("winrate", words["winrate"]) if "winrate" in words else None,
            centipawns=None if "score" not in words else -_count("score", words["score"]),
            lead=None if "lead" not in words else -float(_count("lead", words["lead"])),
            num_moves=_count("movecount", words.get("movecount", "1")),
            both=true_or_false("twosided", words.get("twosided", "false")),
        )

    def is_lost(self, score: Score | None) -> bool:
        """Whether the player with this score would resign if it lasts."""
        if score is None:
            return False
        if score.mate is not None:
            return score.mate <= 0
        if score.centipawns is not None:
            return self.centipawns is not None and score.centipawns <= self.centipawns
        if self.lead is not None and score.lead is not None and score.lead <= self.lead:
            return True
        return self.win_rate is not None and score.win_rate is not None and score.win_rate < self.win_rate

    def __str__(self) -> str:
        limits = [] if self.win_rate is None else [f"a win rate under {self.win_rate:g}"]
        limits += [] if self.centipawns is None else [f"{self.centipawns} centipawns or less"]
        limits += [] if self.lead is None else [f"{-self.lead:g} points behind or more"]
        return f"{' or '.join(limits)}{_in_a_row(self.num_moves)}{', and the opponent agrees' if self.both else ''}"


@dataclass(frozen=True)
class DrawRule:
    """A game is drawn after `num_moves` consecutive moves of each player with even scores."""

    num_moves: int
    """Number of moves of each player."""
    win_rate: float | None = None
    """Largest distance of an even win rate from a half, in [0, 0.5]."""
    centipawns: int | None = None
    """Largest distance of an even score from 0; at least 0."""
    min_plies: int = 0
    """Earliest ply of such a draw, counted from the start of the opening."""

    def __post_init__(self) -> None:
        if self.win_rate is None and self.centipawns is None:
            raise SettingsError("a draw rule has neither win_rate nor centipawns: expected at least one.")
        if self.win_rate is not None and not 0 <= self.win_rate <= 0.5:
            raise SettingsError(f"a draw within a win rate of {self.win_rate} of a half: it must be between 0 and 0.5.")
        if self.centipawns is not None:
            _require_at_least("centipawns", self.centipawns, 0)
        _require_at_least("num_moves", self.num_moves, 1)
        _require_at_least("min_plies", self.min_plies, 0)

    @classmethod
    def parse(cls, text: str) -> DrawRule:
        """Parse words in fastchess' notation; `winrate` is an additional word for win rates in percent.

        >>> DrawRule.parse("movenumber=40 movecount=8 score=10")
        DrawRule(num_moves=8, win_rate=None, centipawns=10, min_plies=80)

        Raises:
            SettingsError: a word is unknown, or its value is out of range.
        """
        words = _words(text, "for draws", ("score", "winrate", "movecount", "movenumber"))
        return cls(
            num_moves=_count("movecount", words.get("movecount", "1")),
            win_rate=percentage("winrate", words["winrate"]) if "winrate" in words else None,
            centipawns=None if "score" not in words else _count("score", words["score"]),
            min_plies=2 * _count("movenumber", words.get("movenumber", "0")),
        )

    def is_even(self, score: Score | None) -> bool:
        """Whether the player with this score would agree to a draw if it lasts."""
        if score is None or score.mate is not None:
            return False
        if score.centipawns is not None:
            return self.centipawns is not None and abs(score.centipawns) <= self.centipawns
        if self.win_rate is None or score.win_rate is None:
            return False
        return 0.5 - self.win_rate <= score.win_rate <= 0.5 + self.win_rate

    def __str__(self) -> str:
        limits = [] if self.win_rate is None else [f"win rates within {self.win_rate:g} of a half"]
        limits += [] if self.centipawns is None else [f"scores within {self.centipawns} centipawns"]
        return f"{' or '.join(limits)}{_in_a_row(self.num_moves)} of both players"


@dataclass(frozen=True)
class Verdict:
    """The end of an adjudicated game."""

    result: float
    """The first player's result: 1 won, 0 drawn, -1 lost."""
    ending: str
    """A word of `zerosum.notation.record.ENDINGS`: "resignation", "agreement" or "ply cap"."""
    reason: str
    """The rule as text."""


@dataclass(frozen=True)
class AdjudicationRules:
    """The rules that end a game early; by default there are none."""

    resign: tuple[ResignRule | None, ResignRule | None] = (None, None)
    """The rules of the first and of the second player."""
    draw: DrawRule | None = None
    max_plies: int | None = None
    """Number of plies after which a game is a draw; None for no limit."""

    def __post_init__(self) -> None:
        if self.max_plies is not None:
            _require_at_least("max_plies", self.max_plies, 1)


def adjudicate(rules: AdjudicationRules, reports: Sequence[ScoredMove], *, plies: int) -> Verdict | None:
    """The verdict after the latest report; None while the game goes on.

    Call it after each move of a game that the rules have not ended: only the latest move is examined. Resignations take
    precedence over draws.

    Args:
        rules: The rules that apply.
        reports: Reports of all moves of the players, in order.
        plies: Length of the game so far, opening included.
    """
    if reports and (rule := rules.resign[reports[-1].player]):
        loser = reports[-1].player
        lost = all(map(rule.is_lost, _last_scores(reports, loser, rule.num_moves)))
        if lost and (not rule.both or _agrees(rule, _last_scores(reports, 1 - loser, rule.num_moves))):
            return Verdict(-1.0 if loser == 0 else 1.0, "resignation", str(rule))
    if (draw := rules.draw) and plies >= draw.min_plies:
        scores = [score for player in (0, 1) for score in _last_scores(reports, player, draw.num_moves)]
        if all(map(draw.is_even, scores)):
            return Verdict(0.0, "agreement", str(draw))
    if rules.max_plies is not None and plies >= rules.max_plies:
        return Verdict(0.0, "ply cap", f"{rules.max_plies} plies")
    return None


def _last_scores(reports: Sequence[ScoredMove], player: int, number: int) -> list[Score | None]:
    """A player's last `number` scores, newest first; None for missing moves."""
    scores: list[Score | None] = []
    for report in reversed(reports):
        if len(scores) == number:
            break
        if report.player == player:
            scores.append(report.score)
    return scores + [None] * (number - len(scores))


def _agrees(rule: ResignRule, scores: Sequence[Score | None]) -> bool:
    """Whether the opponent's scores, negated, are lost, too."""
    return all(score is not None and rule.is_lost(_from_the_other_side(score)) for score in scores)


def _from_the_other_side(score: Score) -> Score:
    if score.win_rate is not None:
        return Score(win_rate=1 - score.win_rate, lead=None if score.lead is None else -score.lead)
    if score.centipawns is not None:
        return Score(centipawns=-score.centipawns)
    assert score.mate is not None
    return Score(mate=-score.mate or 1)  # a player that is mated now has been mated by its opponent


def _words(text: str, what: str, known: tuple[str, ...]) -> dict[str, str]:
    """`score=600 movecount=3` as a mapping."""
    found: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if name not in known or not equals or name in found:
            raise SettingsError(
                f"{shown(word)} in a rule {what}, {shown(text)}: expected words such as score=600, each once"
                f"{nearest(name, known)}."
            )
        found[name] = value
    return found


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise SettingsError(f"{name} is {shown(text)}, expected an integer of at least 0.")
    return int(text)


def percentage(name: str, text: str) -> float:
    """The share that a percentage is: 0.05 of "5". Raises SettingsError with the name if it is none."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,9})?", text, re.ASCII):
        raise SettingsError(f"{name} is {shown(text)}, expected percent such as 5.")
    return float(text) / 100


def _in_a_row(num_moves: int) -> str:
    return "" if num_moves == 1 else f" for {num_moves} moves in a row"


def _require_at_least(name: str, value: int, low: int) -> None:
    if value < low:
        raise SettingsError(f"{name} is {value}, but must be at least {low}.")

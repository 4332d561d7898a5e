"""When a game of a match ends before its rules end it: resignation, agreed draws and a longest game, by scores.

A match reports what its players say of each position in which they move (`Report`); `adjudicate` answers the `Verdict`,
or None while the game goes on. It is a pure function of the reports, so a match that is resumed comes to the same end.
Which rules hold for whom is the match's affair; those of the AlphaZero paper are in `zerosum.contest.paper`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.base.errors import SettingsError, nearest, shown


@dataclass(frozen=True)
class Score:
    """What a player thinks of the position, seen from itself. Just one of the three is given."""

    win_rate: float | None = None
    """Expected points in [0, 1]: (value + 1) / 2."""
    centipawns: int | None = None
    mate: int | None = None
    """Moves to mate: above 0 it mates, below 0 it is mated; 0 is that it is mated now."""

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.win_rate, self.centipawns, self.mate)) != 1:
            raise SettingsError(f"{self}: expected just one of win_rate, centipawns and mate.")
        if self.win_rate is not None and not 0 <= self.win_rate <= 1:
            raise SettingsError(f"win_rate is {self.win_rate}, allowed is 0 to 1.")


@dataclass(frozen=True)
class Report:
    """One move of a player."""

    player: int
    """Who moved: 0 (first) or 1 (second)."""
    score: Score | None
    """None if it did not say."""


@dataclass(frozen=True)
class ResignRule:
    """A player resigns after so many moves of its own in a row with a lost score: under a limit in the score's unit.

    A score in a unit without a limit is never lost. Being mated is lost in any unit.
    """

    win_rate: float | None = None
    """Lost is a win rate under it, in [0, 0.5]."""
    centipawns: int | None = None
    """Lost is a score of it or less; at most 0."""
    num_moves: int = 1
    both: bool = False
    """Only if the opponent's last so many scores agree: above 1 - win_rate, -centipawns or more, or a mate that it
    gives."""

    def __post_init__(self) -> None:
        if self.win_rate is None and self.centipawns is None:
            raise SettingsError("a rule to resign has neither win_rate nor centipawns: expected at least one.")
        if self.win_rate is not None and not 0 <= self.win_rate <= 0.5:
            raise SettingsError(f"resigning under a win rate of {self.win_rate}: allowed is 0 to 0.5.")
        if self.centipawns is not None and self.centipawns > 0:
            raise SettingsError(f"resigning at {self.centipawns} centipawns: allowed is 0 and less, such as -650.")
        _require_at_least("num_moves", self.num_moves, 1)

    @classmethod
    def parse(cls, text: str) -> ResignRule:
        """From words as fastchess has them, and one for win rates in percent.

        >>> ResignRule.parse("score=650 movecount=4 twosided=true")
        ResignRule(win_rate=None, centipawns=-650, num_moves=4, both=True)
        >>> print(ResignRule.parse("winrate=5"))
        a win rate under 0.05

        Raises:
            SettingsError: a word is unknown, or its value is out of range.
        """
        words = _words(text, "to resign", ("score", "winrate", "movecount", "twosided"))
        return cls(
            win_rate=_share(words.get("winrate")),
            centipawns=None if "score" not in words else -_count("score", words["score"]),
            num_moves=_count("movecount", words.get("movecount", "1")),
            both=_truth("twosided", words.get("twosided", "false")),
        )

    def is_lost(self, score: Score | None) -> bool:
        """Whether the player whose score it is would give up, if it stays so."""
        if score is None:
            return False
        if score.mate is not None:
            return score.mate <= 0
        if score.centipawns is not None:
            return self.centipawns is not None and score.centipawns <= self.centipawns
        return self.win_rate is not None and score.win_rate is not None and score.win_rate < self.win_rate

    def __str__(self) -> str:
        limits = [] if self.win_rate is None else [f"a win rate under {self.win_rate:g}"]
        limits += [] if self.centipawns is None else [f"{self.centipawns} centipawns or less"]
        return f"{' or '.join(limits)}{_in_a_row(self.num_moves)}{', and the opponent agrees' if self.both else ''}"


@dataclass(frozen=True)
class DrawRule:
    """A draw after so many moves of each player in a row with an even score."""

    num_moves: int
    """Of each player."""
    win_rate: float | None = None
    """Even is a win rate no further from a half than this, in [0, 0.5]."""
    centipawns: int | None = None
    """Even is a score no further from 0 than this; at least 0."""
    min_plies: int = 0
    """Not before the game has so many plies, its opening's included."""

    def __post_init__(self) -> None:
        if self.win_rate is None and self.centipawns is None:
            raise SettingsError("a rule for draws has neither win_rate nor centipawns: expected at least one.")
        if self.win_rate is not None and not 0 <= self.win_rate <= 0.5:
            raise SettingsError(f"a draw within a win rate of {self.win_rate} of a half: allowed is 0 to 0.5.")
        if self.centipawns is not None:
            _require_at_least("centipawns", self.centipawns, 0)
        _require_at_least("num_moves", self.num_moves, 1)
        _require_at_least("min_plies", self.min_plies, 0)

    @classmethod
    def parse(cls, text: str) -> DrawRule:
        """From words as fastchess has them, and one for win rates in percent.

        >>> DrawRule.parse("movenumber=40 movecount=8 score=10")
        DrawRule(num_moves=8, win_rate=None, centipawns=10, min_plies=80)

        Raises:
            SettingsError: a word is unknown, or its value is out of range.
        """
        words = _words(text, "for draws", ("score", "winrate", "movecount", "movenumber"))
        return cls(
            num_moves=_count("movecount", words.get("movecount", "1")),
            win_rate=_share(words.get("winrate")),
            centipawns=None if "score" not in words else _count("score", words["score"]),
            min_plies=2 * _count("movenumber", words.get("movenumber", "0")),
        )

    def is_even(self, score: Score | None) -> bool:
        """Whether the player whose score it is would take a draw, if it stays so."""
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
    """How a game ended by adjudication."""

    result: float
    """The first player's: 1 won, 0 drawn, -1 lost."""
    ending: str
    """A word of `zerosum.notation.record.ENDINGS`: "resignation", "agreement" or "ply cap"."""
    reason: str
    """The rule, in words."""


@dataclass(frozen=True)
class AdjudicationRules:
    """What ends a game of a match early; None of it by default."""

    resign: tuple[ResignRule | None, ResignRule | None] = (None, None)
    """Of the first and of the second player."""
    draw: DrawRule | None = None
    max_plies: int | None = None
    """A game of so many plies is a draw."""

    def __post_init__(self) -> None:
        if self.max_plies is not None:
            _require_at_least("max_plies", self.max_plies, 1)


def adjudicate(rules: AdjudicationRules, reports: Sequence[Report], *, plies: int) -> Verdict | None:
    """The verdict after the last of the reports, None if the game goes on.

    Ask after each move, of a game that its rules have not ended: an earlier verdict is not found again. A resignation
    comes before a draw.

    Args:
        rules: That hold.
        reports: Of all moves that the players made themselves, in their order.
        plies: Of the game so far, its opening's included.
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


def _last_scores(reports: Sequence[Report], player: int, number: int) -> list[Score | None]:
    """A player's last so many scores, newest first; None for each move that it has not made yet."""
    scores: list[Score | None] = []
    for report in reversed(reports):
        if len(scores) == number:
            break
        if report.player == player:
            scores.append(report.score)
    return scores + [None] * (number - len(scores))


def _agrees(rule: ResignRule, scores: Sequence[Score | None]) -> bool:
    """Whether the opponent's scores, seen from the other side, are lost, too."""
    return all(score is not None and rule.is_lost(_from_the_other_side(score)) for score in scores)


def _from_the_other_side(score: Score) -> Score:
    if score.win_rate is not None:
        return Score(win_rate=1 - score.win_rate)
    if score.centipawns is not None:
        return Score(centipawns=-score.centipawns)
    assert score.mate is not None
    return Score(mate=-score.mate or 1)  # whoever is mated now has an opponent who mated


def _words(text: str, what: str, known: tuple[str, ...]) -> dict[str, str]:
    """`score=600 movecount=3` as a mapping."""
    found: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if name not in known or not equals or name in found:
            raise SettingsError(
                f"{shown(word)} in a rule {what}, {shown(text)}: expected words such as score=600, each once;"
                f" {nearest(name, known)}."
            )
        found[name] = value
    return found


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        raise SettingsError(f"{name} is {shown(text)}, expected a whole number of at least 0.")
    return int(text)


def _share(text: str | None) -> float | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,3}(\.\d{1,9})?", text, re.ASCII):
        raise SettingsError(f"winrate is {shown(text)}, expected percent such as 5.")
    return float(text) / 100


def _truth(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise SettingsError(f"{name} is {shown(text)}, expected true or false.")
    return text == "true"


def _in_a_row(num_moves: int) -> str:
    return "" if num_moves == 1 else f" for {num_moves} moves in a row"


def _require_at_least(name: str, value: int, low: int) -> None:
    if value < low:
        raise SettingsError(f"{name} is {value}, allowed is at least {low}.")

"""Games of Go that people finished: after two passes they take the dead stones off the board before they count.

The rules of the game itself (`Rules.outcome`) count all stones as alive, as programs play. `PeoplesCount` counts as a
record's RU says, with the dead stones that `notation/go_status.py` finds, as GTP's `final_score` and the JSON server
do. The result in the record decides who won, because the players agreed on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zerosum.games import Rules, State, start_state
from zerosum.games.rules import options_of, with_options
from zerosum.notation.go_status import TWO_PASSES, FinalCount, final_count, judge
from zerosum.notation.go_words import GoRules, text_of, vertex_of
from zerosum.notation.record import Record
from zerosum.notation.sgf_root import rules_of


@dataclass(frozen=True)
class PeoplesCount:
    """How the players of a record count their game."""

    game: Rules
    record: Record
    rules: GoRules

    @classmethod
    def of(cls, game: Rules, record: Record) -> PeoplesCount | None:
        """The count of a record; None if the rules of the game count all stones, as in other games."""
        rules = rules_of(record)
        return None if rules is None or not rules.friendly_pass else cls(game, record, rules)

    def final(self, actions: Sequence[int], state: State) -> FinalCount | None:
        """The count after these moves; None if two passes have not ended the game."""
        if self.game.ending(state) != TWO_PASSES:
            return None
        game = with_options(self.game, komi=f"{self._komi():g}", scoring=self.rules.scoring.lower())
        counted = start_state(game, self.record.start)
        for action in actions:  # territory counts prisoners
            counted = game.play(counted, action)
        return final_count(game, counted, friendly_pass=True)

    def value(self, count: FinalCount) -> float:
        """The first player's result: the record's, or else that of the count."""
        if self.record.result is not None:
            return self.record.result
        return float((count.score > 0) - (count.score < 0))

    def _komi(self) -> float:
        """White's compensation with the bonus for handicap stones."""
        handicap = self.record.header("HA")
        num_stones = int(handicap) if handicap.isascii() and handicap.isdigit() else 0
        bonus = {"N": num_stones, "N-1": num_stones - 1}.get(self.rules.handicap_bonus, 0) if num_stones > 1 else 0
        return float(options_of(self.game)["komi"]) + bonus

    def without_dead(self, state: State) -> State | None:
        """A position after a pass without its dead stones; None if there are none.

        It is searched instead: a search counts all stones when both have passed, so it would take the dead ones first.
        """
        judged = judge(self.game, state)
        if not judged.dead:
            return None
        left = {
            vertex_of(judged.size, point): owner for point, owner in judged.stones.items() if point not in judged.dead
        }
        return self.game.parse_position(f"{text_of(judged.size, left, self.game.player(state))} passes=1")

    def is_settled(self, state: State) -> bool:
        """Whether no territory is open and no neutral point is left."""
        return judge(self.game, state).is_settled

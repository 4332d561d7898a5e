"""The end of a game of Go against people: dead stones count as captured, and a settled board is passed on.

The rules of a game let every stone live that is on the board after two passes, as programs play. People leave dead
stones where they are. Random games judge them, as for `final_score` of GTP (`zerosum.notation.go_status`).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from zerosum.games import Rules, State
from zerosum.notation.go_status import Judgement, judge
from zerosum.notation.go_words import vertex_of

TWO_PASSES = "two passes"
SIDES = ("Black", "White")


@dataclass(frozen=True)
class FinalScore:
    """The score of a finished game of Go."""

    lead: float
    """Black's points minus White's points and komi, without the dead stones."""
    dead: tuple[tuple[str, ...], tuple[str, ...]]
    """The points of Black's dead stones and of White's."""
    lead_as_it_stands: float
    """The lead by the game's own rules, to which every stone on the board is alive."""
    owners: tuple[int, ...] = ()
    """The owner of each point, row by row from the top left: 1 Black, -1 White, 0 neither."""
    chains: tuple[frozenset[int], ...] = ()
    """The points of each chain of stones."""

    @property
    def result(self) -> float:
        """Black's result: 1, 0 or -1."""
        return float((self.lead > 0) - (self.lead < 0))

    def words(self) -> str:
        """The dead stones, and what they change; "" without any."""
        found = [f"{side} {' '.join(points)}" for side, points in zip(SIDES, self.dead, strict=True) if points]
        if not found:
            return ""
        other = f"{SIDES[self.lead_as_it_stands < 0]} by {abs(self.lead_as_it_stands):g}"
        changes = f" With all stones alive it would be {other}." if self.lead_as_it_stands else ""
        return f"Dead stones: {', '.join(found)}.{changes}"


def final_score(game: Rules, state: State, *, marked: Set[int] = frozenset()) -> FinalScore | None:
    """The score of a game of Go that two passes have ended; None for any other position or game.

    Args:
        game: Any game.
        state: The position.
        marked: Points of chains that people judge otherwise than the random games: dead if these let them live.
    """
    if game.spec.name != "go" or game.ending(state) != TWO_PASSES:
        return None
    judged, lead = judge(game, state), game.score(state)
    assert lead is not None, "Go is scored in points"
    dead = judged.dead ^ judged.chains_at(marked)
    return FinalScore(
        judged.score(dead),
        (_dead_of(judged, dead, 0), _dead_of(judged, dead, 1)),
        lead,
        judged.owners(dead),
        tuple(chain for chain, _, _ in judged.chains),
    )


def _dead_of(judged: Judgement, dead: Set[int], player: int) -> tuple[str, ...]:
    """The points of a player's dead stones as people write them, by column and row."""
    points = [vertex_of(judged.size, point) for point in dead if judged.stones[point] == player]
    return tuple(sorted(points, key=lambda vertex: (vertex[0], int(vertex[1:]))))


def passes_instead(game: Rules, state: State, before: State | None) -> int | None:
    """The pass that people expect in place of a search, None if a search is to decide.

    The player to move passes if it surely wins without the dead stones and either the opponent has just passed or the
    territories are settled; and if the territories are settled and nothing can change the result.

    Args:
        game: Any game.
        state: The position, which is not over.
        before: The position before the last move, None at the beginning.
    """
    action = game.spec.num_actions - 1
    if game.spec.name != "go" or action not in game.legal_actions(state):
        return None
    has_passed = before is not None and stones(game, before) == stones(game, state)
    judged = judge(game, state)
    lead = judged.sure_lead(game.player(state))
    if (lead > 0 and (has_passed or judged.is_settled)) or (judged.is_settled and _is_lost(judged)):
        return action
    return None


def _is_lost(judged: Judgement) -> bool:
    """Whether the player to move surely loses."""
    return judged.sure_lead(1 - judged.game.player(judged.state)) > 0


def stones(game: Rules, state: State) -> str:
    """The stones on the board, as the first word of the position's notation: a pass changes none."""
    return (game.position_text(state) or "").partition(" ")[0]

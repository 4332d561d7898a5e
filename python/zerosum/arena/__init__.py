"""Matches between players, of whatever kind: searches of ours, other people's engines, random play.

`plan.py` says what a match is and `match.py` plays it: the loop, and the rules of a game. `seating.py`, `seats.py` and
`program_seat.py` have the players at their boards, `played.py` what is known of a game, `result.py` and `standings.py`
what a match and a tournament say; `store.py` keeps games, so that a match goes on after a kill, and `game_files.py`
writes them as people's programs read them. Start with `play_match`.
"""

from zerosum.arena.match import Match as Match
from zerosum.arena.match import play as play
from zerosum.arena.match import play_match as play_match
from zerosum.arena.plan import MatchPlan as MatchPlan
from zerosum.arena.plan import MatchSettings as MatchSettings
from zerosum.arena.plan import require_pairs as require_pairs
from zerosum.arena.played import FAILURES as FAILURES
from zerosum.arena.played import PlayedGame as PlayedGame
from zerosum.arena.played import Thought as Thought
from zerosum.arena.result import MatchResult as MatchResult

__all__ = [
    "FAILURES",
    "Match",
    "MatchPlan",
    "MatchResult",
    "MatchSettings",
    "PlayedGame",
    "Thought",
    "play",
    "play_match",
    "require_pairs",
]

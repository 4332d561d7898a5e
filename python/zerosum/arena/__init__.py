"""Matches between players of any kind: our searches, other people's engines, random play.

`plan.py` describes a match and `match.py` plays it: the loop, and the ends of games. `seating.py`, `seats.py` and
`program_seat.py` ask the players for moves, `played.py` is a finished game, `result.py` and `standings.py` are the
results of a match and of a tournament; `store.py` keeps games, so that a match continues after a kill, and
`game_files.py` writes them for people's programs. Start with `play_match`.
"""

from zerosum.arena.match import Match as Match
from zerosum.arena.match import play as play
from zerosum.arena.match import play_match as play_match
from zerosum.arena.plan import MatchPlan as MatchPlan
from zerosum.arena.plan import MatchSettings as MatchSettings
from zerosum.arena.plan import require_pairs as require_pairs
from zerosum.arena.played import FAILURES as FAILURES
from zerosum.arena.played import PlayedGame as PlayedGame
from zerosum.arena.result import MatchResult as MatchResult

__all__ = [
    "FAILURES",
    "Match",
    "MatchPlan",
    "MatchResult",
    "MatchSettings",
    "PlayedGame",
    "play",
    "play_match",
    "require_pairs",
]

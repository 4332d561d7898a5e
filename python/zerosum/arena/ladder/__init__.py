"""A scale of opponents for each game, and where a player stands on it.

`rungs.py` has the opponents of known strength, `results.py` the file of results, `placement.py` the loop that chooses
and plays matches. `zerosum.contest.ratings` is the arithmetic. Start with `Placement`.
"""

from zerosum.arena.ladder.placement import Placement as Placement

__all__ = ["Placement"]

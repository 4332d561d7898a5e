"""A scale of opponents for each game, and where a player stands on it.

`ratings.py` is the arithmetic: ratings from results and priors, and which game would tell most. `rungs.py` has the
opponents of known strength, `results.py` the file of results, `placement.py` the loop. Start with `Placement`.
"""

from zerosum.ladder.placement import Placement as Placement
from zerosum.ladder.ratings import Ratings as Ratings
from zerosum.ladder.ratings import fit_ratings as fit_ratings

__all__ = ["Placement", "Ratings", "fit_ratings"]

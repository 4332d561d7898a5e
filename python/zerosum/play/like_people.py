"""Players whose moves are those of people of a rank.

A rank of people is only told of networks that learned from people of that rank, which their files name: those of Maia
(McIlroy-Young et al., "Aligning Superhuman AI with Human Behavior", 2020) learned the moves of people on lichess rated
1100 to 1900 and are called `maia-1500.pb.gz`. No other player here has played people, so none has a rank of theirs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from zerosum.play.skill import skilled_search
from zerosum.search import SearchConfig

OF_PEOPLE = re.compile(r"maia-(1[1-9]00)\.pb(\.gz)?", re.ASCII)
"""Names of the files of Maia's networks."""
TEMPERATURE = 1.0
"""The temperature at which their moves are drawn."""


def peoples_rating(path: Path) -> int | None:
    """The rating on lichess of the people from whom a network learned; None if its file names none.

    >>> peoples_rating(Path("nets/maia-1500.pb.gz")), peoples_rating(Path("runs/maia/checkpoints/1500.json"))
    (1500, None)
    """
    found = OF_PEOPLE.fullmatch(path.name)
    return int(found[1]) if found else None


def like_people(config: SearchConfig) -> SearchConfig:
    """The settings with which moves, drawn at `TEMPERATURE`, are as frequent as people's: without a search."""
    return replace(skilled_search(config), num_simulations=1, prior_temperature=1.0)

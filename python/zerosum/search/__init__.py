"""Tree search: its settings and formula, and how a search of the core is made.

`config.py` has the settings, `answering.py` the loop between search and evaluator, `textbook.py` the paper's search in
140 lines to be read, `textbook_muzero.py` the one by learned rules. Start there.
"""

from zerosum._core import DeepeningSearch as DeepeningSearch
from zerosum.search.config import SearchConfig as SearchConfig
from zerosum.search.config import new_search as new_search

__all__ = [
    "DeepeningSearch",
    "SearchConfig",
    "new_search",
]

"""Tree search: its settings, and a search of many positions made from them.

The search asks, the caller answers: `gather` walks the trees and hands out positions, `apply` takes their evaluations.
It never calls a network. The algorithm is in Rust; `search_reference.py` is the same algorithm to be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from zerosum._core import Root, Search
from zerosum.games import Rules, measure_game
from zerosum.settings import check, setting

__all__ = ["Root", "Search", "SearchConfig", "new_search"]


@dataclass(frozen=True)
class SearchConfig:
    """How a tree is searched. Values are in [-1, 1], so constants from texts with values in [0, 1] are doubled.

    A simulation follows, at each node s, the move a that maximises (Science 2018, supplement, "Search")

        Q(s, a) + c(s) * P(s, a) * sqrt(N(s)) / (1 + N(s, a))
        c(s) = c_init + c_factor * ln((1 + N(s) + c_base) / c_base)

    where N(s) counts the node's own evaluation and its children's visits.
    """

    num_simulations: int = setting(100, "new simulations after the root's evaluation (paper: 800)", low=1, high=1 << 24)
    c_init: float = setting(
        1.75, "c(s) of a fresh node (paper: 1.25 on values in [0, 1], here 2.5)", low=0.0, high=100.0
    )
    c_base: float = setting(19652.0, "visits after which c(s) grows (paper: 19652)", low=1.0, high=1e9)
    c_factor: float = setting(2.0, "how fast c(s) grows (paper: 1 on values in [0, 1], here 2)", low=0.0, high=100.0)
    unvisited_value: str = setting(
        "parent",
        "Q of an unvisited move: 'loss' (-1, the paper's pseudocode), 'zero' (AlphaGo Zero's text) or 'parent' (the"
        " position's own Q less unvisited_reduction * sqrt(sum of the visited moves' priors))",
        choices=("loss", "zero", "parent"),
    )
    unvisited_reduction: float = setting(0.2, "see unvisited_value (Leela Chess Zero calls it FPU)", low=0.0, high=2.0)
    root_noise_fraction: float = setting(0.25, "share of Dirichlet noise at the root (paper: 0.25)", low=0.0, high=1.0)
    root_noise_alpha: float | None = setting(
        None,
        "alpha of that noise; none is 10 / mean number of legal moves (paper: 0.3 chess, 0.03 Go)",
        low=1e-3,
        high=1e3,
    )
    exact_bounds: bool = setting(
        True,
        "use proven results in selection, backup, targets and to stop (score bounded MCTS, Cazenave 2010;"
        " paper: false)",
    )
    reuse_tree: bool = setting(True, "keep what is known below the move that was played (paper's pseudocode: false)")
    count_reused_visits: bool = setting(True, "whether visits of a reused tree count towards num_simulations")
    leaves_in_flight: int = setting(
        1, "leaves of one tree asked about at a time; 1 is the sequential algorithm", low=1, high=4096
    )
    virtual_loss: float = setting(
        1.0, "lost visits that a leaf in flight counts as, if there are several", low=0.1, high=10.0
    )
    max_nodes: int = setting(
        1 << 24, "a tree that would hold more nodes (48 bytes each) ends its search", low=1024, high=1 << 26
    )

    def __post_init__(self) -> None:
        check(self, "search")


def new_search(game: Rules, config: SearchConfig, *, num_trees: int = 1) -> Search:
    """A search of `num_trees` positions of a game, all at the initial state, none begun."""
    alpha = config.root_noise_alpha
    return Search(
        game,
        num_trees,
        c_init=config.c_init,
        c_base=config.c_base,
        c_factor=config.c_factor,
        unvisited_value=config.unvisited_value,
        unvisited_reduction=config.unvisited_reduction,
        noise_fraction=config.root_noise_fraction,
        noise_alpha=natural_noise_alpha(game) if alpha is None else alpha,
        exact_bounds=config.exact_bounds,
        count_reused_visits=config.count_reused_visits,
        leaves_in_flight=config.leaves_in_flight,
        virtual_loss=config.virtual_loss,
        max_nodes=config.max_nodes,
    )


def natural_noise_alpha(game: Rules) -> float:
    """10 / (typical number of legal moves), the rule that fits the paper's three games, in three digits."""
    return float(f"{10 / measure_game(game).legal_actions:.3g}")

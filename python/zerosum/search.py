"""Tree search: its settings, and a search of many positions made from them.

The search asks, the caller answers: `gather` walks the trees and hands out positions, `apply` takes their evaluations.
It never calls a network. The algorithm is in Rust; `search_reference.py` is the same algorithm to be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from zerosum._core import Root, Search
from zerosum.errors import SettingsError
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

    `root_selection` = "gumbel" puts sequential halving in its place at the root (Danihelka et al., "Policy improvement
    by planning with Gumbel", ICLR 2022; inside the tree PUCT stays, which the paper replaces as well). The m =
    `gumbel_actions` moves with the highest g + logit get equal numbers of visits in ceil(log2 m) rounds of about equal
    length, after each of which the better half stays, by

        g(a) + logit(a) + sigma(q(a)),    sigma(q) = (gumbel_visit_scale + max N) * gumbel_value_scale * q

    where g is the move's Gumbel noise, 0 in a search without noise. The best move that is left is played: with noise,
    that is a draw from softmax(logit + sigma(q)) already, and no temperature is applied. Proven losses drop out at
    once. Visits of a reused tree count in q and in max N; the schedule counts the visits that this search makes. The
    last leaves in flight of a round are waited for. The number of simulations has to be known when a search begins.

    `policy_target` = "completed-q" learns softmax(logit + sigma(q)) over all legal moves, with either root. Moves
    without visits have the mixed value (the paper's equation 33) as their q. It is uniform over proven wins if there
    are any, and a proven loss has no share while another move exists.

    `forced_playouts` = k makes a PUCT root explore what its noise proposes (Wu 2019, arXiv 1902.10565, section 3.2): in
    a search with noise, a move that was visited at all gets at least sqrt(k * P * N) visits, P with noise and N the
    visits of all moves. The target of "visits" is then pruned: of each move but the most visited one, c*, up to that
    many visits are taken off, as long as its Q + U stays below that of c*, and if this leaves a single one, it goes as
    well. Self-play draws its moves from the pruned visits, too, as KataGo's program does.

    `cache_positions` keeps what the network said about positions, by what it was asked (planes and legal moves): a
    leaf that is known is settled by `gather` itself. With one leaf in flight, and an evaluator that always says the
    same of a position, the search is the same visit by visit; with several, the values of known leaves come sooner.
    Of two halves, the one not asked about for longer is forgotten when the other is full. `Search.clear_cache` is for
    a change of the network.

    The default of `gumbel_value_scale` makes a whole point of q worth 9 logits after 100 simulations with 40 visits of
    the best move, about as sharp as what PUCT's visits tend to with c(s) = 1.75 (Grill et al., ICML 2020: (100 + L) /
    (c * sqrt(100)) = 6 with L = 7 moves). q is not rescaled by the root's extremes, as mctx does: small differences
    stay small.
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
    root_selection: str = setting(
        "puct",
        "how the root chooses: 'puct' as elsewhere, or 'gumbel', sequential halving (Danihelka et al., ICLR 2022)",
        choices=("puct", "gumbel"),
    )
    gumbel_actions: int = setting(
        16, "moves that a Gumbel root considers (the paper's m: 16)", low=2, high=(1 << 16) - 1
    )
    gumbel_visit_scale: float = setting(
        50.0, "c_visit of sigma, for a Gumbel root and the completed-q target (paper: 50)", low=0.0, high=1e6
    )
    gumbel_value_scale: float = setting(
        0.1,
        "c_scale of sigma, on values in [-1, 1] (paper: 1; mctx: 0.1, on q rescaled to [0, 1])",
        low=0.0,
        high=100.0,
    )
    policy_target: str = setting(
        "visits",
        "what the policy learns: the shares of the 'visits', or 'completed-q', softmax(logit + sigma(q)) (Danihelka et"
        " al., ICLR 2022)",
        choices=("visits", "completed-q"),
    )
    forced_playouts: float = setting(
        0.0,
        "k: visited moves get sqrt(k * P * N) visits at a root with noise, which the policy target does not count"
        " (KataGo: 2; 0 is off; for root_selection 'puct' and policy_target 'visits')",
        low=0.0,
        high=100.0,
    )
    exact_bounds: bool = setting(
        True,
        "use proven results in selection, backup, targets and to stop (score bounded MCTS, Cazenave 2010;"
        " paper: false)",
    )
    twofold_draw: bool = setting(
        False,
        "below the root, a position that occurred before in its game is a draw: cycles are not walked twice (as Leela"
        " Chess Zero; the paper: false; not measured here). No proof, so exact_bounds must be off",
    )
    reuse_tree: bool = setting(True, "keep what is known below the move that was played (paper's pseudocode: false)")
    count_reused_visits: bool = setting(True, "whether visits of a reused tree count towards num_simulations")
    leaves_in_flight: int = setting(
        1, "leaves of one tree asked about at a time; 1 is the sequential algorithm", low=1, high=4096
    )
    virtual_loss: float = setting(
        1.0, "lost visits that a leaf in flight counts as, if there are several", low=0.1, high=10.0
    )
    cache_positions: int = setting(
        0,
        "evaluations kept for positions that are met again, in all trees together (some 50 + 4 * legal moves bytes"
        " each; 0 is none)",
        low=0,
        high=1 << 26,
    )
    memory_mib: int = setting(
        2048,
        "mebibytes that all trees together may hold, each an equal part; a search whose tree would outgrow it ends"
        " there and then",
        low=1,
        high=1 << 20,
    )

    def __post_init__(self) -> None:
        check(self, "search")
        if self.forced_playouts and (self.root_selection != "puct" or self.policy_target != "visits"):
            raise SettingsError(
                f"search.forced_playouts is {self.forced_playouts}, which is for root_selection 'puct' and"
                f" policy_target 'visits', not {self.root_selection!r} and {self.policy_target!r}: set it to 0."
            )

        if self.twofold_draw and self.exact_bounds:
            raise SettingsError(
                "search.twofold_draw is a guess, which search.exact_bounds would take for a proof: set one of them to"
                " false."
            )

    @property
    def has_root_noise(self) -> bool:
        """Whether noise changes anything in a search that asks for it: a Gumbel root has its own."""
        return self.root_selection == "gumbel" or self.root_noise_fraction > 0


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
        root_selection=config.root_selection,
        gumbel_actions=config.gumbel_actions,
        gumbel_visit_scale=config.gumbel_visit_scale,
        gumbel_value_scale=config.gumbel_value_scale,
        policy_target=config.policy_target,
        forced_playouts=config.forced_playouts,
        exact_bounds=config.exact_bounds,
        twofold_draw=config.twofold_draw,
        count_reused_visits=config.count_reused_visits,
        leaves_in_flight=config.leaves_in_flight,
        virtual_loss=config.virtual_loss,
        cache_positions=config.cache_positions,
        memory_mib=config.memory_mib,
    )


def natural_noise_alpha(game: Rules) -> float:
    """10 / (typical number of legal moves), the rule that fits the paper's three games, in three digits."""
    return float(f"{10 / measure_game(game).legal_actions:.3g}")

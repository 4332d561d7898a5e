"""Tree search: its settings, and a search of many positions made from them.

The search asks, the caller answers: `gather` walks the trees and hands out positions, `apply` takes their evaluations.
It never calls a network. The algorithm is in Rust; `textbook.py` is the paper's search in Python.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from zerosum._core import MIN_TREE_KIB, ResultTable, Root, Search, Syzygy
from zerosum.base.errors import SettingsError
from zerosum.base.settings import check, setting
from zerosum.games import Rules, measure_game
from zerosum.search.result_tables import open_tables
from zerosum.search.syzygy import open_syzygy

__all__ = ["Root", "Search", "SearchConfig", "new_search"]

MOST_MEMORY_MIB = 1 << 20
"""Maximum of `memory_mib`."""
_NODE_BYTES = 64
"""Maximum size of a node, with every value that a setting asks it to keep."""


@dataclass(frozen=True)
class SearchConfig:
    """Settings of a tree search; `docs/search.md` has the formulas.

    Values are in [-1, 1], so constants from texts with values in [0, 1] are doubled. A new run replaces some of these
    defaults by those of its game and budget (`zerosum.run.defaults`).
    """

    num_simulations: int = setting(
        100, "simulations per search, after the evaluation of the root (paper: 800)", low=1, high=1 << 24
    )
    c_init: float = setting(
        1.75,
        "exploration c(s) of a node without visits (paper: 1.25 on values in [0, 1], here 2.5)",
        low=0.0,
        high=100.0,
    )
    c_base: float = setting(19652.0, "number of visits from which c(s) grows (paper: 19652)", low=1.0, high=1e9)
    c_factor: float = setting(2.0, "growth of c(s) (paper: 1 on values in [0, 1], here 2)", low=0.0, high=100.0)
    unvisited_value: Literal["loss", "zero", "parent"] = setting(
        "parent",
        "Q of an unvisited move: 'loss' (-1, the paper's pseudocode), 'zero' (AlphaGo Zero's text) or 'parent' (Q of"
        " the position minus unvisited_reduction * sqrt(sum of the priors of its visited moves))",
    )
    unvisited_reduction: float = setting(
        0.2,
        "factor of the reduction in 'parent' of unvisited_value (\"FPU reduction\" in Leela Chess Zero)",
        low=0.0,
        high=2.0,
    )
    prior_temperature: float = setting(
        1.0,
        "temperature T of the priors softmax(logits / T); above 1 the search trusts the network's favourites less"
        " (paper: 1; Lc0: 1.359)",
        low=0.05,
        high=20.0,
    )
    root_noise_fraction: float = setting(
        0.25, "share of Dirichlet noise in the priors of the root (paper: 0.25)", low=0.0, high=1.0
    )
    root_noise_alpha: float | None = setting(
        None,
        "alpha of the Dirichlet noise; none is 10 / mean number of legal moves (paper: 0.3 chess, 0.03 Go)",
        low=1e-3,
        high=1e3,
    )
    root_selection: Literal["puct", "gumbel"] = setting(
        "puct",
        "selection at the root: 'puct', as below it, or 'gumbel', sequential halving (Danihelka et al., ICLR 2022)",
    )
    gumbel_actions: int = setting(
        16, "number of moves that a Gumbel root considers (m in the paper: 16)", low=2, high=(1 << 16) - 1
    )
    gumbel_visit_scale: float = setting(
        50.0, "c_visit of sigma, for a Gumbel root and the completed-q target (paper: 50)", low=0.0, high=1e6
    )
    gumbel_value_scale: float = setting(
        0.1,
        "c_scale of sigma, on q rescaled so that the worst move of the root has 0 and the best 1 (mctx: 0.1; paper: 1)",
        low=0.0,
        high=100.0,
    )
    policy_target: Literal["visits", "completed-q"] = setting(
        "visits",
        "policy target: 'visits', the shares of the visits, or 'completed-q', softmax(logit + sigma(q)) (Danihelka"
        " et al., ICLR 2022)",
    )
    move_choice: Literal["visits", "lcb"] = setting(
        "visits",
        "move to play after a search by PUCT: 'visits', the most visited, or 'lcb', the one with the highest lower"
        " confidence bound of Q (Leela Zero, KataGo; +22 ± 12 Elo in Connect Four, docs/log.md)",
    )
    lcb_deviations: float = setting(
        5.0,
        "distance of the bound below Q, in standard deviations of the mean, for move_choice 'lcb' (KataGo: 5)",
        low=0.0,
        high=100.0,
    )
    lcb_least_share: float = setting(
        0.15,
        "minimum visits of a move, as a share of the visits of the most visited move, for move_choice 'lcb' (KataGo:"
        " 0.15)",
        low=0.0,
        high=1.0,
    )
    keep_draws: bool = setting(False, "keep the probability of a draw below each move, for reports")
    exact_bounds: bool = setting(
        True,
        "use proven results in selection, backup and targets, and to end a search early (score-bounded MCTS,"
        " Cazenave 2010; paper: false)",
    )
    proof_nodes: int = setting(
        50,
        "positions per simulation for the search for forced results at the root (docs/search.md), in play and"
        " analysis; self-play and a run's own rating games make none",
        low=0,
        high=1 << 20,
    )
    reuse_tree: bool = setting(True, "keep the tree below the move that was played (paper's pseudocode: false)")
    count_reused_visits: bool = setting(True, "whether visits of a kept tree count towards num_simulations")
    leaves_in_flight: int = setting(
        1, "leaves of one tree in evaluation at a time; 1 is the sequential algorithm", low=1, high=4096
    )
    batches_in_flight: int = setting(
        2,
        "number of batches into which leaves_in_flight are divided when one position is searched: the next batch is"
        " gathered while one is evaluated",
        low=1,
        high=256,
    )
    virtual_loss: float = setting(
        0.3,
        "difference between the Q of a move and the assumed value of its leaf in evaluation, if leaves_in_flight is"
        " above 1; 0 counts only the visit (WU-UCT, Liu et al., ICLR 2020); the cost in strength is in docs/search.md",
        low=0.0,
        high=2.0,
    )
    collision_share: float = setting(
        0.0025,
        "number of simulations that may end at a leaf in evaluation before an incomplete batch is sent, as a share"
        " of the tree's visits, and at most four per free place of the batch; 0 sends it at the first"
        " (docs/search.md)",
        low=0.0,
        high=1.0,
    )
    threads: int = setting(
        1,
        "threads that share the work on a batch: legal moves, planes, priors; results do not depend on their number;"
        " a game in Python has one",
        low=1,
        high=256,
    )
    cache_positions: int = setting(
        0,
        "number of positions in the cache of evaluations, for all trees together, each of about 50 + 4 * legal moves"
        " bytes; 0 for no cache",
        low=0,
        high=1 << 26,
    )
    rules: Literal["known", "learned"] = setting(
        "known",
        "'known', the game's own, or 'learned': below the root a MuZero network (network.kind 'muzero') takes their"
        " place (docs/muzero.md)",
    )
    syzygy_path: str = setting(
        "",
        "folder of Syzygy tables (.rtbw, .rtbz), or several as in PATH, for chess (docs/tables.md); empty for none",
    )
    table_files: str = setting(
        "",
        "files of exact results that `zerosum tables` made for the game, separated as in PATH (docs/tables.md); empty"
        " for none",
    )
    memory_mib: int = setting(
        2048,
        "memory of all trees together, in MiB, in equal parts; a search ends early when its tree has filled its"
        " part. Self-play and matches without clocks take more if their games need it for num_simulations",
        low=1,
        high=MOST_MEMORY_MIB,
    )

    @property
    def num_batches(self) -> int:
        """Number of batches in flight in the search of one position."""
        return min(self.batches_in_flight, self.leaves_in_flight)

    @property
    def leaves_a_batch(self) -> int:
        """Maximum number of leaves of each of these batches."""
        return -(-self.leaves_in_flight // self.num_batches)

    def __post_init__(self) -> None:
        check(self, "search")
        if self.rules == "learned":
            refuse_with_learned_rules(self)

    def proving(self, *, proof_nodes: int) -> SearchConfig:
        """The settings with exact bounds and so many nodes of proofs; the same ones if the rules are learned."""
        return self if self.rules == "learned" else replace(self, exact_bounds=True, proof_nodes=proof_nodes)

    @property
    def has_root_noise(self) -> bool:
        """Whether noise changes anything in a search that asks for it: a Gumbel root has its own."""
        return self.root_selection == "gumbel" or self.root_noise_fraction > 0


def refuse_with_learned_rules(config: SearchConfig) -> None:
    """Refuse what needs the rules below the root. Raises SettingsError."""
    reasons = {
        "exact_bounds": (config.exact_bounds, "false", "no result is proven without the rules"),
        "proof_nodes": (config.proof_nodes > 0, "0", "no result is proven without the rules"),
        "reuse_tree": (config.reuse_tree, "false", "the next root is a position, not a hidden state"),
        "cache_positions": (config.cache_positions > 0, "0", "a cache knows positions, not hidden states"),
        "syzygy_path": (bool(config.syzygy_path), "empty", "tables know positions, not hidden states"),
        "table_files": (bool(config.table_files), "empty", "tables know positions, not hidden states"),
    }
    for name, (is_asked, other, reason) in reasons.items():
        if is_asked:
            raise SettingsError(
                f"search.rules is 'learned', but search.{name} is {getattr(config, name)!r}: {reason}. Set it to"
                f" {other}, as --preset muzero does."
            )


def new_search(game: Rules, config: SearchConfig, *, num_trees: int = 1) -> Search:
    """A search of `num_trees` positions of a game, all at the initial state, none begun.

    Raises:
        SettingsError: so many trees have too little memory, or the tables of `syzygy_path` cannot be used.
        DataError: a file of `table_files` cannot be used.
    """
    if config.memory_mib * 1024 < MIN_TREE_KIB * num_trees:
        raise SettingsError(
            f"search.memory_mib is {config.memory_mib}, less than {MIN_TREE_KIB} KiB for each of {num_trees} trees:"
            " give more."
        )
    alpha = config.root_noise_alpha
    noise_alpha = natural_noise_alpha(game) if alpha is None else alpha
    tables = exact_tables(game, config)
    try:
        return Search(game, config, num_trees, noise_alpha=noise_alpha, syzygy=tables.syzygy, results=tables.results)
    except ValueError as error:
        if tables.syzygy is None:
            raise
        raise SettingsError(f"search.syzygy_path is {config.syzygy_path!r}: {error}. Leave it empty.") from error


class ExactTables(NamedTuple):
    """Tables of exact results for the searches of a game."""

    syzygy: Syzygy | None
    results: list[ResultTable]


def exact_tables(game: Rules, config: SearchConfig) -> ExactTables:
    """The tables that the settings name; files that were opened before are not read again.

    Raises:
        SettingsError: the tables of `syzygy_path` cannot be used.
        DataError: a file of `table_files` cannot be used.
    """
    return ExactTables(
        open_syzygy(config.syzygy_path) if config.syzygy_path else None,
        open_tables(config.table_files, game) if config.table_files else [],
    )


def tree_mib(game: Rules, config: SearchConfig) -> float:
    """Mebibytes in which a tree of the game surely has its `num_simulations`, and as many kept ones if any are kept."""
    # A Gumbel root counts new visits alone.
    counts_kept = config.count_reused_visits and config.root_selection == "puct"
    num_simulations = config.num_simulations * (1 if counts_kept or not config.reuse_tree else 2)
    # A game's richest positions, or first ones, have more legal moves than its mean.
    legal_actions: float = game.spec.num_actions  # learned rules search all of them below the root
    if config.rules == "known":
        legal_actions = min(3 * measure_game(game).legal_actions, legal_actions)
    # A node and its place in a growing block; priors, then priors and actions, of each legal move.
    num_bytes = num_simulations * (2 * _NODE_BYTES + 6 * legal_actions)
    # What a tree keeps free for those under way: each may move the children of one node.
    num_bytes += (1 + config.leaves_in_flight) * (legal_actions + 1) * (_NODE_BYTES + 6)
    return 1.25 * num_bytes / (1 << 20)


def with_room(game: Rules, config: SearchConfig, num_trees: int) -> SearchConfig:
    """The settings with at least the memory in which each of so many trees has its `num_simulations`."""
    memory_mib = max(config.memory_mib, math.ceil(tree_mib(game, config) * num_trees))
    return replace(config, memory_mib=min(memory_mib, MOST_MEMORY_MIB))


def natural_noise_alpha(game: Rules) -> float:
    """10 / (typical number of legal moves), the rule that fits the paper's three games, in three digits."""
    return float(f"{10 / measure_game(game).legal_actions:.3g}")

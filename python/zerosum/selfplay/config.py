"""The settings of self-play."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum._core import MAX_ALPHA_BETA_DEPTH
from zerosum.base.settings import check, setting


@dataclass(frozen=True)
class SelfplayConfig:
    """How games for training are played."""

    num_workers: int | None = setting(
        None,
        "self-play workers, each a thread or a process (training.workers); none for one per core, on a GPU for the"
        " smallest measured number of threads that keeps it busy, and for one worker in a deterministic run",
        low=1,
        high=256,
    )
    games_per_worker: int | None = setting(
        None,
        "games that a worker plays at a time, which is the size of its batches; none for the smallest measured"
        " number that keeps the evaluator busy (64 in a deterministic run)",
        low=1,
        high=65536,
    )
    temperature: float = setting(
        1.0,
        "temperature of the drawn moves, with probabilities in proportion to visits ** (1 / temperature) (paper: 1);"
        " 0 plays the best move",
        low=0.0,
        high=10.0,
    )
    temperature_plies: int = setting(
        30,
        "number of plies after which the best move is played (paper's pseudocode: 30; its text: all moves)",
        low=0,
        high=65535,
    )

    opening_share: float = setting(
        0.0,
        "share of games that begin with random moves, for positions that the network would not reach by itself"
        " (paper: 0; compare KataGo, arXiv 1902.10565, and Go-Exploit, arXiv 2302.12359)",
        low=0.0,
        high=1.0,
    )
    opening_plies: int = setting(
        8, "largest number of random moves at the beginning; each number from 1 is equally likely", low=1, high=65535
    )

    full_search_share: float = setting(
        0.25,
        "share of moves that are searched in full, with noise, and learned from; the other moves get"
        " fast_simulations and are not learned from (playout cap randomisation, KataGo section 3.1: 0.25; paper: 1)",
        low=0.01,
        high=1.0,
    )
    fast_simulations: int = setting(16, "simulations per move that is not searched in full", low=1, high=1 << 24)
    alphabeta_depth: int = setting(
        0,
        "depth in plies of an alpha-beta search that plays self-play's first games in the network's place; 0 for none."
        " Its evaluation, values of pieces and squares, is learned from the rules alone before (paper: 0)",
        low=0,
        high=MAX_ALPHA_BETA_DEPTH,
    )
    alphabeta_share: float = setting(
        0.5,
        "share of the budget until which that search plays, the learning of its evaluation included; 1 for all games",
        low=0.0,
        high=1.0,
    )
    alphabeta_nodes: int = setting(
        500,
        "positions that an alpha-beta search with an updatable network (network.kind) visits for each move; until"
        " alphabeta_share of the budget it has the evaluation that is learned before",
        low=1,
        high=1 << 40,
    )
    alphabeta_learning_nodes: int = setting(
        60_000_000,
        "positions that the games visit from which the alpha-beta search's evaluation is learned, once at the beginning"
        " of the run (a minute of a core in chess)",
        low=1,
        high=1 << 40,
    )
    resign_false_positives: float | None = setting(
        None,
        "largest share of games in which a resignation would be wrong, measured in the games that are played out; the"
        " side to move resigns if the values of the root and of its move are below the threshold that follows from it"
        " (AlphaGo Zero: 0.05); none for no resignation, as in the paper",
        low=0.0,
        high=0.5,
    )
    resign_played_out_share: float = setting(
        0.1, "share of games in which no side resigns (AlphaGo Zero: 0.1)", low=0.01, high=1.0
    )
    stagger_starts: bool = setting(
        True,
        "begin the first games of a new run with random moves, from none to as many as a random game has, so that"
        " games are at all stages from the start; otherwise the first finished games, and what is learned from them,"
        " would be short; games of an alpha-beta search are not staggered (paper: false)",
    )

    def __post_init__(self) -> None:
        check(self, "selfplay")

    def begins_with_linear(self, progress: float) -> bool:
        """Whether a game that begins now is among the first, of a search with the learned linear evaluation."""
        return progress < self.alphabeta_share or self.alphabeta_share == 1

    def depth_at(self, progress: float) -> int:
        """The depth of the alpha-beta search that plays a game which begins now; 0 if the network plays it.

        `progress` is the used share of the budget, in [0, 1].
        """
        return self.alphabeta_depth if self.begins_with_linear(progress) else 0

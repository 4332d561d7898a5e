"""The settings of self-play."""

from __future__ import annotations

from dataclasses import dataclass

from zerosum.base.settings import check, setting
from zerosum.selfplay.alpha_beta import depth_stages
from zerosum.selfplay.material import material_stages


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
    material: str = setting(
        "",
        "weight of the material in the value of a leaf of self-play's searches, as WEIGHT@BUDGET: '0.8@0, 0.4@0.15,"
        " 0@0.3' takes it away once 30 % of the budget are used; the rest is the network's value. Pieces count by the"
        " game's customary values (docs/games.md), so a run with it does not learn from the rules alone (paper: '')",
    )
    alphabeta: str = setting(
        "",
        "depth in plies of an alpha-beta search that plays in place of the network's searches, as DEPTH@BUDGET: with"
        " '3@0, 0@0.1' it plays the games until 10 % of the budget are used. It counts material where the game has it"
        " (docs/games.md), so a run with it does not learn from the rules alone (paper: '')",
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
        material_stages(self.material)
        depth_stages(self.alphabeta)

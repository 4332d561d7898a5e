"""The settings of the games' storage and of the window, and how large the window is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from zerosum.base.settings import check, setting


@dataclass(frozen=True)
class ReplayConfig:
    """The storage of games, and the window from which the learner draws positions."""

    games_per_shard: int = setting(1024, "number of finished games in one Parquet file", low=1, high=16384)
    window_min_positions: int = setting(
        20_000, "size c of the window, in positions, until c positions are recorded (KataGo: 250,000)", low=1
    )
    window_growth_exponent: float = setting(
        0.75,
        "exponent of the window's growth beyond c, as a power of all recorded positions (KataGo: 0.75)",
        low=0.1,
        high=1.0,
    )
    window_growth_factor: float = setting(
        0.4,
        "growth of the window per recorded position at c (KataGo: 0.4); 0 for a fixed size, as in the paper",
        low=0.0,
        high=1.0,
    )
    window_games: int | None = setting(
        None,
        "size of the window in games, instead of positions by the three settings above (paper's pseudocode: 1,000,000)",
        low=1,
    )
    search_value_weight: float = setting(
        0.5,
        "share of the search's value in the value target; the rest is the game's outcome (paper: 0)",
        low=0.0,
        high=1.0,
    )

    use_symmetries: bool = setting(
        True,
        "learn from a random image of each sample, if the game has symmetries (AlphaGo Zero: true; AlphaZero: false)",
    )
    policy_target: Literal["recorded", "move"] = setting(
        "recorded",
        "policy target of records: 'recorded', the shares of moves if a record has them, or 'move', the move played",
    )
    dev_share: float = setting(
        0.05, "share of the games of records that is held out and measured at each checkpoint", low=0.0, high=0.45
    )
    test_share: float = setting(
        0.05, "share of the games of records that is held out and measured at the end", low=0.0, high=0.45
    )
    held_out_positions: int = setting(
        2000, "number of positions of held-out games in a measurement", low=1, high=10_000_000
    )
    held_out_set_positions: int | None = setting(
        None,
        "size of dev, and of test, in positions: the first of their games that have so many; if None, all their games,"
        " at most 10,000",
        low=1,
    )
    steps_per_1000_games: int | None = setting(
        None,
        "learner steps of a pass for each 1,000 games of records; if None, as many as draw each position once on"
        " average",
        low=1,
    )
    games_in_memory: int = setting(
        50_000,
        "maximum number of games of records in memory; more games are learned from in parts, in random order",
        low=1,
    )

    def __post_init__(self) -> None:
        check(self, "replay")


def window_size(total_positions: float, config: ReplayConfig) -> float:
    """The size of the window after `total_positions` recorded positions, rounded if it is smaller.

    Positions count by their weights (`ReplayWindow`).

    KataGo's curve (Wu, arXiv 1902.10565, appendix on training details): with c = `window_min_positions`,
    α = `window_growth_exponent` and β = `window_growth_factor`, of n > c positions it holds

        c * (1 + β * ((n / c) ** α - 1) / α)

    which is n ** α, scaled to the value c and the slope β at n = c. With β = 0 the size is fixed; with α = β = 1 the
    window holds all positions. The slope never exceeds 1, so a position that has left the window never comes back.

    >>> katago = ReplayConfig(window_min_positions=250_000)
    >>> window_size(200_000, katago), window_size(4_000_000, katago)
    (200000, 1183333)
    """
    smallest, exponent, factor = config.window_min_positions, config.window_growth_exponent, config.window_growth_factor
    if total_positions <= smallest:
        return total_positions
    growth = ((total_positions / smallest) ** exponent - 1) / exponent
    return int(smallest * (1 + factor * growth) + 0.5)


def needed(total_positions: float, config: ReplayConfig, *, least_weight: float = 1.0) -> dict[str, int]:
    """The arguments of `GameStore.recent` that fill the window, if no position weighs less than `least_weight`."""
    if config.window_games is not None:
        return {"num_games": config.window_games}
    return {"num_positions": math.ceil(window_size(total_positions, config) / least_weight)}

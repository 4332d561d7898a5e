"""Statistics of a run's games in the order of play."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.replay.records import GameRecord, PlyFlag

OPENING = 6
"""Plies of an opening, three moves a side, as in figure S1 of the AlphaZero paper."""
BINS = 10
"""Bins of the reliability curve."""


@dataclass(frozen=True)
class GameBlock:
    """The statistics of consecutive games."""

    first_game: int
    """Number of games before them."""
    num_games: int
    endings: Counter[str]
    plies: NDArray[np.int64]
    """[num_games], lengths."""
    draws: float
    """Share of drawn games."""
    caps: float
    """Share of games that ended at the longest length."""
    first_wins: float
    """Share of games that the first player won."""
    begun: float
    """Share of games that began with random moves, or in another position than the initial one."""
    taught: float
    """Share of games that an alpha-beta search played before the network did."""
    first_moves: Counter[int]
    """Counts of the first moves of games that the player chose from the initial position on."""
    openings: Counter[tuple[int, ...]]
    """Counts of the first `OPENING` moves of these games, or of all moves of a shorter game."""
    opening_bits: float
    """Entropy of `openings`, in bits; NaN without any."""
    distinct: float
    """Share of distinct games."""
    policy_entropy: float
    """Mean entropy of policy targets, in nats; NaN without any."""
    value_gap: float
    """Mean absolute difference of the network's value and the search's, in [0, 2]; NaN without searches."""
    value_spread: float
    """Standard deviation of the network's values; NaN without searches."""
    net_values: NDArray[np.float32]
    """[N], the network's values of searched positions, for the mover."""
    search_values: NDArray[np.float32]
    """[N], the search's values of these positions."""
    results: NDArray[np.float32]
    """[N], the game's result for the mover."""


def block_of(
    first_game: int, records: Sequence[GameRecord], max_plies: int, *, is_updatable: bool = False
) -> GameBlock:
    """The statistics of games.

    Args:
        first_game: Number of games before them.
        records: The games.
        max_plies: The longest length of a game.
        is_updatable: Whether the run's network is searched by alpha-beta. Else games of an alpha-beta search were
            played before the network played.
    """
    games = list(records)
    outcomes = np.array([game.outcome for game in games])
    plies = np.array([game.num_plies for game in games])
    is_begun = [bool(game.start) or game.has_opening for game in games]
    is_taught = [not is_updatable and game.is_recorded for game in games]
    openings = Counter(
        tuple(game.plies["action"][:OPENING].tolist())
        for game, *not_own in zip(games, is_begun, is_taught, strict=True)
        if game.num_plies and not any(not_own)
    )
    unsearched = int(PlyFlag.OPENING | PlyFlag.RECORDED)
    columns: list[NDArray[np.float32]] = []
    entropies: list[NDArray[np.float64]] = []
    for game in games:
        is_searched = (game.plies["flags"] & unsearched) == 0
        searched = game.plies[is_searched]
        sign = np.where(searched["player"] == 0, 1, -1)
        columns.append(np.stack([searched["net_value"], searched["search_value"], sign * np.float32(game.outcome)]))
        shares = game.targets["probability"].astype(np.float64)
        parts = np.where(shares > 0, -shares * np.log(np.maximum(shares, 1e-12)), 0)
        sums = np.concatenate([[0], np.cumsum(parts)])
        has_target = np.diff(game.target_offsets) > 0
        entropies.append(np.diff(sums[game.target_offsets])[has_target])
    net, search, results = np.concatenate(columns, axis=1).astype(np.float32)
    entropy = np.concatenate(entropies)
    return GameBlock(
        first_game=first_game,
        num_games=len(games),
        endings=Counter(game.ending for game in games),
        plies=plies,
        draws=float(np.mean(outcomes == 0)),
        caps=float(np.mean(plies >= max_plies)),
        first_wins=float(np.mean(outcomes > 0)),
        begun=float(np.mean(is_begun)),
        taught=float(np.mean(is_taught)),
        first_moves=_first_moves(openings),
        openings=openings,
        opening_bits=_entropy_bits(list(openings.values())),
        distinct=len({(game.start, game.plies["action"].tobytes()) for game in games}) / len(games),
        policy_entropy=float(entropy.mean()) if len(entropy) else math.nan,
        value_gap=float(np.abs(net - search).mean()) if len(net) else math.nan,
        value_spread=float(net.std()) if len(net) else math.nan,
        net_values=net,
        search_values=search,
        results=results,
    )


def _first_moves(openings: Counter[tuple[int, ...]]) -> Counter[int]:
    counted: Counter[int] = Counter()
    for moves, number in openings.items():
        counted[moves[0]] += number
    return counted


def _entropy_bits(counts: Sequence[int]) -> float:
    if not counts:
        return math.nan
    shares = np.array(counts, float) / sum(counts)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


@dataclass(frozen=True)
class Reliability:
    """Values in bins, and the mean result of each bin. A reliable value lies on the diagonal."""

    predicted: NDArray[np.float64]
    """[bins that are not empty], mean values."""
    observed: NDArray[np.float64]
    """[bins that are not empty], mean results of their games."""
    counts: NDArray[np.int64]


def reliability(values: NDArray[np.float32], results: NDArray[np.float32]) -> Reliability:
    """The reliability of values in [-1, 1] against the results of their games, [N] each."""
    bin_of = np.clip(((values + 1) / 2 * BINS).astype(int), 0, BINS - 1)
    there = np.unique(bin_of)
    return Reliability(
        np.array([values[bin_of == number].mean() for number in there], float),
        np.array([results[bin_of == number].mean() for number in there], float),
        np.array([int((bin_of == number).sum()) for number in there]),
    )

"""Resignation in self-play, as in AlphaGo Zero (Nature 550, 2017, Methods, "Self-play").

The side to move resigns if the values of the root and of the move it would play are both below a threshold. A share of
the games is played out instead. They tell how often a side that was below a threshold did not lose, and the threshold
is the highest with which that happens in at most the given share of them.

Which games are played out follows from the seed and their numbers, so the threshold follows from the records.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

import numpy as np

from zerosum._core import uniform
from zerosum.replay.records import GameRecord
from zerosum.selfplay.config import SelfplayConfig

RESIGNATION = "resignation"
"""The kind of ending of a resigned game."""
NEWEST = 500
"""Games played out that decide the threshold; our choice."""
HIGHEST = -0.5
"""Highest threshold; our choice."""


def is_played_out(config: SelfplayConfig, *, seed: int, game_id: int) -> bool:
    """Whether nobody resigns in a game."""
    return uniform(seed, game_id, 0, "played out") < config.resign_played_out_share


class Resignation:
    """The threshold of a run's resignations. Safe from several threads."""

    def __init__(self, config: SelfplayConfig, *, seed: int, games: Iterable[GameRecord] = ()) -> None:
        """Learn from the games of a run, oldest first; `config.resign_false_positives` must not be None."""
        assert config.resign_false_positives is not None
        self._config, self._seed, self._share = config, seed, config.resign_false_positives
        self._lowest = deque[float](maxlen=NEWEST)
        """The lowest value of a side that did not lose, for each of the newest games that were played out."""
        self._lock = threading.Lock()
        self.threshold: float | None = None
        """The value in [-1, 0) below which a side resigns; None while one false positive is more than the share."""
        for record in games:
            self.take(record)

    def take(self, record: GameRecord) -> None:
        """Learn from a finished game of the network, if it was played out."""
        if record.is_recorded or not is_played_out(self._config, seed=self._seed, game_id=record.game_id):
            return
        with self._lock:
            self._lowest.append(lowest_value(record))
            most = int(self._share * len(self._lowest))
            self.threshold = min(sorted(self._lowest)[most], HIGHEST) if most else None

    @property
    def rule(self) -> tuple[float | None, float]:
        """The threshold, and the share of games that are played out, as the core takes them."""
        return self.threshold, self._config.resign_played_out_share

    def __str__(self) -> str:
        if (threshold := self.threshold) is None:
            return f"no resignations yet: {len(self._lowest)} games played out"
        wrong = sum(lowest < threshold for lowest in self._lowest) / len(self._lowest)
        return (
            f"resigns below {threshold:.2f}, wrongly in {wrong:.1%} of the newest {len(self._lowest)} games played out"
        )


def new_resignation(config: SelfplayConfig, *, seed: int, games: Iterable[GameRecord] = ()) -> Resignation | None:
    """The threshold of a run with these earlier games, oldest first; None for a run without resignation."""
    return None if config.resign_false_positives is None else Resignation(config, seed=seed, games=games)


class SentThreshold:
    """The threshold of resignations as the process of the run has sent it, for workers in other processes."""

    def __init__(self, config: SelfplayConfig) -> None:
        """No threshold yet."""
        self._played_out_share = config.resign_played_out_share
        self.threshold: float | None = None

    def take(self, record: GameRecord) -> None:
        """Do nothing: the process of the run learns from the games of all workers."""

    @property
    def rule(self) -> tuple[float | None, float]:
        """See `Resignation.rule`."""
        return self.threshold, self._played_out_share


def sent_threshold(config: SelfplayConfig) -> SentThreshold | None:
    """The threshold of a worker in another process; None for a run without resignation."""
    return None if config.resign_false_positives is None else SentThreshold(config)


def num_games_to_learn_from(config: SelfplayConfig) -> int:
    """A number of games among which `NEWEST` were played out, but for a vanishing probability."""
    return int(1.5 * NEWEST / config.resign_played_out_share)


def lowest_value(record: GameRecord) -> float:
    """The lowest value of a search for a side that did not lose the game, in [-1, 1]; 1 if it had no search."""
    values, players = record.plies["search_value"], record.plies["player"]
    has_lost = players == (1 if record.outcome > 0 else 0) if record.outcome else np.zeros(len(players), bool)
    kept = values[~has_lost & (record.plies["num_simulations"] > 0)]
    return float(kept.min()) if kept.size else 1.0

"""The window of the newest positions, and samples drawn from it for the learner.

The window keeps moves and search statistics, like a `GameRecord`, instead of planes. This file does not depend on disks
(`journal.py` and `game_store.py` do), rules (`batch.py` encodes with them) or networks. Start with `ReplayWindow`.
Samples are drawn by `ReplayWindow.sample` and turned by `permuted`.

A *position* is a ply with a policy target. Letters: B samples, A actions of the game, N entries of a sparse policy
target.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum.replay.blocks import ROW, UNITS, Block, gathered, offsets_of, policies_of
from zerosum.replay.config import ReplayConfig, window_size
from zerosum.replay.owners import OwnersOf
from zerosum.replay.records import GameRecord
from zerosum.replay.samples import Later, Moves, Played, Samples


class ReplayWindow:
    """The newest positions of a run, by `window_size` or `window_games`. Threads may share it.

    Positions have weights in (0, 1], the same for all positions of a game. A position of weight 0.5 is drawn half as
    often as one of weight 1, and counts half in the size of the window, so that as many samples are drawn while it
    passes through: each gets samples in proportion to its weight.

    Its positions depend on the order and number of the games alone, so that
    `window.load(store.recent(**needed(store.num_positions, config)), total_positions=store.num_positions)`
    restores it. Positions are stored in blocks of columns. A block is dropped when all of its positions have left the
    window and another one leaves, so at most one block of positions is kept unnecessarily.
    """

    def __init__(self, config: ReplayConfig, *, weight_of: Callable[[GameRecord], float] = lambda record: 1.0) -> None:
        """`weight_of` gives the weight of each position of a game."""
        self._config, self._weight_of = config, weight_of
        self._blocks = [Block()]
        self._num_outside = 0  # positions of the first block that have left the window
        self._num_positions = 0
        self._total_positions = 0
        # Sums in units of 1 / UNITS, which are exact.
        self._weight = 0
        self._missing_weight = 0
        self._light_positions = 0  # those in the window with a weight below 1
        self._game_sizes: deque[int] = deque()  # positions of the newest games, where these are counted
        self._lock = threading.Lock()

    @property
    def num_positions(self) -> int:
        """Positions in the window."""
        return self._num_positions

    @property
    def total_positions(self) -> int:
        """Recorded positions of the whole run, including those that have left the window."""
        return self._total_positions

    @property
    def total_weight(self) -> float:
        """The sum of their weights."""
        return self._total_positions - self.missing_weight

    @property
    def missing_weight(self) -> float:
        """The sum of what their weights are below 1."""
        return self._missing_weight / UNITS

    def add(self, record: GameRecord) -> None:
        """Add a finished game."""
        with self._lock:
            num_added, units = self._append(record)
            self._total_positions += num_added
            self._missing_weight += num_added * (UNITS - units)
            self._shrink()

    def load(self, records: Iterable[GameRecord], *, total_positions: int, missing_weight: float = 0.0) -> None:
        """Fill an empty window with the run's newest games, oldest first.

        `total_positions` and `missing_weight` are those of the whole run, of `records` and of older games.
        """
        assert not self._total_positions, "only an empty window is loaded"
        with self._lock:
            self._total_positions, self._missing_weight = total_positions, round(missing_weight * UNITS)
            for record in records:
                self._append(record)
                self._shrink()

    def sample(
        self,
        batch_size: int,
        *,
        seed: int,
        step: int,
        owners_of: OwnersOf | None = None,
        num_later: int = 0,
        earlier_share: float = 0.0,
        has_played: bool = False,
    ) -> Samples:
        """Draw by weight, with replacement, from the positions in the window, which must not be empty.

        The draw is a pure function of `seed` and `step` (both in [0, 2**64)) and of the positions in the window.
        Samples have the targets of a `Batch`; owners only with `owners_of`, which finds those of whole games, and the
        moves that were made only with `has_played`. With `num_later` they have the targets of so many plies after them,
        too (`later`), and a share of `earlier_share` begins up to so many plies before the drawn position, which may be
        among the random moves that open a game.

        Raises:
            DataError: a game whose owners are asked for does not fit the rules.
        """
        generator = np.random.Generator(np.random.Philox(key=np.array([seed, step], np.uint64)))
        with self._lock:
            assert self._num_positions, "the window is empty"
            block_of, rows = self._draw(batch_size, generator)
            numbers = block_of.tolist()
            starts = zip(numbers, rows["game"].tolist(), strict=True)

            def columns(name: str) -> list[NDArray[Any]]:
                """A column of each sample's block; `_Column.values` would take long for each sample."""
                each = [getattr(block, name).values for block in self._blocks]
                return [each[number] for number in numbers]

            actions, following, later = columns("actions"), None, None
            first_plies = rows["ply"]
            if num_later:
                draws = generator.random((batch_size, num_later + 4))
                begins_earlier, how_much = draws[:, -2] < earlier_share, 1 + (draws[:, -1] * num_later).astype(np.int64)
                first_plies = np.maximum(first_plies - np.where(begins_earlier, how_much, 0), 0)
                later = self._later(block_of, rows, first_plies, draws)
                num_following = rows["plies_left"] + rows["ply"] - first_plies
                moves = gathered(actions, rows["first_action"] + first_plies, num_following)
                following = Moves(actions=moves, offsets=offsets_of(num_following))
            policies = policies_of(
                columns("target_actions"), columns("target_probabilities"), rows["first_target"], rows["num_targets"]
            )
            played = None
            if has_played:
                moves = gathered(actions, rows["first_action"] + rows["ply"], np.ones(batch_size, np.int64))
                played = Played.of(moves, policies)
            return Samples(
                game_ids=rows["game_id"],
                starts=tuple(self._blocks[number].starts[index] for number, index in starts),
                actions=gathered(actions, rows["first_action"], first_plies),
                action_offsets=offsets_of(first_plies),
                returns=rows["return"],
                search_values=rows["search_value"],
                draws=rows["draw"],
                following=following,
                later=later,
                owners=None if owners_of is None else self._owners(block_of, rows, owners_of),
                policies=policies,
                played=played,
            )

    def _owners(self, block_of: NDArray[np.int64], rows: NDArray[np.void], owners_of: OwnersOf) -> NDArray[np.int8]:
        """[n, S], the owners at the ends of the games of some rows, for the first player."""
        chosen = [np.flatnonzero(block_of == number) for number in range(len(self._blocks))]
        found = [
            block.owners_at_end(rows[at], owners_of) for block, at in zip(self._blocks, chosen, strict=True) if len(at)
        ]
        owners_nS = np.empty((len(rows), found[0].shape[1]), np.int8)
        owners_nS[np.concatenate(chosen)] = np.concatenate(found)
        return owners_nS

    def _later(
        self,
        block_of: NDArray[np.int64],
        rows: NDArray[np.void],
        first_plies: NDArray[np.int64],
        draws: NDArray[np.float64],
    ) -> Later:
        """The targets at K + 1 plies from `first_plies` on, in the games of some rows, which are among these plies."""
        size, num_steps = len(rows), draws.shape[1] - 4
        steps = np.arange(num_steps + 1)
        turns = np.where((steps - (rows["ply"] - first_plies)[:, None]) % 2, -1, 1).astype(np.float32)
        returns = rows["return"][:, None] * turns
        values = returns.copy()
        starts, sizes = np.zeros((size, num_steps + 1), np.int64), np.zeros((size, num_steps + 1), np.int64)
        for number in np.unique(block_of):
            chosen, all_rows = np.flatnonzero(block_of == number), self._blocks[number].rows.values
            # A game's positions follow one another, with gaps where plies have no policy target.
            for ahead in range(-num_steps, num_steps + 1):
                near = all_rows[np.clip(rows["row"][chosen] + ahead, 0, len(all_rows) - 1)]
                plies = near["ply"] - first_plies[chosen]
                is_near = (near["game_id"] == rows["game_id"][chosen]) & (plies >= 0) & (plies <= num_steps)
                at, found = (chosen[is_near], plies[is_near]), near[is_near]
                returns[at], values[at] = found["return"], found["search_value"]
                starts[at], sizes[at] = found["first_target"], found["num_targets"]

        def columns(name: str) -> list[NDArray[Any]]:
            """A column of each step's block."""
            each = [getattr(block, name).values for block in self._blocks]
            return [each[number] for number in np.repeat(block_of, num_steps + 1).tolist()]

        return Later(
            returns=returns,
            search_values=values,
            is_known=first_plies[:, None] + steps >= rows["first_ply"][:, None],
            policies=policies_of(
                columns("target_actions"), columns("target_probabilities"), starts.ravel(), sizes.ravel()
            ),
            draws=draws,
        )

    def _draw(self, size: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """The blocks and the rows of positions drawn by weight."""
        block_of, rows = self._drawn_uniformly(size, generator)
        if not self._light_positions:
            return block_of, rows
        # Rejection: a position stays with a probability of its weight.
        found = np.zeros(0, np.int64), np.empty(0, ROW)
        while True:
            stays = generator.integers(UNITS, size=len(rows)) < rows["weight"]
            found = np.concatenate([found[0], block_of[stays]]), np.concatenate([found[1], rows[stays]])
            if len(found[1]) >= size:
                return found[0][:size], found[1][:size]
            block_of, rows = self._drawn_uniformly(size, generator)

    def _drawn_uniformly(self, size: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        ends = np.cumsum([len(block) for block in self._blocks])
        drawn = self._num_outside + generator.integers(self._num_positions, size=size)
        block_of = np.searchsorted(ends, drawn, side="right")
        rows = np.empty(size, ROW)
        for index in np.unique(block_of):
            chosen, block = block_of == index, self._blocks[index]
            rows[chosen] = block.rows.values[drawn[chosen] - (ends[index] - len(block))]
        return block_of, rows

    def _append(self, record: GameRecord) -> tuple[int, int]:
        """Add the positions of a game. Returns their number and the weight of each, in units."""
        if len(self._blocks[-1]) >= _BLOCK_POSITIONS:
            self._blocks[-1].close()
            self._blocks.append(Block())
        units = round(self._weight_of(record) * UNITS)
        assert 0 < units <= UNITS, "weights are in (0, 1]"
        num_added = self._blocks[-1].append(record, weight=units)
        self._num_positions += num_added
        self._weight += num_added * units
        self._light_positions += num_added if units < UNITS else 0
        if self._config.window_games is not None:
            self._game_sizes.append(num_added)
        return num_added, units

    def _shrink(self) -> None:
        """Let the oldest positions go that the window has no room for."""
        if self._config.window_games is None:
            most = window_size(self.total_weight, self._config) * UNITS
            while self._weight > most:
                self._drop_oldest()
        elif len(self._game_sizes) > self._config.window_games:
            for _ in range(self._game_sizes.popleft()):
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        if self._num_outside == len(self._blocks[0]):
            del self._blocks[0]
            self._num_outside = 0
        units = int(self._blocks[0].rows.values["weight"][self._num_outside])
        self._num_outside += 1
        self._num_positions -= 1
        self._weight -= units
        self._light_positions -= units < UNITS


_BLOCK_POSITIONS = 65_536  # some 10 MB in chess: small beside a window, and few enough blocks to find one's way

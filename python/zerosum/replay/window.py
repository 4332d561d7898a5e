"""The window of the newest positions, and samples drawn from it for the learner.

The window keeps moves and search statistics, like a `GameRecord`, instead of planes. This file does not depend on disks
(`journal.py` and `game_store.py` do), rules (`batch.py` encodes with them) or networks. Start with `ReplayWindow`.
Samples are drawn by `ReplayWindow.sample` and turned by `permuted`.

A *position* is a ply with a policy target. Letters: B samples, A actions of the game, N entries of a sparse policy
target.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import DataError, SettingsError
from zerosum.base.settings import check, setting
from zerosum.replay.records import GameHeader, GameRecord, PlyFlag

if TYPE_CHECKING:
    from zerosum._core import GameSpec


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
    games_in_memory: int = setting(
        50_000,
        "maximum number of games of records in memory; more games are learned from in parts, in random order",
        low=1,
    )

    def __post_init__(self) -> None:
        check(self, "replay")
        if self.dev_share + self.test_share > 0.9:
            raise SettingsError(
                f"replay.dev_share and replay.test_share are {self.dev_share + self.test_share:g} together, but must be"
                " at most 0.9."
            )


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Policies:
    """A sparse policy for each of B samples, concatenated."""

    actions: NDArray[np.uint16]
    """[sum N], actions."""
    probabilities: NDArray[np.float16]
    """[sum N], their probabilities."""
    offsets: NDArray[np.int64]
    """[B + 1], the policy of sample b is entries offsets[b] to offsets[b + 1]."""

    @property
    def samples(self) -> NDArray[np.int64]:
        """[sum N], the sample of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def dense(self, num_actions: int) -> NDArray[np.float32]:
        """[B, A], 0 for every action without an entry."""
        dense_BA = np.zeros((len(self.offsets) - 1, num_actions), np.float32)
        dense_BA[self.samples, self.actions] = self.probabilities
        return dense_BA


@dataclass(frozen=True, kw_only=True, eq=False)
class Moves:
    """A sequence of moves for each of B samples, concatenated."""

    actions: NDArray[np.uint16]
    """[sum N], actions."""
    offsets: NDArray[np.int64]
    """[B + 1], the moves of sample b are actions[offsets[b]:offsets[b + 1]]."""

    def permuted(self, permutations: NDArray[np.uint16], chosen: NDArray[np.int64]) -> Moves:
        """The moves of each sample b, permuted by permutations[chosen[b]]."""
        return replace(self, actions=permutations[np.repeat(chosen, np.diff(self.offsets)), self.actions])


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Positions drawn from the window before encoding: the moves that led to each, and the targets."""

    game_ids: NDArray[np.int64]
    """[B], the game of each sample."""
    starts: tuple[str, ...]
    """[B], the starting position of each sample's game, as `zerosum.games.start_state` takes it."""
    actions: NDArray[np.uint16]
    """[sum of plies], the moves from the start to each position, concatenated."""
    action_offsets: NDArray[np.int64]
    """[B + 1], sample b's moves are actions[action_offsets[b]:action_offsets[b + 1]]."""
    returns: NDArray[np.float32]
    """[B], `returns_of` for the mover, in [-1, 1]: the game's result, unless the ply or a later one was proven."""
    search_values: NDArray[np.float32]
    """[B], for the mover, in [-1, 1]; equal to the return if a record has no evaluation."""
    draws: NDArray[np.float32]
    """[B], in [0, 1]: 1 for a draw, 0 if one side wins; by the next proven value, or by the result without one."""
    following: Moves | None = None
    """The moves from each position to the end of its game, if requested."""
    policies: Policies
    """The policy targets."""
    later: Later | None = None
    """The targets of the next plies, if requested; then there is `following`, too."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Later:
    """The targets of B samples at K + 1 steps: at each sample's position and at the K plies after it."""

    returns: NDArray[np.float32]
    """[B, K + 1], as `Samples.returns`, for the player who is to move if players take turns; past the end of a game the
    result stays."""
    search_values: NDArray[np.float32]
    """[B, K + 1], as `Samples.search_values`; equal to the return at plies that are no positions of the window."""
    is_known: NDArray[np.bool_]
    """[B, K + 1], False before the first position of a game: random moves follow there, so the result says little."""
    policies: Policies
    """The policy targets, [B * (K + 1)], a sample after the other; empty at plies without one, and past the end."""
    draws: NDArray[np.float64]
    """[B, K + 4], uniform random numbers in [0, 1); the first K + 2 are for moves that the game does not have."""

    @property
    def num_steps(self) -> int:
        """K."""
        return int(self.returns.shape[1]) - 1


def permuted(samples: Samples, symmetries: Sequence[Sequence[int]], *, seed: int, step: int) -> Samples:
    """A random image of each sample, or the sample itself, with equal probabilities: its game with permuted actions.

    A game with another start than the initial position is not changed, because the image of its start is unknown. The
    choice is a pure function of `seed` and `step`. Without symmetries the samples are returned unchanged.
    """
    if not symmetries:
        return samples
    permutations = np.array([range(len(symmetries[0])), *symmetries], np.uint16)
    # The draw of the samples themselves has the key (seed, step).
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, step], np.uint64)).jumped())
    chosen = generator.integers(len(permutations), size=len(samples.game_ids))
    chosen[[start != "" for start in samples.starts]] = 0
    image_of_moves = np.repeat(chosen, np.diff(samples.action_offsets))
    policies = samples.policies
    policies = replace(policies, actions=permutations[chosen[policies.samples], policies.actions])
    following = None if samples.following is None else samples.following.permuted(permutations, chosen)
    actions = permutations[image_of_moves, samples.actions]
    later = samples.later
    if later is not None:
        of_later = np.repeat(chosen, later.num_steps + 1)[later.policies.samples]
        turned = replace(later.policies, actions=permutations[of_later, later.policies.actions])
        later = replace(later, policies=turned)
    return replace(samples, actions=actions, policies=policies, following=following, later=later)


def require_game(header: GameHeader, spec: GameSpec) -> None:
    """Check that a game was played by the rules of `spec`.

    Raises:
        DataError: it was played by other rules; the message names both.
    """
    recorded = (header.game, header.options, header.game_version)
    if recorded != (spec.name, spec.options, spec.version):
        raise DataError(
            f"Game {header.game_id} was recorded as {header.full_name}, version {header.game_version}, and this run"
            f" plays {spec.full_name}, version {spec.version}. Go on with the version of zerosum that recorded it, or"
            " start a new run."
        )


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
        self._blocks = [_Block()]
        self._num_outside = 0  # positions of the first block that have left the window
        self._num_positions = 0
        self._total_positions = 0
        # Sums in units of 1 / _UNITS, which are exact.
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
        return self._missing_weight / _UNITS

    def add(self, record: GameRecord) -> None:
        """Add a finished game."""
        with self._lock:
            num_added, units = self._append(record)
            self._total_positions += num_added
            self._missing_weight += num_added * (_UNITS - units)
            self._shrink()

    def load(self, records: Iterable[GameRecord], *, total_positions: int, missing_weight: float = 0.0) -> None:
        """Fill an empty window with the run's newest games, oldest first.

        `total_positions` and `missing_weight` are those of the whole run, of `records` and of older games.
        """
        assert not self._total_positions, "only an empty window is loaded"
        with self._lock:
            self._total_positions, self._missing_weight = total_positions, round(missing_weight * _UNITS)
            for record in records:
                self._append(record)
                self._shrink()

    def sample(
        self,
        batch_size: int,
        *,
        seed: int,
        step: int,
        targets: Collection[str] = (),
        num_later: int = 0,
        earlier_share: float = 0.0,
    ) -> Samples:
        """Draw by weight, with replacement, from the positions in the window, which must not be empty.

        The draw is a pure function of `seed` and `step` (both in [0, 2**64)) and of the positions in the window.
        Samples have the targets of a `Batch`; `owners` only if `targets` names it. With `num_later` they have those of
        so many plies after them, too (`later`), and a share of `earlier_share` begins up to so many plies before the
        drawn position, which may be among the random moves that open a game.
        """
        generator = np.random.Generator(np.random.Philox(key=np.array([seed, step], np.uint64)))
        with self._lock:
            assert self._num_positions, "the window is empty"
            block_of, rows = self._draw(batch_size, generator)
            numbers = block_of.tolist()
            starts = zip(numbers, rows["start"].tolist(), strict=True)

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
            if "owners" in targets or num_later:
                num_following = rows["plies_left"] + rows["ply"] - first_plies
                moves = _gather(actions, rows["first_action"] + first_plies, num_following)
                following = Moves(actions=moves, offsets=_offsets(num_following))
            return Samples(
                game_ids=rows["game_id"],
                starts=tuple(self._blocks[number].starts[index] for number, index in starts),
                actions=_gather(actions, rows["first_action"], first_plies),
                action_offsets=_offsets(first_plies),
                returns=rows["return"],
                search_values=rows["search_value"],
                draws=rows["draw"],
                following=following,
                later=later,
                policies=_policies(
                    columns("target_actions"),
                    columns("target_probabilities"),
                    rows["first_target"],
                    rows["num_targets"],
                ),
            )

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
            policies=_policies(
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
        found = np.zeros(0, np.int64), np.empty(0, _ROW)
        while True:
            stays = generator.integers(_UNITS, size=len(rows)) < rows["weight"]
            found = np.concatenate([found[0], block_of[stays]]), np.concatenate([found[1], rows[stays]])
            if len(found[1]) >= size:
                return found[0][:size], found[1][:size]
            block_of, rows = self._drawn_uniformly(size, generator)

    def _drawn_uniformly(self, size: int, generator: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        ends = np.cumsum([len(block) for block in self._blocks])
        drawn = self._num_outside + generator.integers(self._num_positions, size=size)
        block_of = np.searchsorted(ends, drawn, side="right")
        rows = np.empty(size, _ROW)
        for index in np.unique(block_of):
            chosen, block = block_of == index, self._blocks[index]
            rows[chosen] = block.rows.values[drawn[chosen] - (ends[index] - len(block))]
        return block_of, rows

    def _append(self, record: GameRecord) -> tuple[int, int]:
        """Add the positions of a game. Returns their number and the weight of each, in units."""
        if len(self._blocks[-1]) >= _BLOCK_POSITIONS:
            self._blocks[-1].close()
            self._blocks.append(_Block())
        units = round(self._weight_of(record) * _UNITS)
        assert 0 < units <= _UNITS, "weights are in (0, 1]"
        num_added = self._blocks[-1].append(record, weight=units)
        self._num_positions += num_added
        self._weight += num_added * units
        self._light_positions += num_added if units < _UNITS else 0
        if self._config.window_games is not None:
            self._game_sizes.append(num_added)
        return num_added, units

    def _shrink(self) -> None:
        """Let the oldest positions go that the window has no room for."""
        if self._config.window_games is None:
            most = window_size(self.total_weight, self._config) * _UNITS
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
        self._light_positions -= units < _UNITS


def returns_of(record: GameRecord) -> NDArray[np.float32]:
    """[P], the value target of each ply, for the first player: the outcome, or the exact value of the next proven ply.

    A proven value is exact and independent of later moves.
    """
    plies = record.plies
    returns = np.full(len(plies), record.outcome, np.float32)
    first = 0
    for ply in np.flatnonzero(plies["flags"] & int(PlyFlag.PROVEN)).tolist():
        value = plies["search_value"][ply]
        returns[first : ply + 1] = value if plies["player"][ply] == 0 else -value
        first = ply + 1
    return returns


def _has_no_value(flags: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """[P], whether a ply has no search value: an imported one without an evaluation."""
    is_unknown: NDArray[np.bool_] = (flags & int(PlyFlag.RECORDED | PlyFlag.EVALUATED)) == int(PlyFlag.RECORDED)
    return is_unknown


_BLOCK_POSITIONS = 65_536  # some 10 MB in chess: small beside a window, and few enough blocks to find one's way

_UNITS = 1 << 20
"""Weight 1 in units: sums of whole numbers do not depend on their order."""

_ROW = np.dtype(
    [
        ("game_id", np.int64),
        ("start", np.int64),  # in the block's `starts`
        ("first_action", np.int64),  # of the game, in the block's `actions`
        ("ply", np.int64),
        ("return", np.float32),  # for the mover
        ("search_value", np.float32),  # for the mover
        ("draw", np.float32),
        ("weight", np.int64),  # in units
        ("plies_left", np.int64),
        ("first_target", np.int64),  # in the block's target columns
        ("num_targets", np.int64),
        ("row", np.int64),  # its place in this table
        ("first_ply", np.int64),  # of the game's positions
    ]
)


class _Block:
    """Positions of consecutive games; no game is split between blocks."""

    def __init__(self) -> None:
        self.starts = [""]
        self.rows = _Column(_ROW)
        self.actions = _Column(np.dtype(np.uint16))
        self.target_actions = _Column(np.dtype(np.uint16))
        self.target_probabilities = _Column(np.dtype(np.float16))

    def __len__(self) -> int:
        return self.rows.size

    def append(self, record: GameRecord, *, weight: int) -> int:
        """Add a game, whose positions have this weight in units, and return its number of positions."""
        sizes = np.diff(record.target_offsets)
        plies = np.flatnonzero(sizes)
        rows = np.empty(len(plies), _ROW)
        rows["game_id"], rows["weight"] = record.game_id, weight
        if record.start != self.starts[-1]:
            self.starts.append(record.start)
        rows["start"] = len(self.starts) - 1
        rows["first_action"] = self.actions.size
        rows["ply"] = plies
        returns = returns_of(record)[plies]
        rows["return"] = np.where(record.plies["player"][plies] == 0, returns, -returns)
        is_unknown = _has_no_value(record.plies["flags"][plies])
        rows["search_value"] = np.where(is_unknown, rows["return"], record.plies["search_value"][plies])
        rows["draw"] = 1 - np.abs(returns)
        rows["plies_left"] = record.num_plies - plies
        rows["first_target"] = self.target_actions.size + record.target_offsets[plies]
        rows["num_targets"] = sizes[plies]
        rows["row"] = self.rows.size + np.arange(len(plies))
        rows["first_ply"] = plies[:1]
        self.rows.extend(rows)
        self.actions.extend(record.plies["action"])
        self.target_actions.extend(record.targets["action"])
        self.target_probabilities.extend(record.targets["probability"])
        return len(plies)

    def close(self) -> None:
        """Free the memory reserved for growth."""
        for column in (self.rows, self.actions, self.target_actions, self.target_probabilities):
            column.trim()


class _Column:
    """An array that grows at its end, in amortised constant time per entry."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._buffer: NDArray[Any] = np.empty(0, dtype)
        self.size = 0

    @property
    def values(self) -> NDArray[Any]:
        return self._buffer[: self.size]

    def extend(self, values: NDArray[Any]) -> None:
        end = self.size + len(values)
        if end > len(self._buffer):
            grown = np.empty(max(end, 2 * len(self._buffer)), self._buffer.dtype)
            grown[: self.size] = self.values
            self._buffer = grown
        self._buffer[self.size : end] = values
        self.size = end

    def trim(self) -> None:
        self._buffer = self.values.copy()


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The beginnings of ragged rows of these sizes, and the end of the last: [n] -> [n + 1]."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def _policies(
    actions: Sequence[NDArray[np.uint16]],
    probabilities: Sequence[NDArray[np.float16]],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> Policies:
    return Policies(
        actions=_gather(actions, starts, sizes),
        probabilities=_gather(probabilities, starts, sizes),
        offsets=_offsets(sizes),
    )


def _gather(columns: Sequence[NDArray[Any]], starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """The slices of the columns with these starts and sizes, concatenated."""
    runs = zip(columns, starts.tolist(), (starts + sizes).tolist(), strict=True)
    return np.concatenate([column[start:end] for column, start, end in runs])

"""The record of a game: its moves and the results of their searches, ply by ply.

`journal.py` and `shards.py` write it to disk. Letters: P plies of a game, A actions of it, N entries of a sparse policy
target. A *position* is a ply with a policy target: the learner can learn from it.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Annotated, Any, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zerosum._core import GameSpec, ply_columns
from zerosum.base.errors import DataError


class PlyFlag(enum.IntFlag):
    """How a ply's search was run, and how its move was chosen."""

    FULL_SEARCH = 1
    """The search had its full number of simulations."""
    NOISE = 2
    """Noise was mixed into the root's priors."""
    PROVEN = 4
    """The search value is exact."""
    SAMPLED = 8
    """The move was drawn at random from the visits; without this flag it is the best one."""
    OPENING = 16
    """The move is an opening move, random or of an earlier game, without a search."""
    RECORDED = 32
    """The move is from an imported record or of an alpha-beta search (`selfplay.alphabeta_depth`), without a search by
    a network; the policy target is this move, or what its engine compared."""
    EVALUATED = 64
    """A recorded move has an evaluation, which is the search value; without this flag that value is 0."""


TARGET = np.dtype([("action", np.uint16), ("probability", np.float16), ("visits", np.uint32)])
"""One entry of a sparse policy target: a legal move, its share in the target, its visits in the search."""


def policy_target(actions: ArrayLike, probabilities: ArrayLike, visits: ArrayLike) -> NDArray[np.void]:
    """[N] of `TARGET` from its columns, each [N]."""
    actions = np.asarray(actions)
    target = np.empty(len(actions), TARGET)
    target["action"], target["probability"], target["visits"] = actions, probabilities, visits
    return target


NO_TARGET = np.empty(0, TARGET)
"""The policy target of a ply without one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlyRecord:
    """One move and the search that chose it. The annotated fields, in this order, are the columns of `PLY`."""

    action: Annotated[int, np.uint16]
    """The played move, in [0, A)."""
    player: Annotated[int, np.uint8]
    """The mover: 0 (first) or 1 (second). One side may move twice in a row."""
    checkpoint_step: Annotated[int, np.uint32]
    """Learner step of the network of the search."""
    search_value: Annotated[float, np.float32]
    """The root's value after the search, in [-1, 1], for the mover."""
    net_value: Annotated[float, np.float32]
    """The position's value before its search, in [-1, 1], for the mover: the network's (`training.leaf_values`)."""
    num_simulations: Annotated[int, np.uint32]
    """Visits of the root when the move was chosen, including those of a tree kept from the ply before."""
    flags: Annotated[PlyFlag, np.uint8]
    """How the search was run and the move was chosen."""
    target: NDArray[np.void]
    """[N] of `TARGET`, each move once; the shares sum to 1 within the rounding of 16 bits. Empty for no target."""

    def __post_init__(self) -> None:
        assert self.player in (0, 1), self.player
        assert -1.0 <= self.search_value <= 1.0, self.search_value
        assert -1.0 <= self.net_value <= 1.0, self.net_value
        assert self.target.dtype == TARGET and self.target.ndim == 1, self.target
        if self.target.size:  # the sum costs more than all the other checks
            total = self.target["probability"].sum(dtype=np.float32)
            assert abs(total - 1.0) < 0.01, total


def _columns(record: type) -> np.dtype[np.void]:
    """The structured dtype of a dataclass's annotated fields, without padding."""
    hints = get_type_hints(record, include_extras=True)
    return np.dtype([(name, hint.__metadata__[0]) for name, hint in hints.items() if hasattr(hint, "__metadata__")])


PLY = _columns(PlyRecord)
"""The record of a ply without its policy target: the fields of `PlyRecord`, 20 bytes in this order."""
PLY_NAMES, TARGET_NAMES = PLY.names or (), TARGET.names or ()
PLY_STRUCT = struct.Struct("=" + "".join(PLY[name].char for name in PLY_NAMES))
"""The binary form of a row of `PLY`, quicker than an array with one row."""
ply_numbers = attrgetter(*PLY_NAMES)
"""The values of a `PlyRecord`'s fields that are columns of `PLY`, as a tuple."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GameHeader:
    """The data of a game at its start."""

    game_id: int
    """Number of the game, unique in the run; it keys the game's random draws."""
    game: str
    """Name of the game."""
    game_version: int
    """Version of its rules, action indices and planes."""
    options: str
    """The game's options as text, "" if it has none."""
    start: str
    """The starting position as text, "" for the initial one."""
    settings_hash: str
    """A hash of the settings of self-play; the origin of an imported game."""
    seed: int
    """The run's seed, in [0, 2**64)."""

    @property
    def full_name(self) -> str:
        """The game's name with options, such as `go(size=9, komi=5.5)`."""
        return f"{self.game}({self.options})" if self.options else self.game


PLY_KEY = struct.Struct("<QI")  # game_id, index
TARGET_SIZE = struct.Struct("<H")
TARGET_START = PLY_KEY.size + PLY_STRUCT.size + TARGET_SIZE.size  # of its columns in a packed ply

PackedPly = bytes
"""A ply as the journal has it: the game's number u64, the number of earlier plies u32, the row of `PLY`, the size of
the policy target u16, its columns of `TARGET`; little-endian."""


def packed_ply(game_id: int, index: int, ply: PlyRecord) -> PackedPly:
    """The ply number `index` of a game, counted from 0, packed."""
    key, numbers, size = PLY_KEY.pack(game_id, index), PLY_STRUCT.pack(*ply_numbers(ply)), len(ply.target)
    return b"".join([key, numbers, TARGET_SIZE.pack(size), *(ply.target[name].tobytes() for name in TARGET_NAMES)])


def unpacked_ply(packed: PackedPly) -> PlyRecord:
    """The inverse of `packed_ply`; the size of the target must be right."""
    numbers = dict(zip(PLY_NAMES, PLY_STRUCT.unpack_from(packed, PLY_KEY.size), strict=True))
    (size,), start = TARGET_SIZE.unpack_from(packed, TARGET_START - TARGET_SIZE.size), TARGET_START
    if not size:
        return ply_record(numbers, NO_TARGET)
    target = np.empty(size, TARGET)
    for name in TARGET_NAMES:
        target[name] = np.frombuffer(packed, TARGET[name], size, start)
        start += TARGET[name].itemsize * size
    return ply_record(numbers, target)


class Plies:
    """The plies of a game in flight, packed: a `PlyRecord` for each costs more than to search a small game."""

    def __init__(self, game_id: int, plies: Iterable[PlyRecord] = ()) -> None:
        """The first plies of a game."""
        self._game_id = game_id
        self.packed: list[PackedPly] = []
        """All plies; the index of each is its place."""
        for ply in plies:
            self.append(ply)

    def append(self, ply: PlyRecord) -> None:
        """Add a ply."""
        self.packed.append(packed_ply(self._game_id, len(self), ply))

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, index: int) -> PlyRecord:
        return unpacked_ply(self.packed[index])

    def __iter__(self) -> Iterator[PlyRecord]:
        return (self[index] for index in range(len(self)))


class RunningGame:
    """A game in flight: its header and the plies so far."""

    def __init__(self, *, header: GameHeader, plies: Iterable[PlyRecord] = ()) -> None:
        """A game with these plies, which are packed."""
        self.header = header
        self.plies = Plies(header.game_id, plies)

    def copy(self) -> RunningGame:
        """The same game, to which other plies can be added."""
        copy = RunningGame(header=self.header)
        copy.plies.packed += self.plies.packed
        return copy


@dataclass(frozen=True, kw_only=True, eq=False)
class GameRecord(GameHeader):
    """A finished game of P plies with their sparse policy targets, concatenated.

    It has moves and search statistics instead of planes: the core encodes a position faster than a disk reads one,
    files stay small, and old games can train networks with new encodings.
    """

    plies: NDArray[np.void]
    """[P] of `PLY`; `plies["action"]` has the moves. The sign of a value target depends on `player`, not on parity."""
    targets: NDArray[np.void]
    """[sum N] of `TARGET`."""
    target_offsets: NDArray[np.int64]
    """[P + 1], the policy target of ply p is targets[target_offsets[p]:target_offsets[p + 1]]."""
    outcome: float
    """The first player's result, in [-1, 1]."""
    ending: str
    """The kind of ending, in the game's words."""

    def __post_init__(self) -> None:
        offsets = self.target_offsets
        for array, dtype, size in (
            (self.plies, PLY, self.num_plies),
            (offsets, np.int64, self.num_plies + 1),
            (self.targets, TARGET, offsets[-1]),
        ):
            assert array.dtype == dtype, array.dtype
            assert array.shape == (size,), (array.shape, size)
        assert offsets[0] == 0, offsets
        assert (offsets[1:] >= offsets[:-1]).all(), offsets
        assert -1.0 <= self.outcome <= 1.0, self.outcome

    @property
    def num_plies(self) -> int:
        """Number of plies (P)."""
        return len(self.plies)

    @property
    def is_recorded(self) -> bool:
        """Whether it was imported, or an alpha-beta search played it: no network's tree search has."""
        return bool(self.num_plies) and bool(self.plies["flags"][-1] & int(PlyFlag.RECORDED))

    @property
    def has_opening(self) -> bool:
        """Whether it began with moves that no search chose."""
        return bool(self.num_plies) and bool(self.plies["flags"][0] & int(PlyFlag.OPENING))

    @property
    def header(self) -> GameHeader:
        """The header of the game."""
        return GameHeader(**{entry.name: getattr(self, entry.name) for entry in fields(GameHeader)})

    @property
    def num_positions(self) -> int:
        """Plies with a policy target."""
        return int(np.count_nonzero(self.target_offsets[1:] != self.target_offsets[:-1]))

    @staticmethod
    def from_plies(header: GameHeader, plies: Iterable[PlyRecord], *, outcome: float, ending: str) -> GameRecord:
        """The record of a game that has ended; `outcome` is the first player's result in [-1, 1], kept as float32."""
        packed = plies if isinstance(plies, Plies) else Plies(header.game_id, plies)
        rows, targets, offsets = ply_columns(packed.packed)
        return GameRecord(
            **vars(header),
            plies=rows.view(PLY),
            targets=targets.view(TARGET),
            target_offsets=offsets,
            outcome=float(np.float32(outcome)),
            ending=ending,
        )

    def ply(self, index: int) -> PlyRecord:
        """One ply, `index` in [0, P)."""
        start, end = self.target_offsets[index : index + 2]
        return ply_record(dict(zip(PLY_NAMES, self.plies[index].item(), strict=True)), self.targets[start:end])


def ply_record(numbers: dict[str, Any], target: NDArray[np.void]) -> PlyRecord:
    """The ply with these values in the columns of `PLY`, by name."""
    numbers["flags"] = PlyFlag(numbers["flags"])
    return PlyRecord(**numbers, target=target)


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

"""Games that tell which they are, and stores that hold them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from zerosum.replay import GameHeader, GameRecord, PlyRecord
from zerosum.replay.game_store import GameStore
from zerosum.replay.journal import ply_entries
from zerosum.replay.records import PlyFlag, packed_ply, policy_target


def ply_of(game_id: int, index: int) -> PlyRecord:
    """A ply that tells which it is; every third has no policy target."""
    generator = np.random.default_rng([game_id, index])
    size = 0 if index % 3 == 2 else int(generator.integers(1, 5))
    visits = generator.integers(1, 100, size)
    return PlyRecord(
        action=(game_id * 10 + index) % 65536,
        player=index // 2 % 2,
        checkpoint_step=game_id,
        search_value=float(np.float32(generator.uniform(-1, 1))),
        net_value=float(np.float32(generator.uniform(-1, 1))),
        num_simulations=int(visits.sum()),
        flags=PlyFlag.FULL_SEARCH,
        target=policy_target(generator.permutation(4000)[:size], (visits / max(visits.sum(), 1)), visits),
    )


def header_of(game_id: int) -> GameHeader:
    return GameHeader(
        game_id=game_id,
        game="connect4",
        game_version=1,
        options="",
        start="",
        settings_hash="5d41402a",
        seed=2**64 - game_id - 1,
    )


def record_of(game_id: int, num_plies: int | None = None) -> GameRecord:
    count = 1 + game_id % 5 if num_plies is None else num_plies
    plies = [ply_of(game_id, index) for index in range(count)]
    return GameRecord.from_plies(header_of(game_id), plies, outcome=game_id % 3 - 1.0, ending=f"ending {game_id}")


def same(one: Any, other: Any) -> None:
    """Two records, or plies, or headers, are equal in every field, bit for bit."""
    assert type(one) is type(other)
    for entry in fields(one):
        left, right = getattr(one, entry.name), getattr(other, entry.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, entry.name
            assert left.tobytes() == right.tobytes(), entry.name
        else:
            assert left == right, entry.name


def add_ply(store: GameStore, game_id: int, index: int, ply: PlyRecord) -> None:
    """Add the ply number `index` to a game in flight."""
    store.add_plies([game_id], [packed_ply(game_id, index, ply)])


def ply_entry(game_id: int, index: int, ply: PlyRecord) -> bytes:
    """The journal's entry of a ply."""
    return ply_entries([packed_ply(game_id, index, ply)])


def start(store: GameStore, game_id: int, num_plies: int) -> None:
    store.start_game(header_of(game_id))
    for index in range(num_plies):
        add_ply(store, game_id, index, ply_of(game_id, index))


def play(store: GameStore, game_id: int) -> None:
    record = record_of(game_id)
    start(store, game_id, record.num_plies)
    same(store.finish_game(game_id, outcome=record.outcome, ending=record.ending), record)


@contextmanager
def opened(directory: Path, **arguments: int) -> Iterator[tuple[GameStore, list[str]]]:
    messages: list[str] = []
    store = GameStore(directory, report=messages.append, **arguments)
    yield store, messages
    store.close()


def games_in(store: GameStore) -> list[int]:
    """The finished games, each compared with the game played."""
    records = list(store.recent(store.num_positions + 1))
    for record in records:
        same(record, record_of(record.game_id))
    assert len(records) == store.num_games
    assert sum(record.num_positions for record in records) == store.num_positions
    return [record.game_id for record in records]


def plies_in(store: GameStore) -> dict[int, int]:
    """The running games and their number of plies, each compared with the game played."""
    for game_id, game in store.running.items():
        assert vars(game.header) == vars(header_of(game_id))
        assert [ply.action for ply in game.plies] == [ply_of(game_id, i).action for i in range(len(game.plies))]
    return {game_id: len(game.plies) for game_id, game in store.running.items()}


def filled(directory: Path) -> None:
    """Two shards (games 0 to 3), three finished games in the journal (5, 6, 7) and two running ones (4, 8)."""
    with opened(directory) as (store, messages):
        start(store, 4, 2)
        for games in ((0, 1), (2, 3)):
            for game_id in games:
                play(store, game_id)
            store.seal()
        for game_id in (6, 5, 7):
            play(store, game_id)
        start(store, 8, 3)
    assert not messages


FILLED = ([0, 1, 2, 3, 6, 5, 7], {4: 2, 8: 3})


def names_in(directory: Path, pattern: str = "*") -> list[str]:
    return sorted(path.name for path in directory.glob(pattern))


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)

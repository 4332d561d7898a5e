"""Finished games of a store for learning without playing, split by game and read in parts that fit into memory.

The split of a game (train, dev or test) depends on its start and moves alone. It does not change when games are added,
and duplicates are in the same split. This file does not depend on networks or rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from zerosum.base.errors import DataError
from zerosum.replay.config import ReplayConfig
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameRecord, policy_target
from zerosum.replay.shards import Seal, read_manifest, read_shard
from zerosum.replay.window import ReplayWindow

MOST_HELD_OUT_GAMES = 10_000
"""Most games of dev, and of test, that are kept in memory."""
EVERY_GAME = 1 << 40


def split_of(record: GameRecord, config: ReplayConfig) -> str:
    """The split that a game belongs to: "train", "dev" or "test"."""
    text = record.start.encode() + b"\n" + record.plies["action"].astype("<u2").tobytes()
    number = int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "big") / (1 << 56)
    if number < config.test_share:
        return "test"
    return "dev" if number < config.test_share + config.dev_share else "train"


def as_played(record: GameRecord) -> GameRecord:
    """The game with the played move as the policy target of each ply that has a target."""
    has_target = np.diff(record.target_offsets) > 0
    actions, count = record.plies["action"][has_target], int(has_target.sum())
    return replace(
        record,
        targets=policy_target(actions, np.ones(count), np.zeros(count)),
        target_offsets=np.concatenate([[0], np.cumsum(has_target)]).astype(np.int64),
    )


@dataclass(frozen=True)
class Part:
    """Shards whose games are in memory together."""

    seals: tuple[Seal, ...]
    num_positions: int
    """Estimated number of positions in the training split."""

    @property
    def num_games(self) -> int:
        """Games of all splits."""
        return sum(seal.num_games for seal in self.seals)


class RecordSource:
    """The games of a store that no process has open."""

    def __init__(self, directory: Path, config: ReplayConfig, *, report: Callable[[str], None]) -> None:
        """Recover the store in `directory`, and seal its games.

        Raises:
            DataError, RunError: as `GameStore`.
        """
        store = GameStore(directory, report=report)
        store.seal()
        self.num_games, self.num_positions = store.num_games, store.num_positions
        store.close()
        self._directory, self._config, self._report = directory, config, report
        self._seals = [seal for seal in read_manifest(directory).shards if (directory / seal.name).exists()]
        self._bad = set[str]()

    @property
    def parts(self) -> list[Part]:
        """The shards in parts of at most `ReplayConfig.games_in_memory` games, and at least one shard."""
        groups: list[list[Seal]] = []
        for seal in self._seals:
            if groups and sum(other.num_games for other in groups[-1]) + seal.num_games <= self._config.games_in_memory:
                groups[-1].append(seal)
            else:
                groups.append([seal])
        share = 1 - self._config.dev_share - self._config.test_share
        return [Part(tuple(group), int(share * sum(seal.num_positions for seal in group))) for group in groups]

    def window(self, part: Part) -> ReplayWindow:
        """A window that holds all of a part's games of the training split."""
        window = ReplayWindow(replace(self._config, window_games=EVERY_GAME))
        for record in self._games(part.seals):
            if split_of(record, self._config) == "train":
                window.add(record)
        return window

    def held_out(self) -> dict[str, ReplayWindow]:
        """Windows of dev and test with their first games, whose returns are the results.

        They hold at most `MOST_HELD_OUT_GAMES` games each, and no more games once they have
        `ReplayConfig.held_out_set_positions`. Other games of these splits are left out, so that no double of theirs is
        learned from.
        """
        config = replace(self._config, window_games=EVERY_GAME)
        windows = {"dev": ReplayWindow(config), "test": ReplayWindow(config)}
        counts = dict.fromkeys(windows, 0)
        for record in self._games(self._seals):
            split = split_of(record, self._config)
            if split != "train" and not self._is_full(windows[split], counts[split]):
                counts[split] += 1
                windows[split].add(record)
            elif all(self._is_full(windows[name], counts[name]) for name in windows):
                break
        return windows

    def _is_full(self, window: ReplayWindow, num_games: int) -> bool:
        """Whether a held-out split takes no more games."""
        most = self._config.held_out_set_positions
        return num_games >= MOST_HELD_OUT_GAMES or (most is not None and window.num_positions >= most)

    def first_game(self) -> GameRecord | None:
        """Any of its games; None if it has none."""
        return next(self._games(self._seals), None)

    def _games(self, seals: Sequence[Seal]) -> Iterator[GameRecord]:
        """The games of shards. A damaged shard is left out and reported once."""
        for seal in seals:
            try:
                records = read_shard(self._directory / seal.name)
            except DataError as error:
                if seal.name not in self._bad:
                    self._bad.add(seal.name)
                    self._report(f"{error} Its {seal.num_games} games are left out.")
                continue
            for record in records:
                yield as_played(record) if self._config.policy_target == "move" else record

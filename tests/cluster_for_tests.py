"""Games of tic-tac-toe as actors of a cluster play them, and an ingest for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from zerosum._core import __version__
from zerosum.cluster.actor import ActorTask
from zerosum.cluster.blocks import Block, seal
from zerosum.cluster.ingest import Ingest
from zerosum.games import make
from zerosum.network import Checkpoint, CheckpointInfo, NetworkConfig, NetworkShape, initial_weights
from zerosum.network.evaluators import EvaluatorConfig
from zerosum.replay import GameHeader, GameRecord, PlyRecord
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import PlyFlag, policy_target
from zerosum.search import SearchConfig
from zerosum.selfplay import SelfplayConfig

GAME = make("tictactoe")
TRAINING, SETTINGS_HASH, SEED = "this training", "5d41402abc4b", 7
NETWORK = NetworkConfig(num_blocks=1, num_filters=8, policy_head="dense")


def header_of(game_id: int, **changes: Any) -> GameHeader:
    spec = GAME.spec
    values = {"game": spec.name, "game_version": spec.version, "options": spec.options, "start": ""}
    return GameHeader(**{**values, "game_id": game_id, "settings_hash": SETTINGS_HASH, "seed": SEED, **changes})


def game_of(game_id: int, *, step: int = 5, **changes: Any) -> GameRecord:
    """A random game whose searches name the network of a step; `changes` are of its header."""
    generator, state, plies = np.random.default_rng(game_id), GAME.initial_state(), []
    while GAME.outcome(state) is None:
        legal = GAME.legal_actions(state)
        target = policy_target(legal, np.full(len(legal), 1 / len(legal)), np.full(len(legal), 2))
        action = int(generator.choice(legal))
        plies.append(
            PlyRecord(
                action=action,
                player=GAME.player(state),
                checkpoint_step=step,
                search_value=0.0,
                net_value=0.0,
                num_simulations=2 * len(legal),
                flags=PlyFlag.FULL_SEARCH,
                target=target,
            )
        )
        state = GAME.play(state, action)
    outcome, ending = GAME.outcome(state), GAME.ending(state)
    assert outcome is not None and ending is not None
    return GameRecord.from_plies(header_of(game_id, **changes), plies, outcome=outcome, ending=ending)


def block_of(sender: str, number: int, games: list[GameRecord], **changes: Any) -> bytes:
    return seal(Block(**{"training": TRAINING, "sender": sender, "number": number, "games": games, **changes}))


@dataclass
class Learner:
    """What is behind an ingest: the games that reached the window, and the learner's step."""

    store: GameStore
    ingest: Ingest
    taken: list[GameRecord] = field(default_factory=list)
    step: int = 10
    lost_step: int = 0
    """Highest step of a learner that was lost; 0 if none was."""


@contextmanager
def learner_in(directory: Path, **arguments: Any) -> Iterator[Learner]:
    """A store and an ingest in a directory, opened as a training opens them."""
    store = GameStore(directory, report=lambda _: None, games_per_shard=16)
    taken: list[GameRecord] = []
    now: list[Learner] = []

    def step() -> int:
        return now[0].step

    def highest_step() -> int:
        return max(now[0].step, now[0].lost_step)

    settings = {"training": TRAINING, "settings_hash": SETTINGS_HASH, "seed": SEED, "max_staleness": 100, **arguments}
    ingest = Ingest(store, GAME, learner_step=step, highest_step=highest_step, take=taken.append, **settings)
    now.append(Learner(store, ingest, taken))
    yield now[0]
    store.close()


def checkpoint_of(step: int, *, seed: int = 0, network: NetworkConfig = NETWORK) -> Checkpoint:
    weights = initial_weights(network, NetworkShape.of(GAME.spec), seed=seed)
    return Checkpoint(info=CheckpointInfo.describe(GAME.spec, network, step=step), weights=weights)


def task_of(name: str, **changes: Any) -> ActorTask:
    values: dict[str, Any] = {
        "version": __version__,
        "training": TRAINING,
        "name": name,
        "num_threads": 1,
        "game": "tictactoe",
        "search": SearchConfig(num_simulations=8),
        "selfplay": SelfplayConfig(games_per_worker=4),
        "evaluator": EvaluatorConfig(),
        "seed": SEED,
        "settings_hash": SETTINGS_HASH,
        "num_staggered": 0,
    }
    return ActorTask(**{**values, **changes})

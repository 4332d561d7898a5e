"""The process of the run compiles a network when it evaluates with it, and not before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from zerosum.games import make
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights
from zerosum.run.config import new_config
from zerosum.run.playing import Playing
from zerosum.run.selfplay_training import SelfplayTraining
from zerosum.selfplay import SelfplayThreads
from zerosum.selfplay.playing_network import PlayingNetwork

GAME = make("tictactoe")
CONFIG = new_config(GAME, "tictactoe", overrides=["training.steps=100", "network.num_blocks=1"])


def network(step: int) -> Checkpoint:
    info = CheckpointInfo.describe(GAME.spec, CONFIG.network, step=step)
    return Checkpoint(info, initial_weights(CONFIG.network, info.shape, seed=0))


class Threads(SelfplayThreads):
    """Self-play by threads that never plays."""

    def __init__(self) -> None:
        pass

    def update(self, checkpoint: Checkpoint) -> None:
        pass

    @property
    def counts(self) -> Any:
        return SimpleNamespace(evaluations=0)


@pytest.mark.parametrize("is_here", [True, False], ids=["threads", "other processes"])
def test_networks_of_other_processes_are_compiled_for_rating_games_alone(is_here: bool) -> None:
    compiled, rated = list[int](), list[tuple[int, int]]()
    playing: Any = object.__new__(Playing)
    playing._config, playing._report, playing._evaluations_before = CONFIG, print, 0
    playing.network, playing._uncompiled = PlayingNetwork(), None
    playing.evaluator = SimpleNamespace(update=lambda checkpoint, **_: compiled.append(checkpoint.info.step))
    counts = SimpleNamespace(evaluations=0)
    playing.workers = Threads() if is_here else SimpleNamespace(update=lambda _: None, counts=counts)
    training: Any = object.__new__(SelfplayTraining)
    training._playing, training._batch, training._budget = playing, None, None
    training._measures = SimpleNamespace(rate=lambda step, *_, **__: rated.append((step, compiled[-1])))
    for step in (10, 20, 30):
        playing.play_with(network(step), None)
    assert compiled == ([10, 20, 30] if is_here else [])
    for _ in range(2):
        training._rate()
    assert compiled[-1] == 30 and len(compiled) == (3 if is_here else 1)
    assert rated == [(30, 30)] * 2

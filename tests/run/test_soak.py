"""Memory: a training that goes on and on does not hold more and more."""

from __future__ import annotations

import gc
import importlib.util
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from soak import bytes_per_game, soak
from zerosum.replay.game_store import GameStore


@pytest.fixture
def traced() -> Iterator[None]:
    for name in ("torch", "openvino"):
        if importlib.util.find_spec(name):
            importlib.import_module(name)
    gc.freeze()  # what is loaded need not be looked through again and again
    tracemalloc.start()
    yield
    tracemalloc.stop()
    gc.unfreeze()


def held() -> int:
    """Bytes that Python knows of: its own and numpy's."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.usefixtures("traced")
def test_games_leave_nothing_in_memory(tmp_path: Path) -> None:
    """Far less than its record stays of each; what swings (games not sealed yet, blocks of the window) is small."""
    settings = ("training.deterministic=true", "training.steps=160", "training.num_checkpoints=3")
    samples = soak(tmp_path / "run", *settings, num_games=10**9, measure=held, report=lambda _: None)
    store = GameStore(tmp_path / "run" / "games", report=pytest.fail)
    sizes = [sum(map(sys.getsizeof, vars(record).values())) for record in store.recent(10**9)]
    store.close()
    assert samples[-1][0] == len(sizes) > 300
    assert bytes_per_game(samples) < np.mean(sizes) / 3


def test_a_slope_is_told_after_the_warm_up() -> None:
    samples = [(games, 10**6 * min(games, 20) + 7 * games) for games in range(1, 101)]
    assert bytes_per_game(samples) == pytest.approx(7)

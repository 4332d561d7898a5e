"""The web pages of a test: a server on a free port in a thread of its own, and a browser if the system has one."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from zerosum.bench.untrained import untrained_checkpoint
from zerosum.games import make
from zerosum.network.checkpoint import save_checkpoint
from zerosum.run.config import dump_config, new_config
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.server import new_house, serve
from zerosum.web.visit import House

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextlib.contextmanager
def serving(
    *, runs: Sequence[Path] = (), own_games: Sequence[str] = (), limits: Limits | None = None, host: str = "127.0.0.1"
) -> Iterator[tuple[str, House]]:
    """The address of a server that runs, and what its visits share."""
    house = new_house(Library(runs, own_games, limits or Limits()))
    started: list[Any] = []
    is_ready = threading.Event()

    def ready(server: Any, address: str) -> None:
        server.install_signal_handlers = lambda: None
        started.extend([server, address])
        is_ready.set()

    thread = threading.Thread(target=serve, args=(house,), kwargs={"host": host, "port": 0, "ready": ready, "say": str})
    thread.start()
    assert is_ready.wait(30)
    try:
        yield started[1], house
    finally:
        started[0].should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def browser_program() -> str:
    """A Chromium of this system; the test is skipped where there is none."""
    pytest.importorskip("playwright", reason="Playwright's Python package is not installed: pip install playwright")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium or Chrome on this system, which the tests of the pages drive")
    return found


def untrained_run(directory: Path, game: str = "connect4", *, steps: Sequence[int] = (0, 2)) -> Path:
    """A run with checkpoints of a tiny network that has learned nothing."""
    rules = make(game)
    config = new_config(rules, game, overrides=["network.num_blocks=1", "network.num_filters=8"])
    directory.mkdir(parents=True)
    (directory / "config.toml").write_text(dump_config(config), encoding="utf-8")
    for step in steps:
        untrained = untrained_checkpoint(rules, config, seed=step)
        checkpoint = replace(untrained, info=replace(untrained.info, step=step))
        save_checkpoint(directory / "checkpoints", checkpoint, learner_state={}, learner_info={})
    return directory

"""The web pages of a test: a server on a free port in a thread of its own, and a browser if the system has one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stores_for_tests import add_ply
from zerosum.bench.untrained import untrained_checkpoint
from zerosum.games import make
from zerosum.network.checkpoint import save_checkpoint
from zerosum.replay.game_store import GameStore
from zerosum.replay.records import GameHeader, PlyFlag, PlyRecord, policy_target
from zerosum.run.config import dump_config, new_config
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.requests import HANDLERS
from zerosum.web.server import new_house, serve
from zerosum.web.visit import House, Visit

DOCS = Path(__file__).resolve().parents[1] / "docs" / "web"
DESKTOP, PHONE = {"width": 1200, "height": 760}, {"width": 390, "height": 844}
Open = Callable[..., Any]
"""Opens a page of the site: its address behind #, and `size`, `dark`, `script` (see conftest.py)."""
ANNOTATED = """[Event "Club"]
[White "Ann"]
[Black "Bob"]

{A quiet day} 1. e4! {[%clk 0:09:58] best by test} e5 (1... c5 {the Sicilian} 2. Nf3 (2. c3 d5) 2... d6) (1... e6)
2. Qh5?! Nc6 {[%eval 0.35]} 3. Bc4 Nf6?? 4. Qxf7# (4. Qf3) 1-0"""
"""A game with comments, glyphs, a clock, an evaluation, and variations within variations."""
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
    assert is_ready.wait()
    try:
        yield started[1], house
    finally:
        started[0].should_exit = True
        thread.join()


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
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.toml").write_text(dump_config(config), encoding="utf-8")
    for step in steps:
        untrained = untrained_checkpoint(rules, config, seed=step)
        checkpoint = replace(untrained, info=replace(untrained.info, step=step))
        save_checkpoint(directory / "checkpoints", checkpoint, learner_state={}, learner_info={})
    return directory


def record_games(
    run: Path,
    game: str = "connect4",
    *,
    number: int = 5,
    games_per_shard: int = 3,
    first: int = 0,
    flags: PlyFlag = PlyFlag.FULL_SEARCH,
) -> None:
    """Random games in a run's store, each move with a made-up search; the newest ones are not sealed."""
    rules, generator = make(game), random.Random(0)
    with contextlib.closing(GameStore(run / "games", report=str, games_per_shard=games_per_shard)) as store:
        for game_id in range(first, first + number):
            spec, state = rules.spec, rules.initial_state()
            header = GameHeader(
                game_id=game_id,
                game=spec.name,
                game_version=spec.version,
                options=spec.options,
                start="",
                settings_hash="test",
                seed=0,
            )
            store.start_game(header)
            while legal := rules.legal_actions(state):
                action = generator.choice(legal)
                target = policy_target(legal, [1 / len(legal)] * len(legal), [2] * len(legal))
                ply = PlyRecord(
                    action=action,
                    player=rules.player(state),
                    checkpoint_step=2,
                    search_value=0.25,
                    net_value=-0.5,
                    num_simulations=2 * len(legal),
                    flags=flags,
                    target=target,
                )
                add_ply(store, game_id, state.plies, ply)
                state = rules.play(state, action)
            store.finish_game(game_id, outcome=rules.outcome(state) or 0.0, ending=rules.ending(state) or "")


class Page:
    """A page that remembers its events."""

    def __init__(self, house: House) -> None:
        self.events: list[dict[str, Any]] = []
        self.visit = Visit(house, HANDLERS, self.events.append)

    async def ask(self, what: str, **fields: Any) -> dict[str, Any]:
        return await self.visit.answer(json.dumps({"id": 7, "do": what, **fields}))

    async def event(self, name: str) -> dict[str, Any]:
        for _ in range(3000):
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    return event
            await asyncio.sleep(0.01)
        raise AssertionError(f"no {name} among {[event['event'] for event in self.events]}")


def with_page(house: House, work: Callable[[Page], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        page = Page(house)
        await work(page)
        page.visit.close()

    asyncio.run(all_of_it())


def own_game(folder: Path) -> str:
    """The README's game of one's own in a file, by the name that loads it."""
    blocks = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    [source] = [code for code in (block.partition("```")[0] for block in blocks) if "class Breakthrough" in code]
    (folder / "breakthrough.py").write_text(source, encoding="utf-8")
    return f"{folder / 'breakthrough.py'}:Breakthrough"


def says(page: Any, text: str) -> None:
    page.wait_for_function(
        "text => document.querySelector('.says')?.textContent.includes(text)", arg=text, timeout=120_000
    )


def click(page: Any, *cells: str) -> None:
    for cell in cells:
        page.locator(f'[data-name="{cell}"]').click()


def history(page: Any, number: int) -> list[str]:
    page.wait_for_function("number => document.querySelectorAll('.moves button').length >= number", arg=number)
    return page.locator(".moves button").all_inner_texts()


def picture(page: Any, name: str) -> None:
    """Keep a picture for the documentation where it is asked for; it must not be empty or large."""
    taken = page.screenshot()
    assert 5_000 < len(taken) < 200_000
    if os.environ.get("ZEROSUM_PICTURES"):
        DOCS.mkdir(exist_ok=True)
        (DOCS / f"{name}.png").write_bytes(taken)

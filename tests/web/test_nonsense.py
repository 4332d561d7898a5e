"""Messages of nonsense through the real socket: each is answered, and the others do not notice."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import websockets

from fuzz_for_tests import rounds
from web_for_tests import serving, untrained_run
from zerosum.web.limits import Limits
from zerosum.web.requests import HANDLERS

NUM_MESSAGES = rounds(10_000)
NUM_PAGES = 4


def nonsense(generator: random.Random, depth: int = 0) -> Any:
    kinds: list[Callable[[], Any]] = [
        lambda: None,
        lambda: generator.choice([True, False]),
        lambda: generator.choice([-1, 0, 1, 2, 3, 7, 10**6, -(10**18), 10**40]),
        lambda: generator.choice([0.5, -1.5, 1e300, float("inf"), float("nan")]),
        lambda: generator.choice(
            [
                "",
                "0",
                "both",
                "chess",
                "go9",
                "nim",
                "rollouts@3",
                "random",
                "../..",
                "\0",
                "4 4 3",
                "e2e4",
                "<b>",
                "9" * 50,
                "pgn",
                "right",
                "\ud83d",
            ]
        ),
        lambda: "".join(chr(generator.randrange(1, 0x500)) for _ in range(generator.randrange(30))),
    ]
    if depth < 3:
        kinds.append(lambda: [nonsense(generator, depth + 1) for _ in range(generator.randrange(4))])
        kinds.append(lambda: {str(nonsense(generator, 3)): nonsense(generator, depth + 1) for _ in range(3)})
    return generator.choice(kinds)()


FIELDS = """game side vs moves start clock left seconds rating resigned western flipped action ply format number c
scenario text simulations lines run runs moment noise fpu index name source first second games""".split()  # noqa: SIM905


def nonsense_message(generator: random.Random, number: int) -> str | bytes:
    """Requests with fields of wrong types and values, things that are not requests, and halves of both."""
    message: Any = nonsense(generator)
    if number % 10:
        message = {generator.choice(FIELDS): nonsense(generator) for _ in range(generator.randrange(6))}
        message["do"] = generator.choice([*HANDLERS, "play.nothing", nonsense(generator)])
        message["id"] = generator.choice([number, nonsense(generator)])
    text = json.dumps(message)
    if generator.random() < 0.05:
        text = text[: generator.randrange(len(text) + 1)]
    return text.encode() if generator.random() < 0.05 else text


def test_messages_of_nonsense_are_answered_with_a_sentence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = untrained_run(tmp_path / "tiny")
    limits = Limits(simulations=2000, seconds=5.0, plies=300)

    async def reply(socket: Any) -> dict[str, Any]:
        """The next message that is not an event."""
        while "event" in (message := json.loads(await asyncio.wait_for(socket.recv(), 60))):
            pass
        return message  # type: ignore[no-any-return]

    async def page(address: str, seed: int) -> None:
        generator = random.Random(seed)
        for connection in range(5):
            async with websockets.connect(address, max_size=None) as socket:
                for number in range(NUM_MESSAGES // NUM_PAGES // 5):
                    sent = nonsense_message(generator, number)
                    await socket.send(sent)
                    answer = await reply(socket)
                    assert set(answer) in ({"id", "result"}, {"id", "error"}), (sent, answer)
                    error = answer.get("error", "a sentence")
                    assert error and "Traceback" not in error and "inside" not in error, (sent, answer)
                if connection % 2:
                    socket.transport.abort()

    async def work(address: str) -> None:
        async with websockets.connect(address, max_size=None) as quiet:
            await asyncio.gather(*(page(address, seed) for seed in range(NUM_PAGES)))
            await quiet.send(json.dumps({"id": 3, "do": "play.open", "game": "nim", "side": "both"}))
            assert (await reply(quiet))["result"]["history"] == []

    with caplog.at_level(logging.INFO), serving(runs=[run], limits=limits) as (served, house):
        asyncio.run(work(f"ws://{urlsplit(served).netloc}/talk"))
        assert house.searches.num_running == 0
    assert not [record for record in caplog.records if record.name.startswith("zerosum")], caplog.text

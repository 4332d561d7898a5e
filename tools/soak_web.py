"""An hour of play on the pages, in fast motion: does the memory of `zerosum web` stay flat?

    python tools/soak_web.py --rounds 120
    python tools/soak_web.py --minutes 60
    python tools/soak_web.py --minutes 30 --every 5

In each round a visitor opens a page of its own and plays a game against a network or random games, reloads the page in
the middle of the game, asks for a hint, uploads a file of games, analyses the position, watches a search and a match,
steps through the lesson and looks at the games' pages; then its connection breaks in the middle of a search. The server
is a process of its own, whose resident memory is looked at twice a second. After every ten rounds the lowest and the
highest of these figures are printed: the highest has the trees of the searches under way, the lowest what stays. With
`--every` rounds begin at fixed times, as far as the machine keeps up. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import websockets

GAMES = ("connect4", "othello", "breakthrough", "chess", "shogi", "go9", "hex", "tictactoe", "nim", "minishogi")
LOOK_SECONDS = 0.5
"""Seconds between two looks at the server's memory."""
UPLOAD_BYTES = 500_000
"""Size of an uploaded file."""
MOVES = 12
"""Moves of the visitor in each game."""


class Page:
    """A page that sends requests one after the other."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket

    async def ask(self, what: str, **fields: Any) -> Any:
        """The result of a request; events on the way are dropped. Raises RuntimeError if it is refused."""
        await self._socket.send(json.dumps({"id": 1, "do": what, **fields}))
        while "id" not in (message := json.loads(await self._socket.recv())):
            pass
        if "error" in message:
            raise RuntimeError(f"{what}: {message['error']}")
        return message["result"]

    async def event(self, name: str) -> dict[str, Any]:
        """The next event of a name."""
        while (message := json.loads(await self._socket.recv())).get("event") != name:
            if message.get("event") == "trouble":
                raise RuntimeError(message["says"])
        return message  # type: ignore[no-any-return]


async def play(page: Page, view: dict[str, Any], number: int, generator: random.Random) -> dict[str, Any]:
    """Make moves and wait for each answer; return the last view."""
    for _ in range(number):
        if view["over"] or not view["moves"]:
            break
        view = await page.ask("play.move", action=generator.choice(view["moves"])[0])
        while not view["over"] and view["mover"] != 0:
            view = await page.event("table")
    return view


async def one_round(address: str, number: int) -> int:
    """A visitor's hour in fast motion; returns the number of its moves."""
    generator = random.Random(number)
    game = GAMES[number % len(GAMES)]
    # As browsers, which do not ping; the server does.
    async with websockets.connect(address, max_size=None, ping_interval=None) as socket:
        page = Page(socket)
        view = await play(page, await page.ask("play.open", game=game, side="0"), MOVES // 2, generator)
    async with websockets.connect(
        address, max_size=None, ping_interval=None
    ) as socket:  # a reload: the address makes the game again
        page = Page(socket)
        link = view["link"]
        view = await page.ask("play.open", **link)
        assert view["history"] and len(view["link"]["moves"].split()) == len(link["moves"].split())
        if view["mover"] == 0:
            view = await play(page, view, MOVES // 2, generator)
        if not view["over"] and view["mover"] == 0:
            await page.ask("play.hint")
            await page.event("hint")
        moves = " ".join(link["moves"].split()[:2])  # no game ends so early
        await page.ask("games.list")
        await page.ask("games.page", game=game, moves=moves)
        await page.ask("lesson.open", scenario="trap")
        await page.ask("lesson.step", number=100)
        await page.ask("growth.open", game=game, moves=moves)
        await page.ask("growth.step", number=10)
        for _ in range(4):
            await page.ask("growth.phase")
        grown = await page.ask("growth.step", number=1)
        target = grown["simulations"] + 150
        grown = await page.ask("growth.step", number=150)
        while grown["simulations"] < target:
            grown = await page.event("growth")
        await page.ask("match.open", game="tictactoe", first="rollouts@50", second="random", games=2)
        while not (await page.event("match"))["over"]:
            pass
        await page.ask("study.open", text=games_file(number))
        await page.ask("study.open", game=game, moves=moves)
        await page.ask("study.review", simulations=20)
        await page.event("reviewed")
        await page.ask("study.look", on=True, lines=3)
        socket.transport.abort()  # the connection breaks during the search
    return len(view["history"])


def games_file(number: int) -> str:
    """A file of 90 games with long comments, half as large as a message may be; no two are alike."""
    comment = f"{{{number} " + "a word of praise " * (UPLOAD_BYTES // 90 // 17) + "}"
    return "\n\n".join(f'[White "{index}"]\n\n1. e4 {comment} e5 2. Nf3 Nc6 *' for index in range(90))


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1]) / 1024


class Memory:
    """The lowest and highest resident memory of a process since it was last told."""

    def __init__(self, pid: int) -> None:
        self._pid, self._seen = pid, [resident_mib(pid)]

    async def watch(self) -> None:
        """Look at the memory until cancelled."""
        while True:
            self._seen.append(resident_mib(self._pid))
            await asyncio.sleep(LOOK_SECONDS)

    def told(self) -> str:
        """Both figures in MiB, in columns."""
        text = f"{min(self._seen):8.0f}{max(self._seen):9.0f}"
        self._seen = self._seen[-1:]
        return text


async def soak(address: str, pid: int, *, rounds: int, minutes: float, visitors: int, every_s: float) -> None:
    """Play rounds, several visitors at a time, and print the server's memory; `minutes` above 0 end them earlier."""
    started, moves, memory = time.monotonic(), 0, Memory(pid)
    watch = asyncio.create_task(memory.watch())
    print(f"{'rounds':>7}{'moves':>7}{'seconds':>9}{'lowest':>8}{'highest':>9}  MiB")
    for first in range(0, rounds, visitors):
        await asyncio.sleep(first * every_s - (time.monotonic() - started))
        moves += sum(await asyncio.gather(*(one_round(address, first + index) for index in range(visitors))))
        seconds = time.monotonic() - started
        is_last = 0 < 60 * minutes <= seconds
        if is_last or (first + visitors) % 10 < visitors:
            print(f"{first + visitors:7}{moves:7}{seconds:9.0f}{memory.told()}", flush=True)
        if is_last:
            break
    watch.cancel()


def main() -> None:
    """Start the server, play, and end it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, help="Number of visitors' rounds; by default 120, or those of --minutes.")
    parser.add_argument("--minutes", type=float, default=0, help="Minutes after which no round begins; 0 is no limit.")
    parser.add_argument("--visitors", type=int, default=2, help="Visitors at a time.")
    parser.add_argument("--every", type=float, default=0, help="Seconds between the beginnings of two rounds.")
    options = parser.parse_args()
    rounds = options.rounds if options.rounds is not None else 120 if not options.minutes else 10**6
    command = [sys.executable, "-m", "zerosum", "web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://(\S+/)", server.stdout.readline())
        assert found is not None
        try:
            asyncio.run(
                soak(
                    f"ws://{found[1]}talk",
                    server.pid,
                    rounds=rounds,
                    minutes=options.minutes,
                    visitors=options.visitors,
                    every_s=options.every,
                )
            )
        finally:
            server.terminate()


if __name__ == "__main__":
    main()

"""A crowd on the pages: how long do people wait for their opponent, and for a click, while others use the program?

    python tools/crowd_web.py
    python tools/crowd_web.py --visitors 20 --vs "zerosum's network@50" --moves 8

First, all visitors play at once, and each wait from a move to the opponent's answer is measured; with `--looking`
others have games of chess analysed by alpha-beta meanwhile, whose turns are the longest. Then one visitor clicks
through its game while six others upload files nearly as large as a message may be, and one more has a game reviewed;
each click is measured from the message to its answer. The server is a process of its own on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import websockets

from soak_web import Page
from zerosum.games import make
from zerosum.web.limits import Limits

UPLOADS = 6
REVIEWED_PLIES = 80
REVIEW_SIMULATIONS = 400
CLICK_PAUSE_S = 0.05
GAMES_OF_A_FILE = 90


def connected(address: str) -> Any:
    """A connection as a browser's, which does not ping; the server does."""
    return websockets.connect(address, max_size=None, ping_interval=None)


def told(name: str, seconds: Sequence[float]) -> str:
    """A line about waits."""
    ordered = sorted(1000 * one for one in seconds)
    median = statistics.median(ordered)
    shares = ", ".join(f"{share} % in {ordered[share * (len(ordered) - 1) // 100]:.0f} ms" for share in (90, 95, 99))
    return f"{name}: {len(ordered)} times, median {median:.0f} ms, {shares}, at most {ordered[-1]:.0f} ms"


async def answers(
    address: str, *, visitors: int, moves: int, game: str, opponent: str, looking: int = 0
) -> list[float]:
    """Seconds from each visitor's move to its opponent's answer, while others look at games of chess."""
    waits: list[float] = []

    async def look(number: int) -> None:
        async with connected(address) as socket:
            page = Page(socket)
            await page.ask("study.open", game="chess", moves=" ".join(random_moves(number, 12)), ply=12)
            await page.ask("study.look", on=True, lines=3)
            while True:
                await page.event("look")

    async def play(number: int) -> None:
        draw = random.Random(number)
        async with connected(address) as socket:
            page = Page(socket)
            view = await page.ask("play.open", game=game, side="0", vs=opponent)
            for _ in range(moves):
                if view["over"] or not view["moves"]:
                    return
                began = time.perf_counter()
                view = await page.ask("play.move", action=draw.choice(view["moves"])[0])
                while not view["over"] and view["mover"] != 0:
                    view = await page.event("table")
                waits.append(time.perf_counter() - began)

    looks = [asyncio.create_task(look(number)) for number in range(looking)]
    await asyncio.gather(*map(play, range(visitors)))
    for one in looks:
        one.cancel()
    return waits


def random_moves(number: int, plies: int) -> list[str]:
    """The moves of a random game of chess in its own notation."""
    game, draw = make("chess"), random.Random(number)
    state, moves = game.initial_state(), list[str]()
    while len(moves) < plies and (legal := game.legal_actions(state)):
        action = draw.choice(legal)
        moves.append(game.action_text(state, action))
        state = game.play(state, action)
    return moves


def large_files(most_bytes: int) -> list[str]:
    """Files of nearly this size: many games with long comments, and one game of one endless line of moves."""
    size = int(0.85 * most_bytes)
    comment = "{" + "a word of praise " * (size // GAMES_OF_A_FILE // 17) + "}"
    many = "\n\n".join(f'[White "{number}"]\n\n1. e4 {comment} e5 2. Nf3 Nc6 *' for number in range(GAMES_OF_A_FILE))
    line = " ".join(f"{number}. Nf3 Nf6 {number + 1}. Ng1 Ng8" for number in range(1, size // 28, 2))
    return [many[:size], f"{line} *"[:size]]


async def clicks(address: str) -> tuple[list[float], list[str]]:
    """Seconds of each click of one visitor while others upload files and have a game reviewed; what became of those."""
    waits: list[float] = []
    outcomes: list[str] = []
    files = large_files(Limits().message_bytes)

    async def upload(number: int) -> None:
        async with connected(address) as socket:
            try:
                view = await Page(socket).ask("study.open", text=files[number % len(files)])
                outcomes.append(f"upload {number} was opened, {len(view['others'])} games")
            except RuntimeError as error:
                outcomes.append(f"upload {number} was refused: {str(error)[:80]}")

    async def review() -> None:
        async with connected(address) as socket:
            page = Page(socket)
            await page.ask("study.open", game="chess", moves=" ".join(random_moves(1, REVIEWED_PLIES)))
            await page.ask("study.review", simulations=REVIEW_SIMULATIONS)
            await page.event("reviewed")
            outcomes.append("the review was finished")

    async with connected(address) as socket:
        page = Page(socket)
        await page.ask("play.open", game="chess", side="both", moves=" ".join(random_moves(2, 20)))
        busy = asyncio.gather(review(), *map(upload, range(UPLOADS)))
        ply = 0
        while not busy.done():
            began = time.perf_counter()
            await page.ask("play.view", ply=ply)
            waits.append(time.perf_counter() - began)
            ply = (ply + 1) % 20
            await asyncio.sleep(CLICK_PAUSE_S)
        await busy
    return waits, outcomes


def main() -> None:
    """Start the server, measure, and end it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=20, help="People who play at the same time.")
    parser.add_argument("--moves", type=int, default=8, help="Moves of each.")
    parser.add_argument("--game", default="connect4", help="The game that they play.")
    parser.add_argument("--vs", default="zerosum's network@50", help="Their opponent.")
    parser.add_argument("--looking", type=int, default=0, help="People who have games of chess analysed meanwhile.")
    options = parser.parse_args()
    command = [sys.executable, "-m", "zerosum", "web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://(\S+/)", server.stdout.readline())
        assert found is not None
        address = f"ws://{found[1]}talk"
        try:
            waits = asyncio.run(
                answers(
                    address,
                    visitors=options.visitors,
                    moves=options.moves,
                    game=options.game,
                    opponent=options.vs,
                    looking=options.looking,
                )
            )
            beside = f" beside {options.looking} who look at chess" if options.looking else ""
            print(told(f"answers of {options.vs} to {options.visitors} visitors{beside}", waits), flush=True)
            waits, outcomes = asyncio.run(clicks(address))
            print(told(f"clicks beside {UPLOADS} uploads and a review", waits))
            print("\n".join(sorted(outcomes)))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()

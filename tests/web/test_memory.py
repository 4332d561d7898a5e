"""What visitors leave is freed at once, not when the garbage collector passes by, which is rare: counts of objects."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from updatable_for_tests import chess, counting_updatable, saved
from web_for_tests import Page, untrained_run
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.searches import Searches
from zerosum.web.visit import House

TINY = Limits(networks=1, seconds=5.0)
"""One network in memory: the second one of a visit takes the place of the first."""
LARGE = {
    *("Visit", "Table", "Growth", "WatchedMatch", "Study", "Lesson", "Player"),
    *("Search", "SearchDriver", "DeepeningSearch", "DeepeningDriver"),
    *("OpenVinoEvaluator", "CompiledModel", "InferRequest", "TorchEvaluator", "UpdatableEvaluator"),
}
"""Kinds of objects with memory of their own: games, trees, tables, networks."""


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def large_objects() -> Counter[str]:
    """The number of objects of each large kind."""
    kinds = (type(one) for one in gc.get_objects())
    return Counter(kind.__name__ for kind in kinds if kind.__name__ in LARGE and kind.__module__ != "re")


async def visit(house: House, game: str) -> None:
    """Use everything that searches a game, and leave in the middle of three searches."""
    page = Page(house)

    async def ask(what: str, **fields: object) -> dict[str, object]:
        answer = await page.ask(what, **fields)
        assert "error" not in answer, answer
        found: dict[str, object] = answer["result"]
        return found

    view = await ask("play.open", game=game, side="0")
    await ask("play.move", action=view["moves"][0][0])  # type: ignore[index]
    await page.event("table")
    await ask("play.hint")
    await page.event("hint")
    await ask("growth.open", game=game)
    await ask("growth.step", number=20)
    await ask("match.open", game="tictactoe", first="rollouts@20", second="random", games=2)
    while not (await page.event("match"))["over"]:
        pass
    await ask("study.open", game=game, moves=view["moves"][0][1])  # type: ignore[index]
    await ask("study.review", simulations=5)
    await page.event("reviewed")
    await ask("lesson.open", scenario="trap")
    await ask("growth.step", number=10_000)
    await ask("study.review", simulations=20_000)
    await ask("study.look", on=True, lines=3)
    await ask("play.hint")
    await asyncio.sleep(0.3)
    page.visit.close()


@pytest.mark.usefixtures("no_collector")
def test_visits_leave_nothing_behind(tmp_path: Path) -> None:
    runs = [untrained_run(tmp_path / name, name, steps=(0,)) for name in ("connect4", "tictactoe", "hex")]
    runs.append(saved(counting_updatable(chess(), {"pawns": 0.1}), tmp_path / "chess"))
    house = House(Library(runs, (), TINY), TINY, Searches(TINY), seed=1)
    others = large_objects()

    async def counts_after_visits() -> list[Counter[str]]:
        found = []
        for game in ("connect4", "tictactoe", "chess", "connect4", "hex"):
            await visit(house, game)
            while house.searches.num_running:
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.5)  # turns that were under way end
            found.append(large_objects() - others)
        return found

    found = asyncio.run(counts_after_visits())
    house.searches.close()
    assert [counts["Player"] for counts in found] == [1] * 5, "the network of the last game"
    evaluators = {"OpenVinoEvaluator", "TorchEvaluator", "UpdatableEvaluator"}
    for counts in found:
        assert sum(counts[kind] for kind in evaluators) == 1, counts
        assert not set(counts) - evaluators - {"Player", "CompiledModel", "InferRequest"}, counts
        assert counts["CompiledModel"] <= 5 and counts["InferRequest"] <= 10, counts


HEAPS = """
import ctypes
import sys
import threading
from zerosum.base.settings import num_cores
from zerosum.web.memory import keep_heaps_small

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
libc.fopen.restype, libc.fopen.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
libc.malloc_info.argtypes, libc.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]


class Known(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]


libc.mallinfo2.restype = Known
if sys.argv[1] == "set":
    keep_heaps_small()
libc.free(libc.malloc(24 << 20))  # from now on glibc by itself has blocks up to this size in its heaps
before = libc.mallinfo2().hblks
libc.malloc(20 << 20)
mappings = libc.mallinfo2().hblks - before

meeting = threading.Barrier(num_cores() + 3)
def work():
    libc.malloc(10_000)
    meeting.wait()  # all threads live at the same moment

threads = [threading.Thread(target=work) for _ in range(num_cores() + 2)]
for thread in threads:
    thread.start()
meeting.wait()
file = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, file)
libc.fclose(file)
print(mappings, open(sys.argv[2]).read().count("<heap nr=") - num_cores())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="needs glibc 2.33 or later"
)
@pytest.mark.parametrize("how", ["set", "unset"])
def test_large_blocks_are_kept_out_of_heaps_and_there_is_one_heap_a_core(how: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HEAPS, how, str(tmp_path / "heaps.xml")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    mappings, more_than_cores = map(int, found.stdout.split())
    assert (mappings, more_than_cores <= 0) == ((1, True) if how == "set" else (0, False))

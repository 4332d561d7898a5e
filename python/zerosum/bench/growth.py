"""The growth of a process that searches one tree: `python -m zerosum.bench.growth`, a separate process.

The calling process would use freed memory again, which hides the growth. `OtherProcess` describes the protocol.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import time
from pathlib import Path

from zerosum.base.errors import ZerosumError
from zerosum.games import make
from zerosum.network.evaluators import UniformEvaluator
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH
from zerosum.run.config import new_config
from zerosum.search import new_search
from zerosum.search.answering import answer

MOST_SIMULATIONS = 1_000_000
STATM = Path("/proc/self/statm")
"""Linux's file about the memory of a process; its second number is the resident pages."""


def main() -> None:
    """Read the request, search one tree, and answer."""
    request = json.loads(sys.stdin.readline())
    said: dict[str, float | str] = {}
    try:
        said |= growth(request["game"], request["overrides"], seconds=request["seconds"])
    except ZerosumError as error:
        said["error"] = str(error)
    print(json.dumps(said))


def growth(name: str, overrides: list[str], *, seconds: float) -> dict[str, float]:
    """The growth of this process in bytes, and the number of simulations.

    It makes as many simulations as the CPU-seconds allow, at most `MOST_SIMULATIONS`, from the initial state, with
    equal priors and values and several leaves in flight.
    """
    game = make(name)
    config = new_config(game, name, overrides=overrides).search
    leaves = max(config.leaves_in_flight, CPU_FULL_BATCH)
    config = dataclasses.replace(config, leaves_in_flight=leaves, cache_positions=0, root_selection="puct")
    evaluator = UniformEvaluator()
    warm = new_search(game, config)
    warm.begin(0, 100)
    while answer(warm, evaluator, leaves):
        pass
    search = new_search(game, config)
    search.begin(0, MOST_SIMULATIONS)
    before, until = resident_bytes(), time.process_time() + seconds
    while answer(search, evaluator, leaves) and time.process_time() < until:
        pass
    grown = resident_bytes() - before
    return {"bytes": grown, "simulations": search.root(0).num_simulations}


def resident_bytes() -> int:
    """Resident memory of this process (on Linux)."""
    return int(STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()

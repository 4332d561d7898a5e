"""Compare a game's rules with independent ones over many random positions; for developers.

    python tools/compare_rules.py chess --positions 100000
    python tools/compare_rules.py chess shogi go --positions 100000 --seed 7

The comparison of a game is `compare(num_positions, seed)` in `tests/oracle_GAME.py`. It raises at a difference and
returns how often each event of the rules occurred; the tests run it on a sample. Random play rarely meets the rare
rules, so `EVENTS` lists a game's events, and fewer than 100 occurrences of one are a failure, too. Some of the other
libraries are GPL: install them yourself; the package never imports them.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
LEAST = 100
"""Times that each event must have come up."""


def main(words: Sequence[str] | None = None) -> None:
    """Run the comparisons that the command line names; exit status 1 if one fails."""
    names = oracles()
    parser = argparse.ArgumentParser(description="Hold a game's rules against independent ones.")
    parser.add_argument("games", nargs="+", choices=names, metavar="GAME", help=f"of {', '.join(names) or 'none'}")
    parser.add_argument("--positions", type=int, default=100_000, help="minimum number of positions")
    parser.add_argument("--seed", type=int, default=0, help="keys the positions")
    parser.add_argument("--least", type=int, default=LEAST, help="minimum occurrences of each event")
    asked = parser.parse_args(words)
    sys.path.insert(0, str(TESTS))
    faults = [
        fault
        for game in asked.games
        for fault in compared(game, num_positions=asked.positions, seed=asked.seed, least=asked.least)
    ]
    if faults:
        sys.exit("\n".join(faults))


def oracles() -> list[str]:
    """The games that have a comparison, ascending."""
    return sorted(path.stem.removeprefix("oracle_") for path in TESTS.glob("oracle_*.py"))


def compared(game: str, *, num_positions: int, seed: int, least: int) -> list[str]:
    """Compare one game and print the events. Returns the faults, in sentences."""
    try:
        oracle = importlib.import_module(f"oracle_{game}")
    except ModuleNotFoundError as error:
        return [f"{game}: {error.name} is missing: install it into this environment, or use one that has it."]
    print(f"{game}: {num_positions:,} positions, seed {seed}")
    started = time.process_time()
    try:
        events: Counter[str] = oracle.compare(num_positions, seed)
    except AssertionError as error:
        return [f"{game}: the rules differ: {error}"]
    wanted: list[str] = sorted(getattr(oracle, "EVENTS", ()))
    for event, count in sorted({**dict.fromkeys(wanted, 0), **events}.items()):
        print(f"  {count:>12,}  {event}")
    print(f"  {time.process_time() - started:,.0f} CPU-seconds")
    rare = [f"{event!r} ({events[event]} times)" for event in wanted if events[event] < least]
    return [f"{game}: too rare to say anything, fewer than {least} times: {', '.join(rare)}"] if rare else []


if __name__ == "__main__":
    main()

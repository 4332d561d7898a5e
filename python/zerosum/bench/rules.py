"""The rules alone, on one thread."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

from zerosum.base.errors import SettingsError
from zerosum.bench.figure import ROUNDS, Figure
from zerosum.games import Rules
from zerosum.games.random_play import random_lines, state_of


def bench_rules(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """The rules alone, on one thread: random games, lines of play counted from the start, and planes written.

    A ply of a random game has the same cost as in a search: a copy of the state, a move, the outcome and the legal
    moves. This bench has no settings.
    """
    if overrides:
        raise SettingsError(f"the bench of rules has no settings, and got {', '.join(overrides)}.")
    seeds, states = itertools.count(), [state_of(game, line) for line in random_lines(game, num=256, seed=0)]
    start, depth = game.initial_state(), _perft_depth(game, seconds / (10 * ROUNDS))
    num_nodes = game.perft(start, depth)

    def play(times: int) -> None:
        game.random_plies(1000 * times, next(seeds))

    def count(times: int) -> None:
        for _ in range(times):
            game.perft(start, depth)

    slice_s = seconds / (3 * ROUNDS)
    works = (play, count, lambda times: game.encode_again(states, times))
    repeats = [_repeats(work, slice_s) for work in works]
    rounds = [
        [_cpu_seconds(work, times) / times for work, times in zip(works, repeats, strict=True)] for _ in range(ROUNDS)
    ]
    play_s, count_s, encode_s = (statistics.median(column) for column in zip(*rounds, strict=True))
    yield Figure("rules", name, "plies_per_cpu_second", 1000 / play_s, "1/s")
    about = {"depth": depth, "nodes": num_nodes}
    yield Figure("rules", name, "perft_nodes_per_cpu_second", num_nodes / count_s, "1/s", about)
    about = {"positions": len(states), "planes": len(game.spec.planes)}
    yield Figure("rules", name, "encode_seconds", encode_s / len(states), "s", about)


def _cpu_seconds(work: Callable[[int], None], times: int) -> float:
    started = time.process_time()
    work(times)
    return time.process_time() - started


def _repeats(work: Callable[[int], None], seconds: float) -> int:
    """Number of repetitions of some work in about `seconds` seconds, at least 1."""
    times = 1
    while (taken := _cpu_seconds(work, times)) < seconds / 4:
        times *= 2
    return max(1, round(times * seconds / taken))


def _perft_depth(game: Rules, seconds: float) -> int:
    """The largest depth that is counted from the start in about `seconds` seconds, up to the longest game."""
    start, depth, num_nodes = game.initial_state(), 1, game.perft(game.initial_state(), 1)
    while True:
        begun = time.process_time()
        deeper = game.perft(start, depth + 1)
        taken = time.process_time() - begun
        if deeper == 0:
            return depth
        depth, growth, num_nodes = depth + 1, deeper / num_nodes, deeper
        if taken * growth > seconds:
            return depth

"""Measurements of all figures of speed: `zerosum bench NAME`, with a file for each name.

    rules       moves, lines of play and planes, without a search
    search      the search without a network, a tree's memory, and a peer's search beside it
    batches     one tree's batches, with priors as sure as a trained network's: how full, how fast
    evaluator   the network alone, and the roofline of its device
    selfplay    self-play beside the evaluator alone, and what a second core gives
    train       the whole loop
    analyse     one position at a time, with the network
    alphabeta   the alpha-beta search with material and with an updatable network

`zerosum bench gpu` is another kind, in `gpu/`: all figures of one GPU beside what they should be, in a file.

A bench returns `Figure`s, which print as JSON lines. On a shared machine the wall clock misleads, so there are figures
per CPU-second (of all threads of the process), and comparisons alternate slices of time within one call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from zerosum.base.errors import SettingsError, nearest, shown
from zerosum.bench.alpha_beta import bench_alpha_beta
from zerosum.bench.analyse import bench_analyse
from zerosum.bench.batches import bench_batches
from zerosum.bench.evaluator import bench_evaluator
from zerosum.bench.figure import Figure as Figure
from zerosum.bench.peers import PEERS
from zerosum.bench.rules import bench_rules
from zerosum.bench.search import bench_search
from zerosum.bench.selfplay import bench_selfplay
from zerosum.bench.selfplay_overhead import bench_selfplay_overhead
from zerosum.bench.selfplay_simulated import bench_simulated_selfplay
from zerosum.bench.simulated import PREFIX
from zerosum.bench.train import bench_train
from zerosum.games import Rules, make

BENCHES = {
    "rules": bench_rules,
    "search": bench_search,
    "batches": bench_batches,
    "evaluator": bench_evaluator,
    "selfplay": bench_selfplay,
    "train": bench_train,
    "analyse": bench_analyse,
    "alphabeta": bench_alpha_beta,
}


def run_bench(
    name: str,
    game: str,
    *,
    seconds: float = 5.0,
    overrides: Sequence[str] = (),
    vs: str | None = None,
    peer_python: str | None = None,
    evaluator: str | None = None,
) -> Iterator[Figure]:
    """Measure for about `seconds` seconds.

    Args:
        name: One of `BENCHES`.
        game: As `make` takes it.
        seconds: The duration; longer with a peer, or if a piece of work takes longer.
        overrides: Settings (section.name=value); the others are those of a new run.
        vs: A peer of the search, one of `PEERS`, that does the same work in alternation.
        peer_python: The Python that has the peer; this one if not given.
        evaluator: Of self-play and analyses: a simulated device (`zerosum.bench.simulated`) in place of a network. With
            "none" self-play is measured without one.

    Raises:
        SettingsError: the name of the bench, the peer or a setting is unknown; the peer is not installed, or does not
            have the game.
    """
    if name not in BENCHES:
        raise SettingsError(f"unknown bench {name!r}{nearest(name, [*BENCHES, 'gpu'])}.")
    bench: Callable[[Rules, str, float, Sequence[str]], Iterator[Figure]] = BENCHES[name]
    if vs is not None:
        if name != "search":
            raise SettingsError(f"--vs goes with the bench 'search', not {name!r}.")
        if vs not in PEERS:
            raise SettingsError(f"unknown peer {vs!r}{nearest(vs, PEERS)}.")
        bench = functools.partial(bench_search, vs=vs, peer_python=peer_python)
    elif peer_python is not None:
        raise SettingsError("--peer-python goes with --vs, which names the peer.")
    if evaluator is not None:
        bench = _with_evaluator(name, evaluator)
    yield from bench(make(game), game, seconds, overrides)


def _with_evaluator(name: str, evaluator: str) -> Callable[[Rules, str, float, Sequence[str]], Iterator[Figure]]:
    """A bench without a network."""
    if name == "selfplay" and evaluator == "none":
        return bench_selfplay_overhead
    if not evaluator.startswith(PREFIX):
        raise SettingsError(
            f"unknown --evaluator {shown(evaluator)}: expected {PREFIX}NAME, or none with the bench 'selfplay'."
        )
    if name == "selfplay":
        return functools.partial(bench_simulated_selfplay, evaluator=evaluator)
    if name == "analyse":
        return functools.partial(bench_analyse, evaluator=evaluator)
    raise SettingsError(f"--evaluator goes with the benches 'selfplay' and 'analyse', not {name!r}.")

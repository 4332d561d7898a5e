"""The alpha-beta search: positions a second by what they are evaluated with."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from zerosum._core import DeepeningSearch
from zerosum.bench.figure import ROUNDS, Figure
from zerosum.games import Rules
from zerosum.games.random_play import random_lines, state_of
from zerosum.network import Checkpoint, CheckpointInfo, initial_weights
from zerosum.network.evaluators.updatable import UpdatableEvaluator
from zerosum.run.config import new_config

NODES = 20_000
"""Positions of each search."""
NUM_POSITIONS = 8


def bench_alpha_beta(game: Rules, name: str, seconds: float, overrides: Sequence[str]) -> Iterator[Figure]:
    """Positions a CPU-second of one search on one core, with material and with an untrained updatable network.

    The searches take turns on eight positions of random games.
    """
    network = new_config(
        game, name, overrides=["network.kind=updatable", "network.ownership_head=false", *overrides]
    ).network
    info = CheckpointInfo.describe(game.spec, network, step=0)
    evaluator = UpdatableEvaluator(Checkpoint(info, initial_weights(network, info.shape, seed=0)), game)
    states = [state_of(game, line) for line in random_lines(game, num=NUM_POSITIONS, seed=0)]
    searches = {
        "material": DeepeningSearch(game),
        "updatable": DeepeningSearch(game, evaluator.network, piece_values=evaluator.piece_values),
    }
    nodes, spent = dict.fromkeys(searches, 0), dict.fromkeys(searches, 0.0)
    for _ in range(ROUNDS):
        for evaluation, search in searches.items():
            began = time.process_time()
            index = 0
            while time.process_time() - began < seconds / (2 * ROUNDS):
                search.clear()
                found = search.think(states[index % len(states)], nodes=NODES)
                assert found is not None
                nodes[evaluation] += found.num_nodes
                index += 1
            spent[evaluation] += time.process_time() - began
    for evaluation in searches:
        settings = {"evaluation": evaluation, "nodes": NODES} | (
            {"network": network.size} if evaluation == "updatable" else {}
        )
        rate = nodes[evaluation] / spent[evaluation]
        yield Figure("alphabeta", name, f"nodes_per_cpu_second_{evaluation}", rate, "1/s", settings)

"""Default settings of a new run on a GPU: they follow from what its budget pays for.

The rates are those of one NVIDIA H200 with 16 CPU cores (benches/RESULTS.md), whose arithmetic is that of an H100:
self-play made 207,000 evaluations a second in chess with a network of 19x256, bound by the GPU, and 838,000 in 9x9 Go
with 6x96, bound by the CPU. The sizes by budget, the batches and the learning rates are inferred from them, not
measured. On a smaller GPU the same settings learn from fewer positions: take a smaller network or a larger budget.
"""

from __future__ import annotations

import math
from typing import Any

from zerosum.learner import LearnerConfig
from zerosum.network import NetworkConfig, NetworkShape
from zerosum.network.weights import LEARNING_OPERATIONS, num_operations, num_parameters

OPERATIONS_PER_GPU_SECOND = 750e12
"""Operations of evaluations in a second of self-play, if the CPU cost nothing: chess with 19x256, as above."""
EVALUATIONS_PER_CORE_SECOND = 64_500
"""Evaluations that a core brings to the GPU and back, if the GPU cost nothing: 9x9 Go with 6x96, as above."""
LEARNING_OPERATIONS_PER_GPU_SECOND = 397e12
"""Operations of learner steps in a second: chess with 19x256, batches of 1,024."""
POSITIONS_PER_PARAMETER = 0.25
"""Recorded positions that a budget should pay for, for each parameter of the network. In 9x9 Go on a CPU a network of
6x64 (0.5 million parameters) came within 83 Elo of 4x48 at 0.08 (`defaults.LEAST_POSITIONS`)."""
BLOCKS_BY_FILTERS = {64: 0, 96: 0, 128: 4, 192: 9, 256: 13}
"""Numbers of filters, with the number of blocks beyond `FEWEST_BLOCKS` and a third of the board's side. On 8x8 squares
these are 6x96, 10x128 and 15x192, as in KataGo, and 19x256, as in AlphaZero."""
FEWEST_BLOCKS = 4
SMALL_BOARD, FILTERS_ON_SMALL_BOARDS = 49, 128
"""Squares of a small board, and the most filters there: in Connect Four more had no gain on a CPU (docs/log.md)."""
MOST_SIMULATIONS = 800
"""Simulations of a full search at most, as in AlphaZero."""
LARGE_FILTERS, SMALL_BATCH, LARGE_BATCH = 192, 512, 1024
"""Positions per step, the second from this number of filters on. Larger batches would hardly be quicker: with 6x96 and
its batches ready an H200 learns from 184,000 positions a second in batches of 512, and from 319,000 in batches of
2,048."""


def evaluations_per_second(operations: float, *, num_cores: int, num_gpus: int) -> float:
    """Evaluations of self-play in a second with a network of so many operations an evaluation."""
    on_gpus = operations / (num_gpus * OPERATIONS_PER_GPU_SECOND)
    return 1 / (on_gpus + 1 / (num_cores * EVALUATIONS_PER_CORE_SECOND))


def gpu_settings(
    shape: NetworkShape,
    network: dict[str, Any],
    *,
    simulations: int,
    simulations_per_position: float,
    seconds: float,
    num_cores: int,
    num_gpus: int,
) -> dict[str, dict[str, Any]]:
    """The size of the network, the simulations, the batch and its learning rate, by section.

    - Network: the largest for which the budget records `POSITIONS_PER_PARAMETER` positions.
    - Simulations: those of a run on a CPU; twice or four times as many if the largest network has positions enough.

    Args:
        shape: The network's input and output.
        network: The other settings of the network.
        simulations: Of a full search.
        simulations_per_position: Evaluations of self-play for each recorded position, at most.
        seconds: The budget.
        num_cores: CPU cores.
        num_gpus: GPUs.
    """
    most = FILTERS_ON_SMALL_BOARDS if shape.height * shape.width <= SMALL_BOARD else max(BLOCKS_BY_FILTERS)
    sizes = [
        {**network, "num_blocks": FEWEST_BLOCKS + max(shape.height, shape.width) // 3 + more, "num_filters": filters}
        for filters, more in BLOCKS_BY_FILTERS.items()
        if filters <= most
    ]

    def is_paid_for(size: dict[str, Any], factor: int) -> bool:
        config = NetworkConfig(**size)
        operations, samples = num_operations(config, shape), LearnerConfig().samples_per_position
        rate = evaluations_per_second(operations, num_cores=num_cores, num_gpus=num_gpus)
        learning_s = samples * LEARNING_OPERATIONS * operations / LEARNING_OPERATIONS_PER_GPU_SECOND
        positions = seconds / (factor * simulations_per_position / rate + learning_s)
        return positions >= POSITIONS_PER_PARAMETER * num_parameters(config, shape)

    size = [sizes[0], *(one for one in sizes if is_paid_for(one, 1))][-1]
    factors = [factor for factor in (2, 4) if size is sizes[-1] and is_paid_for(size, factor)]
    factor = min([1, *factors][-1], max(MOST_SIMULATIONS // simulations, 1))
    return {
        "search": {"num_simulations": factor * simulations},
        "selfplay": {"fast_simulations": factor * max(simulations // 5, 8)},
        "network": size,
        "learner": learner_settings(size["num_filters"]),
    }


def learner_settings(num_filters: int) -> dict[str, Any]:
    """The batch and its learning rate for a network of so many filters.

    The rate is that of the CPU's runs for 64 filters and 256 positions, in inverse proportion to the filters (Yang et
    al., arXiv 2203.03466, for Adam) and in proportion to the root of the batch (Malladi et al., arXiv 2205.10287).

    >>> learner_settings(64), learner_settings(256)
    ({'batch_size': 512, 'learning_rate': 0.0028}, {'batch_size': 1024, 'learning_rate': 0.001})
    """
    usual, batch = LearnerConfig(), LARGE_BATCH if num_filters >= LARGE_FILTERS else SMALL_BATCH
    rate = usual.learning_rate * 64 / num_filters * math.sqrt(batch / usual.batch_size)
    return {"batch_size": batch, "learning_rate": float(f"{rate:.2g}")}

"""Loss of accuracy of a precision against float32: a network's outputs, and its mistakes in solved positions.

    python tools/compare_precisions.py runs/connect4 --positions 2000 --simulations 50

Positions come from random play, and differ from those of int8's calibration. For each precision of the OpenVINO backend
it prints the mean Kullback-Leibler divergence of the policy from float32's (the increase of its cross-entropy), how
often the most likely move is the same, the mean and the 99th percentile of the difference of values, and, if the game
has solved positions, the mean share of mistakes at `--simulations` per move.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, make
from zerosum.games.random_play import random_lines, state_of
from zerosum.games.rules import Leaves
from zerosum.network import load_checkpoint
from zerosum.network.evaluators import Evaluations, Evaluator
from zerosum.network.evaluators.openvino import OpenVinoEvaluator
from zerosum.network.evaluators.openvino_requests import CAPABILITIES, cpu_capabilities
from zerosum.play.player import Player
from zerosum.run.mistakes import mean_rate
from zerosum.run.solved import mistake_rates, solved_sets
from zerosum.search import SearchConfig


def main() -> None:
    """Read the arguments and print a line for each precision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run directory, or a checkpoint's JSON")
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument(
        "--simulations", type=int, default=50, help="simulations a move in solved positions; 0 leaves these out"
    )
    arguments = parser.parse_args()
    checkpoint = load_checkpoint(arguments.run)
    game = make(checkpoint.info.full_name)
    leaves = game.encode([state_of(game, line) for line in random_lines(game, num=arguments.positions, seed=0)])
    expected = OpenVinoEvaluator(checkpoint, batch_size=64, precision="f32").evaluate(leaves)
    network = checkpoint.info.network
    print(f"{checkpoint.info.full_name}, {network.num_blocks}x{network.num_filters}, step {checkpoint.info.step:,}")
    for precision in (one for one, name in CAPABILITIES.items() if name in cpu_capabilities()):
        evaluator = OpenVinoEvaluator(checkpoint, batch_size=64, precision=precision)
        text = differences(leaves, expected, evaluator.evaluate(leaves))
        if arguments.simulations and solved_sets(game):
            text += f"; {mistakes(game, evaluator, arguments.simulations)}"
        print(f"{precision}: {text}", flush=True)


def differences(leaves: Leaves, expected: Evaluations, found: Evaluations) -> str:
    """The differences of the outputs."""
    pairs = list(zip(log_policies(leaves, expected), log_policies(leaves, found), strict=True))
    divergence = np.mean([(np.exp(one) * (one - other)).sum() for one, other in pairs])
    same = np.mean([one.argmax() == other.argmax() for one, other in pairs])
    value = np.abs(expected.values - found.values)
    return (
        f"divergence {divergence:.6f}, same move {same:.2%},"
        f" value differs by {value.mean():.4f}, 99 % by at most {np.quantile(value, 0.99):.4f}"
    )


def log_policies(leaves: Leaves, evaluations: Evaluations) -> list[NDArray[np.float64]]:
    """The logarithm of each legal move's probability, position by position."""
    logits = np.split(evaluations.logits.astype(np.float64), leaves.legal_offsets[1:-1])
    return [each - np.logaddexp.reduce(each) for each in logits]


def mistakes(game: Rules, evaluator: Evaluator, num_simulations: int) -> str:
    """The mean share of mistakes, all solved positions counted."""
    search = replace(SearchConfig(), num_simulations=num_simulations, root_noise_fraction=0.0)
    rates = mistake_rates(Player(game, evaluator, search, name="it"), solved_sets(game), max_positions=None)
    mean, error = mean_rate(rates)
    return f"mistakes {mean:.2%} ± {error:.2%} ({', '.join(f'{rate.value:.1%}' for rate in rates)})"


if __name__ == "__main__":
    main()

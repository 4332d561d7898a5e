"""How well a network predicts the moves and results of held-out games, from which it did not learn.

Two references without knowledge are measured beside the network: equal probabilities for all legal moves, and the
constant value with the smallest error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zerosum.base.files import append_line, read_lines, repair_lines
from zerosum.games import Rules
from zerosum.network.evaluators import Evaluator
from zerosum.replay import ReplayWindow, Samples
from zerosum.replay.batch import encode

FILE = "held-out.jsonl"
BATCH_SIZE = 256
DRAW = 1 << 40
"""Step number that keys the choice of measured positions, above all steps of the learner."""


@dataclass(frozen=True)
class HeldOut:
    """The measurements of a checkpoint, means over positions: a line of `held-out.jsonl`."""

    step: int
    """Learner step of the checkpoint."""
    split: str
    """ "dev" or "test"."""
    positions: int
    games: int
    """Games that contain the positions."""
    top1: float
    """Share of positions where the likeliest move is the target's."""
    top5: float
    """Share of positions where the target's move is among the five likeliest."""
    cross_entropy: float
    """Cross-entropy of the policy over the legal moves against the target, in nats."""
    value_error: float
    """Mean of (result - value)^2, each for the mover, in [0, 4]."""
    uniform_top1: float
    """`top1` of equal probabilities for all legal moves, as the next two are of `top5` and `cross_entropy`."""
    uniform_top5: float
    uniform_cross_entropy: float
    constant_value_error: float
    """Smallest mean of (result - constant)^2 over all constants."""


def measure(
    game: Rules, evaluator: Evaluator, window: ReplayWindow, *, step: int, split: str, num_positions: int, seed: int
) -> HeldOut:
    """Measure a network on positions of a window, drawn with replacement. The same seed draws the same positions."""
    samples = window.sample(num_positions, seed=seed, step=DRAW)
    columns: dict[str, list[NDArray[np.float64]]] = {}
    for begin in range(0, num_positions, BATCH_SIZE):
        for name, values in _measured(game, evaluator, _slice(samples, begin, begin + BATCH_SIZE)).items():
            columns.setdefault(name, []).append(values)
    of = {name: np.concatenate(values) for name, values in columns.items()}
    results = samples.returns.astype(np.float64)
    return HeldOut(
        step=step,
        split=split,
        positions=num_positions,
        games=len(np.unique(samples.game_ids)),
        value_error=float(np.mean((results - of.pop("value")) ** 2)),
        constant_value_error=float(np.var(results)),
        **{name: float(values.mean()) for name, values in of.items()},
    )


def _measured(game: Rules, evaluator: Evaluator, samples: Samples) -> dict[str, NDArray[np.float64]]:
    """An array [B] for each measure of `HeldOut`, and for `value`."""
    leaves = encode(game, samples)
    answers = evaluator.evaluate(leaves)
    offsets = leaves.legal_offsets
    size, counts = len(leaves), np.diff(offsets)
    # A row for each position, as wide as the most legal moves.
    logits = np.full((size, int(counts.max())), -np.inf)
    target = np.zeros_like(logits)
    row = np.repeat(np.arange(size), counts)
    column = np.arange(len(row)) - offsets[:-1].repeat(counts)
    logits[row, column] = answers.logits
    shares = samples.policies.dense(game.spec.num_actions)
    target[row, column] = shares[row, leaves.legal_actions]
    best = target.argmax(axis=1)
    own = logits[np.arange(size), best]
    # Equally likely moves share their ranks: each has each of them with the same probability.
    above, level = (logits > own[:, None]).sum(axis=1), (logits == own[:, None]).sum(axis=1)
    highest = logits.max(axis=1)
    log_sum = highest + np.log(np.exp(logits - highest[:, None]).sum(axis=1))
    log_shares = np.where(target > 0, logits, 0.0) - log_sum[:, None]  # without a target the logit may be -inf
    return {
        "value": answers.values.astype(np.float64),
        "top1": np.clip((1 - above) / level, 0, 1),
        "top5": np.clip((5 - above) / level, 0, 1),
        "cross_entropy": -(target * log_shares).sum(axis=1),
        "uniform_top1": 1 / counts,
        "uniform_top5": np.minimum(5 / counts, 1.0),
        "uniform_cross_entropy": target.sum(axis=1) * np.log(counts),
    }


def _slice(samples: Samples, begin: int, end: int) -> Samples:
    """The samples from begin to end, with the policy as their only target."""
    first, last = samples.action_offsets[begin], samples.action_offsets[begin : end + 1][-1]
    policies = samples.policies
    entries = policies.offsets[begin : end + 1]
    return Samples(
        game_ids=samples.game_ids[begin:end],
        starts=samples.starts[begin:end],
        actions=samples.actions[first:last],
        action_offsets=samples.action_offsets[begin : end + 1] - first,
        returns=samples.returns[begin:end],
        search_values=samples.search_values[begin:end],
        draws=samples.draws[begin:end],
        policies=replace(
            policies,
            actions=policies.actions[entries[0] : entries[-1]],
            probabilities=policies.probabilities[entries[0] : entries[-1]],
            offsets=entries - entries[0],
        ),
    )


class HeldOutFile:
    """The measurements of a run's checkpoints on held-out games."""

    def __init__(self, run: Path, *, report: Callable[[str], None] | None = None) -> None:
        """Read the file. With `report`, damaged lines are removed and reported; without it, nothing is written."""
        self._path = run / FILE
        found = read_lines(self._path, _parse)
        if report is not None:
            repair_lines(self._path, found, report=report)
        self.lines = found.entries

    def has(self, step: int, split: str) -> bool:
        """Whether a checkpoint was measured on a split."""
        return any((line.step, line.split) == (step, split) for line in self.lines)

    def newest(self, split: str) -> HeldOut | None:
        """The last measurement on a split."""
        return next((line for line in reversed(self.lines) if line.split == split), None)

    def add(self, line: HeldOut) -> None:
        """Append a measurement. Raises RunError."""
        self.lines.append(line)
        append_line(self._path, json.dumps(asdict(line)))


def _parse(text: str) -> HeldOut:
    """A line as measurements. Raises ValueError or TypeError if it is not one."""
    line = HeldOut(**json.loads(text))
    numbers = [value for name, value in vars(line).items() if name != "split"]
    if line.split not in ("dev", "test") or not all(isinstance(number, int | float) for number in numbers):
        raise ValueError("not a measurement")
    return line


def held_out_table(lines: Iterable[HeldOut]) -> str:
    """Measurements as text: a table for each split."""
    blocks = []
    for line in lines:
        rows = [
            ("best move is the record's", f"{line.top1:.1%}", f"{line.uniform_top1:.1%}"),
            ("record's move is in the best five", f"{line.top5:.1%}", f"{line.uniform_top5:.1%}"),
            ("cross-entropy, nats", f"{line.cross_entropy:.3f}", f"{line.uniform_cross_entropy:.3f}"),
            ("squared error of the value", f"{line.value_error:.3f}", f"{line.constant_value_error:.3f}"),
        ]
        title = (
            f"Held-out games, {line.split}: {line.positions:,} positions of {line.games:,} games, step {line.step:,}"
        )
        head = f"  {'':<34} {'network':>9} {'no knowledge':>13}"
        blocks.append("\n".join([title, head, *(f"  {name:<34} {own:>9} {none:>13}" for name, own, none in rows)]))
    return "\n".join(blocks)

"""What a network that has learned the rules knows of them: its model beside the game, depth by depth.

From a position the dynamics makes moves in hidden states, and the game makes the same moves. At each depth the policy
and the value of the hidden state are compared with those that the network gives the real position there: a perfect
model would make no difference. The moves are drawn by the policy, or random legal ones, where a model that has seen
only good moves errs more (He et al. 2023, arXiv 2306.00840).

Shape suffixes: B lines of play, F filters, H height, W width, A actions.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State
from zerosum.games.random_play import random_lines, state_of
from zerosum.network import Checkpoint

NUM_LINES = 256
MOST_DEPTH = 10


@dataclass(frozen=True)
class ModelMeasure:
    """Means over the lines of play that reach a depth. NaN where there is none."""

    moves: str
    """"policy" for moves drawn by the policy, or "random" for random legal ones."""
    depth: int
    """Moves made by the dynamics."""
    num_lines: int
    """Lines whose game goes on at this depth."""
    illegal_share: float
    """The policy's share on illegal moves."""
    value_error: float
    """|v - v'|, of the hidden state's value and that of the real position."""
    agreement: float
    """Share of lines in which the best move of both policies is the same."""
    end_error: float
    """|v - z| where the game has just ended with the result z, for the player who would move."""


def measure_model(
    game: Rules, checkpoint: Checkpoint, *, num_lines: int = NUM_LINES, most_depth: int = MOST_DEPTH, seed: int = 0
) -> Iterator[ModelMeasure]:
    """Measure the model of a MuZero network from positions of random games, by kind of moves and depth."""
    import torch

    from zerosum.network.heads import values_of
    from zerosum.network.muzero_module import MuZeroModule

    info = checkpoint.info
    module = MuZeroModule(info.network, info.shape, checkpoint.weights)
    module.eval()

    def answers(hidden: torch.Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Policies [B, A] and values [B]."""
        logits = module.predict(hidden)
        return logits["policy"].double().softmax(dim=1).numpy(), values_of(logits["value"]).double().numpy()

    for kind in ("policy", "random"):
        generator = random.Random(seed)
        states = [state_of(game, line) for line in random_lines(game, num=num_lines, seed=seed)]
        with torch.inference_mode():
            hidden = module.represent(torch.from_numpy(game.encode(states).planes()))
            ended = np.zeros(0)
            for depth in range(most_depth + 1):
                policies, values = answers(hidden)
                leaves = game.encode(states)
                real = module.represent(torch.from_numpy(leaves.planes()))
                real_policies, real_values = answers(real)
                legal = leaves.legal_mask()
                yield ModelMeasure(
                    moves=kind,
                    depth=depth,
                    num_lines=len(states),
                    illegal_share=float((policies * ~legal).sum(axis=1).mean()),
                    value_error=float(np.abs(values - real_values).mean()),
                    agreement=float(
                        ((policies * legal).argmax(axis=1) == (real_policies * legal).argmax(axis=1)).mean()
                    ),
                    end_error=float(ended.mean()) if len(ended) else float("nan"),
                )
                chosen = [
                    _choice(generator, row, policy if kind == "policy" else None)
                    for row, policy in zip(_legal_places(leaves), real_policies, strict=True)
                ]
                moved = module.advance(hidden, torch.tensor([place for _, place in chosen]))
                nexts = [game.play(state, action) for state, (action, _) in zip(states, chosen, strict=True)]
                results = [game.outcome(state) for state in nexts]
                _, moved_values = answers(moved)
                ended = np.array(
                    [
                        abs(value - _for_next_mover(game, state, result))
                        for value, state, result in zip(moved_values, states, results, strict=True)
                        if result is not None
                    ]
                )
                goes_on = [index for index, result in enumerate(results) if result is None]
                if not goes_on:
                    break
                hidden, states = moved[goes_on], [nexts[index] for index in goes_on]


def model_table(measures: Iterable[ModelMeasure]) -> Iterator[str]:
    """The measures as lines of text, a percentage as -- where nothing was measured."""
    yield "The learned rules, after so many moves in hidden states, beside the network's answer in the real position:"
    yield "  moves   depth  lines  policy on illegal moves  value's error  same best move  value's error at an end"
    for one in measures:
        end = "--" if math.isnan(one.end_error) else f"{one.end_error:.3f}"
        yield (
            f"  {one.moves:<6}  {one.depth:>5}  {one.num_lines:>5}  {one.illegal_share:>23.2%}"
            f"  {one.value_error:>13.3f}  {one.agreement:>14.1%}  {end:>22}"
        )


def _for_next_mover(game: Rules, before: State, result: float) -> float:
    """A result, for the first player, as the player sees it who does not move in the position before."""
    return -result if game.player(before) == 0 else result


def _legal_places(leaves: object) -> list[list[tuple[int, int]]]:
    """For each position its legal actions, each with the place of its logit."""
    from zerosum._core import Leaves

    assert isinstance(leaves, Leaves)
    offsets = leaves.legal_offsets.tolist()
    pairs = list(zip(leaves.legal_actions.tolist(), leaves.logit_actions.tolist(), strict=True))
    return [pairs[start:end] for start, end in itertools.pairwise(offsets)]


def _choice(
    generator: random.Random, legal: list[tuple[int, int]], policy: NDArray[np.float64] | None
) -> tuple[int, int]:
    """A legal action and its place, drawn by the policy, or each with the same probability."""
    if policy is None:
        return generator.choice(legal)
    weights = [policy[place] for _, place in legal]
    return generator.choices(legal, weights=weights)[0] if sum(weights) > 0 else generator.choice(legal)

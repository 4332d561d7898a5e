"""What a network that has learned the rules knows of them: its model beside the game, depth by depth.

From a position the dynamics makes moves in hidden states, and the game makes the same moves. At each depth the policy
and the value of the hidden state are compared with those that the network gives the real position there: a perfect
model would make no difference. The moves are those of recorded games, drawn by the policy, or random legal ones, where
a model that has seen only good moves errs more (He et al. 2023, arXiv 2306.00840).

`search_measures.py` says what a search makes of the model.

Shape suffixes: B lines of play, F filters, H height, W width, A actions.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zerosum.games import Rules, State, start_state
from zerosum.games.random_play import random_lines, state_of
from zerosum.games.rules import Leaves
from zerosum.network import Checkpoint
from zerosum.replay.records import GameRecord

if TYPE_CHECKING:
    from torch import Tensor

NUM_LINES = 256
MOST_DEPTH = 10


@dataclass(frozen=True)
class ModelMeasure:
    """Means over the lines of play that reach a depth. NaN where there is none."""

    moves: str
    """"played" for moves of recorded games, "policy" for moves drawn by the policy, "random" for random legal ones."""
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
    result_error: float
    """|v - z| with the result z of the recorded game; NaN for other moves, whose games are not played to their ends."""
    real_result_error: float
    """|v' - z|, as a model without errors would have it."""


@dataclass(frozen=True)
class Line:
    """A line of play at some depth."""

    state: State
    moves: tuple[int, ...] | None = None
    """The moves that follow; None if they are drawn."""
    result: float = math.nan
    """The result of the game for the first player, if it is known."""


def measure_model(
    game: Rules,
    checkpoint: Checkpoint,
    *,
    records: Sequence[GameRecord] = (),
    num_lines: int = NUM_LINES,
    most_depth: int = MOST_DEPTH,
    seed: int = 0,
) -> Iterator[ModelMeasure]:
    """Measure the model of a MuZero network, by kind of moves and depth.

    Lines begin at random plies of `records`, if there are any, for played moves, and in positions of random games.
    """
    model = _Model(checkpoint)
    states = [state_of(game, line) for line in random_lines(game, num=num_lines, seed=seed)]
    begun = {"played": played_lines(game, records, num=num_lines, seed=seed)} if records else {}
    for kind in ("policy", "random"):
        begun[kind] = [Line(state) for state in states]
    for kind, lines in begun.items():
        yield from _along(game, model, kind, lines, most_depth=most_depth, generator=random.Random(seed))


def played_lines(game: Rules, records: Sequence[GameRecord], *, num: int, seed: int) -> list[Line]:
    """Lines that begin at random plies of random games, in each of which a move follows."""
    generator = random.Random(seed)
    lines = []
    for record in generator.choices([record for record in records if record.num_plies], k=num):
        moves = record.plies["action"].tolist()
        ply = generator.randrange(len(moves))
        state = functools.reduce(game.play, moves[:ply], start_state(game, record.start))
        lines.append(Line(state, tuple(moves[ply:]), record.outcome))
    return lines


class _Model:
    """A network's answers."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        from zerosum.network.muzero_module import MuZeroModule

        self.module = MuZeroModule(checkpoint.info.network, checkpoint.info.shape, checkpoint.weights)
        self.module.eval()

    def represent(self, leaves: Leaves) -> Tensor:
        import torch

        return self.module.represent(torch.from_numpy(leaves.planes()))

    def answers(self, hidden: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Policies [B, A] and values [B]."""
        from zerosum.network.heads import values_of

        logits = self.module.predict(hidden)
        return logits["policy"].double().softmax(dim=1).numpy(), values_of(logits["value"]).double().numpy()


def _along(
    game: Rules, model: _Model, kind: str, lines: list[Line], *, most_depth: int, generator: random.Random
) -> Iterator[ModelMeasure]:
    """The measures along some lines, at each depth that one of them reaches."""
    import torch

    with torch.inference_mode():
        hidden = model.represent(game.encode([line.state for line in lines]))
    ended = np.zeros(0)
    for depth in range(most_depth + 1):
        with torch.inference_mode():
            leaves = game.encode([line.state for line in lines])
            policies, values = model.answers(hidden)
            real_policies, real_values = model.answers(model.represent(leaves))
        results = np.array([_for_player(game.player(line.state), line.result) for line in lines])
        legal = leaves.legal_mask()
        yield ModelMeasure(
            moves=kind,
            depth=depth,
            num_lines=len(lines),
            illegal_share=float((policies * ~legal).sum(axis=1).mean()),
            value_error=float(np.abs(values - real_values).mean()),
            agreement=float(((policies * legal).argmax(axis=1) == (real_policies * legal).argmax(axis=1)).mean()),
            end_error=float(ended.mean()) if len(ended) else math.nan,
            result_error=float(np.abs(values - results).mean()),
            real_result_error=float(np.abs(real_values - results).mean()),
        )
        chosen = [
            _choice(generator, line, legal_places, policy if kind == "policy" else None)
            for line, legal_places, policy in zip(lines, _legal_places(leaves), real_policies, strict=True)
        ]
        with torch.inference_mode():
            moved = model.module.advance(hidden, torch.tensor([place for _, place in chosen]))
            _, moved_values = model.answers(moved)
        nexts = [_after(game, line, action) for line, (action, _) in zip(lines, chosen, strict=True)]
        outcomes = [game.outcome(line.state) for line in nexts]
        # The player who would move after the last move is the other one, since sides move in turn.
        ended = np.array(
            [
                abs(value - _for_player(1 - game.player(line.state), outcome))
                for value, line, outcome in zip(moved_values, lines, outcomes, strict=True)
                if outcome is not None
            ]
        )
        goes_on = [
            index for index, (line, outcome) in enumerate(zip(nexts, outcomes, strict=True))
            if outcome is None and line.moves != ()
        ]  # fmt: skip
        if not goes_on:
            break
        hidden, lines = moved[goes_on], [nexts[index] for index in goes_on]


def model_table(measures: Iterable[ModelMeasure]) -> Iterator[str]:
    """The measures as lines of text, -- where nothing was measured."""
    yield "The learned rules, after so many moves in hidden states, beside the network's answer in the real position:"
    yield (
        "  moves   depth  lines  policy on illegal moves  value's error  same best move  value's error at an end"
        "  … to the result  (real position)"
    )
    for one in measures:
        yield (
            f"  {one.moves:<6}  {one.depth:>5}  {one.num_lines:>5}  {one.illegal_share:>23.2%}"
            f"  {one.value_error:>13.3f}  {one.agreement:>14.1%}  {_number(one.end_error):>22}"
            f"  {_number(one.result_error):>15}  {_number(one.real_result_error):>15}"
        )


def _number(value: float) -> str:
    return "--" if math.isnan(value) else f"{value:.3f}"


def _for_player(player: int, result: float) -> float:
    """A result for the first player, as this player sees it."""
    return result if player == 0 else -result


def _after(game: Rules, line: Line, action: int) -> Line:
    return replace(line, state=game.play(line.state, action), moves=None if line.moves is None else line.moves[1:])


def _legal_places(leaves: Leaves) -> list[list[tuple[int, int]]]:
    """For each position its legal actions, each with the place of its logit."""
    offsets = leaves.legal_offsets.tolist()
    pairs = list(zip(leaves.legal_actions.tolist(), leaves.logit_actions.tolist(), strict=True))
    return [pairs[start:end] for start, end in itertools.pairwise(offsets)]


def _choice(
    generator: random.Random, line: Line, legal: list[tuple[int, int]], policy: NDArray[np.float64] | None
) -> tuple[int, int]:
    """A legal action and its place: the line's own move, one drawn by the policy, or each with the same probability."""
    if line.moves is not None:
        return next(pair for pair in legal if pair[0] == line.moves[0])
    if policy is None:
        return generator.choice(legal)
    weights = [policy[place] for _, place in legal]
    return generator.choices(legal, weights=weights)[0] if sum(weights) > 0 else generator.choice(legal)

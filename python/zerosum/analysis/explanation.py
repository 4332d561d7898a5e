"""A search explained simulation by simulation: the positions and moves on its way, and the value backed up.

    for simulation in explain(game, evaluator, game.initial_state(), num_simulations=20):
        print(simulation)

The search is the textbook's (`search/textbook.py`), with the settings of preset `paper`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from zerosum.games import Rules, State
from zerosum.network.evaluators import Evaluator
from zerosum.search.textbook import C_INIT, UNVISITED_Q, Node, back_up, q, search, select, u, visit


@dataclass(frozen=True)
class Choice:
    """A legal move as selection saw it. Q and U are for the player to move."""

    move: str
    visits: int
    """N(s, a)."""
    prior: float
    """P(s, a), in [0, 1]."""
    q: float
    """In [-1, 1]: a loss, -1, before the first visit."""
    u: float
    """At least 0. The move with the largest Q + U is chosen."""


@dataclass(frozen=True)
class PathStep:
    """A position on the way, and the move chosen there."""

    visits: int
    """N(s)."""
    chosen: str
    choices: tuple[Choice, ...]
    """The moves with the largest Q + U, the chosen one first."""


@dataclass(frozen=True)
class Simulation:
    """One simulation."""

    number: int
    """The number of the simulation, from 1."""
    path: tuple[PathStep, ...]
    is_over: bool
    """Whether the game is over at the leaf, whose outcome was then backed up without an evaluation."""
    value: float
    """The value backed up, for the player to move at the root."""

    def json(self) -> str:
        """The fields as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def __str__(self) -> str:
        moves = " ".join(step.chosen for step in self.path)
        source = "the game is over" if self.is_over else "evaluated"
        lines = [f"{self.number}. {moves}: {source}, {self.value:+.3f} is backed up"]
        for depth, step in enumerate(self.path):
            lines.append(f"{'':{3 + 2 * depth}}N(s) = {step.visits}")
            for choice in step.choices:
                mark = "*" if choice.move == step.chosen else " "
                lines.append(
                    f"{'':{3 + 2 * depth}}{mark} {choice.move:6} N {choice.visits:4}  P {choice.prior:.3f}"
                    f"  Q {choice.q:+.3f}  U {choice.u:.3f}  Q + U {choice.q + choice.u:+.3f}"
                )
        return "\n".join(lines)


def explain(
    game: Rules, evaluator: Evaluator, state: State, *, num_simulations: int, num_choices: int = 3
) -> Iterator[Simulation]:
    """The simulations of a search of `state`, which is not final, with `num_choices` moves of each position."""
    root = search(game, evaluator, state, num_simulations=0)
    for number in range(1, num_simulations + 1):
        path = select(game, root)
        steps = tuple(step_of(game, node, child, num_choices) for node, child in itertools.pairwise(path))
        leaf = path[-1]
        value = visit(game, evaluator, leaf)
        back_up(path, value)
        yield Simulation(number, steps, is_over=not leaf.priors, value=root.sign * value)


def step_of(
    game: Rules,
    node: Node,
    child: Node,
    num_choices: int,
    *,
    c_init: np.float32 = C_INIT,
    unvisited_q: np.float32 = UNVISITED_Q,
    notation: str | None = None,
) -> PathStep:
    """A node on the way to a child, before the simulation is backed up, with so many of its moves.

    Moves are written in a notation of the game; None is its own.
    """

    def choice(action: int) -> Choice:
        known = node.children.get(action)
        return Choice(
            move=game.action_text(node.state, action, notation),
            visits=known.visits if known else 0,
            prior=float(node.priors[action]),
            q=float(q(node, action, unvisited_q)),
            u=float(u(node, action, c_init)),
        )

    def order(action: int) -> tuple[bool, float, int]:
        return action != chosen, -float(q(node, action, unvisited_q) + u(node, action, c_init)), action

    chosen = next(action for action, known in node.children.items() if known is child)
    choices = tuple(map(choice, sorted(node.priors, key=order)[:num_choices]))
    return PathStep(node.visits, choices[0].move, choices)

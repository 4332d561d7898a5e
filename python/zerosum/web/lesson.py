"""The teaching tree: nine nodes whose priors and values are set by hand, searched one simulation at a time.

                root                        the first player is to move: "we"
        A        B        C                 the opponent replies
      A1  A2     B1     C1  C2              the search ends here

Selection maximises Q(s, a) + c * P(s, a) * sqrt(sum N) / (1 + N(s, a)), Q of an unvisited move is 0, sums are over the
moves of the node; there is no noise, no proof and no cache. Ties go to the higher prior, then to the first move. The
move to play is the most visited one, and among equals the one with the higher prior. Values are those of the root's
player, "our view"; below A, B and C the opponent chooses by their negatives.

    lesson = Lesson("trap")
    entry = lesson.step()
    entry.value, entry.path, lesson.tree()
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from zerosum.base.errors import SettingsError, nearest

DEFAULT_C = 1.25
MOST_C = 5.0
MOST_STEPS = 1000
REPLIES = {"A": ("A1", "A2"), "B": ("B1",), "C": ("C1", "C2")}
PARENTS = {reply: move for move, replies in REPLIES.items() for reply in replies}
REPLY_PRIORS = {"A1": 0.6, "A2": 0.4, "B1": 1.0, "C1": 0.5, "C2": 0.5}


@dataclass(frozen=True)
class Scenario:
    """Priors and values of a tree."""

    name: str
    title: str
    tells: str
    """What the scenario shows, in a sentence."""
    priors: dict[str, float]
    """P of every move, by its node."""
    values: dict[str, float]
    """v of every node, in our view: the network's values of A, B and C, and the results of the replies."""


def _scenario(
    name: str,
    title: str,
    tells: str,
    priors: tuple[float, float, float],
    values: dict[str, float],
    reply_priors: dict[str, float] | None = None,
) -> Scenario:
    own = dict(zip("ABC", priors, strict=True))
    return Scenario(name, title, tells, own | REPLY_PRIORS | (reply_priors or {}), values)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        _scenario(
            "right",
            "The network is right",
            "The move that looks best is best. Searching confirms it from the first simulation on, whatever c is.",
            (0.7, 0.2, 0.1),
            {"A": 0.6, "B": 0.0, "C": -0.2, "A1": 0.7, "A2": 0.6, "B1": 0.0, "C1": -0.3, "C2": -0.3},
        ),
        _scenario(
            "wrong",
            "The network is wrong",
            "C is the best move, and the network finds it unlikely and bad. Only a large c and enough simulations look"
            " past that first opinion.",
            (0.7, 0.2, 0.1),
            {"A": 0.3, "B": 0.15, "C": -0.4, "A1": 0.25, "A2": 0.2, "B1": 0.1, "C1": 0.9, "C2": 0.9},
        ),
        _scenario(
            "trap",
            "A hidden trap",
            "A looks good until a simulation meets the reply that refutes it. Then Q(A) falls, and B takes over.",
            (0.6, 0.3, 0.1),
            {"A": 0.5, "B": 0.3, "C": -0.1, "A1": -0.9, "A2": 0.4, "B1": 0.3, "C1": -0.2, "C2": -0.2},
            {"A1": 0.1, "A2": 0.9},
        ),
        _scenario(
            "example",
            "The worked example",
            "The network likes A, and A loses. The values of the replies carry C to the top, whose prior was the"
            " smallest.",
            (0.7, 0.2, 0.1),
            {"A": -0.8, "B": -0.2, "C": 0.8, "A1": -0.9, "A2": -0.9, "B1": -0.2, "C1": 0.9, "C2": 0.9},
        ),
    )
}


@dataclass(frozen=True)
class Weighed:
    """A move during selection, in the view of the player who chooses."""

    move: str
    visits: int
    prior: float
    q: float
    u: float

    @property
    def sum(self) -> float:
        """Q + U."""
        return self.q + self.u


@dataclass(frozen=True)
class Backup:
    """The change of a node on the path."""

    node: str
    added: float
    """The value backed up, in the view of the player who chose this move: its sign alternates between levels."""
    visits: int
    """N after the backup."""
    q_before: float
    q: float
    """Q after the backup, in the same view."""


@dataclass(frozen=True)
class Simulation:
    """One simulation: its four phases."""

    number: int
    """The number of the simulation, from 1."""
    c: float
    """The constant c of this simulation."""
    selections: tuple[tuple[Weighed, ...], ...]
    """Select: the moves of each node on the path, in the tree's order."""
    path: tuple[str, ...]
    """The chosen moves."""
    expanded: tuple[str, ...]
    """Expand: the new moves of the leaf; empty if it has none, or had them before."""
    leaf: str
    value: float
    """Evaluate: v of the leaf, in our view."""
    backups: tuple[Backup, ...]
    """Back up: from the leaf to the root's move."""
    played: str
    """The move that would be played after this simulation."""


@dataclass
class _Edge:
    visits: int = 0
    total: float = 0.0
    """Sum of values in our view."""

    @property
    def q(self) -> float:
        return self.total / self.visits if self.visits else 0.0


@dataclass
class Lesson:
    """A scenario under search, determined by the scenario and the c of each step."""

    name: str = "right"
    c: float = DEFAULT_C
    """The constant of the next step."""
    entries: list[Simulation] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.name not in SCENARIOS:
            raise SettingsError(f"unknown scenario {self.name[:40]!r}{nearest(self.name[:40], SCENARIOS)}.")
        self.set_c(self.c)
        self._edges = {node: _Edge() for node in self.scenario.priors}

    @property
    def scenario(self) -> Scenario:
        """Its priors and values."""
        return SCENARIOS[self.name]

    def set_c(self, c: float) -> None:
        """Use another constant from the next step on; the tree stays.

        Raises:
            SettingsError: c is out of range.
        """
        if not 0 <= c <= MOST_C:
            raise SettingsError(f"c is {c:g}, but must be between 0 and {MOST_C:g}.")
        self.c = c

    def step(self) -> Simulation:
        """Make one simulation.

        Raises:
            SettingsError: the lesson has the largest allowed number of simulations.
        """
        if len(self.entries) >= MOST_STEPS:
            raise SettingsError(f"the lesson has {MOST_STEPS} simulations: reset it to continue.")
        selections, path = [self._weigh(("A", "B", "C"), sign=1)], []
        path.append(_chosen(selections[0]))
        first = path[0]
        if self._edges[first].visits:
            selections.append(self._weigh(REPLIES[first], sign=-1))
            path.append(_chosen(selections[1]))
        leaf = path[-1]
        expanded = REPLIES.get(leaf, ())
        value = self.scenario.values[leaf]
        backups = []
        for depth in range(len(path) - 1, -1, -1):
            edge, sign = self._edges[path[depth]], 1 if depth == 0 else -1
            before = sign * edge.q
            edge.visits += 1
            edge.total += value
            backups.append(Backup(path[depth], sign * value, edge.visits, before, sign * edge.q))
        entry = Simulation(
            len(self.entries) + 1,
            self.c,
            tuple(selections),
            tuple(path),
            expanded,
            leaf,
            value,
            tuple(backups),
            self.played(),
        )
        self.entries.append(entry)
        return entry

    def rewind(self, number: int) -> None:
        """Go back to the tree after `number` simulations. The next step uses the c of that time.

        Raises:
            SettingsError: the lesson has fewer simulations.
        """
        if not 0 <= number <= len(self.entries):
            raise SettingsError(f"step {number} is out of range: 0 to {len(self.entries)}.")
        constants = [entry.c for entry in self.entries]
        self.reset()
        for c in constants[:number]:
            self.c = c
            self.step()
        if number < len(constants):
            self.c = constants[number]

    def reset(self) -> None:
        """Clear the tree and the log; c stays."""
        self.entries = []
        self._edges = {node: _Edge() for node in self.scenario.priors}

    def played(self) -> str:
        """The move to play: the most visited one, and among equals the one with the higher prior."""
        return max("ABC", key=lambda move: (self._edges[move].visits, self.scenario.priors[move]))

    def visits(self, node: str) -> int:
        """N of the move that leads to a node."""
        return self._edges[node].visits

    def q(self, node: str) -> float:
        """Q of the move that leads to a node, in our view; 0 without visits."""
        return self._edges[node].q

    def tree(self) -> dict[str, Any]:
        """The tree as JSON: every move with N, W, Q, P, and U for the player who chooses it."""
        children = [self._node(move) for move in "ABC"]
        return {
            "scenario": self.name,
            "c": self.c,
            "view": "root",
            "simulations": len(self.entries),
            "played": self.played(),
            "children": children,
        }

    def view(self, *, last: int = 200) -> dict[str, Any]:
        """The data for the page: the scenario, the tree and the newest entries of the log."""
        return {
            "scenario": asdict(self.scenario),
            "scenarios": [[one.name, one.title] for one in SCENARIOS.values()],
            "tree": self.tree(),
            "c": self.c,
            "log": [asdict(entry) for entry in self.entries[-last:]],
            "steps": len(self.entries),
        }

    def _node(self, name: str) -> dict[str, Any]:
        edge, siblings = self._edges[name], REPLIES[PARENTS[name]] if name in PARENTS else ("A", "B", "C")
        found: dict[str, Any] = {
            "node": name,
            "N": edge.visits,
            "W": edge.total,
            "Q": edge.q,
            "P": self.scenario.priors[name],
            "U": self._u(name, siblings),
            "v": self.scenario.values[name],
            "expanded": name in REPLIES and edge.visits > 0,
        }
        if name in REPLIES:
            found["children"] = [self._node(reply) for reply in REPLIES[name]]
        return found

    def _weigh(self, moves: tuple[str, ...], *, sign: int) -> tuple[Weighed, ...]:
        return tuple(
            Weighed(
                move,
                self._edges[move].visits,
                self.scenario.priors[move],
                sign * self._edges[move].q + 0.0,
                self._u(move, moves),
            )
            for move in moves
        )

    def _u(self, move: str, siblings: tuple[str, ...]) -> float:
        total = sum(self._edges[sibling].visits for sibling in siblings)
        return self.c * self.scenario.priors[move] * math.sqrt(total) / (1 + self._edges[move].visits)


def _chosen(weighed: tuple[Weighed, ...]) -> str:
    """The move with the largest Q + U; among equals the one with the higher prior, then the first."""
    return max(weighed, key=lambda one: (one.sum, one.prior)).move

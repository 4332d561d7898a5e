"""A search being watched: the textbook's (`search/textbook.py`) on any position, one simulation or phase at a time.

Each simulation is kept with its changes, so that it can be undone. Evaluations are kept by their moves, so that the
same steps give the same tree again.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from zerosum._core import dirichlet_noise, round_prior
from zerosum.analysis.explanation import PathStep, step_of
from zerosum.base.errors import GameError, SettingsError
from zerosum.games import State
from zerosum.games.playthrough import Playthrough
from zerosum.games.short_names import short_name
from zerosum.play.analysis import win_rate
from zerosum.play.player import Player
from zerosum.search.config import natural_noise_alpha
from zerosum.search.textbook import Node, back_up, evaluate, expand, node_of, q, select, u
from zerosum.web.boards import draw_board, move_cells, page_notation
from zerosum.web.table import side_names

MOST_SIMULATIONS = 20_000
MOMENTS = (100, 1_000, 10_000)
WIDTHS = (6, 3, 2)
"""Most children that are drawn of the root, of its children, and of their children."""
SHOWN_NODES = 10
SHOWN_STEPS = 3
"""Positions of the newest path whose moves are weighed on the page."""
LOGGED = 60
"""Simulations in the log."""
PHASES = ("select", "expand", "evaluate", "back up")
SELECT, EXPAND, EVALUATE, BACK_UP = range(4)


@dataclass(frozen=True)
class Settings:
    """The settings of selection."""

    c: float = 2.5
    """c_init of the textbook, on values in [-1, 1]."""
    unvisited_q: float = -1.0
    """Q of a move without visits ("first-play urgency")."""
    noise: float = 0.0
    """Share of Dirichlet noise in the root's priors; self-play has a quarter."""


@dataclass
class Simulation:
    """One simulation, with the data to undo it."""

    number: int
    settings: Settings
    path: list[Node] = field(repr=False)
    actions: tuple[int, ...]
    sums: tuple[float, ...]
    """`value_sum` of the path's nodes before the simulation."""
    has_made_leaf: bool
    is_over: bool
    """Whether the game is over at the end of the path."""
    phase: int = SELECT
    """The newest phase, an index of `PHASES`."""
    first_value: float = 0.0
    """The value of the path's end for the first player, from `EXPAND` on."""
    texts: list[str] | None = field(default=None, repr=False)
    """The moves of the path, once they were asked for."""

    @property
    def is_done(self) -> bool:
        """Whether all phases were made."""
        return self.phase == BACK_UP

    def value(self, viewer: Node) -> float | None:
        """The value of the path's end for the player to move at a node; None before `EVALUATE`."""
        return viewer.sign * self.first_value if self.phase >= EVALUATE else None


@dataclass
class _Known:
    """What the page was sent."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    simulations: int = 0
    """Number of the last complete simulation in its log."""
    answers: int = 0


class Growth:
    """A search tree that grows step by step."""

    def __init__(self, player: Player, state: State, settings: Settings | None = None, *, seed: int = 0) -> None:
        """Evaluate the root.

        Raises:
            GameError: the game is over in this position.
        """
        self.player, self.game, self.state, self._seed = player, player.game, state, seed
        self.lock = threading.Lock()
        """Held by the request that works on the tree."""
        self.notation = page_notation(player.game)
        if self.game.outcome(state) is not None:
            raise GameError(f"the game is over ({self.game.ending(state)}), there is nothing to search.")
        self._known: dict[tuple[int, ...], tuple[Any, float]] = {}
        self.settings = settings or Settings()
        self.entries: list[Simulation] = []
        self.moments: dict[int, list[dict[str, Any]]] = {}
        self._page = _Known()
        self.root = self._new_root()

    def change(self, settings: Settings) -> None:
        """Use other settings from the next simulation on; noise begins a new tree."""
        has_changed_noise = settings.noise != self.settings.noise
        self.settings = settings
        if has_changed_noise:
            self.reset()

    def reset(self) -> None:
        """Begin a new tree; evaluations are kept."""
        self.entries, self.moments, self._page = [], {}, _Known()
        self.root = self._new_root()

    @property
    def num_simulations(self) -> int:
        """Complete simulations."""
        return len(self.entries) - (0 if self._is_between else 1)

    def step(self) -> Simulation:
        """Complete the simulation that is under way, or make one.

        Raises:
            SettingsError: the tree has the largest allowed number of simulations.
        """
        while not (entry := self.advance()).is_done:
            pass
        return entry

    def advance(self) -> Simulation:
        """Make the next phase of a simulation; the first one begins a new simulation.

        Raises:
            SettingsError: the tree has the largest allowed number of simulations.
        """
        if self._is_between:
            self.entries.append(self._select())
            return self.entries[-1]
        entry = self.entries[-1]
        entry.phase += 1
        if entry.phase == EXPAND:
            entry.first_value = self._expand(entry)
        elif entry.phase == BACK_UP:
            back_up(entry.path, entry.first_value)
            if entry.number in MOMENTS:
                self.moments[entry.number] = self.most_visited()
        return entry

    @property
    def _is_between(self) -> bool:
        """Whether no simulation is under way."""
        return not self.entries or self.entries[-1].is_done

    def _select(self) -> Simulation:
        if len(self.entries) >= MOST_SIMULATIONS:
            raise SettingsError(f"the tree has {MOST_SIMULATIONS:,} simulations, which is the limit: begin a new tree.")
        c, unvisited = np.float32(self.settings.c), np.float32(self.settings.unvisited_q)
        path = select(self.game, self.root, c_init=c, unvisited_q=unvisited)
        edges = itertools.pairwise(path)
        return Simulation(
            len(self.entries) + 1,
            self.settings,
            path,
            tuple(_action(node, child) for node, child in edges),
            tuple(node.value_sum for node in path),
            has_made_leaf=path[-1].visits == 0,
            is_over=self.game.outcome(path[-1].state) is not None,
        )

    def _expand(self, entry: Simulation) -> float:
        """Give the path's end its moves; return its value for the first player."""
        leaf = entry.path[-1]
        outcome = self.game.outcome(leaf.state)
        if outcome is not None:
            return outcome
        priors, value = self._evaluated(entry.actions, leaf)
        expand(self.game, leaf, round_prior(priors))
        return value

    def rewind(self, number: int) -> None:
        """Go back to the tree after `number` complete simulations.

        Raises:
            SettingsError: the tree has fewer simulations.
        """
        if not 0 <= number <= self.num_simulations:
            raise SettingsError(f"simulation {number} is out of range: 0 to {self.num_simulations}.")
        while len(self.entries) > number:
            entry = self.entries.pop()
            if entry.is_done:
                for node, before in zip(entry.path, entry.sums, strict=True):
                    node.visits -= 1
                    node.value_sum = before
            entry.path[-1].priors = {}
            if entry.has_made_leaf:
                del entry.path[-2].children[entry.actions[-1]]
            self.settings = entry.settings
        self._page = _Known()
        self.moments = {moment: found for moment, found in self.moments.items() if moment <= number}

    def most_visited(self) -> list[dict[str, Any]]:
        """The ten most visited positions below the root, each with its board, as the paper's figure 4 shows them."""
        found: list[tuple[Node, tuple[int, ...]]] = []
        ahead: list[tuple[Node, tuple[int, ...]]] = [(self.root, ())]
        while ahead:
            node, path = ahead.pop()
            for action, child in _visited(node):
                found.append((child, (*path, action)))
                ahead.append((child, (*path, action)))
        found.sort(key=lambda one: (-one[0].visits, len(one[1]), one[1]))
        shown, whose = [], side_names(self.game, self.state)[self.game.player(self.state)]
        for node, path in found[:SHOWN_NODES]:
            so_far = Playthrough.of(self.game, self.state, path)
            shown.append(
                {
                    "moves": so_far.texts_in(self.notation),
                    "visits": node.visits,
                    "whose": whose,
                    "rate": round(win_rate(self.root.sign * node.value_sum / node.visits), 4),
                    "svg": draw_board(self.game, so_far.state, last=(so_far.states[-2], path[-1]))["svg"],
                }
            )
        return shown

    def steps(self) -> tuple[PathStep, ...]:
        """The positions on the path of the newest simulation as selection saw them, with their best moves.

        The backup is undone for it: steps of all simulations took a fifth of the time of a search.
        """
        if not self.entries:
            return ()
        entry, after = self.entries[-1], [node.value_sum for node in self.entries[-1].path]
        if entry.is_done:
            for node, before in zip(entry.path, entry.sums, strict=True):
                node.visits, node.value_sum = node.visits - 1, before
        c, unvisited = np.float32(entry.settings.c), np.float32(entry.settings.unvisited_q)
        found = tuple(
            step_of(self.game, node, child, 4, c_init=c, unvisited_q=unvisited, notation=self.notation)
            for node, child in itertools.pairwise(entry.path)
        )
        if entry.is_done:
            for node, value_sum in zip(entry.path, after, strict=True):
                node.visits, node.value_sum = node.visits + 1, value_sum
        return found

    def changes(self) -> dict[str, Any]:
        """`view` for a page that has seen the earlier answers: only nodes and simulations that have changed.

        `whole` says that there are none, as after going back. `nodes` are pairs of a name, the actions to the node, and
        its fields with the actions of its children in order; the page keeps all nodes that it was sent. `seq` counts
        the answers, so that a page notices that it has missed one (`whole_view`).
        """
        view, known = self.view(), self._page
        nodes = [(name, node) for name, node in _flat(view.pop("tree")) if known.nodes.get(name) != node]
        known.nodes.update(nodes)
        log = [entry for entry in view.pop("log") if entry["number"] > known.simulations]
        known.simulations, known.answers = self.num_simulations, known.answers + 1
        return view | {"whole": known.answers == 1, "seq": known.answers, "nodes": nodes, "log": log}

    def whole_view(self) -> dict[str, Any]:
        """`changes` for a page that has seen nothing."""
        self._page = _Known()
        return self.changes()

    def view(self) -> dict[str, Any]:
        """The data for the page: the tree, the newest simulations, the moves of the root."""
        root, total = self.root, max(self.num_simulations, 1)
        best = max(_visited(root), key=lambda one: (one[1].visits, root.priors[one[0]]), default=None)
        arrows = sorted(_visited(root), key=lambda one: -one[1].visits)[:4]
        return {
            "game": short_name(self.game),
            "by": self.player.own_name,
            "simulations": self.num_simulations,
            "settings": {"c": self.settings.c, "fpu": self.settings.unvisited_q, "noise": self.settings.noise},
            "tree": self._tree(root, (), self.entries[-1] if self.entries else None, WIDTHS),
            "log": [self._line(entry) for entry in self.entries[-LOGGED:]],
            "steps": [
                asdict(step) | {"more": len(node.priors) - len(step.choices)}
                for step, node in zip(
                    self.steps()[:SHOWN_STEPS], self.entries[-1].path if self.entries else (), strict=False
                )
            ],
            "played": None if best is None else self.game.action_text(self.state, best[0], self.notation),
            "arrows": [[move_cells(self.game, self.state, action), child.visits / total] for action, child in arrows],
            "moments": sorted(self.moments),
            "mover": self.game.player(self.state),
        }

    def _line(self, entry: Simulation) -> dict[str, Any]:
        """A simulation for the log; `value` is that of the player to move at the root."""
        if entry.texts is None:
            pairs = zip(entry.path, entry.actions, strict=False)
            entry.texts = [self.game.action_text(node.state, action, self.notation) for node, action in pairs]
        value = entry.value(entry.path[0])
        return {
            "number": entry.number,
            "c": entry.settings.c,
            "path": entry.texts,
            "value": None if value is None else round(value, 4),
            "over": entry.is_over,
            "phase": PHASES[entry.phase],
        }

    def _tree(
        self, node: Node, path: tuple[int, ...], last: Simulation | None, widths: tuple[int, ...]
    ) -> dict[str, Any]:
        """A node with its most visited children, and the number of its `more` moves.

        The path of the newest simulation is always among the children.
        """
        lit, more = last.actions if last else (), len(node.priors)
        found: dict[str, Any] = {"N": node.visits, "lit": path == lit[: len(path)], "children": [], "more": more}
        found["id"] = ".".join(map(str, path))
        if last and path == lit and not last.is_done:
            value = last.value(last.path[-2])
            found |= {"phase": PHASES[last.phase], "v": None if value is None else round(value, 4)}
        if not widths or not node.priors:
            return found
        visited = sorted(node.priors, key=lambda action: (-_visits(node, action), -float(node.priors[action])))
        shown = visited[: widths[0]]
        if len(lit) > len(path) and found["lit"] and lit[len(path)] not in shown:
            shown[-1] = lit[len(path)]
        c, unvisited = np.float32(self.settings.c), np.float32(self.settings.unvisited_q)
        for action in shown:
            child = node.children.get(action)
            inside = (
                self._tree(child, (*path, action), last, widths[1:])
                if child
                else {"N": 0, "lit": False, "children": [], "more": 0, "id": ".".join(map(str, (*path, action)))}
            )
            found["children"].append(
                inside
                | {
                    "move": self.game.action_text(node.state, action, self.notation),
                    "P": round(float(node.priors[action]), 4),
                    "Q": round(float(q(node, action, unvisited)), 4),
                    "U": round(float(u(node, action, c)), 4),
                }
            )
        found["more"] = len(node.priors) - len(shown)
        return found

    def _new_root(self) -> Node:
        root = node_of(self.game, self.state)
        priors, value = self._evaluated((), root)
        if self.settings.noise:
            noise = dirichlet_noise(self._seed, 0, 0, natural_noise_alpha(self.game), len(priors))
            share = np.float32(self.settings.noise)
            priors = (1 - share) * priors + share * noise
        expand(self.game, root, priors)
        back_up([root], value)
        return root

    def _evaluated(self, actions: tuple[int, ...], node: Node) -> tuple[Any, float]:
        if actions not in self._known:
            self._known[actions] = evaluate(self.game, self.player.evaluator, node)
        return self._known[actions]


def _visited(node: Node) -> list[tuple[int, Node]]:
    """The children with visits; a child that a simulation under way has selected first has none."""
    return [(action, child) for action, child in node.children.items() if child.visits]


def _visits(node: Node, action: int) -> int:
    return node.children[action].visits if action in node.children else 0


def _action(node: Node, child: Node) -> int:
    return next(action for action, known in node.children.items() if known is child)


def _flat(node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nodes of a view's tree by their names; children are the names of theirs."""
    children = node["children"]
    yield node["id"], node | {"children": [child["id"] for child in children]}
    for child in children:
        yield from _flat(child)

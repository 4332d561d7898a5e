"""The search's twin: slow, readable, with every setting, and the oracle of the tests.

One tree, Python objects, every child present from the start. The fast search must give the same visit counts,
exactly: so arithmetic is rounded where the fast one rounds (`number` is float32, priors below the root have 16 bits).
With `number=np.float64` nothing is rounded; how far that one strays bounds what rounding can do.

Values in a `Node` are for the first player; `sign` turns them into the mover's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zerosum import _core
from zerosum.games import Rules, State
from zerosum.search.config import SearchConfig


@dataclass(frozen=True)
class Estimate:
    """The network's estimate of a position besides its logits; also the numbers that are backed up."""

    value: float
    draw: float = 0.0


@dataclass
class Node:
    """One position of the tree."""

    prior: Any
    state: State | None = None
    player: int = 0
    visits: int = 0
    value_sum: float = 0.0
    net_value: float = 0.0
    lower: float = -1.0
    upper: float = 1.0
    squares: float = 0.0
    """Sum of the squares of the values; as `draw_sum` for those settings that ask for it."""
    draw_sum: float = 0.0
    in_flight: int = 0
    is_pending: bool = False
    is_terminal: bool = False
    children: dict[int, Node] = field(default_factory=dict)
    """By action, ascending; filled when the node is evaluated."""

    @property
    def sign(self) -> float:
        """+1 if the first player is to move here, else -1."""
        return 1.0 if self.player == 0 else -1.0

    @property
    def is_proven(self) -> bool:
        """The exact result is known."""
        return self.lower == self.upper

    @property
    def is_visited(self) -> bool:
        """A visit was made or is under way."""
        return self.visits > 0 or self.in_flight > 0


class ReferenceSearch:
    """The search of one position; the methods are those of `zerosum.search.config.Search` for a single tree."""

    def __init__(
        self, game: Rules, config: SearchConfig, *, noise_alpha: float = 1.0, number: Any = np.float32
    ) -> None:
        """A tree at the initial state. `number` is the type that scores are computed in."""
        self.game, self.number, self.noise_alpha = game, number, noise_alpha
        # The fast search holds its settings in 32 bits.
        self.config = replace(
            config,
            c_init=float(number(config.c_init)),
            c_base=float(number(config.c_base)),
            c_factor=float(number(config.c_factor)),
            gumbel_visit_scale=float(number(config.gumbel_visit_scale)),
            gumbel_value_scale=float(number(config.gumbel_value_scale)),
            lcb_deviations=float(number(config.lcb_deviations)),
        )
        self.cache: dict[tuple[bytes, ...], tuple[Sequence[float], Estimate]] = {}
        """What the network said of positions, by what it was asked. All of them, while the fast search's is bounded."""
        self.reset(game.initial_state())

    def reset(self, state: State) -> None:
        """Put a position at the root and forget the tree."""
        self.root = Node(prior=self.number(1), state=state)
        self.root_priors: dict[int, Any] = {}
        self.noise: tuple[int, int, int] | None = None
        self.allowed: set[int] = set()
        self.favoured: set[int] = set()
        self.num_settled = self.num_collisions = 0
        self.budget_spent = False
        """The latest `gather` would have found more, had it not spent its budget."""
        self.halving = Halving()
        self.target_visits = 0

    def advance(self, action: int, *, keep: bool) -> None:
        """Make a move at the root."""
        assert self.root.state is not None
        child = self.root.children.get(action)
        self.reset(self.game.play(self.root.state, action))
        if keep and child is not None and child.children:
            self.root = child

    def begin(self, num_simulations: int, *, noise: tuple[int, int, int] | None = None) -> None:
        """Begin a search of the root."""
        reused = max(self.root.visits - 1, 0)
        counts_reused = self.config.count_reused_visits and self.config.root_selection == "puct"
        self.target_visits = 1 + num_simulations + (0 if counts_reused else reused)
        self.noise = noise
        if self.root.children:
            self._prepare_root()

    def restrict(self, actions: Sequence[int]) -> None:
        """Restrict search and play to these moves of the root; an empty list allows all."""
        self.allowed = set(actions)

    def favour(self, actions: Sequence[int]) -> None:
        """Make simulations begin with these moves of the root, as long as one of them is allowed and not proven."""
        self.favoured = set(actions)

    def note_result(self, action: int, value: float) -> None:
        """Note the result of a move of the root, for its player to move, that is known from elsewhere."""
        child, sign = self.root.children[action], self.root.sign
        child.lower = child.upper = sign * value
        best = max if self.root.player == 0 else min
        self.root.lower = best(child.lower for child in self.root.children.values())
        self.root.upper = best(child.upper for child in self.root.children.values())

    def _searched(self) -> set[int]:
        """The root's moves that simulations begin with."""
        allowed = self.allowed or set(self.root.children)
        is_open = {
            action: not (self.config.exact_bounds and self.root.children[action].is_proven) for action in allowed
        }
        return {action for action in allowed & self.favoured if is_open[action]} or allowed

    @property
    def _is_settled(self) -> bool:
        """Whether the search is over: the best of the allowed moves is proven, and no favoured move is open."""
        if not self.config.exact_bounds or not self.root.children:
            return False
        if self.config.root_selection == "gumbel":
            return self.root.is_proven
        best = max if self.root.player == 0 else min
        allowed = [self.root.children[action] for action in self.allowed or self.root.children]
        is_proven = best(child.lower for child in allowed) == best(child.upper for child in allowed)
        return is_proven and all(self.root.children[action].is_proven for action in self._searched() & self.favoured)

    @property
    def is_finished(self) -> bool:
        """No simulation is left to run or wait for."""
        return self.root.in_flight == 0 and (self._is_settled or self.root.visits >= self.target_visits)

    def gather(self, max_leaves: int, *, max_settled: int = 4096) -> list[list[Node]]:
        """Paths from the root to the leaves that wait for an evaluation.

        Simulations that need none end it once they have walked through `max_settled` nodes. Leaves that the cache knows
        are settled once there is no other, and make room for others.
        """
        paths: list[list[Node]] = []
        self.num_settled, self.budget_spent = 0, False
        while True:
            found = self._find_leaves(max_leaves - len(paths), max_settled)
            known = [self.config.cache_positions > 0 and self._question(path[-1]) in self.cache for path in found]
            for path, is_known in zip(found, known, strict=True):
                if is_known:
                    self.apply(path, *self.cache[self._question(path[-1])])
                    self.num_settled += len(path)
                else:
                    paths.append(path)
            if not any(known):
                return paths

    def _find_leaves(self, max_leaves: int, max_settled: int) -> list[list[Node]]:
        """Paths to that many leaves, if there are, whatever the cache knows."""
        paths: list[list[Node]] = []
        collisions: list[list[Node]] = []
        before = self.root.in_flight
        room = min(max_leaves, self.config.leaves_in_flight - before)
        share = self.number(self.config.collision_share) * self.number(self.root.visits)
        while len(paths) < max_leaves and before + len(paths) < self.config.leaves_in_flight:
            if self.num_settled >= max(max_settled, 1):
                self.budget_spent = True
                break
            if self._is_settled or self.root.visits + before + len(paths) >= self.target_visits:
                break
            path = self._descend()
            if path is None:
                break
            leaf = path[-1]
            if leaf.is_terminal or (self.config.exact_bounds and leaf.is_proven):
                self._backup(path, Estimate(leaf.lower))
                self.num_settled += len(path)
                continue
            for node in path:
                node.in_flight += 1
            if leaf.is_pending:
                self.num_collisions += 1
                # The next one goes where it would, had this leaf been evaluated.
                collisions.append(path)
                if len(collisions) > min(4 * room, int(share)):
                    break
                continue
            leaf.is_pending = True
            paths.append(path)
        for node in (node for path in collisions for node in path):
            node.in_flight -= 1
        self.num_collisions = 0
        return paths

    def apply(self, path: list[Node], logits: Sequence[float], said: Estimate) -> None:
        """Expand the leaf of a path and back up what the network said of it, for its player to move."""
        leaf = path[-1]
        leaf.is_pending = False
        for node in path:
            node.in_flight -= 1
        assert leaf.state is not None
        priors = softmax(logits, self.config.prior_temperature)
        if leaf is not self.root and self.number is np.float32:
            priors = _core.round_prior(priors)
        for action, prior in zip(self.game.legal_actions(leaf.state, past_soft_endings=True), priors, strict=True):
            leaf.children[action] = Node(prior=self.number(prior))
        leaf.net_value = leaf.sign * said.value
        if leaf is self.root:
            self._prepare_root()
        if self.config.cache_positions:
            self.cache.setdefault(self._question(leaf), (logits, said))
        self._backup(path, replace(said, value=leaf.net_value))

    def visits(self) -> list[int]:
        """N(s, a) of the root's legal actions, ascending."""
        return [child.visits for child in self.root.children.values()]

    def value(self) -> float:
        """The expected result for the root's player to move."""
        return self.root.sign * float(self._q(self.root))

    def best_action(self) -> int:
        """The move to play: a proven win (or what the root is worth) first, a proven loss last, else the most visited.

        With a Gumbel root, the best of what halving left in the place of the most visited.
        """
        logits, sign, exact_bounds = self._improved_logits(), self.root.sign, self.config.exact_bounds
        worst = {0: "lower", 1: "upper"}[self.root.player]

        is_halved = self.config.root_selection == "gumbel"
        bounds = self._lower_confidence_bounds() if self.config.move_choice == "lcb" and not is_halved else {}
        better = self._better_than_proven()

        def rank(action: int) -> tuple[Any, ...]:
            child = self.root.children[action]
            result = sign * child.lower if child.is_proven and exact_bounds else 0.0
            least = sign * getattr(child, worst)
            is_certain = result > 0 or (exact_bounds and self.root.is_proven and least >= sign * self.root.lower)
            if is_halved:
                is_left = action in self.halving.survivors
                first, second = 2 * is_left + (child.visits > 0), self.halving.gumbels[action] + logits[action]
            else:
                first, second = child.visits, self.number(sign) * self._q(child) if child.visits else self.number(-1)
            certainty = 3 if is_certain else 2 if action in better else int(result >= 0)
            bound = bounds.get(action, 0.0)
            may_be_played = not self.allowed or action in self.allowed
            least = least if is_certain else 0.0
            return may_be_played, certainty, least, bound, first, second, self._prior(action), -action

        return max(self.root.children, key=rank)

    def _better_than_proven(self) -> set[int]:
        """Open moves with a higher Q than all proven results; Q less 1 / sqrt(N), but for the most visited of them."""
        sign, allowed = self.root.sign, self.allowed or set(self.root.children)
        children = {action: child for action, child in self.root.children.items() if action in allowed}
        results = [sign * child.lower for child in children.values() if child.is_proven and self.config.exact_bounds]
        if not results or (self.config.root_selection == "gumbel" and self.noise is not None):
            return set()
        q = {
            action: self.number(sign) * self._q(child)
            for action, child in children.items()
            if child.visits and not child.is_proven
        }
        most_visited = max(q, key=lambda action: (children[action].visits, q[action], action), default=None)
        return {
            action
            for action in q
            if q[action] - (action != most_visited) / np.sqrt(self.number(children[action].visits)) > max(results)
        }

    def policy_target(self) -> dict[int, float]:
        """The policy to learn, by action; sums to 1."""
        sign, children = self.root.sign, self.root.children
        is_proven = {action: child.is_proven and self.config.exact_bounds for action, child in children.items()}
        if self.config.exact_bounds and self.root.is_proven and sign * self.root.lower > 0:
            best = [action for action in children if is_proven[action] and children[action].lower == self.root.lower]
            return {action: (action in best) / len(best) for action in children}
        left = [action for action in children if not self._is_lost(action)]
        weights = dict.fromkeys(children, 0.0)
        if self.config.policy_target == "completed-q":
            logits = self._improved_logits()
            left = left or list(children)
            weights.update({action: math.exp(logits[action] - max(logits[a] for a in left)) for action in left})
        else:
            weights.update({action: float(children[action].visits) for action in left})
            if sum(weights.values()) == 0:
                weights.update({action: float(self._prior(action)) for action in left})
            if sum(weights.values()) == 0:  # every move loses
                weights.update({action: float(self._prior(action)) for action in children})
        return {action: weight / sum(weights.values()) for action, weight in weights.items()}

    def _question(self, node: Node) -> tuple[bytes, ...]:
        """The network's input for a position."""
        assert node.state is not None
        return self.game.planes(node.state).tobytes(), np.array(
            self.game.legal_actions(node.state, past_soft_endings=True)
        ).tobytes()

    def _prior(self, action: int) -> Any:
        """The network's prior at the root, without noise."""
        return self.root.children[action].prior

    def _descend(self) -> list[Node] | None:
        """Follow the best moves to a node that has not been evaluated, is over or is proven; none if halving waits."""
        node, path = self.root, [self.root]
        while node.children and not (self.config.exact_bounds and node.is_proven and node is not self.root):
            is_halving = node is self.root and self.config.root_selection == "gumbel"
            action = self._select_by_halving() if is_halving else self._select(node)
            if action is None:
                return None
            child = node.children[action]
            if child.state is None:
                assert node.state is not None
                child.state = self.game.play(node.state, action)
                child.player = self.game.player(child.state)
                outcome = self.game.outcome(child.state)
                if outcome is not None:
                    child.is_terminal, child.lower, child.upper = True, outcome, outcome
            node = child
            path.append(node)
        if node is self.root:
            assert node.state is not None
            node.player = self.game.player(node.state)
        return path

    def _select(self, node: Node) -> int:
        """The action that maximises Q + U; ties go to the higher prior, then to the lower action."""
        is_root = node is self.root
        priors = self.root_priors if is_root else {action: child.prior for action, child in node.children.items()}
        # The order in which the fast search sums: by action at the root, by (higher prior, lower action) below it.
        order = list(priors) if is_root else sorted(priors, key=lambda action: (-priors[action], action))
        rate = self._rate(node)
        unvisited = self._unvisited_q(node, [priors[action] for action in order if node.children[action].is_visited])
        scores: dict[int, Any] = {}
        open_scores: dict[int, Any] = {}
        """Without virtual losses, to compare with proven results."""
        results: dict[int, Any] = {}
        """Proven moves that do not lose."""
        barred = priors.keys() - self._searched() if is_root else set[int]()
        for action in order:
            child = node.children[action]
            if action in barred:
                continue
            if self.config.exact_bounds and child.is_proven:
                if node.sign * child.lower >= 0:
                    results[action] = self.number(node.sign * child.lower)
                continue
            # To be better than a move without visits, a result must be better than the node.
            q, lowered, visits = self.number(node.sign) * self._q(node), unvisited, self.number(0)
            if child.is_visited:
                q, lowered, visits = self._child_q(child, node)
            bonus = rate * priors[action] / (self.number(1) + visits)
            scores[action], open_scores[action] = lowered + bonus, q + bonus
        best_result = max(results, key=lambda action: results[action], default=None)
        if best_result is not None and all(results[best_result] > score for score in open_scores.values()):
            return best_result
        return max(scores, key=lambda action: (scores[action], priors[action], -action))

    def _rate(self, node: Node) -> Any:
        """c(s) * sqrt(N(s))."""
        visits = node.visits + node.in_flight
        growth = math.log((1.0 + visits + self.config.c_base) / self.config.c_base)
        rate = self.config.c_init + self.config.c_factor * growth
        return self.number(rate) * np.sqrt(self.number(visits))

    def _lower_confidence_bounds(self) -> dict[int, Any]:
        """Q less some deviations of its mean, of the moves that were visited often enough."""
        bounds: dict[int, Any] = {}
        children = self.root.children
        most_visits = max(child.visits for child in children.values())
        enough = self.number(self.config.lcb_least_share) * self.number(most_visits)
        for action, child in children.items():
            if child.visits == 0 or self.number(child.visits) < enough:
                bounds[action] = self.number(-np.inf)
                continue
            spread = max(child.squares - child.value_sum / child.visits * child.value_sum, 0.0)
            deviation = math.sqrt((spread + 1.0) / child.visits / child.visits)
            q = float(self.number(self.root.sign) * self._q(child))
            bounds[action] = self.number(q - self.config.lcb_deviations * deviation)
        return bounds

    def _unvisited_q(self, node: Node, visited_priors: list[Any]) -> Any:
        if self.config.unvisited_value != "parent":
            return self.number({"loss": -1, "zero": 0}[self.config.unvisited_value])
        visited_prior = self.number(0)
        for prior in visited_priors:
            visited_prior = visited_prior + prior
        reduction = self.number(self.config.unvisited_reduction)
        return max(self.number(node.sign) * self._q(node) - reduction * np.sqrt(visited_prior), self.number(-1))

    def _q(self, node: Node) -> Any:
        """The mean value, or the exact one, for the first player."""
        if node.is_proven and (self.config.exact_bounds or node.is_terminal):
            return self.number(node.lower)
        return self.number(node.value_sum / node.visits) if node.visits else self.number(0)

    def _child_q(self, child: Node, node: Node) -> tuple[Any, Any, Any]:
        """Q for the mover, Q with each leaf in flight as a visit that is worth `virtual_loss` less, and N."""
        q, visits = self.number(node.sign) * self._q(child), self.number(child.visits + child.in_flight)
        if child.in_flight == 0:
            return q, q, visits
        if child.visits == 0:
            q = self.number(node.sign) * self._q(node)
        return q, q - self.number(self.config.virtual_loss) * self.number(child.in_flight) / visits, visits

    def _backup(self, path: list[Node], leaf: Estimate) -> None:
        """Back up from the leaf to the root: bounds, then the value, which is exact where it is proven."""
        value, draw = float(self.number(leaf.value)), leaf.draw
        for node in reversed(path):
            if self.config.exact_bounds and node.children:
                best = max if node.player == 0 else min
                # Results that were noted from elsewhere stay.
                node.lower = max(node.lower, best(child.lower for child in node.children.values()))
                node.upper = min(node.upper, best(child.upper for child in node.children.values()))
            if node.is_proven:
                value, draw = node.lower, 1 - abs(node.lower)
            node.visits += 1
            node.value_sum += value
            node.squares += value * value
            node.draw_sum += draw

    def _prepare_root(self) -> None:
        """Noise, (1 - fraction) * prior + fraction * Dir(alpha) or Gumbel's, and the beginning of halving."""
        self.root_priors = {action: child.prior for action, child in self.root.children.items()}
        if self.config.root_selection == "gumbel":
            noise = np.zeros(len(self.root_priors), np.float32)
            if self.noise is not None:
                noise = _core.gumbel_noise(*self.noise, len(self.root_priors))
            self.halving.gumbels = dict(zip(self.root_priors, map(self.number, noise), strict=True))
            self._begin_halving(max(self.target_visits - max(self.root.visits, 1), 0))
        elif self.noise is not None:
            noise = _core.dirichlet_noise(*self.noise, self.noise_alpha, len(self.root_priors))
            fraction = self.number(self.config.root_noise_fraction)
            for (action, prior), draw in zip(self.root_priors.items(), noise, strict=True):
                self.root_priors[action] = (self.number(1) - fraction) * prior + fraction * self.number(draw)

    def _begin_halving(self, num_simulations: int) -> None:
        """Consider the m best moves that are not proven to lose."""
        order = self._halving_order()
        considered = [action for action in order if not self._is_lost(action)][: self.config.gumbel_actions]
        self.halving.survivors = considered
        self.halving.num_simulations = num_simulations
        self.halving.num_rounds = math.ceil(math.log2(max(len(considered), 1)))
        self.halving.visits_before = {action: child.visits for action, child in self.root.children.items()}
        self.halving.visits_to_make = self.halving.visits_a_round()

    def _select_by_halving(self) -> int | None:
        """The survivor with the fewest visits; none while the last visits of a round are in flight."""
        halving = self.halving
        halving.survivors = [action for action in halving.survivors if not self._is_lost(action)]
        if not halving.survivors:
            self._begin_halving(self.target_visits - self.root.visits - self.root.in_flight + self.num_collisions)

        def visits_made(action: int) -> int:
            child = self.root.children[action]
            return child.visits + child.in_flight - halving.visits_before[action]

        ranking = [action for action in self._halving_order() if action in halving.survivors]
        if len(ranking) > 2 and all(visits_made(action) >= halving.visits_to_make for action in ranking):
            if self.root.in_flight:
                return None
            halving.survivors = ranking = ranking[: max(2, len(ranking) // 2)]
            halving.visits_to_make += halving.visits_a_round()
        return min(ranking, key=visits_made)

    def _is_lost(self, action: int) -> bool:
        child = self.root.children[action]
        return self.config.exact_bounds and child.is_proven and self.root.sign * child.lower < 0

    def _halving_order(self) -> list[int]:
        """All moves, better ones first: by g + logit + sigma(q); ties go to the higher prior, then the lower action."""
        logits, gumbels = self._improved_logits(), self.halving.gumbels
        return sorted(logits, key=lambda action: (-(logits[action] + gumbels[action]), -self._prior(action), action))

    def _improved_logits(self) -> dict[int, Any]:
        """The root's logit + sigma(completed q), by move."""
        number, sign, children = self.number, self.number(self.root.sign), self.root.children
        least = number(np.float32(1e-30))
        visits, prior_sum, q_sum = 0, number(0), number(0)
        for child in children.values():
            if child.visits:
                prior = max(child.prior, least)
                visits += child.visits
                prior_sum = prior_sum + prior
                q_sum = q_sum + prior * (sign * self._q(child))
        mixed_value = sign * number(self.root.net_value)
        if visits:
            mixed_value = (mixed_value + number(visits) * (q_sum / prior_sum)) / (number(1) + number(visits))
        most_visits = number(max(child.visits for child in children.values()))
        scale = (number(self.config.gumbel_visit_scale) + most_visits) * number(self.config.gumbel_value_scale)
        completed = {
            action: sign * self._q(child) if child.visits else mixed_value for action, child in children.items()
        }
        lowest = min(completed.values())
        spread = max(max(completed.values()) - lowest, number(np.float32(1e-8)))
        return {
            action: number(math.log(float(max(child.prior, least)))) + scale * ((completed[action] - lowest) / spread)
            for action, child in children.items()
        }


@dataclass
class Halving:
    """Sequential halving over the root's moves: see `SearchConfig`."""

    survivors: list[int] = field(default_factory=list)
    gumbels: dict[int, Any] = field(default_factory=dict)
    visits_before: dict[int, int] = field(default_factory=dict)
    """Of all moves, when this halving began."""
    num_simulations: int = 0
    num_rounds: int = 0
    visits_to_make: int = 0
    """Of each survivor since then, at which the round ends."""

    def visits_a_round(self) -> int:
        """Visits for each survivor, in one round."""
        return max(1, self.num_simulations // max(1, self.num_rounds * len(self.survivors)))


def softmax(logits: Sequence[float], temperature: float = 1.0) -> NDArray[np.float32]:
    """exp((l - max) / temperature) / sum, in double precision, rounded once."""
    sharpness = 1 / float(np.float32(temperature))
    largest = max(logits)
    weights = [math.exp((float(logit) - float(largest)) * sharpness) for logit in logits]
    total = 0.0
    for weight in weights:
        total += weight
    return np.array([weight / total for weight in weights], dtype=np.float32)

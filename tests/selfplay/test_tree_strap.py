"""TreeStrap: its sums of errors against a slow twin, what moves an evaluation and what does not, what is learned."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from games_for_tests import DoubleMove
from zerosum.base.errors import GameError
from zerosum.games import Rules, State, adopt, make
from zerosum.selfplay import tree_strap
from zerosum.selfplay.piece_terms import PieceTerms
from zerosum.selfplay.tree_strap import learn_by_tree_strap

Value = tuple[float, int, float]
"""Result, delay and evaluation, which order values as the core does; for the player to move."""
BEST: Value = (math.inf, 0, 0.0)


def negative(value: Value) -> Value:
    return (-value[0], -value[1], -value[2])


def share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


class Twin:
    """Alpha-beta of a fixed depth that teaches its own evaluation, written out position by position."""

    def __init__(self, terms: PieceTerms, weights: NDArray[np.float32], root: State) -> None:
        self.game, self.terms, self.weights, self.root = terms.game, terms, weights, root
        self.killers: dict[int, list[int]] = {}
        self.num_nodes = self.num_wrong = 0
        self.sums = np.zeros(terms.size)

    def search(self, depth: int) -> int:
        """The best move; `sums` has the errors of all inner nodes times their inputs."""
        best, chosen = negative(BEST), -1
        for action in self.sorted(self.root):
            value = self.after(self.root, action, depth, best, BEST)
            if value > best:
                best, chosen = value, action
        self.teach(self.root, best, "exact")
        return chosen

    def after(self, parent: State, action: int, depth: int, alpha: Value, beta: Value) -> Value:
        """The value of a move for who makes it."""
        self.num_nodes += 1
        mover, state = self.game.player(parent), self.game.play(parent, action)
        outcome = self.game.outcome(state)
        if outcome is not None:
            result = outcome * (1 if mover == 0 else -1)
            return (result, -int(np.sign(result)) * (state.plies - self.root.plies), 0.0)
        same = self.game.player(state) == mover
        if depth == 1:
            return (0.0, 0, self.worth(state) * (1 if same else -1))
        if same:
            return self.node(state, depth - 1, alpha, beta)
        return negative(self.node(state, depth - 1, negative(beta), negative(alpha)))

    def node(self, state: State, depth: int, alpha: Value, beta: Value) -> Value:
        actions = self.sorted(state) if depth > 1 else self.game.legal_actions(state)
        killers = self.killers.setdefault(depth, [])
        actions = [*(one for one in killers if one in actions), *(one for one in actions if one not in killers)]
        best = alpha
        for action in actions:
            best = max(best, self.after(state, action, depth, best, beta))
            if best >= beta:
                if killers[:1] != [action]:
                    self.killers[depth] = [action, *killers[:1]]
                break
        self.teach(state, best, "lower" if best >= beta else "exact" if best > alpha else "upper")
        return best

    def teach(self, state: State, value: Value, bound: str) -> None:
        target = (1 + value[0]) / 2 if value[0] else share(value[2])
        error = target - share(self.worth(state))
        if (error > 0 and bound != "upper") or (error < 0 and bound != "lower"):
            self.sums += error * self.inputs(state)
            self.num_wrong += 1

    def sorted(self, state: State) -> list[int]:
        """Legal moves, those that leave the mover most first."""
        children = {action: self.game.play(state, action) for action in self.game.legal_actions(state)}
        signs = {
            action: 1 if self.game.player(child) == self.game.player(state) else -1
            for action, child in children.items()
        }
        return sorted(children, key=lambda action: -signs[action] * self.worth(children[action]))

    def inputs(self, state: State) -> NDArray[np.float32]:
        return self.terms.inputs(self.terms.samples([state]))[0]

    def worth(self, state: State) -> float:
        return float(self.inputs(state) @ self.weights)


def exact_weights(terms: PieceTerms, seed: int) -> NDArray[np.float32]:
    """Different weights whose sums have no rounding, so that the twin breaks no tie in another way."""
    return (np.random.default_rng(seed).integers(-4096, 4097, terms.size) / 8192).astype(np.float32)


def opened(game: Rules, number: int) -> State:
    return game.draw_opening(game.initial_state(), 2 * number, 1, number)[0]


@pytest.mark.parametrize(
    ("game", "depth"),
    [
        (make("breakthrough(size=5)"), 3),
        (make("minichess(history=1)"), 2),
        (make("chess(history=1)"), 2),
        (adopt(DoubleMove()), 4),
    ],
    ids=lambda value: value.spec.name if isinstance(value, Rules) else str(value),
)
def test_the_errors_of_a_tree_are_those_of_the_twin(game: Rules, depth: int) -> None:
    terms, bounds = PieceTerms(game), 0
    for number in range(5):
        weights, root = exact_weights(terms, number), opened(game, number)
        found = game.tree_errors(root, depth=depth, seed=0, evaluation=terms.evaluation(weights))
        twin = Twin(terms, weights, root)
        assert (found.action, found.num_nodes) == (twin.search(depth), twin.num_nodes)
        assert found.num_wrong == twin.num_wrong
        assert terms.of_errors(found) == pytest.approx(twin.sums, abs=1e-5)
        bounds += found.num_wrong
    assert bounds > 10


def test_the_root_moves_towards_its_own_value() -> None:
    """At depth 1 it is the only node, and its value is exact."""
    game = make("minishogi(history=1)")
    terms = PieceTerms(game)
    weights, root = exact_weights(terms, 0), opened(game, 6)
    evaluation = terms.evaluation(weights)
    found = game.tree_errors(root, depth=1, seed=0, evaluation=evaluation)
    best = game.alpha_beta(root, depth=1, seed=0, evaluation=evaluation)
    assert (found.action, found.num_nodes, found.num_wrong) == (best.action, best.num_nodes, 1)
    inputs = terms.inputs(terms.samples([root]))[0]
    error = share(best.evaluation) - share(float(inputs @ weights))
    assert found.bias == pytest.approx(error, abs=1e-4)
    assert terms.of_errors(found) == pytest.approx(error * inputs, abs=2e-3)


def test_an_evaluation_without_errors_does_not_move() -> None:
    """Where nothing is worth anything and no game ends, all values are those of the evaluation."""
    game = make("chess(history=1)")
    terms = PieceTerms(game)
    nothing = terms.evaluation(np.zeros(terms.size, np.float32))
    found = game.tree_errors(game.initial_state(), depth=3, seed=0, evaluation=nothing)
    assert (found.num_wrong, found.bias) == (0, 0.0) and not terms.of_errors(found).any()


def test_a_won_game_teaches_the_nodes_before_it() -> None:
    """White mates at once: the root is worth 1, and no other node is searched to a value beyond the evaluation."""
    game = make("chess(history=1)")
    terms = PieceTerms(game)
    nothing = terms.evaluation(np.zeros(terms.size, np.float32))
    root = game.parse_position("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")
    found = game.tree_errors(root, depth=1, seed=0, evaluation=nothing)
    assert (game.action_text(root, found.action, "san"), found.num_wrong, found.bias) == ("Ra8#", 1, 0.5)
    errors = dict(zip(terms.kinds, terms.of_errors(found), strict=False))
    assert errors["rooks"] == 0.5 and errors["pawns"] == -1.5 and errors["king"] == 0


def test_what_is_refused() -> None:
    game, other = make("breakthrough"), make("breakthrough(size=5)")
    terms = PieceTerms(game)
    evaluation = terms.evaluation(np.zeros(terms.size, np.float32))
    with pytest.raises(GameError, match="alpha-beta cannot look 0 plies ahead"):
        game.tree_errors(game.initial_state(), depth=0, seed=0, evaluation=evaluation)
    with pytest.raises(GameError, match="this evaluation is of the encoding breakthrough-1-"):
        other.tree_errors(other.initial_state(), depth=1, seed=0, evaluation=evaluation)


def test_learning_is_a_function_of_its_seed() -> None:
    game = make("minishogi(history=1)")
    one, same, other = (learn_by_tree_strap(game, seed=seed, num_nodes=30_000) for seed in (1, 1, 2))
    assert one == same and one != other
    assert set(one) == {*PieceTerms(game).kinds, *PieceTerms(game).numbers}


def test_the_values_of_pieces_grow_out_of_the_ends_of_games() -> None:
    values = learn_by_tree_strap(make("minichess(history=1)"), seed=0, num_nodes=500_000)
    assert values["queens"] > values["pawns"] > 0 and values["king"] == pytest.approx(0), values


def test_without_a_learning_rate_nothing_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_strap, "LEARNING_RATE", 0.0)
    assert not any(learn_by_tree_strap(make("minichess(history=1)"), seed=0, num_nodes=20_000).values())

"""An evaluation learned from the rules alone: its sum against a slow twin, what it learns, that it is told nothing."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from games_for_tests import DoubleMove, OnlyNumbers
from zerosum._core import LinearEvaluation
from zerosum.base.errors import DataError, GameError, SettingsError
from zerosum.games import Rules, State, adopt, make
from zerosum.run.evaluation import FILE, read_evaluation, run_evaluation
from zerosum.run.run_plan import RunPlan
from zerosum.selfplay import evaluation_learning
from zerosum.selfplay.evaluation_learning import DISCOUNT, fitted, learn_evaluation, returns, values_text
from zerosum.selfplay.piece_terms import LearnedWeights, PieceTerms, Samples

NAMES = ["chess", "shogi(history=1)", "minishogi(history=1)", "minichess", "breakthrough", "go(size=5)", "othello"]


def opened(game: Rules, count: int) -> list[State]:
    return [game.draw_opening(game.initial_state(), 3 * number, 1, number)[0] for number in range(count)]


def random_weights(terms: PieceTerms) -> np.ndarray:
    return np.random.default_rng(0).normal(size=terms.size).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_the_search_evaluates_the_inputs_times_the_weights(name: str) -> None:
    """The core sums over packed planes; the twin multiplies dense inputs."""
    game = make(name)
    terms = PieceTerms(game)
    weights = random_weights(terms)
    evaluation, num_compared = terms.evaluation(weights), 0
    for state in opened(game, 8):
        found = game.alpha_beta(state, depth=1, seed=0, evaluation=evaluation)
        children = [game.play(state, action) for action in game.legal_actions(state)]
        if any(game.outcome(child) is not None for child in children):
            continue
        worths = []
        for child in children:
            sign = 1 if game.player(child) == game.player(state) else -1
            worths.append(sign * float((terms.inputs(terms.samples([child])) @ weights)[0]))
        assert found.evaluation == pytest.approx(max(worths), abs=0.02)
        assert worths[game.legal_actions(state).index(found.action)] == pytest.approx(max(worths), abs=0.02)
        num_compared += 1
    assert num_compared >= 3


@pytest.mark.parametrize("name", ["chess", "shogi", "minishogi", "breakthrough", "minichess"])
def test_both_sides_see_an_initial_position_alike(name: str) -> None:
    """Squares are counted from each owner's side, so the first position is level but for the side to move."""
    game = make(name)
    terms = PieceTerms(game)
    assert not terms.inputs(terms.samples([game.initial_state()]))[0, :-1].any()


def test_planes_of_earlier_positions_do_not_count() -> None:
    assert PieceTerms(make("chess")).kinds == PieceTerms(make("chess(history=1)")).kinds
    assert PieceTerms(make("chess")).kinds == ["pawns", "knights", "bishops", "rooks", "queens", "king"]


def test_a_queen_is_worth_more_than_a_rook_and_a_rook_more_than_a_pawn() -> None:
    learned = learn_evaluation(make("chess(history=1)"), seed=0, num_nodes=3_000_000)
    assert learned is not None
    values = learned.values
    assert values["queens"] > values["rooks"] > max(values["pawns"], 0), values


def test_learned_weights_win_against_none() -> None:
    game = make("breakthrough")
    learned, points, terms = learn_evaluation(game, seed=0, num_nodes=300_000), 0.0, PieceTerms(game)
    assert learned is not None and learned.values["pieces"] > 0
    evaluation, nothing = learned.evaluation(game), terms.evaluation(np.zeros(terms.size, np.float32))
    for number in range(40):
        state = game.draw_opening(game.initial_state(), 4, 1, number // 2)[0]
        while (outcome := game.outcome(state)) is None:
            own = evaluation if game.player(state) == number % 2 else nothing
            state = game.play(state, game.alpha_beta(state, depth=2, seed=number, evaluation=own).action)
        points += (1 + outcome * (1 - 2 * (number % 2))) / 2
    assert points >= 30, "of 40"


def test_no_given_values_reach_the_learning() -> None:
    """A game of one's own that counts material is learned without a question about it."""

    class Counting(DoubleMove):
        def material(self, state: tuple[int, int, int]) -> float:
            raise AssertionError("the learning asked for given values")

    learned = learn_evaluation(adopt(Counting()), seed=3, num_nodes=2000)
    assert learned == learn_evaluation(adopt(DoubleMove()), seed=3, num_nodes=2000)


@pytest.mark.parametrize("lambda_", [0.0, 0.3, 0.9, 1.0])
def test_returns_are_the_mean_of_all_later_values(lambda_: float) -> None:
    """The twin: each later value v, m plies on, has (1 - lambda) of what the searched positions before it have left."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        size, outcome = int(rng.integers(1, 9)), float(rng.integers(-1, 2))
        values = [None if rng.random() < 0.3 else float(rng.uniform(-1, 1)) for _ in range(size)]
        found = returns(outcome, values, lambda_=lambda_)
        for ply in range(size):
            left, mean = 1.0, 0.0
            for later in range(ply + 1, size):
                if (value := values[later]) is not None:
                    mean += left * (1 - lambda_) * value * DISCOUNT ** (later - ply)
                    left *= lambda_
            assert found[ply] == pytest.approx(mean + left * outcome * DISCOUNT ** (size - ply))


def test_a_fit_foretells_what_its_targets_are() -> None:
    """Targets are the logistic function of given weights at positions by chance."""
    game = make("breakthrough")
    terms = PieceTerms(game)
    states = [game.draw_opening(game.initial_state(), 6 + number % 30, 1, number)[0] for number in range(3000)]
    samples = terms.samples(states)
    true = random_weights(terms) / 8
    targets = (1 / (1 + np.exp(-(terms.inputs(samples) @ true)))).astype(np.float32)
    weights = fitted(terms, samples, targets, np.zeros(terms.size, np.float32), np.random.default_rng(1))
    foretold = 1 / (1 + np.exp(-(terms.inputs(samples) @ weights)))
    assert np.abs(foretold - targets).mean() < 0.25 * np.abs(targets - targets.mean()).mean()


def test_a_fit_is_the_optimum_of_its_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the mean cross-entropy and the penalties together are least, their gradient is 0: written out term by term.

    Few samples and many rounds, so that the penalties count and the fit arrives.
    """
    monkeypatch.setattr(evaluation_learning, "EPOCHS", 4000)
    monkeypatch.setattr(evaluation_learning, "LEARNING_RATE", 0.05)
    terms, rng = PieceTerms(make("breakthrough(size=5)")), np.random.default_rng(3)
    samples = terms.samples(opened(terms.game, 12))
    targets = rng.uniform(0.2, 0.8, 12).astype(np.float32)
    weights = fitted(terms, samples, targets, np.zeros(terms.size, np.float32), rng)
    inputs = terms.inputs(samples).astype(np.float64)
    foretold = 1 / (1 + np.exp(-(inputs @ weights)))
    squares = set(range(terms.size)[terms.of_squares])
    for term in range(terms.size):
        penalty = 30.0 if term in squares else 1.0
        slope = sum((foretold - targets) * inputs[:, term]) / 12
        assert slope + penalty / 12 * weights[term] == pytest.approx(0, abs=2e-3), term
    assert np.abs(weights).max() > 0.01


def test_a_spread_is_that_of_the_newest_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = PieceTerms(make("breakthrough"))
    samples, weights = terms.samples(opened(terms.game, 10)), random_weights(terms)
    for most, newest in ((100, slice(0, 10)), (4, slice(6, 10))):
        monkeypatch.setattr(evaluation_learning, "SPREAD_SAMPLES", most)
        expected = np.std((terms.inputs(samples) @ weights)[newest])
        assert evaluation_learning._spread(terms, samples, weights) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["breakthrough", "minishogi(history=1)"])
def test_the_value_of_a_kind_is_its_mean_where_it_stands(name: str) -> None:
    """The twin looks at every square of every position; numbers in hand have their weights."""
    terms = PieceTerms(make(name))
    samples, weights = terms.samples(opened(terms.game, 6)), random_weights(terms)
    values, num_kinds = terms.values(weights, samples), len(terms.kinds)
    squares = samples.squares.reshape(6, num_kinds, terms.num_squares)
    for kind in range(num_kinds):
        found = [
            weights[kind] + weights[num_kinds + kind * terms.num_squares + square]
            for position in squares
            for square in range(terms.num_squares)
            if position[kind, square]
        ]
        expected = np.mean(found) if found else 0.0
        assert values[terms.kinds[kind]] == pytest.approx(expected, abs=1e-5)
    for place, number in enumerate(terms.numbers):
        assert values[number] == pytest.approx(weights[num_kinds * (1 + terms.num_squares) + place])
    assert len(values) == num_kinds + len(terms.numbers)


def test_samples_are_joined_in_their_order() -> None:
    terms = PieceTerms(make("minishogi(history=1)"))
    states = opened(terms.game, 7)
    whole, parts = terms.samples(states), [terms.samples(states[:3]), terms.samples(states[3:])]
    joined = Samples.joined(parts)
    assert (joined.squares == whole.squares).all() and (joined.numbers == whole.numbers).all()


def test_values_are_told_in_units_of_the_least_that_counts() -> None:
    assert values_text({"pawns": 0.1, "rooks": 0.5, "king": -0.001}) == "pawns 1.0, rooks 5.0, king 0.0"
    assert values_text({"a": 0.09, "b": 1.0, "c": 2.0}) == "a 0.1, b 1.0, c 2.0", "a tenth of the largest is too little"
    assert values_text({"a": 0.0}) == "a 0.0"


def test_weights_of_another_game_are_refused() -> None:
    game, other = make("breakthrough"), make("breakthrough(size=5)")
    size = PieceTerms(game).size
    for encoder_id, number in ((other.spec.encoder_id, size), (game.spec.encoder_id, size - 1)):
        with pytest.raises(DataError, match="expected one of breakthrough"):
            LearnedWeights(encoder_id, (0.0,) * number, 1.0, {}).evaluation(game)


def test_learning_is_a_function_of_its_seed() -> None:
    game = make("minishogi(history=1)")
    one, same, other = (learn_evaluation(game, seed=seed, num_nodes=5000) for seed in (1, 1, 2))
    assert one == same and one != other


def test_a_run_learns_once_and_reads_it_back(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zerosum.run.config import new_config

    asked = ["selfplay.alphabeta_depth=2", "selfplay.alphabeta_learning_nodes=2000"]
    game, said = make("breakthrough"), list[str]()
    config = new_config(game, "breakthrough", overrides=asked)
    plan = RunPlan(tmp_path, game, config)
    stopped = run_evaluation(plan, report=said.append, is_stopped=lambda: True)
    assert stopped is None and not (tmp_path / FILE).exists()
    learned = run_evaluation(plan, report=said.append, is_stopped=lambda: False)
    assert said[-1].startswith("  Learned values: pieces ")
    monkeypatch.setattr(evaluation_learning, "ROUNDS", ())
    assert run_evaluation(plan, report=said.append, is_stopped=lambda: False) == learned
    without = dataclasses.replace(config, selfplay=dataclasses.replace(config.selfplay, alphabeta_depth=0))
    assert (
        run_evaluation(dataclasses.replace(plan, config=without), report=said.append, is_stopped=lambda: False) is None
    )


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"encoder_id": "x", "weights": [1], "spread": 1, "values": {}}'])
def test_a_damaged_file_is_told(tmp_path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(DataError, match=r"evaluation"):
        read_evaluation(tmp_path, make("breakthrough"))


def test_weights_come_back_from_json() -> None:
    weights = LearnedWeights("id", (0.5, -1.25), 0.75, {"pawns": 1.0})
    assert LearnedWeights.of(json.loads(weights.to_json())) == weights


def test_evaluations_that_do_not_fit_are_refused() -> None:
    game, zeros = make("breakthrough"), np.zeros(128, np.float32)
    with pytest.raises(GameError, match="127 weights of squares and 0 of numbers, expected 128 and 0"):
        LinearEvaluation(game, zeros[1:], zeros[:0])
    for wrong in (np.nan, 300):
        with pytest.raises(
            GameError, match=f"has the weight {wrong}, expected numbers from -256 to 256".replace("nan", "NaN")
        ):
            LinearEvaluation(game, np.full(128, wrong, np.float32), zeros[:0])
    evaluation, small = LinearEvaluation(game, zeros, zeros[:0]), make("breakthrough(size=5)")
    with pytest.raises(GameError, match="this evaluation is of the encoding breakthrough-1-"):
        small.alpha_beta(small.initial_state(), depth=1, seed=0, evaluation=evaluation)


def test_noise_changes_moves_within_its_size() -> None:
    game = make("chess")
    terms = PieceTerms(game)
    evaluation, state = terms.evaluation(random_weights(terms)), game.initial_state()

    def found(seed: int, noise: float):
        return game.alpha_beta(state, depth=1, seed=seed, evaluation=evaluation, noise=noise)

    best = found(0, 0.0)
    assert {found(seed, 0.0).action for seed in range(10)} == {best.action}
    noisy = [found(seed, 1.0) for seed in range(30)]
    assert len({one.action for one in noisy}) > 1
    assert all(best.evaluation - 1 <= one.evaluation <= best.evaluation for one in noisy)


def test_a_game_without_planes_of_pieces_is_refused() -> None:
    with pytest.raises(SettingsError, match="has no planes of pieces"):
        PieceTerms(adopt(OnlyNumbers()))

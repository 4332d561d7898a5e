"""The alpha-beta player against plain minimax, and what it finds: mates, captures, the same move for the same seed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from games_for_tests import DoubleMove
from zerosum import _core
from zerosum.arena import play_match
from zerosum.base.errors import GameError, SettingsError
from zerosum.games import Rules, State, adopt, make, state_after
from zerosum.play.choice import open_player
from zerosum.play.contestant import RANDOM, alpha_beta
from zerosum.play.own_contestants import parse_player

NAMES = sorted({make(name).spec.full_name for name in _core.core_game_names()})

Worth = tuple[float, int, float]
"""(result, delay, material): what counts more stands first."""


def minimax(game: Rules, state: State, depth: int, *, root_plies: int) -> Worth:
    """The value of a position for the first player, from all lines: the slow second implementation."""
    result = game.outcome(state)
    if result is not None:
        plies = state.plies - root_plies
        return (result, -plies if result > 0 else plies if result < 0 else 0, 0.0)
    if depth == 0:
        return (0.0, 0, game.material(state))
    children = [
        minimax(game, game.play(state, action), depth - 1, root_plies=root_plies)
        for action in game.legal_actions(state)
    ]
    return max(children) if game.player(state) == 0 else min(children)


def best_of_twin(game: Rules, state: State, depth: int) -> tuple[Worth, set[int]]:
    """The position's worth for its player to move, and the moves among which chance decides."""
    sign = 1 if game.player(state) == 0 else -1
    children = {action: game.play(state, action) for action in game.legal_actions(state)}
    worths = {
        action: _signed(minimax(game, child, depth - 1, root_plies=state.plies), sign)
        for action, child in children.items()
    }
    best = max(worths.values())
    gains = {action: sign * game.material(children[action]) for action in children if worths[action] == best}
    return best, {action for action, gain in gains.items() if gain == max(gains.values())}


def _signed(worth: Worth, sign: int) -> Worth:
    result, delay, material = worth
    return sign * result, sign * delay, sign * material


def random_states(game: Rules, count: int, *, most_plies: int, seed: int = 0) -> list[State]:
    """Positions of random games that go on."""
    generator, states = random.Random(seed), []
    while len(states) < count:
        state = game.initial_state()
        for _ in range(generator.randrange(most_plies)):
            after = game.play(state, generator.choice(game.legal_actions(state)))
            if game.outcome(after) is not None:
                break
            state = after
        states.append(state)
    return states


@pytest.mark.parametrize(
    ("name", "depth", "count"),
    [
        ("tictactoe", 9, 6),
        ("tictactoe", 3, 10),
        ("connect4", 4, 8),
        ("nim", 4, 8),
        ("othello", 3, 8),
        ("breakthrough(size=5)", 3, 6),
        ("minichess", 3, 6),
        ("minishogi", 2, 6),
        ("chess", 2, 5),
        ("shogi", 2, 2),
        ("go(size=5)", 2, 6),
        ("hex(size=4, swap=true)", 3, 3),
    ],
)
def test_it_finds_what_minimax_finds(name: str, depth: int, count: int) -> None:
    game = make(name)
    # Late positions, too: there the games end within the depth.
    for number, state in enumerate(random_states(game, count, most_plies=game.spec.max_plies // 4 + 6)):
        if name == "tictactoe" and depth == 9 and state.plies < 2:
            continue
        worth, best = best_of_twin(game, state, depth)
        found = game.alpha_beta(state, depth=depth, seed=number)
        assert (found.result, found.delay, found.evaluation) == worth, game.draw(state)
        assert found.action in best, game.draw(state)


@pytest.mark.parametrize("depth", [1, 2, 5, 12])
def test_a_side_may_move_twice_and_results_may_be_halves(depth: int) -> None:
    game = adopt(DoubleMove())
    for number, state in enumerate(random_states(game, 10, most_plies=6)):
        worth, best = best_of_twin(game, state, depth)
        found = game.alpha_beta(state, depth=depth, seed=number)
        assert (found.result, found.delay, found.evaluation) == worth
        assert found.action in best


def test_every_best_move_has_its_turn_and_equal_seeds_agree() -> None:
    game = make("hex(size=3)")
    state = game.initial_state()
    _, best = best_of_twin(game, state, 2)
    found = [game.alpha_beta(state, depth=2, seed=seed).action for seed in range(200)]
    assert set(found) == best and len(best) > 1
    assert found == [game.alpha_beta(state, depth=2, seed=seed).action for seed in range(200)]
    assert len({game.alpha_beta(state, depth=2, seed=0, game=number).action for number in range(50)}) > 1


@pytest.mark.parametrize(
    ("game", "position", "depth", "move", "plies"),
    [
        ("chess", "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 1, "a1a8", 1),
        ("chess", "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", 4, "a1a8", 1),
        ("chess", "7k/8/5K2/8/8/8/8/6R1 w - - 0 1", 3, "f6f7", 3),  # 1.Kf7 Kh7 2.Rh1#
        ("shogi", "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", 1, "G*5b", 1),
    ],
)
def test_it_mates(game: str, position: str, depth: int, move: str, plies: int) -> None:
    rules = make(game)
    state = rules.parse_position(position)
    found = rules.alpha_beta(state, depth=depth, seed=3)
    assert rules.action_text(state, found.action) == move
    assert (found.result, found.delay) == (1.0, -plies)


def test_it_takes_what_hangs_and_sees_the_answer_one_ply_later() -> None:
    chess = make("chess")
    # The queen can take a pawn that a pawn defends.
    state = chess.parse_position("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1")
    assert chess.action_text(state, chess.alpha_beta(state, depth=1, seed=0).action) == "d1d5"
    assert chess.action_text(state, chess.alpha_beta(state, depth=2, seed=0).action) != "d1d5"


@pytest.mark.parametrize(
    ("game", "position", "material"),
    [
        ("chess", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0),
        ("chess", "4k3/p7/n7/1b6/8/8/8/RQ2K3 b - - 0 1", 14 - 7),
        ("minichess", "r1bqk/5/5/5/4K b - - 0 1", -17),
        ("minichess", "r1bqk/5/5/5/4K w - - 0 1", -17),
        ("shogi", "4k4/9/9/9/9/9/9/9/+R+B+P+L+N+SKPL w GSNLPrb2p 1", 12 + 10 + 7 + 18 + 4 + 19 - 20),
        ("minishogi", "4k/5/5/5/+RK2+P b Grsb 1", 12 + 7 + 6 - 23),
        ("minishogi", "4k/5/5/5/+RK2+P w Grsb 1", 12 + 7 + 6 - 23),
        ("go(size=5, komi=0.5)", "", -0.5),
    ],
)
def test_material_is_counted_for_the_first_player(game: str, position: str, material: float) -> None:
    rules = make(game)
    state = rules.parse_position(position) if position else rules.initial_state()
    assert rules.material(state) == material


@pytest.mark.parametrize(
    ("game", "moves", "material"), [("othello", "d3", 3), ("breakthrough", "", 0), ("hex", "a1", 0)]
)
def test_material_of_stones(game: str, moves: str, material: float) -> None:
    rules = make(game)
    assert rules.material(state_after(rules, moves)) == material


@pytest.mark.parametrize("name", NAMES)
def test_it_plays_every_game(name: str) -> None:
    game = make(name)
    result = play_match(game, alpha_beta(2), RANDOM, num_games=2, opening_plies=2, seed=1)
    assert len(result.games) == 2
    again = play_match(game, alpha_beta(2), RANDOM, num_games=2, opening_plies=2, seed=1)
    assert result.games == again.games


class Greedy(DoubleMove):
    """Material is the total, counted for the second player."""

    def material(self, state: tuple[int, int, int]) -> float:
        return -state[0]


def test_a_game_in_python_may_count_material() -> None:
    plain, greedy = adopt(DoubleMove()), adopt(Greedy())
    assert plain.material(plain.initial_state()) == 0 and greedy.material(state_after(greedy, "+3")) == -3
    assert not plain.description.material and greedy.description.material
    # The first player wants it small: +2 is an even total, after which it has to move again and adds more.
    state = greedy.initial_state()
    assert {greedy.alpha_beta(state, depth=1, seed=seed).action for seed in range(9)} == {0}
    assert {plain.alpha_beta(state, depth=1, seed=seed).action for seed in range(40)} == {0, 1, 2}


@pytest.mark.parametrize("answer", [lambda: math.nan, lambda: "many", lambda: None, lambda: 1 / 0])
def test_material_that_is_no_number_is_named(answer: Callable[[], float]) -> None:
    class Wrong(DoubleMove):
        def material(self, state: tuple[int, int, int]) -> float:
            return answer()

    game = adopt(Wrong())
    with pytest.raises(
        GameError, match=r"(?s)double-move: (material\(state\) is .*, expected a finite number|ZeroDiv).*at"
    ):
        game.alpha_beta(game.initial_state(), depth=1, seed=0)


def test_errors_say_what_was_expected() -> None:
    game = make("tictactoe")
    over = state_after(game, "a1 b1 a2 b2 a3")
    with pytest.raises(GameError, match="the game is over"):
        game.alpha_beta(over, depth=1, seed=0)
    for depth in (0, -1, 65, 1 << 40):
        with pytest.raises(GameError, match="expected 1 to 64"):
            game.alpha_beta(game.initial_state(), depth=depth, seed=0)
    with pytest.raises(SettingsError, match="alphabeta@65: expected a depth of 1 to 64 plies"):
        parse_player("alphabeta@65", game)
    with pytest.raises(SettingsError, match="'alphabeta@3' plays without a search that values its moves"):
        open_player("alphabeta@3", game="tictactoe")
    assert parse_player("alphabeta@2", game) == alpha_beta(2)

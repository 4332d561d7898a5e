"""States as values: equal by what rules and planes tell apart, with hashes that agree, and whole after a pickle."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest

from games_for_tests import DoubleMove
from zerosum.games import Rules, State, adopt, make, state_after
from zerosum.search import SearchConfig, new_search

CORE = ["tictactoe", "connect4", "nim", "hex(size=5)", "gomoku(size=7)", "othello", "breakthrough(size=5)"]
WITH_HISTORY = ["chess", "chess960", "shogi", "go(size=5)", "go(size=5, superko=simple)", "minichess", "minishogi"]


def games() -> list[Rules]:
    return [*map(make, CORE + WITH_HISTORY), adopt(DoubleMove())]


def answers(game: Rules, state: State) -> tuple[object, ...]:
    """All that a game says of a state."""
    said = (game.legal_actions(state, past_soft_endings=True), game.outcome(state), game.ending(state))
    return *said, game.player(state), game.planes(state).tobytes(), game.draw(state), state.plies


@pytest.mark.parametrize("game", games(), ids=lambda game: game.spec.full_name)
def test_equal_states_have_equal_hashes_and_equal_answers_and_survive_a_pickle(game: Rules) -> None:
    generator = random.Random(7)
    again = make(game.spec.full_name) if not game.is_python else adopt(DoubleMove())
    for _ in range(3):
        state, twin = game.initial_state(), again.initial_state()
        previous = None
        for _ in range(30):
            assert state == twin and hash(state) == hash(twin)
            assert answers(game, state) == answers(again, twin)
            assert previous is None or state != previous
            copy = pickle.loads(pickle.dumps(state))
            assert copy == state and hash(copy) == hash(state) and answers(game, copy) == answers(game, state)
            if not (legal := game.legal_actions(state)):
                break
            action = generator.choice(legal)
            previous, state, twin = state, game.play(state, action), again.play(twin, action)


def test_the_states_of_tic_tac_toe_are_as_many_as_the_positions_that_can_be_reached() -> None:
    game = make("tictactoe")
    found, queue = {game.initial_state()}, [game.initial_state()]
    for state in queue:
        for action in game.legal_actions(state):
            after = game.play(state, action)
            if after not in found:
                found.add(after)
                queue.append(after)
    assert len(found) == 5478  # the known count


def test_moves_in_another_order_lead_to_an_equal_state_where_no_rule_asks_for_the_order() -> None:
    game = make("connect4")
    assert state_after(game, "1 2 3") == state_after(game, "3 2 1") != state_after(game, "1 3 2")
    chess = make("chess")
    assert state_after(chess, "g1f3 g8f6 b1c3") != state_after(chess, "b1c3 g8f6 g1f3"), "planes show the order"


def test_states_of_other_games_and_other_things_are_different() -> None:
    start = make("go(size=5)").initial_state()
    for other in (make("go(size=5, komi=2.5)").initial_state(), make("go(size=7)").initial_state(), 3, None):
        assert start != other
    position = make("connect4").parse_position("7/7/7/7/3O3/2XX3 O")
    assert position != state_after(make("connect4"), "4 4 3"), "plies count towards the cap"


def test_starts_and_texts_are_pickled_too() -> None:
    chess = make("chess960")
    for state in (chess.start(17), chess.parse_position("4k3/8/8/8/8/8/8/4K2R w K - 0 1")):
        after = chess.play(state, chess.legal_actions(state)[0])
        assert pickle.loads(pickle.dumps([state, after])) == [state, after]


def test_the_state_of_a_search_knows_its_line() -> None:
    game = make("connect4")
    search = new_search(game, SearchConfig(num_simulations=5), num_trees=2)
    search.reset(1, state_after(game, "4 4"))
    search.advance(1, 2, keep=False)
    for tree, moves in enumerate(["", "4 4 3"]):
        assert pickle.loads(pickle.dumps(search.state(tree))) == search.state(tree) == state_after(game, moves)


def test_a_game_of_a_file_is_pickled_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "race.py"
    file.write_text(
        "from games_for_tests import DoubleMove\nclass Race(DoubleMove):\n"
        "    def __init__(self, goal=12):\n        self.goal = goal\n        self.name = f'race{goal}'\n",
        encoding="utf-8",
    )
    game = make(f"{file}:Race(goal=12)")
    state = game.play(game.initial_state(), 1)
    kept = tmp_path / "state.pickle"
    kept.write_bytes(pickle.dumps((game, state)))
    script = (
        f"import pickle; game, state = pickle.load(open({str(kept)!r}, 'rb')); "
        "print(game.spec.name, game.draw(state).strip())"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert found.stdout == "race12 2 of 12, player 0 to move\n"


class Arrays(DoubleMove):
    """Its states cannot be compared."""

    def initial_state(self) -> tuple[int, int, int]:
        import numpy as np

        return np.zeros(3, int)  # type: ignore[return-value]


def test_states_that_python_cannot_compare_raise_as_python_does() -> None:
    game = adopt(Arrays())
    assert game.initial_state() != game.play(game.initial_state(), 0)  # other plies
    with pytest.raises(ValueError, match="truth value of an array"):
        assert game.initial_state() == game.initial_state()


def test_a_pickle_of_a_long_game_has_all_its_moves() -> None:
    game = make("chess")
    states = [game.initial_state()]
    for text in ["g1f3", "g8f6", "f3g1", "f6g8"] * 50:
        action = game.parse_action(states[-1], text)
        assert action is not None
        states.append(game.play(states[-1], action))
    for plies in (0, 1, 63, 64, 65, 128, 129, 200):
        assert pickle.loads(pickle.dumps(states[plies])) == states[plies]
        _, (_, _, moves) = states[plies].__reduce__()
        assert len(moves) == plies and states[plies].plies == plies

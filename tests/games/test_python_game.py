"""Games written in Python: each breach of the protocol is reported, and searches of them are exact."""

from __future__ import annotations

import functools
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from games_for_tests import Box, Boxed, DoubleMove, Loop, Spy
from zerosum.base.errors import GameError
from zerosum.games import Rules, check_game, make, measure_game
from zerosum.games.names import GameName
from zerosum.games.python_game import ATTRIBUTES, METHODS, adopt
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, Evaluator, RolloutEvaluator, UniformEvaluator
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer
from zerosum.search.config import Search

CONFIG = SearchConfig(num_simulations=200, root_noise_alpha=1.0)
UNIFORM = UniformEvaluator()


def broken(**changes: Any) -> DoubleMove:
    """DoubleMove with some of its methods or attributes changed."""
    return type("Broken", (DoubleMove,), changes)()


def finish(search: Search, evaluator: Evaluator = UNIFORM) -> None:
    while answer(search, evaluator, 1):
        pass


def search_all(game: Rules, config: SearchConfig = CONFIG, evaluator: Evaluator = UNIFORM, *moves: int) -> Search:
    search = new_search(game, config)
    for action in moves:
        search.advance(0, action, keep=False)
    search.begin(0, config.num_simulations)
    finish(search, evaluator)
    return search


def moves(answer: Any) -> dict[str, Any]:
    return {"legal_actions": lambda _, state: [] if state[0] >= 12 else answer}


def result(answer: Any) -> dict[str, Any]:
    return {"outcome": lambda _, state: None if state[0] < 12 else answer}


def text(answer: Any) -> dict[str, Any]:
    return {"action_text": lambda *_: answer}


def fails(*_: Any) -> Any:
    raise KeyError("lost")


def planes(answer: Any) -> dict[str, Any]:
    return {"planes": lambda *_: answer}


def half(plane: int) -> np.ndarray:
    array = np.zeros((2, 1, 16), np.float32)
    array[plane, 0, 3] = 0.5
    return array


AT_START = "\nat the position\n0 of 12, player 0 to move\n"
AT_END = "\nat the position\n1[234] of 12, player . to move\n"
LOST = r"double-move: KeyError: 'lost' \(test_python_game.py, line \d+, in fails\)"
NO_START = r"double-move: initial_state\(\) failed: KeyError: 'lost' \(test_python_game.py"

# What is changed, the rule that is told with the value, and the place. A search meets these, too.
MET_BY_SEARCH: dict[str, tuple[dict[str, Any], str, str]] = {
    "player 2": ({"player": lambda *_: 2}, "player.state. is 2, expected 0 or 1", AT_START),
    "no player": ({"player": lambda *_: None}, "player.state. is None, expected 0 or 1", AT_START),
    "no moves": (moves([]), "is empty but outcome.state. is None: a game that goes on has a move", AT_START),
    "None for moves": (moves(None), "legal_actions.state. is None|'NoneType' object is not iterable", AT_START),
    "a move twice": (moves([0, 1, 1]), "holds 1 twice", AT_START),
    "a move too high": (moves([0, 3]), "holds 3, expected whole numbers from 0 to 2", AT_START),
    "a negative move": (moves([-1]), "holds -1, expected whole numbers from 0 to 2", AT_START),
    "half a move": (moves([0.5]), "0.5.*, expected .*whole numbers", AT_START),
    "too good": (result(1.5), r"outcome.state. is 1.5, expected None or a number in \[-1, 1\]", AT_END),
    "no number": (result(float("nan")), "outcome.state. is nan, expected None or a number", AT_END),
    "a result of words": (result("win"), "outcome.state. is 'win', expected None or a number", AT_END),
    "too few planes": (planes(np.zeros((1, 1, 16))), r"has shape \[1, 1, 16\], expected \[2, 1, 16\]", AT_START),
    "small planes": (planes(np.zeros((2, 1, 15))), r"has shape \[2, 1, 15\], expected \[2, 1, 16\]", AT_START),
    "flat planes": (planes(np.zeros((2, 16))), "has 2 dimensions, expected 3: plane, row, column", AT_START),
    "ragged planes": (planes([[[1, 2], [3]]]), "planes.state. is not an array of numbers", AT_START),
    "planes of words": (planes([[["x"]]]), "planes.state. is not an array of numbers", AT_START),
    "half a bit": (planes(half(0)), 'plane "counter" holds 0.5, expected zeros and ones', AT_START),
    "half a constant": (planes(half(1)), 'plane "first to move" holds 0.5, expected one finite number', AT_START),
    "an infinite bit": (planes(np.full((2, 1, 16), np.inf)), 'plane "counter" holds inf', AT_START),
    "play fails": ({"play": fails}, LOST, AT_START),
    "player fails": ({"player": fails}, LOST, AT_START),
    "legal_actions fails": ({"legal_actions": fails}, LOST, AT_START),
    "outcome fails": ({"outcome": fails}, LOST, AT_START),
    "planes fails": ({"planes": fails}, LOST, AT_START),
    "initial_state fails": ({"initial_state": fails}, NO_START, ""),
}


def changing(_: Any, state: list[int], action: int) -> list[int]:
    state[:] = DoubleMove().play((state[0], state[1], state[2]), action)
    return state


MET_BY_CHECK: dict[str, tuple[dict[str, Any], str, str]] = {
    "moves when over": (
        {"legal_actions": lambda *_: [0, 1, 2]},
        r"outcome.state. is .* but legal_actions.state. is \[0, 1, 2\]: a game that is over has no moves",
        AT_END,
    ),
    "a state changed in place": (
        {"initial_state": lambda _: [0, 0, 0], "play": changing},
        r"play.state, \d. changed the state that it was given: it must return a new one",
        "\nat the position\n",
    ),
    "a number for moves, later": (
        {"legal_actions": lambda _, state: 5 if state[0] else [0, 1, 2]},
        r"double-move: TypeError: .int. object is not iterable(?=\n)",  # raised in our file, which is not named
        AT_START,
    ),
    "equal texts": (text("x"), "action_text.state, .... is 'x' for both actions 0 and 1", AT_START),
    "a blank": (text("+ 1"), r"action_text.state, 0. is '\+ 1', expected a text without blanks", AT_START),
    "an empty text": (text(""), "action_text.state, 0. is '', expected a text without blanks", AT_START),
    "a number as text": (text(7), "action_text.state, 0. is 7, expected a text without blanks", AT_START),
    "action_text fails": ({"action_text": fails}, LOST, AT_START),
    "no symmetry": (
        {"symmetries": [[1, 0, 2]]},
        r"the symmetry \[1, 0, 2\] does not hold: outcome and legal actions are",
        "\nat the position\n(.*\n)+which is the image of\n",
    ),
    "no board": ({"draw": lambda *_: None}, "draw.state. is a NoneType, expected a text", "\nat the position"),
    "draw fails": ({"draw": fails}, LOST, r"\nat the position \(0, 0, 0\)"),
}
ALL_BROKEN = MET_BY_SEARCH | MET_BY_CHECK


def drawn_anew(generator: random.Random) -> dict[str, dict[str, Any]]:
    """Each answer at random, all of them allowed."""
    return {
        "play": {"play": lambda self, state, _: DoubleMove.play(self, state, generator.randrange(3))},
        "planes": {"planes": lambda *_: np.full((2, 1, 16), generator.randrange(2))},
        "legal_actions": {"legal_actions": lambda _, state: [] if state[0] >= 12 else [generator.randrange(3)]},
        "player": {"player": lambda *_: generator.randrange(2)},
        "outcome": {"outcome": lambda _, state: None if state[0] < 12 else generator.uniform(-1, 1)},
        "initial_state": {"initial_state": lambda _: (generator.randrange(5), 0, 0)},
    }


@pytest.mark.parametrize(("changes", "rule", "place"), ALL_BROKEN.values(), ids=ALL_BROKEN)
def test_a_broken_promise_is_told(changes: dict[str, Any], rule: str, place: str) -> None:
    with pytest.raises(GameError, match=f"({rule}).*{place}"):
        check_game(broken(**changes))


@pytest.mark.parametrize(("changes", "rule", "place"), MET_BY_SEARCH.values(), ids=MET_BY_SEARCH)
def test_a_search_over_a_broken_game_says_the_same(changes: dict[str, Any], rule: str, place: str) -> None:
    with pytest.raises(GameError, match=f"({rule}).*{place}"):
        search_all(adopt(broken(**changes)))


@pytest.mark.parametrize("name", drawn_anew(random.Random()))
def test_answers_drawn_at_random_are_told(name: str) -> None:
    with pytest.raises(GameError, match="before for the same moves|two different|changed the state"):
        check_game(broken(**drawn_anew(random.Random(3))[name]))


def test_a_search_that_met_an_error_refuses_further_use() -> None:
    game = adopt(broken(**result(7)))
    search = new_search(game, CONFIG)
    search.begin(0, 500)
    with pytest.raises(GameError, match="outcome"):
        finish(search)
    calls: list[Callable[[], Any]] = [
        search.finished,
        lambda: search.root(0),
        lambda: search.begin(0, 1),
        lambda: search.gather(1),
        lambda: search.advance(0, 0, keep=False),
        lambda: search.reset(0, game.initial_state()),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="this search ended in an error of the game's rules: make a new one"):
            call()


@pytest.mark.parametrize("call", [lambda search: search.begin(0, 10), lambda search: search.advance(0, 0, keep=False)])
def test_an_error_outside_gather_ends_the_search_too(call: Callable[[Search], None]) -> None:
    search = new_search(adopt(broken(outcome=fails)), CONFIG)
    with pytest.raises(GameError, match="lost"):
        call(search)
    with pytest.raises(RuntimeError, match="make a new one"):
        search.root(0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plane_names": 3}, "Broken: plane_names is 3, expected a sequence of texts."),
        ({"plane_names": "own"}, "Broken: plane_names is 'own', expected a sequence of texts."),
        ({"plane_names": ("own", 3)}, r"Broken: plane_names is \('own', 3\), expected a sequence of texts."),
        ({"constant_planes": "counter"}, "Broken: constant_planes is 'counter', expected a sequence of texts."),
        ({"plane_names": (), "constant_planes": ()}, "planes is empty, the network needs at least one"),
        ({"constant_planes": ("counter", "colour")}, r"constant_planes names \['colour'\], not in plane_names"),
        (
            {"board_shape": (1, 2, 3)},
            r"Broken: board_shape is \(1, 2, 3\), expected two whole numbers, 1 to 255: rows and columns.",
        ),
        ({"board_shape": 3}, "Broken: board_shape is 3, expected two whole numbers"),
        ({"board_shape": (0, 16)}, r"board_shape is \(0, 16\), expected two whole numbers, 1 to 255"),
        ({"num_actions": 0}, "Broken: num_actions is 0, expected a whole number, 1 to 65535."),
        ({"num_actions": -1}, "Broken: num_actions is -1, expected a whole number"),
        ({"num_actions": "3"}, "Broken: num_actions is '3', expected a whole number"),
        ({"num_actions": 2.5}, "Broken: num_actions is 2.5, expected a whole number"),
        ({"max_plies": 0}, "Broken: max_plies is 0, expected a whole number, 1 to 65535."),
        ({"symmetries": [[0, 1, 1]]}, r"symmetry 0 is \[0, 1, 1\], expected each of 0 to 2 once"),
        ({"symmetries": [[0, 1]]}, r"symmetry 0 is \[0, 1\], expected each of 0 to 2 once"),
        ({"has_action_planes": 1}, r"Broken: has_action_planes is 1, expected True or False."),
        ({"symmetries": [3]}, r"Broken: symmetries is \[3\], expected a sequence of permutations of the actions."),
        ({"name": 3}, "Broken: name is 3, expected a word: it names the game's networks."),
        ({"name": ""}, "Broken: name is '', expected a word: it names the game's networks."),
        ({"version": "one"}, "Broken: version is 'one', expected a whole number, 0 to"),
    ],
)
def test_attributes_are_checked_when_a_game_is_adopted(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(GameError, match=message):
        adopt(broken(**changes))


@pytest.mark.parametrize("name", [*ATTRIBUTES, *METHODS])
def test_what_is_missing_is_named(name: str) -> None:
    own = {key: value for key, value in vars(DoubleMove).items() if key != name and not key.startswith("__")}
    with pytest.raises(GameError, match=f"Partial has no (attribute|method) '{name}': the Game protocol requires it"):
        adopt(type("Partial", (), own)())


OPTIONS = """
from games_for_tests import DoubleMove

class Race(DoubleMove):
    def __init__(self, goal=12, rules="plain"):
        self.goal = goal
        self.name = f"race{goal}{rules}"
"""


def test_options_of_a_class_stand_in_brackets(tmp_path: Path) -> None:
    file = tmp_path / "race.py"
    file.write_text(OPTIONS, encoding="utf-8")
    for text, name in [
        ("Race", "race12plain"),
        ("Race()", "race12plain"),
        ("Race(goal = 7)", "race7plain"),
        ("Race(goal=7, rules=misere)", "race7misere"),
        ("Race(rules='no blanks')", "race12no blanks"),
    ]:
        assert make(f"{file}:{text}").spec.name == name
    assert GameName.parse(f"{file}:Race( goal = 7 )") == GameName.parse(f"{file}:Race(goal=7)"), "one game, one name"
    for text, message in [
        ("Race(gaol=7)", "Race has no option 'gaol': did you mean 'goal'? Available: goal, rules."),
        ("Race(7)", "'Race(7)' has an option without a name, expected Race(name=value, ...)."),
        ("Race(goal=1+x)", "'Race(goal=1+x)': goal is not a number, a text, True or False."),
        ("Race(goal=)", "'Race(goal=)' cannot be read, expected Race(name=value, ...)."),
    ]:
        with pytest.raises(GameError) as raised:
            make(f"{file}:{text}")
        assert str(raised.value) == message


def test_make_takes_an_object() -> None:
    game = make(DoubleMove())
    assert game.is_python and game.spec.name == "double-move" and make(game) is game
    with pytest.raises(GameError, match="the game is over before the first move"):
        make(Over())


def test_a_class_is_no_game() -> None:
    with pytest.raises(GameError, match=r"DoubleMove is a class, expected an object of it: DoubleMove\(\)"):
        check_game(DoubleMove)  # type: ignore[arg-type]


class Over(DoubleMove):
    """A game without a legal first move."""

    def legal_actions(self, state: tuple[int, int, int]) -> list[int]:
        return []

    def outcome(self, state: tuple[int, int, int]) -> float | None:
        return 0.0


def test_a_game_that_is_over_at_the_start_is_told() -> None:
    doors = [lambda: check_game(Over()), lambda: measure_game(adopt(Over())), lambda: make(f"{__file__}:Over")]
    for door in doors:
        with pytest.raises(GameError, match=f"^double-move: the game is over before the first move{AT_START}$"):
            door()


def test_good_games_pass() -> None:
    report = check_game(DoubleMove(), num_games=50)
    assert set(report.results) == {-1.0, -0.5, 0.5, 1.0} and 4 <= report.longest <= 12
    for changes in (
        {"legal_actions": lambda _, state: np.arange(3 if state[0] < 12 else 0)},
        {"player": lambda _, state: np.int8(state[1])},
        {"planes": lambda self, state: DoubleMove.planes(self, state).astype(bool).tolist()},
    ):
        assert check_game(broken(**changes), num_games=50) == report, "numpy's numbers and nested lists will do"


def test_a_game_without_end_ends_at_its_cap() -> None:
    report = check_game(Loop(), num_games=3)
    assert (report.longest, report.results) == (Loop.max_plies, {0.0: 3})
    game = adopt(Loop())
    state = functools.reduce(game.play, [1] * Loop.max_plies, game.initial_state())
    assert (game.outcome(state), game.ending(state), game.legal_actions(state)) == (0.0, "ply cap", [])


class Quits(DoubleMove):
    """Ends the program at the n-th call of a method."""

    def __init__(self, method: str, calls: int, error: type[BaseException]) -> None:
        self.left = calls
        inner = getattr(self, method)

        def quits(*arguments: Any) -> Any:
            self.left -= 1
            if not self.left:
                raise error("3")
            return inner(*arguments)

        setattr(self, method, quits)


@pytest.mark.parametrize("calls", [2, 3, 4])
@pytest.mark.parametrize("method", METHODS)
def test_a_game_that_ends_the_program_is_told(method: str, calls: int) -> None:
    """Not at the first call, which is the core's in most methods: at those of `check_game` itself, and later ones."""
    with pytest.raises(GameError, match="SystemExit: 3|a text without blanks|is a SystemExit"):
        check_game(Quits(method, calls, SystemExit))
    with pytest.raises(KeyboardInterrupt):
        check_game(Quits(method, calls, KeyboardInterrupt))


def test_ctrl_c_is_no_mistake_of_the_game() -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    for method in ("initial_state", "player", "outcome", "planes"):
        with pytest.raises(KeyboardInterrupt):
            search_all(adopt(broken(**{method: interrupted})))


# ---- values of a game in which a side can move twice


@functools.cache
def minimax(total: int, mover: int, last: int) -> float:
    """The first player's result with best play by both."""
    game, state = DoubleMove(), (total, mover, last)
    if (outcome := game.outcome(state)) is not None:
        return outcome
    best = max if mover == 0 else min
    return best(minimax(*game.play(state, action)) for action in range(3))


class Oracle:
    """Answers with the exact value, read from the planes."""

    def evaluate(self, leaves: Leaves) -> Evaluations:
        totals = leaves.planes()[:, 0, 0].argmax(axis=1)
        exact = [minimax(int(total), int(mover), 0) for total, mover in zip(totals, leaves.players, strict=True)]
        values = np.where(leaves.players == 0, exact, np.negative(exact)).astype(np.float32)
        return Evaluations(leaves, np.zeros(len(leaves.legal_actions), np.float32), values)


def positions_of_double_move() -> list[tuple[list[int], tuple[int, int, int]]]:
    """Every position that is not over, after moves that lead there."""
    plain = DoubleMove()
    moves_to: dict[tuple[int, int, int], list[int]] = {plain.initial_state(): []}
    queue = [plain.initial_state()]
    for state in queue:
        for action in plain.legal_actions(state):
            after = plain.play(state, action)
            if after not in moves_to and plain.outcome(after) is None:
                moves_to[after] = [*moves_to[state], action]
                queue.append(after)
    return [(moves, state) for state, moves in moves_to.items()]


def children_for_mover(state: tuple[int, int, int]) -> list[float]:
    """The exact values of the three moves, for their player."""
    sign = 1 if state[1] == 0 else -1
    return [sign * minimax(*DoubleMove().play(state, action)) for action in range(3)]


def test_bounds_prove_the_minimax_value_of_every_position() -> None:
    game, config = adopt(DoubleMove()), SearchConfig(num_simulations=100_000, root_noise_alpha=1.0)
    positions = positions_of_double_move()
    assert len(positions) > 20
    for moves, state in positions:
        root, children = search_all(game, config, UNIFORM, *moves).root(0), children_for_mover(state)
        assert (root.player, root.proven, root.value) == (state[1], max(children), max(children)), moves
        assert root.best_action is not None and children[root.best_action] == max(children)
        assert (root.lower <= children).all() and (root.upper >= children).all()


def test_values_flip_by_who_moves() -> None:
    """One visit per move: each Q is the child's value for the root's player to move, whoever moves at the child."""
    game, pairs = adopt(DoubleMove()), set()
    config = SearchConfig(
        num_simulations=3, root_noise_alpha=1.0, exact_bounds=False, unvisited_value="zero", c_init=100.0
    )
    for moves, state in positions_of_double_move():
        root, children = search_all(game, config, Oracle(), *moves).root(0), children_for_mover(state)
        assert root.visits.tolist() == [1, 1, 1]
        assert (root.q.tolist(), root.net_value) == (children, max(children))
        after = [DoubleMove().play(state, action) for action in range(3)]
        pairs |= {(state[1], child[1]) for child in after if child[0] < 12}
    assert len(pairs) == 4, "each side is followed by itself and by the other"


# ---- what a search costs its game


def test_each_method_is_called_once_a_position() -> None:
    spy = Spy()
    search = new_search(adopt(spy), CONFIG)
    for _ in range(3):
        search.begin(0, 150)
        finish(search)
        search.advance(0, search.root(0).best_action or 0, keep=True)
    assert len(spy.calls) > 500
    assert set(spy.calls.values()) == {1}, spy.calls.most_common(3)


def test_searches_give_their_states_back() -> None:
    Box.alive = 0
    game, alive = adopt(Boxed()), []
    state = game.initial_state()
    for _ in range(4):
        search = new_search(game, CONFIG)
        search.reset(0, state)
        search.begin(0, 200)
        finish(search)
        alive.append(Box.alive)
        search.advance(0, 0, keep=True)
    assert alive[0] > 50 and set(alive) == {alive[0]}, "the second search of a state finds what the first one saw"
    del search, state
    assert Box.alive == 0
    search = search_all(game)
    without_rollouts = Box.alive
    del search
    search = search_all(game, CONFIG, RolloutEvaluator(20))
    assert Box.alive < 2 * without_rollouts, "random games are not kept"
    del search
    assert Box.alive == 0


def run_together(*functions: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=function, daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=600)
        assert not thread.is_alive(), "the threads wait for each other"


class Slow(Spy):
    def legal_actions(self, state: Any) -> Any:
        time.sleep(0.001)  # lets another thread in
        return super().legal_actions(state)


def test_threads_that_share_a_search_do_not_block_each_other() -> None:
    search = new_search(adopt(Slow()), CONFIG)
    search.begin(0, 100)
    run_together(
        lambda: [answer(search, UNIFORM, 1) for _ in range(50)],
        lambda: [search.root(0) for _ in range(200)],
        lambda: [search.num_trees for _ in range(200)],
    )
    assert search.root(0).num_simulations == 49


def test_threads_that_share_a_state_do_not_block_each_other() -> None:
    spy, answers = Slow(), []
    game = adopt(spy)
    state = game.initial_state()
    run_together(*[lambda: answers.append(game.legal_actions(state))] * 4)
    assert answers == [[0, 1, 2]] * 4 and set(spy.calls.values()) == {1}

"""A search that is watched: it is the textbook's, every step can be taken back, and what is shown adds up."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from zerosum.base.errors import GameError, SettingsError
from zerosum.games import State, make, parse_action, state_after
from zerosum.network.evaluators.evaluator import Evaluations
from zerosum.play.contestant import rollouts
from zerosum.play.player import Player
from zerosum.search import SearchConfig, textbook
from zerosum.web.boards import page_notation
from zerosum.web.growth import PHASES, Growth, Settings


class Steady:
    """The same answer to the same position: a draw of numbers keyed by its planes."""

    def evaluate(self, leaves: Any) -> Evaluations:
        logits, values = [], []
        for plane, first, last in zip(leaves.planes(), leaves.legal_offsets, leaves.legal_offsets[1:], strict=False):
            draw = np.random.default_rng(int.from_bytes(plane.tobytes()[::7][:64], "little") % (1 << 60))
            logits.append(draw.normal(size=last - first))
            values.append(draw.uniform(-1, 1))
        return Evaluations(leaves, np.concatenate(logits).astype(np.float32), np.array(values, np.float32))


def steady(name: str) -> Player:
    return Player(make(name), Steady(), SearchConfig(), name="steady")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "moves"), [("connect4", "4 4"), ("tictactoe", ""), ("chess", "e2e4 e7e5")])
def test_it_is_the_textbooks_search(name: str, moves: str) -> None:
    player = steady(name)
    state = state_after(player.game, moves)
    growth = Growth(player, state)
    for _ in range(120):
        growth.step()
    root = textbook.search(player.game, player.evaluator, state, num_simulations=120)
    assert {a: child.visits for a, child in growth.root.children.items()} == {
        a: child.visits for a, child in root.children.items()
    }
    assert growth.root.value_sum == root.value_sum
    best = max(root.children, key=lambda action: (root.children[action].visits, root.priors[action]))
    assert growth.view()["played"] == player.game.action_text(state, best, page_notation(player.game))


def test_every_step_can_be_taken_back() -> None:
    player = rollouts(make("tictactoe"), 10, seed=0).player(make("tictactoe"))
    growth = Growth(player, player.game.initial_state())
    views = [growth.view()]
    for number in range(110):
        if number == 70:
            growth.change(Settings(c=0.5, unvisited_q=0.0))
        growth.step()
        views.append(growth.view())
    for number in (109, 100, 70, 69, 3, 0):
        growth.rewind(number)
        seen = growth.view()
        assert seen["tree"]["N"] == number + 1
        if number < 70:
            assert seen == views[number]
    for number in range(60):
        growth.step()
        assert growth.view() == views[number + 1], "evaluations are remembered, random ones too"


def test_the_phases_of_a_simulation_are_shown_one_by_one() -> None:
    player = steady("connect4")
    whole, phased = (Growth(player, player.game.initial_state()) for _ in range(2))
    for number in range(60):
        before = phased.view()
        seen = []
        for phase in PHASES:
            entry = phased.advance()
            leaf, view = entry.path[-1], phased.view()
            assert view["log"][-1]["phase"] == phase and phased.entries[-1] is entry
            seen.append((bool(leaf.priors) or entry.is_over, view["log"][-1]["value"] is not None, leaf.visits > 0))
            assert view["simulations"] == number + (phase == "back up")
            if phase != "back up":
                assert view["tree"]["N"] == before["tree"]["N"], "nothing is counted before the backup"
                assert (view["played"], view["arrows"]) == (before["played"], before["arrows"])
                assert all(node["visits"] for node in phased.most_visited())
        is_again = entry.is_over and leaf.visits > 1
        assert seen == [
            (entry.is_over, False, is_again),
            (True, False, is_again),
            (True, True, is_again),
            (True, True, True),
        ]
        whole.step()
        assert phased.view() == whole.view()


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_simulation_under_way_is_taken_back_or_completed(number: int) -> None:
    player = steady("tictactoe")
    growth, other = (Growth(player, player.game.initial_state()) for _ in range(2))
    for _ in range(30):
        growth.step()
        other.step()
    for _ in range(number):
        growth.advance()
    with pytest.raises(SettingsError, match="0 to 30"):
        growth.rewind(31)
    growth.rewind(30)
    assert growth.view() == other.view()
    for _ in range(number):
        growth.advance()
    growth.step()
    other.step()
    assert growth.num_simulations == 31
    assert growth.view() == other.view()


def test_visits_and_sums_add_up() -> None:
    player = steady("connect4")
    growth = Growth(player, player.game.initial_state())
    for _ in range(100):
        entry = growth.step()
        assert -1 <= (entry.value(entry.path[0]) or 0) <= 1 and growth.steps()[0].visits == entry.number
    tree = growth.view()["tree"]
    assert tree["N"] == 101 and sum(child.visits for child in growth.root.children.values()) == 100
    assert growth.view()["moments"] == [100] and len(growth.moments[100]) == 10
    shown = growth.moments[100]
    assert [one["visits"] for one in shown] == sorted((one["visits"] for one in shown), reverse=True)
    assert all(0 <= one["rate"] <= 1 and one["svg"].startswith("<svg") for one in shown)
    growth.rewind(99)
    assert growth.view()["moments"] == []


@pytest.mark.parametrize(("name", "moves"), [("chess", ""), ("hex(size=4)", "b2"), ("tictactoe", "b2 a1 c3 a3 a2")])
def test_moves_that_are_not_drawn_are_counted(name: str, moves: str) -> None:
    game = make(name)
    growth = Growth(steady(name), state_after(game, moves))
    paths = []
    for _ in range(60):
        growth.step()
        view = growth.view()
        paths.append((view["log"][-1]["path"], view["steps"]))

    def check(node: dict[str, Any], state: State) -> int:
        children = {child["move"]: child for child in node["children"]}
        legal = game.legal_actions(state)
        texts = {game.action_text(state, action, page_notation(game)): action for action in legal}
        assert set(children) <= set(texts)
        # Moves are known once a position has been evaluated.
        assert node["more"] == (len(legal) - len(children) if node["N"] else 0)
        return node["more"] + sum(check(child, game.play(state, texts[move])) for move, child in children.items())

    for path, steps in paths:
        state = state_after(game, moves)
        assert len(steps) == min(len(path), 3) and [step["chosen"] for step in steps] == path[:3]
        for step, move in zip(steps, path, strict=False):
            assert step["more"] + len(step["choices"]) == len(game.legal_actions(state))
            state = game.play(state, parse_action(game, state, move))
    hidden = check(growth.view()["tree"], state_after(game, moves))
    assert hidden > 0


def test_noise_changes_the_roots_priors_alone() -> None:
    player = steady("connect4")
    growth = Growth(player, player.game.initial_state())
    before = dict(growth.root.priors)
    growth.change(Settings(noise=0.25))
    after = growth.root.priors
    assert before != after and sum(map(float, after.values())) == pytest.approx(1, abs=1e-5)


def test_what_cannot_be_searched_is_refused() -> None:
    player = steady("tictactoe")
    with pytest.raises(GameError, match="over"):
        Growth(player, state_after(player.game, "a1 b1 a2 b2 a3"))
    with pytest.raises(SettingsError, match="0 to 0"):
        Growth(player, player.game.initial_state()).rewind(1)


class PageTwin:
    """What a page has after the changes it was sent; search.js and tree.js do the same."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.log: list[dict[str, Any]] = []
        self.seq = 0

    def merge(self, answer: dict[str, Any]) -> dict[str, Any]:
        answer = dict(answer)
        if answer.pop("whole"):
            self.nodes, self.log = {}, []
        else:
            assert answer["seq"] == self.seq + 1
        self.seq = answer.pop("seq")
        self.nodes.update(answer.pop("nodes"))
        new = answer.pop("log")
        self.log = [line for line in self.log if line["number"] <= answer["simulations"]]
        numbers = {line["number"] for line in new}
        self.log = [*(line for line in self.log if line["number"] not in numbers), *new][-60:]
        return answer | {"log": self.log, "tree": self.tree("")}

    def tree(self, name: str) -> dict[str, Any]:
        node = self.nodes[name]
        return node | {"children": [self.tree(child) for child in node["children"]]}


@pytest.mark.parametrize(("name", "seed"), [("tictactoe", 1), ("connect4", 2), ("hex(size=4)", 3)])
def test_changes_are_all_that_a_page_needs(name: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    growth, page = Growth(steady(name), make(name).initial_state()), PageTwin()
    for _ in range(150):
        choice = generator.integers(8)
        if choice == 0:
            growth.rewind(int(generator.integers(growth.num_simulations + 1)))
        elif choice == 1:
            growth.change(Settings(c=float(generator.uniform(0.5, 4)), noise=0.25 if generator.random() < 0.1 else 0.0))
        elif choice in (2, 3):
            growth.advance()
        else:
            for _ in range(int(generator.integers(1, 90))):
                growth.step()
        if generator.random() < 0.1:
            growth.changes()  # lost on the way
            page = PageTwin()
            assert page.merge(growth.whole_view()) == growth.view()
        assert page.merge(growth.changes()) == growth.view()


def test_an_answer_of_a_large_tree_is_short() -> None:
    """Before, an answer had the weighed moves of sixty simulations, and the whole tree: 290 kB."""
    growth = Growth(steady("connect4"), make("connect4").initial_state())
    for _ in range(1000):
        growth.step()
    whole = len(json.dumps(growth.changes()))
    sizes = []
    for _ in range(50):
        growth.step()
        sizes.append(len(json.dumps(growth.changes())))
    assert whole < 40_000 and sorted(sizes)[25] < 5_000

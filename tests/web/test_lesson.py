"""The teaching tree: each claim of its scenarios, its log, and the textbook's search on the same tree."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zerosum.base.errors import SettingsError
from zerosum.games import adopt
from zerosum.search import textbook
from zerosum.web.lesson import PARENTS, REPLIES, SCENARIOS, Lesson
from zerosum.web.lesson_texts import LEVELS, lesson_texts

CONSTANTS = [step / 20 for step in range(101)]
each_scenario = pytest.mark.parametrize("name", SCENARIOS)


def played(lesson: Lesson, number: int) -> list[str]:
    return [lesson.step().played for _ in range(number)]


@pytest.mark.parametrize("c", CONSTANTS)
def test_where_the_network_is_right_a_is_played_whatever_c_is(c: float) -> None:
    assert set(played(Lesson("right", c), 200)) == {"A"}


def test_where_the_network_is_wrong_the_default_c_plays_a_for_a_hundred_simulations() -> None:
    lesson = Lesson("wrong")
    first = lesson.entries
    assert set(played(lesson, 100)) == {"A"} and lesson.c == 1.25
    assert lesson.visits("A") > lesson.visits("B") > lesson.visits("C") > 0
    assert [entry.path[0] for entry in first[:2]] == ["A", "A"]


def test_a_large_c_finds_the_move_that_the_network_dislikes() -> None:
    lesson = Lesson("wrong", 4.0)
    moves = played(lesson, 400)
    assert set(moves[:20]) == {"A"}, "a budget of 20 is too small"
    assert set(moves[99:]) == {"C"}


def test_c_may_be_raised_on_the_way() -> None:
    lesson = Lesson("wrong")
    played(lesson, 20)
    lesson.set_c(4.0)
    assert len(lesson.entries) == 20, "the tree stays"
    assert set(played(lesson, 380)[79:]) == {"C"}


@pytest.mark.parametrize("c", [0.0, 0.05, 0.1])
def test_without_curiosity_the_better_move_is_never_visited(c: float) -> None:
    lesson = Lesson("wrong", c)
    assert set(played(lesson, 400)) == {"A"} and lesson.visits("C") == 0


@pytest.mark.parametrize(("c", "until"), [(1.25, 40), (4.0, 60)])
def test_the_trap_is_avoided_once_its_refutation_was_met(c: float, until: int) -> None:
    lesson = Lesson("trap", c)
    entries = [lesson.step() for _ in range(until)]
    met = next(entry for entry in entries if entry.leaf == "A1")
    assert all(entry.played == "A" for entry in entries[: met.number - 1]) and entries[-1].played == "B"
    (reply, move) = met.backups
    assert (reply.node, move.node) == ("A1", "A") and move.q < move.q_before and reply.added == -move.added == 0.9


def test_in_the_worked_example_visits_move_to_the_better_move() -> None:
    lesson = Lesson("example")
    moves = played(lesson, 60)
    assert moves[0] == "A" and moves[-1] == "C"
    assert lesson.visits("C") == max(map(lesson.visits, "ABC")) and lesson.q("A") < 0 < lesson.q("C")


@each_scenario
def test_after_n_steps_the_visits_sum_to_n_and_signs_flip(name: str) -> None:
    lesson = Lesson(name, 2.0)
    for number in range(1, 80):
        entry = lesson.step()
        assert sum(map(lesson.visits, "ABC")) == number == entry.number
        assert entry.backups[-1].added == entry.value
        if len(entry.path) == 2:
            assert entry.backups[0].added == -entry.value
        for selection, chosen in zip(entry.selections, entry.path, strict=True):
            best = max(weighed.sum for weighed in selection)
            assert next(weighed.sum for weighed in selection if weighed.move == chosen) == best
        for move, replies in REPLIES.items():
            assert lesson.visits(move) == sum(map(lesson.visits, replies)) + (lesson.visits(move) > 0)


actions = st.lists(
    st.one_of(st.integers(1, 12), st.floats(0, 5).map(lambda c: round(c, 2)), st.just("reset")), max_size=12
)


def perform(lesson: Lesson, done: list[Any]) -> Lesson:
    for action in done:
        if action == "reset":
            lesson.reset()
        elif isinstance(action, int):
            played(lesson, action)
        else:
            lesson.set_c(action)
    return lesson


@given(st.sampled_from(list(SCENARIOS)), actions)
def test_the_same_controls_give_the_same_log(name: str, done: list[Any]) -> None:
    first, second = perform(Lesson(name), done), perform(Lesson(name), done)
    assert first.entries == second.entries and first.tree() == second.tree()


@given(st.sampled_from(list(SCENARIOS)), actions, st.floats(0, 1))
def test_stepping_again_after_a_rewind_gives_the_same_tree(name: str, done: list[Any], share: float) -> None:
    lesson = perform(Lesson(name), done)
    entries, tree = list(lesson.entries), lesson.tree()
    lesson.rewind(int(share * len(entries)))
    assert lesson.entries == entries[: int(share * len(entries))]
    for entry in entries[len(lesson.entries) :]:
        lesson.set_c(entry.c)
        lesson.step()
    assert lesson.entries == entries
    lesson.set_c(tree["c"])
    assert lesson.tree() == tree


def test_a_rewind_takes_the_constant_of_the_step_that_follows() -> None:
    lesson = Lesson("trap")
    played(lesson, 5)
    lesson.set_c(3.0)
    sixth = lesson.step()
    lesson.rewind(5)
    assert lesson.c == 3.0 and lesson.step() == sixth


@pytest.mark.parametrize("c", [-0.1, 5.1, math.nan])
def test_what_is_out_of_range_is_refused(c: float) -> None:
    with pytest.raises(SettingsError, match="must be between 0 and 5"):
        Lesson("right", c)
    with pytest.raises(SettingsError, match="did you mean 'right'"):
        Lesson("rigth")
    with pytest.raises(SettingsError, match="0 to 0"):
        Lesson("right").rewind(1)


# ---- the textbook on the same tree


class Nine:
    """The tree as a game: a state is the list of moves; a node without replies is the end."""

    name, num_actions, board_shape, plane_names = "nine", 3, (1, 1), ("player",)

    def __init__(self, values: dict[str, float]) -> None:
        self.values = values

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def node(self, state: tuple[int, ...]) -> str:
        move = "ABC"[state[0]]
        return REPLIES[move][state[1]] if len(state) == 2 else move

    def player(self, state: tuple[int, ...]) -> int:
        return len(state) % 2

    def legal_actions(self, state: tuple[int, ...]) -> list[int]:
        return list(range((3, len(REPLIES["ABC"[state[0]]]) if state else 3, 0)[len(state)]))

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def outcome(self, state: tuple[int, ...]) -> float | None:
        return self.values[self.node(state)] if len(state) == 2 else None

    def planes(self, state: tuple[int, ...]) -> np.ndarray:
        return np.full((1, 1, 1), len(state) % 2, np.float32)

    def action_text(self, state: tuple[int, ...], action: int) -> str:
        return str(action)

    def draw(self, state: tuple[int, ...]) -> str:
        return str(state)


@each_scenario
@pytest.mark.parametrize("c", [0.3, 1.25, 4.0])
def test_the_tree_is_the_textbooks(name: str, c: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The textbook's select, visit and back_up, with this page's U and unvisited Q: the same visits and Q."""
    scenario = SCENARIOS[name]
    rules = Nine(scenario.values)
    game = adopt(rules)

    def u(node: textbook.Node, action: int, _c: object) -> float:
        visits = {known: node.children[known].visits if known in node.children else 0 for known in node.priors}
        return c * float(node.priors[action]) * math.sqrt(sum(visits.values())) / (1 + visits[action])

    def evaluate(_game: Any, _evaluator: Any, node: textbook.Node) -> tuple[np.ndarray, float]:
        path = tuple(map(int, paths[id(node)]))
        names = REPLIES["ABC"[path[0]]] if path else ("A", "B", "C")
        priors = np.array([scenario.priors[one] for one in names])
        return priors, scenario.values[rules.node(path)] if path else 0.0

    paths: dict[int, str] = {}
    monkeypatch.setattr(textbook, "u", u)
    monkeypatch.setattr(textbook, "evaluate", evaluate)
    monkeypatch.setattr(
        textbook, "q", lambda n, a, _: n.sign * k.value_sum / k.visits if (k := n.children.get(a)) and k.visits else 0.0
    )
    root = textbook.node_of(game, game.initial_state())
    paths[id(root)] = ""
    textbook.expand(game, root, evaluate(None, None, root)[0])
    lesson = Lesson(name, c)
    for _ in range(150):
        path = textbook.select(game, root)
        for before, after in itertools.pairwise(path):
            action = next(one for one, child in before.children.items() if child is after)
            paths[id(after)] = paths[id(before)] + str(action)
        leaf = path[-1]
        value = rules.outcome(tuple(map(int, paths[id(leaf)])))
        if value is None:
            priors, value = evaluate(None, None, leaf)
            textbook.expand(game, leaf, priors)
        textbook.back_up(path, value)
        lesson.step()
    tree = json.loads(json.dumps(lesson.tree()))
    for move, child in zip(tree["children"], (root.children.get(i) for i in range(3)), strict=True):
        assert move["N"] == (child.visits if child else 0)
        if child:
            assert move["Q"] == pytest.approx(child.value_sum / child.visits)
            for index, reply in enumerate(move["children"]):
                known = child.children.get(index)
                assert reply["N"] == (known.visits if known else 0)
                assert reply["W"] == pytest.approx(known.value_sum if known else 0)


def test_each_level_speaks_of_every_scenario() -> None:
    assert len({name for name, _ in LEVELS}) == len(LEVELS) == 8
    texts = lesson_texts()
    for level in texts["levels"]:
        assert {part["scenario"] for part in level["parts"]} == set(SCENARIOS)
    assert {part["scenario"] for part in texts["summary"]} == set(SCENARIOS)
    assert set(PARENTS.values()) == set(REPLIES)


def test_the_numbers_in_the_texts_hold() -> None:
    """What the texts of the scenario "wrong" say of twenty, a hundred and 426 simulations."""
    said = " ".join(
        text for level in lesson_texts()["levels"] for text in json.dumps(level, ensure_ascii=False).split()
    )
    assert "With twenty tries it plays A, whatever c is; with c = 4 a hundred tries" in said
    assert "with c = 0.1 it stays below Q(A) for 426 simulations" in said
    for c in CONSTANTS:
        assert played(Lesson("wrong", c), 20)[-1] == "A"
    assert played(Lesson("wrong", 4.0), 100)[-1] == "C"
    for c in (0.0, 0.05, 0.1):
        lesson = Lesson("wrong", c)
        played(lesson, 426)
        assert lesson.visits("C") == 0
    assert lesson.step().path[0] == "C", "at c = 0.1 the next one tries it"
    never = Lesson("wrong", 0.0)
    assert set(played(never, 1000)) == {"A"} and never.visits("C") == 0


def text_of(level: str, scenario: str) -> str:
    (parts,) = (parts for name, parts in LEVELS if name == level)
    return dict(parts)[scenario]


def settled(name: str, c: float, number: int = 1000) -> tuple[str, int]:
    """The move that is played after so many simulations, and the simulation from which it is."""
    moves = played(Lesson(name, c), number)
    return moves[-1], max((at for at, move in enumerate(moves, 1) if move != moves[-1]), default=0) + 1


def test_costs_and_effects_in_the_texts_are_those_of_the_search() -> None:
    industry, student = "For a reader from industry", "For a PhD student"
    assert "after 72 simulations with c = 4 and after 246 with the usual c = 1.25" in text_of(industry, "wrong")
    assert "246, 99, 72 and 108 for c = 1.25, 2.5, 4 and 5" in text_of(student, "wrong")
    assert [settled("wrong", c) for c in (1.25, 2.5, 4.0, 5.0)] == [("C", 246), ("C", 99), ("C", 72), ("C", 108)]
    assert "with c = 0.5 a thousand do not find it" in text_of(industry, "wrong")
    assert settled("wrong", 0.5) == ("A", 1)
    assert "after ten simulations, and with c = 2.5 after twenty" in text_of(industry, "trap")
    assert "at n = 11, 22 and 35 for c = 1.25, 2.5 and 4" in text_of(student, "trap")
    assert [settled("trap", c) for c in (1.25, 2.5, 4.0)] == [("B", 11), ("B", 22), ("B", 35)]


def test_figures_of_trainings_in_the_texts_are_those_of_the_log() -> None:
    log = (Path(__file__).parents[2] / "docs" / "log.md").read_text(encoding="utf-8")
    told = " ".join(text for _, parts in LEVELS for _, text in parts)
    figures = ("+439", "+254", "+193 ± 265", "+150 ± 155", "+21.6", "+9.3 to +33.8", "53.1 %", "+29 to +134")
    for figure in (*figures, "−165 to −43", "−52 to +59", "90 of 100 points"):
        assert figure in told and figure in log, figure

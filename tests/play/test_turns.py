"""A search in turns finds what it finds at once, whatever the lengths of its turns, and stands still between them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from updatable_for_tests import chess, random_updatable, saved
from web_for_tests import own_game
from zerosum.games import State, make
from zerosum.play.analysis import Analysis
from zerosum.play.choice import open_player
from zerosum.play.deepening_driver import DeepeningDriver
from zerosum.play.player import Player, load_player
from zerosum.play.task import Task
from zerosum.play.turns import search_in_turns

LIMIT = Task(num_visits=30_000, num_lines=2)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Player:
    return load_player(saved(random_updatable(chess(), seed=1), tmp_path_factory.mktemp("small") / "untrained"))


def the_end(player: Player, state: State, task: Task, seconds: float) -> tuple[Analysis, int]:
    """The last analysis of a search in such turns, and the number of turns."""
    turns, number = search_in_turns(player, state, player.config, task), 0
    try:
        while True:
            found, number = turns.turn(seconds), number + 1
            if found.stop_reason is not None:
                return found, number
    finally:
        turns.close()


def said(found: Analysis) -> tuple[object, ...]:
    lines = [(line.actions, line.visits, line.value) for line in found.lines]
    return lines, found.depth, found.num_visits, found.num_leaves, found.stop_reason


def test_an_alpha_beta_search_does_not_depend_on_its_turns(small: Player) -> None:
    state = small.game.initial_state()
    at_once = small.analyse(state, num_simulations=30_000, num_lines=2)
    for seconds in (0.002, 0.02, 60.0):
        found, number = the_end(small, state, LIMIT, seconds)
        assert said(found) == said(at_once)
        assert (number > 1) is (seconds < 60.0)
        assert found.chosen == at_once.chosen


def test_a_held_search_does_nothing(small: Player) -> None:
    turns = search_in_turns(small, small.game.initial_state(), small.config, Task(seconds=60.0))
    try:
        first = turns.turn(0.05)
        time.sleep(0.05)  # to the next look at the hold
        before = time.process_time()
        time.sleep(0.5)
        assert time.process_time() - before < 0.2, "a search that ran on would have taken half a second"
        second = turns.turn(0.3)
        assert second.num_leaves >= first.num_leaves and second.seconds > first.seconds
        assert second.seconds < 5, "the time between turns does not count"
    finally:
        turns.close()


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_search_that_is_closed_ends(small: Player, has_begun: bool) -> None:
    def is_searching() -> bool:
        return any(thread.name.startswith(("search in turns", "alpha-beta")) for thread in threading.enumerate())

    _wait_until(lambda: not is_searching())  # those of other tests
    turns = search_in_turns(small, small.game.initial_state(), small.config, Task())
    if has_begun:
        assert turns.turn(0.02).stop_reason is None and is_searching()
    turns.close()
    _wait_until(lambda: not is_searching())
    turns.close()  # once more


def test_a_search_that_is_closed_during_a_turn_ends_the_turn(small: Player) -> None:
    turns = search_in_turns(small, small.game.initial_state(), small.config, Task())
    found: list[Analysis] = []
    thread = threading.Thread(target=lambda: found.append(turns.turn(600.0)))
    thread.start()
    time.sleep(0.2)
    turns.close()
    thread.join(60)
    assert not thread.is_alive() and found[0].stop_reason == "stopped"


def test_the_time_of_all_turns_ends_a_search(small: Player) -> None:
    for player in (small, open_player("rollouts@100", game="chess")):
        found, number = the_end(player, player.game.initial_state(), Task(seconds=0.2), 0.05)
        assert found.stop_reason == "time" and number >= 2 and found.seconds >= 0.19


def test_a_failure_of_a_search_is_raised_by_its_turn(small: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("a broken driver")

    monkeypatch.setattr(DeepeningDriver, "run", fail)
    turns = search_in_turns(small, small.game.initial_state(), small.config, Task())
    for _ in range(2):
        with pytest.raises(ValueError, match="a broken driver"):
            turns.turn(0.1)
    turns.close()


def test_a_tree_search_goes_on_where_it_was() -> None:
    player = open_player("rollouts@100", game="chess")
    found, number = the_end(player, player.game.initial_state(), Task(num_visits=300), 0.001)
    assert number > 1 and found.num_visits == 300 and found.stop_reason == "simulations"


def _wait_until(is_true: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_game_in_python_is_held_without_the_interpreter_lock(tmp_path: Path) -> None:
    """Its rules hold the lock; a search that kept it would hold up the thread that ends the turn."""
    game = make(own_game(tmp_path))
    player = load_player(saved(random_updatable(game), tmp_path / "untrained"), game=game)
    state = game.initial_state()
    found, number = the_end(player, state, Task(num_visits=5000), 0.02)
    assert number > 1 and said(found) == said(player.analyse(state, num_simulations=5000))

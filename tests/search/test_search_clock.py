"""A search answers its clock: also where no simulation needs an evaluation, near the ends of all games."""

from __future__ import annotations

import gc
import itertools
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from games_for_tests import DoubleMove, Loop
from searches_for_tests import PLAIN, Recorder
from zerosum._core import UNLIMITED_SIMULATIONS, Search, core_game_names
from zerosum.base.errors import GameError
from zerosum.games import Rules, State, adopt, make, state_after
from zerosum.network.evaluators import RolloutEvaluator, UniformEvaluator
from zerosum.play.analysis import Analysis
from zerosum.play.background_search import BackgroundSearch
from zerosum.play.driver import SearchDriver, Task
from zerosum.play.player import Player
from zerosum.search import SearchConfig, new_search
from zerosum.search.answering import answer, answer_all

GAMES = [*core_game_names(), "double", "loop"]
SETTLED_NODES, SETTLED_NODES_OF_PYTHON = 4096, 256
STOP_SECONDS = 0.05


def game_named(name: str) -> Rules:
    own = {"double": DoubleMove, "loop": Loop}
    return adopt(own[name]()) if name in own else make(name)


def near_the_end(game: Rules, seed: int) -> State:
    """A position of a random game that is over within six plies."""
    generator = random.Random(seed)
    states = [game.initial_state()]
    while legal := game.legal_actions(states[-1]):
        states.append(game.play(states[-1], generator.choice(legal)))
    return states[-1 - generator.randint(1, min(6, len(states) - 1))]


def configs() -> Iterator[SearchConfig]:
    for exact_bounds, leaves_in_flight in itertools.product((False, True), (1, 64)):
        yield replace(
            PLAIN,
            exact_bounds=exact_bounds,
            leaves_in_flight=leaves_in_flight,
            cache_positions=1 << 16,
            memory_mib=64,
        )


@pytest.mark.parametrize("name", GAMES)
def test_a_clock_is_looked_at_every_few_thousand_nodes(name: str) -> None:
    """A search looks at its clock even if all leaves are endings, proven positions or in the cache."""
    game = game_named(name)
    budget = SETTLED_NODES_OF_PYTHON if name in ("double", "loop") else SETTLED_NODES
    for seed, config in itertools.product(range(3), configs()):
        state = near_the_end(game, seed)
        search = new_search(game, config)
        search.reset(0, state)
        if seed == 2:
            search.restrict(0, game.legal_actions(state)[-1:])
        search.begin(0, UNLIMITED_SIMULATIONS)
        seen = [0]

        def is_over(search=search, seen=seen) -> bool:  # type: ignore[no-untyped-def]
            seen.append(search.root(0).num_simulations)
            return len(seen) > 60

        answer_all(search, UniformEvaluator(), max_leaves=32, num_batches=2, is_over=is_over)
        # A settled simulation has two nodes at least, but for one that the cache settles at the root.
        most = budget // 2 + 1 + 32 + 64
        assert max(after - before for before, after in itertools.pairwise(seen)) <= most, (config, game.draw(state))


class Thinker:
    """An engine, and its latest answer."""

    def __init__(self, game: Rules, config: SearchConfig, *, has_network: bool) -> None:
        evaluator = UniformEvaluator() if has_network else RolloutEvaluator()
        self.answers: list[Analysis] = []
        self.failures: list[Exception] = []
        self.engine = BackgroundSearch(
            Player(game, evaluator, config, name="a player", num_batches=2),
            on_report=lambda _: None,
            on_answer=self.answers.append,
            on_failure=self.failures.append,
        )


@pytest.fixture
def without_garbage_collection() -> Iterator[None]:
    """Python looks through all objects of all tests before: most of a second, at any moment."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_garbage_collection")
@pytest.mark.parametrize("name", GAMES)
def test_stop_is_answered_at_once(name: str) -> None:
    """Within 50 CPU-milliseconds, of all threads together."""
    game = game_named(name)
    for seed, config in itertools.product(range(2), configs()):
        thinker = Thinker(game, config, has_network=seed == 0)
        state = near_the_end(game, seed)
        thinker.engine.set_position(state)
        thinker.engine.think(Task(is_endless=True, num_lines=1 + 2 * (seed % 2)))
        time.sleep(0.02)
        before = time.process_time()
        thinker.engine.stop()
        used = time.process_time() - before
        assert not thinker.failures
        assert len(thinker.answers) == 1
        assert used < STOP_SECONDS, (used, config, game.draw(state))


class Watched:
    """A search that says when it is proven, and how many positions are then searched for a shorter win."""

    def __init__(self, search: Search) -> None:
        self.search, self.num_after = search, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.search, name)

    def is_proven(self) -> bool:
        return self.search.root(0).stop_reason == "proven"

    def prove(self, tree: int, max_nodes: int, **limits: int) -> int:
        self.num_after += max_nodes if self.is_proven() else 0
        return self.search.prove(tree, max_nodes, **limits)


@pytest.mark.parametrize("ends_by", ["nothing", "a stop", "the time"])
def test_the_search_for_a_shorter_win_ends_with_the_search(ends_by: str) -> None:
    """It begins when a win is proven, and took half a second after a stop."""
    game, config = make("minichess"), replace(PLAIN, exact_bounds=True)
    search = new_search(game, config)
    search.reset(0, near_the_end(game, 0))
    watched = Watched(search)
    driver = SearchDriver(
        cast("Search", watched),
        UniformEvaluator(),
        config,
        is_stopped=lambda: ends_by == "a stop" and watched.is_proven(),
        clock=lambda: 10.0 if ends_by == "the time" and watched.is_proven() else 0.0,
    )
    found = driver.run(Task(seconds=1.0), started=0.0)
    assert found.root.proven == 1
    assert (watched.num_after > 10_000) if ends_by == "nothing" else (watched.num_after == 0)


@pytest.mark.parametrize(
    ("name", "position", "allowed"),
    [
        ("chess", "8/4k3/8/8/8/8/4K3/8 w - - 0 1", ""),
        ("chess", "k7/8/8/8/8/8/1r6/K7 w - - 0 1", ""),
        ("chess", "8/P6k/8/8/8/8/7K/8 w - - 0 1", "a7a8n"),
    ],
)
@pytest.mark.parametrize("exact_bounds", [False, True])
def test_a_time_holds_where_every_simulation_is_settled(
    name: str, position: str, allowed: str, exact_bounds: bool
) -> None:
    """A clock that counts its readings: 300 readings bound the number of simulations."""
    game = make(name)
    state = game.parse_position(position)
    action = [] if not allowed else [game.parse_action(state, allowed)]
    thinker = Thinker(game, replace(SearchConfig(), exact_bounds=exact_bounds), has_network=True)
    ticks = itertools.count()
    thinker.engine._clock = lambda: next(ticks) / 1000
    thinker.engine.set_position(state)
    thinker.engine.think(Task(seconds=0.3, allowed=tuple(map(int, filter(None, action)))))
    thinker.engine.wait()
    (report,) = thinker.answers
    assert report.stop_reason in ("time", "proven")
    assert report.num_visits < 300 * SETTLED_NODES
    if exact_bounds and allowed:
        assert (report.stop_reason, report.lines[0].value, report.lines[0].proven) == ("proven", 0.0, True)


def test_the_best_of_the_allowed_moves_ends_a_search() -> None:
    """X to move wins by c3; a3 lets O win at once, b3 is not clear at first."""
    game = make("tictactoe")
    state = state_after(game, "a1 a2 b1 b2")
    win, lost = (int(game.parse_action(state, move) or 0) for move in ("c1", "a3"))
    search = new_search(game, PLAIN)
    for allowed, value in (([win, lost], 1.0), ([lost], -1.0)):
        search.reset(0, state)
        search.restrict(0, allowed)
        search.begin(0, UNLIMITED_SIMULATIONS)
        Recorder(game, 1).finish(search)
        root = search.root(0)
        index = root.actions.tolist().index(allowed[0])
        assert root.stop_reason == "proven" and root.best_action == allowed[0]
        assert root.lower[index] == root.upper[index] == value


@pytest.mark.parametrize("begins_first", [False, True])
def test_other_moves_than_the_proven_one_can_be_searched(begins_first: bool) -> None:
    """A proven move that is excluded does not end the search of the others, in either order of calls."""
    game = make("tictactoe")
    search = new_search(game, PLAIN)
    search.reset(0, state_after(game, "a1 a2 b1 b2"))
    search.begin(0, 10_000)
    Recorder(game, 1).finish(search)
    root = search.root(0)
    assert root.proven == 1 and root.stop_reason == "proven"
    others = [int(action) for action in root.actions if action != root.best_action]
    if begins_first:
        search.begin(0, root.num_simulations + 50)
        search.restrict(0, others)
    else:
        search.restrict(0, others)
        search.begin(0, root.num_simulations + 50)
    assert not len(search.finished())
    Recorder(game, 1).finish(search)
    after = search.root(0)
    assert after.best_action in others
    grown = after.visits - root.visits
    assert grown.sum() > 0 and grown[root.actions == root.best_action] == 0


def test_favoured_moves_are_searched_until_they_are_proven() -> None:
    """The root is proven by its first look at the win, and the search goes on for the moves that were asked about."""
    game = make("tictactoe")
    search = new_search(game, PLAIN)
    search.reset(0, state_after(game, "a1 a2 b1 b2"))
    search.begin(0, UNLIMITED_SIMULATIONS)
    with pytest.raises(ValueError, match="action 99 is illegal at the root"):
        search.favour(0, [99])
    legal = game.legal_actions(search.state(0))
    search.favour(0, legal)
    Recorder(game, 1).finish(search)
    root = search.root(0)
    assert root.stop_reason == "proven" and (root.lower == root.upper).all() and (root.visits > 0).all()
    assert root.proven == root.value == 1
    # A proof ends the visits of a move: it takes no more of them to know.
    assert root.visits.max() < 1000


def test_the_number_of_simulations_has_a_range() -> None:
    search = new_search(make("connect4"), PLAIN)
    for number in (-1, UNLIMITED_SIMULATIONS + 1, 2**32 - 1, 2**40):
        with pytest.raises(ValueError, match=f"num_simulations is {number}, expected 0 to {UNLIMITED_SIMULATIONS}"):
            search.begin(0, number)
    uncounted = new_search(make("connect4"), replace(PLAIN, count_reused_visits=False))
    for _ in range(2):  # the second time with visits that add to as many as a tree counts
        uncounted.begin(0, 30)
        Recorder(uncounted.game, 1).finish(uncounted)
    uncounted.begin(0, UNLIMITED_SIMULATIONS)
    assert not len(uncounted.finished()) and answer(uncounted, UniformEvaluator(), 1) == 1


def test_several_lines_of_a_solved_position_have_values_and_moves() -> None:
    """Connect Four after 1 2 1 2 1, second to move: one move holds, all others lose at once."""
    game = make("connect4")
    # The search for forced results would know the lost moves before the tree has seen why.
    thinker = Thinker(game, SearchConfig(proof_nodes=0), has_network=True)
    thinker.engine.set_position(state_after(game, "1 2 1 2 1"))
    thinker.engine.think(Task(num_visits=3000, num_lines=2))
    thinker.engine.wait()
    (report,) = thinker.answers
    first, second = report.lines
    assert abs(report.root.value - first.value) < 0.2, "lost moves are not visited again and again"
    assert second.proven and second.value == -1 and second.visits < 10
    assert game.action_text(thinker.engine.state, first.actions[0]) == "1"
    assert len(second.actions) == 2, "the line shows the proof: the answer that wins"


def test_lines_behind_a_win_are_searched() -> None:
    """Mate in one: the other lines get what simulations there are, and end in proofs where they can."""
    game = make("chess")
    thinker = Thinker(game, SearchConfig(), has_network=True)
    thinker.engine.set_position(game.parse_position("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"))
    thinker.engine.think(Task(num_visits=2000, num_lines=3))
    thinker.engine.wait()
    (report,) = thinker.answers
    assert [line.proven for line in report.lines] == [True, False, False]
    assert report.lines[0].value == report.root.proven == 1 and report.stop_reason == "simulations"
    assert all(line.visits > 50 and len(line.actions) > 1 for line in report.lines[1:])
    # Where three moves are all proven, nothing is left to find out.
    small = Thinker(make("tictactoe"), SearchConfig(), has_network=True)
    small.engine.set_position(state_after(small.engine.game, "a1 a2 b1 b2"))
    small.engine.think(Task(is_endless=True, num_lines=3))
    while not (root := small.engine._followed.search.root(0)).stop_reason:
        threading.Event().wait(0.01)
    small.engine.stop()
    assert root.stop_reason == "proven"
    assert [line.proven for line in small.answers[0].lines] == [True] * 3
    with pytest.raises(GameError):
        small.engine.set_position(moves=[99])

"""The engine behind the protocols: limits, lines, allowed moves, what is kept, and one answer for each task."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import pytest

from zerosum.base.errors import GameError
from zerosum.games import make, state_after
from zerosum.games.rules import Leaves
from zerosum.network.evaluators import Evaluations, Evaluator, RolloutEvaluator, UniformEvaluator
from zerosum.play.analysis import Analysis
from zerosum.play.background_search import BackgroundSearch
from zerosum.play.driver import Task
from zerosum.play.player import Player
from zerosum.search import SearchConfig

CONNECT4 = make("connect4")


class Client:
    """An engine, and what it said."""

    def __init__(
        self,
        evaluator: Evaluator | None = None,
        *,
        game: str = "connect4",
        config: SearchConfig | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.reports: list[Analysis] = []
        self.answers: list[Analysis] = []
        self.failures: list[Exception] = []
        self.is_answer_refused = False
        # Every look at this clock is a millisecond.
        ticks = itertools.count()
        player = Player(make(game), evaluator or UniformEvaluator(), config or SearchConfig(), name="a player")
        self.engine = BackgroundSearch(
            player,
            on_report=self.reports.append,
            on_answer=self.take_answer,
            on_failure=self.failures.append,
            report_seconds=0.01,
            clock=clock or (lambda: next(ticks) / 1000),
        )

    def take_answer(self, report: Analysis) -> None:
        if self.is_answer_refused:
            raise ValueError("no answer")
        self.answers.append(report)

    def ask(self, task: Task) -> Analysis:
        self.engine.think(task)
        self.engine.wait()
        return self.answers[-1]

    def position(self, moves: str) -> None:
        state = self.engine.game.initial_state()
        actions = []
        for move in moves.split():
            actions.append(int(self.engine.game.parse_action(state, move)))
            state = self.engine.game.play(state, actions[-1])
        self.engine.set_position(moves=actions)


def test_limits_end_a_search_and_are_named() -> None:
    client = Client()
    assert (client.ask(Task(num_visits=500)).stop_reason, client.answers[-1].num_visits) == ("simulations", 500)
    assert client.ask(Task(seconds=0.05)).stop_reason == "time"
    assert (
        client.ask(Task(is_enough=lambda root, _: "enough" if root.num_simulations > 900 else None)).stop_reason
        == "enough"
    )
    client.position("1 2 1 2 1 7")
    assert client.ask(Task(seconds=1e6)).stop_reason == "proven"
    small = Client(config=SearchConfig(memory_mib=1))
    assert small.ask(Task(seconds=1e6)).stop_reason == "memory"
    assert len(client.answers) == 4 and len(small.answers) == 1


def test_the_depth_of_the_best_line_is_a_limit() -> None:
    client = Client(config=SearchConfig(exact_bounds=False))
    report = client.ask(Task(depth=5))
    assert report.stop_reason == "depth" and len(report.lines[0].actions) >= 5
    client.position("1 2 1 2 1 7")
    assert client.ask(Task(depth=30)).stop_reason == "depth", "a line that ends the game is as deep as can be"


def test_the_memory_used_is_a_share_of_what_there_is() -> None:
    client = Client(config=SearchConfig(memory_mib=1))
    before = client.engine.memory_used
    client.ask(Task(seconds=1e6))
    assert 0 <= before < 0.1 < 0.7 < client.engine.memory_used <= 1


def test_reports_come_at_a_steady_pace_and_grow() -> None:
    client = Client(RolloutEvaluator())
    answer = client.ask(Task(seconds=0.3))
    assert 10 <= len(client.reports) <= 30
    seconds = [report.seconds for report in (*client.reports, answer)]
    simulations = [report.num_visits for report in (*client.reports, answer)]
    assert seconds == sorted(seconds) and simulations == sorted(simulations)
    assert all(report.stop_reason is None and len(report.lines) == 1 for report in client.reports)


def test_an_endless_task_waits_for_its_stop() -> None:
    """Also where the position is solved, as protocols want it."""
    client = Client()
    client.position("1 2 1 2 1 7")
    client.engine.think(Task(is_endless=True))
    threading.Event().wait(0.05)
    assert client.engine.is_thinking and not client.answers
    with pytest.raises(RuntimeError, match="a search is running: stop it first"):
        client.engine.set_position()
    client.engine.stop()
    assert [answer.stop_reason for answer in client.answers] == ["proven"]
    assert client.answers[0].lines[0].actions[0] == 0 and client.answers[0].lines[0].proven
    client.engine.set_position()
    client.engine.think(Task(is_endless=True))
    client.engine.stop()
    client.engine.stop()
    assert [answer.stop_reason for answer in client.answers] == ["proven", "stopped"]
    assert client.answers[1].lines, "one simulation is made even if it is stopped at once"


def test_what_is_known_is_kept_while_the_game_goes_on() -> None:
    client = Client(RolloutEvaluator())
    client.position("4 4")
    first = client.ask(Task(num_visits=2000))
    assert first.num_simulations == 2000
    follow = first.lines[0].actions[:2]
    client.engine.set_position(moves=[3, 3, *follow])
    again = client.ask(Task(num_visits=2000))
    assert again.num_visits == 2000 and again.num_simulations < 1950
    client.position("4 4 1")
    assert client.ask(Task(num_visits=100)).num_simulations == 100, "another game"
    client.engine.new_game()
    assert client.ask(Task(num_visits=100)).num_simulations == 100


def test_each_line_gets_its_share_of_the_visits() -> None:
    client = Client()
    client.position("4 4 4 4 4 2 3 3")
    alone = client.ask(Task(num_visits=3000, num_lines=6, line_share=0.0))
    client.engine.new_game()
    shared = client.ask(Task(num_visits=3000, num_lines=6, line_share=0.16))
    assert min(line.visits for line in alone.lines) < 0.15 * 3000 <= min(line.visits for line in shared.lines)
    assert len({line.actions[0] for line in shared.lines}) == 6
    order = [line.visits for line in shared.lines[1:]]
    assert order == sorted(order, reverse=True)


def test_only_allowed_moves_are_answered() -> None:
    client = Client()
    client.position("1 2 1 2 1 7")
    answer = client.ask(Task(num_visits=300, allowed=(4, 5), num_lines=7))
    assert {line.actions[0] for line in answer.lines} == {4, 5}
    assert client.ask(Task(num_visits=300)).lines[0].actions[0] == 0


def test_bad_positions_change_nothing() -> None:
    client = Client()
    client.position("4 4")
    with pytest.raises(GameError, match="Action 9 is illegal in"):
        client.engine.set_position(moves=[3, 3, 9])
    assert CONNECT4.draw(client.engine.state) == CONNECT4.draw(state_after(CONNECT4, "4 4"))
    assert client.ask(Task(num_visits=50)).num_visits == 50
    client.position("1 2 1 2 1 2 1")
    with pytest.raises(GameError, match=r"The game is over \(four in a row\), there is nothing to search"):
        client.engine.think(Task(num_visits=10))


class Broken:
    def evaluate(self, leaves: Leaves) -> Evaluations:
        raise ValueError("no answer")


def test_a_failure_is_told_and_the_engine_lives_on() -> None:
    client = Client(Broken())
    for _ in range(2):
        client.engine.think(Task(num_visits=10))
        client.engine.wait()
    assert [str(failure) for failure in client.failures] == ["no answer"] * 2
    assert not client.answers
    client.position("4")


@pytest.mark.parametrize("is_endless", [False, True])
def test_an_answer_that_fails_is_told_and_the_engine_lives_on(is_endless: bool) -> None:
    client = Client()
    client.is_answer_refused = True
    client.engine.think(Task(num_visits=10, is_endless=is_endless))
    client.engine.stop()
    assert [str(failure) for failure in client.failures] == ["no answer"]
    client.is_answer_refused = False
    assert client.ask(Task(num_visits=10)).stop_reason == "simulations"


def test_a_tree_follows_the_move_that_was_answered() -> None:
    """The kept tree is the same as if the next position brought both moves; another position starts a new search."""
    kept = []
    for follows in (False, True):
        client = Client()
        client.position("4")
        answer = client.ask(Task(num_visits=400))
        move, reply = answer.chosen[:2]
        if follows:
            client.engine.follow(move)
        client.engine.set_position(moves=[3, move, reply])
        root = client.engine._followed.search.root(0)
        kept.append((root.actions.tolist(), root.visits.tolist()))
    assert kept[0] == kept[1] and sum(kept[0][1]) > 5
    client.engine.follow(client.ask(Task(num_visits=400)).chosen[0])
    client.position("1 2")
    assert client.ask(Task(num_visits=5)).num_visits == 5

"""The tour's questions against a slow twin, and a network whose answers are known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands_for_tests import Command
from web_for_tests import Page, untrained_run, with_page
from zerosum.games import Rules, State, make
from zerosum.network.evaluators.evaluator import Evaluations
from zerosum.play.player import Player
from zerosum.search import SearchConfig
from zerosum.web.library import Library
from zerosum.web.limits import Limits
from zerosum.web.searches import Searches
from zerosum.web.server import application
from zerosum.web.tour import answered, ask_questions, by_chance
from zerosum.web.visit import House

LIMITS = Limits(simulations=500, seconds=1.0)


def value_within(game: Rules, state: State, plies: int) -> float:
    """The slow twin: plain negamax for the player to move; 0 beyond the last ply."""
    outcome, mover = game.outcome(state), game.player(state)
    if outcome is not None:
        return outcome if mover == 0 else -outcome
    if plies == 0:
        return 0.0
    found = []
    for action in game.legal_actions(state):
        after = game.play(state, action)
        value = value_within(game, after, plies - 1)
        found.append(value if game.player(after) == mover else -value)
    return max(found)


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "gomoku(size=7)", "breakthrough"])
def test_right_moves_are_those_of_a_search_of_two_plies(name: str) -> None:
    game = make(name)
    questions = ask_questions(game, number=6, seed=1)
    assert {question.kind for question in questions} == {"win", "save"}
    for question in questions:
        state = game.initial_state()
        for action in question.moves:
            state = game.play(state, action)
        values = {}
        for action in game.legal_actions(state):
            after = game.play(state, action)
            value = value_within(game, after, 1)
            values[action] = value if game.player(after) == game.player(state) else -value
        best = {action for action, value in values.items() if value == max(values.values())}
        assert question.right == best
        assert max(values.values()) == (1 if question.kind == "win" else 0)
    assert ask_questions(game, number=6, seed=1) == questions


class Knowing:
    """Gives the right moves of questions nine tenths of the policy, or all moves the same."""

    def __init__(self, rights: list[frozenset[int]], share: float | None) -> None:
        self.rights, self.share = rights, share

    def evaluate(self, leaves: Any) -> Evaluations:
        logits = []
        for number, (first, last) in enumerate(zip(leaves.legal_offsets, leaves.legal_offsets[1:], strict=False)):
            legal = [int(action) for action in leaves.legal_actions[first:last]]
            right = self.rights[number]
            share = len(right) / len(legal) if self.share is None else self.share
            rest = max(len(legal) - len(right), 1)
            logits += [np.log(share / len(right) if one in right else (1 - share) / rest) for one in legal]
        return Evaluations(leaves, np.array(logits, np.float32), np.zeros(len(self.rights), np.float32))


@pytest.mark.parametrize("share", [0.9, None])
def test_the_share_of_the_right_moves_is_that_of_the_policy(share: float | None) -> None:
    game = make("connect4")
    questions = ask_questions(game, number=10)
    evaluator = Knowing([question.right for question in questions], share)
    player = Player(game, evaluator, SearchConfig(), name="knowing")  # type: ignore[arg-type]
    chance = by_chance(game, questions)
    for kind, found in answered(player, questions).items():
        assert found == pytest.approx(chance[kind] if share is None else share, abs=1e-5)
    assert answered(player, []) == {}


def test_the_requests_of_the_tour(tmp_path: Path) -> None:
    run = untrained_run(tmp_path / "runs" / "tour", steps=(0, 4, 8))
    house = House(Library([run.parent], (), LIMITS), LIMITS, Searches(LIMITS), seed=1)

    async def work(page: Page) -> None:
        tour = (await page.ask("tour.open"))["result"]
        assert [one["name"] for one in tour["checkpoints"]] == ["tour step 0", "tour step 4", "tour step 8"]
        assert tour["exists"] and not tour["live"] and not tour["allowed"] and tour["game"] == "connect4"
        learned = (await page.ask("tour.learned"))["result"]
        assert [point["step"] for point in learned["points"]] == [0, 4, 8]
        assert all(0 <= share <= 1 for point in learned["points"] for share in point["shares"].values())
        assert learned["counts"] == {"win": 40, "save": 40} and 0.1 < learned["chance"]["save"] < 0.4
        sides = {"first": "tour step 0", "second": "tour step 8"}
        found = (await page.ask("tour.compare", moves="4 3 4 3 4", simulations=30, **sides))["result"]
        assert [side["name"] for side in found["sides"]] == ["tour step 0", "tour step 8"]
        assert [side["simulations"] for side in found["sides"]] == [30, 30]
        assert "over" in (await page.ask("tour.compare", moves="4 3 4 3 4 3 4", **sides))["error"]
        assert "no checkpoints" in (await page.ask("tour.learned", run="other"))["error"]
        assert not (await page.ask("tour.open", run="other"))["result"]["exists"]
        assert "zerosum web --t" in (await page.ask("tour.learn"))["error"]

    with_page(house, work)
    house.searches.close()


def test_the_command_opens_the_tour(zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the browser, at the address that it prints; the page may train, which the tour needs."""
    opened: list[str] = []
    houses: list[House] = []

    def application_of(house: House, **more: Any) -> Any:
        houses.append(house)
        return application(house, **more)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda _server, sockets: sockets[0].close())
    monkeypatch.setattr("zerosum.web.server.application", application_of)
    answer = zero("web", "--tour", "--port", "0")
    assert answer.status == 0
    [address] = opened
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#/tour", address) and f"Open {address} in" in answer.out
    assert houses[0].trainings is not None and houses[0].trainings.is_allowed
    assert zero("web", "--port", "0").status == 0 and len(opened) == 1, "only when it is asked for"

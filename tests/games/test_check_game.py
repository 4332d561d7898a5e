"""`check_game`: notations and ends of a game of the core; mistakes in a game of one's own that break no rule."""

from __future__ import annotations

import contextlib
import random
import re
from typing import Any

import numpy as np
import pytest

from games_for_tests import DoubleMove, Loop
from zerosum.base.errors import GameError
from zerosum.games import check_game, make, state_after
from zerosum.games.check import _check_texts
from zerosum.games.findings import report_lines


class Broken:
    """A game of the core but for some answers, as `check_game` asks it."""

    def __init__(self, **answers: object) -> None:
        self.game = make("connect4(max_plies=6)")
        vars(self).update(answers)

    def __getattr__(self, name: str) -> object:
        return getattr(self.game, name)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({}, ""),
        ({"parse_action": lambda state, text: 0}, r"is '.', which parse_action\(state, ...\) reads as 0"),
        ({"parse_action": lambda state, text: None}, "reads as None"),
        (
            {
                "notations": ["columns"],
                "action_text": lambda state, action, notation=None: str(action if notation else action + 1),
            },
            r"is '.' in columns, which parse_action\(state, ...\) reads as",
        ),
        (
            {"parse_position": lambda text: make("connect4").parse_position("?")},
            r"position_text\(state\) is '7/7/7/7/7/7 X', which parse_position refuses: ",
        ),
        (
            {"parse_position": lambda text: make("connect4").initial_state()},
            r"position_text\(state\) is '7/7/7/7/7/\w+ O', and '7/7/7/7/7/7 X' once it was read back",
        ),
        (
            {"position_text": lambda state: "fixed", "parse_position": lambda text: make("connect4").initial_state()},
            "once it was read back, the other player is to move",
        ),
        (
            {
                "position_text": lambda state: "fixed",
                "parse_position": lambda text: state_after(make("connect4"), "1 1 1 1 1 1"),
            },
            r"once it was read back, the actions \[0\] are no longer legal",
        ),
        ({"is_soft_ending": lambda state: state.plies == 2}, r"is_soft_ending\(state\) is True, and 7 legal actions"),
        ({"is_soft_ending": lambda state: False}, r"is_soft_ending\(state\) is False, and \d legal actions are left"),
    ],
)
def test_what_is_not_read_back_is_told(answers: dict[str, object], message: str) -> None:
    rules: Any = Broken(**answers)
    generator = random.Random(1)
    told = rf"^connect4\(max_plies=6\): .*{message}(?s:.*)\nat the position\n"
    with pytest.raises(GameError, match=told) if message else contextlib.nullcontext():
        for _ in range(30):
            state = rules.game.initial_state()
            _check_texts(rules, state, generator)
            while legal := rules.game.legal_actions(state):
                state = rules.game.play(state, generator.choice(legal))
                _check_texts(rules, state, generator)


def test_an_end_that_is_not_read_back_is_told() -> None:
    game = make("tictactoe")
    over = state_after(game, "a1 a2 b1 b2 c1")
    rules: Any = Broken(game=game, position_text=lambda _: "fixed", parse_position=lambda _: state_after(game, "a1"))
    with pytest.raises(GameError, match="once it was read back, the outcome is None by None"):
        _check_texts(rules, over, random.Random(1))


# Mistakes of an author that break no rule


class Boxes:
    """Cells of two rows are taken in turn, a corner gives another move; most cells win.

    A state is (cells of each player, who is to move).
    """

    name = "boxes"
    num_actions = 10
    board_shape = (2, 5)
    plane_names = ("own cells", "opponent's cells")

    def initial_state(self) -> Any:
        return frozenset(), frozenset(), 0

    def player(self, state: Any) -> int:
        return int(state[2])

    def legal_actions(self, state: Any) -> list[int]:
        return [cell for cell in range(10) if cell not in state[0] | state[1]]

    def play(self, state: Any, action: int) -> Any:
        cells = [state[0], state[1]]
        cells[state[2]] |= {action}
        return (*cells, state[2] if action in (0, 4, 5, 9) else 1 - state[2])

    def outcome(self, state: Any) -> float | None:
        difference = len(state[0]) - len(state[1])
        return None if len(state[0] | state[1]) < 10 else float(np.sign(difference))

    def planes(self, state: Any) -> Any:
        planes = np.zeros((2, 10), np.float32)
        for player in (0, 1):
            planes[player ^ state[2], list(state[player])] = 1
        return planes.reshape(2, 2, 5)

    def action_text(self, state: Any, action: int) -> str:
        return str(action)

    def draw(self, state: Any) -> str:
        return "".join("X" if cell in state[0] else "O" if cell in state[1] else "." for cell in range(10))

    def swap_players(self, state: Any) -> Any:
        return state[1], state[0], 1 - state[2]


class FromFirst(Boxes):
    """Planes are always player 0's."""

    def planes(self, state: Any) -> Any:
        return super().planes((*state[:2], 0))


class Turned(Boxes):
    """Player 1 sees the board turned around."""

    def planes(self, state: Any) -> Any:
        planes = super().planes(state)
        return planes[:, ::-1, ::-1] if state[2] else planes


class Corners(Boxes):
    """The planes show who took corners: at first both sides have nothing, whoever is to move."""

    def planes(self, state: Any) -> Any:
        return super().planes(state) * np.array([[1, 0, 0, 0, 1]], np.float32)


class ByParity(Boxes):
    """Turns alternate by the number of moves, but play() and planes() know better."""

    def player(self, state: Any) -> int:
        return len(state[0] | state[1]) % 2


class ForMover(Boxes):
    """The result is for the player to move, who has lost."""

    def outcome(self, state: Any) -> float | None:
        return None if len(state[0] | state[1]) < 10 else -1.0


class Endless(Boxes):
    """Hangs once three cells are taken."""

    def legal_actions(self, state: Any) -> list[int]:
        while len(state[0] | state[1]) > 2:
            sum(range(100))
        return super().legal_actions(state)


def without_swap(game: type[Boxes]) -> Any:
    """The game's author wrote no `swap_players`."""
    return type("Without", (game,), {"swap_players": None})()


@pytest.mark.parametrize(
    ("game", "doubt"),
    [
        (Boxes, ""),
        (Turned, ""),
        (Corners, ""),
        (FromFirst, "Planes stayed as they were in all [0-9]+ moves that could tell"),
        (ByParity, r"Planes stayed as they were in [0-9]+ moves after which player\(state\) had changed"),
        (ForMover, r"Player 1 won all 60 decided games, [0-9]+ after a last move of player 0"),
    ],
)
def test_mistakes_that_break_no_rule_are_doubted(game: type[Boxes], doubt: str) -> None:
    for seed in range(3):
        report = check_game(without_swap(game), num_games=60, seed=seed)
        assert len(report.doubts) == bool(doubt), report.doubts
        assert not doubt or re.match(doubt, report.doubts[0])


@pytest.mark.parametrize(
    ("game", "rule"),
    [
        (FromFirst, r"planes\(state\) changes with the players exchanged"),
        (ByParity, r"swap_players\(state\) leaves player [01] to move, expected the other one"),
        (ForMover, r"outcome\(state\) is -1.0 and, with the players exchanged, -1.0 after action [0-9]"),
        (
            type("Moved", (Boxes,), {"legal_actions": lambda self, s: Boxes.legal_actions(self, s)[s[2] :] or [9]}),
            r"legal_actions\(state\) is .*expected the same",
        ),
    ],
)
def test_players_exchanged_prove_the_side_that_things_are_seen_from(game: type[Boxes], rule: str) -> None:
    with pytest.raises(GameError, match=rf"^boxes: {rule}(?s:.*)\nat the position"):
        check_game(game(), num_games=20)


def test_a_game_with_players_exchanged_passes() -> None:
    assert check_game(Boxes(), num_games=30).moves_twice > 30


def test_games_that_only_the_cap_ends_are_doubted() -> None:
    (doubt,) = check_game(Loop(), num_games=3).doubts
    assert doubt.startswith("Every game hit max_plies = 40: outcome(state) was None in each last position.")
    assert check_game(DoubleMove(), num_games=30).doubts == ()


def test_a_method_that_does_not_end_is_named() -> None:
    with pytest.raises(
        GameError, match=r"legal_actions\(state\) took more than 0.3 CPU-seconds \(test_check_game.py, "
    ):
        check_game(Endless(), seconds_per_call=0.3)


def test_the_report_shows_ends_and_planes_of_both_players_and_what_each_method_costs() -> None:
    report = check_game(Boxes(), num_games=30, seed=4)
    text = "\n".join(report_lines("boxes", report))
    assert set(report.views) == {0, 1} and set(report.finals) >= {-1.0, 1.0}
    assert set(report.microseconds) >= {"play", "planes", "legal_actions", "outcome", "player"}
    for said in ("Player 0 won here. Is that right?", "Player 1 won here.", "Drawn here.", "own cells:\n", "(planes "):
        assert said in text
    for player in (0, 1):
        board, planes = report.views[player]
        first_row = planes.partition("own cells:\n")[2].splitlines()[0].replace(" ", "")
        assert first_row == "".join("1" if cell == "XO"[player] else "." for cell in board[:5])

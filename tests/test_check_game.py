"""`check_game` on a game of the core: what it holds of notations and ends, and that it tells what is broken."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest

from zerosum.base.errors import GameError
from zerosum.games import make, state_after
from zerosum.games.check import _check_texts


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

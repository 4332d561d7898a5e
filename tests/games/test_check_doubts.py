"""Mistakes of new authors that break no rule of a single call: `check_game` notices them and says what is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commands_for_tests import Command
from games_for_tests import DoubleMove
from zerosum.base.errors import GameError
from zerosum.games import adopt, check_game
from zerosum.games.findings import report_lines


class Lines:
    """Two players draw lines, numbered 0 to 5, in turns; the one who draws the last line wins.

    `allows_again` lets a line be drawn twice, and `has_pass` adds the action 6, which draws none.
    """

    name = "lines"
    num_actions = 7
    board_shape = (1, 6)
    plane_names = ("lines",)
    max_plies = 40

    def __init__(self, *, allows_again: bool = False, has_pass: bool = False) -> None:
        self.allows_again, self.has_pass = allows_again, has_pass

    def initial_state(self) -> tuple[frozenset[int], int]:
        return frozenset(), 0

    def player(self, state: tuple[frozenset[int], int]) -> int:
        return state[1]

    def outcome(self, state: tuple[frozenset[int], int]) -> float | None:
        return (1.0 if state[1] == 1 else -1.0) if len(state[0]) == 6 else None

    def legal_actions(self, state: tuple[frozenset[int], int]) -> list[int]:
        if len(state[0]) == 6:
            return []
        free = [line for line in range(6) if self.allows_again or line not in state[0]]
        return [*free, *([6] if self.has_pass else [])]

    def play(self, state: tuple[frozenset[int], int], action: int) -> tuple[frozenset[int], int]:
        drawn, player = state
        return (drawn if action == 6 else drawn | {action}), 1 - player

    def planes(self, state: tuple[frozenset[int], int]) -> NDArray[np.float32]:
        return np.array([[[line in state[0] for line in range(6)]]], np.float32)

    def action_text(self, state: tuple[frozenset[int], int], action: int) -> str:
        return f"line{action}"

    def draw(self, state: tuple[frozenset[int], int]) -> str:
        return "".join("|" if line in state[0] else "." for line in range(6)) + "\n"


def test_a_good_game_raises_no_doubt() -> None:
    assert check_game(Lines(), num_games=20).doubts == ()


def test_an_action_that_changes_only_the_mover_is_asked_about() -> None:
    doubts = check_game(Lines(has_pass=True), num_games=20).doubts
    asked = r"Action 6 \('line6'\) changed nothing but the player to move, in \d+ moves\. Is it a pass\?"
    assert re.match(asked, doubts[0])


def test_a_line_that_can_be_drawn_twice_is_asked_about() -> None:
    doubts = check_game(Lines(allows_again=True), num_games=20).doubts
    assert re.match(r"Action \d \('line\d'\) changed nothing but the player to move", doubts[0])
    assert len(doubts) == 3, "not more than three of them"


class Counted(Lines):
    """A line can be drawn again, and the position counts the plies, so nothing ever looks unchanged."""

    max_plies = 12

    def outcome(self, state: Any) -> float | None:
        return None

    def legal_actions(self, state: Any) -> list[int]:
        return [0, 1]

    def play(self, state: Any, action: int) -> Any:
        return state[0] ^ {action}, 1 - state[1]


def test_games_that_go_round_in_circles_are_not_asked_for_more_plies() -> None:
    (doubt,) = check_game(Counted(), num_games=20).doubts
    assert "In 20 of them a position came back, so more plies may not end them" in doubt
    assert "enough plies" not in doubt


class Remembering(Lines):
    """`legal_actions` reads what the game has seen since, beside its argument."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0

    def play(self, state: tuple[frozenset[int], int], action: int) -> tuple[frozenset[int], int]:
        after = super().play(state, action)
        self.longest = max(self.longest, len(after[0]))
        return after

    def legal_actions(self, state: tuple[frozenset[int], int]) -> list[int]:
        legal = super().legal_actions(state)
        return legal if len(state[0]) + 1 >= self.longest or len(legal) < 2 else legal[1:]


class Restless(DoubleMove):
    """`draw` tells the number of its calls."""

    calls = 0

    def outcome(self, state: tuple[int, int, int]) -> float | None:
        result = super().outcome(state)
        if state[0] >= 11:
            type(self).calls += 1
        return result

    def planes(self, state: tuple[int, int, int]) -> NDArray[np.float32]:
        return super().planes(state) * (1 if self.calls == 0 or state[0] > 3 else 0)


@pytest.mark.parametrize("game", [Remembering(), Restless()])
def test_a_game_that_reads_something_beside_its_argument_is_refused(game: Any) -> None:
    with pytest.raises(GameError, match=r"(?s)(now and was|answers something else|gave two different|was before)"):
        check_game(game, num_games=20)


def test_shown_positions_have_planes() -> None:
    class Late(Lines):
        """The planes are empty until four lines are drawn."""

        def planes(self, state: tuple[frozenset[int], int]) -> NDArray[np.float32]:
            return super().planes(state) * (len(state[0]) >= 5)

    report = check_game(Late(), num_games=30)
    assert report.views and all("every plane is empty" not in planes for _, planes in report.views.values())


def test_all_missing_parts_are_named_at_once() -> None:
    class Half:
        name = "half"
        num_actions = 3

        def play(self, state: int, action: int) -> int:
            return state

    with pytest.raises(GameError) as refused:
        adopt(Half())  # type: ignore[arg-type]
    assert str(refused.value) == (
        "Half has no attributes 'board_shape', 'plane_names' and no methods 'initial_state', 'player',"
        " 'legal_actions', 'outcome', 'planes', 'action_text', 'draw': the Game protocol requires them."
    )


def test_what_a_browser_draws_is_told() -> None:
    drawn = "\n".join(report_lines("lines", check_game(Lines(), num_games=2)))
    assert "A browser draws the text of draw(state) as a board of 1 rows and 6 columns." in drawn

    class Words(Lines):
        def draw(self, state: tuple[frozenset[int], int]) -> str:
            return f"lines {sorted(state[0])}"

    told = "\n".join(report_lines("words", check_game(Words(), num_games=2)))
    assert "A browser shows draw(state) as text, because it does not find a board in it" in told


def test_a_doubt_has_an_exit_status_of_its_own(zero: Command, games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    assert zero("check-game", f"{games}:Good", "--games", "5").status == 0
    assert zero("check-game", f"{games}:Bad", "--games", "5").status == 2
    doubtful = games.with_name("doubtful.py")
    doubtful.write_text(
        "from test_check_doubts import Lines\n\n\nclass Doubtful(Lines):\n    def __init__(self):\n"
        "        super().__init__(has_pass=True)\n"
    )
    answer = zero("check-game", f"{doubtful}:Doubtful", "--games", "5")
    assert answer.status == 3 and "DOUBT: Action 6" in answer.out


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A file with a game that keeps the rules and one that breaks them."""
    path = tmp_path / "games.py"
    path.write_text(
        "from games_for_tests import DoubleMove\n\n\nclass Good(DoubleMove):\n    name = 'good'\n\n\n"
        "class Bad(DoubleMove):\n    def outcome(self, state):\n        return None if state[0] < 12 else 7\n",
        encoding="utf-8",
    )
    return path

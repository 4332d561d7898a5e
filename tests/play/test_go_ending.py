"""The end of a game of Go at the terminal: the score in points, dead stones, and a pass on a settled board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from zerosum.games import make, state_after
from zerosum.network.evaluators import UniformEvaluator
from zerosum.notation import read_games
from zerosum.notation.go_words import GoRules
from zerosum.play.go_ending import final_score, passes_instead
from zerosum.play.player import Player
from zerosum.play.terminal import play_in_terminal
from zerosum.protocols.gtp_board import GtpBoard
from zerosum.search import SearchConfig

GO9 = make("go9")
WALLS = "4XO3/4XO3/4XO3/4XO3/4XO3/4XO3/4XO3/4XO3/4XO3"
"""Two walls: 45 points for Black, 36 for White, komi 7."""
INVADED = "4XO3/4XO3/4XO3/1O2XO3/4XO3/4XO3/4XO3/4XO3/4XO3"
"""The same with a dead white stone on b6."""


def test_dead_stones_come_off_the_board() -> None:
    state = GO9.parse_position(f"{INVADED} X passes=2")
    score = final_score(GO9, state)
    assert score is not None
    assert (score.lead, score.dead, score.result) == (2.0, ((), ("B6",)), 1.0)
    assert score.lead_as_it_stands < 0, "where all stones live, White has won"
    assert score.words() == "Dead stones: White B6. With all stones alive it would be White by 35."


def test_a_game_that_is_not_ended_by_passes_has_no_score() -> None:
    assert final_score(GO9, GO9.initial_state()) is None
    assert final_score(GO9, GO9.parse_position(f"{WALLS} X passes=1")) is None
    chess = make("chess")
    assert final_score(chess, state_after(chess, "f3 e5 g4 Qh4")) is None


@pytest.mark.parametrize(
    ("board", "player", "passes"),
    [
        (WALLS, "X", True),
        (WALLS, "O", True),  # it has lost, and every stone would be lost, too
        (INVADED, "X", False),  # the stone could live
        ("2XO5/2XO5/2XO5/2XO5/O1XO5/2XO5/2XO5/2XO5/2XO5", "O", True),  # and this one could not
        ("9/9/9/4X4/9/9/9/9/9", "O", False),
        ("9/9/9/9/9/9/9/9/9", "X", False),
    ],
)
def test_a_settled_board_is_passed_on(board: str, player: str, passes: bool) -> None:
    state = GO9.parse_position(f"{board} {player}")
    assert passes_instead(GO9, state, None) == (81 if passes else None)


def test_a_pass_of_the_opponent_is_answered_only_by_a_sure_winner() -> None:
    before = GO9.parse_position(f"{WALLS.replace('4XO3', '4X4', 1)} O")
    after = GO9.play(before, 81)
    assert passes_instead(GO9, after, before) == 81
    before = state_after(GO9, "e5 c3")
    assert passes_instead(GO9, GO9.play(before, 81), before) is None


def test_other_games_never_pass() -> None:
    for name in ("othello", "connect4", "gomoku", "chess"):
        game = make(name)
        assert passes_instead(game, game.initial_state(), None) is None


WALL_MOVES = [f"{'e' if ply % 2 == 0 else 'f'}{ply // 2 + 1}" for ply in range(18)]
"""Black's wall on the e-file and White's on the f-file."""


def test_the_score_is_told_with_both_sides_and_the_dead_stones(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    shown = converse([*WALL_MOVES, "pass", "b6", "pass", "pass", f"save {file}", "no"], human_side="both")
    assert "Black wins by 2 points: two passes, after 22 moves." in shown
    assert "Dead stones: White B6." in shown
    (record,) = read_games(file)
    assert (record.result, record.ending) == (1.0, "2 points")


def test_the_computer_passes_on_a_settled_board() -> None:
    shown = converse(["pass", "no"], position=f"{WALLS} X")
    assert "The computer passes: the board is settled." in shown
    assert "You (Black) win by 2 points: two passes" in shown and "Dead stones" not in shown


def converse(lines: list[str], *, position: str = "", human_side: Literal[0, "both"] = 0) -> str:
    """What the terminal shows; the computer has no knowledge, so it would play on."""
    player = Player(GO9, UniformEvaluator(), SearchConfig(num_simulations=4), name="uniform")
    ahead, shown = iter(lines), list[str]()
    play_in_terminal(
        player, human_side=human_side, position=position, read=lambda _prompt: next(ahead), write=shown.append
    )
    return "\n".join(shown)


def test_the_score_is_that_of_the_protocol_for_people() -> None:
    """GTP with rules for people counts the same position as the terminal does."""
    game = make("go(size=9, komi=7.5)")
    board = GtpBoard(game)
    board.set_rules(replace(GoRules.named("chinese"), handicap_bonus="0"))
    for ply, move in enumerate(WALL_MOVES):
        board.play(ply % 2, board.action(move.upper()))
    for player, vertex in ((0, "pass"), (1, "B6"), (0, "pass"), (1, "pass")):
        board.play(player, board.action(vertex))
    state = state_after(game, " ".join([*WALL_MOVES, "pass b6 pass pass"]))
    score = final_score(game, state)
    assert score is not None
    assert (score.lead, list(score.dead[1])) == (board.score(), [v.upper() for v in board.statuses()["dead"]])

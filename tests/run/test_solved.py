"""The solved positions are what they claim, and mistakes are counted right."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zerosum.run.solved
from runs_for_tests import train_a_little
from zerosum._core import Leaves
from zerosum.base.errors import SettingsError
from zerosum.cli import main
from zerosum.games import Rules, State, make, state_after
from zerosum.network.evaluators import Evaluations, UniformEvaluator
from zerosum.play.player import Player
from zerosum.run.solved import SolvedPosition, SolvedSet, load_solved, mistake_rates, solved_games, wilson_error
from zerosum.search import SearchConfig

CONNECT4, TICTACTOE = make("connect4"), make("tictactoe")
SETS = load_solved("connect4")
STAGES = {"end": range(29, 42), "middle": range(15, 29), "begin": range(15)}
LEVELS = {"easy": range(14), "medium": range(14, 28), "hard": range(28, 43)}

each_set = pytest.mark.parametrize("name", SETS)


@cache
def states(name: str) -> list[State]:
    return [state_after(CONNECT4, position.moves) for position in SETS[name].positions]


def plies_at_end(score: int, plies: int) -> int:
    """The length of a game with this score for the player to move after `plies` plies."""
    if score == 0:
        return 42
    winner = plies % 2 if score > 0 else 1 - plies % 2
    return 2 * (22 - abs(score)) - (1 - winner)


# The data


def test_there_are_six_sets_of_a_thousand() -> None:
    assert solved_games() == ["connect4"]
    assert list(SETS) == ["end-easy", "middle-easy", "begin-easy", "middle-medium", "begin-medium", "begin-hard"]
    for name, solved in SETS.items():
        assert (solved.game, solved.name, len(solved.positions)) == ("connect4", name, 1000)


@each_set
def test_positions_are_of_their_set(name: str) -> None:
    stage, level = name.split("-")
    for position, state in zip(SETS[name].positions, states(name), strict=True):
        assert state.plies in STAGES[stage]
        assert plies_at_end(max(position.scores), state.plies) - state.plies in LEVELS[level]


@each_set
def test_every_move_has_a_score_and_none_ends_the_game_by_a_win(name: str) -> None:
    for position, state in zip(SETS[name].positions, states(name), strict=True):
        actions = CONNECT4.legal_actions(state)
        assert len(actions) == len(position.scores) > 0
        for action in actions:
            assert CONNECT4.outcome(CONNECT4.play(state, action)) in (None, 0)


def test_all_positions_differ() -> None:
    boards = [CONNECT4.draw(state) for name in SETS for state in states(name)]
    assert len(set(boards)) == 6000


def test_scores_agree_with_one_another() -> None:
    """Checks of positions whose mirror image or successor is in the data, and of immediate wins of the opponent."""
    known: dict[Board, tuple[int, ...]] = {}
    for solved in SETS.values():
        for position in solved.positions:
            known[board_of(position)] = position.scores
    num_mirrored = num_reached = num_lost = 0
    for board, scores in known.items():
        image = mirrored(board)
        if image in known and image != board:
            num_mirrored += 1
            assert known[image] == scores[::-1]
        for after, score in zip(moves_of(board), scores, strict=True):
            if after in known:
                num_reached += 1
                assert score == -max(known[after])
            if any(has_four(won[1]) for won in moves_of(after)):
                num_lost += 1
                assert score == -win_next(after)
    assert num_mirrored > 50 and num_reached > 50 and num_lost > 5000


# An exact solver, to be read: boards are the stones of the player to move and the opponent's, bit 7 * column + row

Board = tuple[int, int]
COLUMNS = [0b111111 << 7 * column for column in range(7)]
CENTRE_FIRST = (3, 2, 4, 1, 5, 0, 6)


def board_of(position: SolvedPosition) -> Board:
    own = other = 0
    for move in position.moves.split():
        column = int(move) - 1
        own, other = other, own | ((own | other) + (1 << 7 * column)) & COLUMNS[column]
    return own, other


def moves_of(board: Board, columns: tuple[int, ...] = tuple(range(7))) -> list[Board]:
    """The positions after each legal move, seen by the opponent."""
    own, other = board
    taken = own | other
    return [
        (other, own | (taken + (1 << 7 * column)) & COLUMNS[column])
        for column in columns
        if taken & COLUMNS[column] != COLUMNS[column]
    ]


def mirrored(board: Board) -> Board:
    own, other = (sum((stones >> 7 * column & 127) << 7 * (6 - column) for column in range(7)) for stones in board)
    return own, other


def has_four(stones: int) -> bool:
    for step in (1, 6, 7, 8):
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


def win_next(board: Board) -> int:
    """The score of winning with the next stone: those of his 21 that are then left, and one."""
    return (43 - (board[0] | board[1]).bit_count()) // 2


def solve(board: Board, low: int, high: int, known: dict[Board, int]) -> int:
    """The score for the player to move if it is between low and high, else a bound on it; by alpha-beta."""
    after = moves_of(board, CENTRE_FIRST)
    if any(has_four(stones) for _, stones in after):
        return win_next(board)
    high = min(high, known.get(board, win_next(board) - 1))
    best = -22 if after else 0
    for ahead in after:
        if low >= high:
            return high
        best = max(best, -solve(ahead, -high, -low, known))
        low = max(low, best)
    if best < high:
        known[board] = best  # or less
    return best


@pytest.mark.parametrize(("name", "min_plies"), [("end-easy", 29), ("middle-easy", 24), ("middle-medium", 26)])
def test_scores_are_exact(name: str, min_plies: int) -> None:
    known: dict[Board, int] = {}
    for position, state in zip(SETS[name].positions, states(name), strict=True):
        if state.plies >= min_plies:
            scores = [-solve(after, -22, 22, known) for after in moves_of(board_of(position))]
            assert tuple(scores) == position.scores, position.moves


# Players


class Oracle:
    """Knows each position that it is asked about first, and likes the best moves there, or the worst."""

    def __init__(self, solved: SolvedSet, *, likes_worst: bool = False) -> None:
        self.opinions: dict[bytes, list[float]] = {}
        self.num_leaves, self.largest = 0, 0
        for position, state in zip(solved.positions, states(solved.name), strict=True):
            sign = -100 if likes_worst else 100
            self.opinions[CONNECT4.planes(state).tobytes()] = [sign * result for result in position.results]

    def evaluate(self, leaves: Leaves) -> Evaluations:
        self.num_leaves += len(leaves)
        self.largest = max(self.largest, len(leaves))
        logits = [
            self.opinions.get(planes.tobytes(), [0] * int(num))
            for planes, num in zip(leaves.planes(), np.diff(leaves.legal_offsets), strict=True)
        ]
        return Evaluations(leaves, np.concatenate(logits).astype(np.float32), np.zeros(len(leaves), np.float32))


def player_of(evaluator: UniformEvaluator | Oracle, num_simulations: int, game: Rules = CONNECT4) -> Player:
    """A player without the search for forced results, which mistakes are counted without."""
    return Player(game, evaluator, SearchConfig(num_simulations=num_simulations, proof_nodes=0), name="player")


@each_set
def test_the_best_moves_are_no_mistakes_and_the_worst_are_all_there_are(name: str) -> None:
    solved = SETS[name]
    num_possible = sum(min(position.results) < max(position.results) for position in solved.positions)
    (rate,) = mistake_rates(player_of(Oracle(solved), 1), [solved])
    assert rate.value == 0
    (rate,) = mistake_rates(player_of(Oracle(solved, likes_worst=True), 1), [solved])
    assert rate.value == num_possible / 1000


def test_evaluations_are_counted_and_share_batches() -> None:
    oracle = Oracle(SETS["begin-hard"])
    (rate,) = mistake_rates(player_of(oracle, 100), [SETS["begin-hard"]], num_simulations=9, max_positions=150)
    assert (rate.set, rate.positions, rate.num_simulations) == ("begin-hard", 150, 9)
    assert rate.evaluations == oracle.num_leaves <= 150 * 10
    assert oracle.largest == 64


def test_positions_searched_side_by_side_are_searched_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = SETS["middle-easy"]
    player = player_of(UniformEvaluator(), 60)
    positions = list(zip(solved.positions, states(solved.name), strict=True))[:40]
    mistakes = 0
    for position, state in positions:
        chosen = CONNECT4.legal_actions(state).index(player.analyse(state).best_action)
        mistakes += position.results[chosen] < max(position.results)
    some = SolvedSet("connect4", "some", tuple(position for position, _ in positions))
    assert mistakes > 0
    for positions_at_once in (1, 7, 64):
        monkeypatch.setattr(zerosum.run.solved, "POSITIONS_AT_ONCE", positions_at_once)
        (rate,) = mistake_rates(player, [some])
        assert rate.value == mistakes / 40


def test_a_sample_repeats_with_its_seed() -> None:
    solved = SETS["begin-easy"]
    samples = [solved.sample(50, seed=seed) for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    assert len(set(samples[0])) == 50 and set(samples[0]) <= set(solved.positions)
    assert solved.sample(5000, seed=1) == solved.positions


def test_an_error_bar_is_never_zero() -> None:
    assert wilson_error(0.0, 1000) == pytest.approx(0.0019, abs=5e-5)
    assert wilson_error(0.235, 1000) == pytest.approx(1.96 * (0.235 * 0.765 / 1000) ** 0.5, rel=0.01)


def test_what_cannot_be_measured() -> None:
    with pytest.raises(SettingsError, match=r"'tictactoe' has no solved positions; available: connect4"):
        load_solved("tictactoe")
    with pytest.raises(SettingsError, match="player plays 'tictactoe', these solved positions are of 'connect4'"):
        mistake_rates(player_of(UniformEvaluator(), 5, TICTACTOE), [SETS["end-easy"]])
    with pytest.raises(SettingsError, match="max_positions is 0, but must be at least 1"):
        mistake_rates(player_of(UniformEvaluator(), 5), [SETS["end-easy"]], max_positions=0)


# Commands


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of Connect Four."""
    run = tmp_path_factory.mktemp("runs") / "connect4"
    train_a_little("connect4", run)
    return run


def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> str:
    """The output of `zerosum` with these arguments."""
    monkeypatch.setattr(sys, "argv", ["zerosum", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    return capsys.readouterr().out


def test_evaluate_tells_mistakes(
    learned: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = told(capsys, monkeypatch, "evaluate", learned, "--games", "0", "--positions", "3", "-n", "2")
    for name in SETS:
        (row,) = (line for line in out.splitlines() if line.split()[:1] == [name])
        assert row.split()[1] == "3" and row.count("%") == 6
    assert "against" not in out
    out = told(capsys, monkeypatch, "evaluate", learned, "--games", "2", "--positions", "0", "-n", "2")
    assert "Mistakes" not in out and "against rollouts@20" in out


def test_figures_as_json(learned: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def figures(*words: str | Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in told(capsys, monkeypatch, *words, "--json").splitlines()]

    measured = figures("evaluate", learned, "--games", "2", "--positions", "3", "-n", "2")
    mistakes = [figure for figure in measured if figure["metric"] == "mistake_rate"]
    assert [figure["set"] for figure in mistakes] == list(SETS)
    assert all((figure["positions"], figure["num_simulations"]) == (3, 2) for figure in mistakes)
    assert all(0 <= figure["value"] <= 1 and 0 < figure["error"] < 1 for figure in mistakes)
    scores = [figure for figure in measured if figure["metric"] == "score"]
    assert [figure["opponent"] for figure in scores] == ["random", "rollouts@2", "rollouts@20"]
    assert len([figure for figure in measured if figure["metric"] == "elo"]) == 4

    (score,) = figures("match", "connect4", "rollouts@10", "random", "--games", "4")
    assert (score["metric"], score["player"], score["opponent"]) == ("score", "rollouts@10", "random")
    assert score["games"] == score["wins"] + score["draws"] + score["losses"] == 4

    known = {figure["metric"]: figure["value"] for figure in figures("info", learned)}
    assert known["step"] == 2 and known["parameters"] > 0
    assert figures("info", learned / "checkpoints" / "step-00000002.json")[0]["value"] == 2

"""Exams: tasks are what they say, a perfect player passes and random play fails, tables, JSON and files of failures."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from typing_extensions import override

from commands_for_tests import Command
from zerosum.base.errors import DataError, SettingsError
from zerosum.contest.mover import Answer, MoveLimits, Mover, Terms, Thought
from zerosum.games import Rules, State, make, start_state
from zerosum.network.evaluators import UniformEvaluator
from zerosum.play.contestant import (
    RANDOM,
    Contestant,
    ProgramContestant,
    RulesPlayer,
    SearchContestant,
    alpha_beta,
)
from zerosum.run.exam import PartResult, exam_of, has_exam, named_parts, sit_exam
from zerosum.run.exam.result import HEAD, Failure, row, short_text, write_failures
from zerosum.run.exam.shogi import Declares, declares_next
from zerosum.run.exam.sitting import examinee
from zerosum.run.exam.task import ExamTask, Judge, Part, RightMoves
from zerosum.search import SearchConfig

GAMES = ("chess", "go9", "shogi")
PARTS = [(game, part.name) for game in GAMES for part in exam_of(make(game))]


@functools.cache
def rules(name: str) -> Rules:
    return make(name)


@dataclass(frozen=True)
class Solver:
    """A program that asks the judges themselves: the first move that is not wrong, with the tasks known by position."""

    tasks: tuple[ExamTask, ...]

    def open(self, game: Rules) -> Mover:
        return SolvingMover(game, self.tasks)


def is_likely(game: Rules, state: State, judge: Judge, action: int) -> bool:
    """Whether a move looks right at a glance: to be sure that one is wrong takes some judges long proofs."""
    if isinstance(judge, Declares):
        return declares_next(game, state, action)
    return isinstance(judge, RightMoves) and action in judge.actions


class SolvingMover(Mover):
    def __init__(self, game: Rules, tasks: Sequence[ExamTask]) -> None:
        self.game, self.judges = game, {task.start: task.judge for task in tasks}

    @override
    def new_game(self, number: int) -> None: ...

    @override
    def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
        state = functools.reduce(self.game.play, actions, start_state(self.game, start))
        judge, num_moves = self.judges[start], len(actions) // 2 + 1
        actions = self.game.legal_actions(state)
        likely = {action for action in actions if is_likely(self.game, state, judge, action)}
        for action in sorted(actions, key=lambda action: action not in likely):
            if judge.judge(self.game, state, action, num_moves=num_moves).is_right is not False:
                return Answer(action, Thought())
        raise AssertionError(f"no move is right in {self.game.position_text(state)}")

    @override
    def ponder(self, start: str, actions: Sequence[int], limits: MoveLimits, is_over: threading.Event) -> None: ...

    @override
    def end_game(self, result: float) -> None: ...

    @override
    def close(self) -> None: ...


def sat(game: str, name: str, contestant: Contestant, *, num: int = 6, seed: int = 1) -> PartResult:
    (result,) = sit_exam(rules(game), contestant, named_parts(exam_of(rules(game)), [name]), num_tasks=num, seed=seed)
    return result


def part(game: str, name: str) -> Part:
    (found,) = named_parts(exam_of(rules(game)), [name])
    return found


@pytest.mark.parametrize(("game", "name"), [pair for pair in PARTS if "v" not in pair[1] and pair[1] != "ladders"])
def test_who_knows_the_answers_passes_and_random_play_fails(game: str, name: str) -> None:
    made = part(game, name)
    tasks = made.make_tasks(rules(game), 4, 1)
    assert tasks[:1] == made.make_tasks(rules(game), 1, 1) != made.make_tasks(rules(game), 1, 2)
    assert len({task.start for task in tasks}) == 4
    given = replace(made, make_tasks=lambda _game, _number, _seed: tasks)
    solver = ProgramContestant("perfect", Solver(tuple(tasks)), Terms(nodes=1))
    (perfect,) = sit_exam(rules(game), solver, [given])
    assert (perfect.right, perfect.asked, perfect.failures, perfect.is_passed) == (4, 4, (), True)
    (drawn,) = sit_exam(rules(game), RANDOM, [given], seed=1)
    assert not drawn.is_passed
    assert [failure.number for failure in drawn.failures] == sorted({failure.number for failure in drawn.failures})


@pytest.mark.parametrize(("game", "name"), [("chess", "mate in 2"), ("chess", "hanging queen"), ("shogi", "mate in 1")])
def test_a_search_of_all_lines_passes(game: str, name: str) -> None:
    """The depth of alpha-beta is enough for every line of the part."""
    assert sat(game, name, alpha_beta(4 if name == "hanging queen" else 3)).right == 6


@pytest.mark.parametrize("name", ["KQvK", "KRvK", "KPvK"])
def test_won_endings_are_won_with_the_table_alone(name: str) -> None:
    from zerosum.run.exam.chess import ending_table

    tasks = part("chess", name).make_tasks(rules("chess"), 4, 1)
    for task in tasks:
        assert (ending_table().get(rules("chess"), start_state(rules("chess"), task.start)) or 0) > 0
    failed = sat("chess", name, RANDOM, num=4)
    assert failed.right == 0
    assert all("gives the win away" in why or "drawn after" in why for why in (f.reason for f in failed.failures))
    assert sat("chess", name, nearest_mate(), num=4).right == 4


def nearest_mate() -> ProgramContestant:
    """A program that plays by the table of the exam."""
    from zerosum.run.exam.chess import ending_table

    class TableMover(SolvingMover):
        @override
        def think(self, start: str, actions: Sequence[int], limits: MoveLimits) -> Answer:
            state = functools.reduce(self.game.play, actions, start_state(self.game, start))
            best = max(self.game.legal_actions(state), key=lambda action: self._worth(self.game.play(state, action)))
            return Answer(best, Thought())

        def _worth(self, after: object) -> float:
            outcome = self.game.outcome(after)  # type: ignore[arg-type]
            if outcome is not None:
                return 1000.0 if outcome else -1000.0
            plies = ending_table().get(self.game, after) or 0  # type: ignore[arg-type]
            return 500.0 + plies if plies < 0 else -1000.0

    @dataclass(frozen=True)
    class TableProgram:
        def open(self, game: Rules) -> Mover:
            return TableMover(game, ())

    return ProgramContestant("table", TableProgram(), Terms(nodes=1))


def test_a_mate_that_is_not_kept_is_wrong() -> None:
    """Two moves mate in two; a check that only prolongs the game does not."""
    from zerosum.run.exam.mates import Mate

    game = rules("chess")
    state = game.parse_position("2kr3r/pp1nqppp/2p1pn2/8/1b1P1B2/2NB1Q2/PPP2PPP/2KR3R w - - 0 1")
    judged = {
        game.action_text(state, action): Mate(3).judge(game, state, action, num_moves=1)
        for action in game.legal_actions(state)
    }
    kept = [text for text, step in judged.items() if step.is_right is None]
    assert kept == ["f3c6"]
    assert judged["c3b1"].reason == "c3b1 does not mate in 3 plies"
    reply = judged["f3c6"].reply
    assert reply is not None and game.action_text(game.play(state, game.parse_action(state, "f3c6") or 0), reply)


def test_a_search_of_ours_sits_an_exam_of_its_simulations() -> None:
    config = SearchConfig(num_simulations=800, root_noise_fraction=0.0, root_noise_alpha=1.0)
    found = sat("chess", "mate in 2", SearchContestant("even", UniformEvaluator(), config, Terms(nodes=40)), num=8)
    assert found.right >= 6, found.failures


EYE_SPACE = "1XXXXXXXX/XXX1XXXXX/XXXXXXXXX/XXXXX1XXX/OOOOOOOOX/OO1OOO1OO/OOOOOOOOO/XXXXO1OOO/3XOOOOO"
"""A group of Black's in the corner with three points in a row, on which the game hangs."""


@pytest.mark.parametrize("mover", ["X", "O"])
def test_three_points_in_a_row_live_or_die_by_the_middle_one(mover: str) -> None:
    from zerosum.run.exam.go_solver import Hole

    game = rules("go9")
    state = game.parse_position(f"{EYE_SPACE} {mover}")
    hole = Hole(game, frozenset({*range(63, 67), *range(72, 76)}))
    assert hole.wins(state, game.player(state)) and not hole.wins_by(state, 81)
    assert [game.action_text(state, action) for action in hole.winning_moves(state)] == ["B1"]


@pytest.mark.parametrize("name", ["two eyes", "seki"])
def test_proofs_agree_with_a_search_of_all_lines(name: str) -> None:
    from exam_twins import PlainSearch

    game = rules("go9")
    twin = PlainSearch(game)
    for task in part("go9", name).make_tasks(game, 2, 5):
        assert isinstance(task.judge, RightMoves)
        state = start_state(game, task.start)
        moves = [action for action in game.legal_actions(state) if action not in twin.eyes(state)]
        assert task.judge.actions.intersection(moves) == {action for action in moves if twin.wins_by(state, action)}


def test_a_board_with_too_many_lines_is_given_up() -> None:
    from zerosum.run.exam.go_solver import Hole, TooLargeError

    game = rules("go9")
    with pytest.raises(TooLargeError):
        Hole(game, frozenset(range(81)), 50).wins(game.initial_state(), 0)


@pytest.mark.parametrize(
    ("text", "player", "points"),
    [
        ("1X1X5/XXXX5/9/9/9/9/9/9/9 X", 0, 8),  # two eyes
        ("1X1XO4/XXXX5/9/9/9/9/9/9/O8 X", 1, 0),  # no eye
        ("1X7/XX7/9/9/9/9/9/9/9 X", 0, 0),  # one eye
        ("1XO1XX3/XXXXXX3/9/9/9/9/9/9/9 X", 0, 12),  # a stone in a second eye lives as little as it has room
        ("1X4X2/XXXXXXX2/9/9/9/9/9/9/9 X", 0, 14),  # a long eye, beside each of whose points the chain is
        ("1X3X3/XX3X3/XXXXXX3/9/9/9/9/9/9 X", 0, 0),  # a region that has a point away from the chain is no eye
    ],
)
def test_points_that_are_certain(text: str, player: int, points: int) -> None:
    from zerosum.run.exam.go_life import certain_points, stones

    sides = stones(text)
    assert certain_points(sides[player], sides[1 - player]).bit_count() == points


def test_a_ladder_works_until_a_stone_stands_in_its_way() -> None:
    from zerosum.run.exam.go_reader import Ladder, Stones

    # The chain at d6 and e6 has the liberties f6 and e5; the ladder from f6 goes down to the right.
    chain = Stones.of("9/9/3OO4/2OXX4/3O5/9/9/9/9 O", 0)
    assert Ladder(30).liberties(chain) == [32, 40]
    assert Ladder(30).captures(chain) == [32]
    assert not Ladder(30).captures(replace(chain, own=chain.own | 1 << 60))


def test_ladders_hang_on_a_chain_that_reading_and_exact_play_tell_apart() -> None:
    """What is right is few, and two readers that share no code agree."""
    from exam_twins import captures_by_ladder
    from zerosum.run.exam.go_ladders import Reads
    from zerosum.run.exam.go_reader import Ladder, Stones

    game = rules("go9")
    kinds = set()
    for task in part("go9", "ladders").make_tasks(game, 6, 1):
        state, judge = start_state(game, task.start), task.judge
        assert isinstance(judge, Reads)
        right, owner = judge.right_moves(game, state), judge.owner
        assert 0 < len(right) <= 5 and 81 not in right
        board = Stones.of(task.start, owner)
        ladder = set(Ladder(judge.target).captures(board))
        assert ladder == captures_by_ladder(task.start, judge.target, owner)
        works, is_owners = bool(ladder), game.player(state) == owner
        kinds.add((works, is_owners))
        if works and not is_owners:
            assert ladder <= right
        assert judge.judge(game, state, 81, num_moves=1).is_right is False
    assert len(kinds) > 1, "both sides are asked"


def test_limits_of_players() -> None:
    game = rules("chess")
    assert examinee("rollouts", [], game).terms.nodes == 800
    assert examinee("rollouts", [], game, num_simulations=5).terms.nodes == 5
    assert examinee("rollouts@7", [], game).name == "rollouts@7"
    assert examinee("bundled/chess-alphabeta", [], game, num_simulations=5).terms.nodes == 500
    assert examinee("bundled/chess-alphabeta", ["nodes=7"], game).terms.nodes == 7
    assert isinstance(examinee("alphabeta", [], game), RulesPlayer)
    assert examinee("random", [], game) == RANDOM
    with pytest.raises(SettingsError, match="rollouts@7 has a limit of its own, and --simulations 5: give one of"):
        examinee("rollouts@7", [], game, num_simulations=5)
    clocked = examinee("rollouts", ["st=1"], game)
    with pytest.raises(SettingsError, match="has a clock, and an exam has none: limit its nodes or its depth"):
        list(sit_exam(game, clocked, exam_of(game), num_tasks=1))
    with pytest.raises(SettingsError, match="number of tasks is 0, but must be at least 1"):
        list(sit_exam(game, RANDOM, exam_of(game), num_tasks=0))


def test_which_games_have_exams() -> None:
    assert has_exam(make("chess(policy=flat)")) and not has_exam(make("chess960"))
    with pytest.raises(SettingsError, match=r"connect4 has no exam; games that have one are chess, .*shogi\."):
        exam_of(make("connect4"))
    with pytest.raises(SettingsError, match=r"no part 'mate in 3': did you mean 'mate in 2'"):
        named_parts(exam_of(rules("chess")), ["mate in 3"])


def test_results_in_tables_and_files(tmp_path: Path) -> None:
    failure = Failure(3, "7k/8/8/8/8/8/8/KQ6 w - - 0 1", ("b1b2",), "b1b2 does not mate")
    result = PartResult("mate in 2", 49, 50, 0.98, 1.25, (failure,))
    assert result.is_passed and not PartResult("mate in 2", 48, 50, 0.98, 1.0, ()).is_passed
    assert row(result).split() == ["mate", "in", "2", "49", "50", "98.0", "89.5", "to", "99.6", "98", "1.2", "passed"]
    assert len(HEAD.split("verdict")[0]) == len(row(result).split("passed")[0])
    assert short_text([result]) == "mate in 2 49 of 50"
    numbers = json.loads(result.json("me"))
    assert (numbers["metric"], numbers["player"], numbers["right"], numbers["passed"]) == ("exam", "me", 49, True)
    assert numbers["failures"] == [vars(failure) | {"moves": ["b1b2"]}]
    write_failures(tmp_path / "failed.txt", [result])
    assert (tmp_path / "failed.txt").read_text() == (
        "# mate in 2, task 3: b1b2 does not mate.\nposition 7k/8/8/8/8/8/8/KQ6 w - - 0 1 moves b1b2\n"
    )
    with pytest.raises(DataError, match=r"failed\.pgn is to hold positions and moves: expected a name that ends in"):
        write_failures(tmp_path / "failed.pgn", [result])


def test_one_move_is_judged_by_a_set() -> None:
    game = make("tictactoe")
    task = RightMoves(frozenset({4}))
    assert task.judge(game, game.initial_state(), 4, num_moves=1).is_right
    assert task.judge(game, game.initial_state(), 0, num_moves=1).reason


def test_the_command(zero: Command, tmp_path: Path) -> None:
    failed = tmp_path / "failed.txt"
    line = ("exam", "chess", "random", "--part", "mate in 2", "--positions", "3")
    answer = zero(*line, "--failures", str(failed))
    assert answer.status == 3
    assert answer.out.splitlines()[0] == "random" and "failed" in answer.out.splitlines()[2]
    assert failed.read_text().count("position ") == 3 - int(answer.out.splitlines()[2].split()[3])
    reviewed = zero("analyse", str(failed), "--game", "chess", "--player", "rollouts@2", "-n", "2")
    assert (reviewed.status, reviewed.err.count("Traceback")) == (0, 0)
    (numbers,) = [json.loads(text) for text in zero(*line, "--json").out.splitlines()]
    assert numbers["asked"] == 3
    passed = zero("exam", "chess", "alphabeta@3", "--part", "mate in 2", "--positions", "3")
    assert (passed.status, passed.err) == (0, "")


def test_evaluate_has_the_exam(zero: Command) -> None:
    line = ("evaluate", "bundled/chess", "--games", "0", "--positions", "0", "--exam", "1", "-n", "5")
    lines = zero(*line).out.splitlines()
    at = lines.index("The exam of chess:")
    assert lines[at + 1] == HEAD
    assert [text[:20].rstrip() for text in lines[at + 2 : at + 7]] == [part.name for part in exam_of(rules("chess"))]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("connect4", "random"), "connect4 has no exam; games that have one are chess,"),
        (("chess", "random", "--part", "x"), "The exam has no part 'x'"),
        (("chess", "random", "--failures", "failed.pgn"), "expected a name that ends in .txt"),
        (("chess", "random", "--failures", "/no/such/folder/failed.txt"), "does not exist"),
        (("chess", "nobody"), "unknown player 'nobody'"),
        (("chess", "rollouts@5", "-n", "6"), "give one of them"),
    ],
)
def test_mistakes_of_the_command(zero: Command, words: tuple[str, ...], message: str) -> None:
    answer = zero("exam", *words)
    assert answer.status == 2 and message in answer.err and "Traceback" not in answer.err

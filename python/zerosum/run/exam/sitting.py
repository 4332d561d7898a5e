"""A player sits an exam: it is asked for moves at many boards, each with a task, until all judges have spoken."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from zerosum.arena.seating import seat_of
from zerosum.arena.seats import Decision, Inbox, Seat, Turn
from zerosum.base.errors import SettingsError
from zerosum.base.settings import num_cores
from zerosum.contest.mover import MoveLimits
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.play.contestant import Contestant, ProgramContestant
from zerosum.play.entries import Entry, enter
from zerosum.play.player import POSITIONS_PER_SIMULATION
from zerosum.play.words import ALPHA_BETA, RANDOM
from zerosum.run.exam.result import Failure, PartResult
from zerosum.run.exam.task import ExamTask, Part, Step

SIMULATIONS = 800
"""Simulations of a move if no other limit is given."""
MOST_BOARDS = 16
"""Boards at once of our own players: their positions share batches, but each may keep a table of a whole ending."""
WAIT_S = 0.2
"""Seconds of a wait for a program's move between two looks at an interrupt."""

OnTask = Callable[[str, int, int], None]
"""Gets the name of the part, the number of finished tasks and of all tasks."""


def sit_exam(
    game: Rules,
    contestant: Contestant,
    parts: Sequence[Part],
    *,
    num_tasks: int | None = None,
    seed: int = 0,
    on_task: OnTask = lambda _part, _done, _all: None,
) -> Iterator[PartResult]:
    """Let a player do the tasks of parts, one part after the other; a result is given when its part is done.

    Args:
        game: The game of the parts.
        contestant: The player, without a clock.
        parts: As `exam_of` has them.
        num_tasks: Tasks of each part; the part's own number by default.
        seed: Keys the tasks, and random play.
        on_task: Is told of each finished task.

    Raises:
        SettingsError: the player has a clock, or the number of tasks is below 1.
        EngineFailure: an engine does not start.
    """
    if contestant.terms.has_clock:
        raise SettingsError(f"{contestant.name} has a clock, and an exam has none: limit its nodes or its depth.")
    if num_tasks is not None and num_tasks < 1:
        raise SettingsError(f"The number of tasks is {num_tasks}, but must be at least 1.")
    for part in parts:
        tasks = part.make_tasks(game, num_tasks or part.num_tasks, seed)
        started, failures = time.monotonic(), list[Failure]()
        for num_done, failure in enumerate(_answers(game, contestant, tasks, seed=seed), start=1):
            on_task(part.name, num_done, len(tasks))
            failures += [failure] if failure is not None else []
        failures.sort(key=lambda failure: failure.number)
        seconds = time.monotonic() - started
        yield PartResult(part.name, len(tasks) - len(failures), len(tasks), part.wanted, seconds, tuple(failures))


@dataclass
class _Board:
    """A task in progress."""

    number: int
    """The number of the task, from 0."""
    task: ExamTask
    so_far: Playthrough
    num_moves: int = 0


def _answers(game: Rules, contestant: Contestant, tasks: Sequence[ExamTask], *, seed: int) -> Iterator[Failure | None]:
    """For each task, as they end, its failure; None for one that is done right."""
    num_boards = min(len(tasks), num_cores() if isinstance(contestant, ProgramContestant) else MOST_BOARDS)
    inbox: Inbox = queue.SimpleQueue()
    seat = seat_of(game, contestant, inbox, num_boards=num_boards, seed=seed)
    limits = MoveLimits(nodes=contestant.terms.nodes, depth=contestant.terms.depth)
    ahead, boards = iter(enumerate(tasks)), dict[int, _Board]()

    def begin_next(number: int) -> None:
        boards.pop(number, None)
        if (found := next(ahead, None)) is not None:
            board = boards[number] = _Board(*found, Playthrough.of(game, found[1].start))
            seat.new_game(number, board.number, board.so_far.state)
            seat.begin(_turn(number, board, limits))

    try:
        for number in range(num_boards):
            begin_next(number)
        while boards:
            decision = _next_decision(seat, inbox)
            number, board = decision.board, boards[decision.board]
            step = _judged(game, board, decision)
            if step.reply is None:
                seat.end_game(_turn(number, board, limits), 1.0 if step.is_right else -1.0)
                begin_next(number)
                yield None if step.is_right else _failure(board, step)
                continue
            for action in (decision.action, step.reply):
                assert action is not None
                seat.advance(number, action)
            seat.begin(_turn(number, board, limits))
    finally:
        seat.close()


def _judged(game: Rules, board: _Board, decision: Decision) -> Step:
    """The judgement of a decision, whose move and reply are made at the board."""
    if decision.action is None:
        return Step.wrong(decision.note.rstrip(".") or decision.ending)
    board.num_moves += 1
    step = board.task.judge.judge(game, board.so_far.state, decision.action, num_moves=board.num_moves)
    for action in (decision.action, step.reply):
        if action is not None:
            board.so_far = board.so_far.play(action)
    return step


def _failure(board: _Board, step: Step) -> Failure:
    return Failure(board.number + 1, board.task.start, board.so_far.texts, step.reason)


def _turn(number: int, board: _Board, limits: MoveLimits) -> Turn:
    return Turn(number, board.number, board.task.start, board.so_far.actions, board.so_far.state, limits)


def _next_decision(seat: Seat, inbox: Inbox) -> Decision:
    """Let the seat work until it has decided. Raises what it has put into the inbox as an exception."""
    while inbox.empty() and seat.has_work:
        seat.work()
    while True:
        try:
            decision = inbox.get(timeout=WAIT_S)
        except queue.Empty:
            continue
        if isinstance(decision, BaseException):
            raise decision
        return decision


def examinee(word: str, settings: Sequence[str], game: Rules, *, num_simulations: int | None = None) -> Contestant:
    """The player of an exam from a word of a match.

    Without a limit of its own a search makes `num_simulations` simulations a move, an alpha-beta search with a network
    and an engine that takes nodes visit `POSITIONS_PER_SIMULATION` times as many positions, and random play and the
    plain alpha-beta search play as in a match.

    Args:
        word: A word of `zerosum.play.entries`.
        settings: Its settings, such as `nodes=1000`.
        game: The game.
        num_simulations: Simulations of a move, `SIMULATIONS` by default; an error beside a limit of the word's own.

    Raises:
        SettingsError, DataError, EngineFailure: as `enter`, or two limits are given.
    """
    entry = Entry.parse(word, settings)
    has_limit = entry.player.number is not None or (entry.terms.nodes, entry.terms.depth) != (None, None)
    if has_limit and num_simulations is not None:
        raise SettingsError(f"{word} has a limit of its own, and --simulations {num_simulations}: give one of them.")
    takes_no_nodes = word in (RANDOM, ALPHA_BETA) or word.startswith("gtp:") or entry.skill is not None
    if not (has_limit or takes_no_nodes or entry.terms.has_clock):
        entry = replace(entry, terms=replace(entry.terms, nodes=num_simulations or SIMULATIONS))
        found = enter(entry, game)
        if isinstance(found, ProgramContestant):
            return enter(_by_positions(entry), game)
        return found
    return enter(entry, game)


def _by_positions(entry: Entry) -> Entry:
    """The same entry with the positions of an alpha-beta search in the time of its simulations."""
    nodes = (entry.terms.nodes or SIMULATIONS) * POSITIONS_PER_SIMULATION
    return replace(entry, terms=replace(entry.terms, nodes=nodes))

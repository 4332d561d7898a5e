"""Reviews of played games: the value of each position, the loss of each move, and better moves.

`review` searches every position of a record and returns a `Review`. `review_text.py` prints it for people and programs;
`review_record.py` writes it into the record.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from zerosum.analysis.analyst import Analyst
from zerosum.analysis.finished_go import PeoplesCount
from zerosum.analysis.hindsight import in_hindsight
from zerosum.analysis.people import peoples_shares
from zerosum.analysis.reviewed import Review, ReviewedMove, ReviewedPosition, Thresholds
from zerosum.games import Rules, State, start_state
from zerosum.games.playthrough import Playthrough
from zerosum.network.evaluators import RolloutEvaluator
from zerosum.notation.record import Record
from zerosum.play.analysis import Analysis, win_rate
from zerosum.play.driver import Task
from zerosum.play.player import Player

LONGER = 8
"""How many times as long the positions around a blunder are searched before it is called one, and those in doubt."""


def review(
    record: Record,
    analyst: Analyst,
    task: Task,
    *,
    thresholds: Thresholds | None = None,
    people: Sequence[Player] = (),
    on_position: Callable[[int, int], None] = lambda _done, _all: None,
) -> Review:
    """Search every position of a game in order, keeping the search tree from one to the next.

    Ctrl-C ends a review early: it then has the moves that were searched by then (`Review.is_interrupted`).

    A move's loss is the mover's win rate before the move minus the win rate after it. Around a move that looks like a
    blunder both positions are searched longer, and that search decides. Where later positions show a loss that the
    search before the move did not see, the position is searched longer, too, and the move is `unsure` (`hindsight.py`).

    Args:
        record: A record of the analyst's game, without errors.
        analyst: The analyst that searches.
        task: The limits at each position.
        thresholds: The thresholds of marks.
        people: Players whose networks predict the moves of people (`people.py`).
        on_position: Called with the number of finished positions and of all positions.

    Raises:
        GameError: a move is illegal, or the record has errors.
    """
    thresholds = thresholds or Thresholds()
    game, start = analyst.player.game, start_state(analyst.player.game, record.checked().start)
    so_far = Playthrough.read(game, (move.text for move in record.moves), start)
    states, actions = so_far.states, so_far.actions
    counting = PeoplesCount.of(game, record)
    positions = list[ReviewedPosition]()
    searched = -1
    """The latest ply that was searched with the moves before it. A game that went on after its end is searched, too."""
    is_interrupted = False
    try:
        for ply, state in enumerate(states):
            bare = _without_dead(counting, actions, ply, state)
            outcome = game.outcome(state)
            if bare is not None:
                positions.append(_searched(state, analyst.final(task, start=bare)))
            elif outcome is not None and (ply == len(actions) or not game.is_soft_ending(state)):
                positions.append(ReviewedPosition(state, None, outcome))
            elif ply and searched == ply - 1:
                positions.append(_searched(state, analyst.after(task, actions[ply - 1], state)))
                searched = ply
            else:
                positions.append(_searched(state, analyst.final(task, start=start, moves=actions[:ply])))
                searched = ply
            on_position(ply + 1, len(states))
    except KeyboardInterrupt:
        if len(positions) < 2:  # not a move was reviewed
            raise
        is_interrupted, actions = True, actions[: len(positions) - 1]
        record = _cut(record, len(actions))
    if counting is not None and not is_interrupted:
        positions = _counted(counting, positions, actions)
    moves = _verdicts(analyst, thresholds, positions, actions)
    if not is_interrupted:
        with contextlib.suppress(KeyboardInterrupt):  # the verdicts of the first look stand
            positions = _looked_longer(analyst, task, moves, positions, start, actions)
            moves = _verdicts(analyst, thresholds, positions, actions)
            if not isinstance(analyst.player.evaluator, RolloutEvaluator):  # chance alone makes its values differ
                longer = replace(_longer(task), num_lines=max(task.num_lines, 2))
                moves = in_hindsight(
                    moves, positions, thresholds, lambda ply: analyst.final(longer, start=start, moves=actions[:ply])
                )
    moves = _with_people(moves, people, game, positions)
    return Review(record, game, tuple(positions), tuple(moves), analyst.player.own_name, thresholds, is_interrupted)


def _verdicts(
    analyst: Analyst, thresholds: Thresholds, positions: Sequence[ReviewedPosition], actions: Sequence[int]
) -> list[ReviewedMove]:
    """The loss and the mark of each move, by the values of the positions before and after it."""
    game, moves = analyst.player.game, list[ReviewedMove]()
    for ply, action in enumerate(actions):
        before, after = positions[ply : ply + 2]
        player = game.player(before.state)
        # A move into a position that is counted was searched like the one before it.
        is_before_end = after is not positions[-1] and before.value == before.searched_value
        rate_after = win_rate(after.searched_value) if is_before_end and ply + 4 == len(positions) else after.win_rate
        change = (rate_after - before.win_rate) * (1 if player == 0 else -1)
        text = game.action_text(before.state, action)
        noise = _noise(analyst, before, after)
        is_best = before.report is not None and before.report.best_move == text
        loss = 0.0 if is_best else max(0.0, -change)
        mark, is_sure = thresholds.mark(loss), loss > noise
        moves.append(ReviewedMove(text, action, player, loss, mark if is_sure else "", unsure="" if is_sure else mark))
    return moves


def _looked_longer(
    analyst: Analyst,
    task: Task,
    moves: Sequence[ReviewedMove],
    positions: Sequence[ReviewedPosition],
    start: State,
    actions: Sequence[int],
) -> list[ReviewedPosition]:
    """The positions, those around a blunder searched `LONGER` times as long: a sacrifice may only look like one."""
    longer = _longer(task)
    doubtful = {ply + step for ply, move in enumerate(moves) if move.mark == "??" for step in (0, 1)}
    looked = list(positions)
    for ply in sorted(doubtful):
        known = positions[ply]
        # Solved positions are known; one whose value is not the search's was counted by people.
        if known.is_judged_by_search:
            looked[ply] = _searched(known.state, analyst.final(longer, start=start, moves=actions[:ply]))
    return looked


def _longer(task: Task) -> Task:
    return replace(
        task,
        num_visits=None if task.num_visits is None else LONGER * task.num_visits,
        seconds=None if task.seconds is None else LONGER * task.seconds,
    )


def _with_people(
    moves: list[ReviewedMove], people: Sequence[Player], game: Rules, positions: list[ReviewedPosition]
) -> list[ReviewedMove]:
    """The moves with the shares of people who play them, where the position was searched."""
    asked = [number for number, _ in enumerate(moves) if positions[number].report is not None]
    states, played = [positions[number].state for number in asked], [moves[number].action for number in asked]
    best = [_better_action(moves[number], positions[number]) for number in asked]
    of_players = [peoples_shares(player, game, states, played, best) for player in people]
    moves = list(moves)
    for place, number in enumerate(asked if people else []):
        moves[number] = replace(moves[number], people=tuple(shares[place] for shares in of_players))
    return moves


def _better_action(move: ReviewedMove, before: ReviewedPosition) -> int | None:
    assert before.report is not None
    best = before.report.lines[0].actions[0]
    return None if best == move.action else best


def _without_dead(counting: PeoplesCount | None, actions: tuple[int, ...], ply: int, state: State) -> State | None:
    """The position without dead stones, if people count and one of them has just passed."""
    if counting is None or not ply or counting.game.ending(state) is not None:
        return None
    is_after_pass = actions[ply - 1] == counting.game.spec.num_actions - 1
    return counting.without_dead(state) if is_after_pass else None


def _counted(
    counting: PeoplesCount, positions: list[ReviewedPosition], actions: tuple[int, ...]
) -> list[ReviewedPosition]:
    """The positions of a game that two passes ended, with the count of its people.

    The position between the two passes has the value of the end, because both players agreed on it; so has the one
    before them, if nothing was left to play for.
    """
    count = counting.final(actions, positions[-1].state)
    if count is None:
        return positions
    value = counting.value(count)
    last = replace(positions[-1], value=value, report=None, count=count)
    between = [replace(position, value=value) for position in positions[-2:-1]]
    before = [
        replace(position, value=value) if counting.is_settled(position.state) else position
        for position in positions[-3:-2]
    ]
    return [*positions[:-3], *before, *between, last]


def _cut(record: Record, num_moves: int) -> Record:
    """A record's first moves, with a comment after the last one."""
    last = record.moves[num_moves - 1]
    said = replace(last, comments=(*last.comments, "The review was interrupted after this move."))
    return replace(record, moves=(*record.moves[: num_moves - 1], said), result=None, ending="")


NOISE_DEVIATIONS = 2.0
"""Standard errors of a difference of win rates within which random games tell no move from another."""


def _noise(analyst: Analyst, *positions: ReviewedPosition) -> float:
    """The loss of the win rate that chance alone may show: of random games; a network answers the same each time."""
    if not isinstance(analyst.player.evaluator, RolloutEvaluator):
        return 0.0
    variances = [
        position.win_rate * (1 - position.win_rate) / max(position.report.num_visits, 1)
        for position in positions
        if position.report is not None and position.report.proven is None
    ]
    return NOISE_DEVIATIONS * math.sqrt(sum(variances))


def _searched(state: State, report: Analysis) -> ReviewedPosition:
    return ReviewedPosition(state, report, report.value if report.player == 0 else -report.value)

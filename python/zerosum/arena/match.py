"""The loop of a match, and the ends of its games: by rules, clocks, faults, resignations and agreed draws.

`Match` plays the games of a plan in pairs: each opening twice, with colours changed. All games advance together, so the
positions of many games share a batch of our own searches, and engines think side by side. Players are `Contestant`s;
`zerosum.contest.sprt` has the statistics of results.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from zerosum.arena.plan import MatchPlan, MatchSettings
from zerosum.arena.played import FAILURES, PlayedGame
from zerosum.arena.result import MatchResult, PairCounter
from zerosum.arena.seating import seats_of
from zerosum.arena.seats import Decision, Inbox, Seat, Turn
from zerosum.contest.adjudication import AdjudicationRules, ScoredMove, adjudicate
from zerosum.contest.clock import Clock
from zerosum.contest.mover import MoveLimits, Thought
from zerosum.games import Rules
from zerosum.games.playthrough import Playthrough
from zerosum.play.contestant import Contestant, ProgramContestant

INTERRUPT_S = 0.5
"""Longest delay of an interrupt from the keyboard while engines think."""


@dataclass
class _Board:
    """A game in progress."""

    index: int
    seats: tuple[int, int]
    """Seats of player 0 and player 1."""
    so_far: Playthrough
    opening_plies: int
    start: str
    opening: str
    clock: Clock | None
    rules: AdjudicationRules
    reports: list[ScoredMove] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)


class Match:
    """A match under way: `play_batch` until `is_over`, then `close`. `play_match` does just that."""

    def __init__(self, plan: MatchPlan, *, played: Sequence[PlayedGame] = ()) -> None:
        """Bring the players to their boards.

        Args:
            plan: The match; each player resigns by its own rule (`Contestant.resign`).
            played: Earlier games, which count and are not played again.

        Raises:
            SettingsError: a player cannot be set up.
            EngineFailure: an engine cannot be started.
        """
        self._plan, self._game, self._players = plan, plan.game, plan.players
        self._schedule, self._openings = plan.schedule, plan.openings
        self._games = {ended.index: ended for ended in played if ended.index < self._schedule.num_games}
        self._has_earlier_games = bool(self._games)
        self._ahead = iter([index for index in range(self._schedule.num_games) if index not in self._games])
        self._inbox: Inbox = queue.SimpleQueue()
        self._boards: dict[int, _Board] = {}
        self._seats: tuple[Seat, ...] = ()
        self._fresh: list[PlayedGame] = []
        self._num_pairs, self._counter, self._is_decided = 0, PairCounter(), False
        self._count_pairs()
        if self.is_over:
            return
        num_boards = plan.settings.num_boards(
            self._schedule.num_games - len(self._games),
            has_threads=any(
                isinstance(player, ProgramContestant) or player.terms.has_clock for player in self._players
            ),
            is_pondering=any(player.terms.ponder for player in self._players),
        )
        try:
            for seat in seats_of(plan, self._inbox, num_boards=num_boards):
                self._seats = (*self._seats, seat)
            for board in range(num_boards):
                self._start_next(board)
        except BaseException:
            self.close()
            raise

    @property
    def is_over(self) -> bool:
        """Whether all games have ended, or the sequential test is decided."""
        return self._is_decided or len(self._games) == self._schedule.num_games

    def _count_pairs(self) -> None:
        """Count the pairs that are complete, in the order in which they were begun, until the test is decided.

        The order of their ends would favour short games, which may be mostly one player's wins.
        """
        while not self._is_decided and {2 * self._num_pairs, 2 * self._num_pairs + 1} <= self._games.keys():
            self._counter.add(self._games[2 * self._num_pairs], self._games[2 * self._num_pairs + 1])
            self._num_pairs += 1
            if self._plan.settings.sprt is not None:
                self._is_decided = self._plan.settings.sprt.test(self._counter.counts).decision is not None

    @property
    def num_games(self) -> tuple[int, int]:
        """Number of finished games, and of all games."""
        return len(self._games), self._schedule.num_games

    @property
    def result(self) -> MatchResult:
        """The result of a match of two players."""
        (result,) = self.results
        return result

    @property
    def results(self) -> tuple[MatchResult, ...]:
        """The games that count so far (`MatchResult.games`), by pairing."""
        pairings, schedule = self._schedule.pairings, self._schedule
        counted: list[list[PlayedGame]] = [[] for _ in pairings]
        num_others = [0] * len(pairings)
        for index in sorted(self._games):
            if index < 2 * self._num_pairs:
                counted[schedule.pairing(index)].append(self._games[index])
            else:
                num_others[schedule.pairing(index)] += 1
        # Evaluations of a player in several pairings are not counted by opponent, those of earlier games not at all.
        seats = () if self._plan.is_tournament or self._has_earlier_games else self._seats
        evaluations = [seat.evaluations for seat in seats]
        return tuple(
            MatchResult(
                self._players[first].name,
                self._players[second].name,
                tuple(games),
                (evaluations[first], evaluations[second]) if evaluations else (0, 0),
                sprt=self._plan.settings.sprt,
                num_others=others,
            )
            for (first, second), games, others in zip(pairings, counted, num_others, strict=True)
        )

    def play_batch(self) -> list[PlayedGame]:
        """Evaluate one batch for each contestant, and make the moves that are decided. Returns the games that ended.

        Without anything to evaluate, it waits for players that think in threads of their own.
        """
        num_ended = len(self._fresh)
        for seat in self._seats:
            if seat.has_work:
                seat.work()
        if self._inbox.empty() and not any(seat.has_work for seat in self._seats):
            self._decide(self._wait())
        for _ in range(self._inbox.qsize()):
            self._decide(self._inbox.get())
        return self._fresh[num_ended:]

    def close(self) -> None:
        """Close all seats; searches under way are dropped."""
        for seat in self._seats:
            seat.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- how a game goes

    def _start_next(self, number: int) -> None:
        """Start the next game at the board of this number."""
        index = next(self._ahead, None)
        if index is None:
            self._boards.pop(number, None)
            return
        opening, seats = self._openings(self._schedule.round(index)), self._schedule.sides(index)
        so_far = Playthrough.of(self._game, opening.start, opening.actions)
        players = self._players[seats[0]], self._players[seats[1]]
        board = self._boards[number] = _Board(
            index,
            seats,
            so_far,
            len(opening.actions),
            opening.start,
            opening.name,
            clock=_clock_of(players),
            rules=AdjudicationRules(resign=(players[0].resign, players[1].resign), draw=self._plan.settings.draw),
        )
        for seat in seats:
            self._seats[seat].new_game(number, index, so_far.state)
        self._begin(number, board)

    def _begin(self, number: int, board: _Board) -> None:
        player = board.so_far.player
        seat, other = board.seats[player], board.seats[1 - player]
        self._seats[seat].begin(self._turn(number, board, self._limits(board, player)))
        if self._players[other].terms.ponder:
            self._seats[other].ponder(self._turn(number, board, self._limits(board, 1 - player)))

    def _turn(self, number: int, board: _Board, limits: MoveLimits) -> Turn:
        return Turn(number, board.index, board.start, board.so_far.actions, board.so_far.state, limits)

    def _limits(self, board: _Board, player: int) -> MoveLimits:
        terms = self._players[board.seats[player]].terms
        if board.clock is None:
            return MoveLimits(nodes=terms.nodes, depth=terms.depth)
        clocks = board.clock.left(0), board.clock.left(1)
        return MoveLimits(
            clocks,
            nodes=terms.nodes,
            depth=terms.depth,
            flag_falls_s=terms.time.flag_falls_after_s(clocks[player]),
            margin_s=terms.margin_s,
        )

    def _wait(self) -> Decision | BaseException:
        assert self._boards, "a player is to move, or the match is over"
        while True:
            try:
                return self._inbox.get(timeout=INTERRUPT_S)
            except queue.Empty:
                continue

    def _decide(self, decision: Decision | BaseException) -> None:
        """Apply the decision of a seat to its game."""
        if isinstance(decision, BaseException):
            raise decision
        board = self._boards[decision.board]
        player = board.so_far.player
        thought = self._charged(board, player, decision.thought)
        if decision.ending in FAILURES:
            self._end(decision.board, board, -1.0, player, decision.ending, decision.note)
        elif board.clock is not None and board.clock.flag_fallen == player:
            self._end(decision.board, board, -1.0, player, "time", self._lateness(board, player, thought))
        elif decision.ending == "resignation":
            self._end(decision.board, board, -1.0, player, "resignation")
        elif decision.ending == "declaration":
            # The rules end a game in which a player may declare before it is asked for a move.
            note = f"{self._name(board, player)} declared a win that the rules do not give."
            self._end(decision.board, board, -1.0, player, "illegal move", note)
        else:
            assert decision.action is not None
            board.thoughts.append(thought)
            board.reports.append(ScoredMove(player, thought.score))
            self._move(decision.board, board, decision.action)

    def _charged(self, board: _Board, player: int, thought: Thought) -> Thought:
        if board.clock is None or thought.seconds is None:
            return thought
        board.clock.charge(player, thought.seconds)
        left = board.clock.left(player)
        return replace(thought, clock_s=left.shown_s) if left.is_limited else thought

    def _lateness(self, board: _Board, player: int, thought: Thought) -> str:
        assert board.clock is not None and thought.seconds is not None
        allowed_s = self._players[board.seats[player]].terms.time.flag_falls_after_s(board.clock.left(player))
        return f"{self._name(board, player)} moved after {thought.seconds:.3f} s and had {allowed_s:.3f} s."

    def _name(self, board: _Board, player: int) -> str:
        return self._players[board.seats[player]].name

    def _move(self, number: int, board: _Board, action: int) -> None:
        before, board.so_far = board.so_far, board.so_far.play(action)
        state, outcome = board.so_far.state, board.so_far.outcome
        if outcome is not None:
            ending = self._game.ending(state)
            assert ending is not None
            self._end(number, board, outcome, 0, ending)
        elif verdict := adjudicate(board.rules, board.reports, plies=state.plies):
            if verdict.ending == "resignation":  # who resigns does not move
                board.so_far = before
                board.thoughts.pop()
            self._end(number, board, verdict.result, 0, verdict.ending, f"Adjudicated: {verdict.reason}.")
        else:
            for seat in board.seats:
                self._seats[seat].advance(number, action)
            self._begin(number, board)

    def _end(self, number: int, board: _Board, result: float, player: int, ending: str, note: str = "") -> None:
        """End a game with this result for a player."""
        of_first_player = result if player == 0 else -result
        notes = [note] if note else []
        turn = self._turn(number, board, MoveLimits())
        for seat, own in zip(board.seats, (of_first_player, -of_first_player), strict=True):
            if score := self._seats[seat].end_game(turn, own):
                notes += _disagreement(self._players[seat].name, score, of_first_player)
        first_is_player = board.index % 2
        played = PlayedGame(
            index=board.index,
            actions=board.so_far.actions,
            opening_plies=board.opening_plies,
            first_is_player=first_is_player,
            result=of_first_player if first_is_player == 0 else -of_first_player,
            ending=ending,
            start=board.start,
            opening=board.opening,
            thoughts=tuple(board.thoughts),
            notes=tuple(notes),
        )
        self._games[played.index] = played
        self._fresh.append(played)
        self._count_pairs()
        self._start_next(number)


def _clock_of(players: Sequence[Contestant]) -> Clock | None:
    """The clocks of a game; None if neither player has one."""
    if not any(player.terms.has_clock for player in players):
        return None
    first, second = (player.terms for player in players)
    return Clock(first.time, second.time, now=time.monotonic, margins_s=(first.margin_s, second.margin_s))


def _disagreement(name: str, score: str, result: float) -> list[str]:
    """A note, if an engine of Go counts another winner than the rules."""
    said = {"B": 1.0, "W": -1.0, "0": 0.0}.get(score[:1].upper())
    if said is None or said == result:
        return []
    winner = {1.0: "Black won", -1.0: "White won", 0.0: "it is a draw"}[result]
    return [f"{name} counts {score}, by the rules of the match (Tromp-Taylor) {winner}."]


def play(
    plan: MatchPlan, *, played: Sequence[PlayedGame] = (), on_game: Callable[[PlayedGame], None] = lambda _played: None
) -> tuple[MatchResult, ...]:
    """Play a match to its end and return the result of each pairing; `on_game` gets each game as it ends.

    Equal seeds give equal games, as far as the evaluators answer equally (rollouts: new contestants) and no clock runs.
    """
    with Match(plan, played=played) as match:
        while not match.is_over:
            for ended in match.play_batch():
                on_game(ended)
        return match.results


def play_match(
    game: Rules,
    first: Contestant,
    second: Contestant,
    *,
    num_games: int,
    seed: int,
    opening_plies: int = 0,
    max_games_at_once: int | None = None,
    on_game: Callable[[PlayedGame], None] = lambda _played: None,
) -> MatchResult:
    """Play a match of two players, as `play` does; `MatchSettings` has all other settings."""
    settings = MatchSettings(num_games, seed, opening_plies, max_games_at_once=max_games_at_once)
    (result,) = play(MatchPlan(game, (first, second), settings), on_game=on_game)
    return result

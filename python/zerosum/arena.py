"""Matches between players.

`play_match` plays games in pairs: each random opening twice, with colours changed. All games of a match advance
together, so the positions of many games share a batch. This file knows players as `Contestant`s, and nothing of
training; `zerosum.elo` says what the results are worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from zerosum._core import uniform
from zerosum.answering import answer
from zerosum.elo import PairScore
from zerosum.errors import SettingsError
from zerosum.evaluator import Evaluator
from zerosum.games import Rules, State
from zerosum.openings import RandomOpenings
from zerosum.play.player import Contestant
from zerosum.search import SearchConfig, new_search
from zerosum.sprt import MatchStatistics, Tally, count_results, match_statistics


@dataclass(frozen=True)
class PlayedGame:
    """One game of a match, from the view of the contestant named first."""

    index: int
    """Its number in the match; 2k and 2k + 1 are a pair, which shares its start and its opening."""
    actions: tuple[int, ...]
    """All moves, the opening included."""
    opening_plies: int
    first_is_player: int
    """Which player the contestant named first was: 0 moved first, 1 second."""
    result: float
    """Of the contestant named first, in [-1, 1]."""
    ending: str
    """How the game ended, in words."""
    start: str = ""
    """The position it began with, as `zerosum.games.start_state` takes it."""


@dataclass(frozen=True)
class MatchResult:
    """The games of a match that have ended, from the view of the contestant named first."""

    first: str
    second: str
    games: tuple[PlayedGame, ...]
    """By `index`."""
    evaluations: tuple[int, int]
    """Positions that the evaluators of first and second were asked about, unfinished games included."""

    def tally(self, *, player: int | None = None) -> Tally:
        """Results of all games, or of those in which the contestant named first was player 0 or 1."""
        return Tally.of(game.result for game in self.games if player is None or game.first_is_player == player)

    @property
    def points(self) -> list[float]:
        """(result + 1) / 2 of each game: 1 for a win, half for a draw."""
        return [(game.result + 1) / 2 for game in self.games]

    @property
    def score(self) -> float:
        """Mean of `points`, in [0, 1]; NaN without games."""
        return sum(self.points) / len(self.games) if self.games else math.nan

    @property
    def num_distinct(self) -> int:
        """How many games differ from one another: repeated ones say nothing new."""
        return len({(game.start, game.actions) for game in self.games})

    @property
    def mean_plies(self) -> float:
        """Mean length of a game; NaN without games."""
        return sum(len(game.actions) for game in self.games) / len(self.games) if self.games else math.nan

    @property
    def pair_score(self) -> PairScore:
        """What `fit_elo` takes."""
        return PairScore(self.first, self.second, points=sum(self.points), num_games=len(self.games))

    @property
    def statistics(self) -> MatchStatistics:
        """What the results say of the contestants' strength, by complete pairs; whatever is above 0 is a win."""
        return match_statistics(count_results({game.index: game.result for game in self.games}))

    def __str__(self) -> str:
        lines = [
            *str(self.statistics).splitlines(),
            f"{'moving first':<14} {self.tally(player=0)}",
            f"{'moving second':<14} {self.tally(player=1)}",
            f"{self.num_distinct} different games of {self.mean_plies:.1f} plies, "
            f"{self.evaluations[0]:,} and {self.evaluations[1]:,} evaluations",
        ]
        title = f"{self.first} against {self.second}: {self.score:.1%} of {len(self.games)} games"
        return "\n  ".join([title, *lines])


def require_pairs(name: str, num_games: int) -> None:
    """Hold a number of games, under the name that its giver knows, against how a match plays them.

    Raises:
        SettingsError: it is odd.
    """
    if num_games % 2:
        raise SettingsError(f"{name} is {num_games}, expected an even number: each opening is played from both sides.")


def _draw(actions: Sequence[int], number: float) -> int:
    """One of the actions, by a number in [0, 1)."""
    return actions[int(number * len(actions))]


class _Seat(Protocol):
    """A contestant at several boards, told of all moves there and asked to begin whenever it is its turn."""

    evaluations: int

    def reset(self, board: int, state: State) -> None: ...

    def advance(self, board: int, action: int) -> None: ...

    def begin(self, board: int, game_index: int, state: State) -> None: ...

    def decide(self) -> list[tuple[int, int]]:
        """Think a batch further; answers the boards that are decided, and the actions there."""
        ...


class _SearchSeat:
    """Searches all boards where it is to move, one batch after the other."""

    def __init__(self, game: Rules, evaluator: Evaluator, config: SearchConfig, *, num_boards: int) -> None:
        self.evaluations = 0
        self._evaluator = evaluator
        # Nobody explores at random in a match; an alpha spares `new_search` from measuring the game for one.
        self._config = replace(config, root_noise_fraction=0.0, root_noise_alpha=1.0)
        self._search = new_search(game, self._config, num_trees=num_boards)
        self._max_leaves = num_boards * config.leaves_in_flight
        self._thinking: set[int] = set()

    def reset(self, board: int, state: State) -> None:
        self._search.reset(board, state)

    def advance(self, board: int, action: int) -> None:
        self._search.advance(board, action, keep=self._config.reuse_tree)

    def begin(self, board: int, game_index: int, state: State) -> None:
        self._search.begin(board, self._config.num_simulations)
        self._thinking.add(board)

    def decide(self) -> list[tuple[int, int]]:
        if not self._thinking:
            return []
        self.evaluations += answer(self._search, self._evaluator, self._max_leaves)
        # Of the searches that are finished, some may have been so since an earlier turn.
        decided = sorted(self._thinking.intersection(self._search.finished().tolist()))
        self._thinking.difference_update(decided)
        return [(board, self._best_action(board)) for board in decided]

    def _best_action(self, board: int) -> int:
        action = self._search.root(board).best_action
        assert action is not None, "a game that goes on has a move"
        return action


class _RulesSeat:
    """Needs no evaluator: draws a legal move, or looks `depth` plies ahead; keyed by (seed, game, ply)."""

    evaluations = 0

    def __init__(self, game: Rules, *, depth: int | None, seed: int) -> None:
        self._game, self._depth, self._seed = game, depth, seed
        self._asked: list[tuple[int, int, State]] = []

    def reset(self, board: int, state: State) -> None:
        pass

    def advance(self, board: int, action: int) -> None:
        pass

    def begin(self, board: int, game_index: int, state: State) -> None:
        self._asked.append((board, game_index, state))

    def decide(self) -> list[tuple[int, int]]:
        asked, self._asked = self._asked, []
        return [(board, self._action(game_index, state)) for board, game_index, state in asked]

    def _action(self, game_index: int, state: State) -> int:
        if self._depth is not None:
            return self._game.alpha_beta(state, depth=self._depth, seed=self._seed, game=game_index).action
        number = uniform(self._seed, game_index, state.plies, "random player")
        return _draw(self._game.legal_actions(state), number)


@dataclass
class _Board:
    """A game in progress."""

    index: int
    state: State
    actions: list[int]
    opening_plies: int
    start: str

    def seat_of(self, player: int) -> int:
        """Who moves for a player: the contestant named first (0) is player 0 in games of even number."""
        return (player + self.index) % 2


class Match:
    """A match under way: `play_batch` until `is_over`. `play_match` does just that."""

    def __init__(
        self,
        game: Rules,
        first: Contestant,
        second: Contestant,
        *,
        num_games: int,
        opening_plies: int,
        seed: int,
        max_games_at_once: int = 64,
    ) -> None:
        """`num_games` is even: each opening of `opening_plies` random moves is played from both sides.

        A game of several starts begins each pair with one of them, drawn at random.

        Raises:
            SettingsError: a number is out of range.
        """
        require_pairs("num_games", num_games)
        for name, value, low in (
            ("num_games", num_games, 2),
            ("opening_plies", opening_plies, 0),
            ("max_games_at_once", max_games_at_once, 1),
        ):
            if value < low:
                raise SettingsError(f"{name} is {value}, allowed is at least {low}.")
        self._game, self._names = game, (first.name, second.name)
        self._num_games, self._seed = num_games, seed
        self._openings = RandomOpenings(game, num_plies=opening_plies, seed=seed)
        num_boards = min(num_games, max_games_at_once)
        self._seats = [self._sit_down(contestant, num_boards) for contestant in (first, second)]
        self._games: list[PlayedGame] = []
        self._num_started = 0
        self._boards = [self._start(board) for board in range(num_boards)]

    @property
    def is_over(self) -> bool:
        """All games have ended."""
        return len(self._games) == self._num_games

    @property
    def result(self) -> MatchResult:
        """The games that have ended so far."""
        games = tuple(sorted(self._games, key=lambda game: game.index))
        first, second = self._seats
        return MatchResult(*self._names, games=games, evaluations=(first.evaluations, second.evaluations))

    def play_batch(self) -> list[PlayedGame]:
        """One batch of evaluations for each contestant, and the moves that it decides. Answers the games that ended."""
        num_ended = len(self._games)
        for seat in self._seats:
            for board, action in seat.decide():
                self._move(board, action)
        return self._games[num_ended:]

    def _sit_down(self, contestant: Contestant, num_boards: int) -> _Seat:
        if contestant.evaluator is None:
            return _RulesSeat(self._game, depth=contestant.depth, seed=self._seed)
        return _SearchSeat(self._game, contestant.evaluator, contestant.search, num_boards=num_boards)

    def _start(self, number: int) -> _Board:
        """The next game, at the board of this number."""
        index, pair = self._num_started, self._num_started // 2
        self._num_started += 1
        opening = self._openings(pair)
        state = opening.state(self._game)
        for seat in self._seats:
            seat.reset(number, state)
        board = _Board(index, state, list(opening.actions), len(opening.actions), opening.start)
        self._begin(number, board)
        return board

    def _begin(self, number: int, board: _Board) -> None:
        seat = self._seats[board.seat_of(self._game.player(board.state))]
        seat.begin(number, board.index, board.state)

    def _move(self, number: int, action: int) -> None:
        board = self._boards[number]
        board.state = self._game.play(board.state, action)
        board.actions.append(action)
        outcome = self._game.outcome(board.state)
        if outcome is None:
            for seat in self._seats:
                seat.advance(number, action)
            self._begin(number, board)
            return
        self._games.append(self._finished(board, outcome))
        if self._num_started < self._num_games:
            self._boards[number] = self._start(number)

    def _finished(self, board: _Board, outcome: float) -> PlayedGame:
        ending = self._game.ending(board.state)
        assert ending is not None
        first_is_player = board.seat_of(0)
        return PlayedGame(
            index=board.index,
            actions=tuple(board.actions),
            opening_plies=board.opening_plies,
            first_is_player=first_is_player,
            result=outcome if first_is_player == 0 else -outcome,
            ending=ending,
            start=board.start,
        )


def play_match(
    game: Rules,
    first: Contestant,
    second: Contestant,
    *,
    num_games: int,
    opening_plies: int,
    seed: int,
    max_games_at_once: int = 64,
) -> MatchResult:
    """Play a match (see `Match`) to its end.

    Equal seeds give equal games, as far as the evaluators answer equally (rollouts: new contestants).
    """
    match = Match(
        game,
        first,
        second,
        num_games=num_games,
        opening_plies=opening_plies,
        seed=seed,
        max_games_at_once=max_games_at_once,
    )
    while not match.is_over:
        match.play_batch()
    return match.result

"""Players at their boards. A `Seat` is asked for moves and puts its `Decision`s into the match's inbox.

Here are searches of ours without a clock, alpha-beta and random play: one thread serves all their boards.
`program_seat.py` has players that think in threads of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue

from typing_extensions import override

from zerosum._core import Root, Search, uniform
from zerosum.contest.adjudication import Score, moves_to_mate
from zerosum.contest.mover import MoveLimits, Thought
from zerosum.games import Rules, State
from zerosum.play.contestant import SearchContestant
from zerosum.play.driver import EDGES_PER_NODE
from zerosum.play.search_mover import chosen_action
from zerosum.search import new_search
from zerosum.search.answering import answered
from zerosum.search.config import MOST_MEMORY_MIB, with_room


@dataclass(frozen=True)
class Turn:
    """A position in which a seat is to move."""

    board: int
    game_index: int
    start: str
    actions: tuple[int, ...]
    """Moves since the start."""
    state: State
    """The position after `actions`."""
    limits: MoveLimits


@dataclass(frozen=True)
class Decision:
    """The outcome of a turn."""

    board: int
    action: int | None
    """A legal move; None if the player ended the game."""
    thought: Thought = Thought()
    ending: str = ""
    """"" with a move, else "resignation" or "declaration", or one of `FAILURES`."""
    note: str = ""
    """A sentence about a fault."""


Inbox = SimpleQueue[Decision | BaseException]
"""Decisions of a match's seats. The match raises an exception that it finds there."""


class Seat:
    """A player at several boards: it receives all moves, and begins to think when it is its turn.

    Most methods do nothing by default.
    """

    @property
    def evaluations(self) -> int:
        """Number of positions evaluated."""
        return 0

    @property
    def has_work(self) -> bool:
        """Whether `work` has something to do."""
        return False

    def work(self) -> None:
        """Search one more batch; decisions go into the inbox."""

    def new_game(self, board: int, game_index: int, state: State) -> None:
        """The game of this index begins at a board, in this position."""

    def advance(self, board: int, action: int) -> None:
        """A move was made at a board, and the game goes on."""

    def begin(self, turn: Turn) -> None:
        """It is this seat's turn."""
        raise NotImplementedError

    def ponder(self, turn: Turn) -> None:
        """It is the opponent's turn. The seat may think until the next `begin` or `end_game`."""

    def end_game(self, turn: Turn, result: float) -> str:
        """The game is over after this position, with a result in [-1, 1] for the seat.

        Returns the score that the seat itself counts where the rules ended the game, in its own words; "" for none.
        """
        return ""

    def close(self) -> None:
        """Stop all work."""


class SharedTrees:
    """No player, but trees that share an evaluator: those of one player's boards, or of several players' in batches."""

    def __init__(self, game: Rules, players: Sequence[SearchContestant], *, num_boards: int) -> None:
        """A pool for players that differ in the length of their searches alone."""
        self._evaluator, self._num_boards, config = players[0].evaluator, num_boards, players[0].search
        num_sides, num_trees = len(players), num_boards * len(players)
        # Without root noise any alpha will do; a given one saves `new_search` from measuring the game.
        config = replace(
            config,
            num_simulations=max(player.num_simulations for player in players),
            root_noise_fraction=0.0,
            root_noise_alpha=1.0,
            memory_mib=min(config.memory_mib * num_sides, MOST_MEMORY_MIB),
        )
        self.config = with_room(game, config, num_trees)
        self.search = new_search(game, self.config, num_trees=num_trees)
        self._max_leaves = num_trees * config.leaves_in_flight
        self.evaluations = [0] * num_sides
        """Positions evaluated for each side."""
        self._num_taken = 0

    def take_side(self) -> int:
        """The number of the next player's side, whose trees it gets."""
        self._num_taken += 1
        return self._num_taken - 1

    def answer(self) -> None:
        """Evaluate one batch of all thinking trees."""
        trees = answered(self.search, self._evaluator, self._max_leaves).trees
        for side in range(len(self.evaluations)):
            self.evaluations[side] += int((trees // self._num_boards == side).sum())


class SearchSeat(Seat):
    """Searches all boards where it is to move, one batch after the other."""

    def __init__(
        self,
        pool: SharedTrees,
        contestant: SearchContestant,
        inbox: Inbox,
        *,
        num_boards: int,
        seed: int,
        keeps_shares: bool = False,
    ) -> None:
        """A seat that uses some of the pool's trees; `keeps_shares` is that of `MatchSettings`."""
        self._pool, self._side, self._inbox = pool, pool.take_side(), inbox
        self._first_tree = self._side * num_boards
        self._num_simulations = contestant.num_simulations
        self._contestant, self._seed, self._keeps_shares = contestant, seed, keeps_shares
        self._thinking: dict[int, Turn] = {}

    @property
    @override
    def evaluations(self) -> int:
        return self._pool.evaluations[self._side]

    @property
    @override
    def has_work(self) -> bool:
        return bool(self._thinking)

    @override
    def new_game(self, board: int, game_index: int, state: State) -> None:
        self._pool.search.reset(self._first_tree + board, state)

    @override
    def advance(self, board: int, action: int) -> None:
        self._pool.search.advance(self._first_tree + board, action, keep=self._pool.config.reuse_tree)

    @override
    def begin(self, turn: Turn) -> None:
        tree = self._first_tree + turn.board
        self._pool.search.begin(tree, self._num_simulations)
        self._thinking[tree] = turn
        if proof_nodes := self._pool.config.proof_nodes * self._num_simulations:
            self._pool.search.prove(tree, proof_nodes, max_edges=EDGES_PER_NODE * proof_nodes)

    @override
    def work(self) -> None:
        self._pool.answer()
        # Some of the finished searches may belong to earlier turns.
        for tree in sorted(self._thinking.keys() & set(self._pool.search.finished().tolist())):
            self._inbox.put(self._decide(self._thinking.pop(tree), tree))

    def _decide(self, turn: Turn, tree: int) -> Decision:
        root = self._pool.search.root(tree)
        action = chosen_action(root, self._contestant, seed=self._seed, game=turn.game_index, ply=turn.state.plies)
        plies = plies_to_end(self._pool.search, tree, root, action)
        score = self._contestant.score(self._pool.search.game, turn.state, root.value, plies_to_end=plies)
        shares = zip(root.actions.tolist(), root.visit_policy().tolist(), strict=True) if self._keeps_shares else ()
        kept = tuple((move, share) for move, share in shares if share > 0)
        return Decision(turn.board, action, Thought(score, nodes=root.num_simulations, shares=kept))


def plies_to_end(search: Search, tree: int, root: Root, action: int) -> int | None:
    """Plies to a forced end of the game after a move, positive for a win of its player; None if no end is known."""
    game, state = search.game, search.state(tree)
    forced = search.forced(tree)
    if forced is not None and (forced[0] < 0 or forced[1][0] == action):
        return forced[0] * len(forced[1])
    sign = 1 if game.player(state) == 0 else -1
    if game.outcome(game.play(state, action)) == sign:
        return 1
    if root.proven is None or abs(root.proven) != 1:
        return None
    line = search.best_line(tree, action)
    state = functools.reduce(game.play, line, state)
    return len(line) * round(root.proven) if game.outcome(state) == sign * root.proven else None


class RulesSeat(Seat):
    """Random play, or alpha-beta of `depth` plies; random numbers are keyed by (seed, game, ply)."""

    def __init__(self, game: Rules, inbox: Inbox, *, depth: int | None, seed: int) -> None:
        self._game, self._inbox, self._depth, self._seed = game, inbox, depth, seed

    @override
    def begin(self, turn: Turn) -> None:
        self._inbox.put(self._decide(turn))

    def _decide(self, turn: Turn) -> Decision:
        if self._depth is not None:
            found = self._game.alpha_beta(turn.state, depth=self._depth, seed=self._seed, game=turn.game_index)
            # It counts material, which is not an evaluation; a win or a loss within its depth is certain.
            is_certain = abs(found.result) == 1
            score = Score(mate=moves_to_mate(-found.delay)) if is_certain else None
            return Decision(turn.board, found.action, Thought(score))
        actions = self._game.legal_actions(turn.state)
        number = uniform(self._seed, turn.game_index, turn.state.plies, "random player")
        return Decision(turn.board, actions[int(number * len(actions))])

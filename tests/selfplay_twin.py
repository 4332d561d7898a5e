"""The moves of self-play a second time, in Python and one by one: what the core's `GamesInFlight` must decide.

`TwinGames` has the methods of `GamesInFlight`, so a worker can play with either.
"""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass, field

import numpy as np

from zerosum._core import Search, uniform
from zerosum.games import Rules, State
from zerosum.replay.records import NO_TARGET, PackedPly, PlyFlag, PlyRecord, packed_ply, policy_target
from zerosum.search.config import Root
from zerosum.selfplay import SelfplayConfig


def choose_action(
    root: Root, config: SelfplayConfig, *, seed: int, game_id: int, ply: int, has_gumbel_noise: bool = False
) -> tuple[int, bool]:
    """The move to play, and whether it was drawn at random.

    Drawn from `Root.move_policy`, the shares of the visits or a Gumbel root's improved policy, which has no proven loss
    while another move exists, to the power of 1 / temperature. A Gumbel root with noise has drawn its move already: the
    best one.
    """
    best = root.best_action
    assert best is not None, "a running game has a move"
    if config.temperature == 0 or ply >= config.temperature_plies or has_gumbel_noise:
        return best, False
    weights = root.move_policy().tolist()
    if config.temperature != 1.0:
        largest = max(weights)
        weights = [(weight / largest) ** (1 / config.temperature) for weight in weights]
    cumulative = list(itertools.accumulate(weights))
    drawn = bisect.bisect_right(cumulative, uniform(seed, game_id, ply, "move") * cumulative[-1])
    return int(root.actions[drawn]), True


def recorded(root: Root, action: int, *, is_full: bool, is_sampled: bool, has_noise: bool, step: int) -> PlyRecord:
    """The record of a move and its search."""
    target = NO_TARGET
    if is_full:
        shares = root.policy_target().astype(np.float16)
        kept = np.flatnonzero(shares)
        target = policy_target(root.actions[kept], shares[kept], root.visits[kept])
    flags = PlyFlag(0)
    flags |= PlyFlag.FULL_SEARCH if is_full else flags
    flags |= PlyFlag.NOISE if is_full and has_noise else flags
    flags |= PlyFlag.SAMPLED if is_sampled else flags
    flags |= PlyFlag.PROVEN if root.proven is not None else flags
    return PlyRecord(
        action=action,
        player=root.player,
        checkpoint_step=step,
        search_value=root.value,
        net_value=root.net_value,
        num_simulations=root.num_simulations,
        flags=flags,
        target=target,
    )


def opening_move(game: Rules, state: State, *, seed: int, game_id: int, ply: int) -> tuple[int, State] | None:
    """A move drawn uniformly among those that do not end the game, and the state after it; None if all do."""
    actions = game.legal_actions(state)
    for attempt in range(len(actions)):
        drawn = int(uniform(seed, game_id, ply, f"opening {attempt}") * (len(actions) - attempt))
        after = game.play(state, actions[drawn])
        if game.outcome(after) is None:
            return actions[drawn], after
        actions[drawn] = actions[len(actions) - attempt - 1]
    return None


def opening_record(action: int, player: int) -> PlyRecord:
    """The record of a random opening move, without a search and without a target."""
    return PlyRecord(
        action=action,
        player=player,
        checkpoint_step=0,
        search_value=0.0,
        net_value=0.0,
        num_simulations=0,
        flags=PlyFlag.OPENING,
        target=NO_TARGET,
    )


@dataclass
class TwinMoves:
    """The attributes of `PlayedMoves`."""

    next_tree: int
    game_ids: list[int] = field(default_factory=list)
    plies: list[PackedPly] = field(default_factory=list)
    ended: list[tuple[int, float, str | None]] = field(default_factory=list)
    num_simulations: int = 0
    num_short: int = 0


@dataclass
class _Game:
    game_id: int
    num_opening_plies: int
    is_full: bool = False
    step: int = 0


Next = tuple[int, int, float, int]


class TwinGames:
    """The methods of `GamesInFlight`."""

    def __init__(
        self, search: Search, settings: tuple[int, float, int, bool, bool, bool], *, has_gumbel_roots: bool = False
    ) -> None:
        self._search, self._has_gumbel_roots = search, has_gumbel_roots
        self._seed, temperature, temperature_plies, self._has_noise, self._reuse = settings
        self._config = SelfplayConfig(temperature=temperature, temperature_plies=temperature_plies)
        self._games: dict[int, _Game] = {}

    def start(self, tree: int, game_id: int, num_opening_plies: int, next: Next) -> None:
        self._games[tree] = _Game(game_id, num_opening_plies)
        self._begin(tree, next)

    def _begin(self, tree: int, next: Next) -> None:
        game, ply = self._games[tree], self._search.state(tree).plies
        num_simulations, fast_simulations, _, game.step = next
        game.is_full = self._is_full(game, ply, next)
        noise = (self._seed, game.game_id, ply) if game.is_full and self._has_noise else None
        self._search.begin(tree, num_simulations if game.is_full else fast_simulations, noise=noise)

    def _is_full(self, game: _Game, ply: int, next: Next) -> bool:
        """Whether a ply is searched in full. The position after the random moves is new: it always is."""
        if 0 < ply == game.num_opening_plies:
            return True
        return next[2] == 1.0 or uniform(self._seed, game.game_id, ply, "full search") < next[2]

    def play(self, first_tree: int, next: Next, *, resigning: tuple[float | None, float] | None = None) -> TwinMoves:
        moves = TwinMoves(next_tree=self._search.num_trees)
        for tree in self._search.finished().tolist():
            if tree < first_tree:
                continue
            self._move(tree, next, resigning, moves)
            if moves.ended and resigning is not None:
                moves.next_tree = tree + 1
                break
        return moves

    def _move(self, tree: int, next: Next, resigning: tuple[float | None, float] | None, moves: TwinMoves) -> None:
        search, game, root = self._search, self._games[tree], self._search.root(tree)
        ply = search.state(tree).plies
        moves.num_short += root.stop_reason == "memory"
        moves.num_simulations += root.num_simulations - root.num_reused
        action, is_sampled = choose_action(
            root,
            self._config,
            seed=self._seed,
            game_id=game.game_id,
            ply=ply,
            has_gumbel_noise=self._has_gumbel_roots and game.is_full,
        )
        if resigning is not None and self._resigns(root, action, game, *resigning):
            search.reset(tree, search.state(tree))
            moves.ended.append((tree, -1.0 if root.player == 0 else 1.0, None))
            return
        record = recorded(
            root, action, is_full=game.is_full, is_sampled=is_sampled, has_noise=self._has_noise, step=game.step
        )
        moves.game_ids.append(game.game_id)
        moves.plies.append(packed_ply(game.game_id, ply, record))
        search.advance(tree, action, keep=self._reuse)
        outcome = search.game.outcome(search.state(tree))
        if outcome is None:
            self._begin(tree, next)
        else:
            moves.ended.append((tree, outcome, search.game.ending(search.state(tree))))

    def _resigns(self, root: Root, action: int, game: _Game, threshold: float | None, played_out_share: float) -> bool:
        if threshold is None or uniform(self._seed, game.game_id, 0, "played out") < played_out_share:
            return False
        value = float(root.q[np.searchsorted(root.actions, action)])
        return root.value < threshold and value < threshold

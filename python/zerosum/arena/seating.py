"""Which seat a player of a match gets: the one place that tells the kinds of players apart."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeGuard

from zerosum.arena.plan import MatchPlan
from zerosum.arena.program_seat import ProgramSeat
from zerosum.arena.seats import Inbox, RulesSeat, SearchSeat, Seat, SharedTrees
from zerosum.games import Rules
from zerosum.play.contestant import Contestant, ProgramContestant, RulesPlayer, SearchContestant
from zerosum.play.search_mover import SearchMover


def seats_of(plan: MatchPlan, inbox: Inbox, *, num_boards: int) -> Iterator[Seat]:
    """The seats of a plan's players in their order, each at all boards; to be closed, also if a later one fails.

    Raises:
        EngineFailure, SettingsError: a player cannot be started or set up.
    """
    pools: dict[int, SharedTrees] = {}

    def pool(player: SearchContestant) -> SharedTrees:
        alike = [other for other in plan.players if _is_one_search(other, player)]
        first = next(number for number, other in enumerate(plan.players) if other is alike[0])
        if first not in pools:
            pools[first] = SharedTrees(player.rules(plan.game), alike, num_boards=num_boards)
        return pools[first]

    def seat(player: Contestant) -> Seat:
        return seat_of(
            plan.game,
            player,
            inbox,
            num_boards=num_boards,
            seed=plan.settings.seed,
            pool=pool,
            keeps_shares=plan.settings.keeps_shares,
        )

    return (seat(player) for player in plan.players)


def seat_of(
    game: Rules,
    player: Contestant,
    inbox: Inbox,
    *,
    num_boards: int,
    seed: int,
    pool: Callable[[SearchContestant], SharedTrees] | None = None,
    keeps_shares: bool = False,
) -> Seat:
    """The seat of one player, at all boards; to be closed.

    Args:
        game: The rules.
        player: Its description.
        inbox: Gets its decisions.
        num_boards: Number of boards.
        seed: Keys random play and sampled moves.
        pool: The trees of a search without a clock; by default trees of its own.
        keeps_shares: That of `MatchSettings`.

    Raises:
        EngineFailure, SettingsError: the player cannot be started or set up.
    """
    match player:
        case RulesPlayer():
            return RulesSeat(game, inbox, depth=player.depth, seed=seed)
        case ProgramContestant():
            return ProgramSeat(functools.partial(player.program.open, game), inbox, num_boards=num_boards)
        case SearchContestant() if player.terms.has_clock:
            mover = functools.partial(SearchMover, game, player, num_boards=num_boards, seed=seed)
            return ProgramSeat(mover, inbox, num_boards=num_boards)
        case SearchContestant():
            trees = SharedTrees(player.rules(game), [player], num_boards=num_boards) if pool is None else pool(player)
            return SearchSeat(trees, player, inbox, num_boards=num_boards, seed=seed, keeps_shares=keeps_shares)
    raise TypeError(f"{player!r} has no seat: expected one of the three kinds of contestants.")


def _is_one_search(other: Contestant, player: SearchContestant) -> TypeGuard[SearchContestant]:
    """Whether one search pool serves both: equal evaluators, and settings that differ only in the search's length."""
    return (
        isinstance(other, SearchContestant)
        and player.evaluator is other.evaluator
        and player.search == replace(other.search, num_simulations=player.search.num_simulations)
        and not (player.terms.has_clock or other.terms.has_clock)
    )

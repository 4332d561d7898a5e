"""Which seat a player of a match gets: the one place that tells the kinds of players apart."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from zerosum.arena.plan import MatchPlan
from zerosum.arena.program_seat import ProgramSeat
from zerosum.arena.seats import Inbox, RulesSeat, SearchPool, SearchSeat, Seat
from zerosum.play.contestant import AlphaBeta, Contestant, ProgramContestant, RandomPlay, SearchContestant
from zerosum.play.search_mover import SearchMover


def seats_of(plan: MatchPlan, inbox: Inbox, *, num_boards: int) -> Iterator[Seat]:
    """The seats of a plan's players in their order, each at all boards; to be closed, also if a later one fails.

    Raises:
        EngineFailure, SettingsError: a player cannot be started or set up.
    """
    game, seed = plan.game, plan.settings.seed
    pools: dict[int, SearchPool] = {}

    def seat(player: Contestant) -> Seat:
        match player:
            case RandomPlay():
                return RulesSeat(game, inbox, depth=None, seed=seed)
            case AlphaBeta():
                return RulesSeat(game, inbox, depth=player.depth, seed=seed)
            case ProgramContestant():
                return ProgramSeat(functools.partial(player.program.open, game), inbox, num_boards=num_boards)
            case SearchContestant() if player.terms.has_clock:
                mover = functools.partial(SearchMover, game, player, num_boards=num_boards, seed=seed)
                return ProgramSeat(mover, inbox, num_boards=num_boards)
            case SearchContestant():
                alike = [other for other in plan.players if _is_one_search(other, player)]
                first = next(number for number, other in enumerate(plan.players) if other is alike[0])
                if first not in pools:
                    pools[first] = SearchPool(player.rules(game), alike, num_boards=num_boards)
                return SearchSeat(
                    pools[first],
                    player,
                    inbox,
                    num_boards=num_boards,
                    seed=seed,
                    keeps_shares=plan.settings.keeps_shares,
                )
        raise TypeError(f"{player!r} has no seat: expected one of the four kinds of contestants.")

    return (seat(player) for player in plan.players)


def _is_one_search(other: Contestant, player: SearchContestant) -> TypeGuard[SearchContestant]:
    """Whether one search pool serves both: equal evaluators, and settings that differ only in the search's length."""
    return (
        isinstance(other, SearchContestant)
        and player.evaluator is other.evaluator
        and player.search == replace(other.search, num_simulations=player.search.num_simulations)
        and not (player.terms.has_clock or other.terms.has_clock)
    )

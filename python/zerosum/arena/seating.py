"""Which seat a player of a match gets: the one place that tells the kinds of players apart."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

from zerosum.arena.plan import MatchPlan
from zerosum.arena.program_seat import ProgramSeat
from zerosum.arena.seats import Inbox, RulesSeat, SearchPool, SearchSeat, Seat
from zerosum.play.player import Contestant
from zerosum.play.search_mover import SearchMover


def sit_down(plan: MatchPlan, inbox: Inbox, *, num_boards: int) -> Iterator[Seat]:
    """The seats of a plan's players in their order, each at all boards; to be closed, also if a later one fails.

    Raises:
        EngineFailure, SettingsError: a player cannot be started or set up.
    """
    game, seed = plan.game, plan.settings.seed
    pools: dict[int, SearchPool] = {}
    for player in plan.players:
        if player.plays_by_rules:
            yield RulesSeat(game, inbox, depth=player.alpha_beta_depth, seed=seed)
        elif player.program is not None:
            yield ProgramSeat(functools.partial(player.program.open, game), inbox, num_boards=num_boards)
        elif player.terms.has_clock:
            mover = functools.partial(SearchMover, game, player, num_boards=num_boards, seed=seed)
            yield ProgramSeat(mover, inbox, num_boards=num_boards)
        else:
            alike = [number for number, other in enumerate(plan.players) if _is_one_search(player, other)]
            if alike[0] not in pools:
                pools[alike[0]] = SearchPool(game, player, num_boards=num_boards, num_sides=len(alike))
            yield SearchSeat(pools[alike[0]], player, inbox, num_boards=num_boards, seed=seed)


def _is_one_search(player: Contestant, other: Contestant) -> bool:
    """Whether one search does for both: the same evaluator, and the same settings but for how long they search."""
    return (
        player.evaluator is not None
        and player.evaluator is other.evaluator
        and player.search == replace(other.search, num_simulations=player.search.num_simulations)
        and not (player.terms.has_clock or other.terms.has_clock)
    )

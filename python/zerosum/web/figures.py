"""The tree of a long search as it grows, for the page that watches one: figure 4 of the AlphaZero paper.

The textbook's search is watched step by step, which a million simulations do not allow. This is the fast search of the
same position by the same evaluator, drawn after 100, 1,000, … simulations. It ends where its memory is full, and turns
with other visitors' searches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields
from zerosum.base.errors import SettingsError
from zerosum.games import State
from zerosum.play.player import Player
from zerosum.play.search_tree import SearchStage, search_stages
from zerosum.report.search_tree import tree_svg
from zerosum.web.limits import Limits

if TYPE_CHECKING:
    from zerosum.web.visit import Visit

FIRST_DRAWN = 100
MOST_DRAWN = 1_000_000
LEAVES_IN_FLIGHT = 16
SLICE_SECONDS = 0.2


async def growth_figure(visit: Visit, fields: Fields) -> dict[str, Any]:
    """Search the watched position anew, and send its tree as events, up to a number of simulations."""
    if visit.growth is None:
        raise SettingsError("no search is open: open one first.")
    growth, limits = visit.growth, visit.house.limits
    most = min(MOST_DRAWN, limits.looking.simulations)
    number = fields.integer("simulations", FIRST_DRAWN, most) or FIRST_DRAWN
    stages = figure_stages(growth.player, growth.state, number, limits)
    visit.begin("figure", lambda: _draw(visit, stages, number))
    return {"simulations": number}


async def growth_figure_stop(visit: Visit, fields: Fields) -> dict[str, Any]:
    """End the search for the figure."""
    visit.stop("figure")
    return {}


def figure_stages(player: Player, state: State, most: int, limits: Limits) -> Iterator[SearchStage]:
    """A search of a position, seen after each slice of time and after each power of ten, up to `most` simulations.

    Raises:
        SettingsError: the player's search has no tree of positions.
    """
    if player.is_alpha_beta or player.config.rules != "known":
        raise SettingsError(f"{player.own_name} searches no tree of positions: choose another evaluator.")
    config = replace(player.config, root_selection="puct", memory_mib=min(player.config.memory_mib, limits.memory_mib))
    searcher = Player(player.game, player.evaluator, config, name=player.own_name)
    return search_stages(searcher, state, _counts(most), leaves_in_flight=LEAVES_IN_FLIGHT)


def is_power_of_ten(number: int) -> bool:
    """Whether a number of simulations is one after which the tree is drawn.

    >>> [number for number in (100, 101, 200, 1_000, 100_000) if is_power_of_ten(number)]
    [100, 1000, 100000]
    """
    return str(number).rstrip("0") == "1"


def _counts(most: int) -> Iterator[int]:
    """Numbers of simulations after which the search pauses: the drawn ones, and others a slice of time apart."""
    done, step, target = 0, FIRST_DRAWN, FIRST_DRAWN
    while done < most:
        target = min(10 * target if done == target else target, most)
        done, started = min(done + step, target), time.monotonic()
        yield done
        seconds = max(time.monotonic() - started, 0.001)
        step = max(FIRST_DRAWN, int(min(SLICE_SECONDS / seconds, 2.0) * step))


async def _draw(visit: Visit, stages: Iterator[SearchStage], most: int) -> None:
    until = time.monotonic() + visit.house.limits.looking.seconds
    while (stage := await visit.house.searches.call(lambda: next(stages, None))) is not None:
        has_ended = stage.analysis.root.num_simulations < stage.num_simulations  # proven, or its memory is full
        is_last = has_ended or stage.num_simulations == most or time.monotonic() > until
        is_shown = is_last or is_power_of_ten(stage.num_simulations)
        visit.tell(
            "figure",
            simulations=stage.analysis.root.num_simulations,
            svg=tree_svg(stage.tree) if is_shown else None,
            is_last=is_last,
            reason=stage.analysis.stop_reason if has_ended else "",
        )
        if is_last:
            return


HANDLERS = {"growth.figure": growth_figure, "growth.figure.stop": growth_figure_stop}

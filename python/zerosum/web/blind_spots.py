"""Blind spots of a run's network, drawn, with the words of an address in which each can be analysed and searched.

{"do": "runs.blind_spots", "run": "tiny"}  ->  {"text": "…", "spots": [{"svg": "…", "sentence": "…", "link": {…}}]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zerosum.analysis.query_fields import Fields
from zerosum.games import Rules, start_state
from zerosum.games.short_names import short_name
from zerosum.play.player import Player
from zerosum.replay.records import GameRecord
from zerosum.report.blind_spots import BlindSpots, probe_blind_spots, records_of
from zerosum.run.config import load_config
from zerosum.web.boards import draw_board

if TYPE_CHECKING:
    from zerosum.web.visit import Visit

SIMULATIONS = (10, 100)
"""Simulations of the searches beside the network alone: a page waits for them."""
NUM_SHOWN = 6


async def runs_blind_spots(visit: Visit, fields: Fields) -> dict[str, Any]:
    """The blind spots of a run's newest network."""
    label, library = fields.text("run"), visit.house.library

    def found() -> dict[str, Any]:
        directory = library.run_directory(label)
        game = library.game(str(load_config(directory / "config.toml").game))
        return blind_spots(game, library.analyst(label, game), records_of(directory), vs=label)

    async with visit.house.examining:
        return await visit.house.searches.call(found)


def blind_spots(game: Rules, player: Player, records: list[GameRecord] | None, *, vs: str) -> dict[str, Any]:
    """The worst blind spots for a page; `vs` names the player in their addresses.

    Raises:
        SettingsError: as `probe_blind_spots`.
    """
    found = probe_blind_spots(player, records, simulations=SIMULATIONS, num_worst=NUM_SHOWN)
    return {"text": found.figures(), "spots": _spots(game, found, vs)}


def _spots(game: Rules, found: BlindSpots, vs: str) -> list[dict[str, Any]]:
    return [
        {
            "svg": draw_board(game, start_state(game, spot.position))["svg"],
            "sentence": spot.sentence,
            "link": {"game": short_name(game), "start": spot.position, "vs": vs},
        }
        for spot in found.worst
        if spot.position
    ]


HANDLERS = {"runs.blind_spots": runs_blind_spots}

"""Games of self-play with sacrifices and swings, and the page that draws them."""

from __future__ import annotations

import html

import numpy as np
import pytest

from zerosum.games import make
from zerosum.games.playthrough import Playthrough
from zerosum.replay.records import PLY, GameRecord, PlyFlag, policy_target
from zerosum.report.notable_games import sacrifice_card, sacrifices, swings

CHESS = make("chess")
QUEEN_GIVEN = [
    *("e2e4", "e7e5", "d1h5", "b8c6", "h5h7", "h8h7", "a2a3"),
    *("a7a6", "b2b3", "b7b6", "c2c3", "g7g6", "d2d3", "d7d6"),
]


def record(moves: list[str], value: float, *, flags: PlyFlag = PlyFlag.FULL_SEARCH) -> GameRecord:
    """A game whose searches value it for White by one number."""
    so_far = Playthrough.read(CHESS, moves)
    plies = np.zeros(len(moves), PLY)
    plies["action"], plies["player"], plies["flags"] = so_far.actions, so_far.players, flags
    plies["search_value"] = np.where(plies["player"] == 0, value, -value)
    return GameRecord(
        game_id=7,
        game=CHESS.spec.name,
        game_version=CHESS.spec.version,
        options=CHESS.spec.options,
        start="",
        settings_hash="",
        seed=0,
        plies=plies,
        targets=policy_target([], [], []),
        target_offsets=np.zeros(len(moves) + 1, np.int64),
        outcome=1.0,
        ending="checkmate",
    )


def test_the_player_that_is_behind_and_valued_above_0() -> None:
    games = [record(QUEEN_GIVEN, 0.4), record(QUEEN_GIVEN, 0.4), record(QUEEN_GIVEN[:8], 0.4)]
    ((game, found),) = sacrifices(games, CHESS)
    assert (found.player, found.first_ply, found.last_ply, found.deficit) == (0, 6, 13, 8.0)
    card = html.unescape(sacrifice_card(CHESS, game, found))
    assert "Game 7: from move 6 to 13 the first player was behind by 8" in card and "<b>h8h7</b>" in card
    assert "the first player won (checkmate)." in card
    assert not sacrifices([record(QUEEN_GIVEN, -0.4)], CHESS)


def test_only_the_players_own_searches_count() -> None:
    taught = record(QUEEN_GIVEN, 0.4, flags=PlyFlag.RECORDED | PlyFlag.EVALUATED)
    assert not sacrifices([taught], CHESS) and not swings([taught], CHESS)
    assert sacrifices([taught], CHESS, is_updatable=True) and swings([taught], CHESS, is_updatable=True)
    opening = record(QUEEN_GIVEN, 0.4, flags=PlyFlag.OPENING)
    assert not sacrifices([opening], CHESS, is_updatable=True)


@pytest.mark.parametrize("name", ["connect4", "go9", "othello"])
def test_games_without_kinds_of_pieces_have_none(name: str) -> None:
    assert not sacrifices([record(QUEEN_GIVEN, 0.4)], make(name))

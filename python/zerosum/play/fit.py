"""Whether a network can play a game: it has learned the game's rules, with the same planes or with others."""

from __future__ import annotations

from zerosum._core import core_game_names
from zerosum.games import Rules, make
from zerosum.games.rules import with_planes_of
from zerosum.network import CheckpointInfo


def rules_for(info: CheckpointInfo, game: Rules) -> Rules:
    """The rules of a game with the planes of a network; the game itself if other planes would not make it fit.

    The two games share their states (`GameSpec.shares_states_with`).
    """
    if info.encoder_id == game.spec.encoder_id or info.game != game.spec.name or info.game not in core_game_names():
        return game
    own = with_planes_of(game, make(info.full_name))
    return own if own.spec.encoder_id == info.encoder_id else game


def fits(info: CheckpointInfo, game: Rules) -> bool:
    """Whether a network can play a game."""
    return rules_for(info, game).spec.encoder_id == info.encoder_id

"""Whether a network can play a game: it has learned the game's rules, with the same planes or with others.

A network that plays boards of all sizes is described for one (`network/any_size.py`); `load_checkpoint` takes that of
the game that is played.
"""

from __future__ import annotations

from zerosum.games import Rules
from zerosum.games.rules import with_planes_of
from zerosum.network import CheckpointInfo
from zerosum.network.any_size import described_for
from zerosum.network.katago_config import KatagoConfig


def rules_for(info: CheckpointInfo, game: Rules) -> Rules:
    """The rules of a game with the planes of a network; the game itself if other planes would not make it fit.

    The two games share their states (`GameSpec.shares_states_with`).
    """
    if info.encoder_id == game.spec.encoder_id or info.game != game.spec.name:
        return game
    learned = info.core_game()
    own = game if learned is None else with_planes_of(game, learned)
    return own if own.spec.encoder_id == info.encoder_id else game


def fits(info: CheckpointInfo, game: Rules) -> bool:
    """Whether a network can play a game, on its board if it plays boards of all sizes."""
    info = described_for(info, game)
    if isinstance(info.network, KatagoConfig) and (learned := info.core_game()) is not None:
        own = with_planes_of(game, learned)
        return own.spec.name == info.game and len(own.spec.planes) == len(info.planes)
    return rules_for(info, game).spec.encoder_id == info.encoder_id

"""Networks that fit boards of all sizes, for the board that is played.

KataGo's networks are read for a board (`katago.py`). One of our own has learned Go with the planes of
`go(planes=sized)`, on one board or, as `mixedgo`, on several. Its weights do not depend on the board's size
(`NetworkConfig.fits_all_sizes`), so only its description changes.
"""

from __future__ import annotations

from dataclasses import replace

from zerosum.base.errors import GameError
from zerosum.games import Rules, make
from zerosum.games.rules import options_of, with_options
from zerosum.network.description import Checkpoint, CheckpointInfo
from zerosum.network.katago_config import KatagoConfig
from zerosum.network.part_of_planes import BOARD_PLANE

MIXED, ALONE = "mixedgo", "go"
"""The game of several boards, and that of one."""
_SEEN = ("history", "history_fill", "liberties")
"""Options of both games that change the planes."""
_LEARNED = "learned_game"
"""The key of `CheckpointInfo.training` with the learned game, of a network that is described for another board."""


def plays_all_sizes(info: CheckpointInfo) -> bool:
    """Whether a network plays Go on boards of all sizes."""
    if isinstance(info.network, KatagoConfig):
        return True
    return info.game in (MIXED, ALONE) and info.planes[0][0] == BOARD_PLANE and info.network.fits_all_sizes


def for_game(checkpoint: Checkpoint, game: Rules | None) -> Checkpoint:
    """The network described for the board of a game of Go; the network itself if it does not play all sizes.

    A network of `mixedgo` stays one of it for that game.
    """
    info = described_for(checkpoint.info, game)
    return checkpoint if info is checkpoint.info else Checkpoint(info, checkpoint.weights)


def described_for(info: CheckpointInfo, game: Rules | None) -> CheckpointInfo:
    """As `for_game`, for a description."""
    own = sized(info, game)
    if own is None or own.spec.encoder_id == info.encoder_id:
        return info
    training = {**info.training, _LEARNED: learned_name(info)}
    described = CheckpointInfo.describe(own.spec, info.network, step=info.step, training=training)
    return replace(described, code_version=info.code_version, created_at=info.created_at)


def sized(info: CheckpointInfo, game: Rules | None) -> Rules | None:
    """A game of Go with the planes of one of our networks that play all sizes; None for other games and networks."""
    if game is None or game.spec.name != ALONE or isinstance(info.network, KatagoConfig) or not plays_all_sizes(info):
        return None
    learned = make(info.full_name)
    values = options_of(learned)
    try:
        return with_options(game, planes="sized", **{name: values[name] for name in _SEEN})
    except GameError:  # not with the game's other planes
        return None


def learned_name(info: CheckpointInfo) -> str:
    """The full name of the game that a network has learned."""
    return str(info.training.get(_LEARNED, info.full_name))


def largest_board(info: CheckpointInfo) -> str:
    """The name of the game that a network of `mixedgo` plays if none is asked for: Go on its largest board."""
    return f"{ALONE}(size={info.board_shape[0]})"


def untrained_words(info: CheckpointInfo, game: Rules) -> str:
    """What of a game of Go one of our networks has not learned, as a sentence without a subject.

    It is "" for nothing, and for other networks and games.
    """
    if sized(info, game) is None:
        return ""
    learned, options = make(learned_name(info)), options_of(game)
    if learned.spec.name == MIXED:
        own = options_of(learned)
        sizes, spread = [int(size) for size in own["sizes"].split("-")], float(own["komi_spread"])
        size, komi = int(options["size"]), float(options["komi"])
        usual = float(options_of(make(f"{ALONE}(size={size})"))["komi"])
        words = [f"boards of {'x'.join([options['size']] * 2)}"] if size not in sizes else []
        words += [f"a komi of {komi:g}"] if abs(komi - usual) > spread else []
    else:
        own = options_of(learned)
        words = [f"boards of {options['size']}x{options['size']}"] if own["size"] != options["size"] else []
        words += [f"a komi of {options['komi']}"] if own["komi"] != options["komi"] else []
    words += ["territory scoring"] if options["scoring"] == "territory" else []
    return f"has not learned {' and '.join(words)}: what it says there is a guess" if words else ""

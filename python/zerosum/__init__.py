"""AlphaZero for any two-player board game: learn it from its rules, play it, analyse it.

    >>> import zerosum
    >>> game = zerosum.make("connect4")
    >>> zerosum.check_game(game, num_games=10).num_games
    10

What is named here is public; everything else may change without notice.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, which is not loaded yet
if TYPE_CHECKING:
    from typing import Any

    from zerosum._core import Picture as Picture
    from zerosum._core import __version__ as __version__
    from zerosum.analysis.analyst import analyse as analyse
    from zerosum.base.errors import DataError as DataError
    from zerosum.base.errors import GameError as GameError
    from zerosum.base.errors import RunError as RunError
    from zerosum.base.errors import SettingsError as SettingsError
    from zerosum.base.errors import ZerosumError as ZerosumError
    from zerosum.games.check import check_game as check_game
    from zerosum.games.picture import svg as svg
    from zerosum.games.playthrough import state_after as state_after
    from zerosum.games.python_game import Game as Game
    from zerosum.games.rules import State as State
    from zerosum.games.rules import make as make
    from zerosum.games.written_moves import parse_action as parse_action
    from zerosum.play.analysis import Analysis as Analysis
    from zerosum.play.player import Player as Player
    from zerosum.play.player import load_player as load
    from zerosum.report.curves import curves as curves
    from zerosum.run.training import train as train
    from zerosum.search.config import SearchConfig as SearchConfig

__all__ = [
    "Analysis",
    "DataError",
    "Game",
    "GameError",
    "Picture",
    "Player",
    "RunError",
    "SearchConfig",
    "SettingsError",
    "State",
    "ZerosumError",
    "__version__",
    "analyse",
    "check_game",
    "curves",
    "load",
    "make",
    "parse_action",
    "state_after",
    "svg",
    "train",
]

_PLACES = {
    "Analysis": "zerosum.play.analysis.Analysis",
    "DataError": "zerosum.base.errors.DataError",
    "Game": "zerosum.games.python_game.Game",
    "GameError": "zerosum.base.errors.GameError",
    "Picture": "zerosum._core.Picture",
    "Player": "zerosum.play.player.Player",
    "RunError": "zerosum.base.errors.RunError",
    "SearchConfig": "zerosum.search.config.SearchConfig",
    "SettingsError": "zerosum.base.errors.SettingsError",
    "State": "zerosum.games.rules.State",
    "ZerosumError": "zerosum.base.errors.ZerosumError",
    "__version__": "zerosum._core.__version__",
    "analyse": "zerosum.analysis.analyst.analyse",
    "check_game": "zerosum.games.check.check_game",
    "curves": "zerosum.report.curves.curves",
    "load": "zerosum.play.player.load_player",
    "make": "zerosum.games.rules.make",
    "parse_action": "zerosum.games.written_moves.parse_action",
    "state_after": "zerosum.games.playthrough.state_after",
    "svg": "zerosum.games.picture.svg",
    "train": "zerosum.run.training.train",
}
"""The module and attribute of each name, which is imported at its first use. `import zerosum` alone loads nothing: so a
command handles Ctrl-C from its first moment, and playing does not load training."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'zerosum' has no attribute {name!r}")
    import importlib

    module, _, attribute = _PLACES[name].rpartition(".")
    globals()[name] = found = getattr(importlib.import_module(module), attribute)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

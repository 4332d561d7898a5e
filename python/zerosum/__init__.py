"""AlphaZero for any two-player board game: learn it from its rules, play it, analyse it.

    >>> import zerosum
    >>> game = zerosum.make("connect4")
    >>> zerosum.check_game(game, num_games=10).num_games
    10

What is named here is public; everything else may change without notice.
"""

from typing import TYPE_CHECKING, Any

from zerosum._core import __version__ as __version__
from zerosum.base.errors import DataError as DataError
from zerosum.base.errors import GameError as GameError
from zerosum.base.errors import RunError as RunError
from zerosum.base.errors import SettingsError as SettingsError
from zerosum.base.errors import ZerosumError as ZerosumError
from zerosum.games.check import check_game as check_game
from zerosum.games.picture import svg as svg
from zerosum.games.python_game import Game as Game
from zerosum.games.rules import State as State
from zerosum.games.rules import make as make
from zerosum.games.rules import parse_action as parse_action
from zerosum.games.rules import state_after as state_after
from zerosum.search.config import SearchConfig as SearchConfig

if TYPE_CHECKING:
    from zerosum.analysis.analyst import analyse as analyse
    from zerosum.play.analysis import Analysis as Analysis
    from zerosum.play.analysis import Analysis as AnalysisReport
    from zerosum.play.player import Player as Player
    from zerosum.play.player import load_player as load
    from zerosum.report.curves import curves as curves
    from zerosum.run.training import train as train

__all__ = [
    "Analysis",
    "AnalysisReport",
    "DataError",
    "Game",
    "GameError",
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

# Imported when first asked for: the playing half without the training half, and neither by `import zerosum` alone.
_LAZY = {
    "Analysis": ("zerosum.play.analysis", "Analysis"),
    "AnalysisReport": ("zerosum.play.analysis", "Analysis"),
    "Player": ("zerosum.play.player", "Player"),
    "analyse": ("zerosum.analysis.analyst", "analyse"),
    "curves": ("zerosum.report.curves", "curves"),
    "load": ("zerosum.play.player", "load_player"),
    "train": ("zerosum.run.training", "train"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'zerosum' has no attribute {name!r}")
    import importlib

    module, attribute = _LAZY[name]
    return getattr(importlib.import_module(module), attribute)

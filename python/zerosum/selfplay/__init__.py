"""Self-play: games of the network against itself, each ply written to a log.

`worker.py` plays many games at a time, in `threads.py` or, for games written in Python, in `processes.py`; `config.py`
has the settings. `calibration.py` measures how many games at a time are best. Start with `Selfplay`.
"""

from zerosum.selfplay.config import SelfplayConfig as SelfplayConfig
from zerosum.selfplay.threads import Selfplay as Selfplay
from zerosum.selfplay.threads import SelfplayThreads as SelfplayThreads
from zerosum.selfplay.worker import MemoryLog as MemoryLog
from zerosum.selfplay.worker import SelfplayCounts as SelfplayCounts
from zerosum.selfplay.worker import SelfplayTask as SelfplayTask
from zerosum.selfplay.worker import SelfplayWorker as SelfplayWorker

__all__ = [
    "MemoryLog",
    "Selfplay",
    "SelfplayConfig",
    "SelfplayCounts",
    "SelfplayTask",
    "SelfplayThreads",
    "SelfplayWorker",
]

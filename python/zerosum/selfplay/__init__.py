"""Self-play: games of the network against itself, each ply written to a log.

`worker.py` plays many games at a time, `processes.py` does so in processes for games written in Python.
`calibration.py` measures how many games at a time are best. Start with `Selfplay`.
"""

from zerosum.selfplay.worker import MemoryLog as MemoryLog
from zerosum.selfplay.worker import Selfplay as Selfplay
from zerosum.selfplay.worker import SelfplayConfig as SelfplayConfig
from zerosum.selfplay.worker import SelfplayCounts as SelfplayCounts
from zerosum.selfplay.worker import SelfplayTask as SelfplayTask
from zerosum.selfplay.worker import SelfplayThreads as SelfplayThreads
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

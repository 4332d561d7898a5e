"""Self-play: games of the network against itself, each ply told to a log.

`worker.py` plays many games at a time, `processes.py` does so in processes for games written in Python.
`calibration.py` finds how many games at a time. Start with `Selfplay`.
"""

from zerosum.selfplay.worker import MemoryLog as MemoryLog
from zerosum.selfplay.worker import Selfplay as Selfplay
from zerosum.selfplay.worker import SelfplayConfig as SelfplayConfig
from zerosum.selfplay.worker import SelfplayCounts as SelfplayCounts
from zerosum.selfplay.worker import SelfplayTask as SelfplayTask
from zerosum.selfplay.worker import SelfplayWorker as SelfplayWorker

__all__ = [
    "MemoryLog",
    "Selfplay",
    "SelfplayConfig",
    "SelfplayCounts",
    "SelfplayTask",
    "SelfplayWorker",
]

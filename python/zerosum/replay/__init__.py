"""Game records, on disk and in the window that the learner draws from.

`records.py` defines the record of a game. `journal.py` and `shards.py` are the files, `game_store.py` keeps both,
`window.py` draws samples and `batch.py` encodes them. Start with `GameRecord`.
"""

from zerosum.replay.batch import Batch as Batch
from zerosum.replay.batch import make_batch as make_batch
from zerosum.replay.config import ReplayConfig as ReplayConfig
from zerosum.replay.records import GameHeader as GameHeader
from zerosum.replay.records import GameRecord as GameRecord
from zerosum.replay.records import PlyRecord as PlyRecord
from zerosum.replay.samples import Samples as Samples
from zerosum.replay.unrolled import make_unrolled_batch as make_unrolled_batch
from zerosum.replay.window import ReplayWindow as ReplayWindow

__all__ = [
    "Batch",
    "GameHeader",
    "GameRecord",
    "PlyRecord",
    "ReplayConfig",
    "ReplayWindow",
    "Samples",
    "make_batch",
    "make_unrolled_batch",
]

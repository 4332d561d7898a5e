"""The network: shapes and weights without torch, layers with it, and checkpoints on disk.

`config.py` has the shapes, `residual_tower.py` the layers, `graph.py` the same for other libraries. Start with
`NetworkConfig`.
"""

from zerosum.network.checkpoint import Checkpoint as Checkpoint
from zerosum.network.checkpoint import CheckpointInfo as CheckpointInfo
from zerosum.network.checkpoint import load_checkpoint as load_checkpoint
from zerosum.network.checkpoint import save_checkpoint as save_checkpoint
from zerosum.network.config import NetworkConfig as NetworkConfig
from zerosum.network.config import NetworkShape as NetworkShape
from zerosum.network.config import initial_weights as initial_weights

__all__ = [
    "Checkpoint",
    "CheckpointInfo",
    "NetworkConfig",
    "NetworkShape",
    "initial_weights",
    "load_checkpoint",
    "save_checkpoint",
]

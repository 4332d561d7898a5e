"""The network: shapes and weights without torch, layers with it, and checkpoints on disk.

`layers.py` defines the network, `weights.py` its weights; `residual_tower.py` and `graph.py` compute it. Start
with `layers.py`.
"""

from zerosum.network.beginning import initial_weights as initial_weights
from zerosum.network.checkpoint import load_checkpoint as load_checkpoint
from zerosum.network.checkpoint import save_checkpoint as save_checkpoint
from zerosum.network.config import NetworkConfig as NetworkConfig
from zerosum.network.config import NetworkShape as NetworkShape
from zerosum.network.description import Checkpoint as Checkpoint
from zerosum.network.description import CheckpointInfo as CheckpointInfo

__all__ = [
    "Checkpoint",
    "CheckpointInfo",
    "NetworkConfig",
    "NetworkShape",
    "initial_weights",
    "load_checkpoint",
    "save_checkpoint",
]

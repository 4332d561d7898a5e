"""A training on a cluster of machines, by Ray.

`actor.py` plays on a node, `blocks.py` is the form in which its games travel, `ingest.py` checks them into the store,
and `selfplay.py` keeps the actors. `learner.py` has the learner's actors. `connection.py` alone imports Ray. Start with
`ClusterSelfplay`.
"""

from zerosum.cluster.config import ClusterConfig as ClusterConfig
from zerosum.cluster.connection import Connection as Connection
from zerosum.cluster.connection import connected as connected
from zerosum.cluster.connection import require_answer as require_answer
from zerosum.cluster.connection import require_ray as require_ray
from zerosum.cluster.learner import ClusterDevices as ClusterDevices
from zerosum.cluster.selfplay import ClusterSelfplay as ClusterSelfplay
from zerosum.cluster.status import read_events as read_events
from zerosum.cluster.status import read_status as read_status
from zerosum.cluster.status import status_text as status_text

__all__ = [
    "ClusterConfig",
    "ClusterDevices",
    "ClusterSelfplay",
    "Connection",
    "connected",
    "read_events",
    "read_status",
    "require_answer",
    "require_ray",
    "status_text",
]

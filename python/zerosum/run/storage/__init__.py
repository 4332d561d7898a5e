"""A copy of a run in object storage, from which another machine can go on.

`object_store.py` reads and writes objects, `manifests.py` says what counts, `mirror.py` copies a run while it trains,
`fetching.py` makes a run directory from the copy. Start with `manifests.py`.
"""

from zerosum.run.storage.fetching import fetch_run as fetch_run
from zerosum.run.storage.mirror import Mirror as Mirror
from zerosum.run.storage.mirror import mirrored as mirrored
from zerosum.run.storage.mirror import require_store as require_store
from zerosum.run.storage.object_store import is_url as is_url
from zerosum.run.storage.object_store import store_name as store_name

__all__ = ["Mirror", "fetch_run", "is_url", "mirrored", "require_store", "store_name"]

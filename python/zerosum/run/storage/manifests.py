"""What counts in a store: numbered manifests, each of which names the parts of files that were added before it.

    PREFIX/manifests/000001.json                              begins the copy and names its writer
    PREFIX/manifests/000002.json                              names parts, with sizes and checksums
    PREFIX/files/5d41402abc4b2a76/games/games-000001-….parquet  a part, under the start of its SHA-256

No object is overwritten with other content. A manifest is written after the parts that it names, so an object that no
manifest names is left over from an interrupted copy, and does not count. The newest manifest is found by reading one
number after the other.

Only one machine at a time may write. Each has a name of its own in its manifests (`writer`), so that a machine notices
if another one has gone on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from zerosum.base.errors import DataError
from zerosum.run.storage.object_store import ObjectStore

FORMAT = 1
"""Version of the manifests. A newer one is refused."""

_PATH = re.compile(r"(?!\.)[^/\\:\0]+(/(?!\.)[^/\\:\0]+)*")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A file, or what was appended to a file since the manifests before."""

    path: str
    """Path in the run directory, with `/`."""
    offset: int
    """Bytes of the file before this part. 0 begins the file anew."""
    num_bytes: int
    sha256: str
    """SHA-256 of the file up to the end of this part."""

    def __post_init__(self) -> None:
        """Raise ValueError for invalid values."""
        if not (isinstance(self.path, str) and _PATH.fullmatch(self.path)):
            raise ValueError(f"path is {self.path!r}")
        if not all(type(value) is int and value >= 0 for value in (self.offset, self.num_bytes)):
            raise ValueError(f"offset is {self.offset!r}, num_bytes is {self.num_bytes!r}")
        if not (isinstance(self.sha256, str) and re.fullmatch("[0-9a-f]{64}", self.sha256)):
            raise ValueError(f"sha256 is {self.sha256!r}")

    @property
    def key(self) -> str:
        """The name of the object."""
        return f"files/{self.sha256[:16]}/{self.path}"


@dataclass(frozen=True, kw_only=True)
class StoreManifest:
    """One numbered manifest."""

    number: int
    writer: str
    parts: tuple[Part, ...]


def manifest_key(number: int) -> str:
    """The name of a manifest's object."""
    return f"manifests/{number:06d}.json"


def encode_manifest(manifest: StoreManifest) -> bytes:
    """A manifest as JSON, with its own checksum."""
    body = {"format": FORMAT, **asdict(manifest)}
    return json.dumps({**body, "sha256": _checksum(body)}, indent=1).encode()


def decode_manifest(content: bytes, number: int, url: str) -> StoreManifest:
    """The manifest of this number.

    Raises:
        DataError: the content is damaged, or has a newer format.
    """
    try:
        body = json.loads(content)
        if body["format"] > FORMAT:
            raise DataError(
                f"{url} has format {body['format']}, and this version of zerosum reads up to {FORMAT}. Install a newer"
                " zerosum to resume this run."
            )
        checksum = body.pop("sha256")
        parts = tuple(Part(**part) for part in body["parts"])
        if checksum != _checksum(body) or body["number"] != number:
            raise ValueError("the checksum is another")
        return StoreManifest(number=number, writer=str(body["writer"]), parts=parts)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{manifest_key(number)} in {url} is damaged. Restore it from a copy, or store the run at another address."
        ) from error


def read_manifests(
    store: ObjectStore, *, first: int = 1, read: Callable[[str], bytes | None] | None = None
) -> list[StoreManifest]:
    """The manifests from number `first` on, up to the first number that does not exist.

    `read` reads an object instead of `store.read`, for instance with repetitions.

    Raises:
        DataError: a manifest is damaged, or has a newer format.
        StoreFailure: the store cannot be read.
    """
    manifests: list[StoreManifest] = []
    while (content := (read or store.read)(manifest_key(first + len(manifests)))) is not None:
        manifests.append(decode_manifest(content, first + len(manifests), store.url))
    return manifests


def _checksum(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()

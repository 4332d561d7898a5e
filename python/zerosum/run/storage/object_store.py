"""Objects by name, in S3 or in a directory of a shared disk: whole reads and whole writes.

Nothing is listed, renamed or removed in the store, because a listing may lag behind and a rename is a copy.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from zerosum.base.errors import SettingsError, printable, shown
from zerosum.base.files import write_durably

CONNECT_TIMEOUT_S, REQUEST_TIMEOUT_S = 10, 60
"""Seconds after which a connection or a request to S3 fails."""
_OPTIONS = {
    "region": re.compile(r"[A-Za-z0-9-]{1,64}"),
    "scheme": re.compile(r"https?"),
    "endpoint_override": re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?"),
}
"""The form of each option of an address. A region becomes a part of the host's name, so it has no other signs."""
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXAMPLES = {"region": "eu-central-1", "scheme": "https", "endpoint_override": "localhost:9000"}
_PROVIDER = (".amazonaws.com", ".amazonaws.com.cn")


class StoreFailure(Exception):  # noqa: N818 - a store that fails is no error of the program
    """A read or write that failed. The message has the store's own words."""


def is_url(text: str) -> bool:
    """Whether this is the address of a store instead of a path or a game."""
    return "://" in text


def store_name(url: str) -> str:
    """The last part of an address, for a directory. Raises SettingsError if the address is malformed."""
    return ObjectStore(url).name


class ObjectStore:
    """The objects under one address."""

    def __init__(self, url: str) -> None:
        """Take the address apart; nothing is connected yet.

        Args:
            url: `s3://BUCKET/PREFIX`, with `?endpoint_override=HOST:PORT&scheme=http&region=…` for servers other than
                Amazon's; or `file:///DIRECTORY`. Keys come from the environment or from `~/.aws`.

        Raises:
            SettingsError: the address is malformed or holds keys.
        """
        self.url = url
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        prefix = unquote(parts.path).strip("/")
        if "@" in parts.netloc or (parts.scheme == "s3" and not options.keys() <= _OPTIONS.keys()):
            raise SettingsError(
                "the address of the store holds keys or unknown options. Leave keys to the environment"
                f" (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or to ~/.aws; options are {', '.join(sorted(_OPTIONS))}."
            )
        for name, value in options.items():
            if parts.scheme == "s3" and not _OPTIONS[name].fullmatch(value):
                raise SettingsError(f"{name} of the store is {shown(value)}, expected for instance {_EXAMPLES[name]}.")
        is_s3 = parts.scheme == "s3" and bool(_BUCKET.fullmatch(parts.netloc)) and bool(prefix)
        is_directory = parts.scheme == "file" and not parts.netloc and bool(prefix) and not options
        if not (is_s3 or is_directory) or ".." in prefix.split("/"):
            raise SettingsError(f"store is {url!r}, expected s3://BUCKET/PREFIX or file:///DIRECTORY.")
        self._directory = Path("/" + prefix) if is_directory else None
        self._prefix, self._options = f"{parts.netloc}/{prefix}", options
        self._files: Any = None

    @property
    def remarks(self) -> list[str]:
        """What the user should know before a key is used: a host other than Amazon's, a connection in clear."""
        host, remarks = self._options.get("endpoint_override", ""), []
        if host and not host.rpartition(":")[0].endswith(_PROVIDER) and not host.endswith(_PROVIDER):
            remarks.append(
                f"NOTE: {self.url} is at {host}, not at Amazon: requests that are signed with your AWS keys, and a"
                " session token if you have one, go to that host."
            )
        if self._options.get("scheme") == "http":
            remarks.append(
                f"NOTE: {self.url} is used without encryption (scheme=http): everyone on the way to"
                f" {host or 'it'} can read the games, the networks and a session token."
            )
        return remarks

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self._prefix.rpartition("/")[2]

    def read(self, key: str) -> bytes | None:
        """The content of an object, or None if it does not exist. Raises StoreFailure."""
        try:
            if self._directory:
                return (self._directory / key).read_bytes()
            with self._s3().open_input_file(f"{self._prefix}/{key}") as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _failure(error) from error

    def write(self, key: str, content: bytes) -> None:
        """Write a whole object. Raises StoreFailure."""
        try:
            if self._directory:
                (self._directory / key).parent.mkdir(parents=True, exist_ok=True)
                write_durably(self._directory / key, content)
                return
            with self._s3().open_output_stream(f"{self._prefix}/{key}") as stream:
                stream.write(content)
        except OSError as error:
            raise _failure(error) from error

    def _s3(self) -> Any:
        """The connection, made at the first use."""
        if self._files is None:
            from pyarrow import fs  # type: ignore[import-untyped]

            self._files = fs.S3FileSystem(
                **self._options,
                retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=2),
                connect_timeout=CONNECT_TIMEOUT_S,
                request_timeout=REQUEST_TIMEOUT_S,
                background_writes=False,
                allow_delayed_open=True,  # a small object is one request
            )
        return self._files


def _failure(error: OSError) -> StoreFailure:
    lines = str(error).splitlines() or [type(error).__name__]
    return StoreFailure(printable(lines[0][:300].rstrip(".")))

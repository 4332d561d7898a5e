"""Addresses of stores, the objects at them, and the manifests that name objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zerosum.base.errors import DataError, SettingsError
from zerosum.run.storage import is_url, require_store, store_name
from zerosum.run.storage.manifests import Part, StoreManifest, decode_manifest, encode_manifest, read_manifests
from zerosum.run.storage.object_store import ObjectStore, StoreFailure, _failure

GOOD = {
    "s3://games/run": "run",
    "s3://g.a-m_es9/a/b%20c/": "b c",
    "s3://games/run?region=eu-central-1&scheme=https&endpoint_override=minio.local:9000": "run",
    "s3://games/run?endpoint_override=[::1]:9000": "run",
    "file:///data/runs/chess": "chess",
}


@pytest.mark.parametrize("url", GOOD)
def test_an_address_names_a_store(url: str) -> None:
    require_store(url)
    assert store_name(url) == GOOD[url] and is_url(url)


@pytest.mark.parametrize("url", ["", "none"])
def test_no_store_is_no_fault(url: str) -> None:
    require_store(url)
    assert not is_url(url) and not is_url("runs/chess")


@pytest.mark.parametrize(
    "url",
    [
        "games",
        "s3://games",
        "s3://games/",
        "s3:///run",
        "s3://-games/run",
        "s3://games/../run",
        "s3://key:secret@games/run",
        "s3://games/run?acl=all",
        "s3://games/run?region=",
        "s3://games/run?region=a/b",
        "s3://games/run?scheme=ftp",
        "s3://games/run?endpoint_override=host/path",
        "ftp://games/run",
        "file://",
        "file:///",
        "file://host/run",
        "file://me@/run",
        "file:///data/../run",
        "file:///data/run?region=eu-central-1",
    ],
)
def test_no_other_text_is_an_address(url: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        require_store(url)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "num_remarks"),
    [
        ("", 0),
        ("?region=eu-central-1", 0),
        ("?endpoint_override=s3.eu-central-1.amazonaws.com", 0),
        ("?endpoint_override=s3.eu-central-1.amazonaws.com:443&scheme=https", 0),
        ("?endpoint_override=s3.cn-north-1.amazonaws.com.cn", 0),
        ("?endpoint_override=localhost:9000", 1),
        ("?endpoint_override=localhost", 1),
        ("?endpoint_override=amazonaws.com.example.org", 1),
        ("?endpoint_override=myamazonaws.com:443", 1),
        ("?scheme=http", 1),
        ("?endpoint_override=localhost:9000&scheme=http", 2),
    ],
)
def test_other_hosts_and_connections_in_clear_are_remarked(options: str, num_remarks: int) -> None:
    remarks = ObjectStore(f"s3://games/run{options}").remarks
    assert len(remarks) == num_remarks
    assert any("without encryption" in remark for remark in remarks) == options.endswith("scheme=http")


def test_objects_of_a_directory(tmp_path: Path) -> None:
    store = ObjectStore((tmp_path / "a" / "b").as_uri())
    assert store.read("files/x/y") is None
    for content in (b"", b"one", b"another"):
        store.write("files/x/y", content)
        assert store.read("files/x/y") == content
    (tmp_path / "a" / "b" / "files" / "z").mkdir()
    with pytest.raises(StoreFailure):
        store.read("files/z")
    with pytest.raises(StoreFailure):
        store.write("files/z", b"")
    with pytest.raises(StoreFailure):
        store.write("files/x/y/below", b"")


def test_a_failure_is_the_first_line_of_what_the_store_says() -> None:
    assert str(_failure(OSError("When reading: no answer.\nat line 3"))) == "When reading: no answer"
    assert str(_failure(TimeoutError())) == "TimeoutError"
    assert str(_failure(OSError("x" * 1000))) == "x" * 300
    assert "\x1b" not in str(_failure(OSError("\x1b[31mred")))


RIGHT: dict[str, Any] = {"path": "games/a.parquet", "offset": 0, "num_bytes": 0, "sha256": "0123456789abcdef" * 4}


@pytest.mark.parametrize(
    "change",
    [
        *({name: value} for name in ("offset", "num_bytes") for value in (-1, 1.0, True, "1", None)),
        *({"sha256": value} for value in ("", "0" * 63, "0" * 65, "A" * 64, "g" * 64, 0, None)),
        *({"path": value} for value in (None, 1, "", "../up", "a/", "/a", "a//b", ".a", "a/.b", "a\\b", "a:b", "a\0")),
    ],
    ids=str,
)
def test_a_part_has_a_path_sizes_and_a_checksum(change: dict[str, Any]) -> None:
    assert Part(**RIGHT).key == "files/0123456789abcdef/games/a.parquet"
    with pytest.raises(ValueError, match=f"{next(iter(change))} is"):
        Part(**{**RIGHT, **change})


def manifest_of(number: int) -> StoreManifest:
    parts = (Part(**RIGHT), Part(**{**RIGHT, "path": "config.toml", "offset": 3, "num_bytes": 4}))
    return StoreManifest(number=number, writer=f"writer {number}", parts=parts)


def test_a_manifest_is_read_as_it_was_written_under_its_number() -> None:
    content = encode_manifest(manifest_of(2))
    assert decode_manifest(content, 2, "s3://games/run") == manifest_of(2)
    with pytest.raises(DataError, match=r"000003\.json in s3://games/run is damaged"):
        decode_manifest(content, 3, "s3://games/run")


def test_any_change_of_a_manifest_is_noticed() -> None:
    body = json.loads(encode_manifest(manifest_of(1)))
    changes: list[dict[str, Any]] = [
        {"writer": "another"},
        {"format": 0},
        {"parts": body["parts"][:1]},
        {"parts": None},
        {"sha256": "0" * 64},
        {"more": 1},
    ]
    for change in changes:
        with pytest.raises(DataError, match="is damaged"):
            decode_manifest(json.dumps({**body, **change}).encode(), 1, "s3://games/run")
    for text in ("", "[]", "{}", "3", "[" * 100_000):
        with pytest.raises(DataError, match="is damaged"):
            decode_manifest(text.encode(), 1, "s3://games/run")


def test_manifests_are_read_up_to_the_first_that_is_missing(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path.as_uri())
    for number in (1, 2, 3, 5):
        store.write(f"manifests/{number:06d}.json", encode_manifest(manifest_of(number)))
    asked: list[str] = []

    def read(key: str) -> bytes | None:
        asked.append(key)
        return store.read(key)

    assert read_manifests(store) == [manifest_of(number) for number in (1, 2, 3)]
    assert read_manifests(store, first=2, read=read) == [manifest_of(number) for number in (2, 3)]
    assert asked == [f"manifests/{number:06d}.json" for number in (2, 3, 4)]
    assert read_manifests(store, first=4) == []

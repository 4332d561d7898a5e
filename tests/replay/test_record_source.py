"""Games to learn from without playing, when shards of them are damaged."""

from __future__ import annotations

from pathlib import Path

from stores_for_tests import filled, flip, names_in
from zerosum.replay.config import ReplayConfig
from zerosum.replay.record_source import RecordSource
from zerosum.replay.shards import read_shard


def test_a_damaged_shard_is_left_out_and_reported_once(tmp_path: Path) -> None:
    filled(tmp_path)
    reports: list[str] = []
    source = RecordSource(tmp_path, ReplayConfig(dev_share=0.0, test_share=0.0), report=reports.append)
    first, *others = names_in(tmp_path, "*.parquet")
    whole = sum(record.num_positions for name in others for record in read_shard(tmp_path / name))
    flip(tmp_path / first, 100)
    for _ in range(2):
        (part,) = source.parts
        assert source.window(part).num_positions == whole
    (said,) = reports
    assert first in said and said.endswith("Its 2 games are left out.")

"""What a worker's process and its parent say to each other, and the parent's patience, without a process."""

from __future__ import annotations

import io

import pytest

from cluster_for_tests import GAME, checkpoint_of
from zerosum.base.errors import GameError, RunError, ZerosumError
from zerosum.network import Checkpoint, CheckpointInfo
from zerosum.selfplay import processes, worker_process
from zerosum.selfplay.playing_network import PROGRESS, PlayingNetwork
from zerosum.selfplay.processes import NOTICE_SHARE, SILENCE_FACTOR, SILENCE_S
from zerosum.selfplay.worker_process import (
    Kind,
    frame_of,
    pack_threshold,
    pack_weights,
    public_class,
    read_frame,
    unpack_threshold,
)


def test_frames_are_read_as_they_were_written_and_a_cut_one_is_the_end() -> None:
    frames = [(Kind.TASK, b"{}"), (Kind.PAUSE, b""), (Kind.PLAYED, bytes(range(256)) * 300)]
    data = b"".join(frame_of(kind, payload) for kind, payload in frames)
    file = io.BytesIO(data)
    assert [read_frame(file) for _ in frames] == frames and read_frame(file) is None
    last = len(data) - len(frames[-1][1])
    for size in (1, 4, last - 1, last, len(data) - 1):
        file = io.BytesIO(data[:size])
        found = []
        while (frame := read_frame(file)) is not None:
            found.append(frame)
        assert found == frames[: len(found)] and len(found) < len(frames)


@pytest.mark.parametrize("threshold", [None, -0.75, -1.0, 0.0])
def test_a_threshold_arrives_or_none_does(threshold: float | None) -> None:
    assert unpack_threshold(pack_threshold(threshold)) == threshold


@pytest.mark.parametrize("progress", [0.0, 0.625, 1.0])
def test_the_stage_of_the_run_travels_with_its_network(progress: float) -> None:
    """What plays, and how, may follow from it."""
    sent = checkpoint_of(7)
    info = CheckpointInfo.describe(GAME.spec, sent.info.network, step=7, training={PROGRESS: progress})
    found = worker_process.checkpoint_of(pack_weights(Checkpoint(info=info, weights=sent.weights)), GAME)
    assert PlayingNetwork.of(found.info) == PlayingNetwork(7, progress)
    assert found.info.network == sent.info.network


def test_an_error_is_named_by_a_class_that_the_parent_knows() -> None:
    class MineError(GameError):
        """A game's own."""

    assert public_class(MineError("x")) == public_class(GameError("x")) == "GameError"
    assert public_class(RunError("x")) == "RunError" and public_class(ZerosumError("x")) == "ZerosumError"


class FakeProcess:
    """A process that can be killed."""

    num_kills = 0

    def kill(self) -> None:
        self.num_kills += 1


def patient() -> processes._Process:
    """A worker as the parent sees it, before its first answer."""
    worker = object.__new__(processes._Process)
    worker._child = FakeProcess()  # type: ignore[assignment]
    worker._name, worker.is_silent = "1 of 1", False
    worker._num_answers = worker._num_answers_seen = 0
    worker._silent_s = worker._longest_s = 0.0
    return worker


def silence_until_the_end(worker: processes._Process) -> tuple[float, list[float]]:
    """The seconds of silence after which it is ended, and those after which that was announced."""
    passed, notices = 0.0, list[float]()
    while not worker.is_silent:
        passed += 0.5
        if worker.wait_for(0.5):
            notices.append(passed)
    assert worker._child.num_kills == 1 and worker.wait_for(1e6) == ""  # type: ignore[attr-defined]
    return passed, notices


def test_a_silence_is_announced_once_and_has_an_end() -> None:
    passed, notices = silence_until_the_end(patient())
    assert passed == SILENCE_S + 0.5 and notices == [NOTICE_SHARE * SILENCE_S + 0.5]


def test_who_takes_long_for_a_batch_may_be_silent_for_longer() -> None:
    worker = patient()
    for answer_s in (200.0, 90.0, 10.0):  # the first one includes imports
        assert all(not worker.is_silent and worker.wait_for(0.5) is not None for _ in range(int(2 * answer_s)))
        worker._num_answers += 1
    passed, notices = silence_until_the_end(worker)
    assert passed == SILENCE_FACTOR * 90 + 0.5 and notices == [NOTICE_SHARE * SILENCE_FACTOR * 90 + 0.5]


def test_a_pause_is_no_silence() -> None:
    worker = patient()
    for _ in range(10_000):
        assert worker.wait_for(0.0) == "" and not worker.is_silent

"""What goes wrong on a device is a sentence; other errors stay what they are."""

from __future__ import annotations

import pytest

from zerosum.base.errors import RunError, SettingsError, ZerosumError
from zerosum.network.evaluators.faults import device_faults


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "the learner's device has no memory left for a learner step"),
        (
            RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
            "memory left for a learner step .*Tried to allocate",
        ),
        (RuntimeError("CUDA error: unspecified launch failure"), "the learner's device failed during a learner step"),
    ],
)
def test_a_device_that_fails_is_a_sentence(error: Exception, words: str) -> None:
    with pytest.raises(RunError, match=words) as found, device_faults("the learner's device", work="a learner step"):
        raise error
    assert found.value.__cause__ is error


@pytest.mark.parametrize(
    "error",
    [
        SettingsError("out of memory"),
        RunError("CUDA error: 3"),
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        ValueError("out of memory"),
    ],
)
def test_other_errors_stay_as_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as found, device_faults("the learner's device", work="a learner step"):
        raise error
    assert found.value is error
    assert isinstance(error, ZerosumError) or found.value.__cause__ is None


def test_nothing_is_said_without_an_error() -> None:
    with device_faults("the learner's device", work="a learner step"):
        pass

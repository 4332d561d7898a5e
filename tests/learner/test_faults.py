"""What goes wrong on a learner's device is a sentence; other errors stay what they are."""

from __future__ import annotations

import pytest

from zerosum.base.errors import RunError, SettingsError, ZerosumError
from zerosum.learner.config import _multiples
from zerosum.learner.faults import device_faults


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "the learner's device has no memory left for a step"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "no memory left for a step .*Tried to allocate"),
        (RuntimeError("CUDA error: unspecified launch failure"), "the learner's device failed during a learner step"),
    ],
)
def test_a_device_that_fails_is_a_sentence(error: Exception, words: str) -> None:
    with pytest.raises(RunError, match=words) as found, device_faults():
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
    with pytest.raises(type(error)) as found, device_faults():
        raise error
    assert found.value is error
    assert isinstance(error, ZerosumError) or found.value.__cause__ is None


def test_nothing_is_said_without_an_error() -> None:
    with device_faults():
        pass


@pytest.mark.parametrize("num_devices", [2, 3, 7])
def test_the_next_sizes_that_devices_can_share_are_named(num_devices: int) -> None:
    for size in range(1, 30):
        named = [int(word) for word in _multiples(size, num_devices).split(" or ")]
        assert all(number % num_devices == 0 and number > 0 for number in named)
        assert max(named) - size <= num_devices and (len(named) == 2) == (size >= num_devices)
        assert len(named) == 1 or 0 <= size - named[0] < num_devices < num_devices + named[0] == named[1]

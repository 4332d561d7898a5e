"""What a step measures, on its way from the device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class StepReport:
    """The measurements of one step, before it changed the weights."""

    learning_rate: float
    measures: Mapping[str, float]
    """Means over the batch: `<head>_loss` of each head without its weight, and `Head.measures`.

    `policy_loss` is a cross-entropy in nats and `policy_entropy` its lower bound; `value_loss` is (z - v)^2,
    or the cross-entropy for a win/draw/loss head, and `value_error` the mean of (z - v)^2 for both. A GPU may still
    compute them (`DeviceMeans`).
    """

    @property
    def is_known(self) -> bool:
        """Whether the measures can be read without waiting for a device."""
        return not isinstance(self.measures, DeviceMeans) or self.measures.is_known


class DeviceMeans(Mapping[str, float]):
    """Numbers that a CUDA device computes and copies to this machine by itself. Who reads one waits until then.

    A step whose numbers are read at once makes the device wait for the next step's kernels to be started.
    """

    def __init__(self, names: Sequence[str], means: Tensor) -> None:
        """`means` [N] are computed on the current stream and may be overwritten there later."""
        import torch

        self._names = tuple(names)
        self._host = torch.empty(means.shape, dtype=means.dtype, pin_memory=True)
        self._host.copy_(means, non_blocking=True)
        self._done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        self._done.record()

    @property
    def is_known(self) -> bool:
        """Whether the device has computed and copied them."""
        return bool(self._done.query())  # type: ignore[no-untyped-call]

    def wait(self) -> None:
        """Sleep until they are known, without the interpreter's lock."""
        self._done.synchronize()

    @override
    def __getitem__(self, name: str) -> float:
        index = self._names.index(name) if name in self._names else -1
        if index < 0:
            raise KeyError(name)
        self.wait()
        return float(self._host[index])

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    @override
    def __len__(self) -> int:
        return len(self._names)

"""A whole step as a CUDA graph: forward pass, backward pass and optimiser, started at once instead of kernel by kernel.

A step of a small network has a thousand kernels, and starting them one by one takes longer than they run: on an H100
9x9 Go with 6x96 and batches of 512 makes 63 steps a second so and 344 as a graph, chess with 19x256 and batches of
1,024 makes 34.8 and 39.6 (benches/RESULTS.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zerosum.learner.inputs import StepInputs

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Work = Callable[[], "Tensor"]
Record = Callable[[Work], Work]
"""Returns the same work, recorded: it reads and writes the same memory each time. Recording does not do the work."""


class CapturedStep:
    """A step that is repeated with other inputs of the same shapes."""

    def __init__(self, step: Callable[[StepInputs], Tensor], example: StepInputs, record: Record) -> None:
        """`step` makes a step and returns its measures. `example` is an input, which is not learned from."""
        import torch

        def kept(tensor: Tensor) -> Tensor:
            return torch.empty_like(tensor, memory_format=torch.preserve_format).copy_(tensor)

        targets = {name: kept(target) for name, target in example.targets.items()}
        self._inputs = StepInputs(kept(example.planes), targets)
        self._replay = record(lambda: step(self._inputs))

    def fits(self, inputs: StepInputs) -> bool:
        """Whether inputs have the shapes of the recorded ones."""
        ours, theirs = self._inputs.tensors(), inputs.tensors()
        return ours.keys() == theirs.keys() and all(ours[name].shape == theirs[name].shape for name in ours)

    def run(self, inputs: StepInputs) -> Tensor:
        """Make the step. Its measures are overwritten by the next one."""
        ours, theirs = self._inputs.tensors(), inputs.tensors()
        for name, tensor in ours.items():
            tensor.copy_(theirs[name])
        return self._replay()


def record_on(stream: torch.cuda.Stream) -> Record:
    """Recording as a CUDA graph on this stream, which must be the current one."""
    import torch

    from zerosum.network.evaluators.capturing import CAPTURING

    def record(work: Work) -> Work:
        graph = torch.cuda.CUDAGraph()
        with CAPTURING:
            stream.synchronize()
            # Self-play's threads continue meanwhile on their own streams.
            with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                answer = work()

        def replay() -> Tensor:
            graph.replay()
            return answer

        return replay

    return record

"""A network run by ONNX Runtime on the CPU, in float32. It serves to test exported files.

Its libraries, `onnx` and `onnxruntime`, are imported when an evaluator is made.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from typing_extensions import override

from zerosum.base.errors import SettingsError
from zerosum.base.settings import require_known
from zerosum.evaluators.batch_limit import BatchLimit, whole
from zerosum.evaluators.evaluator import CPU_FULL_BATCH, Evaluations, NetworkEvaluator, evaluations_of
from zerosum.network import Checkpoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from zerosum._core import Leaves

PRECISIONS = ("auto", "f32")


class OnnxEvaluator(NetworkEvaluator):
    """An evaluator for any number of threads at once, with a core each."""

    def __init__(self, checkpoint: Checkpoint, *, precision: str = "auto") -> None:
        """`precision` is "auto" or "f32", which are the same.

        Raises:
            SettingsError: a library is not installed, or the precision is unknown.
        """
        require_known("precision of the onnx backend", precision, PRECISIONS)
        if importlib.util.find_spec("onnxruntime") is None:
            raise SettingsError("ONNX Runtime is not installed: 'pip install onnx onnxruntime'.")
        self._limit = BatchLimit("this machine")
        self.update(checkpoint)

    @property
    @override
    def description(self) -> str:
        return "ONNX Runtime, CPU, f32"

    @property
    @override
    def full_batch(self) -> int:
        return CPU_FULL_BATCH

    @override
    def batch_sizes(self, most: int) -> list[int]:
        """A session takes all sizes."""
        return [most]

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        """No precision here is measured on positions."""
        import onnxruntime

        from zerosum.evaluators.onnx_graph import onnx_model

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        model = onnx_model(checkpoint).SerializeToString()
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        session, planes_BCHW = self._session, leaves.planes()

        def evaluate_part(start: int, stop: int) -> list[NDArray[np.float32]]:
            outputs: list[NDArray[np.float32]] = session.run(None, {"planes": planes_BCHW[start:stop]})
            return outputs

        policy_logits_BA, *others = whole(self._limit.in_parts(len(leaves), evaluate_part))
        return evaluations_of(leaves, leaves.select_legal(policy_logits_BA), *others)

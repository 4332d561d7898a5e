"""The network as an ONNX file, for any program that runs ONNX. Needs the package `onnx`.

    zerosum export runs/connect4 net.onnx

Input `planes`, [B, C, H, W] float32 for any B, seen from the player to move. Outputs, float32, for the player to move:
`policy_logits` [B, A], unnormalised and over all actions (mask the illegal before a softmax; an updatable network has
none), and `value_logits`,
[B, 1], the value before its tanh, or [B, 3], logits of win, draw and loss. Heads that are only trained are left out.
Norms are folded.

A MuZero network is two files, named after the functions of the paper's pseudocode. `net.initial.onnx` has the same
input and, besides the outputs above, `hidden`, [B, F, H, W] float32 in [0, 1]. `net.recurrent.onnx` has the inputs
`hidden` and `moves`, [B] int64, the places of the moves' logits; its outputs are those of the position after the move,
with `next_hidden`.

The metadata of a file describes the planes and actions: the game and its options, its version, the
encoding's id, the names of the planes, and the checkpoint's step.

The graph is built from the weights operation by operation (https://onnx.ai/onnx/operators/), without torch or a
converter whose version would have to match.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zerosum.base.errors import SettingsError
from zerosum.base.files import write_durably
from zerosum.network import Checkpoint
from zerosum.network.graph import graph
from zerosum.network.layer_protocol import LARGEST
from zerosum.network.muzero import LEAST_RANGE
from zerosum.network.muzero_graph import initial_inference, recurrent_inference

if TYPE_CHECKING:
    import onnx

OPSET, IR_VERSION = 13, 7
"""Versions of March 2021 (ONNX 1.8), so that all programs since then can read the file."""


def export(checkpoint: Checkpoint, path: Path) -> list[Path]:
    """Write the network into a file atomically, or into two if it is a MuZero network; returns their paths.

    Raises:
        SettingsError: the package `onnx` is not installed, or torch cannot export a network of one's own.
        OSError: a file cannot be written.
    """
    if checkpoint.info.network.kind != "muzero":
        write_durably(path, onnx_model(checkpoint).SerializeToString())
        return [path]
    models = muzero_models(checkpoint)
    paths = [path.with_suffix(f".{name}{path.suffix}") for name in models]
    for file, model in zip(paths, models.values(), strict=True):
        write_durably(file, model.SerializeToString())
    return paths


def onnx_model(checkpoint: Checkpoint) -> onnx.ModelProto:
    """The network as an ONNX model. Raises SettingsError if the package `onnx` is not installed."""
    _require_onnx()
    if checkpoint.info.network.module or checkpoint.info.network.kind == "updatable":
        return _exported_by_torch(checkpoint)
    info, operations = checkpoint.info, _Operations()
    outputs = graph(operations, "planes", info.network, info.shape, checkpoint.weights)
    return _model(checkpoint, operations, [_planes(checkpoint)], outputs)


def muzero_models(checkpoint: Checkpoint) -> dict[str, onnx.ModelProto]:
    """A MuZero network as ONNX models "initial" and "recurrent" (`network.muzero_graph`).

    Raises SettingsError if the package `onnx` is not installed.
    """
    _require_onnx()
    info = checkpoint.info
    network = (info.network, info.shape, checkpoint.weights)
    first, later = _HiddenOperations(), _HiddenOperations()
    initial = initial_inference(first, "planes", *network)
    recurrent = recurrent_inference(later, "hidden", "moves", *network)
    recurrent = {"next_hidden": recurrent.pop("hidden")} | recurrent
    hidden = _array("hidden", info.network.num_filters, *info.board_shape)
    return {
        "initial": _model(checkpoint, first, [_planes(checkpoint)], initial),
        "recurrent": _model(checkpoint, later, [hidden, _array("moves", dtype="INT64")], recurrent),
    }


def _require_onnx() -> None:
    if importlib.util.find_spec("onnx") is None:
        raise SettingsError("ONNX is not installed: 'pip install onnx'.")


def _planes(checkpoint: Checkpoint) -> onnx.ValueInfoProto:
    return _array("planes", len(checkpoint.info.planes), *checkpoint.info.board_shape)


def _array(name: str, *shape: int, dtype: str = "FLOAT") -> onnx.ValueInfoProto:
    """An input or output [B, *shape]."""
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, getattr(TensorProto, dtype), ["batch", *shape])


def _model(
    checkpoint: Checkpoint, operations: _Operations, inputs: list[onnx.ValueInfoProto], outputs: dict[str, str]
) -> onnx.ModelProto:
    """The model of a graph whose outputs are hidden states and logits, by their names."""
    from onnx import helper

    info = checkpoint.info
    widths = {head.name: info.shape.num_logits(head) for head in info.network.search_heads}
    arrays = []
    for name, node in outputs.items():
        if name in widths:
            arrays.append(_array(f"{name}_logits", widths[name]))
        else:
            arrays.append(_array(name, info.network.num_filters, *info.board_shape))
        operations.compute("Identity", [node], arrays[-1].name)
    onnx_graph = helper.make_graph(operations.nodes, "zerosum", inputs, arrays, operations.weights)
    model = helper.make_model(
        onnx_graph,
        producer_name="zerosum",
        producer_version=info.code_version,
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    return _described(model, checkpoint)


def _described(model: onnx.ModelProto, checkpoint: Checkpoint) -> onnx.ModelProto:
    """The model with the description of its planes and actions."""
    import onnx
    from onnx import helper

    info = checkpoint.info
    helper.set_model_props(
        model,
        {
            "game": info.game,
            "game_options": info.game_options,
            "game_version": str(info.game_version),
            "encoder_id": info.encoder_id,
            "planes": json.dumps([name for name, _ in info.planes]),
            "step": str(info.step),
        },
    )
    onnx.checker.check_model(model)
    return model


def _exported_by_torch(checkpoint: Checkpoint) -> onnx.ModelProto:
    """A network of one's own or an updatable one (in float32), as torch's exporter writes it.

    Raises:
        SettingsError: torch cannot export the module.
    """
    import tempfile
    import warnings

    import onnx
    import torch

    from zerosum.network.own_network import network_module

    info = checkpoint.info
    network = network_module(info.network, info.shape, checkpoint.weights)
    network.eval()
    names = [head.name for head in info.network.search_heads]

    class Outputs(torch.nn.Module):
        """The logits in order, without their names."""

        def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
            logits = network(planes).logits
            return tuple(logits[name] for name in names)

    wrapped = Outputs()
    wrapped.network = network
    wrapped.eval()
    outputs = [f"{name}_logits" for name in names]
    try:
        with torch.inference_mode(), warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")  # of the newer exporter, which needs another package (onnxscript)
            torch.onnx.export(
                wrapped,
                (torch.zeros(1, len(info.planes), *info.board_shape),),
                f"{folder}/network.onnx",
                input_names=["planes"],
                output_names=outputs,
                dynamic_axes={name: {0: "batch"} for name in ("planes", *outputs)},
                opset_version=17,
                dynamo=False,
            )
            model = onnx.load(f"{folder}/network.onnx")
    except Exception as error:  # the exporter's, and those of the user's code
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise SettingsError(f"torch cannot write {info.network.module or 'the network'} as ONNX: {reason}.") from error
    return _described(model, checkpoint)


class _Operations:
    """`network.graph.Operations` whose nodes are the names of results."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def compute(self, operation: str, inputs: list[str], name: str = "", **attributes: Any) -> str:
        """Add an operation; its result is called `name`, with a number if there is none or another of this name."""
        from onnx import helper

        if not name or any(node.name == name for node in self.nodes):  # a layer that is used several times
            name = f"{name or operation.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [name], name=name, **attributes))
        return name

    def _weight(self, name: str, array: NDArray[np.float32]) -> str:
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def _named(self, name: str, array: NDArray[np.float32]) -> str:
        """The weight of this name, which several layers may have."""
        return name if any(weight.name == name for weight in self.weights) else self._weight(name, array)

    def _constant(self, array: object) -> str:
        return self._weight(f"constant_{len(self.weights)}", np.asarray(array))

    def convolve(self, x: str, name: str, kernel: NDArray[np.float32], shift: NDArray[np.float32]) -> str:
        inputs = [x, self._weight(f"{name}.weight", kernel), self._weight(f"{name}.bias", shift)]
        return self.compute("Conv", inputs, name, pads=[kernel.shape[2] // 2] * 4)

    def linear(self, x: str, name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        product = self.compute("MatMul", [x, self._named(f"{name}.weight", weight.T)])
        return self.compute("Add", [product, self._named(f"{name}.bias", bias)], name)

    def affine(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        number = len(self.nodes)
        parts = {f"factors_{number}": weight, f"terms_{number}": bias}
        factors, terms = (self._weight(name, part.reshape(1, -1, 1, 1)) for name, part in parts.items())
        return self.compute("Add", [self.compute("Mul", [x, factors]), terms])

    def relu(self, x: str) -> str:
        return self.compute("Relu", [x])

    def mish(self, x: str) -> str:
        return self.compute("Mul", [x, self.compute("Tanh", [self.compute("Softplus", [x])])])

    def add(self, x: str, y: str) -> str:
        return self.compute("Add", [x, y])

    def flatten(self, x: str) -> str:
        return self.compute("Flatten", [x], axis=1)

    def mean_of_squares(self, x: str) -> str:
        return self.compute("ReduceMean", [x], axes=[2, 3], keepdims=0)

    def max_of_squares(self, x: str) -> str:
        return self.compute("ReduceMax", [x], axes=[2, 3], keepdims=0)

    def first_plane(self, x: str) -> str:
        return self.compute("Slice", [x, *(self._constant([bound]) for bound in (0, 1, 1))])

    def on_board(self, x: str, board: str) -> str:
        return self.compute("Mul", [x, board])

    def mean_on_board(self, x: str, board: str) -> str:
        squares = self._named("squares", np.array([2, 3]))
        sums = (self.compute("ReduceSum", [y, squares], keepdims=0) for y in (self.on_board(x, board), board))
        return self.compute("Div", [*sums])

    def max_on_board(self, x: str, board: str) -> str:
        is_board = self.compute("Greater", [board, self._constant(np.float32(0))])
        return self.max_of_squares(self.compute("Where", [is_board, x, self._constant(np.float32(-LARGEST))]))

    def shift(self, x: str, y: str) -> str:
        return self.compute("Add", [x, self._of_filters(y)])

    def scale(self, x: str, y: str) -> str:
        return self.compute("Mul", [x, self._of_filters(self.compute("Sigmoid", [y]))])

    def _of_filters(self, y: str) -> str:
        """[B, F] as [B, F, 1, 1]."""
        return self.compute("Unsqueeze", [y, self._named("squares", np.array([2, 3]))])

    def join(self, x: str, y: str) -> str:
        return self.compute("Concat", [x, y], axis=1)

    def selu(self, x: str) -> str:
        return self.compute("Selu", [x])

    def swish(self, x: str) -> str:
        return self.compute("Mul", [x, self.compute("Sigmoid", [x])])

    def square(self, x: str) -> str:
        return self.compute("Mul", [x, x])

    def squares(self, x: str) -> str:
        bounds = [self._constant([bound]) for bound in (-1, -(1 << 31), 2, -1)]  # the rows from the last to the first
        from_bottom = self.compute("Slice", [x, *bounds])
        of_filters = self.compute("Reshape", [from_bottom, self._constant([0, 0, -1])])
        return self.compute("Transpose", [of_filters], perm=[0, 2, 1])

    def first_units(self, x: str, number: int) -> str:
        return self.compute("Slice", [x, *(self._constant([bound]) for bound in (0, number, 2))])

    def reshape(self, x: str, shape: tuple[int, ...]) -> str:
        return self.compute("Reshape", [x, self._constant([-1, *shape])])

    def each_unit(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        return self.compute("Add", [self.compute("Mul", [x, self._constant(weight)]), self._constant(bias)])

    def norm_units(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32], epsilon: float) -> str:
        centred = self.compute("Sub", [x, self.compute("ReduceMean", [x], axes=[-1])])
        variance = self.compute("ReduceMean", [self.square(centred)], axes=[-1])
        deviation = self.compute("Sqrt", [self.compute("Add", [variance, self._constant(np.float32(epsilon))])])
        return self.each_unit(self.compute("Div", [centred, deviation]), weight, bias)

    def attend(self, query: str, key: str, value: str, units: int, heads: int, bias: str | None) -> str:
        of_heads = self._constant([0, 0, heads, units // heads])
        q, k, v = (
            self.compute("Transpose", [self.compute("Reshape", [x, of_heads])], perm=[0, 2, 1, 3])
            for x in (query, key, value)
        )
        weights = self._scaled_products(q, self.compute("Transpose", [k], perm=[0, 1, 3, 2]), units // heads)
        weights = self.compute("Softmax", [weights if bias is None else self.add(weights, bias)], axis=3)
        attended = self.compute("Transpose", [self.compute("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        return self.compute("Reshape", [attended, self._constant([0, 0, units])])

    def products(self, query: str, key: str, units: int) -> str:
        return self._scaled_products(query, self.compute("Transpose", [key], perm=[0, 2, 1]), units)

    def take(self, x: str, indices: NDArray[np.int64]) -> str:
        return self.compute("Gather", [x, self._constant(indices)], axis=1)

    def _scaled_products(self, q: str, k: str, units: int) -> str:
        return self.compute("Mul", [self.compute("MatMul", [q, k]), self._constant(np.float32(units**-0.5))])


class _HiddenOperations(_Operations):
    """`network.muzero_graph.HiddenOperations` whose nodes are the names of results."""

    def scaled(self, x: str) -> str:
        low, high = (self.compute(operation, [x], axes=[1, 2, 3]) for operation in ("ReduceMin", "ReduceMax"))
        size = self.add(self.compute("Sub", [high, low]), self._constant(np.float32(LEAST_RANGE)))
        return self.compute("Div", [self.compute("Sub", [x, low]), size])

    def one_hot(self, moves: str, first: int, number: int) -> str:
        from onnx import TensorProto

        columns = self.compute("Unsqueeze", [moves, self._constant([1])])
        is_move = self.compute("Equal", [columns, self._constant(np.arange(first, first + number)[None])])
        return self.compute("Cast", [is_move], to=TensorProto.FLOAT)

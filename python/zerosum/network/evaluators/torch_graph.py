"""A checkpoint's network for evaluation by PyTorch: norms folded, and a convolution, its sum and its ReLU in one call.

On a GPU each operation of its own is a pass over the memory of all activations, which takes as long as half of the
convolution. cuDNN adds the bias, adds the block's input and applies the ReLU while it writes the convolution's result.
Elsewhere the same is computed step by step.

`Network.load` replaces the weights in place, so graphs that were captured with them stay valid.

Imports torch. Shape suffixes: B positions, C channels (P of bits, K of one number each), N bytes a plane of bits, H
height, W width, S squares, R numbers of a row of logits, A actions, V value logits (1 or 3).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from zerosum.network import Checkpoint, CheckpointInfo
from zerosum.network.architectures import LAYERS_OF_PLANES, connect
from zerosum.network.evaluators.batch_limit import is_out_of_memory
from zerosum.network.graph import folded_layers
from zerosum.network.layer_protocol import LARGEST
from zerosum.network.plane_bits import PlaneBits

# cuDNN is fastest with channels in multiples of these (H100: the first convolution of chess takes 103 us for 119
# planes and 58 us for 128 in a batch of 1024).
_PLANES_MULTIPLE, _OUTPUTS_MULTIPLE = 32, 8


@dataclass(frozen=True)
class Output:
    """What a network says about B positions, on its device. Values and shares are float32."""

    logits_BR: Tensor  # noqa: N815
    """The logits of all actions, in the network's precision; `Network.place_of_action` has their places."""
    values_B: Tensor  # noqa: N815
    """In [-1, 1], for the player to move."""
    wdl_B3: Tensor | None  # noqa: N815
    """Probabilities of win, draw and loss for the player to move, if the network has them."""

    def answer(self, places: Tensor, size: int) -> Tensor:
        """Logits at `places` of the flat rows, then values and shares of the first `size` positions, float32.

        They are one array, because each copy from a GPU waits for it.
        """
        parts = [self.logits_BR.flatten().index_select(0, places), self.values_B[:size]]
        if self.wdl_B3 is not None:
            parts.append(self.wdl_B3[:size].flatten())
        return torch.cat(parts)  # of two dtypes: the larger one, float32


class Network:
    """The network of a checkpoint on a device. Threads may share it while it is not loaded."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device, dtype: torch.dtype) -> None:
        self.info, self.device, self.dtype = checkpoint.info, device, dtype
        info = checkpoint.info
        is_padded = _is_padded(device)
        is_constant_C = np.array([is_constant for _, is_constant in info.planes], np.bool_)
        self.plane_bits = PlaneBits(is_constant_C, info.board_shape, device)
        self._order = self.plane_bits.order
        self._num_channels = _multiple(len(info.planes), _PLANES_MULTIPLE if is_padded else 1)
        self._outputs_multiple = _OUTPUTS_MULTIPLE if is_padded else 1
        self._layers = _FusedLayers(
            {name: self._on_device(name, *layer) for name, layer in folded_layers(checkpoint.weights).items()},
            fuses=is_padded and _has_cudnn(),
        )
        self.place_of_action, self.row_width = self._logit_layout()
        self._wait()

    @property
    def has_wdl(self) -> bool:
        """Whether the network has probabilities of win, draw and loss."""
        return self.info.network.value_head == "wdl"

    def fits(self, info: CheckpointInfo) -> bool:
        """Whether `load` can take the weights of a network like this."""
        return (info.network, info.shape, info.planes) == (self.info.network, self.info.shape, self.info.planes)

    def load(self, checkpoint: Checkpoint) -> None:
        """Replace the weights, in the same memory. No evaluation may be under way."""
        assert self.fits(checkpoint.info)
        for name, layer in folded_layers(checkpoint.weights).items():
            for old, new in zip(self._layers.weights[name], self._on_device(name, *layer), strict=True):
                old.copy_(new)
        self.info = checkpoint.info
        self._wait()

    def new_planes(self, size: int) -> Tensor:
        """[size, S, C], memory for the planes of `forward`. Channels beyond the game's are 0 and stay so."""
        height, width = self.info.board_shape
        return torch.zeros((size, height * width, self._num_channels), dtype=self.dtype, device=self.device)

    def forward(self, packed_BPN: Tensor, numbers_BK: Tensor, planes_BSC: Tensor) -> Output:
        """The network's output for bits and numbers on the device (their layout: `Leaves`)."""
        self.plane_bits.write(planes_BSC, packed_BPN, numbers_BK)
        shape_BHWC = (len(planes_BSC), *self.info.board_shape, self._num_channels)
        planes_BCHW = planes_BSC.view(shape_BHWC).permute(0, 3, 1, 2)
        config = self.info.network
        logits = connect(self._layers, planes_BCHW, config, self.info.shape, config.search_heads)
        logits_BV = _tensor(logits["value"]).float()
        if logits_BV.shape[1] == 1:
            return Output(_tensor(logits["policy"]), logits_BV[:, 0].tanh(), None)
        wdl_B3 = logits_BV.softmax(dim=1)
        return Output(_tensor(logits["policy"]), wdl_B3[:, 0] - wdl_B3[:, 2], wdl_B3)

    def _on_device(self, name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> tuple[Tensor, Tensor]:
        """A layer's weight and bias; the first one for the channels of `forward`, the last one of the policy padded."""
        if name in LAYERS_OF_PLANES:
            more = self._num_channels - len(self._order)
            weight = np.pad(weight[:, self._order], ((0, 0), (0, more), *[(0, 0)] * (weight.ndim - 2)))
        if name == "policy_out" and weight.ndim == 4:
            more = _multiple(len(weight), self._outputs_multiple) - len(weight)
            weight, bias = np.pad(weight, ((0, more), *[(0, 0)] * 3)), np.pad(bias, (0, more))
        on_device = torch.tensor(np.ascontiguousarray(weight)).to(self.dtype)
        if weight.ndim == 4:
            on_device = on_device.contiguous(memory_format=torch.channels_last)
        return on_device.to(self.device), torch.tensor(bias).to(device=self.device, dtype=self.dtype)

    def _logit_layout(self) -> tuple[NDArray[np.int32], int]:
        """The place of each action's logit in a row [A], and the width of a row.

        The planes of a head of planes stay as cuDNN writes them, all planes of a square side by side.
        """
        actions_A = np.arange(self.info.num_actions, dtype=np.int32)
        if self.info.network.policy_head == "dense":
            return actions_A, len(actions_A)
        num_squares = self.info.shape.height * self.info.shape.width
        num_planes = len(self._layers.weights["policy_out"][0])
        planes, squares = actions_A // num_squares, actions_A % num_squares
        num_of_planes = self.info.shape.num_policy_planes * num_squares
        rest = actions_A - num_of_planes + num_planes * num_squares
        places_A = np.where(actions_A < num_of_planes, squares * num_planes + planes, rest).astype(np.int32)
        return places_A, num_planes * num_squares + self.info.shape.num_rest_actions

    def _wait(self) -> None:
        if self.device.type == "cuda":  # the weights must be complete before other streams read them
            torch.cuda.current_stream(self.device).synchronize()


class _Convolution:
    """A convolution that waits for what follows it: a sum, a ReLU, or neither."""

    def __init__(self, layers: _FusedLayers, x: Tensor, name: str, addend: Tensor | None = None) -> None:
        self.layers, self.x, self.name, self.addend = layers, x, name, addend
        self._plain: Tensor | None = None

    def plain(self) -> Tensor:
        """The result without a ReLU."""
        if self._plain is None:
            weight, bias = self.layers.weights[self.name]
            y = F.conv2d(self.x, weight, bias, padding=weight.shape[-1] // 2)
            self._plain = y if self.addend is None else y.add_(self.addend)
        return self._plain

    def rectified(self) -> Tensor:
        """The result with a ReLU, step by step."""
        return self.plain().relu_() if self._plain is None else F.relu(self._plain)


_Node = Tensor | _Convolution


def _tensor(node: _Node) -> Tensor:
    return node.plain() if isinstance(node, _Convolution) else node


class _FusedLayers:
    """`layers.Layers` with folded weights, which joins a convolution with the sum and the ReLU after it."""

    def __init__(self, weights: dict[str, tuple[Tensor, Tensor]], *, fuses: bool) -> None:
        """`weights` has each layer's weight and bias; `fuses` is whether cuDNN may compute several steps in one."""
        self.weights = weights
        self.fuses = fuses
        self._indices: dict[int, tuple[NDArray[np.int64], Tensor]] = {}
        """The indices of `take`, and the same on the device, by the array's id, which the array keeps its own."""

    def conv_norm(self, x: _Node, name: str, filters: int, kernel: int) -> _Node:
        return _Convolution(self, _tensor(x), name)

    def conv(self, x: _Node, name: str, filters: int, kernel: int) -> _Node:
        return _Convolution(self, _tensor(x), name)

    def linear(self, x: _Node, name: str, units: int) -> _Node:
        return F.linear(_tensor(x), *self.weights[name])

    def affine(self, x: _Node, name: str) -> _Node:
        weight, bias = self.weights[name]
        return _tensor(x) * weight[:, None, None] + bias[:, None, None]

    def mish(self, x: _Node) -> _Node:
        return F.mish(_tensor(x))

    def relu(self, x: _Node) -> _Node:
        if isinstance(x, _Convolution):
            return self._fused(x) if self.fuses else x.rectified()
        return F.relu(x)

    def add(self, x: _Node, y: _Node) -> _Node:
        if isinstance(x, _Convolution) and x.addend is None:
            return _Convolution(self, x.x, x.name, _tensor(y))
        return _tensor(x) + _tensor(y)

    def flatten(self, x: _Node) -> _Node:
        if isinstance(x, _Convolution) and x.name == "policy_out":
            return x.plain().permute(0, 2, 3, 1).flatten(1)  # as it lies in memory: `Network.place_of_action`
        return _tensor(x).flatten(1)

    def mean_of_squares(self, x: _Node) -> _Node:
        return _tensor(x).mean(dim=(2, 3))

    def max_of_squares(self, x: _Node) -> _Node:
        return _tensor(x).amax(dim=(2, 3))

    def first_plane(self, x: _Node) -> _Node:
        return _tensor(x)[:, :1]

    def on_board(self, x: _Node, board: _Node) -> _Node:
        return _tensor(x) * _tensor(board)

    def mean_on_board(self, x: _Node, board: _Node) -> _Node:
        return (_tensor(x) * _tensor(board)).sum(dim=(2, 3)) / _tensor(board).sum(dim=(2, 3))

    def max_on_board(self, x: _Node, board: _Node) -> _Node:
        return _tensor(x).where(_tensor(board) > 0, -LARGEST).amax(dim=(2, 3))

    def shift(self, x: _Node, y: _Node) -> _Node:
        return _tensor(x) + _tensor(y)[:, :, None, None]

    def scale(self, x: _Node, y: _Node) -> _Node:
        return _tensor(x) * _tensor(y).sigmoid()[:, :, None, None]

    def join(self, x: _Node, y: _Node) -> _Node:
        return torch.cat([_tensor(x), _tensor(y)], dim=1)

    def selu(self, x: _Node) -> _Node:
        return F.selu(_tensor(x))

    def swish(self, x: _Node) -> _Node:
        return F.silu(_tensor(x))

    def square(self, x: _Node) -> _Node:
        return _tensor(x).square()

    def squares(self, x: _Node) -> _Node:
        return _tensor(x).flip(2).flatten(2).transpose(1, 2)

    def first_units(self, x: _Node, number: int) -> _Node:
        return _tensor(x)[..., :number]

    def reshape(self, x: _Node, shape: tuple[int, ...]) -> _Node:
        return _tensor(x).reshape(-1, *shape)

    def each_unit(self, x: _Node, name: str) -> _Node:
        weight, bias = self.weights[name]
        return _tensor(x) * weight + bias

    def norm_units(self, x: _Node, name: str, epsilon: float) -> _Node:
        weight, bias = self.weights[name]
        return F.layer_norm(_tensor(x), weight.shape, weight, bias, epsilon)

    def attend(self, query: _Node, key: _Node, value: _Node, units: int, heads: int, bias: _Node | None) -> _Node:
        q, k, v = (
            _tensor(x).view(-1, _tensor(x).shape[1], heads, units // heads).transpose(1, 2) for x in (query, key, value)
        )
        mask = None if bias is None else _tensor(bias)
        return F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2)

    def products(self, query: _Node, key: _Node, units: int) -> _Node:
        return (_tensor(query) @ _tensor(key).transpose(1, 2)) * float(units**-0.5)

    def take(self, x: _Node, indices: NDArray[np.int64]) -> _Node:
        values = _tensor(x)
        if id(indices) not in self._indices:
            self._indices[id(indices)] = indices, torch.tensor(indices, device=values.device)
        return values.index_select(1, self._indices[id(indices)][1])

    def _fused(self, convolution: _Convolution) -> Tensor:
        weight, bias = self.weights[convolution.name]
        try:
            return fused_convolution(convolution.x, weight, bias, convolution.addend)
        except RuntimeError as error:
            if is_out_of_memory(error) or "CUDA error" in str(error):
                raise
            self.fuses = False
            warnings.warn(
                f"cuDNN does not fuse the convolutions of this network on {weight.device}"
                f" ({str(error).splitlines()[0]}): each is evaluated in several steps, which takes longer.",
                RuntimeWarning,
                stacklevel=2,
            )
        return convolution.rectified()


def fused_convolution(x_BCHW: Tensor, weight: Tensor, bias: Tensor, addend: Tensor | None) -> Tensor:
    """relu(conv(x) + bias + addend) [B, F, H, W] by one kernel of cuDNN, in channels-last memory."""
    padding = [weight.shape[-1] // 2] * 2
    if addend is None:
        return torch.cudnn_convolution_relu(x_BCHW, weight, bias, (1, 1), padding, (1, 1), 1)
    return torch.cudnn_convolution_add_relu(x_BCHW, weight, addend, 1.0, bias, (1, 1), padding, (1, 1), 1)


def _is_padded(device: torch.device) -> bool:
    """Whether channels are padded to the multiples that a GPU prefers."""
    return device.type == "cuda"


def _has_cudnn() -> bool:
    return torch.version.cuda is not None and torch.backends.cudnn.is_available()  # type: ignore[no-untyped-call]


def _multiple(number: int, of: int) -> int:
    """The smallest multiple that is not smaller."""
    return -(-number // of) * of

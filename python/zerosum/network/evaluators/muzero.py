"""Evaluations by a network that learns the rules (`network.kind` "muzero"), in PyTorch, with hidden states of searches.

A leaf of a search by learned rules is a root, whose planes the representation turns into a hidden state, or a move from
a hidden state, which the dynamics turns into the next. Each state goes into its slot of the search's slab, a tensor
where the network runs; Python sees slots alone. A search keeps its slab itself (`Leaves.memory`), so both end together.

Leaves of other searches are positions: representation and prediction evaluate them, so the same weights can be searched
by the game's own rules.

Shape suffixes: B leaves, R roots among them, M moves, F filters, H height, W width, A actions, V value logits.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from zerosum.network import Checkpoint
from zerosum.network.evaluators.device import torch_device
from zerosum.network.evaluators.evaluator import CPU_FULL_BATCH, Evaluations, NetworkEvaluator, evaluations_of
from zerosum.network.plane_bits import PlaneBits

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from zerosum._core import Leaves
    from zerosum.network.muzero_module import MuZeroModule

_FULL_BATCH_GPU = 512
"""`full_batch` of GPUs (not measured)."""
_LEAST_SLOTS = 256


class MuZeroEvaluator(NetworkEvaluator):
    """Runs representation, dynamics and prediction on one device, in float32. Threads may share it.

    A search is answered by the network that evaluated its root, also if `update` comes in between: another network's
    dynamics does not read its hidden states.
    """

    def __init__(self, checkpoint: Checkpoint, *, device: str = "auto") -> None:
        """Raises SettingsError if torch cannot use the device."""
        self._device = torch_device(device)
        self._turn = threading.Lock()
        self.update(checkpoint)

    @property
    @override
    def description(self) -> str:
        return f"PyTorch, {self._device}, f32, learned rules"

    @property
    @override
    def full_batch(self) -> int:
        return CPU_FULL_BATCH if self._device.type == "cpu" else _FULL_BATCH_GPU

    @override
    def update(self, checkpoint: Checkpoint, *, planes_BCHW: NDArray[np.float32] | None = None) -> None:
        self._network = _Network(checkpoint, self._device)

    @override
    def evaluate(self, leaves: Leaves) -> Evaluations:
        import torch

        hidden = leaves.hidden()
        with torch.inference_mode(), self._taking_turns():
            if hidden is None:
                logits = self._network.predict(self._network.represent(leaves, np.arange(len(leaves))))
            else:
                logits = self._walk(leaves, *hidden)
            policy_BA, value_BV = (logits[name].cpu().numpy() for name in ("policy", "value"))
        return evaluations_of(leaves, leaves.select_legal(policy_BA), value_BV)

    def _walk(
        self, leaves: Leaves, parents: NDArray[np.uint32], moves: NDArray[np.uint16], slots: NDArray[np.uint32]
    ) -> dict[str, Tensor]:
        """The logits of leaves of a search by learned rules; keeps their hidden states."""
        import torch

        assert leaves.memory is not None
        memory: _Memory = leaves.memory.setdefault(id(self), _Memory(self))
        trees, is_root = leaves.trees, parents == 0
        for tree in trees[is_root].tolist():
            memory.network_of_tree[tree] = self._network
        networks = [memory.network_of_tree[tree] for tree in trees.tolist()]
        found = list(dict.fromkeys(networks))
        if len(found) == 1:
            return found[0].walk(leaves, np.arange(len(leaves)), parents, moves, slots, memory)
        # The network was replaced meanwhile: searches that had begun before end with the one that they began with.
        parts = [np.flatnonzero([network is one for network in networks]) for one in found]
        answers = [
            one.walk(leaves, rows, parents[rows], moves[rows], slots[rows], memory)
            for one, rows in zip(found, parts, strict=True)
        ]
        order = torch.from_numpy(np.argsort(np.concatenate(parts))).to(self._device)
        return {name: torch.cat([answer[name] for answer in answers])[order] for name in answers[0]}

    def _taking_turns(self) -> Any:
        """A context in which calls take turns if torch uses several cores of the CPU for one call."""
        import torch

        return self._turn if self._device.type == "cpu" and torch.get_num_threads() > 1 else nullcontext()


@dataclass
class _Memory:
    """What the evaluator keeps of one search."""

    owner: MuZeroEvaluator
    """Keeps the key, the evaluator's id, from being another's."""
    slab: Tensor | None = None
    """[slots, F, H, W], the hidden state in each slot."""

    def __post_init__(self) -> None:
        self.network_of_tree: dict[int, _Network] = {}

    def slab_for(self, most: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """The slab, with room for a slot of this number."""
        import torch

        if self.slab is None or len(self.slab) <= most:
            size = max(_LEAST_SLOTS, 2 * most)
            grown = torch.empty((size, *shape), device=device)
            if self.slab is not None:
                grown[: len(self.slab)] = self.slab
            self.slab = grown
        return self.slab


class _Network:
    """One checkpoint's network on a device."""

    def __init__(self, checkpoint: Checkpoint, device: torch.device) -> None:
        from zerosum.network.muzero_module import MuZeroModule

        info = checkpoint.info
        module = MuZeroModule(info.network, info.shape, checkpoint.weights)
        module.eval()
        self._module: MuZeroModule = module.to(device)
        self._device = device
        self._hidden_shape = (info.network.num_filters, *info.board_shape)
        is_constant = np.array([is_constant for _, is_constant in info.planes], np.bool_)
        self._plane_bits = PlaneBits(is_constant, info.board_shape, device)

    def represent(self, leaves: Leaves, rows: NDArray[np.int64]) -> Tensor:
        """[R, F, H, W], the hidden states of positions among the leaves."""
        import torch

        bits, numbers = leaves.packed_planes[rows], leaves.constant_planes[rows]
        planes = self._plane_bits.expand(
            torch.from_numpy(bits).to(self._device), torch.from_numpy(numbers).to(self._device), torch.float32
        )
        return self._module.represent(planes)

    def predict(self, hidden: Tensor) -> dict[str, Tensor]:
        """The logits of each head."""
        return self._module.predict(hidden)

    def walk(
        self,
        leaves: Leaves,
        rows: NDArray[np.int64],
        parents: NDArray[np.uint32],
        moves: NDArray[np.uint16],
        slots: NDArray[np.uint32],
        memory: _Memory,
    ) -> dict[str, Tensor]:
        """The logits of some leaves, in their order; their hidden states are put into their slots."""
        import torch

        slab = memory.slab_for(int(slots.max()), self._hidden_shape, self._device)
        roots, others = np.flatnonzero(parents == 0), np.flatnonzero(parents)
        states = []
        if len(roots):
            states.append(self.represent(leaves, rows[roots]))
        if len(others):
            of_parents = slab[torch.from_numpy(parents[others].astype(np.int64)).to(self._device)]
            moved = torch.from_numpy(moves[others].astype(np.int64)).to(self._device)
            states.append(self._module.advance(of_parents, moved))
        hidden = torch.cat(states) if len(states) > 1 else states[0]
        order = np.concatenate([roots, others])
        slab[torch.from_numpy(slots[order].astype(np.int64)).to(self._device)] = hidden
        if len(states) > 1:
            hidden = hidden[torch.from_numpy(np.argsort(order)).to(self._device)]
        return self.predict(hidden)

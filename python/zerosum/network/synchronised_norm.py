"""Batch normalisation whose statistics are those of all parts of a batch that several processes hold.

torch.nn.SyncBatchNorm does the same on GPUs only; this one also runs on CPUs, where it is tested.

Shape suffixes: B positions of this process, F filters, H height, W width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributed.nn.functional import all_reduce


class SynchronisedNorm(nn.BatchNorm2d):
    """A batch norm over torch's default process group, whose processes hold equal parts of a batch."""

    @classmethod
    def of(cls, norm: nn.BatchNorm2d) -> SynchronisedNorm:
        """A norm that shares the parameters and running statistics of another one."""
        new = cls(norm.num_features, eps=norm.eps, momentum=norm.momentum, device="meta")
        new.weight, new.bias = norm.weight, norm.bias
        new.running_mean, new.running_var, new.num_batches_tracked = norm.running_mean, norm.running_var, None
        return new

    def forward(self, x_BFHW: Tensor) -> Tensor:
        """[B, F, H, W] to the same shape and dtype; statistics are computed in float32."""
        if not self.training:
            return super().forward(x_BFHW)
        assert self.running_mean is not None and self.running_var is not None and self.momentum is not None
        num_parts = torch.distributed.get_world_size()
        num = num_parts * x_BFHW.numel() // self.num_features
        dims = (0, 2, 3)
        x = x_BFHW.float()
        mean_F = all_reduce(x.sum(dims)) / num  # type: ignore[no-untyped-call]
        centred = x - mean_F[:, None, None]
        # The sum of squared deviations, not the difference of two large sums, which loses digits.
        var_F = all_reduce((centred * centred).sum(dims)) / num  # type: ignore[no-untyped-call]
        with torch.no_grad():
            self.running_mean.lerp_(mean_F, self.momentum)
            self.running_var.lerp_(var_F * (num / (num - 1)), self.momentum)
        scale_F: Tensor = self.weight * torch.rsqrt(var_F + self.eps)
        y: Tensor = centred * scale_F[:, None, None] + self.bias[:, None, None]
        return y.to(x_BFHW.dtype)


def synchronise_norms(network: nn.Module) -> None:
    """Replace every batch norm of a network by a `SynchronisedNorm`."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.BatchNorm2d):
                setattr(module, name, SynchronisedNorm.of(child))

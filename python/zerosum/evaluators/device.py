"""The devices of torch on this machine: one GPU, several, or the CPU."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

from zerosum.base.errors import SettingsError

if TYPE_CHECKING:
    import torch


def uses_gpu(device: str = "auto") -> bool:
    """Whether torch would run on a GPU. Without a driver for one, torch is not imported."""
    may_be_gpu = _has_gpu_driver() if device == "auto" else device != "cpu"
    return may_be_gpu and torch_device(device).type != "cpu"


def num_devices() -> int:
    """The number of devices that "auto" stands for, at least 1."""
    return len(torch_devices("auto"))


def torch_device(name: str) -> torch.device:
    """The first of `torch_devices`."""
    return torch_devices(name)[0]


def torch_devices(name: str) -> tuple[torch.device, ...]:
    """The devices of a name: one, or several with commas between ("cuda:0,cuda:1").

    "cuda" stands for all GPUs of NVIDIA or AMD; "auto" for these if there are any, else Apple's GPU, else the CPU.

    Raises:
        SettingsError: one of them cannot be used.
    """
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if name == "cuda" and torch.cuda.is_available():
        return tuple(torch.device("cuda", number) for number in range(torch.cuda.device_count()))
    try:
        return tuple(torch.empty(0, device=each.strip()).device for each in name.split(","))
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise SettingsError(f"device is {name!r}, which torch cannot use here ({reason}): use 'auto'.") from error


def _has_gpu_driver() -> bool:
    """Whether the machine seems to have a GPU that torch might use, found without importing torch."""
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    if platform.system() == "Windows":
        return Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "nvcuda.dll").exists()
    # NVIDIA, NVIDIA under WSL, AMD.
    return any(Path(path).exists() for path in ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd"))

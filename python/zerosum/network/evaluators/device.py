"""The devices of torch on this machine: one GPU, several, or the CPU."""

from __future__ import annotations

import os
import platform
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from zerosum.base.errors import SettingsError, counted

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
        if not (has_cuda := _cuda_is_available()) and _has_cuda_driver():
            warnings.warn(f"{_reason_for_no_cuda()} The CPU is used.", RuntimeWarning, stacklevel=2)
        name = "cuda" if has_cuda else "mps" if torch.backends.mps.is_available() else "cpu"
    if any(each.strip().startswith("cuda") for each in name.split(",")):
        _require_cuda(name)
    if name == "cuda":
        return tuple(torch.device("cuda", number) for number in range(torch.cuda.device_count()))
    try:
        return tuple(torch.empty(0, device=each.strip()).device for each in name.split(","))
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise SettingsError(f"device is {name!r}, which torch cannot use here ({reason}): use 'auto'.") from error


def _require_cuda(name: str) -> None:
    """Raise SettingsError unless torch has the CUDA devices of this name."""
    import torch

    if not _cuda_is_available():
        raise SettingsError(f"device is {name!r}: {_reason_for_no_cuda()} Use 'auto' for the CPU.")
    number = torch.cuda.device_count()
    for each in name.split(","):
        _, _, index = each.strip().partition(":")
        if index.isdecimal() and int(index) >= number:
            known = "cuda:0" if number == 1 else f"cuda:0 to cuda:{number - 1}"
            raise SettingsError(f"device is {name!r}, but this machine has {counted(number, 'GPU')}: {known}.")


def _cuda_is_available() -> bool:
    import torch

    with warnings.catch_warnings():  # torch explains a driver that is too old, and `_reason_for_no_cuda` does too
        warnings.simplefilter("ignore")
        return torch.cuda.is_available()


def _reason_for_no_cuda() -> str:
    """Why torch has no CUDA device here, and the remedy, in one sentence."""
    import torch

    if not _has_cuda_driver():
        return "This machine has no driver of an NVIDIA or AMD GPU."
    if torch.version.cuda is None and torch.version.hip is None:
        return (
            f"This machine has a GPU, but torch {torch.__version__} was built without CUDA: install the build for CUDA"
            " (https://pytorch.org/get-started/locally)."
        )
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        return (
            f"torch {torch.__version__} (CUDA {torch.version.cuda}) cannot use the GPU here ({reason}): update its"
            " driver, or install a build of torch for an older CUDA."
        )
    return "torch found no GPU: look at CUDA_VISIBLE_DEVICES and at the output of nvidia-smi."


def _has_gpu_driver() -> bool:
    """Whether the machine seems to have a GPU that torch might use, found without importing torch."""
    if platform.system() == "Darwin":
        return platform.machine() == "arm64"
    if platform.system() == "Windows":
        return Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "nvcuda.dll").exists()
    return any(Path(path).exists() for path in _DRIVER_FILES)


_DRIVER_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")  # NVIDIA, NVIDIA under WSL, AMD


def _has_cuda_driver() -> bool:
    """Whether the machine seems to have a GPU of NVIDIA or AMD."""
    return platform.system() != "Darwin" and _has_gpu_driver()

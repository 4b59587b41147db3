"""Kernels of our own for NVIDIA GPUs, by Triton (extra `gpu`): where they apply, and how arrays get there.

Nothing of torch or Triton is imported before an array on a GPU is met.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any

from array_api_compat import array_namespace, is_torch_array

from unflip.border.arrays import on_cuda


@cache
def has_triton() -> bool:
    """Whether torch and Triton are there, as the extra `gpu` asks for."""
    return find_spec("torch") is not None and find_spec("triton") is not None


def is_for_triton(X: Any) -> bool:
    """Whether our kernels may read this array: float32 or float64 on an NVIDIA GPU, with torch and Triton.

    >>> import numpy as np
    >>> is_for_triton(np.ones((2, 2)))
    False
    """
    return on_cuda(X) and str(X.dtype).endswith(("float32", "float64")) and has_triton()


def on_device_of(X: Any) -> Any:
    """A context in which kernels are started on the GPU of a tensor."""
    import torch

    elsewhere = X.device.type == "cuda" and X.device.index != torch.cuda.current_device()
    return torch.cuda.device(X.device) if elsewhere else nullcontext()


def as_tensor(X: Any) -> Any:
    """The same memory as a tensor of torch: CuPy and torch share arrays without a copy."""
    if is_torch_array(X):
        return X
    import torch

    return torch.utils.dlpack.from_dlpack(X)


def like_given(tensor: Any, given: Any) -> Any:
    """A tensor as an array of the library of `given`, without a copy."""
    return tensor if is_torch_array(given) else array_namespace(given).from_dlpack(tensor)

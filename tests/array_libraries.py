"""One fixture for every array library at hand: a test that takes `xp` runs on each of them."""

import numpy as np
import pytest

from unflip.border.arrays import to_numpy


class Library:
    """An array library on one of its devices: `move` brings arrays there, `back` to NumPy."""

    def __init__(self, name, namespace, device=None):
        self.name, self.namespace, self.device = name, namespace, device

    def move(self, values):
        return self.namespace.asarray(np.array(values), device=self.device)

    @property
    def on_host(self):
        return "cpu" in str(getattr(self.move([0.0]), "device", "")).lower()

    def back(self, values):
        return to_numpy(values)

    def owns(self, values):
        return type(values) is type(self.move([0.0]))


@pytest.fixture(
    params=["array_api_strict", "array_api_strict, another device", "torch", "torch, CUDA", "cupy"]
)
def xp(request):
    if request.param.startswith("array_api_strict"):
        array_api_strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
        if "another" in request.param:
            return Library(request.param, array_api_strict, array_api_strict.Device("device1"))
        return Library(request.param, array_api_strict)
    if request.param == "cupy":
        pytest.importorskip("cupy", reason="CuPy is not installed")
        from array_api_compat import cupy

        return Library(request.param, cupy)
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if request.param == "torch":
        return Library(request.param, torch, "cpu")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU here")
    return Library(request.param, torch, "cuda")

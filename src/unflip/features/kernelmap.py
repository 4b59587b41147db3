"""What the maps that stand for a stationary kernel share: its name, and a bandwidth found without labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils._param_validation import Interval, StrOptions

from unflip import kernels
from unflip.features.labelfree import LabelFree

KERNEL_NAMES = {"rbf", "gaussian", "laplace", "euclidean_laplace"}


class KernelMap(ClassNamePrefixFeaturesOutMixin, LabelFree):
    """A map with <phi(x), phi(z)> near k(x, z) for a kernel named by parameters `kernel` and `bandwidth`.

    >>> from unflip.features import Fourier
    >>> Fourier(bandwidth="median").fit([[0.0], [2.0], [5.0]]).kernel_
    Gaussian(bandwidth=3.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(KERNEL_NAMES)],
        "bandwidth": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    kernel: str
    bandwidth: float | str

    def _fitted_kernel(self, X: Any, rng: Any) -> kernels.StationaryKernel:
        kernel: Any = kernels.get(self.kernel, 1.0)
        bandwidth = self.bandwidth
        if isinstance(bandwidth, str):
            bandwidth = kernels.median_bandwidth(X, rng, metric=kernel.metric)
        return type(kernel)(bandwidth)

    @property
    def _fewest_rows(self) -> int:
        return 2 if self.bandwidth == "median" else 1

    @property
    def _takes_sparse(self) -> bool:
        return self.kernel != "laplace"

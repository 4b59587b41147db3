"""Kernels: values and scores in tiles, combinations, bandwidths, and distances of kernel means.

>>> kernel = 0.5 * get("gaussian", 1.0) + 0.5 * get("laplace", 2.0)
>>> kernel([[0.0]], [[0.0], [2.0]]).round(6).tolist()
[[1.0, 0.251607]]
"""

from __future__ import annotations

from typing import Any

from unflip.kernels.bandwidth import median_bandwidth
from unflip.kernels.base import Kernel, Product, Scaled, Sum
from unflip.kernels.distances import manhattan_distances, squared_distances
from unflip.kernels.mean import mmd, permutation_test, witness
from unflip.kernels.polynomial import Linear, Polynomial
from unflip.kernels.profile import DistanceKernel
from unflip.kernels.rank import RankLaplace, midranks
from unflip.kernels.stationary import EuclideanLaplace, Gaussian, Laplace, StationaryKernel

__all__ = [
    "DistanceKernel",
    "EuclideanLaplace",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Linear",
    "Polynomial",
    "Product",
    "RankLaplace",
    "Scaled",
    "StationaryKernel",
    "Sum",
    "by_name",
    "get",
    "manhattan_distances",
    "median_bandwidth",
    "midranks",
    "mmd",
    "permutation_test",
    "squared_distances",
    "witness",
]

_BY_NAME: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplace": Laplace,
    "euclidean_laplace": EuclideanLaplace,
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
}


def by_name(kernel: str) -> type[Kernel]:
    """The class of a kernel.

    >>> by_name("rbf").__name__
    'Gaussian'
    """
    if kernel not in _BY_NAME:
        raise ValueError(f"no kernel is called {kernel!r}; choose one of {', '.join(_BY_NAME)}")
    return _BY_NAME[kernel]


def get(kernel: str | Kernel, bandwidth: float | None = None, **parameters: Any) -> Kernel:
    """A kernel by its name, with its bandwidth or parameters; a kernel is handed back as it is.

    >>> get("rbf", 2.0), get("poly", degree=2)
    (Gaussian(bandwidth=2.0), Polynomial(degree=2, constant=1.0))
    """
    if bandwidth is not None:
        parameters["bandwidth"] = bandwidth
    if isinstance(kernel, Kernel):
        if parameters:
            raise TypeError(
                f"{', '.join(parameters)}: parameters go with a name, {kernel!r} has its own already"
            )
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(f"a kernel is a name or an instance of Kernel, got {kernel!r}")
    kind = by_name(kernel)
    if issubclass(kind, DistanceKernel) != ("bandwidth" in parameters):
        needs = "needs a bandwidth" if issubclass(kind, DistanceKernel) else "has no bandwidth"
        raise ValueError(f"the kernel {kernel!r} {needs}")
    return kind(**parameters)

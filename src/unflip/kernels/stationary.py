"""Kernels of x - z, each with the distribution of its frequencies.

By Bochner's theorem a stationary kernel with k(x, x) = 1 is E[cos <w, x - z>] for random w. Hence
random Fourier features: E[2 cos(<w, x> + u) cos(<w, z> + u)] = k(x, z), with u uniform on a circle.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unflip.border.arrays import Array, is_foreign
from unflip.kernels import on_device
from unflip.kernels.distances import (
    is_sparse,
    manhattan_between,
    prepare_euclidean,
    prepare_manhattan,
    scaled_product,
    squared_between,
)
from unflip.kernels.profile import DistanceKernel


class StationaryKernel(DistanceKernel):
    """A function of x - z that is one at zero, hence a mean of cosines.

    >>> frequencies = Gaussian(2.0).spectral_sample(3, 1000, np.random.default_rng(0))
    >>> frequencies.shape
    (1000, 3)
    """

    @abstractmethod
    def spectral_sample(self, d: int, count: int, rng: np.random.Generator) -> Array:
        """`count` random frequencies w of length d, so that k(x, z) = E[cos <w, x - z>]."""

    @property
    def stationary(self) -> bool:
        """True."""
        return True


@dataclass(frozen=True)
class Gaussian(StationaryKernel):
    """exp(-|x - z|^2 / (2 bandwidth^2)). Its `distance` is the squared one; rows may be sparse.

    >>> Gaussian(1.0)([[0.0]], [[0.0], [2.0]]).round(6).tolist()
    [[1.0, 0.135335]]
    """

    metric: ClassVar[str] = "euclidean"

    bandwidth: float

    def score(
        self, X: Any, Z: Any, weights: Any, threads: int | None = None, precision: str = "accurate"
    ) -> Any:
        """sum_j weights_j k(x_i, z_j) for each row of X; one column for each column of the weights.

        X and Z may be arrays of torch or CuPy: then so are the scores, on the same device. There, float32
        rows of up to 128 columns on an NVIDIA GPU go through a fused kernel (extra `gpu`): the error of all
        scores together is below 1e-5 of them, and with precision="fast", twice as fast, below 1e-3.
        Everywhere else the precision is that of float64.
        """
        if is_foreign(X) or is_foreign(Z):
            return on_device.gaussian_score(X, Z, weights, self.bandwidth, precision)
        return super().score(X, Z, weights, threads)

    def prepare(self, X: Any, origin: Array | None) -> Any:
        """Rows about the origin, with their squared norms."""
        return prepare_euclidean(X, origin)

    def distances_between(self, a: Any, b: Any) -> Array:
        """Squared Euclidean distances."""
        return squared_between(a, b)

    def between(self, a: Any, b: Any) -> Array:
        """The profile of the distances. Where a product has digits enough, it gives the exponents at once."""
        largest = a.squares.max() + b.squares.max()
        if largest > on_device.EXACT_EXPONENTS * self.bandwidth**2 or is_sparse(a, b):
            return super().between(a, b)
        exponents = scaled_product(a, b, -0.5 * math.log2(math.e) / self.bandwidth**2)
        return np.exp2(exponents, out=exponents)  # a little faster than exp

    def profile(self, distance: Array, out: Array | None = None) -> Array:
        """exp(-distance / (2 bandwidth^2)) of squared distances."""
        scaled = np.multiply(distance, -0.5 / self.bandwidth**2, out=out)
        return np.exp(scaled, out=scaled)

    def spectral_sample(self, d: int, count: int, rng: np.random.Generator) -> Array:
        """Normal frequencies of standard deviation 1 / bandwidth."""
        return rng.standard_normal((count, d)) / self.bandwidth


@dataclass(frozen=True)
class EuclideanLaplace(StationaryKernel):
    """exp(-|x - z|_2 / bandwidth). Rows may be sparse.

    >>> EuclideanLaplace(5.0)([[0.0, 0.0]], [[3.0, 4.0]]).round(6).tolist()
    [[0.367879]]
    """

    metric: ClassVar[str] = "euclidean"

    bandwidth: float

    def prepare(self, X: Any, origin: Array | None) -> Any:
        """Rows about the origin, with their squared norms."""
        return prepare_euclidean(X, origin)

    def distances_between(self, a: Any, b: Any) -> Array:
        """Euclidean distances."""
        squared = squared_between(a, b)
        return np.sqrt(squared, out=squared)

    def spectral_sample(self, d: int, count: int, rng: np.random.Generator) -> Array:
        """Multivariate Cauchy frequencies: a normal vector over an independent normal number."""
        return rng.standard_normal((count, d)) / rng.standard_normal((count, 1)) / self.bandwidth


@dataclass(frozen=True)
class Laplace(StationaryKernel):
    """exp(-|x - z|_1 / bandwidth), a product over columns. Rows are dense.

    >>> Laplace(7.0)([[0.0, 0.0]], [[3.0, -4.0]]).round(6).tolist()
    [[0.367879]]
    """

    metric: ClassVar[str] = "manhattan"

    bandwidth: float

    def prepare(self, X: Any, origin: Array | None) -> Any:
        """The rows in float64."""
        return prepare_manhattan(X, origin)

    def distances_between(self, a: Any, b: Any) -> Array:
        """Sums of absolute differences."""
        return manhattan_between(a, b)

    def spectral_sample(self, d: int, count: int, rng: np.random.Generator) -> Array:
        """Independent Cauchy frequencies of scale 1 / bandwidth."""
        return rng.standard_cauchy((count, d)) / self.bandwidth

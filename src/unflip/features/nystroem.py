"""Nystroem features: a kernel as seen from a few landmarks.

With K the kernel matrix of the landmarks Z and K = L L', the features L^-1 k(Z, x) have the inner products
k(x, Z) K^-1 k(Z, x'): exact for landmarks, and never too long.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from unflip.border.arrays import Array
from unflip.features.kernelmap import KernelMap
from unflip.features.labelfree import generator
from unflip.features.lowrank import LowRank
from unflip.features.pivots import random_pivots

CANDIDATES = 1 << 23  # numbers that random pivots may keep: 64 MB


class Nystroem(KernelMap):
    """L^-1 k(Z, x) for landmarks Z among the fitted rows, with k(Z, Z) = L L'.

    Parameters
    ----------
    n_components: how many landmarks, if there are so many rows.
    kernel: "rbf" (also called "gaussian"), "laplace" or "euclidean_laplace".
    bandwidth: of the kernel; "median" takes the median distance of rows.
    landmarks: "uniform" draws rows at random; "pivoted" draws each with probability proportional to what the
        landmarks before it do not explain of a row (randomly pivoted Cholesky), which needs fewer of them
        for the same error. It costs O(n m^2), with n at most 2^23 / m rows, drawn at random from all.
    random_state: seeds the landmarks and the rows that the median is taken over.

    Attributes: `kernel_`, `landmarks_` (m, d), `indices_` (their rows), `factor_` (L).

    >>> X = [[0.0], [1.0], [3.0]]
    >>> phi = Nystroem(bandwidth=1.0).fit_transform(X)
    >>> (phi @ phi.T).round(6).tolist()
    [[1.0, 0.606531, 0.011109], [0.606531, 1.0, 0.135335], [0.011109, 0.135335, 1.0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMap._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "landmarks": [StrOptions({"uniform", "pivoted"})],
    }

    def __init__(
        self,
        n_components: int = 400,
        kernel: str = "rbf",
        bandwidth: float | str = "median",
        landmarks: str = "uniform",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.landmarks = landmarks
        self.random_state = random_state

    @property
    def width(self) -> int:
        """The number of landmarks."""
        return len(self.factor_)

    @property
    def radius(self) -> float:
        """One, since k(x, x) = 1 and landmarks explain a part of it."""
        return 1.0

    def _learn(self, X: Any) -> None:
        rng = generator(self.random_state)
        self.kernel_ = self._fitted_kernel(X, rng)
        n, m = X.shape[0], min(X.shape[0], self.n_components)
        if self.landmarks == "uniform":
            chosen = rng.choice(n, m, replace=False)
        else:
            chosen = rng.choice(n, min(n, max(m, CANDIDATES // m)), replace=False)
            chosen = chosen[random_pivots(X[chosen], self.kernel_, m, rng)]
        self.indices_ = chosen
        self.landmarks_ = X[chosen]
        if sparse.issparse(X):
            self.landmarks_.sum_duplicates()
        self._lowrank = LowRank(self.kernel_, self.landmarks_)
        self.factor_ = self._lowrank.factor

    def _map(self, X: Any) -> Array:
        return self._lowrank.transform(X)

    def _parts(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"kernel": repr(self.kernel_)}
        rows = self.landmarks_
        if sparse.issparse(rows):
            parts |= {"indices": rows.indices.astype(np.int64), "indptr": rows.indptr.astype(np.int64)}
            rows = rows.data
        return parts | {"landmarks": rows.astype(np.float64)}

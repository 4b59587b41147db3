"""Random Fourier features: a stationary kernel as an inner product of cosines.

Rahimi and Recht, Random features for large-scale kernel machines (2007). The error of an inner product
falls as 1 / sqrt(D) for D features, whatever the number of columns.
"""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace, device
from scipy import sparse
from sklearn.utils._param_validation import Interval

from unflip._threads import workers
from unflip.border.arrays import Array, as_float64, beside, is_foreign, to_numpy
from unflip.border.blocks import device_blocks, slices
from unflip.features.cosine import cosines
from unflip.features.kernelmap import KernelMap
from unflip.features.labelfree import generator
from unflip.kernels import StationaryKernel

LOST_ANGLE = 1e10  # turns: six digits of an angle are left
SAMPLE_AMID = 1000  # rows looked at for a point amid the data
TILE = 1 << 19  # features made at a time by one thread: 4 MB


class Fourier(KernelMap):
    """sqrt(2 / D) cos(W x + u), whose inner products are k(x, z) on average.

    Parameters
    ----------
    n_features: D.
    kernel: "rbf" (also called "gaussian"), "laplace" or "euclidean_laplace".
    bandwidth: of the kernel; "median" takes the median distance of rows.
    random_state: seeds W, u and the rows that the median is taken over.

    Attributes: `kernel_`, `frequencies_` (D, d), `phases_` (D,), `center_` (d,), which stands for zero.

    Rows may be arrays of torch or CuPy: then so are the features, in float64 on the same device.
    Tiles of rows are shared among as many threads as BLAS has, which changes nothing in the features.

    >>> phi = Fourier(n_features=5000, bandwidth=1.0).fit_transform([[0.0], [1.0]])
    >>> bool(abs(phi[0] @ phi[1] - np.exp(-1 / 2)) < 0.05)
    True
    """

    _on_device: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMap._parameter_constraints,
        "n_features": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features: int = 1000,
        kernel: str = "rbf",
        bandwidth: float | str = "median",
        random_state: Any = 0,
    ) -> None:
        self.n_features = n_features
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.random_state = random_state

    @property
    def width(self) -> int:
        """D."""
        return len(self.frequencies_)

    @property
    def radius(self) -> float:
        """sqrt(2), since no cosine exceeds one."""
        return math.sqrt(2)

    def _learn(self, X: Any) -> None:
        rng = generator(self.random_state)
        self.kernel_ = self._fitted_kernel(X, rng)
        self.frequencies_, self.phases_ = self._waves(self.kernel_, X.shape[1], rng)
        # Far from zero the digits of <w, x> would be lost. The kernel does not mind a shift.
        self.center_ = np.zeros(X.shape[1])
        if not sparse.issparse(X):
            self.center_ = np.ascontiguousarray(_few(X), dtype=np.float64).mean(axis=0)
        self._refuse_lost_angles(X)

    def _refuse_lost_angles(self, X: Any) -> None:
        """Raise if <w, x> is so large that its fractional turn has no digits."""
        few = _few(X)
        reach = np.abs(few.data if sparse.issparse(few) else few - self.center_).max(initial=0.0)
        turns = float(reach) * float(np.median(np.abs(self.frequencies_)))
        if not turns < LOST_ANGLE:
            raise ValueError(
                f"with {self.kernel_} rows turn {turns:.0e} times, and nothing is left of their angles; "
                "take a wider bandwidth"
            )

    def _waves(self, kernel: StationaryKernel, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Frequencies, one a row, and phases."""
        frequencies = kernel.spectral_sample(d, self.n_features, rng)  # Section 6.2
        return frequencies, rng.uniform(0, 2 * np.pi, self.n_features)

    def _map(self, X: Any) -> Any:
        per_turn = self.frequencies_.T / (2 * np.pi)
        start = self.phases_ / (2 * np.pi)
        if is_foreign(X):
            return self._map_beside(X, per_turn, start)
        features = np.empty((X.shape[0], self.width))

        def fill(rows: slice) -> None:
            tile = features[rows]
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite, the sums will tell
                if sparse.issparse(X):
                    tile[:] = X[rows] @ per_turn - self.center_ @ per_turn
                else:
                    np.matmul(X[rows] - self.center_, per_turn, out=tile)
                tile += start
                cosines(tile, math.sqrt(2 / self.width))

        tiles = slices(0, X.shape[0], max(1, TILE // self.width))
        with workers(None) as spread:
            for _ in spread(fill, tiles) if len(tiles) > 1 else map(fill, tiles):
                pass
        return features

    def row_by_row(self, X: Any) -> Array:
        """The features of rows, to the last bit the same whatever rows are around: slower, for exact sums.

        A product of matrices adds in an order that depends on where a row lies; column after column does not.
        """
        features = np.empty((X.shape[0], self.width))
        features[:] = self.phases_ / (2 * np.pi)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite, the sums will tell
            for j, waves in enumerate(self.frequencies_.T / (2 * np.pi)):
                column = X[:, [j]].toarray() if sparse.issparse(X) else X[:, j : j + 1]
                features += (column.astype(np.float64) - self.center_[j]) * waves
        return np.asarray(cosines(features, math.sqrt(2 / self.width)))

    @np.errstate(over="ignore", invalid="ignore")  # for libraries that are NumPy inside
    def _map_beside(self, X: Any, per_turn: Array, start: Array) -> Any:
        xp = array_namespace(X)
        per_turn, start, center = (beside(part, X) for part in (per_turn, start, self.center_))
        features = xp.empty((X.shape[0], self.width), dtype=xp.float64, device=device(X))
        for rows in device_blocks(X.shape[0], self.width):
            turns = (as_float64(X[rows, :]) - center) @ per_turn + start
            angles = (turns - xp.round(turns)) * (2 * math.pi)
            features[rows, :] = xp.cos(angles) * math.sqrt(2 / self.width)
        return features

    def _parts(self) -> dict[str, Any]:
        return {"frequencies": self.frequencies_, "phases": self.phases_, "center": self.center_}


def _few(X: Any) -> Any:
    """Some rows, on the host."""
    few = X[:: max(1, X.shape[0] // SAMPLE_AMID), :]
    return to_numpy(few) if is_foreign(few) else few

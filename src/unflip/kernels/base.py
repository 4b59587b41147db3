"""What a kernel is: a value for each pair of rows, computed in tiles, and ways to combine kernels.

Conventions. X is n x d, Z is m x d, dense or (where the kernel says so) sparse; values are n x m in
float64 whatever the input. A kernel is a frozen value. A new one defines `prepare`, which sees a few
rows once, and `between`, which takes two prepared sets of rows and returns the table of their values;
everything else follows. Sums, products and nonnegative multiples of kernels are kernels.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.kernels.blocks import sweep
from unflip.kernels.distances import full_table
from unflip.kernels.rows import as_tables, refuse_overflow


class Kernel(ABC):
    """A symmetric, positive semidefinite function of two rows.

    >>> from unflip.kernels import Gaussian, Linear
    >>> kernel = Gaussian(1.0) + 0.5 * Linear()
    >>> kernel([[0.0]], [[0.0], [2.0]]).round(6).tolist()
    [[1.0, 0.135335]]
    >>> kernel.score([[0.0]], [[0.0], [2.0]], [1.0, -1.0]).round(6).tolist()
    [0.864665]
    """

    __array_ufunc__ = None  # a NumPy number times a kernel is a kernel, not an array of one

    @abstractmethod
    def prepare(self, X: Any, origin: Array | None) -> Any:
        """What `between` needs to know of these rows; `origin` is a point amid the data, or None."""

    @abstractmethod
    def between(self, a: Any, b: Any) -> Array:
        """The values of all pairs of prepared rows, in an array of their own."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """An upper bound on k(x, x), possibly infinite."""

    @property
    @abstractmethod
    def stationary(self) -> bool:
        """Whether k(x, z) depends on x - z alone."""

    def __call__(self, X: Any, Z: Any) -> Array:
        """The n x m table of values; `score` does without it."""
        values = full_table(*as_tables(X, Z), self.prepare, self.between)
        return refuse_overflow(values, f"the values of {self}") if math.isinf(self.bound) else values

    def score(self, X: Any, Z: Any, weights: Any, threads: int | None = None) -> Array:
        """sum_j weights_j k(x_i, z_j) for each row of X; one column for each column of the weights.

        Only tiles of the table of values exist at any time, 2 MB for each thread. There are as many
        threads as BLAS would use, unless told otherwise; their number does not change the result.
        """
        left, right = as_tables(X, Z)
        w = as_weights(weights, right.shape[0])
        scores = np.zeros((left.shape[0], *w.shape[1:]))

        def use(rows: slice, columns: slice, tile: Array) -> None:
            scores[rows] += tile @ w[columns]

        sweep(left, right, self.prepare, self.between, use, threads)
        return refuse_overflow(scores, f"the scores of {self}", "the columns or the weights")

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(float(other), self) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


@dataclass(frozen=True, repr=False)
class Sum(Kernel):
    """k(x, z) + l(x, z).

    >>> from unflip.kernels import Linear, Polynomial
    >>> Linear() + Polynomial(2)
    Linear() + Polynomial(degree=2, constant=1.0)
    """

    left: Kernel
    right: Kernel

    def prepare(self, X: Any, origin: Array | None) -> Any:
        """Each part prepares the rows in its own way."""
        return self.left.prepare(X, origin), self.right.prepare(X, origin)

    def between(self, a: Any, b: Any) -> Array:
        """The values of the parts, added."""
        values = self.left.between(a[0], b[0])
        values += self.right.between(a[1], b[1])
        return values

    def diagonal(self, X: Any) -> Array:
        """k(x, x) + l(x, x)."""
        return self.left.diagonal(X) + self.right.diagonal(X)

    @property
    def bound(self) -> float:
        """The sum of the bounds."""
        return self.left.bound + self.right.bound

    @property
    def stationary(self) -> bool:
        """Whether both parts are."""
        return self.left.stationary and self.right.stationary

    def __repr__(self) -> str:
        return f"{self.left!r} + {self.right!r}"


@dataclass(frozen=True, repr=False)
class Product(Kernel):
    """k(x, z) l(x, z).

    >>> from unflip.kernels import Gaussian, Linear
    >>> Gaussian(1.0) * (Linear() + Linear())
    Gaussian(bandwidth=1.0) * (Linear() + Linear())
    """

    left: Kernel
    right: Kernel

    def prepare(self, X: Any, origin: Array | None) -> Any:
        """Each part prepares the rows in its own way."""
        return self.left.prepare(X, origin), self.right.prepare(X, origin)

    def between(self, a: Any, b: Any) -> Array:
        """The values of the parts, multiplied."""
        values = self.left.between(a[0], b[0])
        values *= self.right.between(a[1], b[1])
        return values

    def diagonal(self, X: Any) -> Array:
        """k(x, x) l(x, x)."""
        return self.left.diagonal(X) * self.right.diagonal(X)

    @property
    def bound(self) -> float:
        """The product of the bounds."""
        return _times(self.left.bound, self.right.bound)

    @property
    def stationary(self) -> bool:
        """Whether both parts are."""
        return self.left.stationary and self.right.stationary

    def __repr__(self) -> str:
        return f"{_factor(self.left)} * {_factor(self.right)}"


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    """c k(x, z) with c >= 0.

    >>> from unflip.kernels import Gaussian
    >>> (0.5 * Gaussian(1.0)).bound
    0.5
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        if not (math.isfinite(self.factor) and self.factor >= 0):
            raise ValueError(f"a kernel is multiplied by a finite number >= 0, got {self.factor!r}")

    def prepare(self, X: Any, origin: Array | None) -> Any:
        """As the kernel does."""
        return self.kernel.prepare(X, origin)

    def between(self, a: Any, b: Any) -> Array:
        """The values of the kernel, scaled."""
        values = self.kernel.between(a, b)
        values *= self.factor
        return values

    def diagonal(self, X: Any) -> Array:
        """c k(x, x)."""
        return self.factor * self.kernel.diagonal(X)

    @property
    def bound(self) -> float:
        """The bound, scaled."""
        return _times(self.factor, self.kernel.bound)

    @property
    def stationary(self) -> bool:
        """Whether the kernel is."""
        return self.kernel.stationary

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_factor(self.kernel)}"


def _factor(kernel: Kernel) -> str:
    return repr(kernel) if not isinstance(kernel, Sum | Product | Scaled) else f"({kernel!r})"


def _times(a: float, b: float) -> float:
    return a * b if a and b else 0.0  # nothing times infinity is nothing


def as_weights(weights: Any, rows: int) -> Array:
    """One finite number for each row of Z, or several, in columns.

    >>> as_weights([1, 2], 2).tolist()
    [1.0, 2.0]
    """
    w = np.ascontiguousarray(weights, dtype=np.float64)
    if w.ndim not in (1, 2) or len(w) != rows:
        raise ValueError(
            f"Z has {rows} rows, so weights are ({rows},) or ({rows}, k); got {np.shape(weights)}"
        )
    if not np.isfinite(w).all():
        raise ValueError(f"weights are finite, got {w[~np.isfinite(w)][0]}")
    return w

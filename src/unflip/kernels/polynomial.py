"""Kernels of the inner product: linear and polynomial. They see where the origin is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.kernels.base import Kernel, as_weights
from unflip.kernels.rows import (
    as_float64,
    as_table,
    as_tables,
    inner_products,
    refuse_overflow,
    squared_norms,
)

HIGHEST = 1000  # degree: each is a multiplication, and all but 1 have become nothing or too much by then


class InnerProductKernel(Kernel):
    """A function of <x, z>.

    >>> Linear().bound, Polynomial(2).stationary
    (inf, False)
    """

    def prepare(self, X: Any, origin: Array | None) -> Any:
        """The rows in float64."""
        return as_float64(X)

    @property
    def bound(self) -> float:
        """Infinity: rows may be long."""
        return math.inf

    @property
    def stationary(self) -> bool:
        """False."""
        return False


@dataclass(frozen=True)
class Linear(InnerProductKernel):
    """<x, z>. Rows may be sparse.

    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """

    def between(self, a: Any, b: Any) -> Array:
        """Inner products."""
        return inner_products(a, b)

    def score(self, X: Any, Z: Any, weights: Any, threads: int | None = None) -> Array:
        """<x, sum_j weights_j z_j>: one vector stands for all rows of Z."""
        left, right = as_tables(X, Z)
        w = as_weights(weights, right.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray(as_float64(left) @ np.asarray(as_float64(right).T @ w))
        return refuse_overflow(scores, f"the scores of {self}", "the columns or the weights")

    def diagonal(self, X: Any) -> Array:
        """Squared norms."""
        return refuse_overflow(_squares(X), f"the values of {self}")


@dataclass(frozen=True)
class Polynomial(InnerProductKernel):
    """(<x, z> + constant)^degree with a degree from 1 to 1000 and a constant >= 0. Rows may be sparse.

    >>> Polynomial(degree=2, constant=1.0)([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[144.0]]
    """

    degree: int = 3
    constant: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.degree, int | np.integer) or not 1 <= self.degree <= HIGHEST:
            raise ValueError(f"a degree is a whole number from 1 to {HIGHEST}, got {self.degree!r}")
        if not (math.isfinite(self.constant) and self.constant >= 0):
            raise ValueError(f"a constant is a finite number >= 0, got {self.constant!r}")

    def between(self, a: Any, b: Any) -> Array:
        """Powers of inner products."""
        return self._power(inner_products(a, b))

    def diagonal(self, X: Any) -> Array:
        """Powers of squared norms."""
        return self._power(_squares(X))

    def _power(self, products: Array) -> Array:
        products += self.constant
        values = products.copy()
        with np.errstate(over="ignore"):
            for _ in range(self.degree - 1):
                values *= products
        return refuse_overflow(values, f"the values of {self}")


def _squares(X: Any) -> Array:
    """<x, x> for each row, infinite where that is too much."""
    with np.errstate(over="ignore"):
        return squared_norms(as_float64(as_table(X, "X")))

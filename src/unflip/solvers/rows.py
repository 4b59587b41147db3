"""Rows as a linear map: scores of weights, sums of rows, and weighted Gram matrices of many columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_namespace
from scipy import sparse

from unflip.border.arrays import AnyArray
from unflip.moments.frame import dense, scaled_rows, squared_norms
from unflip.solvers.columns import ROOM

MANY_COLUMNS = 32  # of weights from which it pays to form all products of two columns of X


class RowsOfMatrix:
    """Rows x of a matrix, with a constant one appended if there is an intercept.

    The matrix is dense or sparse, of NumPy, or dense and of a library that speaks the array API.

    >>> rows = RowsOfMatrix(np.array([[1.0], [2.0]]), intercept=True)
    >>> rows.scores(np.array([[10.0], [1.0]])).tolist(), rows.combine(np.array([[1.0], [1.0]])).tolist()
    ([[11.0], [21.0]], [[3.0], [2.0]])
    """

    def __init__(self, X: Any, intercept: bool = False) -> None:
        self.X, self.intercept = X, intercept
        self.shape = (X.shape[0], X.shape[1] + intercept)

    def scores(self, U: AnyArray) -> AnyArray:
        """<w, x> + b for each row and column of parameters."""
        return self.X @ U[:-1, :] + U[-1:, :] if self.intercept else self.X @ U

    def combine(self, weight: AnyArray) -> AnyArray:
        """The sum of weight x over rows, for each column of weights."""
        total = self.X.T @ weight
        return np.concatenate([total, weight.sum(axis=0, keepdims=True)]) if self.intercept else total

    def grams(self, weight: AnyArray, rough: AnyArray | None = None) -> AnyArray:
        """The sum of weight x x' over rows for each column of weights, of shape (K, r, r).

        Where `rough` says so, the digits of single precision will do.

        >>> RowsOfMatrix(np.array([[1.0], [2.0]])).grams(np.array([[1.0, 0.0], [1.0, 0.5]])).round(9).tolist()
        [[[5.0]], [[2.0]]]
        """
        if not sparse.issparse(self.X) and not is_numpy_namespace(xp := array_namespace(self.X)):
            return xp.matmul(self.X.T * weight.T[:, None, :], self.X)
        d, count = self.X.shape[1], weight.shape[1]
        grams = np.empty((count, self.shape[1], self.shape[1]))
        if self._few_pairs and (count >= MANY_COLUMNS or "pairs" in self.__dict__):
            first, second, products = self.pairs
            grams[:, first, second] = weight.T @ products
            grams[:, second, first] = grams[:, first, second]
        else:
            for k in range(count):
                grams[k, :d, :d] = self._gram(weight[:, k], rough is not None and bool(rough[k]))
        if self.intercept:
            grams[:, d, :d] = grams[:, :d, d] = (self.X.T @ weight).T
            grams[:, d, d] = weight.sum(axis=0)
        return grams

    @property
    def largest_norm(self) -> float:
        """The length of the longest row, without the constant."""
        return float(np.sqrt(squared_norms(self.X).max(initial=0.0)))

    def take(self, rows: AnyArray) -> RowsOfMatrix:
        """Some of the rows."""
        return RowsOfMatrix(self.X[rows], self.intercept)

    @property
    def _few_pairs(self) -> bool:
        n, d = self.X.shape
        return not sparse.issparse(self.X) and n * d * (d + 1) // 2 <= ROOM

    @cached_property
    def pairs(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Products of two columns of X, row by row, and which two: then all Gram matrices are one product."""
        first, second = np.triu_indices(self.X.shape[1])
        return first, second, self.X[:, first] * self.X[:, second]

    @cached_property
    def single(self) -> AnyArray:
        """X in single precision."""
        return self.X.astype(np.float32)

    def _gram(self, weight: AnyArray, rough: bool) -> AnyArray:
        if sparse.issparse(self.X):
            return dense(scaled_rows(self.X, weight).T @ self.X)
        X = self.single if rough else self.X
        half = X * np.sqrt(np.abs(weight)).astype(X.dtype)[:, None]
        gram = half.T @ half  # NumPy sees that this is symmetric, and does half of the work
        below = half[weight < 0]
        return gram - 2 * below.T @ below if len(below) else gram

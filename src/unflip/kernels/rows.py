"""Tables of rows on their way into a kernel: checked once, turned into float64 a block at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from unflip.border.arrays import Array


def as_table(X: Any, name: str) -> Any:
    """A finite two-dimensional array of numbers, or a CSR matrix, in its own dtype.

    >>> as_table([[1, 2], [3, 4]], "X").shape
    (2, 2)
    """
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # of the sum by which scikit-learn looks for infinities
        return check_array(X, accept_sparse="csr", dtype="numeric", input_name=name)


def as_tables(X: Any, Z: Any) -> tuple[Any, Any]:
    """Both sides of a kernel, with the same columns.

    >>> as_tables([[1.0]], [[1.0, 2.0]])
    Traceback (most recent call last):
    ValueError: X has 1 columns, Z has 2
    """
    left, right = as_table(X, "X"), as_table(Z, "Z")
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"X has {left.shape[1]} columns, Z has {right.shape[1]}")
    return left, right


def as_float64(rows: Any) -> Any:
    """The rows in float64, dense in C order or sparse as they were; no copy where none is needed.

    >>> as_float64(np.ones((1, 2), dtype=np.float32)).dtype
    dtype('float64')
    """
    if sparse.issparse(rows):
        return rows.astype(np.float64, copy=False)
    return np.ascontiguousarray(rows, dtype=np.float64)


def as_dense(rows: Any, who: str) -> Array:
    """The rows in float64; sparse rows are refused in the name of `who`.

    >>> as_dense(sparse.csr_array([[1.0]]), "Laplace")
    Traceback (most recent call last):
    ValueError: Laplace takes dense rows only; call .toarray() on sparse ones
    """
    if sparse.issparse(rows):
        raise ValueError(f"{who} takes dense rows only; call .toarray() on sparse ones")
    return as_float64(rows)


def inner_products(X: Any, Z: Any) -> Array:
    """<x, z> for all pairs of rows, dense, whatever the rows are.

    >>> inner_products(sparse.csr_array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[11.0]]
    """
    product = X @ Z.T
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def refuse_overflow(values: Array, what: str, too_large: str = "the columns") -> Array:
    """The values, if all are finite; what: how the sentence calls them; too_large: what makes them infinite.

    >>> refuse_overflow(np.array([1.0, np.inf]), "the values of Linear()")
    Traceback (most recent call last):
    ValueError: the values of Linear() overflow: rescale the columns
    """
    if not np.isfinite([values.min(initial=0.0), values.max(initial=0.0)]).all():  # without a table of truths
        raise ValueError(f"{what} overflow: rescale {too_large}")
    return values


def squared_norms(X: Any) -> Array:
    """<x, x> for each row.

    >>> squared_norms(np.array([[3.0, 4.0]])).tolist()
    [25.0]
    """
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)

"""Sums by class of rows on the host: NumPy, sparse rows, columns of Arrow; compiled loops for many of them.

Rows are summed in blocks, each by itself, and then the blocks in order. Their size depends on the table
alone, so that the number of threads does not show in the result. For dense rows in row order and for
sparse ones, neither does the presence of numba: the sums are the same to the last bit (squares to rounding).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

from unflip._threads import workers
from unflip.border.arrays import Array
from unflip.border.blocks import ROWS_IN_BLOCK, row_blocks
from unflip.border.labels import Labels
from unflip.moments.frame import Frame, dense, scaled_rows
from unflip.passes.sums import ClassSums
from unflip.sources.column_table import ColumnTable

WORTH_COMPILING = 1 << 20  # numbers in X below which loading compiled code takes longer than the pass
ENTRIES_PER_SUM = 4  # at least, in a block of sparse rows: with fewer, its sums would take the time


def class_sums(X: Any, labels: Labels, weight: Array, frame: Frame) -> ClassSums:
    """Weighted sums of z by class; see `Engine`.

    >>> from unflip.sources import encode
    >>> found = class_sums(np.array([[1.0], [3.0]]), encode(["a", "b"]), np.ones(2), Frame.plain(1))
    >>> found.counts.tolist(), found.sums.tolist(), found.squares.tolist()
    ([1.0, 1.0], [[1.0], [3.0]], [10.0])
    """
    X = without_duplicates(X) if sparse.issparse(X) else X
    n_classes, d = len(labels.classes), len(frame.origin)
    compiled = _adder(X, labels, weight, frame) if is_compiled(X) else None

    def block(rows: slice) -> tuple[Array, Array]:
        if compiled is not None:
            sums, squares = np.zeros((n_classes, d)), np.zeros(d)
            compiled(rows.start, rows.stop, sums=sums, squares=squares)
            return sums, squares
        with np.errstate(over="ignore", invalid="ignore"):
            z, w = frame.z(X[rows]), weight[rows]
            sums = labels.weighted(weight, rows) @ z
            if sparse.issparse(z):
                return sums.toarray(), w @ z.power(2)
            return sums, np.einsum("i,ij,ij->j", w, z, z)

    blocks = _sparse_blocks(X, n_classes) if sparse.issparse(X) else row_blocks(*X.shape)
    sums, squares = np.zeros((n_classes, d)), np.zeros(d)
    with workers(None) if len(blocks) > 1 else nullcontext(map) as spread:
        for part, square in spread(block, blocks):
            with np.errstate(over="ignore", invalid="ignore"):
                sums += part
                squares += square
    if labels.codes is None:
        return ClassSums(labels.soft @ weight, sums, squares)
    return ClassSums(np.bincount(labels.codes, weight, n_classes), sums, squares)


def is_compiled(X: Any) -> bool:
    """Whether a pass over X is left to compiled loops.

    >>> is_compiled(np.ones((2, 2)))  # not worth it
    False
    """
    if sparse.issparse(X):
        known = X.format == "csr" and X.nnz >= WORTH_COMPILING
    elif isinstance(X, ColumnTable):
        known = X.size >= WORTH_COMPILING
    else:
        known = X.size >= WORTH_COMPILING and (X.flags.c_contiguous or X.flags.f_contiguous)
    return known and X.dtype in (np.float32, np.float64) and has_numba()


def compiled_scores(X: Array, direction: Array, frame: Frame) -> Array:
    """<direction, z> for each row of X in row order, by a compiled loop; direction: (d,)."""
    from unflip.passes import numba_loops

    scores = np.empty(X.shape[0])
    numba_loops.score_rows(X, direction, frame.origin, 1 / frame.unit, scores)
    return scores


@cache
def has_numba() -> bool:
    """Whether the extra `fast` is there."""
    return find_spec("numba") is not None


def _adder(X: Any, labels: Labels, weight: Array, frame: Frame) -> Callable[..., None] | None:
    """A compiled loop over this table that takes (start, stop, sums, squares); None if there is none."""
    if labels.codes is None or (sparse.issparse(X) and frame.origin.any()):
        return None
    from unflip.passes import numba_loops

    place = [frame.origin, 1 / frame.unit]
    if sparse.issparse(X):
        loop, table, place = numba_loops.add_sparse, [X.data, X.indices, X.indptr], [1 / frame.unit]
    elif isinstance(X, ColumnTable):
        loop, table = numba_loops.add_columns, [X.addresses, X.columns[0]]
    elif X.flags.c_contiguous:
        loop, table = numba_loops.add_rows, [X]
    else:
        loop, table = numba_loops.add_columns, [X.ctypes.data + X.strides[1] * np.arange(X.shape[1]), X[:, 0]]

    def add(start: int, stop: int, sums: Array, squares: Array) -> None:
        loop(*table, start, stop, labels.codes, weight, *place, sums, squares)

    return add


def _sparse_blocks(X: Any, n_classes: int) -> list[slice]:
    n, d = X.shape
    size = max(ROWS_IN_BLOCK, -(-ENTRIES_PER_SUM * n_classes * d * n // max(1, X.nnz)))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def second_moment(X: Any, weight: Array, frame: Frame) -> Array:
    """The sum of w z z', (d, d).

    >>> second_moment(np.array([[1.0], [3.0]]), np.ones(2), Frame.plain(1)).tolist()
    [[10.0]]
    """
    second = np.zeros((len(frame.origin), len(frame.origin)))
    plain = bool((weight == 1).all())
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in _sparse_blocks(X, 1) if sparse.issparse(X) else row_blocks(*X.shape):
            z = frame.z(X[rows])
            # BLAS takes half of the time for a matrix times itself.
            second += dense(z.T @ z if plain else scaled_rows(z, weight[rows]).T @ z)
    return second


def without_duplicates(X: Any) -> Any:
    """A sparse table with one entry for each place: two that are to be added have another square.

    >>> without_duplicates(sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))).data.tolist()
    [3.0]
    """
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X

"""The pass without rounding: sums of rows by class that no order, chunk or thread can change."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from unflip._threads import workers
from unflip.border.arrays import Array
from unflip.border.blocks import ROWS_IN_BLOCK
from unflip.border.labels import Labels
from unflip.moments.exact import (
    ADDED_WITHOUT_ROUNDING,
    LIMB_BITS,
    LOWEST,
    SPAN,
    Windows,
    as_integers,
    deposit,
    products,
)
from unflip.passes.host import has_numba, without_duplicates

ROWS_OF_WINDOW = 1 << 28  # rows that a window takes before its carries are passed on
PARTS_OF_FLOAT = 8
PLAIN_WINDOW, PLAIN_SPAN = 34, 140  # the first window that squares of weight one touch, and how many they are


def exact_sums(X: Any, labels: Labels, weight: Array) -> Windows:
    """Exact sums, (K, d + 2): of w x for each class and column, of w, and of w |x|^2.

    A square is rounded once, to 53 bits, before it is added. What is not finite raises `ValueError`.

    >>> from unflip.sources import encode
    >>> X, y = np.array([[1e100], [1.0], [-1e100]]), encode([0, 0, 0])
    >>> exact_sums(X, y, np.ones(3)).rounded()[0, :2].tolist()
    [1.0, 3.0]
    """
    X = without_duplicates(X) if sparse.issparse(X) else X
    n, d = X.shape
    plain = bool((weight == 1).all()) and labels.codes is not None and not sparse.issparse(X)
    if plain and has_numba():
        work, size = _compiled, min(ROWS_OF_WINDOW, max(1, -(-n // PARTS_OF_FLOAT)))
    else:
        work, size = _in_numpy, max(1, ADDED_WITHOUT_ROUNDING // (d + 2))
    parts = [slice(start, min(start + size, n)) for start in range(0, n, size)]
    total = Windows(0, np.zeros((len(labels.classes), d + 2, 1), dtype=np.int64))
    with workers(None) as spread:
        for part in spread(lambda rows: work(X[rows], labels[rows], weight[rows]), parts):
            total = total + part
    return total


def _compiled(X: Array, labels: Labels, weight: Array) -> Windows:
    """Dense rows of weight one, by a compiled loop."""
    from unflip.passes import numba_loops

    (n, d), n_classes = X.shape, len(labels.classes)
    windows, codes = np.zeros((n_classes, d + 2, PLAIN_SPAN), dtype=np.int64), labels.codes
    assert codes is not None
    for start in range(0, n, ROWS_IN_BLOCK):
        rows = slice(start, start + ROWS_IN_BLOCK)
        bits = np.ascontiguousarray(X[rows], dtype=np.float64).view(np.int64)
        if not numba_loops.deposit_rows(bits, codes[rows], windows, LOWEST + LIMB_BITS * PLAIN_WINDOW):
            raise ValueError("X is not finite")
    found = Windows.canonical(PLAIN_WINDOW, windows)
    return found + _counts(np.bincount(codes, minlength=n_classes).astype(np.float64), d)


def _counts(counts: Array, d: int) -> Windows:
    alone = np.zeros((len(counts), d + 2))
    alone[:, d] = counts
    return Windows.of(alone)


def _in_numpy(X: Any, labels: Labels, weight: Array) -> Windows:
    """A block of any rows, weights and labels."""
    table = labels.table.tocoo()
    d, n_classes = X.shape[1], len(labels.classes)
    windows = np.zeros((n_classes * (d + 2), SPAN), dtype=np.int64)
    for k in range(n_classes):
        mine = table.row == k
        rows, share = table.col[mine], table.data[mine]
        _deposit_class(X[rows], weight[rows] * share, k * (d + 2), windows)
    return Windows.canonical(0, windows.reshape(n_classes, d + 2, SPAN))


def _deposit_class(X: Any, weight: Array, first: int, windows: Array) -> None:
    d = X.shape[1]
    if sparse.issparse(X):
        entries = X.tocoo()
        values, row, column = entries.data.astype(np.float64), entries.row, entries.col
    else:
        values = np.asarray(X, dtype=np.float64).ravel()
        row, column = (grid.ravel() for grid in np.indices(X.shape))
    if not np.isfinite(values).all():
        raise ValueError("X is not finite")
    w = weight[row]
    plain = bool((weight == 1).all())
    for m, e in [as_integers(values)] if plain else products(values, w):
        deposit(m, e, first + column, windows)
    fraction, exponent = np.frexp(values)
    m, e = as_integers(fraction * fraction if plain else fraction * fraction * w)
    deposit(m, e + 2 * exponent, np.full(len(m), first + d + 1), windows)
    deposit(*as_integers(weight), np.full(len(weight), first + d), windows)

"""Weights of rows, as everybody reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from unflip.border.arrays import Array, beside, is_foreign, to_numpy
from unflip.border.words import refuse_masked


def as_weight(weight: Any, n_rows: int) -> Array:
    """One non-negative, finite number for each row; ones if none are given.

    >>> as_weight(2, 3).tolist()
    [2.0, 2.0, 2.0]
    """
    if weight is None:
        return np.ones(n_rows)
    refuse_masked(weight, "sample_weight")
    try:
        given = to_numpy(weight)
    except ValueError:
        raise ValueError("sample_weight must be one number a row, got a ragged list") from None
    if given.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must be numbers, got {given.dtype}")
    w = np.full(n_rows, given, dtype=np.float64) if given.ndim == 0 else given.astype(np.float64)
    if w.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got an array of shape {w.shape}")
    if len(w) != n_rows:
        raise ValueError(f"sample_weight has {len(w)} entries for {n_rows} rows")
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if bad.size:
        raise ValueError(f"sample_weight is {w[bad[0]]} in row {bad[0]}; weights are finite and not negative")
    with np.errstate(over="ignore"):
        total = w.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight has an infinite sum; divide the weights by the largest one")
    if 0 < total < np.finfo(np.float64).tiny:
        raise ValueError(f"sample_weight has a sum of {total}; divide the weights by the largest one")
    if n_rows and not w.any():
        raise ValueError("sample_weight is zero in every row; at least one weight must be positive")
    return w


def weight_beside(weight: Any, X: Any) -> Any:
    """One non-negative, finite number for each row of X, beside X; a single one if none are given.

    >>> import array_api_strict as xp
    >>> to_numpy(weight_beside(None, xp.ones((3, 2)))).tolist()
    [1.0, 1.0, 1.0]
    """
    xp, n = array_namespace(X), X.shape[0]
    if weight is None:
        return xp.broadcast_to(xp.ones(1, dtype=xp.float64, device=device(X)), (n,))
    if is_foreign(weight) and weight.shape == (n,):
        own = array_namespace(weight)
        w = own.astype(weight, own.float64)
        total, least = to_numpy(own.stack([own.sum(w), own.min(w)])).tolist()  # NaN reaches both
        if 0 < total < np.inf and least >= 0:
            return beside(w, X)
    return beside(as_weight(to_numpy(weight), n), X)

"""Weights of rows, as everybody reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip._arrays import Array, to_numpy
from unflip._culprits import refuse_masked


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

"""Labels that are arrays of torch or CuPy: checked and encoded where they are.

Rows may be on a GPU, where a pass over them takes milliseconds; so does fetching a few bytes a hundred times.
Labels are counted rather than sorted, and one look at their extremes settles most of the cases.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from unflip.border.arrays import Array, to_numpy

FEW_NUMBERS = 64  # labels in so short a range are compared with each number in it


def classes_and_codes(y: Any) -> tuple[Array, Any] | None:
    """The sorted classes, on the host, and each label's place among them, beside y; for hard labels only.

    None if labels are soft, missing or no column: the host has the words for these.

    >>> import array_api_strict as xp
    >>> classes, codes = classes_and_codes(xp.asarray([7, -1, 7]))
    >>> classes.tolist(), to_numpy(codes).tolist()
    ([-1, 7], [1, 0, 1])
    """
    xp = array_namespace(y)
    if y.ndim != 1 or not y.shape[0] or xp.isdtype(y.dtype, "complex floating"):
        return None
    if xp.isdtype(y.dtype, "bool"):
        found = classes_and_codes(xp.astype(y, xp.int8))
        return None if found is None else (found[0].astype(bool), found[1])
    if str(y.dtype).endswith(("uint16", "uint32", "uint64")):  # torch can do little with them
        y = xp.astype(y, xp.int64)
    extremes = _extremes(y)
    low, high = extremes.tolist()
    if xp.isdtype(y.dtype, "real floating") and (
        not (abs(low) <= 2**53 and abs(high) <= 2**53) or bool(xp.any(y != xp.floor(y)))
    ):
        return None
    low, span = int(low), int(high - low)
    if span >= FEW_NUMBERS:
        unique = xp.unique_inverse(y)
        return to_numpy(unique.values), unique.inverse_indices
    # The lowest and the highest are there; the numbers between them are asked for.
    between = range(low + 1, low + span)
    asked = [xp.any(y == number) for number in between]
    there = to_numpy(xp.stack(asked)).tolist() if asked else []
    present = [low, *(number for number, some in zip(between, there, strict=True) if some), low + span]
    classes = np.unique(np.array(present, dtype=extremes.dtype))
    return classes, _codes(y, low, classes)


def _extremes(y: Any) -> Array:
    """The lowest and the highest label, fetched at once."""
    xp = array_namespace(y)
    both = xp.aminmax(y) if hasattr(xp, "aminmax") else (xp.min(y), xp.max(y))
    return to_numpy(xp.stack(list(both)))


def _codes(y: Any, low: int, classes: Array) -> Any:
    xp = array_namespace(y)
    whole = xp.isdtype(y.dtype, "integral")
    if len(classes) == int(classes[-1] - classes[0]) + 1:
        if whole and low == 0:
            return y
        return xp.astype(y, xp.int64) - low
    codes = xp.zeros(y.shape, dtype=xp.int8, device=device(y))
    for label in classes[1:].tolist():
        codes = codes + xp.astype(y >= label, xp.int8)
    return codes

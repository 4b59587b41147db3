"""NaN and infinity have no mean: which row and column holds one.

Sums are looked at first, which costs nothing; only if one is not finite are the rows searched for the reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from unflip.border.arrays import is_foreign, to_numpy
from unflip.border.blocks import device_blocks
from unflip.border.words import column_label


def name_the_culprit(X: Any, names: tuple[str, ...] | None, first_row: int = 0) -> None:
    """Raise a ValueError that says where X is not finite; return if it is finite everywhere."""
    if is_foreign(X):
        _name_the_foreign_culprit(X, names, first_row)
        return
    if sparse.issparse(X):
        entries = X.tocoo()
        values, where = entries.data, (entries.row, entries.col)
    else:
        values, where = np.asarray(X), None
    bad = ~np.isfinite(values.astype(np.float64, copy=False))
    if not bad.any():
        return
    if where is None:
        row, column = (int(i[0]) for i in np.nonzero(bad))
        value = values[row, column]
    else:
        at = int(np.argmax(bad))
        row, column, value = int(where[0][at]), int(where[1][at]), values[at]
    what = "NaN" if np.isnan(float(value)) else "infinity"
    place = f"row {first_row + row}, column {column_label(column, names)}"
    raise ValueError(
        f"Input X contains {what}: {place} is {float(value)} "
        "(inf and NaN have no mean); drop or impute such rows"
    )


def _name_the_foreign_culprit(X: Any, names: tuple[str, ...] | None, first_row: int) -> None:
    """The same for an array of torch or CuPy: only the first row with a culprit comes to the host."""
    xp = array_namespace(X)
    if not xp.isdtype(X.dtype, "real floating"):
        return
    for rows in device_blocks(*X.shape):
        bad = xp.any(~xp.isfinite(X[rows, :]), axis=1)
        if bool(xp.any(bad)):
            row = rows.start + int(xp.argmax(xp.astype(bad, xp.int8)))
            name_the_culprit(to_numpy(X[row : row + 1, :]), names, first_row + row)

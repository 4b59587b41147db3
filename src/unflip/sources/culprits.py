"""Errors that name the culprit: which row and column of X is no number, or not a finite one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _get_feature_names


@contextmanager
def naming_what_is_no_number(X: Any) -> Iterator[None]:
    """Give a failed conversion a better reason, if X is ragged or holds text."""
    try:
        yield
    except ValueError:
        _refuse_ragged(X)
        _refuse_text(X)
        raise


def _refuse_ragged(X: Any) -> None:
    if not isinstance(X, list | tuple) or not all(isinstance(row, list | tuple) for row in X):
        return
    for row, values in enumerate(X):
        if len(values) != len(X[0]):
            message = f"X is ragged: row {row} has {len(values)} values, row 0 has {len(X[0])}"
            raise ValueError(message) from None


def _refuse_text(X: Any) -> None:
    table = None if sparse.issparse(X) else np.asarray(X, dtype=object)
    if table is None or table.ndim != 2:
        return
    names = _get_feature_names(X)
    for column in range(table.shape[1]):
        for row, value in enumerate(table[:, column]):
            if isinstance(value, str | bytes):
                raise ValueError(
                    f"column {_label(column, names)} of X holds {value!r} in row {row}, which is not a "
                    "number; encode such columns first, for example with OneHotEncoder"
                ) from None


def name_the_culprit(X: Any, names: tuple[str, ...] | None, first_row: int = 0) -> None:
    """Raise a ValueError that says where X is not finite; return if it is finite everywhere."""
    if sparse.issparse(X):
        entries = X.tocoo()
        values, where = entries.data, (entries.row, entries.col)
    else:
        values, where = X, None
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
    raise ValueError(
        f"Input X contains {what}: row {first_row + row}, column {_label(column, names)} is {float(value)} "
        "(inf and NaN have no mean); drop or impute such rows"
    )


def _label(column: int, names: Any) -> str:
    return repr(str(names[column])) if names is not None else str(column)

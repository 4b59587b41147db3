"""Rows and labels as an audit takes them: a frame and the name of a column, or arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from unflip._extras import extra
from unflip.border.arrays import Array
from unflip.border.words import is_missing

LABEL = "label"  # what a column of labels is called that has no name
YES, NO = {"true", "1", "1.0", "yes"}, {"false", "0", "0.0", "no", ""}


def as_frame(rows: Any, target: Any) -> tuple[Any, str]:
    """A frame with its labels, and the name of their column.

    >>> frame, name = as_frame(np.array([[1.0, 2.0], [3.0, 4.0]]), ["a", "b"])
    >>> frame.columns, name
    (['x0', 'x1', 'label'], 'label')
    """
    if isinstance(target, str):
        if not hasattr(rows, "columns"):
            raise ValueError("a target by name needs a data frame; give the labels themselves with an array")
        return rows, target
    y = np.asarray(target)
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if y.shape != (n,):
        raise ValueError(f"there are {n} rows, and labels of the shape {y.shape}")
    if not hasattr(rows, "columns"):
        X = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
        if X.ndim != 2:
            raise ValueError(f"rows form a table, got an array of shape {X.shape}")
        polars = extra("polars", "io")
        rows = polars.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
    name = str(getattr(target, "name", None) or LABEL)
    while name in rows.columns:
        name += "_"
    if hasattr(rows, "iloc"):
        return rows.assign(**{name: y}), name
    return rows.with_columns(extra("polars", "io").Series(name, y.tolist())), name


def of_column(frame: Any, given: Any) -> Array | None:
    """What was given for each row: by the name of a column, or itself.

    >>> import pandas as pd
    >>> of_column(pd.DataFrame({"who": ["a", "b"]}), "who").tolist(), of_column(None, None)
    (['a', 'b'], None)
    """
    if given is None:
        return None
    if isinstance(given, str):
        if given not in frame.columns:
            raise ValueError(f"there is no column {given!r}; there are {', '.join(frame.columns)}")
        column = frame[given]
        found = np.empty(len(column), dtype=object)
        found[:] = column.to_list()
        return found
    return np.asarray(given)


def as_mask(values: Array | None, n: int) -> Array | None:
    """Which rows are trusted, from booleans, zeros and ones, yes and no, or numbers of rows.

    >>> as_mask(np.array(["yes", None, "no"], dtype=object), 3).tolist(), as_mask(np.array([2]), 3).tolist()
    ([True, False, False], [False, False, True])
    """
    if values is None:
        return None
    if values.dtype.kind in "iu" and len(values) != n:
        outside = values[(values < 0) | (values >= n)]
        if outside.size:
            raise ValueError(f"trusted names row {outside[0]}, and rows are 0 to {n - 1}")
        mask = np.zeros(n, dtype=bool)
        mask[values] = True
        return mask
    words = ["" if is_missing(value) else str(value).strip().lower() for value in values.tolist()]
    odd = next((row for row, word in enumerate(words) if word not in YES | NO), None)
    if odd is not None:
        raise ValueError(
            f"row {odd} is trusted {values.tolist()[odd]!r}; say yes or no, true or false, 1 or 0"
        )
    return np.array([word in YES for word in words])

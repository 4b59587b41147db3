"""Rows that are no numbers: which row and column is the reason, and what to do about it.

NumPy and scikit-learn convert, or fail with words about a whole table. Only then are its values looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _get_feature_names

from unflip.border.arrays import Array
from unflip.border.words import AS_TIMES, column_label, is_missing, refuse_masked

FRAME_NUMBERS = ("int", "uint", "float", "double", "bool", "decimal", "sparse")  # how data frames call them
LARGEST_FLOAT = int(np.finfo(np.float64).max)
FRAME_TIMES = ("date", "time", "duration", "period")


@contextmanager
def naming_what_is_no_number(X: Any) -> Iterator[None]:
    """Refuse dates and text by name, and give any other failed conversion a better reason.

    Data frames are looked at before the conversion: it can turn dates into numbers, and keep text.
    """
    _refuse_frame(X)
    _refuse_broken_sparse(X)
    refuse_masked(X, "X")
    if isinstance(X, np.ndarray) and X.dtype.kind in "Mm":
        raise ValueError(f"X holds {AS_TIMES.format(X.dtype)}")
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":  # which float64 would be read from, at times
        _refuse_table(X, _refuse_text)
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        if str(error).startswith("Complex data not supported"):  # followed by all of X
            message = "Complex data not supported: give real and imaginary parts columns of their own"
            raise ValueError(message) from None
        _refuse_no_table(X)
        _refuse_ragged(X)
        _refuse_table(X, _refuse_text)
        if not isinstance(error, ValueError):  # which may be about the names of columns
            _refuse_table(X, _refuse_what_is_no_float)
        raise


def _refuse_frame(X: Any) -> None:
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    if not X.shape[1]:
        raise ValueError(f"X has 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
    names = _get_feature_names(X)
    for column, dtype in enumerate(X.dtypes):
        kind = str(dtype).lower()
        if kind.startswith(FRAME_TIMES):
            raise ValueError(f"column {column_label(column, names)} of X holds {AS_TIMES.format(dtype)}")
        if not kind.startswith(FRAME_NUMBERS):
            values = X.iloc[:, column] if hasattr(X, "iloc") else X[:, column]
            _refuse_text(np.asarray(values, dtype=object), column_label(column, names))


def refuse_broken(X: Any) -> None:
    """Refuse tables that lie about themselves: broken sparse ones, masked ones, and ragged lists.

    >>> refuse_broken([[1.0, 2.0], [3.0]])
    Traceback (most recent call last):
    ValueError: X is ragged: row 1 has 1 values, row 0 has 2
    """
    _refuse_broken_sparse(X)
    refuse_masked(X, "X")
    _refuse_ragged(X)


def _refuse_broken_sparse(X: Any) -> None:
    """Compiled code believes the indices of a sparse table: one out of bounds would end the process."""
    if not sparse.issparse(X):
        return
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse one of shape {X.shape} instead")
    if X.format not in ("csr", "csc", "bsr", "coo"):
        return
    if X.format == "coo":
        places = dict(zip(("rows", "columns"), zip(X.coords, X.shape, strict=True), strict=True))
    else:
        across = 0 if X.format == "csc" else 1
        size = X.shape[across] // (X.blocksize[1] if X.format == "bsr" else 1)
        starts, indices = X.indptr, X.indices
        if starts[0] != 0 or starts[-1] > min(len(indices), len(X.data)) or np.any(starts[1:] < starts[:-1]):
            raise ValueError(f"X is a broken sparse table: its indptr does not divide {len(indices)} indices")
        places = {("rows", "columns")[across]: (indices[: starts[-1]], size)}
    for what, (indices, size) in places.items():
        if len(indices) and not 0 <= indices.min() <= indices.max() < size:
            wrong = indices[(indices < 0) | (indices >= size)][0]
            message = f"X is a broken sparse table: an entry is in number {wrong} of {size} {what}"
            raise ValueError(message)


def _refuse_no_table(X: Any) -> None:
    """Numbers, words, sets, generators and whatever else has no rows."""
    if sparse.issparse(X):
        return
    values = np.asarray(X, dtype=object)
    if values.ndim == 0:
        raise ValueError(f"Expected 2D array, got a {type(X).__name__} instead") from None
    if getattr(getattr(X, "dtype", None), "names", None):
        raise ValueError(f"Expected 2D array, got a structured one with fields {X.dtype.names}") from None
    if hasattr(X, "dtype") and values.ndim == 1:
        for row, value in enumerate(values):
            if _is_nested(value):
                seen = f"a {type(X).__name__} that holds a {type(value).__name__} in row {row}"
                message = f"Expected 2D array, got {seen}; give each of its values a column of its own"
                raise ValueError(message) from None


def _refuse_ragged(X: Any) -> None:
    if not isinstance(X, list | tuple) or not all(isinstance(row, list | tuple) for row in X):
        return
    for row, values in enumerate(X):
        if len(values) != len(X[0]):
            message = f"X is ragged: row {row} has {len(values)} values, row 0 has {len(X[0])}"
            raise ValueError(message) from None
        for column, value in enumerate(values):
            if isinstance(value, list | tuple):
                message = f"row {row}, column {column} of X holds a {type(value).__name__}, not a number"
                raise ValueError(message) from None


def _refuse_table(X: Any, refuse: Callable[[Array, str], None]) -> None:
    table = None if sparse.issparse(X) else np.asarray(X, dtype=object)
    if table is None or table.ndim != 2:
        return
    names = _get_feature_names(X)
    for column in range(table.shape[1]):
        refuse(table[:, column], column_label(column, names))


def _refuse_text(values: Array, label: str) -> None:
    for row, value in enumerate(values):
        if isinstance(value, str | bytes):
            raise ValueError(
                f"column {label} of X holds {value!r} in row {row}, which is not a number; encode such "
                "columns before this estimator, for example with unflip.features.OneHot in a pipeline"
            ) from None
        if isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64):
            message = f"column {label} of X holds {AS_TIMES.format(type(value).__name__)}"
            raise ValueError(message) from None
        if _is_nested(value):
            raise ValueError(
                f"column {label} of X holds a {type(value).__name__} in row {row}, which is not a number; "
                "give each of its values a column of its own"
            ) from None


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | tuple | set) or getattr(value, "ndim", 0) > 0


def _refuse_what_is_no_float(values: Array, label: str) -> None:
    for row, value in enumerate(values):
        if is_missing(value):
            message = f"row {row}, column {label} is {value}; drop or impute such rows"
            raise ValueError(f"Input X contains NaN: {message}") from None
        if isinstance(value, int) and abs(value) > LARGEST_FLOAT:
            message = f"column {label} of X holds an integer of {value.bit_length()} bits in row {row}"
            raise ValueError(f"{message}, which is more than float64 can hold") from None

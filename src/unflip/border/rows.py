"""Rows as they come in: numbers in two dimensions, dense, CSR, or of torch or CuPy where they are.

NaN and infinity are not looked for: sums show them for nothing, and only then is it asked where they are
(`unflip.border.finite`). Who needs finite rows at once, as feature maps do, asks for `finite_rows`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import _check_feature_names, _check_n_features, validate_data

from unflip.border.arrays import all_finite, is_foreign, is_plain
from unflip.border.finite import name_the_culprit
from unflip.border.long_integers import without_long_integers
from unflip.border.no_numbers import naming_what_is_no_number


def numeric_rows(
    X: Any,
    owner: Any = None,
    *,
    reset: bool = False,
    stay: bool = True,
    sparse: bool = True,
    dtype: Any = "numeric",
    fewest: int = 1,
) -> Any:
    """X as a numeric array or CSR matrix.

    owner: the estimator whose columns these are, which `reset` makes it learn. stay: whether arrays of torch
    and CuPy stay where they are; they come to the host otherwise. fewest: how many rows are enough.

    >>> numeric_rows([[1, 2], [3, None]]).tolist()
    [[1.0, 2.0], [3.0, nan]]
    >>> numeric_rows([[1, "two"]])
    Traceback (most recent call last):
    ValueError: column 1 of X holds 'two' in row 0, which is not a number; encode such columns ...
    """
    plain = is_plain(X, ndim=2)
    if stay and not plain and is_foreign(X):
        return _foreign_rows(X, owner, reset, fewest)
    how = {"dtype": dtype, "ensure_all_finite": False, "ensure_min_samples": fewest}
    how["accept_sparse"] = "csr" if sparse else False
    with nullcontext() if plain else naming_what_is_no_number(X):
        given = X if plain else without_long_integers(X)
        rows = check_array(given, **how) if owner is None else validate_data(owner, given, reset=reset, **how)
        # Lists of fractions or None come out as objects.
        return rows.astype(np.float64) if rows.dtype.kind == "O" or rows.dtype == np.longdouble else rows


def finite_rows(X: Any, owner: Any, **how: Any) -> Any:
    """The same, refused by row and column if a number is not finite.

    >>> from unflip.features import Standardize
    >>> finite_rows([[1.0, np.inf]], Standardize(), reset=True)
    Traceback (most recent call last):
    ValueError: Input X contains infinity: row 0, column 1 is inf (inf and NaN have no mean); ...
    """
    rows = numeric_rows(X, owner, **how)
    names = getattr(owner, "feature_names_in_", None)
    if is_foreign(rows):
        if not all_finite(rows):
            name_the_culprit(rows, names)
        return rows
    try:
        with np.errstate(invalid="ignore"):  # infinities of both signs, in a sum
            assert_all_finite(rows)
    except ValueError:
        name_the_culprit(rows, names)
        raise
    return rows


def _foreign_rows(X: Any, owner: Any, reset: bool, fewest: int) -> Any:
    if owner is not None:
        _check_feature_names(owner, X, reset=reset)
    rows = rows_as_they_are(X, fewest)
    if owner is not None:
        _check_n_features(owner, rows, reset=reset)
    return rows


def rows_as_they_are(X: Any, fewest: int = 1) -> Any:
    """A foreign array, if it can be rows: two-dimensional and of real numbers. No number is looked at.

    >>> import array_api_strict as xp
    >>> rows_as_they_are(xp.ones(3))
    Traceback (most recent call last):
    ValueError: Expected 2D array, got an array of shape (3,); reshape your data
    """
    xp = array_namespace(X)
    if str(getattr(X, "layout", "torch.strided")) != "torch.strided":
        raise ValueError(f"X is a tensor of {X.layout}; use a sparse array of SciPy, or X.to_dense()")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got an array of shape {tuple(X.shape)}; reshape your data")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError("Complex data not supported: give real and imaginary parts columns of their own")
    for count, least, what in zip(X.shape, (fewest, 1), ("sample", "feature"), strict=True):
        if count < least:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={tuple(X.shape)}) "
                f"while a minimum of {least} is required."
            )
    # torch would remember every step, to differentiate it, and may have put off a change of sign.
    return X.detach().resolve_neg() if hasattr(X, "detach") else X

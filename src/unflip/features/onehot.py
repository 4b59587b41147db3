"""Categories as indicators: one feature for each level of a column."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted, validate_data

from unflip.border.arrays import Array
from unflip.border.long_integers import without_long_integers
from unflip.border.no_numbers import refuse_broken
from unflip.border.words import column_label
from unflip.features.labelfree import LabelFree
from unflip.features.levels import Levels, factorized

THIN = 10  # features to a column from which on "auto" makes them sparse


class OneHot(LabelFree):
    """Indicators of the levels of categorical columns: strings, numbers, objects, categories of data frames.

    A missing value (None, NaN, NA) is a level of its own. A level that was not fitted has no indicator: its
    features are all zero. Numbers are equal as numbers are, so 1 and 1.0 are one level.

    Parameters
    ----------
    columns: names or positions of the columns to encode; None for all. The others must be numbers, and stay
        as they are, in their place.
    max_levels: of a column with more levels than this the most frequent ones are kept, the rest are treated
        as unknown; None keeps all.
    sparse: True for a CSR array, False for a dense one; "auto" is sparse if there are many levels and
        `set_output` does not ask for a data frame.

    Attributes: `levels_`, the levels of each column, None for those that stay.

    >>> encoder = OneHot(sparse=False).fit([["red"], ["blue"], [None]])
    >>> encoder.get_feature_names_out().tolist()
    ['x0_blue', 'x0_red', 'x0_missing']
    >>> encoder.transform([["red"], ["green"], [None]]).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """

    elementwise = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [None, "array-like"],
        "max_levels": [None, Interval(Integral, 1, None, closed="left")],
        "sparse": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self, columns: Any = None, max_levels: int | None = 1000, sparse: bool | str = "auto"
    ) -> None:
        self.columns = columns
        self.max_levels = max_levels
        self.sparse = sparse

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The name of the column, and behind it the level.

        >>> OneHot(columns=[0]).fit([[1, 0.5], [2, 1.5]]).get_feature_names_out().tolist()
        ['x0_1', 'x0_2', 'x1']
        """
        check_is_fitted(self)
        names = []
        for name, levels in zip(_check_feature_names_in(self, input_features), self.levels_, strict=True):
            names += [name] if levels is None else [f"{name}_{level}" for level in levels.names]
        return np.asarray(names, dtype=object)

    @property
    def width(self) -> int:
        """The number of levels, and of columns that stay."""
        return sum(1 if levels is None else len(levels) for levels in self.levels_)

    @property
    def radius(self) -> float:
        """The root of the number of columns; infinite if some stay as they are."""
        return math.inf if any(levels is None for levels in self.levels_) else math.sqrt(len(self.levels_))

    def _learn(self, X: Any) -> None:
        chosen = self._chosen(X.shape[1])
        self.levels_ = [
            Levels.of(*self._factorized(X, j), self.max_levels) if j in chosen else None
            for j in range(X.shape[1])
        ]

    def _map(self, X: Any) -> Any:
        n = X.shape[0]
        rows, columns, values = [], [], []
        start = 0
        for j, levels in enumerate(self.levels_):
            if levels is None:
                rows.append(np.arange(n))
                columns.append(np.full(n, start))
                values.append(self._numbers(X, j))
                start += 1
            else:
                codes = levels.codes(*self._factorized(X, j))
                known = np.flatnonzero(codes >= 0)
                rows.append(known)
                columns.append(start + codes[known])
                values.append(np.ones(len(known)))
                start += len(levels)
        where = np.concatenate(rows), np.concatenate(columns)
        if self._is_sparse:
            return sp.csr_array((np.concatenate(values), where), shape=(n, start))
        features = np.zeros((n, start))
        features[where] = np.concatenate(values)
        return features

    @property
    def _is_sparse(self) -> bool:
        if self.sparse != "auto":
            return bool(self.sparse)
        return (
            self.width > THIN * len(self.levels_)
            and _get_output_config("transform", self)["dense"] == "default"
        )

    def _parts(self) -> dict[str, Any]:
        return {"levels": [None if levels is None else levels.described for levels in self.levels_]}

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """A data frame as it is, anything else as an array; columns are looked at one by one."""
        if sp.issparse(X):
            raise TypeError("OneHot takes dense rows only; call .toarray() on sparse data")
        refuse_broken(X)
        X = without_long_integers(X)
        if not hasattr(X, "columns"):
            # NumPy would turn a list of numbers and strings into strings.
            given = X if hasattr(X, "dtype") else np.asarray(X, dtype=object)
            X = check_array(given, dtype=None, ensure_all_finite=False, estimator=self)
        validate_data(self, X, reset=reset, skip_check_array=True)
        refuse_empty(X)
        return X

    def _chosen(self, n_columns: int) -> set[int]:
        """The positions of the columns to encode."""
        if self.columns is None:
            return set(range(n_columns))
        names = [] if self._names is None else list(self._names)
        chosen = set()
        for column in self.columns:
            if column in names:
                chosen.add(names.index(column))
            elif (
                isinstance(column, Integral)
                and not isinstance(column, bool)
                and int(column) in range(n_columns)
            ):
                chosen.add(int(column))
            else:
                known = names or f"0 to {n_columns - 1}"
                raise ValueError(f"columns names {column!r}, which is not a column of X; these are {known}")
        return chosen

    def _factorized(self, X: Any, j: int) -> tuple[list[Any], Array]:
        return factorized(column_of(X, j), column_label(j, self._names))

    def _numbers(self, X: Any, j: int) -> Array:
        column = np.asarray(column_of(X, j))
        label = column_label(j, self._names)
        try:
            numbers = column.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"column {label} of X is not among the columns to encode, and does not hold numbers alone"
            ) from None
        if not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers)))
            raise ValueError(
                f"Input X contains NaN or infinity: row {row}, column {label} is {numbers[row]}, and the "
                "column is not among those to encode; drop or impute such rows"
            )
        return numbers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def refuse_empty(X: Any) -> None:
    """Raise if a table has no columns or no rows, in the words of scikit-learn.

    >>> refuse_empty(np.ones((0, 2)))
    Traceback (most recent call last):
    ValueError: X has 0 samples (shape=(0, 2)) while a minimum of 1 is required.
    """
    for count, what in ((X.shape[1], "feature(s)"), (X.shape[0], "samples")):
        if not count:
            raise ValueError(f"X has 0 {what} (shape={tuple(X.shape)}) while a minimum of 1 is required.")


def column_of(X: Any, j: int) -> Any:
    """Column j of an array, or of a pandas or polars frame.

    >>> column_of(np.array([[1, 2], [3, 4]]), 1).tolist()
    [2, 4]
    """
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.to_series(j) if hasattr(X, "to_series") else X[:, j]

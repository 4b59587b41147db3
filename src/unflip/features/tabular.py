"""Any table as numbers, without a look at labels: levels one by one, gaps filled and marked.

A column of numbers (or booleans) stays a column. Its gaps are filled with its median, and where there were
any, a column more says so: what is missing may tell something. Any other column becomes one column a level,
the missing level among them; levels beyond the most frequent ones have no column. A column that never
varies is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from unflip._culprits import NUMBERS, TIMES, column_label, is_missing
from unflip.features.labelfree import Array, LabelFree
from unflip.features.levels import Levels, factorized
from unflip.features.onehot import column_of

WIDEST = 5000  # columns of a sparse matrix that are turned into dense ones, a block of rows at a time


@dataclass(frozen=True, eq=False)
class Column:
    """How one column is read: the median for gaps and whether they are marked, or its levels."""

    fill: float = 0.0
    marks: bool = False
    levels: Levels | None = None


class Tabular(LabelFree):
    """Numbers from any table: an array or sparse matrix with gaps, or a frame with text in it.

    Parameters
    ----------
    max_levels: how many levels of a column have a column of their own, the most frequent ones.

    Attributes: `columns_` (how each column is read), `kept_` (which of the resulting columns vary).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "eyes": ["brown", "blue", "brown"], "one": 1})
    >>> Tabular().fit(frame).transform(frame).tolist()
    [[20.0, 0.0, 0.0, 1.0], [30.0, 1.0, 1.0, 0.0], [40.0, 0.0, 0.0, 1.0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_levels": [Interval(Integral, 1, None, closed="left")]
    }

    def __init__(self, max_levels: int = 50) -> None:
        self.max_levels = max_levels

    @property
    def width(self) -> int:
        """The number of columns that vary."""
        return len(self.kept_)

    @property
    def radius(self) -> float:
        """Infinite: numbers stay as large as they are."""
        return float("inf")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Column, column with a mark for gaps, or column and level.

        >>> Tabular().fit([[1.0], [None], [2.0]]).get_feature_names_out().tolist()
        ['0', '0 is missing']
        """
        check_is_fitted(self)
        names = []
        for j, column in enumerate(self.columns_):
            label = str(j if self._names is None else self._names[j])
            if column.levels is not None:
                names += [f"{label} = {level}" for level in column.levels.names]
            else:
                names += [label, f"{label} is missing"] if column.marks else [label]
        return np.asarray(names, dtype=object)[self.kept_]

    def _learn(self, X: Any) -> None:
        self.columns_ = [self._read(X, j) for j in range(X.shape[1])]
        self.kept_ = np.arange(sum(_width(column) for column in self.columns_))
        table = self._map(X)
        self.kept_ = np.flatnonzero((table != table[0]).any(axis=0))
        if not len(self.kept_):
            raise ValueError("no column of X varies: there is nothing to learn from")

    def _read(self, X: Any, j: int) -> Column:
        values = column_of(X, j)
        if not _is_number(values, self._label(j)):
            return Column(levels=Levels.of(*factorized(values, self._label(j)), self.max_levels))
        numbers = self._numbers(values, j)
        gaps = np.isnan(numbers)
        if gaps.all():
            raise ValueError(f"column {self._label(j)} of X has no values at all; leave it out")
        return Column(float(np.median(numbers[~gaps])), bool(gaps.any()))

    def _map(self, X: Any) -> Array:
        if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and not any(map(_is_wide, self.columns_)):
            return self._numeric(X)[:, self.kept_]
        parts = []
        for j, column in enumerate(self.columns_):
            values = column_of(X, j)
            if column.levels is not None:
                codes = column.levels.codes(*factorized(values, self._label(j)))
                parts.append((codes[:, None] == np.arange(len(column.levels))).astype(np.float64))
                continue
            numbers = self._numbers(values, j)
            gaps = np.isnan(numbers)
            parts.append(np.where(gaps, column.fill, numbers)[:, None])
            if column.marks:
                parts.append(gaps[:, None].astype(np.float64))
        return np.hstack(parts)[:, self.kept_]

    def _numeric(self, X: Array) -> Array:
        """The same for plain numbers, all at once."""
        numbers = X.astype(np.float64, copy=False)
        with np.errstate(invalid="ignore", over="ignore"):
            total = numbers.sum()
        if np.isfinite(total):
            return numbers
        for j in np.flatnonzero(np.isinf(numbers).any(axis=0)):
            self._numbers(numbers[:, j], int(j))
        return np.where(np.isnan(numbers), [column.fill for column in self.columns_], numbers)

    def _numbers(self, values: Any, j: int) -> Array:
        try:
            if _nullable(values):
                values = values.to_numpy(dtype=float, na_value=np.nan)
            numbers = np.asarray(values)
            if numbers.dtype == object:
                numbers = np.array([np.nan if is_missing(value) else value for value in numbers])
            numbers = numbers.astype(np.float64)
        except (TypeError, ValueError):
            message = f"column {self._label(j)} of X held numbers when fitted, and now does not"
            raise ValueError(message) from None
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise ValueError(
                f"Input X contains infinity: row {row}, column {self._label(j)} is {numbers[row]}"
            )
        return numbers

    def _label(self, j: int) -> str:
        return column_label(j, self._names)

    def _parts(self) -> dict[str, Any]:
        columns = [[c.fill, c.marks, None if c.levels is None else c.levels.described] for c in self.columns_]
        return {"columns": columns, "kept": self.kept_}

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """A frame as it is, a sparse matrix as a dense one, anything else as an array."""
        if sparse.issparse(X):
            if X.shape[1] > WIDEST:
                raise ValueError(
                    f"X is sparse with {X.shape[1]} columns, and at most {WIDEST} can be made dense; "
                    "reduce them first, for example with TruncatedSVD"
                )
            X = check_array(X, accept_sparse="csr", ensure_all_finite=False).toarray()
        elif not hasattr(X, "columns"):
            given = X if hasattr(X, "dtype") else np.asarray(X, dtype=object)
            X = check_array(given, dtype=None, ensure_all_finite=False, estimator=self)
            if X.dtype.kind == "c":
                raise ValueError("Complex data not supported: give real and imaginary parts as columns")
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not X.shape[1]:
            raise ValueError(f"X has 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
        if not X.shape[0]:
            raise ValueError(f"X has 0 samples (shape={tuple(X.shape)}) while a minimum of 1 is required.")
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _is_wide(column: Column) -> bool:
    return column.marks or column.levels is not None


def _width(column: Column) -> int:
    return 1 + column.marks if column.levels is None else len(column.levels)


def _nullable(values: Any) -> bool:
    """Whether this is a pandas column with a missing value of its own."""
    return hasattr(values, "iloc") and not isinstance(values.dtype, np.dtype)


def _is_number(values: Any, label: str) -> bool:
    kind = str(getattr(values, "dtype", "object")).lower()
    found = []
    if kind.startswith("object"):
        found = [value for value in np.asarray(values, dtype=object) if not is_missing(value)]
    if kind.startswith(TIMES) or any(isinstance(value, date | time | timedelta) for value in found):
        raise ValueError(
            f"column {label} of X holds dates or times, which are not numbers; turn them into numbers, such "
            "as days since a fixed date"
        )
    if kind.startswith("complex"):
        raise ValueError(f"column {label} of X is complex; give real and imaginary parts as columns")
    if kind.startswith("object"):
        return all(isinstance(value, int | float | np.number | np.bool_) for value in found)
    return kind.startswith(NUMBERS)

"""Any table as numbers, without a look at labels: levels one by one, gaps filled and marked.

A column of numbers (or booleans) stays a column, and a date becomes days since 1970. Gaps are filled with
the median, and where there were any, a column more says so: what is missing may tell something. Any other
column becomes one column a level, the missing level among them; levels beyond the most frequent ones share
a few columns, or have none. A column that never varies is left out. Columns of sentences are refused.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from unflip.border.arrays import Array
from unflip.border.long_integers import without_long_integers
from unflip.border.no_numbers import refuse_broken
from unflip.border.words import column_label
from unflip.features.labelfree import LabelFree
from unflip.features.onehot import column_of, refuse_empty
from unflip.tables.column_kinds import Categories, LeftOut, Numbers, as_numbers, read_column
from unflip.tables.sentences import refuse_sentences

NEVER_VARIES = "it never varies"
WIDEST = 5000  # columns of a sparse matrix that are turned into dense ones, a block of rows at a time


class Tabular(LabelFree):
    """Numbers from any table: an array or sparse matrix with gaps, or a frame with text in it.

    Parameters
    ----------
    max_levels: how many levels of a column have a column of their own, the most frequent ones.
    buckets: how many columns the other levels share, by a hash of their text.
    lenient: leave out columns that cannot help (empty ones, identifiers, lists) rather than refuse or keep
        them.

    Attributes: `columns_` (how each column is read), `kept_` (which of the resulting columns vary),
    `left_out_` (the columns that made none, and why).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20.0, None, 40.0], "eyes": ["brown", "blue", "brown"], "one": 1})
    >>> table = Tabular().fit(frame)
    >>> table.transform(frame).tolist()
    [[20.0, 0.0, 0.0, 1.0], [30.0, 1.0, 1.0, 0.0], [40.0, 0.0, 0.0, 1.0]]
    >>> table.left_out_
    {'one': 'it never varies'}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_levels": [Interval(Integral, 1, None, closed="left")],
        "buckets": [Interval(Integral, 0, None, closed="left")],
        "lenient": ["boolean"],
    }

    def __init__(self, max_levels: int = 50, buckets: int = 0, lenient: bool = False) -> None:
        self.max_levels = max_levels
        self.buckets = buckets
        self.lenient = lenient

    @classmethod
    def of_files(cls) -> Tabular:
        """As tables of files are read: with few levels to a category, and what cannot help left out."""
        return cls(max_levels=30, buckets=8, lenient=True)

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

        input_features: names of the columns, if they had none when fitted; others are refused.

        >>> Tabular().fit([[1.0], [None], [2.0]]).get_feature_names_out().tolist()
        ['0', '0 is missing']
        """
        check_is_fitted(self)
        given = None if input_features is None else _check_feature_names_in(self, input_features)
        called = [self._name(j) if given is None else str(given[j]) for j in range(len(self.columns_))]
        pairs = zip(self.columns_, called, strict=True)
        names = [name for column, label in pairs for name in column.names(label)]
        return np.asarray(names, dtype=object)[self.kept_]

    def _learn(self, X: Any) -> None:
        self.columns_ = [
            read_column(column_of(X, j), self._label(j), self.max_levels, self.buckets, self.lenient)
            for j in range(X.shape[1])
        ]
        refuse_sentences(
            {j: column_of(X, j) for j, column in enumerate(self.columns_) if not isinstance(column, Numbers)},
            self._names,
        )
        kept: list[int] = []
        self.left_out_ = {}
        start = 0
        for j, column in enumerate(self.columns_):
            made = column.features(column_of(X, j), self._label(j))
            varying = np.flatnonzero((made != made[:1]).any(axis=0))
            if not len(varying):
                reason = column.reason if isinstance(column, LeftOut) else NEVER_VARIES
                self.left_out_[self._name(j)] = reason
            kept += (start + varying).tolist()
            start += made.shape[1]
        self.kept_ = np.asarray(kept, dtype=np.intp)
        if not len(self.kept_):
            raise ValueError(self._nothing_left(X.shape[0]))

    def _nothing_left(self, n: int) -> str:
        reasons = ((name, why) for name, why in self.left_out_.items() if why != NEVER_VARIES)
        name, why = next(reasons, (None, ""))
        if name is None:
            return f"no column of X varies (n_samples={n}): there is nothing to learn from"
        return (
            f"no column of X is left to learn from (n_samples={n}): {name!r} is left out because {why}; "
            "if it is text, give embeddings of it as columns of numbers"
        )

    def _map(self, X: Any) -> Array:
        if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and all(map(_is_plain, self.columns_)):
            return self._numeric(X)[:, self.kept_]
        table = np.empty((X.shape[0], len(self.kept_)))  # filled column by column: it may be large
        start = done = 0
        for j, column in enumerate(self.columns_):
            mine = self.kept_[(self.kept_ >= start) & (self.kept_ < start + column.width)] - start
            if len(mine):
                table[:, done : done + len(mine)] = column.features(column_of(X, j), self._label(j))[:, mine]
            start, done = start + column.width, done + len(mine)
        return table

    def _numeric(self, X: Array) -> Array:
        """The same for plain numbers, all at once."""
        numbers = X.astype(np.float64, copy=False)
        with np.errstate(invalid="ignore", over="ignore"):
            total = numbers.sum()
        if np.isfinite(total):
            return numbers
        for j in np.flatnonzero(np.isinf(numbers).any(axis=0)):
            as_numbers(numbers[:, j], self._label(int(j)))
        return np.where(
            np.isnan(numbers),
            [column.fill for column in self.columns_ if isinstance(column, Numbers)],
            numbers,
        )

    def _name(self, j: int) -> str:
        return str(j if self._names is None else self._names[j])

    def _label(self, j: int) -> str:
        return column_label(j, self._names)

    def _parts(self) -> dict[str, Any]:
        return {"columns": [_described(column) for column in self.columns_], "kept": self.kept_}

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """A frame as it is, a sparse matrix as a dense one, anything else as an array."""
        refuse_broken(X)
        X = without_long_integers(X)
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
        refuse_empty(X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _is_plain(column: Any) -> bool:
    return isinstance(column, Numbers) and not column.marks and not column.dates


def _described(column: Any) -> list[Any]:
    if isinstance(column, Numbers):
        return ["dates" if column.dates else "numbers", column.fill, column.marks]
    if isinstance(column, Categories):
        return ["levels", column.levels.described, column.buckets]
    return ["left out"]

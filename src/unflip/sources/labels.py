"""Labels at the border: any label type, or soft labels, turned into class memberships.

A label is soft when it is a probability: a float strictly between 0 and 1 says how likely the row
is to be of class 1, and a row of K probabilities says it for K classes. Soft labels equal the
weighted pair of hard ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d

from unflip._culprits import is_missing

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Labels:
    """Classes in sorted order, and a K x n sparse table of P(class | row): a one per hard label."""

    classes: Array
    table: Any

    def __len__(self) -> int:
        return self.table.shape[1]

    @property
    def membership(self) -> Array:
        """P(class k) for each row, one column a class."""
        return self.table.T.toarray()

    @property
    def hard(self) -> bool:
        """Is every label certain?"""
        return bool(self.table.nnz == len(self) and np.all(self.table.data == 1))

    def weighted(self, weight: Array, rows: slice) -> Any:
        """A K x rows matrix that turns rows into weighted sums by class."""
        part = self.table[:, rows]
        weights = np.repeat(weight[rows], np.diff(part.indptr))
        return sparse.csc_array((part.data * weights, part.indices, part.indptr), shape=part.shape)

    def recoded(self, classes: Array) -> Labels:
        """The same labels among other classes, which must hold every class that is used."""
        place = {label: k for k, label in enumerate(classes.tolist())}
        for k, label in enumerate(self.classes.tolist()):
            if label not in place:
                row = self.table[[k]].tocoo().col.min()
                raise ValueError(f"label {label!r} of row {row} is not among the classes {classes.tolist()}")
        to = np.array([place[label] for label in self.classes.tolist()], dtype=np.intp)
        t = self.table
        return Labels(classes, _table(t.data, to[t.indices], t.indptr, len(classes)))


def _table(data: Array, indices: Array, indptr: Array, n_classes: int) -> Any:
    return sparse.csc_array((data, indices, indptr), shape=(n_classes, len(indptr) - 1))


def encode(y: Any) -> Labels:
    """Class codes of hard labels, memberships of soft ones.

    >>> encode(["no", "yes", "no"]).membership.tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> encode([0.25, 1.0]).membership.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    labels = _as_array(y)
    if labels.ndim == 2 and labels.shape[1] > 1:
        return _soft_rows(labels)
    labels = column_or_1d(labels, warn=True)
    _refuse_missing(labels)
    if labels.dtype == object and all(isinstance(label, int | float) for label in labels):
        labels = np.array(labels.tolist())  # plain numbers from a nullable column
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        return _soft_column(labels)
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"labels are of mixed types ({', '.join(kinds)}); make them all strings") from None
    return Labels(classes, _table(np.ones(len(codes)), codes, np.arange(len(codes) + 1), len(classes)))


def _as_array(y: Any) -> Array:
    """Labels as an array of their own type: NumPy would turn the list ["a", 1, nan] into three strings."""
    labels = np.asarray(y)
    if isinstance(y, list | tuple) and labels.dtype.kind in "US":
        given = np.asarray(y, dtype=object)
        text = str if labels.dtype.kind == "U" else bytes
        if not all(isinstance(label, text) for label in given.flat):
            return given
    return labels


def _soft_column(labels: Array) -> Labels:
    outside = np.flatnonzero((labels < 0) | (labels > 1))
    if outside.size:
        raise ValueError(
            f"Unknown label type: continuous (row {outside[0]} is {labels[outside[0]]}). "
            "Labels are classes, or probabilities between 0 and 1."
        )
    positive = labels.astype(np.float64)
    return Labels(np.array([0, 1]), sparse.csc_array(np.vstack([1 - positive, positive])))


def _soft_rows(labels: Array) -> Labels:
    if labels.dtype.kind not in "fiub":
        raise ValueError(f"labels form one column, got an array of shape {labels.shape}")
    rows = labels.astype(np.float64)
    bad = np.flatnonzero(~(np.all(rows >= 0, axis=1) & (np.abs(rows.sum(axis=1) - 1) <= 1e-6)))
    if bad.size:
        row = bad[0]
        raise ValueError(
            f"soft labels are probabilities that sum to 1, but row {row} is {rows[row].tolist()}"
        )
    return Labels(np.arange(rows.shape[1]), sparse.csc_array((rows / rows.sum(axis=1, keepdims=True)).T))


def _refuse_missing(labels: Array) -> None:
    if labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    elif labels.dtype.kind in "Mm":
        missing = np.isnat(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([is_missing(label) for label in labels], dtype=bool)
    else:
        return
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"Input y contains NaN or infinity: the label of row {row} is {labels[row]}")

"""Labels at the border: any label type, or soft labels, turned into class memberships.

A label is soft when it is a probability: a float strictly between 0 and 1 says how likely the row
is to be of class 1, and a row of K probabilities says it for K classes. Soft labels equal the
weighted pair of hard ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d

from unflip.border.arrays import Array, beside, is_foreign, is_plain, to_numpy
from unflip.border.foreign_labels import classes_and_codes
from unflip.border.long_integers import with_plain_integers
from unflip.border.words import is_missing, refuse_masked

COUNTED_RANGE = 1 << 16  # numbers in so short a range are counted, not sorted


@dataclass(frozen=True, eq=False)
class Labels:
    """Classes in sorted order, and each row's place among them.

    codes: (n,), the places; None if labels are soft, and then soft: (K, n), a sparse table of P(class | row),
    and probabilities: for how many classes they were given.
    Beside rows that are arrays of torch or CuPy, codes are such an array too, and so is soft, which is dense.
    """

    classes: Array
    codes: Any = None
    soft: Any = None
    probabilities: int = 0

    def __len__(self) -> int:
        return self.codes.shape[0] if self.codes is not None else self.soft.shape[1]

    def beside(self, X: Any) -> Labels:
        """The same labels where the rows X are."""
        if isinstance(self.codes, np.ndarray) and isinstance(X, np.ndarray):
            return self
        if self.codes is not None:
            return Labels(self.classes, beside(self.codes, X))
        if is_foreign(X):
            soft = self.soft if is_foreign(self.soft) else self.soft.toarray()
            return self._with_soft(beside(soft, X))
        return self._with_soft(self.table)

    def _with_soft(self, soft: Any) -> Labels:
        return Labels(self.classes, None, soft, self.probabilities)

    @cached_property
    def table(self) -> Any:
        """P(class | row) as a K x n sparse table, hard labels too."""
        if self.codes is None:
            return sparse.csc_array(to_numpy(self.soft)) if is_foreign(self.soft) else self.soft
        n = len(self)
        table = np.ones(n), to_numpy(self.codes).astype(np.intp), np.arange(n + 1)
        return sparse.csc_array(table, shape=(len(self.classes), n))

    @property
    def membership(self) -> Array:
        """P(class k) for each row, one column a class."""
        return self.table.T.toarray()

    @property
    def hard(self) -> bool:
        """Is every label certain?"""
        return self.codes is not None or bool(self.table.nnz == len(self) and np.all(self.table.data == 1))

    def weighted(self, weight: Array, rows: slice) -> Any:
        """A K x rows matrix that turns rows into weighted sums by class."""
        w = weight[rows]
        shape = len(self.classes), len(w)
        if self.codes is not None:
            return sparse.csc_array((w, self.codes[rows], np.arange(len(w) + 1)), shape=shape)
        part = self.soft[:, rows]
        w = np.repeat(w, np.diff(part.indptr))
        return sparse.csc_array((part.data * w, part.indices, part.indptr), shape=shape)

    def __getitem__(self, rows: slice | Array) -> Labels:
        """The labels of some rows."""
        if self.codes is None:
            return self._with_soft(self.soft[:, rows])
        return Labels(self.classes, self.codes[rows])

    def recoded(self, classes: Array) -> Labels:
        """The same labels among other classes, which must hold every class that is used."""
        place = {label: k for k, label in enumerate(classes.tolist())}
        if is_foreign(self.codes if self.soft is None else self.soft):
            if self.classes.tolist() == classes.tolist():
                return Labels(classes, self.codes, self.soft, self.probabilities)
            return (
                self.beside(classes).recoded(classes).beside(self.codes if self.soft is None else self.soft)
            )
        for k, label in enumerate(self.classes.tolist()):
            if label not in place:
                row = self.table[[k]].tocoo().col.min()
                raise ValueError(f"label {label!r} of row {row} is not among the classes {classes.tolist()}")
        to = np.array([place[label] for label in self.classes.tolist()], dtype=np.intp)
        if self.codes is not None:
            return Labels(classes, to.astype(np.min_scalar_type(len(classes)))[self.codes])
        t = self.soft
        shape = len(classes), len(self)
        table = sparse.csc_array((t.data, to[t.indices], t.indptr), shape=shape)
        return Labels(classes, None, table, self.probabilities)


def encode(y: Any) -> Labels:
    """Class codes of hard labels, memberships of soft ones.

    >>> encode(["no", "yes", "no"]).membership.tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    >>> encode([0.25, 1.0]).membership.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    if y is None:
        raise ValueError("learning requires y to be passed, but the target y is None")
    plain = is_plain(y, ndim=1)
    if not plain and is_foreign(y):
        hard = classes_and_codes(y)
        return encode(to_numpy(y)).beside(y) if hard is None else Labels(*hard)
    labels = y if plain else _as_array(y)
    if labels.ndim == 2:
        return _soft_rows(labels)
    if labels.dtype.kind not in "iub":
        _refuse_missing(labels)
    if labels.dtype == object:
        _refuse_unhashable(labels)
        if all(isinstance(label, int | float) for label in labels):
            labels = np.array(labels.tolist())  # plain numbers from a nullable column
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        return _soft_column(labels)
    if labels.dtype.kind in "iufb":
        found = _small_whole_numbers(labels)
        if found is not None:
            return found
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"labels are of mixed types ({', '.join(kinds)}); make them all strings") from None
    return Labels(classes, codes)


def encode_classes(y: Any) -> Labels:
    """The same, but one column of fractions is refused: probabilities look just like a target of regression.

    >>> encode_classes([[0.75, 0.25], [0.0, 1.0]]).membership.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    >>> encode_classes([1.0, 0.25])
    Traceback (most recent call last):
    ValueError: Unknown label type: continuous (row 1 is 0.25). Labels are classes; if these are probabilities
    of class 1, give two columns, np.column_stack([1 - y, y])
    """
    labels = encode(y)
    if labels.codes is None and 1 in (np.ndim(y), *np.shape(y)[1:]):
        chances = labels.membership[:, 1]
        row = int(np.argmax((chances > 0) & (chances < 1)))
        raise ValueError(
            f"Unknown label type: continuous (row {row} is {chances[row]}). Labels are classes; if these are "
            "probabilities of class 1, give two columns, np.column_stack([1 - y, y])"
        )
    return labels


def _small_whole_numbers(labels: Array) -> Labels | None:
    """Labels that are whole numbers close together, by counting rather than sorting; None if they are not.

    >>> found = _small_whole_numbers(np.array([7.0, -1.0, 7.0]))
    >>> found.classes.tolist(), found.codes.tolist()
    ([-1.0, 7.0], [1, 0, 1])
    """
    if not len(labels):
        return None
    low, high = labels.min().item(), labels.max().item()
    if abs(low) > 2**53 or high - low >= COUNTED_RANGE:
        return None
    steps = labels.astype(np.int64) - int(low)
    present = np.flatnonzero(np.bincount(steps))
    places = np.zeros(int(high - low) + 1, dtype=np.min_scalar_type(len(present)))
    places[present] = np.arange(len(present))
    return Labels((present + int(low)).astype(labels.dtype), places[steps])


def _as_array(y: Any) -> Array:
    """Labels of their own type, (n,), or probabilities, (n, K).

    NumPy would turn the list ["a", 1, nan] into three strings.
    """
    refuse_masked(y, "y")
    labels = np.asarray(with_plain_integers(y))
    if isinstance(y, list | tuple) and labels.dtype.kind in "US":
        given = np.asarray(y, dtype=object)
        text = str if labels.dtype.kind == "U" else bytes
        if not all(isinstance(label, text) for label in given.flat):
            labels = given
    if labels.ndim > 2:
        raise ValueError(f"labels form one column, got an array of shape {labels.shape}")
    return labels if labels.ndim == 2 and labels.shape[1] > 1 else column_or_1d(labels, warn=True)


def _soft_column(labels: Array) -> Labels:
    outside = np.flatnonzero((labels < 0) | (labels > 1))
    if outside.size:
        raise ValueError(
            f"Unknown label type: continuous (row {outside[0]} is {labels[outside[0]]}). "
            "Labels are classes, or probabilities between 0 and 1."
        )
    positive = labels.astype(np.float64)
    table = sparse.csc_array(np.vstack([1 - positive, positive]))
    return Labels(np.array([0, 1]), soft=table, probabilities=2)


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
    table = sparse.csc_array((rows / rows.sum(axis=1, keepdims=True)).T)
    return Labels(np.arange(rows.shape[1]), soft=table, probabilities=rows.shape[1])


def _refuse_unhashable(labels: Array) -> None:
    """Sets and lists have no place among classes: some can be sorted, but in no order that all agree on."""
    for row, label in enumerate(labels):
        if label.__hash__ is None:
            raise ValueError(
                f"the label of row {row} is a {type(label).__name__}; make labels words or numbers"
            )


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

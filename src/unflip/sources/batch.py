"""Batches: rows with labels and weights. A source is anything that yields batches, again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names

from unflip.border.arrays import Array, is_foreign
from unflip.border.labels import Labels, encode
from unflip.border.rows import numeric_rows
from unflip.border.weights import as_weight, weight_beside


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows X (dense or CSR), their labels and weights, and the names of the columns if they have any.

    Labels and weights lie beside X, if that is an array of torch or CuPy. Messages call the rows by their
    number in the `place`, a file for example, where they begin with `first_row`. foreign: whether X, and with
    it labels and weights, are arrays of another library than NumPy; this is asked here, and not again.
    """

    X: Any
    labels: Labels
    weight: Array
    names: tuple[str, ...] | None = None
    first_row: int = 0
    place: str = ""
    foreign: bool | None = None

    def __post_init__(self) -> None:
        if self.foreign is None:
            object.__setattr__(self, "foreign", is_foreign(self.X))

    def __iter__(self) -> Iterator[Batch]:
        """A batch is a source of one batch: itself."""
        yield self


def batches(source: Any) -> Iterator[Batch]:
    """The batches of a source. Plain (X, y) or (X, y, weight) will do for a batch, and for a source of one.

    >>> [len(batch.labels) for batch in batches(([[1.0], [2.0]], ["a", "b"]))]
    [2]
    >>> [len(batch.labels) for batch in batches([([[1.0], [2.0]], ["a", "b"]), ([[3.0]], ["a"])])]
    [2, 1]
    """
    wanted = "a source is a tuple (X, y) or (X, y, weight), or yields such tuples or batches"
    if isinstance(source, tuple):
        if len(source) not in (2, 3):
            raise TypeError(f"{wanted}; this tuple has length {len(source)}")
        yield arrays(*source)
        return
    if not isinstance(source, Iterable):
        raise TypeError(f"{wanted}; this is a {type(source).__name__}")
    for item in source:
        if not isinstance(item, Batch) and not (isinstance(item, tuple) and len(item) in (2, 3)):
            raise TypeError(f"{wanted}; this {type(source).__name__} yields a {type(item).__name__}")
        yield item if isinstance(item, Batch) else arrays(*item)


def arrays(X: Any, y: Any, weight: Any = None) -> Batch:
    """A source from data in memory: NumPy arrays, SciPy sparse matrices, pandas or polars frames.

    Arrays of torch and CuPy, and of others that follow the array API standard, stay on their device.

    >>> batch = arrays([[1.0, 2.0], [3.0, 4.0]], ["no", "yes"], weight=[1.0, 2.0])
    >>> batch.labels.classes.tolist(), batch.weight.tolist()
    (['no', 'yes'], [1.0, 2.0])
    """
    labels = encode(y)
    names = _get_feature_names(X)
    return batch_of(numeric_rows(X, fewest=0), labels, weight, None if names is None else tuple(names))


def batch_of(rows: Any, labels: Labels, weight: Any, names: tuple[str, ...] | None) -> Batch:
    """A batch of rows and labels that were checked, with weights as they were given.

    >>> batch_of(np.ones((2, 1)), encode([0, 1]), None, None).weight.tolist()
    [1.0, 1.0]
    """
    n = rows.shape[0]
    if n != len(labels):
        raise ValueError(f"X has {n} rows, y has {len(labels)} labels: inconsistent lengths")
    foreign = not isinstance(rows, np.ndarray) and is_foreign(rows)
    if foreign:
        checked = weight_beside(weight, rows)
    else:
        checked = np.ones(n) if weight is None else as_weight(weight, n)
    return Batch(rows, labels.beside(rows), checked, names, foreign=foreign)

"""Classes: how many are needed, and how one number a class becomes scores.

Inside there is one column a class. Of two classes only the difference tells which one is chosen, so scores of
two classes are one column, (n, 1), and those of K > 2 classes are K columns.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from unflip.border.arrays import Array


def refuse_single_class(classes: Any, counts: Array, present_at_least: int = 2) -> None:
    """Raise unless there are two classes to tell apart, and rows of as many as asked for.

    >>> refuse_single_class(["a", "b"], np.array([3.0, 0.0]))
    Traceback (most recent call last):
    ValueError: rows of at least two classes are needed, got rows of one class, 'a'
    """
    present = np.flatnonzero(counts)
    if len(counts) < 2 or len(present) < present_at_least:
        seen = f"one class, {classes[present[0]]!r}" if len(present) else "no class"
        raise ValueError(f"rows of at least two classes are needed, got rows of {seen}")


def warn_lonely_class(classes: Any, member: Array) -> None:
    """Warn if a class has one row, without which it has none; member: (n, K).

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn_lonely_class(["a", "b"], np.eye(2)[[0, 0, 1]])
    >>> print(seen[0].message)
    class 'b' has one row: leaving it out says nothing of it; drop it, or join it with another class
    """
    rows = np.count_nonzero(member, axis=0)
    if 1 in rows:
        label = classes[int(np.argmax(rows == 1))]
        words = "leaving it out says nothing of it; drop it, or join it with another class"
        warnings.warn(f"class {label!r} has one row: {words}", stacklevel=4)


def contrast(n_classes: int) -> Array:
    """What turns one row a class into scores: the difference of two classes, or each of several.

    >>> contrast(2).tolist()
    [[-1.0, 1.0]]
    """
    return np.array([[-1.0, 1.0]]) if n_classes == 2 else np.eye(n_classes)


def never(counts: Array) -> Array:
    """What to add to scores so that a class without rows is not chosen: minus infinity, as a contrast.

    >>> never(np.array([3.0, 0.0, 2.0])).tolist()
    [-0.0, -inf, -0.0]
    """
    return contrasted(-np.where(counts > 0, 0.0, np.inf))


def lonely(masses: Array, counts: Array) -> Array:
    """The same for leave-one-out scores, (n, C): rows without which their class has none.

    masses: (n, K), the weight of each row in each class; counts: (K,), that of all rows.

    >>> masses = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> lonely(masses, masses.sum(axis=0)).ravel().tolist()
    [0.0, 0.0, -inf]
    """
    gone = (masses > 0) & (counts - masses <= 1e-12 * counts)
    alone = gone.all(axis=1, keepdims=True)  # a single soft row: without it there is nothing to choose from
    return contrasted(-np.where(gone & ~alone, np.inf, 0.0))


def contrasted(values: Array) -> Array:
    """One number a class, along the last axis, as scores; the same as by `contrast`, infinities too.

    >>> contrasted(np.array([-np.inf, 2.0])).tolist(), contrasted(np.array([1.0, 2.0, 3.0])).tolist()
    ([inf], [1.0, 2.0, 3.0])
    """
    return values[..., [1]] - values[..., [0]] if values.shape[-1] == 2 else values


def as_scores(table: Array) -> Array:
    """Scores (..., C) in the shape that scikit-learn gives them: for two classes there is no last axis.

    >>> as_scores(np.zeros((5, 1))).shape, as_scores(np.zeros((5, 3))).shape
    ((5,), (5, 3))
    """
    return table[..., 0] if table.shape[-1] == 1 else table


def chosen(scores: Any) -> Array:
    """The place of the likely class, for scores in either shape.

    >>> chosen(np.array([[-1.0], [2.0]])).tolist(), chosen(np.array([[0.1, 0.7, 0.2]])).tolist()
    ([0, 1], [1])
    """
    scores = as_scores(scores) if scores.ndim == 2 else scores
    return np.asarray(scores > 0 if scores.ndim == 1 else scores.argmax(axis=1), dtype=np.intp)

"""What tells the classes apart, column by column: the class means that the simplest learner is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.passes import accumulate

SHOWN_DIFFERENCES = 8


@dataclass(frozen=True)
class Difference:
    """One column in one class: its mean there and in the other rows, apart by so many standard deviations."""

    column: str
    label: Any
    mean: float
    others: float
    deviations: float

    @property
    def words(self) -> str:
        """A sentence.

        >>> Difference("age", "yes", 60.0, 40.0, 1.5).words
        'age is higher where the label is yes: 60 on average, 40 elsewhere'
        """
        way = "higher" if self.deviations > 0 else "lower"
        return (
            f"{self.column} is {way} where the label is {self.label}: {self.mean:.4g} on average, "
            f"{self.others:.4g} elsewhere"
        )


def differences(X: Array, names: list[str], y: Array, weight: Array | None) -> tuple[Difference, ...]:
    """The largest differences between a class and the rest, at most one for each column.

    Noise shrinks all of them alike (between two classes), so their order is that of clean labels.

    >>> X, y = np.array([[0.0, 1.0], [2.0, 1.0], [8.0, 1.0]]), np.array([0, 0, 1])
    >>> found = differences(X, ["a", "b"], y, None)
    >>> [(each.column, each.label, round(each.others, 9)) for each in found]
    [('a', 1, 1.0)]
    """
    moments = accumulate((X, y) if weight is None else (X, y, weight))
    means, shares = moments.feature_means, moments.counts / moments.total
    total = means.sum(axis=0)
    square = np.einsum("ij,ij,i->j", X, X, np.ones(len(y)) if weight is None else weight) / moments.total
    spread = np.sqrt(np.maximum(square - total**2, 0.0))
    best: dict[int, Difference] = {}
    classes = list(enumerate(moments.classes))
    for k, label in classes[1:] if len(classes) == 2 else classes:
        here, there = means[k] / shares[k], (total - means[k]) / (1 - shares[k])
        apart = np.divide(here - there, spread, out=np.zeros(len(spread)), where=spread > 0)
        for j in np.flatnonzero(apart).tolist():
            if j not in best or abs(apart[j]) > abs(best[j].deviations):
                best[j] = Difference(names[j], label, float(here[j]), float(there[j]), float(apart[j]))
    return tuple(sorted(best.values(), key=lambda found: -abs(found.deviations))[:SHOWN_DIFFERENCES])

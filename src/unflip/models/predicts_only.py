"""Models that predict and do nothing else: they neither merge nor forget. What their files have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unflip._weights import as_weight
from unflip.models.reading import Array, ReadsTables
from unflip.models.table_facts import (
    as_facts,
    from_facts,
    history_from_facts,
    refuse_others,
    refuse_unwritable,
)
from unflip.moments.files import PLAIN, refuse_labels
from unflip.tables import Habits
from unflip.tables.labels import TableLabels
from unflip.tables.tabular import Tabular

FACTS = ("target", "history", "habits", "table", "classes", "counts")


@dataclass(frozen=True, eq=False)
class PredictsOnly(ReadsTables):
    """A fitted classifier, of numbers as `numbers` makes them, and what it was fitted to.

    counts: how many rows there were of each class, by weight; history: what was fitted, in words; habits: how
    CSV is written.
    """

    target: str
    table: Tabular
    classifier: Any
    counts: dict[str, float]
    history: tuple[str, ...] = ()
    learner: str = ""
    habits: Habits = field(default_factory=Habits)

    @property
    def labels(self) -> list[Any]:
        """The classes."""
        return list(self.classifier.classes_.tolist())

    def scores(self, frame: Any) -> Array:
        """(n,) for two classes, positive for the second one; (n, K) for more."""
        return np.asarray(self.classifier.decision_function(self.numbers(frame)))

    def predict(self, frame: Any) -> Array:
        """The class of each row."""
        return np.asarray(self.classifier.predict(self.numbers(frame)))

    def facts(self) -> dict[str, Any]:
        """What is not an array, for a file."""
        refuse_labels(self.labels)
        refuse_unwritable((*self.labels, self.target))
        return {
            "target": self.target,
            "history": list(self.history),
            "habits": self.habits.as_facts(),
            "table": as_facts(self.table),
            "classes": self.labels,
            "counts": self.counts,
        }


def counts_by_class(labels: TableLabels) -> dict[str, float]:
    """How many rows there are of each class, by weight.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"n": [2.0, 1.0, 0.5], "sick": ["no", "yes", "yes"]})
    >>> counts_by_class(TableLabels.of(frame, "sick", weight="n"))
    {'no': 2.0, 'yes': 1.5}
    """
    weight = as_weight(labels.weight, len(labels.y))
    return {str(label): float(weight[labels.y == label].sum()) for label in labels.classes}


def fields_from_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """The fields of a model that its classifier is no part of."""
    target, counts = facts["target"], facts["counts"]
    refuse_others(facts["habits"], vars(Habits()))
    if not isinstance(target, str):
        raise ValueError("the target is no text")
    refuse_unwritable((target,))
    if not all(type(n) is float and 0 <= n < np.inf for n in counts.values()):
        raise ValueError(f"the counts are {counts!r}")
    return {
        "target": target,
        "table": from_facts(facts["table"]),
        "counts": counts,
        "history": history_from_facts(facts["history"]),
        "habits": Habits.from_facts(facts["habits"]),
    }


def labels_from_facts(classes: Any) -> Array:
    """The classes of a classifier: at least two, and all text or all numbers.

    >>> labels_from_facts([0, 1]), labels_from_facts(["no", "yes"])
    (array([0, 1]), array(['no', 'yes'], dtype=object))
    >>> labels_from_facts(["no"])
    Traceback (most recent call last):
    ValueError: the classes are ['no']
    """
    if not isinstance(classes, list) or len(classes) < 2 or not all(isinstance(c, PLAIN) for c in classes):
        raise ValueError(f"the classes are {classes!r}")
    labels = np.array(classes, dtype=object if isinstance(classes[0], str) else None)
    if len({isinstance(c, str) for c in classes}) > 1 or labels.tolist() != classes:  # NaN is not itself
        raise ValueError(f"the classes are {classes!r}, neither all text nor all numbers")
    if len(set(classes)) != len(classes):
        raise ValueError("a class is there twice")
    refuse_unwritable(classes)
    return labels


def refuse_odd_arrays(arrays: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise unless all arrays are finite numbers of 64 bits, and those that are named have their shapes.

    >>> refuse_odd_arrays({"mean": np.ones(3)}, {"mean": (2,)})
    Traceback (most recent call last):
    ValueError: mean has the shape (3,), not (2,)
    """
    for name, array in arrays.items():
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"{name} holds something else than finite numbers")
        if array.shape != shapes.get(name, array.shape):
            raise ValueError(f"{name} has the shape {array.shape}, not {shapes[name]}")

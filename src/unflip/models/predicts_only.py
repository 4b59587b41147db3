"""Learners whose models predict and do nothing else: what their files have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from unflip.border.arrays import Array
from unflip.border.weights import as_weight
from unflip.models.table_facts import refuse_unwritable
from unflip.moments.files import PLAIN_LABEL
from unflip.noise.models import Noise
from unflip.tables.labels import TableLabels


@dataclass(frozen=True, eq=False)
class PredictsOnly:
    """A fitted classifier of numbers, and how many rows there were of each class, by weight."""

    names: ClassVar[tuple[str, ...]] = ("target",)
    privacy: ClassVar[None] = None

    learner: str
    classifier: Any
    counts: dict[str, float]

    @property
    def labels(self) -> list[Any]:
        """The classes."""
        return list(self.classifier.classes_.tolist())

    def with_noise(self, noise: Noise) -> Self:
        """The same, corrected for this noise, where that can be done without the rows."""
        raise ValueError(
            f"a {self.learner} model cannot be corrected after the fit: its scores are not linear in the "
            "labels, or keep none of their sums; fit with --learner square, unhinged or robust"
        )


def counts_by_class(labels: TableLabels) -> dict[str, float]:
    """How many rows there are of each class, by weight.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"n": [2.0, 1.0, 0.5], "sick": ["no", "yes", "yes"]})
    >>> counts_by_class(TableLabels.of(frame, "sick", weight="n"))
    {'no': 2.0, 'yes': 1.5}
    """
    weight = as_weight(labels.weight, len(labels.y))
    return {str(label): float(weight[labels.y == label].sum()) for label in labels.classes}


def counts_from_facts(counts: Any) -> dict[str, float]:
    """How many rows there were of each class.

    >>> counts_from_facts({"no": -1.0})
    Traceback (most recent call last):
    ValueError: the counts are {'no': -1.0}
    """
    if not all(type(n) is float and 0 <= n < np.inf for n in counts.values()):
        raise ValueError(f"the counts are {counts!r}")
    return dict(counts)


def labels_from_facts(classes: Any) -> Array:
    """The classes of a classifier: at least two, and all text or all numbers.

    >>> labels_from_facts([0, 1]), labels_from_facts(["no", "yes"])
    (array([0, 1]), array(['no', 'yes'], dtype=object))
    >>> labels_from_facts(["no"])
    Traceback (most recent call last):
    ValueError: the classes are ['no']
    """
    if (
        not isinstance(classes, list)
        or len(classes) < 2
        or not all(isinstance(c, PLAIN_LABEL) for c in classes)
    ):
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

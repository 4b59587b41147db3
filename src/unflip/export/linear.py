"""A model of a table as plain weights: nothing but sums of what its columns are.

All that happens between a column and a score is linear but for how the column is read, so the scales that
numbers were brought to can be folded into the weights. Numbers are counted from a center: a date is 20,000
days after 1970, and an intercept that made up for this would take the digits of its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.estimators.affine import affine
from unflip.models import TableModel
from unflip.tables.column_kinds import Categories, LeftOut, Numbers


@dataclass(frozen=True, eq=False)
class ColumnWeights:
    """What a column adds to the scores: weights @ (numbers - centers), with `numbers` as `read` makes them.

    weights: (C, m); centers: (m,), zero for marks and levels; spreads: (m,), the standard deviations of the
    numbers. All are zero for numbers that never varied.
    """

    name: str
    read: Numbers | Categories
    weights: Array
    centers: Array
    spreads: Array


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores intercepts + weights @ (numbers - centers), one for two classes or one a class.

    names: of the numbers that the table makes, as `get_feature_names_out` tells them; weights: (C, d), in the
    units of the columns; centers: (d,); intercepts: (C,); columns: the same for each column that counts.
    """

    classes: tuple[Any, ...]
    names: tuple[str, ...]
    weights: Array
    intercepts: Array
    centers: Array
    columns: tuple[ColumnWeights, ...]

    @cached_property
    def at_zero(self) -> Array:
        """The scores where all numbers are zero, (C,): intercepts for those who count from there."""
        return np.asarray(self.intercepts - self.weights @ self.centers)


def linear(model: TableModel, doublings: int | None = None) -> Linear:
    """The weights of a model. doublings: of all scores, instead of those that the model has.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "city": ["x", "y", "x", "y"], "old": [0, 0, 1, 1]})
    >>> found = linear(TableModel.fit(frame, "old", learner="unhinged"))
    >>> found.names, found.weights.round(6).tolist()
    (('age', 'city = x', 'city = y'), [[0.047059, 0.0, 0.0]])
    """
    classifier = model.classifier
    formula = affine(classifier, classifier.scorer_.doublings if doublings is None else doublings)
    counted = np.concatenate([_is_counted(column) for column in model.table.columns_])
    kept = model.table.kept_
    centers = np.where(counted[kept], formula.places, 0.0)
    intercepts = formula.intercepts - formula.weights @ (formula.places - centers)
    # With a place for every number that a column can make, in rows: centers, spreads, weights.
    wide = np.zeros((2 + len(formula.weights), len(counted)))
    wide[:, kept] = np.vstack([centers, model.scale.scale_, formula.weights])
    columns, start = [], 0
    for name, column in zip(model.columns, model.table.columns_, strict=True):
        here = slice(start, start := start + column.width)
        if not isinstance(column, LeftOut) and np.isin(np.arange(here.start, here.stop), kept).any():
            columns.append(ColumnWeights(name, column, wide[2:, here], wide[0, here], wide[1, here]))
    return Linear(
        tuple(classifier.classes_.tolist()),
        tuple(model.table.get_feature_names_out().tolist()),
        formula.weights,
        intercepts,
        centers,
        tuple(columns),
    )


def _is_counted(column: Any) -> Array:
    """Which numbers of a column are more than marks, zero or one."""
    counted = np.zeros(column.width, dtype=bool)
    counted[:1] = isinstance(column, Numbers)
    return counted

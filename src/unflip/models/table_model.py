"""A classifier of tables that is nothing but sums, so that models merge and rows can be taken back.

Columns become numbers without a look at labels (`Tabular`), numbers are standardised, and the sums of what
comes out, by class, determine the classifier. Two models that read columns alike are merged by adding their
sums; rows are forgotten by subtracting theirs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from unflip._files import brief, kind_of, load_arrays, save_arrays
from unflip.estimators import SquareClassifier, UnhingedClassifier
from unflip.features import Standardize
from unflip.models.reading import PREDICT_ONLY, Array, ReadsTables
from unflip.models.table_facts import (
    DOUBTS,
    as_facts,
    from_facts,
    history_from_facts,
    refuse_others,
    refuse_unwritable,
)
from unflip.moments import Moments
from unflip.moments.files import as_facts as moments_as_facts
from unflip.moments.files import as_fields as moments_as_fields
from unflip.moments.privacy import Budget
from unflip.passes import accumulate
from unflip.tables import Habits
from unflip.tables.labels import TableLabels, feature_columns, labels_to_learn
from unflip.tables.tabular import Tabular

LEARNERS = {"square": SquareClassifier, "unhinged": UnhingedClassifier}
DEGREES = {"square": 2, "unhinged": 1}
FACTS = ("target", "weight", "positive", "learner", "history", "habits", "table", "moments")


@dataclass(frozen=True, eq=False)
class TableModel(ReadsTables):
    """What `unflip fit` writes.

    target, weight: names of columns; table: how the others become numbers; scale: how these are
    standardised; moments: the sums by class; learner: "square" or "unhinged"; positive: the label that stood
    against all others, if one did; history: what was fitted, merged and forgotten, in words; habits: how
    CSV is written.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "city": ["x", "y", "x", "y"], "old": [0, 0, 1, 1]})
    >>> model = TableModel.fit(frame, "old")
    >>> model.predict(pl.DataFrame({"age": [25, 65], "city": ["x", None]})).tolist()
    [0, 1]
    """

    target: str
    table: Tabular
    scale: Standardize
    moments: Moments
    learner: str = "square"
    weight: str | None = None
    positive: str | None = None
    history: tuple[str, ...] = ()
    habits: Habits = field(default_factory=Habits)

    @classmethod
    def fit(
        cls,
        frame: Any,
        target: str,
        learner: str = "square",
        weight: str | None = None,
        positive: str | None = None,
        source: str = "a table",
        habits: Habits | None = None,
    ) -> Self:
        """Fit a frame of pandas or polars. source: what the history calls it."""
        labels, positive = labels_to_learn(frame, target, positive, weight)
        rows = labels.of_rows(feature_columns(frame, target, weight))
        table = Tabular.of_files().fit(rows)
        scale = Standardize().fit(table.transform(rows))
        nothing = Moments.zero(table.width, scale.key, DEGREES[learner])
        empty = cls(target, table, scale, nothing, learner, weight, positive, habits=habits or Habits())
        return empty.more(frame, source)

    def more(self, frame: Any, source: str = "a table") -> Self:
        """The model with further rows, read as those before them.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]})
        >>> TableModel.fit(frame, "old").more(frame).moments.counts.tolist()
        [4.0, 4.0]
        """
        moments, n = self._moments(frame)
        return replace(
            self, moments=self.moments + moments, history=(*self.history, f"fitted {source}: {n} rows")
        )

    def forget(self, frame: Any, source: str = "a table") -> Self:
        """The model without rows that were fitted before."""
        moments, n = self._moments(frame)
        return replace(
            self, moments=self.moments - moments, history=(*self.history, f"forgot {source}: {n} rows")
        )

    def merge(self, other: TableModel) -> Self:
        """The model of all rows behind both; they must read columns alike."""
        if self.target != other.target:
            raise ValueError(f"one model has the target {self.target!r}, the other {other.target!r}")
        if self.key != other.key:
            raise ValueError(
                "the models read columns in different ways; fit one, and the others with --like it"
            )
        if (self.learner, self.weight) != (other.learner, other.weight):
            raise ValueError("the models have different learners, or different columns of weights")
        history = (*self.history, *(f"merged: {line}" for line in other.history))
        return replace(self, moments=self.moments + other.moments, history=history)

    @property
    def key(self) -> str:
        """How columns become numbers: equal for models that can be merged."""
        return f"{self.table.key} {self.scale.key} {self.positive}"

    @property
    def labels(self) -> list[Any]:
        """The classes."""
        return list(self.moments.classes)

    @property
    def privacy(self) -> Budget | None:
        """What the moments have cost, if they are private."""
        return self.moments.privacy

    @property
    def counts(self) -> dict[str, float]:
        """How many rows there were of each class, by weight."""
        return dict(zip(map(str, self.moments.classes), self.moments.counts.tolist(), strict=True))

    @cached_property
    def classifier(self) -> Any:
        """The fitted estimator, of numbers as `numbers` makes them."""
        return LEARNERS[self.learner](features=self.scale).fit_moments(self.moments)

    def scores(self, frame: Any) -> Array:
        """(n,) for two classes, positive for the second one; (n, K) for more."""
        return np.asarray(self.classifier.decision_function(self.numbers(frame)))

    def predict(self, frame: Any) -> Array:
        """The class of each row."""
        return np.asarray(self.classifier.predict(self.numbers(frame)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all."""
        moments, arrays = moments_as_facts(self.moments)
        refuse_unwritable((*self.labels, self.target, self.weight, self.positive))
        facts = {
            "target": self.target,
            "weight": self.weight,
            "positive": self.positive,
            "learner": self.learner,
            "history": list(self.history),
            "habits": self.habits.as_facts(),
            "table": as_facts(self.table),
            "moments": moments,
        }
        save_arrays(path, "model", facts, arrays | {"mean": self.scale.mean_, "scale": self.scale.scale_})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a damaged or foreign file raises `ValueError`.

        >>> import polars as pl, tempfile
        >>> path = tempfile.mkdtemp() + "/model.npz"
        >>> TableModel.fit(pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]}), "old").save(path)
        >>> TableModel.load(path).predict(pl.DataFrame({"age": [65]})).tolist()
        [1]
        """
        other = PREDICT_ONLY.get(kind_of(path))
        if other is not None:
            raise ValueError(
                f"{path} is a {other} model, which predicts but neither merges, forgets nor exports; "
                f"for that, and for --like, fit with --learner {' or '.join(LEARNERS)}"
            )
        facts, arrays = load_arrays(path, "model")
        try:
            refuse_others(facts, FACTS)
            refuse_others(facts["habits"], vars(Habits()))
            mean, spread = arrays.pop("mean"), arrays.pop("scale")
            table = from_facts(facts["table"])
            scale = _scale(mean, spread, table.width)
            moments = Moments(**moments_as_fields(facts["moments"], arrays))
            fits = moments.key == scale.key and moments.sums.shape[1] == scale.width
            if not fits or facts["learner"] not in LEARNERS:
                raise ValueError("its parts do not belong together")
            words = {name: facts[name] for name in ("target", "weight", "positive")}
            known = all(isinstance(word, str | None) for word in words.values())
            if not known or words["target"] is None:
                raise ValueError("its names are no text")
            if len({isinstance(label, str) for label in moments.classes}) > 1:
                raise ValueError("its classes are neither all text nor all numbers")
            refuse_unwritable((*moments.classes, *words.values()))
            return cls(
                table=table,
                scale=scale,
                moments=moments,
                learner=facts["learner"],
                history=history_from_facts(facts["history"]),
                habits=Habits.from_facts(facts["habits"]),
                **words,
            )
        except DOUBTS as error:
            raise ValueError(f"{path} does not hold a model: {brief(error)}") from None

    def _moments(self, frame: Any) -> tuple[Moments, int]:
        labels = TableLabels.of(frame, self.target, self.positive, self.weight)
        if not len(labels.y):
            raise ValueError(f"no row has a label: the target {self.target!r} is empty")
        X = self.numbers(labels.of_rows(frame))
        return accumulate((X, labels.y, labels.weight), self.scale, DEGREES[self.learner]), len(labels.y)


def _scale(mean: Array, spread: Array, width: int) -> Standardize:
    for array in (mean, spread):
        if array.shape != (width,) or array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError("its scale has the wrong shape or type")
    if not (spread > 1e-300).all():
        raise ValueError("its scale is not positive")
    scale = Standardize()
    scale.n_features_in_, scale.mean_, scale.scale_ = width, mean, spread
    return scale

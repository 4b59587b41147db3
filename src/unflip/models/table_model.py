"""A classifier of tables, in a file: how columns become numbers, and what was learned from these.

Columns become numbers without a look at labels (`Tabular`). What is learned is one of three values, each a
kind of file: `Sums`, which add up and are taken away again, so that models merge and rows are forgotten;
`Scaled` and `Kernels`, which predict. What a learner cannot do is refused by its name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from unflip._extras import extra
from unflip._files import brief, kind_of, load_arrays, save_arrays
from unflip.border.arrays import Array
from unflip.features import Standardize
from unflip.models.kernels import Kernels
from unflip.models.scaled import ScaledPipeline
from unflip.models.sums import Sums
from unflip.models.table_facts import (
    DOUBTS,
    as_facts,
    from_facts,
    history_from_facts,
    refuse_others,
    refuse_unwritable,
)
from unflip.moments import Moments
from unflip.moments.files import refuse_labels
from unflip.moments.privacy import Budget
from unflip.noise.estimate import identified_noise
from unflip.noise.models import as_noise
from unflip.tables import Habits
from unflip.tables.labels import TableLabels, feature_columns, labels_to_learn
from unflip.tables.tabular import Tabular

Learned = Sums | ScaledPipeline | Kernels
TABLE_MODEL_FACTS = ("history", "habits", "table")  # in every file


@dataclass(frozen=True, eq=False)
class TableModel:
    """What `unflip fit` writes.

    target: name of the column of labels; table: how the other columns become numbers; learned: what was
    learned from these; weight: name of a column; positive: the label that stood against all others, if one
    did (both only where further rows may come); history: what was fitted, merged and forgotten, in words;
    habits: how CSV is written.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "city": ["x", "y", "x", "y"], "old": [0, 0, 1, 1]})
    >>> model = TableModel.fit(frame, "old")
    >>> model.predict(pl.DataFrame({"age": [25, 65], "city": ["x", None]})).tolist()
    [0, 1]
    """

    kinds: ClassVar[tuple[type[Learned], ...]] = (Sums, ScaledPipeline, Kernels)

    target: str
    table: Tabular
    learned: Learned
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
        """Fit a frame of pandas or polars.

        Parameters
        ----------
        frame : data frame
            The rows, with labels.
        target, weight : str
            Names of the columns of labels and of weights.
        learner : {"square", "unhinged", "robust", "kernel", "logistic"}, default="square"
            The first two are sums, which merge and forget; the others predict.
        positive : str, optional
            A label; all others become one class.
        source : str, default="a table"
            What the history calls the frame.
        habits : Habits, optional
            How CSV is written.
        """
        kind = next((kind for kind in cls.kinds if learner in kind.learners), None)
        if kind is None:
            raise ValueError(f"the learner is one of {', '.join(_learners(cls.kinds))}, got {learner!r}")
        labels, against = labels_to_learn(frame, target, positive, weight)
        rows = labels.of_rows(feature_columns(frame, target, weight))
        table = Tabular.of_files().fit(rows)
        learned, remarks = kind.fit(learner, table, table.transform(rows), labels)
        later = {"weight": weight, "positive": against} if "weight" in kind.names else {}
        history = (f"fitted {source}: {len(labels.y)} rows", *remarks)
        return cls(target, table, learned, history=history, habits=habits or Habits(), **later)

    def more(self, frame: Any, source: str = "a table") -> Self:
        """The model with further rows, read as those before them.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]})
        >>> TableModel.fit(frame, "old").more(frame).moments.counts.tolist()
        [4.0, 4.0]
        """
        moments, n = self._moments(frame)
        return self.with_moments(self.moments + moments, f"fitted {source}: {n} rows")

    def forget(self, frame: Any, source: str = "a table") -> Self:
        """The model without rows that were fitted before."""
        moments, n = self._moments(frame)
        return self.with_moments(self.moments - moments, f"forgot {source}: {n} rows")

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
        return self.with_moments(self.moments + other.moments, *(f"merged: {line}" for line in other.history))

    def with_noise(self, noise: Any) -> Self:
        """The model of clean labels, from labels that went through this noise; rows are not needed.

        Parameters
        ----------
        noise : Noise, NoiseEstimate or float
            A model, an estimate, or one rate for all classes.

        Returns
        -------
        TableModel
            Of the same sums or kernels. Logistic models, and kernel means, cannot be corrected after the fit.

        Examples
        --------
        >>> import polars as pl
        >>> from unflip.noise import ClassConditionalNoise
        >>> frame = pl.DataFrame({"age": [20, 30, 40, 60, 70, 80], "old": [0, 0, 0, 0, 1, 1]})
        >>> model = TableModel.fit(frame, "old")
        >>> model.with_noise(ClassConditionalNoise([0.0, 1 / 3])).predict(frame).tolist()
        [0, 0, 0, 1, 1, 1]
        """
        known = as_noise(identified_noise(noise), len(self.labels))
        learned = self.learned.with_noise(known)
        return replace(self, learned=learned, history=(*self.history, f"corrected for {known!r}"))

    def with_moments(self, moments: Moments, *done: str) -> Self:
        """The model of other sums, private ones say; done: what was done, for the history."""
        learned = replace(self.sums, moments=moments)
        return replace(self, learned=learned, history=(*self.history, *done))

    @property
    def sums(self) -> Sums:
        """What was learned, where it is sums; a learner of another kind is refused."""
        if isinstance(self.learned, Sums):
            return self.learned
        raise ValueError(
            f"this is a {self.learner} model, which predicts but neither merges, forgets nor exports; for "
            f"that, and for --like, fit with --learner {' or '.join(Sums.learners)}"
        )

    @property
    def moments(self) -> Moments:
        """The sums by class."""
        return self.sums.moments

    @property
    def scale(self) -> Standardize:
        """How numbers are standardised before they are summed."""
        return self.sums.scale

    @property
    def key(self) -> str:
        """How columns become numbers: equal for models that can be merged."""
        return f"{self.table.key} {self.scale.key} {self.positive}"

    @property
    def learner(self) -> str:
        """The name of the learner."""
        return self.learned.learner

    @property
    def labels(self) -> list[Any]:
        """The classes, which are all text or all numbers."""
        return self.learned.labels

    @property
    def counts(self) -> dict[str, float]:
        """How many rows there were of each class, by weight."""
        return self.learned.counts

    @property
    def privacy(self) -> Budget | None:
        """What the sums that the model is made of have cost, if they are private."""
        return self.learned.privacy

    @property
    def classifier(self) -> Any:
        """The fitted estimator, of numbers as `numbers` makes them."""
        return self.learned.classifier

    @property
    def columns(self) -> list[str]:
        """The columns that a table must have."""
        return [str(name) for name in self.table.feature_names_in_]

    @property
    def tells_probabilities(self) -> bool:
        """Whether the learner tells probabilities of clean labels."""
        return isinstance(self.learned, Kernels)

    def numbers(self, frame: Any) -> Array:
        """The columns of a frame as numbers, (n, width); what fitting left out may be missing."""
        missing = [name for name in self.columns if name not in frame.columns]
        for name in missing:
            if name not in self.table.left_out_:
                raise ValueError(f"the model needs the column {name!r}, which is not there")
        if missing and hasattr(frame, "assign"):
            frame = frame.assign(**dict.fromkeys(missing))
        elif missing:
            nothing = extra("polars", "io").lit(None)
            frame = frame.with_columns(nothing.alias(name) for name in missing)
        return self.table.transform(frame[self.columns])

    def scores(self, frame: Any) -> Array:
        """(n,) for two classes, positive for the second one; (n, K) for more."""
        return np.asarray(self.classifier.decision_function(self.numbers(frame)))

    def predict(self, frame: Any) -> Array:
        """The class of each row."""
        return np.asarray(self.classifier.predict(self.numbers(frame)))

    def probabilities(self, frame: Any) -> Array:
        """P(clean class) for each row, (n, K)."""
        if not self.tells_probabilities:
            raise ValueError(f"a {self.learner} model tells no probabilities of clean labels; robust ones do")
        return np.asarray(self.classifier.predict_proba(self.numbers(frame)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all."""
        names = {name: getattr(self, name) for name in self.learned.names}
        refuse_labels(self.labels)
        refuse_unwritable((*self.labels, *names.values()))
        shared = {
            "history": list(self.history),
            "habits": self.habits.as_facts(),
            "table": as_facts(self.table),
        }
        facts, arrays = self.learned.content()
        save_arrays(path, self.learned.kind, names | shared | facts, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a damaged or foreign file raises `ValueError`.

        >>> import polars as pl, tempfile
        >>> path = tempfile.mkdtemp() + "/model.npz"
        >>> TableModel.fit(pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]}), "old").save(path)
        >>> TableModel.load(path).predict(pl.DataFrame({"age": [65]})).tolist()
        [1]
        """
        found = kind_of(path)
        kind = next((kind for kind in cls.kinds if kind.kind == found), cls.kinds[0])
        facts, arrays = load_arrays(path, kind.kind)
        try:
            refuse_others(facts, (*kind.names, *TABLE_MODEL_FACTS, *kind.more_facts))
            refuse_others(facts["habits"], vars(Habits()))
            names = {name: facts[name] for name in kind.names}
            known = all(isinstance(word, str | None) for word in names.values())
            if not known or names["target"] is None:
                raise ValueError("its names are no text")
            refuse_unwritable(names.values())
            table = from_facts(facts["table"])
            return cls(
                table=table,
                learned=kind.of_content(facts, arrays, table),
                history=history_from_facts(facts["history"]),
                habits=Habits.from_facts(facts["habits"]),
                **names,
            )
        except DOUBTS as error:
            raise ValueError(f"{path} does not hold a model: {brief(error)}") from None

    def _moments(self, frame: Any) -> tuple[Moments, int]:
        sums = self.sums
        labels = TableLabels.of(frame, self.target, self.positive, self.weight)
        return sums.of_rows(self.numbers(labels.of_rows(frame)), labels), len(labels.y)


def _learners(kinds: Iterable[type[Learned]]) -> list[str]:
    return [learner for kind in kinds for learner in kind.learners]

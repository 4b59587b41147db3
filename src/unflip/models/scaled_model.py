"""Classifiers of standardised columns that neither merge nor forget: kernel means, logistic regression.

They are the learners of the same names that an audit compares, fitted to all rows.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from unflip._files import brief, load_arrays, save_arrays
from unflip._weights import as_weight
from unflip.estimators.border import refuse_single_class
from unflip.kernels import Gaussian
from unflip.kernels.bandwidth import as_bandwidth
from unflip.models.learners import TABLE_LEARNERS
from unflip.models.predicts_only import (
    FACTS,
    PredictsOnly,
    counts_by_class,
    fields_from_facts,
    labels_from_facts,
    refuse_odd_arrays,
)
from unflip.models.reading import OF_SCALED, Array
from unflip.models.table_facts import DOUBTS, refuse_others
from unflip.tables import Habits
from unflip.tables.labels import feature_columns, labels_to_learn
from unflip.tables.tabular import Tabular


@dataclass(frozen=True, eq=False)
class ScaledModel(PredictsOnly):
    """What `unflip fit --learner kernel` and `--learner logistic` write: a scale and a classifier after it.

    The file of a logistic model holds coefficients. That of a kernel model holds every row, as z-scores, with
    a coefficient that tells its label.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70] * 5, "old": [0, 0, 1, 1] * 5})
    >>> model = ScaledModel.fit(frame, "old", "kernel")
    >>> model.predict(pl.DataFrame({"age": [25, 65]})).tolist()
    [0, 1]
    """

    learner: str = "logistic"

    @classmethod
    def fit(
        cls,
        frame: Any,
        target: str,
        learner: str = "logistic",
        weight: str | None = None,
        positive: str | None = None,
        source: str = "a table",
        habits: Habits | None = None,
    ) -> Self:
        """Fit a frame of pandas or polars. source: what the history calls it."""
        labels, _ = labels_to_learn(frame, target, positive, weight)
        rows = labels.of_rows(feature_columns(frame, target, weight))
        table = Tabular.of_files().fit(rows)
        counts = counts_by_class(labels)
        refuse_single_class(list(counts), np.array(list(counts.values())))
        weights = as_weight(labels.weight, len(labels.y))
        kept = weights > 0  # others set no scale and make no class
        X, y, w = table.transform(rows)[kept], labels.y[kept], weights[kept]
        pipeline = TABLE_LEARNERS[learner].make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the history says it
            pipeline.fit(X, y, **{f"{pipeline.steps[-1][0]}__sample_weight": w})
        history, model = [f"fitted {source}: {len(labels.y)} rows"], pipeline[-1]
        if learner == "logistic" and max(model.n_iter_) >= model.max_iter:
            history.append(f"stopped after {model.max_iter} steps, before the coefficients had settled")
        _pipeline(learner, model.classes_, _arrays(learner, pipeline))  # refuses what no file may hold
        return cls(target, table, pipeline, counts, tuple(history), learner, habits or Habits())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all."""
        facts = self.facts() | {"learner": self.learner}
        save_arrays(path, OF_SCALED, facts, _arrays(self.learner, self.classifier))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a damaged or foreign file raises `ValueError`.

        >>> import polars as pl, tempfile
        >>> path = tempfile.mkdtemp() + "/model.npz"
        >>> frame = pl.DataFrame({"age": [20, 30, 60, 70] * 5, "old": [0, 0, 1, 1] * 5})
        >>> ScaledModel.fit(frame, "old").save(path)
        >>> ScaledModel.load(path).predict(pl.DataFrame({"age": [65]})).tolist()
        [1]
        """
        facts, arrays = load_arrays(path, OF_SCALED)
        try:
            refuse_others(facts, (*FACTS, "learner"))
            learner = facts["learner"]
            pipeline = _pipeline(learner, labels_from_facts(facts["classes"]), arrays)
            fields = fields_from_facts(facts)
            if fields["table"].width != len(arrays["mean"]):
                raise ValueError("its parts do not belong together")
            return cls(classifier=pipeline, learner=learner, **fields)
        except DOUBTS as error:
            raise ValueError(f"{path} does not hold a model: {brief(error)}") from None


def _arrays(learner: str, pipeline: Any) -> dict[str, Array]:
    """What a fitted pipeline predicts with."""
    scaler, model = pipeline[0], pipeline[-1]
    arrays = {"mean": scaler.mean_, "scale": scaler.scale_, "intercept": model.intercept_}
    if learner == "logistic":
        return arrays | {"coef": model.coef_}
    bandwidth = np.array([model.kernel_.bandwidth])
    return arrays | {"bandwidth": bandwidth, "rows": model.support_vectors_, "dual": model.dual_coef_}


def _pipeline(learner: str, labels: Array, arrays: dict[str, Array]) -> Any:
    """The fitted pipeline, as far as it predicts; every shape is checked."""
    d, outputs = len(arrays["mean"]), 1 if len(labels) == 2 else len(labels)
    shapes: dict[str, tuple[int, ...]] = {"mean": (d,), "scale": (d,), "intercept": (outputs,)}
    if learner == "logistic":
        shapes["coef"] = (outputs, d)
    elif learner == "kernel":
        n = len(arrays["rows"])
        shapes |= {"bandwidth": (1,), "rows": (n, d), "dual": (n, outputs)}
    else:
        raise ValueError(f"the learner is {learner!r}")
    refuse_others(arrays, shapes)
    refuse_odd_arrays(arrays, shapes)
    if (arrays["scale"] < 0).any():
        raise ValueError("the scale is negative")
    pipeline = TABLE_LEARNERS[learner].make()
    scaler, model = pipeline[0], pipeline[-1]
    scaler.mean_, scaler.scale_, scaler.n_features_in_ = arrays["mean"], arrays["scale"], d
    model.classes_, model.intercept_, model.n_features_in_ = labels, arrays["intercept"], d
    if learner == "logistic":
        model.coef_ = arrays["coef"]
    else:
        model.kernel_ = Gaussian(as_bandwidth(float(arrays["bandwidth"][0])))
        model.support_vectors_, model.dual_coef_ = model._rows(arrays["rows"], reset=True), arrays["dual"]
    return pipeline

"""Classifiers of standardised numbers that neither merge nor forget: kernel means, logistic regression.

They are the learners of the same names that an audit compares, fitted to all rows. The file of a logistic
model holds coefficients. That of a kernel model holds every row, as z-scores, with a coefficient that tells
its label.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from unflip.border.arrays import Array
from unflip.border.classes import refuse_single_class
from unflip.border.weights import as_weight
from unflip.kernels import Gaussian
from unflip.kernels.bandwidth import as_bandwidth
from unflip.models.learners import TABLE_LEARNERS
from unflip.models.predicts_only import (
    PredictsOnly,
    counts_by_class,
    counts_from_facts,
    labels_from_facts,
    refuse_odd_arrays,
)
from unflip.models.table_facts import refuse_others
from unflip.tables.labels import TableLabels
from unflip.tables.tabular import Tabular


@dataclass(frozen=True, eq=False)
class ScaledPipeline(PredictsOnly):
    """A pipeline of a scale and a classifier after it."""

    kind: ClassVar[str] = "scaled model"
    learners: ClassVar[tuple[str, ...]] = ("logistic", "kernel")
    more_facts: ClassVar[tuple[str, ...]] = ("classes", "counts", "learner")

    @classmethod
    def fit(cls, learner: str, table: Tabular, X: Array, labels: TableLabels) -> tuple[Self, list[str]]:
        """The fitted pipeline, and what is to be said about its fit."""
        counts = counts_by_class(labels)
        refuse_single_class(list(counts), np.array(list(counts.values())))
        weights = as_weight(labels.weight, len(labels.y))
        kept = weights > 0  # others set no scale and make no class
        pipeline = TABLE_LEARNERS[learner].make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the remarks say it
            told = {f"{pipeline.steps[-1][0]}__sample_weight": weights[kept]}
            pipeline.fit(X[kept], labels.y[kept], **told)
        model, remarks = pipeline[-1], []
        if learner == "logistic" and max(model.n_iter_) >= model.max_iter:
            remarks.append(f"stopped after {model.max_iter} steps, before the coefficients had settled")
        _pipeline(learner, model.classes_, _arrays(learner, pipeline))  # refuses what no file may hold
        return cls(learner, pipeline, counts), remarks

    def content(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Facts and arrays for a file."""
        facts = {"classes": self.labels, "counts": self.counts, "learner": self.learner}
        return facts, _arrays(self.learner, self.classifier)

    @classmethod
    def of_content(cls, facts: dict[str, Any], arrays: dict[str, Array], table: Tabular) -> Self:
        """What `content` gave; every doubt raises."""
        pipeline = _pipeline(facts["learner"], labels_from_facts(facts["classes"]), arrays)
        if table.width != len(arrays["mean"]):
            raise ValueError("its parts do not belong together")
        return cls(facts["learner"], pipeline, counts_from_facts(facts["counts"]))


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

"""The most accurate classifier of tables, with probabilities: kernels, so that rows are kept in it.

It neither merges nor forgets. Its file holds the landmarks (a few hundred rows, as z-scores and ranks), and
never the labels of single rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from unflip.border.arrays import Array
from unflip.models.learners import TABLE_LEARNERS
from unflip.models.predicts_only import (
    PredictsOnly,
    counts_by_class,
    counts_from_facts,
    labels_from_facts,
    refuse_odd_arrays,
)
from unflip.models.table_facts import from_facts, refuse_others
from unflip.noise.models import ClassConditionalNoise, Noise
from unflip.robust.calibration import Calibration
from unflip.robust.ensemble import Part, RidgeEnsemble, mean_target
from unflip.robust.numbers import EnsembleClassifier
from unflip.robust.two_part import TwoPart
from unflip.robust.views import Views
from unflip.tables.column_kinds import Numbers
from unflip.tables.labels import TableLabels
from unflip.tables.tabular import Tabular


@dataclass(frozen=True, eq=False)
class Kernels(PredictsOnly):
    """A `RobustClassifierCV` of the numbers that a table makes, as far as it predicts."""

    kind: ClassVar[str] = "kernel model"
    learners: ClassVar[tuple[str, ...]] = ("robust",)
    more_facts: ClassVar[tuple[str, ...]] = ("classes", "counts", "parts", "inner")

    @classmethod
    def fit(cls, learner: str, table: Tabular, X: Array, labels: TableLabels) -> tuple[Self, list[str]]:
        """The fitted parts, and no remarks; the table keeps the columns that these use."""
        model = TABLE_LEARNERS[learner].make().fit(X, labels.y, labels.weight)
        table.kept_ = table.kept_[model.varying_]  # one map, not two
        model = EnsembleClassifier.of(model.classes_, model.ensemble_, model.report_.calibration)
        return cls(learner, model, counts_by_class(labels)), []

    def content(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Facts and arrays for a file."""
        ensemble, calibration = self.classifier.ensemble_, self.classifier.report_.calibration
        facts = {"classes": self.labels, "counts": self.counts, "parts": len(ensemble.parts)}
        arrays = {
            "mean": ensemble.views.mean,
            "scale": ensemble.views.scale,
            "sorted": ensemble.views.columns,
            "intercept": ensemble.intercept,
            "mean_target": ensemble.mean,
            "calibration": np.array([calibration.at, calibration.probability]),
        }
        if ensemble.noise is not None:
            arrays["noise"] = ensemble.noise.transition.astype(np.float64)
        for number, part in enumerate(ensemble.parts):
            assert isinstance(part.kernel, TwoPart)
            arrays |= {
                f"landmarks{number}": part.landmarks,
                f"weights{number}": part.kernel.weights,
                f"dual{number}": part.dual,
                f"offset{number}": part.offset,
            }
        return facts, arrays

    def with_noise(self, noise: Noise) -> Self:
        """The same, corrected for this noise."""
        return replace(self, classifier=self.classifier.with_noise(noise))

    @classmethod
    def of_content(cls, facts: dict[str, Any], arrays: dict[str, Array], table: Tabular) -> Self:
        """What `content` gave; every doubt raises."""
        if "mean_target" not in arrays:  # in files of version 0.1
            counts = counts_from_facts(facts["counts"])
            arrays["mean_target"] = mean_target(np.array([counts[str(label)] for label in facts["classes"]]))
        classifier = _classifier(facts, arrays)
        if "inner" in facts:  # a second table of numbers, in files of version 0.1
            _join(table, from_facts(facts["inner"]))
        if table.width != classifier.n_features_in_:
            raise ValueError("its parts do not belong together")
        return cls("robust", classifier, counts_from_facts(facts["counts"]))


def _classifier(facts: dict[str, Any], arrays: dict[str, Array]) -> EnsembleClassifier:
    """The fitted estimator, as far as it predicts; every shape is checked."""
    labels, d = labels_from_facts(facts["classes"]), len(arrays["mean"])
    outputs = 1 if len(labels) == 2 else len(labels)
    shapes: dict[str, tuple[int, ...]] = {"mean": (d,), "scale": (d,)}
    shapes |= {"intercept": (outputs,), "mean_target": (outputs,)}
    if "noise" in arrays:
        shapes["noise"] = (len(labels), len(labels))
    for number in range(facts["parts"]):
        m = len(arrays[f"landmarks{number}"])
        shapes |= {
            f"landmarks{number}": (m, 2 * d),
            f"weights{number}": (d,),
            f"dual{number}": (m, outputs),
            f"offset{number}": (outputs,),
        }
    refuse_others(arrays, {*shapes, "sorted", "calibration"})
    refuse_odd_arrays(arrays, shapes)
    for number in range(facts["parts"]):
        if (arrays[f"weights{number}"] < 0).any():
            raise ValueError(f"weights{number} are negative")
    ranks, calibration = arrays["sorted"], arrays["calibration"]
    if ranks.shape[1:] != (d,) or not len(ranks) or not (np.diff(ranks, axis=0) >= 0).all():
        raise ValueError("the ranks have the wrong shape or order")
    if (
        calibration.ndim != 2
        or len(calibration) != 2
        or not calibration.size
        or not ((calibration[1] >= 0) & (calibration[1] <= 1)).all()
    ):
        raise ValueError("the calibration is none")
    if facts["parts"] < 1 or not (arrays["scale"] > 0).all():
        raise ValueError("there are no parts, or scales that cannot be")
    views = Views.of(arrays["mean"], arrays["scale"], arrays["sorted"])
    parts = tuple(
        Part(
            TwoPart(arrays[f"landmarks{number}"], arrays[f"weights{number}"], views.two_valued),
            *(arrays[f"{name}{number}"] for name in ("landmarks", "dual", "offset")),
        )
        for number in range(facts["parts"])
    )
    noise = ClassConditionalNoise(arrays["noise"]) if "noise" in arrays else None
    ensemble = RidgeEnsemble(views, parts, arrays["intercept"], arrays["mean_target"], noise=noise)
    return EnsembleClassifier.of(labels, ensemble, Calibration(calibration[0], calibration[1]))


def _join(table: Tabular, inner: Tabular) -> None:
    """Let the table keep only what the table of its numbers kept, which had no gaps to fill."""
    plain = all(isinstance(column, Numbers) and not column.marks for column in inner.columns_)
    if not plain or inner.feature_names_in_.tolist() != [str(j) for j in range(table.width)]:
        raise ValueError("columns and their means do not match")
    table.kept_ = table.kept_[inner.kept_]

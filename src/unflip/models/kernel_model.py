"""The most accurate classifier of tables, with probabilities: kernels, so that rows are kept in it.

It neither merges nor forgets. Its file holds the landmarks (a few hundred rows, as z-scores and ranks), and
never the labels of single rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unflip._files import brief, load_arrays, save_arrays
from unflip.models.learners import TABLE_LEARNERS
from unflip.models.predicts_only import (
    FACTS,
    PredictsOnly,
    counts_by_class,
    fields_from_facts,
    labels_from_facts,
    refuse_odd_arrays,
)
from unflip.models.reading import OF_KERNELS, Array
from unflip.models.table_facts import DOUBTS, from_facts, refuse_others
from unflip.robust.calibration import Calibration
from unflip.robust.ensemble import Part, RidgeEnsemble
from unflip.robust.numbers import EnsembleClassifier
from unflip.robust.two_part import TwoPart
from unflip.robust.views import Views
from unflip.tables import Habits
from unflip.tables.column_kinds import Numbers
from unflip.tables.labels import feature_columns, labels_to_learn
from unflip.tables.tabular import Tabular


@dataclass(frozen=True, eq=False)
class KernelModel(PredictsOnly):
    """What `unflip fit --learner robust` writes: a `RobustClassifierCV` of the numbers that a table makes.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70] * 5, "old": [0, 0, 1, 1] * 5})
    >>> KernelModel.fit(frame, "old").predict(pl.DataFrame({"age": [25, 65]})).tolist()
    [0, 1]
    """

    learner: str = "robust"

    @classmethod
    def fit(
        cls,
        frame: Any,
        target: str,
        weight: str | None = None,
        positive: str | None = None,
        source: str = "a table",
        habits: Habits | None = None,
    ) -> Self:
        """Fit a frame of pandas or polars. source: what the history calls it."""
        labels, _ = labels_to_learn(frame, target, positive, weight)
        rows = labels.of_rows(feature_columns(frame, target, weight))
        table = Tabular.of_files().fit(rows)
        model = TABLE_LEARNERS["robust"].make().fit(table.transform(rows), labels.y, labels.weight)
        table.kept_ = table.kept_[model.varying_]  # one map, not two
        model = EnsembleClassifier.of(model.classes_, model.ensemble_, model.report_.calibration)
        history = (f"fitted {source}: {len(labels.y)} rows",)
        return cls(target, table, model, counts_by_class(labels), history, habits=habits or Habits())

    def probabilities(self, frame: Any) -> Array:
        """P(clean class) for each row, (n, K)."""
        return self.classifier.predict_proba(self.numbers(frame))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all."""
        ensemble, calibration = self.classifier.ensemble_, self.classifier.report_.calibration
        facts = self.facts() | {"parts": len(ensemble.parts)}
        arrays = {
            "mean": ensemble.views.mean,
            "scale": ensemble.views.scale,
            "sorted": ensemble.views.columns,
            "intercept": ensemble.intercept,
            "calibration": np.array([calibration.at, calibration.probability]),
        }
        for number, part in enumerate(ensemble.parts):
            assert isinstance(part.kernel, TwoPart)
            arrays |= {
                f"landmarks{number}": part.landmarks,
                f"weights{number}": part.kernel.weights,
                f"dual{number}": part.dual,
                f"offset{number}": part.offset,
            }
        save_arrays(path, OF_KERNELS, facts, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; a damaged or foreign file raises `ValueError`.

        >>> import polars as pl, tempfile
        >>> path = tempfile.mkdtemp() + "/model.npz"
        >>> frame = pl.DataFrame({"age": [20, 30, 60, 70] * 5, "old": [0, 0, 1, 1] * 5})
        >>> KernelModel.fit(frame, "old").save(path)
        >>> KernelModel.load(path).predict(pl.DataFrame({"age": [65]})).tolist()
        [1]
        """
        facts, arrays = load_arrays(path, OF_KERNELS)
        try:
            refuse_others(facts, (*FACTS, "inner", "parts"))
            classifier, fields = _classifier(facts, arrays), fields_from_facts(facts)
            if "inner" in facts:  # a second table of numbers, in files of version 0.1
                _join(fields["table"], from_facts(facts["inner"]))
            if fields["table"].width != classifier.n_features_in_:
                raise ValueError("its parts do not belong together")
            return cls(classifier=classifier, **fields)
        except DOUBTS as error:
            raise ValueError(f"{path} does not hold a model: {brief(error)}") from None


def _classifier(facts: dict[str, Any], arrays: dict[str, Array]) -> EnsembleClassifier:
    """The fitted estimator, as far as it predicts; every shape is checked."""
    labels, d = labels_from_facts(facts["classes"]), len(arrays["mean"])
    outputs = 1 if len(labels) == 2 else len(labels)
    shapes: dict[str, tuple[int, ...]] = {"mean": (d,), "scale": (d,), "intercept": (outputs,)}
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
    ensemble = RidgeEnsemble(views, parts, arrays["intercept"])
    return EnsembleClassifier.of(labels, ensemble, Calibration(calibration[0], calibration[1]))


def _join(table: Tabular, inner: Tabular) -> None:
    """Let the table keep only what the table of its numbers kept, which had no gaps to fill."""
    plain = all(isinstance(column, Numbers) and not column.marks for column in inner.columns_)
    if not plain or inner.feature_names_in_.tolist() != [str(j) for j in range(table.width)]:
        raise ValueError("columns and their means do not match")
    table.kept_ = table.kept_[inner.kept_]

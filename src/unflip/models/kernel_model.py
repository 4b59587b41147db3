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
from unflip.audit.labels import feature_columns, labels_to_learn
from unflip.audit.learners import TABLE_LEARNERS
from unflip.features import Tabular
from unflip.models.predicts_only import (
    FACTS,
    PredictsOnly,
    counts_by_class,
    fields_from_facts,
    labels_from_facts,
    refuse_odd_arrays,
)
from unflip.models.reading import OF_KERNELS, Array
from unflip.models.table_facts import DOUBTS, as_facts, from_facts, refuse_others
from unflip.selection import RobustClassifierCV
from unflip.selection.robust_cv import Part
from unflip.selection.two_part import TwoPart
from unflip.selection.views import Views
from unflip.tables import Habits


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
        history = (f"fitted {source}: {len(labels.y)} rows",)
        return cls(target, table, model, counts_by_class(labels), history, habits=habits or Habits())

    def probabilities(self, frame: Any) -> Array:
        """P(clean class) for each row, (n, K)."""
        return self.classifier.predict_proba(self.numbers(frame))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all."""
        model = self.classifier
        facts = self.facts() | {"inner": as_facts(model.table_), "parts": len(model.parts_)}
        at, share = model._calibration
        arrays = {
            "mean": model.views_.mean,
            "scale": model.views_.scale,
            "sorted": model.views_.columns,
            "intercept": np.atleast_1d(model.intercept_),
            "calibration": np.array([at, share]),
        }
        for number, part in enumerate(model.parts_):
            assert isinstance(part.kernel, TwoPart)
            arrays |= {
                f"landmarks{number}": part.landmarks,
                f"weights{number}": part.kernel.weights,
                f"dual{number}": part.dual,
                f"offset{number}": np.atleast_1d(part.offset),
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
            if fields["table"].width != classifier.n_features_in_:
                raise ValueError("its parts do not belong together")
            return cls(classifier=classifier, **fields)
        except DOUBTS as error:
            raise ValueError(f"{path} does not hold a model: {brief(error)}") from None


def _classifier(facts: dict[str, Any], arrays: dict[str, Array]) -> RobustClassifierCV:
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
    model, views = RobustClassifierCV(), Views()
    views.mean, views.scale, views.columns = arrays["mean"], arrays["scale"], arrays["sorted"]
    model.classes_, model.views_, model.intercept_ = labels, views, arrays["intercept"]
    model.table_ = from_facts(facts["inner"])
    numbered = [str(j) for j in range(model.table_.n_features_in_)]
    if model.table_.width != d or facts["inner"]["names"] != numbered:
        raise ValueError("columns and their means do not match")
    del model.table_.feature_names_in_  # numbers come without names
    model.n_features_in_ = model.table_.n_features_in_
    model._calibration = arrays["calibration"][0], arrays["calibration"][1]
    model.parts_ = []
    for number in range(facts["parts"]):
        landmarks = arrays[f"landmarks{number}"]
        kernel = TwoPart(landmarks, arrays[f"weights{number}"], views.two_valued)
        model.parts_.append(Part(kernel, landmarks, arrays[f"dual{number}"], arrays[f"offset{number}"]))
    return model

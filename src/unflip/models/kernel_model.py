"""The most accurate classifier of tables, with probabilities: kernels, so that rows are kept in it.

It neither merges nor forgets. Its file holds the landmarks (a few hundred rows, as z-scores and ranks), and
never the labels of single rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from unflip._files import brief, load_arrays, save_arrays
from unflip.audit.labels import feature_columns, labels_to_learn
from unflip.features import Tabular
from unflip.models.reading import OF_KERNELS, Array, ReadsTables
from unflip.models.table_facts import (
    DOUBTS,
    as_facts,
    from_facts,
    history_from_facts,
    refuse_others,
    refuse_unwritable,
)
from unflip.moments.files import PLAIN, refuse_labels
from unflip.selection import RobustClassifierCV
from unflip.selection.robust_cv import Part
from unflip.selection.two_part import TwoPart
from unflip.selection.views import Views
from unflip.tables import Habits

FACTS = ("target", "history", "habits", "table", "inner", "classes", "counts", "parts")


@dataclass(frozen=True, eq=False)
class KernelModel(ReadsTables):
    """What `unflip fit --learner robust` writes: a `RobustClassifierCV` of the numbers that a table makes.

    counts: how many rows there were of each class; habits: how CSV is written.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70] * 5, "old": [0, 0, 1, 1] * 5})
    >>> KernelModel.fit(frame, "old").predict(pl.DataFrame({"age": [25, 65]})).tolist()
    [0, 1]
    """

    target: str
    table: Tabular
    classifier: RobustClassifierCV
    counts: dict[str, float]
    history: tuple[str, ...] = ()
    learner: str = "robust"
    habits: Habits = field(default_factory=Habits)

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
        labels, positive = labels_to_learn(frame, target, positive, weight)
        rows = labels.of_rows(feature_columns(frame, target, weight))
        table = Tabular.of_files().fit(rows)
        model = RobustClassifierCV().fit(table.transform(rows), labels.y, labels.weight)
        counts = {str(label): float(n) for label, n in zip(labels.classes, labels.counts, strict=True)}
        history = (f"fitted {source}: {len(labels.y)} rows",)
        return cls(target, table, model, counts, history, habits=habits or Habits())

    @property
    def labels(self) -> list[Any]:
        """The classes."""
        return list(self.classifier.classes_.tolist())

    def scores(self, frame: Any) -> Array:
        """(n,) for two classes, positive for the second one; (n, K) for more."""
        return self.classifier.decision_function(self.numbers(frame))

    def predict(self, frame: Any) -> Array:
        """The class of each row."""
        return self.classifier.predict(self.numbers(frame))

    def probabilities(self, frame: Any) -> Array:
        """P(clean class) for each row, (n, K)."""
        return self.classifier.predict_proba(self.numbers(frame))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all."""
        model = self.classifier
        classes = model.classes_.tolist()
        refuse_labels(classes)
        refuse_unwritable((*classes, self.target))
        facts = {
            "target": self.target,
            "history": list(self.history),
            "habits": self.habits.as_facts(),
            "table": as_facts(self.table),
            "inner": as_facts(model.table_),
            "classes": classes,
            "counts": self.counts,
            "parts": len(model.parts_),
        }
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
            refuse_others(facts, FACTS)
            refuse_others(facts["habits"], vars(Habits()))
            classifier = _classifier(facts, arrays)
            table = from_facts(facts["table"])
            if table.width != classifier.n_features_in_ or not isinstance(facts["target"], str):
                raise ValueError("its parts do not belong together")
            refuse_unwritable((*facts["classes"], facts["target"]))
            counts, habits = facts["counts"], Habits.from_facts(facts["habits"])
            if not all(type(n) is float and 0 <= n < np.inf for n in counts.values()):
                raise ValueError(f"the counts are {counts!r}")
            history = history_from_facts(facts["history"])
            return cls(facts["target"], table, classifier, counts, history, habits=habits)
        except DOUBTS as error:
            raise ValueError(f"{path} does not hold a model: {brief(error)}") from None


def _classifier(facts: dict[str, Any], arrays: dict[str, Array]) -> RobustClassifierCV:
    """The fitted estimator, as far as it predicts; every shape is checked."""
    classes, d = facts["classes"], len(arrays["mean"])
    if not isinstance(classes, list) or len(classes) < 2 or not all(isinstance(c, PLAIN) for c in classes):
        raise ValueError(f"the classes are {classes!r}")
    labels = np.array(classes, dtype=object if isinstance(classes[0], str) else None)
    if len({isinstance(c, str) for c in classes}) > 1 or labels.tolist() != classes:  # NaN is not itself
        raise ValueError(f"the classes are {classes!r}, neither all text nor all numbers")
    outputs = 1 if len(classes) == 2 else len(classes)
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
    for name, array in arrays.items():
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"{name} holds something else than finite numbers")
        if array.shape != shapes.get(name, array.shape):
            raise ValueError(f"{name} has the shape {array.shape}, not {shapes[name]}")
        if name.startswith("weights") and (array < 0).any():
            raise ValueError(f"{name} are negative")
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
    if len(set(classes)) != len(classes) or facts["parts"] < 1 or not (arrays["scale"] > 0).all():
        raise ValueError("there are no parts, or classes or scales that cannot be")
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

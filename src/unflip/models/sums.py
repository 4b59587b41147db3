"""Sums by class of standardised numbers, which determine a linear classifier; they merge and forget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from unflip.border.arrays import Array
from unflip.estimators import SquareClassifier, UnhingedClassifier
from unflip.features import Standardize
from unflip.models.table_facts import refuse_unwritable
from unflip.moments import Moments
from unflip.moments.files import as_facts as moments_as_facts
from unflip.moments.files import as_fields as moments_as_fields
from unflip.moments.privacy import Budget
from unflip.noise.models import ClassConditionalNoise, Noise, as_noise
from unflip.passes import accumulate
from unflip.tables.labels import TableLabels
from unflip.tables.tabular import Tabular

LEARNERS = {"square": SquareClassifier, "unhinged": UnhingedClassifier}
DEGREES = {"square": 2, "unhinged": 1}


@dataclass(frozen=True, eq=False)
class Sums:
    """scale: how numbers are standardised; moments: the sums by class of what comes out.

    noise: what is undone, if anything. The sums are those of the labels as they are, so that they merge and
    forget whatever is undone.
    """

    kind: ClassVar[str] = "model"
    learners: ClassVar[tuple[str, ...]] = tuple(LEARNERS)
    names: ClassVar[tuple[str, ...]] = ("target", "weight", "positive")  # further rows need all of them
    more_facts: ClassVar[tuple[str, ...]] = ("learner", "moments", "noise")

    learner: str
    scale: Standardize
    moments: Moments
    noise: Noise | None = None

    @classmethod
    def fit(cls, learner: str, table: Tabular, X: Array, labels: TableLabels) -> tuple[Self, list[str]]:
        """The sums of some rows, and no remarks."""
        scale = Standardize().fit(X)
        nothing = Moments.zero(table.width, scale.key, DEGREES[learner])
        return cls(learner, scale, nothing + cls(learner, scale, nothing).of_rows(X, labels)), []

    def of_rows(self, X: Array, labels: TableLabels) -> Moments:
        """The sums of further rows."""
        if not len(labels.y):
            raise ValueError(f"no row has a label: the target {labels.target!r} is empty")
        return accumulate((X, labels.y, labels.weight), self.scale, DEGREES[self.learner])

    @property
    def labels(self) -> list[Any]:
        """The classes."""
        return list(self.moments.classes)

    @property
    def counts(self) -> dict[str, float]:
        """How many rows there were of each class, by weight."""
        return dict(zip(map(str, self.moments.classes), self.moments.counts.tolist(), strict=True))

    @property
    def privacy(self) -> Budget | None:
        """What the sums have cost, if they are private."""
        return self.moments.privacy

    @cached_property
    def classifier(self) -> Any:
        """The fitted estimator."""
        plain = LEARNERS[self.learner](features=self.scale).fit_moments(self.moments)
        return plain if self.noise is None else plain.with_noise(self.noise)

    def with_noise(self, noise: Noise) -> Self:
        """The same, corrected for this noise."""
        return replace(self, noise=noise)

    def content(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Facts and arrays for a file."""
        moments, arrays = moments_as_facts(self.moments)
        facts = {"learner": self.learner, "moments": moments}
        if self.noise is not None:
            facts["noise"] = self.noise.transition.astype(float).tolist()
        return facts, arrays | {"mean": self.scale.mean_, "scale": self.scale.scale_}

    @classmethod
    def of_content(cls, facts: dict[str, Any], arrays: dict[str, Array], table: Tabular) -> Self:
        """What `content` gave; every doubt raises."""
        scale = _scale(arrays.pop("mean"), arrays.pop("scale"), table.width)
        moments = Moments(**moments_as_fields(facts["moments"], arrays))
        fits = moments.key == scale.key and moments.sums.shape[1] == scale.width
        if not fits or facts["learner"] not in LEARNERS:
            raise ValueError("its parts do not belong together")
        if len({isinstance(label, str) for label in moments.classes}) > 1:
            raise ValueError("its classes are neither all text nor all numbers")
        refuse_unwritable(moments.classes)
        noise = None
        if facts.get("noise") is not None:
            noise = as_noise(ClassConditionalNoise(facts["noise"]), len(moments.classes))
        return cls(facts["learner"], scale, moments, noise)


def _scale(mean: Array, spread: Array, width: int) -> Standardize:
    for array in (mean, spread):
        if array.shape != (width,) or array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError("its scale has the wrong shape or type")
    if not (spread > 1e-300).all():
        raise ValueError("its scale is not positive")
    scale = Standardize()
    scale.n_features_in_, scale.mean_, scale.scale_ = width, mean, spread
    return scale

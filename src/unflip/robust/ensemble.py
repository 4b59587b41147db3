"""What a robust fit comes to: a few kernels on label-free views of a table, with coefficients, as a value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from unflip.border.arrays import Array
from unflip.border.classes import contrast
from unflip.features.landmarks import Landmarks
from unflip.kernels import Kernel
from unflip.moments import Moments
from unflip.noise.correct import clean_scores, noisy_scores
from unflip.noise.models import Noise
from unflip.passes import accumulate
from unflip.robust.everyone import ViewedLandmarks
from unflip.robust.landmarks import RIDGES
from unflip.robust.views import Views
from unflip.solvers.ridge import RidgePath, Spectrum


class Part(NamedTuple):
    """One kernel of the ensemble: its landmarks, coefficients (m, k) and constant (k,)."""

    kernel: Kernel
    landmarks: Array
    dual: Array
    offset: Array

    @classmethod
    def of(cls, features: Landmarks, path: RidgePath, mixture: Array) -> Part:
        """A mixture of the ridges of a path."""
        fits = np.einsum("rlk,l->rk", path.fits, mixture)
        return cls(features.kernel, features.rows, *path.spectrum.weights(fits))


@dataclass(frozen=True)
class Intercept:
    """The constant of a fit: the mean target, drawn towards none of the classes.

    kept: the share of the mean target that the labels asked for by leave-one-out.
    """

    kept: float = 1.0

    def of(self, counts: Array) -> Array:
        """For the weights of the classes, (K,): the constant, (k,)."""
        mean, middle = mean_target(counts), middle_target(len(counts))
        away = mean - middle
        spread = np.sum(1 - mean**2) if len(counts) == 2 else np.sum(mean * (1 - mean))
        # Positive-part shrinkage: where the mean label is noise, so is its sign.
        size = max(float(away @ away), 1e-300)
        shrunk = max(0.0, 1 - float(spread) / (float(counts.sum()) * size))
        return middle + self.kept * shrunk * away


def mean_target(counts: Array) -> Array:
    """The mean of -1 and +1, or of indicators of several classes.

    >>> mean_target(np.array([1.0, 3.0])).tolist()
    [0.5]
    """
    return np.asarray(contrast(len(counts)) @ counts / counts.sum())


def middle_target(n_classes: int) -> float:
    """The target that is for no class.

    >>> middle_target(2), middle_target(4)
    (0.0, 0.25)
    """
    return 0.0 if n_classes == 2 else 1 / n_classes


@dataclass(frozen=True, eq=False)
class RidgeEnsemble:
    """Views of rows of numbers, the kernels on them, and a constant.

    views: fitted without labels. parts: the kernels. intercept: (k,), the constant of scores as they are.
    mean: (k,), the mean target, which is that of corrected ones. noise: what scores are corrected for. sums:
    the moments of degree two of k(x, Z) that the one kernel was fitted from, if it never saw a label: such
    ensembles merge and forget.

    >>> from unflip import RobustClassifierCV
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 20
    >>> ensemble = RobustClassifierCV(feature_weights=False).fit(X, y).ensemble_
    >>> rest = ensemble.with_sums(ensemble.sums - ensemble.summed(X[[7]], y[[7]]))  # without row 7
    >>> bool(np.abs(rest.score(X[[7]]) - ensemble.score(X[[7]])) > 0)
    True
    """

    views: Views
    parts: tuple[Part, ...]
    intercept: Array
    mean: Array
    mixture: Array | None = None
    constant: Intercept = Intercept()
    sums: Moments | None = None
    noise: Noise | None = None

    def score(self, X: Array) -> Array:
        """Scores of rows of numbers, (n, k): one column for two classes, positive for the second."""
        return self.about(self.away(X))

    def about(self, away: Array) -> Array:
        """Scores from those about the mean target.

        The constant that noisy labels ask for by leave-one-out goes with scores as they are. A correction
        takes the mean target: it is linear in the labels, as the rest is.
        """
        return self.intercept + away if self.noise is None else clean_scores(self.mean + away, self.noise)

    def away_of(self, scores: Array) -> Array:
        """The way back from `about`."""
        return scores - self.intercept if self.noise is None else noisy_scores(scores, self.noise) - self.mean

    def with_noise(self, noise: Noise | None) -> RidgeEnsemble:
        """The same, corrected for this noise and no other.

        >>> from unflip import RobustClassifierCV
        >>> from unflip.noise import ClassConditionalNoise
        >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 20
        >>> ensemble = RobustClassifierCV().fit(X, y).ensemble_
        >>> corrected = ensemble.with_noise(ClassConditionalNoise([0.0, 0.3]))
        >>> bool((corrected.score(X) > ensemble.score(X)).all())  # for the class that loses labels
        True
        """
        return replace(self, noise=noise)

    def away(self, X: Array) -> Array:
        """The same scores about the mean target."""
        rows = self.views.transform(X)
        scores = np.zeros((len(rows), len(self.intercept)))
        for part in self.parts:
            scores += part.kernel.score(rows, part.landmarks, part.dual) - part.offset
        return scores

    @cached_property
    def features(self) -> ViewedLandmarks:
        """The label-free map that sums are of; raises if labels had a part in it."""
        if self.sums is None:
            raise ValueError(
                "columns were weighed by a fit to labels, so these sums neither merge nor forget; "
                "fit with feature_weights=False"
            )
        part = self.parts[0]
        return ViewedLandmarks(self.views, Landmarks(part.kernel, part.landmarks))

    def summed(self, X: Any, y: Any, weight: Any = None) -> Moments:
        """The sums of other rows of numbers under the same map, to add or to take away.

        Rows are as the model's table makes them: `model.table_.transform(X)`.
        """
        width, given = len(self.views.mean), np.shape(X)
        if given[1:] != (width,):
            raise ValueError(
                f"the ensemble has {width} columns, as model.table_.transform makes them; X has the "
                f"shape {given}"
            )
        return accumulate((X, y, weight), self.features, degree=2)

    def with_sums(self, sums: Moments) -> RidgeEnsemble:
        """The ensemble that these sums determine, at the ridges that were chosen."""
        features = self.features
        if sums.key != features.key:
            raise ValueError(f"the sums belong to the feature map {sums.key!r}, not to {features.key!r}")
        assert self.mixture is not None
        landmarks = features.landmarks
        spectrum = Spectrum.of(sums, contrast(len(sums.classes)), landmarks.metric)
        path = RidgePath(spectrum, RIDGES * spectrum.eigenvalues.sum())
        part = Part.of(landmarks, path, self.mixture)
        counts = sums.counts
        return replace(
            self, parts=(part,), intercept=self.constant.of(counts), mean=mean_target(counts), sums=sums
        )

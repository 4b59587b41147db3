"""Degree two: the square loss, whose minimiser is a linear solve (Equation 11).

Labels enter through the class means alone, and label noise multiplies their part by one number: the
classifier is immune for every ridge. As the ridge grows, it turns into the unhinged one.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from unflip._arrays import beside, to_numpy
from unflip._culprits import name_the_culprit
from unflip.estimators.base import MomentClassifier
from unflip.estimators.border import LARGEST, Array, lonely
from unflip.estimators.scorer import LinearScorer
from unflip.loo.ridge import leave_one_out
from unflip.moments import Moments, accumulate
from unflip.moments.frame import dense, in_frame
from unflip.sources import Batch
from unflip.sources.batch import feature_blocks

NEARLY = 1e-6  # a leverage this close to one leaves too few digits for the formula

# Ridges tried by generalised cross-validation, as shares of the largest variance.
PATH = np.geomspace(1e-10, 10, 45)


class SquareClassifier(MomentClassifier):
    """Least squares on class indicators with an unpenalised intercept: Fisher's discriminant, ridged.

    Parameters
    ----------
    features: a label-free scikit-learn transformer, fitted to the rows (never to labels) before the pass.
    regularization: lambda of Equation 11, added to every variance; or "gcv", which takes the ridge of least
        generalised cross-validation error from a path that spans least squares and the unhinged
        classifier. Moments suffice for it, so it works without rows; weights count as rows.

    Attributes: `classes_`, `coef_` ((d,) or (K, d)), `intercept_`, `regularization_`, `moments_`.

    >>> from unflip import SquareClassifier
    >>> model = SquareClassifier(regularization=0.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.coef_.round(12).tolist(), round(float(model.intercept_), 12)
    ([0.8], -1.2)
    """

    _degree = 2
    _on_device: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "features": [None, HasMethods(["fit", "transform"])],
        "regularization": [StrOptions({"gcv"}), Interval(Real, 0, LARGEST, closed="both")],
    }

    def __init__(self, features: Any = None, regularization: float | str = "gcv") -> None:
        self.features = features
        self.regularization = regularization

    def loo_scores(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """What `decision_function` would say of each fitted row, had that row not been fitted.

        The ridge stays as it is. A class that has no other rows is not chosen: its score is minus infinity.

        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
        >>> model = SquareClassifier(regularization=0.0).fit(X, y)
        >>> model.loo_scores(X, y).round(3).tolist()
        [-1.571, -0.385, 0.385, 1.571]
        """
        check_is_fitted(self, "moments_")
        batch = self._known_labels(self._batch(X, y, sample_weight, reset=False), self.classes_)
        moments, weight = self.moments_, to_numpy(batch.weight)
        variances, basis, cross = _spectrum(moments)
        features = self._features
        rotated = np.empty((batch.X.shape[0], len(variances)))
        for rows, phi in feature_blocks(batch.X, features.transform):
            z = in_frame(phi, moments.origin, moments.unit)
            rotated[rows] = dense(z @ beside(basis, z)) - moments.center @ basis
        if not np.isfinite(rotated).all():
            name_the_culprit(batch.X, batch.names)
        scores, leverage = leave_one_out(
            rotated,
            batch.labels.membership,
            weight,
            moments.total * variances,
            moments.total * cross,
            moments.counts,
            _in_units(self.regularization_, moments),
        )
        scores = scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores
        for row in np.flatnonzero(leverage > 1 - NEARLY):
            scores[row] = to_numpy(self._refit_without(batch, int(row)))
        gone = lonely(weight[:, None] * batch.labels.membership, moments.counts)
        return scores + (gone[:, 0] if len(self.classes_) == 2 else gone)

    def _refit_without(self, batch: Batch, row: int) -> Any:
        """The score of a row that owns a direction: without it the direction is gone, so solve again."""
        one = slice(row, row + 1)
        alone = Batch(batch.X[one, :], batch.labels[one], batch.weight[one], batch.names)
        rest = self.moments_ - accumulate(alone, self.features_, self._degree)
        scorer = _ridge_scorer(rest, _in_units(self.regularization_, rest))
        return scorer.absolute(scorer.relative(alone.X, self._features.transform))[0, ...]

    def _solve(self, moments: Moments) -> LinearScorer:
        if self.regularization == "gcv":
            variances, _, cross = _spectrum(moments)
            ridge = _best_ridge(variances, cross, moments.counts / moments.total, moments.total)
        else:
            ridge = _in_units(float(self.regularization), moments)
        with np.errstate(over="ignore"):
            self.regularization_ = float(np.ldexp(ridge, 2 * moments.exponent))
        return _ridge_scorer(moments, ridge)


def _in_units(regularization: float, moments: Moments) -> float:
    """A ridge for features as they come, as one for z."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(regularization, -2 * moments.exponent))


def _ridge_scorer(moments: Moments, ridge: float) -> LinearScorer:
    """Equation 11 with an unpenalised intercept, in the frame of the moments."""
    variances, basis, cross = _spectrum(moments)
    shares = moments.counts / moments.total
    direction = (basis @ (cross / (variances + ridge)[:, None])).T
    base = shares - direction @ moments.center
    if len(shares) == 2:
        direction, base = direction[1] - direction[0], base[1] - base[0]
    return LinearScorer(direction, base, moments.origin, moments.unit)


def _spectrum(moments: Moments) -> tuple[Array, Array, Array]:
    """Variances along principal directions, these directions, and E[1{y = k} (z - center)] along them."""
    assert moments.second is not None
    center = moments.center
    covariance = moments.second / moments.total - np.outer(center, center)
    variances, basis = np.linalg.eigh((covariance + covariance.T) / 2)
    # Directions without spread beyond rounding carry nothing: their cross moments vanish too.
    keep = variances > len(variances) * np.finfo(float).eps * max(variances.max(initial=0.0), 0.0)
    variances, basis = variances[keep], basis[:, keep]
    return variances, basis, (moments.centered_means @ basis).T


def _best_ridge(variances: Array, cross: Array, shares: Array, total: float) -> float:
    """The ridge of least generalised cross-validation error; the largest of equally good ones."""
    if not len(variances):
        return 0.0
    ridges = PATH * variances.max()
    power = np.sum(cross**2, axis=1)
    spread = np.sum(shares * (1 - shares))
    with np.errstate(over="ignore", invalid="ignore"):  # variances so small that their inverse is infinite
        shrink = 1 / (variances + ridges[:, None])  # (path, directions)
        residual = spread - (shrink * (2 - shrink * variances)) @ power
        freedom = 1 + shrink @ variances
    # Too few rows for a fit leave it without a verdict.
    room = np.maximum(1 - freedom / total, 0.0)
    with np.errstate(divide="ignore"):
        # A difference of such numbers tells nothing below their rounding.
        error = np.where(room > 0.05, np.maximum(residual, 1e-12 * spread) / room**2, np.inf)
    error[np.isnan(error)] = np.inf
    best = np.flatnonzero(error <= error.min() * (1 + 1e-9))
    return float(ridges[best[-1]])

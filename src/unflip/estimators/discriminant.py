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

from unflip._arrays import to_numpy
from unflip._culprits import name_the_culprit
from unflip.estimators.base import MomentClassifier
from unflip.estimators.border import LARGEST, Array, contrast, lonely
from unflip.estimators.scorer import LinearScorer
from unflip.moments import Moments
from unflip.passes import accumulate
from unflip.solvers.ridge import Spectrum, leave_one_out
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
        signs = contrast(len(self.classes_))
        spectrum = Spectrum.of(moments, signs)
        along = np.empty((batch.X.shape[0], len(spectrum.eigenvalues)))
        for rows, phi in feature_blocks(batch.X, self._features.transform):
            along[rows] = spectrum.along(phi)
        if not np.isfinite(along).all():
            name_the_culprit(batch.X, batch.names)
        targets = batch.labels.membership @ signs.T
        ridge = _in_units(self.regularization_, moments)
        left, leverage = leave_one_out(spectrum, along, targets - spectrum.mean, weight, ridge)
        scores = spectrum.mean + left
        scores = scores[:, 0] if len(self.classes_) == 2 else scores
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
            ridge = _best_ridge(Spectrum.of(moments, np.eye(len(moments.counts))))
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
    spectrum = Spectrum.of(moments, contrast(len(moments.counts)))
    fits = spectrum.cross / (spectrum.eigenvalues + moments.total * ridge)[:, None]  # Equation 11
    direction, base = (spectrum.basis @ fits).T, spectrum.mean - spectrum.center @ fits
    if len(moments.counts) == 2:
        direction, base = direction[0], base[0]
    return LinearScorer(direction, base, moments.frame)


def _best_ridge(spectrum: Spectrum) -> float:
    """The ridge of least generalised cross-validation error; the largest of equally good ones."""
    total, shares = spectrum.total, spectrum.mean
    variances, cross = spectrum.eigenvalues / total, spectrum.cross / total
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

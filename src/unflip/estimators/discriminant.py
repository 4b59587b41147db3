"""Degree two: the square loss, whose minimiser is a linear solve (Equation 11).

Labels enter through the class means alone, and label noise multiplies their part by one number: the
classifier is immune for every ridge. As the ridge grows, it turns into the unhinged one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from unflip.border.arrays import Array, to_numpy
from unflip.border.blocks import feature_blocks
from unflip.border.classes import as_scores, contrast, lonely
from unflip.border.finite import name_the_culprit
from unflip.border.parameters import LARGEST_PARAMETER
from unflip.estimators.base import MomentClassifier
from unflip.estimators.kept import KeptRows
from unflip.estimators.scorer import LinearScorer
from unflip.estimators.spectra import KernelSpectrum, exact_spectrum
from unflip.kernels import Linear
from unflip.moments import Moments
from unflip.moments.frame import Frame, dense
from unflip.passes.one_batch import batch_moments
from unflip.solvers.ridge import Spectrum, leave_one_out
from unflip.sources import Batch

LEVERAGE_OF_FEW_DIGITS = 1e-6  # a leverage this close to one leaves too few digits for the formula
NARROW_COLUMNS = 1000  # columns whose second moment is no burden, however few the rows

# Ridges tried by generalised cross-validation, as shares of the largest variance.
RIDGE_PATH = np.geomspace(1e-10, 10, 45)


class SquareClassifier(MomentClassifier):
    """Least squares on class indicators with an unpenalised intercept: Fisher's discriminant, ridged.

    Parameters
    ----------
    features: a label-free scikit-learn transformer, fitted to the rows (never to labels) before the pass.
    regularization: lambda of Equation 11, added to every variance; or "gcv", which takes the ridge of least
        generalised cross-validation error from a path that spans least squares and the unhinged
        classifier. Moments suffice for it, so it works without rows; weights count as rows.

    Attributes: `classes_`, `coef_` ((d,) or (K, d)), `intercept_`, `regularization_`, `moments_`.

    `fit` to more columns than rows goes by way of the products of all pairs of rows, never d x d numbers;
    `moments_` are then of degree one, and rows cannot be added or forgotten afterwards.

    >>> from unflip import SquareClassifier
    >>> model = SquareClassifier(regularization=0.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.coef_.round(12).tolist(), round(float(model.intercept_), 12)
    ([0.8], -1.2)
    """

    _degree = 2
    _on_device: ClassVar[bool] = True
    regularization_: float
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "features": [None, HasMethods(["fit", "transform"])],
        "regularization": [StrOptions({"gcv"}), Interval(Real, 0, LARGEST_PARAMETER, closed="both")],
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
        spectrum, along = self._rows_along(batch)
        targets = self._members(batch) @ contrast(len(self.classes_)).T
        ridge = _in_units(self.regularization_, moments)
        left, leverage = leave_one_out(spectrum, along, targets - spectrum.mean, weight, ridge)
        if moments.second is None and np.median(leverage) > 1 - LEVERAGE_OF_FEW_DIGITS:
            raise ValueError(
                f"of so many columns every row explains itself with a ridge of {ridge:.0e}: float64 cannot "
                "tell what it would score otherwise; take a larger regularization"
            )
        scores = spectrum.mean + left
        for row in np.flatnonzero(leverage > 1 - LEVERAGE_OF_FEW_DIGITS):
            scores[row] = to_numpy(self._refit_without(batch, int(row)))
        gone = lonely(weight[:, None] * batch.labels.membership, moments.counts)
        return as_scores(scores + gone)

    def _rows_along(self, batch: Batch) -> tuple[Spectrum, Array]:
        """The spectrum of the fitted rows, and each of them along it."""
        if self.moments_.second is None:
            found = self._wide(self.moments_, batch)
            z = self.moments_.frame.z(self._features.transform(batch.X))
            return found.spectrum, found.spectrum.along(Linear()(z, found.support))
        spectrum = Spectrum.of(self._clean(self.moments_), contrast(len(self.classes_)))
        along = np.empty((batch.X.shape[0], len(spectrum.eigenvalues)))
        for rows, phi in feature_blocks(batch.X, self._features.transform):
            along[rows] = spectrum.along(phi)
        if not np.isfinite(along).all():
            name_the_culprit(batch.X, batch.names)
        return spectrum, along

    def _refit_without(self, batch: Batch, row: int) -> Any:
        """The score of a row that owns a direction: without it the direction is gone, so solve again."""
        one = slice(row, row + 1)
        alone = Batch(batch.X[one, :], batch.labels[one], batch.weight[one], batch.names)
        if self.moments_.second is None:
            stay = np.delete(np.arange(len(batch.labels)), row)
            others = Batch(batch.X[stay], batch.labels[stay], batch.weight[stay], batch.names)
            found = self._wide(self.moments_, others)
            spectrum, dual = found.spectrum, found.dual
        else:
            rest = self._clean(self.moments_ - batch_moments(alone, self.features_, 2))
            spectrum, dual = Spectrum.of(rest, contrast(len(self.classes_))), np.asarray
        ridge = _in_units(self.regularization_, self.moments_)
        scorer = _scorer(spectrum, self.moments_.frame, ridge, dual)
        return scorer.absolute(scorer.relative(alone.X, self._features.transform))[0, ...]

    def _ridge(self, moments: Moments) -> float:
        return _in_units(self.regularization_, moments)

    def _moments(self, batch: Batch) -> Moments:
        fitted_wide = hasattr(self, "moments_") and self.moments_.second is None
        return batch_moments(batch, self.features_, 1 if fitted_wide else 2)

    def _moments_to_fit(self, batch: Batch) -> Moments:
        """Of degree one if the second moment would be larger than the table of all pairs of rows."""
        n, width = batch.X.shape
        if self.features is not None and n and not batch.foreign:
            width = self._features.transform(batch.X[:1, :]).shape[1]
        wide = width > max(n, NARROW_COLUMNS) and not batch.foreign
        return batch_moments(batch, self.features_, 1 if wide else 2)

    def _solve(self, moments: Moments, batch: Batch | None = None) -> LinearScorer:
        if moments.second is not None:
            spectrum = Spectrum.of(moments, contrast(len(moments.counts)))
            return _scorer(spectrum, moments.frame, self._chosen_ridge(spectrum, moments))
        if batch is None:
            raise ValueError(
                "this model was fitted to more columns than rows, by products of rows, which its sums do not "
                "hold; fit again to the rows that there should be, or use partial_fit from the start"
            )
        found = self._wide(moments, batch)
        ridge = self._chosen_ridge(found.spectrum, moments)
        return _scorer(found.spectrum, moments.frame, ridge, found.dual)

    def _wide(self, moments: Moments, batch: Batch) -> KernelSpectrum:
        """From the products of all pairs of rows, n x n numbers rather than d x d."""
        phi = self._features.transform(batch.X)
        z = moments.frame.z(phi)
        kept = KeptRows.of(Batch(z, batch.labels, batch.weight))
        return replace(exact_spectrum(Linear(), kept), dual=lambda duals: dense(kept.X.T @ duals))

    def _chosen_ridge(self, spectrum: Spectrum, moments: Moments) -> float:
        if self.noise_ is not None:  # the ridge that was chosen: its error is read off plain labels
            return self._ridge(moments)
        if self.regularization == "gcv":
            ridge = _best_ridge(spectrum)
        else:
            ridge = _in_units(float(self.regularization), moments)
        with np.errstate(over="ignore"):
            self.regularization_ = float(np.ldexp(ridge, 2 * moments.exponent))
        return ridge


def _in_units(regularization: float, moments: Moments) -> float:
    """A ridge for features as they come, as one for z."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(regularization, -2 * moments.exponent))


def _scorer(
    spectrum: Spectrum, frame: Frame, ridge: float, dual: Callable[[Array], Array] = np.asarray
) -> LinearScorer:
    """Equation 11 with an unpenalised intercept; dual: turns the spectrum's weights into those of z."""
    fits = spectrum.cross / (spectrum.eigenvalues + spectrum.total * ridge)[:, None]  # Equation 11
    direction, base = dual(spectrum.basis @ fits).T, spectrum.mean - spectrum.center @ fits
    if len(direction) == 1:
        direction, base = direction[0], base[0]
    return LinearScorer(direction, base, frame)


def _best_ridge(spectrum: Spectrum) -> float:
    """The ridge of least generalised cross-validation error; the largest of equally good ones."""
    total = spectrum.total
    variances, cross = spectrum.eigenvalues / total, spectrum.cross / total
    if not len(variances):
        return 0.0
    ridges = RIDGE_PATH * variances.max()
    power = np.sum(cross**2, axis=1)
    mean = spectrum.mean
    spread = 1 - mean @ mean if len(mean) == 1 else np.sum(mean * (1 - mean))
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

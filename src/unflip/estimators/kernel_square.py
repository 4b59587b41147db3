"""The square loss with a kernel: ridge regression on class indicators, its whole path from one decomposition.

Minimises E[(t - f)^2] + lambda |f|^2 with a free constant, t being +1 and -1, or the indicators of several
classes. As for every ridge, label noise shrinks the centred fit by one factor and moves no sign of it; as
lambda grows, lambda times the centred fit becomes the centred unhinged scorer.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from unflip._state import all_or_nothing
from unflip.border.arrays import Array
from unflip.border.classes import as_scores, contrast, lonely, never, refuse_single_class
from unflip.border.parameters import LARGEST_PARAMETER
from unflip.estimators.kept import KeptRows
from unflip.estimators.kernelized import KernelClassifier
from unflip.estimators.spectra import KernelSpectrum, exact_spectrum, landmark_spectrum
from unflip.kernels import Kernel
from unflip.noise.correct import clean_scores
from unflip.noise.estimate import identified_noise
from unflip.noise.models import as_noise
from unflip.solvers.ridge import RidgePath, leave_one_out

EXACT = 3000  # rows whose kernel matrix is decomposed in full
MOST_LANDMARKS = 1000  # beyond
LEVERAGE_WITHOUT_DIGITS = 1e-10  # a leverage this close to one leaves no digits for leave-one-out
KERNEL_RIDGES = 10.0 ** np.arange(-5, 1.25, 0.5)  # times the mean squared length of centred features


@dataclass(frozen=True, eq=False)
class TriedRidges:
    """Every ridge that was tried: lambda, leave-one-out squared error, degrees of freedom, (L,) each.

    dual_coef: (L, m, C) and intercept: (L, C), C being one for two classes and K for more.
    """

    regularization: Array
    loo_errors: Array
    freedom: Array
    dual_coef: Array
    intercept: Array


class KernelSquareClassifier(KernelClassifier):
    """Kernel ridge regression on class indicators, with exact leave-one-out for every ridge of a path.

    Parameters
    ----------
    kernel: a name ("rbf", "laplace", "linear", "poly", ...) or a kernel of `unflip.kernels`.
    bandwidth: a number; "median" for the median distance of two rows, which needs no labels; "loo" for the
        one of a grid about the median with the least leave-one-out error.
    regularization: lambda above; or "loo", the ridge of a path with the least leave-one-out squared error
        on the given labels, to which symmetric noise adds the same for all ridges and shrinks what is left.
    n_landmarks: rows that span the features, drawn at random. None takes all rows up to 3000, which is exact,
        and 1000 of more rows; leave-one-out is exact for the model that is used either way.
    random_state: seeds the draw.

    Attributes: `classes_`, `kernel_`, `regularization_`, `support_vectors_`, `dual_coef_`, `intercept_`,
    `path_` (a `TriedRidges`), and `loo_scores_`, what `decision_function` would say of each row that counts
    had it not been fitted (with the landmarks and the ridge as they are).

    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], [0, 0, 1, 1, 0, 0]  # no line tells these apart
    >>> model = KernelSquareClassifier(bandwidth=0.3).fit(X, y)
    >>> model.predict([[0.2], [1.2], [2.2]]).tolist(), (model.loo_scores_ > 0).tolist()
    ([0, 1, 0], [False, False, True, True, False, False])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._parameter_constraints,
        "regularization": [StrOptions({"loo"}), Interval(Real, 0, LARGEST_PARAMETER, closed="right")],
        "n_landmarks": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        bandwidth: str | float = "median",
        regularization: str | float = "loo",
        n_landmarks: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.regularization = regularization
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Decompose once for each bandwidth, and take the ridge of least leave-one-out error."""
        with all_or_nothing(self):
            batch = self._batch(X, y, sample_weight, reset=True)
            self.classes_ = batch.labels.classes
            kept = KeptRows.of(batch)
            kept = replace(
                kept, weight=kept.weight / kept.weight.max()
            )  # the scale of weights is of no account
            refuse_single_class(self.classes_.tolist(), kept.counts)
            self._refuse_equal_rows(kept.X)
            rng = check_random_state(self.random_state)
            landmarks = self._landmarks(kept.X, rng)
            least = np.inf
            for kernel in self._candidates(kept.X):
                exact = landmarks is None
                spectrum = (
                    exact_spectrum(kernel, kept) if exact else landmark_spectrum(kernel, kept, landmarks)
                )
                if not len(spectrum.spectrum.eigenvalues):
                    raise ValueError(
                        "all rows look equal; take a narrower bandwidth, more landmarks or other columns"
                    )
                path, left = self._path(spectrum, kept)
                best = (
                    len(path.loo_errors) - 1 - int(np.argmin(path.loo_errors[::-1]))
                )  # the strongest of equals
                if path.loo_errors[best] < least:
                    least = path.loo_errors[best]
                    self._take(kernel, spectrum.support, path, left, best)
        return self

    def with_noise(self, noise: Any) -> Self:
        """The classifier of clean labels, from labels that went through this noise; rows are not needed.

        noise: a model, an estimate, one rate for all classes, or None for none. `path_` stays that of the
        labels as they are.

        >>> from unflip.noise import ClassConditionalNoise
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 0, 1, 1]
        >>> model = KernelSquareClassifier("linear", regularization=0.1).fit(X, y)
        >>> lost = model.with_noise(ClassConditionalNoise([0.0, 1 / 3]))  # a third of the ones are zeros
        >>> model.predict(X).sum().item(), lost.predict(X).sum().item()
        (2, 3)
        """
        check_is_fitted(self, "dual_coef_")
        dual, intercept, left = self._as_given
        known = as_noise(0.0 if noise is None else identified_noise(noise), len(self.classes_))
        table = left.reshape(len(left), -1)
        if not np.isfinite(table).all():
            raise ValueError("a class has no row, or one: its scores cannot be corrected for noise")
        made, nothing = copy(self), np.zeros((1, table.shape[1]))
        shift = clean_scores(nothing, known)
        made.intercept_ = clean_scores(intercept[None, :], known)[0]
        made.dual_coef_ = clean_scores(dual, known) - shift
        made.loo_scores_ = as_scores(clean_scores(table, known))
        return made

    def decision_path(self, X: Any) -> Array:
        """`decision_function` for every ridge of `path_`, stacked in front.

        >>> model = KernelSquareClassifier("linear").fit([[-1.0], [0.0], [2.0]], [0, 0, 1])
        >>> model.decision_path([[0.5], [1.5]]).shape
        (13, 2)
        """
        check_is_fitted(self, "dual_coef_")
        duals = self.path_.dual_coef
        stacked = duals.transpose(1, 0, 2).reshape(duals.shape[1], -1)
        scores = self.kernel_.score(self._rows(X, reset=False), self.support_vectors_, stacked)
        scores = scores.reshape(-1, *duals.shape[::2]).transpose(1, 0, 2) + self.path_.intercept[:, None]
        return as_scores(scores)

    def _landmarks(self, X: Any, rng: Any) -> Any:
        """Rows drawn without a look at labels, or None for all of them."""
        n = X.shape[0]
        m = int(self.n_landmarks or 0) or (n if n <= EXACT else MOST_LANDMARKS)
        return None if m >= n else X[np.sort(rng.choice(n, m, replace=False))]

    def _path(self, found: KernelSpectrum, kept: KeptRows) -> tuple[TriedRidges, Array]:
        """The fit for every ridge, and the leave-one-out scores, (n, C)."""
        spectrum, targets = found.spectrum, kept.member @ contrast(len(kept.counts)).T
        total, mean = spectrum.total, spectrum.mean
        given = self.regularization != "loo"
        relative = KERNEL_RIDGES * spectrum.eigenvalues.sum() / total
        ridges = np.array([float(self.regularization)]) if given else relative
        left = np.empty((len(ridges), *targets.shape))
        for rows, along in found.blocks():
            labels = targets[rows] - mean, kept.weight[rows]
            for scores, ridge in zip(left, ridges, strict=True):
                alone, leverage = leave_one_out(spectrum, along, *labels, ridge)
                if np.median(leverage) > 1 - LEVERAGE_WITHOUT_DIGITS:
                    raise ValueError(
                        f"with a ridge of {ridge:.0e} every row explains itself, and float64 cannot tell "
                        "what it would score otherwise; take a larger regularization"
                    )
                scores[rows] = mean + alone
        missed = np.sum((targets - left) ** 2, axis=2) @ kept.weight
        left += lonely(kept.masses, kept.counts)
        path = RidgePath(spectrum, total * ridges)
        weights, offsets = zip(*map(spectrum.weights, path.fits.transpose(1, 0, 2)), strict=True)
        return (
            TriedRidges(
                regularization=ridges,
                loo_errors=missed / total,
                freedom=1 + path.freedom,
                dual_coef=np.stack([found.dual(plain) for plain in weights]),
                intercept=mean + never(kept.counts) - np.stack(offsets),
            ),
            left,
        )

    def _take(self, kernel: Kernel, support: Any, path: TriedRidges, left: Array, best: int) -> None:
        self.kernel_, self.support_vectors_, self.path_ = kernel, support, path
        self.regularization_ = float(path.regularization[best])
        self.dual_coef_, self.intercept_ = path.dual_coef[best], path.intercept[best]
        self.loo_scores_ = as_scores(left[best])
        self._as_given = self.dual_coef_, self.intercept_, self.loo_scores_  # whatever they are corrected for

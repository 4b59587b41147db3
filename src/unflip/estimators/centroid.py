"""Degree one: the unhinged loss, whose minimiser is a mean (Equations 7 to 9).

With mu the overall mean feature and w_k = E[1{y = k} (phi - mu)], predict the largest <w_k, phi(x) - mu>.
Uniform noise multiplies every w_k by the same positive number, on average, and never moves mu; so the
classifier learned from noisy labels is, as the sample grows, the one learned from clean labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from unflip._state import all_or_nothing
from unflip.border.arrays import Array, beside, is_foreign, to_numpy
from unflip.border.blocks import feature_blocks
from unflip.border.classes import contrast, contrasted, lonely, never
from unflip.border.finite import name_the_culprit
from unflip.border.parameters import LARGEST_PARAMETER
from unflip.estimators.base import MomentClassifier
from unflip.estimators.scorer import LinearScorer
from unflip.loo import centroids, mean_map
from unflip.loo.threshold import best_threshold
from unflip.moments import Moments
from unflip.moments.frame import dense, squared_norms
from unflip.sources import Batch, batches


class UnhingedClassifier(MomentClassifier):
    """The classifier of the paper: a closed-form mean that symmetric label noise only rescales.

    Parameters
    ----------
    features: a label-free scikit-learn transformer, fitted to the rows (never to labels) before the pass.
    center: subtract the overall mean feature. `center=False, threshold=0.0` is the paper's scorer, for
        which `decision_function(X)` is <E[y x], x> / regularization.
    threshold: "mean" puts zero at the overall mean, which noise does not move; "loo" tunes it by exact
        leave-one-out on the given labels (two classes, needs rows); a number is subtracted from the scores.
    regularization: lambda of Equation 7. It scales the scores and changes no sign.
    class_weight: None uses no priors: the boundary passes through the mean. A dict of costs c_k, or
        "balanced", puts it where c_k P(k) exp(-|phi - mu_k|^2 / (2 tau^2)) is the same for two classes, with
        mu_k the class means and tau^2 the variance within classes, averaged over features. Costly classes are
        chosen more often, and "balanced" is the nearest centroid classifier. Shares and class means are read
        off the labels, so the immunity to noise is lost.
    summation: "exact" sums without rounding: chunks, order, threads and merges cannot change a bit.

    Attributes: `classes_`, `coef_` ((d,) or (K, d)), `intercept_`, `threshold_`, `moments_`.

    Columns of very different scales should be standardised: `features=StandardScaler()`.

    >>> from unflip import UnhingedClassifier
    >>> model = UnhingedClassifier().fit([[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 4.0]], list("aabb"))
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    ['a', 'b']
    >>> model.coef_.tolist()
    [2.0, 2.0]
    """

    _on_device: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "features": [None, HasMethods(["fit", "transform"])],
        "center": ["boolean"],
        "threshold": [
            StrOptions({"mean", "loo"}),
            Interval(Real, -LARGEST_PARAMETER, LARGEST_PARAMETER, closed="neither"),
        ],
        "regularization": [Interval(Real, 1 / LARGEST_PARAMETER, LARGEST_PARAMETER, closed="both")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "summation": [StrOptions({"fast", "exact"})],
    }

    def __init__(
        self,
        features: Any = None,
        center: bool = True,
        threshold: str | float = "mean",
        regularization: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        summation: str = "fast",
    ) -> None:
        self.features = features
        self.center = center
        self.threshold = threshold
        self.regularization = regularization
        self.class_weight = class_weight
        self.summation = summation

    def tune_threshold(self, source: Any) -> Self:
        """Set the threshold by exact leave-one-out on rows that were fitted, given again as a source.

        Later calls of `partial_fit` or `forget` put the threshold back to what the parameter says.

        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [8.0], [9.0]], [0, 0, 0, 0, 0, 1, 1]
        >>> model = UnhingedClassifier().partial_fit(X, y)
        >>> model.predict([[5.0]]).tolist(), model.tune_threshold((X, y)).predict([[5.0]]).tolist()
        ([1], [0])
        """
        check_is_fitted(self, "moments_")
        if self.moments_.privacy is not None:
            raise ValueError(
                "a threshold tuned on rows would tell of them, and the moments are private; "
                "keep the one that follows from the moments, or give a number as threshold"
            )
        if self.noise_ is not None:
            raise ValueError("a threshold is tuned to the labels as they are; tune it, or correct for noise")
        with all_or_nothing(self):
            self._finish(self._solve(self.moments_))
            parts = [self._known_labels(self._of_my_kind(batch), self.classes_) for batch in batches(source)]
            self._shift_threshold(parts)
        return self

    def loo_scores(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """What `decision_function` would say of each fitted row, had that row not been fitted.

        The threshold stays, unless it is "mean": then the mean is taken without the row too. A class that has
        no other rows is not chosen: its score is minus infinity.

        >>> X, y = [[1.0], [2.0], [3.0], [6.0]], [0, 0, 1, 1]
        >>> model = UnhingedClassifier(center=False, threshold=0.0).fit(X, y)
        >>> model.loo_scores(X, y).round(3).tolist()
        [2.333, 5.333, 3.0, 0.0]
        """
        check_is_fitted(self, "moments_")
        if self.noise_ is not None and self.class_weight is not None:
            raise ValueError(
                "with class_weight scores are not linear in the labels: none are left out of those"
            )
        batch = self._known_labels(self._batch(X, y, sample_weight, reset=False), self.classes_)
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(self._leave_one_out(batch), self.scorer_.doublings) - self.threshold_

    def _solve(self, moments: Moments, batch: Batch | None = None) -> LinearScorer:
        if self.class_weight is None:
            direction, base = self._mean_map(moments)
        else:
            direction, base = self._centroids(moments)
        self.threshold_ = 0.0
        if len(moments.counts) == 2:
            direction, base = direction[0], base[0]
            if not isinstance(self.threshold, str):
                self.threshold_ = float(self.threshold)
                base = base - np.ldexp(self.threshold_, -2 * moments.exponent)
        elif self.threshold not in ("mean", 0):
            raise ValueError(
                f"threshold={self.threshold!r} is for two classes, the labels have {len(moments.counts)}"
            )
        # <w, phi - mu> is unit^2 <direction, z - center>.
        return LinearScorer(direction, base, moments.frame, 2 * moments.exponent)

    def _mean_map(self, moments: Moments) -> tuple[Array, Array]:
        """Direction and base of the scores <w, . - zero> / lambda, in the frame of the moments.

        One row a class; for two classes one row, the difference, taken before anything is rounded.
        """
        signs, middle = contrast(len(moments.counts)), self._middle(moments)
        total = moments.total
        shares = (signs @ moments.counts / total)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond floats is refused by column
            means = (signs @ moments.sums / total - shares * middle) / self.regularization  # Equation 8
            base = -(means @ (middle if self.center else self._zero(moments)))
        return means, base + never(moments.counts)

    def _centroids(self, moments: Moments) -> tuple[Array, Array]:
        """The same for class means with priors."""
        counts = moments.counts[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.where(counts > 0, moments.sums / counts - moments.center, 0.0)
        norms = np.sum(means**2, axis=1)
        within = max(moments.variance - float(moments.counts @ norms) / moments.total, 0.0) / means.shape[1]
        base = centroids.offset(norms, within, self._priors(moments.counts)) - means @ moments.center
        base = contrasted(base) / self.regularization  # infinite where a class has no rows
        return contrast(len(means)) @ means / self.regularization, base

    def _middle(self, moments: Moments) -> Array:
        """What features are centred at, as z: the mean, or the zero of the features."""
        return moments.center if self.center else moments.frame.zero

    def _zero(self, moments: Moments) -> Array:
        """Where scores vanish before any threshold, as z: the mean, or the zero of the features."""
        return moments.center if self._zero_at_mean else moments.frame.zero

    @property
    def _zero_at_mean(self) -> bool:
        return self.center or self.threshold == "mean"

    def _priors(self, counts: Array) -> Array:
        """log(c_k P(k)) up to a constant, for class weights in the last axis."""
        with np.errstate(divide="ignore"):
            if self.class_weight == "balanced":
                return np.where(counts > 0, 0.0, -np.inf)
            return np.log(counts * self._costs())

    def _costs(self) -> Array:
        """The cost of each class: one, unless a dict says otherwise."""
        labels = self.classes_.tolist()
        if self.class_weight == "balanced":
            return self.moments_.total / (len(labels) * np.maximum(self.moments_.counts, 1e-300))
        given: Any = self.class_weight or {}
        for label, cost in given.items():
            if label not in labels:
                raise ValueError(f"class_weight names {label!r}, which is not among {labels}")
            if not (isinstance(cost, Real) and 0 <= float(cost) < np.inf):
                raise ValueError(f"class_weight of {label!r} is {cost!r}; costs are finite and not negative")
        costs = np.array([float(given.get(label, 1.0)) for label in labels])
        if np.count_nonzero(costs) == 0:
            raise ValueError("class_weight is zero for every class")
        return costs

    @np.errstate(over="ignore", invalid="ignore")  # a score beyond floats has no part in tuning a threshold
    def _leave_one_out(self, batch: Batch) -> Array:
        """Leave-one-out scores in the frame of the moments, before a threshold; (n,) for two classes."""
        moments, n_rows = self._clean(self.moments_), batch.X.shape[0]
        features = self._features
        targets, middle, zero = self._targets(moments)
        scores = np.empty((n_rows, len(targets)))
        similarity = np.empty(n_rows)
        for rows, phi in feature_blocks(batch.X, features.transform):
            z = moments.frame.z(phi)
            scores[rows] = dense(z @ beside(targets.T, z)) - targets @ zero
            similarity[rows] = dense(_products(z, middle, zero))
        if not np.isfinite(scores).all():
            name_the_culprit(batch.X, batch.names)
        member, weight, total = self._members(batch), to_numpy(batch.weight), moments.total
        signs = contrast(len(moments.counts))
        if self.class_weight is None:
            left = mean_map.leave_one_out(
                scores,
                member @ signs.T,
                weight,
                similarity / self.regularization,
                total,
                signs @ moments.counts / total,
                centered=self.center,
                zero_at_mean=self._zero_at_mean,
            )
        else:
            left = centroids.leave_one_out(
                scores,
                np.sum(targets**2, axis=1),
                moments.counts,
                member,
                weight,
                similarity,
                moments.variance,
                moments.sums.shape[1],
                self._priors,
            )
            left = (left[:, [1]] - left[:, [0]] if len(signs) == 1 else left) / self.regularization
        left = left + lonely(weight[:, None] * batch.labels.membership, self.moments_.counts)
        return left[:, 0] if len(signs) == 1 else left

    def _targets(self, moments: Moments) -> tuple[Array, Array, Array]:
        """What rows are projected on (mean maps, or sums of classes), and the points they are seen from."""
        if self.class_weight is None:
            return self._mean_map(moments)[0], self._middle(moments), self._zero(moments)
        center = moments.center
        return moments.sums - moments.counts[:, None] * center, center, center

    def _tune(self, batch: Batch) -> None:
        if self.threshold == "loo":
            self._shift_threshold([batch])

    def _shift_threshold(self, parts: list[Batch]) -> None:
        if len(self.classes_) != 2:
            raise ValueError(f"the threshold is tuned for two classes, the labels have {len(self.classes_)}")
        scores = np.concatenate([self._leave_one_out(part) for part in parts])
        member = np.concatenate([part.labels.membership for part in parts])
        weight = np.concatenate([to_numpy(part.weight) for part in parts])
        costs = weight[:, None] * member * self._costs()
        cut = best_threshold(scores, costs[:, 1], costs[:, 0])
        old = self.scorer_
        with np.errstate(over="ignore"):
            self.threshold_ = float(np.ldexp(cut, old.doublings))
        self._finish(replace(old, base=old.base - cut), parts[0].X)

    def _refuse_rows_needed(self) -> None:
        if self.threshold == "loo":
            raise ValueError(
                "threshold='loo' needs rows, which moments do not keep; use threshold='mean' here and "
                "call tune_threshold(source) afterwards"
            )


def _products(z: Any, a: Array, b: Array) -> Any:
    """<z - a, z - b> for each row."""
    if is_foreign(z):
        return array_namespace(z).sum((z - beside(a, z)) * (z - beside(b, z)), axis=1)
    if sparse.issparse(z):
        return squared_norms(z) - z @ (a + b) + a @ b
    return np.einsum("ij,ij->i", z - a, z - b)

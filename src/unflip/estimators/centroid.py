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
from scipy import sparse
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from unflip.estimators.base import Array, MomentClassifier, all_or_nothing
from unflip.estimators.scorer import LinearScorer
from unflip.loo.mean_map import leave_one_out
from unflip.loo.threshold import best_threshold
from unflip.moments import Moments
from unflip.moments.accumulate import in_frame, squared_norms
from unflip.sources import Batch, batches
from unflip.sources.batch import row_blocks


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
    class_weight: costs of the classes, a dict or "balanced". Class k scores
        c_k (<w_k, phi - mu> + s^2 / K), with s^2 = E|phi - mu|^2, so only ratios of costs matter, and a
        class of overwhelming cost is nearly always chosen. Costs take the noise immunity away.
    summation: "fast" is the only way so far.

    Attributes: `classes_`, `coef_` ((d,) or (K, d)), `intercept_`, `threshold_`, `moments_`.

    Columns of very different scales should be standardised: `features=StandardScaler()`.

    >>> from unflip import UnhingedClassifier
    >>> model = UnhingedClassifier().fit([[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 4.0]], list("aabb"))
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist()
    ['a', 'b']
    >>> model.coef_.tolist()
    [2.0, 2.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "features": [None, HasMethods(["fit", "transform"])],
        "center": ["boolean"],
        "threshold": [StrOptions({"mean", "loo"}), Interval(Real, None, None, closed="neither")],
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "summation": [StrOptions({"fast"})],
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
        with all_or_nothing(self):
            self._finish(self._solve(self.moments_))
            parts = [self._known_labels(batch, self.classes_) for batch in batches(source)]
            self._shift_threshold(parts)
        return self

    def loo_scores(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """What `decision_function` would say of each fitted row, had that row not been fitted.

        The threshold stays, unless it is "mean": then the mean is taken without the row too.

        >>> model = UnhingedClassifier(center=False, threshold=0.0)
        >>> model.fit([[1.0], [2.0], [4.0]], [0, 1, 1]).loo_scores([[1.0], [2.0], [4.0]], [0, 1, 1]).tolist()
        [3.0, 3.0, 2.0]
        """
        check_is_fitted(self, "moments_")
        batch = self._known_labels(self._batch(X, y, sample_weight, reset=False), self.classes_)
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(self._leave_one_out(batch), self.scorer_.doublings) - self.threshold_

    def _solve(self, moments: Moments) -> LinearScorer:
        means, base = self._class_scorers(moments)
        costs = self._costs(moments.counts)
        direction = costs[:, None] * means
        base = costs * (base + self._spread(moments) / len(costs))
        base = np.where(moments.counts == 0, -np.inf, base)  # a class without rows is never chosen
        self.threshold_ = 0.0
        if len(costs) == 2:
            direction, base = direction[1] - direction[0], base[1] - base[0]
            if not isinstance(self.threshold, str):
                self.threshold_ = float(self.threshold)
                base = base - np.ldexp(self.threshold_, -2 * moments.exponent)
        elif self.threshold not in ("mean", 0):
            raise ValueError(f"threshold={self.threshold!r} is for two classes, the labels have {len(costs)}")
        # <w, phi - mu> is unit^2 <direction, z - center>.
        return LinearScorer(direction, base, moments.origin, moments.unit, 2 * moments.exponent)

    def _class_scorers(self, moments: Moments) -> tuple[Array, Array]:
        """Direction and base of <w_k, .> / lambda for each class, in the frame of the moments."""
        if self.center:
            means = moments.centered_means / self.regularization
        else:
            means = moments.feature_means / moments.unit / self.regularization
        return means, -(means @ self._zero_point(moments))

    def _zero_point(self, moments: Moments) -> Array:
        """Where the scores vanish before any threshold: the mean, or the zero of the features."""
        if self.center or self.threshold == "mean":
            return moments.center
        return -moments.origin / moments.unit

    def _spread(self, moments: Moments) -> float:
        """E|phi - mu|^2 / lambda in the frame of the moments; zero where costs do not ask for it."""
        return 0.0 if self.class_weight is None else moments.variance / self.regularization

    def _costs(self, counts: Array) -> Array:
        """The cost of each class, for class counts in the last axis."""
        n_classes = counts.shape[-1]
        if self.class_weight is None:
            return np.ones_like(counts)
        if self.class_weight == "balanced":
            with np.errstate(divide="ignore"):
                balanced = counts.sum(axis=-1, keepdims=True) / (n_classes * counts)
            return np.where(counts > 0, balanced, 1.0)
        given: Any = self.class_weight
        for label, cost in given.items():
            if label not in self.classes_.tolist():
                raise ValueError(f"class_weight names {label!r}, which is not among {self.classes_.tolist()}")
            if not (np.isfinite(cost) and cost >= 0):
                raise ValueError(f"class_weight of {label!r} is {cost!r}; costs are finite and not negative")
        return np.ones_like(counts) * [float(given.get(label, 1.0)) for label in self.classes_.tolist()]

    def _leave_one_out(self, batch: Batch) -> Array:
        """Leave-one-out scores in the frame of the moments, before a threshold."""
        moments, lam = self.moments_, self.regularization
        means, base = self._class_scorers(moments)
        zero_at_mean = self.center or self.threshold == "mean"
        middle = moments.center if self.center else -moments.origin / moments.unit
        zero = self._zero_point(moments)
        n_rows = batch.X.shape[0]
        scores, similarity, distance = np.empty((n_rows, len(base))), np.empty(n_rows), np.empty(n_rows)
        for rows in row_blocks(n_rows):
            z = in_frame(self._features.transform(batch.X[rows]), moments.origin, moments.unit)
            scores[rows] = z @ means.T + base
            similarity[rows] = _products(z, middle, zero)
            distance[rows] = _products(z, moments.center, moments.center)
        w, total, member = batch.weight, moments.total, batch.labels.membership
        left = leave_one_out(
            scores,
            member,
            w,
            similarity / lam,
            moments.counts,
            centered=self.center,
            zero_at_mean=zero_at_mean,
        )
        others = total - w
        spread: Any = 0.0
        if self.class_weight is not None:
            scatter = self._spread(moments) * total - w * total / others * distance / lam
            spread = (np.maximum(scatter, 0.0) / others)[:, None]
        costs = self._costs(moments.counts - w[:, None] * member)
        left = costs * (left + spread / len(base))
        return left[:, 1] - left[:, 0] if len(base) == 2 else left

    def _tune(self, batch: Batch) -> None:
        if self.threshold == "loo":
            self._shift_threshold([batch])

    def _shift_threshold(self, parts: list[Batch]) -> None:
        if len(self.classes_) != 2:
            raise ValueError(f"the threshold is tuned for two classes, the labels have {len(self.classes_)}")
        scores = np.concatenate([self._leave_one_out(part) for part in parts])
        member = np.concatenate([part.labels.membership for part in parts])
        weight = np.concatenate([part.weight for part in parts])
        costs = weight[:, None] * member * self._costs(self.moments_.counts)
        cut = best_threshold(scores, costs[:, 1], costs[:, 0])
        old = self.scorer_
        with np.errstate(over="ignore"):
            self.threshold_ = float(np.ldexp(cut, old.doublings))
        self._finish(replace(old, base=old.base - cut))

    def _refuse_rows_needed(self) -> None:
        if self.threshold == "loo":
            raise ValueError(
                "threshold='loo' needs rows, which moments do not keep; use threshold='mean' here and "
                "call tune_threshold(source) afterwards"
            )


def _products(z: Any, a: Array, b: Array) -> Array:
    """<z - a, z - b> for each row."""
    if sparse.issparse(z):
        return squared_norms(z) - z @ (a + b) + a @ b
    return np.einsum("ij,ij->i", z - a, z - b)

"""The unhinged loss with a kernel: score by aggregate similarity (Equation 9).

The minimiser is the signed mean of the features of all rows, so that with a kernel the score of x is

    sum_i c_i k(x, x_i),    c_i = omega_i t_i / W,

with t_i the label, -1 or +1 (or one column for each of several classes), omega_i the weight of a row and W
their sum. Nothing is solved for; leave-one-out scores of all rows come out of one pass over the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from unflip.compress import Herd, herd
from unflip.estimators.base import all_or_nothing
from unflip.kernels import DistanceKernel, Kernel, get, median_bandwidth
from unflip.loo.mean_map import leave_one_out
from unflip.loo.threshold import best_threshold
from unflip.sources import encode
from unflip.sources.batch import as_weight
from unflip.sources.labels import Labels

Array = np.ndarray[Any, Any]
GRID = tuple(2.0 ** (k / 2) for k in range(-6, 4))  # times the median distance, for bandwidth="loo"
ROWS = 256  # of a table of distances that a grid of bandwidths shares


class KernelUnhingedClassifier(ClassifierMixin, BaseEstimator):
    """The kernel classifier that symmetric label noise only rescales: a signed mean of similarities.

    Parameters
    ----------
    kernel: a name ("rbf", "laplace", "linear", "poly", ...) or a kernel of `unflip.kernels`.
    bandwidth: a number; "median" for the median distance of two rows, which needs no labels; "loo" for the
        one of a grid about the median with the least leave-one-out error on the given labels, which
        symmetric noise shifts and shrinks by the same amount for all.
    center: subtract the overall mean feature, as `UnhingedClassifier` does.
    threshold: "loo" tunes it by exact leave-one-out, "mean" puts zero at the overall mean, a number is
        subtracted from the scores. For two classes; with more, the largest score wins.
    compress: "herding" keeps `n_support` points with weights in place of all rows.

    Attributes: `classes_`, `kernel_`, `support_vectors_`, `dual_coef_` ((m, 1) or (m, K)), `threshold_`,
    `loo_scores_`, and `herd_` with the error of compression.

    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], [0, 0, 1, 1, 0, 0]  # no line tells these apart
    >>> model = KernelUnhingedClassifier(bandwidth=0.3, threshold=0.0).fit(X, y)
    >>> model.predict([[0.2], [1.2], [2.2]]).tolist()
    [0, 1, 0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, Kernel],
        "bandwidth": [StrOptions({"median", "loo"}), Interval(Real, 0, None, closed="neither")],
        "center": ["boolean"],
        "threshold": [StrOptions({"mean", "loo"}), Interval(Real, None, None, closed="neither")],
        "compress": [None, StrOptions({"herding"})],
        "n_support": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        bandwidth: str | float = "median",
        center: bool = False,
        threshold: str | float = "loo",
        compress: str | None = None,
        n_support: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.center = center
        self.threshold = threshold
        self.compress = compress
        self.n_support = n_support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows with signed weights; tune what is to be tuned by leave-one-out."""
        if (self.compress is None) != (self.n_support is None):
            raise ValueError("compress='herding' and n_support=m go together: name both or neither")
        with all_or_nothing(self):
            labels = encode(y)
            rows = self._rows(X, reset=True)
            if rows.shape[0] != len(labels):
                raise ValueError(
                    f"X has {rows.shape[0]} rows, y has {len(labels)} labels: inconsistent lengths"
                )
            weight = as_weight(sample_weight, len(labels))
            counting = np.flatnonzero(weight > 0)
            member = labels.membership[counting]
            _refuse_single_class(labels, member, weight[counting])
            self.classes_ = labels.classes
            self._learn(rows[counting], member, weight[counting])
        return self

    def _learn(self, X: Any, member: Array, weight: Array) -> None:
        targets = member[:, [1]] - member[:, [0]] if member.shape[1] == 2 else member
        self._X, self._member, self._weight = X, member, weight
        mean_map = MeanMap(X, targets, weight, self.center, self.center or self.threshold == "mean")
        candidates = self._kernels(X)
        scored = [mean_map.scored(kernel, values) for kernel, values in mean_map.passes(candidates)]
        errors = [self._judge(left, member, weight) for _, left in scored]
        best = int(np.argmin([error for error, _ in errors]))
        self.kernel_, (self._base, self.loo_scores_) = candidates[best], scored[best]
        self.threshold_ = errors[best][1]
        self.support_vectors_, self.dual_coef_ = X, mean_map.coefficients
        if self.compress is not None:
            self.herd_: Herd = herd(X, mean_map.coefficients, self.kernel_, int(self.n_support or 0))
            self.support_vectors_, self.dual_coef_ = X[self.herd_.rows], self.herd_.weights

    def _kernels(self, X: Any) -> list[Kernel]:
        """The kernel, or one for each bandwidth that is to be tried."""
        if isinstance(self.kernel, Kernel):
            return [self.kernel]
        trial = (
            get(self.kernel, 1.0) if self.kernel not in ("linear", "poly", "polynomial") else get(self.kernel)
        )
        if not isinstance(trial, DistanceKernel):
            return [trial]
        if not isinstance(self.bandwidth, str):
            return [get(self.kernel, float(self.bandwidth))]
        median = median_bandwidth(X, metric=trial.metric)
        sizes = [1.0] if self.bandwidth == "median" else GRID
        return [get(self.kernel, median * size) for size in sizes]

    def _judge(self, left: Array, member: Array, weight: Array) -> tuple[float, float]:
        """The leave-one-out error and the threshold it belongs to."""
        if member.shape[1] > 2:
            wrong = 1 - np.take_along_axis(member, left.argmax(axis=1)[:, None], axis=1)[:, 0]
            return float(weight @ wrong / weight.sum()), 0.0
        scores, costs = left[:, 0], weight[:, None] * member
        cut = best_threshold(scores, costs[:, 1], costs[:, 0]) if self.threshold == "loo" else self._given()
        wrong = np.where(scores > cut, costs[:, 0], costs[:, 1])
        return float(wrong.sum() / weight.sum()), cut

    def _given(self) -> float:
        return 0.0 if isinstance(self.threshold, str) else float(self.threshold)

    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for the second one; (n, K) for more.

        >>> model = KernelUnhingedClassifier("linear", threshold=0.0).fit([[-1.0], [3.0]], [0, 1])
        >>> model.decision_function([[1.0]]).tolist()
        [2.0]
        """
        check_is_fitted(self, "dual_coef_")
        rows = self._rows(X, reset=False)
        scores = self.kernel_.score(rows, self.support_vectors_, self.dual_coef_) - self._base
        return scores[:, 0] - self.threshold_ if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        scores = self.decision_function(X)
        chosen = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen.astype(np.intp)]

    def predict_proba(self, X: Any) -> Array:
        """The share of each class among the rows, weighted by similarity (Nadaraya and Watson).

        Far from all rows, where no similarity is left, the shares of the classes themselves.

        >>> model = KernelUnhingedClassifier(bandwidth=1.0).fit([[0.0], [2.0]], ["a", "b"])
        >>> model.predict_proba([[1.0], [1e6]]).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        check_is_fitted(self, "dual_coef_")
        if self.compress is not None:
            raise AttributeError("a compressed model keeps no rows to take shares of; fit with compress=None")
        masses = self._weight[:, None] * self._member
        near = self.kernel_.score(self._rows(X, reset=False), self._X, masses)
        if near.min(initial=0.0) < 0:
            raise ValueError(f"{self.kernel_} has negative values, so it gives no shares")
        total = near.sum(axis=1, keepdims=True)
        return np.where(total > 0, near / np.where(total > 0, total, 1.0), masses.sum(axis=0) / masses.sum())

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)


class MeanMap:
    """The signed mean of features, seen through a kernel, and its leave-one-out scores."""

    def __init__(self, X: Any, targets: Array, weight: Array, centered: bool, zero_at_mean: bool) -> None:
        self.X, self.targets, self.weight = X, targets, weight
        self.centered, self.zero_at_mean = centered, zero_at_mean
        self.total = float(weight.sum())
        self.share = weight / self.total
        self.label_mean = self.share @ targets
        self.coefficients = self.share[:, None] * (targets - self.label_mean if centered else targets)

    def passes(self, kernels: Sequence[Kernel]) -> list[tuple[Kernel, Array]]:
        """For each kernel, scores of all rows and mean similarities; distances are computed once."""
        weights = np.column_stack([self.coefficients, self.share])
        first = kernels[0]
        if len(kernels) == 1 or not isinstance(first, DistanceKernel):
            return [(kernel, kernel.score(self.X, self.X, weights)) for kernel in kernels]
        n = self.X.shape[0]
        found = [np.empty((n, weights.shape[1])) for _ in kernels]
        for start in range(0, n, ROWS):
            rows = slice(start, start + ROWS)
            apart = first.distance(self.X[rows], self.X)
            for values, kernel in zip(found, kernels, strict=True):
                assert isinstance(kernel, DistanceKernel)
                values[rows] = kernel.profile(apart) @ weights
        return list(zip(kernels, found, strict=True))

    def scored(self, kernel: Kernel, values: Array) -> tuple[Array, Array]:
        """The score that counts as zero, and leave-one-out scores relative to it."""
        scores, near = values[:, :-1], values[:, -1]
        own = kernel.diagonal(self.X)
        base = self.share @ scores if self.zero_at_mean else np.zeros(scores.shape[1])
        if self.centered:
            own = own - 2 * near + self.share @ near
        elif self.zero_at_mean:
            own = own - near
        left = leave_one_out(
            scores - base,
            self.targets,
            self.weight,
            own,
            self.total,
            self.label_mean,
            centered=self.centered,
            zero_at_mean=self.zero_at_mean,
        )
        return base, left


def _refuse_single_class(labels: Labels, member: Array, weight: Array) -> None:
    present = [label for label, share in zip(labels.classes.tolist(), weight @ member, strict=True) if share]
    if len(present) < 2:
        seen = f"one class, {present[0]!r}" if present else "no class"
        raise ValueError(f"rows of at least two classes are needed, got rows of {seen}")

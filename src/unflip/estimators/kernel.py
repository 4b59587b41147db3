"""The unhinged loss with a kernel: score by aggregate similarity (Equation 9).

The minimiser is the signed mean of the features of all rows, so that with a kernel the score of x is

    sum_i c_i k(x, x_i),    c_i = omega_i y_i / W,

with omega_i the weight of a row and W their sum. Nothing is solved for. All that is ever needed of a pass
over the kernel is how similar each row is to each class: leave-one-out follows from it (`readings`), and rows
that come or go change it by their own similarities alone.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from unflip._state import all_or_nothing
from unflip.border.arrays import Array
from unflip.border.classes import as_scores, never, refuse_single_class
from unflip.border.parameters import LARGEST_PARAMETER
from unflip.compress import Herd, herd
from unflip.estimators.kept import KeptRows
from unflip.estimators.kernelized import KernelClassifier
from unflip.estimators.readings import Reading, nearest_centroid, signed_mean
from unflip.kernels import Kernel
from unflip.loo.threshold import best_threshold


def _keeps_all_rows(model: Any) -> bool:
    if model.compress is not None or hasattr(model, "herd_"):
        raise AttributeError("a compressed model keeps no rows to take shares of; fit with compress=None")
    return True


class KernelUnhingedClassifier(KernelClassifier):
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
    reading: "unhinged" is all of the above. "centroid" is Rocchio's rule, the nearest class mean in the space
        of the kernel: classes count alike however many rows they have, and noise does move it. "density" is
        Bayes' rule with a kernel density for each class, which is the unhinged scorer with zero at zero.
        These two have a zero of their own and no use for `center` and `threshold`. Where all similarities
        underflow there is no density to compare, and the first class is taken.

    Attributes: `classes_`, `kernel_`, `support_vectors_`, `dual_coef_` ((m, 1) or (m, K)), `intercept_`,
    `threshold_`. Either all rows are kept, with `loo_scores_`, what `decision_function` would say of each of
    them had it not been fitted (rows of weight zero are not among them); or `n_support` points, with `herd_`,
    which knows the error of the compression.

    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], [0, 0, 1, 1, 0, 0]  # no line tells these apart
    >>> model = KernelUnhingedClassifier(bandwidth=0.3, threshold=0.0).fit(X, y)
    >>> model.predict([[0.2], [1.2], [2.2]]).tolist()
    [0, 1, 0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._parameter_constraints,
        "center": ["boolean"],
        "threshold": [
            StrOptions({"mean", "loo"}),
            Interval(Real, -LARGEST_PARAMETER, LARGEST_PARAMETER, closed="neither"),
        ],
        "compress": [None, StrOptions({"herding"})],
        "n_support": [None, Interval(Integral, 1, None, closed="left")],
        "reading": [StrOptions({"unhinged", "centroid", "density"})],
    }

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        bandwidth: str | float = "median",
        center: bool = False,
        threshold: str | float = "loo",
        compress: str | None = None,
        n_support: int | None = None,
        reading: str = "unhinged",
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.center = center
        self.threshold = threshold
        self.compress = compress
        self.n_support = n_support
        self.reading = reading

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep the rows with signed weights; tune what is to be tuned by leave-one-out."""
        if (self.compress is None) != (self.n_support is None):
            raise ValueError("compress='herding' and n_support=m go together: name both or neither")
        with all_or_nothing(self):
            batch = self._batch(X, y, sample_weight, reset=True)
            self.classes_ = batch.labels.classes
            kept = KeptRows.of(batch)
            refuse_single_class(self.classes_.tolist(), kept.counts)
            self._refuse_equal_rows(kept.X)
            self._learn(kept)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows: the same as a fit to all rows so far. The first call may name all classes that will come.

        With a bandwidth that is a number only the similarities of the new rows are computed.

        >>> model = KernelUnhingedClassifier(bandwidth=1.0).partial_fit([[0.0], [1.0]], [0, 1])
        >>> model.partial_fit([[3.0]], [1]).support_vectors_.ravel().tolist()
        [0.0, 1.0, 3.0]
        """
        self._refuse_compressed("partial_fit")
        with all_or_nothing(self):
            first = not hasattr(self, "dual_coef_")
            batch = self._batch(X, y, sample_weight, reset=first)
            if first:
                self.classes_ = batch.labels.classes if classes is None else np.unique(np.asarray(classes))
            new = KeptRows.of(self._known_labels(batch, self.classes_))
            if first:
                self._learn(new, present_at_least=1)
            else:
                near = None
                everyone = self._kept + new
                if self._keeps_its_kernel:
                    grown = self._near + self.kernel_.score(self._kept.X, new.X, new.masses)
                    near = np.vstack([grown, self.kernel_.score(new.X, everyone.X, everyone.masses)])
                self._learn(everyone, near, present_at_least=1)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows away that were fitted before, as if they had never been there.

        The threshold, and a bandwidth that is not a number, are found anew without them.

        >>> model = KernelUnhingedClassifier(bandwidth=1.0).fit([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> model.forget([[3.0]], [1]).support_vectors_.ravel().tolist()
        [0.0, 1.0]
        """
        check_is_fitted(self, "dual_coef_")
        self._refuse_compressed("forget")
        with all_or_nothing(self):
            batch = self._known_labels(self._batch(X, y, sample_weight, reset=False), self.classes_)
            gone = KeptRows.of(batch)
            places, rest = self._kept.without(gone, np.flatnonzero(batch.weight > 0))
            near = None
            outweighs = gone.weight.sum() > rest.weight.sum()  # then a difference would lose digits
            if self._keeps_its_kernel and not outweighs:
                near = self._near[places] - self.kernel_.score(rest.X, gone.X, gone.masses)
            self._learn(rest, near)
        return self

    @available_if(_keeps_all_rows)
    def predict_proba(self, X: Any) -> Array:
        """The share of each class among the rows, weighted by similarity (Nadaraya and Watson).

        Also the share of all cost ratios at which the weighted unhinged loss, with zero at zero, chooses the
        class. Far from all rows, where no similarity is left, the shares of the classes themselves.

        >>> model = KernelUnhingedClassifier(bandwidth=1.0).fit([[0.0], [2.0]], ["a", "b"])
        >>> model.predict_proba([[1.0], [1e6]]).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
        """
        check_is_fitted(self, "dual_coef_")
        kept = self._kept
        near = self.kernel_.score(self._rows(X, reset=False), kept.X, kept.masses)
        if near.min(initial=0.0) < 0:
            raise ValueError(f"{self.kernel_} has negative values, so it gives no shares")
        total = near.sum(axis=1, keepdims=True)
        shares = kept.counts / kept.counts.sum()
        return np.where(total > 0, near / np.where(total > 0, total, 1.0), shares)  # Appendix E.3

    def _learn(self, kept: KeptRows, near: Array | None = None, present_at_least: int = 2) -> None:
        """Everything from the rows; `near` is how similar each is to each class, if that is known already."""
        refuse_single_class(self.classes_.tolist(), kept.counts, present_at_least)
        candidates = [self.kernel_] if near is not None else self._candidates(kept.X)
        nears = [near] if near is not None else _similarities(candidates, kept)
        readings = [self._read(kernel, kept, a) for kernel, a in zip(candidates, nears, strict=True)]
        verdicts = [self._judge(reading.left, kept) for reading in readings]
        best = int(np.argmin([error for error, _ in verdicts]))
        self.kernel_, reading, self.threshold_ = candidates[best], readings[best], verdicts[best][1]
        self.intercept_ = never(kept.counts) - reading.zero - self.threshold_
        for name in {"_kept", "_near", "loo_scores_", "herd_"} & vars(self).keys():
            delattr(self, name)  # of an earlier fit
        if self.n_support is None:
            self._kept, self._near = kept, nears[best]
            left = reading.left - self.threshold_
            self.loo_scores_ = as_scores(left)
            self.support_vectors_, self.dual_coef_ = kept.X, reading.coefficients
        else:
            self.herd_: Herd = herd(kept.X, reading.coefficients, self.kernel_, int(self.n_support))
            self.support_vectors_, self.dual_coef_ = kept.X[self.herd_.rows], self.herd_.weights

    def _read(self, kernel: Kernel, kept: KeptRows, near: Array) -> Reading:
        own = kernel.diagonal(kept.X)
        if self.reading == "centroid":
            return nearest_centroid(kept, near, own)
        if self.reading == "density":
            if not kernel.stationary:
                raise ValueError(
                    f"{kernel} is no density, which reading='density' needs; take 'rbf' or 'laplace'"
                )
            return signed_mean(kept, near, own)
        at_mean = self.center or self.threshold == "mean"
        return signed_mean(kept, near, own, centered=self.center, zero_at_mean=at_mean)

    def _judge(self, left: Array, kept: KeptRows) -> tuple[float, float]:
        """The leave-one-out error and the threshold it belongs to."""
        total = kept.weight.sum()
        if len(self.classes_) > 2:
            if self.reading == "unhinged" and self.threshold not in ("loo", "mean", 0):
                raise ValueError(
                    f"threshold={self.threshold!r} is for two classes, the labels have {len(self.classes_)}"
                )
            right = np.take_along_axis(kept.masses, left.argmax(axis=1)[:, None], axis=1)
            return float(1 - right.sum() / total), 0.0
        scores, costs = left[:, 0], kept.masses
        cut = 0.0
        if self.reading == "unhinged" and not isinstance(self.threshold, str):
            cut = float(self.threshold)
        elif self.reading == "unhinged" and self.threshold == "loo" and kept.counts.all():
            cut = best_threshold(scores, costs[:, 1], costs[:, 0])
        return float(np.where(scores > cut, costs[:, 0], costs[:, 1]).sum() / total), cut

    @property
    def _keeps_its_kernel(self) -> bool:
        """Whether other rows would leave the kernel as it is, and so the similarities of the old ones."""
        return not self._kernel_looks_at_rows and self._candidates(self._kept.X) == [self.kernel_]

    def _refuse_compressed(self, what: str) -> None:
        if self.compress is not None or hasattr(self, "herd_"):
            raise ValueError(
                f"{what} needs all rows, and a compressed model does not keep them; fit with compress=None, "
                "or use UnhingedClassifier with features=Nystroem(), which keeps sums only"
            )


def _similarities(kernels: list[Kernel], kept: KeptRows) -> list[Array]:
    """How similar each row is to each class, (n, K), for kernels that differ in their bandwidths only."""
    if len(kernels) == 1:
        return [kernels[0].score(kept.X, kept.X, kept.masses)]
    scaled: Any = kernels
    return list(scaled[0].score_grid(kept.X, kept.X, kept.masses, [kernel.bandwidth for kernel in scaled]))

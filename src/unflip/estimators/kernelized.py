"""What the kernel classifiers share: a kernel, its bandwidth, and scores that are sums of similarities."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from unflip.border.arrays import Array
from unflip.border.classes import as_scores
from unflip.border.finite import name_the_culprit
from unflip.border.parameters import LARGEST_PARAMETER
from unflip.border.words import column_label
from unflip.estimators.classifier import Classifier
from unflip.kernels import DistanceKernel, Kernel, by_name, get, median_bandwidth

TINIEST_VALUE, HUGEST_VALUE = 1e-152, 1e152  # squares of these are ordinary numbers
BANDWIDTH_GRID = tuple(2.0 ** (k / 2) for k in range(-5, 3))  # times the median distance, for bandwidth="loo"


class KernelClassifier(Classifier):
    """A classifier with scores sum_j a_j k(x, z_j) + b: `support_vectors_`, `dual_coef_` and `intercept_`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, Kernel],
        "bandwidth": [StrOptions({"median", "loo"}), Interval(Real, 0, LARGEST_PARAMETER, closed="right")],
    }

    _dtype: ClassVar[Any] = np.float64

    kernel: str | Kernel
    bandwidth: str | float
    kernel_: Kernel
    support_vectors_: Any
    dual_coef_: Array
    intercept_: Array

    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for the second one; (n, K) for more.

        >>> from unflip import KernelUnhingedClassifier
        >>> model = KernelUnhingedClassifier("linear", threshold=0.0).fit([[-1.0], [3.0]], [0, 1])
        >>> model.decision_function([[1.0]]).tolist()
        [2.0]
        """
        check_is_fitted(self, "dual_coef_")
        rows = self._rows(X, reset=False)
        scores = self.kernel_.score(rows, self.support_vectors_, self.dual_coef_) + self.intercept_
        return as_scores(scores)

    def _relative_scores(self, X: Any) -> Array:
        return self.decision_function(X)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        rows = super()._rows(X, reset=reset)
        values = np.abs(rows.data if sparse.issparse(rows) else rows)
        largest = float(values.max(initial=0.0))
        if not np.isfinite(largest):
            name_the_culprit(rows, self._names)
        if largest > HUGEST_VALUE or (reset and 0 < largest < TINIEST_VALUE):
            at = np.unravel_index(np.argmax(values), values.shape)
            column = rows.indices[at[0]] if sparse.issparse(rows) else at[1]
            raise ValueError(
                f"column {column_label(int(column), self._names)} of X has the largest value, {largest:.0e}; "
                f"distances need it between {TINIEST_VALUE:g} and {HUGEST_VALUE:g}: rescale the columns"
            )
        return rows

    def _refuse_equal_rows(self, X: Any) -> None:
        """Raise if nothing tells one row from another."""
        same = (X - X[[0] * X.shape[0]]).nnz == 0 if sparse.issparse(X) else (X[0] == X).all()
        if same:
            raise ValueError(f"all rows are equal ({X.shape[0]} of them): nothing tells the classes apart")

    def _candidates(self, X: Any) -> list[Kernel]:
        """The kernel, or one for each bandwidth that is to be tried; labels have no part in it."""
        if isinstance(self.kernel, Kernel):
            return [self._unless_bandwidth_given(self.kernel)]
        kind = by_name(self.kernel)
        if not issubclass(kind, DistanceKernel):
            return [self._unless_bandwidth_given(kind())]
        if not isinstance(self.bandwidth, str):
            return [get(self.kernel, float(self.bandwidth))]
        median = median_bandwidth(X, metric=kind.metric)
        sizes = [1.0] if self.bandwidth == "median" else BANDWIDTH_GRID
        return [get(self.kernel, median * size) for size in sizes]

    def _unless_bandwidth_given(self, kernel: Kernel) -> Kernel:
        if self.bandwidth != "median":
            raise ValueError(
                f"bandwidth={self.bandwidth!r} goes with a name of a kernel that has one, not with {kernel}"
            )
        return kernel

    @property
    def _kernel_looks_at_rows(self) -> bool:
        """Whether other rows would mean another kernel."""
        named = isinstance(self.kernel, str) and issubclass(by_name(self.kernel), DistanceKernel)
        return named and isinstance(self.bandwidth, str)

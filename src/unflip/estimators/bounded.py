"""The unhinged loss over scorers that are bounded on the sample: a linear programme.

The unit ball of Equation 7 can misclassify separable points; asking |<w, x_n> + b| <= 1 for every row instead
does not, since Proposition 5's scorer is then within reach. There is no closed form and no
representer theorem, but the robustness stays: the unhinged loss has it over any class of scorers.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods

from unflip._state import all_or_nothing
from unflip.border.arrays import Array
from unflip.border.classes import refuse_single_class
from unflip.estimators.base import LinearClassifier
from unflip.estimators.scorer import LinearScorer
from unflip.moments.frame import Frame, dense
from unflip.passes import accumulate
from unflip.solvers.certificate import Certificate, warn_unmet


class BoundedUnhingedClassifier(LinearClassifier):
    """Maximise E[y s(x)] over linear scorers with |s(x_n)| <= 1 on every fitted row. Two classes.

    Parameters
    ----------
    features: a label-free scikit-learn transformer, fitted to the rows (never to labels).
    fit_intercept: let s(x) = <w, x> + b; without it b = 0, as in the paper.

    Attributes: `classes_`, `coef_`, `intercept_`, `certificate_` (the duality gap of the programme).

    >>> from unflip import BoundedUnhingedClassifier
    >>> X, y = [[1.0, 2.0], [1.0, -4.0], [-1.0, 1.0]], [1, 1, -1]  # where the plain classifier errs
    >>> model = BoundedUnhingedClassifier().fit(X, y)
    >>> model.predict(X).tolist(), (model.coef_.round(9) + 0.0).tolist()
    ([1, 1, -1], [1.0, 0.0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "features": [None, HasMethods(["fit", "transform"])],
        "fit_intercept": ["boolean"],
    }

    def __init__(self, features: Any = None, fit_intercept: bool = True) -> None:
        self.features = features
        self.fit_intercept = fit_intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, labels y (two classes of any type, or soft) and weights."""
        with all_or_nothing(self):
            batch = self._batch(X, y, sample_weight, reset=True)
            if len(batch.labels.classes) > 2:
                raise ValueError(
                    "Only binary classification is supported. The type of the target is multiclass: "
                    f"{batch.labels.classes.tolist()}"
                )
            self.features_ = self._fitted_features(batch)
            moments = accumulate(batch, self.features_)
            refuse_single_class(moments.classes, moments.counts)
            self.classes_ = batch.labels.classes
            phi = self._features.transform(batch.X)
            # Sparse rows stay sparse, unless they lie so far out that they are not.
            center = self.fit_intercept and (not sparse.issparse(phi) or moments.origin.any())
            shift = moments.mean if center else np.zeros(phi.shape[1])
            # The unit itself if there is no spread, or less of it than float64 can hold.
            scale = moments.unit * np.sqrt(moments.variance / phi.shape[1]) or moments.unit
            counted = batch.weight > 0
            member = batch.labels.membership[counted]
            pull = batch.weight[counted] * (member[:, 1] - member[:, 0]) / moments.total
            solution, self.certificate_ = programme(
                Frame(shift, scale).z(phi)[counted], pull, self.fit_intercept
            )
            direction, base = (solution[:-1], solution[-1]) if self.fit_intercept else (solution, 0.0)
            self._finish(LinearScorer(direction, base, Frame(shift, scale)))
        if not self.certificate_.met:
            warn_unmet(self.certificate_)
        return self


def programme(rows: Any, pull: Array, intercept: bool) -> tuple[Array, Certificate]:
    """max <pull, s> over s = rows w + b with |s| <= 1, and how far from the maximum the answer can be.

    >>> solution, certificate = programme(np.array([[1.0], [-2.0]]), np.array([1.0, 0.0]), intercept=False)
    >>> solution.tolist(), certificate.met
    ([0.5], True)
    """
    from scipy.optimize import linprog

    if intercept:
        ones = np.ones((rows.shape[0], 1))
        rows = sparse.hstack([rows, ones]).tocsr() if sparse.issparse(rows) else np.hstack([rows, ones])
    size = dense(abs(rows).max(axis=0)).ravel()
    rows = rows / np.where(size > 0, size, 1.0)  # the solver drops what is small in its own units
    stack = sparse.vstack if sparse.issparse(rows) else np.vstack
    n, both = rows.shape[0], stack([rows, -rows])
    found = linprog(-(rows.T @ pull), A_ub=both, b_ub=np.ones(2 * n), bounds=(None, None), method="highs")
    if found.status != 0:
        raise ValueError(
            f"the linear programme was not solved ({found.message}); standardise the columns of X"
        )
    w = found.x / max(1.0, float(np.abs(rows @ found.x).max()))  # Appendix G
    price = found.ineqlin.marginals[n:] - found.ineqlin.marginals[:n]
    gap = max(_upper_bound(rows, pull, price) - float(pull @ (rows @ w)), 0.0)
    certificate = Certificate("optimality", gap, 1e-8, "linear programme", int(found.nit))
    with np.errstate(over="ignore"):  # weights beyond floats are refused by column later on
        return w / np.where(size > 0, size, 1.0), certificate


def _upper_bound(rows: Any, pull: Array, price: Array) -> float:
    """By duality, sum |price| for any price with rows' price = rows' pull: mend the latter, then sum."""
    missing = rows.T @ (pull - price)
    price = price + rows @ np.linalg.lstsq(dense(rows.T @ rows), missing, rcond=None)[0]
    return float(np.abs(price).sum())

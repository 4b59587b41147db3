"""Any loss with a linear scorer: read its traits, take the shortest road, certify the result."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from unflip import losses
from unflip._state import all_or_nothing
from unflip.border.arrays import Array
from unflip.border.classes import refuse_single_class
from unflip.border.parameters import LARGEST_PARAMETER
from unflip.estimators.base import LinearClassifier
from unflip.estimators.scorer import LinearScorer
from unflip.losses import Loss
from unflip.moments import Moments
from unflip.moments.frame import Frame
from unflip.passes import accumulate
from unflip.solvers.certificate import warn_unmet
from unflip.solvers.minimize import minimize
from unflip.solvers.problem import Problem
from unflip.sources import Batch

GAP_TOLERANCE = 1e-8


class LossClassifier(LinearClassifier):
    """A linear classifier that minimises any loss, with a certificate of how well it did.

    Without an intercept the objective is Equation 7 to the letter:
    E[l(y, <w, phi>)] + regularization / 2 |w|^2. With one, the intercept is free and the penalty is
    measured in the spread of the features (multiplied by their variance, averaged over columns). So neither
    the origin nor the unit of the features matters; on standardised columns the factor is one.

    Parameters
    ----------
    loss: a name ("logistic", "hinge", "t_logistic", ...) or a loss of `unflip.losses`.
    features: a label-free scikit-learn transformer, fitted to the rows (never to labels).
    regularization: lambda above; positive.
    fit_intercept: add a free constant to the scores.

    More than two classes are learned one against the rest. A convex loss is minimised, any other is followed
    from the zero scorer to a stationary point; `certificate_` tells how nearly (the worst over the classes).

    Attributes: `classes_`, `coef_` ((d,) or (K, d)), `intercept_`, `certificate_`.

    >>> from unflip import LossClassifier
    >>> model = LossClassifier("hinge", regularization=1e-3).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[1.9], [2.1]]).tolist(), model.certificate_.met
    ([0, 1], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions(set(losses.names())), Loss],
        "features": [None, HasMethods(["fit", "transform"])],
        "regularization": [Interval(Real, 1 / LARGEST_PARAMETER, LARGEST_PARAMETER, closed="both")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        loss: str | Loss = "logistic",
        features: Any = None,
        regularization: float = 1e-4,
        fit_intercept: bool = True,
    ) -> None:
        self.loss = loss
        self.features = features
        self.regularization = regularization
        self.fit_intercept = fit_intercept

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, labels y (classes of any type, or soft) and weights."""
        with all_or_nothing(self):
            loss = self._usable_loss()
            batch = self._batch(X, y, sample_weight, reset=True)
            self.features_ = self._fitted_features(batch)
            moments = accumulate(batch, self.features_)
            self.classes_ = batch.labels.classes
            refuse_single_class(moments.classes, moments.counts)
            self._look_at(batch, moments)
            phi = self._features.transform(batch.X)
            # Sparse rows stay sparse, and a free intercept makes up for the missing shift, unless they lie so
            # far out that they are not sparse.
            stay = sparse.issparse(phi) and not moments.origin.any()
            shift, scale, ridge = self._frame(moments, stay)
            rows = Frame(shift, scale).z(phi)
            share = (batch.weight / moments.total)[:, None]
            against_rest, soft = self._against_rest(loss, batch.labels.membership)
            soft = soft[:, 1:] if len(self.classes_) == 2 else soft
            problem = Problem.of_shares(
                against_rest, rows, share * soft, share * (1 - soft), ridge, self.fit_intercept
            )
            parameters, certificates = minimize(problem, GAP_TOLERANCE)
            self.certificate_ = max(certificates, key=lambda c: c.gap / c.tolerance)
            self._finish(self._scorer(parameters.T, shift, scale))
        if not self.certificate_.met:
            warn_unmet(self.certificate_)
        return self

    def _look_at(self, batch: Batch, moments: Moments) -> None:
        """What a subclass needs to know before it fits."""

    def _against_rest(self, loss: Loss, member: Array) -> tuple[Loss, Array]:
        """The loss of each class against the rest, and the soft label of each row for each class."""
        return loss, member

    def _usable_loss(self) -> Loss:
        loss = losses.get(self.loss)
        if loss.derivative(1, 0.0) == loss.derivative(-1, 0.0) == 0:
            raise ValueError(f"{loss!r} has no slope to follow; choose a surrogate, such as 'ramp'")
        if self.fit_intercept and loss.traits.degree == 1:
            raise ValueError(
                "a loss that is linear in the score has no minimum with a free intercept; "
                "use fit_intercept=False or UnhingedClassifier"
            )
        return loss

    def _frame(self, moments: Moments, stay: bool) -> tuple[Array, float, float]:
        """Shift and scale of the rows that the solver sees, and the penalty it works with."""
        width, ridge = moments.sums.shape[1], float(self.regularization)
        if not self.fit_intercept:
            with np.errstate(over="ignore"):
                return np.zeros(width), moments.unit, ridge / moments.unit / moments.unit
        # The unit itself if there is no spread, or less of it than float64 can hold.
        scale = moments.unit * np.sqrt(moments.variance / width) or moments.unit
        return np.zeros(width) if stay else moments.mean, float(scale), ridge

    def _scorer(self, parameters: Array, shift: Array, scale: float) -> LinearScorer:
        direction, base = parameters, np.zeros(len(parameters))
        if self.fit_intercept:
            direction, base = parameters[:, :-1], parameters[:, -1]
        if len(self.classes_) == 2:
            direction, base = direction[0], base[0]
        return LinearScorer(direction, base, Frame(shift, scale))

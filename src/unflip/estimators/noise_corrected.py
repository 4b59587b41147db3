"""The noise-corrected loss with a linear scorer: the clean minimiser from noisy labels (Equation 4).

If the odd part of a loss is linear, labels enter its risk only through an average, and the average over
clean labels is known from the noisy ones: apply the inverse of the noise table to the indicators of the
classes. What comes out lies outside [0, 1], yet the risk stays convex, because all curvature is in the even
part. It needs no solver of its own: a label t beyond [-1, 1] is the soft label t / M of a loss whose odd
part is M times as large, which is a noise-corrected loss again.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import log_expit, softmax

from unflip import losses
from unflip.border.arrays import Array
from unflip.border.parameters import refuse_giant
from unflip.estimators.kept import KeptRows
from unflip.estimators.kernel_square import KernelSquareClassifier
from unflip.estimators.minimizer import LossClassifier
from unflip.features import Standardize
from unflip.losses import Logistic, Loss, Square, noise_corrected
from unflip.moments import Moments
from unflip.noise import Noise, NoiseEstimate, as_noise
from unflip.noise.estimate import NO_SIGNAL, identified_noise
from unflip.noise.judgement import judge
from unflip.sources import Batch

ENOUGH_ROWS = 5000  # rows to estimate the noise rate from
KEPT = 0.1  # of the share of the rarest class, at least so much is taken to be right
SCORE_ROUNDING = 1e-12


class NoiseCorrectedClassifier(LossClassifier):
    """A linear classifier for noisy labels that estimates what clean ones would have given.

    It minimises the noise-corrected loss with the penalty of `LossClassifier`. Its probabilities are those
    of the clean classes.

    Parameters
    ----------
    loss: "logistic" or "square", the losses whose corrected form is convex.
    noise: a noise model of `unflip.noise`, or an estimate; a rate (symmetric noise for two classes, uniform
        for more); or None to estimate the rate from leave-one-out scores of kernel ridge regression on
        standardised columns (of 5000 rows, if there are more). Weights then count as numbers of rows. An
        estimate is lowered if it would leave the rarest class less than a tenth of its share.
    features: a label-free scikit-learn transformer, fitted to the rows (never to labels).
    regularization: lambda of `LossClassifier`; positive. Noise makes coefficients vary more, by
        1 / (1 - 2 rho), so much noise in few rows asks for more.
    fit_intercept: add a free constant to the scores.

    More than two classes are learned one against the rest. `certificate_` bounds the distance from the
    optimum or, for the corrected logistic loss with an intercept, tells the relative norm of the gradient. An
    estimated rate takes overlap of the classes for noise where it cannot tell them apart: see
    `noise_estimate_.warnings`.

    Attributes: `classes_`, `coef_` ((d,) or (K, d)), `intercept_`, `certificate_`, `noise_` (a noise model),
    and `noise_estimate_` (None if the noise was given).

    >>> X, y = [[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0]], [0, 0, 0, 1, 0, 1, 1, 1]
    >>> model = NoiseCorrectedClassifier(noise=0.2, regularization=1e-9).fit(X, y)
    >>> model.predict_proba([[1.0]]).round(4).tolist()  # 3/4 are ones, and (0.75 - 0.2) / (1 - 0.4) were
    [[0.0833, 0.9167]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LossClassifier._parameter_constraints,
        "noise": [None, Real, Noise, NoiseEstimate],
    }

    noise_: Noise
    noise_estimate_: NoiseEstimate | None

    def __init__(
        self,
        loss: str | Loss = "logistic",
        noise: Noise | NoiseEstimate | float | None = None,
        features: Any = None,
        regularization: float = 1e-4,
        fit_intercept: bool = True,
    ) -> None:
        super().__init__(loss, features, regularization, fit_intercept)
        self.noise = noise

    def predict_proba(self, X: Any) -> Array:
        """P(clean class) for each row: the sigmoid of the score, or (1 + score) / 2 for the square loss.

        Several classes are scaled to sum to one.

        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], list("aabb")
        >>> model = NoiseCorrectedClassifier("square", noise=0.1).fit(X, y)
        >>> model.predict_proba([[2.0], [9.0]]).round(9).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        scores = np.clip(self.decision_function(X), -1e300, 1e300)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        if isinstance(losses.get(self.loss), Logistic):
            p = softmax(log_expit(scores), axis=1)  # sigmoids that do not all vanish
        else:
            p = np.maximum((1 + scores) / 2, 0.0)
            p[~p.any(axis=1)] = 1.0  # nothing speaks for any class
            p /= p.max(axis=1, keepdims=True)
            p /= p.sum(axis=1, keepdims=True)
        # Where rounding made equals of the likeliest classes, the predicted one stays the first.
        best = scores.argmax(axis=1)
        tied = np.flatnonzero(p.argmax(axis=1) != best)
        p[tied, best[tied]] = np.nextafter(p[tied].max(axis=1), 1.0)
        return p

    def _usable_loss(self) -> Loss:
        loss = losses.get(self.loss)
        if isinstance(loss, Logistic | Square):
            return loss
        if loss.traits.symmetric:  # Proposition 3
            raise ValueError(
                f"noise only rescales the risk of {loss!r}, so there is nothing to correct; "
                "use UnhingedClassifier or LossClassifier, or loss='logistic' or 'square'"
            )
        if loss.traits.linear_odd:
            raise ValueError(f"{loss!r} is not one to correct: use 'logistic' or 'square', and give `noise`")
        raise ValueError(
            f"{loss!r} is not convex once corrected for noise; use 'logistic' or 'square', whose odd part is "
            "linear, or LossClassifier(noise_corrected(loss, rate)) for a stationary point"
        )

    def _against_rest(self, loss: Loss, member: Array) -> tuple[Loss, Array]:
        corrected, soft = _as_soft_labels(loss, _clean_indicators(self.noise_))
        return corrected, member @ soft  # Equation 5: its left side, the corrected loss on noisy labels

    def _look_at(self, batch: Batch, moments: Moments) -> None:
        """The noise that was given, or the one that is found; either must go with the class counts."""
        refuse_giant("noise", self.noise)
        shares = moments.counts / moments.total
        if self.noise is None:
            self.noise_estimate_ = _estimate(batch)
            rate = min(self.noise_estimate_.rate, _largest_rate(shares))
            self.noise_ = as_noise(rate, len(shares))
        else:
            self.noise_estimate_ = None
            self.noise_ = as_noise(identified_noise(self.noise), len(shares))
        if self.fit_intercept and isinstance(losses.get(self.loss), Logistic):
            self._refuse_impossible_counts(shares)
        if self.noise_estimate_ is not None and NO_SIGNAL in self.noise_estimate_.warnings:
            warnings.warn(f"{NO_SIGNAL}; give the rate as `noise` if you know it", stacklevel=3)

    def _refuse_impossible_counts(self, shares: Array) -> None:
        """Raise if no clean labels explain the class counts: the best free intercept is then infinite."""
        clean = shares @ _clean_indicators(self.noise_)
        impossible = np.flatnonzero((clean <= SCORE_ROUNDING) & (clean != shares))
        if impossible.size:
            k = impossible[0]
            raise ValueError(
                f"class {self.classes_.tolist()[k]!r} has {shares[k]:.3g} of the labels, no more than "
                f"{self.noise_!r} would make of the others alone; lower the rates, or use loss='square' or "
                "fit_intercept=False"
            )


def _clean_indicators(noise: Noise) -> Array:
    """For a label in each row, unbiased estimates of the indicators of the clean classes.

    >>> from unflip.noise import UniformNoise
    >>> _clean_indicators(UniformNoise(0.5, 3)).round(9).tolist()
    [[3.0, -1.0, -1.0], [-1.0, 3.0, -1.0], [-1.0, -1.0, 3.0]]
    """
    return noise.unmix(np.eye(noise.n_classes)).T.astype(np.float64)


def _as_soft_labels(loss: Loss, indicator: Array) -> tuple[Loss, Array]:
    """A loss and soft labels in [0, 1] with the risk that `loss` has under indicators beyond [0, 1].

    >>> corrected, soft = _as_soft_labels(Logistic(), np.array([-0.5, 1.5]))
    >>> corrected, soft.tolist()
    (NoiseCorrected(loss=Logistic(), rate=0.25), [0.0, 1.0])
    """
    t = 2 * indicator - 1
    most = max(float(np.abs(t).max()), 1.0)
    return noise_corrected(loss, (1 - 1 / most) / 2), (1 + t / most) / 2


def _estimate(batch: Batch) -> NoiseEstimate:
    """The noise rate from leave-one-out scores of rows that count, drawn without a look at labels."""
    kept = KeptRows.of(batch)
    if len(kept.weight) > ENOUGH_ROWS:
        some = np.sort(np.random.default_rng(0).choice(len(kept.weight), ENOUGH_ROWS, replace=False))
        kept = KeptRows(kept.X[some], kept.member[some], kept.weight[some])
    try:
        # Every value is finite, only their plain sum, which scikit-learn looks at, may not be.
        with np.errstate(over="ignore", invalid="ignore"):
            rows = Standardize(center=not sparse.issparse(kept.X)).fit_transform(kept.X)
        left = KernelSquareClassifier().fit(rows, kept.member, sample_weight=kept.weight).loo_scores_
    except ValueError as error:
        seen = f"from {len(kept.weight)} of the rows"
        message = f"the noise rate cannot be estimated {seen}, so give it as `noise`: {error}"
        raise ValueError(message) from None
    # A row without which its class has none scores infinity; ranks are all that is read. Weights count rows,
    # unless that many would overflow, or so few vanish, once multiplied.
    weight = kept.weight
    unit = 1.0 if 1e-100 < weight.max() < 1e100 else weight.mean()
    return judge(np.clip(left, -1e9, 1e9), kept.masses / unit, noise="symmetric").estimate


def _largest_rate(shares: Array) -> float:
    """The rate of uniform noise at which the rarest class keeps a tenth of its share.

    >>> _largest_rate(np.array([0.5, 0.5])), round(_largest_rate(np.array([0.9, 0.1])), 3)
    (0.5, 0.092)
    """
    rarest, n_classes = float(shares.min()), len(shares)
    stray = rarest * (1 - KEPT) / (1 - KEPT * n_classes * rarest)
    return (n_classes - 1) * stray

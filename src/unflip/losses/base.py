"""What a loss is: a value for each label and score, and claims about itself.

Every loss splits into an even and an odd part in the label,

    l(y, v) = even(v) + y odd(v),    y in {-1, +1},

and this split is the idea the library hangs on: symmetric label noise of rate rho, on average,
multiplies the odd part by 1 - 2 rho and leaves the even part alone.

Conventions. `y` is -1 or +1, `v` any real score; both may be numbers or arrays and broadcast.
Numbers in, number out. Losses that need only arithmetic also take fractions, and then stay exact.
At a kink the slope is that of the side with the larger margin y v (for the hinge at 1: zero).
Relative accuracy is 1e-12 for every finite score; infinity appears only where the true value
overflows, and finite scores never give NaN.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Traits:
    """What a loss claims to be; the tests try to refute each claim.

    convex: l(y, v) is convex in v.
    symmetric: the even part is constant (Equation 6), so noise only rescales the risk.
    calibrated: minimising it over all scorers (with values in the extended reals) classifies optimally.
    bounded_below, bounded_above: l stays above, or below, some number.
    convex_potential: l(y, v) = phi(y v) with phi convex, non-increasing, phi'(0) < 0, phi(inf) = 0.
        The paper asks for differentiability too, and counts the hinge all the same; so do we.
    linear_odd: odd(v) = c v, so a linear scorer meets labels only in E[y phi(x)].
    smooth: twice continuously differentiable in v.
    piecewise_linear: made of straight lines with kinks.
    degree: l is a polynomial of this degree in v, so these moments of phi(x) suffice; else None.
    """

    convex: bool = False
    symmetric: bool = False
    calibrated: bool = True
    bounded_below: bool = True
    bounded_above: bool = False
    convex_potential: bool = False
    linear_odd: bool = False
    smooth: bool = False
    piecewise_linear: bool = False
    degree: int | None = None


class Loss(ABC):
    """What every loss offers. A new one derives from `MarginLoss`, or defines these on arrays itself.

    `_value`, `_derivative` and `_second_derivative` take y and v, `_even` and `_odd` take v, and
    `_minimizer` takes class probabilities.
    """

    traits: ClassVar[Traits]
    exact: ClassVar[bool] = False  # only arithmetic and comparisons: fractions stay fractions

    @abstractmethod
    def _value(self, y: Array, v: Array) -> Array: ...

    @abstractmethod
    def _derivative(self, y: Array, v: Array) -> Array: ...

    @abstractmethod
    def _second_derivative(self, y: Array, v: Array) -> Array: ...

    @abstractmethod
    def _even(self, v: Array) -> Array: ...

    @abstractmethod
    def _odd(self, v: Array) -> Array: ...

    @abstractmethod
    def _minimizer(self, eta: Array) -> Array:
        """A minimiser of even(v) + (2 eta - 1) odd(v), for any real eta; 0 where all v are as good.

        Values outside [0, 1] are met by noise-corrected losses.
        """

    def _conditional_risk(self, eta: Array, v: Array) -> Array:
        one = np.ones_like(v)
        return _product(eta, self._value(one, v)) + _product(1 - eta, self._value(-one, v))

    def value(self, y: Any, v: Any) -> Any:
        """l(y, v).

        >>> from unflip.losses import Hinge
        >>> Hinge().value([-1, 1], 0.25).tolist()
        [1.25, 0.75]
        """
        return self._apply(self._value, self._labels(y), self._scores(v))

    def derivative(self, y: Any, v: Any) -> Any:
        """The derivative of l(y, v) in v.

        >>> from unflip.losses import Square
        >>> Square().derivative(1, 0.5)
        -1.0
        """
        return self._apply(self._derivative, self._labels(y), self._scores(v))

    def second_derivative(self, y: Any, v: Any) -> Any:
        """The second derivative of l(y, v) in v.

        >>> from unflip.losses import Logistic
        >>> Logistic().second_derivative(1, 0.0)
        0.25
        """
        return self._apply(self._second_derivative, self._labels(y), self._scores(v))

    def even(self, v: Any) -> Any:
        """(l(+1, v) + l(-1, v)) / 2, the part that label noise leaves alone.

        >>> from unflip.losses import Square
        >>> Square().even(3.0)
        10.0
        """
        return self._apply(self._even, self._scores(v))

    def odd(self, v: Any) -> Any:
        """(l(+1, v) - l(-1, v)) / 2, the part that label noise multiplies by 1 - 2 rho.

        >>> from unflip.losses import Logistic
        >>> Logistic().odd(3.0)
        -1.5
        """
        return self._apply(self._odd, self._scores(v))

    def conditional_risk(self, eta: Any, v: Any) -> Any:
        """eta l(+1, v) + (1 - eta) l(-1, v): the expected loss of score v where P(y = +1) is eta.

        >>> from unflip.losses import Unhinged
        >>> Unhinged().conditional_risk(0.75, 2.0)
        0.0
        """
        return self._apply(self._conditional_risk, self._probabilities(eta), self._scores(v))

    def bayes_scorer(self, eta: Any, bound: Any = None) -> Any:
        """A score of least conditional risk, over all scores or over [-bound, bound].

        Where the infimum is approached but not attained the answer is infinite; where several
        scores are optimal it is the one nearest to zero (of the two signs, at eta = 1/2: zero).

        >>> from unflip.losses import Logistic, Unhinged
        >>> Unhinged().bayes_scorer(0.75), Unhinged().bayes_scorer(0.75, bound=2.0)
        (inf, 2.0)
        """
        eta = self._probabilities(eta)
        if bound is None:
            return self._apply(self._minimizer, eta)
        if not bound >= 0:
            raise ValueError(f"bound must be non-negative, got {bound!r}")
        # The conditional risk of each loss falls up to its minimiser and rises after it.
        return self._apply(lambda p: np.clip(self._minimizer(p), -bound, bound), eta)

    def _scores(self, v: Any) -> Array:
        array = np.asarray(v)
        if self.exact and array.dtype == object:
            return array
        return array.astype(np.float64, copy=False)

    def _labels(self, y: Any) -> Array:
        labels = np.asarray(y)
        strange = labels[np.abs(labels) != 1]
        if strange.size:
            raise ValueError(f"labels of a loss are -1 or +1, got {strange.flat[0]!r}")
        return labels

    def _probabilities(self, eta: Any) -> Array:
        array = self._scores(eta)
        if not np.all((array >= 0) & (array <= 1)):
            raise ValueError(f"a class probability lies between 0 and 1, got {eta!r}")
        return array

    def _apply(self, function: Any, *arguments: Array) -> Any:
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            result = function(*np.broadcast_arrays(*arguments))
        return result.item() if isinstance(result, np.generic | np.ndarray) and not result.ndim else result


class MarginLoss(Loss):
    """A loss of the margin alone, l(y, v) = phi(y v), given by phi and its two derivatives."""

    @abstractmethod
    def _phi(self, m: Array) -> Array: ...

    @abstractmethod
    def _phi1(self, m: Array) -> Array: ...

    @abstractmethod
    def _phi2(self, m: Array) -> Array: ...

    def _value(self, y: Array, v: Array) -> Array:
        return self._phi(y * v)

    def _derivative(self, y: Array, v: Array) -> Array:
        return y * self._phi1(y * v)

    def _second_derivative(self, y: Array, v: Array) -> Array:
        return self._phi2(y * v)


def _product(probability: Array, value: Array) -> Array:
    """p times value, where an impossible event costs nothing even if its loss is infinite."""
    return np.where(probability == 0, 0, probability * value)

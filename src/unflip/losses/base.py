"""What a loss is: a value for each label and score, and claims about itself.

Every loss splits into an even and an odd part in the label,

    l(y, v) = even(v) + y odd(v),    y in {-1, +1},

and this split is the idea the library hangs on: symmetric label noise of rate rho, on average,
multiplies the odd part by 1 - 2 rho and leaves the even part alone.

Conventions. `y` is -1 or +1, `v` any real score; both may be numbers or arrays and broadcast.
Numbers in, number out. Losses that need only arithmetic also take fractions, and then stay exact.
At a kink the slope is that of the side with the larger margin y v (for the hinge at 1: zero).
Relative accuracy is 1e-12 for every finite score, and finite scores never give NaN. A corrected
loss, or an average over labels, that changes sign has it relative to the largest of its terms.
Infinity appears only where the true value overflows (where long doubles reach no further than
doubles, also where a term of it does).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace

from unflip.border.arrays import Array


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
    steepest: the second derivative in v is never larger than this, in absolute value; infinity if nothing
        is claimed. Solvers measure their first step by it.
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
    steepest: float = math.inf


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

    def _value_and_slope(self, y: Array, v: Array) -> tuple[Array, Array]:
        return self._value(y, v), self._derivative(y, v)

    # Slope and curvature of the odd part. Corrected losses magnify them, rounding errors included, so
    # a loss whose two labels nearly cancel in these differences overrides them.

    def _odd1(self, v: Array) -> Array:
        if self.traits.linear_odd:
            return self._odd(ones(v))
        one = np.ones_like(v)
        return ones(v) / 2 * (self._derivative(one, v) - self._derivative(-one, v))

    def _odd2(self, v: Array) -> Array:
        if self.traits.linear_odd:
            return np.zeros_like(v)
        one = np.ones_like(v)
        return ones(v) / 2 * (self._second_derivative(one, v) - self._second_derivative(-one, v))

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

    def value_and_slope(self, y: Any, v: Any) -> tuple[Any, Any]:
        """l(y, v) and its derivative in v, for solvers: nothing is checked, nothing converted.

        y and v are arrays of float64 of one shape. The smooth losses of the paper take those of any library
        that speaks the array API, the others those of NumPy.

        >>> from unflip.losses import Square
        >>> Square().value_and_slope(np.ones(1), np.array([0.5]))
        (array([0.25]), array([-1.]))
        """
        return self._value_and_slope(y, v)

    def curvature(self, y: Any, v: Any) -> Any:
        """The second derivative of l(y, v) in v, on the terms of `value_and_slope`.

        >>> from unflip.losses import Square
        >>> Square().curvature(np.ones(1), np.array([0.5]))
        array([2.])
        """
        return self._second_derivative(y, v)

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

        `bound` is a number, or one for each probability. Where the infimum is approached but not
        attained the answer is infinite. Where several scores are optimal it is the one nearest to
        zero; the 0-1 loss, which has no nearest, takes the sign of 2 eta - 1.

        >>> from unflip.losses import Logistic, Unhinged
        >>> Unhinged().bayes_scorer(0.75), Unhinged().bayes_scorer(0.75, bound=2.0)
        (inf, 2.0)
        """
        eta = self._probabilities(eta)
        if bound is None:
            return self._apply(self._minimizer, eta)  # Proposition 2
        bound = self._scores(bound)
        if not np.all(bound >= 0):
            raise ValueError(f"bound must be non-negative, got {_first(bound, ~(bound >= 0))}")
        # The conditional risk of each loss falls up to its minimiser and rises after it.
        return self._apply(lambda p, b: np.clip(self._minimizer(p), -b, b), eta, bound)

    def _scores(self, v: Any) -> Array:
        array = _real(v, "scores")
        if self.exact and array.dtype == object:
            return np.asarray(array * Fraction(1), dtype=object)  # integers too: 1 / 2 would be a float
        return array.astype(np.float64, copy=False)

    def _labels(self, y: Any) -> Array:
        labels = _real(y, "labels")
        strange = (labels != 1) & (labels != -1)
        if np.any(strange):
            raise ValueError(f"labels of a loss are -1 or +1, got {_first(labels, strange)}")
        return labels.astype(np.int64)  # of signed type: unsigned ones have no -y

    def _probabilities(self, eta: Any) -> Array:
        array = self._scores(eta)
        inside = (array >= 0) & (array <= 1)
        if not np.all(inside):
            raise ValueError(f"a class probability lies between 0 and 1, got {_first(array, ~inside)}")
        return array

    def _apply(self, function: Any, *arguments: Array) -> Any:
        arrays = np.broadcast_arrays(*arguments)
        shape = arrays[0].shape
        # NumPy makes bare fractions of arrays without dimensions, so functions never see those.
        arrays = tuple(np.atleast_1d(a) for a in arrays)
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            result = function(*arrays)
            if result.dtype == np.float64:
                _retry_overflows(result, function, arrays)
        return result if shape else result.item()


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


class SmoothMarginLoss(MarginLoss):
    """A margin loss that computes phi and its slope together, in the words of the array API.

    Both share their costly parts, and solvers ask for both thousands of times.
    """

    @abstractmethod
    def _phi_and_slope(self, m: Array) -> tuple[Array, Array]: ...

    def _phi(self, m: Array) -> Array:
        return self._phi_and_slope(m)[0]

    def _phi1(self, m: Array) -> Array:
        return self._phi_and_slope(m)[1]

    def _value_and_slope(self, y: Array, v: Array) -> tuple[Array, Array]:
        value, slope = self._phi_and_slope(y * v)
        return value, y * slope


def _product(probability: Array, value: Array) -> Array:
    """p times value, where an impossible event costs nothing even if its loss is infinite."""
    return np.where(probability == 0, 0, probability * value)


def ones(v: Array) -> Array:
    """Ones like v; among fractions they are fractions, so that their halves are too."""
    if isinstance(v, np.ndarray):
        return np.full(v.shape, Fraction(1), dtype=object) if v.dtype == object else np.ones_like(v)
    return array_namespace(v).ones_like(v)


def constant(number: Any, v: Array) -> Any:
    """A parameter of a loss as it goes with v: itself among fractions, otherwise a float."""
    return number if v.dtype == object else float(number)


def _retry_overflows(result: Array, function: Any, arrays: tuple[Array, ...]) -> None:
    """Recompute what overflowed, in long doubles: perhaps only a term was too large, not the sum."""
    if any(array.dtype == object for array in arrays):  # fractions do not overflow
        return
    lost = ~np.isfinite(result) & np.all([np.isfinite(a) for a in arrays], axis=0)
    if lost.any():
        result[lost] = function(
            *(a[lost].astype(np.longdouble if a.dtype == np.float64 else a.dtype) for a in arrays)
        )


def _real(numbers: Any, what: str) -> Array:
    array = np.asarray(numbers)
    if np.iscomplexobj(array) or (array.dtype == object and any(isinstance(x, complex) for x in array.flat)):
        raise TypeError(f"{what} are real numbers, got complex ones")
    return array


def _first(array: Array, where: Array) -> Any:
    """The first entry to complain about, to be printed as a plain number."""
    return np.atleast_1d(array)[np.atleast_1d(where)][0]

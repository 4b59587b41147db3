"""What private sums have cost, which adds up: in zero-concentrated differential privacy, rho.

Bun and Steinke, Concentrated differential privacy (2016). OpenDP turns rho into epsilon at a given delta.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cache
from numbers import Integral
from typing import Any, Self

from scipy.special import log_ndtr

from unflip._extras import extra

LEAST_RHO, MOST_RHO = (
    1e-20,
    5e4,
)  # of rho: OpenDP has an epsilon for these; far less and far more than is of use
MOST_ROWS_OF_PERSON = 10**9  # of one person: their square times any rho is a float


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta)-differential privacy for one row that is added or removed.

    rho: of zero-concentrated privacy, from which epsilon follows at this delta. bound: rows were clipped to
    this norm. releases: how many were summed up; each saw rows, and all have been paid for.

    >>> two = Budget.of(0.02, delta=1e-6, bound=1.0) + Budget.of(0.02, delta=1e-6, bound=1.0)
    >>> two.releases, two.rho, round(two.epsilon, 2)
    (2, 0.04, 1.3)
    """

    epsilon: float
    delta: float
    rho: float
    bound: float
    releases: int = 1

    @classmethod
    def of(cls, rho: float, delta: float, bound: float) -> Self:
        """The budget of one release."""
        return cls(epsilon_of(rho, delta), delta, rho, bound)

    @classmethod
    def from_facts(cls, facts: Any) -> Self:
        """What `as_facts` gave; anything else raises `ValueError`, and so does too small an epsilon."""
        numbers = ("epsilon", "delta", "rho", "bound")
        known = isinstance(facts, dict) and set(facts) == {*numbers, "releases"}
        if (
            not known
            or any(type(facts[name]) is not float or not 0 <= facts[name] < math.inf for name in numbers)
            or not (has_epsilon(facts["rho"], facts["delta"]) and facts["bound"])
            or type(facts["releases"]) is not int
            or facts["releases"] < 1
        ):
            raise ValueError(f"{facts!r} is no budget of privacy")
        budget = cls(**facts)
        if least_delta(budget.epsilon, budget.rho) > budget.delta:
            raise ValueError(
                f"the epsilon of a rho of {budget.rho:g} at a delta of {budget.delta:g} is more than "
                f"{budget.epsilon:g}, which the budget of privacy states"
            )
        return budget

    def as_facts(self) -> dict[str, Any]:
        """What JSON keeps."""
        return asdict(self)

    def for_rows(self, k: int) -> Budget:
        """What k rows of one person cost, added or removed together.

        They move the sums by k times as much, so rho, which is a square, grows by k^2.

        >>> one = Budget.of(0.02, delta=1e-6, bound=1.0)
        >>> round(one.epsilon, 2), round(one.for_rows(2).epsilon, 2)
        (0.9, 1.9)
        """
        if not isinstance(k, Integral) or not 1 <= k <= MOST_ROWS_OF_PERSON:
            raise ValueError(f"k is a whole number of rows from 1 to {MOST_ROWS_OF_PERSON}, got {k!r}")
        # As an int: the square of a small type of NumPy would wrap around.
        return replace(Budget.of(int(k) ** 2 * self.rho, self.delta, self.bound), releases=self.releases)

    def __add__(self, other: Budget) -> Budget:
        """Both, for rows that may be in both; where no row is, the larger alone would be the cost."""
        if self.bound != other.bound:
            raise ValueError(
                f"rows were clipped to {self.bound:g} and to {other.bound:g}; use the same bound"
            )
        rho, delta = self.rho + other.rho, max(self.delta, other.delta)
        releases = self.releases + other.releases
        return replace(Budget.of(rho, delta, self.bound), releases=releases)


def epsilon_of(rho: float, delta: float) -> float:
    """The epsilon that OpenDP gives for rho at this delta.

    >>> epsilon_of(0.5, 1e-6) <= 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))  # the bound of the textbooks
    True
    """
    if not has_epsilon(rho, delta):
        raise ValueError(
            f"rho lies between {LEAST_RHO:g} and {MOST_RHO:g}, beyond which nothing is private (take fewer "
            f"releases, or fewer rows of one person), and "
            f"delta between 1e-100 and 1; got {rho:g} and {delta:g}"
        )
    # A Gaussian of scale one has this rho for a change of this size, rounded up.
    return epsilon_of_gaussian(1.0, math.nextafter(math.sqrt(2 * rho), math.inf), delta)


def has_epsilon(rho: float, delta: float) -> bool:
    """Whether OpenDP can say what rho is worth at this delta.

    >>> has_epsilon(0.5, 1e-6), has_epsilon(1e300, 1e-6)
    (True, False)
    """
    return LEAST_RHO <= rho <= MOST_RHO and 1e-100 <= delta < 1


def least_delta(epsilon: float, rho: float) -> float:
    """The delta of plain Gaussian noise with this rho at this epsilon, in closed form.

    Whatever turns rho into epsilon must hold for such noise too, so no true delta is smaller. OpenDP, which
    need not be installed to read a file, is more careful by a little.

    Balle and Wang, Improving the Gaussian mechanism for differential privacy (2018), Theorem 8.

    >>> least_delta(epsilon_of(0.5, 1e-6), 0.5) < 1e-6 < least_delta(0.9 * epsilon_of(0.5, 1e-6), 0.5)
    True
    """
    moved = math.sqrt(2 * rho)  # by a row, in standard deviations of the noise
    near, far = (float(log_ndtr(side * moved / 2 - epsilon / moved)) for side in (1, -1))
    return math.exp(near) - math.exp(epsilon + far)


def epsilon_of_gaussian(scale: float, sensitivity: float, delta: float) -> float:
    """OpenDP's epsilon at this delta for integers with Gaussian noise, which a row moves by `sensitivity`.

    >>> round(epsilon_of_gaussian(1000.0, 200.0, 1e-6), 3)
    0.9
    """
    dp = opendp()
    private = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian(scale)), delta)
    return float(private.map(sensitivity)[0])


def gaussian(scale: float) -> Any:
    """OpenDP's discrete Gaussian noise on vectors of integers."""
    dp = opendp()
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scale)


@cache
def opendp() -> Any:
    """The library; its parts are "contrib" until somebody has written their proofs out."""
    dp = extra("opendp.prelude", "private")
    dp.enable_features("contrib")
    return dp

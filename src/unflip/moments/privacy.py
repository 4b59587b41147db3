"""What private sums have cost, which adds up: in zero-concentrated differential privacy, rho.

Bun and Steinke, Concentrated differential privacy (2016). OpenDP turns rho into epsilon at a given delta.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Self

from unflip._extras import extra


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
        """What `as_facts` gave; anything else raises `ValueError`."""
        numbers = ("epsilon", "delta", "rho", "bound")
        known = isinstance(facts, dict) and set(facts) == {*numbers, "releases"}
        if (
            not known
            or any(type(facts[name]) is not float or not 0 <= facts[name] < math.inf for name in numbers)
            or not (0 < facts["delta"] < 1 and facts["rho"] and facts["bound"])
            or type(facts["releases"]) is not int
            or facts["releases"] < 1
        ):
            raise ValueError(f"{facts!r} is no budget of privacy")
        return cls(**facts)

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
        return replace(Budget.of(k**2 * self.rho, self.delta, self.bound), releases=self.releases)

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
    # A Gaussian of scale one has this rho for a change of this size, rounded up.
    return epsilon_of_gaussian(1.0, math.nextafter(math.sqrt(2 * rho), math.inf), delta)


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

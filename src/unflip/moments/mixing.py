"""Which moments may be added to, or taken from, which others; and when nothing sound is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unflip.moments.moments import Moments

# Of what rounding may have changed in the spread of the rows that are left. The first moments of degree one
# are off by its square root at most; a second moment is a spread itself.
SPREAD_LOST = {1: 0.1, 2: 1e-6}
EPS = float(np.finfo(np.float64).eps)
GROWN = 10  # sums that were at most so many times larger have lost a digit beside sums of the rest alone
CLEARLY = 1e3  # times rounding, and classes are apart


def refuse_strangers(a: Moments, b: Moments) -> None:
    """Raise unless the sums of the two are sums of the same features, and of the same kind.

    >>> from unflip.moments import Moments
    >>> refuse_strangers(Moments.zero(2, "columns:2"), Moments.zero(2, "columns:2", degree=2))
    Traceback (most recent call last):
    ValueError: moments of degree 1 and 2 do not mix
    """
    if a.key != b.key:
        raise ValueError(
            f"moments of different feature maps do not mix: one is {a.key!r}, "
            f"the other {b.key!r}; fit one map and share it"
        )
    if a.degree != b.degree:
        raise ValueError(f"moments of degree {a.degree} and {b.degree} do not mix")
    if not (a.total and b.total):
        return
    if a.outliers or b.outliers:
        raise ValueError(
            "robust moments are medians, which neither add up nor lose rows; add and subtract the blocks "
            "(unflip.moments.block_moments), and take their median_of_means"
        )
    if (a.exact is None) != (b.exact is None):
        raise ValueError("exact and fast sums do not mix; accumulate both with the same summation")
    if (a.privacy is None) != (b.privacy is None):
        raise ValueError("private and plain sums do not mix: the sum would tell of rows that are not hidden")


def refuse_lost_digits(before: Moments, left: Moments) -> None:
    """Raise if what was taken away was so large that rounding has eaten what is left; both in one frame.

    >>> from unflip.moments import accumulate
    >>> plain, far = accumulate(([[0.0], [1.0]], [0, 1])), accumulate(([[1e12]], [1]))
    >>> (plain + far) - far
    Traceback (most recent call last):
    ValueError: what is taken away is so far out that too few digits are left of the rest; fit the rest ...
    """
    spread = left.total * left.variance or left.squares  # rows that are all equal have none
    lost = EPS * before.squares > SPREAD_LOST[left.degree] * spread
    if left.total and (lost or _hides_a_direction(before, left)):
        raise ValueError(
            "what is taken away is so far out that too few digits are left of the rest; fit the rest anew, "
            'or use summation="exact" from the start'
        )


def _hides_a_direction(before: Moments, left: Moments) -> bool:
    """Whether classes differ along a direction of so little spread that rounding has eaten it.

    Columns in small units, or the difference of two that are nearly the same, have little beside the others.
    A column that became constant has none, but all classes have the same mean there, and nothing is lost.
    """
    if before.second is None or left.second is None:
        return False
    largest = np.diag(before.second)
    if not np.any(largest > GROWN * np.diag(left.second)):
        return False
    size = np.sqrt(np.where(largest > 0, largest, 1.0))  # in which rounding is the same in all directions
    sums = left.sums / size
    total = sums.sum(axis=0)
    spread = left.second / size / size[:, None] - np.outer(total, total / left.total)
    values, directions = np.linalg.eigh(spread)
    eaten = directions[:, values < EPS / SPREAD_LOST[2]]
    apart = (sums - np.outer(left.counts / left.total, total)) @ eaten
    return bool(np.abs(apart).max(initial=0.0) > CLEARLY * EPS * np.sqrt(before.total))

"""Which moments may be added to, or taken from, which others; and when nothing sound is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unflip.border.arrays import Array
from unflip.moments.frame import FAR_FROM_ZERO

if TYPE_CHECKING:
    from unflip.moments.moments import Moments

# Of what rounding may have changed in the spread of the rows that are left. The first moments of degree one
# are off by its square root at most; a second moment is a spread itself.
SPREAD_LOST = {1: 0.1, 2: 1e-6}
EPS = float(np.finfo(np.float64).eps)
EQUAL, CLASSES_APART = 30, 1e3  # times rounding: so near may means of equal rows be; so far are classes apart
GROWN = 10  # times the rounding of a fit of the rest alone is a digit lost
RANGE = 6  # standard deviations, about


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
    if a.noise != b.noise:
        raise ValueError(
            f"moments corrected for {a.noise!r} and for {b.noise!r} do not mix; add first, then correct"
        )
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
    if left.total and (_hides_everything(before, left) or _hides_a_direction(before, left)):
        raise ValueError(
            "what is taken away is so far out that too few digits are left of the rest; fit the rest anew"
            + (', or use summation="exact" from the start' if left.degree == 1 else "")
        )


def _hides_everything(before: Moments, left: Moments) -> bool:
    """Whether rounding is large beside the spread of the rows; rows that look equal have none to lose."""
    rounding, allowed = EPS * before.squares, SPREAD_LOST[left.degree]
    if rounding <= allowed * left.total * left.variance:
        return False
    apart = left.total * np.abs(left.centered_means).max(initial=0.0)
    look_equal = apart <= EQUAL * EPS * np.sqrt(before.total * before.squares)
    return not look_equal or rounding > allowed * left.squares


def _hides_a_direction(before: Moments, left: Moments) -> bool:
    """Whether classes differ along a direction whose spread rounding has eaten, unlike in a fit of the rest.

    Columns in small units, or the difference of two that are nearly the same, have little spread beside the
    others. A column that became constant has none, but all classes have the same mean there.
    """
    if before.second is None or left.second is None:
        return False
    sizes = np.where(np.diag(before.second) > 0, np.diag(before.second), 1.0)
    spread = left.second - left.total * np.outer(left.center, left.center)
    own = _own_sizes(left, np.maximum(np.diag(spread), 0.0)) / sizes
    if own.min(initial=1.0) * GROWN >= 1:
        return False
    scale = np.sqrt(sizes)  # in which rounding is the same in all directions
    values, directions = np.linalg.eigh(spread / scale / scale[:, None])
    eaten = directions[:, values < EPS / SPREAD_LOST[2]]
    growth, mixed = np.linalg.eigh(eaten.T @ (own[:, None] * eaten))
    grown = eaten @ mixed[:, growth * GROWN < 1]
    apart = left.total * (left.centered_means / scale) @ grown
    return bool(np.abs(apart).max(initial=0.0) > CLASSES_APART * EPS * np.sqrt(before.total))


def _own_sizes(left: Moments, spread: Array) -> Array:
    """Sums of squares, column by column, in the frame that a fit of the rest would choose for itself."""
    with np.errstate(over="ignore"):  # farther than any reach
        place = left.total * np.square(left.center + left.origin / left.unit)
    reach = RANGE**2 * spread
    return spread + np.where(place > FAR_FROM_ZERO**2 * reach, reach, place)

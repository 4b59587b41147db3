"""When does a printed number count as reproduced?

The paper's split of the rows is one unknown draw. So we draw many splits, and a printed mean agrees if, give
or take its rounding, it lies in the central 95 % range of our means, one mean a split. With fewer trials than
the paper's 125 a mean scatters more than the paper's would; its deviations are shrunk by as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
ROUNDING = 0.005
PRINTED_TRIALS = 125


@dataclass(frozen=True)
class Range:
    """Our mean over splits and the central 95 % of the means of single splits."""

    mean: float
    low: float
    high: float

    def agrees(self, printed: float) -> bool:
        """Does a number printed with two digits lie in the range, give or take its rounding?

        >>> Range(0.1, 0.09, 0.12).agrees(0.125), Range(0.1, 0.09, 0.12).agrees(0.13)
        (True, False)
        """
        return bool(self.low - ROUNDING - 1e-12 <= printed <= self.high + ROUNDING + 1e-12)


def central_range(values: Array) -> Range:
    """The range of the means of 125 trials, from values of shape (splits, trials).

    >>> central_range(np.full((50, 8), 0.25))
    Range(mean=0.25, low=0.25, high=0.25)
    """
    means, trials = values.mean(axis=1), values.shape[1]
    middle = float(means.mean())
    if trials > 1 and len(means) > 1:
        chance = float(values.var(axis=1, ddof=1).mean())  # of one trial, within a split
        seen = float(means.var(ddof=1))
        between = max(seen - chance / trials, 0.0)
        # With as many trials as the paper the means would vary by this.
        wanted = between + chance / PRINTED_TRIALS
        if wanted < seen:
            means = middle + (means - middle) * np.sqrt(wanted / seen)
    low, high = np.quantile(means, [0.025, 0.975])
    return Range(middle, float(low), float(high))

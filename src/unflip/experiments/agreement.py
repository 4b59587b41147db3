"""When does a printed number count as reproduced?

The paper's split of the rows is one unknown draw. So we draw many splits, and a printed mean agrees if, give
or take its rounding, it lies in the central 95 % range of our means, one mean a split. With fewer trials than
the paper's 125 a mean scatters more than the paper's would; its deviations are shrunk by as much. The same is
asked of the printed standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unflip.border.arrays import Array

PRINTED_ROUNDING = 0.005
PRINTED_TRIALS = 125


@dataclass(frozen=True)
class AgreementRange:
    """The middle of our values over splits, and the central 95 % of the values of single splits."""

    center: float
    low: float
    high: float

    def agrees(self, printed: float) -> bool:
        """Does a number printed with two digits lie in the range, give or take its rounding?

        >>> AgreementRange(0.1, 0.09, 0.12).agrees(0.125), AgreementRange(0.1, 0.09, 0.12).agrees(0.13)
        (True, False)
        """
        return bool(self.low - PRINTED_ROUNDING - 1e-12 <= printed <= self.high + PRINTED_ROUNDING + 1e-12)

    def miss(self, printed: float) -> float:
        """How far a printed number lies from the range and its rounding; zero inside.

        >>> round(AgreementRange(0.1, 0.09, 0.12).miss(0.135), 6)
        0.01
        """
        return max(self.low - PRINTED_ROUNDING - printed, printed - self.high - PRINTED_ROUNDING, 0.0)


def mean_range(values: Array) -> AgreementRange:
    """The range of the means of 125 trials, from values of shape (splits, trials).

    >>> mean_range(np.full((50, 8), 0.25))
    AgreementRange(center=0.25, low=0.25, high=0.25)
    """
    trials = values.shape[1]
    chance = float(values.var(axis=1, ddof=1).mean()) if trials > 1 else 0.0  # of one trial, within a split
    return _range(values.mean(axis=1), chance / trials, chance / PRINTED_TRIALS)


def spread_range(values: Array) -> AgreementRange:
    """The range of the standard deviations of 125 trials, from values of shape (splits, trials).

    The variance of a sample variance of t trials is (m4 - (t - 3) / (t - 1) s^4) / t, with the fourth
    central moment m4. Both are found without bias from the sample variances of two halves of the trials;
    then deviations of the variances are shrunk from our number of trials to the paper's. With fewer than
    four trials there are no halves, and nothing is shrunk.

    >>> round(spread_range(np.tile([0.0, 1.0], (50, 4))).center, 3)
    0.535
    """
    trials = values.shape[1]
    if trials < 2:
        return AgreementRange(0.0, 0.0, 0.0)
    variances, chances = values.var(axis=1, ddof=1), (0.0, 0.0)
    if trials >= 4:
        half = trials // 2
        first, second = (part.var(axis=1, ddof=1) for part in (values[:, :half], values[:, half : 2 * half]))
        squared = float((first * second).mean())
        fourth = half * float(((first - second) ** 2).mean()) / 2 + (half - 3) / (half - 1) * squared
        ours, printed = ((fourth - (t - 3) / (t - 1) * squared) / t for t in (trials, PRINTED_TRIALS))
        chances = max(ours, 0.0), max(printed, 0.0)
    found = _range(variances, *chances)
    return AgreementRange(
        *(float(np.sqrt(max(value, 0.0))) for value in (found.center, found.low, found.high))
    )


def _range(values: Array, ours: float, printed: float) -> AgreementRange:
    """The central range of values whose variance by chance is `ours`, as if it were `printed`."""
    middle = float(values.mean())
    if len(values) > 1:
        seen = float(values.var(ddof=1))
        wanted = max(seen - ours, 0.0) + printed
        if wanted < seen:
            values = middle + (values - middle) * np.sqrt(wanted / seen)
    low, high = np.quantile(values, [0.025, 0.975])
    # Where nearly all values are equal and a few are not, the mean can lie beyond the quantiles.
    return AgreementRange(middle, min(float(low), middle), max(float(high), middle))

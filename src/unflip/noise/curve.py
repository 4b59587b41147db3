"""How labels agree with an honest score, as a curve: two plateaus that the noise sets, and a rise between.

Rows are ordered by a score that never saw their own label, and get the normal scores z of their ranks.
Along z the share of positives rises from a lower to an upper plateau,

    p(z) = low + (high - low) g(slope (z - location)),

where g is the clean probability. Symmetric noise of rate rho has low = rho and high = 1 - rho. What the
data do not tell, how slowly g reaches its ends, is averaged over: two links, one with thin and one with
heavy tails, and a grid of slopes and locations. The likelihood is tempered, since scores share labels and
the curve is only a model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri

from unflip.border.arrays import Array

BINS = 100
SLOPES = np.geomspace(0.3, 40, 14)
CURVE_QUANTILES = np.linspace(0.02, 0.98, 11)  # quantiles of z
ODDS = np.array(
    [0.25, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5]
)  # of a rise, beside that of given labels
ENDS = np.array(
    [-1.0, -0.5, 0.0, 0.5, 1.0, 2.0]
)  # of z beyond the last row: a rise that rows do not complete
PRIOR_SLOPE = 5.0  # where the prior of slopes is centred
SPREAD = 0.9  # of the logarithm of the slope, about its centre
TEMPER, CHANCE_RULES_ROWS = 1.2, 5000  # misfit, not chance, rules beyond so many rows
LEAST_SHARE = 2.0**-53
LEAST_CHANCE = 1e-4  # no probability is certain


def normal_scores(scores: Array, weight: Array) -> Array:
    """Normal quantiles of the ranks, equal for equal scores, with standard deviation one.

    >>> normal_scores(np.array([3.0, 9.0, 9.0, 1e6]), np.ones(4)).round(3).tolist()
    [-1.414, 0.0, 0.0, 1.414]
    """
    _, place = np.unique(scores, return_inverse=True)
    mass = np.bincount(place, weight)
    share = (np.cumsum(mass) - mass / 2) / mass.sum()
    held = share[mass > 0]  # a score of no weight beyond all others would lie at infinity
    if len(held) < 2:
        return np.zeros(len(place))
    # Weights far apart may round a share to zero or one, where the quantile is infinite.
    z = ndtri(np.clip(share, max(held[0], LEAST_SHARE), min(held[-1], 1 - LEAST_SHARE)))[place]
    variance = np.average(z**2, weights=weight) - np.average(z, weights=weight) ** 2
    if not variance > 0:  # one score has all the weight, to rounding
        return np.zeros(len(place))
    return np.asarray(z / np.sqrt(variance))


def weighted_quantile(values: Array, weight: Array, share: float) -> float:
    """The value below which this share of the weight lies.

    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    2.0
    """
    order = np.argsort(values, kind="stable")
    grown = np.cumsum(weight[order])
    # A share that is met exactly, but for rounding, is met.
    place = np.searchsorted(grown, share * grown[-1] * (1 - 1e-12))
    return float(values[order[min(place, len(order) - 1)]])


@dataclass(frozen=True, eq=False)
class Curve:
    """The posterior of the curve, on a grid.

    z: (B,), bin means; shape: (S, B), g at them for every shape (link, slope, location); low, high: (R,), the
    plateaus for every noise that was considered; mass: (R, S), summing to one; best: (R,), the tempered log
    likelihood of the best shape for each noise, relative to the best of all.
    """

    z: Array
    shape: Array
    low: Array
    high: Array
    mass: Array
    best: Array

    @cached_property
    def marginal(self) -> Array:
        """The probability of each noise, (R,)."""
        return self.mass.sum(axis=1)

    def average(self, of: Any) -> Array:
        """The posterior mean, at each bin, of `of(r, g, p)`, r being the place of the noise: (B,)."""
        total = np.zeros(len(self.z))
        for r in np.flatnonzero(self.marginal > 1e-6):
            p = self.low[r] + (self.high[r] - self.low[r]) * self.shape
            total += self.mass[r] @ of(r, self.shape, np.clip(p, LEAST_CHANCE, 1 - LEAST_CHANCE))
        return total / self.marginal[self.marginal > 1e-6].sum()


def _thin(steps: Array) -> Array:
    return np.asarray(expit(steps))


def _heavy(steps: Array) -> Array:
    return np.asarray(0.5 + np.arctan(steps / 1.6) / np.pi)


LINKS = (  # how g rises; the last two have one tail of each kind
    _thin,
    _heavy,
    lambda steps: np.where(steps < 0, _thin(steps), _heavy(steps)),
    lambda steps: np.where(steps < 0, _heavy(steps), _thin(steps)),
)


def _best_rise(
    link: Callable[[Array], Array],
    rises: Array,
    center: Array,
    ones: Array,
    zeros: Array,
    start: float,
    end: float,
) -> Array:
    """The slope and place, (2,), of the best rise from start to end, searched from the best of `rises`."""

    def missed(at: Array) -> float:
        p = start + (end - start) * link(np.exp(at[0]) * (center - at[1]))
        p = np.clip(p, LEAST_CHANCE, 1 - LEAST_CHANCE)
        return -float(np.log(p) @ ones + np.log1p(-p) @ zeros)

    starts = np.column_stack([np.log(rises[:, 0]), rises[:, 1]])
    found = minimize(missed, min(starts, key=missed), method="Nelder-Mead", options={"maxfev": 200}).x
    return np.array([np.exp(np.clip(found[0], *np.log(SLOPES[[0, -1]]))), found[1]])


def fit_curve(
    z: Array,
    positive: Array,
    negative: Array,
    low: Array,
    high: Array,
    prior: Array,
    floors: tuple[float, ...] = (0.0,),
    trusted: Array | None = None,
    skewed: bool = False,
) -> Curve:
    """Fit to normal scores z, (n,); positive and negative: (n,), the weight of each row as one or the other.

    low, high, prior: (R,), the plateaus of each noise to consider and its prior weight; floors: where g may
    start from, each as likely as the others; trusted: (n,), rows without noise, which tell how g rises;
    skewed: the ends differ, as with a rare class: g may have a thin tail at one end and a heavy one at the
    other, rise where the rare class begins, or be on its way still where the rows end.

    >>> z = np.linspace(-2, 2, 400)
    >>> y = (z > 0) ^ (np.arange(400) % 5 == 0)  # every fifth label is wrong
    >>> rates = np.array([0.0, 0.1, 0.2, 0.3])
    >>> curve = fit_curve(z, y * 1.0, 1.0 - y, rates, 1 - rates, np.ones(4))
    >>> int(curve.marginal.argmax())
    2
    """
    # Equal scores stay together, so that neither the order of the rows nor repeating one matters.
    distinct, place = np.unique(z, return_inverse=True)
    sure = np.zeros(len(z)) if trusted is None else trusted * 1.0
    masses = [positive * (1 - sure), negative * (1 - sure), positive * sure, negative * sure]
    counts = np.stack([np.bincount(place, mass) for mass in masses])
    weight = counts.sum(axis=0)
    share = (np.cumsum(weight) - weight / 2) / weight.sum()
    places = np.interp(CURVE_QUANTILES, share, distinct)
    if skewed:
        given = (counts[0].sum() + counts[2].sum()) / weight.sum()
        rare = np.interp(expit(logit(1 - given) - np.log(ODDS)), share, distinct)
        places = np.concatenate([places, rare, distinct[0] - ENDS, distinct[-1] + ENDS])
    bins = np.minimum(share * BINS, BINS - 1).astype(int)
    total = np.bincount(bins, weight, BINS)
    filled = total > 0
    center = np.bincount(bins, weight * distinct, BINS)[filled] / total[filled]
    ones, zeros, sure_ones, sure_zeros = (np.bincount(bins, count, BINS)[filled] for count in counts)
    links = LINKS if skewed else LINKS[:2]
    rises = np.stack(np.meshgrid(SLOPES, places, indexing="ij"), axis=-1).reshape(-1, 2)
    # The first noise is none at all. Beside a coarse grid of rises a little would explain more than none.
    start, end = low[0], high[0]
    all_ones, all_zeros = ones + sure_ones, zeros + sure_zeros
    clean = [_best_rise(link, rises, center, all_ones, all_zeros, start, end) for link in links]
    rises = np.vstack([rises, *clean])
    steps = rises[:, :1] * (center - rises[:, 1:])
    shape = np.vstack([floor + (1 - floor) * link(steps) for floor in floors for link in links])
    bent = np.exp(-0.5 * (np.log(rises[:, 0] / PRIOR_SLOPE) / SPREAD) ** 2)
    bent = np.tile(bent, len(shape) // len(bent))
    fit = np.empty((len(low), len(shape)))
    for r in range(len(low)):
        p = np.clip(low[r] + (high[r] - low[r]) * shape, LEAST_CHANCE, 1 - LEAST_CHANCE)
        fit[r] = np.log(p) @ ones + np.log1p(-p) @ zeros
    if trusted is not None:
        p = np.clip(start + (end - start) * shape, LEAST_CHANCE, 1 - LEAST_CHANCE)
        fit += np.log(p) @ sure_ones + np.log1p(-p) @ sure_zeros
    fit = (fit - fit.max()) / (TEMPER * max(1.0, weight.sum() / CHANCE_RULES_ROWS))
    mass = np.exp(fit) * bent * prior[:, None]
    return Curve(center, shape, low, high, mass / mass.sum(), fit.max(axis=1))

"""Bounds that hold with high probability: from a noisy sample to a clean regret.

The deviation of a scorer is its risk less its average loss on a sample. For the unhinged loss it does not
depend on the constant 1 in 1 - y v, and neither do the bounds here: what enters is how far the loss can
move, 2 B for scores in [-B, B]. Moving one example moves the largest deviation by at most 2 B / n,
so McDiarmid's inequality and symmetrisation give, with probability 1 - delta and for all scorers at once,

    deviation <= 2 E[complexity] + 2 B sqrt(log(1 / delta) / (2 n)).

With the complexity of the sample at hand in place of its mean, one example moves the difference by at
most 6 B / n, and the last term is three times as large. `docs/errata.md` compares this with Proposition 9.
"""

from __future__ import annotations

from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np


def rademacher_bound(radius: float, regularization: float, n: int) -> float:
    """R / sqrt(regularization n): the most the complexity of {|w| <= 1 / sqrt(regularization)} can be.

    >>> rademacher_bound(radius=2.0, regularization=1.0, n=100)
    0.2
    """
    _check_sample(n)
    return radius / sqrt(regularization * n)  # Appendix D.1


def empirical_rademacher(points: Any, regularization: float) -> float:
    """The exact complexity of the linear ball on a sample: E|mean of s_i x_i| / sqrt(regularization).

    The signs s_i are fair coins, and all 2^n of them are tried, so n is small.

    >>> empirical_rademacher([[3.0], [3.0]], regularization=1.0)
    1.5
    """
    x = np.asarray(points, dtype=np.float64)
    if len(x) > 16:
        raise ValueError(f"all 2^n signs are tried, so at most 16 points, got {len(x)}")
    signs = np.array(list(product((-1.0, 1.0), repeat=len(x))))
    return float(np.linalg.norm(signs @ x / len(x), axis=1).mean() / sqrt(regularization))


def deviation_bound(
    complexity: float, bound: float, n: int, delta: float, *, empirical: bool = False
) -> float:
    """How much the unhinged risk may exceed its sample average, for all scorers in [-bound, bound] at once.

    `complexity` is the expected Rademacher complexity, or a bound on it; `empirical=True` if it
    was computed on the sample. Holds with probability 1 - delta.

    >>> round(deviation_bound(complexity=0.0, bound=1.0, n=200, delta=0.01), 6)
    0.214597
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta is a probability between 0 and 1, got {delta!r}")
    _check_sample(n)
    spread = (6 if empirical else 2) * bound
    return 2 * complexity + spread * sqrt(log(1 / delta) / (2 * n))  # Proposition 9


def clean_regret(noisy_regret: Any, noise_rate: Any) -> Any:
    """The unhinged regret on clean labels, from that on noisy ones (Proposition 6).

    Over scorers bounded by B >= 1 it is also a bound on the regret of the 0-1 loss.

    >>> clean_regret(0.5, noise_rate=0.25)
    1.0
    """
    if not 0 <= noise_rate < 0.5:
        raise ValueError(f"a symmetric noise rate lies in [0, 1/2), got {noise_rate!r}")
    return noisy_regret / (1 - 2 * noise_rate)  # Proposition 6


def clean_regret_bound(
    radius: float, regularization: float, n: int, delta: float, noise_rate: float = 0.0
) -> float:
    """The clean unhinged regret of the best linear scorer of n noisy labels, with probability 1 - delta.

    Regret within the ball |w| <= 1 / sqrt(regularization), for points of norm at most `radius`: twice the
    largest deviation, divided by 1 - 2 rho. The ball contains -w with w, so one side of the bound is both.

    >>> round(clean_regret_bound(1.0, 1.0, n=10_000, delta=0.05, noise_rate=0.25), 4)
    0.1779
    """
    bound = radius / sqrt(regularization)  # Section 5.3
    deviation = deviation_bound(rademacher_bound(radius, regularization, n), bound, n, delta)
    return float(clean_regret(2 * deviation, noise_rate))


def _check_sample(n: int) -> None:
    if not n >= 1:
        raise ValueError(f"a sample has at least one example, got n={n!r}")

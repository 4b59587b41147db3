"""Bounds on the rate of each class that know nothing of how classes overlap (slopes of the ROC curve).

Whatever rows A one looks at, rows of other classes among them only add labels that differ:

    P(given other than k | x in A) >= P(given other than k | clean class k),

if mistakes depend on the class alone and no class is given the label k more often than k itself. So the
smallest such share, over the rows that look most like k, bounds the rate of k (Scott 2013).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from unflip.border.arrays import Array

SMALLEST_REGION, STEP = 10, 1.3  # rows of the smallest region, and how much larger the next one is
BOUND_LEVEL = 0.95  # of all regions together


def outer_by_class(scores: Array, member: Array) -> Array:
    """At most so many of each clean class have another label, (K,), with 95 % confidence for each.

    scores: (n,) for two classes, (n, K) for more; member: (n, K), the weight of each row in each class.

    >>> scores = np.linspace(-1, 1, 1000)
    >>> given = (scores > 0) & (np.arange(1000) % 4 > 0)  # a quarter of the ones are called zeros
    >>> outer_by_class(scores, np.eye(2)[given.astype(int)]).round(2).tolist()
    [0.02, 0.31]
    """
    n, k = member.shape
    columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    steps = np.arange(int(np.log(max(n, 2)) / np.log(STEP)))
    sizes = np.unique(np.minimum(SMALLEST_REGION * STEP**steps, n).astype(int))
    found = np.ones(k)
    for j in range(k):
        order = np.argsort(-columns[:, j], kind="stable")
        right = np.cumsum(member[order, j])[sizes - 1]
        total = np.cumsum(member[order].sum(axis=1))[sizes - 1]
        tail = (1 - BOUND_LEVEL) / len(sizes)
        found[j] = beta.ppf(1 - tail, total - right + 1, np.maximum(right, 1e-9)).min()
    return found

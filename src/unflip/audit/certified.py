"""Labels that are certainly right or wrong, given a bound on how often labels are wrong at every row.

If at no row a label is wrong with a probability above m, and m is below one half, then a class that has a
share c of the clean labels of a row has at most c + (1 - c) m of the given ones. So where it has more than
(1 + m) / 2 of these, it has most of the clean ones (Cheng and others 2020). Shares are counted over windows
along the score; rows beyond a window have no lower share than the window, if the score orders rows.
"""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.stats import beta

from unflip.border.arrays import Array

WINDOWS = 20  # along the score of each class
LEAST_WINDOW = 20  # rows


class CertifiedRows(NamedTuple):
    """rows: (c,), numbers of rows whose likely clean class is certain; classes: (c,), that class.

    right: (c,), whether the given label is that class; a clean label may differ from it by chance.
    """

    rows: Array
    classes: Array
    right: Array


def certain_classes(scores: Array, member: Array, max_rate: float, level: float) -> Array:
    """The class that is certainly the likely clean one of each row, or -1: (n,).

    scores: (n,) or (n, K); member: (n, K), the weight of each row in each class.

    >>> scores = np.linspace(-1, 1, 2000)
    >>> found = certain_classes(scores, np.eye(2)[(scores > 0).astype(int)], 0.2, 0.95)
    >>> found[[0, 1000, -1]].tolist()
    [0, -1, 1]
    """
    if not (isinstance(max_rate, Real) and 0 <= max_rate < 0.5):
        raise ValueError(f"max_rate lies in [0, 1/2), got {max_rate!r}")
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"level lies between 0 and 1, got {level!r}")
    columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    n, k = member.shape
    size = max(LEAST_WINDOW, n // WINDOWS)
    tail = (1 - level) / (k * max(n // size, 1))
    found = np.full(n, -1)
    for j in range(k):
        order = np.argsort(-columns[:, j], kind="stable")
        least = 0
        for start in range(0, n - size + 1, size):
            window = order[start : start + size]
            total, mine = member[window].sum(), member[window, j].sum()
            if mine > 0 and beta.ppf(tail, mine, total - mine + 1) > (1 + max_rate) / 2:
                least = start  # rows before this window have no lower share than it
        found[order[:least]] = j
    return found

"""Leaving out groups of rows and folds: exact, from the fit to all of them.

With H = u D u' Omega, D = diag(1 / (s + Lambda), 1 / W) and a column of ones beside u, the residuals of a
group's rows for the fit without them solve (1 - H) left = now.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.border.blocks import row_blocks, slices
from unflip.solvers.ridge import RidgePath

GROUP_NUMBERS_AT_ONCE = 1 << 22  # features of groups that are solved together: 32 MB
FAINT_DIRECTION = 1e-3  # of what a fit uses of its first direction; less is nothing


def leave_groups_out(
    path: RidgePath, along: Any, t: Array, weight: Array, groups: Array
) -> list[tuple[Array, Array]]:
    """For rows that do not leave alone: their places, (G, b), and scores, (L, G, b, k).

    Scores are about the mean label of the rows that stay. along: gives u for some places; t: (n, k), about
    their mean; weight: (n,); groups: (n,), their numbers.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.unique(groups, return_counts=True)[1]
    starts = np.cumsum(sizes) - sizes
    total, found = path.spectrum.total, []
    for size in np.unique(sizes[sizes > 1]):
        together = order[starts[sizes == size, None] + np.arange(size)]  # (G, size)
        at_once = max(1, GROUP_NUMBERS_AT_ONCE // (int(size) * (len(path.shrink) + 1)))
        for part in slices(0, len(together), at_once):
            places = together[part]
            u = along(places.ravel())
            now = t[places] - np.moveaxis(path.fitted(u).reshape(*places.shape, len(path.ridges), -1), 2, 0)
            u = np.column_stack([u, np.ones(len(u))]).reshape(*places.shape, -1)
            left = _without(u, path.shrink, total, weight[places], now)
            gone = np.einsum("gb,gbk->gk", weight[places], t[places])
            others = gone / (total - weight[places].sum(axis=1))[:, None]
            found.append((places, t[places] - left + others[:, None]))
    return found


def leave_folds_out(
    path: RidgePath, along: Any, t: Array, weight: Array, folds: Array, mixture: Array
) -> Array:
    """Scores of a mixture of the ridges, (L,), about the mean label of the other folds: (n, k).

    Directions that a fit hardly uses are taken as they are.
    """
    chosen = np.flatnonzero(mixture)
    shrink, spread, total = path.shrink[:, chosen], path.spectrum.eigenvalues, path.spectrum.total
    share = spread[:, None] * shrink  # of a direction, s / (s + Lambda), that a fit uses
    used = np.append((share > FAINT_DIRECTION * share.max(axis=0)).any(axis=1), True)
    scores = np.empty(t.shape)
    for fold in np.unique(folds):
        mine = np.flatnonzero(folds == fold)
        now = np.empty((len(chosen), len(mine), t.shape[1]))
        u = np.ones((len(mine), np.count_nonzero(used)))
        for part in row_blocks(len(mine), len(used)):
            some = along(mine[part])
            now[:, part] = t[mine[part]] - np.moveaxis(path.fitted(some)[:, chosen], 1, 0)
            u[part, :-1] = some[:, used[:-1]]
        left = _without(u, shrink[used[:-1]], total, weight[mine], now)
        alone = t[mine] - left + (weight[mine] @ t[mine]) / (total - weight[mine].sum())
        scores[mine] = np.tensordot(mixture[chosen], alone, axes=1)
    return scores


def _without(u: Array, shrink: Array, total: float, weight: Array, now: Array) -> Array:
    """Residuals of a group's rows for the fit without them, from those with them, `now`: (L, ..., b, k).

    u: (..., b, r + 1), weight: (..., b), of one group, or of several that have b rows each. A small group is
    solved by rows, and a large one through (D^-1 - u' Omega u), which has the size of the features.
    """
    left = np.empty_like(now)
    weighted = np.swapaxes(u * weight[..., None], -1, -2)
    size = u.shape[-2]
    gram = weighted @ u if size > len(shrink) else None
    for place, ridge in enumerate(shrink.T):
        d = np.append(ridge, 1 / total)
        if gram is None:
            left[place] = np.linalg.solve(np.eye(size) - (u * d) @ weighted, now[place])
        else:
            left[place] = now[place] + u @ np.linalg.solve(np.diag(1 / d) - gram, weighted @ now[place])
    return left

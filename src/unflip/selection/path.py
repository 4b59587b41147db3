"""A ridge path on the features that landmarks span, with exact leave-one-out scores for every ridge.

With weights omega_i, W their sum, features phi centred at their mean, S the sum of omega phi phi' = V
diag(s) V' and u = V' phi, the fit at a ridge Lambda is f_i = u_i' (q / (s + Lambda)), q the sum of omega u
t, t the centred labels. Leaving row i out, with its part in the mean and in S, makes its residual (t_i -
f_i) / (1 - h_i), where h_i = omega_i (1 / W + sum_j u_ij^2 / (s_j + Lambda)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh

from unflip._threads import workers
from unflip.kernels import Kernel
from unflip.kernels.blocks import slices

Array = np.ndarray[Any, Any]
ROUNDING = float(np.finfo(np.float64).eps)
RIDGES = 10.0 ** np.arange(-5, 1.25, 0.5)  # times W and the mean squared length of centred features
JITTER = 1e-5  # of k(z, z): enough that squared kernel values have digits to spare
AT_ONCE = 1 << 22  # features held at a time beyond a cache: 32 MB
SHORTEST = 400  # rows of a part, where it is not the memory that decides
FAINT = 1e-3  # of what a fit uses of its first direction; less is nothing
CACHE = 1 << 25  # features that are kept rather than computed again: 256 MB


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to learn from: `at` gives the rows [z | r] at some places; labels: (n, k); weight: (n,).

    groups: (n,), numbers of groups of rows that are left out together; None leaves them out one by one.
    """

    at: Callable[[Any], Array]
    labels: Array
    weight: Array
    groups: Array | None = None

    def some(self, places: Array) -> Rows:
        """Some of them, as rows of their own."""
        groups = None if self.groups is None else self.groups[places]
        return Rows(lambda at: self.at(places[at]), self.labels[places], self.weight[places], groups)

    @property
    def mean(self) -> Array:
        """The mean label, (k,)."""
        return np.asarray(self.weight @ self.labels / self.weight.sum())

    @property
    def centred(self) -> Array:
        """Labels about their mean, (n, k)."""
        return self.labels - self.mean


class RidgePath:
    """All ridges for one kernel and its landmarks Z.

    The features are phi = L^-1 k(Z, x) with L L' = k(Z, Z) and a little on the diagonal. Only k(x, Z) is ever
    computed for rows: what turns it into coordinates u along the eigenvectors is one m x m matrix, `turn`.

    scores: (L, j, k), leave-one-out scores of the rows `judged`, about the mean label of the other rows;
    freedom: (L,), degrees of freedom.
    """

    def __init__(self, kernel: Kernel, landmarks: Array, rows: Rows, judged: Array) -> None:
        self.kernel, self.landmarks = kernel, landmarks
        with workers(None) as spread:
            # BLAS has one thread in here: two of its kind (NumPy's, SciPy's) would wait for each other.
            self._factorise(rows, spread)
            self.scores = np.empty((len(RIDGES), len(judged), rows.labels.shape[1]))
            parts = _slices(len(judged), len(landmarks))
            places = [judged[part] for part in parts]
            for part, left in zip(parts, spread(partial(self._leave, rows), places), strict=True):
                self.scores[:, part] = left
            if rows.groups is not None:
                self._leave_groups(rows, judged)

    def _factorise(self, rows: Rows, spread: Any) -> None:
        """Sums over all rows, in parts, and what the fits are made of."""
        n, m, total, centred = len(rows.weight), len(self.landmarks), rows.weight.sum(), rows.centred
        root = np.sqrt(rows.weight)
        keep, plain = n * m <= CACHE, bool((root == 1).all())

        def sums(part: slice) -> tuple[Array, Array, Array, Array | None]:
            values = self.kernel(rows.at(part), self.landmarks)
            weighted = values if plain else root[part, None] * values
            cross = weighted.T @ (root[part, None] * centred[part])
            return root[part] @ weighted, weighted.T @ weighted, cross, values if keep else None

        first, second, cross = np.zeros(m), np.zeros((m, m)), np.zeros((m, rows.labels.shape[1]))
        cache: list[Array] = []
        for one, two, labels, values in spread(sums, _slices(n, m)):
            first += one
            second += two
            cross += labels
            if values is not None:
                cache.append(values)
        self._values = np.vstack(cache) if cache else None
        self.center = first / total
        # The second moment of phi is L^-1 C L^-T, with C that of the values k(x, Z). Its eigenvectors, turned
        # back by L^-T, solve C v = s k(Z, Z) v.
        table = self.kernel(self.landmarks, self.landmarks)
        table[np.diag_indices_from(table)] *= 1 + JITTER
        about_mean = second - total * np.outer(self.center, self.center)
        spreads, self.turn = eigh(about_mean, table, overwrite_a=True, overwrite_b=True, check_finite=False)
        spreads = np.maximum(spreads, 0.0)
        self.spread = float(spreads.sum())
        self.shrink = 1 / (spreads[:, None] + RIDGES * self.spread)  # (m, L)
        self.freedom = spreads @ self.shrink
        along = self.turn.T @ cross  # centred labels need no centred features
        self.fits = along[:, None, :] * self.shrink[:, :, None]  # (m, L, k)

    def _leave(self, rows: Rows, places: Array) -> Array:
        """Leave-one-out scores of some rows, (L, b, k)."""
        total = rows.weight.sum()
        u = self._along(rows, places)
        w, t = rows.weight[places, None], rows.labels[places] - rows.mean
        fit = self._fitted(u)
        leverage = w / total + w * (np.square(u, out=u) @ self.shrink)  # (b, L)
        # A row that has all of the weight, as far as float64 tells, is left out by leaving a last digit.
        left = t[:, None] - (t[:, None] - fit) / np.maximum(1 - leverage, ROUNDING)[:, :, None]
        rest = np.maximum(total - w, ROUNDING * total)
        return np.asarray((left + (w / rest * t)[:, None]).transpose(1, 0, 2))

    def _fitted(self, u: Array) -> Array:
        """Fits of rows with the coordinates u, (b, L, k)."""
        return np.asarray(u @ self.fits.reshape(len(self.fits), -1)).reshape(len(u), *self.fits.shape[1:])

    def _along(self, rows: Rows, places: Any) -> Array:
        """Centred coordinates along the eigenvectors, in an array of their own."""
        values = (
            self.kernel(rows.at(places), self.landmarks) if self._values is None else self._values[places]
        )
        return np.asarray(values @ self.turn - self.center @ self.turn)

    def _leave_groups(self, rows: Rows, judged: Array) -> None:
        """Scores of rows that do not leave alone: (1 - H_gg) residuals without = residuals with the group."""
        assert rows.groups is not None
        total, centred = rows.weight.sum(), rows.centred
        order = np.argsort(rows.groups[judged], kind="stable")
        sizes = np.unique(rows.groups[judged], return_counts=True)[1]
        starts = np.cumsum(sizes) - sizes
        for size in np.unique(sizes[sizes > 1]):
            groups = order[
                starts[sizes == size, None] + np.arange(size)
            ]  # (G, size), places among the judged
            at_once = max(1, AT_ONCE // (int(size) * (len(self.landmarks) + 1)))
            for part in slices(0, len(groups), at_once):
                together = groups[part]
                places = judged[together]
                u = self._along(rows, places.ravel())
                w, t = rows.weight[places], centred[places]
                fitted = self._fitted(u).reshape(*together.shape, len(RIDGES), -1)
                now = t - np.moveaxis(fitted, 2, 0)
                u = np.column_stack([u, np.ones(len(u))]).reshape(*together.shape, -1)
                left = _without_group(u, self.shrink, total, w, now)
                others = np.einsum("gb,gbk->gk", w, t) / (total - w.sum(axis=1))[:, None]
                self.scores[:, together] = t - left + others[:, None]

    def without_folds(self, rows: Rows, judged: Array, folds: Array, weights: Array) -> Array:
        """Scores of the judged rows by fits to all rows but those of their fold, (j, k).

        folds: (j,); weights: (L,), of the ridges. Directions that a fit hardly uses are taken as they are.
        """
        ridges = np.flatnonzero(weights)
        shrink = self.shrink[:, ridges]
        share = 1 - RIDGES[ridges] * self.spread * shrink  # of a direction, s / (s + Lambda), that a fit uses
        used = np.append((share > FAINT * share.max(axis=0)).any(axis=1), True)
        total = rows.weight.sum()
        scores = np.empty((len(judged), rows.labels.shape[1]))
        for fold in np.unique(folds):
            mine = np.flatnonzero(folds == fold)
            places = judged[mine]
            u = self._along(rows, places)
            w, t = rows.weight[places], rows.labels[places] - rows.mean
            now = t - np.einsum("blk->lbk", self._fitted(u)[:, ridges])
            u = np.column_stack([u, np.ones(len(u))])[:, used]
            left = _without_group(u, shrink[used[:-1]], total, w, now)
            alone = t - left + (w @ t) / (total - w.sum())
            scores[mine] = np.tensordot(weights[ridges], alone, axes=1)
        return scores

    def dual(self, weights: Array) -> tuple[Array, Array]:
        """Coefficients of k(x, landmarks) for weights of the ridges, (m, k), and what to subtract, (k,)."""
        dual = self.turn @ np.einsum("mlk,l->mk", self.fits, weights)
        return dual, self.center @ dual

    def smoothed(self, rows: Rows, labels: Array, weights: Array) -> Array:
        """The same coefficients for other labels of the rows, which are few."""
        along = self._along(rows, slice(0, len(labels))).T @ (rows.weight[:, None] * labels)
        return np.asarray(self.turn @ ((self.shrink @ weights)[:, None] * along))


def _without_group(u: Array, shrink: Array, total: float, weight: Array, now: Array) -> Array:
    """Residuals of a group's rows for the fit without them, from those with them, `now`: (L, ..., b, k).

    u: (..., b, m), weight: (..., b), of one group, or of several that have b rows each.
    With H = u D u' Omega, D = diag(shrink, 1 / total), they solve (1 - H) left = now: by rows if the group is
    small, and for a large one through (D^-1 - u' Omega u), which has the size of the features.
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


def _slices(n: int, width: int) -> list[slice]:
    """Rows in parts, several if they are many, so that threads can share them; by their number alone."""
    size = min(AT_ONCE // max(1, width), max(SHORTEST, -(-n // 4)))
    return slices(0, n, max(1, size))

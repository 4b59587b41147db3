"""Ridge regression from sums: the spectrum of a scatter, every ridge at once, and exact leave-one-out.

With weights omega_i, W their sum and features z about their mean, the scatter S, the sum of omega z z', has
eigenvectors V and eigenvalues s. Along them a row is u = V' z, and labels t, about their mean too, give q,
the sum of omega u t'. The fit at a ridge Lambda is f_i = u_i' (q / (s + Lambda)). Leaving row i out, with its
part in the mean and in S, turns its residual into (t_i - f_i) / (1 - h_i), where

    h_i = omega_i (1 / W + sum_j u_ij^2 / (s_j + Lambda)).

An objective that is a mean over rows has Lambda = W lambda, hence (W - omega_i) lambda without row i: the
same formula holds at that ridge. Features may come from anywhere: columns, or kernel values k(x, Z) of
landmarks, whose lengths are measured by k(Z, Z), so that eigenvectors solve S v = s k(Z, Z) v.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigh

from unflip.border.arrays import Array, beside
from unflip.moments import Moments
from unflip.moments.frame import Frame, dense

FLOAT_ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The scatter of features seen along its eigenvectors, and the labels with it.

    eigenvalues: (r,), positive. basis: (d, r), of z, features in the frame. center: (r,), the mean of z
    along them. cross: (r, k), the sum of omega u t'. total: W. mean: (k,), the mean of t.

    >>> from unflip.moments import accumulate
    >>> moments = accumulate(([[-1.0], [1.0]], ["no", "yes"]), degree=2)
    >>> Spectrum.of(moments, np.array([[-1.0, 1.0]])).eigenvalues.tolist()
    [2.0]
    """

    eigenvalues: Array
    basis: Array
    center: Array
    cross: Array
    total: float
    mean: Array
    frame: Frame

    @classmethod
    def of(cls, moments: Moments, labels: Array, metric: Array | None = None) -> Spectrum:
        """From moments of degree two.

        labels: (k, K), what t is for a row of each class. metric: (d, d), in which features have their
        lengths.
        """
        assert moments.second is not None
        total, center = moments.total, moments.center
        scatter = moments.second - total * np.outer(center, center)
        scatter = (scatter + scatter.T) / 2
        if metric is None:
            spread, basis = np.linalg.eigh(scatter)
        else:
            spread, basis = eigh(
                scatter, metric / moments.frame.unit**2, overwrite_a=True, check_finite=False
            )
        # Directions without spread beyond rounding carry nothing: their cross moments vanish too.
        keep = spread > len(spread) * FLOAT_ROUNDING * max(spread.max(initial=0.0), 0.0)
        spread, basis = spread[keep], basis[:, keep]
        return cls(
            eigenvalues=spread,
            basis=basis,
            center=center @ basis,
            cross=basis.T @ (total * moments.centered_means.T) @ labels.T,
            total=total,
            mean=labels @ moments.counts / total,
            frame=moments.frame,
        )

    def along(self, phi: Any) -> Array:
        """Rows of features about their mean, along the eigenvectors: (n, r)."""
        z = self.frame.z(phi)
        return np.asarray(dense(z @ beside(self.basis, z)) - self.center)

    def weights(self, fits: Array) -> tuple[Array, Array]:
        """Weights of plain features, (d, ...), for weights along the eigenvectors, and what to subtract."""
        plain = self.basis @ fits / self.frame.unit
        return plain, self.center @ fits + self.frame.origin @ plain


@dataclass(frozen=True, eq=False)
class RidgePath:
    """The fits of all ridges Lambda, (L,), to one spectrum."""

    spectrum: Spectrum
    ridges: Array

    @cached_property
    def shrink(self) -> Array:
        """1 / (s + Lambda), (r, L)."""
        return np.asarray(1 / (self.spectrum.eigenvalues[:, None] + self.ridges))

    @cached_property
    def fits(self) -> Array:
        """Weights along the eigenvectors, (r, L, k)."""
        return np.asarray(self.spectrum.cross[:, None, :] * self.shrink[:, :, None])

    @property
    def freedom(self) -> Array:
        """Degrees of freedom of each ridge beside the constant, (L,)."""
        return np.asarray(self.spectrum.eigenvalues @ self.shrink)

    def fitted(self, u: Array) -> Array:
        """Fits of rows about the mean label, (n, L, k)."""
        return np.asarray(u @ self.fits.reshape(len(self.fits), -1)).reshape(len(u), *self.fits.shape[1:])

    def leave_one_out(self, u: Array, t: Array, weight: Array) -> Array:
        """Scores of fitted rows, each without that row, about the mean label of the others: (n, L, k).

        u: (n, r), as `along` gives them, and overwritten; t: (n, k), about their mean; weight: (n,).

        >>> ones, zero = np.ones((1, 1)), np.zeros(1)
        >>> spectrum = Spectrum(np.array([2.0]), ones, zero, 2 * ones, 3.0, zero, Frame.plain(1))
        >>> path = RidgePath(spectrum, np.array([0.0]))
        >>> u, t = np.array([[-1.0], [0.0], [1.0]]), np.array([[-1.0], [0.0], [1.0]])
        >>> path.leave_one_out(u, t, np.ones(3)).ravel().round(12).tolist()  # on the line through the others
        [-1.5, 0.0, 1.5]
        """
        fit, total = self.fitted(u), self.spectrum.total
        own = np.square(u, out=u) @ self.shrink
        left = _without_own(t[:, None], fit, own[:, :, None], weight[:, None, None], total)
        return np.asarray(left - mean_without(t, weight, total)[:, None])


def leave_one_out(spectrum: Spectrum, u: Array, t: Array, weight: Array, ridge: float) -> tuple[Array, Array]:
    """Scores of fitted rows, each without that row, where the objective is a mean over rows; and leverages.

    The scores, (n, k), are about the mean label of all rows, for one ridge lambda. The leverage of a row,
    (n,), is one where it owns a direction: then there is no answer.

    >>> ones, zero = np.ones((1, 1)), np.zeros(1)
    >>> spectrum = Spectrum(np.array([2.0]), ones, zero, 2 * ones, 3.0, zero, Frame.plain(1))
    >>> u = np.array([[-1.0], [0.0], [1.0]])
    >>> leave_one_out(spectrum, u, u, np.ones(3), 0.0)[0].ravel().round(12).tolist()
    [-1.0, 0.0, 1.0]
    """
    w, total = weight[:, None], spectrum.total
    others = np.maximum(total - w, 0.0)
    inverse = u / (spectrum.eigenvalues + others * ridge)
    own = np.sum(inverse * u, axis=1, keepdims=True)
    left = _without_own(t, inverse @ spectrum.cross, own, w, total)
    with np.errstate(divide="ignore", invalid="ignore"):
        leverage = np.where(others > 0, w * total / others * own, 1.0)
    return left, leverage[:, 0]


def _without_own(t: Array, fit: Array, own: Array, weight: Array, total: float) -> Array:
    # A row that has all of the weight, as far as float64 tells, is left out by leaving a last digit.
    kept = np.maximum(1 - weight * (1 / total + own), FLOAT_ROUNDING)
    return np.asarray(t - (t - fit) / kept)


def mean_without(t: Array, weight: Array, total: float) -> Array:
    """How far the mean label of the other rows is from that of all, (n, k).

    >>> mean_without(np.array([[-1.0], [1.0]]), np.ones(2), 2.0).tolist()
    [[1.0], [-1.0]]
    """
    w = weight[:, None]
    return np.asarray(-w * t / np.maximum(total - w, FLOAT_ROUNDING * total))

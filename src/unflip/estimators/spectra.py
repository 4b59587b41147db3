"""The features of a kernel in the eigenbasis of their scatter: all that a ridge path and leave-one-out need.

With weights omega_i, W their sum and z_i = phi(x_i) - mean phi, the scatter is the sum of omega_i z_i z_i'.
Its eigenvectors v_j are combinations of the features of the rows that are kept as support, so that <v_j,
phi(x)> is a sum of similarities. There are two ways to them: the centred kernel matrix of all rows, which
is exact, or the features that a few landmarks span, which costs one pass over the rows and keeps nothing of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.estimators.kept import KeptRows
from unflip.features.lowrank import LowRank
from unflip.kernels import Kernel
from unflip.sources.batch import feature_blocks

Array = np.ndarray[Any, Any]
FAINT = 1e-8  # of the largest root of a weight


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The scatter of centred features, seen along its eigenvectors v_1, ..., v_r.

    support: rows Z, m of them. duals: (m, r), with <v_j, phi(x)> = k(x, Z) duals_j. center: (r,), the v_j
    on the mean feature. eigenvalues: (r,), positive. cross: (r, K), the sum of omega z t' along the v_j, t
    the class memberships. blocks: yields slices of the rows with their z along the v_j, as often as asked.
    """

    support: Any
    duals: Array
    center: Array
    eigenvalues: Array
    cross: Array
    blocks: Callable[[], Iterable[tuple[slice, Array]]]


def exact_spectrum(kernel: Kernel, kept: KeptRows) -> Spectrum:
    """From the n x n kernel matrix of all rows.

    >>> from unflip.kernels import Linear
    >>> kept = KeptRows(np.array([[-1.0], [1.0]]), np.eye(2), np.ones(2))
    >>> exact_spectrum(Linear(), kept).eigenvalues.round(9).tolist()
    [2.0]
    """
    share, root = kept.weight / kept.weight.sum(), np.sqrt(kept.weight)
    values = kernel(kept.X, kept.X)
    middle = values @ share
    centred = values - middle - middle[:, None] + share @ middle
    spread = np.linalg.eigh(root[:, None] * centred * root)
    eigenvalues, vectors = _positive(*spread, float(kept.weight @ np.abs(values.diagonal())))
    of_centred = root[:, None] * vectors / np.sqrt(eigenvalues)  # v_j is the sum of these times z_i
    duals = of_centred - np.outer(share, of_centred.sum(axis=0))
    # Of rows that weigh next to nothing the vectors hold rounding alone, so they are multiplied out.
    faint = root < FAINT * root.max()
    rotated = vectors * np.sqrt(eigenvalues) / np.where(faint, 1.0, root)[:, None]
    rotated[faint] = centred[faint] @ of_centred
    everyone = slice(0, len(root))
    return Spectrum(
        kept.X,
        duals,
        middle @ duals,
        eigenvalues,
        rotated.T @ kept.masses,
        lambda: [(everyone, rotated)],
    )


def landmark_spectrum(kernel: Kernel, kept: KeptRows, landmarks: Any) -> Spectrum:
    """From the features that landmarks span; n x m numbers are never held at once.

    >>> from unflip.kernels import Linear
    >>> kept = KeptRows(np.array([[-1.0], [1.0]]), np.eye(2), np.ones(2))
    >>> landmark_spectrum(Linear(), kept, np.array([[5.0]])).eigenvalues.round(9).tolist()
    [2.0]
    """
    phi = LowRank(kernel, landmarks)
    width, masses, total = landmarks.shape[0], kept.masses, kept.weight.sum()
    sums, second = np.zeros((width, masses.shape[1])), np.zeros((width, width))
    for rows, block in feature_blocks(kept.X, phi.transform):
        sums += block.T @ masses[rows]
        second += block.T @ (kept.weight[rows, None] * block)
    mean = sums.sum(axis=1) / total
    spread = np.linalg.eigh(second - total * np.outer(mean, mean))
    eigenvalues, basis = _positive(*spread, float(np.trace(second)))
    center = mean @ basis
    return Spectrum(
        landmarks,
        phi.dual(basis),
        center,
        eigenvalues,
        basis.T @ (sums - np.outer(mean, kept.counts)),
        lambda: ((rows, z @ basis - center) for rows, z in feature_blocks(kept.X, phi.transform)),
    )


def _positive(eigenvalues: Array, vectors: Array, size: float) -> tuple[Array, Array]:
    """Directions without spread beyond rounding, which is that of features before they were centred."""
    keep = eigenvalues > 10 * np.finfo(float).eps * size
    if not keep.any():
        raise ValueError("all rows look equal; take a narrower bandwidth, more landmarks or other columns")
    return eigenvalues[keep], vectors[:, keep]

"""The spectrum of a kernel's features: exactly from all rows, or from those that a few landmarks span.

Its eigenvectors v_j are combinations of the features of the rows that are kept as support Z, so that <v_j,
phi(x)> is a sum of similarities k(x, Z). The kernel matrix of all rows is exact, and n x n; landmarks cost
one pass over the rows and keep nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.border.blocks import feature_blocks
from unflip.border.classes import contrast
from unflip.estimators.kept import KeptRows
from unflip.features.lowrank import LowRank
from unflip.kernels import Kernel
from unflip.moments.frame import Frame
from unflip.passes import accumulate
from unflip.solvers.ridge import FLOAT_ROUNDING, Spectrum

FAINT_WEIGHT = 1e-8  # of the largest root of a weight


@dataclass(frozen=True, eq=False)
class KernelSpectrum:
    """A spectrum, its support Z, and the rows that were fitted along it.

    dual: turns weights of the spectrum's features into coefficients of k(x, Z). blocks: yields slices of the
    rows with their coordinates, as often as asked.
    """

    spectrum: Spectrum
    support: Any
    dual: Callable[[Array], Array]
    blocks: Callable[[], Iterable[tuple[slice, Array]]]


def exact_spectrum(kernel: Kernel, kept: KeptRows) -> KernelSpectrum:
    """From the n x n kernel matrix of all rows.

    >>> from unflip.kernels import Linear
    >>> kept = KeptRows(np.array([[-1.0], [1.0]]), np.eye(2), np.ones(2))
    >>> exact_spectrum(Linear(), kept).spectrum.eigenvalues.round(9).tolist()
    [2.0]
    """
    total, root = kept.weight.sum(), np.sqrt(kept.weight)
    share = kept.weight / total
    values = kernel(kept.X, kept.X)
    middle = values @ share
    centred = values - middle - middle[:, None] + share @ middle
    eigenvalues, vectors = np.linalg.eigh(root[:, None] * centred * root)
    # Directions without spread beyond rounding, which is that of features before they were centred.
    keep = eigenvalues > 10 * FLOAT_ROUNDING * float(kept.weight @ np.abs(values.diagonal()))
    eigenvalues, vectors = eigenvalues[keep], vectors[:, keep]
    of_centred = root[:, None] * vectors / np.sqrt(eigenvalues)  # v_j is the sum of these times z_i
    duals = of_centred - np.outer(share, of_centred.sum(axis=0))
    # Of rows that weigh next to nothing the vectors hold rounding alone, so they are multiplied out.
    faint = root < FAINT_WEIGHT * root.max()
    along = vectors * np.sqrt(eigenvalues) / np.where(faint, 1.0, root)[:, None]
    along[faint] = centred[faint] @ of_centred
    signs = contrast(kept.member.shape[1])
    spectrum = Spectrum(
        eigenvalues=eigenvalues,
        basis=duals,
        center=middle @ duals,
        cross=along.T @ kept.masses @ signs.T,
        total=float(total),
        mean=signs @ kept.counts / total,
        frame=Frame.plain(len(duals)),
    )
    return KernelSpectrum(spectrum, kept.X, np.asarray, lambda: [(slice(0, len(root)), along)])


def landmark_spectrum(kernel: Kernel, kept: KeptRows, landmarks: Any) -> KernelSpectrum:
    """From the features that landmarks span; n x m numbers are never held at once.

    >>> from unflip.kernels import Linear
    >>> kept = KeptRows(np.array([[-1.0], [1.0]]), np.eye(2), np.ones(2))
    >>> landmark_spectrum(Linear(), kept, np.array([[5.0]])).spectrum.eigenvalues.round(9).tolist()
    [2.0]
    """
    features = LowRank(kernel, landmarks)
    moments = accumulate((kept.X, kept.member, kept.weight), features, degree=2)
    spectrum = Spectrum.of(moments, contrast(kept.member.shape[1]))
    return KernelSpectrum(
        spectrum,
        landmarks,
        features.dual,
        lambda: ((rows, spectrum.along(phi)) for rows, phi in feature_blocks(kept.X, features.transform)),
    )

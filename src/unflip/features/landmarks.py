"""A kernel as seen from landmarks Z: the features k(x, Z), whose lengths k(Z, Z) measures.

They span what L^-1 k(Z, x) spans, with k(Z, Z) = L L', and cost no triangular solve for each row.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from unflip.border.arrays import Array
from unflip.kernels import Kernel

LANDMARK_JITTER = 1e-5  # of k(z, z): enough that squared kernel values have digits to spare


@dataclass(frozen=True, eq=False)
class Landmarks:
    """k(x, Z) as a feature map: label-free if the kernel is.

    >>> from unflip.kernels import Gaussian
    >>> Landmarks(Gaussian(1.0), np.array([[0.0], [1.0]])).transform(np.array([[0.0]])).round(3).tolist()
    [[1.0, 0.607]]
    """

    kernel: Kernel
    rows: Any

    def transform(self, X: Any) -> Array:
        """Kernel values, (n, m)."""
        return self.kernel(X, self.rows)

    @property
    def metric(self) -> Array:
        """k(Z, Z), and a little on the diagonal."""
        table = self.transform(self.rows)
        own = table.diagonal()
        table[np.diag_indices_from(table)] = np.where(own > 0, own * (1 + LANDMARK_JITTER), 1.0)
        return table

    @property
    def key(self) -> str:
        """A name that equal kernels with equal landmarks share."""
        rows = self.rows.toarray() if sparse.issparse(self.rows) else self.rows
        made_of = repr(self.kernel).encode() + np.ascontiguousarray(rows).tobytes()
        return f"Landmarks:{hashlib.sha256(made_of).hexdigest()[:40]}"

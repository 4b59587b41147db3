"""Random Fourier features with orthogonal frequencies, which estimate a kernel with less variance.

Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, Orthogonal random features (2016). Frequencies come in
blocks of d that are orthogonal to each other; each has the length of a random frequency. So every one
by itself has the right distribution, if that distribution knows no direction.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from unflip.border.arrays import Array
from unflip.features.fourier import Fourier
from unflip.features.kernelmap import KERNEL_NAMES
from unflip.kernels import StationaryKernel


class OrthogonalFourier(Fourier):
    """sqrt(2 / D) (cos <w, x>, sin <w, x>) for D / 2 frequencies w, orthogonal in blocks of d.

    Parameters
    ----------
    n_features: D. If it is odd, the last sine is left out.
    kernel: "rbf" (also called "gaussian") or "euclidean_laplace", which are the same in all directions.
    bandwidth: of the kernel; "median" takes the median distance of rows.
    random_state: seeds the frequencies and the rows that the median is taken over.

    Attributes: `kernel_`, `frequencies_` (D, d), `phases_` (D,), `center_` (d,), which stands for zero.

    >>> phi = OrthogonalFourier(n_features=400, bandwidth=1.0).fit_transform([[0.0, 0.0], [1.0, 0.0]])
    >>> round(float(phi[0] @ phi[0]), 12), bool(abs(phi[0] @ phi[1] - np.exp(-1 / 2)) < 0.05)
    (1.0, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Fourier._parameter_constraints,
        "kernel": [StrOptions(KERNEL_NAMES - {"laplace"})],
    }

    @property
    def radius(self) -> float:
        """One, or a little more if D is odd: sine and cosine of an angle are a point of the unit circle."""
        return float(np.sqrt((self.width + self.width % 2) / self.width))

    def _waves(self, kernel: StationaryKernel, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
        pairs = (self.n_features + 1) // 2
        lengths = np.linalg.norm(kernel.spectral_sample(d, pairs, rng), axis=1)
        blocks = [random_rotation(d, rng) for _ in range(0, pairs, d)]
        frequencies = lengths[:, None] * np.concatenate(blocks)[:pairs]
        # cos(z - pi / 2) = sin z
        phases = np.tile([0.0, -np.pi / 2], pairs)
        return np.repeat(frequencies, 2, axis=0)[: self.n_features], phases[: self.n_features]


def random_rotation(d: int, rng: np.random.Generator) -> Array:
    """An orthogonal d x d matrix, uniformly distributed.

    >>> q = random_rotation(3, np.random.default_rng(0))
    >>> np.allclose(q @ q.T, np.eye(3))
    True
    """
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return q * np.sign(np.diagonal(r))

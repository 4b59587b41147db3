"""Fewer points, nearly the same scores.

>>> import numpy as np
>>> from unflip.compress import herd
>>> from unflip.kernels import Gaussian
>>> X = np.random.default_rng(0).normal(size=(200, 2))
>>> found = herd(X, np.sign(X[:, 0]) / 200, Gaussian(1.0), n_support=20)
>>> bool(found.errors[-1] < 0.05 * found.errors[0])
True
"""

from unflip.compress.herding import Herd, herd

__all__ = ["Herd", "herd"]

"""Engines: whatever sums a block of features, chosen once by what the block is.

Each engine is a module with the two functions of `Engine`: `host` for NumPy, SciPy and columns of Arrow (with
`numba_loops` where they are worth it), `triton_sums` for NVIDIA GPUs, `array_api` for all other libraries.
`exact_sums` adds integers, knows no frame, and is a summation of its own.
"""

from __future__ import annotations

from typing import Any, Protocol

from unflip._triton import is_for_triton
from unflip.border.arrays import Array, is_foreign
from unflip.border.labels import Labels
from unflip.moments.frame import Frame
from unflip.passes import array_api, host
from unflip.passes.sums import ClassSums

MOST_IN_TRITON = 16  # classes that our kernel keeps sums for


class Engine(Protocol):
    """What sums rows X, (n, d), with labels and weights beside them; NaN and infinity in X reach the sums."""

    def class_sums(self, X: Any, labels: Labels, weight: Any, frame: Frame) -> ClassSums:
        """Weighted sums of z = (x - origin) / unit by class."""
        ...

    def second_moment(self, X: Any, weight: Any, frame: Frame) -> Array:
        """The sum of w z z', (d, d)."""
        ...


def engine_for(X: Any, labels: Labels) -> Engine:
    """The engine for such rows.

    >>> import numpy as np
    >>> from unflip.sources import encode
    >>> engine_for(np.ones((2, 1)), encode([0, 1])).__name__
    'unflip.passes.host'
    """
    if not is_foreign(X):
        return host
    if labels.codes is not None and len(labels.classes) <= MOST_IN_TRITON and is_for_triton(X):
        from unflip.passes import triton_sums

        return triton_sums
    return array_api

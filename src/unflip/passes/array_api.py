"""Sums over rows that are arrays of torch or CuPy, or of any library of the array API: beside the rows.

Blocks of rows are turned into float64 and multiplied by the weights of each class. Only the sums come to the
host, at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from unflip.border.arrays import Array, to_numpy
from unflip.border.blocks import device_blocks
from unflip.border.labels import Labels
from unflip.moments.frame import Frame
from unflip.passes.sums import ClassSums


@np.errstate(over="ignore", invalid="ignore")  # for libraries that are NumPy inside
def class_sums(X: Any, labels: Labels, weight: Any, frame: Frame) -> ClassSums:
    """Weighted sums of z by class; see `Engine`.

    >>> import array_api_strict as xp
    >>> from unflip.sources import encode
    >>> X = xp.asarray([[1.0], [3.0]])
    >>> found = class_sums(X, encode(xp.asarray([0, 1])), xp.ones(2), Frame.plain(1))
    >>> found.counts.tolist(), found.sums.tolist(), found.squares.tolist()
    ([1.0, 1.0], [[1.0], [3.0]], [10.0])
    """
    n_classes = len(labels.classes)
    (n, d), xp = X.shape, array_namespace(X)
    here: dict[str, Any] = {"dtype": xp.float64, "device": device(X)}
    counts, sums, squares = (xp.zeros(shape, **here) for shape in (n_classes, (n_classes, d), d))
    places = xp.arange(n_classes, device=device(X))[:, None]
    for rows in device_blocks(n, max(d, n_classes)):
        z, w = frame.z(X[rows, :]), weight[rows]
        if labels.codes is None:
            by_class = labels.soft[:, rows] * w
        else:
            own = xp.astype(labels.codes[rows], places.dtype)[None, :] == places
            by_class = xp.where(own, w[None, :], xp.zeros_like(w)[None, :])
        counts = counts + xp.sum(by_class, axis=1)
        sums = sums + by_class @ z
        squares = squares + xp.sum(w[:, None] * (z * z), axis=0)
    return ClassSums(*map(to_numpy, (counts, sums, squares)))


@np.errstate(over="ignore", invalid="ignore")  # for libraries that are NumPy inside
def second_moment(X: Any, weight: Any, frame: Frame) -> Array:
    """The sum of w z z', (d, d), in float64.

    >>> import array_api_strict as xp
    >>> second_moment(xp.asarray([[1.0], [3.0]]), xp.ones(2), Frame.plain(1)).tolist()
    [[10.0]]
    """
    (n, d), xp = X.shape, array_namespace(X)
    second = xp.zeros((d, d), dtype=xp.float64, device=device(X))
    plain = bool(xp.all(weight == 1))
    for rows in device_blocks(n, d):
        z = frame.z(X[rows, :])
        second = second + (z if plain else z * weight[rows][:, None]).T @ z
    return to_numpy(second)

"""Sums over rows that are arrays of torch or CuPy, or of any library of the array API: beside the rows.

Blocks of rows are turned into float64 and multiplied by the weights of each class. On an NVIDIA GPU with
Triton (extra `gpu`) a kernel of our own reads X once instead. Only the sums come to the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from unflip._arrays import blocks, to_numpy
from unflip._triton import is_for_triton
from unflip.moments.frame import in_frame
from unflip.sources import Labels

Array = np.ndarray[Any, Any]
MOST = 16  # classes that our kernel keeps sums for


@np.errstate(over="ignore", invalid="ignore")  # for libraries that are NumPy inside
def class_sums(X: Any, labels: Labels, weight: Any, origin: Array, unit: float) -> tuple[Array, Array, Array]:
    """Counts (K,), sums (K, d) of w z by class and sums (d,) of w z^2, for z = (x - origin) / unit.

    >>> import array_api_strict as xp
    >>> from unflip.sources import encode
    >>> X = xp.asarray([[1.0], [3.0]])
    >>> counts, sums, squares = class_sums(X, encode(xp.asarray([0, 1])), xp.ones(2), np.zeros(1), 1.0)
    >>> counts.tolist(), sums.tolist(), squares.tolist()
    ([1.0, 1.0], [[1.0], [3.0]], [10.0])
    """
    n_classes = len(labels.classes)
    if labels.codes is not None and n_classes <= MOST and is_for_triton(X):
        from unflip.moments import triton_sums

        return triton_sums.class_sums(X, labels.codes, weight, n_classes, origin, unit)
    (n, d), xp = X.shape, array_namespace(X)
    here: dict[str, Any] = {"dtype": xp.float64, "device": device(X)}
    counts, sums, squares = (xp.zeros(shape, **here) for shape in (n_classes, (n_classes, d), d))
    places = xp.arange(n_classes, device=device(X))[:, None]
    for rows in blocks(n, max(d, n_classes)):
        z, w = in_frame(X[rows, :], origin, unit), weight[rows]
        if labels.codes is None:
            by_class = labels.soft[:, rows] * w
        else:
            own = xp.astype(labels.codes[rows], places.dtype)[None, :] == places
            by_class = xp.where(own, w[None, :], xp.zeros_like(w)[None, :])
        counts = counts + xp.sum(by_class, axis=1)
        sums = sums + by_class @ z
        squares = squares + w @ (z * z)
    return to_numpy(counts), to_numpy(sums), to_numpy(squares)


@np.errstate(over="ignore", invalid="ignore")  # for libraries that are NumPy inside
def second_moment(X: Any, weight: Any, origin: Array, unit: float) -> Array:
    """The sum of w z z', (d, d), in float64.

    >>> import array_api_strict as xp
    >>> second_moment(xp.asarray([[1.0], [3.0]]), xp.ones(2), np.zeros(1), 1.0).tolist()
    [[10.0]]
    """
    (n, d), xp = X.shape, array_namespace(X)
    second = xp.zeros((d, d), dtype=xp.float64, device=device(X))
    plain = bool(xp.all(weight == 1))
    for rows in blocks(n, d):
        z = in_frame(X[rows, :], origin, unit)
        second = second + (z if plain else z * weight[rows][:, None]).T @ z
    return to_numpy(second)

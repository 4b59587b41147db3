"""The frame of sums: z = (phi - origin) / unit, chosen so that plain sums keep what matters.

Origin and unit are zero and one unless features lie far from zero for their spread, or are huge or tiny.
They never look at labels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from unflip._arrays import as_float64, beside, is_foreign, to_numpy

Array = np.ndarray[Any, Any]
FAR = 100.0  # a column this many times farther from zero than it is wide is summed about its own place
HUGE = 1e250  # in such units, differences of features may be more than float64 can hold
ORDINARY = 1e90  # features between the inverse and this are summed as they are


def frame_of(sample: Any) -> tuple[Array, float]:
    """Origin and unit for features like these.

    >>> origin, unit = frame_of(np.array([[1e9, 0.0], [1e9 + 1, 2.0]]))
    >>> origin.tolist(), unit
    ([1000000000.0, 0.0], 1.0)
    """
    mostly_zeros = sparse.issparse(sample) and 2 * sample.count_nonzero() <= math.prod(sample.shape)
    if mostly_zeros or not sample.shape[0]:
        origin = np.zeros(sample.shape[1])
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            origin = _origin(np.asarray(dense(sample), dtype=np.float64))
    return origin, unit_for(largest(in_frame(sample, origin, 1.0)))


@np.errstate(over="ignore", invalid="ignore")
def keeps_digits(total: float, sums: Array, squares: Array) -> bool:
    """Whether sums about zero in units of one keep what matters, as they themselves tell.

    total: the sum of w; sums, squares: (d,), of w x and w x^2. Columns far from zero for their spread, and
    huge or tiny ones, want a frame of their own. Constant columns, of ones for example, are no harm beside
    others that vary as much.

    >>> near, far = (np.array([1.0, 2.0]), np.array([1e9, 1e9 + 1]))
    >>> [keeps_digits(2.0, x.sum(keepdims=True), (x * x).sum(keepdims=True)) for x in (near, far)]
    [True, False]
    """
    if not 0 < total < np.inf:
        return False
    size = math.sqrt(float(squares.sum()) / total)
    if not 1 / ORDINARY < size < ORDINARY:  # so written, NaN does not pass
        return False
    place = np.square(sums / total)
    spread = squares / total - place
    return not (place > FAR**2 * np.where(spread == 0, spread.max(), spread)).any()


def unit_for(size: float) -> float:
    """A power of two in which the largest feature is an ordinary number.

    >>> unit_for(5.0), unit_for(2.0**400)
    (1.0, 5.164499756173817e+120)
    """
    if size == 0 or 1 / ORDINARY < size < ORDINARY:
        return 1.0
    return float(np.ldexp(1.0, max(-1000, min(int(np.frexp(size)[1]), 1000))))


def largest(z: Any) -> float:
    """The largest finite absolute value.

    >>> largest(np.array([[1.0, -3.0], [np.inf, np.nan]]))
    3.0
    """
    if is_foreign(z):
        xp = array_namespace(z)
        size = xp.abs(z)
        return float(xp.max(xp.where(xp.isfinite(size), size, xp.zeros_like(size))))
    values = np.abs(z.data if sparse.issparse(z) else z)
    return float(values[np.isfinite(values)].max(initial=0.0))


def in_frame(phi: Any, origin: Array, unit: float) -> Any:
    """z = (phi - origin) / unit in float64. Sparse rows stay sparse as long as the origin is zero.

    It is zero for rows that are mostly zeros; only a model of other rows shifts them.

    >>> in_frame(np.array([[5.0]]), np.array([1.0]), 2.0).tolist()
    [[2.0]]
    """
    shifted = origin.any()
    if is_foreign(phi):
        z = as_float64(phi)
        z = z - beside(origin, phi) if shifted else z
        return z if unit == 1 else z / unit
    if sparse.issparse(phi):
        z = phi.toarray().astype(np.float64) if shifted else phi.astype(np.float64, copy=False)
    else:
        z = np.asarray(phi, dtype=np.float64)
    with np.errstate(over="ignore"):  # what is beyond floats is infinite, and whoever asked looks at that
        if shifted and unit > HUGE:
            return z / unit - origin / unit
        if shifted:
            z = z - origin
        return z if unit == 1 else z / unit


def squared_norms(z: Any) -> Any:
    """|z|^2 for each row.

    >>> squared_norms(np.array([[3.0, 4.0]])).tolist()
    [25.0]
    """
    if is_foreign(z):
        return array_namespace(z).sum(z * z, axis=1)
    if sparse.issparse(z):
        return dense(z.multiply(z).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", z, z)


def scaled_rows(z: Any, w: Array) -> Any:
    """Each row times its weight.

    >>> scaled_rows(np.array([[1.0], [2.0]]), np.array([3.0, 4.0])).tolist()
    [[3.0], [8.0]]
    """
    return z.multiply(w[:, None]).tocsr() if sparse.issparse(z) else z * w[:, None]


def without_duplicates(X: Any) -> Any:
    """X, with one entry for each place of a sparse table: two that are to be added have another square.

    >>> without_duplicates(sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))).data.tolist()
    [3.0]
    """
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def dense(product: Any) -> Array:
    """A small result as an array, however it was computed.

    >>> dense(sparse.csr_array([[1.0]])).tolist()
    [[1.0]]
    """
    return product.toarray() if sparse.issparse(product) else to_numpy(product)


def _origin(x: Array) -> Array:
    """The first row in columns that lie far from zero for their spread, zero in the others."""
    first = np.abs(x[0])
    spread = np.abs(x - x[0]).max(axis=0)
    widest = np.max(spread, initial=0.0)
    # A constant column has no spread; it matters if rounding its mean shows beside the others.
    far_constant = first > (1e3 * widest if widest else 1e6)
    far = np.isfinite(first) & (first > FAR * spread) & ((spread > 0) | far_constant)
    return np.where(far, x[0], 0.0)

"""The frame of sums: z = (phi - origin) / unit, chosen so that plain sums keep what matters.

Origin and unit are zero and one unless features lie far from zero for their spread, or are huge or tiny.
They never look at labels.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from unflip.border.arrays import Array, as_float64, beside, is_foreign, to_numpy

FAR_FROM_ZERO = (
    100.0  # a column this many times farther from zero than it is wide is summed about its own place
)
ORDINARY_BITS = 300
ORDINARY = 2.0**ORDINARY_BITS  # features between the inverse and this are summed as they are
HUGE = 1e250  # in such units, differences of features may be more than float64 can hold


class Frame(NamedTuple):
    """Where features are counted from, and in which unit, a power of two.

    >>> frame = Frame.of(np.array([[1e9, 0.0], [1e9 + 1, 2.0]]))
    >>> frame.origin.tolist(), frame.unit, frame.z(np.array([[1e9 + 3, 1.0]])).tolist()
    ([1000000000.0, 0.0], 1.0, [[3.0, 1.0]])
    """

    origin: Array
    unit: float = 1.0

    @classmethod
    def plain(cls, width: int) -> Frame:
        """The frame in which features are as they come.

        >>> Frame.plain(2).origin.tolist()
        [0.0, 0.0]
        """
        return cls(np.zeros(width))

    @classmethod
    def of(cls, sample: Any) -> Frame:
        """The frame for features like these, (n, d), which are on the host."""
        mostly_zeros = sparse.issparse(sample) and 2 * sample.count_nonzero() <= math.prod(sample.shape)
        if mostly_zeros or not sample.shape[0]:
            frame = cls.plain(sample.shape[1])
        else:
            x = sample.toarray() if sparse.issparse(sample) else sample
            frame = cls(_far_places(np.asarray(x, dtype=np.float64)))
        return frame.reaching(largest(frame.z(sample)))

    def reaching(self, size: float) -> Frame:
        """The same place, in a unit for features that lie as far from it.

        >>> Frame.plain(1).reaching(5.0).unit, Frame.plain(1).reaching(2.0**400).unit
        (1.0, 5.164499756173817e+120)
        """
        if size == 0 or 1 / ORDINARY < size < ORDINARY:
            return Frame(self.origin)
        return Frame(self.origin, float(np.ldexp(1.0, max(-1000, min(int(np.frexp(size)[1]), 1000)))))

    @property
    def is_plain(self) -> bool:
        """Whether features are as they come."""
        return self.unit == 1 and not self.origin.any()

    @property
    def zero(self) -> Array:
        """Where features that are zero lie, as z."""
        return -self.origin / self.unit

    def z(self, phi: Any) -> Any:
        """(phi - origin) / unit in float64, of NumPy, SciPy or the library of phi.

        Sparse rows stay sparse as long as the origin is zero. It is zero for rows that are mostly zeros; only
        a model of other rows shifts them.

        >>> Frame(np.array([1.0]), 2.0).z(np.array([[5.0]])).tolist()
        [[2.0]]
        """
        origin, unit = self
        shifted = origin.any()
        if sparse.issparse(phi):
            z = phi.toarray().astype(np.float64) if shifted else phi.astype(np.float64, copy=False)
        elif not isinstance(phi, np.ndarray) and is_foreign(phi):
            z = as_float64(phi)
            z = z - beside(origin, phi) if shifted else z
            return z if unit == 1 else z / unit
        else:
            z = np.asarray(phi, dtype=np.float64)
        with np.errstate(over="ignore"):  # what is beyond floats is infinite, and whoever asked looks at that
            if shifted and unit > HUGE:
                return z / unit - origin / unit
            if shifted:
                z = z - origin
            return z if unit == 1 else z / unit

    def to(self, other: Frame) -> tuple[float, Array]:
        """The ratio and the shift by which z becomes ratio z + shift in another frame.

        >>> ratio, shift = Frame(np.array([6.0]), 4.0).to(Frame(np.array([2.0]), 2.0))
        >>> ratio, shift.tolist()
        (2.0, [2.0])
        """
        return self.unit / other.unit, (self.origin - other.origin) / other.unit

    def common(self, other: Frame) -> Frame:
        """A frame that sums in either can be expressed in, the same whichever comes first.

        >>> Frame(np.array([6.0]), 4.0).common(Frame(np.array([2.0]))).origin.tolist()
        [2.0]
        """
        here, there = self.origin, other.origin
        nearer = np.abs(here) - np.abs(there)
        origin = np.where(nearer == 0, np.minimum(here, there), np.where(nearer < 0, here, there))
        apart = float(np.abs(here - there).max(initial=0.0))  # whose square must not overflow
        reaching = Frame(origin).reaching(apart).unit if apart else 0.0
        return Frame(origin, max(self.unit, other.unit, reaching))


def largest(z: Any) -> float:
    """The largest finite absolute value.

    >>> largest(np.array([[1.0, -3.0], [np.inf, np.nan]]))
    3.0
    """
    if not isinstance(z, np.ndarray) and is_foreign(z):
        xp = array_namespace(z)
        size = xp.abs(z)
        return float(xp.max(xp.where(xp.isfinite(size), size, xp.zeros_like(size))))
    values = np.abs(z.data if sparse.issparse(z) else z)
    return float(values[np.isfinite(values)].max(initial=0.0))


def squared_norms(z: Any) -> Any:
    """|z|^2 for each row.

    >>> squared_norms(np.array([[3.0, 4.0]])).tolist()
    [25.0]
    """
    if isinstance(z, np.ndarray):
        return np.einsum("ij,ij->i", z, z)
    if sparse.issparse(z):
        return dense(z.multiply(z).sum(axis=1)).ravel()
    return array_namespace(z).sum(z * z, axis=1)


def scaled_rows(z: Any, w: Array) -> Any:
    """Each row times its weight.

    >>> scaled_rows(np.array([[1.0], [2.0]]), np.array([3.0, 4.0])).tolist()
    [[3.0], [8.0]]
    """
    return z.multiply(w[:, None]).tocsr() if sparse.issparse(z) else z * w[:, None]


def dense(product: Any) -> Array:
    """A small result as an array, however it was computed.

    >>> dense(sparse.csr_array([[1.0]])).tolist()
    [[1.0]]
    """
    if isinstance(product, np.ndarray):
        return np.asarray(product)  # of a matrix too, which sums of sparse ones are
    return product.toarray() if sparse.issparse(product) else to_numpy(product)


@np.errstate(invalid="ignore", over="ignore")
def _far_places(x: Array) -> Array:
    """The first row in columns that lie far from zero for their spread, zero in the others."""
    first, spread = np.abs(x[0]), np.abs(x - x[0]).max(axis=0)
    widest = np.max(spread, initial=0.0)
    # A constant column has no spread; it matters if rounding its mean shows beside the others.
    far_constant = first > (1e3 * widest if widest else 1e6)
    far = np.isfinite(first) & (first > FAR_FROM_ZERO * spread) & ((spread > 0) | far_constant)
    return np.where(far, x[0], 0.0)

"""Sums without rounding: every float64 is an integer times a power of two, and integers add exactly.

A sum is kept in windows of 32 bits, as an integer in base 2^32. A number touches the three windows that its
53 bits can reach. In canonical form, with carries passed on and every window but the last in [0, 2^32),
equal sums are equal bits: whatever the order of the rows, their chunks, the threads and the merges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.border.arrays import Array

LIMB_BITS = 32
MASK = (1 << LIMB_BITS) - 1
LOWEST = -3328  # the exponent of the first window: the smallest weight times square reaches 2^-3276
SPAN = 208  # windows that reach beyond the largest sum of weighted squares
ADDED_WITHOUT_ROUNDING = 1 << 20  # numbers whose parts, as float64, add up without rounding


@dataclass(frozen=True, eq=False)
class Windows:
    """Exact sums, one for each place of an array: limbs[..., w] 2^(LOWEST + 32 (first + w)), summed over w.

    >>> tenth = Windows.of(np.array([0.1]))
    >>> (tenth + tenth + tenth).rounded().tolist(), 0.1 + 0.1 + 0.1
    ([0.30000000000000004], 0.30000000000000004)
    >>> (Windows.of(np.array([1e100])) + tenth - Windows.of(np.array([1e100]))).rounded().tolist()
    [0.1]
    """

    first: int
    limbs: Array

    @classmethod
    def of(cls, values: Array) -> Windows:
        """Numbers as they are."""
        windows = np.zeros((values.size, SPAN), dtype=np.int64)
        deposit(*as_integers(values.ravel()), np.arange(values.size), windows)
        return cls.canonical(0, windows.reshape(*values.shape, SPAN))

    @classmethod
    def checked(cls, first: Any, limbs: Any) -> Windows:
        """Windows from a file, if they are what `canonical` makes."""
        given = np.asarray(limbs)
        if not isinstance(first, int) or given.dtype != np.int64 or given.ndim != 3 or not given.shape[-1]:
            raise ValueError("limbs are a table of 64-bit integers, and the first window is a number")
        if not 0 <= first <= first + given.shape[-1] <= 2 * SPAN or (np.abs(given) > 1 << 62).any():
            raise ValueError("exact sums reach beyond their windows")
        found = cls.canonical(first, given)
        if found.first != first or not np.array_equal(found.limbs, given):
            raise ValueError("exact sums are not in canonical form")
        return found

    @classmethod
    def canonical(cls, first: int, limbs: Array) -> Windows:
        """Pass carries on, and drop windows at both ends that hold nothing anywhere."""
        start, stop = _used(limbs)
        first, limbs = first + start, limbs[..., start:stop]
        limbs = np.concatenate([limbs, np.zeros((*limbs.shape[:-1], 2), dtype=np.int64)], axis=-1)
        for w in range(limbs.shape[-1] - 1):
            limbs[..., w + 1] += limbs[..., w] >> LIMB_BITS
            limbs[..., w] &= MASK
        # The sign lives in the last window: where that is 0 or -1 everywhere, the one below can hold it.
        while limbs.shape[-1] > 1 and ((limbs[..., -1] == 0) | (limbs[..., -1] == -1)).all():
            limbs[..., -2] += limbs[..., -1] << LIMB_BITS
            limbs = limbs[..., :-1]
        start, stop = _used(limbs)
        if start == stop - 1 and not limbs[..., start].any():  # nothing anywhere
            return cls(0, np.zeros((*limbs.shape[:-1], 1), dtype=np.int64))
        return cls(first + start, np.ascontiguousarray(limbs[..., start:]))

    def __add__(self, other: Windows) -> Windows:
        first = min(self.first, other.first)
        last = max(self._last, other._last)
        return Windows.canonical(first, self._over(first, last) + other._over(first, last))

    def __neg__(self) -> Windows:
        return Windows.canonical(self.first, -self.limbs)

    def __sub__(self, other: Windows) -> Windows:
        return self + -other

    def __getitem__(self, place: Any) -> Windows:
        """Some of the sums."""
        return Windows.canonical(self.first, self.limbs[place])

    def with_rows(self, rows: list[int], count: int) -> Windows:
        """The sums in other rows, of which there are `count`, and zeros in the rest."""
        limbs = np.zeros((count, *self.limbs.shape[1:]), dtype=np.int64)
        limbs[rows] = self.limbs
        return Windows(self.first, limbs)

    @property
    def exponent(self) -> int:
        """Sums are integers times two to this power."""
        return LOWEST + LIMB_BITS * self.first

    def integers(self) -> Array:
        """The sums over 2^exponent, as Python integers."""
        total = np.zeros(self.limbs.shape[:-1], dtype=object)
        for w in range(self.limbs.shape[-1] - 1, -1, -1):
            total = total * (1 << LIMB_BITS) + self.limbs[..., w].astype(object)
        return total

    def rounded(self) -> Array:
        """The nearest float64 to each sum; infinity beyond the largest."""
        return rounded(self.integers(), self.exponent)

    @property
    def _last(self) -> int:
        return self.first + self.limbs.shape[-1]

    def _over(self, first: int, last: int) -> Array:
        grown = np.zeros((*self.limbs.shape[:-1], last - first), dtype=np.int64)
        grown[..., self.first - first : self._last - first] = self.limbs
        return grown


def rounded(integers: Array, exponent: int) -> Array:
    """Python integers times 2^exponent as the nearest float64.

    >>> rounded(np.array([3, -(2**60) - 1], dtype=object), -1).tolist()
    [1.5, -5.764607523034235e+17]
    """

    def one(integer: int) -> float:
        try:
            return integer / (1 << -exponent) if exponent < 0 else float(integer << exponent)
        except OverflowError:
            return np.inf if integer > 0 else -np.inf

    return np.array([one(integer) for integer in integers.ravel()], dtype=np.float64).reshape(integers.shape)


def as_integers(values: Array) -> tuple[Array, Array]:
    """Finite numbers as m 2^e with whole m of at most 53 bits.

    >>> m, e = as_integers(np.array([0.75, -2.0]))
    >>> (m * 2.0**e).tolist()
    [0.75, -2.0]
    """
    fraction, exponent = np.frexp(values)
    # Below the smallest normal number there are fewer bits, and 2^-1074 is the last of them.
    shift = np.maximum(exponent - 53, -1074)
    return np.ldexp(fraction, exponent - shift).astype(np.int64), shift.astype(np.int64)


def products(a: Array, b: Array) -> list[tuple[Array, Array]]:
    """a b, exactly, as the sum of four arrays m 2^e with m of at most 54 bits.

    >>> total = sum(int(m[0]) * 2.0 ** int(e[0]) for m, e in products(np.array([0.1]), np.array([3.0])))
    >>> total
    0.30000000000000004
    """
    (m, e), (n, f) = as_integers(a), as_integers(b)
    halves = [[(x >> 27, 27), (x & (1 << 27) - 1, 0)] for x in (m, n)]
    return [(x * y, e + f + (s + t)) for x, s in halves[0] for y, t in halves[1]]


def deposit(m: Array, e: Array, place: Array, windows: Array) -> None:
    """Add m 2^e to the windows of a place. All of m, e, place: (n,); windows: (places, SPAN).

    At most `ADDED_WITHOUT_ROUNDING` numbers: their parts are summed as float64, which is exact up to 2^53.
    """
    window, shift = np.divmod(e - LOWEST, LIMB_BITS)
    sign, size = np.sign(m), np.abs(m)
    low, high = (size & MASK) << shift, (size >> LIMB_BITS) << shift
    at = place * windows.shape[1] + window
    flat = windows.reshape(-1)
    for step, part in enumerate((low & MASK, (low >> LIMB_BITS) + (high & MASK), high >> LIMB_BITS)):
        where = at + step
        start = int(where.min(initial=0))
        found = np.bincount(where - start, (sign * part).astype(np.float64))
        flat[start : start + len(found)] += found.astype(np.int64)


def _used(limbs: Array) -> tuple[int, int]:
    """The windows from the first to the last that holds something; one of them if none does."""
    used = np.flatnonzero(limbs.any(axis=tuple(range(limbs.ndim - 1))))
    return (int(used[0]), int(used[-1]) + 1) if len(used) else (0, 1)

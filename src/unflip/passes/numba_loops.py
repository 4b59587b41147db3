"""Loops over rows that run at the speed of memory (extra `fast`): compiled by numba, one read of X each.

Sums take the rows start to stop, and all let other threads run meanwhile. Numbers become
z = (x - origin) * scale in float64 on their way, so nothing is copied. Where sums of a row or column may be
reordered to fill vector registers, NaN and infinity still reach them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic

from unflip.border.arrays import Array

SHORT = 1024  # rows of a column-ordered table at a time: their weights stay in the nearest cache
REORDER = {"reassoc", "contract", "nsz"}


def _compiled(**options: Any) -> Callable[[Any], Any]:
    """`njit`, kept on disk where numba finds a place to write."""

    def decorate(function: Any) -> Any:
        try:
            return njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # no folder for it
            return njit(nogil=True, **options)(function)

    return decorate


@_compiled()
def add_rows(
    X: Array,
    start: int,
    stop: int,
    codes: Array,
    weight: Array,
    origin: Array,
    scale: float,
    sums: Array,
    squares: Array,
) -> None:
    """Add w z to the sums of each row's class, (K, d), and w z^2 to the squares, (d,). X in row order."""
    for i in range(start, stop):
        own, w = sums[codes[i]], weight[i]
        for j in range(X.shape[1]):
            z = (X[i, j] - origin[j]) * scale
            own[j] += w * z
            squares[j] += w * z * z


def _typed_pointer(_: Any, address: Any, like: Any) -> Any:
    """The memory at an address, which holds numbers of the type of `like`."""
    kind = types.CPointer(like.dtype)

    def generated(context: Any, builder: Any, _: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(address, like), generated


_pointer: Any = intrinsic(_typed_pointer)


@_compiled(fastmath=REORDER)
def add_columns(
    addresses: Array,
    first: Array,
    start: int,
    stop: int,
    codes: Array,
    weight: Array,
    origin: Array,
    scale: float,
    sums: Array,
    squares: Array,
) -> None:
    """The same for columns wherever they are: a few rows at a time, against the weights of each class.

    addresses: (d,), where columns begin; first: (n,), the first of them, which tells their type and length.
    """
    by_class, z = np.empty((sums.shape[0], SHORT)), np.empty(SHORT)
    for low in range(start, stop, SHORT):
        count = min(SHORT, stop - low)
        by_class[:] = 0.0
        for i in range(count):
            by_class[codes[low + i], i] = weight[low + i]
        w = weight[low : low + count]
        for j in range(len(addresses)):
            column, o = carray(_pointer(addresses[j], first), len(first))[low : low + count], origin[j]
            square = 0.0
            for i in range(count):
                z[i] = (column[i] - o) * scale
                square += w[i] * z[i] * z[i]
            squares[j] += square
            for k in range(sums.shape[0]):
                own, total = by_class[k], 0.0
                for i in range(count):
                    total += own[i] * z[i]
                sums[k, j] += total


@_compiled()
def add_sparse(
    data: Array,
    indices: Array,
    indptr: Array,
    start: int,
    stop: int,
    codes: Array,
    weight: Array,
    scale: float,
    sums: Array,
    squares: Array,
) -> None:
    """The same for compressed sparse rows, about the origin zero."""
    for i in range(start, stop):
        own, w = sums[codes[i]], weight[i]
        for at in range(indptr[i], indptr[i + 1]):
            j, z = indices[at], data[at] * scale
            own[j] += w * z
            squares[j] += w * z * z


@_compiled(fastmath=REORDER)
def score_rows(X: Array, direction: Array, origin: Array, scale: float, out: Array) -> None:
    """<direction, z> for each row; direction: (d,). X in row order."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += direction[j] * ((X[i, j] - origin[j]) * scale)
        out[i] = total


@_compiled()
def _deposit(size: int, negative: bool, at: int, own: Array) -> None:
    """Add size 2^at to windows of 32 bits, (W,); size has at most 54 bits."""
    window, shift = at >> 5, at & 31
    low, high = (size & 0xFFFFFFFF) << shift, (size >> 32) << shift
    middle = (low >> 32) + (high & 0xFFFFFFFF)
    low, high = low & 0xFFFFFFFF, high >> 32
    if negative:
        low, middle, high = -low, -middle, -high
    own[window] += low
    own[window + 1] += middle
    own[window + 2] += high


@_compiled()
def deposit_rows(bits: Array, codes: Array, windows: Array, lowest: int) -> bool:
    """Add numbers, and their rounded squares, to the windows of their class; True if all are finite.

    bits: (n, d), float64 seen as int64; windows: (K, d + 2, W), of which the first stands for 2^lowest; they
    must not see more than 2^29 rows without their carries being passed on. Squares go to column d + 1.
    """
    d, finite = bits.shape[1], True
    for i in range(bits.shape[0]):
        own = windows[codes[i]]
        for j in range(d):
            number = bits[i, j]
            exponent, size = (number >> 52) & 0x7FF, number & 0xFFFFFFFFFFFFF
            if exponent == 0x7FF:
                finite = False
                continue
            if exponent:
                size |= 1 << 52
            elif size:
                exponent = 1
            else:
                continue
            _deposit(size, number < 0, exponent - 1075 - lowest, own[j])
            while size < 1 << 52:  # as few bits as a number near zero has, its square has less
                size <<= 1
                exponent -= 1
            fraction = size * 2.0**-53
            _deposit(
                int(fraction * fraction * 2.0**54), False, 2 * (exponent - 1022) - 54 - lowest, own[d + 1]
            )
    return finite

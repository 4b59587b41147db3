"""Rows whose columns lie apart in memory, as those of Arrow do: summed where they are, if of one type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unflip.border.arrays import Array


class ColumnTable:
    """A read-only table of numbers, (n, d), made of d arrays. Slices of its rows are arrays of NumPy.

    Columns of several types become copies of the smallest type that holds them all.

    >>> table = ColumnTable([np.array([1.0, 2.0]), np.array([3, 4])])
    >>> table.shape, table[:1].tolist(), np.asarray(table).tolist()
    ((2, 2), [[1.0, 3.0]], [[1.0, 3.0], [2.0, 4.0]])
    """

    ndim = 2

    def __init__(self, columns: Sequence[Array]) -> None:
        if len({len(column) for column in columns}) != 1:
            raise ValueError(f"columns have the lengths {sorted({len(column) for column in columns})}")
        # float32 stays float32, whole numbers become float64.
        self.dtype = np.result_type(np.float32, *(column.dtype for column in columns))
        self.columns = [np.ascontiguousarray(column, self.dtype) for column in columns]
        self.shape = len(columns[0]), len(columns)
        self.size = self.shape[0] * self.shape[1]

    @property
    def addresses(self) -> Array:
        """Where each column begins."""
        return np.array([column.ctypes.data for column in self.columns], np.intp)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Array:
        """Some rows, with all of their columns."""
        rows = key[0] if isinstance(key, tuple) else key
        if isinstance(key, tuple) and key[1:] != (slice(None),):
            raise IndexError("rows of a ColumnTable are taken whole; make an array of it to take columns")
        return np.stack([column[rows] for column in self.columns]).T  # in column order

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("the columns lie apart in memory, so an array of them is a copy")
        return self[:].astype(self.dtype if dtype is None else dtype, copy=False)

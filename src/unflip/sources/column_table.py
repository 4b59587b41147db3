"""Rows whose columns lie apart in memory, as those of Arrow do: summed where they are, never copied whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class ColumnTable:
    """A read-only table of numbers of one type, (n, d), made of d arrays; its slices are arrays of NumPy.

    >>> table = ColumnTable([np.array([1.0, 2.0]), np.array([3, 4])])
    >>> table.shape, table[:1].tolist(), np.asarray(table).tolist()
    ((2, 2), [[1.0, 3.0]], [[1.0, 3.0], [2.0, 4.0]])
    """

    ndim = 2

    def __init__(self, columns: Sequence[Array]) -> None:
        # The smallest floating type that holds them all: float32 stays float32, whole numbers become float64.
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
        """Some rows, with all columns or with some."""
        rows, chosen = key if isinstance(key, tuple) else (key, slice(None))
        return np.stack([column[rows] for column in self.columns[chosen]]).T  # in column order

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("the columns lie apart in memory, so an array of them is a copy")
        return self[:].astype(self.dtype if dtype is None else dtype, copy=False)

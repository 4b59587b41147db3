"""Any model from its file."""

from __future__ import annotations

import os

from unflip._files import kind_of
from unflip.models.kernel_model import KernelModel
from unflip.models.reading import OF_KERNELS
from unflip.models.table_model import TableModel


def load_model(path: str | os.PathLike[str]) -> TableModel | KernelModel:
    """The model in a file; a damaged or foreign one raises `ValueError`.

    >>> import polars as pl, tempfile
    >>> path = tempfile.mkdtemp() + "/model.npz"
    >>> TableModel.fit(pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]}), "old").save(path)
    >>> type(load_model(path)).__name__
    'TableModel'
    """
    return KernelModel.load(path) if kind_of(path) == OF_KERNELS else TableModel.load(path)

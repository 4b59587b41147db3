"""Any model from its file."""

from __future__ import annotations

import os

from unflip._files import kind_of
from unflip.models.kernel_model import KernelModel
from unflip.models.reading import OF_KERNELS, OF_SCALED
from unflip.models.scaled_model import ScaledModel
from unflip.models.table_model import TableModel


def load_model(path: str | os.PathLike[str]) -> TableModel | KernelModel | ScaledModel:
    """The model in a file; a damaged or foreign one raises `ValueError`.

    >>> import polars as pl, tempfile
    >>> path = tempfile.mkdtemp() + "/model.npz"
    >>> TableModel.fit(pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]}), "old").save(path)
    >>> type(load_model(path)).__name__
    'TableModel'
    """
    kind = kind_of(path)
    if kind == OF_KERNELS:
        return KernelModel.load(path)
    return ScaledModel.load(path) if kind == OF_SCALED else TableModel.load(path)

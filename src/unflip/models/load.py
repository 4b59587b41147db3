"""Any model from its file, and the names that models of some learners had of their own in version 0.1."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

from unflip._files import kind_of
from unflip.models.kernels import Kernels
from unflip.models.scaled import ScaledPipeline
from unflip.models.table_model import Learned, TableModel
from unflip.tables import Habits


class KernelModel(TableModel):
    """A `TableModel` of the learner "robust".

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70] * 5, "old": [0, 0, 1, 1] * 5})
    >>> KernelModel.fit(frame, "old").predict(pl.DataFrame({"age": [25, 65]})).tolist()
    [0, 1]
    """

    kinds: ClassVar[tuple[type[Learned], ...]] = (Kernels,)

    @classmethod
    def fit(  # type: ignore[override]  # there is one learner, and never was a parameter for it
        cls,
        frame: Any,
        target: str,
        weight: str | None = None,
        positive: str | None = None,
        source: str = "a table",
        habits: Habits | None = None,
    ) -> Self:
        """`TableModel.fit` with this learner."""
        return super().fit(frame, target, "robust", weight, positive, source, habits)


class ScaledModel(TableModel):
    """A `TableModel` of the learner "logistic" or "kernel"."""

    kinds: ClassVar[tuple[type[Learned], ...]] = (ScaledPipeline,)

    @classmethod
    def fit(cls, frame: Any, target: str, learner: str = "logistic", *more: Any, **named: Any) -> Self:
        """`TableModel.fit` with another default."""
        return super().fit(frame, target, learner, *more, **named)


def load_model(path: str | os.PathLike[str]) -> TableModel:
    """The model in a file; a damaged or foreign one raises `ValueError`.

    >>> import polars as pl, tempfile
    >>> path = tempfile.mkdtemp() + "/model.npz"
    >>> TableModel.fit(pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]}), "old").save(path)
    >>> type(load_model(path)).__name__
    'TableModel'
    """
    named = {Kernels.kind: KernelModel, ScaledPipeline.kind: ScaledModel}
    return named.get(kind_of(path), TableModel).load(path)

"""What models of tables share: which columns they need, and how these become numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip._extras import extra
from unflip.moments.privacy import Budget
from unflip.tables import Habits
from unflip.tables.tabular import Tabular

Array = np.ndarray[Any, Any]
OF_KERNELS = "kernel model"  # the kind of file that holds a robust model
OF_SCALED = "scaled model"  # that of a kernel mean, or of a logistic model
PREDICT_ONLY = {OF_KERNELS: "robust", OF_SCALED: "kernel or logistic"}  # and their learners


class ReadsTables:
    """A model with a fitted `table`, which turns frames of pandas or polars into numbers.

    habits: how CSV is written.
    """

    target: str
    table: Tabular
    habits: Habits

    @property
    def labels(self) -> list[Any]:
        """The classes, which are all text or all numbers."""
        raise NotImplementedError

    @property
    def privacy(self) -> Budget | None:
        """What the sums that the model is made of have cost, if they are private."""
        return None

    @property
    def columns(self) -> list[str]:
        """The columns that a table must have."""
        return [str(name) for name in self.table.feature_names_in_]

    def numbers(self, frame: Any) -> Array:
        """The columns of a frame as numbers, (n, width); what fitting left out may be missing."""
        missing = [name for name in self.columns if name not in frame.columns]
        for name in missing:
            if name not in self.table.left_out_:
                raise ValueError(f"the model needs the column {name!r}, which is not there")
        if missing and hasattr(frame, "assign"):
            frame = frame.assign(**dict.fromkeys(missing))
        elif missing:
            nothing = extra("polars", "io").lit(None)
            frame = frame.with_columns(nothing.alias(name) for name in missing)
        return self.table.transform(frame[self.columns])

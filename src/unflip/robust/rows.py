"""Rows in memory that candidates are fitted to: their views when asked for, labels, weights and groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.border.classes import contrast
from unflip.border.labels import Labels


@dataclass(frozen=True, eq=False)
class Rows:
    """`at` gives the rows [z | r] at some places; labels: n of them; weight: (n,).

    groups: (n,), numbers of groups of rows that are left out together; None leaves them out one by one.
    """

    at: Callable[[Any], Array]
    labels: Labels
    weight: Array
    groups: Array | None = None

    def some(self, places: Array) -> Rows:
        """Some of them, as rows of their own."""
        groups = None if self.groups is None else self.groups[places]
        return Rows(lambda at: self.at(places[at]), self.labels[places], self.weight[places], groups)

    @cached_property
    def targets(self) -> Array:
        """-1 and +1 for two classes, indicators for more: (n, k)."""
        return np.asarray(self.labels.membership @ contrast(len(self.labels.classes)).T)

    @property
    def mean(self) -> Array:
        """The mean target, (k,)."""
        return np.asarray(self.weight @ self.targets / self.weight.sum())

    @cached_property
    def centred(self) -> Array:
        """Targets about their mean, (n, k)."""
        return self.targets - self.mean

"""All rows of a source, where a fit has looked at a sample of them: sums of kernel values, and copies.

Copies of a row that was sampled may be anywhere. Leaving out that row alone would leave its label with them,
so all copies leave: to a fit they are one row with their weight and their mean target, which a pass adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from unflip.border.arrays import Array
from unflip.border.classes import contrast
from unflip.features.landmarks import Landmarks
from unflip.moments import Moments
from unflip.passes.anywhere import sum_anywhere
from unflip.passes.one_batch import batch_moments
from unflip.robust.copies import marks_of
from unflip.robust.views import Views
from unflip.sources import Batch


@dataclass(frozen=True, eq=False)
class ViewedLandmarks:
    """Rows of numbers to kernel values, by way of their views: a label-free map."""

    views: Views
    landmarks: Landmarks

    def transform(self, X: Any) -> Array:
        """Kernel values, (n, m)."""
        return self.landmarks.transform(self.views.transform(np.asarray(X, dtype=np.float64)))

    @property
    def key(self) -> str:
        """A name that equal views with equal landmarks share."""
        return f"{self.landmarks.key} of {self.views.key}"


class Units(NamedTuple):
    """What leaves together with each judged row: its copies, wherever they are.

    first: (u,), the place of one of each; member: (j,), which unit each judged row is in; targets: (u, k),
    the mean of all copies; weight: (u,), of all copies.
    """

    first: Array
    member: Array
    targets: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class Everyone:
    """A source whose rows `numbers` turns into numbers.

    classes: (K,). scale: what weights are multiplied by.
    """

    source: Any
    numbers: Callable[[Any], Array]
    classes: Array
    scale: float = 1.0

    def sums(self, views: Views, kernels: Sequence[Landmarks]) -> list[Moments]:
        """Moments of degree two of the values of each kernel, in one pass."""
        maps = [ViewedLandmarks(views, landmarks) for landmarks in kernels]
        found = sum_anywhere(self.source, _SumsOf(self.numbers, views, tuple(kernels)))
        known = [moments.with_classes(tuple(self.classes.tolist())) for moments in found.parts]
        return [
            replace(
                moments,
                counts=moments.counts * self.scale,
                sums=moments.sums * self.scale,
                second=moments.second * self.scale,
                squares=moments.squares * self.scale,
                key=feature_map.key,
            )
            for moments, feature_map in zip(known, maps, strict=True)
        ]

    def units(self, X: Array) -> Units:
        """Of sampled rows: all that equal them."""
        marks, first, member = np.unique(marks_of(X), return_index=True, return_inverse=True)
        masses = sum_anywhere(self.source, _MassesOf(self.numbers, marks, self.classes)) * self.scale
        weight = masses.sum(axis=1)
        targets = masses @ contrast(len(self.classes)).T / weight[:, None]
        return Units(first, member, targets, weight)


@dataclass(frozen=True)
class _Several:
    """Moments of several maps, which add up one by one."""

    parts: tuple[Moments, ...]

    def __add__(self, other: _Several) -> _Several:
        return _Several(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True, eq=False)
class _SumsOf:
    """A pass over batches that views each row once, for all kernels."""

    numbers: Callable[[Any], Array]
    views: Views
    kernels: tuple[Landmarks, ...]

    def __call__(self, batch: Batch) -> _Several:
        rows = self.views.transform(self.numbers(batch.X))
        viewed = Batch(rows, batch.labels, batch.weight)
        return _Several(tuple(batch_moments(viewed, kernel, degree=2) for kernel in self.kernels))


@dataclass(frozen=True, eq=False)
class _MassesOf:
    """A pass that adds up the weight by class of the rows that have one of these marks, (u, K)."""

    numbers: Callable[[Any], Array]
    marks: Array
    classes: Array

    def __call__(self, batch: Batch) -> Array:
        found = marks_of(self.numbers(batch.X))
        places = np.minimum(np.searchsorted(self.marks, found), len(self.marks) - 1)
        some = np.flatnonzero(self.marks[places] == found)
        masses = np.zeros((len(self.marks), len(self.classes)))
        columns = np.searchsorted(self.classes, batch.labels.classes)
        member = batch.labels[some].membership * np.asarray(batch.weight)[some, None]
        np.add.at(masses, (places[some][:, None], columns), member)
        return masses

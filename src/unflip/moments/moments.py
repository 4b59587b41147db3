"""Moments: everything a linear learner needs from labelled rows, as sums.

One row of sums a class, so the base rate and all class means survive. Moments add, subtract, have a
neutral element, and carry the key of their feature map, so that strangers decline to merge.

Sums are kept about an `origin` and in a `unit` (a power of two), that is of z = (phi - origin) / unit.
Both are trivial, zero and one, unless the features lie so far from zero for their spread, or are
so large or small, that plain sums would lose what matters. They never look at labels.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unflip._files import load_arrays, save_arrays

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted sums of features by class, of degree one or two.

    classes: labels in sorted order, K of them.
    counts: (K,) sums of the weights w.
    sums: (K, d) sums of w z.
    second: (d, d) sum of w z z' over all classes, or None at degree one.
    squares: sum of w |z|^2 over all classes.
    key: the name of the feature map.

    >>> from unflip.moments import accumulate
    >>> here = accumulate(([[1.0], [2.0]], ["no", "yes"]))
    >>> there = accumulate(([[4.0]], ["yes"]))
    >>> (here + there).sums.tolist(), (here + there - here).counts.tolist()
    ([[1.0], [6.0]], [0.0, 1.0])
    """

    classes: tuple[Any, ...]
    counts: Array
    sums: Array
    second: Array | None = None
    key: str = ""
    squares: float = 0.0
    origin: Array = field(default_factory=lambda: np.zeros(0))  # stands for zeros of any length
    unit: float = 1.0

    def __post_init__(self) -> None:
        n_classes, width = self.sums.shape
        if not self.origin.size:
            object.__setattr__(self, "origin", np.zeros(width))
        second_fits = self.second is None or self.second.shape == (width, width)
        if len(self.classes) != n_classes or self.counts.shape != (n_classes,) or not second_fits:
            raise ValueError("classes, counts, sums and second moment of different sizes are no moments")
        if self.origin.shape != (width,):
            raise ValueError(f"the origin has shape {self.origin.shape}, the features have width {width}")
        for array in (self.counts, self.sums, self.second, self.origin):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def zero(cls, width: int, key: str, degree: int = 1) -> Moments:
        """The neutral element: moments of no rows.

        >>> Moments.zero(2, "columns:2").counts.sum()
        np.float64(0.0)
        """
        second = np.zeros((width, width)) if degree == 2 else None
        return cls((), np.zeros(0), np.zeros((0, width)), second, key)

    @property
    def degree(self) -> int:
        """One, or two if the second moment is kept."""
        return 1 if self.second is None else 2

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.counts.sum())

    @property
    def exponent(self) -> int:
        """The binary logarithm of the unit."""
        return int(np.frexp(self.unit)[1]) - 1

    @property
    def center(self) -> Array:
        """The mean of z over all rows: the mean feature, as seen from the origin, in units."""
        return self.sums.sum(axis=0) / self.total

    @property
    def mean(self) -> Array:
        """The mean feature mu, which label noise does not move."""
        return self.origin + self.unit * self.center

    @property
    def variance(self) -> float:
        """E|z - center|^2, summed over the features."""
        return max(self.squares / self.total - float(self.center @ self.center), 0.0)

    @property
    def label_mean(self) -> Array:
        """E[y phi(x)] for two classes, the right-hand side of Equation 8.

        >>> from unflip.moments import accumulate
        >>> accumulate(([[1.0], [3.0]], [-1, 1])).label_mean.tolist()
        [1.0]
        """
        if len(self.classes) != 2:
            raise ValueError(f"the label mean is for two classes, these moments have {len(self.classes)}")
        negative, positive = self.feature_means
        return positive - negative

    @property
    def feature_means(self) -> Array:
        """E[1{y = k} phi(x)], one row a class."""
        shares = self.counts[:, None] / self.total
        return self.unit * (self.sums / self.total) + shares * self.origin

    @property
    def centered_means(self) -> Array:
        """E[1{y = k} (z - center)], one row a class; the rows sum to zero."""
        shares = self.counts[:, None] / self.total
        return self.sums / self.total - shares * self.center

    def __repr__(self) -> str:
        return (
            f"Moments(classes={list(self.classes)}, total={self.total:g}, "
            f"width={self.sums.shape[1]}, degree={self.degree})"
        )

    def __add__(self, other: Any) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        a, b = self._aligned(other)
        return replace(
            a,
            counts=a.counts + b.counts,
            sums=a.sums + b.sums,
            squares=a.squares + b.squares,
            second=None if a.second is None or b.second is None else a.second + b.second,
        )

    def __radd__(self, other: Any) -> Moments:
        """So that `sum` of moments works: it starts from the number zero."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __sub__(self, other: Any) -> Moments:
        """The moments without rows that were part of them."""
        if not isinstance(other, Moments):
            return NotImplemented
        for label, weight in zip(other.classes, other.counts, strict=True):
            if weight and label not in self.classes:
                raise ValueError(f"label {label!r} was never added, so it cannot be taken away")
        a, b = self._aligned(other)
        counts = a.counts - b.counts
        counts[np.abs(counts) <= 1e-12 * a.counts] = 0.0
        if np.any(counts < 0):
            k = int(np.argmin(counts))
            raise ValueError(
                f"class {a.classes[k]!r} has weight {a.counts[k]:g}; {b.counts[k]:g} cannot be taken away"
            )
        return replace(
            a,
            counts=counts,
            sums=np.where(counts[:, None] == 0, 0.0, a.sums - b.sums),
            squares=max(a.squares - b.squares, 0.0),
            second=None if a.second is None or b.second is None else a.second - b.second,
        )

    def with_classes(self, classes: tuple[Any, ...]) -> Moments:
        """The same moments with one row for each of `classes`, which must hold all that are here.

        >>> from unflip.moments import accumulate
        >>> accumulate(([[1.0]], ["b"])).with_classes(("a", "b")).counts.tolist()
        [0.0, 1.0]
        """
        place = {label: k for k, label in enumerate(classes)}
        for label in self.classes:
            if label not in place:
                raise ValueError(f"label {label!r} is not among the classes {list(classes)}")
        rows = [place[label] for label in self.classes]
        counts, sums = np.zeros(len(classes)), np.zeros((len(classes), self.sums.shape[1]))
        counts[rows], sums[rows] = self.counts, self.sums
        return replace(self, classes=classes, counts=counts, sums=sums)

    def framed(self, origin: Array, unit: float) -> Moments:
        """The same moments about another origin, in another unit."""
        ratio, shift = self.unit / unit, (self.origin - origin) / unit
        sums, total = self.sums * ratio, self.sums.sum(axis=0) * ratio
        second = self.second
        if second is not None:
            cross = np.outer(total, shift)
            second = second * ratio**2 + cross + cross.T + self.total * np.outer(shift, shift)
        return replace(
            self,
            sums=sums + self.counts[:, None] * shift,
            squares=self.squares * ratio**2 + 2 * float(total @ shift) + self.total * float(shift @ shift),
            second=second,
            origin=origin,
            unit=unit,
        )

    def _aligned(self, other: Moments) -> tuple[Moments, Moments]:
        if self.key != other.key:
            raise ValueError(
                f"moments of different feature maps do not mix: one is {self.key!r}, "
                f"the other {other.key!r}; fit one map and share it"
            )
        if self.degree != other.degree:
            raise ValueError(f"moments of degree {self.degree} and {other.degree} do not mix")
        classes = self.classes if self.classes == other.classes else _union(self.classes, other.classes)
        origin, unit = _common_frame(self, other)
        return (
            self.with_classes(classes).framed(origin, unit),
            other.with_classes(classes).framed(origin, unit),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all.

        >>> import tempfile
        >>> from unflip.moments import accumulate
        >>> path = tempfile.mkdtemp() + "/moments.npz"
        >>> accumulate(([[1.0], [3.0]], [-1, 1])).save(path)
        >>> Moments.load(path).label_mean.tolist()
        [1.0]
        """
        for label in self.classes:
            if not isinstance(label, str | int | float | bool):
                raise ValueError(
                    f"the label {label!r} is a {type(label).__name__}; files keep strings and numbers"
                )
        arrays = {"counts": self.counts, "sums": self.sums, "origin": self.origin}
        if self.second is not None:
            arrays["second"] = self.second
        facts = {"classes": list(self.classes), "key": self.key, "unit": self.unit, "squares": self.squares}
        save_arrays(path, "moments", facts, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Moments:
        """Read what `save` wrote; a damaged or foreign file raises `ValueError`."""
        facts, arrays = load_arrays(path, "moments")
        fields: dict[str, Any] = facts | arrays
        try:
            return cls(classes=tuple(fields.pop("classes")), **fields)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} does not hold moments: {error}") from None


def _union(here: tuple[Any, ...], there: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(set(here) | set(there)))
    except TypeError:
        raise ValueError(f"labels {list(here)} and {list(there)} are of different types") from None


def _common_frame(a: Moments, b: Moments) -> tuple[Array, float]:
    """A frame both can be expressed in, the same whichever comes first."""
    if not a.total or not b.total:
        some = b if not a.total else a
        return some.origin, some.unit
    nearer = np.abs(a.origin) - np.abs(b.origin)
    origin = np.where(nearer == 0, np.minimum(a.origin, b.origin), np.where(nearer < 0, a.origin, b.origin))
    return origin, max(a.unit, b.unit)

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
from functools import partial
from typing import Any

import numpy as np

from unflip._files import brief, load_arrays, save_arrays
from unflip.border.arrays import Array
from unflip.moments.exact import Windows
from unflip.moments.exact_floats import in_floats
from unflip.moments.files import as_facts, as_fields
from unflip.moments.frame import Frame
from unflip.moments.mixing import refuse_lost_digits, refuse_strangers
from unflip.moments.privacy import Budget
from unflip.moments.sound import as_number, as_numbers, refuse_unsound
from unflip.noise.models import Noise


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted sums of features by class, of degree one or two.

    classes: labels in sorted order, K of them.
    counts: (K,) sums of the weights w.
    sums: (K, d) sums of w z.
    second: (d, d) sum of w z z' over all classes, or None at degree one.
    squares: sum of w |z|^2 over all classes.
    key: the name of the feature map.
    names: of the columns, if they had names and no feature map stood between.
    exact: the sums without rounding, if they were accumulated so.
    probabilities: of how many classes, if some labels were soft; all labels are then among these.
    privacy: what they have cost, if they are private.
    outliers: how many the means withstand, if they are medians (`robust_moments`).
    noise: what they were corrected for, if they were (`with_noise`).

    Arrays are copied and checked; what cannot be sums of rows raises `ValueError`.

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
    names: tuple[str, ...] | None = None
    exact: Windows | None = None
    probabilities: int = 0
    privacy: Budget | None = None
    outliers: int = 0
    noise: Noise | None = None

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)  # the fields are frozen only from here on
        for name in ("counts", "sums", "origin", "second"):
            if name != "second" or self.second is not None:
                put(name, as_numbers(name, getattr(self, name)))
        put("unit", as_number("unit", self.unit))
        put("squares", as_number("squares", self.squares))
        put("classes", tuple(self.classes))
        put("names", None if self.names is None else tuple(map(str, self.names)))
        if not self.origin.size:
            put("origin", as_numbers("origin", np.zeros(self.sums.shape[-1:])))
        refuse_unsound(self)

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
    def frame(self) -> Frame:
        """The frame of the sums: z = (phi - origin) / unit."""
        return Frame(self.origin, self.unit)

    @property
    def exponent(self) -> int:
        """The binary logarithm of the unit."""
        return int(np.frexp(self.unit)[1]) - 1

    @property
    def center(self) -> Array:
        """The mean of z over all rows: the mean feature, as seen from the origin, in units.

        Like every mean here it raises `ValueError` if there are no rows.
        """
        return self.sums.sum(axis=0) / self._some_total

    @property
    def mean(self) -> Array:
        """The mean feature mu, which label noise does not move."""
        return self.origin + self.unit * self.center

    @property
    def variance(self) -> float:
        """E|z - center|^2, summed over the features; zero if there are no rows.

        >>> Moments.zero(2, "columns:2").variance
        0.0
        """
        if not self.total:
            return 0.0
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
        # Not the difference of two feature means: far from zero both have lost their last digits.
        negative, positive = self.sums
        base_rate = (self.counts[1] - self.counts[0]) / self._some_total
        return self.unit * ((positive - negative) / self.total) + base_rate * self.origin

    @property
    def feature_means(self) -> Array:
        """E[1{y = k} phi(x)], one row a class."""
        shares = self.counts[:, None] / self._some_total
        return self.unit * (self.sums / self.total) + shares * self.origin

    @property
    def centered_means(self) -> Array:
        """E[1{y = k} (z - center)], one row a class; the rows sum to zero."""
        shares = self.counts[:, None] / self._some_total
        return self.sums / self.total - shares * self.center

    @property
    def _some_total(self) -> float:
        if not self.total:
            raise ValueError("these moments are of no rows, which have no mean")
        return self.total

    def __repr__(self) -> str:
        return (
            f"Moments(classes={list(self.classes)}, total={self.total:g}, "
            f"width={self.sums.shape[1]}, degree={self.degree})"
        )

    def __add__(self, other: Any) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        a, b = self._aligned(other)
        for part, nothing in ((a, b), (b, a)):
            if not nothing.total and (part.exact is None) != (nothing.exact is None):
                return part  # moments of no rows, exact or not, add nothing
        if a.exact is not None and b.exact is not None:
            return exact_moments(a.classes, a.exact + b.exact, a.key, a.names, a.probabilities)
        costs = [part.privacy for part in (a, b) if part.privacy is not None]
        with np.errstate(over="ignore"):  # what overflows is refused as moments
            return replace(
                a,
                privacy=sum(costs[1:], start=costs[0]) if costs else None,
                outliers=max(a.outliers, b.outliers),  # of which one has no rows, or they would not mix
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
        if self.privacy is not None and other.total:
            raise ValueError(
                "rows cannot be taken out of private sums, which hide them; take them out of the plain sums, "
                "and release these anew"
            )
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
        if a.exact is not None:
            remaining = a.exact if b.exact is None else a.exact - b.exact
            return exact_moments(a.classes, remaining, a.key, a.names, a.probabilities)
        left = replace(
            a,
            counts=counts,
            sums=np.where(counts[:, None] == 0, 0.0, a.sums - b.sums),
            squares=max(a.squares - b.squares, 0.0),
            second=None if a.second is None or b.second is None else a.second - b.second,
        )
        if b.total:
            refuse_lost_digits(a, left)
        return left

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
        exact = None if self.exact is None else self.exact.with_rows(rows, len(classes))
        return replace(self, classes=classes, counts=counts, sums=sums, exact=exact)

    def with_noise(self, noise: Noise) -> Moments:
        """The sums that clean labels would have had, on average: those by class, with the noise undone.

        Sums over all classes stay: labels have no part in them. Corrected sums mix with sums that are
        corrected for the same noise, and with no others.

        >>> from unflip.moments import accumulate
        >>> from unflip.noise import SymmetricNoise
        >>> accumulate(([[1.0], [3.0]], [-1, 1])).with_noise(SymmetricNoise(0.25)).sums.tolist()
        [[0.0], [4.0]]
        """
        if self.noise is not None:
            raise ValueError(f"these sums were corrected for {self.noise!r} already; begin with those before")
        if noise.n_classes != len(self.classes):
            raise ValueError(
                f"the noise model speaks of {noise.n_classes} classes, the sums of {len(self.classes)}"
            )
        counts = noise.unmix(self.counts[:, None])[:, 0].astype(np.float64)
        for label, count in zip(self.classes, counts.tolist(), strict=True):
            if count <= 0:
                raise ValueError(
                    f"{noise!r} would by itself give class {label!r} more labels than it has; lower the rates"
                )
        sums = noise.unmix(self.sums).astype(np.float64)
        return replace(self, counts=counts, sums=sums, exact=None, probabilities=0, noise=noise)

    def framed(self, origin: Array, unit: float) -> Moments:
        """The same moments about another origin, in another unit.

        >>> from unflip.moments import accumulate
        >>> accumulate(([[1.0], [3.0]], [-1, 1])).framed(np.array([1.0]), 2.0).sums.tolist()
        [[0.0], [1.0]]
        """
        if unit == self.unit and np.array_equal(origin, self.origin):
            return self
        if not self.total:  # whatever the ratio of the units, were it beyond floats
            return replace(self, origin=origin, unit=unit)
        ratio, shift = self.frame.to(Frame(origin, unit))
        sums, total = self.sums * ratio, self.sums.sum(axis=0) * ratio
        second = self.second
        if second is not None:
            cross = np.outer(total, shift)
            second = second * ratio**2 + cross + cross.T + self.total * np.outer(shift, shift)
        squares = self.squares * ratio**2 + 2 * float(total @ shift) + self.total * float(shift @ shift)
        return replace(
            self,
            sums=sums + self.counts[:, None] * shift,
            squares=max(squares, 0.0),
            second=second,
            origin=origin,
            unit=unit,
        )

    def _aligned(self, other: Moments) -> tuple[Moments, Moments]:
        refuse_strangers(self, other)
        classes = self.classes if self.classes == other.classes else _union(self.classes, other.classes)
        if self.total and other.total:
            frame = self.frame.common(other.frame)
        else:  # of no rows, whose frame does not matter
            frame = (self if self.total else other).frame
        names = other.names if self.names is None else self.names  # moments of no rows have none
        soft = {part.probabilities for part in (self, other) if part.probabilities}
        if len(soft) > 1:
            raise ValueError(f"probabilities of {min(soft)} and of {max(soft)} classes do not mix")
        probabilities = max(soft, default=0)
        a, b = (
            replace(part.with_classes(classes), names=names, probabilities=probabilities)
            for part in (self, other)
        )
        return a.framed(*frame), b.framed(*frame)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz without pickle, whole or not at all.

        >>> import tempfile
        >>> from unflip.moments import accumulate
        >>> path = tempfile.mkdtemp() + "/moments.npz"
        >>> accumulate(([[1.0], [3.0]], [-1, 1])).save(path)
        >>> Moments.load(path).label_mean.tolist()
        [1.0]
        """
        save_arrays(path, "moments", *as_facts(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Moments:
        """Read what `save` wrote; a damaged or foreign file raises `ValueError`."""
        facts, arrays = load_arrays(path, "moments")
        try:
            return cls(**as_fields(facts, arrays))
        except (TypeError, ValueError, LookupError, ArithmeticError, RecursionError) as error:
            raise ValueError(f"{path} does not hold moments: {brief(error)}") from None


def exact_moments(
    classes: tuple[Any, ...],
    windows: Windows,
    key: str,
    names: tuple[str, ...] | None = None,
    probabilities: int = 0,
) -> Moments:
    """Moments from exact sums, (K, d + 2): of w x by class, of w, and of w |x|^2.

    >>> from unflip.passes.exact_sums import exact_sums
    >>> from unflip.sources import encode
    >>> windows = exact_sums(np.array([[1.0], [3.0]]), encode([0, 1]), np.ones(2))
    >>> exact_moments((0, 1), windows, "columns:1").sums.tolist()
    [[1.0], [3.0]]
    """
    counts, sums, squares, origin, unit = in_floats(windows)
    return Moments(classes, counts, sums, None, key, squares, origin, unit, names, windows, probabilities)


def _union(here: tuple[Any, ...], there: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(set(here) | set(there)))
    except TypeError:
        raise ValueError(f"labels {list(here)} and {list(there)} are of different types") from None

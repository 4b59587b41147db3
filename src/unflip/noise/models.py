"""Models of label noise: what happens to a label, on average.

A model is a table of P(noisy label | clean label), one row a clean class, classes in sorted order.
Rates may be fractions; all that is computed from them is then exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from unflip._fractions import SingularMatrixError, inverse
from unflip.border.arrays import Array


class Noise(ABC):
    """What every model offers: the transition table, and its effect on class probabilities."""

    n_classes: int

    @property
    @abstractmethod
    def transition(self) -> Array:
        """P(noisy label = column | clean label = row)."""

    @abstractmethod
    def _inverse(self) -> Array:
        """The inverse of the transition table."""

    def corrupt(self, class_probability: Any) -> Any:
        """The class probabilities that the noisy labels have.

        Two classes: P(y = +1), numbers or arrays of any shape, as eta in the paper. More classes:
        rows of K probabilities.

        >>> SymmetricNoise(0.25).corrupt(1.0)  # Equation 2
        0.75
        >>> UniformNoise(0.3, n_classes=3).corrupt([1.0, 0.0, 0.0]).round(12).tolist()
        [0.7, 0.15, 0.15]
        """
        return self._through(self.transition, class_probability)

    def restore(self, noisy_class_probability: Any) -> Any:
        """The way back from `corrupt`; outside [0, 1] where no clean probability explains the noisy one.

        >>> SymmetricNoise(0.25).restore(0.75)
        1.0
        """
        return self._through(self._inverse(), noisy_class_probability)

    def unmix(self, by_label: Any) -> Array:
        """Sums by clean class, on average, from sums by noisy class (one row a class).

        >>> SymmetricNoise(0.25).unmix([[1.0], [3.0]]).tolist()
        [[0.0], [4.0]]
        """
        return self._inverse().T @ np.asarray(by_label)  # Equation 10

    def _through(self, table: Array, class_probability: Any) -> Any:
        p = np.asarray(class_probability)
        if p.dtype.kind == "f":  # floats stay floats, also under fractional rates
            p, table = p.astype(np.float64, copy=False), table.astype(np.float64, copy=False)
        elif p.dtype != object:
            p = p.astype(object if table.dtype == object else np.float64)
        if self.n_classes == 2:
            result = (1 - p) * table[0, 1] + p * table[1, 1]  # Equation 2
            return (
                result.item() if isinstance(result, np.ndarray | np.generic) and not result.ndim else result
            )
        if not p.ndim or p.shape[-1] != self.n_classes:
            raise ValueError(
                f"rows of {self.n_classes} class probabilities are needed, got an array of shape {p.shape}"
            )
        return p @ table


@dataclass(frozen=True)
class SymmetricNoise(Noise):
    """Each of two labels is flipped with the same probability `rate`, below 1/2.

    >>> SymmetricNoise(0.2).transition.tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """

    rate: Any
    n_classes = 2

    def __post_init__(self) -> None:
        rate: Any = self.rate if isinstance(self.rate, Real) else np.nan
        if not 0 <= rate < 0.5:  # not as a float: a whole number may be beyond these
            raise ValueError(f"a symmetric noise rate lies in [0, 1/2), got {self.rate!r}")

    @property
    def transition(self) -> Array:
        """P(noisy label = column | clean label = row)."""
        return _alike(2, 1 - self.rate, self.rate)

    def _inverse(self) -> Array:
        rest = 1 - 2 * self.rate
        return _alike(2, (1 - self.rate) / rest, -self.rate / rest)


@dataclass(frozen=True)
class UniformNoise(Noise):
    """A label is wrong with probability `rate`, and then any of the other classes alike.

    Below rate (K - 1) / K the true class stays the likeliest one.

    >>> UniformNoise(0.2, n_classes=3).transition.tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """

    rate: Any
    n_classes: int

    def __post_init__(self) -> None:
        if not isinstance(self.n_classes, Integral) or self.n_classes < 2:
            raise ValueError(f"noise needs a whole number of classes from 2 on, got {self.n_classes!r}")
        limit = Fraction(int(self.n_classes) - 1, int(self.n_classes))
        # Against the rounded limit too: the float 2/3 lies below the fraction, yet means it.
        rate = self.rate if isinstance(self.rate, Real) else np.nan
        if not (0 <= rate < limit and rate < float(limit)):
            raise ValueError(
                f"a uniform noise rate over {self.n_classes} classes lies in "
                f"[0, {self.n_classes - 1}/{self.n_classes}), got {self.rate!r}"
            )

    @property
    def transition(self) -> Array:
        """P(noisy label = column | clean label = row)."""
        return _alike(self.n_classes, 1 - self.rate, self.rate / (self.n_classes - 1))

    def _inverse(self) -> Array:
        stray = self.rate / (self.n_classes - 1)
        rest = 1 - self.rate - stray
        return _alike(self.n_classes, (1 - stray) / rest, -stray / rest)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ClassConditionalNoise(Noise):
    """Noise that depends on the clean class, given by one flip rate a class or by the whole table.

    With rates, a label of class k is wrong with probability rates[k], and then any other class
    alike. A table has a row for each clean class and sums to one in each row.

    >>> ClassConditionalNoise([0.1, 0.3]).transition.tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """

    n_classes: int
    _transition: Array

    def __init__(self, matrix_or_rates: Any) -> None:
        given = np.asarray(matrix_or_rates)
        if given.dtype == object and all(isinstance(p, Rational) for p in given.flat):
            given = np.vectorize(Fraction, otypes=[object])(given)  # a plain 0 among fractions is one too
        else:
            given = given.astype(np.float64)
        if given.ndim == 1:
            if len(given) < 2:
                raise ValueError("one flip rate for each of at least two classes is needed")
            given = _alike(len(given), 1 - given[:, None], given[:, None] / (len(given) - 1))
        if given.ndim != 2 or given.shape[0] != given.shape[1] or len(given) < 2:
            raise ValueError(f"rates or a square table are needed, got an array of shape {given.shape}")
        if not np.all((given >= 0) & (given <= 1)):
            raise ValueError("the entries of a noise table are probabilities, between 0 and 1")
        sums = given.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1) > 1e-9)
        if off.size:
            raise ValueError(f"row {off[0]} of the noise table sums to {sums[off[0]]}, not to 1")
        if len(given) == 2 and not given[0, 1] + given[1, 0] < 1:
            raise ValueError(
                f"the two flip rates must sum to less than 1, got {given[0, 1]} and {given[1, 0]}"
            )
        given.flags.writeable = False
        object.__setattr__(self, "n_classes", len(given))
        object.__setattr__(self, "_transition", given)

    @property
    def transition(self) -> Array:
        """P(noisy label = column | clean label = row)."""
        return self._transition

    def _inverse(self) -> Array:
        table = self._transition
        singular = table.dtype != object and np.linalg.cond(table) > 1e12
        try:
            if not singular:
                return inverse(table)
        except SingularMatrixError:
            pass
        raise ValueError("the noise table is singular: under it some classes look alike")

    def __reduce__(self) -> tuple[Any, ...]:
        return ClassConditionalNoise, (self._transition,)  # a plain copy would have a writable table

    def __repr__(self) -> str:
        return f"ClassConditionalNoise({self._transition.tolist()})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassConditionalNoise) and np.array_equal(
            self._transition, other._transition
        )

    def __hash__(self) -> int:
        return hash(tuple(self._transition.ravel().tolist()))


def as_noise(noise: Noise | Any, n_classes: int) -> Noise:
    """A model as it is; a bare rate as symmetric noise for two classes, uniform noise for more.

    Rates by class, and a table, are a `ClassConditionalNoise`.

    >>> as_noise(0.2, n_classes=3)
    UniformNoise(rate=0.2, n_classes=3)
    """
    if isinstance(noise, Noise):
        if noise.n_classes != n_classes:
            raise ValueError(
                f"the noise model speaks of {noise.n_classes} classes, the labels of {n_classes}"
            )
        return noise
    if isinstance(noise, list | tuple | np.ndarray) and np.ndim(noise):
        return as_noise(ClassConditionalNoise(noise), n_classes)
    if isinstance(noise, dict):
        raise ValueError(
            "noise is a rate, a list of rates in the order of the classes, a table of P(given | clean), a "
            "model or an estimate, got a dict"
        )
    return SymmetricNoise(noise) if n_classes == 2 else UniformNoise(noise, n_classes)


def _alike(n_classes: int, own: Any, other: Any) -> Array:
    """A table that treats all classes alike."""
    return np.where(np.eye(n_classes, dtype=bool), own, other)

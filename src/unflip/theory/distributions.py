"""Finite distributions over points and labels: small worlds where every expectation is a sum.

A distribution is a list of points, the probability of each, and the class probability at each. Two
classes are -1 and +1 and the class probability is one number a point, P(y = +1), the paper's eta;
K > 2 classes are 0 ... K-1 with a row of K probabilities a point. One fraction among the numbers makes
all of them fractions, and all that is computed from them with arithmetic alone is then exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from unflip._fractions import is_exact, to_fractions
from unflip.border.arrays import AnyArray
from unflip.noise import ClassConditionalNoise, Noise, SymmetricNoise, UniformNoise, as_noise


@dataclass(frozen=True, eq=False)
class FiniteDistribution:
    """A distribution on finitely many points, exact when given fractions.

    >>> half = Fraction(1, 2)
    >>> world = FiniteDistribution(points=[[1, 0], [0, 2]], masses=[half, half], class_probability=[1, 0])
    >>> world.label_mean.tolist()
    [Fraction(1, 2), Fraction(-1, 1)]
    >>> world.corrupt(Fraction(1, 4)).label_mean.tolist()
    [Fraction(1, 4), Fraction(-1, 2)]
    """

    points: Any  # (n, d)
    masses: Any  # (n,)    P(x)
    class_probability: Any  # (n,) P(y = +1 | x), or (n, K)

    def __post_init__(self) -> None:
        given = {name: _real(name, getattr(self, name)) for name in ("points", "masses", "class_probability")}
        exact = any(_holds_fraction(part) for part in given.values())
        for name, numbers in given.items():
            part = to_fractions(numbers) if exact else numbers.astype(np.float64)
            part.flags.writeable = False
            object.__setattr__(self, name, part)
        self._check()

    def _check(self) -> None:
        x, m, p = self.points, self.masses, self.class_probability
        if x.ndim != 2 or not len(x):
            raise ValueError(f"points form a table with one row each, got an array of shape {x.shape}")
        if m.shape != (len(x),):
            raise ValueError(f"{len(x)} points need as many masses, got an array of shape {m.shape}")
        if p.ndim not in (1, 2) or len(p) != len(x) or (p.ndim == 2 and p.shape[1] < 3):
            raise ValueError(
                f"{len(x)} points need as many class probabilities P(y = +1), or as many rows of three "
                f"and more, got an array of shape {p.shape}"
            )
        if not np.all(m >= 0) or not self._is_one(m.sum()):
            given = [float(mass) for mass in m]
            raise ValueError(f"masses are non-negative and sum to 1, got {given}{self._rounded(m.sum())}")
        if not np.all((p >= 0) & (p <= 1)):
            raise ValueError("class probabilities lie between 0 and 1")
        for total in p.sum(axis=1) if p.ndim == 2 else ():
            if not self._is_one(total):
                raise ValueError(f"each row of class probabilities sums to 1{self._rounded(total)}")

    def _is_one(self, total: Any) -> bool:
        return bool(total == 1 if self.is_exact else abs(total - 1) <= 1e-9)

    def _rounded(self, total: Any) -> str:
        """What to do about floats among fractions, which sum to 1 in floats only."""
        if not self.is_exact or abs(total - 1) > 1e-9:
            return ""
        return (
            "; floats among fractions sum to 1 but for rounding: give floats throughout, then call .exact()"
        )

    @property
    def is_exact(self) -> bool:
        """Whether the numbers are fractions."""
        return is_exact(self.points)

    @property
    def n_classes(self) -> int:
        """2, or the length of a row of class probabilities."""
        return 2 if self.class_probability.ndim == 1 else self.class_probability.shape[1]

    def exact(self) -> FiniteDistribution:
        """The same distribution in fractions; probabilities are divided by their sum, so that it is 1.

        >>> FiniteDistribution([[0.5]], [1.0], [0.25]).exact().class_probability.tolist()
        [Fraction(1, 4)]
        """
        masses, probability = to_fractions(self.masses), to_fractions(self.class_probability)
        if probability.ndim == 2:
            probability = probability / probability.sum(axis=1, keepdims=True)
        return FiniteDistribution(to_fractions(self.points), masses / masses.sum(), probability)

    def floats(self) -> FiniteDistribution:
        """The same distribution in float64.

        >>> FiniteDistribution([[1]], [Fraction(1)], [Fraction(1, 4)]).floats().class_probability.tolist()
        [0.25]
        """
        parts = (self.points, self.masses, self.class_probability)
        return FiniteDistribution(*(part.astype(np.float64) for part in parts))

    def corrupt(self, noise: Noise | Any) -> FiniteDistribution:
        """The distribution after label noise: a model, or a bare rate (Equation 2 for two classes).

        An exact distribution stays exact: a float rate stands for the dyadic fraction it is.

        >>> FiniteDistribution([[0.0]], [1.0], [1.0]).corrupt(0.25).class_probability.tolist()
        [0.75]
        """
        model = as_noise(noise, self.n_classes)
        if self.is_exact:
            model = _exactly(model)
        return replace(self, class_probability=model.corrupt(self.class_probability))

    def map(self, features: Callable[[AnyArray], Any]) -> FiniteDistribution:
        """The distribution of (features(x), y); features never see labels, so noise commutes with them.

        >>> FiniteDistribution([[3.0]], [1.0], [1.0]).map(lambda x: x**2).points.tolist()
        [[9.0]]
        """
        return replace(self, points=features(self.points))

    @property
    def eta(self) -> AnyArray:
        """P(y = +1 | x), the class probability of two classes."""
        if self.n_classes != 2:
            raise ValueError(f"P(y = +1) belongs to two classes, the distribution has {self.n_classes}")
        return self.class_probability

    @property
    def mean(self) -> AnyArray:
        """E[x]."""
        return self.masses @ self.points

    @property
    def second_moment(self) -> AnyArray:
        """E[x x^T]."""
        return (self.points * self.masses[:, None]).T @ self.points

    @property
    def label_mean(self) -> AnyArray:
        """E[y x], the mean map of two classes: what Equation 8 needs to know."""
        return (self.masses * (2 * self.eta - 1)) @ self.points

    @property
    def joint(self) -> AnyArray:
        """P(x, y), one row a point and one column a class, in the order -1, +1 or 0 ... K-1."""
        p = self.class_probability
        rows = np.stack([1 - p, p], axis=1) if p.ndim == 1 else p
        return self.masses[:, None] * rows

    @property
    def class_sums(self) -> AnyArray:
        """E[1{y = k} x], one row a class."""
        return self.joint.T @ self.points

    @property
    def base_rate(self) -> Any:
        """P(y = +1), the paper's pi; for K > 2 classes the share of each.

        >>> FiniteDistribution([[0.0], [1.0]], [0.5, 0.5], [1.0, 0.5]).base_rate
        0.75
        """
        shares = self.joint.sum(axis=0)
        return shares.tolist()[1] if self.n_classes == 2 else shares

    def given_label(self, label: int) -> AnyArray:
        """P(x | y = label), the paper's P for +1 and Q for -1.

        >>> FiniteDistribution([[0.0], [1.0]], [0.5, 0.5], [1.0, 0.5]).given_label(-1).tolist()
        [0.0, 1.0]
        """
        labels = [-1, 1] if self.n_classes == 2 else list(range(self.n_classes))
        if label not in labels:
            raise ValueError(f"labels are {', '.join(map(str, labels))}, got {label!r}")
        column = self.joint[:, labels.index(label)]
        if column.sum() == 0:
            raise ValueError(f"no point has label {label}")
        return column / column.sum()

    def sample(self, n: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray]:
        """n independent draws: points as floats, labels -1/+1 or 0 ... K-1.

        >>> X, y = FiniteDistribution([[2.0]], [1.0], [1.0]).sample(3, np.random.default_rng(0))
        >>> X.tolist(), y.tolist()
        ([[2.0], [2.0], [2.0]], [1, 1, 1])
        """
        joint = self.joint.astype(np.float64)
        cells = rng.choice(joint.size, size=n, p=joint.ravel() / joint.sum())
        rows, codes = np.divmod(cells, joint.shape[1])
        return self.points.astype(np.float64)[rows], 2 * codes - 1 if self.n_classes == 2 else codes


def _real(name: str, given: Any) -> AnyArray:
    array = np.asarray(given)
    if array.dtype.kind not in "biuf" and not all(isinstance(value, Real) for value in array.flat):
        raise ValueError(f"{name} are real numbers, got an array of {array.dtype}")
    if not all(isfinite(value) for value in array.flat):
        raise ValueError(f"{name} are finite numbers")
    return array


def _exactly(model: Noise) -> Noise:
    """The same noise in fractions; the rows of a table are divided by their sums, so that these are 1."""
    if isinstance(model, SymmetricNoise | UniformNoise):
        return replace(model, rate=to_fractions(model.rate).item())
    table = to_fractions(model.transition)
    return ClassConditionalNoise(table / table.sum(axis=1, keepdims=True))


def _holds_fraction(array: AnyArray) -> bool:
    return array.dtype == object and any(isinstance(value, Fraction) for value in array.ravel())

"""How often labels of each class are wrong: what `two_rates` finds for two classes and `table` for more."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from unflip.border.arrays import Array

APART = 0.1  # rates that differ by more are different


class ClassRates(NamedTuple):
    """table: (K, K), P(given | clean); rates: (K, 3), of each class the rate and the ends of its interval.

    rate, low, high: the share of labels that are wrong, whatever their class, and the ends of its interval.
    """

    table: Array
    rates: Array
    rate: float
    low: float
    high: float


class NoiseByClass(Protocol):
    """A fit of one rate for each class."""

    @property
    def differ(self) -> float:
        """P(the classes are flipped at different rates)."""

    @property
    def clearly(self) -> bool:
        """Whether they are, beyond doubt and by so much that one rate for all misleads."""

    @property
    def perhaps(self) -> bool:
        """Whether they may be, so that an interval should admit both."""

    def rates(self, level: float) -> ClassRates:
        """What the fit says of the classes; level: of the intervals."""

    def separated(self, level: float) -> tuple[float, float, float] | None:
        """The wrong share and its interval, where overlap has next to no part in it; None otherwise."""

    def clean(self, scores: Array, member: Array) -> Array:
        """P(clean class) of each row, by its score alone, (n, K)."""

    def judged(self, scores: Array, member: Array) -> tuple[Array, Array]:
        """P(the label is wrong) of each row, (n,), and its likely class, (n,)."""

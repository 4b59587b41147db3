"""How often labels of each class are wrong: what `two_rates` finds for two classes and `table` for more."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from unflip.noise.curve import Array


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

    def rates(self) -> ClassRates:
        """What the fit says of the classes."""

    def judged(self, scores: Array, member: Array) -> tuple[Array, Array]:
        """P(the label is wrong) of each row, (n,), and its likely class, (n,)."""

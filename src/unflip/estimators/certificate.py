"""A certificate says how far a fit may be from what it was looking for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Certificate:
    """A bound on what is left to gain.

    kind: "optimality": `gap` bounds the objective minus its minimum (convex losses); "stationarity":
        `gap` is the norm of the gradient relative to that of the zero scorer (all other losses).
    gap, tolerance: the fit is as good as promised if gap <= tolerance.
    method: how the fit was found; iterations: in how many steps.

    >>> Certificate("optimality", gap=1e-12, tolerance=1e-8, method="newton", iterations=7).met
    True
    """

    kind: str
    gap: float
    tolerance: float
    method: str
    iterations: int

    @property
    def met(self) -> bool:
        """Is the gap within the tolerance?"""
        return self.gap <= self.tolerance

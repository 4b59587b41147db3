"""What a check returns: two numbers that should agree, or be ordered, and whether they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

Pairs = list[tuple[Any, Any]]  # (left, right), numbers of any kind


@dataclass(frozen=True)
class Evidence:
    """One claim, the two sides computed for it, how far they are from it, and the verdict.

    >>> Evidence("Equation 0: two is two", left=2.0, right=2.0, gap=0.0, holds=True).holds
    True
    """

    claim: str
    left: float
    right: float
    gap: float
    holds: bool


def agree(claim: str, pairs: Iterable[tuple[Any, Any]], tolerance: float = 0) -> Evidence:
    """Evidence that the two sides of every pair agree; shows the pair that agrees least.

    With fractions and no tolerance the comparison is exact.

    >>> agree("Sums: they match", [(1, 1), (3, 2)]).gap
    1.0
    """
    worst, left, right = max(
        ((abs(a - b), a, b) for a, b in pairs), key=lambda found: (_or_worst(found[0]), abs(found[1]))
    )
    # Adding zero turns minus zero into zero.
    return Evidence(claim, float(left) + 0.0, float(right) + 0.0, float(worst), bool(worst <= tolerance))


def at_most(claim: str, pairs: Iterable[tuple[Any, Any]], slack: float = 0) -> Evidence:
    """Evidence that left <= right in every pair; shows the tightest pair, or the worst violation.

    >>> at_most("Bound: it holds", [(1, 5), (2, 3)]).left
    2.0
    """
    excess, left, right = max(((a - b, a, b) for a, b in pairs), key=lambda found: _or_worst(found[0]))
    return Evidence(claim, float(left), float(right), max(float(excess), 0.0), bool(excess <= slack))


def exceeds(claim: str, pairs: Iterable[tuple[Any, Any]]) -> Evidence:
    """Evidence that left > right in every pair; shows the pair with the least to spare.

    >>> exceeds("Difference: it is there", [(1, 0), (3, 0)]).left
    1.0
    """
    spare, left, right = min(((a - b, a, b) for a, b in pairs), key=lambda found: -_or_worst(-found[0]))
    return Evidence(claim, float(left), float(right), max(-float(spare), 0.0), bool(spare > 0))


def _or_worst(gap: Any) -> Any:
    """A gap to compare by: NaN equals nothing, not itself, and would hide behind pairs that agree."""
    return gap if gap == gap else inf

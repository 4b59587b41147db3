"""Plain records for figures: floats, words and truth values, and lines through the origin made of them.

A linear classifier is drawn as the line where its score is zero. The two ends of the line lie as far out, in
the larger of their coordinates, as the farthest point.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.theory import FiniteDistribution
from unflip.theory.claims.cases import error

Record = dict[str, Any]


class DrawnLine(NamedTuple):
    """A linear classifier to draw, and whether the paper printed it."""

    name: str
    weights: AnyArray
    printed: bool = False


def record(**values: Any) -> Record:
    """Words and truth values as they are, numbers as floats to twelve decimals; minus zero is zero.

    >>> record(line="square", printed=False, w1=Fraction(1, 4), w2=-0.0)
    {'line': 'square', 'printed': False, 'w1': 0.25, 'w2': 0.0}
    """
    return {k: v if isinstance(v, str | bool) else round(float(v), 12) + 0.0 for k, v in values.items()}


def as_fraction(number: Any) -> str:
    """A number as the fraction it is, for sentences; denominators stay below a thousand.

    >>> as_fraction(0.5), as_fraction(1 / 3)
    ('1/2', '1/3')
    """
    return str(Fraction(number).limit_denominator(1000))


def draw_lines(world: FiniteDistribution, lines: list[DrawnLine]) -> dict[str, list[Record]]:
    """Three series: the points of a distribution, two ends of each line, weights and error of each line.

    >>> from unflip.theory import three_points
    >>> draw_lines(three_points(), [DrawnLine("unhinged", np.array([1, -1]))])["lines"][0]
    {'line': 'unhinged', 'printed': False, 'x1': 4.0, 'x2': 4.0}
    """
    reach = abs(world.points).max()
    series: dict[str, list[Record]] = {"points": [], "lines": [], "errors": []}
    for (x1, x2), mass, eta in zip(world.points, world.masses, world.eta, strict=True):
        label = "positive" if eta == 1 else "negative"
        series["points"].append(record(x1=x1, x2=x2, mass=mass, label=label))
    for name, weights, printed in lines:
        w1, w2 = weights
        end = reach / max(abs(w1), abs(w2)) * np.array([-w2, w1])
        series["lines"] += [record(line=name, printed=printed, x1=x1, x2=x2) for x1, x2 in (end, -end)]
        wrong = error(world, weights)
        series["errors"].append(record(line=name, printed=printed, w1=w1, w2=w2, error=wrong))
    return series

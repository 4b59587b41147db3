"""What a chart shows, as plain data: two axes and marks in their units. `svg` draws it.

Colours are names of the page's palette, "s0" to "s5", so that a chart follows the page from light to dark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

Point = tuple[float, float]
COLOURS = 6  # in the palette


@dataclass(frozen=True)
class Axis:
    """From where to where, which values are written at it and how, and what it counts."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    title: str = ""


@dataclass(frozen=True)
class Line:
    """Straight from point to point; name: written at its end, or in the legend, which has no short form.

    kind: the colour, and "chosen" for the one to be seen first or "bound" for one that is dotted in grey.
    band: a range around it, from below and from above. marker: which form its points are marked with.
    """

    points: tuple[Point, ...]
    kind: str
    name: str = ""
    short: str = ""
    band: tuple[tuple[Point, ...], tuple[Point, ...]] | None = None
    marker: int | None = None
    dash: int = 0


@dataclass(frozen=True)
class Dots:
    """Points by themselves; told: what each says when it is pointed at."""

    points: tuple[Point, ...]
    kind: str
    name: str = ""
    marker: int = 0
    told: tuple[str, ...] = ()
    size: float = 1.0


@dataclass(frozen=True)
class Bars:
    """Columns side by side: from, to, height, and whether it is one of those that matter."""

    cells: tuple[tuple[float, float, float, bool], ...]


@dataclass(frozen=True)
class Range:
    """An interval, drawn above all else; middle: the estimate, if there is one."""

    low: float
    middle: float | None
    high: float
    words: str


@dataclass(frozen=True)
class Bound:
    """A dotted line upwards, with words above it."""

    at: float
    words: str
    short: str


@dataclass(frozen=True)
class Note:
    """Words at a point, which is marked if the words are strong."""

    at: Point
    words: str
    strong: bool = False


@dataclass(frozen=True)
class Heat:
    """A value for each cell of a grid that fills the plane, the lowest row first; `name` is in the legend."""

    rows: tuple[tuple[float, ...], ...]
    name: str


Mark = Line | Dots | Bars | Range | Bound | Note | Heat


@dataclass(frozen=True)
class Chart:
    """A chart; title and told say in words what it shows.

    height: of the whole drawing, or 0 for a plane that is as high as wide. legend: whether names stand below
    and not at the ends of lines. small: one of many, drawn once and named by its title.
    """

    name: str
    title: str
    told: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    height: float = 0.0
    legend: bool = False
    small: bool = False


def ticks(values: Sequence[float], label: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Values and how they are written.

    >>> ticks([0.2, 0.275], percent_tick)
    ((0.2, '20 %'), (0.275, '27.5 %'))
    """
    return tuple((value, label(value)) for value in values)


def percent_tick(value: float) -> str:
    """A tick of an axis in percent.

    >>> percent_tick(0.2), percent_tick(0.275)
    ('20 %', '27.5 %')
    """
    return f"{100 * value:.3g} %"


def round_steps(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers that cover a range, from the first at or above `low` to the last at or below `high`.

    >>> round_steps(0.0, 0.37), round_steps(0.52, 0.81, 4)
    ([0.0, 0.1, 0.2, 0.3], [0.6, 0.7, 0.8])
    """
    rough = (high - low) / most
    unit = 10.0 ** floor(log10(rough))
    step = next(size * unit for size in (1, 2, 5, 10) if size * unit >= rough * (1 - 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]

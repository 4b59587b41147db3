"""Just enough SVG for the charts of an audit: a plane with axes, and text that stays text.

Every chart is drawn twice, for wide and for narrow screens, so that its letters keep their size; the style
sheet shows one of them. Colours are those of the page, by class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10


@dataclass(frozen=True)
class Plane:
    """A rectangle of `width` by `height` with room around it, and the values at its ends."""

    kind: str
    width: float
    height: float
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)
    left: float = 48
    right: float = 12
    top: float = 12
    bottom: float = 44

    @property
    def narrow(self) -> bool:
        """Whether there is little room for words."""
        return self.kind == "narrow"

    def x(self, value: float) -> float:
        """Where a value stands from the left.

        >>> Plane("wide", 100, 50, left=10, right=10).x(0.5)
        50.0
        """
        low, high = self.x_range
        return self.left + (self.width - self.left - self.right) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Where a value stands from the top."""
        low, high = self.y_range
        return (
            self.height - self.bottom - (self.height - self.top - self.bottom) * (value - low) / (high - low)
        )

    def points(self, values: Sequence[tuple[float, float]]) -> str:
        """Many values, as the path of a line.

        >>> Plane("wide", 100, 50, left=0, right=0, top=0, bottom=0).points([(0, 0), (1, 1)])
        'M0.0 50.0L100.0 0.0'
        """
        return "M" + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in values)


WIDTHS = {"wide": 720, "narrow": 328}


def picture(name: str, title: str, told: str, height: float, draw: Callable[[Plane], str]) -> str:
    """The chart for wide and for narrow screens, with its title and what it shows in words.

    >>> picture("c", "Chart", "A line.", 9, lambda plane: line(0, 0, 9, 9)).count("<svg ")
    2
    """
    drawn = []
    for kind, width in WIDTHS.items():
        key = f"{name}-{kind}"
        drawn.append(
            f'<svg class="{kind}" role="img" aria-labelledby="{key}-title" aria-describedby="{key}-told"'
            f' width="{width}" height="{height:g}" viewBox="0 0 {width} {height:g}">'
            f'<title id="{key}-title">{escape(title)}</title><desc id="{key}-told">{escape(told)}</desc>'
            f"{draw(Plane(kind, width, height))}</svg>"
        )
    return "".join(drawn)


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place; anchor: which end of them stands there.

    >>> text(1, 2, "a < b")
    '<text x="1.0" y="2.0" class="" text-anchor="start">a &lt; b</text>'
    """
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> str:
    """A straight line.

    >>> line(0, 0, 1, 1)
    '<path class="grid" d="M0.0 0.0L1.0 1.0"/>'
    """
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def axis_x(plane: Plane, ticks: Sequence[float], label: Callable[[float], str], title: str) -> str:
    """Ticks below the plane, each with its number, and what they are."""
    base = plane.height - plane.bottom
    parts = [line(plane.left, base, plane.width - plane.right, base, "axis")]
    for tick in ticks:
        x = plane.x(tick)
        parts += [line(x, base, x, base + 5, "axis"), text(x, base + 18, label(tick), "tick", "middle")]
    middle = (plane.left + plane.width - plane.right) / 2
    return "".join([*parts, text(middle, plane.height - 6, title, "name", "middle")])


def axis_y(plane: Plane, ticks: Sequence[float], label: Callable[[float], str]) -> str:
    """Lines across the plane, each with its number at the left."""
    parts = []
    for tick in ticks:
        y = plane.y(tick)
        parts += [
            line(plane.left, y, plane.width - plane.right, y),
            text(plane.left - 7, y + 4, label(tick), "tick", "end"),
        ]
    return "".join(parts)


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


def spread_out(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved as little as needed to be a gap apart, within a range; their order stays.

    >>> spread_out([5.0, 6.0, 30.0], 10.0, 0.0, 40.0)
    [0.5, 10.5, 30.0]
    >>> spread_out([38.0, 39.0], 10.0, 0.0, 40.0)
    [30.0, 40.0]
    """
    order = sorted(range(len(places)), key=lambda k: places[k])
    groups: list[tuple[float, list[int]]] = []  # the centre of each group, and who is in it
    for k in order:
        centre, members = places[k], [k]
        while True:
            reach = gap * (len(members) - 1) / 2
            centre = min(max(centre, low + reach), max(high - reach, low + reach))
            if not groups or groups[-1][0] + gap * (len(groups[-1][1]) - 1) / 2 + gap <= centre - reach:
                break
            members = [*groups.pop()[1], *members]
            centre = sum(places[member] for member in members) / len(members)
        groups.append((centre, members))
    moved = list(places)
    for centre, members in groups:
        for nth, k in enumerate(members):
            moved[k] = centre + gap * (nth - (len(members) - 1) / 2)
    return moved

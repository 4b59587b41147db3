"""Draws a `Chart` as SVG that needs neither a script nor a network; text stays text.

A chart is drawn twice, for wide and for narrow screens, so that its letters keep their size; the style sheet
shows one of them. Colours are those of the page, by class.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import sqrt

from unflip.report.chart import Axis, Bars, Bound, Chart, Dots, Heat, Line, Mark, Note, Point, Range

WIDE, NARROW, SQUARE, SMALL = 720.0, 328.0, 420.0, 232.0  # how wide drawings are
ABOVE = 72.0  # room for an interval and a bound, with their words
MARKERS = (  # around a point, so that curves differ by more than colour
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "m-3.6 -3.6h7.2v7.2h-7.2z",
    "m0 -5l4.6 8.4h-9.2z",
    "m0 -5.2l5.2 5.2l-5.2 5.2l-5.2 -5.2z",
    "m0 5l4.6 -8.4h-9.2z",
    "m-5 -1.7h3.3v-3.3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3z",
)
DASHES = ("", "8 4", "3 3", "10 3 2 3", "2 6")
VIRIDIS = tuple(
    tuple(bytes.fromhex(colour))
    for colour in ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725"]
)


@dataclass(frozen=True)
class Plane:
    """Where values stand in a drawing of `width` by `height`, which has room around the plane."""

    width: float
    height: float
    x_axis: Axis
    y_axis: Axis
    left: float = 0.0
    right: float = 0.0
    top: float = 0.0
    bottom: float = 0.0

    @property
    def base(self) -> float:
        """Where the plane ends below."""
        return self.height - self.bottom

    @property
    def end(self) -> float:
        """Where the plane ends at the right."""
        return self.width - self.right

    @property
    def narrow(self) -> bool:
        """Whether there is little room for words."""
        return self.width < SQUARE

    def x(self, value: float) -> float:
        """Where a value stands from the left.

        >>> Plane(100, 50, Axis(0, 1), Axis(0, 1), left=10, right=10).x(0.5)
        50.0
        """
        axis = self.x_axis
        return self.left + (self.end - self.left) * (value - axis.low) / (axis.high - axis.low)

    def y(self, value: float) -> float:
        """Where a value stands from the top."""
        axis = self.y_axis
        return self.base - (self.base - self.top) * (value - axis.low) / (axis.high - axis.low)

    def path(self, points: Sequence[Point]) -> str:
        """Many points, as the path of a line.

        >>> Plane(100, 50, Axis(0, 1), Axis(0, 1)).path([(0, 0), (1, 1)])
        'M0.0 50.0L100.0 0.0'
        """
        return "M" + "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)


def svg(chart: Chart) -> str:
    """The chart, for wide and for narrow screens.

    >>> drawn = svg(Chart("c", "Title", "In words.", Axis(0, 1), Axis(0, 1), (), height=90))
    >>> drawn.count("<svg "), drawn.count("<title")
    (2, 2)
    """
    if chart.small:
        drawn = f'<title>{escape(chart.title)}</title><g aria-hidden="true">{_drawing(chart, SMALL)}</g>'
        height = f"{_height(chart, SMALL):g}"
        return (
            f'<svg width="{SMALL:g}" height="{height}" viewBox="0 0 {SMALL:g} {height}"'
            f' aria-label="{escape(chart.title)}">{drawn}</svg>'
        )
    parts = []
    for kind, width in (("wide", WIDE if chart.height else SQUARE), ("narrow", NARROW)):
        key, height = f"{chart.name}-{kind}", f"{_height(chart, width):g}"
        parts.append(
            f'<svg class="{kind}" role="img" aria-labelledby="{key}-title" aria-describedby="{key}-told"'
            f' width="{width:g}" height="{height}" viewBox="0 0 {width:g} {height}">'
            f'<title id="{key}-title">{escape(chart.title)}</title>'
            f'<desc id="{key}-told">{escape(chart.told)}</desc>{_drawing(chart, width)}</svg>'
        )
    return "".join(parts)


def legend(chart: Chart) -> str:
    """What the names of a chart look like in it, as HTML; empty where names stand in the chart.

    >>> line = Line(((0, 0), (1, 1)), "s0", "one")
    >>> chart = Chart("c", "Title", "In words.", Axis(0, 1), Axis(0, 1), (line,), legend=True)
    >>> legend(chart)[:19], legend(chart)[-13:]
    ('<ul class="legend">', 'one</li></ul>')
    """
    items = []
    for mark in chart.marks if chart.legend else ():
        if isinstance(mark, Heat):
            low, high = (end(value for row in mark.rows for value in row) for end in (min, max))
            steps = ", ".join(f"#{bytes(colour).hex()}" for colour in reversed(VIRIDIS))
            ramp = f'<span class="ramp" style="background-image: linear-gradient(to right, {steps})"></span>'
            items.append(f"<li>{escape(mark.name)} {low:.3g} {ramp} {high:.3g}</li>")
        elif isinstance(mark, Line | Dots) and mark.name:
            swatch = Plane(30, 14, Axis(0, 1), Axis(0, 1))
            if isinstance(mark, Line):
                middle = ((0.0, 0.5), (1.0, 0.5))
                band = (((0.0, 0.0), (1.0, 0.0)), ((0.0, 1.0), (1.0, 1.0))) if mark.band else None
                drawn = _line(swatch, Line(middle, mark.kind, band=band, dash=mark.dash))
            else:
                drawn = _dots(swatch, Dots(((0.5, 0.5),), mark.kind, marker=mark.marker))
            items.append(
                f'<li><svg width="30" height="14" aria-hidden="true">{drawn}</svg>{escape(mark.name)}</li>'
            )
    return f'<ul class="legend">{"".join(items)}</ul>' if items else ""


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


def _height(chart: Chart, width: float) -> float:
    """That of the chart, or what makes its plane a square."""
    if chart.height:
        return chart.height
    plane = _plane(chart, width, 0.0)
    return width - plane.left - plane.right + plane.top + plane.bottom


def _drawing(chart: Chart, width: float) -> str:
    plane = _plane(chart, width, _height(chart, width))
    parts = [_across(plane), _along(plane)]
    if chart.small:
        middle = (plane.left + plane.end) / 2
        parts.append(_text(middle, 14, chart.title, "strong", "middle"))
    parts += [DRAW[type(mark)](plane, mark) for mark in chart.marks]
    return "".join([*parts, *([] if chart.legend else _names(plane, chart.marks))])


def _plane(chart: Chart, width: float, height: float) -> Plane:
    """Room around the plane for what is written there."""
    letters = max([len(label) for _, label in chart.y.ticks], default=0)
    last = len(chart.x.ticks[-1][1]) if chart.x.ticks else 0
    named = not chart.legend and any(isinstance(mark, Line) and mark.short for mark in chart.marks)
    above = any(isinstance(mark, Range) for mark in chart.marks)
    return Plane(
        width,
        height,
        chart.x,
        chart.y,
        left=16 + 6.8 * letters + (18 if chart.y.title else 0),
        right=(88 if width < SQUARE else 170) if named else 4 + 3.4 * max(last, 3),
        top=ABOVE if above else 24 if chart.small else 12,
        bottom=44 if chart.x.title else 26,
    )


def _along(plane: Plane) -> str:
    """The axis below: ticks, each with its number, and what they are."""
    base, axis = plane.base, plane.x_axis
    parts = [_stroke(plane.left, base, plane.end, base, "axis")]
    room = (plane.end - plane.left) / max(sum(len(label) + 2 for _, label in axis.ticks) * 6.5, 1)
    every = 1 if room >= 1 else 2  # of the numbers, where they would touch
    for nth, (value, label) in enumerate(axis.ticks):
        x = plane.x(value)
        parts.append(_stroke(x, base, x, base + 5, "axis"))
        if nth % every == 0:
            parts.append(_text(x, base + 18, label, "tick", "middle"))
    if axis.title:
        middle = (plane.left + plane.end) / 2
        parts.append(_text(middle, plane.height - 6, axis.title, "name", "middle"))
    return "".join(parts)


def _across(plane: Plane) -> str:
    """Lines across the plane, each with its number at the left, and what they are."""
    parts = []
    for value, label in plane.y_axis.ticks:
        y = plane.y(value)
        parts.append(_stroke(plane.left, y, plane.end, y))
        parts.append(_text(plane.left - 7, y + 4, label, "tick", "end"))
    if plane.y_axis.title:
        y = (plane.top + plane.base) / 2
        turned = f'<g transform="translate(12 {y:.1f}) rotate(-90)">'
        parts.append(f"{turned}{_text(0, 0, plane.y_axis.title, 'name', 'middle')}</g>")
    return "".join(parts)


def _line(plane: Plane, line: Line) -> str:
    band = markers = ""
    if line.band is not None:
        below, above = line.band
        band = f'<path class="band" d="{plane.path([*below, *above[::-1]])}Z"/>'
    if line.marker is not None:
        markers = "".join(_marker(plane, point, line.marker) for point in line.points)
    dashed = f' stroke-dasharray="{DASHES[line.dash % len(DASHES)]}"' if line.dash else ""
    path = f'<path class="line" d="{plane.path(line.points)}"{dashed}/>'
    return f'<g class="{line.kind}">{band}{path}{markers}</g>'


def _dots(plane: Plane, dots: Dots) -> str:
    told = dots.told or ("",) * len(dots.points)
    drawn = (
        _marker(plane, point, dots.marker, words, dots.size)
        for point, words in zip(dots.points, told, strict=True)
    )
    return f'<g class="{dots.kind} dots">{"".join(drawn)}</g>'


def _marker(plane: Plane, point: Point, form: int, told: str = "", size: float = 1.0) -> str:
    x, y = plane.x(point[0]), plane.y(point[1])
    shape = MARKERS[form % len(MARKERS)]
    if size == 1:
        place = f'd="M{x:.1f} {y:.1f}{shape}"'
    else:
        place = f'd="M0 0{shape}" transform="translate({x:.1f} {y:.1f}) scale({size:g})"'
    inside = f"><title>{escape(told)}</title></path>" if told else "/>"
    return f'<path class="mark" {place}{inside}'


def _bars(plane: Plane, bars: Bars) -> str:
    parts = []
    for low, high, height, inside in bars.cells:
        x, y = plane.x(low), plane.y(height)
        size = f'width="{max(plane.x(high) - x - 1, 0.5):.1f}" height="{max(plane.base - y, 0.5):.1f}"'
        parts.append(f'<rect class="{"cell in" if inside else "cell"}" x="{x:.1f}" y="{y:.1f}" {size}/>')
    return "".join(parts)


def _range(plane: Plane, span: Range) -> str:
    low, high, y = plane.x(span.low), plane.x(span.high), 58.0
    middle = (low + high) / 2 if span.middle is None else plane.x(span.middle)
    dot = "" if span.middle is None else f'<circle class="dot" cx="{middle:.1f}" cy="{y:g}" r="4.5"/>'
    ends = "".join(_stroke(x, y - 5, x, y + 5, "span") for x in (low, high))
    return _stroke(low, y, high, y, "span") + ends + dot + _inside(plane, middle, 44, span.words, "strong")


def _bound(plane: Plane, bound: Bound) -> str:
    x = plane.x(bound.at)
    words = bound.short if plane.narrow else bound.words
    return _stroke(x, 24, x, plane.base, "bound") + _inside(plane, x, 16, words, "note")


def _note(plane: Plane, note: Note) -> str:
    """Below the point and to the right, but where it would leave the plane."""
    x, y = plane.x(note.at[0]), plane.y(note.at[1])
    if not note.strong:
        return _text(x + 8, y + 18, note.words, "note")
    dot = f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
    fits = x + 9 + 7.5 * len(note.words) < plane.end
    below = y + 20 < plane.base - 6
    place, anchor = (x + 9, "start") if fits else (x - 9, "end")
    return dot + _text(place, y + 20 if below else y - 10, note.words, "strong", anchor)


def _heat(plane: Plane, heat: Heat) -> str:
    """An image with a pixel for each cell, its colour by the root of the value, low ones bright."""
    roots = [[sqrt(value) for value in row] for row in heat.rows]
    low, high = (end(root for row in roots for root in row) for end in (min, max))
    lines = (b"\0" + b"".join(_viridis((high - root) / (high - low)) for root in row) for row in roots[::-1])
    pixels = zlib.compress(b"".join(lines), 9)
    head = struct.pack(">IIBBBBB", len(roots[0]), len(roots), 8, 2, 0, 0, 0)
    content = b64encode(
        b"\x89PNG\r\n\x1a\n" + b"".join(_chunks((b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")))
    )
    size = f'width="{plane.end - plane.left:.1f}" height="{plane.base - plane.top:.1f}"'
    return (
        f'<image x="{plane.left:.1f}" y="{plane.top:.1f}" {size} preserveAspectRatio="none"'
        f' href="data:image/png;base64,{content.decode()}"/>'
    )


def _chunks(*parts: tuple[bytes, bytes]) -> Iterator[bytes]:
    for kind, data in parts:
        yield struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _viridis(share: float) -> bytes:
    place = share * (len(VIRIDIS) - 1)
    nth = min(int(place), len(VIRIDIS) - 2)
    pairs = zip(VIRIDIS[nth], VIRIDIS[nth + 1], strict=True)
    return bytes(round(a + (b - a) * (place - nth)) for a, b in pairs)


def _names(plane: Plane, marks: Sequence[Mark]) -> Iterator[str]:
    """The names of lines at their ends, moved so that none covers another."""
    named = [mark for mark in marks if isinstance(mark, Line) and mark.short]
    wanted = [plane.y(line.points[-1][1]) for line in named]
    places = spread_out(wanted, 16, plane.top + 6, plane.base)
    for line, end, place in zip(named, wanted, places, strict=True):
        words = line.short if plane.narrow else line.name
        if "bound" in line.kind.split():
            yield _text(plane.end + 16, place + 3, words, "note")
            continue
        leader = _stroke(plane.end + 5, end, plane.end + 13, place - 1, "leader")
        yield f'<g class="{line.kind}">{leader}{_text(plane.end + 16, place + 3, words, "end")}</g>'


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place; anchor: which end of them stands there.

    >>> _text(1, 2, "a < b")
    '<text x="1.0" y="2.0" class="" text-anchor="start">a &lt; b</text>'
    """
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def _inside(plane: Plane, x: float, y: float, words: str, kind: str) -> str:
    """Words centred at x, or as near to it as the chart is wide."""
    half = 4.2 * len(words)
    return _text(min(max(x, half + 2), plane.width - half - 2), y, words, kind, "middle")


def _stroke(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> str:
    """A straight line.

    >>> _stroke(0, 0, 1, 1)
    '<path class="grid" d="M0.0 0.0L1.0 1.0"/>'
    """
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


DRAW: dict[type, Callable[..., str]] = {
    Line: _line,
    Dots: _dots,
    Bars: _bars,
    Range: _range,
    Bound: _bound,
    Note: _note,
    Heat: _heat,
}

"""The charts of the paper's report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

from unflip.experiments.result import Comparison, Figure
from unflip.report.chart import COLOURS, Axis, Chart, Dots, Heat, Line, Mark, Point, round_steps, ticks
from unflip.report.paper.counts import Column, columns_of
from unflip.report.words import METRIC_NAMES, fixed, span

CIRCLE, SQUARE_MARK, DIAMOND, DOWN, CROSS = 0, 1, 3, 4, 5  # forms of markers
MINIMISERS = (SQUARE_MARK, CIRCLE, CROSS, DIAMOND)


def curves(cells: Sequence[Comparison]) -> tuple[tuple[str, tuple[Chart, ...]], ...]:
    """Error by noise rate for each dataset and metric, a small chart for each loss.

    >>> curves([])
    ()
    """
    groups: dict[tuple[str, str], dict[Column, list[Comparison]]] = {}
    for cell in cells:
        panels = groups.setdefault((cell.dataset, METRIC_NAMES.get(cell.metric, cell.metric)), {})
        panels.setdefault(Column(cell.loss, cell.solver), []).append(cell)
    columns = columns_of((cell.loss, cell.solver) for cell in cells)
    found = []
    for (dataset, metric), panels in groups.items():
        ends = [
            value
            for panel in panels.values()
            for cell in panel
            for value in (cell.high, cell.published_mean, cell.center)
            if isfinite(value)
        ]
        top = max(*ends, 0.01) * 1.04
        up = Axis(0.0, top, ticks(round_steps(0.0, top, 4), "{:g}".format))
        charts = (_curve(column.label, panels[column], up) for column in columns if column in panels)
        found.append((f"{dataset}, {metric}", tuple(charts)))
    return tuple(found)


def _curve(label: str, cells: Sequence[Comparison], up: Axis) -> Chart:
    """Our mean and range as a line in a band, and the printed means as points."""
    cells = sorted(cells, key=lambda cell: cell.noise_rate)
    known = [cell for cell in cells if isfinite(cell.low + cell.center + cell.high)]
    rates = [cell.noise_rate for cell in cells]
    band = (
        tuple((cell.noise_rate, cell.low) for cell in known),
        tuple((cell.noise_rate, cell.high) for cell in known),
    )
    told = tuple(
        f"rate {cell.noise_rate:g}: printed {fixed(cell.published_mean, 3)}, ours {fixed(cell.center, 3)}, "
        f"range {span(cell.low, cell.high)}"
        for cell in cells
    )
    ours = Line(
        tuple((cell.noise_rate, cell.center) for cell in known),
        "s0",
        "ours, mean and range over splits",
        band=band,
    )
    printed = Dots(
        tuple((cell.noise_rate, cell.published_mean) for cell in cells), "s1", "printed", DIAMOND, told
    )
    across = Axis(0.0, max(*rates, 0.01), ticks(rates, "{:g}".format), "noise rate")
    marks = (ours, printed) if known else (printed,)
    return Chart("", label, "", across, up, marks, height=190, legend=True, small=True)


def points_chart(figure: Figure) -> Chart:
    """Points with a label, and lines through the origin."""
    series = figure.series
    reach = 1.15 * max(abs(row[name]) for row in series["points"] for name in ("x1", "x2"))
    marks: list[Mark] = [
        Line(tuple(_at_the_edge(row, reach) for row in rows), f"s{k % COLOURS}", name, dash=k)
        for k, (name, rows) in enumerate(_grouped(series["lines"], "line").items())
    ]
    for k, (label, rows) in enumerate(_grouped(series["points"], "label").items()):
        told = tuple(f"({row['x1']:.4g}, {row['x2']:.4g}), mass {row['mass']:.4g}, {label}" for row in rows)
        points = tuple((row["x1"], row["x2"]) for row in rows)
        marks.append(Dots(points, "s5", label, (CIRCLE, DOWN)[k % 2], told, size=1.6))
    return _square(figure, _even(-reach, reach, "x₁"), _even(-reach, reach, "x₂"), marks)


def _at_the_edge(row: dict[str, Any], reach: float) -> Point:
    """Where the line from the origin through a point leaves the plane."""
    scale = reach / max(abs(row["x1"]), abs(row["x2"]))
    return row["x1"] * scale, row["x2"] * scale


def surface_chart(figure: Figure) -> Chart:
    """The risk by weight as a heat map, with the minimisers on it."""
    surface = {(row["w1"], row["w2"]): row["risk"] for row in figure.series["surface"]}
    axis = sorted({w1 for w1, _ in surface})
    half = (axis[1] - axis[0]) / 2
    marks: list[Mark] = [Heat(tuple(tuple(surface[w1, w2] for w1 in axis) for w2 in axis), "risk")]
    for k, row in enumerate(figure.series["minimizers"]):
        name = f"{row['minimizer']}, {'printed' if row['printed'] else 'ours'}"
        told = f"{name}: ({row['w1']:.4g}, {row['w2']:.4g}), risk {row['risk']:.4g}, error {row['error']:.4g}"
        size = 4.0 / 1.6**k  # they lie on top of each other
        point = ((row["w1"], row["w2"]),)
        marks.append(Dots(point, "hollow found", name, MINIMISERS[k % len(MINIMISERS)], (told,), size))
    low, high = axis[0] - half, axis[-1] + half
    return _square(figure, _even(low, high, "w₁"), _even(low, high, "w₂"), marks)


def losses_chart(figure: Figure) -> Chart:
    """A loss by its score, a line for each noise rate."""
    rows = figure.series["curves"]
    across, up = ([row[name] for row in rows] for name in ("v", "loss"))
    marks = []
    for k, (rate, group) in enumerate(sorted(_grouped(rows, "noise_rate").items())):
        points = tuple((row["v"], row["loss"]) for row in group)
        marks.append(Line(points, f"s{k % COLOURS}", f"noise rate {rate:g}", dash=k))
    x, y = _even(min(across), max(across), "score v"), _even(min(up), max(up), "loss of a positive label")
    return _square(figure, x, y, marks)


CHARTS: dict[str, Callable[[Figure], Chart]] = {
    "figure_1": points_chart,
    "tangent_boost_surface": surface_chart,
    "t_logistic_surface": surface_chart,
    "corrected_hinge": losses_chart,
    "counterexample": points_chart,
}


def figure_chart(figure: Figure) -> tuple[Chart, ...]:
    """The chart of a figure; none if its name is not known: the page has its numbers in any case."""
    return (CHARTS[figure.name](figure),) if figure.name in CHARTS else ()


def _grouped(rows: Sequence[dict[str, Any]], name: str) -> dict[Any, list[dict[str, Any]]]:
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups


def _even(low: float, high: float, title: str) -> Axis:
    return Axis(low, high, ticks(round_steps(low, high, 5), "{:g}".format), title)


def _square(figure: Figure, x: Axis, y: Axis, marks: Sequence[Mark]) -> Chart:
    return Chart(figure.name, figure.title, figure.found, x, y, tuple(marks), legend=True)

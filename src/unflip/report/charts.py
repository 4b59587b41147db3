"""The charts of the page, as Vega-Lite specifications.

Colours are CSS variables of the page, so that a chart follows it from light to dark and onto paper; the heat
maps have a scale that reads on both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import altair as alt

from unflip.experiments.result import Comparison, Figure
from unflip.report.counts import Column, columns_of
from unflip.report.words import METRICS

Records = list[dict[str, Any]]
Spec = dict[str, Any]
SIDE = 380
INK, OURS, PAPER = "var(--ink)", "var(--agrees)", "var(--differs)"
RANGE = ["var(--agrees)", "var(--differs)", "var(--third)", "var(--fourth)", "var(--ink)"]
DASHES = [[1, 0], [8, 4], [3, 3], [10, 3, 2, 3], [2, 6]]


def noise_chart(cells: Sequence[Comparison]) -> Spec | None:
    """Error by noise rate, a panel for each loss: our mean and range, and the printed means as points.

    The dataset and the metric are chosen by the reader.

    >>> noise_chart([]) is None
    True
    """
    if not cells:
        return None
    columns = columns_of((cell.loss, cell.solver) for cell in cells)
    rows = [
        {
            "dataset": cell.dataset,
            "metric": METRICS.get(cell.metric, cell.metric),
            "loss": Column(cell.loss, cell.solver).label,
            "rate": cell.noise_rate,
            "ours": cell.center,
            "low": cell.low,
            "high": cell.high,
            "printed": cell.published_mean,
        }
        for cell in cells
    ]
    menus = {name: list(dict.fromkeys(row[name] for row in rows)) for name in ("dataset", "metric")}
    choices = [
        alt.param(name=name, value=options[0], bind=alt.binding_select(options=options, name=f"{name} "))
        for name, options in menus.items()
    ]
    rates = sorted({cell.noise_rate for cell in cells})
    rate = alt.X("rate:Q", title="noise rate", axis=alt.Axis(values=rates, labelExpr="datum.value"))
    base = alt.Chart().encode(x=rate)
    tooltip = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("rate", "printed", "ours", "low", "high")]
    layers = alt.layer(
        base.mark_area(color=OURS, opacity=0.25).encode(y=alt.Y("low:Q", title=None), y2="high:Q"),
        base.mark_line(color=OURS, strokeWidth=2).encode(y="ours:Q"),
        base.mark_point(color=PAPER, filled=True, shape="diamond", size=64, opacity=1).encode(
            y="printed:Q", tooltip=tooltip
        ),
    ).properties(width=190, height=150)
    panels = layers.facet(
        facet=alt.Facet("loss:N", title=None, sort=[column.label for column in columns]),
        columns=4,
        data=_data(rows),
    ).resolve_axis(x="independent")
    for name in menus:
        panels = panels.transform_filter(f"datum.{name} == {name}")
    return _spec(panels.add_params(*choices))


def points_chart(figure: Figure) -> Spec:
    """Points with a label, and lines through the origin."""
    series = figure.series
    reach = 1.15 * max(abs(row[name]) for row in series["points"] for name in ("x1", "x2"))
    square = alt.Scale(domain=[-reach, reach], nice=False)
    names = list(dict.fromkeys(row["line"] for row in series["lines"]))
    few = alt.Axis(tickCount=5)
    across = alt.X("x1:Q", title="x₁", scale=square, axis=few)
    up = alt.Y("x2:Q", title="x₂", scale=square, axis=few)
    legend = alt.Legend(title="line", columns=2, symbolSize=300)
    lines = (
        alt.Chart(_data(series["lines"]))
        .mark_line(clip=True, strokeWidth=2)
        .encode(
            x=across,
            y=up,
            color=alt.Color(
                "line:N", scale=alt.Scale(domain=names, range=RANGE[: len(names)]), legend=legend
            ),
            strokeDash=alt.StrokeDash("line:N", scale=alt.Scale(domain=names, range=DASHES[: len(names)])),
        )
    )
    kinds = list(dict.fromkeys(row["label"] for row in series["points"]))
    labels = alt.Scale(domain=kinds, range=["circle", "triangle-down"][: len(kinds)])
    points = (
        alt.Chart(_data(series["points"]))
        .mark_point(filled=True, size=130, color=INK, opacity=1)
        .encode(
            x=across,
            y=up,
            shape=alt.Shape("label:N", scale=labels, legend=alt.Legend(title="label")),
            tooltip=["x1:Q", "x2:Q", "mass:Q", "label:N"],
        )
    )
    return _spec((lines + points).properties(width=SIDE, height=SIDE))


def surface_chart(figure: Figure) -> Spec:
    """The risk by weight as a heat map, with the minimisers on it."""
    axis = sorted({row["w1"] for row in figure.series["surface"]})
    step = axis[1] - axis[0]
    cells = [
        row
        | {"left": row["w1"] - step / 2, "right": row["w1"] + step / 2}
        | {"bottom": row["w2"] - step / 2, "top": row["w2"] + step / 2}
        for row in figure.series["surface"]
    ]
    ends = alt.Scale(domain=[axis[0] - step / 2, axis[-1] + step / 2], nice=False, zero=False)
    risk = alt.Color(
        "risk:Q",
        scale=alt.Scale(scheme="viridis", reverse=True, type="sqrt"),
        legend=alt.Legend(title="risk", gradientLength=200, direction="horizontal"),
    )
    heat = (
        alt.Chart(_data(cells))
        .mark_rect(strokeWidth=0)
        .encode(
            x=alt.X("left:Q", title="w₁", scale=ends),
            x2="right:Q",
            y=alt.Y("bottom:Q", title="w₂", scale=ends),
            y2="top:Q",
            color=risk,
            tooltip=["w1:Q", "w2:Q", alt.Tooltip("risk:Q", format=".4f")],
        )
    )
    marks = [
        row
        | {"minimizer": f"{row['minimizer']}, {'printed' if row['printed'] else 'ours'}"}
        | {"size": 900 / 2.6**place}  # they lie on top of each other
        for place, row in enumerate(figure.series["minimizers"])
    ]
    names = [row["minimizer"] for row in marks]
    shapes = alt.Scale(domain=names, range=["square", "circle", "cross", "diamond"])
    legend = alt.Legend(title="minimiser", columns=2)
    found = (
        alt.Chart(_data(marks))
        .mark_point(filled=False, strokeWidth=2, color="#b3261e", opacity=1)
        .encode(
            x="w1:Q",
            y="w2:Q",
            shape=alt.Shape("minimizer:N", scale=shapes, legend=legend),
            size=alt.Size("size:Q", scale=None, legend=None),
            tooltip=["minimizer:N", "w1:Q", "w2:Q", "risk:Q", "error:Q"],
        )
    )
    return _spec((heat + found).resolve_scale(color="independent").properties(width=SIDE, height=SIDE))


def curves_chart(figure: Figure) -> Spec:
    """A loss by its score, a line for each noise rate."""
    rates = sorted({row["noise_rate"] for row in figure.series["curves"]})
    chart = (
        alt.Chart(_data(figure.series["curves"]))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("v:Q", title="score v"),
            y=alt.Y("loss:Q", title="loss of a positive label"),
            color=alt.Color(
                "noise_rate:N",
                scale=alt.Scale(domain=rates, range=RANGE[: len(rates)]),
                legend=alt.Legend(title="noise rate", symbolSize=300),
            ),
            strokeDash=alt.StrokeDash(
                "noise_rate:N", scale=alt.Scale(domain=rates, range=DASHES[: len(rates)])
            ),
            tooltip=["noise_rate:N", "v:Q", "loss:Q"],
        )
    )
    return _spec(chart.properties(width=SIDE, height=280))


CHARTS: dict[str, Callable[[Figure], Spec]] = {
    "figure_1": points_chart,
    "tangent_boost_surface": surface_chart,
    "t_logistic_surface": surface_chart,
    "corrected_hinge": curves_chart,
    "counterexample": points_chart,
}


def figure_chart(figure: Figure) -> Spec | None:
    """The chart of a figure, or None if there is none of its name; the page has its numbers in any case."""
    return CHARTS[figure.name](figure) if figure.name in CHARTS else None


def _data(rows: Records) -> alt.InlineData:
    """Records with five digits; JSON has no numbers that are not finite."""

    def tidy(value: Any) -> Any:
        if not isinstance(value, float):
            return value
        return float(f"{value:.5g}") if isfinite(value) else None

    return alt.InlineData(values=[{name: tidy(value) for name, value in row.items()} for row in rows])


def _spec(chart: Any) -> Spec:
    """The specification without the address of its schema, in the colours of the page."""
    faint = {"gridColor": "var(--rule)", "domainColor": "var(--rule)", "tickColor": "var(--rule)"}
    letters = {
        "labelColor": INK,
        "labelFontSize": 11.5,
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    spec: Spec = chart.configure(
        background="transparent",
        aria=False,  # the page names every chart as a whole and has its numbers in a table
        font="system-ui, sans-serif",
        axis={**letters, **faint},
        legend={**letters, "labelLimit": 300, "orient": "bottom"},
        header={"labelColor": INK, "labelFontSize": 13, "labelFontWeight": "bold"},
        view={"stroke": "var(--rule)"},
    ).to_dict()
    spec.pop("$schema")
    # Known to Vega but not to Altair's schema: legends one below the other.
    spec["config"]["legend"]["layout"] = {"bottom": {"direction": "vertical", "anchor": "start"}}
    return spec

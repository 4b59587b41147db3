"""The charts of an audit: how likely each noise rate is, how learners fare, what checking rows finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise.words import is_told
from unflip.report.audit.drawing import (
    Plane,
    axis_x,
    axis_y,
    line,
    picture,
    round_steps,
    spread_out,
    text,
)
from unflip.report.audit.rows import found_by_checking, more_likely_wrong
from unflip.report.audit.words import counted, shown

MARKS = (  # around a point, so that curves differ by more than colour
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "m-3.6 -3.6h7.2v7.2h-7.2z",
    "m0 -5l4.6 8.4h-9.2z",
    "m0 -5.2l5.2 5.2l-5.2 5.2l-5.2 -5.2z",
    "m0 5l4.6 -8.4h-9.2z",
    "m-5 -1.7h3.3v-3.3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3z",
)


def whole(value: float) -> str:
    """A tick of an axis in percent.

    >>> whole(0.2), whole(0.275)
    ('20 %', '27.5 %')
    """
    return f"{100 * value:.3g} %"


def rate_chances(audit: Audit) -> list[tuple[float, float, float]]:
    """Cells of noise rates and how probable each is: (from, to, probability). Empty if none were kept."""
    rates, masses = audit.noise.rates, audit.noise.masses
    if not len(rates):
        return []
    limit = 1 - 1 / len(audit.labels.classes)
    edges = np.concatenate([[0.0], (rates[1:] + rates[:-1]) / 2, [limit]])
    return [
        (float(a), float(b), float(mass))
        for a, b, mass in zip(edges[:-1], edges[1:], masses, strict=True)
        if mass >= 0.0005
    ]


def noise_chart(audit: Audit) -> str:
    """The chance of each noise rate, the interval above it, and the bound that needs no assumption."""
    noise, cells = audit.noise, rate_chances(audit)
    limit = 1 - 1 / len(audit.labels.classes)
    end = min(limit, max([noise.high, noise.outer, *(b for _, b, _ in cells)]) * 1.08 + 0.02)
    heights = [mass / (b - a) for a, b, mass in cells]
    span, told = interval(noise.low, noise.high), is_told(noise)
    described = (
        f"{f'The rate is about {share(noise.rate)}' if told else 'The rate is hardly known'}, with a 90 % "
        f"interval of {span}. Without an assumption it is at most {share(noise.outer)}."
    )

    def draw(plane: Plane) -> str:
        plane = replace(plane, left=14, right=14, top=72)
        plane = replace(plane, x_range=(0.0, end), y_range=(0.0, max(heights, default=1.0)))
        base, narrow = plane.height - plane.bottom, plane.narrow
        parts = []
        for (a, b, _), height in zip(cells, heights, strict=True):
            inside = noise.low <= (a + b) / 2 <= noise.high
            x, y = plane.x(a), plane.y(height)
            size = f'width="{max(plane.x(b) - x - 1, 0.5):.1f}" height="{max(base - y, 0.5):.1f}"'
            parts.append(f'<rect class="{"cell in" if inside else "cell"}" x="{x:.1f}" y="{y:.1f}" {size}/>')
        low, middle, high = (plane.x(value) for value in (noise.low, noise.rate, noise.high))
        y = 58.0
        parts += [
            line(low, y, high, y, "span"),
            line(low, y - 5, low, y + 5, "span"),
            line(high, y - 5, high, y + 5, "span"),
            *([f'<circle class="dot" cx="{middle:.1f}" cy="{y:g}" r="4.5"/>'] if told else []),
        ]
        words = f"{share(noise.rate)} ({span})" if told else span
        parts.append(_kept_inside(plane, middle, 44, words, "strong"))
        if noise.outer < end:
            outer = plane.x(noise.outer)
            parts.append(line(outer, 24, outer, base, "bound"))
            words = f"at most {share(noise.outer)}" + ("" if narrow else " without the assumption")
            parts.append(_kept_inside(plane, outer, 16, words, "note"))
        title = "share of labels that are wrong"
        return "".join([*parts, axis_x(plane, round_steps(0.0, end), whole, title)])

    return picture("noise", "How likely each noise rate is", described, 250, draw)


def learners_chart(audit: Audit) -> str:
    """The accuracy of each learner on held-out labels as more of its training labels are flipped."""
    curves = [learner.curve for learner in audit.learners]
    assert audit.recommended is not None
    ends = [learner.name == audit.recommended.name for learner in audit.learners]
    rates = curves[0].rates.tolist()
    guess = [] if audit.learners[0].corrected else [audit.guess]  # which is that of the labels as they are
    several = curves[0].scores.shape[1] > 1  # one split has no deviation
    low = min(*guess, *(float((curve.mean - curve.std).min()) for curve in curves))
    high = max(*guess, *(float((curve.mean + curve.std).max()) for curve in curves))
    pad = max(0.03 * (high - low), 0.004)
    low, high = max(0.0, low - pad), min(1.0, high + pad)
    told = "; ".join(
        f"{shown(learner.name)} from {share(learner.curve.mean[0])} to {share(learner.curve.mean[-1])}"
        for learner in audit.learners
    )
    told = f"As the flipped share of training labels grows from 0 % to {whole(rates[-1])}: {told}."

    def draw(plane: Plane) -> str:
        plane = replace(plane, x_range=(0.0, rates[-1]))
        plane = replace(plane, y_range=(low, high), right=88 if plane.narrow else 170)
        parts = [axis_y(plane, round_steps(low, high, 5), whole)]
        parts.append(axis_x(plane, rates, whole, "training labels flipped on purpose"))
        floor = [plane.y(at) for at in guess]
        parts += [line(plane.left, y, plane.width - plane.right, y, "bound") for y in floor]
        wanted = [plane.y(float(curve.mean[-1])) for curve in curves]
        names = spread_out([*wanted, *floor], 16, plane.top + 6, plane.height - plane.bottom)
        edge = plane.width - plane.right
        drawn = []
        for k, (learner, chosen) in enumerate(zip(audit.learners, ends, strict=True)):
            kind = f"s{k % len(MARKS)}{' chosen' if chosen else ''}"
            points = list(zip(rates, learner.curve.mean.tolist(), strict=True))
            band = ""
            if chosen and several:
                above = (learner.curve.mean + learner.curve.std).tolist()
                below = (learner.curve.mean - learner.curve.std).tolist()
                outline = [*zip(rates, above, strict=True), *zip(rates[::-1], below[::-1], strict=True)]
                band = f'<path class="band" d="{plane.points(outline)}Z"/>'
            marks = "".join(
                f'<path class="mark" d="M{plane.x(x):.1f} {plane.y(y):.1f}{MARKS[k % len(MARKS)]}"/>'
                for x, y in points
            )
            leader = line(edge + 5, wanted[k], edge + 13, names[k] - 1, "leader")
            name = text(edge + 16, names[k] + 3, shown(learner.name, 10 if plane.narrow else 22), "end")
            drawn.append(
                (
                    chosen,
                    f'<g class="{kind}">{band}<path d="{plane.points(points)}"/>{marks}{leader}{name}</g>',
                )
            )
        parts += [drawing for _, drawing in sorted(drawn, key=lambda each: each[0])]  # the chosen on top
        for y in names[len(curves) :]:
            parts.append(
                text(edge + 16, y + 3, "guessing" if plane.narrow else "most frequent label", "note")
            )
        return "".join(parts)

    return picture("learners", "Accuracy on held-out labels as training labels get worse", told, 330, draw)


def checking_chart(audit: Audit) -> str:
    """How many wrong labels to expect among the first rows of the list."""
    grown = np.concatenate([[0.0], np.cumsum(audit.suspects.probability)])
    count, total = len(grown) - 1, float(grown[-1])
    places = np.unique(np.linspace(0, count, 121).astype(int))
    curve = [(float(k), float(grown[k])) for k in places]
    half = more_likely_wrong(audit)
    first = found_by_checking(audit)[0]
    told = (
        f"Among the first {counted(first[0], 'row')} about {first[1]:.0f} wrong labels, "
        f"among the {counted(half, 'row')} more likely wrong than right about {grown[half]:.0f}, "
        f"among all {counted(count, 'row')} about {total:.0f}."
    )

    def draw(plane: Plane) -> str:
        plane = replace(plane, x_range=(0.0, float(count)), y_range=(0.0, max(total, 1.0) * 1.06))
        plane = replace(plane, left=56)
        ticks = round_steps(0, count, 3 if plane.narrow else 6)
        parts = [
            axis_y(plane, round_steps(0, max(total, 1.0) * 1.06, 4), "{:,.10g}".format),
            axis_x(plane, ticks, "{:,.10g}".format, "rows checked, the most suspicious first"),
            line(plane.x(0), plane.y(0), plane.x(count), plane.y(total), "bound"),
            f'<path class="s0 curve" d="{plane.points(curve)}"/>',
        ]
        if half:
            x, y = plane.x(half), plane.y(float(grown[half]))
            words = f"{grown[half]:,.0f} in the first {half:,}"
            anchor = "start" if x < plane.width * 0.55 else "end"
            parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
            parts.append(text(x + (9 if anchor == "start" else -9), y + 20, words, "strong", anchor))
        x, y = plane.x(count * 0.7), plane.y(total * 0.7)
        parts.append(text(x + 8, y + 18, "in any order", "note"))
        return "".join(parts)

    return picture("checking", "Wrong labels that checking rows should find", told, 260, draw)


def _kept_inside(plane: Plane, x: float, y: float, words: str, kind: str) -> str:
    """Words centred at x, or as near to it as the chart is wide."""
    half = 4.2 * len(words)
    return text(min(max(x, half + 2), plane.width - half - 2), y, words, kind, "middle")

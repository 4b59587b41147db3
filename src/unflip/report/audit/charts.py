"""The charts of an audit: how likely each noise rate is, how learners fare, what checking rows finds."""

from __future__ import annotations

import numpy as np

from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise.words import is_told, level_in_words
from unflip.report.audit.rows import found_by_checking, more_likely_wrong
from unflip.report.chart import (
    COLOURS,
    Axis,
    Bars,
    Bound,
    Chart,
    Line,
    Mark,
    Note,
    Range,
    percent_tick,
    round_steps,
    ticks,
)
from unflip.report.words import counted, shown

POINTS_OF_LINE = 121  # points of the line that tells what checking finds


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


def noise_chart(audit: Audit) -> Chart:
    """The chance of each noise rate, the interval above it, and the bound that needs no assumption."""
    noise, cells = audit.noise, rate_chances(audit)
    limit = 1 - 1 / len(audit.labels.classes)
    end = min(limit, max([noise.high, noise.outer, *(b for _, b, _ in cells)]) * 1.08 + 0.02)
    bars = tuple((a, b, mass / (b - a), noise.low <= (a + b) / 2 <= noise.high) for a, b, mass in cells)
    span, told = interval(noise.low, noise.high), is_told(noise)
    known = f"The rate is about {share(noise.rate)}" if told else "The rate is hardly known"
    marks: list[Mark] = [
        Bars(bars),
        Range(
            noise.low,
            noise.rate if told else None,
            noise.high,
            f"{share(noise.rate)} ({span})" if told else span,
        ),
    ]
    if noise.outer < end:
        most = f"at most {share(noise.outer)}"
        marks.append(Bound(noise.outer, f"{most} without the assumption", most))
    return Chart(
        "noise",
        "How likely each noise rate is",
        f"{known}, with a {level_in_words(noise)} of {span}. Without an assumption it is at most "
        f"{share(noise.outer)}.",
        Axis(0.0, end, ticks(round_steps(0.0, end), percent_tick), "share of labels that are wrong"),
        Axis(0.0, max((height for *_, height, _ in bars), default=1.0)),
        tuple(marks),
        height=250,
    )


def learners_chart(audit: Audit) -> Chart:
    """The accuracy of each learner on held-out labels as more of its training labels are flipped."""
    assert audit.recommended is not None
    curves = [learner.curve for learner in audit.learners]
    rates = curves[0].rates.tolist()
    guess = None if audit.learners[0].corrected else audit.guess  # which is that of the labels as they are
    several = curves[0].scores.shape[1] > 1  # one split has no deviation
    ends = [end for curve in curves for end in (*(curve.mean - curve.std), *(curve.mean + curve.std))]
    ends += [] if guess is None else [guess]
    pad = max(0.03 * (max(ends) - min(ends)), 0.004)
    low, high = max(0.0, float(min(ends)) - pad), min(1.0, float(max(ends)) + pad)
    lines = []
    for k, learner in enumerate(audit.learners):
        mean, std = learner.curve.mean, learner.curve.std
        chosen = learner.name == audit.recommended.name
        band = tuple(tuple(zip(rates, edge.tolist(), strict=True)) for edge in (mean - std, mean + std))
        line = Line(
            tuple(zip(rates, mean.tolist(), strict=True)),
            f"s{k % COLOURS}{' chosen' if chosen else ''}",
            shown(learner.name, 22),
            shown(learner.name, 10),
            (band[0], band[1]) if chosen and several else None,
            marker=k,
        )
        lines.append((chosen, line))
    marks = [line for _, line in sorted(lines, key=lambda each: each[0])]  # the chosen on top
    if guess is not None:
        floor = ((0.0, guess), (rates[-1], guess))
        marks.insert(0, Line(floor, "bound", "most frequent label", "guessing"))
    told = "; ".join(
        f"{shown(learner.name)} from {share(learner.curve.mean[0])} to {share(learner.curve.mean[-1])}"
        for learner in audit.learners
    )
    return Chart(
        "learners",
        "Accuracy on held-out labels as training labels get worse",
        f"As the flipped share of training labels grows from 0 % to {percent_tick(rates[-1])}: {told}.",
        Axis(0.0, rates[-1], ticks(rates, percent_tick), "training labels flipped on purpose"),
        Axis(low, high, ticks(round_steps(low, high, 5), percent_tick)),
        tuple(marks),
        height=330,
    )


def checking_chart(audit: Audit) -> Chart:
    """How many wrong labels to expect among the first rows of the list."""
    grown = np.concatenate([[0.0], np.cumsum(audit.suspects.probability)])
    count, total = len(grown) - 1, float(grown[-1])
    places = np.unique(np.linspace(0, count, POINTS_OF_LINE).astype(int))
    half = more_likely_wrong(audit)
    first = found_by_checking(audit)[0]
    told = (
        f"Among the first {counted(first[0], 'row')} about {first[1]:.0f} wrong labels, "
        f"among the {counted(half, 'row')} more likely wrong than right about {grown[half]:.0f}, "
        f"among all {counted(count, 'row')} about {total:.0f}."
    )
    top = max(total, 1.0) * 1.06
    marks: list[Mark] = [
        Line(((0.0, 0.0), (float(count), total)), "bound"),
        Line(tuple((float(k), float(grown[k])) for k in places), "s0"),
        Note((count * 0.7, total * 0.7), "in any order"),
    ]
    if half:
        words = f"{grown[half]:,.0f} in the first {half:,}"
        marks.append(Note((float(half), float(grown[half])), words, strong=True))
    number = "{:,.10g}".format
    return Chart(
        "checking",
        "Wrong labels that checking rows should find",
        told,
        Axis(
            0.0, float(count), ticks(round_steps(0, count), number), "rows checked, the most suspicious first"
        ),
        Axis(0.0, top, ticks(round_steps(0, top), number)),
        tuple(marks),
        height=260,
    )

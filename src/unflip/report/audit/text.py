"""The headline of an audit for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise.words import is_told
from unflip.report.audit.rows import doubtful_rows
from unflip.report.audit.verdict import is_unsure, verdict
from unflip.report.audit.words import shown

WIDTH = 100
SUSPECTS = 10
LEFT_OUT = 5
NAME = 16  # letters of a label or a name in a table


def as_text(audit: Audit) -> str:
    """The verdict, the rate, the accuracies, the learners, the first suspects, and the columns left out.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [int(i > 30) for i in range(60)]})
    >>> print(as_text(audit_table(frame, "y")).splitlines()[0][:34])
    Between none and 4.9 % of the 60 l
    """
    said = _filled(" ".join(verdict(audit)))
    found = [_numbers(audit), _learners(audit), _suspects(audit)] if audit.informative else []
    parts = [said, *found, _left_out(audit)]
    return "\n\n".join(part for part in parts if part)


def _numbers(audit: Audit) -> str:
    noise, clean = audit.noise, audit.clean_accuracy
    rate = "unknown"
    if is_told(noise):
        rate = f"{share(noise.rate)} ({interval(noise.low, noise.high)}) on that assumption"
    right = "unknown"
    if clean is not None and not is_unsure(audit):
        right = f"{share(clean.estimate)} ({interval(clean.low, clean.high)}) on that assumption"
    rows = [
        ("wrong labels", rate),
        ("  without it", f"up to {share(noise.outer)}"),
        ("accuracy on these labels", f"{share(audit.noisy_accuracy)}, by guessing {share(audit.guess)}"),
        ("accuracy on clean labels", right),
        ("  without it", interval(*audit.clean_bounds)),
    ]
    return "\n".join(f"  {name:26}{found}" for name, found in rows)


def _learners(audit: Audit) -> str:
    assert audit.recommended is not None
    curve, corrected = audit.learners[0].curve, audit.learners[0].corrected
    head = [
        "",
        "learner",
        *([] if corrected else ["held out"]),
        "clean",
        *(f"{rate:+.0%}" for rate in curve.rates[1:]),
        "",
    ]
    rows = [
        [
            "*" if learner.name == audit.recommended.name else "",
            shown(learner.name, 24),
            *([] if corrected else [share(learner.accuracy)]),
            share(learner.clean),
            *map(share, learner.curve.mean[1:]),
            shown(learner.words),
        ]
        for learner in audit.learners
    ]
    ways = "<<" + ">" * (len(head) - 3) + "<"
    held_out = (
        "held-out labels, corrected for the rates by class" if corrected else "held-out and on clean labels"
    )
    said = f"Learners on {held_out}, and with more labels flipped (* recommended):"
    return "\n".join([said, *_columns([head, *rows], ways)])


def _suspects(audit: Audit) -> str:
    rows = [
        [
            str(row.row),
            *([] if audit.ids is None else [shown(row.id, NAME)]),
            shown(row.given, NAME),
            shown(row.likely, NAME),
            share(row.probability),
            ", ".join(map(str, row.neighbours)),
        ]
        for row in doubtful_rows(audit)[:SUSPECTS]
    ]
    named = [] if audit.ids is None else [shown(audit.ids[0], NAME)]
    head = ["row", *named, "given", "likely", "P(wrong)", "like rows"]
    way = ">" + "<" * len(named) + "<<><"
    return "\n".join(["The most suspicious rows (counted from 0):", *_columns([head, *rows], way)])


def _left_out(audit: Audit) -> str:
    found = [f"{shown(name, 2 * NAME)} ({reason})" for name, reason in audit.table.left_out_.items()]
    if not found:
        return ""
    more = [f"{len(found) - LEFT_OUT} more"] if len(found) > LEFT_OUT else []
    listed = ", ".join([*found[:LEFT_OUT], *more])
    return _filled(f"Columns left out: {listed}.")


def _filled(words: str) -> str:
    """Lines of at most `WIDTH` letters; a number and its percent sign stay together."""
    return textwrap.fill(words.replace(" %", "\u00a0%"), WIDTH, break_on_hyphens=False).replace("\u00a0", " ")


def _columns(rows: Sequence[Sequence[str]], ways: str) -> list[str]:
    """Rows of text in columns; ways: for each column the side that its text stands at."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  " + "  ".join(f"{cell:{way}{w}}" for cell, way, w in zip(row, ways, widths, strict=True)).rstrip()
        for row in rows
    )
    return [line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in lines]

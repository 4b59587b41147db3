"""The headline of a result for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from unflip.experiments.result import Result, certificate_summary
from unflip.report.counts import Agreement, Column, Count, Share
from unflip.report.document import Document, document
from unflip.report.words import loss_label

WIDTH = 100


def as_text(result: Result) -> str:
    """What agrees by dataset and loss, the certificates, a line for each finding, and what was skipped.

    >>> from unflip.experiments.result import Finding
    >>> finding = Finding("one", "Ties", "None.", "Two of three.", ("ties",), ((2,),))
    >>> print(as_text(Result(settings={}, findings=(finding,))).split("Not asked for")[0])
    No table was run.
    <BLANKLINE>
    Found:
      Ties: Two of three.
    """
    report = document(result)
    parts = [
        _wrapped(" ".join(report.summary)),
        _shares(report.shares),
        _agreement("Printed means that agree, by dataset and loss", report.means),
        _agreement("Printed standard deviations that agree, by dataset and loss", report.stds),
        _certificates(result),
        _found(report),
        _left_out(report),
    ]
    return "\n\n".join(part for part in parts if part)


def _shares(shares: Sequence[Share]) -> str:
    rows = [(share.title, str(share.means), share.means.percent) for share in shares]
    return "\n".join(["Printed means that agree, by kind of loss:", *_columns(rows)]) if rows else ""


def _agreement(title: str, counts: Agreement) -> str:
    if not counts.rows:
        return ""
    heads = [_head(column) for column in counts.columns]
    body = [[name, *map(_count, row)] for name, row in counts.rows]
    lines = _columns([["", *heads], *body, ["all", *map(_count, counts.totals)]])
    star = ["  * the solver stopped early (liblinear)"] if "hinge*" in heads else []
    return "\n".join([f"{title}:", *lines, *star])


def _head(column: Column) -> str:
    if column.loss == "hinge":
        return "hinge*" if column.solver == "liblinear" else "hinge"
    return loss_label(column.loss, column.solver)


def _count(count: Count | None) -> str:
    return str(count) if count else "–"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of text in columns, the first at the left and the others at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                f"  {row[0]:{widths[0]}}",
                *(f"{cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    ]


def _certificates(result: Result) -> str:
    exact = tuple(row for row in result.certificates if row.solver == "exact")
    kinds = {kind: row for kind, row in certificate_summary(exact).items() if kind != "rows"}
    lines = []
    for kind, row in kinds.items():
        met = f"{row['met']:,} of {row['fits']:,} fits"
        limit = f", limit {row['limit']:.0e}, worst {row['worst']:.1e}" if kind != "closed form" else ""
        separable = f", {row['separable']:,} separable" if row["separable"] else ""
        lines.append(f"  {kind}: {met}{limit}{separable}")
    return "\n".join(["Certificates met:", *lines]) if lines else ""


def _found(report: Document) -> str:
    lines = [_wrapped(f"{group.title}: {group.found}", "  ") for group in (*report.figures, *report.findings)]
    return "\n".join(["Found:", *lines]) if lines else ""


def _left_out(report: Document) -> str:
    lines = []
    for entry in report.skipped:
        lines.append(_wrapped(f"Skipped: {entry.name}, {entry.reason}"))
        if entry.command:
            lines.append(f"  {entry.command}")
    missing = "; ".join(", ".join(names) for names in report.not_asked if names)
    if missing:
        lines.append(_wrapped(f"Not asked for: {missing}."))
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent * 2, break_on_hyphens=False
    )

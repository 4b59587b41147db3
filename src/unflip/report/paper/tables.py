"""The tables of the paper's report: counts, certificates, what differs, findings, errata."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from unflip.experiments.result import Certified, Comparison, Finding
from unflip.report.document import Cell, Line, Table
from unflip.report.paper.counts import AgreementCounts, Count, Variants
from unflip.report.words import METRIC_NAMES, loss_label, plain, plus_minus, span, words

LONGEST_SERIES = 100  # rows of a table behind a figure; longer series are thinned


def count_cell(count: Count | None, best: bool = False, used: bool = False) -> Cell:
    """A count with its share, and whether it is the most for a dataset, or of the protocol in use."""
    if not count:
        return Cell("–", "count none", spoken="not run")
    tag = ", ".join(name for name, true in (("most", best), ("used", used)) if true)
    return Cell(str(count), "count best" if best else "count", count.share, tag=tag)


def agreement_table(caption: str, counts: AgreementCounts) -> Table:
    """A row for each dataset, a column for each loss, and the sums of these."""
    columns = ("dataset", *(column.label for column in counts.columns))
    rows: list[Line] = [(name, *map(count_cell, row)) for name, row in counts.rows]
    return Table(caption, columns, tuple(rows), "counts", foot=("all", *map(count_cell, counts.totals)))


def variants_table(found: Variants) -> Table:
    """A row for each protocol, a column for each dataset."""
    rows: list[Line] = []
    for row in found.rows:
        cells = (count_cell(*each) for each in zip(row.counts, row.best, row.used, strict=True))
        rows.append((row.name, *cells, count_cell(row.total)))
    caption = f"Printed means that agree by protocol, {found.title}"
    return Table(caption, ("protocol", *found.datasets, "all"), tuple(rows), "counts")


def records(caption: str, rows: Sequence[dict[str, Any]], code: str = "") -> Table:
    """A table of records, with every key that any of them has.

    >>> records("sizes", [{"name": "iris", "rows": 150}, {"name": "car", "available": True}]).rows
    (('iris', '150', '–'), ('car', '–', 'yes'))
    """
    keys = list(dict.fromkeys(key for row in rows for key in row))
    values = tuple(tuple(plain(row.get(key)) for key in keys) for row in rows)
    return Table(caption, tuple(map(words, keys)), values, code=code)


def series_table(figure: str, name: str, rows: Sequence[dict[str, Any]]) -> Table:
    """The numbers behind a figure; of a long series every so many rows.

    >>> series_table("Figure", "curve", [{"v": v} for v in range(1000)]).caption
    'Figure, curve, every 10th of 1000 rows'
    """
    step = max(-(-len(rows) // LONGEST_SERIES), 1)
    thinned = f", every {step}th of {len(rows)} rows" if step > 1 else ""
    return records(f"{figure}, {words(name)}{thinned}", rows[::step])


def finding_table(finding: Finding) -> Table:
    """The rows of a finding."""
    rows = tuple(tuple(map(plain, row)) for row in finding.rows)
    return Table(finding.title, tuple(map(words, finding.columns)), rows)


def certificates_table(certificates: Sequence[Certified]) -> Table:
    """One row for each loss on each dataset; the columns on Hessians only where there are any."""
    curved = any(row.smallest_eigenvalue is not None for row in certificates)
    columns = ["dataset", "loss", "certificate", "fits", "met", "separable", "worst", "limit"]
    rows = []
    for row in certificates:
        near = (None, None) if row.kind == "closed form" else (f"{row.worst:.1e}", f"{row.limit:.0e}")
        numbers: tuple[Any, ...] = (row.fits, row.met, row.separable, *near)
        if curved:
            numbers += (row.smallest_eigenvalue, row.flat, row.negative)
        label = loss_label(row.loss, row.solver)
        rows.append((row.dataset, label, row.kind, *map(plain, numbers)))
    if curved:
        columns += ["smallest eigenvalue", "flat", "negative"]
    return Table("How near the fits came to their goal", tuple(columns), tuple(rows))


def disagreements_table(reason: str, cells: Sequence[Comparison]) -> Table:
    """The printed numbers that do not agree for one reason."""
    columns = ("dataset", "loss", "metric", "noise rate", "printed", "ours", "range of ours")
    rows = tuple(
        (
            cell.dataset,
            loss_label(cell.loss, cell.solver),
            METRIC_NAMES.get(cell.metric, cell.metric),
            plain(cell.noise_rate),
            plus_minus(cell.published_mean, cell.published_std, 2),
            plus_minus(cell.mean, cell.std, 3),
            span(cell.low, cell.high),
        )
        for cell in cells
    )
    return Table(f"Numbers that differ: {reason}", columns, rows)


def errata_table() -> Table:
    """Where the paper and the arithmetic differ: the entries of docs/errata.md that matter most.

    >>> errata_table().columns
    ('where', 'printed', 'right', 'check')
    """
    text = files("unflip.report.paper").joinpath("errata.toml").read_text("utf-8")
    return records("Printed statements and what is right", tomllib.loads(text)["erratum"], code="check")

"""A result as Markdown, for a file that is read, searched and compared with the last one."""

from __future__ import annotations

from collections.abc import Sequence

from unflip.experiments.result import Result
from unflip.report.counts import Agreement, Count, Share, Variant
from unflip.report.document import Document, Group, document
from unflip.report.printed import Entry, PrintedTable
from unflip.report.tables import Plain
from unflip.report.words import METRICS, plain

RULE = (
    "A printed mean agrees if, give or take its rounding, it lies in the central 95 % of our means, one mean "
    "a split. Ours is the mean and the standard deviation over the noise draws of one split."
)


def as_markdown(result: Result) -> str:
    """The whole report, with a table for each of the paper's.

    >>> print(as_markdown(Result(settings={"seed": 0})).split("##")[0])
    # The paper's experiments, run again
    <BLANKLINE>
    No table was run.
    """
    report = document(result)
    sections = [
        ("", " ".join(report.summary)),
        ("Agreement", _shares(report.shares) + _agreement(report.means)),
        ("Standard deviations", _agreement(report.stds)),
        ("The printed tables", _printed(report.tables)),
        ("Where we differ", _disagreements(report)),
        ("Protocols", _variants(report)),
        ("Certificates", _table(report.certificates)),
        ("Datasets", _table(report.datasets)),
        ("Figures", _groups(report.figures, with_tables=False)),
        ("Findings", _groups(report.findings)),
        ("Errata of the paper", _table(report.errata)),
        ("This run", _run(report)),
        ("What is missing", _missing(report)),
    ]
    parts = ["# The paper's experiments, run again"]
    parts += [f"## {title}\n\n{body}" if title else body for title, body in sections if body]
    return "\n\n".join(parts) + "\n"


def _shares(shares: Sequence[Share]) -> str:
    rows = [(share.title, _share(share.means), _share(share.stds)) for share in shares]
    return _grid(("losses", "means that agree", "standard deviations"), rows) + "\n\n" if rows else ""


def _share(count: Count) -> str:
    return f"{count} ({count.percent})"


def _agreement(counts: Agreement) -> str:
    if not counts.rows:
        return ""
    rows = [(name, *("–" if count is None else str(count) for count in row)) for name, row in counts.rows]
    rows.append(("all", *map(str, counts.totals)))
    return _grid(("dataset", *(column.label for column in counts.columns)), rows)


def _printed(tables: Sequence[PrintedTable]) -> str:
    columns = ("dataset", "metric", "noise rate", "loss", "printed", "ours", "range of ours", "verdict")
    parts = [RULE] if tables else []
    for table in tables:
        entries = [entry for block in table.blocks for entry in block.entries]
        parts += [f"### {_text(table.title)} ({table.count})", _grid(columns, list(map(_entry, entries)))]
    return "\n\n".join(parts)


def _entry(entry: Entry) -> tuple[str, ...]:
    cell, ours = entry.printed, entry.ours
    reason = f": {ours.reason}" if ours and ours.reason else ""
    metric, rate = METRICS.get(cell.metric, cell.metric), plain(cell.noise_rate)
    numbers = (entry.printed_text, entry.ours_text, entry.range_text)
    return cell.dataset, metric, rate, entry.column.label, *numbers, entry.verdict + reason


def _disagreements(report: Document) -> str:
    return "\n".join(f"- {len(table.rows)}: {_text(reason)}" for reason, table in report.disagreements)


def _variants(report: Document) -> str:
    parts = []
    for found in report.variants:
        rows = [(row.name, *_counts(row), str(row.total)) for row in found.rows]
        title = (
            f"Printed means that agree, {found.title}; the most for a dataset in bold, * where it was used."
        )
        parts += [title, _grid(("protocol", *found.datasets, "all"), rows)]
    parts += [f"- {_text(name)}: {_text(meaning)}" for name, meaning in report.protocols.items()]
    return "\n\n".join(parts)


def _counts(row: Variant) -> list[str]:
    return [
        "–" if count is None else (f"**{count}**" if best else str(count)) + (" \\*" if used else "")
        for count, best, used in zip(row.counts, row.best, row.used, strict=True)
    ]


def _groups(groups: Sequence[Group], with_tables: bool = True) -> str:
    parts = []
    for group in groups:
        parts += [
            f"### {_text(group.title)}",
            f"*Printed:* {_text(group.printed)}",
            f"*Found:* {_text(group.found)}",
        ]
        parts += map(_table, group.tables) if with_tables else []
    return "\n\n".join(parts)


def _run(report: Document) -> str:
    command = f"\n\n    {' '.join(report.command.split())}" if report.command else ""
    return _table(report.settings) + command


def _missing(report: Document) -> str:
    lines = []
    for entry in report.skipped:
        command = f" (`{entry.command}`)" if entry.command else ""
        lines.append(f"- {_text(entry.name)}: {_text(entry.reason)}{command}")
    missing = "; ".join(", ".join(names) for names in report.not_asked if names)
    return "\n".join([*lines, f"- Not asked for: {missing}." if missing else ""]).strip()


def _table(table: Plain) -> str:
    return _grid(table.columns, table.rows) if table.rows else ""


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(_text, line)) + " |" for line in lines)


def _text(text: str) -> str:
    """Text that cannot end a cell or a line, nor begin a tag."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())

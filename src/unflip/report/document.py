"""From a `Result` to plain values in the order in which they are shown; nothing here draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from unflip.experiments.batch import CLOSED
from unflip.experiments.catalogue import CATALOGUE
from unflip.experiments.figures import FIGURES
from unflip.experiments.published import published
from unflip.experiments.result import Comparison, Figure, Result
from unflip.report.counts import (
    Agreement,
    Share,
    Variants,
    agreement,
    distinct,
    shares,
    std_agrees,
    tried_everywhere,
    variants,
)
from unflip.report.printed import PrintedTable, printed_tables
from unflip.report.summary import summary
from unflip.report.tables import (
    Plain,
    certificates_table,
    disagreements_table,
    errata_table,
    finding_table,
    records,
    series_table,
    settings_table,
)
from unflip.report.words import plain

NO_REASON = "No reason is known."


@dataclass(frozen=True)
class Group:
    """A figure or a finding: what is printed, what was found, and the numbers."""

    name: str
    title: str
    printed: str
    found: str
    tables: tuple[Plain, ...]


@dataclass(frozen=True)
class Skipped:
    """What could not be run, why, and the command that would help, if there is one."""

    name: str
    reason: str
    command: str


@dataclass(frozen=True)
class Document:
    """A report. What the run did not have is empty.

    cells: printed numbers beside ours, each once. variants: protocols compared, on the closed forms and
        on the other losses. protocols: the name of each and what it means. command: how to repeat the run.
    not_asked: datasets and figures.
    """

    summary: tuple[str, ...]
    cells: tuple[Comparison, ...]
    shares: tuple[Share, ...]
    means: Agreement
    stds: Agreement
    tables: tuple[PrintedTable, ...]
    disagreements: tuple[tuple[str, Plain], ...]
    variants: tuple[Variants, ...]
    protocols: dict[str, str]
    certificates: Plain
    datasets: Plain
    figures: tuple[Group, ...]
    findings: tuple[Group, ...]
    errata: Plain
    settings: Plain
    command: str
    skipped: tuple[Skipped, ...]
    not_asked: tuple[tuple[str, ...], tuple[str, ...]]


def document(result: Result) -> Document:
    """The report of a result.

    >>> report = document(Result(settings={"seed": 0, "command": "unflip reproduce iris"}))
    >>> report.command, report.settings.rows, report.not_asked[1][0]
    ('unflip reproduce iris', (('seed', '0'),), 'figure_1')
    """
    cells = distinct(result.cells)
    names = list(dict.fromkeys(cell.dataset for cell in published()))
    skipped = {str(entry.get("name", "")): str(entry.get("reason", "")) for entry in result.skipped}
    run = {cell.dataset for cell in cells}
    shown = [name for name in names if name in run]
    settings = {name: value for name, value in result.settings.items() if name != "command"}
    present = {figure.name for figure in result.figures}
    return Document(
        summary=summary(result, cells),
        cells=tuple(cells),
        shares=tuple(shares(cells)),
        means=agreement(cells, shown),
        stds=agreement(cells, shown, std_agrees),
        tables=printed_tables(result.cells, list(skipped)),
        disagreements=_by_reason(cells),
        variants=_variants(result, names, {(cell.protocol, cell.dataset) for cell in cells}),
        protocols={name: _meaning(settings) for name, settings in result.protocols.items()},
        certificates=certificates_table(result.certificates),
        datasets=records("Datasets", result.datasets),
        figures=tuple(map(_figure, result.figures)),
        findings=tuple(
            Group(finding.name, finding.title, finding.printed, finding.found, (finding_table(finding),))
            for finding in result.findings
        ),
        errata=errata_table(),
        settings=settings_table(settings),
        command=str(result.settings.get("command", "")),
        skipped=tuple(Skipped(name, reason, _remedy(name)) for name, reason in skipped.items()),
        not_asked=(
            tuple(name for name in names if name not in run and name not in skipped),
            tuple(name for name in FIGURES if name not in present and name not in skipped),
        ),
    )


def _figure(figure: Figure) -> Group:
    tables = tuple(series_table(name, rows) for name, rows in figure.series.items())
    return Group(figure.name, figure.title, figure.printed, figure.found, tables)


def _by_reason(cells: Iterable[Comparison]) -> tuple[tuple[str, Plain], ...]:
    """The cells that differ, by reason; the reason of most comes first."""
    groups: dict[str, list[Comparison]] = {}
    for cell in cells:
        if not cell.agrees:
            groups.setdefault(cell.reason or NO_REASON, []).append(cell)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return tuple((reason, disagreements_table(group)) for reason, group in ordered)


def _variants(result: Result, datasets: list[str], used: set[tuple[str, str]]) -> tuple[Variants, ...]:
    """The protocols on the closed forms, then on the other losses, where every protocol was tried on them."""
    fair = tried_everywhere(result.tallies)
    closed = [tally for tally in fair if tally.loss in CLOSED]
    others = [tally for tally in fair if tally.loss not in CLOSED]
    found = (
        variants("square and unhinged", closed, datasets, used),
        variants("the other losses that were tried", others, datasets, used),
    )
    return tuple(each for each in found if each.rows)


def _meaning(settings: dict[str, Any]) -> str:
    """What a protocol is: its summary and those of its datasets, or else all of its settings."""
    if "summary" not in settings:
        return plain(settings)
    inner = {name: each.get("summary", each) for name, each in settings.items() if isinstance(each, dict)}
    return "; ".join(
        [plain(settings["summary"]), *(f"{name}: {plain(text)}" for name, text in inner.items())]
    )


def _remedy(name: str) -> str:
    elsewhere = name in CATALOGUE and CATALOGUE[name].origin == "elsewhere"
    return f"unflip datasets fetch {name} --data-dir FOLDER" if elsewhere else ""

"""The paper's tables again, every printed number beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unflip.experiments.published import PublishedCell, published
from unflip.experiments.result import Comparison
from unflip.report.document import Block, Compared, Pair
from unflip.report.paper.counts import Column, Count, columns_of, count
from unflip.report.words import MAIN_TABLES, METRIC_NAMES, plain, plus_minus, span, table_title


@dataclass(frozen=True)
class PrintedTable:
    """A table of the paper, and how many of its numbers agree, with exact minimisers."""

    name: str
    count: Count
    numbers: Compared

    @property
    def title(self) -> str:
        """What the paper calls it."""
        return table_title(self.name)


def pair(printed: PublishedCell, ours: Comparison | None) -> Pair:
    """A printed number as in the paper, and ours with one digit more, if that was run."""
    text = plus_minus(printed.mean, printed.std, 2)
    if ours is None:
        return Pair(text, printed.best, "not run", "–", "not run")
    return Pair(
        text,
        printed.best,
        ours=plus_minus(ours.mean, ours.std, 3),
        range=span(ours.low, ours.high),
        verdict="agrees" if ours.agrees else "differs",
        reason=ours.reason,
    )


def printed_tables(cells: Iterable[Comparison], skipped: Sequence[str]) -> tuple[PrintedTable, ...]:
    """The tables of which something was run or had to be skipped; those of the main text come first.

    >>> [table.title for table in printed_tables([], ["long"])]
    ["Table 1: Long and Servedio's dataset", 'Appendix: long']
    """
    ours = {(c.table, c.dataset, c.metric, c.noise_rate, c.loss, c.solver): c for c in cells}
    solvers = {(loss, solver) for *_, loss, solver in ours}
    groups: dict[str, dict[tuple[str, str], list[PublishedCell]]] = {}
    for cell in sorted(published(), key=lambda cell: cell.table not in MAIN_TABLES):
        groups.setdefault(cell.table, {}).setdefault((cell.dataset, cell.metric), []).append(cell)

    def block(dataset: str, metric: str, printed: list[PublishedCell]) -> Block:
        pairs = {(cell.loss, "exact") for cell in printed}
        columns = columns_of(pairs | {each for each in solvers if (each[0], "exact") in pairs})
        places = {(cell.noise_rate, cell.loss): cell for cell in printed}

        def entry(rate: float, column: Column) -> Pair:
            cell = places[rate, column.loss]
            return pair(cell, ours.get((cell.table, dataset, metric, rate, column.loss, column.solver)))

        rates = sorted({cell.noise_rate for cell in printed})
        rows = tuple((plain(rate), tuple(entry(rate, column) for column in columns)) for rate in rates)
        return Block(
            dataset, METRIC_NAMES.get(metric, metric), tuple(column.label for column in columns), rows
        )

    wanted = {(table, dataset) for table, dataset, *_ in ours}
    wanted |= {
        (table, dataset) for table, inner in groups.items() for dataset, _ in inner if dataset in skipped
    }
    tables = []
    for table, inner in groups.items():
        kept = tuple(block(*place, group) for place, group in inner.items() if (table, place[0]) in wanted)
        exact = (cell for cell in ours.values() if cell.table == table and cell.solver == "exact")
        if kept:
            tables.append(PrintedTable(table, count(exact), Compared(kept)))
    return tuple(tables)

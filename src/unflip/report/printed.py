"""The paper's tables again, every printed number beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unflip.experiments.published import Cell, published
from unflip.experiments.result import Comparison
from unflip.report.counts import Column, Count, columns_of, count
from unflip.report.words import MAIN_TABLES, METRICS, plus_minus, span, table_title


@dataclass(frozen=True)
class Entry:
    """A printed number and what we have beside it, if that was run."""

    printed: Cell
    column: Column
    ours: Comparison | None

    @property
    def verdict(self) -> str:
        """One of "agrees", "differs", "not run"."""
        if self.ours is None:
            return "not run"
        return "agrees" if self.ours.agrees else "differs"

    @property
    def printed_text(self) -> str:
        """As in the paper."""
        return plus_minus(self.printed.mean, self.printed.std, 2)

    @property
    def ours_text(self) -> str:
        """Mean and standard deviation of one split, with one digit more than the paper has."""
        return plus_minus(self.ours.mean, self.ours.std, 3) if self.ours else "not run"

    @property
    def range_text(self) -> str:
        """Where a printed mean agrees."""
        return span(self.ours.low, self.ours.high) if self.ours else "–"


@dataclass(frozen=True)
class Block:
    """One dataset and one metric of a table: a row for each noise rate, a column for each loss."""

    dataset: str
    metric: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[float, tuple[Entry, ...]], ...]

    @property
    def title(self) -> str:
        """What stands above the block."""
        return f"{self.dataset}, {METRICS.get(self.metric, self.metric)}"

    @property
    def entries(self) -> list[Entry]:
        """All of its entries, row by row."""
        return [entry for _, entries in self.rows for entry in entries]


@dataclass(frozen=True)
class PrintedTable:
    """A table of the paper."""

    name: str
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        """What the paper calls it."""
        return table_title(self.name)

    @property
    def count(self) -> Count:
        """How many of its numbers agree, with exact minimisers."""
        ours = (entry.ours for block in self.blocks for entry in block.entries)
        return count(cell for cell in ours if cell and cell.solver == "exact")


def printed_tables(cells: Iterable[Comparison], skipped: Sequence[str]) -> tuple[PrintedTable, ...]:
    """The tables of which something was run or had to be skipped; those of the main text come first.

    >>> [table.title for table in printed_tables([], ["long"])]
    ["Table 1: Long and Servedio's dataset", 'Appendix: long']
    """
    ours = {(c.table, c.dataset, c.metric, c.noise_rate, c.loss, c.solver): c for c in cells}
    solvers = {(loss, solver) for *_, loss, solver in ours}
    blocks: dict[str, dict[tuple[str, str], list[Cell]]] = {}
    for cell in sorted(published(), key=lambda cell: cell.table not in MAIN_TABLES):
        blocks.setdefault(cell.table, {}).setdefault((cell.dataset, cell.metric), []).append(cell)

    def block(dataset: str, metric: str, printed: list[Cell]) -> Block:
        pairs = {(cell.loss, "exact") for cell in printed}
        columns = columns_of(pairs | {pair for pair in solvers if (pair[0], "exact") in pairs})
        places = {(cell.noise_rate, cell.loss): cell for cell in printed}

        def entry(rate: float, column: Column) -> Entry:
            cell = places[rate, column.loss]
            key = (cell.table, dataset, metric, rate, column.loss, column.solver)
            return Entry(cell, column, ours.get(key))

        rates = sorted({cell.noise_rate for cell in printed})
        rows = tuple((rate, tuple(entry(rate, column) for column in columns)) for rate in rates)
        return Block(dataset, metric, columns, rows)

    wanted = {(table, dataset) for table, dataset, *_ in ours}
    wanted |= {
        (table, dataset) for table, groups in blocks.items() for dataset, _ in groups if dataset in skipped
    }
    tables = []
    for table, groups in blocks.items():
        kept = tuple(block(*place, group) for place, group in groups.items() if (table, place[0]) in wanted)
        if kept:
            tables.append(PrintedTable(table, kept))
    return tuple(tables)

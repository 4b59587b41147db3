"""How many printed numbers agree: by dataset and loss, by kind of loss, by protocol.

A number that the main text repeats from the appendix counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from unflip.experiments.batch import CLOSED
from unflip.experiments.result import Comparison, Tally
from unflip.report.words import loss_label, percent

ORDER = ("hinge", "logistic", "square", "t_logistic", "tangent_boost", "unhinged")
Test = Callable[[Comparison], bool]


@dataclass(frozen=True)
class Count:
    """So many of so many.

    >>> str(Count(11, 12) + Count(1, 12)), Count(11, 12).percent
    ('12/24', '92 %')
    """

    agreeing: int
    cells: int

    def __add__(self, other: Count) -> Count:
        return Count(self.agreeing + other.agreeing, self.cells + other.cells)

    def __str__(self) -> str:
        return f"{self.agreeing}/{self.cells}"

    @property
    def share(self) -> float:
        """Between 0 and 1; 0 of 0 is 0."""
        return self.agreeing / self.cells if self.cells else 0.0

    @property
    def percent(self) -> str:
        """The share in words."""
        return percent(self.agreeing, self.cells)


@dataclass(frozen=True, order=True)
class Column:
    """A loss, and for the hinge its solver."""

    loss: str
    solver: str = "exact"

    @property
    def label(self) -> str:
        """What stands above the column."""
        return loss_label(self.loss, self.solver)


@dataclass(frozen=True)
class AgreementCounts:
    """Counts by dataset and column, None where nothing was run, and the sums of both."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Count | None, ...]], ...]

    @property
    def totals(self) -> tuple[Count, ...]:
        """The sum of every column."""
        return tuple(total(counts[k] for _, counts in self.rows) for k in range(len(self.columns)))


@dataclass(frozen=True)
class Share:
    """A headline: how many cells of a kind agree, in means and in standard deviations."""

    title: str
    means: Count
    stds: Count


@dataclass(frozen=True)
class Variant:
    """A protocol: its counts by dataset, which of them no other exceeds, and which datasets use it."""

    name: str
    counts: tuple[Count | None, ...]
    best: tuple[bool, ...]
    used: tuple[bool, ...]

    @property
    def total(self) -> Count:
        """Over all datasets."""
        return total(self.counts)


@dataclass(frozen=True)
class Variants:
    """The protocols in their order, compared on some losses."""

    title: str
    datasets: tuple[str, ...]
    rows: tuple[Variant, ...]


def total(counts: Iterable[Count | None]) -> Count:
    """The sum of the counts that are there.

    >>> total([Count(1, 2), None, Count(2, 3)])
    Count(agreeing=3, cells=5)
    """
    return sum((count for count in counts if count), Count(0, 0))


def distinct(cells: Iterable[Comparison]) -> list[Comparison]:
    """The cells without those of the main text that the appendix has as well."""
    kept: dict[tuple[str, str, float, str, str], Comparison] = {}
    for cell in sorted(cells, key=lambda cell: not cell.table.startswith("full-")):  # stable: appendix first
        kept.setdefault((cell.dataset, cell.metric, cell.noise_rate, cell.loss, cell.solver), cell)
    return list(kept.values())


def mean_agrees(cell: Comparison) -> bool:
    """Does the printed mean agree?"""
    return cell.agrees


def std_agrees(cell: Comparison) -> bool:
    """Does the printed standard deviation agree?"""
    return cell.std_agrees


def count(cells: Iterable[Comparison], test: Test = mean_agrees) -> Count:
    """How many pass the test."""
    passed = [test(cell) for cell in cells]
    return Count(sum(passed), len(passed))


def columns_of(pairs: Iterable[tuple[str, str]]) -> tuple[Column, ...]:
    """The columns of some losses and solvers, in the paper's order.

    >>> [column.label for column in columns_of([("square", "exact"), ("hinge", "exact")])]
    ['hinge, exact', 'square']
    """

    def place(column: Column) -> tuple[int, Column]:
        return ORDER.index(column.loss) if column.loss in ORDER else len(ORDER), column

    return tuple(sorted({Column(loss, solver) for loss, solver in pairs}, key=place))


def agreement(
    cells: Sequence[Comparison], datasets: Sequence[str], test: Test = mean_agrees
) -> AgreementCounts:
    """Counts of the cells that pass a test, one row a dataset."""
    columns = columns_of((cell.loss, cell.solver) for cell in cells)
    groups: dict[tuple[str, Column], list[Comparison]] = {}
    for cell in cells:
        groups.setdefault((cell.dataset, Column(cell.loss, cell.solver)), []).append(cell)
    rows = []
    for name in datasets:
        found = (groups.get((name, column)) for column in columns)
        rows.append((name, tuple(count(group, test) if group else None for group in found)))
    return AgreementCounts(columns, tuple(rows))


def shares(cells: Sequence[Comparison]) -> list[Share]:
    """The headlines: closed forms, the other smooth losses, and the hinge by each of its solvers."""
    kinds: dict[str, Test] = {
        "square and unhinged (closed form)": lambda cell: cell.loss in CLOSED,
        "other losses without the hinge": lambda cell: cell.loss not in (*CLOSED, "hinge"),
        "hinge, exact minimiser": lambda cell: cell.loss == "hinge" and cell.solver == "exact",
        "hinge, solver stopped early": lambda cell: cell.loss == "hinge" and cell.solver == "liblinear",
    }
    groups = {title: [cell for cell in cells if belongs(cell)] for title, belongs in kinds.items()}
    return [Share(title, count(group), count(group, std_agrees)) for title, group in groups.items() if group]


def variants(
    title: str, tallies: Sequence[Tally], datasets: Sequence[str], used: set[tuple[str, str]]
) -> Variants:
    """Sums over losses by protocol and dataset; `used` has (protocol, dataset) pairs."""
    counts: dict[str, dict[str, Count]] = {}
    for tally in tallies:
        row = counts.setdefault(tally.protocol, {})
        row[tally.dataset] = row.get(tally.dataset, Count(0, 0)) + Count(tally.agreeing, tally.cells)
    names = tuple(name for name in datasets if any(name in row for row in counts.values()))
    most = {name: max(row[name].agreeing for row in counts.values() if name in row) for name in names}
    rows = tuple(
        Variant(
            name=protocol,
            counts=tuple(row.get(name) for name in names),
            best=tuple(name in row and row[name].agreeing == most[name] for name in names),
            used=tuple((protocol, name) in used for name in names),
        )
        for protocol, row in counts.items()
    )
    return Variants(title, names, rows)


def tried_everywhere(tallies: Sequence[Tally]) -> list[Tally]:
    """The tallies of losses that every protocol of a dataset was tried on: only these compare."""
    losses: dict[tuple[str, str], set[str]] = {}
    for tally in tallies:
        losses.setdefault((tally.dataset, tally.protocol), set()).add(tally.loss)
    common = {
        tally.dataset: set.intersection(
            *(found for (name, _), found in losses.items() if name == tally.dataset)
        )
        for tally in tallies
    }
    return [tally for tally in tallies if tally.loss in common[tally.dataset]]

"""Tables in databases: the sums are an aggregate query, and the rows stay where they are.

Every column is cast to float64 inside the query, so that sums of integers cannot overflow. A NULL in any
column makes the squared norm of its row NULL: one COUNT beside the sums notices, and only then does a second
query find out where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from unflip._extras import extra
from unflip.border.arrays import Array
from unflip.sources.chosen_columns import chosen_columns
from unflip.sources.source import Elsewhere

SUMS_PER_QUERY = 1400  # sums in one query: PostgreSQL takes no more than 1664 columns
WIDEST_PRODUCTS = 200  # columns whose products are summed
CLASSES = 10_000  # more of them are no classes
TINY_NUMBER = 1e-150  # PostgreSQL raises an error where products of smaller numbers vanish


class Aggregates(NamedTuple):
    """Sums of z = (x - place) slope, one row a class: of w, w z and, over all classes, w |z|^2 and w z z'."""

    classes: tuple[Any, ...]
    counts: Array
    sums: Array
    squares: float
    second: Array | None


@dataclass(frozen=True, eq=False)
class SqlSource(Elsewhere):
    """An ibis table with a target, feature columns and perhaps a weight; made by `sql`."""

    table: Any
    target: str
    columns: tuple[str, ...]
    weight: str | None = None

    def summed_by(self, sums: Any) -> Any:
        """The sums that queries return."""
        return sums.of_aggregates(self)

    def sample(self, rows: int) -> Array:
        """Some rows of the features, without labels; NaN in the place of NULL.

        >>> import ibis, pyarrow
        >>> table = ibis.memtable(pyarrow.table({"age": [30, 40, 50], "sick": ["no", "no", "yes"]}))
        >>> sql(table, "sick").sample(2).shape
        (2, 1)
        """
        found = self.table.select(**self._features()).limit(rows).to_pyarrow()
        columns = [found[f"x{j}"].to_numpy() for j in range(len(self.columns))]
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])

    def aggregate(self, place: Array, slope: Array, degree: int, retry: bool = False) -> Aggregates:
        """The sums, by one query as long as the database takes them at once.

        Raises `OverflowError` if they are not finite. In a retry, products leave out numbers below 1e-150.

        >>> import ibis, pyarrow
        >>> table = ibis.memtable(pyarrow.table({"age": [30, 40, 50], "sick": ["no", "no", "yes"]}))
        >>> found = sql(table, "sick").aggregate(np.zeros(1), np.ones(1), degree=1)
        >>> found.classes, found.counts.tolist(), found.sums.tolist(), found.squares
        (('no', 'yes'), [2.0, 1.0], [[70.0], [50.0]], 5000.0)
        """
        width = len(self.columns)
        rows = self._rows(place, slope)
        z = [rows[f"x{j}"] for j in range(width)]
        factors = [(x.abs() < TINY_NUMBER).ifelse(0.0, x) for x in z] if retry else z
        left = [self._weighted(rows, x) for x in factors]
        norm = _total([a * b for a, b in zip(left, factors, strict=True)])
        wanted = {"rows": rows.count(), "complete": norm.count(), "squares": norm.sum()}
        if self.weight is not None:
            wanted |= {"counts": rows["w"].sum(), "least": rows["w"].min()}
        wanted |= {f"s{j}": self._weighted(rows, x).sum() for j, x in enumerate(z)}
        pairs = self._pairs(degree)
        products = [{f"p{i}_{j}": (left[i] * factors[j]).sum() for i, j in some} for some in pairs]
        groups = _answer(rows.group_by("label").aggregate(**wanted, **products[0]).limit(CLASSES + 1))
        self._refuse(groups)
        groups.sort(key=lambda group: group["label"])
        found = {name: sum(group[name] for group in groups) for name in products[0]}
        for more in products[1:]:
            [answer] = _answer(rows.aggregate(rows=rows.count(), **more))
            if answer["rows"] != sum(group["rows"] for group in groups):
                raise ValueError("the table changed between two queries; copy it, or use a transaction")
            found |= answer
        second = np.zeros((width, width)) if degree == 2 else None
        if second is not None:
            for i, j in chain.from_iterable(pairs):
                second[i, j] = second[j, i] = found[f"p{i}_{j}"]
        counts = [group["rows" if self.weight is None else "counts"] for group in groups]
        return Aggregates(
            classes=tuple(group["label"] for group in groups),
            counts=np.array(counts, dtype=np.float64),
            sums=np.array([[group[f"s{j}"] for j in range(width)] for group in groups], dtype=np.float64),
            squares=float(sum(group["squares"] for group in groups)),
            second=second,
        )

    def largest(self, place: Array) -> float:
        """The largest |x - place|, by a query over all rows; a column that is not finite is named."""
        rows = self._rows(place, np.ones(len(self.columns)))
        known = [(at, name) for at, name in self._places() if at != "label"]
        size = 0.0
        for start in range(0, len(known), SUMS_PER_QUERY // 3):
            some = known[start : start + SUMS_PER_QUERY // 3]
            wanted = {f"nan_{at}": rows[at].isnan().sum() for at, _ in some}
            wanted |= {f"inf_{at}": rows[at].isinf().sum() for at, _ in some}
            wanted |= {f"big_{at}": rows[at].abs().max() for at, _ in some}
            [found] = _answer(rows.aggregate(**wanted))
            for at, name in some:
                for what, count in (("NaN", found[f"nan_{at}"]), ("infinity", found[f"inf_{at}"])):
                    if count:
                        raise ValueError(
                            f"column {name!r} holds {what} in {_rows_said(count)} "
                            "(inf and NaN have no mean); filter or replace them in the query"
                        )
            size = max([size, *(float(found[f"big_{at}"]) for at, _ in some if at != "w")])
        return size

    def _weighted(self, rows: Any, x: Any) -> Any:
        return x if self.weight is None else rows["w"] * x

    def _pairs(self, degree: int) -> list[list[tuple[int, int]]]:
        """The pairs of columns whose products are summed, query by query; the first sums columns too."""
        width = len(self.columns)
        if degree == 1:
            return [[]]
        if width > WIDEST_PRODUCTS:
            raise ValueError(
                f"the products of {width} columns are too many for a query, "
                f"{WIDEST_PRODUCTS} columns are the limit; "
                "name fewer columns, use a learner of degree one, or read the rows from files"
            )
        pairs = list(combinations_with_replacement(range(width), 2))
        first = max(SUMS_PER_QUERY - width, 0)
        return [
            pairs[:first],
            *(pairs[k : k + SUMS_PER_QUERY] for k in range(first, len(pairs), SUMS_PER_QUERY)),
        ]

    def _features(self) -> dict[str, Any]:
        return {f"x{j}": _as_float(self.table[name]) for j, name in enumerate(self.columns)}

    def _rows(self, place: Array, slope: Array) -> Any:
        """The table as it is summed: label, w, and z in x0, x1, ..."""
        label = self.table[self.target]
        wanted = {"label": _as_float(label) if label.type().is_decimal() else label}
        if self.weight is not None:
            wanted["w"] = _as_float(self.table[self.weight])
        for j, (at, column) in enumerate(self._features().items()):
            shifted = column - float(place[j]) if place[j] else column
            wanted[at] = shifted * float(slope[j]) if slope[j] != 1 else shifted
        return self.table.select(**wanted)

    def _places(self) -> list[tuple[str, str]]:
        weight = [] if self.weight is None else [("w", self.weight)]
        return [*((f"x{j}", name) for j, name in enumerate(self.columns)), *weight, ("label", self.target)]

    def _refuse(self, groups: list[dict[str, Any]]) -> None:
        """Raise unless these are sums of labelled rows without gaps."""
        if not groups:
            raise ValueError("the source has no rows")
        if len(groups) > CLASSES:
            raise ValueError(f"column {self.target!r} has more than {CLASSES:,} values: is it the label?")
        if any(group["label"] is None or group["complete"] != group["rows"] for group in groups):
            self._name_the_gaps()
        for group in groups:
            label = group["label"]
            if isinstance(label, float) and label != np.floor(label):  # NaN and infinity are not whole either
                raise ValueError(
                    f"column {self.target!r} holds {label!r}, which is no class; "
                    "soft labels are for rows in memory or in files"
                )
            if isinstance(label, float) and np.isinf(label):
                raise ValueError(f"column {self.target!r} holds {label!r}, which is no class")
            if self.weight is not None and group["least"] < 0:
                raise ValueError(
                    f"column {self.weight!r} holds the weight {group['least']}; weights are not negative"
                )
        if not all(
            np.isfinite(number) for group in groups for name, number in group.items() if name != "label"
        ):
            raise OverflowError("sums that are not finite")
        if self.weight is not None and not any(group["counts"] for group in groups):
            raise ValueError(f"column {self.weight!r} is zero in every row; some weight must be positive")

    def _name_the_gaps(self) -> None:
        places = self._places()
        wanted = {at: self.table.count() - self.table[name].count() for at, name in places}
        [found] = _answer(self.table.aggregate(**wanted))
        gaps = [f"{name!r} ({_rows_said(found[at])})" for at, name in places if found[at]]
        if not gaps:
            raise ValueError("the database makes NULL of some numbers when it casts them to float64")
        raise ValueError(
            f"there are NULLs in {', '.join(gaps)}; they have no mean: leave such rows out with "
            "table.drop_null(), or put a number in their place with table.fill_null()"
        )


def sql(
    table: Any, target: str, columns: Sequence[str] | None = None, weight: str | None = None
) -> SqlSource:
    """A source from an ibis table, in DuckDB, PostgreSQL, Spark, Trino, BigQuery or whatever ibis speaks.

    target: the column of labels; columns: the features, all other columns unless they are named; weight: a
    column of weights. `accumulate` sends one aggregate query and gets the moments back. It takes plain
    columns or a fitted `Standardize`; features of other kinds are columns that the query computes.

    >>> import ibis, pyarrow
    >>> from unflip import UnhingedClassifier
    >>> from unflip.moments import accumulate
    >>> table = ibis.memtable(pyarrow.table({"age": [30, 40, 50], "sick": ["no", "no", "yes"]}))
    >>> moments = accumulate(sql(table, "sick"))
    >>> moments.sums.tolist(), moments.names
    ([[70.0], [50.0]], ('age',))
    >>> UnhingedClassifier().fit_moments(moments).coef_.round(3).tolist()
    [6.667]
    """
    if not isinstance(table, extra("ibis", "sql").Table):
        raise TypeError(
            f"sql takes an ibis table, such as con.table('name'); this is a {type(table).__name__}"
        )
    chosen = chosen_columns(list(table.columns), target, columns, weight)
    schema = table.schema()
    for name in chosen if weight is None else (*chosen, weight):
        kind = schema[name]
        if not (kind.is_numeric() or kind.is_boolean()):
            raise ValueError(
                f"column {name!r} is of type {kind}, which is not a number; leave it out with columns=[...], "
                "or turn it into numbers in the query, for example with table.mutate and cases()"
            )
    kind = schema[target]
    if not (kind.is_numeric() or kind.is_boolean() or kind.is_string()):
        raise ValueError(f"the labels in column {target!r} are of type {kind}; cast them to strings")
    return SqlSource(table, target, chosen, weight)


def _as_float(column: Any) -> Any:
    # PostgreSQL makes integers of truth values, and only of these floats.
    return (column.cast("int32") if column.type().is_boolean() else column).cast("float64")


def _total(terms: list[Any]) -> Any:
    """Their sum as a tree, which stays shallow when there are many."""
    while len(terms) > 1:
        terms = [terms[i] + terms[i + 1] if i + 1 < len(terms) else terms[i] for i in range(0, len(terms), 2)]
    return terms[0]


def _answer(query: Any) -> list[dict[str, Any]]:
    """The rows that a query returns."""
    try:
        return list(query.to_pyarrow().to_pylist())
    except Exception as error:
        # Some databases return infinity, others raise an error that only its number or its words tell.
        if getattr(error, "sqlstate", None) == "22003" or "out of range" in str(error).lower():
            raise OverflowError(str(error)) from error
        raise


def _rows_said(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"

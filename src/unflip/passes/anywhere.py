"""Sums over batches wherever their rows are: here by threads, on a cluster by a tree of tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unflip.passes.cluster import tree_of_tasks
from unflip.passes.walk import fold, total_of, with_numbers
from unflip.sources.batch import Batch, batches
from unflip.sources.source import Elsewhere, Source, Stream


def is_source(X: Any) -> bool:
    """Whether these are rows with their labels, not rows alone.

    >>> from unflip.sources import arrays
    >>> is_source(arrays([[1.0]], [0])), is_source([arrays([[1.0]], [0])]), is_source([[1.0]])
    (True, True, False)
    """
    if isinstance(X, Batch | Source | Stream | Elsewhere):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(item, Batch) for item in X)


def sum_anywhere(source: Any, one: Callable[[Batch], Any]) -> Any:
    """The sum of `one(batch)` over all batches, in any order; None if there are no rows.

    >>> from unflip.sources import arrays
    >>> sum_anywhere(arrays([[1.0], [3.0]], [0, 1]), lambda batch: batch.X.sum())
    np.float64(4.0)
    """
    if isinstance(source, Elsewhere):
        return source.summed_by(_PerBatch(one, numbered=False))
    return fold(source, one)


def sum_in_order(source: Any, one: Callable[[Batch, int], Any]) -> Any:
    """The sum of `one(batch, first)`, `first` being the number of its first row among all rows.

    >>> from unflip.sources import arrays
    >>> sum_in_order([arrays([[1.0], [3.0]], [0, 1]), arrays([[5.0]], [0])], lambda batch, first: [first])
    [0, 2]
    """
    if isinstance(source, Elsewhere):
        return source.summed_by(_PerBatch(one, numbered=True))
    return total_of(one(batch, first) for first, batch in with_numbers(batches(source)))


@dataclass(frozen=True)
class _PerBatch:
    """A pass that a source elsewhere may take over."""

    one: Callable[..., Any]
    numbered: bool

    def of_partitions(self, source: Any) -> Any:
        """By tasks that are sent to the rows."""
        return tree_of_tasks(source, self.one, self.numbered)

    def of_aggregates(self, source: Any) -> Any:
        """A database takes no functions."""
        raise ValueError(
            "a database returns sums of columns, and this needs its rows; read them, for example with "
            "unflip.sources.arrow(connection.sql(...).arrow(), target=...)"
        )

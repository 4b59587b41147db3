"""Sums of Dask partitions: one task each, then a tree of sums.

A chain of `partial_fit` would wait for each partition in turn. Sums need no order, and a tree that the
partitions alone determine gives the same bits on any number of workers, whatever happens to them. The upper
part of the tree is summed here, and its branches are fetched as they ripen: a worker that dies takes along
what it was at, not what it had done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from unflip._extras import extra
from unflip._threads import alone
from unflip.passes.walk import total_of, with_numbers
from unflip.sources.batch import Batch
from unflip.sources.source import naming_the_partition

FAN_IN = 8  # sums added up by one task
BRANCHES = 64  # at most, that are fetched


def tree_of_tasks(source: Any, one: Callable[..., Any], numbered: bool = False) -> Any:
    """The sum of `one(batch)` over all batches of all partitions, by the active scheduler; None without rows.

    numbered: call `one(batch, first)`, where `first` is the number of its first row in the whole. That takes
    a pass more, which counts the rows of each partition.

    >>> import dask.array as da
    >>> from unflip.sources import dask
    >>> source = dask(da.ones((20, 1), chunks=(1, 1)), [0, 1] * 10)
    >>> tree_of_tasks(source, lambda batch: batch.X.sum())
    np.float64(20.0)
    """
    dask = extra("dask", "dask")

    # As a task of its own the feature map is sent to a worker once, not with every partition.
    load, sum_up = dask.delayed(source.load), dask.delayed(one)
    first = _first_rows(source, load) if numbered else [None] * len(source.pieces)
    found = [
        dask.delayed(_of_partition)(number, load, sum_up, start, *pieces)
        for number, (start, pieces) in enumerate(zip(first, source.pieces, strict=True))
    ]
    while len(found) > BRANCHES:
        found = [dask.delayed(total_of)(group) for group in _groups(found)]
    branches = _fetched(found)
    while len(branches) > 1:
        branches = [total_of(group) for group in _groups(branches)]
    return branches[0] if branches else None


def _of_partition(
    number: int,
    load: Callable[..., Iterator[Batch]],
    one: Callable[..., Any],
    start: int | None,
    *pieces: Any,
) -> Any:
    with naming_the_partition(number), alone():
        some = (batch for batch in load(*pieces) if len(batch.labels))
        if start is None:
            return total_of(map(one, some))
        return total_of(one(batch, first) for first, batch in with_numbers(some, start))


def _first_rows(source: Any, load: Any) -> list[int]:
    """The number of the first row of each partition."""
    delayed = extra("dask", "dask").delayed
    sizes = _fetched([delayed(_rows_of)(load, *pieces) for pieces in source.pieces])
    return [0, *accumulate(sizes)][:-1]


def _rows_of(load: Callable[..., Iterator[Batch]], *pieces: Any) -> int:
    return sum(len(batch.labels) for batch in load(*pieces))


def _groups(found: list[Any]) -> list[list[Any]]:
    return [found[start : start + FAN_IN] for start in range(0, len(found), FAN_IN)]


def _fetched(tasks: list[Any]) -> list[Any]:
    """The results of delayed tasks, from a cluster each as soon as it is there."""
    dask = extra("dask.base", "dask")
    client = getattr(dask.get_scheduler(), "__self__", None)  # whose method the scheduler is, if it is one
    distributed = sys.modules.get("distributed")  # whoever has a client has imported it
    if distributed is None or not isinstance(client, distributed.Client):
        return list(dask.compute(*tasks))
    futures = client.compute(tasks)
    ripe = distributed.as_completed(futures, with_results=True)
    found = {future.key: sums for future, sums in ripe}
    return [found[future.key] for future in futures]

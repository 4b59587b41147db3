"""Moments of Dask partitions: one task each, then a tree of sums.

A chain of `partial_fit` would wait for each partition in turn. Sums need no order, and a tree that the
partitions alone determine gives the same bits on any number of workers, whatever happens to them. The upper
part of the tree is summed here, and its branches are fetched as they ripen: a worker that dies takes along
what it was at, not what it had done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from unflip._extras import extra
from unflip._threads import alone
from unflip.features import FeatureMap, Transformed
from unflip.moments.moments import Moments
from unflip.moments.one_batch import batch_moments
from unflip.sources import Batch
from unflip.sources.dask import DaskSource, naming_the_partition

FAN_IN = 8  # moments summed by one task
BRANCHES = 64  # at most, that are fetched


def cluster_moments(
    source: DaskSource, features: Any = None, degree: int = 1, summation: str = "fast"
) -> Moments:
    """The moments of all partitions, by the active scheduler; the arguments are those of `accumulate`.

    >>> import dask.array as da
    >>> from unflip.sources import dask
    >>> source = dask(da.ones((20, 1), chunks=(1, 1)), [0, 1] * 10)
    >>> cluster_moments(source).sums.tolist()
    [[10.0], [10.0]]
    """
    dask = extra("dask", "dask")

    if features is not None and not isinstance(features, FeatureMap):
        features = Transformed(features)  # with a key that other processes do not have to find again
    one = partial(batch_moments, features=features, degree=degree, summation=summation)
    # As a task of its own the feature map is sent to a worker once, not with every partition.
    load, sum_up = dask.delayed(source.load), dask.delayed(one)
    found = [
        dask.delayed(_of_partition)(number, load, sum_up, *pieces)
        for number, pieces in enumerate(source.pieces)
    ]
    while len(found) > BRANCHES:
        found = [dask.delayed(_sum)(group) for group in _groups(found)]
    branches = _fetched(found)
    while len(branches) > 1:
        branches = [_sum(group) for group in _groups(branches)]
    total = branches[0] if branches else None
    if total is None:
        raise ValueError("the source has no rows")
    if not total.total:
        raise ValueError("the weight is zero in every row; at least one weight must be positive")
    return total


def _of_partition(
    number: int, load: Callable[..., Iterator[Batch]], one: Callable[[Batch], Moments], *pieces: Any
) -> Moments | None:
    with naming_the_partition(number), alone():
        return _sum(one(batch) for batch in load(*pieces) if len(batch.labels))


def _groups(found: list[Any]) -> list[list[Any]]:
    return [found[start : start + FAN_IN] for start in range(0, len(found), FAN_IN)]


def _fetched(tasks: list[Any]) -> list[Moments | None]:
    """The results of delayed tasks, from a cluster each as soon as it is there."""
    dask = extra("dask.base", "dask")
    client = getattr(dask.get_scheduler(), "__self__", None)  # whose method the scheduler is, if it is one
    distributed = sys.modules.get("distributed")  # whoever has a client has imported it
    if distributed is None or not isinstance(client, distributed.Client):
        return list(dask.compute(*tasks))
    futures = client.compute(tasks)
    ripe = distributed.as_completed(futures, with_results=True)
    found = {future.key: moments for future, moments in ripe}
    return [found[future.key] for future in futures]


def _sum(found: Any) -> Moments | None:
    total = None
    for moments in found:
        if moments is not None:
            total = moments if total is None else total + moments
    return total

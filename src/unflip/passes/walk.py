"""The order of a walk: parts by several threads, batches in turn, and a file that keeps the position.

What is summed need not be moments: anything that adds up will do, one thing for each batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from unflip._threads import workers
from unflip.passes.checkpoint import Checkpoint
from unflip.sources.batch import Batch, batches
from unflip.sources.source import Source

NOTHING_KEPT = Checkpoint(None)


def fold(source: Any, one: Callable[[Batch], Any], kept: Checkpoint = NOTHING_KEPT) -> Any:
    """The sum of `one(batch)` over the batches of a source whose rows are read here; None if there are none.

    >>> fold([([[1.0]], [0]), ([[3.0]], [1])], lambda batch: batch.X.sum())
    np.float64(4.0)
    """
    return _by_parts(source, one, kept) if isinstance(source, Source) else _in_turn(source, one, kept)


def with_numbers(some: Iterable[Batch], first: int = 0) -> Iterator[tuple[int, Batch]]:
    """Batches, each with the number of its first row among all."""
    for batch in some:
        yield first, batch
        first += len(batch.labels)


def total_of(found: Any) -> Any:
    """The sum of what there is, in its order; None if there is nothing.

    >>> total_of([1, None, 2])
    3
    """
    total = None
    for part in found:  # no part is kept while the next is made
        if part is not None:
            total = part if total is None else total + part
    return total


def _by_parts(source: Source, one: Callable[[Batch], Any], kept: Checkpoint) -> Any:
    """Parts are read by several threads, and summed in their order."""
    position, total = kept.load()
    with workers(None) as spread:
        for found in spread(lambda part: total_of(map(one, source.read(part))), source.parts[position:]):
            position += 1
            total = total_of([total, found])
            kept.save(position, total)
    return total


def _in_turn(source: Any, one: Callable[[Batch], Any], kept: Checkpoint) -> Any:
    position, total = kept.load()
    place = -1
    for place, batch in enumerate(batches(source)):
        if place < position:
            continue
        total = total_of([total, one(batch)])
        kept.save(place + 1, total)
    if place + 1 < position:
        raise ValueError(
            f"{kept.path} holds the sums of {position} batches, and the source has {place + 1}: "
            "it is another one"
        )
    return total

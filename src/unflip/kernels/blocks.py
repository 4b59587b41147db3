"""The table of all pairs, worked through in tiles: nobody needs to hold n x m values at once.

Rows of X go in blocks, one to a thread; rows of Z are prepared a panel at a time, in tiles that a
processor's cache can hold. Products run on one BLAS thread inside each of ours, so that everything
between two products is parallel too. Sizes of tiles depend on the tables alone, and the tiles of a
block are visited in order: the number of threads does not change a bit of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from unflip._threads import workers
from unflip.border.arrays import Array
from unflip.border.blocks import slices

HEIGHT, WIDTH = 1024, 256  # rows of X and rows of Z in a tile: 2 MB of values
SHORTEST_BLOCK = 16  # rows in a block, however long
SMALLEST_BLOCK = 1 << 16  # values of a block, where a short X is cut finer: less is all overhead
PREPARED = 1 << 21  # numbers of Z that are prepared at a time: 16 MB

Prepare = Callable[[Any, Array | None], Any]  # rows, origin -> rows as the kernel wants them
Between = Callable[[Any, Any], Array]  # prepared rows, prepared rows -> a tile that may be overwritten
Use = Callable[[slice, slice, Array], None]  # rows of X, rows of Z, their tile


def sweep(X: Any, Z: Any, prepare: Prepare, between: Between, use: Use, threads: int | None = None) -> None:
    """Call `use` with every tile of the table of pairs; those of one block of X in order.

    `threads` is the number of threads, by default as many as BLAS would have used.

    >>> X, tiles = np.arange(3.0)[:, None], []
    >>> sweep(X, X, lambda rows, origin: rows, lambda a, b: a @ b.T, lambda rows, columns, t: tiles.append(t))
    >>> tiles[0].tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]
    """
    if threads is not None and threads < 1:
        raise ValueError(f"threads is at least 1, got {threads!r}")
    n, m = X.shape[0], Z.shape[0]
    origin = _origin(X, Z)
    # A short X is cut finer, so that all threads have work; how fine depends on the tables alone.
    blocks = slices(0, n, _fitting(X, min(HEIGHT, max(SHORTEST_BLOCK, n // 16, SMALLEST_BLOCK // max(1, m)))))
    width = _fitting(Z, WIDTH)
    panel = max(width, int(PREPARED / _numbers_a_row(Z)) // width * width)
    with workers(threads) as each:
        for part in slices(0, m, panel):
            tiles = [(c, prepare(Z[c], origin)) for c in slices(part.start, part.stop, width)]
            work = partial(_block, X, origin, tiles, prepare, between, use)
            # One block needs no thread. An error inside a thread surfaces here.
            for _ in each(work, blocks) if len(blocks) > 1 else map(work, blocks):
                pass


def _block(
    X: Any,
    origin: Array | None,
    tiles: list[tuple[slice, Any]],
    prepare: Prepare,
    between: Between,
    use: Use,
    rows: slice,
) -> None:
    prepared = prepare(X[rows], origin)
    with np.errstate(over="ignore", invalid="ignore"):  # the kernel says so if it minds
        for columns, right in tiles:
            use(rows, columns, between(prepared, right))


def _origin(X: Any, Z: Any) -> Array | None:
    """The mean of Z, for distances are more accurate about it; sparse rows stay where they are."""
    if sparse.issparse(X) or sparse.issparse(Z):
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # the kernel says so if it minds
        return np.asarray(Z.mean(axis=0, dtype=np.float64))


def _numbers_a_row(table: Any) -> float:
    return max(1.0, table.nnz / table.shape[0] if sparse.issparse(table) else table.shape[1])


def _fitting(table: Any, most: int) -> int:
    """At most this many rows in a block, fewer where rows are very long."""
    return int(min(most, max(SHORTEST_BLOCK, PREPARED / _numbers_a_row(table))))

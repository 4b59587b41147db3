"""Exact sums are one bit pattern, whatever the chunks, the order of the rows, the threads and the merges.

Each pair of a chunking and an order of the rows gets a number of threads, from 1 to 4 in turn, and a random
merge tree of its own. Every chunk enters in a way drawn at random: rows in either order of memory, CSR,
batches, a Parquet file. Compared are the bytes of the moments' file and of the classifier's weights, fitted
to all rows and from the file. As a yardstick, the same chunks are summed by NumPy along the same trees.
"""

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.faults.promise import Found, main
from unflip import UnhingedClassifier
from unflip.moments import Moments, accumulate
from unflip.passes import exact_sums
from unflip.sources import parquet

THREADS = 4
BLOCK = 1 << 10  # numbers that a thread takes at a time here, so that every chunk is cut among the threads
WAYS = ("rows", "columns", "CSR", "batches", "Parquet")
SMALL = {"chunkings": 4, "orders": 3, "rows": 200}
FULL = {"chunkings": 50, "orders": 20, "rows": 1000}


@dataclass(frozen=True)
class Data:
    """Rows on which floating point sums depend on their order in most digits."""

    name: str
    X: Any
    y: Any
    weight: Any

    def at(self, rows: Any) -> tuple[Any, Any, Any]:
        return self.X[rows], self.y[rows], self.weight[rows]


def hard(rng: np.random.Generator, n: int, exponent: int, d: int = 4) -> Any:
    """Numbers from 2^-exponent to 2^exponent of both signs; half of them cancel; zeros of both signs."""
    X = np.ldexp(rng.uniform(1, 2, (n, d)), rng.integers(-exponent, exponent, (n, d)))
    X *= rng.choice([-1, 1], (n, d))
    X[: n // 4] = -X[n // 4 : n // 2]
    X[rng.random((n, d)) < 0.1] = 0.0
    X[rng.random((n, d)) < 0.05] = -0.0
    return X


def data_sets(n: int) -> list[Data]:
    rng = np.random.default_rng(0)
    y, ones = rng.choice(["no", "yes"], n), np.ones(n)
    weight = rng.choice([1.0, 0.1, 3.0, 2.0**-40, 1e9], n)
    return [
        Data("float64, 2^-300 to 2^300", hard(rng, n, 300), y, ones),
        Data("the same with weights", hard(rng, n, 300), y, weight),
        Data("float32, 2^-120 to 2^120", hard(rng, n, 120).astype(np.float32), y, ones),
    ]


def chunk_moments(data: Data, rows: Any, way: str, cut: int, file: Path) -> Moments:
    """Exact moments of some rows that enter in the given way, batches and row groups `cut` rows long."""
    X, y, weight = data.at(rows)
    parts = [slice(start, start + cut) for start in range(0, len(rows), cut)]
    sources: dict[str, Callable[[], Any]] = {
        "rows": lambda: (X, y, weight),
        "columns": lambda: (np.asfortranarray(X), y, weight),
        "CSR": lambda: (sparse.csr_array(X), y, weight),
        "batches": lambda: ((X[part], y[part], weight[part]) for part in parts),
        "Parquet": lambda: as_parquet(X, y, weight, cut, file),
    }
    found = accumulate(sources[way](), summation="exact")
    return replace(found, names=None, key=f"columns:{X.shape[1]}")  # only Parquet names its columns


def as_parquet(X: Any, y: Any, weight: Any, cut: int, file: Path) -> Any:
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y, "weight": weight}
    pq.write_table(pa.table(columns), file, row_group_size=cut)
    return parquet(file, "y", weight="weight")


def merged(parts: list[Any], tree: list[tuple[int, int]]) -> Any:
    """The sum of the parts along a tree: each step replaces two of what is there by their sum."""
    parts = list(parts)
    for i, j in tree:
        first, second = parts[i], parts[j]
        parts = [part for at, part in enumerate(parts) if at not in (i, j)] + [first + second]
    return parts[0]


def random_tree(rng: np.random.Generator, leaves: int) -> list[tuple[int, int]]:
    return [tuple(rng.choice(left, 2, replace=False).tolist()) for left in range(leaves, 1, -1)]


def numpy_sums(data: Data, rows: Any) -> Any:
    """What a chunk contributes without exact sums."""
    X, y, weight = data.at(rows)
    weighted = X.astype(np.float64) * weight[:, None]
    return np.stack([weighted[y == label].sum(axis=0) for label in ("no", "yes")])


def cuts_of(rng: np.random.Generator, count: int, n: int) -> list[Any]:
    """Where to cut: from one chunk to 32, of uneven lengths."""
    sizes = np.geomspace(1, 32, count).round().astype(int)
    return [np.sort(rng.choice(np.arange(1, n), size - 1, replace=False)) for size in sizes]


class Seen(NamedTuple):
    """The bit patterns of one pair, and the number of its merges."""

    file: bytes
    weights: tuple[bytes, ...]
    plain: bytes
    merges: int


def one_pair(data: Data, order: Any, cut: Any, threads: int, rng: np.random.Generator, folder: Path) -> Seen:
    chunks = np.split(order, cut)
    tree = random_tree(rng, len(chunks))
    jobs = [
        (
            data,
            rows,
            str(rng.choice(WAYS)),
            int(rng.integers(-(-len(rows) // 4), len(rows) + 1)),
            folder / f"{at}",
        )
        for at, rows in enumerate(chunks)
    ]
    with threadpool_limits(threads, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        total = merged(list(pool.map(lambda job: chunk_moments(*job), jobs)), tree)
        X, y, weight = data.at(order)
        fitted = UnhingedClassifier(summation="exact").fit(X, y, sample_weight=weight)
    file = folder / "moments.npz"
    total.save(file)
    merely = UnhingedClassifier(summation="exact").fit_moments(Moments.load(file))
    plain = merged([numpy_sums(data, rows) for rows in chunks], tree)
    weights = fitted.coef_.tobytes(), merely.coef_.tobytes()
    return Seen(file.read_bytes(), weights, plain.tobytes(), len(tree))


def one_row(data: Data, chunkings: int, orders: int) -> Found:
    """Every chunking of every order of the rows."""
    rng, start = np.random.default_rng(1), time.perf_counter()
    n = len(data.y)
    permutations, cuts = [rng.permutation(n) for _ in range(orders)], cuts_of(rng, chunkings, n)
    seen = []
    with TemporaryDirectory() as folder, mock.patch.object(exact_sums, "ADDED_WITHOUT_ROUNDING", BLOCK):
        for cut in cuts:
            for order in permutations:
                threads = len(seen) % THREADS + 1
                seen.append(one_pair(data, order, cut, threads, rng, Path(folder)))
            print(f"{data.name}: {len(seen)} pairs, {time.perf_counter() - start:.0f} s", file=sys.stderr)
    files, weights = {each.file for each in seen}, {bits for each in seen for bits in each.weights}
    plain, merges = {each.plain for each in seen}, sum(each.merges for each in seen)
    return Found(
        f"exact sums: one bit pattern ({data.name})",
        f"{chunkings} chunkings x {orders} orders = {len(seen)} pairs of {n} rows, "
        f"1 to {min(THREADS, len(seen))} threads, {merges} merges in {len(seen)} trees, {len(WAYS)} ways in",
        f"patterns of files: {len(files)}, of weights: {len(weights)}; of NumPy's sums: {len(plain)}",
        len(files) == len(weights) == 1,
    )


def run(chunkings: int, orders: int, rows: int) -> list[Found]:
    return [one_row(data, chunkings, orders) for data in data_sets(rows)]


if __name__ == "__main__":
    main(run, SMALL, FULL)

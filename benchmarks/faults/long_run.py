"""A very long stream: memory stays flat, and counts are exact beyond 2^31 rows and 2^32 units of weight.

python -m benchmarks.faults.long_run [--small] [--json FILE] [--rows N]

One prepared block comes again and again. Its numbers, labels and weights are whole, so that Python's integers
tell every sum of the stream exactly, and so large that the sums leave float64 no room: it has to round.
"""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.promise import Found, main
from unflip import UnhingedClassifier
from unflip.moments import Moments, accumulate
from unflip.sources import Batch, arrays

SMALL = {"rows": 2_000_000, "weighted_exact": 1_000_000, "settled": 1_000_000, "block": 1 << 15}
FULL = {"rows": 2_200_000_000, "weighted_exact": 20_000_000, "settled": 100_000_000, "block": 1 << 20}
GROWTH = 5.0  # MB
ERROR = 1e-12


@dataclass
class Stream:
    """A block, as many times as it takes, and the memory of this process from `settled` rows on."""

    batch: Batch
    times: int
    settled: int
    memory: list[float] = field(default_factory=list)

    def __iter__(self) -> Iterator[Batch]:
        said = time.perf_counter()
        for turn in range(1, self.times + 1):
            yield self.batch  # the next is asked for when this one has been summed
            if turn * len(self.batch.labels) >= self.settled or turn == self.times:
                self.memory.append(resident())
            if time.perf_counter() - said > 20:
                said = time.perf_counter()
                print(f"  {turn * len(self.batch.labels):,} rows", file=sys.stderr, flush=True)

    @property
    def rows(self) -> int:
        return self.times * len(self.batch.labels)

    @property
    def growth(self) -> float:
        """By how much the second half needs more than the first; what comes and goes is in both."""
        half = (len(self.memory) + 1) // 2
        return max(self.memory[half:], default=0.0) - max(self.memory[:half])


def resident() -> float:
    """MB of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def block_of(rows: int) -> tuple[Any, Any, Any]:
    """X, y and weight; numbers of 40 bits and weights of 14 have products that float64 rounds."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, 1 << 40, rows), rng.integers(-(1 << 40), 1 << 20, rows)], axis=1)
    return X, rng.integers(0, 2, rows), rng.integers(1, 1 << 14, rows)


def truth(X: Any, y: Any, weight: Any, times: int) -> tuple[list[int], list[list[int]]]:
    """Counts and sums by class, as Python's integers."""
    counts = [times * int(weight[y == k].sum()) for k in (0, 1)]
    low, high = X & ((1 << 20) - 1), X >> 20  # so that no sum leaves 64 bits
    sums = [
        [
            times
            * ((int((weight * high[:, j])[y == k].sum()) << 20) + int((weight * low[:, j])[y == k].sum()))
            for j in range(X.shape[1])
        ]
        for k in (0, 1)
    ]
    return counts, sums


def compared(moments: Moments, counts: list[int], sums: list[list[int]]) -> tuple[bool, float]:
    """Whether the counts are exact, and the largest relative error of the sums."""
    exact = [int(count) for count in moments.counts] == counts
    plain = moments.framed(np.zeros(moments.sums.shape[1]), 1.0)
    errors = [
        abs(int(found) - true) / abs(true)
        for row, trues in zip(plain.sums, sums, strict=True)
        for found, true in zip(row, trues, strict=True)
    ]
    return exact, max(errors)


def whole(moments: Moments, counts: list[int], sums: list[list[int]]) -> bool:
    """Whether exact sums are the integers, before any rounding, and their floats the nearest ones."""
    assert moments.exact is not None
    found, unit = moments.exact.integers(), Fraction(2) ** moments.exact.exponent
    unrounded = [[value * unit for value in row[:-1]] for row in found]  # without the squares
    expected = [[*row, count] for row, count in zip(sums, counts, strict=True)]
    return unrounded == expected and moments.sums.tolist() == [[float(true) for true in row] for row in sums]


def partial_fits(stream: Stream, y: Any) -> Moments:
    model = UnhingedClassifier()
    for batch in stream:
        model.partial_fit(batch.X, y)
    assert np.isfinite(model.coef_).all()
    return model.moments_


def run(rows: int, weighted_exact: int, settled: int, block: int) -> list[Found]:
    X, y, weight = block_of(block)
    numbers, ones = X.astype(np.float64), np.ones(block, dtype=np.int64)
    passes = {
        "fast sums, weighted": (rows, weight, accumulate),
        "exact sums": (rows, ones, lambda s: accumulate(s, summation="exact")),
        "exact sums, weighted": (weighted_exact, weight, lambda s: accumulate(s, summation="exact")),
        "partial_fit": (rows, ones, lambda s: partial_fits(s, y)),
    }
    found = []
    for name, (length, weights, work) in passes.items():
        print(name, file=sys.stderr, flush=True)
        stream = Stream(arrays(numbers, y, weights), -(-length // block), min(settled, length // 2))
        accumulate(stream.batch, summation="exact" if "exact" in name else "fast")  # loads compiled code
        start = time.perf_counter()
        moments = work(stream)
        seconds = time.perf_counter() - start
        counts, sums = truth(X, y, weights, stream.times)
        counted, error = compared(moments, counts, sums)
        right = whole(moments, counts, sums) if "exact" in name else error <= ERROR
        words = "equal the integers" if "exact" in name and right else f"within {error:.1e} of the integers"
        found.append(
            Found(
                f"long run: {name}",
                f"{stream.rows:,} rows, weight {sum(counts):,} (beyond 2^{sum(counts).bit_length() - 1})",
                f"counts {'exact' if counted else 'WRONG'}, sums {words}; memory {stream.memory[0]:.0f} MB "
                f"after {settled_rows(stream):,} rows, {stream.memory[-1]:.0f} MB at the end "
                f"(highest of the second half less that of the first: {stream.growth:.1f} MB); "
                f"{stream.rows / seconds / 1e6:.0f} M rows/s",
                counted and right and max(stream.growth, stream.memory[-1] - stream.memory[0]) < GROWTH,
            )
        )
    return found


def settled_rows(stream: Stream) -> int:
    """How many rows there had been when memory was first looked at."""
    return (stream.times - len(stream.memory) + 1) * len(stream.batch.labels)


if __name__ == "__main__":
    main(run, SMALL, FULL)

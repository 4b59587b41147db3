"""Rows through Fourier features into moments, beside the bare matrix product and cosine of the same rows.

python benchmarks/fourier_pass.py [--rows 200000] [--columns 50] [--features 1000] [--json]

The yardstick multiplies and takes cosines in place, block by block into one buffer, and sums nothing; the
size of its block is the best of a few. BLAS has its own number of threads. A second yardstick shares the
rows among as many threads, with one BLAS thread in each, so that cosines are parallel too, as ours are.
"""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from _timing import interleaved
from threadpoolctl import threadpool_info, threadpool_limits

from unflip import UnhingedClassifier
from unflip.features import Fourier
from unflip.moments import accumulate

BLOCKS = (256, 1024, 4096)


def bare(X, W, block):
    buffer = np.empty((block, W.shape[1]))
    for start in range(0, len(X), block):
        rows = X[start : start + block]
        tile = np.matmul(rows, W, out=buffer[: len(rows)])
        np.cos(tile, out=tile)


def bare_in_threads(X, W, block, threads):
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: bare(part, W, block), np.array_split(X, threads)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(args.rows, args.columns)), rng.integers(0, 2, args.rows)
    phi = Fourier(n_features=args.features)
    fitted = phi.fit(X)
    W = np.ascontiguousarray(fitted.frequencies_.T)
    few = X[: max(1, args.rows // 10)]
    trial = interleaved({block: lambda block=block: bare(few, W, block) for block in BLOCKS})
    block = min(trial, key=trial.get)
    threads = max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
    seconds = interleaved(
        {
            "bare product and cosine": lambda: bare(X, W, block),
            f"the same in {threads} threads": lambda: bare_in_threads(X, W, block, threads),
            "accumulate, degree 1": lambda: accumulate((X, y), features=fitted),
            "UnhingedClassifier.fit": lambda: UnhingedClassifier(features=phi).fit(X, y),
        }
    )
    yardsticks = list(seconds.values())[:2]
    rows = [
        {
            "what": what,
            "seconds": s,
            "times_bare": s / yardsticks[0],
            "times_bare_in_threads": s / yardsticks[1],
        }
        for what, s in seconds.items()
    ]
    if args.json:
        print(json.dumps({**vars(args), "block": block, "threads": threads, "results": rows}))
        return
    print(f"{args.rows:,} rows x {args.columns} columns through {args.features} features")
    print(f"{'':32} {'seconds':>9} {'x bare':>8} {'x bare in threads':>18}")
    for row in rows:
        what, *numbers = row.values()
        print("{:32} {:9.3f} {:8.2f} {:18.2f}".format(what, *numbers))


if __name__ == "__main__":
    main()

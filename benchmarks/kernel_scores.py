"""What exact Gaussian scores cost, beside scikit-learn's table of values times the weights.

python benchmarks/kernel_scores.py [--rows 20000] [--columns 50] [--json]
"""

import argparse
import json
import time
import tracemalloc

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from unflip.kernels import Gaussian


def timed(call, times=4):
    """The first call, which also pays for fresh memory, and the best of the following."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return spent[0], min(spent[1:])


def peak_megabytes(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=20_000, help="rows to score, and as many to score against"
    )
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, args.rows, args.columns))
    w = rng.normal(size=args.rows)
    bandwidth = np.sqrt(args.columns)
    kernel = Gaussian(bandwidth)
    gamma = 0.5 / bandwidth**2
    calls = {
        "peer: rbf_kernel(A, B) @ w": lambda: rbf_kernel(A, B, gamma=gamma) @ w,
        "Gaussian.score": lambda: kernel.score(A, B, w),
        "Gaussian.score, one thread": lambda: kernel.score(A, B, w, threads=1),
    }
    seconds = {name: timed(call) for name, call in calls.items()}
    first, best = seconds["peer: rbf_kernel(A, B) @ w"]
    rows = [
        {
            "what": name,
            "first_seconds": one,
            "best_seconds": again,
            "first_ratio": first / one,
            "best_ratio": best / again,
            "peak_extra_megabytes": peak_megabytes(calls[name]),
        }
        for name, (one, again) in seconds.items()
    ]
    gap = float(np.abs(calls["Gaussian.score"]() - calls["peer: rbf_kernel(A, B) @ w"]()).max())
    if args.json:
        sizes = {"rows": args.rows, "columns": args.columns}
        print(json.dumps({**sizes, "largest_difference": gap, "results": rows}))
        return
    print(
        f"{args.rows:,} x {args.rows:,} pairs, {args.columns} columns, float64; largest difference {gap:.1e}"
    )
    print(f"{'':28} {'first call':>21} {'best of 3':>21} {'peak memory':>14}")
    for row in rows:
        times = "".join(
            f"{row[k + '_seconds']:10.3f} s {row[k + '_ratio']:7.2f} x" for k in ("first", "best")
        )
        print(f"{row['what']:28} {times} {row['peak_extra_megabytes']:10.0f} MB")


if __name__ == "__main__":
    main()

"""Exact leave-one-out for every row and every bandwidth of a grid, beside the kernel matrices alone.

python benchmarks/loo_bandwidths.py [--rows 10000] [--columns 50] [--json]

The yardsticks only fill one n x n matrix for each bandwidth, with scikit-learn's `rbf_kernel` and with our
own kernel; neither scores anything. Ours fits the classifier: validation, the median distance, one pass over
the distances, and for each of the bandwidths the leave-one-out scores, threshold and error.
"""

import argparse
import json
import resource

import numpy as np
from _timing import interleaved
from sklearn.metrics.pairwise import rbf_kernel

from unflip import KernelUnhingedClassifier
from unflip.estimators.kernelized import BANDWIDTH_GRID
from unflip.kernels import Gaussian, median_bandwidth


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(args.rows, args.columns)), rng.integers(0, 2, args.rows)
    widths = [median_bandwidth(X) * size for size in BANDWIDTH_GRID]

    def theirs():
        for width in widths:
            rbf_kernel(X, gamma=0.5 / width**2)

    def matrices():
        for width in widths:
            Gaussian(width)(X, X)

    KernelUnhingedClassifier(bandwidth="loo").fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3  # Linux counts kilobytes
    seconds = interleaved(
        {
            f"{len(BANDWIDTH_GRID)} x rbf_kernel(X, X)": theirs,
            f"{len(BANDWIDTH_GRID)} x Gaussian(X, X)": matrices,
            "leave-one-out over all of them": lambda: KernelUnhingedClassifier(bandwidth="loo").fit(X, y),
        }
    )
    yardsticks = list(seconds.values())[:2]
    rows = [
        {"what": what, "seconds": s, "times_rbf_kernel": s / yardsticks[0], "times_ours": s / yardsticks[1]}
        for what, s in seconds.items()
    ]
    if args.json:
        print(json.dumps({**vars(args), "peak_megabytes_of_the_fit": peak, "results": rows}))
        return
    print(
        f"{args.rows:,} rows x {args.columns} columns, {len(BANDWIDTH_GRID)} bandwidths; "
        f"peak of the fit {peak:.0f} MB"
    )
    print(f"{'':34} {'seconds':>9} {'x rbf_kernel':>13} {'x Gaussian':>11}")
    for row in rows:
        print("{:34} {:9.3f} {:13.2f} {:11.2f}".format(*row.values()))


if __name__ == "__main__":
    main()

"""What one pass over the rows costs, beside a bare read of the same bytes and the nearest peer.

python benchmarks/one_pass.py [--rows 1000000] [--columns 100] [--json]
"""

import argparse
import json
import time

import numpy as np
from sklearn.neighbors import NearestCentroid

from unflip import SquareClassifier, UnhingedClassifier
from unflip.moments import accumulate


def best_of(call, times=3):
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return min(spent)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(args.rows, args.columns)), rng.integers(0, 2, args.rows)
    model = UnhingedClassifier().fit(X, y)
    calls = {
        "bare read, X.sum()": X.sum,
        "BLAS, y @ X": lambda: y.astype(float) @ X,
        "accumulate, degree 1": lambda: accumulate((X, y)),
        "UnhingedClassifier.fit": lambda: UnhingedClassifier().fit(X, y),
        "UnhingedClassifier.predict": lambda: model.predict(X),
        "SquareClassifier.fit": lambda: SquareClassifier().fit(X, y),
        "peer: NearestCentroid.fit": lambda: NearestCentroid().fit(X, y),
    }
    seconds = {name: best_of(call) for name, call in calls.items()}
    yardstick = seconds["bare read, X.sum()"]
    rows = [{"what": n, "seconds": s, "times_bare_read": s / yardstick} for n, s in seconds.items()]
    if args.json:
        print(json.dumps({"rows": args.rows, "columns": args.columns, "results": rows}))
        return
    print(f"{args.rows:,} rows x {args.columns} columns, float64")
    for row in rows:
        print(f"{row['what']:32} {row['seconds']:8.3f} s {row['times_bare_read']:8.1f} x")


if __name__ == "__main__":
    main()

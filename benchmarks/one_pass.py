"""What one pass over the rows costs, beside a bare read of the same bytes, BLAS and peers, in the same run.

python benchmarks/one_pass.py [--rows 1000000] [--columns 100] [--json]

Every line has a yardstick and the ratio that it is judged by. The bare read is `X.sum()` of both halves of
the rows in two threads; fits include validation and labels, so their yardstick adds one `np.unique(y)`.
"""

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid

from unflip import SquareClassifier, UnhingedClassifier
from unflip.moments import accumulate


def seconds(times, call, *args, **options):
    """The least of some times: other work on the machine only adds."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call(*args, **options)
        spent.append(time.perf_counter() - start)
    return min(spent)


def bare_read(X):
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(np.sum, (X[: len(X) // 2], X[len(X) // 2 :])))


def product(A, B):
    return A @ B


def fit(model, X, y):
    return model().fit(X, y)


def sparse_rows(rows, columns, rng, per_row=100):
    indices = np.sort(rng.integers(0, columns, (rows, per_row), dtype=np.int32), axis=1)
    values, starts = rng.normal(size=rows * per_row), np.arange(rows + 1) * per_row
    return sparse.csr_array((values, indices.ravel(), starts.astype(np.int32)), shape=(rows, columns))


def dense(rows, columns, rng):
    X, y = rng.normal(size=(rows, columns)), rng.integers(0, 2, rows)
    model = fit(UnhingedClassifier, X, y)
    read, unique = seconds(5, bare_read, X), seconds(5, np.unique, y)
    ours = seconds(5, fit, UnhingedClassifier, X, y)
    yield "fit: bare read and np.unique / ours", ours, (read + unique) / ours, ">= 0.7"
    peer = seconds(2, fit, NearestCentroid, X, y)
    yield "fit: NearestCentroid / ours", peer, peer / ours, ">= 50"
    peer = seconds(1, fit, LogisticRegression, X, y)
    yield "fit: LogisticRegression / ours", peer, peer / ours, ">= 10"
    narrow = X.astype(np.float32)
    fit(UnhingedClassifier, narrow, y)
    ours = seconds(5, fit, UnhingedClassifier, narrow, y)
    yield "fit, float32: the same", ours, (seconds(5, bare_read, narrow) + unique) / ours, ">= 0.7"
    by_column = np.asfortranarray(X)
    fit(UnhingedClassifier, by_column, y)
    ours = seconds(5, fit, UnhingedClassifier, by_column, y)
    yield "fit, column order: the same", ours, (read + unique) / ours, ""
    del narrow, by_column
    ours = seconds(5, model.predict, X)
    yield "predict: X @ w / ours", ours, seconds(5, product, X, model.coef_) / ours, ""
    ours = seconds(3, fit, SquareClassifier, X, y)
    yield "SquareClassifier.fit: ours / X.T @ X", ours, ours / seconds(3, product, X.T, X), "<= 1.3"
    accumulate((X, y), summation="exact")
    ours = seconds(3, accumulate, (X, y), summation="exact")
    onehot = seconds(5, product, np.eye(2)[y].T, X)
    yield "exact sums: ours / onehot.T @ X", ours, ours / onehot, "<= 5"


def csr(rows, rng):
    X, y = sparse_rows(rows, 10_000, rng), rng.integers(0, 2, rows)
    fit(UnhingedClassifier, X, y)
    ours = seconds(3, fit, UnhingedClassifier, X, y)
    peer = seconds(2, product, sparse.csr_array(np.eye(2)[y]).T, X)
    yield "CSR, 100 of 10,000 a row: onehot.T @ X / ours", ours, peer / ours, ">= 2"


def growth(rng):
    """Exponents of time in rows and in columns over three decades, by least squares on logarithms.

    Of the time beyond what a call costs by itself: that of 256 rows, which it looks at before it begins, and
    for columns that of one column.
    """
    for name, least, sizes in (
        ("rows", (256, 100), [(n, 100) for n in (3_000, 30_000, 300_000, 3_000_000)]),
        ("columns", (3_000, 1), [(3_000, d) for d in (100, 1_000, 10_000, 100_000)]),
    ):
        spent = []
        for n, d in (least, *sizes):
            X, y = np.resize(rng.normal(size=(max(256, n // 10), d)), (n, d)), rng.integers(0, 2, n)
            spent.append(seconds(15, accumulate, (X, y)))
        alone, numbers = spent.pop(0), [n * d for n, d in sizes]
        slope = np.polyfit(np.log(numbers), np.log(np.array(spent) - alone), 1)[0]
        yield f"exponent of time in {name} beyond {1e3 * alone:.2f} ms", spent[-1], slope, "1.0 +- 0.05"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rng, results = np.random.default_rng(0), []
    if not args.json:
        print(f"{args.rows:,} rows x {args.columns} columns, float64")
        print(f"{'':46} {'seconds':>9} {'ratio':>8}  wanted")
    for lines in (dense(args.rows, args.columns, rng), csr(args.rows, rng), growth(rng)):
        for what, spent, ratio, wanted in lines:
            results.append({"what": what, "seconds": spent, "ratio": ratio, "wanted": wanted})
            if not args.json:
                print(f"{what:46} {spent:9.4f} {ratio:8.2f}  {wanted}", flush=True)
    if args.json:
        print(json.dumps({"rows": args.rows, "columns": args.columns, "results": results}))


if __name__ == "__main__":
    main()

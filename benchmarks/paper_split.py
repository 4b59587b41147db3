"""One split of the paper, 125 trials, in lockstep, beside the obvious loop: one fit at a time with its peers.

The loop is scikit-learn's LogisticRegression and LinearRegression, SciPy's L-BFGS-B for the two losses that
are not convex, and SciPy's HiGHS for the hinge, each asked for the tolerance of our certificates, on a sample
of such label vectors in the same run. HiGHS is so much slower that a second ratio leaves the hinge out.

python benchmarks/paper_split.py [--datasets iris car ...] [--trials 125] [--sample 5] [--json]
"""

import argparse
import json
import resource
import time
import warnings
import zlib

import numpy as np
from scipy.optimize import linprog, minimize
from sklearn.linear_model import LinearRegression, LogisticRegression
from threadpoolctl import threadpool_limits

from unflip.experiments.datasets import is_available
from unflip.experiments.protocol import protocol
from unflip.experiments.splits import DRAWN, draw_split
from unflip.experiments.study import DATASETS
from unflip.experiments.trials import PAPER_LOSSES, PAPER_RATES, run_trials
from unflip.losses import get


def seconds(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def one_by_one(name, X, y):
    """The weights that a plain script would get for one label vector."""
    n = len(y)
    if name == "unhinged":
        return X.T @ y / n
    if name == "square":
        return LinearRegression(fit_intercept=False).fit(X, y).coef_
    if name == "logistic":
        model = LogisticRegression(C=1e16 / n, tol=1e-6, max_iter=10_000, fit_intercept=False)
        return model.fit(X, y).coef_[0]
    if name == "hinge":
        rows = np.hstack([y[:, None] * X, np.eye(n)])
        cost = np.concatenate([np.zeros(X.shape[1]), np.full(n, 1 / n)])
        bounds = [(None, None)] * X.shape[1] + [(0, None)] * n
        return linprog(cost, A_ub=-rows, b_ub=-np.ones(n), bounds=bounds, method="highs").x[: X.shape[1]]

    def objective(w):
        value, slope = get(name).value_and_slope(y, X @ w)
        return value.mean(), X.T @ slope / n

    options = {"maxiter": 10_000, "maxfun": 20_000, "gtol": 1e-7, "ftol": 0.0}
    return minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options=options).x


def compare(dataset, trials, sample):
    """CPU seconds of a whole split, by loss: ours, thresholds and scores included, and the loop's fits."""
    rng = np.random.default_rng([0, zlib.crc32(dataset.encode()), 0])
    chosen = protocol(dataset)
    split = draw_split(dataset, chosen, rng)
    count = 1 + trials * (len(PAPER_RATES) - 1)
    flips = np.column_stack([rng.random(len(split.y_train)) < rate for rate in PAPER_RATES[1:]] * sample)[
        :, :sample
    ]
    Y = np.where(flips, -1.0, 1.0) * split.y_train[:, None]
    rows = []
    for name in PAPER_LOSSES:
        ours, _ = seconds(lambda name=name: run_trials(split, rng, trials, [name], [chosen.threshold]))
        some = 2 if name == "hinge" else sample
        spent, theirs = seconds(
            lambda name=name, some=some: [one_by_one(name, split.X_train, y) for y in Y[:, :some].T]
        )
        rows.append({"dataset": dataset, "loss": name, "ours": ours, "loop": spent / len(theirs) * count})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--trials", type=int, default=125)
    parser.add_argument("--sample", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    here = [name for name in args.datasets if name in DRAWN or is_available(name)]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the loop's fits complain where labels are separable
        rows = [row for name in here for row in compare(name, args.trials, args.sample)]
    ours, loop = (sum(row[name] for row in rows) for name in ("ours", "loop"))
    smooth = [row for row in rows if row["loss"] != "hinge"]
    ratio = sum(row["loop"] for row in smooth) / sum(row["ours"] for row in smooth)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    if args.json:
        print(json.dumps({"rows": rows, "ours": ours, "loop": loop, "ratio": loop / ours, "peak_gb": peak}))
        return
    print(f"{'CPU seconds, ours / the loop':30}" + "".join(f"{loss:>18}" for loss in PAPER_LOSSES))
    for name in here:
        cells = [f"{r['ours']:.2f} / {r['loop']:.1f}" for r in rows if r["dataset"] == name]
        print(f"{name:30}" + "".join(f"{cell:>18}" for cell in cells))
    print(f"one split of {args.trials} trials: {ours:.0f} s, the loop {loop:.0f} s, {loop / ours:.1f} times")
    print(f"without the hinge {ratio:.1f} times; peak memory {peak:.2f} GB")
    missing = [name for name in args.datasets if name not in here]
    if missing:
        print(f"not here: {', '.join(missing)} (name a folder in UNFLIP_DATA)")


if __name__ == "__main__":
    main()

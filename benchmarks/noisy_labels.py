"""Learning from noisy labels: ours and peers on the same splits and flips.

python benchmarks/noisy_labels.py [--seeds 2] [--rates 0 0.1 0.2 0.3 0.4] [--sets NAME ...] [--skip-slow]
[--json FILE]

Accuracy on clean test labels after learning from noisy training labels (70 % of the rows, at most 2000),
the fitted time, the noise rate with its interval, and the average precision of suspects. Peers have their
default settings; linear ones and SVC see standardised columns. Sets are those that ship with unflip and
scikit-learn, and four that are made here. Seeds: the split, the flips and the learners all take theirs from
--seeds.
"""

import argparse
import json
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from unflip import RobustClassifierCV, __version__, find_suspects
from unflip.experiments import datasets
from unflip.features import Tabular
from unflip.noise import flip_labels

ROWS = 2000


def problems():
    rng = np.random.default_rng(0)
    found = {}
    for name in ("spambase", "ionosphere"):
        data = datasets.load(name)
        found[name] = np.asarray(data.X, dtype=float), (np.asarray(data.y) > 0).astype(int)
    for name in ("splice", "car"):
        data = datasets.load(name)
        X = Tabular().fit_transform(data.X)
        found[name] = X, (data.y > 0).astype(int)
        found[f"{name}, all classes"] = X, np.unique(data.target, return_inverse=True)[1]
    found["breast cancer"] = load_breast_cancer(return_X_y=True)
    digits, digit = load_digits(return_X_y=True)
    found["digits halves"] = digits, (digit >= 5).astype(int)
    either = np.isin(digit, (3, 8))
    found["digits 3 or 8"] = digits[either], (digit[either] == 8).astype(int)
    found["digits all"] = digits, digit
    found["wine"] = load_wine(return_X_y=True)
    X = rng.normal(size=(1500, 6))
    found["xor"] = X, (X[:, 0] * X[:, 1] > 0).astype(int)
    X = rng.normal(size=(1500, 50))
    found["sparse"] = X, (X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=1500) > 0).astype(int)
    found["moons"] = make_moons(1000, noise=0.25, random_state=0)
    found["rare"] = make_classification(2000, 10, weights=[0.9], flip_y=0.02, class_sep=1.2, random_state=0)
    return found


def learners(seed, skip_slow):
    scaled = lambda model: make_pipeline(StandardScaler(), model)  # noqa: E731
    found = {
        "unflip": RobustClassifierCV(random_state=seed),
        "logistic": scaled(LogisticRegression(max_iter=1000)),
        "ridge": scaled(RidgeClassifierCV(np.logspace(-3, 4, 15))),
        "SVC": scaled(SVC()),
        "forest": RandomForestClassifier(random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "centroid": scaled(NearestCentroid()),
    }
    try:
        from cleanlab.classification import CleanLearning
    except ImportError:
        print("cleanlab is not installed: its rows are missing", file=sys.stderr)
        return found
    found["cleanlab forest"] = CleanLearning(RandomForestClassifier(random_state=seed), seed=seed)
    if not skip_slow:
        found["cleanlab logistic"] = CleanLearning(scaled(LogisticRegression(max_iter=1000)), seed=seed)
    return found


def one_run(X, y, rate, seed, stream, skip_slow):
    """Accuracy and time of every learner, and what is said of the noise, on one split and draw of flips.

    stream: a generator of this cell's flips alone. Coins that all sets share would make one bad draw look
    like a bad method.
    """
    X, new, y, truth = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    X, y = X[:ROWS], y[:ROWS]
    noisy = flip_labels(y, rate, rng=stream)
    found = {"accuracy": {}, "seconds": {}}
    for name, model in learners(seed, skip_slow).items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, noisy)
        found["seconds"][name] = time.perf_counter() - start
        found["accuracy"][name] = float(np.mean(model.predict(new) == truth))
        if name == "unflip":
            noise = model.noise_
            found["noise"] = {"rate": noise.rate, "low": noise.low, "high": noise.high}
        if name == "cleanlab forest":
            issues = model.get_label_issues()
            if rate:
                found["precision cleanlab"] = average_precision_score(noisy != y, 1 - issues["label_quality"])
    start = time.perf_counter()
    suspects = find_suspects(X, noisy, n_neighbours=0)
    found["seconds"]["suspects"] = time.perf_counter() - start
    if rate:
        wrong = (noisy != y)[suspects.rows]
        found["precision"] = average_precision_score(wrong, -np.arange(len(wrong)))
        if np.isfinite(suspects.probability).all():  # else the columns tell nothing: an order without them
            found["calibration"] = [suspects.probability.tolist(), wrong.tolist()]
    return found


def calibration_error(runs):
    """Expected calibration error of P(wrong) over all rows of all runs, ten bins."""
    said = np.concatenate([run["calibration"][0] for run in runs if "calibration" in run])
    true = np.concatenate([run["calibration"][1] for run in runs if "calibration" in run])
    bins = np.minimum((said * 10).astype(int), 9)
    gaps = [
        abs(said[bins == b].mean() - true[bins == b].mean()) * np.mean(bins == b) for b in np.unique(bins)
    ]
    return float(sum(gaps))


def report(results, rates):
    names = list(next(iter(results.values()))["accuracy"])
    print(f"\nMean accuracy on clean labels over {len({key[0] for key in results})} sets, in %")
    print(f"{'':20}" + "".join(f"{rate:>8}" for rate in rates) + f"{'seconds':>10}")
    for name in names:
        cells = [
            100 * np.mean([run["accuracy"][name] for (_, r, _), run in results.items() if r == rate])
            for rate in rates
        ]
        seconds = sum(run["seconds"][name] for run in results.values())
        print(f"{name:20}" + "".join(f"{cell:8.2f}" for cell in cells) + f"{seconds:10.1f}")
    print("\nPer set: ours / best peer")
    for data in dict.fromkeys(key[0] for key in results):
        cells = []
        for rate in rates:
            mean = {
                name: 100
                * np.mean(
                    [run["accuracy"][name] for (d, r, _), run in results.items() if (d, r) == (data, rate)]
                )
                for name in names
            }
            peer = max((name for name in names if name != "unflip"), key=mean.get)
            cells.append(f"{mean['unflip']:.1f} / {mean[peer]:.1f} {peer}")
        print(f"{data:16}" + "".join(f"{cell:>30}" for cell in cells))
    covered = [run["noise"]["low"] <= rate <= run["noise"]["high"] for (_, rate, _), run in results.items()]
    missed = np.array([run["noise"]["rate"] - rate for (_, rate, _), run in results.items()])
    wide = np.array([run["noise"]["high"] - run["noise"]["low"] for run in results.values()])
    narrow = wide <= 0.1
    print(
        f"\nNoise rate: RMSE {np.sqrt(np.mean(missed**2)):.3f}, where the interval is at most 0.1 wide "
        f"({narrow.mean():.0%}) {np.sqrt(np.mean(missed[narrow] ** 2)):.3f}; coverage {np.mean(covered):.1%}"
    )
    lowest = min(
        (np.mean([c for c, key in zip(covered, results, strict=True) if key[0] == data]), data)
        for data in dict.fromkeys(key[0] for key in results)
    )
    print(f"lowest coverage of a set: {lowest[0]:.0%} ({lowest[1]})")
    pairs = {}
    for (data, rate, _), run in results.items():
        if "precision cleanlab" in run:
            pairs.setdefault((data, rate), []).append((run["precision"], run["precision cleanlab"]))
    if pairs:
        means = np.array([np.mean(pair, axis=0) for pair in pairs.values()])
        won = np.mean(means[:, 0] >= means[:, 1])
        ours, theirs = means.mean(axis=0)
        print(
            f"Suspects: average precision {ours:.3f} against {theirs:.3f} of cleanlab with a forest; at "
            f"least as good in {won:.0%} of {len(means)} set-and-rate cells"
        )
    print(f"P(wrong): expected calibration error {calibration_error(list(results.values())):.3f}")
    forest = sum(run["seconds"].get("cleanlab forest", np.nan) for run in results.values())
    for what in ("unflip", "suspects"):
        seconds = sum(run["seconds"][what] for run in results.values())
        print(f"Time of {what}: {seconds / forest:.2f} of cleanlab's forest")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.0, 0.1, 0.2, 0.3, 0.4])
    parser.add_argument("--sets", nargs="+")
    parser.add_argument(
        "--skip-slow", action="store_true", help="leave out cleanlab with logistic regression"
    )
    parser.add_argument("--json", help="also write every run to this file")
    args = parser.parse_args()
    versions = f"unflip {__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}"
    print(f"{versions}; seeds 0 to {args.seeds - 1}")
    results = {}
    for place, (name, (X, y)) in enumerate(problems().items()):
        if args.sets and name not in args.sets:
            continue
        for rate in args.rates:
            for seed in range(args.seeds):
                stream = np.random.default_rng([seed, place, round(1000 * rate)])
                results[name, rate, seed] = one_run(X, y, rate, seed, stream, args.skip_slow)
        print(f"{name}: done", file=sys.stderr, flush=True)
    report(results, args.rates)
    if args.json:
        with open(args.json, "w") as file:
            json.dump([{"set": k[0], "rate": k[1], "seed": k[2], **run} for k, run in results.items()], file)


if __name__ == "__main__":
    main()

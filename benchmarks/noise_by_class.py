"""How intervals, bounds, corrections and caveats do on drawn tables: clean, one rate, rates by class.

python benchmarks/noise_by_class.py [--draws 200] [--json FILE]

Every draw is a table of its own: 500 to 1800 rows, 2, 3 or 5 classes in turn, of four kinds (a linear score
with noise, Gaussians near each other, a product of two columns, scikit-learn's clusters), most of which
overlap heavily. Printed for each design: how often the 90 % interval of the wrong share holds it, its width,
how often the bounds hold, the accuracy on clean rows gained by the correction beside that of the true table,
and how often each caveat fires. The temperature of the curve and the gates were chosen on other draws of
these kinds, and on the sets of `noisy_labels.py`: neither is a held-out test.
"""

import argparse
import json
import warnings
from collections import Counter

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import make_classification

from unflip import RobustClassifierCV
from unflip.audit.rule import RULE, follows_a_rule
from unflip.noise import ClassConditionalNoise, UniformNoise, flip_labels

NEW_ROWS = 2000


def table(draw, k):
    rng = np.random.default_rng([7, draw, k])
    n, kind = int(rng.integers(500, 1800)) + NEW_ROWS, draw % 4
    if kind == 0:
        d = int(rng.integers(3, 15))
        X = rng.normal(size=(n, d))
        y = (X @ rng.normal(size=(d, k)) * rng.uniform(1, 3) / np.sqrt(d) + rng.gumbel(size=(n, k))).argmax(
            axis=1
        )
    elif kind == 1:
        d = int(rng.integers(2, 8))
        y = rng.choice(k, n, p=rng.dirichlet(4 * np.ones(k)))
        X = rng.normal(size=(n, d)) + (rng.normal(size=(k, d)) * rng.uniform(0.8, 2.0))[y]
    elif kind == 2:
        X = rng.normal(size=(n, 4))
        along = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=n)
        y = np.digitize(along, np.quantile(along, np.linspace(0, 1, k + 1)[1:-1]))
    else:
        X, y = make_classification(
            n, 12, n_informative=6, n_classes=k, n_clusters_per_class=1, flip_y=0,
            class_sep=float(rng.uniform(0.6, 2.0)), random_state=draw,
        )  # fmt: skip
    return X, y


def noise_of(design, k, rng):
    """What labels go through, or None."""
    if design == "clean":
        return None
    if design == "one rate":
        return UniformNoise(float(rng.uniform(0.05, 0.35)), k)
    if k == 2:
        return ClassConditionalNoise([[0.0, 0.4], [0.4, 0.0], [0.1, 0.4], [0.4, 0.1]][rng.integers(4)])
    if rng.random() < 0.5:
        return ClassConditionalNoise(np.linspace(0, 0.5, k))
    return ClassConditionalNoise(0.6 * np.eye(k) + 0.4 * np.roll(np.eye(k), 1, axis=1))


def one(design, draw):
    k = (2, 2, 3, 5)[draw // 4 % 4]
    X, y = table(draw, k)
    rng = np.random.default_rng([8, draw])
    noise = noise_of(design, k, rng)
    y, new, truth = y[NEW_ROWS:], X[:NEW_ROWS], y[:NEW_ROWS]
    X = X[NEW_ROWS:]
    noisy = y if noise is None else flip_labels(y, noise, rng=rng, classes=range(k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RobustClassifierCV().fit(X, noisy)
        found, plain = model.noise_, model.with_noise(None)
        best = plain if noise is None else model.with_noise(noise)
        rule = follows_a_rule(X, noisy, plain.noisy_error_)
    wrong = float(np.mean(noisy != y))
    rates = {label: float(np.mean(noisy[y == label] != label)) for label in np.unique(y)}
    gain = [100 * (np.mean(each.predict(new) == truth)) for each in (plain, model, best)]
    return {
        "classes": k,
        "holds": found.low <= wrong <= found.high,
        "width": found.high - found.low,
        "bound holds": wrong <= found.outer,
        "bounds by class hold": all(rates[label] <= found.outer_by_class[label] for label in rates),
        "gain": gain[1] - gain[0],
        "gain with the true table": gain[2] - gain[0],
        "caveats": [caveat.name for caveat in found.caveats] + [RULE.name] * rule,
        "corrected": model.ensemble_.noise is not None,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="of each design")
    parser.add_argument("--json", help="also write all results to this file")
    args = parser.parse_args()
    results = {}
    for design in ("clean", "one rate", "by class"):
        results[design] = Parallel(-1)(delayed(one)(design, draw) for draw in range(args.draws))
        for several in (False, True):
            runs = [run for run in results[design] if (run["classes"] > 2) == several]
            if not runs:
                continue
            mean = {
                name: np.mean([run[name] for run in runs])
                for name in runs[0]
                if name not in ("classes", "caveats")
            }
            print(f"\n{design}, {'3 or 5 classes' if several else '2 classes'}: {len(runs)} tables")
            print("  " + ", ".join(f"{name} {value:.2f}" for name, value in mean.items()))
            fired = Counter(name for run in runs for name in set(run["caveats"]))
            print(
                "  fired: "
                + (", ".join(f"{n} {c / len(runs):.0%}" for n, c in fired.most_common()) or "none")
            )
    if args.json:
        with open(args.json, "w") as file:
            json.dump(results, file, default=float)


if __name__ == "__main__":
    main()

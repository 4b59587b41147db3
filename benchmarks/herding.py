"""How fast the error of a herd of m points falls, beside as many random points; with a plot.

python benchmarks/herding.py [--points 400] [--out docs/herding.svg] [--json]

Digits (0-4 against 5-9) and spambase (columns made normal without a look at labels), 70 % of the rows to
fit, 20 % of their labels flipped. The error is |mu - mu_m| over |mu|, mu the signed mean map of all fitted
rows. Random points are rows drawn alike, with the weights of a mean of their own ("random"), or with the
best weights they can have ("random, best weights"); five draws. Slopes are those of log error against log m
from m = 20 to m = 200. Agreement is the share of rows held back for which 200 points predict what all rows
do.
"""

import argparse
import json

import numpy as np
from scipy.linalg import lstsq
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from unflip import KernelUnhingedClassifier
from unflip.compress import herd
from unflip.experiments import datasets
from unflip.features import Quantile
from unflip.noise import flip_labels

AT = 200


def problems():
    X, y = load_digits(return_X_y=True)
    spam = datasets.load("spambase")
    return {
        "digits": (X, (y >= 5).astype(int)),
        "spambase": (Quantile().fit_transform(spam.X), (np.asarray(spam.y) > 0).astype(int)),
    }


def random_errors(K, c, sizes, best, draws=5):
    """Mean error of random points, with their own mean or with the best weights."""
    total, mu = c @ K @ c, K @ c
    found = np.zeros(len(sizes))
    for draw in range(draws):
        order = np.random.default_rng(draw).permutation(len(c))
        for place, m in enumerate(sizes):
            rows = order[:m]
            block = K[np.ix_(rows, rows)]
            a = lstsq(block, mu[rows])[0] if best else np.sign(c[rows]) / m
            found[place] += np.sqrt(max(total - 2 * a @ mu[rows] + a @ block @ a, 0.0)) / draws
    return found


def slope(sizes, errors):
    inside = (sizes >= 20) & (sizes <= AT)
    return float(np.polyfit(np.log(sizes[inside]), np.log(errors[inside]), 1)[0])


def measure(X, y, bandwidth, points):
    X, new, y, truth = train_test_split(X, y, test_size=0.3, random_state=0)
    noisy = flip_labels(y, 0.2, rng=0)
    full = KernelUnhingedClassifier(bandwidth=bandwidth).fit(X, noisy)
    few = KernelUnhingedClassifier(bandwidth=bandwidth, compress="herding", n_support=AT).fit(X, noisy)
    c, K = full.dual_coef_[:, 0], full.kernel_(X, X)
    sizes = np.unique(np.geomspace(5, points, 25).astype(int).clip(max=len(c)))
    herded = herd(X, c, full.kernel_, points).errors
    norm = herded[0]
    curves = {
        "herding": herded[sizes] / norm,
        "random, best weights": random_errors(K, c, sizes, best=True) / norm,
        "random": random_errors(K, c, sizes, best=False) / norm,
    }
    at = {name: random_errors(K, c, np.array([AT]), best=name != "random")[0] / norm for name in curves}
    at["herding"] = herded[AT] / norm
    return (
        sizes,
        curves,
        {
            "bandwidth": full.kernel_.bandwidth,
            "errors_at_200": at,
            "slopes": {name: slope(sizes, errors) for name, errors in curves.items()},
            "agreement": float(np.mean(few.predict(new) == full.predict(new))),
            "accuracy": float(np.mean(full.predict(new) == truth)),
            "accuracy_of_200": float(np.mean(few.predict(new) == truth)),
        },
    )


def draw(curves, out):
    import altair as alt

    rows = [
        {
            "data": data,
            "points": int(m),
            "error": float(error),
            "how": how,
            "slope": f"slope {found['slopes'][how]:.2f}" if m == sizes[-1] else "",
        }
        for data, (sizes, by_name, found) in curves.items()
        for how, errors in by_name.items()
        for m, error in zip(sizes, errors, strict=True)
    ]
    order = ["random", "random, best weights", "herding"]
    base = alt.Chart().encode(
        x=alt.X("points:Q", scale=alt.Scale(type="log", domain=[4, 1000]), title="points kept"),
        y=alt.Y("error:Q", scale=alt.Scale(type="log"), title="error of the mean map, relative"),
        color=alt.Color("how:N", title=None, sort=order, legend=alt.Legend(orient="bottom")),
    )
    chart = (
        alt.layer(base.mark_line(point=True), base.mark_text(align="left", dx=8).encode(text="slope:N"))
        .properties(width=340, height=260)
        .facet(column=alt.Column("data:N", title=None), data=alt.Data(values=rows))
    )
    chart.save(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--out", help="write the plot here, for example docs/herding.svg")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results, curves = {}, {}
    for name, (X, y) in problems().items():
        for bandwidth in ("median", "loo"):
            found = measure(X, y, bandwidth, args.points)
            results[f"{name}, {bandwidth}"] = found[2]
            if bandwidth == "median":
                curves[name] = found
    if args.out:
        draw(curves, args.out)
    if args.json:
        print(json.dumps(results))
        return
    heads = [
        "herding",
        "slope",
        "random",
        "slope",
        "times",
        "best",
        "slope",
        "times",
        "agree",
        "full",
        "of 200",
    ]
    print(f"{'':18}" + "".join(f"{head:>9}" for head in heads))
    for name, found in results.items():
        e, s = found["errors_at_200"], found["slopes"]
        cells = [f"{e['herding']:.4f}", f"{s['herding']:.2f}"]
        for other in ("random", "random, best weights"):
            cells += [f"{e[other]:.4f}", f"{s[other]:.2f}", f"{e[other] / e['herding']:.1f}"]
        cells += [f"{found[share]:.1%}" for share in ("agreement", "accuracy", "accuracy_of_200")]
        print(f"{name:18}" + "".join(f"{cell:>9}" for cell in cells))


if __name__ == "__main__":
    main()

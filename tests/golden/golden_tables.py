"""Some forty small tables of every kind that people bring, the same in every run: `TABLES` and `FRAMES`.

A table is (X, y) and what else `fit` takes; the last rows are held back, to be predicted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons

from unflip.experiments import datasets
from unflip.noise import ClassConditionalNoise, flip_labels

HELD_BACK = 15


@dataclass(frozen=True, eq=False)
class Table:
    """What `RobustClassifierCV(**parameters).fit(X, y, **extra)` is given, and rows to predict."""

    X: Any
    y: Any
    new: Any
    extra: dict[str, Any]
    parameters: dict[str, Any]


def table(X, y, parameters=None, **extra):
    n = X.shape[0] - HELD_BACK
    rows = X.iloc if hasattr(X, "iloc") else X
    given = {name: values[:n] for name, values in extra.items()}
    return Table(rows[:n], y[:n], rows[n:], given, parameters or {})


def gaussians(n=150, d=4, n_classes=2, apart=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, d)) + apart * rng.normal(size=(n_classes, d))[y], y


def flipped(X, y, noise=0.2, seed=1, parameters=None, **extra):
    return table(X, flip_labels(y, noise, rng=seed), parameters, **extra)


def some(data, n, seed=0):
    X, y = data
    rows = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[rows], y[rows]


def bundled(name, n=160):
    data = datasets.load(name)
    X = pd.DataFrame(data.X) if name in ("car", "splice") else np.asarray(data.X, dtype=float)
    rows = np.random.default_rng(0).permutation(len(data.y))[:n]
    return (X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]), (data.y[rows] > 0) * 1


def pairs(n_classes, first, second, rate):
    matrix = np.eye(n_classes)
    matrix[first, [first, second]] = 1 - rate, rate
    return ClassConditionalNoise(matrix)


def mixed(n=140, seed=0):
    """Numbers, categories, truth values, dates and gaps, and a label that hangs on some of them."""
    rng = np.random.default_rng(seed)
    age, kind = rng.normal(50, 12, n).round(1), rng.choice(["red", "green", "blue"], n)
    paid, visits = rng.random(n) < 0.4, rng.poisson(3, n)
    since = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    frame = pd.DataFrame({"age": age, "kind": kind, "paid": paid, "visits": visits, "since": since})
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "kind"] = None
    score = (age - 50) / 12 + 2.0 * (kind == "red") + paid + 0.3 * rng.normal(size=n)
    return frame, np.where(score > 1.0, "gold", "plain")


def with_gaps():
    X, y = gaussians(seed=5)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return flipped(X, y)


def words(n=120, d=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return sparse.csr_matrix(rng.poisson(0.02 + 0.08 * (np.arange(d) % 9 == y[:, None] * 3), (n, d)) * 1.0), y


def soft(n_classes, seed=0):
    X, y = gaussians(n_classes=n_classes, seed=seed)
    given = np.full((len(y), n_classes), 0.2 / (n_classes - 1))
    given[np.arange(len(y)), flip_labels(y, 0.1, rng=0)] = 0.8
    return table(X, given)


def weighted(weight):
    X, y = gaussians(seed=7)
    return flipped(X, y, sample_weight=weight(np.random.default_rng(2), len(y)))


def grouped():
    X, y = gaussians(n=60, seed=8)
    noisy, item = flip_labels(y, 0.2, rng=1), np.repeat(np.arange(60), 3)
    return table(X[item] + 1e-3 * np.random.default_rng(0).normal(size=(180, 4)), noisy[item], groups=item)


def curved(n=800, seed=0):
    """So much structure that a first fit wants more landmarks."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return flipped(X, (np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1]) > 0) * 1, 0.02)


def coarse(n=400):
    """Few distinct rows, each many times."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n, 2)).astype(float)
    return flipped(X, (X[:, 0] > 0) * 1, 0.2)


def text_labels():
    X, y = gaussians(n_classes=3, seed=9)
    return table(X, np.array(["low", "middle", "high"])[flip_labels(y, 0.15, rng=0)])


def tailed():
    X, y = gaussians(seed=11)
    X[:, 1] = np.random.default_rng(0).standard_cauchy(len(y)) + 3 * y
    return flipped(X, y)


TABLES = {
    "clean": lambda: table(*gaussians()),
    "symmetric": lambda: flipped(*gaussians()),
    "symmetric .4": lambda: flipped(*gaussians(n=300, apart=3.0), 0.4),
    "three classes": lambda: flipped(*gaussians(n_classes=3)),
    "seven classes": lambda: flipped(*gaussians(n=200, n_classes=7, d=6)),
    "digits": lambda: flipped(*some(load_digits(return_X_y=True), 300)),
    "digits, a pair": lambda: flipped(*some(load_digits(return_X_y=True), 500), pairs(10, 3, 8, 0.4)),
    "breast cancer": lambda: flipped(*some(load_breast_cancer(return_X_y=True), 250)),
    "breast cancer, one class": lambda: flipped(
        *some(load_breast_cancer(return_X_y=True), 400), ClassConditionalNoise([0.0, 0.4])
    ),
    "wine": lambda: flipped(*some(load_wine(return_X_y=True), 178)),
    "iris": lambda: flipped(*some(load_iris(return_X_y=True), 150)),
    "moons": lambda: flipped(*make_moons(200, noise=0.25, random_state=0)),
    "spambase": lambda: flipped(*bundled("spambase")),
    "ionosphere": lambda: flipped(*bundled("ionosphere")),
    "car": lambda: flipped(*bundled("car")),
    "splice": lambda: flipped(*bundled("splice", 120)),
    "label-free": lambda: flipped(*gaussians(seed=3), parameters={"feature_weights": False}),
    "another seed": lambda: flipped(*gaussians(seed=3), parameters={"random_state": 7}),
    "columns that matter": lambda: flipped(*gaussians(n=300, d=20, apart=0.5, seed=4)),
    "wide": lambda: flipped(*gaussians(n=60, d=150, apart=0.4, seed=4)),
    "words": lambda: flipped(*words()),
    "wide words": lambda: flipped(*words(50, 200)),
    "mixed columns": lambda: flipped(*mixed()),
    "gaps": with_gaps,
    "text labels": text_labels,
    "truth values": lambda: table(gaussians(seed=6)[0], gaussians(seed=6)[1] > 0),
    "minus and plus": lambda: table(gaussians(seed=6)[0], 2 * gaussians(seed=6)[1] - 1),
    "soft, two classes": lambda: soft(2),
    "soft, three classes": lambda: soft(3),
    "counts as weights": lambda: weighted(lambda rng, n: rng.integers(0, 4, n).astype(float)),
    "uneven weights": lambda: weighted(lambda rng, n: rng.exponential(size=n) * 1e-3),
    "groups": grouped,
    "rare": lambda: flipped(*some((gaussians(n=600)[0], (gaussians(n=600)[0][:, 0] > 1.8) * 1), 300), 0.05),
    "coins": lambda: table(gaussians(apart=0.0)[0], gaussians(apart=0.0)[1]),
    "eight rows": lambda: table(*gaussians(n=8 + HELD_BACK, apart=4.0)),
    "a lonely class": lambda: table(gaussians()[0], np.where(np.arange(150) == 3, 2, gaussians()[1])),
    "one column": lambda: flipped(*gaussians(n=300, d=1, apart=2.0)),
    "a column that never varies": lambda: flipped(np.c_[gaussians()[0], np.ones(150)], gaussians()[1]),
    "tiny numbers": lambda: flipped(1e-100 * gaussians()[0], gaussians()[1]),
    "far away": lambda: flipped(1e9 + gaussians()[0], gaussians()[1]),
    "heavy tails": tailed,
    "equal rows": coarse,
    "much structure": curved,
    "simple and long": lambda: flipped(*gaussians(n=2500, d=2, apart=1.0), 0.1),
}


def frame_of(data, names=None):
    X, y = data
    frame = pd.DataFrame(X)
    frame.columns = [f"c{j}" for j in range(X.shape[1])] if names is None else names
    return frame.assign(label=y)


def mixed_frame(n=200):
    frame, label = mixed(n)
    rng = np.random.default_rng(1)
    frame = frame.assign(
        customer=[f"id{k:04d}" for k in rng.permutation(n)], label=flip_labels(label, 0.1, rng=0)
    )
    frame.loc[[3, 50], "label"] = None
    return pl.from_pandas(frame)


FRAMES = {
    "symmetric": lambda: frame_of((gaussians(n=300)[0], flip_labels(gaussians(n=300)[1], 0.2, rng=0))),
    "three classes": lambda: frame_of(
        (gaussians(n=300, n_classes=3)[0], flip_labels(gaussians(n=300, n_classes=3)[1], 0.2, rng=0))
    ),
    "one class is flipped": lambda: frame_of(
        (
            load_breast_cancer().data,
            flip_labels(load_breast_cancer().target, ClassConditionalNoise([0.0, 0.4]), rng=0),
        )
    ),
    "mixed columns": mixed_frame,
    "coins": lambda: frame_of(gaussians(n=200, apart=0.0)),
    "clean": lambda: frame_of(some(load_iris(return_X_y=True), 150)),
}

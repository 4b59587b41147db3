"""Tables with everything in them: numbers, truth values, dates, text, gaps, and names that need quotes."""

import datetime
from dataclasses import replace

import numpy as np
import polars as pl

from unflip.models import TableModel
from unflip.private import Budget

N = 150
TIMES = 'since "when"'
CITY = "it's a city; --"
CLASSES = {
    "text": ["no", "it's"],
    "whole numbers": [-1, 7],
    "truth values": [False, True],
    "three": ["a", 'b"', "c; --"],
}


def mixed_table(classes="text", n=N, seed=0):
    """A table with a target "y"; every kind of column has gaps, and none is without signal."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    y = np.array(CLASSES[classes], dtype=object)[np.digitize(hidden, [0.0, 0.7][: len(CLASSES[classes]) - 1])]
    cities = np.array(["Köln", "O'Hare", 'a "b"', "missing", "1"])[
        np.clip((hidden * 2 + 2).astype(int), 0, 4)
    ]
    return pl.DataFrame(
        {
            "age": with_gaps(40 + 10 * hidden + rng.normal(size=n), rng),
            "count": pl.Series(rng.integers(0, 9, n)),
            "score": pl.Series(1e9 + hidden + rng.normal(size=n)),  # the name of an output, and far from zero
            "smoker": with_gaps(hidden + rng.normal(size=n) > 0, rng),
            "day": with_gaps([datetime.date(2020, 1, 1) + days(40 * h) for h in hidden], rng),
            TIMES: with_gaps([datetime.datetime(2021, 5, 6, 7) + days(h) for h in hidden], rng),
            "took": with_gaps([days(h) for h in hidden], rng),
            CITY: with_gaps(cities, rng),
            "v0": pl.Series(rng.choice(["x", "y"], n)),  # as results in a graph are called
            "one": ["same"] * n,
            "y": pl.Series(y.tolist()),
        }
    )


def days(number):
    return datetime.timedelta(seconds=round(86400 * number))


def with_gaps(values, rng):
    gaps = rng.uniform(size=len(values)) < 0.15
    return pl.Series([None if gap else value for gap, value in zip(gaps, _plain(values), strict=True)])


def new_rows(classes="text"):
    """Rows that were not fitted, with a level that was not, and a row of gaps."""
    frame = mixed_table(classes, 60, seed=1)
    city = frame[CITY].to_list()
    city[:2] = ["no such place", ""]
    frame = frame.with_columns(pl.Series(CITY, city))
    return pl.concat([frame, frame.clear(1)])


def fitted(classes="text", learner="square"):
    return TableModel.fit(mixed_table(classes), "y", learner)


BUDGET = Budget(1.0, 1e-5, rho=0.02, bound=4.0)


def private():
    """A model of sums that are said to be private."""
    model = fitted(learner="unhinged")
    return model.with_moments(replace(model.moments, privacy=BUDGET))


def ancient(first_day):
    """A table with dates from this day on, counted from 1970, and a model of it."""
    at = np.random.default_rng(0).integers(0, 40, 60)
    day = pl.Series(first_day + at).cast(pl.Int32).cast(pl.Date)
    frame = pl.DataFrame({"day": day, "y": (at > 20).astype(int)})
    return frame, TableModel.fit(frame, "y")


def with_buckets():
    """A model of a category with more levels than have columns of their own."""
    rng = np.random.default_rng(0)
    names = [f"name {k}" for k in rng.integers(0, 90, 400)]
    y = [int(name[-1]) % 2 if rng.uniform() < 0.9 else 0 for name in names]
    frame = pl.DataFrame({"size": rng.normal(size=400) + y, "name": names, "y": y})
    return TableModel.fit(frame, "y"), frame


def _plain(values):
    return values.tolist() if isinstance(values, np.ndarray) else list(values)

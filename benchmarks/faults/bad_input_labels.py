"""Bad labels and weights, hostile values of parameters, and scales at which the right answer is known."""

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from benchmarks.faults.bad_input_case import INF, NAN, Case, Given, N, rows, w_of, y_of

LENGTHS = rf"{N} rows, y has (39|41|0)"
LABEL = r"label.*row \d|row \d.*is"
WORDS = np.array(["no", "yes"])


def label(name, make, refused=None, may_fit=False):
    return Case(name, y_of(make), refused, may_fit, of_rows=False)


def weight(name, make, refused=None, may_fit=False):
    return Case(name, w_of(make), refused, may_fit, of_rows=False)


def changed(y, row, value, dtype=object):
    y = np.array(y, dtype=dtype)
    y[row] = value
    return y


LABELS = [
    label("y is None", lambda y: None, "y is None"),
    label("y is a number", lambda y: 1, "(?i)1d|shape"),
    label("y is a string", lambda y: "labels", "(?i)1d|shape"),
    label("y is too short", lambda y: y[:-1], LENGTHS),
    label("y is too short, and one is lonely", lambda y: changed(y * 0, 3, 1, int)[:-1], LENGTHS),
    label("y is too long", lambda y: np.append(y, 1), LENGTHS),
    label("y is empty", lambda y: [], f"{LENGTHS}|no class"),
    label("y is 3-d", lambda y: np.zeros((N, 2, 2)), "labels form one column"),
    label("y is a column", lambda y: y[:, None]),
    label("y is one-hot", lambda y: np.eye(2)[y]),
    label("y has rows that sum to more", lambda y: np.ones((N, 2)), r"row 0 is \[1.0, 1.0\]"),
    label("y has rows that sum to less", lambda y: np.tile([0.5, 0.4], (N, 1)), r"row 0 is \[0.5, 0.4\]"),
    label("y has rows of text", lambda y: WORDS[np.column_stack([y, y])], "(?i)one column|shape"),
    label("y has rows with NaN", lambda y: np.full((N, 2), NAN), "row 0"),
    label("y has negative probabilities", lambda y: np.tile([1.5, -0.5], (N, 1)), "row 0"),
    label("y is ragged", lambda y: [[0], [1, 0]] * (N // 2), "(?i)y|label|ragged|shape|inhomogeneous"),
    label("y has NaN", lambda y: changed(y, 3, NAN, float), "row 3 is nan"),
    label("y has infinity", lambda y: changed(y, 3, INF, float), "row 3 is inf"),
    label("y has -infinity", lambda y: changed(y, 3, -INF, float), "row 3 is -inf"),
    label("y has None", lambda y: changed(y, 3, None), "row 3 is None"),
    label("y has NaN among words", lambda y: changed(WORDS[y], 3, NAN), "row 3 is nan"),
    label("y has pandas.NA", lambda y: changed(WORDS[y], 3, pd.NA), "row 3 is"),
    label(
        "y has NaT", lambda y: changed(np.full(N, "2020-01-01", "M8[D]"), 3, "NaT", "M8[D]"), "row 3 is NaT"
    ),
    label("y has a duration of NaT", lambda y: changed(y.astype("m8[s]"), 3, "NaT", "m8[s]"), "row 3 is NaT"),
    label("y is a list with NaN", lambda y: [*WORDS[y[1:]].tolist(), NAN], f"row {N - 1} is nan"),
    label("y is a list with None", lambda y: [*WORDS[y[1:]].tolist(), None], f"row {N - 1} is None"),
    label("y is all NaN", lambda y: np.full(N, NAN), "row 0 is nan"),
    label("y is nullable with NA", lambda y: pd.Series(changed(y, 3, None), dtype="Int64"), "row 3 is"),
    label("y is boolean with NA", lambda y: pd.Series(changed(y == 1, 3, None), dtype="boolean"), "row 3 is"),
    label("y is polars with null", lambda y: pl.Series(changed(WORDS[y], 3, None).tolist()), "row 3 is"),
    label("y is polars numbers with null", lambda y: pl.Series([None, *y[1:].tolist()]), "row 0 is"),
    label("y is categorical with NaN", lambda y: pd.Categorical(changed(WORDS[y], 3, None)), "row 3 is"),
    label("y is masked", lambda y: np.ma.array(y, mask=np.arange(N) == 3), "y is masked in row 3"),
    label("y is one class", lambda y: np.zeros(N), "one class, 0"),
    label("y is one word", lambda y: ["yes"] * N, "one class, 'yes'"),
    label("y is a class a row", np.cumsum, "(?i)class|label", may_fit=True),
    label("y is distinct", lambda y: np.arange(N), "(?i)class|label", may_fit=True),
    label("y has one lonely row", lambda y: changed(np.zeros(N), 3, 1, int), "(?i)class|label", may_fit=True),
    label(
        "y has two lonely rows",
        lambda y: changed(changed(y, 3, 7, int), 4, 8, int),
        "(?i)class|label",
        may_fit=True,
    ),
    label("y has fractions of floats", lambda y: y + 0.5, "Unknown label type: continuous.*row"),
    # One column of fractions looks like a target of regression: who asks for two columns says so.
    label("y is soft", lambda y: np.where(y == 1, 0.9, 0.2), "continuous .*give two columns", may_fit=True),
    label("y is soft in two columns", lambda y: np.column_stack([0.9 - 0.7 * y, 0.1 + 0.7 * y])),
    label(
        "y is soft and certain of nothing",
        lambda y: np.full(N, 0.5),
        "(?i)class|label|score|depend",
        may_fit=True,
    ),
    label("y is float16", lambda y: y.astype(np.float16)),
    label("y is negative", lambda y: -y),
    label("y is huge", lambda y: y + 2**62),
    label("y is huge floats", lambda y: y * 1e300),
    label("y is uint64 at its end", lambda y: y.astype(np.uint64) + np.uint64(2**64 - 2)),
    label("y is int64 from end to end", lambda y: np.where(y == 1, 2**63 - 1, -(2**63))),
    label("y is int8 from end to end", lambda y: np.where(y == 1, 127, -128).astype(np.int8)),
    label("y is beyond int64", lambda y: [2**70 + int(v) for v in y]),
    label("y is beyond floats", lambda y: [10**400 + int(v) for v in y], "(?i)label|int|y", may_fit=True),
    label("y is in the other byte order", lambda y: y.astype(np.dtype(np.int32).newbyteorder())),
    label("y is fractions", lambda y: [Fraction(int(v) + 1, 3) for v in y], "(?i)label|type", may_fit=True),
    label("y is complex", lambda y: y + 1j, "(?i)complex"),
    label("y is mixed", lambda y: changed(WORDS[y], 3, 1), "mixed types.*int.*str"),
    label("y is a mixed list", lambda y: [1, "yes"] * (N // 2), "mixed types.*int.*str"),
    label("y is mixed bytes and words", lambda y: [b"no", "yes"] * (N // 2), "mixed types.*bytes.*str"),
    label("y is a mixed tuple", lambda y: ("yes", 1) * (N // 2), "mixed types.*int.*str"),
    label("y is mixed words and fractions", lambda y: ["yes", 2.5] * (N // 2), "mixed types.*float.*str"),
    label("y is mixed words and booleans", lambda y: ["yes", True] * (N // 2), "mixed types.*bool.*str"),
    label("y is a mixed column", lambda y: [["yes"], [1]] * (N // 2), "mixed types.*int.*str"),
    label("y is words", lambda y: WORDS[y]),
    label("y is bytes", lambda y: WORDS[y].astype("S")),
    label("y is booleans", lambda y: y == 1),
    label("y is dates", lambda y: np.array(["2020-01-01", "2021-01-01"], "M8[D]")[y]),
    label("y is objects of dates", lambda y: np.array([date(2020, 1, 1), date(2021, 1, 1)])[y]),
    label("y is tuples", lambda y: [(int(v),) for v in y], may_fit=True, refused="label"),
    label("y is dictionaries", lambda y: [{"a": int(v)} for v in y], "(?i)label|dict|type"),
    label("y is sets", lambda y: [{int(v)} for v in y], "label of row 0 is a set"),
    label("y is objects", lambda y: [object() for _ in y], "(?i)label|object|type"),
    label("y is a generator", lambda y: (v for v in y), "(?i)y|shape|1d"),
    label("y is a set", lambda y: set(y.tolist()), "(?i)y|shape|1d"),
    label("y is a dictionary", lambda y: dict(enumerate(y.tolist())), "(?i)y|shape|1d"),
    label("y is sparse", lambda y: sparse.csr_matrix(y[:, None]), "(?i)y|sparse|dense"),
    label("y is categorical, levels unused", lambda y: pd.Categorical(WORDS[y], ["maybe", "no", "yes"])),
    label(
        "y is ordered backwards", lambda y: pd.Series(pd.Categorical(WORDS[y], ["yes", "no"], ordered=True))
    ),
    label("y is a polars category", lambda y: pl.Series(WORDS[y].tolist(), dtype=pl.Categorical)),
    label("y is a frame", lambda y: pd.DataFrame({"y": y})),
    label("y is a frame of two", lambda y: pd.DataFrame({"y": WORDS[y], "z": y}), "(?i)shape|column"),
    label("y has an odd index", lambda y: pd.Series(y, index=np.arange(N)[::-1])),
    label("y is read by memoryview", lambda y: memoryview(y)),
    label(
        "y is structured",
        lambda y: np.array([(v,) for v in y], dtype=[("a", int)]),
        "(?i)label|y|type",
        may_fit=True,
    ),
    label("y has empty words", lambda y: np.array(["", "yes"])[y]),
    label("y has words of NUL", lambda y: np.array(["a\0b", "a"], dtype=object)[y]),
]
WEIGHTS = [
    weight("a negative weight", lambda n: [-1.0] + [1.0] * (n - 1), "-1.0 in row 0"),
    weight("all weights negative", lambda n: -np.ones(n), "-1.0 in row 0"),
    weight("a weight of NaN", lambda n: [1.0, NAN] + [1.0] * (n - 2), "nan in row 1"),
    weight("a weight of infinity", lambda n: [1.0] * (n - 1) + [INF], f"inf in row {N - 1}"),
    weight("weights with an infinite sum", lambda n: np.full(n, 1e308), "infinite sum"),
    weight("weights of zero", np.zeros, "zero in every row"),
    weight("one class weighs nothing", lambda n: np.arange(n) % 2, "one class, 1"),
    weight("too few weights", lambda n: np.ones(n - 1), f"{N - 1} entries for {N} rows"),
    weight("too many weights", lambda n: np.ones(n + 1), f"{N + 1} entries for {N} rows"),
    weight("no weights at all", lambda n: [], f"0 entries for {N} rows"),
    weight("weights of text", lambda n: ["x"] * n, "sample_weight must be numbers"),
    weight("weights of numbers as text", lambda n: ["1"] * n, "sample_weight must be numbers"),
    weight("weights of None", lambda n: [None] * n, "sample_weight"),
    weight("weights of objects", lambda n: np.ones(n, dtype=object), "sample_weight", may_fit=True),
    weight("weights of dates", lambda n: np.full(n, "2020-01-01", "M8[D]"), "sample_weight must be numbers"),
    weight("complex weights", lambda n: np.ones(n) * 1j, "sample_weight must be numbers"),
    weight("2-d weights", lambda n: np.ones((n, 1)), "(?i)sample.weight.*1D"),
    weight("ragged weights", lambda n: [[1.0], [1.0, 2.0]] * (n // 2), "sample_weight must be one number"),
    weight(
        "masked weights",
        lambda n: np.ma.array(np.ones(n), mask=np.arange(n) == 3),
        "sample_weight is masked in row 3",
    ),
    weight(
        "nullable weights with NA",
        lambda n: pd.Series([1, None] * (n // 2), dtype="Int64"),
        "(?i)sample_weight",
    ),
    weight("polars weights with null", lambda n: pl.Series([1.0, None] * (n // 2)), "(?i)sample_weight"),
    weight("a string of weights", lambda n: "balanced", "sample_weight must be numbers"),
    weight("sparse weights", lambda n: sparse.csr_matrix(np.ones((1, n))), "(?i)sample.weight"),
    weight(
        "weights from a dictionary", lambda n: dict.fromkeys(range(n), 1.0), "sample_weight must be numbers"
    ),
    weight("a weight for all", lambda n: 2.0),
    weight("boolean weights", lambda n: np.arange(n) < 30),
    weight("tiny weights", lambda n: np.full(n, 1e-300)),
    weight("subnormal weights", lambda n: np.full(n, 5e-324), "weight", may_fit=True),
    weight("huge weights", lambda n: np.full(n, 1e300)),
    weight(
        "weights far apart", lambda n: np.logspace(-300, 300, n), "rows look equal|class .* has", may_fit=True
    ),
    weight(
        "one row weighs all", lambda n: np.where(np.arange(n) == 1, 1e15, 1.0), "class .* has", may_fit=True
    ),
    weight("weights of float16", lambda n: np.ones(n, dtype=np.float16)),
    weight("weights in the other byte order", lambda n: np.ones(n).astype(np.dtype(float).newbyteorder())),
    weight("all but two weigh nothing", lambda n: np.arange(n) < 2, "(?i)row|class", may_fit=True),
]
RARE = Case(
    "one row of 10001 is of the other class",
    lambda: Given(rows(10_001)[0], np.arange(10_001) == 7),
    "class",  # correcting for noise leaves nothing of it
    may_fit=True,
    of_rows=False,
)

HOSTILE: dict[str, Any] = {
    "None": None,
    "an object": object(),
    "a word": "nonsense",
    "no word": "",
    "-1": -1,
    "0": 0,
    "NaN": NAN,
    "infinity": INF,
    "-infinity": -INF,
    "1e308": 1e308,
    "5e-324": 5e-324,
    "10**30": 10**30,
    "10**400": 10**400,
    "a list": [],
    "a dictionary": {},
    "True": True,
    "complex": 1j,
    "an array": np.array([1.0, 2.0]),
    "pandas.NA": pd.NA,
    "a type": float,
    "a function": len,
}


def scaled(name, make, back=None, **more):
    """The same rows in another unit, at another origin, or in half precision; back: what rounding left."""

    def truth():
        X, y = rows()
        return Given(X if back is None else back(make(X)), y)

    return Case(name, lambda: Given(make(rows()[0]), rows()[1]), truth=truth, **more)


def moved(offset):
    return scaled(f"an offset of {offset:g}", lambda X: X * 4 + offset, lambda there: there - offset)


SPREAD = np.array([1e-100, 1.0, 1e100])
SCALES = [
    *(
        scaled(f"a factor of {factor:g}", lambda X, f=factor: X * f)
        for factor in (1e-150, 1e-100, 1e-60, 1e-30, 1e-9, 1e-3, 1e4, 1e20, 1e60, 1e90, 1e120, 1e150)
    ),
    *(moved(offset) for offset in (1e4, 1e9, 1e12, 1e15, -1e15)),
    scaled("half precision", lambda X: X.astype(np.float16), lambda X: X.astype(float)),
    scaled(
        "float32 far from zero", lambda X: (X + 4096).astype(np.float32), lambda X: X.astype(float) - 4096
    ),
    scaled("integers", lambda X: (X * 64).astype(np.int64)),
    scaled("a giant constant column", lambda X: np.column_stack([X, np.full(N, 1e15)]), lambda X: X[:, :-1]),
    scaled("mixed scales, standardized", lambda X: X * SPREAD, lambda X: X / SPREAD, standardized=True),
    scaled(
        "mixed scales and offsets, standardized",
        lambda X: X * [1e-9, 1, 1e9] + [0, 1e9, 0],
        lambda X: (X - [0, 1e9, 0]) / [1e-9, 1, 1e9],
        standardized=True,
    ),
    Case(
        "every row twice",
        lambda: Given(np.repeat(rows()[0], 2, axis=0), np.repeat(rows()[1], 2), None, rows()[0]),
        truth=lambda: Given(*rows()),
    ),
]

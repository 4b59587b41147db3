"""Bad rows: no tables, no numbers, nothing finite, and odd containers of honest numbers."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from benchmarks.faults.bad_input_case import (
    INF,
    NAN,
    PLACE,
    Case,
    D,
    Given,
    N,
    X_of,
    column_of,
    frame,
    polars,
    put,
    q_of,
    rows,
)

SHAPE = "(?i)2D|dim|array-like|shape|holds a list"
TEXT = "column (1|'b') of X holds"
GIANT = "column 0 of X holds an integer (of 1329 bits in row 0|that is more than float64 can hold)"
DATES = "column (1|'b') of X holds dates or times"
WORDS = column_of(["tall", "low"])
LISTS, PAIRS = pl.Series("b", [[1.0, 2.0]] * N), pl.Array(pl.Float64, 2)


def twice(X: Any) -> Any:
    """Sparse rows whose every entry is there twice, as halves."""
    t = sparse.coo_array(X)
    again = np.concatenate([t.row, t.row]), np.concatenate([t.col, t.col])
    return sparse.coo_array((np.concatenate([t.data, t.data]) / 2, again), shape=X.shape)


def with_index(place: int) -> Callable[[Any], Any]:
    def broken(X: Any) -> Any:
        table = sparse.csr_matrix(X)
        table.indices[0] = place
        return table

    return broken


def with_broken_pointer(kind: Any) -> Callable[[Any], Any]:
    def broken(X: Any) -> Any:
        table = kind(X)
        table.indptr[-1] = 10 * table.nnz
        return table

    return broken


def strided(X: Any) -> Any:
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    return wide[::2, ::2]


def read_only(X: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


def wide_integers(X: Any) -> Any:
    """Columns near the end of int64, where sums overflow."""
    return (X * 64).astype(np.int64) + (2**63 - 2**20)


CASES = [
    # rows that are no table
    Case("X is None", X_of(lambda X: None), "(?i)None|2D|array"),
    Case("X is a number", X_of(lambda X: 3.0), SHAPE),
    Case("X is a string", X_of(lambda X: "rows"), SHAPE),
    Case("X is bytes", X_of(lambda X: b"rows"), SHAPE),
    Case("X is 0-d", X_of(lambda X: np.array(1.0)), SHAPE),
    Case("X is 1-d", X_of(lambda X: X[:, 0]), "Expected 2D array, got 1D"),
    Case("X is 3-d", X_of(lambda X: X[:, :, None]), SHAPE),
    Case("X is 4-d", X_of(lambda X: X[:, :, None, None]), SHAPE),
    Case("X is a set", X_of(lambda X: set(X[:, 0])), SHAPE),
    Case("X is a dictionary", X_of(lambda X: {"a": X[:, 0]}), SHAPE),
    Case(
        "X is a generator", X_of(lambda X: (row for row in X)), "Expected 2D array, got (a generator|scalar)"
    ),
    Case("X is a function", X_of(lambda X: len), SHAPE),
    Case("X is a plain object", X_of(lambda X: object()), SHAPE),
    Case("X is a series", X_of(lambda X: pd.Series(X[:, 0])), SHAPE),
    Case("X is a polars series", X_of(lambda X: pl.Series(X[:, 0])), SHAPE),
    Case("X has records", X_of(lambda X: frame(X).to_records(index=False)), "Expected 2D array"),
    Case("X has no rows", lambda: Given(np.zeros((0, D)), []), "0 sample|no class"),
    Case("X has no columns", X_of(lambda X: X[:, :0]), "0 feature"),
    Case("X is an empty list", lambda: Given([], []), "(?i)2D|0 sample|no class"),
    Case("X has empty rows", X_of(lambda X: [[] for _ in X]), "0 feature"),
    Case("X is a frame of no columns", X_of(lambda X: pd.DataFrame(index=range(N))), "0 feature"),
    Case("X is an empty frame", lambda: Given(pd.DataFrame(), []), "(?i)0 sample|0 feature|no class"),
    Case("X is an empty sparse table", lambda: Given(sparse.csr_matrix((0, D)), []), "0 sample|no class"),
    Case("one row", lambda: Given(rows()[0][:1], [1]), "(?i)class|sample|row|varies", may_fit=True),
    Case("ragged rows", X_of(lambda X: [[1.0], *X[1:].tolist()]), r"ragged: row 1 has 3 values, row 0 has 1"),
    Case(
        "rows that nest",
        X_of(lambda X: [[[1.0], 2.0, 3.0], *X[1:].tolist()]),
        "row 0, column 0 of X holds a list, not a number|column 0 of X holds a list in row 0",
    ),
    Case(
        "rows that nest anywhere",
        X_of(lambda X: [*X[:3].tolist(), [1.0, (2.0, 3.0), 4.0], *X[4:].tolist()]),
        "row 3, column 1 of X holds a tuple, not a number|column 1 of X holds a tuple in row 3",
    ),
    Case(
        "rows that nest everywhere",
        X_of(lambda X: [[[v, v], [v]] for v in X[:, 0].tolist()]),
        "row 0, column 0 of X holds a list, not a number|column 0 of X holds a list in row 0",
    ),
    Case("rows within rows", X_of(lambda X: [X.tolist()] * 2), SHAPE),
    # what is not a number
    Case(
        "text in a list", X_of(lambda X: [["1", "tall", "3"], *X[1:].tolist()]), "'tall'|'1'", unless="string"
    ),
    Case(
        "text in an array",
        X_of(lambda X: X.astype(str)),
        "column 0 of X holds '.*' in row 0",
        False,
        "string",
    ),
    Case("numbers as text", X_of(lambda X: X.astype(str).astype(object)), "column 0", True, "string"),
    Case("one text in objects", X_of(put(2, 1, "tall", object)), f"{TEXT} 'tall' in row 2", unless="string"),
    Case("bytes in objects", X_of(put(2, 1, b"tall", object)), "tall' in row 2", unless="string"),
    Case(
        "array of bytes",
        X_of(lambda X: np.full(X.shape, b"x")),
        "(?i)column 0|bytes|'x'|varies",
        unless="string",
    ),
    *(
        Case(name, X_of(make), f"{TEXT} 'tall' in row 0.*unflip.features.OneHot", unless="string")
        for name, make in (
            ("a text column", WORDS),
            ("a text column in polars", lambda X: pl.from_pandas(WORDS(X))),
            ("a categorical column", lambda X: WORDS(X).astype({"b": "category"})),
            ("a categorical column in polars", lambda X: pl.from_pandas(WORDS(X).astype({"b": "category"}))),
        )
    ),
    Case(
        "a text column with NA",
        X_of(lambda X: column_of(["tall", None])(X).astype({"b": "string"})),
        f"{TEXT} 'tall' in row 0",
        unless="string",
    ),
    *(
        Case(name, X_of(make), "column 'b' of X holds a .* in row 0(, which is not a number|;)")
        for name, make in (
            ("a column of lists", column_of([[1.0, 2.0]])),
            ("a column of lists in polars", lambda X: polars(X).with_columns(LISTS)),
            ("a column of arrays in polars", lambda X: polars(X).with_columns(LISTS.cast(PAIRS))),
        )
    ),
    Case(
        "a series of lists",
        X_of(lambda X: pd.Series(X.tolist())),
        "got a Series that holds a .* in row 0; give each|Expected a 2-dim.* got .*Series",
    ),
    Case("a dictionary in objects", X_of(put(0, 0, {}, object)), "not 'dict'|column 0 .*dict"),
    Case("a list in objects", X_of(put(0, 0, [1], object)), "(?i)list|sequence|column 0"),
    Case("None in objects", X_of(put(1, 1, None, object)), f"{PLACE} 1|column 1", unless="allow_nan"),
    Case(
        "None in a list",
        X_of(lambda X: [[None, 1.0, 2.0], *X[1:].tolist()]),
        "row 0, column 0 is (None|nan)",
        unless="allow_nan",
    ),
    Case("pandas.NA in objects", X_of(put(1, 1, pd.NA, object)), "(?i)column 1|NA", unless="allow_nan"),
    Case("booleans", X_of(lambda X: X > 0), may_fit=True, refused="class"),
    Case("fractions", X_of(lambda X: [[Fraction(v) for v in row] for row in X.tolist()])),
    Case("decimals", X_of(lambda X: [[Decimal(v) for v in row] for row in X.tolist()])),
    Case("complex", X_of(lambda X: X + 1j), "Complex data not supported"),
    Case("complex in objects", X_of(put(0, 2, 1j, object)), "(?i)complex|column 2"),
    Case(
        "dates",
        X_of(lambda X: np.full(X.shape, "2020-01-01", "M8[D]")),
        "(?i)dates or times|varies",
        unless="string",
    ),
    Case(
        "durations",
        X_of(lambda X: np.full(X.shape, 3, "m8[s]")),
        "(?i)dates or times|varies",
        unless="string",
    ),
    Case("a date in objects", X_of(put(0, 2, date(2020, 1, 1), object)), "column 2.*date", unless="string"),
    Case("dates in objects", X_of(put(slice(None), 1, datetime(2020, 1, 1), object)), DATES, unless="string"),
    Case("a time span in objects", X_of(put(0, 2, timedelta(1), object)), "column 2.*time", unless="string"),
    Case(
        "dates in an array with NaT",
        X_of(lambda X: np.tile(np.array([["2020-01-01"], ["NaT"]], "M8[s]"), (N // 2, D))),
        "X holds dates or times",
        unless="string",
    ),
    *(
        Case(name, X_of(make), DATES, unless="string")
        for name, make in (
            ("a column of dates", column_of([datetime(2020, 1, 1)])),
            ("a column of dates with NaT", column_of([datetime(2020, 1, 1), pd.NaT])),
            ("a column of dates of a zone", column_of([pd.Timestamp("2020-01-01", tz="UTC"), pd.NaT])),
            ("a column of durations", column_of([timedelta(1), pd.NaT])),
            ("a column of objects of dates", lambda X: column_of([date(2020, 1, 1)])(X).astype(object)),
            ("nothing but dates", lambda X: column_of([datetime(2020, 1, 1), pd.NaT])(X)[["b"]]),
            ("polars dates", lambda X: polars(X).with_columns(pl.lit(date(2020, 1, 1)).alias("b"))),
            ("polars times", lambda X: polars(X).with_columns(pl.lit(datetime(2020, 1, 1)).alias("b"))),
        )
    ),
    Case("mixed types", X_of(lambda X: [[1, "x", 2.0], *X[1:].tolist()]), "'x'", unless="string"),
    Case(
        "structured array",
        X_of(lambda X: np.array([tuple(r) for r in X], dtype=[(c, float) for c in "abc"])),
        "(?i)2D|struct",
    ),
    Case("integers beyond int64", X_of(put(0, 0, 2**70, object)), "rows turn", may_fit=True),
    Case(
        "integers beyond floats",
        X_of(put(0, 0, 10**400, object)),
        GIANT,
    ),
    Case(
        "integers beyond floats in a list",
        X_of(lambda X: [[10**400, 1, 1], *X[1:].tolist()]),
        GIANT,
    ),
    # NaN and infinity in each place
    *(
        Case(
            f"{word} at {place}",
            X_of(put(*place, value)),
            f"{what}.*row {place[0] % N}, column {place[1] % D}",
            unless=unless,
        )
        for word, value, what, unless in (
            ("NaN", NAN, "NaN", "allow_nan"),
            ("infinity", INF, "infinity", ""),
            ("-infinity", -INF, "infinity", ""),
        )
        for place in ((0, 0), (N // 2, 1), (-1, -1))
    ),
    Case("infinity of both signs", X_of(lambda X: put(3, 1, -INF)(put(1, 1, INF)(X))), "row 1, column 1"),
    Case("NaN and infinity", X_of(lambda X: put(3, 1, NAN)(put(1, 1, INF)(X))), PLACE),
    Case(
        "float32 NaN",
        X_of(lambda X: put(1, 2, NAN)(X).astype(np.float32)),
        "row 1, column 2",
        unless="allow_nan",
    ),
    Case("float16 infinity", X_of(lambda X: put(1, 2, INF)(X).astype(np.float16)), "row 1, column 2"),
    Case(
        "a column of NaN",
        X_of(lambda X: np.column_stack([X, X[:, 0] * NAN])),
        "row 0, column 3|column 3 of X has no values",
        unless="allow_nan",
    ),
    Case("all NaN", X_of(lambda X: X * NAN), "(?i)row 0, column 0|column"),
    Case("NaN in a frame", X_of(lambda X: frame(put(3, 1, NAN)(X))), "row 3, column 'b'", unless="allow_nan"),
    Case(
        "NA in a nullable column",
        X_of(lambda X: column_of([1, pd.NA])(X).astype({"b": "Int64"})),
        "row 1, column 'b'",
        unless="allow_nan",
    ),
    Case("NA among objects", X_of(column_of([1.5, pd.NA])), "row 1, column 'b' is <NA>", unless="allow_nan"),
    Case(
        "numbers among objects",
        X_of(lambda X: column_of([1, 2])(X).astype({"b": object}).assign(c=pd.array([True, False] * 20))),
    ),
    Case(
        "null in polars",
        X_of(lambda X: polars(X).with_columns(pl.lit(None, dtype=pl.Float64).alias("b"))),
        "row 0, column 'b'|column 'b' of X has no values",
        unless="allow_nan",
    ),
    Case(
        "NaN in Fortran order",
        X_of(lambda X: np.asfortranarray(put(5, 2, NAN)(X))),
        "row 5, column 2",
        unless="allow_nan",
    ),
    Case(
        "signalling NaN",
        X_of(lambda X: put(5, 2, np.array([0x7FF0000000000001], np.uint64).view(float)[0])(X)),
        "row 5, column 2",
        unless="allow_nan",
    ),
    Case(
        "masked values",
        X_of(lambda X: np.ma.array(X, mask=np.arange(X.size).reshape(X.shape) == 2 * D)),
        "X is masked in row 2, column 0",
    ),
    Case("masked array, nothing masked", X_of(np.ma.array)),
    # sparse
    *(
        Case(f"sparse {kind}", X_of(lambda X, kind=kind: sparse.csr_matrix(X).asformat(kind)))
        for kind in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    ),
    *(
        Case(
            f"sparse {kind} with {value}",
            X_of(lambda X, kind=kind, value=value: sparse.csr_array(put(2, 1, value)(X)).asformat(kind)),
            "row 2, column 1",
            unless="allow_nan" if value != value else "",
        )
        for kind in ("csr", "csc", "coo", "dok")
        for value in (NAN, INF)
    ),
    Case(
        "sparse, explicit zeros",
        X_of(
            lambda X: sparse.csr_array(
                (np.where(X > 0, X, 0).ravel(), np.tile(np.arange(D), N), np.arange(0, N * D + 1, D)),
                shape=X.shape,
            )
        ),
    ),
    Case(
        "sparse, explicit NaN twice",
        X_of(lambda X: twice(put(2, 1, NAN)(X))),
        "row 2, column 1",
        unless="allow_nan",
    ),
    Case("sparse, every entry twice", X_of(twice)),
    Case(
        "sparse, entries twice in csr",
        X_of(
            lambda X: sparse.csr_array(
                (
                    np.repeat(X.ravel() / 2, 2),
                    np.repeat(np.tile(np.arange(D), N), 2),
                    np.arange(0, 2 * N * D + 1, 2 * D),
                ),
                shape=X.shape,
            )
        ),
    ),
    Case(
        "sparse, unsorted",
        X_of(
            lambda X: sparse.csr_array(
                (X[:, ::-1].ravel(), np.tile(np.arange(D)[::-1], N), np.arange(0, N * D + 1, D)),
                shape=X.shape,
            )
        ),
    ),
    Case(
        "sparse, indices of 64 bits",
        X_of(
            lambda X: sparse.csr_array(
                (X.ravel(), np.tile(np.arange(D, dtype=np.int64), N), np.arange(0, N * D + 1, D)),
                shape=X.shape,
            )
        ),
    ),
    Case(
        "sparse, an index out of bounds",
        X_of(with_index(2**31 - 1)),
        "number 2147483647 of 3 columns",
        deadly=True,
    ),
    Case("sparse, an index below zero", X_of(with_index(-1)), "number -1 of 3 columns", deadly=True),
    Case(
        "sparse, a broken pointer",
        X_of(with_broken_pointer(sparse.csr_matrix)),
        "indptr does not divide",
        deadly=True,
    ),
    Case(
        "sparse, a broken pointer in csc",
        X_of(with_broken_pointer(sparse.csc_matrix)),
        "indptr does not divide",
        deadly=True,
    ),
    Case(
        "sparse, all zero",
        X_of(lambda X: sparse.csr_matrix(X.shape)),
        "(?i)equal|varies|column|row",
        may_fit=True,
    ),
    Case("sparse, complex", X_of(lambda X: sparse.csr_matrix(X + 1j)), "Complex data not supported"),
    Case("sparse, booleans", X_of(lambda X: sparse.csr_matrix(X > 0))),
    Case("sparse, one-dimensional", X_of(lambda X: sparse.coo_array(X[:, 0])), "Expected 2D array"),
    Case("a sparse frame", X_of(lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)))),
    # odd but honest containers
    Case("np.matrix", X_of(np.matrix), "np.matrix"),
    Case("memoryview", X_of(memoryview)),
    Case("tuples", X_of(lambda X: tuple(map(tuple, X)))),
    Case("lists of arrays", X_of(list)),
    Case("objects that are numbers", X_of(lambda X: X.astype(object))),
    Case("read-only", lambda: Given(read_only(rows()[0]), read_only(rows()[1]), read_only(np.ones(N)))),
    Case("strided", X_of(strided)),
    Case("reversed", X_of(lambda X: X[::-1])),
    Case("broadcast", X_of(lambda X: np.broadcast_to(X[:, :1], X.shape))),
    Case("bytes in the other order", X_of(lambda X: X.astype(X.dtype.newbyteorder()))),
    Case("float32 in the other order", X_of(lambda X: X.astype(np.dtype(np.float32).newbyteorder()))),
    Case("integers in the other order", X_of(lambda X: (X * 64).astype(np.dtype(np.int32).newbyteorder()))),
    *(
        Case(f"{dtype}", X_of(lambda X, dtype=dtype: np.abs(X * 8).astype(dtype)))
        for dtype in (
            "float16",
            "float32",
            "longdouble",
            "int8",
            "int16",
            "int32",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
        )
    ),
    Case(
        "int8 to its ends",
        X_of(lambda X: np.where(X > 0, 127, -128).astype(np.int8)),
        may_fit=True,
        refused="class",
    ),
    Case(
        "uint64 at its end",
        X_of(lambda X: (X * 64 + 10_000).astype(np.uint64) + np.uint64(2**64 - 2**20)),
        "column|rows are equal",
        may_fit=True,
    ),
    Case("int64 at its end", X_of(wide_integers), "column|rows are equal", may_fit=True),
    Case("subclass of an array", X_of(lambda X: X.view(type("Mine", (np.ndarray,), {})))),
    Case("one column", X_of(lambda X: X[:, :1])),
    Case("more columns than rows", lambda: Given(*rows(12, 60))),
    Case("many columns", lambda: Given(*rows(8, 300))),
    Case("two rows", lambda: Given(rows()[0][:2], rows()[1][:2]), "(?i)row|sample", may_fit=True),
    Case("a constant column", X_of(lambda X: np.column_stack([X, np.full(N, 7.0)]))),
    Case(
        "all constant",
        X_of(lambda X: np.full(X.shape, 7.0)),
        "(?i)equal|varies|constant|column|row",
        may_fit=True,
    ),
    Case("all zero", X_of(np.zeros_like), "(?i)equal|varies|constant|column|row", may_fit=True),
    Case("a column twice", X_of(lambda X: np.column_stack([X, X[:, 0]]))),
    Case(
        "equal rows of different labels",
        X_of(lambda X: np.repeat(X[::2], 2, axis=0)),
        "class|label|row",
        may_fit=True,
    ),
    Case("subnormal numbers", X_of(lambda X: X * 5e-324 * 2**10), "column|rows are equal", may_fit=True),
    Case(
        "numbers at the end of floats", X_of(lambda X: X / np.abs(X).max() * 1.7e308), "column", may_fit=True
    ),
    Case("one number at the end of floats", X_of(put(0, 0, 1.7e308)), "column", may_fit=True),
    Case("one tiny column, one giant one", X_of(lambda X: X * [1e-300, 1, 1e300]), "column", may_fit=True),
    Case("negative zeros", X_of(lambda X: np.where(X > 0, X, -0.0))),
    # names
    Case("frame", X_of(frame)),
    Case("frame with odd index", X_of(lambda X: frame(X).set_index(np.full(N, 7)))),
    Case(
        "frame with names twice",
        X_of(lambda X: pd.DataFrame(X, columns=list("aab"))),
        "unique column names.*a",
    ),
    Case("frame with numbers as names", X_of(pd.DataFrame)),
    Case(
        "frame with mixed names",
        X_of(lambda X: pd.DataFrame(X, columns=["a", 1, 2])),
        "(?i)feature names|string",
    ),
    Case(
        "frame with levels of names",
        X_of(lambda X: pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))),
        "(?i)name|column",
        may_fit=True,
    ),
    Case("polars frame", X_of(polars)),
    Case(
        "names in another order at predict",
        lambda: Given(frame(rows()[0]), rows()[1], None, frame(rows()[0])[list("cba")]),
        "(?i)feature names",
    ),
    Case(
        "other names at predict",
        lambda: Given(frame(rows()[0]), rows()[1], None, frame(rows()[0]).rename(columns={"a": "z"})),
        "(?i)feature names|'[az]'",
    ),
    Case(
        "a name missing at predict",
        lambda: Given(frame(rows()[0]), rows()[1], None, frame(rows()[0])[["a", "b"]]),
        "(?i)feature names|features",
    ),
    Case("no names at predict", lambda: Given(frame(rows()[0]), rows()[1], None, rows()[0])),
    Case("names at predict only", q_of(frame)),
    # rows to predict
    Case("fewer columns at predict", q_of(lambda X: X[:, :2]), "2 features.*3|3.*2"),
    Case("more columns at predict", q_of(lambda X: np.column_stack([X, X])), "6 features.*3|3.*6"),
    Case("no rows at predict", q_of(lambda X: X[:0]), "0 sample"),
    Case("one row at predict", q_of(lambda X: X[:1])),
    Case("1-d at predict", q_of(lambda X: X[0]), SHAPE),
    Case("None at predict", q_of(lambda X: None), "(?i)None|2D|array"),
    Case("text at predict", q_of(put(1, 1, "tall", object)), "(?i)'tall'|column 1", unless="string"),
    Case("NaN at predict", q_of(put(4, 1, NAN)), "row 4, column 1", unless="allow_nan"),
    Case(
        "NaN in a frame at predict",
        lambda: Given(frame(rows()[0]), rows()[1], None, frame(put(4, 1, NAN)(rows()[0]))),
        "NaN: row 4, column 'b'",
        unless="allow_nan",
    ),
    Case("infinity at predict", q_of(put(4, 1, -INF)), "row 4, column 1"),
    Case(
        "NaN in sparse at predict",
        q_of(lambda X: sparse.csr_array(put(4, 1, NAN)(X))),
        "row 4, column 1",
        unless="allow_nan",
    ),
    Case(
        "masked at predict",
        q_of(lambda X: np.ma.array(X, mask=np.abs(X - X[2, 1]) == 0)),
        "X is masked in row",
    ),
    Case("giant numbers at predict", q_of(lambda X: X * 1e300), "column", may_fit=True),
    Case("the largest float at predict", q_of(put(0, 0, 1.7e308)), "column", may_fit=True),
    Case("sparse at predict", q_of(sparse.csr_array)),
    Case("complex at predict", q_of(lambda X: X * 1j), "Complex data not supported"),
    Case("dates at predict", q_of(lambda X: np.full(X.shape, "2020-01-01", "M8[D]")), "(?i)date"),
]

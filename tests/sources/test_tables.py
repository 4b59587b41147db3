"""Files, tables and frames give the moments of the same rows in memory, however they are cut."""

import os
import signal
import subprocess
import sys
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from unflip import UnhingedClassifier
from unflip.moments import accumulate
from unflip.sources import arrays, arrow, batches, csv, frame, parquet
from unflip.sources.column_table import ColumnTable

N, D = 4000, 3
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(N, D)), 6)
Y = rng.choice(["no", "perhaps", "yes"], N)
W = rng.integers(0, 3, N).astype(float)
NAMES = ["a", "b", "c"]
TABLE = pa.table({**{name: X[:, j] for j, name in enumerate(NAMES)}, "y": Y, "w": W})
WANTED = {"target": "y", "columns": NAMES, "weight": "w"}

parquet_module, arrow_columns = (
    sys.modules[f"unflip.sources.{name}"] for name in ("parquet", "arrow_columns")
)


@pytest.fixture
def small_parts(monkeypatch):
    """Many parts and batches from few rows."""
    monkeypatch.setattr(parquet_module, "IN_MEMORY", 1 << 10)
    monkeypatch.setattr(arrow_columns, "AT_ONCE", 1 << 8)


def write(folder, table=TABLE, name="rows.parquet", **options):
    path = folder / name
    pq.write_table(table, path, **{"row_group_size": 250, **options})
    return path


def in_files(folder):
    write(folder, TABLE.slice(0, 2000), "1.parquet")
    (folder / "more").mkdir()
    pl.from_arrow(TABLE.slice(2000)).write_parquet(folder / "more" / "2.parquet", row_group_size=512)
    (folder / "_ignored.parquet").write_bytes(b"not read")
    return folder


def as_csv(folder, name="rows.csv", delimiter=","):
    path = folder / name
    with pa.output_stream(path, compression="detect") as out:
        pc.write_csv(TABLE, out, pc.WriteOptions(delimiter=delimiter))
    return path


SOURCES = {
    "parquet": lambda folder: parquet(write(folder), **WANTED),
    "parquet, one row group": lambda folder: parquet(write(folder, row_group_size=N), **WANTED),
    "parquet, no dictionary": lambda folder: parquet(write(folder, use_dictionary=False), **WANTED),
    "parquet, categories": lambda folder: parquet(
        write(folder, TABLE.set_column(3, "y", TABLE["y"].dictionary_encode())), **WANTED
    ),
    "folder": lambda folder: parquet(in_files(folder), **WANTED),
    "pattern": lambda folder: parquet(in_files(folder) / "**" / "?.parquet", **WANTED),
    "list": lambda folder: parquet([in_files(folder) / "1.parquet", folder / "more" / "2.parquet"], **WANTED),
    "csv": lambda folder: csv(as_csv(folder), **WANTED),
    "csv.gz": lambda folder: csv(as_csv(folder, "rows.csv.gz"), **WANTED),
    "tsv.zst": lambda folder: csv(as_csv(folder, "rows.tsv.zst", "\t"), **WANTED),
    "csv, delimiter": lambda folder: csv(as_csv(folder, "rows.csv", ";"), **WANTED, delimiter=";"),
    "table": lambda folder: arrow(TABLE, **WANTED),
    "table in chunks": lambda folder: arrow(pa.Table.from_batches(TABLE.to_batches(101)), **WANTED),
    "record batch": lambda folder: arrow(TABLE.combine_chunks().to_batches()[0], **WANTED),
    "reader": lambda folder: arrow(TABLE.to_reader(max_chunksize=77), **WANTED),
    "dataset": lambda folder: arrow(ds.dataset(write(folder)), **WANTED),
    "stream": lambda folder: arrow(pl.from_arrow(TABLE), **WANTED),
    "pandas": lambda folder: frame(TABLE.to_pandas(), **WANTED),
    "polars": lambda folder: frame(pl.from_arrow(TABLE), **WANTED),
    "lazy": lambda folder: frame(pl.from_arrow(TABLE).lazy(), **WANTED),
    "lazy scan": lambda folder: frame(pl.scan_parquet(write(folder)), **WANTED),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_moments_of_its_rows(name, tmp_path, small_parts):
    source = SOURCES[name](tmp_path)
    plain = pd.DataFrame(X, columns=NAMES)
    exact = accumulate(source, summation="exact")
    wanted = accumulate((plain, Y, W), summation="exact")
    assert exact.classes == wanted.classes == ("no", "perhaps", "yes")
    assert exact.names == wanted.names
    assert exact.key == wanted.key
    assert exact.sums.tobytes() == wanted.sums.tobytes()
    assert exact.counts.tobytes() == wanted.counts.tobytes()
    if name != "reader":
        fast, wanted = accumulate(source, degree=2), accumulate((plain, Y, W), degree=2)
        np.testing.assert_allclose(fast.sums, wanted.sums, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(fast.second, wanted.second, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("at_once", [1, 1 << 8, 1 << 30])
def test_batches_may_be_of_any_size(at_once, tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_columns, "AT_ONCE", at_once)
    table = TABLE.slice(0, 50)
    source = arrow(table.to_reader(max_chunksize=7), **WANTED)
    wanted = accumulate((pd.DataFrame(X[:50], columns=NAMES), Y[:50], W[:50]), summation="exact")
    assert accumulate(source, summation="exact").sums.tobytes() == wanted.sums.tobytes()


def test_float32_stays_float32_and_other_numbers_become_float64(tmp_path):
    columns = {
        "f": pa.array([1.5, 2.5], pa.float32()),
        "i": pa.array([1, -(2**40)], pa.int64()),
        "t": pa.array([True, False]),
        "d": pa.array([Decimal("0.25"), Decimal("-3.00")]),
        "u": pa.array([7, 255], pa.uint8()),
    }
    path = write(tmp_path, pa.table({**columns, "y": [0, 1]}))
    (narrow,) = parquet(path, "y", ["f", "u", "t"])
    (wide,) = parquet(path, "y")
    assert narrow.X.dtype == np.float32
    assert narrow.names == ("f", "u", "t")
    assert wide.X.dtype == np.float64
    assert wide.names == ("f", "i", "t", "d", "u")
    assert wide.X[:].tolist() == [[1.5, 1, 1, 0.25, 7], [2.5, -(2.0**40), 0, -3, 255]]


@pytest.mark.parametrize(
    "labels",
    [
        pa.array([3, -1, 3], pa.int8()),
        pa.array([True, False, True]),
        pa.array([1.0, 0.0, 1.0]),
        pa.array([1.0, 0.25, 0.0]),
        pa.array(["b", "a", "b"], pa.large_string()),
        pa.array(["b", "a", "b"], pa.string_view()),
        pa.DictionaryArray.from_arrays([2, 0, 2], ["b", "unused", "a"]),
        pa.DictionaryArray.from_arrays([1, 0, 1], [7, 5]),
        pa.array(["é", "z", "Z"]),
    ],
    ids=str,
)
def test_labels_of_any_type_are_what_they_are_in_memory(labels):
    found = accumulate(arrow(pa.table({"x": [1.0, 2.0, 4.0], "y": labels}), "y"))
    wanted = accumulate(([[1.0], [2.0], [4.0]], labels.to_pylist()))
    assert found.classes == wanted.classes
    assert found.sums.tolist() == wanted.sums.tolist()


def test_classes_may_differ_between_row_groups(tmp_path):
    table = pa.table({"x": [1.0, 2.0, 4.0, 8.0], "y": ["b", "b", "a", "c"]})
    found = accumulate(parquet(write(tmp_path, table, row_group_size=2), "y"))
    assert found.classes == ("a", "b", "c")
    assert found.sums.tolist() == [[4.0], [3.0], [8.0]]


def test_weights_may_be_zero_in_a_whole_batch(tmp_path):
    table = pa.table({"x": [1.0, 2.0, 4.0], "y": [0, 1, 0], "w": [0, 0, 2]})
    assert accumulate(parquet(write(tmp_path, table, row_group_size=2), "y", weight="w")).total == 2


def test_columns_come_in_the_order_given_and_others_are_not_read(tmp_path):
    path = write(tmp_path, TABLE.append_column("text", pa.array(["?"] * N)))
    (first, *_) = parquet(path, "y", ["c", "a"])
    assert first.names == ("c", "a")
    assert first.X[0].tolist() == [X[0, 2], X[0, 0]]
    assert parquet(write(tmp_path), "y", weight="w").choice.features == ("a", "b", "c")


def test_frames_may_have_numbers_for_names():
    data = pd.DataFrame({0: [1.0, 2.0], 1: ["a", "b"]})
    assert accumulate(frame(data, target=1)).names == ("0",)


def test_a_duckdb_relation_is_a_stream():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        relation = connection.sql("select range * 1.0 as x, range % 2 as y from range(10)")
        source = arrow(relation, "y")
        for _ in range(2):
            assert accumulate(source).sums.tolist() == [[20.0], [25.0]]


def test_a_reader_is_read_once():
    reader = TABLE.to_reader()
    source = arrow(reader, **WANTED)
    accumulate(source)
    with pytest.raises(ValueError, match=r"this reader was read before.*make a new one"):
        accumulate(source)
    with pytest.raises(ValueError, match="was it read before"):
        accumulate(arrow(reader, **WANTED))


def broken(column, value, row=1234, kind=None):
    values = TABLE[column].to_pylist()
    values[row] = value
    return TABLE.set_column(TABLE.schema.get_field_index(column), column, pa.array(values, kind))


BAD_ROWS = [
    ("b", None, r"rows.parquet: row 1234 has no value \(column 'b'\); drop or impute"),
    ("b", float("nan"), r"rows.parquet: Input X contains NaN: row 1234, column 'b'"),
    ("c", float("inf"), r"rows.parquet: Input X contains infinity: row 1234, column 'c'"),
    ("y", None, r"rows.parquet: row 1234 has no label \(column 'y'\)"),
    ("w", None, r"rows.parquet: row 1234 has no weight \(column 'w'\)"),
    ("w", -1.0, r"rows.parquet: the weight of row 1234 \(column 'w'\) is -1.0"),
]


@pytest.mark.parametrize(("column", "value", "said"), BAD_ROWS)
@pytest.mark.parametrize("summation", ["fast", "exact"])
def test_bad_values_are_named_with_file_and_row(column, value, said, summation, tmp_path, small_parts):
    with pytest.raises(ValueError, match=said):
        accumulate(parquet(write(tmp_path, broken(column, value)), **WANTED), summation=summation)


def test_bad_labels_of_numbers_are_named_too():
    for labels, said in [
        ([0.0, float("nan")], "row 1 has no label"),
        ([0.5, 7.0], "rows from 0 on.*continuous"),
    ]:
        with pytest.raises(ValueError, match=said):
            accumulate(arrow(pa.table({"x": [1.0, 2.0], "y": labels}), "y"))


TIMES = pa.array([0, 1], pa.timestamp("s"))


@pytest.mark.parametrize(
    ("columns", "choice", "said"),
    [
        ({}, {"target": "yy"}, "there is no column 'yy'; did you mean 'y'"),
        ({}, {"target": "y", "columns": ["x", "xx"]}, "there is no column 'xx'; did you mean 'x'"),
        ({}, {"target": "y", "weight": "z"}, "there is no column 'z'"),
        ({}, {"target": "y", "columns": ["x", "y"]}, "column 'y' is the target"),
        ({}, {"target": "y", "columns": ["x", "x"]}, "column 'x' is named 2 times"),
        ({}, {"target": "y", "columns": []}, "no feature columns"),
        ({"s": ["1", "2"]}, {"target": "y"}, "column 's' holds string, which is not a number; leave it out"),
        ({"s": pa.array(["1", "2"]).dictionary_encode()}, {"target": "y"}, "column 's' holds dictionary"),
        ({"t": TIMES}, {"target": "y"}, r"column 't' holds dates or times \(timestamp\[m?s\]\)"),
        ({"l": [[1], [2]]}, {"target": "y"}, "column 'l' holds list"),
        ({"t": TIMES}, {"target": "t"}, r"the target 't' holds timestamp\[m?s\]; labels are text"),
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "table", "polars"])
def test_columns_that_cannot_serve_are_refused_by_name(columns, choice, said, kind, tmp_path):
    table = pa.table({"x": [1.0, 2.0], "y": [0, 1], **columns})
    if kind == "polars":
        said = said.replace("string,", "large_string,").replace("holds list", "holds large_list")
    make = {
        "parquet": lambda: parquet(write(tmp_path, table), **choice),
        "table": lambda: arrow(table, **choice),
        "polars": lambda: frame(pl.from_arrow(table), **choice),
    }
    with pytest.raises(ValueError, match=said) as caught:
        make[kind]()
    assert ("rows.parquet" in str(caught.value)) == (kind == "parquet")


def test_columns_is_a_list():
    with pytest.raises(TypeError, match="columns is a list of names"):
        arrow(TABLE, "y", "a")


def test_two_columns_of_one_name_are_refused():
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([0]), pa.array([1])], names=["x", "y", "y"])
    with pytest.raises(ValueError, match="several columns 'y'"):
        arrow(table, "y", ["x"])


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"x": [1.0], "z": [0]}, r"2.parquet: there is no column 'y'"),
        ({"x": ["1"], "y": [0]}, r"2.parquet: column 'x' holds string"),
        ({"x": [1.0], "y": ["0"]}, r"2.parquet: the target 'y' holds string, but int64 in .*1.parquet"),
        ({"x": [1.0], "y": [0], "z": [1]}, r"2.parquet: column 'z' is not in .*1.parquet; name the columns"),
    ],
)
def test_files_of_other_schemas_are_named(other, said, tmp_path):
    write(tmp_path, pa.table({"x": [1.0], "y": [0]}), "1.parquet")
    write(tmp_path, pa.table(other), "2.parquet")
    with pytest.raises(ValueError, match=said):
        parquet(tmp_path, "y")


def test_files_may_hold_numbers_of_different_types(tmp_path):
    write(tmp_path, pa.table({"x": [1.5], "y": [0]}), "1.parquet")
    write(tmp_path, pa.table({"y": pa.array([0], pa.int8()), "x": [2]}), "2.parquet")
    assert accumulate(parquet(tmp_path, "y")).sums.tolist() == [[3.5]]


def test_nothing_there_is_said_in_one_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file, folder or pattern '.*nowhere"):
        parquet(tmp_path / "nowhere", "y")
    with pytest.raises(ValueError, match=r"has no rows: no file below it ends with .parquet"):
        parquet(tmp_path, "y")
    with pytest.raises(ValueError, match=r"rows.parquet has no rows"):
        parquet(write(tmp_path, TABLE.slice(0, 0)), "y")
    with pytest.raises(ValueError, match="list of files is empty"):
        parquet([], "y")
    with pytest.raises(ValueError, match="no rows"):
        accumulate(arrow(TABLE.slice(0, 0), **WANTED))
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("x,y\n")
    with pytest.raises(ValueError, match=r"empty.csv has no rows"):
        csv(tmp_path / "empty.csv", "y")
    with pytest.raises(ValueError, match="no rows"):
        accumulate(csv(tmp_path / "header.csv", "y"))
    for make in (arrow, frame):
        with pytest.raises(TypeError, match="this is a int"):
            make(5, "y")


CSV = [
    ("x,y\n1,a\n,b\n", r"f.csv: row 1 has no value \(column 'x'\)"),
    ("x,y\n1,a\n2,\n", r"f.csv: row 1 has no label \(column 'y'\)"),
    ("x,y\n1,a\n2,b,c\n", r"f.csv cannot be read: .*Row #3: Expected 2 columns, got 3"),
    ("x,z\n1,a\n", r"f.csv: there is no column 'y'"),
    ("x,y\none,a\n", r"f.csv: column 'x' holds string"),
    ("x,y\n2020-01-01,a\n", r"f.csv: column 'x' holds dates"),
]


@pytest.mark.parametrize(("text", "said"), CSV)
def test_what_is_wrong_in_a_csv_file_is_named(text, said, tmp_path):
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(ValueError, match=said):
        accumulate(csv(tmp_path / "f.csv", "y"))


def test_a_late_value_of_another_type_is_named_with_its_row(tmp_path):
    lines = [f"{i},{i % 2}" for i in range(200_000)]
    path = tmp_path / "f.csv"
    path.write_text("x,y\n" + "\n".join([*lines, "0.5,1"]))  # a fraction after whole numbers is welcome
    assert accumulate(csv(path, "y")).total == 200_001
    path.write_text("x,y\n" + "\n".join([*lines, "many,1"]))
    with pytest.raises(ValueError, match=r"f.csv cannot be read: .*Row #200002: .*'many'"):
        accumulate(csv(path, "y"))
    path.write_text("x,y\n" + "\n".join([*lines, "1,many"]))
    with pytest.raises(ValueError, match=r"f.csv cannot be read: .*Row #200002: .*'many'"):
        accumulate(csv(path, "y"))


def test_a_torn_gzip_file_is_named(tmp_path):
    path = as_csv(tmp_path, "rows.csv.gz")
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(ValueError, match=r"rows.csv.gz cannot be read"):
        accumulate(csv(path, **WANTED))


@pytest.mark.parametrize("share", np.linspace(0, 0.999, 12))
def test_a_torn_parquet_file_is_named(share, tmp_path):
    path = write(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"rows.parquet is no Parquet file, or a damaged one"):
        parquet(path, **WANTED)


def test_a_parquet_file_with_a_flipped_byte_is_named_or_read(tmp_path):
    """Most pages carry no checksum: a flip inside a number cannot be noticed, but nothing else may happen."""
    path = write(tmp_path, TABLE.slice(0, 500), compression="zstd")
    whole, caught = path.read_bytes(), []
    for at in np.linspace(0, len(whole) - 1, 60).astype(int):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        try:
            accumulate(parquet(path, **WANTED))
        except ValueError as error:
            caught.append(str(error))
    assert caught
    assert all("rows.parquet" in said for said in caught)


def test_a_source_can_be_read_as_often_as_wanted_in_the_order_of_rows(tmp_path, small_parts):
    source = parquet(write(tmp_path), **WANTED)
    for _ in range(2):
        rows = np.vstack([batch.X for batch in batches(source)])
        assert np.array_equal(rows, X)
    first = [batch.first_row for batch in source]
    assert first == sorted(set(first))
    assert len(first) > len(source.parts) > 8


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("summation", ["fast", "exact"])
def test_an_interrupted_pass_goes_on_to_the_same_bytes(summation, tmp_path, small_parts, monkeypatch):
    source, kept = parquet(write(tmp_path), **WANTED), tmp_path / "kept"
    wanted = accumulate(source, summation=summation)
    read, seen = type(source).read, []

    def interrupted(self, part):
        seen.append(part)
        if self.groups.index(part) == 13:
            raise Interrupted
        return read(self, part)

    monkeypatch.setattr(type(source), "read", interrupted)
    with pytest.raises(Interrupted):
        accumulate(source, summation=summation, checkpoint=kept)
    assert kept.exists()
    monkeypatch.setattr(type(source), "read", lambda self, part: seen.append(part) or read(self, part))
    seen.clear()
    found = accumulate(source, summation=summation, checkpoint=kept)
    assert found.sums.tobytes() == wanted.sums.tobytes()
    assert not kept.exists()
    assert sorted(seen) == list(source.groups[8:])


def test_a_stream_goes_on_too(tmp_path, small_parts, monkeypatch):
    source, kept = csv(as_csv(tmp_path), **WANTED), tmp_path / "kept"
    wanted = accumulate(source)
    again, count = type(source.choice).batch, []

    def interrupted(self, *args, **options):
        count.append(1)
        if len(count) == 20:
            raise Interrupted
        return again(self, *args, **options)

    monkeypatch.setattr(type(source.choice), "batch", interrupted)
    with pytest.raises(Interrupted):
        accumulate(source, checkpoint=kept)
    assert kept.exists()
    found = accumulate(source, checkpoint=kept)
    assert found.sums.tobytes() == wanted.sums.tobytes()
    assert not kept.exists()


def test_a_checkpoint_of_other_data_is_refused(tmp_path, small_parts, monkeypatch):
    path, kept = write(tmp_path), tmp_path / "kept"
    source = parquet(path, **WANTED)
    read = type(source).read
    stop = source.groups[10]
    monkeypatch.setattr(type(source), "read", lambda self, part: 1 / 0 if part == stop else read(self, part))
    with pytest.raises(ZeroDivisionError):
        accumulate(source, checkpoint=kept)
    os.utime(path, ns=(1, 1))
    with pytest.raises(ValueError, match="belongs to other data"):
        accumulate(parquet(path, **WANTED), checkpoint=kept)


KILLED = """
import os, signal, sys
from unflip import UnhingedClassifier
from unflip.moments import accumulate
from unflip.sources import parquet
sys.modules["unflip.sources.parquet"].IN_MEMORY = 1 << 10
sys.modules["unflip.sources.arrow_columns"].AT_ONCE = 1 << 8
source = parquet(sys.argv[1], "y", ["a", "b", "c"], "w")
read = type(source).read
def killing(self, part):
    if self.groups.index(part) == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return read(self, part)
type(source).read = killing
accumulate(source, checkpoint=sys.argv[2])
"""


@pytest.mark.subprocess
def test_a_killed_pass_goes_on_to_the_same_bytes(tmp_path, small_parts):
    path, kept = write(tmp_path), tmp_path / "kept"
    died = subprocess.run([sys.executable, "-c", KILLED, path, kept], check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    source = parquet(path, **WANTED)
    found, wanted = accumulate(source, checkpoint=kept), accumulate(source)
    assert found.sums.tobytes() == wanted.sums.tobytes()
    assert found.squares == wanted.squares


def test_plain_batches_are_not_affected_by_places():
    with pytest.raises(ValueError, match=r"^Input X contains NaN: row 0"):
        accumulate(arrays([[np.nan]], [0]))


def test_the_index_of_a_pandas_frame_is_a_feature_only_if_it_is_named(tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"a": [1.0, 2.0, 4.0], "y": ["no", "no", "yes"]}, index=[5, 6, 8]).to_parquet(path)
    assert accumulate(parquet(path, "y")).names == ("a",)
    named = accumulate(parquet(path, "y", columns=["a", "__index_level_0__"]))
    assert named.sums.tolist() == [[3.0, 11.0], [4.0, 8.0]]


def test_odd_but_sound_files_are_read(tmp_path):
    long = pa.array([Decimal("1.25"), Decimal(2)], pa.decimal256(50, 2))
    assert accumulate(parquet(write(tmp_path, pa.table({"a": long, "y": [0, 1]})), "y")).sums.tolist() == [
        [1.25],
        [2.0],
    ]
    twice = pa.Table.from_arrays([pa.array([1.0, 2.0])] * 2 + [pa.array([0, 1])] * 2, ["a", "b", "y", "b"])
    assert accumulate(parquet(write(tmp_path, twice), "y", columns=["a"])).sums.tolist() == [[1.0], [2.0]]
    nested = pa.table({"a": [{"b": 7.0}, {"b": 8.0}], "x": [1.0, 2.0], "y": [0, 1]})
    assert accumulate(parquet(write(tmp_path, nested), "y", columns=["x"])).sums.tolist() == [[1.0], [2.0]]


def test_a_file_in_another_encoding_is_told_from_odd_labels(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,y\n1,café\n2,thé\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"rows.csv: column 'y' holds bytes that are no UTF-8 text"):
        csv(path, "y")


def test_weights_that_are_all_zero_are_refused(tmp_path):
    table = TABLE.set_column(4, "w", pa.array(np.zeros(N)))
    with pytest.raises(ValueError, match="the weight is zero in every row"):
        accumulate(parquet(write(tmp_path, table), **WANTED))


def test_probabilities_and_classes_do_not_mix_however_rows_are_cut():
    x = [[1.0], [2.0]]
    assert accumulate([(x, [0, 1]), (x, [0.25, 0.5])]).counts.tolist() == [2.25, 1.75]
    for order in (1, -1):
        with pytest.raises(ValueError, match="some labels are probabilities, and others the class 2;"):
            accumulate([(x, [1, 2]), (x, [0.25, 0.5])][::order])


def test_labels_that_no_checkpoint_keeps_are_refused_before_the_first_is_due(tmp_path):
    with pytest.raises(ValueError, match="is a date; files keep strings and numbers"):
        accumulate(
            ([[1.0], [2.0]], np.array([date(2020, 1, 1), date(2021, 1, 1)])), checkpoint=tmp_path / "kept"
        )


def test_lines_may_break_inside_quotes_wherever_blocks_end(tmp_path):
    path = tmp_path / "rows.csv"  # a few megabytes, so that many blocks end inside quotes
    path.write_text(
        "a,y,note\n"
        + "".join(f'{i},{i % 2},"z\n{i % 7},{i % 3},oth{"e" * (i % 5)}"\n' for i in range(60_000))
    )
    found = accumulate(csv(path, "y", columns=["a"]))
    assert found.counts.tolist() == [30_000, 30_000]
    assert found.sums.ravel().tolist() == [sum(range(0, 60_000, 2)), sum(range(1, 60_000, 2))]


def test_a_pass_that_is_started_again_still_sees_what_does_not_mix(tmp_path):
    table = pa.table({"a": np.arange(18.0), "y": [0.5] * 16 + [5.0, 7.0]})
    path = write(tmp_path, table, row_group_size=2)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"some labels are probabilities, and others the class 5\.0"):
            accumulate(parquet(path, "y"), checkpoint=tmp_path / "kept.npz")


def test_classes_that_no_label_has_may_be_named_beside_probabilities():
    model = UnhingedClassifier().partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1, 5])
    assert model.partial_fit([[0.0], [1.0]], [0.5, 0.25]).moments_.counts.tolist() == [2.25, 1.75, 0.0]


def test_the_index_may_be_the_target_and_files_with_and_without_one_go_together(tmp_path):
    data = pd.DataFrame({"a": [1.0, 2.0, 4.0], "y": ["no", "no", "yes"]})
    data.set_index("y").to_parquet(tmp_path / "indexed.parquet")
    assert accumulate(parquet(tmp_path / "indexed.parquet", "y")).sums.tolist() == [[3.0], [4.0]]
    data.to_parquet(tmp_path / "plain.parquet")
    data.set_axis([5, 7, 6]).to_parquet(tmp_path / "shuffled.parquet")
    for order in (["plain", "shuffled"], ["shuffled", "plain"]):
        paths = [tmp_path / f"{name}.parquet" for name in order]
        assert accumulate(parquet(paths, "y")).sums.tolist() == [[6.0], [8.0]]


def test_csv_files_of_several_kinds_are_refused_as_parquet_files_are(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,no\n2,yes\n")
    (tmp_path / "2.csv").write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(ValueError, match=r"2\.csv: the target 'y' holds int64, but string in .*1\.csv"):
        csv(tmp_path, "y")
    (tmp_path / "2.csv").write_text("a,y,new\n1,no,3\n2,yes,4\n")
    with pytest.raises(ValueError, match=r"2\.csv: column 'new' is not in .*1\.csv"):
        csv(tmp_path, "y")
    (tmp_path / "2.csv").write_text("a,a,y\n1,2,no\n")
    with pytest.raises(ValueError, match=r"2\.csv: there are several columns 'a'"):
        csv(tmp_path / "2.csv", "y", columns=["a"])
    (tmp_path / "2.csv").write_text("a,y\n")
    with pytest.raises(ValueError, match=r"2\.csv has no rows"):
        accumulate(csv(tmp_path / "2.csv", "y"))


def test_decimals_are_rounded_correctly():
    values = ["28319671.1454630", "0.1000001", "123456789012.3456789"]
    table = pa.table({"a": pa.array(list(map(Decimal, values)), pa.decimal128(20, 7)), "y": [0, 1, 2]})
    assert accumulate(arrow(table, "y"), summation="exact").sums.ravel().tolist() == list(map(float, values))


@pytest.mark.parametrize("kind", [kind for kind in ("Int128", "UInt128") if hasattr(pl, kind)])
def test_integers_of_128_bits_are_read_as_numbers_though_not_as_labels(kind):
    wide = pl.DataFrame(
        {"a": [1, 2**70], "b": [1.0, 2.0], "y": [0, 1]}, schema_overrides={"a": getattr(pl, kind)}
    )
    for data in (wide, wide.lazy()):
        assert accumulate(frame(data, "y")).sums.tolist() == [[1.0, 1.0], [2.0**70, 2.0]]
        assert accumulate(frame(data, "y", ["b"], weight="a")).counts.tolist() == [1.0, 2.0**70]
        with pytest.raises(ValueError, match=r"the target 'a' holds integers of 128 bits, .*; cast it"):
            frame(data, "a")
    with pytest.raises(ValueError, match="Arrow cannot hold what this DataFrame streams, cast it first"):
        arrow(wide, "y")


def test_columns_of_different_lengths_are_no_table():
    with pytest.raises(ValueError, match=r"columns have the lengths \[998, 999\]"):
        ColumnTable([np.ones(999), np.ones(998)])


def test_gaps_of_csv_are_those_of_whole_tables(tmp_path):
    from unflip.tables.types import MISSING, NOTHING

    for gap in (*MISSING, "Na", "NONE"):
        (tmp_path / "a.csv").write_text(f"a,y\n1,no\n{gap},yes\n")
        with pytest.raises(ValueError, match=r"row 1 has no value \(column 'a'\)"):
            accumulate(csv(tmp_path / "a.csv", target="y"))
    for label in (*MISSING, "Na", "NONE"):
        (tmp_path / "a.csv").write_text(f"a,y\n1,no\n2,{label}\n3,no\n")
        if label.lower() in NOTHING:
            with pytest.raises(ValueError, match=r"row 1 has no label \(column 'y'\)"):
                accumulate(csv(tmp_path / "a.csv", target="y"))
        else:
            assert set(accumulate(csv(tmp_path / "a.csv", target="y")).classes) == {"no", label}

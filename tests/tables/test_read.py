"""Tables from files as people have them: what is in them, or a sentence that says what is wrong."""

import bz2
import csv
import gzip
import io
import lzma
import random
import sys
from datetime import UTC, date, datetime

import polars as pl
import pyarrow as pa
import pytest

from unflip.tables import Habits, Wanted, read_as_written, read_table
from unflip.tables.text import read_csv

PLAIN = b"age,sick\n30,no\n,yes\n"
ROWS = [{"age": 30.0, "sick": "no"}, {"age": None, "sick": "yes"}]


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.rstrip(b"\n"),
        PLAIN.replace(b",", b";"),
        PLAIN.replace(b",", b"\t"),
        PLAIN.replace(b",", b"|"),
        b'"age","sick"\n"30","no"\n"","yes"\n',
        b"age,sick\n 30 , no\nN/A,yes\n",
        gzip.compress(PLAIN),
        bz2.compress(PLAIN),
        lzma.compress(PLAIN),
    ],
    ids=range(12),
)
def test_csv_in_its_many_guises(data, tmp_path):
    path = tmp_path / "anything"  # the first bytes tell what it is, not the name
    path.write_bytes(data)
    assert read_table(path).to_dicts() == ROWS


def test_zstd(tmp_path):
    path = tmp_path / "rows.csv.zst"
    with pa.output_stream(path, compression="zstd") as stream:
        stream.write(PLAIN)
    assert read_table(path).to_dicts() == ROWS


@pytest.mark.parametrize("write", ["write_parquet", "write_ipc", "write_ipc_stream"])
def test_parquet_and_arrow(write, tmp_path):
    path = tmp_path / "anything"
    getattr(pl.DataFrame(ROWS), write)(path)
    assert read_table(path).to_dicts() == ROWS
    assert read_table(path, Wanted(drop=["age"])).columns == ["sick"]


def test_integers_of_128_bits_are_read_as_numbers_but_for_labels(tmp_path):
    long = pl.Series([10**30, None], dtype=pl.Int128)
    pl.DataFrame({"x": long, "y": long}).write_parquet(tmp_path / "long")
    assert read_table(tmp_path / "long", Wanted(labels="y")).to_dict(as_series=False) == {
        "x": [1e30, None],
        "y": [10**30, None],
    }


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PLAIN)))
    assert read_table("-").to_dicts() == ROWS


def columns(content, **ways):
    delimiter = ways.pop("delimiter", None)
    return read_csv(content.encode(), "here.csv", Wanted(**ways), delimiter).to_dict(as_series=False)


def test_types_are_those_of_all_values():
    found = columns(
        "whole,real,truth,day,at,us,name\n1,1e3,True,2020-01-31,2020-01-31 10:00:01,12/31/2020,1a\n"
    )
    assert found == {
        "whole": [1.0],
        "real": [1000.0],
        "truth": [True],
        "day": [date(2020, 1, 31)],
        "at": [datetime(2020, 1, 31, 10, 0, 1)],
        "us": [date(2020, 12, 31)],
        "name": ["1a"],
    }


def test_a_decimal_comma_is_understood_where_it_separates_no_columns():
    assert columns("a;b\n1,5;x\n-2,25;y\n")["a"] == [1.5, -2.25]


def test_quotes_protect_delimiters_line_breaks_and_quotes():
    assert columns('a,b\n1,"x, y\nz"\n2,"say ""hi"""\n')["b"] == ["x, y\nz", 'say "hi"']


def test_text_stays_text_and_dropped_columns_are_not_judged():
    text = "code,odd,y\n007,1,a\n7,2,b\n1,3,c\n5,x,d\n"
    assert columns(text, text=["code"], drop=["odd"]) == {"code": ["007", "7", "1", "5"], "y": list("abcd")}


def test_days_and_months_are_told_apart_or_not_guessed():
    assert columns("d,x\n25/12/2023,1\n02/12/2023,2\n")["d"] == [date(2023, 12, 25), date(2023, 12, 2)]
    assert columns("d,x\n12/25/2023,1\n12/02/2023,2\n")["d"] == [date(2023, 12, 25), date(2023, 12, 2)]
    assert columns("d,x\n05/05/2023,1\n")["d"] == [date(2023, 5, 5)]
    with pytest.raises(ValueError, match="holds dates such as 02/12/2023, and days look like months"):
        columns("d,x\n02/12/2023,1\n")


def test_days_and_months_stay_where_they_were():
    habits = Habits()
    columns("d,e,x\n25/12/2023,12-25-2023,1\n", habits=habits)
    assert habits.dates == {"d": "day", "e": "month"}
    later = columns("d,e,x\n02/12/2023,02-12-2023,1\n", habits=habits)
    assert later == {"d": [date(2023, 12, 2)], "e": [date(2023, 2, 12)], "x": [1.0]}
    with pytest.raises(ValueError, match="'d' holds dates with the month first, and before it had the day"):
        columns("d,x\n12/25/2023,1\n", habits=habits)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("31-12-2020", date(2020, 12, 31)),
        ("31/12/2020 10:05", datetime(2020, 12, 31, 10, 5)),
        ("12/31/2020 10:05:30", datetime(2020, 12, 31, 10, 5, 30)),
        ("31.12.2020 10:05", datetime(2020, 12, 31, 10, 5)),
        ("2020-12-31T10:05:00+02:00", datetime(2020, 12, 31, 8, 5, tzinfo=UTC)),
    ],
)
def test_dates_with_and_without_times(written, meant):
    assert columns(f"d,x\n{written},1\n,2\n")["d"] == [meant, None]


def test_what_looks_like_a_gap_may_be_a_level():
    text = "land,x\nNA,1\nnone,2\nDE,3\n"
    assert columns(text)["land"] == [None, None, "DE"]
    assert columns(text, text=["land"], levels={"land": ["NA", "DE"]})["land"] == ["NA", None, "DE"]


def test_the_decimal_mark_stays_what_it_was():
    habits = Habits()
    assert columns("a;b\n1234,56;1\n2,5;2\n", habits=habits)["a"] == [1234.56, 2.5]
    assert habits.decimal == ","
    assert columns("a;b\n1,234;1\n", habits=habits)["a"] == [1.234]
    with pytest.raises(ValueError, match=r"column 'a' holds 1\.234, and decimals have a comma here"):
        columns("a;b\n1.234;1\n", habits=habits)
    assert columns("a,b\n1.234,1\n", habits=habits)["a"] == [1.234]  # between commas it is a point
    with pytest.raises(ValueError, match=r"'a' holds 1\.230, whose point may be decimal .*--decimal"):
        columns("a;b\n900;1\n1.230;2\n")
    assert columns("a;b\n900;1\n1.230;2\n", habits=Habits(decimal="."))["a"] == [900.0, 1.23]
    assert columns("a;b\n900;1.5\n1.230;2\n")["a"] == [900.0, 1.23]  # 1.5 can only be a decimal point
    with pytest.raises(ValueError, match="column 'a' holds 45,000; write numbers without commas"):
        columns('a,b\n"45,000",1\n"1,200",2\n9,3\n')


def test_blank_lines_are_no_rows_whatever_the_header_looks_like():
    assert columns('"height, cm"\n1.0\n\n3.0\n') == {"height, cm": [1.0, None, 3.0]}
    assert columns("x z\n1 5\n\n2 6\n", delimiter=" ") == {"x": [1.0, 2.0], "z": [5.0, 6.0]}
    assert columns('"c\nd",a\n1,2\n\n3,4\n') == {"c\nd": [1.0, 3.0], "a": [2.0, 4.0]}


def test_quotes_in_headers_and_amid_fields():
    assert columns('"Länge, Breite, Höhe";"label"\n1,5;yes\n') == {
        "Länge, Breite, Höhe": [1.5],
        "label": ["yes"],
    }
    assert columns('a,b,y\n1,5",yes\n\n2,6",no\n') == {"a": [1.0, 2.0], "b": ['5"', '6"'], "y": ["yes", "no"]}


def test_the_delimiter_is_what_cuts_all_lines_alike():
    assert list(columns("x, m\ty, m\tz\n1\t2\t3\n")) == ["x, m", "y, m", "z"]
    assert columns("size, cm;who\n1,5;ann\n") == {"size, cm": [1.5], "who": ["ann"]}
    with pytest.raises(ValueError, match=r"line 2 has 2 fields, and the header has 1; .* --delimiter"):
        columns("height\n1,5\n")


@pytest.mark.parametrize("seed", range(40))
def test_what_csv_writers_write_is_read(seed):
    """Python's csv module writes random tables in every dialect; what comes back must be what went in."""
    rng = random.Random(seed)
    words = ["a", "x,y", "q;r", 'say "hi"', '5"', "line\nbreak", "t\tab", "ü", "7up", "p|q", "yes"]
    kinds = {
        "number": lambda: rng.choice([round(rng.uniform(-9, 9999), 2), float(rng.randint(-9, 99999))]),
        "text": lambda: rng.choice(words),
        "day": lambda: date(2000 + rng.randint(0, 20), rng.randint(1, 12), rng.randint(13, 28)),
        "truth": lambda: rng.random() < 0.5,
    }
    delimiter, end = rng.choice(",;\t|"), rng.choice(["\n", "\r\n"])
    decimal = "." if delimiter == "," else rng.choice(",.")
    names = {
        f"{rng.choice(['c', 'a b', 'ü', 'x-y'])}{j}": rng.choice(list(kinds))
        for j in range(rng.randint(2, 5))
    }
    rows = [[kinds[kind]() if rng.random() < 0.8 else None for kind in names.values()] for _ in range(20)]

    def written(value):
        if value is None:
            return rng.choice(["", "NA", "n/a"])
        if isinstance(value, float):
            return f"{value:.2f}".replace(".", decimal)
        return value.strftime("%d/%m/%Y") if isinstance(value, date) else str(value)

    file = io.StringIO(newline="")
    ways = {
        "delimiter": delimiter,
        "lineterminator": end,
        "quoting": rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    }
    writer = csv.writer(file, **ways)
    writer.writerow(names)
    for row in rows:
        writer.writerow(map(written, row))
        file.write(end if rng.random() < 0.1 else "")
    text = [name for name, kind in names.items() if kind == "text"]
    found = columns(file.getvalue(), text=text, habits=Habits(decimal=decimal))
    assert found == {name: [row[j] for row in rows] for j, name in enumerate(names)}


def test_numbers_may_be_names_of_columns_that_are_known():
    assert columns("0,1\n5,6\n", only=["0", "1"]) == {"0": [5.0], "1": [6.0]}


def test_commas_and_points_are_not_guessed_either():
    with pytest.raises(ValueError, match="'a' has decimal commas, column 'b' points, which may separate"):
        columns("a;b\n0,5;9.019\n1,5;14.243\n")
    with pytest.raises(ValueError, match="column 'a' holds 1,234, whose comma may be decimal or separate"):
        columns("a\tb\n999\tx\n1,234\ty\n5,678\tz\n")
    assert columns("a\tb\n1,5\t2\n2,25\t4\n")["a"] == [1.5, 2.25]
    with pytest.raises(ValueError, match="column 'a' holds numbers in 3 rows, text in 1, first 'abc'"):
        columns("a;b\n1,50;2\n2,5;3\n3,5;4\nabc;5\n")
    assert columns("a;v\n1,5;1.2.3\n2,5;1.2.4\n")["v"] == ["1.2.3", "1.2.4"]


def test_labels_may_be_signs_and_blank_lines_are_no_rows():
    assert columns("x,y\n1,+\n\n2,-\n3,?\n4,NA\n\n\n", labels="y") == {
        "x": [1.0, 2.0, 3.0, 4.0],
        "y": ["+", "-", "?", None],
    }


def test_blank_lines_are_told_from_gaps_and_from_texts():
    assert columns("a\tb\n1\tx\n\t\n3\ty\n")["a"] == [1.0, None, 3.0]
    assert columns("a\n1\n\n3\n")["a"] == [1.0, None, 3.0]
    assert columns('a,b\n"x",1\n\n   \n"y\n\nz",2\n')["a"] == ["x", "y\n\nz"]


def test_old_line_ends_and_long_texts(tmp_path):
    assert columns("a,b\r1,x\r2,y\r") == {"a": [1.0, 2.0], "b": ["x", "y"]}
    long = "z" * 200_000
    assert columns(f'a,b\n1,"{long}, {long}"\n2,y\n')["b"][0] == f"{long}, {long}"


def test_as_written_nothing_changes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("code;y\n007;ja\nNA;nein\n")
    frame, separator = read_as_written(path)
    assert (frame.rows(), separator) == ([("007", "ja"), ("NA", "nein")], ";")


BAD = [
    (b"", "is empty"),
    (b" \n\n", "is empty"),
    (b"a,b\n", "has a header and no rows"),
    (b"a,a\n1,2\n", r"the header has 2 columns 'a'; rename them"),
    (b"a,\n1,2\n", "column 2 of the header has no name"),
    (b"1,2\n3,4\n", "has no header: its first line is 1, 2; add one"),
    (b'a,b\n1,x\n2,"y\n3,z\n', "a quote is opened and never closed, in the row that begins on line 3"),
    (b"a,b\n1,2\n3\n", "line 3 has 1 fields, and the header has 2"),
    (b"a,b\n1,2\n1,2,3\n4\n", "line 3 has 3 fields, and the header has 2; .* --delimiter"),
    (b"a,b\n1,2,3\n", "line 2 has 3 fields, and the header has 2"),
    (b'a,b\n"1",2\n3\n', "line 3 has 1 fields, and the header has 2"),
    (b"a,b\n1,x\n2,y\r3,z\n", "line 3 has a carriage return amid its fields, .* make all line ends alike"),
    (b'a,b\n1,"x"\n2,y\r3\n', "line 3 has a carriage return amid its fields"),
    (b"a,b\r1,x\n2,y\n", "line 1 has a carriage return amid its fields"),
    (
        b"a,b\n1,x\n2,y\nabc,z\n4,w\n",
        r"column 'a' holds numbers in 3 rows, text in 1, first 'abc' in data row 2; .*--text.*--drop",
    ),
    (b"a,b\n1,x\ninf,y\n", "column 'a' holds numbers in 1 rows, text in 1, first 'inf' in data row 1"),
    ("a,b\n1,x\n".encode("utf-16"), "is UTF-16 or binary; save it as UTF-8"),
    ("a,b\n1,café\n".encode("latin-1"), "is not UTF-8: line 2 has the byte 0xe9; convert the file"),
    (gzip.compress(PLAIN * 100)[:-20], "is damaged: its gzip content ends early"),
    (b"PK\x03\x04...", "is a zip archive or a workbook; unpack it, or save it as CSV"),
    (b"PAR1....", "is damaged"),
    (b"ARROW1..", "is damaged"),
]


@pytest.mark.parametrize(("data", "said"), BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_said_in_one_line_with_the_name_of_the_file(data, said, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=said) as caught:
        read_table(path)
    assert "rows.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="is a folder; name one file in it"):
        read_table(tmp_path)
    (tmp_path / "f.csv").write_bytes(PLAIN)
    with pytest.raises(ValueError, match="has no column 'sik'; did you mean 'sick'"):
        read_table(tmp_path / "f.csv", Wanted(text=["sik"]))

"""Any table as numbers: what each kind of column becomes, by hand."""

import datetime
from zlib import crc32

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unflip.features import Tabular

DAYS = [datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 11), datetime.date(1970, 1, 3)]


def names_and_numbers(frame, **ways):
    table = Tabular(**ways).fit(frame)
    return table.get_feature_names_out().tolist(), table.transform(frame).tolist()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(DAYS),
        pd.to_datetime(pd.Series(DAYS)),
        pd.to_datetime(pd.Series(DAYS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pl.Series(DAYS),
        pl.Series(DAYS).cast(pl.Datetime("ms")),
    ],
    ids=["objects", "pandas", "with a zone", "polars", "polars datetime"],
)
def test_dates_are_days_since_1970_with_gaps_at_the_median(column):
    frame = (pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame)({"day": column})
    expected = [[1.0, 0.0], [2.0, 1.0], [10.0, 0.0], [2.0, 0.0]]
    assert names_and_numbers(frame) == (["day", "day is missing"], expected)


def test_durations_are_days():
    frame = pl.DataFrame({"took": [datetime.timedelta(hours=12), datetime.timedelta(days=2)]})
    assert names_and_numbers(frame)[1] == [[0.5], [2.0]]


def test_rare_levels_share_columns_by_a_hash_that_any_process_finds_again():
    values = ["a"] * 3 + ["b"] * 2 + ["c", "d", None]
    table = Tabular(max_levels=2, buckets=4).fit(pd.DataFrame({"x": values}))
    fresh = pd.DataFrame({"x": ["a", "c", "never seen", None]})
    found = np.zeros((4, 6))
    found[0, 0] = found[1, 2 + crc32(b"c") % 4] = found[2, 2 + crc32(b"never seen") % 4] = 1
    assert set(table.get_feature_names_out()) <= {"x = a", "x = b", *(f"x in bucket {k}" for k in range(4))}
    table.kept_ = np.arange(6)  # buckets that no fitted row is in, too
    assert table.transform(fresh).tolist() == found.tolist()


def test_a_column_with_few_levels_has_no_buckets():
    assert names_and_numbers(pd.DataFrame({"x": ["a", "b", "a"]}), buckets=8)[0] == ["x = a", "x = b"]


def test_what_cannot_help_is_left_out_and_named():
    n = 30
    frame = pl.DataFrame(
        {
            "row": range(100, 100 + n),
            "user_id": [7 * i * i for i in range(n)],
            "email": [f"{i}@example.org" for i in range(n)],
            "empty": pl.Series([None] * n, dtype=pl.Float64),
            "blank": pl.Series([None] * n, dtype=pl.String),
            "one": ["same"] * n,
            "list": [[i] for i in range(n)],
            "struct": [{"a": i} for i in range(n)],
            "bytes": [b"x%d" % i for i in range(n)],
            "at": [datetime.time(i % 24) for i in range(n)],
            "size": [float(i * i) for i in range(n)],  # all different, but neither in sequence nor so named
        }
    )
    table = Tabular(lenient=True).fit(frame)
    assert table.get_feature_names_out().tolist() == ["size"]
    assert table.left_out_ == {
        "row": "it numbers the rows",
        "user_id": "it numbers the rows",
        "email": "nearly every row has a value of its own, such as '0@example.org'",
        "empty": "it has no values",
        "blank": "it has no values",
        "one": "it never varies",
        "list": "its values are neither numbers nor text",
        "struct": "its values are neither numbers nor text",
        "bytes": "its values are neither numbers nor text",
        "at": "it holds times of day",
    }


def test_a_column_that_changes_its_kind_is_refused_by_name():
    table = Tabular().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="column 'x' of X held numbers when fitted"):
        table.transform(pd.DataFrame({"x": ["a", "b"]}))
    with pytest.raises(ValueError, match="column 'x' of X held numbers when fitted"):
        table.transform(pd.DataFrame({"x": pd.to_datetime(["2020-01-01"])}))


def test_keys_tell_ways_of_reading_apart():
    frame = pd.DataFrame({"x": ["a"] * 3 + ["b", "c", "d"]})
    keys = {Tabular(max_levels=2, buckets=buckets).fit(frame).key for buckets in (0, 4, 8)}
    assert len(keys) == 3


def test_the_width_of_a_column_is_the_number_of_its_names_and_of_its_columns():
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0], "gaps": [1.0, None, 2.0], "eyes": ["a", "b", None], "empty": [None] * 3}
    )
    table = Tabular(max_levels=2, buckets=5, lenient=True).fit(frame)
    assert [column.width for column in table.columns_] == [1, 2, 7, 0]
    for name, column in zip(frame, table.columns_, strict=True):
        assert len(column.names(name)) == column.features(frame[name], name).shape[1] == column.width


def test_names_of_columns_may_be_given_where_there_were_none():
    table = Tabular().fit([[1.0, "a"], [None, "b"], [2.0, "a"]])
    names = ["age", "age is missing", "city = a", "city = b"]
    assert table.get_feature_names_out(["age", "city"]).tolist() == names
    with pytest.raises(ValueError, match="input_features should have length equal to number of features"):
        table.get_feature_names_out(["age"])
    named = Tabular().fit(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        named.get_feature_names_out(["years"])

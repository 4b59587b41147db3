"""`audit_table` for frames and arrays, with every option of the estimate, and what its result offers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unflip import audit_table, estimate_noise
from unflip.noise import ClassConditionalNoise, flip_labels


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3)) + 2 * y[:, None]
    return X, y, flip_labels(y, ClassConditionalNoise([0.0, 0.3]), rng=rng)


def test_frames_and_arrays_say_the_same(rows):
    X, _, noisy = rows
    frame = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(3)}, "label": noisy})
    said = [
        audit_table(X, noisy),
        audit_table(frame, "label"),
        audit_table(frame.to_pandas(), "label"),
        audit_table(frame.drop("label").to_pandas(), pd.Series(noisy, name="label")),
    ]
    first = said[0].to_dict()
    for other in said[1:]:
        assert other.to_dict()["noise"] == first["noise"]
        doubtful = [[row["row"] for row in found["suspects"]] for found in (other.to_dict(), first)]
        assert doubtful[0] == doubtful[1]


def test_its_options_are_those_of_the_estimate(rows):
    X, y, noisy = rows
    trusted = np.arange(400) % 4 == 0
    given = np.where(trusted, y, noisy)
    plain = audit_table(X, given)
    for ways in ({"noise": "symmetric"}, {"level": 0.5}, {"trusted": trusted}):
        found, expected = audit_table(X, given, **ways).noise, estimate_noise(X, given, **ways)
        assert found.rate == pytest.approx(expected.rate, abs=1e-6)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-6)
        assert (found.rate, found.low) != (plain.noise.rate, plain.noise.low)
    audit = audit_table(X, given, trusted=np.flatnonzero(trusted))
    assert audit.noise.rate == audit_table(X, given, trusted=trusted).noise.rate
    assert not set(audit.suspects.above(0.01).rows.tolist()) & set(np.flatnonzero(trusted).tolist())


def test_what_is_said_of_trusted_rows_is_apart_from_what_is_said_of_others(rows):
    X, y, noisy = rows
    trusted = np.arange(400) < 300
    audit = audit_table(X, np.where(trusted, y, noisy), trusted=trusted)
    found = audit.to_dict()
    assert (audit.doubted, found["trusted"]) == (100, 300)
    assert "the 100 labels of “label” that are not trusted" in found["verdict"][0]
    counted = found["noise"]["rate"] * 100
    assert abs(found["more_likely_wrong"] - counted) < 15  # of those hundred, not of all
    assert "of the 300 trusted ones it matches" in found["further"][0]
    low, high = found["clean_bounds"]
    assert high - low < 1.1 * 2 * audit.noise.outer * 100 / 400 + 0.05
    assert all(rate >= audit.noise.rate / 4 for rate in audit.noise.outer_by_class.values())


def test_columns_that_say_who_belongs_together_are_no_features(rows):
    X, _, noisy = rows
    twice = np.repeat(np.arange(200), 2)
    frame = pl.DataFrame({"x": X[:, 0], "who": twice, "sure": ["yes", "no"] * 200, "label": noisy})
    audit = audit_table(frame, "label", groups="who", trusted="sure")
    assert audit.table.feature_names_in_.tolist() == ["x"]
    assert audit.noise.rate == pytest.approx(
        estimate_noise(X[:, :1], noisy, groups=twice.astype(str), trusted=np.arange(400) % 2 == 0).rate,
        abs=1e-3,
    )


def test_the_result_is_a_page_and_values(rows, tmp_path):
    X, _, noisy = rows
    audit = audit_table(X, noisy)
    page = audit.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page
    assert audit.to_dict()["verdict"][0] in str(audit).replace("\n", " ")
    assert audit._repr_html_().startswith("<iframe srcdoc=")
    assert "<script" not in audit._repr_html_()  # escaped


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "label"}, "a target by name needs a data frame"),
        ({"target": [0, 1]}, r"there are 400 rows, and labels of the shape \(2,\)"),
        ({"trusted": [1.5] * 400}, "row 0 is trusted 1.5; say yes or no"),
        ({"groups": [1, 2]}, r"groups has the shape \(2,\) for 400 rows"),
        ({"noise": "much"}, "got 'much'"),
        ({"trusted": [0, 1, 900]}, "trusted names row 900, and rows are 0 to 399"),
        ({"level": 2}, "level lies between 0 and 1"),
    ],
)
def test_what_does_not_fit_is_named(rows, changes, message):
    X, _, noisy = rows
    with pytest.raises(ValueError, match=message):
        audit_table(X, changes.pop("target", noisy), **changes)

"""Models of files that are read in passes, beside those of the same files read whole."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from unflip.models import TableModel
from unflip.models.column_facts import ColumnFacts, Medians
from unflip.models.passes_over_file import fit_in_passes
from unflip.tables import Wanted, read_table

N = 3001


def rows(n=N, classes=("no", "yes")):
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(classes), n)
    return pl.DataFrame(
        {
            "far": 1e6 + y + rng.normal(size=n),
            "small": (1e-9 * (rng.normal(size=n) - y)).astype(np.float32).astype(np.float64),
            "whole": rng.integers(-3, 4, n),
            "old": rng.random(n) < 0.3,
            "row": rng.permutation(n) + 7,
            "one": np.ones(n),
            "gaps": [None if row % 7 == 0 else float(x) for row, x in enumerate(rng.normal(size=n) + y)],
            "flags": [None if row % 3 == 0 else bool(x) for row, x in enumerate(y)],
            "none": pl.Series([None] * n, dtype=pl.Float64),
            "rare": [None if row == 5 else 2 for row in range(n)],
            "w": rng.integers(0, 3, n),
            "label": [classes[k] for k in y],
        }
    )


def written(frame, path):
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_csv)(path)
    return path


@pytest.fixture(params=["a.parquet", "a.csv"])
def path(request, tmp_path, monkeypatch):
    import sys

    import unflip.sources  # noqa: F401

    monkeypatch.setattr(sys.modules["unflip.sources.arrow_columns"], "AT_ONCE", 1 << 10)  # many batches
    monkeypatch.setattr(sys.modules["unflip.sources.parquet"], "IN_MEMORY", 1 << 9)
    return tmp_path / request.param


@pytest.mark.parametrize("learner", ["square", "unhinged"])
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c"), ("10", "9")])
@pytest.mark.parametrize("weight", [None, "w"])
def test_the_model_is_that_of_the_whole_file(path, learner, classes, weight):
    written(rows(classes=classes), path)
    whole = TableModel.fit(read_table(path, Wanted(labels="label")), "label", learner, weight)
    found = fit_in_passes(path, "label", learner, weight)
    assert found.table.key == whole.table.key  # medians and all
    assert found.table.left_out_ == whole.table.left_out_
    assert set(found.table.left_out_) == {"row", "one", "none"}
    assert found.counts == whole.counts
    assert_allclose(found.scale.mean_, whole.scale.mean_, rtol=1e-12)
    assert_allclose(found.scale.scale_, whole.scale.scale_, rtol=1e-8)
    data = rows(300, classes).with_columns(pl.when(pl.int_range(300) % 5 > 0).then("far").alias("far"))
    assert_allclose(found.scores(data), whole.scores(data), rtol=1e-8, atol=1e-8)
    assert found.predict(data).tolist() == whole.predict(data).tolist()


def test_one_label_against_all_others_and_labels_that_mean_numbers(path):
    written(rows(classes=("1", "2", "3")), path)
    whole = TableModel.fit(read_table(path, Wanted(labels="label")), "label", positive="2")
    found = fit_in_passes(path, "label", positive="2", as_labels=lambda labels: list(map(int, labels)))
    assert found.labels == whole.labels == ["2", "not 2"]
    assert found.positive == whole.positive == "2"
    assert found.counts == whole.counts
    plain = fit_in_passes(path, "label", as_labels=lambda labels: list(map(int, labels)))
    assert plain.labels == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"far": pl.Series(["x"] * N)}, "far|'x'"),
        ({"far": pl.lit(float("inf"))}, "infinite, or too large"),
        ({"user_id": 10 * pl.int_range(N)}, "'user_id' may number the rows"),
        ({"label": pl.when(pl.int_range(N) == 70).then(None).otherwise("label")}, "row 70 has no label"),
        ({"label": pl.lit("yes")}, "every label of 'label' is 'yes'"),
    ],
)
def test_what_cannot_be_read_in_passes_is_said(path, change, said):
    written(rows().with_columns(**change), path)
    with pytest.raises(ValueError, match=said):
        fit_in_passes(path, "label")


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
def test_medians_and_facts_of_parts_are_those_of_all(n):
    rng = np.random.default_rng(n)
    kinds = [rng.normal(size=n), rng.integers(-2, 3, n), np.exp(50 * rng.normal(size=n)), -np.zeros(n)]
    X = np.column_stack([*kinds, rng.permutation(n)])
    medians = Medians(np.full(X.shape[1], n))
    while medians.left:
        medians.learn(sum(medians.counts(part) for part in np.array_split(X, 3) if len(part)))
    assert medians.values.tolist() == np.median(X, axis=0).tolist()
    facts = [ColumnFacts.of(part, Counter()) for part in np.array_split(X, 3) if len(part)]
    total = facts[0]
    for other in facts[1:]:
        total = total + other
    assert_allclose(total.mean, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    assert_allclose(total.squares, n * X.var(axis=0), rtol=1e-10, atol=1e-12)
    assert total.numbers_rows(4)
    gapped = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    gapped[0] = X[0]
    medians = Medians((~np.isnan(gapped)).sum(axis=0))
    while medians.left:
        medians.learn(sum(medians.counts(part) for part in np.array_split(gapped, 3) if len(part)))
    assert medians.values.tolist() == np.nanmedian(gapped, axis=0).tolist()
    assert not total.numbers_rows(1) or n < 4


def test_columns_that_are_dropped_may_hold_anything(path):
    written(rows().with_columns(text=pl.lit("x")), path)
    found = fit_in_passes(path, "label", drop=["text"])
    assert found.table.key == fit_in_passes(written(rows(), path), "label").table.key

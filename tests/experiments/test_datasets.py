"""The paper's data: what is shipped is right, what is not is named, what is fetched is checked."""

import csv
import gzip
import io
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from unflip.experiments import catalogue, datasets, fetch
from unflip.experiments.catalogue import CATALOGUE
from unflip.experiments.datasets import MissingDatasetError, load
from unflip.experiments.generators import draw_long, draw_mease

HERE = [name for name, entry in CATALOGUE.items() if entry.origin != "elsewhere"]
ELSEWHERE = [name for name, entry in CATALOGUE.items() if entry.origin == "elsewhere"]

# The table of the paper: N, D and P(Y = 1). Car and splice were encoded to other widths there.
PRINTED = {
    "iris": (150, 4, 0.3333),
    "ionosphere": (351, 34, 0.3590),
    "housing": (506, 13, 0.0692),
    "car": (1728, None, 0.0376),
    "usps_0_vs_7": (2200, 256, 0.5),
    "splice": (3190, None, 0.2404),
    "splice_with_names": (3190, 61, 0.2404),
    "spambase": (4601, 57, 0.3940),
}


def agrees_with_the_paper(data):
    n, d, share = PRINTED[data.name]
    assert len(data.X) == n
    assert d in (None, data.X.shape[1])
    assert np.mean(data.y == 1) == pytest.approx(share, abs=5e-5)
    assert set(data.y.tolist()) == {-1, 1}
    assert len(data.columns) == data.X.shape[1]
    assert data.X.dtype == (object if data.categorical else float)


@pytest.mark.parametrize("name", HERE)
def test_what_is_shipped_has_the_papers_size_and_share_of_positives(name):
    agrees_with_the_paper(load(name))


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_not_shipped_is_read_from_the_users_folder(name):
    if "UNFLIP_DATA" not in os.environ:
        pytest.skip(f"{name} may not be shipped: name a folder that has {name}.csv.gz in UNFLIP_DATA")
    agrees_with_the_paper(load(name))


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_cannot_be_had_says_how_to_get_it(name, monkeypatch, tmp_path):
    monkeypatch.delenv("UNFLIP_DATA", raising=False)
    with pytest.raises(MissingDatasetError, match=f"unflip datasets fetch {name}"):
        load(name)
    with pytest.raises(MissingDatasetError, match="--data-dir or UNFLIP_DATA"):
        load(name, tmp_path)
    assert not datasets.is_available(name, tmp_path)
    with pytest.raises(ValueError, match="choose one of iris"):
        load("titanic")


def small(monkeypatch, name, rows, **changes):
    """A catalogue in which this dataset is a small one."""
    digest = datasets.content_digest(rows, CATALOGUE[name].categorical)
    positives = sum(row[-1] == CATALOGUE[name].positive for row in rows)
    entry = replace(
        CATALOGUE[name], n_rows=len(rows), n_columns=len(rows[0]) - 1, n_positives=positives, digest=digest
    )
    monkeypatch.setitem(catalogue.CATALOGUE, name, replace(entry, **changes))


def as_csv(columns, rows):
    text = io.StringIO()
    csv.writer(text).writerows([columns, *rows])
    return text.getvalue().encode()


def test_a_folder_may_hold_plain_or_compressed_files_and_rows_in_any_order(monkeypatch, tmp_path):
    rows = [["1.0", "2", "0"], ["3", "4.50", "1"]]
    small(monkeypatch, "housing", rows)
    (tmp_path / "housing.csv").write_bytes(as_csv(["a", "b", "target"], rows))
    assert load("housing", tmp_path).y.tolist() == [-1, 1]
    (tmp_path / "housing.csv").unlink()
    shuffled = as_csv(["a", "b", "target"], [["3.0", "4.5", "1"], ["1", "2", "0"]])
    (tmp_path / "housing.csv.gz").write_bytes(gzip.compress(shuffled))
    assert load("housing", tmp_path).X.tolist() == [[1.0, 2.0], [3.0, 4.5]]  # whatever the order of the copy


def test_wrong_data_are_refused(monkeypatch, tmp_path):
    rows = [["1.0", "2", "0"], ["3", "4.50", "1"]]
    small(monkeypatch, "housing", rows)
    (tmp_path / "housing.csv").write_bytes(
        as_csv(["a", "b", "target"], [["1.0", "2", "0"], ["3", "4.51", "1"]])
    )
    with pytest.raises(ValueError, match="not the content of the paper's data"):
        load("housing", tmp_path)
    (tmp_path / "housing.csv").write_bytes(as_csv(["a", "b", "target"], rows[:1]))
    with pytest.raises(ValueError, match="2 rows, 2 columns and 1 rows of class '1', but has 1, 2 and 0"):
        load("housing", tmp_path)


def test_openml_tables_are_checked_and_kept(monkeypatch, tmp_path):
    frame = pd.DataFrame({"CRIM": [0.5, 1.5], "CHAS": ["0", "1"], "MEDV": [24.0, 21.6]})
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: type("Answer", (), {"frame": frame}))
    small(monkeypatch, "housing", [["0.5", "24.0", "0"], ["1.5", "21.6", "1"]])
    path = fetch.fetch("housing", tmp_path / "new")
    assert path == tmp_path / "new" / "housing.csv.gz"
    kept = load("housing", tmp_path / "new")
    assert kept.columns == ("CRIM", "MEDV")  # CHAS is the label
    assert kept.X.tolist() == [[0.5, 24.0], [1.5, 21.6]]


def test_a_table_that_is_not_the_papers_is_not_kept(monkeypatch, tmp_path):
    frame = pd.DataFrame({"CRIM": [0.5, 9.9], "CHAS": ["0", "1"]})
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: type("Answer", (), {"frame": frame}))
    small(monkeypatch, "housing", [["0.5", "0"], ["1.5", "1"]])
    with pytest.raises(ValueError, match="not the content"):
        fetch.fetch("housing", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_usps_file_is_cut_to_zeros_and_sevens(monkeypatch, tmp_path):
    # Pixels x images x digits, the digits in the order 1, 2, ..., 9, 0.
    images = np.arange(2 * 3 * 10, dtype=np.uint8).reshape(2, 3, 10)
    mat = io.BytesIO()
    savemat(mat, {"data": images})
    monkeypatch.setattr("urllib.request.urlopen", lambda _, timeout: io.BytesIO(mat.getvalue()))
    rows = [[*map(str, images[:, i, k]), digit] for digit, k in (("0", 9), ("7", 6)) for i in range(3)]
    small(monkeypatch, "usps_0_vs_7", rows)
    fetch.fetch("usps_0_vs_7", tmp_path)
    data = load("usps_0_vs_7", tmp_path)
    assert sorted(data.y.tolist()) == [-1, -1, -1, 1, 1, 1]
    zeros = data.X[data.y == 1].tolist()
    assert sorted(zeros) == sorted(images[:, :, 9].T.tolist())


def test_long_and_servedios_points_come_with_their_masses():
    X, y = draw_long(40_000, np.random.default_rng(0), gamma=0.1, masses=(0.25, 0.25, 0.5))
    assert set(y.tolist()) == {1}
    for point, mass in (((1, 0), 0.25), ((0.1, 0.5), 0.25), ((0.1, -0.1), 0.5)):
        share = np.mean(np.all(np.isclose(X, point), axis=1))
        assert abs(share - mass) < 4 * np.sqrt(mass * (1 - mass) / 40_000)


def test_mease_is_the_sum_of_five_and_the_normal_variant_has_an_eighth_of_positives():
    X, y = draw_mease(20_000, np.random.default_rng(0))
    assert ((X >= 0) & (X <= 1)).all()
    assert ((X[:, :5].sum(axis=1) > 2.5) == (y == 1)).all()
    assert abs(np.mean(y == 1) - 0.5) < 0.02
    _, rare = draw_mease(20_000, np.random.default_rng(0), normal=True)
    assert abs(np.mean(rare == 1) - 0.132) < 0.01  # P(N(0, 5) > 2.5)

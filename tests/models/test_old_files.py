"""Files that version 0.1 wrote, one of each kind: they are loaded, and predict what they did then."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest
from numpy.testing import assert_allclose

from unflip._files import kind_of, load_arrays
from unflip.models import load_model

ROWS = pl.DataFrame(
    {
        "age": [20.0, None, 64.5],
        "city": ["x", "z", "elsewhere"],
        "since": [date(2020, 1, 3), date(2020, 1, 20), None],
        "n": [1.0, 2.0, 1.0],
    }
)
WRITTEN = {
    "square": (
        [1.143007576, 0.991655746, -1.444194464],
        ["young", "young", "old"],
        {"old": 37.0, "young": 56.0},
    ),
    "unhinged": (
        [
            [0.597117114, -0.226795071, -0.370322043],
            [0.006745569, 0.296551961, -0.30329753],
            [-0.56836653, -0.093288421, 0.66165495],
        ],
        [0, 1, 2],
        {"0": 17.0, "1": 29.0, "2": 14.0},
    ),
    "one_against_all": (
        [1.410338199, 0.90257717, -0.674412433],
        ["not 2", "not 2", "2"],
        {"2": 14.0, "not 2": 46.0},
    ),
    "kernel_mean": (
        [0.047774573, 0.067698562, -0.056393658],
        ["young", "young", "old"],
        {"old": 37.0, "young": 56.0},
    ),
    "logistic": (
        [
            [4.083980189, 0.992385623, -5.076365812],
            [-1.00116732, 2.685237621, -1.684070301],
            [-5.376150163, 1.287117231, 4.089032931],
        ],
        [0, 1, 2],
        {"0": 17.0, "1": 29.0, "2": 14.0},
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_files_of_version_0_1_still_predict_what_they_did(name, tmp_path):
    path = Path(__file__).parent / f"{name}_of_0_1.npz"
    model = load_model(path)
    scores, classes, counts = WRITTEN[name]
    assert_allclose(model.scores(ROWS), scores, atol=1e-8)
    assert model.predict(ROWS).tolist() == classes
    assert model.counts == counts
    assert model.history == ("fitted rows.csv: 60 rows",)
    model.save(tmp_path / "again.npz")
    assert content(tmp_path / "again.npz") == content(path)


def content(path):
    facts, arrays = load_arrays(path, kind_of(path))
    return facts, {name: (array.dtype, array.tobytes()) for name, array in arrays.items()}

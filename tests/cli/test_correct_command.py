"""`unflip correct` undoes noise in a model, from rates, a table or an audit, and refuses in one sentence."""

import json

import numpy as np
import polars as pl
import pytest

from unflip.models import TableModel
from unflip.noise import ClassConditionalNoise, flip_labels

RATES = {"no": 0.0, "yes": 0.4}


@pytest.fixture
def lossy(tmp_path):
    """A file in which two in five of the yes are called no, and what was true."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    given = flip_labels(truth, ClassConditionalNoise([0.0, 0.4]), rng=rng)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=600) + 2 * truth for j in range(4)})
    frame.with_columns(y=np.where(given, "yes", "no")).write_csv(tmp_path / "lossy.csv")
    return np.where(truth, "yes", "no")


def as_file(folder, found):
    (folder / "noise.json").write_text(json.dumps(found))
    return "noise.json"


@pytest.mark.parametrize("learner", ["square", "unhinged", "robust"])
@pytest.mark.parametrize(
    "form", [RATES, [0.0, 0.4], [[1.0, 0.0], [0.4, 0.6]]], ids=["named", "rates", "table"]
)
def test_a_corrected_model_finds_the_class_that_lost_labels(run, tmp_path, lossy, learner, form):
    run("fit", "lossy.csv", "-t", "y", "--learner", learner, "--out", "model.npz", "-q")
    noise = as_file(tmp_path, form)
    assert run("correct", "model.npz", "--noise", noise, "--out", "corrected.npz", "-q") == (0, "", "")
    frame = pl.read_csv(tmp_path / "lossy.csv")
    found = TableModel.load(tmp_path / "corrected.npz")
    expected = TableModel.load(tmp_path / "model.npz").with_noise(ClassConditionalNoise([0.0, 0.4]))
    np.testing.assert_array_equal(found.scores(frame), expected.scores(frame))
    assert np.mean(found.predict(frame) == lossy) > 0.93
    assert run("correct", "corrected.npz", "--noise", noise, "--out", "again.npz", "-q") == (0, "", "")
    again = TableModel.load(tmp_path / "again.npz")
    np.testing.assert_array_equal(again.scores(frame), found.scores(frame))


def test_an_audit_is_what_to_correct_for(run, tmp_path, lossy):
    (tmp_path / "audit.json").write_text(run("audit", "lossy.csv", "-t", "y", "--json")[1])
    run("fit", "lossy.csv", "-t", "y", "--out", "model.npz", "-q")
    assert run("correct", "model.npz", "--noise", "audit.json", "--out", "new.npz", "-q") == (0, "", "")
    frame = pl.read_csv(tmp_path / "lossy.csv")
    assert np.mean(TableModel.load(tmp_path / "new.npz").predict(frame) == lossy) > 0.93


@pytest.mark.parametrize(
    ("learner", "content", "said"),
    [
        ("logistic", RATES, "a logistic model cannot be corrected after the fit"),
        ("square", {"no": 0.0, "si": 0.4}, "the noise is of the classes no, si, the model of no, yes"),
        ("square", [0.1, 0.1, 0.1], "speaks of 3 classes"),
        ("square", 0.7, "a symmetric noise rate lies in [0, 1/2), got 0.7"),
        ("square", "much", "noise is a rate, a list of rates, or a table, got 'much'"),
        ("square", [0.65, 0.0], "would by itself give class 'yes' more labels than it has"),
    ],
    ids=lambda value: None if isinstance(value, dict | list | float) else value,
)
def test_what_cannot_be_corrected_is_said_and_nothing_written(run, tmp_path, lossy, learner, content, said):
    run("fit", "lossy.csv", "-t", "y", "--learner", learner, "--out", "model.npz", "-q")
    noise = as_file(tmp_path, content)
    code, out, error = run("correct", "model.npz", "--noise", noise, "--out", "new.npz")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert said in error
    assert not (tmp_path / "new.npz").exists()


def test_what_is_no_json_is_named(run, tmp_path, lossy):
    run("fit", "lossy.csv", "-t", "y", "--out", "model.npz", "-q")
    (tmp_path / "noise.json").write_text("no: 0.3")
    code, _, error = run("correct", "model.npz", "--noise", "noise.json", "--out", "new.npz")
    assert code == 2
    assert "noise.json is no JSON" in error


def test_an_audit_takes_what_is_known_of_rows(run, tmp_path, lossy):
    frame = pl.read_csv(tmp_path / "lossy.csv")
    frame = frame.with_columns(y=pl.Series(lossy), sure=pl.Series(["yes"] * 300 + ["no"] * 300))
    given = pl.read_csv(tmp_path / "lossy.csv")["y"].tail(300)
    frame = frame.with_columns(y=pl.concat([frame["y"].head(300), given]))
    frame.write_csv(tmp_path / "half.csv")
    ways = ["--trusted", "sure", "--level", "0.8", "--noise", "class_conditional"]
    found = json.loads(run("audit", "half.csv", "-t", "y", *ways, "--json")[1])
    wrong = np.mean(given.to_numpy() != lossy[300:])
    assert found["noise"]["level"] == 0.8
    assert found["noise"]["low"] <= wrong <= found["noise"]["high"] + 0.02
    assert all(row["row"] >= 300 for row in found["suspects"] if row["probability"] > 0.01)
    assert "sure" not in [column["name"] for column in found["columns"]]
    code, _, error = run("audit", "half.csv", "-t", "y", "--trusted", "x0", "--json")
    assert code == 2
    assert "say yes or no, true or false, 1 or 0" in error

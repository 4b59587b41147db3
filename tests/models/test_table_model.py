"""Models of tables: merging is fitting all rows, forgetting is never having seen them, files keep it all."""

import json
import zipfile
from datetime import date

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from unflip import SquareClassifier, UnhingedClassifier
from unflip.features import Standardize
from unflip.models import TableModel

RNG = np.random.default_rng(0)
N = 400


def frame(n=N, seed=0, classes=("no", "yes")):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(classes), n)
    age = 40 + 10 * y + rng.normal(0, 8, n)
    return pl.DataFrame(
        {
            "age": pl.Series(np.where(rng.random(n) < 0.1, np.nan, age)).fill_nan(None),
            "city": rng.choice(["A", "B", "C", "it's"], n).tolist(),
            "member": rng.random(n) < 0.3 + 0.2 * y,
            "since": [date.fromordinal(int(day)) for day in 730_000 + 100 * y + rng.integers(0, 300, n)],
            "id": range(n),
            "label": [classes[k] for k in y],
        }
    )


@pytest.mark.parametrize("learner", ["square", "unhinged"])
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c"), (0, 1)])
def test_a_model_is_the_classifier_of_standardised_numbers(learner, classes):
    data = frame(classes=classes)
    model = TableModel.fit(data, "label", learner)
    numbers = model.numbers(data)
    kind = {"square": SquareClassifier, "unhinged": UnhingedClassifier}[learner]
    plain = kind(features=Standardize()).fit(numbers, data["label"].to_list())
    assert_allclose(model.scores(data), plain.decision_function(numbers), rtol=1e-9, atol=1e-9)
    assert model.predict(data).tolist() == plain.predict(numbers).tolist()
    assert model.table.left_out_ == {"id": "it numbers the rows"}


def test_merging_is_fitting_all_rows_and_forgetting_undoes_it():
    first, second = frame(seed=1), frame(seed=2)
    a = TableModel.fit(first, "label")
    both = a.more(second)
    empty = a.with_moments(a.moments - a.moments)
    merged = a.merge(empty.more(second))
    assert_allclose(merged.scores(first), both.scores(first), rtol=1e-9, atol=1e-9)
    back = merged.forget(second)
    assert_allclose(back.scores(first), a.scores(first), rtol=1e-8, atol=1e-8)
    assert back.history[-1].startswith("forgot")


def test_models_that_read_columns_in_other_ways_do_not_merge():
    with pytest.raises(
        ValueError, match="read columns in different ways; fit one, and the others with --like"
    ):
        TableModel.fit(frame(seed=1), "label").merge(TableModel.fit(frame(seed=2), "label"))
    with pytest.raises(ValueError, match="one model has the target 'label', the other 'member'"):
        TableModel.fit(frame(), "label").merge(TableModel.fit(frame(), "member"))


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c"), (0, 1)])
def test_a_file_keeps_everything(classes, tmp_path):
    data = frame(classes=classes)
    model = TableModel.fit(data, "label", positive=None)
    model.save(tmp_path / "model.npz")
    again = TableModel.load(tmp_path / "model.npz")
    assert again.scores(data).tobytes() == model.scores(data).tobytes()
    assert again.predict(data).tolist() == model.predict(data).tolist()
    assert (again.key, again.history, again.target) == (model.key, model.history, model.target)
    assert again.merge(model).moments.total == 2 * N


def test_columns_in_another_order_and_columns_that_were_left_out():
    data = frame()
    model = TableModel.fit(data, "label")
    shuffled = data.select("since", "member", "city", "age")
    assert model.predict(shuffled).tolist() == model.predict(data).tolist()
    assert model.predict(shuffled.to_pandas()).tolist() == model.predict(data).tolist()
    with pytest.raises(ValueError, match="the model needs the column 'age', which is not there"):
        model.predict(data.drop("age"))


def test_rows_without_a_label_are_not_learned_from():
    data = frame()
    some = data.with_columns(pl.when(pl.int_range(pl.len()) < 300).then("label").alias("label"))
    model = TableModel.fit(some, "label")
    assert model.moments.total == 300


def test_one_label_against_the_rest():
    data = frame(classes=("a", "b", "c"))
    model = TableModel.fit(data, "label", positive="b")
    assert model.moments.classes == ("b", "not b")


BAD_TARGETS = [
    (["x"] * 20, "every label of 'y' is 'x'; at least two are needed"),
    ([f"l{i}" for i in range(20)], "the target 'y' has 20 different values in 20 rows"),
    ([None] * 20, "no row has a label: the target 'y' is empty"),
    (["a"] * 19 + ["b"], "the label 'b' of 'y' has a single row"),
    ([0.5] * 10 + [0.25] * 10, "the target 'y' holds fractions such as 0.25"),
]


@pytest.mark.parametrize(("labels", "said"), BAD_TARGETS)
def test_what_cannot_be_a_target_is_refused_by_name(labels, said):
    data = pl.DataFrame({"x": np.arange(20.0) ** 2, "y": labels})
    with pytest.raises(ValueError, match=said):
        TableModel.fit(data, "y")


def forged(path, change):
    """The same file with other facts and a right checksum: only looking at the facts can refuse it."""
    from unflip._files import load_arrays, save_arrays

    facts, arrays = load_arrays(path, "model")
    change(facts, arrays)
    save_arrays(path, "model", facts, arrays)


FORGERIES = {
    "kept": lambda facts, arrays: facts["table"].update(kept=[99]),
    "fill": lambda facts, arrays: facts["table"]["columns"][0].update(fill=float("inf")),
    "a huge fill": lambda facts, arrays: facts["table"]["columns"][0].update(fill=10**400),
    "dates": lambda facts, arrays: facts["habits"].update(dates={"x": ["day"]}),
    "kind": lambda facts, arrays: facts["table"]["columns"][0].update(kind="code"),
    "names": lambda facts, arrays: facts["table"].update(names=["a"]),
    "learner": lambda facts, arrays: facts.update(learner="os.system"),
    "target": lambda facts, arrays: facts.update(target=None),
    "scale": lambda facts, arrays: arrays.update(scale=np.ones(1)),
    "scale of zero": lambda facts, arrays: arrays.update(scale=0 * arrays["scale"]),
    "gone": lambda facts, arrays: facts.pop("table"),
    "moments": lambda facts, arrays: arrays.update(sums=np.zeros((1, 1))),
    "list": lambda facts, arrays: facts.update(table=[]),
    "buckets": lambda facts, arrays: facts["table"]["columns"][1].update(buckets=10**9),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_files_are_refused(name, tmp_path):
    path = tmp_path / "model.npz"
    TableModel.fit(frame(), "label").save(path)
    forged(path, FORGERIES[name])
    with pytest.raises(ValueError, match=r"model.npz does not hold a model"):
        TableModel.load(path)


def test_damaged_files_are_refused_or_equal_and_foreign_ones_refused(tmp_path):
    path, data = tmp_path / "model.npz", frame()
    model = TableModel.fit(data, "label")
    model.save(path)
    whole, caught = path.read_bytes(), 0
    for at in np.linspace(0, len(whole) - 1, 40).astype(int):
        damaged = bytearray(whole)
        damaged[at] ^= 0x55
        path.write_bytes(damaged)
        try:
            found = TableModel.load(path)
        except ValueError as error:
            caught += "model.npz" in str(error)
        else:  # what the zip format does not need, such as times, may be anything
            caught += found.scores(data).tobytes() == model.scores(data).tobytes()
    assert caught == 40
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"kind": "moments"}))
    with pytest.raises(ValueError, match="is not a sound model file"):
        TableModel.load(path)

"""Robust models of tables: files keep what predicts, to the last bit, and nothing forged gets in."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.models.test_table_model import frame

from unflip._files import load_arrays, save_arrays
from unflip.models import KernelModel, TableModel, load_model


@pytest.fixture(scope="module", params=[("no", "yes"), ("a", "b", "c"), (0, 1)])
def fitted(request):
    data = frame(classes=request.param)
    return data, KernelModel.fit(data, "label")


def test_a_file_keeps_scores_classes_and_probabilities_to_the_last_bit(fitted, tmp_path):
    data, model = fitted
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    fresh = frame(seed=5).drop("label")
    for rows in (data, fresh):
        assert again.scores(rows).tobytes() == model.scores(rows).tobytes()
        assert again.probabilities(rows).tobytes() == model.probabilities(rows).tobytes()
        assert again.predict(rows).tolist() == model.predict(rows).tolist()
    assert again.predict(data).dtype == model.predict(data).dtype


def test_each_kind_of_file_is_loaded_as_what_it_is(fitted, tmp_path):
    data, model = fitted
    model.save(tmp_path / "kernel.npz")
    TableModel.fit(data, "label").save(tmp_path / "sums.npz")
    assert isinstance(load_model(tmp_path / "kernel.npz"), KernelModel)
    assert isinstance(load_model(tmp_path / "sums.npz"), TableModel)
    with pytest.raises(ValueError, match="is a robust model, which predicts but neither merges"):
        TableModel.load(tmp_path / "kernel.npz").forget(data)
    with pytest.raises(ValueError, match="is not a sound kernel model file"):
        KernelModel.load(tmp_path / "sums.npz")


OLD = Path(__file__).parent / "kernel_model_of_0_1.npz"  # it had a second table, of the numbers of the first


def test_files_of_version_0_1_still_predict_what_they_did():
    rows = frame(seed=5).drop("label")[:5]
    model = load_model(OLD)
    scores = [0.963400062, 0.319663977, -1.148437833, 0.352623429, -0.005776541]
    shares = [0.981570277, 0.728538889, 0.018149756, 0.743300464, 0.496895253]
    assert_allclose(model.scores(rows), scores, atol=1e-9)
    assert_allclose(model.probabilities(rows)[:, 1], shares, atol=1e-9)


def test_a_second_table_of_other_numbers_is_refused(tmp_path):
    facts, arrays = load_arrays(OLD, "kernel model")
    facts["inner"]["names"][0] = "age"
    save_arrays(tmp_path / "model.npz", "kernel model", facts, arrays)
    with pytest.raises(ValueError, match="columns and their means do not match"):
        load_model(tmp_path / "model.npz")


FORGERIES = {
    "classes": lambda facts, arrays: facts.update(classes=["a"]),
    "objects": lambda facts, arrays: facts.update(classes=[[], {}]),
    "parts": lambda facts, arrays: facts.update(parts=99),
    "shape": lambda facts, arrays: arrays.update(dual0=np.ones((1, 1))),
    "infinite": lambda facts, arrays: arrays.update(landmarks0=arrays["landmarks0"] * np.inf),
    "table": lambda facts, arrays: facts["table"].update(kept=[0]),
    "ranks": lambda facts, arrays: arrays.update(sorted=np.ones((3, 1))),
    "calibration": lambda facts, arrays: arrays.update(calibration=np.ones((3, 1))),
    "target": lambda facts, arrays: facts.update(target=3),
}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.filterwarnings("ignore:invalid value encountered in multiply")
def test_forged_files_are_refused(name, tmp_path):
    path = tmp_path / "model.npz"
    KernelModel.fit(frame(), "label").save(path)
    facts, arrays = load_arrays(path, "kernel model")
    FORGERIES[name](facts, arrays)
    save_arrays(path, "kernel model", facts, arrays)
    with pytest.raises(ValueError, match=r"model.npz does not hold a model"):
        load_model(path)

"""Estimators in skops files: what is loaded predicts what was saved, and only types of ours need trust."""

import numpy as np
import pytest

from unflip import RobustClassifierCV, SquareClassifier, UnhingedClassifier
from unflip.features import Standardize

sio = pytest.importorskip("skops.io")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)) * [1.0, 10.0, 0.1, 100.0]
LABELS = {"two": np.where(X[:, 0] > 0, "yes", "no"), "three": np.digitize(X[:, 0], [-0.5, 0.5])}
MODELS = {
    "unhinged": UnhingedClassifier(),
    "square": SquareClassifier(features=Standardize()),
    "chosen": RobustClassifierCV(),
}


@pytest.mark.parametrize("classes", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_what_is_loaded_predicts_what_was_saved(name, classes):
    model = MODELS[name].fit(X, LABELS[classes])
    content = sio.dumps(model)
    strange = sio.get_untrusted_types(data=content)
    assert strange
    assert all(kind.startswith("unflip.") for kind in strange)
    loaded = sio.loads(content, trusted=strange)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.get_params().keys() == model.get_params().keys()


def test_what_is_loaded_goes_on_learning():
    model = UnhingedClassifier().fit(X[:60], LABELS["two"][:60])
    content = sio.dumps(model)
    loaded = sio.loads(content, trusted=sio.get_untrusted_types(data=content))
    for each in (model, loaded):
        each.partial_fit(X[60:], LABELS["two"][60:])
    np.testing.assert_array_equal(loaded.coef_, model.coef_)

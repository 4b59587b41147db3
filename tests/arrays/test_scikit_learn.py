"""scikit-learn's own dispatch on the array API: its transformers may stand between.

That its checks pass, values and all, is in tests/contracts/test_scikit_checks.py.
"""

import os
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks, get_tags

from unflip import LossClassifier, SquareClassifier, UnhingedClassifier

MODELS = [UnhingedClassifier(), SquareClassifier()]


def test_the_tag_says_who_takes_such_arrays():
    assert all(get_tags(model).array_api_support for model in MODELS)
    assert not get_tags(LossClassifier()).array_api_support


@pytest.mark.skipif(os.environ.get("SCIPY_ARRAY_API") != "1", reason="SCIPY_ARRAY_API=1 is needed")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_under_dispatch_rows_of_another_library_are_refused_as_scikit_learn_asks(model):
    check = getattr(estimator_checks, "check_array_api_same_namespace", None)
    if check is None:
        pytest.skip("this scikit-learn has no such check")
    check(type(model).__name__, model, array_namespace="array_api_strict")


def test_a_transformer_that_dispatches_leaves_rows_where_they_are(xp):
    if "strict" in xp.name or xp.name == "cupy":
        pytest.skip("torch is enough")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)) * [1, 10, 100], rng.integers(0, 2, 200)
    fit = partial(UnhingedClassifier(features=StandardScaler()).fit)
    expected = fit(X, y).decision_function(X)
    with config_context(array_api_dispatch=True):
        model = fit(xp.move(X), xp.move(y))
        assert xp.owns(model.coef_)
        scores = model.decision_function(xp.move(X))
    assert xp.owns(scores)
    assert_allclose(xp.back(scores), expected, atol=1e-12)

"""The linear programme against the paper's example, brute force, and noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from unflip import BoundedUnhingedClassifier

X3, Y3 = [[1.0, 2.0], [1.0, -4.0], [-1.0, 1.0]], [1, 1, -1]


@pytest.mark.parametrize("intercept", [True, False])
def test_it_recovers_the_weight_that_the_paper_names(intercept):  # Appendix G
    model = BoundedUnhingedClassifier(fit_intercept=intercept).fit(X3, Y3)
    assert_allclose(model.coef_, [1, 0], atol=1e-9)
    assert model.predict(X3).tolist() == Y3
    assert model.certificate_.met


def test_scores_stay_within_one_and_no_vertex_is_better():
    rng = np.random.default_rng(0)
    for seed in range(10):
        X = rng.normal(size=(12, 2))
        y = np.where(rng.random(12) < 0.5, 1, -1)
        if abs(y.sum()) == 12:
            continue
        model = BoundedUnhingedClassifier(fit_intercept=False).fit(X, y)
        assert np.abs(model.decision_function(X)).max() <= 1 + 1e-9
        reached = np.mean(y * model.decision_function(X))
        # A linear programme in the plane is solved at the crossing of two of its lines.
        best = -np.inf
        for i in range(12):
            for j in range(i):
                for right in ([1, 1], [1, -1], [-1, 1], [-1, -1]):
                    w = np.linalg.solve(X[[i, j]], right)
                    if np.abs(X @ w).max() <= 1 + 1e-9:
                        best = max(best, np.mean(y * (X @ w)))
        assert reached == pytest.approx(best, abs=1e-9), seed


def test_separable_classes_are_separated_where_the_unit_ball_fails():
    model = BoundedUnhingedClassifier().fit(sparse.csr_array(X3), Y3)
    assert model.predict(X3).tolist() == Y3


def test_noise_in_the_weights_of_both_labels_changes_nothing():
    # Each row with weight 0.7 for its label and 0.3 for the other is the noisy population at rate 0.3:
    # the objective is multiplied by 0.4 and the constraints are the same.
    clean = BoundedUnhingedClassifier().fit(X3, Y3)
    noisy = BoundedUnhingedClassifier().fit(X3 * 2, Y3 + [-y for y in Y3], [0.7] * 3 + [0.3] * 3)
    assert_allclose(noisy.coef_, clean.coef_, atol=1e-9)


def test_three_classes_are_refused():
    with pytest.raises(ValueError, match="Only binary classification"):
        BoundedUnhingedClassifier().fit(X3, [0, 1, 2])


def test_the_certificate_is_computed_and_columns_may_have_their_own_scales():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
    signs = 2 * y - 1
    best = np.mean(signs * BoundedUnhingedClassifier().fit(X, y).decision_function(X))
    for factor in (1e-10, 1e10):
        scaled = X * np.array([1, 1, factor, 1, 1])
        model = BoundedUnhingedClassifier().fit(scaled, y)
        # The programme does not mind the units of a column, so its value must be the same.
        assert np.mean(signs * model.decision_function(scaled)) == pytest.approx(best, abs=1e-8)
        assert model.certificate_.met


def test_a_wrong_answer_of_the_solver_is_not_certified(monkeypatch):
    import scipy.optimize

    honest = scipy.optimize.linprog

    def careless(*args, **kwargs):
        found = honest(*args, **kwargs)
        found.x = 0.9 * found.x
        return found

    monkeypatch.setattr(scipy.optimize, "linprog", careless)
    with pytest.warns(ConvergenceWarning, match="gap of 0.1"):
        model = BoundedUnhingedClassifier().fit(X3, Y3)
    assert not model.certificate_.met

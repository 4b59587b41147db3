"""The kernel classifier against loops, refits and peers."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.neighbors import KernelDensity, NearestCentroid
from sklearn.svm import SVC

from unflip import UnhingedClassifier
from unflip.estimators.kernel import KernelUnhingedClassifier
from unflip.kernels import Gaussian, Laplace, Linear, Polynomial
from unflip.noise import flip_labels


def problem(n=25, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.integers(0, classes, n), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("kernel", [Gaussian(0.9), Laplace(1.1), Linear(), Polynomial(2)], ids=repr)
def test_scores_are_a_double_loop(kernel):  # Equation 9
    X, y, weight = problem()
    model = KernelUnhingedClassifier(kernel, threshold=0.0).fit(X, y, weight)
    new = np.random.default_rng(1).normal(size=(4, 3))
    for row, score in zip(new, model.decision_function(new), strict=True):
        parts = [w * (2 * t - 1) * kernel([row], [x])[0, 0] for x, t, w in zip(X, y, weight, strict=True)]
        assert score == pytest.approx(sum(parts) / weight.sum(), rel=1e-10, abs=1e-12)


def test_scores_of_the_gaussian_kernel_by_hand():
    # (+1 at 0 and 2, -1 at 1) seen from 0, with bandwidth 1: (1 - exp(-1/2) + exp(-2)) / 3.
    model = KernelUnhingedClassifier(bandwidth=1.0, threshold=0.0).fit([[0.0], [1.0], [2.0]], [1, 0, 1])
    expected = (1 - math.exp(-0.5) + math.exp(-2)) / 3
    assert model.decision_function([[0.0]])[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("threshold", [0.0, "mean"])
@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_out_scores_are_those_of_refits(center, threshold, classes):
    X, y, weight = problem(classes=classes)
    model = KernelUnhingedClassifier(Gaussian(0.9), center=center, threshold=threshold).fit(X, y, weight)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        alone = clone(model).fit(X[rest], y[rest], weight[rest]).decision_function(X[[i]])
        assert_allclose(np.ravel(model.loo_scores_[i]), np.ravel(alone), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_a_linear_kernel_is_the_linear_classifier(center):
    X, y, weight = problem(n=60)
    threshold = "mean" if center else 0.0
    kernel = KernelUnhingedClassifier("linear", center=center, threshold=threshold).fit(X, y, weight)
    linear = UnhingedClassifier(center=center, threshold=threshold).fit(X, y, weight)
    assert_allclose(kernel.decision_function(X), linear.decision_function(X), rtol=1e-9, atol=1e-12)


def test_it_is_a_support_vector_machine_with_a_strong_penalty():
    # Proposition 7: for lambda >= R^2 the hinge never bends, and every row is a support vector at its bound.
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    n, kernel = len(y), Gaussian(5.0)
    keep = np.concatenate([np.flatnonzero(y == 1)[:200], np.flatnonzero(y == 0)[:200]])  # no effective bias
    X, y = X[keep], y[keep]
    n = len(y)
    machine = SVC(C=1 / (n * 1.0), kernel="precomputed").fit(kernel(X, X), y)
    ours = KernelUnhingedClassifier(kernel, threshold=0.0).fit(X, y)
    shifted = machine.decision_function(kernel(X, X)) - machine.intercept_
    assert_allclose(shifted, ours.decision_function(X), rtol=1e-6)


def test_a_grid_of_bandwidths_takes_the_one_with_the_least_leave_one_out_error():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], (y[:400] >= 5).astype(int)
    model = KernelUnhingedClassifier(bandwidth="loo").fit(X, y)
    errors = {}
    for size in (0.5, 1.0, 2.0):
        one = KernelUnhingedClassifier(bandwidth=model.kernel_.bandwidth * size).fit(X, y)
        errors[size] = np.mean((one.loo_scores_ > 0) != y)
    assert errors[1.0] == min(errors.values())


def test_noise_hardly_moves_it_on_digits_and_two_hundred_points_will_do():
    X, y = load_digits(return_X_y=True)
    clean = (y >= 5).astype(int)
    noisy = flip_labels(clean, 0.3, rng=0)
    assert (
        KernelUnhingedClassifier(bandwidth="loo").fit(X[:1200], noisy[:1200]).score(X[1200:], clean[1200:])
        > 0.8
    )
    model = KernelUnhingedClassifier().fit(X[:1200], noisy[:1200])  # a wide kernel, which few points span
    few = KernelUnhingedClassifier(compress="herding", n_support=200)
    few.fit(X[:1200], noisy[:1200])
    assert few.support_vectors_.shape == (200, 64)
    assert np.mean(few.predict(X[1200:]) == model.predict(X[1200:])) >= 0.97
    assert not hasattr(few, "predict_proba")


def test_probabilities_are_shares_by_similarity():
    X, y, weight = problem(classes=3)
    model = KernelUnhingedClassifier(Gaussian(1.0)).fit(X, y, weight)
    near = weight * Gaussian(1.0)([[0.1, 0.2, 0.3]], X)[0]
    expected = [near[y == k].sum() / near.sum() for k in range(3)]
    assert_allclose(model.predict_proba([[0.1, 0.2, 0.3]])[0], expected, rtol=1e-12)
    with pytest.raises(ValueError, match="negative values"):
        KernelUnhingedClassifier("linear").fit(X, y).predict_proba(X)


def test_sparse_rows_and_weights_of_zero():
    X, y, weight = problem(n=40)
    X[np.abs(X) < 0.7] = 0.0
    dense = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y, weight)
    assert_allclose(
        KernelUnhingedClassifier(bandwidth=1.0).fit(sparse.csr_array(X), y, weight).decision_function(X),
        dense.decision_function(X),
        rtol=1e-9,
    )
    weight[5:] = np.where(np.arange(35) % 3 == 0, 0.0, weight[5:])
    without = KernelUnhingedClassifier(bandwidth=1.0).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    with_zeros = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y, weight)
    assert_allclose(with_zeros.decision_function(X), without.decision_function(X))


def test_bad_input_is_named():
    X, y, _ = problem()
    for parameters, words in (
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"compress": "herding"}, "go together"),
        ({"kernel": "cosmic"}, "cosmic"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelUnhingedClassifier(**parameters).fit(X, y)
    for equal in (np.ones((6, 2)), sparse.csr_array(np.ones((6, 2)))):
        for bandwidth in ("median", "loo", 1.0):
            with pytest.raises(ValueError, match="all rows are equal"):
                KernelUnhingedClassifier(bandwidth=bandwidth).fit(equal, [0, 1] * 3)
    with pytest.raises(ValueError, match="one class, 1"):
        KernelUnhingedClassifier().fit(X, np.ones(25, dtype=int))


# Readings


@pytest.mark.parametrize("reading", ["centroid", "density"])
@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_out_is_exact_for_every_reading(reading, classes):
    X, y, weight = problem(classes=classes)
    model = KernelUnhingedClassifier(Gaussian(0.9), reading=reading).fit(X, y, weight)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        alone = clone(model).fit(X[rest], y[rest], weight[rest]).decision_function(X[[i]])
        assert_allclose(np.ravel(model.loo_scores_[i]), np.ravel(alone), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("reading", ["unhinged", "centroid", "density"])
def test_without_its_only_row_a_class_is_not_chosen(reading):
    X, y, _ = problem(n=12, classes=2)
    for labels in (np.where(np.arange(12) == 3, 1, 0), np.where(np.arange(12) == 3, 2, y)):
        model = KernelUnhingedClassifier(bandwidth=1.0, threshold=0.0, reading=reading).fit(X, labels)
        rest = np.flatnonzero(np.arange(12) != 3)
        alone = clone(model).partial_fit(X[rest], labels[rest], classes=model.classes_)
        assert_allclose(model.loo_scores_[3], alone.decision_function(X[[3]])[0], rtol=1e-10)
        assert np.isneginf(np.ravel(model.loo_scores_[3])[-1])
        KernelUnhingedClassifier(bandwidth="loo", reading=reading).fit(X, labels)  # no warning


@pytest.mark.parametrize("classes", [2, 3])
def test_the_centroid_reading_of_a_linear_kernel_is_the_nearest_centroid_of_scikit_learn(classes):
    X, y, _ = problem(n=80, classes=classes)
    new = np.random.default_rng(1).normal(size=(500, 3))
    ours = KernelUnhingedClassifier("linear", reading="centroid").fit(X, y)
    assert_array_equal(ours.predict(new), NearestCentroid().fit(X, y).predict(new))


def test_the_centroid_reading_of_another_kernel_is_the_nearest_centroid_in_its_feature_space():
    # (<x, z> + 1)^2 is the inner product of all products of two among (1, x), of which 1 is of no use.
    def features(X):
        one = np.column_stack([np.ones(len(X)), X])
        return np.einsum("ni,nj->nij", one, one).reshape(len(X), -1)[:, 1:]

    X, y, _ = problem(n=80, classes=3)
    new = np.random.default_rng(1).normal(size=(500, 3))
    ours = KernelUnhingedClassifier(Polynomial(2), reading="centroid").fit(X, y)
    peer = NearestCentroid().fit(features(X), y)
    assert_array_equal(ours.predict(new), peer.predict(features(new)))  # Appendix E.2


@pytest.mark.parametrize("classes", [2, 3])
def test_the_density_reading_is_bayes_rule_with_the_kernel_densities_of_scikit_learn(classes):  # Appendix E.3
    X, y, weight = problem(n=80, classes=classes)
    new = np.random.default_rng(1).normal(size=(500, 3))
    ours = KernelUnhingedClassifier(bandwidth=0.7, reading="density").fit(X, y, weight)
    joint = np.column_stack(
        [
            KernelDensity(bandwidth=0.7).fit(X[y == k], sample_weight=weight[y == k]).score_samples(new)
            + np.log(weight[y == k].sum())
            for k in range(classes)
        ]
    )
    assert_array_equal(ours.predict(new), joint.argmax(axis=1))
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    assert_allclose(ours.predict_proba(new), posterior / posterior.sum(axis=1, keepdims=True), rtol=1e-9)


def test_the_density_reading_is_the_unhinged_scorer_with_zero_at_zero():
    X, y, weight = problem()
    density = KernelUnhingedClassifier(bandwidth=0.7, reading="density").fit(X, y, weight)
    unhinged = KernelUnhingedClassifier(bandwidth=0.7, threshold=0.0).fit(X, y, weight)
    assert_array_equal(density.decision_function(X), unhinged.decision_function(X))
    with pytest.raises(ValueError, match=r"Linear\(\) is no density"):
        KernelUnhingedClassifier("linear", reading="density").fit(X, y)


def test_shares_by_similarity_are_the_shares_of_costs_at_which_a_class_is_chosen():  # Appendix E.3
    # At cost c the weighted unhinged loss, with zero at zero, weighs the classes by 1 - c and c.
    X, y, _ = problem()
    new = np.random.default_rng(1).normal(size=(20, 3))
    costs = (np.arange(100) + 0.5) / 100
    chosen = [
        KernelUnhingedClassifier(Gaussian(1.0), threshold=0.0)
        .fit(X, y, sample_weight=np.where(y == 1, 1 - cost, cost))
        .decision_function(new)
        > 0
        for cost in costs
    ]
    shares = KernelUnhingedClassifier(Gaussian(1.0)).fit(X, y).predict_proba(new)[:, 1]
    assert_allclose(np.mean(chosen, axis=0), shares, atol=0.5 / 100 + 1e-9)


# Rows that come and go


@pytest.mark.parametrize("bandwidth", [0.8, "median", "loo"])
@pytest.mark.parametrize("parameters", [{}, {"center": True}, {"reading": "centroid"}], ids=repr)
@pytest.mark.parametrize("thin", [False, True])
def test_partial_fit_and_forget_equal_a_fit_to_the_rows_that_are_there(bandwidth, parameters, thin):
    X, y, weight = problem(n=60, classes=3)
    X[np.abs(X) < 0.4] = 0.0
    X = sparse.csr_array(X) if thin else X
    model = KernelUnhingedClassifier(bandwidth=bandwidth, **parameters)
    grown = clone(model)
    for part in (slice(0, 20), slice(20, 21), slice(21, 60)):
        grown.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=weight[part])
    whole = clone(model).fit(X, y, weight)
    assert grown.kernel_ == whole.kernel_
    assert_allclose(grown.decision_function(X), whole.decision_function(X), rtol=1e-10, atol=1e-13)
    assert_allclose(grown.loo_scores_, whole.loo_scores_, rtol=1e-10, atol=1e-12)
    gone, rest = np.arange(0, 60, 3), np.flatnonzero(np.arange(60) % 3)
    grown.forget(X[gone], y[gone], weight[gone])
    without = clone(model).fit(X[rest], y[rest], weight[rest])
    assert grown.kernel_ == without.kernel_
    assert_allclose(grown.decision_function(X), without.decision_function(X), rtol=1e-10, atol=1e-13)
    assert_allclose(grown.loo_scores_, without.loo_scores_, rtol=1e-10, atol=1e-12)


def test_a_part_of_a_weight_and_one_of_two_copies_can_be_forgotten():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 1, 1, 0])
    model = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y, sample_weight=[3.0, 1.0, 1.0, 2.0])
    model.forget([[-0.0], [1.0]], [0, 1], sample_weight=[2.0, 1.0])  # minus zero is zero
    same = KernelUnhingedClassifier(bandwidth=1.0).fit([[0.0], [1.0], [2.0]], [0, 1, 0], [1.0, 1.0, 2.0])
    assert_allclose(model.decision_function(X), same.decision_function(X), rtol=1e-12)


def test_a_class_that_was_named_and_has_not_come_is_never_predicted():
    X, y, _ = problem(classes=2)
    for reading in ("unhinged", "centroid", "density"):
        model = KernelUnhingedClassifier(bandwidth=1.0, reading=reading).partial_fit(X, y, classes=[0, 1, 7])
        assert set(model.predict(X)) <= {0, 1}
        alone = KernelUnhingedClassifier(bandwidth=1.0, reading=reading).partial_fit(
            X, np.zeros(25, dtype=int), classes=[0, 1]
        )
        assert set(alone.predict(X)) == {0}


def test_what_cannot_be_forgotten_is_named_and_nothing_changes():
    X, y, _ = problem()
    model = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y)
    before = model.decision_function(X)
    for rows, labels, weight in (
        (np.array([X[0], X[1] + 1]), y[:2], None),  # other values
        (X[:2], [y[0], 1 - y[1]], None),  # another label
        (X[[0, 3]], y[[0, 3]], [1.0, 2.0]),  # more weight than it had
    ):
        with pytest.raises(ValueError, match="row 1 cannot be taken away"):
            model.forget(rows, labels, sample_weight=weight)
    with pytest.raises(ValueError, match="no class"):
        model.forget(X, y)
    assert_array_equal(model.decision_function(X), before)
    with pytest.raises(ValueError, match="label 9 of row 0 is not among the classes"):
        model.partial_fit(X[:1], [9])
    small = KernelUnhingedClassifier(compress="herding", n_support=5).fit(X, y)
    for change in (small.partial_fit, small.forget):
        with pytest.raises(ValueError, match="needs all rows"):
            change(X, y)


def test_weights_may_go_in_parts_and_heavy_rows_may_go():
    X, y = np.array([[0.0], [1.0], [2.0], [2.0]]), [0, 1, 1, 1]
    model = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y, sample_weight=[1, 1, 0.1, 0.2])
    for _ in range(3):
        model.forget([[2.0]], [1], sample_weight=[0.1])
    assert model.support_vectors_.ravel().tolist() == [0.0, 1.0]
    X, y, weight = problem()
    weight[7] = 1e13
    light = np.arange(25) != 7
    model = (
        KernelUnhingedClassifier(bandwidth=1.0, center=True).fit(X, y, weight).forget(X[[7]], y[[7]], [1e13])
    )
    same = KernelUnhingedClassifier(bandwidth=1.0, center=True).fit(X[light], y[light], weight[light])
    assert_allclose(model.loo_scores_, same.loo_scores_, rtol=1e-10, atol=1e-13)


def test_parameters_that_changed_since_the_fit_are_heeded():
    X, y, _ = problem()
    for changed in ({"bandwidth": 5.0}, {"kernel": "laplace"}):
        model = KernelUnhingedClassifier(bandwidth=1.0).fit(X[:20], y[:20]).set_params(**changed)
        whole = KernelUnhingedClassifier(bandwidth=1.0).set_params(**changed).fit(X, y)
        grown = model.partial_fit(X[20:], y[20:])
        assert grown.kernel_ == whole.kernel_
        assert_allclose(grown.decision_function(X), whole.decision_function(X), rtol=1e-10)
    small = KernelUnhingedClassifier(compress="herding", n_support=5).fit(X, y)
    small.set_params(compress=None, n_support=None)
    with pytest.raises(ValueError, match="needs all rows"):
        small.partial_fit(X, y)
    assert not hasattr(small, "predict_proba")


def test_the_row_that_cannot_go_is_called_by_its_own_number():
    X, y, _ = problem()
    model = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y)
    with pytest.raises(ValueError, match="row 2 cannot be taken away"):
        model.forget(np.array([X[0], X[1], X[2] + 9]), y[:3], sample_weight=[0, 1, 1])


@pytest.mark.parametrize("size", [1e-200, 1e160])
@pytest.mark.parametrize("reading", ["unhinged", "centroid"])
def test_the_scale_of_weights_is_of_no_account(size, reading):
    X, y, weight = problem()
    plain = KernelUnhingedClassifier(bandwidth=1.0, reading=reading).fit(X, y, weight)
    scaled = KernelUnhingedClassifier(bandwidth=1.0, reading=reading).fit(X, y, weight * size)
    assert_allclose(scaled.loo_scores_, plain.loo_scores_, rtol=1e-10, atol=1e-13)


# Compression


def test_a_mean_map_of_zero_is_one_point_of_no_weight():
    X = [[0.0], [0.0], [1.0], [1.0]]
    model = KernelUnhingedClassifier(bandwidth=1.0, threshold=0.0, compress="herding", n_support=3)
    assert model.fit(X, [0, 1, 0, 1]).decision_function([[0.0], [5.0]]).tolist() == [0.0, 0.0]


def test_a_compressed_model_is_its_points():
    X, y, weight = problem(n=200)
    for rows in (X, sparse.csr_array(X)):
        model = KernelUnhingedClassifier(compress="herding", n_support=30).fit(rows, y, weight)
        stored = sum(value.nbytes for value in vars(model).values() if isinstance(value, np.ndarray))
        assert model.support_vectors_.shape == (30, 3)
        assert stored <= 8 * 30 * (3 + 1) + 8 * 10
        assert not hasattr(model, "loo_scores_")
        assert len(pickle.dumps(model)) < 8000
        full = KernelUnhingedClassifier().fit(rows, y, weight)
        gap = np.abs(model.decision_function(X) - full.decision_function(X)).max()
        assert gap <= model.herd_.errors[-1] * (1 + 1e-6)  # Cauchy and Schwarz, k(x, x) = 1

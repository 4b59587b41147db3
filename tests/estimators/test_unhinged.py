"""The classifier of the paper against hand computation, brute force and exact populations."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import SplineTransformer, StandardScaler

from unflip import UnhingedClassifier
from unflip.moments import Moments, accumulate
from unflip.noise import UniformNoise, flip_labels

VARIANTS = [
    {"center": center, "threshold": threshold, "class_weight": costs, "regularization": lam}
    for center in (True, False)
    for threshold in ("mean", 0.0, 0.7)
    for costs in (None, {0: 2.0, 1: 0.5}, "balanced")
    for lam in (1.0, 3.0)
]


def make_data(n_classes=2, n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    return rng.normal(size=(n_classes, 3))[y] + rng.normal(size=(n, 3)) + [0.0, 2.0, -1.0], y


def test_the_papers_scorer_to_the_last_digit():  # Equation 8
    # Sums of eighths are exact, so the two computations must agree in every bit.
    X, y = make_data()
    X = np.round(8 * X) / 8
    X, y = X[:32], y[:32]
    signs = np.where(y == 1, 1.0, -1.0)
    mean_map = (signs[:, None] * X).sum(axis=0) / 32
    model = UnhingedClassifier(center=False, threshold=0.0, regularization=0.5).fit(X, y)
    assert_array_equal(model.coef_, mean_map / 0.5)
    assert_array_equal(model.decision_function(X), X @ (mean_map / 0.5))
    assert model.intercept_ == 0


def test_the_three_points_of_the_paper_by_hand():  # Appendix G
    # E[y x] = ((1, 2) + (1, -4) - (-1, 1)) / 3 = (1, -1), and the first point is misclassified.
    X, y = [[1.0, 2.0], [1.0, -4.0], [-1.0, 1.0]], [1, 1, -1]
    model = UnhingedClassifier(center=False, threshold=0.0).fit(X, y)
    assert model.coef_.tolist() == [1.0, -1.0]
    assert model.predict(X).tolist() == [-1, 1, -1]


def test_the_centred_binary_scorer_is_the_covariance_with_the_label():
    X, y = make_data()
    signs = 2.0 * y - 1
    mu = X.mean(axis=0)
    w = (signs[:, None] * (X - mu)).mean(axis=0)
    model = UnhingedClassifier().fit(X, y)
    assert_allclose(model.coef_, w, rtol=1e-13)
    assert_allclose(model.decision_function(X), (X - mu) @ w, rtol=1e-10, atol=1e-13)
    assert_allclose(model.decision_function(mu[None]), 0, atol=1e-14)


def test_the_multiclass_scorer_is_one_such_covariance_a_class():
    X, y = make_data(3)
    mu = X.mean(axis=0)
    w = np.array([((y == k)[:, None] * (X - mu)).mean(axis=0) for k in range(3)])
    model = UnhingedClassifier().fit(X, y)
    assert_allclose(model.coef_, w, rtol=1e-12)
    assert_allclose(model.decision_function(X), (X - mu) @ w.T, atol=1e-13)


def test_two_classes_treated_as_several_would_be_classified_alike():
    # The largest of <w_0, .>, <w_1, .> with w_0 + w_1 = 0 is the sign of <w_1 - w_0, .>.
    X, y = make_data()
    model = UnhingedClassifier().fit(X, y)
    means = model.moments_.centered_means
    assert_array_equal(model.predict(X), ((X - X.mean(axis=0)) @ means.T).argmax(axis=1))


def test_the_mean_threshold_puts_zero_at_the_mean_without_centring_too():
    X, y = make_data()
    model = UnhingedClassifier(center=False).fit(X, y)
    assert_allclose(model.decision_function(X.mean(axis=0)[None]), 0, atol=1e-13)
    paper = UnhingedClassifier(center=False, threshold=0.0).fit(X, y)
    assert_allclose(model.coef_, paper.coef_)


def test_a_number_as_threshold_is_subtracted():
    X, y = make_data()
    plain = UnhingedClassifier().fit(X, y).decision_function(X)
    assert_allclose(UnhingedClassifier(threshold=0.3).fit(X, y).decision_function(X), plain - 0.3, atol=1e-14)


def test_regularization_scales_scores_and_changes_no_sign():  # Section 6.2
    X, y = make_data()
    one = UnhingedClassifier().fit(X, y)
    ten = UnhingedClassifier(regularization=10.0).fit(X, y)
    assert_allclose(10 * ten.decision_function(X), one.decision_function(X), rtol=1e-12)
    assert_array_equal(one.predict(X), ten.predict(X))


def test_with_equal_class_sizes_it_is_the_nearest_centroid_classifier():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 4)) + y[:, None]
    assert_array_equal(UnhingedClassifier().fit(X, y).predict(X), NearestCentroid().fit(X, y).predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_leave_one_out_scores_equal_a_refit_without_the_row(variant, n_classes):
    if n_classes == 3 and variant["threshold"] == 0.7:
        variant = variant | {"threshold": "mean"}
    X, y = make_data(n_classes)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    scores = UnhingedClassifier(**variant).fit(X, y, weight).loo_scores(X, y, weight)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        refit = UnhingedClassifier(**variant).fit(X[rest], y[rest], weight[rest])
        assert_allclose(scores[i], refit.decision_function(X[[i]])[0], rtol=1e-10, atol=1e-12)


def test_leave_one_out_of_soft_labels_and_sparse_rows_equals_a_refit():
    X, y = make_data()
    X[np.abs(X) < 0.4] = 0
    soft = np.clip(0.8 * y + 0.1, 0, 1)
    thin = sparse.csr_array(X)
    for variant in ({}, {"center": False}, {"center": False, "threshold": 0.0}):
        scores = UnhingedClassifier(**variant).fit(thin, soft).loo_scores(thin, soft)
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            refit = UnhingedClassifier(**variant).fit(X[rest], soft[rest])
            assert_allclose(scores[i], refit.decision_function(X[[i]])[0], rtol=1e-9, atol=1e-12)


def test_a_model_of_dense_rows_far_from_zero_leaves_out_sparse_rows_alike():
    X, y = make_data()
    X[:, 0] += 1e6
    model = UnhingedClassifier().fit(X, y)
    expected = model.loo_scores(X, y)
    assert_allclose(model.loo_scores(sparse.csr_array(X), y), expected, rtol=1e-9)


def test_leave_one_out_survives_huge_scales_and_offsets():
    X, y = make_data()
    expected = UnhingedClassifier().fit(X, y).loo_scores(X, y)
    for factor in (1e-150, 1e150):
        scores = UnhingedClassifier().fit(X * factor, y).loo_scores(X * factor, y)
        assert_allclose(scores, expected * factor**2, rtol=1e-9)
    shifted = np.round(X * 4) / 4
    expected = UnhingedClassifier().fit(shifted, y).loo_scores(shifted, y)
    assert_allclose(
        UnhingedClassifier().fit(shifted + 1e15, y).loo_scores(shifted + 1e15, y), expected, rtol=1e-9
    )


def test_the_tuned_threshold_has_the_least_leave_one_out_error_of_all_cuts():
    for seed in range(8):
        X, y = make_data(seed=seed)
        weight = np.random.default_rng(seed).uniform(0.2, 2, len(y))
        plain = UnhingedClassifier().fit(X, y, weight).loo_scores(X, y, weight)

        def error(cut, plain=plain, y=y, weight=weight):
            return weight[(plain > cut) != (y == 1)].sum()

        model = UnhingedClassifier(threshold="loo").fit(X, y, weight)
        cuts = np.concatenate([plain + 1e-9, plain - 1e-9])
        assert error(model.threshold_) == pytest.approx(min(map(error, cuts)))
        # loo_scores of the tuned model are those of the plain one, shifted by the threshold.
        assert_allclose(model.loo_scores(X, y, weight), plain - model.threshold_, atol=1e-12)


def test_costs_move_the_tuned_threshold():
    X, y = make_data(n=300)
    cheap = UnhingedClassifier(threshold="loo", class_weight={0: 1.0, 1: 0.01}).fit(X, y)
    dear = UnhingedClassifier(threshold="loo", class_weight={0: 0.01, 1: 1.0}).fit(X, y)
    assert cheap.predict(X).mean() < 0.2 < 0.8 < dear.predict(X).mean()


def test_only_ratios_of_costs_matter_and_a_class_without_cost_is_never_chosen():
    for n_classes in (2, 3):
        X, y = make_data(n_classes)
        one = UnhingedClassifier(class_weight=dict.fromkeys(range(n_classes), 1.0)).fit(X, y)
        seven = UnhingedClassifier(class_weight=dict.fromkeys(range(n_classes), 7.0)).fit(X, y)
        assert_array_equal(one.predict(X), seven.predict(X))
        assert 1 not in UnhingedClassifier(class_weight={1: 0.0}).fit(X, y).predict(X)


def test_a_dearer_class_is_chosen_more_often():
    X, y = make_data(3, n=300)
    shares = [
        np.mean(UnhingedClassifier(class_weight={2: cost}).fit(X, y).predict(X) == 2)
        for cost in (1e-30, 0.1, 0.5, 1.0, 2.0, 10.0, 1e30)
    ]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_costs_follow_their_formula(n_classes):
    # Normal classes of one spread tau: log(c_k P(k)) - |x - mu_k|^2 / (2 tau^2), times tau^2.
    X, y = make_data(n_classes)
    costs = np.array([1.0, 2.0, 0.5])[:n_classes]
    means = np.array([X[y == k].mean(axis=0) for k in range(n_classes)])
    within = np.mean((X - means[y]) ** 2)
    distances = np.sum((X[:, None] - means) ** 2, axis=2)
    expected = within * np.log(costs * np.bincount(y) / len(y)) - distances / 2
    expected = expected - expected[:, [0]]  # what all classes share is left out
    scores = UnhingedClassifier(class_weight=dict(enumerate(costs))).fit(X, y).decision_function(X)
    if n_classes == 2:
        assert_allclose(scores, expected[:, 1], rtol=1e-9, atol=1e-12)
    else:
        assert_allclose(scores - scores[:, [0]], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_costs_make_it_the_nearest_centroid_classifier(n_classes):
    X, y = make_data(n_classes, n=200)
    balanced = UnhingedClassifier(class_weight="balanced").fit(X, y)
    assert_array_equal(balanced.predict(X), NearestCentroid().fit(X, y).predict(X))


def test_balanced_costs_serve_a_rare_class():
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.08).astype(int)
    X = rng.normal(size=(4000, 5)) + 1.5 * y[:, None]
    plain = UnhingedClassifier().fit(X, y).predict(X)
    balanced = UnhingedClassifier(class_weight="balanced").fit(X, y).predict(X)
    assert balanced_accuracy_score(y, balanced) > balanced_accuracy_score(y, plain) + 0.05


def test_bad_costs_are_named():
    X, y = make_data()
    with pytest.raises(ValueError, match="names 'x', which is not among"):
        UnhingedClassifier(class_weight={"x": 1.0}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight of 1 is -2"):
        UnhingedClassifier(class_weight={1: -2}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight of 0 is 'a'"):
        UnhingedClassifier(class_weight={0: "a"}).fit(X, y)
    with pytest.raises(ValueError, match="zero for every class"):
        UnhingedClassifier(class_weight={0: 0, 1: 0}).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_chunks_in_any_order_give_the_same_classifier(n_classes):
    X, y = make_data(n_classes, n=500)
    whole = UnhingedClassifier().fit(X, y)
    for chunks in (1, 7, 100):
        model = UnhingedClassifier()
        for rows in np.array_split(np.random.default_rng(0).permutation(len(y)), chunks):
            model.partial_fit(X[rows], y[rows], classes=np.unique(y))
        assert_allclose(model.coef_, whole.coef_, rtol=1e-12)
        assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e15])
def test_forgetting_equals_never_having_seen(offset):
    X, y = make_data(3, n=300)
    X = np.round(X * 4) / 4 + offset
    gone = np.random.default_rng(4).random(len(y)) < 0.5
    model = UnhingedClassifier().fit(X, y).forget(X[gone], y[gone])
    never = UnhingedClassifier().fit(X[~gone], y[~gone])
    scale = np.abs(never.decision_function(X)).max()
    assert_allclose(model.decision_function(X), never.decision_function(X), atol=1e-12 * scale)
    assert_allclose(model.coef_, never.coef_, rtol=1e-11)


def test_a_model_that_began_with_one_class_can_forget_and_two_classes_stay_two():
    begun = UnhingedClassifier().partial_fit([[0.0], [1.0], [2.0]], [0, 0, 0], classes=[0, 1])
    assert begun.forget([[2.0]], [0]).moments_.counts.tolist() == [2.0, 0.0]
    with pytest.raises(ValueError, match="rows of one class, 0"):
        UnhingedClassifier().fit([[0.0], [1.0], [5.0]], [0, 0, 1]).forget([[5.0]], [1])


def test_rows_one_by_one_far_from_zero_lose_nothing():
    X, y = make_data(n=100)
    X = np.round(X * 4) / 4 + 1e15
    model = UnhingedClassifier()
    for i in range(len(y)):
        model.partial_fit(X[[i]], y[[i]], classes=[0, 1])
    assert_allclose(model.coef_, UnhingedClassifier().fit(X - 1e15, y).coef_, rtol=1e-12)


def test_a_fit_from_merged_and_stored_moments_is_the_fit_from_rows(tmp_path):
    X, y = make_data(3, n=90)
    names = np.array(["ape", "bee", "cat"])[y]
    parts = [accumulate((X[i::3], names[i::3])) for i in range(3)]
    for i, part in enumerate(parts):
        part.save(tmp_path / f"{i}.npz")
    model = UnhingedClassifier().fit_moments(sum(Moments.load(tmp_path / f"{i}.npz") for i in range(3)))
    rows = UnhingedClassifier().fit(X, names)
    assert_allclose(model.decision_function(X), rows.decision_function(X), atol=1e-13)
    assert_array_equal(model.predict(X), rows.predict(X))


def test_moments_of_another_feature_map_are_refused():
    X, y = make_data()
    scaler, other = StandardScaler().fit(X), StandardScaler().fit(X * 2)
    moments = accumulate((X, y), features=scaler)
    assert_allclose(
        UnhingedClassifier(features=scaler).fit_moments(moments).decision_function(X),
        UnhingedClassifier(features=StandardScaler()).fit(X, y).decision_function(X),
        atol=1e-13,
    )
    model = UnhingedClassifier().fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match=r"feature map 'StandardScaler:\w+', this estimator has none"):
        model.fit_moments(moments)
    assert model.coef_ is before
    with pytest.raises(ValueError, match=r"'StandardScaler:\w+', not to 'StandardScaler:\w+'"):
        UnhingedClassifier(features=other).fit_moments(moments)


def test_tuning_without_rows_is_refused_and_its_substitute_named():
    X, y = make_data()
    for call in (
        lambda m: m.partial_fit(X, y),
        lambda m: m.fit_moments(accumulate((X, y))),
        lambda m: m.fit(X, y).forget(X[:1], y[:1]),
    ):
        with pytest.raises(ValueError, match="tune_threshold"):
            call(UnhingedClassifier(threshold="loo"))
    tuned = UnhingedClassifier().partial_fit(X, y).tune_threshold((X, y))
    assert_allclose(tuned.threshold_, UnhingedClassifier(threshold="loo").fit(X, y).threshold_)
    with pytest.raises(ValueError, match="two classes"):
        UnhingedClassifier(threshold="loo").fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match=r"threshold=0\.5 is for two classes"):
        UnhingedClassifier(threshold=0.5).fit(X, np.arange(len(y)) % 3)


def test_a_class_that_has_not_come_yet_is_never_predicted():
    X, y = make_data(2)
    model = UnhingedClassifier().partial_fit(X, y, classes=[0, 1, 2])
    assert set(model.predict(np.vstack([X, -100 * X]))) <= {0, 1}
    single = UnhingedClassifier().partial_fit(X[:3], [1, 1, 1], classes=[0, 1])
    assert set(single.predict(X)) == {1}


def test_noise_moves_the_classifier_only_by_chance():
    # At 40 % uniform noise the noisy direction is, up to its length, the clean one plus an error of order
    # 1 / sqrt(n); a hundred thousand rows leave a cosine above 0.999.
    X, y = make_data(3, n=100_000)
    clean = UnhingedClassifier().fit(X, y).coef_
    noisy = UnhingedClassifier().fit(X, flip_labels(y, UniformNoise(0.4, 3), rng=0)).coef_
    for a, b in zip(clean, noisy, strict=True):
        assert a @ b / np.linalg.norm(a) / np.linalg.norm(b) > 0.999
    assert_allclose(np.linalg.norm(noisy) / np.linalg.norm(clean), 1 - 0.4 * 3 / 2, atol=0.02)


def test_the_papers_scorer_keeps_its_digits_far_from_zero():
    # E[y x] = (n_+ - n_-) / n times the offset plus what integers leave exactly.
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, size=(20, 2)).astype(float), np.repeat([-1, 1], 10)
    far = UnhingedClassifier(center=False, threshold=0.0).fit(X + 1e15, y)
    assert_allclose(far.coef_, (y[:, None] * X).mean(axis=0), rtol=1e-14)


def test_rows_given_again_are_checked_like_rows_to_fit():
    X, y = make_data()
    model = UnhingedClassifier().fit(X, y)
    bad = X.copy()
    bad[3, 1] = np.nan
    before = model.threshold_
    with pytest.raises(ValueError, match="NaN: row 3, column 1"):
        model.tune_threshold((bad, y))
    with pytest.raises(ValueError, match="NaN: row 3, column 1"):
        model.loo_scores(bad, y)
    with pytest.raises(ValueError, match="2 columns, 3 were fitted"):
        model.tune_threshold((X[:, :2], y))
    assert model.threshold_ == before


def test_names_of_columns_survive_moments():
    X, y = make_data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = UnhingedClassifier().fit_moments(accumulate((frame, y)))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["c", "b", "a"]])
    model.partial_fit(frame, y).forget(frame, y)
    assert_allclose(model.coef_, UnhingedClassifier().fit(frame, y).coef_, rtol=1e-9)


def test_a_feature_map_with_a_memory_stays_the_same_map():
    X, y = make_data()
    model = UnhingedClassifier(features=SplineTransformer()).fit(X, y)
    model.predict(X)
    with pytest.warns(
        UserWarning, match="SplineTransformer was fitted to these rows too, and stays as it was"
    ):
        model.forget(X[:3], y[:3])
    again = UnhingedClassifier(features=SplineTransformer().fit(X))
    again.partial_fit(X[:20], y[:20], classes=[0, 1]).partial_fit(X[20:], y[20:])


def test_rows_without_weight_do_not_shape_the_feature_map():
    X, y = make_data()
    extra = np.vstack([X, 100 + 50 * X[:5]])
    weight = np.repeat([1.0, 0.0], [len(y), 5])
    plain = UnhingedClassifier(features=StandardScaler()).fit(X, y)
    zero = UnhingedClassifier(features=StandardScaler()).fit(extra, np.append(y, y[:5]), weight)
    assert_allclose(zero.decision_function(X), plain.decision_function(X), atol=1e-12)

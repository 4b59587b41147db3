"""Rows that are arrays of torch, CuPy or array-api-strict: the classifiers of NumPy, beside the rows."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from unflip import KernelUnhingedClassifier, LossClassifier, SquareClassifier, UnhingedClassifier
from unflip.border.arrays import is_foreign
from unflip.features import Fourier, OrthogonalFourier
from unflip.moments import accumulate
from unflip.sources import arrays, encode

MANY = 20  # classes, more than our kernel for GPUs keeps sums for
MODELS = [
    UnhingedClassifier(),
    UnhingedClassifier(center=False, threshold=0.0),
    UnhingedClassifier(class_weight="balanced"),
    UnhingedClassifier(features=Fourier(40)),
    UnhingedClassifier(features=OrthogonalFourier(40, bandwidth=2.0)),
    UnhingedClassifier(features=StandardScaler()),
    SquareClassifier(),
    SquareClassifier(regularization=0.1),
    SquareClassifier(features=Fourier(40)),
]


def problem(n_classes=2, n=500, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, d)) + rng.normal(size=(n_classes, d))[y], y, rng.random(n)


def agree(found, expected, tolerance=1e-10):
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_and_classes_equal_those_of_numpy_and_stay_beside_the_rows(xp, model, n_classes, weighted):
    if isinstance(model.features, StandardScaler) and not xp.on_host:
        pytest.skip("scikit-learn's scaler converts to NumPy, which works on the host only")
    X, y, w = problem(n_classes)
    expected = clone(model).fit(X, y, w if weighted else None)
    found = clone(model).fit(xp.move(X), xp.move(y), xp.move(w) if weighted else None)
    scores, classes = found.decision_function(xp.move(X)), found.predict(xp.move(X))
    assert xp.owns(scores)
    assert xp.owns(classes)
    assert scores.device == classes.device == xp.move(X).device
    agree(xp.back(scores), expected.decision_function(X))
    assert_array_equal(xp.back(classes), expected.predict(X))
    assert found.score(xp.move(X), xp.move(y)) == expected.score(X, y)
    # Moments are few numbers and live on the host, so a model scores rows of any library.
    agree(found.decision_function(X), expected.decision_function(X))


def test_single_precision_is_summed_in_double(xp):
    # Sums are of the float32 numbers without further rounding, so NumPy's answer for the same numbers is met.
    X, y, _ = problem(n=3000)
    X = (X + 100).astype(np.float32)
    expected, found = UnhingedClassifier().fit(X, y), UnhingedClassifier().fit(xp.move(X), xp.move(y))
    agree(found.moments_.sums, expected.moments_.sums, 1e-14)
    agree(xp.back(found.decision_function(xp.move(X))), expected.decision_function(X))


def test_whole_numbers_are_rows_too(xp):
    X, y, _ = problem()
    X = np.round(3 * X).astype(np.int64)
    agree(UnhingedClassifier().fit(xp.move(X), y).coef_, UnhingedClassifier().fit(X, y).coef_)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1, 1],
        [1, 2],
        [3, 7, 9],
        [0, 1000],
        [False, True],
        [0.0, 1.0],
        list(range(MANY)),
    ],
)
def test_labels_are_encoded_where_they_are(xp, labels):
    X, y, _ = problem(len(labels))
    y = np.array(labels)[y]
    expected, found = encode(y), encode(xp.move(y))
    assert_array_equal(found.classes, expected.classes)
    assert found.classes.dtype == expected.classes.dtype
    assert xp.owns(found.codes)
    assert_array_equal(xp.back(found.codes), expected.codes)
    model = UnhingedClassifier().fit(xp.move(X), xp.move(y))
    assert_array_equal(xp.back(model.predict(xp.move(X))), UnhingedClassifier().fit(X, y).predict(X))


def test_text_stays_on_the_host_and_rows_on_their_device(xp):
    X, y, _ = problem(3)
    y = np.array(["no", "perhaps", "yes"])[y]
    found = UnhingedClassifier().fit(xp.move(X), y)
    classes = found.predict(xp.move(X))
    assert isinstance(classes, np.ndarray)
    assert_array_equal(classes, UnhingedClassifier().fit(X, y).predict(X))
    assert xp.owns(found.decision_function(xp.move(X)))


@pytest.mark.parametrize("model", [UnhingedClassifier(), SquareClassifier()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_soft_labels_are_weighted_pairs(xp, model, weighted):
    X, _, w = problem()
    weight = w[::-1].copy() if weighted else None
    for soft in (
        w,
        w.astype(np.float32),
        np.where(w < 0.9, np.round(w), w),
        np.stack([w / 2, 1 - w, w / 2], 1),
    ):
        expected = clone(model).fit(X, soft, weight)
        for y in (soft, xp.move(soft)):
            found = clone(model).fit(xp.move(X), y, weight if weight is None else xp.move(weight))
            agree(xp.back(found.decision_function(xp.move(X))), expected.decision_function(X))
            agree(found.loo_scores(xp.move(X), y, weight), expected.loo_scores(X, soft, weight))


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [0.25, 1.0], [0.0, 2.0, 7.0], [5, 2**40]])
def test_labels_and_weights_may_lie_elsewhere_than_rows(xp, labels):
    X, y, w = problem(len(labels))
    y = np.array(labels)[y]
    expected = UnhingedClassifier().fit(X, y, w)
    for there in [(X, xp.move(y), xp.move(w)), (xp.move(X), y, xp.move(w)), (xp.move(X), xp.move(y), w)]:
        found = UnhingedClassifier().fit(*there)
        assert_array_equal(found.classes_, expected.classes_)
        agree(xp.back(found.decision_function(xp.move(X))), expected.decision_function(X))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, np.uint32, np.int64, np.float32, bool])
def test_labels_are_of_any_type_of_number(xp, dtype):
    X, y, _ = problem()
    expected = UnhingedClassifier().fit(X, y.astype(dtype))
    found = UnhingedClassifier().fit(xp.move(X), xp.move(y.astype(dtype)))
    assert found.classes_.tolist() == expected.classes_.tolist()
    agree(found.coef_, expected.coef_)


@pytest.mark.parametrize(
    ("labels", "weighted", "waits"), [([0, 1], False, 2), ([-1, 1], False, 3), ([0, 1], True, 3)]
)
def test_a_fit_waits_for_the_device_a_known_number_of_times(labels, weighted, waits):
    """A GPU reads gigabytes meanwhile: one look at the labels, one at the weights, and the sums."""
    torch = pytest.importorskip("torch")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Waits(TorchDispatchMode):
        """Numbers that the host asks for; `to_numpy` is counted besides."""

        scalars = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            Waits.scalars += function is torch.ops.aten._local_scalar_dense.default
            return function(*args, **(kwargs or {}))

    fetched = []

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_name == "to_numpy" and is_foreign(frame.f_locals["X"]):
            fetched.append(frame.f_locals["X"])

    X, y, w = problem()
    given = torch.asarray(X), torch.asarray(np.array(labels)[y]), torch.asarray(w) if weighted else None
    with Waits():
        sys.setprofile(look)
        try:
            UnhingedClassifier().fit(*given)
        finally:
            sys.setprofile(None)
    assert Waits.scalars == 0
    assert len(fetched) == waits + 2  # counts, sums and squares come one by one where there is no Triton


def test_rows_may_come_in_parts_and_go_again(xp):
    X, y, w = problem(3)
    parts = [slice(0, 100), slice(100, 350), slice(350, 500)]
    found, expected = UnhingedClassifier(), UnhingedClassifier()
    for part in parts:
        found.partial_fit(xp.move(X[part]), xp.move(y[part]), [0, 1, 2, 5], xp.move(w[part]))
        expected.partial_fit(X[part], y[part], [0, 1, 2, 5], w[part])
    agree(found.coef_, expected.coef_)
    part = parts[1]
    found.forget(xp.move(X[part]), xp.move(y[part]), xp.move(w[part]))
    agree(found.coef_, expected.forget(X[part], y[part], w[part]).coef_)


def test_leave_one_out_brings_scores_to_the_host_and_leaves_rows(xp):
    X, y, w = problem()
    for model in (UnhingedClassifier(threshold="loo"), UnhingedClassifier(), SquareClassifier()):
        expected, found = clone(model).fit(X, y, w), clone(model).fit(xp.move(X), xp.move(y), xp.move(w))
        agree(found.loo_scores(xp.move(X), xp.move(y), xp.move(w)), expected.loo_scores(X, y, w))
        agree(found.intercept_, expected.intercept_)


def test_rows_far_from_zero_or_huge_or_tiny_keep_their_digits(xp):
    X, y, _ = problem()
    for moved in (X + 1e9, 1e120 * X, 1e-120 * X):
        expected, found = (
            UnhingedClassifier().fit(moved, y),
            UnhingedClassifier().fit(xp.move(moved), xp.move(y)),
        )
        assert found.moments_.unit == expected.moments_.unit
        assert_array_equal(xp.back(found.predict(xp.move(moved))), expected.predict(moved))
        agree(xp.back(found.decision_function(xp.move(moved))), expected.decision_function(moved))


def test_a_giant_among_ordinary_rows_is_found(xp):
    X, y, _ = problem()
    X[301, 2] = 1e200
    agree(accumulate((xp.move(X), xp.move(y))).sums, accumulate((X, y)).sums)
    with pytest.raises(ValueError, match="column 2 is on a scale"):
        UnhingedClassifier().fit(xp.move(X), xp.move(y))


def test_moments_of_sources_are_the_same(xp):
    X, y, w = problem(3)
    expected = accumulate((X, y, w), degree=2)
    for source in ((xp.move(X), xp.move(y), xp.move(w)), arrays(xp.move(X), y, w)):
        found = accumulate(source, degree=2)
        for name in ("counts", "sums", "second", "squares"):
            agree(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("model", [UnhingedClassifier(), SquareClassifier(), UnhingedClassifier(Fourier(9))])
def test_what_is_not_finite_is_named(xp, model, value):
    X, y, _ = problem()
    bad = X.copy()
    bad[123, 4] = value
    with pytest.raises(ValueError, match="row 123, column 4"):
        clone(model).fit(xp.move(bad), xp.move(y))
    fitted = clone(model).fit(xp.move(X), xp.move(y))
    with pytest.raises(ValueError, match="row 123, column 4"):
        fitted.predict(xp.move(bad))


def test_bad_input_is_refused_in_words(xp):
    X, y, w = problem()
    fit = UnhingedClassifier().fit
    with pytest.raises(ValueError, match="Expected 2D array"):
        fit(xp.move(X[:, 0]), xp.move(y))
    with pytest.raises(ValueError, match="Complex data"):
        fit(xp.move(X + 1j), xp.move(y))
    with pytest.raises(ValueError, match="0 sample"):
        fit(xp.move(X[:0]), xp.move(y[:0]))
    with pytest.raises(ValueError, match="inconsistent lengths"):
        fit(xp.move(X), xp.move(y[:-1]))
    with pytest.raises(ValueError, match="one class"):
        fit(xp.move(X), xp.move(0 * y))
    with pytest.raises(ValueError, match="label of row 5 is nan"):
        fit(xp.move(X), xp.move(np.where(np.arange(500) == 5, np.nan, y)))
    with pytest.raises(ValueError, match="Unknown label type"):
        fit(xp.move(X), xp.move(3 * w))
    with pytest.raises(ValueError, match="sample_weight is -1"):
        fit(xp.move(X), xp.move(y), xp.move(np.where(np.arange(500) == 7, -1.0, w)))
    with pytest.raises(ValueError, match="features"):
        fit(xp.move(X), xp.move(y)).predict(xp.move(X[:, 1:]))
    with pytest.raises(ValueError, match="for rows on the host"):
        UnhingedClassifier(summation="exact").fit(xp.move(X), xp.move(y))


def test_estimators_that_work_on_the_host_say_so(xp):
    X, y, _ = problem(n=60)
    for model in (LossClassifier(), KernelUnhingedClassifier()):
        if xp.on_host:
            agree(
                clone(model).fit(xp.move(X), xp.move(y)).decision_function(X),
                clone(model).fit(X, y).decision_function(X),
            )
        else:
            with pytest.raises(TypeError, match="works on the host"):
                clone(model).fit(xp.move(X), xp.move(y))

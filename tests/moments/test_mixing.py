"""What may be added to, or taken from, what: rows far out, medians, moments of no rows."""

import numpy as np
import pytest

from unflip import SquareClassifier
from unflip.features import Standardize
from unflip.moments import Moments, accumulate, median_of_means, robust_moments

N = 400
y = np.arange(N) % 2
side = np.where(y, 1.0, -1.0)


def nearly_equal_columns(rng):
    z = rng.normal(size=N)
    return np.c_[z, z + 1e-4 * (side + 0.3 * rng.normal(size=N))]


def columns_in_other_units(rng):
    return np.c_[1e5 * rng.normal(size=N), side + 0.3 * rng.normal(size=N)]


@pytest.mark.parametrize("table", [nearly_equal_columns, columns_in_other_units])
@pytest.mark.parametrize("way", [(1.0, -1.0), (1.0, 1.0), (0.0, 1.0)])
def test_what_only_a_narrow_direction_tells_is_not_lost_unsaid_with_a_row_far_out(table, way):
    """The classes differ along a direction of little spread, which a large row can drown."""
    X = table(np.random.default_rng(0))
    expected = SquareClassifier().fit(X, y).decision_function(X)
    refused = []
    for far in 10.0 ** np.arange(1, 14):
        row = [np.multiply(far, way)]
        model = SquareClassifier().fit(np.r_[X, row], np.r_[y, 1])
        try:
            found = model.forget(row, [1]).decision_function(X)
        except ValueError:
            refused.append(True)
        else:
            assert np.abs(found - expected).max() <= 1e-4 * np.abs(expected).max()
            refused.append(False)
    assert refused == sorted(refused)  # near rows are given back, far ones refused
    assert set(refused) == {True, False}


@pytest.mark.parametrize("scaled", [False, True])
def test_a_level_of_few_rows_can_be_forgotten_with_all_of_them(scaled):
    """Its column is constant then, with a spread of nothing but rounding, and so it is after a refit."""
    rng = np.random.default_rng(0)
    n = 20_000
    label = (rng.random(n) < 0.4).astype(int)
    level = np.r_[[3] * 2, rng.integers(0, 3, n - 2)]
    X = 0.7 * np.c_[rng.normal(size=n) + label, np.eye(4)[level]]
    model = SquareClassifier(features=Standardize().fit(X) if scaled else None)
    fresh = model.partial_fit(X[2:], label[2:]).decision_function(X)
    again = SquareClassifier(features=model.features).partial_fit(X, label).forget(X[:2], label[:2])
    assert again.decision_function(X[2:]) == pytest.approx(fresh[2:], abs=1e-8)


def test_medians_stay_medians_next_to_moments_of_no_rows():
    X = np.random.default_rng(0).normal(size=(N, 2))
    plain, robust = accumulate((X, y)), robust_moments((X, y), outliers=3)
    nothing = Moments.zero(2, plain.key)
    for same in (nothing + robust, robust + nothing, robust - nothing):
        assert same.outliers == 3
        with pytest.raises(ValueError, match="neither add up nor lose rows"):
            same + plain
        with pytest.raises(ValueError, match="neither add up nor lose rows"):
            plain - same


def test_medians_of_medians_are_refused():
    X = np.random.default_rng(0).normal(size=(N, 2))
    with pytest.raises(ValueError, match="already medians"):
        median_of_means([robust_moments((X, y), outliers=3)] * 5)


@pytest.mark.parametrize("copy", [lambda a: a.round(5), lambda a: a.astype(np.float32)])
def test_a_level_can_be_forgotten_beside_a_column_and_its_copy(copy):
    """Their difference is as narrow for a refit, so nothing was lost with the rows of the level."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=N)
    rare, label = np.arange(N) < 5, (a + rng.normal(size=N) > 0).astype(int)
    X = np.c_[a, copy(a), rare]
    fresh = SquareClassifier().fit(X[~rare], label[~rare]).decision_function(X[~rare])
    model = SquareClassifier().partial_fit(X, label).forget(X[rare], label[rare])
    assert model.decision_function(X[~rare]) == pytest.approx(fresh, abs=1e-8)


def test_rows_that_kept_the_origin_at_zero_are_not_forgotten_unsaid():
    """Times in seconds with zeros for unknown: about zero, the times that stay have lost their digits."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=N)
    label = (z + 0.3 * rng.normal(size=N) > 0).astype(int)
    X = np.c_[1.7e9 + 60 * z, 1e6 * rng.normal(size=N)]
    unknown, some = np.zeros((10, 2)), np.arange(10) % 2
    model = SquareClassifier().partial_fit(np.r_[X, unknown], np.r_[label, some])
    with pytest.raises(ValueError, match=r"too few digits are left of the rest; fit the rest anew$"):
        model.forget(unknown, some)


@pytest.mark.parametrize("seed", range(10))
def test_rows_whose_spread_is_rounded_to_zero_are_not_taken_for_equal(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=N)
    X, label = (5000 + 5e-6 * z)[:, None], (z > 0).astype(int)
    near_zero, some = 5 * rng.normal(size=(30, 1)), np.arange(30) % 2
    model = SquareClassifier(regularization=0.0).partial_fit(np.r_[X, near_zero], np.r_[label, some])
    with pytest.raises(ValueError, match="too few digits"):
        model.forget(near_zero, some)


@pytest.mark.parametrize(
    ("place", "spread"), [(0.0, 1e-300), (0.0, 1e150), (-1e150, 1e140), (1e-290, 1e-300)]
)
def test_rows_of_any_size_are_forgotten_without_a_warning(place, spread):
    X = place + spread * (np.random.default_rng(0).normal(size=(N, 2)) + side[:, None])
    fresh = SquareClassifier().fit(X[20:], y[20:])
    model = SquareClassifier().fit(X, y).forget(X[:20], y[:20])
    assert model.predict(X).tolist() == fresh.predict(X).tolist()


def test_a_column_that_is_the_same_far_away_is_forgotten_without_a_warning():
    X = np.c_[np.full(N, 1e200), side + np.random.default_rng(0).normal(size=N)]
    fresh = SquareClassifier().fit(X[20:], y[20:])
    model = SquareClassifier().fit(X, y).forget(X[:20], y[:20])
    assert model.predict(X).tolist() == fresh.predict(X).tolist()

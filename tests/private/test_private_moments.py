"""Private sums: what a row can move is bounded exactly, what is spent is what OpenDP says, and it adds up."""

import math
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from unflip import SquareClassifier, UnhingedClassifier
from unflip.features import Columns, Fourier, Nystroem, OneHot, Standardize
from unflip.moments import Moments, accumulate, median_of_means
from unflip.moments.privacy import LEAST_RHO, MOST_RHO, Budget, epsilon_of, epsilon_of_gaussian, opendp
from unflip.private import private_moments
from unflip.private import sums as private_sums
from unflip.private.clip import Clipped

HARSH = {"epsilon": 50.0, "delta": 1e-3}  # so little noise that sums are nearly plain


def rows(n=4000, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, d)) + y[:, None], y


@pytest.fixture
def no_noise(monkeypatch):
    """What the noise is added to."""

    class Nothing:
        def __call__(self, vector):
            return vector

        def map(self, sensitivity):
            return 0.5

    monkeypatch.setattr(private_sums, "gaussian", lambda scale: Nothing())


@pytest.mark.parametrize("bound", [1.0, 2.5, 1e-80, 3e70])
def test_no_row_is_longer_than_the_bound_in_whole_numbers(bound):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 7)) * np.exp(rng.normal(0, 30, (500, 1)))
    X[0], X[1], X[2] = 0.0, 1e300, 5e-324
    clipped = Clipped(Columns(7), bound)
    steps = clipped.transform(X) / clipped.step
    whole = [[int(number) for number in row] for row in steps.tolist()]
    assert (steps == np.array(whole, dtype=np.float64)).all()
    longest = max(sum(number * number for number in row) for row in whole)
    assert longest <= clipped.largest**2 <= (bound / clipped.step) ** 2
    assert longest > 0.999 * clipped.largest**2  # giants are scaled down to the bound, not below
    with np.errstate(over="ignore"):
        short = np.linalg.norm(X, axis=1) < bound
    assert_allclose(clipped.transform(X)[short], X[short], rtol=0, atol=clipped.step)


def test_a_row_moves_the_sums_by_no_more_than_the_sensitivity(no_noise, monkeypatch):
    asked = []

    def keep(epsilon, delta, sensitivity):
        asked.append(sensitivity)
        return 10 * sensitivity

    monkeypatch.setattr(private_sums, "smallest_scale", keep)
    monkeypatch.setattr(private_sums, "_within", lambda sums, radius: sums)
    X, y = rows(60)
    worst = 0.0
    for out in range(60):
        moved = []
        for kept in (np.arange(60), np.delete(np.arange(60), out)):
            found = private_moments((X[kept], y[kept]), 1.0, 1e-6, bound=1.5, classes=[0, 1])
            step, per_row = Clipped(Columns(3), 1.5).step, Clipped(Columns(3), 1.5).largest // 2
            moved.append(np.column_stack([found.sums / step, found.counts * per_row]))
        worst = max(worst, float(np.linalg.norm(moved[0] - moved[1])))
    assert 0.99 * asked[0] < worst <= asked[0]  # rows longer than the bound reach it


def test_without_noise_the_sums_are_those_of_clipped_rows(no_noise):
    X, y = rows()
    found = private_moments((X, y), **HARSH, bound=2.0)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    truth = accumulate((X * np.minimum(1, 2.0 / norms), y))
    assert_allclose(found.sums, truth.sums, atol=4000 * 2.0**-24)
    assert found.counts.tolist() == truth.counts.tolist()
    assert found.key == truth.key


@pytest.mark.parametrize("kind", ["batches", "sparse", "frame", "parquet"])
def test_any_source_has_the_same_sums(kind, no_noise, tmp_path):
    pd = pytest.importorskip("pandas")
    from unflip.sources import parquet

    X, y = rows(300)
    frame = pd.DataFrame(X, columns=list("abc"))
    sources = {
        "batches": lambda: ((X[i : i + 7], y[i : i + 7]) for i in range(0, 300, 7)),
        "sparse": lambda: (sparse.csr_matrix(X), y),
        "frame": lambda: (frame, y),
    }
    if kind == "parquet":
        frame.assign(y=y).to_parquet(tmp_path / "rows.parquet", index=False)
        source = parquet(tmp_path / "rows.parquet", target="y")
    else:
        source = sources[kind]()
    found = private_moments(source, **HARSH, bound=2.0)
    assert found.sums.tolist() == private_moments((X, y), **HARSH, bound=2.0).sums.tolist()


def test_features_that_are_fixed_in_advance(no_noise):
    X, y = rows(500)
    other = rows(200, seed=5)[0]
    for features in (Standardize().fit(other), Fourier(20).fit(other), OneHot().fit(other[:, :1].round())):
        given = X if features.n_features_in_ == 3 else X[:, :1].round()
        found = private_moments((given, y), **HARSH, bound=1.0, features=features)
        model = UnhingedClassifier(features=features).fit_moments(found)
        assert model.predict(given).shape == (500,)
    with pytest.raises(ValueError, match="private sums are for raw columns and for Standardize"):
        private_moments((X, y), **HARSH, bound=1.0, features=Nystroem(5).fit(other))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-5])
def test_what_is_stated_is_what_opendp_says(epsilon, delta):
    """The mechanism is put together again here, of OpenDP's parts, with the sensitivity in closed form."""
    dp = private_sums.gaussian.__globals__["opendp"]()
    X, y = rows(500)
    found = private_moments((X, y), epsilon, delta, bound=1.0).privacy
    clipped = Clipped(Columns(3), 1.0)
    sensitivity = math.hypot(clipped.largest // 2, clipped.largest)
    scale = private_sums.smallest_scale(epsilon, delta, math.nextafter(sensitivity, math.inf))
    measurement = dp.m.make_gaussian(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64"), scale=scale
    )
    own = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta).map(sensitivity)
    assert own[0] <= found.epsilon <= epsilon
    assert found.epsilon > 0.99 * epsilon  # and no more noise than is needed
    assert found.rho >= measurement.map(sensitivity)


@pytest.mark.slow
def test_the_noise_is_as_large_as_the_scale_says():
    X, y = np.zeros((100, 50)), np.arange(100) % 2
    found = [private_moments((X, y), 1.0, 1e-5, bound=10.0) for _ in range(60)]
    noise = np.concatenate([moments.sums.ravel() for moments in found])
    clipped = Clipped(Columns(50), 10.0)
    sensitivity = math.hypot(clipped.largest // 2, clipped.largest)
    scale = private_sums.smallest_scale(1.0, 1e-5, sensitivity) * clipped.step
    assert 0.95 < np.sqrt(np.mean(noise**2)) / scale < 1.05  # 6000 numbers: five standard errors of 1 %


def test_releases_add_up_and_stay_in_the_file(tmp_path):
    X, y = rows(500)
    one, two = (private_moments((X, y), 0.5, 1e-6, bound=2.0) for _ in range(2))
    both = one + two
    assert both.privacy.rho == one.privacy.rho + two.privacy.rho
    assert both.privacy.releases == 2
    assert 0.5 < both.privacy.epsilon < 1.0  # less than the plain sum: concentrated privacy composes better
    both.save(tmp_path / "private.npz")
    assert Moments.load(tmp_path / "private.npz").privacy == both.privacy
    nothing = Moments.zero(3, one.key)
    assert (nothing + one).privacy == (one + nothing).privacy == one.privacy
    with pytest.raises(ValueError, match=r"clipped to 2 and to 1; use the same bound"):
        one + private_moments((X, y), 0.5, 1e-6, bound=1.0)


def test_plain_rows_neither_come_in_nor_go_out():
    X, y = rows(500)
    private, plain = private_moments((X, y), 1.0, 1e-6, bound=2.0), accumulate((X, y))
    for mixture in (lambda: private + plain, lambda: plain + private):
        with pytest.raises(ValueError, match="private and plain sums do not mix"):
            mixture()
    with pytest.raises(ValueError, match="rows cannot be taken out of private sums"):
        private - accumulate((X[:1], y[:1]))
    model = UnhingedClassifier().fit_moments(private)
    with pytest.raises(ValueError, match="do not mix"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="rows cannot be taken out"):
        model.forget(X[:1], y[:1])
    with pytest.raises(ValueError, match="degree"):
        SquareClassifier().fit_moments(private)


def test_moments_of_no_rows_add_nothing_and_hide_nothing():
    X, y = rows(100)
    private, plain = private_moments((X, y), 1.0, 1e-6, bound=2.0), accumulate((X, y))
    exact = accumulate((X, y), summation="exact")
    for some in (private, plain):
        for total in (some + (exact - exact), (exact - exact) + some):
            assert total.sums.tolist() == some.sums.tolist()
            assert total.privacy == some.privacy
    with pytest.raises(ValueError, match="private sums have no median of means"):
        median_of_means([private])


def test_no_rows_at_all_are_released_like_any_others():
    """A table of no rows and one of one row are neighbours: an error would tell them apart."""
    X, y = rows(10)
    waves = Fourier(8, bandwidth=1.0).fit(X)
    found = private_moments((X[:0], y[:0]), 1.0, 1e-6, bound=1.0, features=waves, classes=[0, 1])
    assert found.sums.shape == (2, 8)
    parts = iter([(X[:5], y[:5]), (X[:0], y[:0]), (X[5:], y[5:])])
    assert accumulate(parts, waves, summation="exact").total == 10


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.01), (1e-6, 1e-5), (0.1, 0.1)])
def test_extreme_budgets_are_kept_in_files(epsilon, delta, tmp_path):
    X, y = rows(50)
    found = private_moments((X, y), epsilon, delta, bound=1.0)
    assert found.privacy.epsilon <= epsilon
    found.save(tmp_path / "m.npz")
    assert Moments.load(tmp_path / "m.npz").privacy == found.privacy


def test_a_class_that_is_nearly_empty_still_has_a_row():
    X, y = np.ones((50, 2)), np.zeros(50, dtype=int)
    found = private_moments((X, y), 1.0, 1e-6, bound=2.0, classes=[0, 1])
    assert found.classes == (0, 1)
    assert (found.counts >= 1).all()
    assert (np.linalg.norm(found.sums, axis=1) <= 2.0 * found.counts * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilon": 1e-17}, "epsilon is a number between"),
        ({"epsilon": math.nan}, "epsilon is a number between"),
        ({"epsilon": "1"}, "epsilon is a number between .* got '1'"),
        ({"epsilon": None}, "epsilon is a number between .* got None"),
        ({"epsilon": 10**400}, "epsilon is a number between"),
        ({"delta": "x"}, "delta is a number between .* got 'x'"),
        ({"bound": [1.0]}, "the bound on rows is a number between"),
        ({"delta": 0.0}, "delta is a number between"),
        ({"delta": 1e-310}, "delta is a number between"),
        ({"bound": -1.0}, "the bound on rows is a number between"),
        ({"bound": math.inf}, "the bound on rows is a number between"),
        ({"classes": [0]}, "label 1 is not among the classes"),
        ({"classes": 2}, "classes is a list of all labels there may be, .* got 2"),
        ({"classes": [0, 1, None]}, "classes is a list of all labels"),
        ({"classes": [0, 1, math.nan]}, "classes is a list of all labels"),
        ({"source": (np.ones((2, 1)), [0, 1], [1.0, 2.0])}, "leave the weights out"),
        ({"source": (np.ones((2, 1)), [0.3, 0.6])}, "not probabilities"),
        ({"source": (np.array([[1.0], [np.nan]]), [0, 1])}, "row 1, column 0"),
        ({"source": (np.array([[1.0], [np.inf]]), [0, 1])}, "row 1, column 0"),  # and no warning before it
        (
            {"source": (np.array([[1.0], [np.inf]]), [0, 1]), "features": Fourier(4).fit([[0.0], [1.0]])},
            "row 1, column 0",
        ),
        ({"source": iter([])}, "no rows"),
    ],
)
def test_what_cannot_be_released(change, said):
    ways = {"source": (np.ones((4, 1)), [0, 1, 0, 1]), "epsilon": 1.0, "delta": 1e-6, "bound": 1.0} | change
    with pytest.raises(ValueError, match=said):
        private_moments(**ways)


@pytest.mark.parametrize(
    "facts",
    [
        None,
        {"epsilon": 1.0},
        {"epsilon": "1", "delta": 1e-6, "rho": 0.1, "bound": 1.0, "releases": 1},
        {"epsilon": 1.0, "delta": 2.0, "rho": 0.1, "bound": 1.0, "releases": 1},
        {"epsilon": 1.0, "delta": 1e-6, "rho": math.inf, "bound": 1.0, "releases": 1},
        {"epsilon": math.nan, "delta": 1e-6, "rho": 0.1, "bound": 1.0, "releases": 1},
        {"epsilon": 1.0, "delta": 1e-6, "rho": 0.1, "bound": 1.0, "releases": 0},
        {"epsilon": 0.0, "delta": 1e-5, "rho": 1e300, "bound": 1.0, "releases": 1},
        {"epsilon": 1e305, "delta": 1e-5, "rho": 1e300, "bound": 1.0, "releases": 1},
        {"epsilon": 1.0, "delta": 1e-5, "rho": 1e-320, "bound": 1.0, "releases": 1},
    ],
)
def test_forged_budgets_are_refused(facts):
    with pytest.raises(ValueError, match="no budget of privacy"):
        Budget.from_facts(facts)


@pytest.mark.parametrize(
    ("epsilon", "rho", "delta"), [(1e-9, 50.0, 1e-5), (0.0, 0.02, 1e-6), (0.8, 0.02, 1e-6)]
)
def test_an_epsilon_that_is_too_small_for_its_rho_is_refused_in_a_file(
    epsilon, rho, delta, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)  # files are read without the extra
    opendp.cache_clear()
    sound = replace(accumulate(rows(50)), privacy=Budget(100.0, delta, rho, 1.0))
    sound.save(tmp_path / "sound.npz")
    assert Moments.load(tmp_path / "sound.npz").privacy == sound.privacy
    replace(sound, privacy=replace(sound.privacy, epsilon=epsilon)).save(tmp_path / "forged.npz")
    with pytest.raises(
        ValueError, match=rf"forged.npz does not hold moments: the epsilon .* than {epsilon:g}"
    ):
        Moments.load(tmp_path / "forged.npz")


@pytest.mark.parametrize("rho", [LEAST_RHO, 1e-15, 1e-6, 0.02, 1.0, 100.0, MOST_RHO])
@pytest.mark.parametrize("delta", [1e-100, 1e-12, 1e-5, 0.1, 0.99])
def test_every_epsilon_of_opendp_is_taken_back_from_a_file(rho, delta):
    budget = Budget.of(rho, delta, bound=1.0)
    assert Budget.from_facts(budget.as_facts()) == budget


@pytest.mark.parametrize(
    ("rho", "delta"), [(0.0, 1e-5), (1e5, 1e-5), (math.nan, 1e-5), (0.1, 0.0), (0.1, 1.5)]
)
def test_a_rho_without_an_epsilon_is_refused(rho, delta):
    with pytest.raises(ValueError, match=r"beyond which nothing is private .* got"):
        Budget.of(rho, delta, bound=1.0)


def test_two_budgets_that_are_too_much_together_are_refused():
    much = Budget.of(MOST_RHO, 1e-5, bound=1.0)
    with pytest.raises(ValueError, match="take fewer releases"):
        much + much


def test_epsilon_falls_below_the_textbook_bound_and_grows_with_rho():
    previous = 0.0
    for rho in (1e-4, 1e-2, 0.5, 5.0):
        epsilon = epsilon_of(rho, 1e-6)
        assert previous < epsilon <= rho + 2 * math.sqrt(rho * math.log(1e6))
        previous = epsilon
    assert epsilon_of(0.5, 1e-6) == pytest.approx(epsilon_of_gaussian(1.0, 1.0, 1e-6))


def test_a_threshold_is_not_tuned_on_the_rows_that_are_hidden():
    hidden = rows(200)
    model = UnhingedClassifier().fit_moments(private_moments(hidden, 1.0, 1e-5, 3.0))
    before = model.threshold_
    with pytest.raises(ValueError, match="tuned on rows would tell of them"):
        model.tune_threshold(hidden)
    assert model.threshold_ == before


def test_numbers_of_any_type_are_saved_and_classes_may_be_a_set(tmp_path):
    found = private_moments(rows(50), np.float32(1.0), np.float32(1e-5), np.int64(3), classes={0, 1, 2})
    found.save(tmp_path / "m.npz")
    assert Moments.load(tmp_path / "m.npz").privacy == found.privacy
    assert found.classes == (0, 1, 2)


@pytest.mark.parametrize("k", [2, 10])
def test_several_rows_cost_what_opendp_says_of_so_many_times_the_sensitivity(k):
    scale, sensitivity = private_sums.smallest_scale(1.0, 1e-5, 100.0), 100.0
    one = Budget.of((sensitivity / scale) ** 2 / 2, 1e-5, bound=1.0)
    assert one.for_rows(k).epsilon == pytest.approx(
        epsilon_of_gaussian(scale, k * sensitivity, 1e-5), rel=1e-9
    )


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, np.uint16])
def test_rows_are_counted_in_integers_of_any_type(kind):
    one = Budget.of(0.02, 1e-6, bound=1.0)
    assert one.for_rows(kind(17)) == one.for_rows(17)  # 17^2 is more than eight bits hold
    assert one.for_rows(kind(1)) == one


@pytest.mark.parametrize(
    "k", [0, -1, 2.5, "2", None, pytest.param(10**200, id="10^200"), math.nan, np.int8(-3)]
)
def test_what_is_no_number_of_rows_has_no_cost(k):
    with pytest.raises(
        ValueError, match=f"k is a whole number of rows from 1 to .* got {re.escape(repr(k))}"
    ):
        Budget.of(0.02, 1e-6, bound=1.0).for_rows(k)


def test_so_many_rows_that_nothing_is_private_are_refused():
    with pytest.raises(ValueError, match=r"take fewer .* got 2e\+16"):
        Budget.of(0.02, 1e-6, bound=1.0).for_rows(10**9)

"""One battery for every loss: adding a member to LOSSES is all it takes.

The reference values come from the paper's formulas in 1300-digit arithmetic (1 - v + sqrt(1 + v^2)
at v = 1e300 cancels 600 of them), not from the library's own stable forms.
"""

from fractions import Fraction
from functools import cache

import array_api_strict as strict
import mpmath
import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from unflip import losses
from unflip.losses import (
    Exponential,
    Hinge,
    Logistic,
    Ramp,
    Sigmoid,
    Square,
    SquaredHinge,
    TangentBoost,
    TLogistic,
    Unhinged,
    WeightedUnhinged,
    ZeroOne,
    noise_corrected,
)

PLAIN = [
    ZeroOne(),
    Hinge(),
    SquaredHinge(),
    Logistic(),
    Exponential(),
    Square(),
    TLogistic(),
    TangentBoost(),
    Unhinged(),
    WeightedUnhinged(0.25),
    WeightedUnhinged(0.5),
    Sigmoid(),
    Ramp(),
]
CORRECTED = [noise_corrected(loss, rate) for loss in PLAIN for rate in (1e-9, 0.2, 0.49)]
LOSSES = PLAIN + CORRECTED

SCORES = np.array([-3.0, -1.5, -1.0, -0.75, -0.1, 0.0, 0.3, 0.9, 1.0, 1.25, 4.0])
ROOT = 0.5463024898437905  # tan(1/2), where TangentBoost vanishes
LARGE = [0.0, 1e-300, 1e-20, 1e-8, 0.1, ROOT, ROOT + 1e-9, 1.0, 2.0, 30.0, 300.0, 700.0, 705.0]
LARGE += [1e3, 1e8, 1e15, 1e90, 1e102, 1.3e154, 1.5e154, 1e160, 1e300]
BENDS = [
    -0.4320408003330958,
    -0.5132473179249821,
    1.2555733424472708,
]  # no curvature: t-logistic, TangentBoost
LARGE += [root + gap for root in BENDS for gap in (-1e-3, -1e-9, 0.0, 1e-15, 1e-6)]
LARGE += [*np.random.default_rng(0).uniform(0, 5, 8), *np.random.default_rng(1).lognormal(0, 5, 8)]
EXTREME = np.concatenate([LARGE, np.negative(LARGE)])
KINKS = np.array([-1.0, 0.0, 1.0])


# The paper's formulas, their first and their second derivative in v, y v = m.


@cache  # a loss and its corrections need the same, at the digits that v asks for
def _plain(loss, order, y, v):
    m = y * v
    name = type(loss).__name__
    if name == "ZeroOne":
        return [mpmath.mpf(1) if m < 0 else mpmath.mpf(0) if m > 0 else mpmath.mpf(1) / 2, 0, 0][order]
    if name == "Hinge":
        return [max(0, 1 - m), -y if m < 1 else 0, 0][order]
    if name == "SquaredHinge":
        return [max(0, 1 - m) ** 2, -2 * y * max(0, 1 - m), 2 if m < 1 else 0][order]
    if name == "Ramp":
        return [min(max((1 - m) / 2, 0), 1), -mpmath.mpf(y) / 2 if -1 <= m < 1 else 0, 0][order]
    if name == "Unhinged":
        return [1 - m, -y, 0][order]
    if name == "WeightedUnhinged":
        cost = mpmath.mpf(loss.cost) if y < 0 else 1 - mpmath.mpf(loss.cost)
        return [-cost * m, -cost * y, 0][order]
    if name == "Square":
        return [(1 - m) ** 2, -2 * y * (1 - m), 2][order]
    if name == "Exponential":
        return [mpmath.exp(-m), -y * mpmath.exp(-m), mpmath.exp(-m)][order]
    if name == "Logistic":
        p = 1 / (1 + mpmath.exp(m))
        return [mpmath.log1p(mpmath.exp(-m)), -y * p, p * (1 - p)][order]
    if name == "Sigmoid":
        p = 1 / (1 + mpmath.exp(m))
        return [p, -y * p * (1 - p), p * (1 - p) * (1 - 2 * p)][order]
    if name == "TLogistic":
        s = mpmath.sqrt(1 + v * v)
        inner, slope = 1 - m + s, v / s - y
        return [mpmath.log(inner), slope / inner, 1 / s**3 / inner - (slope / inner) ** 2][order]
    if name == "TangentBoost":
        t = 2 * mpmath.atan(m) - 1
        return [t * t, y * 4 * t / (1 + m * m), (8 - 8 * m * t) / (1 + m * m) ** 2][order]
    raise AssertionError(f"no reference for {name}")


def reference(loss, order, y, v):
    """Equation 4 for corrected losses, the formula itself for the others."""
    # Tails cancel hundreds of digits, moderate scores few; the battery is slow enough.
    with mp.workdps(100 if 1e-20 < abs(v) < 50 else 1300):
        return _reference(loss, order, y, mpmath.mpf(float(v)))


def _reference(loss, order, y, v):
    if hasattr(loss, "rate"):
        rho = mpmath.mpf(loss.rate)
        here, there = _plain(loss.loss, order, y, v), _plain(loss.loss, order, -y, v)
        return ((1 - rho) * here - rho * there) / (1 - 2 * rho)
    return _plain(loss, order, y, v)


def assert_accurate(got, true, what):
    limit = mpmath.mpf(np.finfo(float).max)
    if abs(true) > limit:
        assert got == (np.inf if true > 0 else -np.inf), what
    elif abs(true) < 1e-307:  # below the normal numbers digits are lost by definition
        assert abs(got) < 2e-307, what
    else:
        assert abs(mpmath.mpf(got) - true) <= 1e-12 * abs(true), (what, got, mpmath.nstr(true, 17))


@pytest.fixture(autouse=True, scope="module")
def _many_digits():
    with mp.workdps(1300):
        yield


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_values_and_derivatives_have_twelve_digits_at_every_score(loss, order):
    function = [loss.value, loss.derivative, loss.second_derivative][order]
    for y in (-1, 1):
        for v, got in zip(EXTREME, function(y, EXTREME), strict=True):
            assert_accurate(got, reference(loss, order, y, v), (order, y, v))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_even_and_odd_parts_have_twelve_digits_at_every_score(loss):  # Equation 4
    for v, even, odd in zip(EXTREME, loss.even(EXTREME), loss.odd(EXTREME), strict=True):
        plus, minus = reference(loss, 0, +1, v), reference(loss, 0, -1, v)
        assert_accurate(even, (plus + minus) / 2, ("even", v))
        assert_accurate(odd, (plus - minus) / 2, ("odd", v))


HAND = [  # computed on paper, to ten digits where irrational
    (ZeroOne(), 1, -2.0, 1.0),
    (ZeroOne(), -1, 0.0, 0.5),
    (Hinge(), 1, -1.0, 2.0),
    (Hinge(), -1, -3.0, 0.0),
    (SquaredHinge(), 1, -1.0, 4.0),
    (Logistic(), 1, 0.0, 0.6931471806),
    (Logistic(), -1, 2.0, 2.1269280110),
    (Exponential(), -1, 1.0, 2.7182818285),
    (Square(), -1, 3.0, 16.0),
    (TLogistic(), 1, 0.0, 0.6931471806),
    (TLogistic(), 1, 0.75, 0.4054651081),  # log(1 - 3/4 + 5/4)
    (TLogistic(), 1, -0.75, 1.0986122887),  # log 3
    (TangentBoost(), 1, 0.0, 1.0),
    (TangentBoost(), 1, 1.0, 0.3258084467),  # (pi/2 - 1)^2
    (Unhinged(), 1, 3.0, -2.0),
    (Unhinged(), -1, 3.0, 4.0),
    (WeightedUnhinged(0.25), 1, 2.0, -1.5),
    (WeightedUnhinged(0.25), -1, 2.0, 0.5),
    (Sigmoid(), 1, 0.0, 0.5),
    (Ramp(), 1, 0.5, 0.25),
    (noise_corrected(Hinge(), 0.2), 1, 2.0, -1.0),  # (0.8 * 0 - 0.2 * 3) / 0.6
    (noise_corrected(Square(), 0.25), 1, 1.0, -2.0),  # (0.75 * 0 - 0.25 * 4) / 0.5
]


@pytest.mark.parametrize(("loss", "y", "v", "expected"), HAND)
def test_hand_computed_values(loss, y, v, expected):  # Proposition 4
    assert loss.value(y, v) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("y", [-1, 1])
def test_derivatives_are_the_slopes_of_what_they_derive(loss, y):
    away_from_kinks = np.array(
        [v for v in np.linspace(-4, 4, 37) if np.min(np.abs(v - np.array(KINKS))) > 1e-3]
    )
    h = 1e-5
    for function, slope in [(loss.value, loss.derivative), (loss.derivative, loss.second_derivative)]:
        central = (function(y, away_from_kinks + h) - function(y, away_from_kinks - h)) / (2 * h)
        scale = 1 + np.abs(central) + np.abs(function(y, away_from_kinks))
        assert np.all(np.abs(central - slope(y, away_from_kinks)) <= 1e-8 * scale)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("rho", [0.0, 0.2, 0.49])
def test_noise_shrinks_the_odd_part_and_spares_the_even_part(loss, rho):  # Proposition 3
    noisy = (1 - rho) * loss.value(+1, SCORES) + rho * loss.value(-1, SCORES)
    assert_allclose(noisy, loss.even(SCORES) + (1 - 2 * rho) * loss.odd(SCORES), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_conditional_risk_is_the_average_over_labels_and_never_nan(loss):
    for eta in [0.0, 0.3, 0.5, 1.0]:
        average = eta * loss.value(+1, SCORES) + (1 - eta) * loss.value(-1, SCORES)
        assert_allclose(loss.conditional_risk(eta, SCORES), average, rtol=1e-12, atol=1e-12)
        assert not np.isnan(loss.conditional_risk(eta, EXTREME)).any()
    assert_allclose(loss.conditional_risk(1.0, SCORES), loss.value(+1, SCORES), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("loss", PLAIN, ids=repr)
@pytest.mark.parametrize("eta", [1e-300, 1e-17, 0.3, 0.5, 0.9])
def test_conditional_risk_has_twelve_digits_at_every_score(loss, eta):  # Equation 12
    scores = np.append(EXTREME, [1e16, -1e16, 0.999999999, -0.999999999, -1.000000001])
    for v, got in zip(scores, loss.conditional_risk(eta, scores), strict=True):
        p = mpmath.mpf(eta)
        true = p * reference(loss, 0, +1, v) + (1 - p) * reference(loss, 0, -1, v)
        if not (needs_long_doubles(loss, v) and np.finfo(np.longdouble).maxexp == 1024):
            assert_accurate(got, true, ("risk", eta, v))


def needs_long_doubles(loss, v):
    return np.isinf(np.max([loss.value(1, v), loss.value(-1, v)]))


OVERFLOWS = [  # a term is beyond float64, their sum is not (or has a sign)
    (noise_corrected(SquaredHinge(), 1e-8), 1e155),
    (noise_corrected(Exponential(), 1e-18), 745.0),
    (noise_corrected(Exponential(), 1e-18), -745.0),
    (noise_corrected(Square(), 0.4999999999999999), 1e300),
]


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp == 1024, reason="long doubles are doubles here")
@pytest.mark.parametrize(("loss", "v"), OVERFLOWS, ids=repr)
def test_infinity_appears_only_where_the_true_value_overflows(loss, v):
    for order, function in enumerate([loss.value, loss.derivative, loss.second_derivative]):
        for y in (-1, 1):
            assert_accurate(function(y, v), reference(loss, order, y, v), (order, y, v))


@pytest.mark.parametrize("loss", PLAIN, ids=repr)
@pytest.mark.parametrize("rate", [0.4999999, 0.4999999999999])
def test_derivatives_keep_their_digits_at_rates_near_one_half(loss, rate):
    corrected = noise_corrected(loss, rate)
    for order, function in [(1, corrected.derivative), (2, corrected.second_derivative)]:
        for v in [1e-12, 3e-7, 1e-3, 0.3, 3.7, 1e16]:
            for y in (-1, 1):
                true = reference(corrected, order, y, v)
                assert_accurate(function(y, v), true, (order, y, v))


def test_corrections_can_be_corrected_again():
    # Rates r and s make one of r + s - 2 r s, since 1 - 2 rate multiplies.
    twice, once = noise_corrected(noise_corrected(TLogistic(), 0.1), 0.2), noise_corrected(TLogistic(), 0.26)
    for got, expected in [
        (twice.value(1, SCORES), once.value(1, SCORES)),
        (twice.derivative(1, SCORES), once.derivative(1, SCORES)),
        (twice.second_derivative(1, SCORES), once.second_derivative(1, SCORES)),
    ]:
        assert_allclose(got, expected, rtol=1e-11, atol=1e-13)


ETAS = np.array([0.0, 0.02, 0.2, 0.35, 0.499, 0.501, 0.7, 0.9, 0.99, 1.0])
GRID = np.concatenate([-np.geomspace(60, 1e-4, 800), [0.0], np.geomspace(1e-4, 60, 800)])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("bound", [None, 0.0, 0.5, 3.0])
def test_no_score_on_a_grid_beats_the_bayes_scorer(loss, bound):  # Proposition 2
    best = loss.bayes_scorer(ETAS, bound=bound)
    grid = GRID if bound is None else np.clip(GRID, -bound, bound)
    for eta, v in zip(ETAS, best, strict=True):
        rivals = loss.conditional_risk(eta, grid)
        # An infinite minimiser stands for a limit: its risk is approached from inside.
        reached = loss.conditional_risk(eta, np.clip(v, -1e3, 1e3))
        assert reached <= rivals.min() + 1e-9 * (1 + np.abs(rivals.min()))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_at_even_odds_the_bayes_scorer_takes_no_side(loss):
    fair_cost = getattr(getattr(loss, "loss", loss), "cost", 0.5)
    if fair_cost == 0.5:
        assert loss.bayes_scorer(0.5) == pytest.approx(0.0, abs=1e-15)
    else:
        assert loss.bayes_scorer(0.5) == np.inf  # a positive costs more to miss


BAYES = [
    (Logistic(), 0.25, -np.log(3)),
    (Logistic(), 1e-20, -20 * np.log(10)),
    (Exponential(), 0.75, np.log(3) / 2),
    (Square(), 0.75, 0.5),
    (SquaredHinge(), 0.75, 0.5),
    (TLogistic(), 0.75, 4 / 3),  # (2 eta - 1) / (2 eta (1 - eta))
    (TangentBoost(), 0.75, np.tan(0.25)),
    (Hinge(), 0.75, 1.0),
    (Ramp(), 0.25, -1.0),
    (ZeroOne(), 0.25, -1.0),
    (Sigmoid(), 0.75, np.inf),
    (Unhinged(), 0.25, -np.inf),
    (noise_corrected(Square(), 0.25), 0.75, 1.0),
    (noise_corrected(Hinge(), 0.25), 0.9, np.inf),
]


@pytest.mark.parametrize(("loss", "eta", "expected"), BAYES)
def test_known_bayes_scorers(loss, eta, expected):  # Proposition 5
    assert loss.bayes_scorer(eta) == pytest.approx(expected, rel=1e-13)


# Traits: each claim is attacked by a search for a counterexample; each denial must be proved by one.

SEARCH = np.concatenate([np.linspace(-6, 6, 481), [-50, -20, 20, 50]])
SEARCH.sort()


def convexity_violation(loss):
    rng = np.random.default_rng(0)
    worst = 0.0
    for y in (-1, 1):
        a, b, t = rng.uniform(-30, 30, 4000), rng.uniform(-30, 30, 4000), rng.uniform(0, 1, 4000)
        chord = t * loss.value(y, a) + (1 - t) * loss.value(y, b)
        scale = 1 + np.abs(loss.value(y, a)) + np.abs(loss.value(y, b))
        worst = max(worst, np.max((loss.value(y, t * a + (1 - t) * b) - chord) / scale))
    return worst


def asymmetry(loss):
    total = loss.value(1, SEARCH) + loss.value(-1, SEARCH)
    return np.ptp(total)


def miscalibration(loss):
    """The worst advantage of a score of the wrong sign over all scores of the right one."""
    odds = np.concatenate([np.geomspace(1e-4, 0.1, 15), np.linspace(0.1, 0.48, 20)])
    etas = np.concatenate([0.5 - odds, 0.5 + odds])
    scores = np.concatenate([-np.geomspace(1e-6, 100, 400), [0.0], np.geomspace(1e-6, 100, 400)])
    worst = -np.inf
    for eta in etas:
        risk = loss.conditional_risk(eta, scores)
        right = np.sign(scores) == np.sign(2 * eta - 1)
        worst = max(worst, risk[right].min() - risk[~right].min())
    return worst


def escapes(loss, direction):
    """Does some half of the loss still move this way between scores of 1e200 and of 1e300?"""
    for y in (-1, 1):
        for sign in (-1, 1):
            near, far = direction * loss.value(y, sign * 1e200), direction * loss.value(y, sign * 1e300)
            if far == np.inf or far > near + 1e-9:
                return True
    return False


def curvature_of_odd(loss):
    v = np.array([0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 50.0])
    slopes = loss.odd(v) / v
    return np.ptp(slopes) / np.abs(slopes).max()


def is_convex_potential(loss):
    m = SEARCH
    value, slope = loss.value(1, m), loss.derivative(1, m)
    same_in_margin = np.allclose(loss.value(-1, -m), value)
    falling, vanishing = np.all(slope <= 1e-15), abs(loss.value(1, 1e6)) < 1e-12
    return bool(same_in_margin and falling and vanishing and slope[np.argmin(np.abs(m))] < 0) and (
        convexity_violation(loss) < 1e-12
    )


def fitted_degree(loss):
    """The least degree of a polynomial through l(+1, .) and l(-1, .), if at most 4."""
    v = np.linspace(-3, 3, 41)
    for degree in range(5):
        gap = max(
            np.abs(np.polynomial.Polynomial.fit(v, loss.value(y, v), degree)(v) - loss.value(y, v)).max()
            for y in (-1, 1)
        )
        if gap < 1e-9:
            return degree
    return None


def roughness(loss):
    """The largest jump of slope or curvature over a step of 1e-7, anywhere in [-2, 2]."""
    v = np.linspace(-2, 2, 401)
    h = 1e-7
    return max(
        np.abs(f(y, v + h) - f(y, v - h)).max()
        for y in (-1, 1)
        for f in (loss.value, loss.derivative, loss.second_derivative)
    )


def is_piecewise_linear(loss):
    """Continuous, no curvature anywhere, and yet not one line."""
    jumps = max(np.abs(loss.value(y, SEARCH + 1e-9) - loss.value(y, SEARCH - 1e-9)).max() for y in (-1, 1))
    bends = np.ptp(loss.derivative(1, SEARCH)) > 0
    curved = any(np.any(loss.second_derivative(y, SEARCH)) for y in (-1, 1))
    return bool(jumps < 1e-6 and bends and not curved)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_every_trait_survives_the_attack_and_every_denial_has_a_counterexample(loss):  # Equation 6
    traits = loss.traits
    assert traits.convex == (convexity_violation(loss) < 1e-12)
    assert traits.symmetric == (asymmetry(loss) < 1e-9)
    assert traits.calibrated == (miscalibration(loss) < 1e-12)
    assert traits.bounded_below == (not escapes(loss, -1))
    assert traits.bounded_above == (not escapes(loss, +1))
    assert traits.linear_odd == (curvature_of_odd(loss) < 1e-12)
    assert traits.convex_potential == is_convex_potential(loss)
    assert traits.degree == fitted_degree(loss)
    assert traits.smooth == (roughness(loss) < 1e-3)
    assert traits.piecewise_linear == is_piecewise_linear(loss)


EXACT = [loss for loss in PLAIN if loss.exact]
EXACT += [noise_corrected(loss, Fraction(1, 5)) for loss in EXACT if not hasattr(loss, "cost")]


@pytest.mark.parametrize("loss", EXACT, ids=repr)
def test_fractions_stay_exact(loss):
    if hasattr(loss, "cost"):
        loss = WeightedUnhinged(Fraction(loss.cost))
    v = np.array(
        [Fraction(-7, 3), Fraction(0), Fraction(1, 7), Fraction(1), Fraction(10**30, 3)], dtype=object
    )
    parts = [loss.even, loss.odd, lambda v: loss.conditional_risk(Fraction(1, 3), v)]
    for y in (-1, 1):
        for function in (loss.value, loss.derivative, loss.second_derivative):
            parts.append(lambda v, y=y, function=function: function(y, v))
    for part in parts:
        assert all(isinstance(x, Fraction | int) for x in part(v))
        assert [part(x) for x in v] == list(part(v))  # numbers are arrays without dimensions
        assert all(type(part(x)) in (Fraction, int) for x in v)
        assert type(part(10**30)) in (Fraction, int)
    assert isinstance(loss.derivative(1, 0.5), float)
    assert isinstance(loss.second_derivative(1, 0.5), float)
    assert loss.value(1, np.array([0.5])).dtype == float  # also where the rate is a fraction
    # Floats are fractions too, so the split holds to the last digit of the exact value.
    assert all(loss.value(1, v) == loss.even(v) + loss.odd(v))
    assert all(loss.value(-1, v) == loss.even(v) - loss.odd(v))


@pytest.mark.parametrize(
    "loss", [Square(), SquaredHinge(), noise_corrected(Square(), Fraction(1, 5))], ids=repr
)
def test_bayes_scorers_of_fractions_stay_exact_where_they_are_fractions(loss):
    assert isinstance(loss.bayes_scorer(Fraction(2, 3)), Fraction)
    assert loss.bayes_scorer(Fraction(2, 3), bound=Fraction(1, 7)) == Fraction(1, 7)
    assert isinstance(loss.bayes_scorer(Fraction(2, 3), bound=1), Fraction)


def test_an_infinite_best_score_of_a_fraction_is_no_reason_to_break_down():
    assert Unhinged().bayes_scorer(Fraction(2, 3)) == np.inf
    etas = np.array([Fraction(1, 3), Fraction(1, 2)], dtype=object)
    assert Hinge().bayes_scorer(etas).tolist() == [-1, 0]
    assert Unhinged().bayes_scorer(etas).tolist() == [-np.inf, 0]


def test_numbers_in_numbers_out_and_integers_do_not_overflow():
    assert isinstance(Square().value(1, 2), float)
    assert Square().value(1, 10**10) == (1 - 1e10) ** 2
    assert Square().value(1, np.int64(10**10)) == (1 - 1e10) ** 2
    assert Logistic().value(np.array([1, -1])[:, None], np.zeros(3)).shape == (2, 3)
    assert Logistic().value(np.array([], int), np.array([])).shape == (0,)


def test_labels_of_any_number_type_will_do():
    loss = noise_corrected(TLogistic(), 0.2)
    for y in (True, np.uint8(1), np.float32(1), Fraction(1)):
        assert loss.derivative(y, 0.3) == loss.derivative(1, 0.3)


def test_bounds_work_elementwise():
    scores = Unhinged().bayes_scorer([0.1, 0.9, 0.9], bound=[1.0, 2.0, np.inf])
    assert scores.tolist() == [-1.0, 2.0, np.inf]
    assert Square().bayes_scorer(1.0, bound=[0.5, 3.0]).tolist() == [0.5, 1.0]


def test_no_noise_needs_no_correction():
    assert noise_corrected(Exponential(), 0) == Exponential()


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"labels of a loss are -1 or \+1, got 0$"):
        Hinge().value(np.array([1, 0]), 0.5)
    for eta in (1.5, Fraction(3, 2), np.array([0.5, 1.5])):
        with pytest.raises(ValueError, match=r"between 0 and 1, got (1.5|3/2)$"):
            Hinge().conditional_risk(eta, 0.0)
    for bound in (-1, Fraction(-1), [1.0, -1.0]):
        with pytest.raises(ValueError, match=r"non-negative, got -1(.0)?$"):
            Hinge().bayes_scorer(0.5, bound=bound)
    with pytest.raises(ValueError, match=r"\(0, 1/2\), got 0.5$"):
        noise_corrected(Hinge(), np.float64(0.5))
    with pytest.raises(ValueError, match=r"cost .* got 1.5$"):
        WeightedUnhinged(np.float64(1.5))
    with pytest.raises(ValueError, match="choose one of zero_one"):
        losses.get("hinged")
    with pytest.raises(TypeError, match="a loss is a name or an instance of Loss"):
        losses.get(["a"])
    with pytest.raises(TypeError, match="a loss is a name or an instance of Loss"):
        noise_corrected(3, 0.1)
    with pytest.raises(TypeError, match="cost: parameters go with a name"):
        losses.get(Hinge(), cost=3)


@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=repr)
def test_complex_numbers_are_refused(loss):
    for number in (1 + 0j, [Fraction(1), 1 + 0j]):
        with pytest.raises(TypeError, match="scores are real numbers"):
            loss.value(1, number)
        with pytest.raises(TypeError, match="labels are real numbers"):
            loss.value(number, 0.5)


def test_every_name_gives_a_loss_and_a_loss_is_handed_back():
    for name in losses.names():
        loss = losses.get(name)
        assert losses.get(loss) is loss
    assert losses.get("t_logistic") == TLogistic()
    assert noise_corrected("t_logistic", 0.1) == noise_corrected(TLogistic(), 0.1)
    assert noise_corrected("t_logistic", 0) == TLogistic()
    assert {type(losses.get(n)) for n in losses.names()} == {type(loss) for loss in PLAIN}


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_what_solvers_ask_for_is_what_everybody_is_told(loss):
    y, v = np.repeat([1.0, -1.0], len(SCORES)), np.tile(SCORES, 2)
    value, slope = loss.value_and_slope(y, v)
    assert_allclose(value, loss.value(y, v), rtol=1e-14)
    assert_allclose(slope, loss.derivative(y, v), rtol=1e-14)
    assert_allclose(loss.curvature(y, v), loss.second_derivative(y, v), rtol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_curvature_is_larger_than_the_steepest(loss):
    scan = np.linspace(-6, 6, 24_001)
    largest = np.abs([loss.second_derivative(y, scan) for y in (-1, 1)]).max()
    assert largest <= loss.traits.steepest * (1 + 1e-9)


@pytest.mark.parametrize("loss", [Logistic(), TLogistic(), TangentBoost(), Square(), Unhinged()], ids=repr)
def test_smooth_losses_of_the_paper_take_arrays_of_any_library(loss):
    v = np.concatenate([SCORES, [ROOT, *BENDS]])
    y = np.where(np.arange(len(v)) % 2, 1.0, -1.0)
    theirs = [strict.asarray(values) for values in (y, v)]
    for mine, foreign in zip(
        (*loss.value_and_slope(y, v), loss.curvature(y, v)),
        (*loss.value_and_slope(*theirs), loss.curvature(*theirs)),
        strict=True,
    ):
        assert_allclose(np.from_dlpack(foreign), mine, rtol=1e-12, atol=1e-16)

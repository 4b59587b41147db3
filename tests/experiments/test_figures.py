"""The figures against hand computation, plain loops and the numbers that the paper prints."""

import json
import math
from fractions import Fraction
from itertools import combinations, product

import pytest

from unflip.experiments.figures import FIGURES, figure

GAMMA = Fraction(1, 12)
LONG = [(1, 0), (GAMMA, 5 * GAMMA), (GAMMA, -GAMMA)]
MASSES = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
LOSSES = {
    "tangent_boost_surface": lambda m: (2 * math.atan(m) - 1) ** 2,
    "t_logistic_surface": lambda m: math.log(1 - m + math.sqrt(1 + m * m)),
}


@pytest.fixture(scope="module")
def figures():
    return {name: figure(name) for name in FIGURES}


@pytest.fixture(scope="module")
def errors(figures):
    return {row["line"]: row for row in figures["figure_1"].series["errors"]}


def dot(w, x):
    return w[0] * x[0] + w[1] * x[1]


def hinge_risk(w, rate):
    """The hinge risk on Long's points, all positive, when a share of the labels is flipped."""
    return sum(
        mass * ((1 - rate) * max(0, 1 - dot(w, x)) + rate * max(0, 1 + dot(w, x)))
        for x, mass in zip(LONG, MASSES, strict=True)
    )


def hinge_corners():
    """All weights where two of the scores on Long's points are 1 or -1: one of them has the least risk."""
    for (a, b), (s, t) in product(combinations(LONG, 2), product((-1, 1), repeat=2)):
        area = a[0] * b[1] - a[1] * b[0]
        yield (s * b[1] - t * a[1]) / area, (t * a[0] - s * b[0]) / area


def surface_risk(name, w, rate=0.3):
    """Appendix B's risk at one weight, term by term."""
    phi, gamma = LOSSES[name], 1 / 60
    scores = w[0], gamma * w[0] + 5 * gamma * w[1], gamma * w[0] - gamma * w[1]
    return sum(
        mass * ((1 - rate) * phi(v) + rate * phi(-v))
        for mass, v in zip((0.25, 0.25, 0.5), scores, strict=True)
    )


def test_an_unknown_figure_is_refused_with_the_choices():
    with pytest.raises(ValueError, match=r"called 'figure_2'; choose one of figure_1, .*example"):
        figure("figure_2")


@pytest.mark.parametrize("name", FIGURES)
def test_records_are_plain_and_alike_within_a_series(figures, name):
    assert figures[name].name == name
    json.dumps(figures[name].series, allow_nan=False)
    for rows in figures[name].series.values():
        assert rows
        assert {type(value) for row in rows for value in row.values()} <= {float, str, bool}
        assert {tuple(row) for row in rows} == {tuple(rows[0])}


def test_figure_1_has_the_paper_s_points(figures):  # Figure 1
    found = [(p["x1"], p["x2"], p["mass"], p["label"]) for p in figures["figure_1"].series["points"]]
    for row, x, mass in zip(found, LONG, MASSES, strict=True):
        assert row == (*(pytest.approx(float(c), abs=1e-11) for c in (*x, mass)), "positive")


def test_the_unhinged_weight_is_the_mean_times_what_noise_leaves(errors):
    shrink = 1 - 2 * Fraction(1, 5)
    w1, w2 = (shrink * sum(m * x[k] for x, m in zip(LONG, MASSES, strict=True)) for k in (0, 1))
    assert (w1, w2) == (Fraction(3, 16), Fraction(3, 80))
    assert (errors["unhinged"]["w1"], errors["unhinged"]["w2"]) == (float(w1), float(w2))


@pytest.mark.parametrize(("line", "percent"), [("hinge, 1 % noise", 1), ("hinge, 20 % noise", 20)])
def test_the_hinge_weight_is_the_corner_of_least_risk(errors, line, percent):
    rate = Fraction(percent, 100)
    best = min(hinge_corners(), key=lambda w: hinge_risk(w, rate))
    assert best == {1: (12, 0), 20: (1, Fraction(11, 5))}[percent]
    assert (errors[line]["w1"], errors[line]["w2"]) == pytest.approx([float(w) for w in best], abs=1e-11)


def test_without_noise_the_hinge_takes_the_shortest_weight_of_margin_one(errors):
    # (12, 0) = 10 (1, -1) + 2 (1, 5), a positive sum of the two points where its margin is one.
    w = errors["hinge, no noise"]["w1"], errors["hinge, no noise"]["w2"]
    assert w == pytest.approx((12, 0), abs=1e-11)


def test_one_percent_of_noise_costs_the_hinge_nothing_and_the_printed_line_is_no_minimiser(figures, errors):
    assert [row["error"] for row in errors.values()] == [0, 0, 0, 0.5, 0.25]
    assert [row["printed"] for row in errors.values()] == [False] * 4 + [True]
    # No multiple of the printed weight comes near the least risk, 4.75 times the rate.
    multiples = [(Fraction(t, 100), -Fraction(t, 100) * Fraction("0.6581")) for t in range(-2000, 2001)]
    least = float(min(hinge_risk(w, Fraction(1, 100)) for w in multiples))
    drawn = errors["hinge, 1 % noise, printed"]
    paid = hinge_risk((drawn["w1"], drawn["w2"]), 0.01)
    assert paid <= least + 1e-9
    assert paid == pytest.approx(least, abs=1e-3)
    assert hinge_risk((12, 0), Fraction(1, 100)) == Fraction("0.0475")
    found = figures["figure_1"].found
    assert "errs on 0 without noise, 0 at 1 % and 1/2 at 20 %" in found
    assert f"at best {paid:.4f}, the least is 0.0475" in found


def test_lines_run_through_the_origin_to_where_the_paper_draws_them(figures):
    ends = [(row["x1"], row["x2"]) for row in figures["figure_1"].series["lines"]]
    expected = [(-1 / 5, 1), (0, 1), (0, 1), (-1, 1 / 2.2), (0.6581, 1)]
    assert ends[::2] == [pytest.approx(end, abs=1e-11) for end in expected]
    assert ends[1::2] == [pytest.approx((-x1, -x2), abs=1e-11) for x1, x2 in expected]


@pytest.mark.parametrize("name", LOSSES)
def test_surfaces_are_the_risks_of_a_plain_loop(figures, name):
    rows = figures[name].series["surface"]
    axis = [k / 2 for k in range(-20, 21)]
    assert [(row["w1"], row["w2"]) for row in rows] == list(product(axis, axis))
    for row in rows[::97]:
        assert row["risk"] == pytest.approx(surface_risk(name, (row["w1"], row["w2"])), abs=1e-11)


@pytest.mark.parametrize(
    ("name", "on_grid", "refined"),
    [
        ("tangent_boost_surface", (0.2, 1.3), (0.2122, 1.3031)),
        ("t_logistic_surface", (1.025, 5.1), (1.0372, 5.0873)),
    ],
)
def test_minimisers_are_the_printed_ones_and_err_on_half(figures, name, on_grid, refined):  # Appendix B
    ours, better, theirs, by_lbfgs = figures[name].series["minimizers"]
    assert (ours["w1"], ours["w2"]) == (theirs["w1"], theirs["w2"]) == on_grid
    assert (by_lbfgs["w1"], by_lbfgs["w2"]) == refined
    assert (better["w1"], better["w2"]) == pytest.approx(refined, abs=5.1e-5)
    assert better["risk"] < by_lbfgs["risk"] < ours["risk"]
    for row in (ours, better, theirs, by_lbfgs):
        assert row["risk"] == pytest.approx(surface_risk(name, (row["w1"], row["w2"])), abs=1e-11)
        # w1 > 0 and w1 < w2: the penaliser (gamma, -gamma), half of the mass, is missed and no other.
        assert 0 < row["w1"] < row["w2"]
        assert row["error"] == 0.5
    # Neither the drawn grid nor the neighbours on the grid of step 0.025 have less risk.
    assert min(row["risk"] for row in figures[name].series["surface"]) >= ours["risk"]
    for i, j in product((-1, 0, 1), repeat=2):
        assert surface_risk(name, (on_grid[0] + i / 40, on_grid[1] + j / 40)) >= ours["risk"] - 1e-12


def test_tangent_boost_errs_without_noise_too_and_t_logistic_does_not(figures):
    tangent, logistic = (figures[name].series["without_noise"][0] for name in LOSSES)
    assert (tangent["w1"], tangent["w2"]) == pytest.approx((0.5847, 3.1653), abs=5.1e-5)
    assert (tangent["error"], logistic["error"]) == (0.5, 0)
    # Whole weights far beyond the local minimum at (30.3, 0.26) have more risk.
    weights = product(range(-10, 60), range(-60, 61))
    assert min(surface_risk("tangent_boost_surface", w, rate=0) for w in weights) > tangent["risk"]
    # Scorers that err pay log 2 on a quarter of the mass or more, so those near this infimum do not.
    assert logistic["risk"] < math.log(2) / 4
    assert "error of 1/2: noise changes nothing here" in figures["tangent_boost_surface"].found
    assert "error of 0: noise does the harm" in figures["t_logistic_surface"].found


def test_corrected_hinges_are_those_of_the_paper_s_source(figures):  # Appendix E.1
    drawn = {
        0.0: lambda x: max(0, 1 - x),
        0.2: lambda x: (1 / 0.6) * (0.8 * max(0, 1 - x) - 0.2 * max(0, 1 + x)),
        0.4: lambda x: (1 / 0.2) * (0.6 * max(0, 1 - x) - 0.4 * max(0, 1 + x)),
    }
    rows = figures["corrected_hinge"].series["curves"]
    for rate, curve in drawn.items():
        scores = [row["v"] for row in rows if row["noise_rate"] == rate]
        assert scores == [k / 10 for k in range(-20, 21)]  # with the kinks -1 and 1
        values = [row["loss"] for row in rows if row["noise_rate"] == rate]
        assert values == pytest.approx([curve(v) for v in scores], abs=1e-11)
    assert len(rows) == 3 * 41
    assert "slopes are 0, -1/3, -2 at rates" in figures["corrected_hinge"].found
    assert "-3 up to v = -1, -5 up to v = 1 and -2 beyond" in figures["corrected_hinge"].found


def test_the_counterexample_breaks_the_unhinged_loss_only(figures):
    series = figures["counterexample"].series
    points = [(p["x1"], p["x2"], p["label"]) for p in series["points"]]
    assert points == [(1, 2, "positive"), (1, -4, "positive"), (-1, 1, "negative")]
    rows = {row["line"]: (row["w1"], row["w2"], row["error"]) for row in series["errors"]}
    # The mean of y x is (1 + 1 + 1, 2 - 4 - 1) / 3, and it gives the first point a score of -1.
    assert rows["unhinged"] == pytest.approx((1, -1, 1 / 3), abs=1e-11)
    assert rows["square"] == rows["linear programme"] == pytest.approx((1, 0, 0), abs=1e-9)
    # The paper draws the unhinged line along the diagonal.
    assert (series["lines"][0]["x1"], series["lines"][0]["x2"]) == (4, 4)
    assert "on 1/3 of the mass, that of the square loss on 0, that of the linear programme on 0" in (
        figures["counterexample"].found
    )

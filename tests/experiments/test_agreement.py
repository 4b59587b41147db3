"""The printed cells, and the rule that compares them with ours."""

from collections import Counter

import numpy as np
import pytest

from unflip.experiments.agreement import PRINTED_TRIALS, AgreementRange, mean_range, spread_range
from unflip.experiments.published import published
from unflip.experiments.trials import PAPER_LOSSES, PAPER_RATES


def test_every_printed_cell_is_there_once():
    cells = published()
    appendix = [cell for cell in cells if cell.table.startswith("full-")]
    assert (len(cells), len(appendix)) == (702, 612)
    # Nine datasets, six losses, six rates, two metrics; Long has no AUC table.
    assert Counter(cell.dataset for cell in appendix) == {
        name: 36 if name == "long" else 72 for name in {cell.dataset for cell in appendix}
    }
    assert {cell.loss for cell in appendix} == set(PAPER_LOSSES)
    assert {cell.noise_rate for cell in appendix} == set(PAPER_RATES)
    keys = [(c.table, c.dataset, c.metric, c.noise_rate, c.loss) for c in cells]
    assert len(set(keys)) == len(keys)


def test_a_few_cells_as_printed():
    by_key = {(c.table, c.dataset, c.metric, c.noise_rate, c.loss): c for c in published()}
    iris = by_key["full-iris-matlab", "iris", "error", 0.4, "unhinged"]
    assert (iris.mean, iris.std, iris.best) == (0.13, 0.22, True)
    spread = by_key["full-long-matlab", "long", "error", 0.49, "hinge"]
    assert (spread.mean, spread.std) == (0.46, 0.38)


def test_with_enough_trials_the_range_is_that_of_the_means():
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 0.05, size=(60, 1)) + rng.normal(0, 0.1, size=(60, PRINTED_TRIALS))
    low, high = np.quantile(values.mean(axis=1), [0.025, 0.975])
    found = mean_range(values)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_few_trials_give_the_range_that_many_would_have():
    # The same splits with 8 and with 125 trials: the shrunk range must match the honest one on average.
    rng = np.random.default_rng(1)
    widths = []
    for _ in range(60):
        level = rng.normal(0.3, 0.02, size=(50, 1))
        few = mean_range(level + rng.normal(0, 0.2, size=(50, 8)))
        many = mean_range(level + rng.normal(0, 0.2, size=(50, PRINTED_TRIALS)))
        widths.append((few.high - few.low, many.high - many.low))
    few_width, many_width = np.mean(widths, axis=0)
    assert few_width == pytest.approx(many_width, rel=0.15)
    # Unshrunk it would be more than twice as wide.
    assert few_width < 0.5 * 2 * 1.96 * np.sqrt(0.02**2 + 0.2**2 / 8)


def test_rounding_is_given_away_on_both_sides():
    assert AgreementRange(0.2, 0.155, 0.245).agrees(0.15)
    assert AgreementRange(0.2, 0.155, 0.245).agrees(0.25)
    assert not AgreementRange(0.2, 0.1551, 0.2449).agrees(0.15)


def test_few_trials_give_the_range_of_spreads_that_many_would_have():
    # Trials that are mostly zero and sometimes one half, as errors on Long's points are: far from normal.
    rng = np.random.default_rng(2)
    ends = []
    for _ in range(60):
        share = rng.uniform(0.2, 0.4, size=(50, 1))
        eight, many = (np.where(rng.random((50, trials)) < share, 0.5, 0.0) for trials in (8, PRINTED_TRIALS))
        few, honest = spread_range(eight), spread_range(many)
        raw = np.quantile(eight.std(axis=1, ddof=1), [0.025, 0.975])
        ends.append((few.low, few.high, honest.low, honest.high, *raw))
    few_low, few_high, low, high, raw_low, raw_high = np.mean(ends, axis=0)
    # Only variances are matched, not the skewness of eight coins: the low end stays a little low.
    assert low - 0.02 < few_low < low + 0.01
    assert few_high == pytest.approx(high, abs=0.01)
    assert raw_low < low - 0.1
    assert raw_high > high + 0.01


def test_without_spread_there_is_no_range():
    assert spread_range(np.full((50, 8), 0.3)) == AgreementRange(0.0, 0.0, 0.0)
    assert spread_range(np.ones((5, 1))) == AgreementRange(0.0, 0.0, 0.0)


def test_the_miss_is_counted_from_the_range_and_its_rounding():
    assert AgreementRange(0.2, 0.1, 0.3).miss(0.25) == 0
    assert AgreementRange(0.2, 0.1, 0.3).miss(0.305) == pytest.approx(0)
    assert AgreementRange(0.2, 0.1, 0.3).miss(0.325) == pytest.approx(0.02)
    assert AgreementRange(0.2, 0.1, 0.3).miss(0.08) == pytest.approx(0.015)


def test_the_main_text_repeats_the_appendix_but_for_one_cell():
    appendix = {
        (c.dataset, c.metric, c.noise_rate, c.loss): (c.mean, c.std)
        for c in published()
        if c.table.startswith("full-")
    }
    repeated = [c for c in published() if not c.table.startswith("full-")]
    changed = [
        (c.dataset, c.noise_rate, c.loss, c.mean)
        for c in repeated
        if appendix[c.dataset, c.metric, c.noise_rate, c.loss] != (c.mean, c.std)
    ]
    assert len(repeated) == 90
    assert changed == [("long", 0.49, "hinge", 0.47)]

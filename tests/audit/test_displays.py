"""The picture of a noise estimate: what is drawn is what was estimated."""

import re
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_iris

from unflip.audit import NoiseEstimateDisplay, estimate_noise
from unflip.noise import NoiseEstimate, SymmetricNoise, flip_labels


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.slow
def test_the_posterior_has_area_one_and_the_interval_and_marks_are_those_of_the_estimate(load):
    X, y = load(return_X_y=True)
    noisy = flip_labels(y, 0.15, rng=0)
    display = NoiseEstimateDisplay.from_labels(X, noisy, noise="symmetric", ax=Figure().subplots())
    found = estimate_noise(X, noisy, noise="symmetric")
    heights, edges, _ = display.posterior_.get_data()
    assert np.sum(heights * np.diff(edges)) == pytest.approx(1)
    middle = np.average((edges[1:] + edges[:-1]) / 2, weights=heights * np.diff(edges))
    assert middle == pytest.approx(found.rate, abs=0.02)
    assert display.interval_.get_x() == found.low
    assert display.interval_.get_width() == pytest.approx(found.high - found.low)
    assert display.rate_.get_xdata()[0] == found.rate
    assert display.outer_.get_xdata()[0] == found.outer
    assert display.ax_.get_xlim()[0] == 0
    display.figure_.canvas.draw()


def test_the_legend_says_it_in_words():
    estimate = NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))
    display = NoiseEstimateDisplay.from_estimate(estimate, ax=Figure().subplots())
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "90 % interval, 15.0 % to 26.0 %",
        "rate, 20.0 %",
        "outer bound, 31.0 %",
    ]


def test_an_estimate_without_a_posterior_is_drawn_without_one():
    X, y = load_breast_cancer(return_X_y=True)
    noisy = flip_labels(y, 0.1, rng=0)
    display = NoiseEstimateDisplay.from_labels(X, noisy, class_conditional=True, ax=Figure().subplots())
    assert not len(display.estimate.rates)
    assert display.posterior_ is None
    assert display.ax_.get_ylabel() == ""


def test_without_axes_pyplot_makes_a_figure():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    display = NoiseEstimateDisplay(NoiseEstimate(0.2, 0.1, 0.3, 0.4, SymmetricNoise(0.2))).plot()
    assert display.figure_ is plt.gcf()
    plt.close("all")


def test_without_matplotlib_the_extra_is_named_before_any_estimate(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=re.escape('pip install "unflip[plot]"')):
        NoiseEstimateDisplay.from_labels(None, None)

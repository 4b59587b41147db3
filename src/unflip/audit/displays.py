"""Pictures of an audit, in scikit-learn's manner: numbers first, drawn when asked (extra `plot`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from unflip.audit.rate import estimate_noise
from unflip.audit.robustness import CURVE_RATES, RobustnessCurve, robustness_curve, seed_of
from unflip.audit.suspects import Suspects, find_suspects
from unflip.noise import NoiseEstimate
from unflip.noise.estimate import CONFIDENCE


class RobustnessCurveDisplay:
    """Robustness curves on one picture: the mean, in a band of one standard deviation either side.

    Drawing needs the extra `plot`. After `plot`, the pieces are in `ax_`, `figure_`, `lines_` and
    `fill_between_`, the last two with one entry for each curve.

    >>> curve = RobustnessCurve("mine", [0.0, 0.25], [[1.0, 0.9], [0.8, 0.7]])
    >>> from matplotlib.figure import Figure  # or leave out ax, and pyplot makes a figure
    >>> display = RobustnessCurveDisplay([curve]).plot(ax=Figure().subplots())
    >>> display.lines_[0].get_label()
    'mine'
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]
    fill_between_: list[Any]

    def __init__(self, curves: RobustnessCurve | Iterable[RobustnessCurve]) -> None:
        self.curves = (curves,) if isinstance(curves, RobustnessCurve) else tuple(curves)
        if not self.curves:
            raise ValueError("at least one curve is needed, got none")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        rates: Iterable[Any] = CURVE_RATES,
        *,
        test_size: float | int = 0.3,
        repeats: int = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Compute and draw the curve of a classifier, or of each in a dictionary by name.

        All of them meet the same splits and the same flipped labels. For the arguments see
        `robustness_curve`.

        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from unflip import SquareClassifier
        >>> rivals = {"square": SquareClassifier(), "naive Bayes": GaussianNB()}
        >>> X, y = load_iris(return_X_y=True)
        >>> display = RobustnessCurveDisplay.from_estimator(rivals, X, y, ax=Figure().subplots())
        >>> [curve.name for curve in display.curves]
        ['square', 'naive Bayes']
        """
        require_matplotlib()  # before the fits, not after them
        named = estimator if isinstance(estimator, Mapping) else {type(estimator).__name__: estimator}
        rates, seed = tuple(rates), seed_of(random_state)  # read once, for all estimators alike
        curves = [
            replace(
                robustness_curve(
                    each,
                    X,
                    y,
                    rates,
                    test_size=test_size,
                    repeats=repeats,
                    random_state=seed,
                    n_jobs=n_jobs,
                ),
                name=str(name),
            )
            for name, each in named.items()
        ]
        return cls.from_curves(curves, ax=ax)

    @classmethod
    def from_curves(cls, curves: RobustnessCurve | Iterable[RobustnessCurve], *, ax: Any = None) -> Self:
        """Draw curves that are there already.

        >>> from matplotlib.figure import Figure
        >>> curve = RobustnessCurve("mine", [0.0, 0.25], [[1.0, 0.9], [0.8, 0.7]])
        >>> len(RobustnessCurveDisplay.from_curves(curve, ax=Figure().subplots()).lines_)
        1
        """
        return cls(curves).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        >>> from matplotlib.figure import Figure
        >>> curve = RobustnessCurve("mine", [0.0, 0.25], [[1.0, 0.9], [0.8, 0.7]])
        >>> RobustnessCurveDisplay([curve]).plot(ax=Figure().subplots()).ax_.get_ylabel()
        'accuracy on untouched test labels'
        """
        require_matplotlib()
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_, self.fill_between_ = [], []
        for curve in self.curves:
            order = np.argsort(curve.rates)  # a line runs from left to right, whatever order was asked for
            rates, mean, std = curve.rates[order], curve.mean[order], curve.std[order]
            (line,) = ax.plot(rates, mean, marker="o", label=curve.name)
            band = ax.fill_between(
                rates, mean - std, mean + std, color=line.get_color(), alpha=0.2, linewidth=0
            )
            self.lines_.append(line)
            self.fill_between_.append(band)
        ax.set_xlabel("share of training labels flipped")
        ax.set_ylabel("accuracy on untouched test labels")
        ax.legend()
        return self


class SuspectsDisplay:
    """How sure we are of which labels: P(wrong) of the rows, most suspicious first, and how many are wrong.

    >>> from matplotlib.figure import Figure
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]] * 10, [0, 0, 1, 1] * 10
    >>> SuspectsDisplay.from_labels(X, y, ax=Figure().subplots()).ax_.get_ylabel()
    'P(label is wrong)'
    """

    def __init__(self, suspects: Suspects) -> None:
        self.suspects = suspects

    @classmethod
    def from_labels(cls, X: Any, y: Any, *, ax: Any = None, **ways: Any) -> Self:
        """Find the suspects and draw them; `ways` go to `find_suspects`."""
        require_matplotlib()
        return cls(find_suspects(X, y, **ways)).plot(ax=ax)

    @classmethod
    def from_suspects(cls, suspects: Suspects, *, ax: Any = None) -> Self:
        """Draw suspects that are there already."""
        return cls(suspects).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        require_matplotlib()
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        probability = self.suspects.probability
        place = np.arange(1, len(probability) + 1)
        (self.line_,) = ax.plot(place, probability, label="P(wrong)")
        expected = float(probability.sum())
        self.mark_ = ax.axvline(
            expected, color="gray", linestyle="--", label=f"{expected:.0f} wrong, on average"
        )
        ax.set_xlabel("rows, most suspicious first")
        ax.set_ylabel("P(label is wrong)")
        ax.set_ylim(0, 1)
        ax.legend()
        return self


class NoiseEstimateDisplay:
    """How many labels are wrong, and how well that is known: the posterior, the interval, the outer bound.

    After `plot`, the pieces are in `ax_`, `figure_`, `interval_`, `rate_`, `outer_` and `posterior_`, which
    is None where the estimate keeps no posterior.

    >>> from matplotlib.figure import Figure
    >>> from unflip.noise import SymmetricNoise
    >>> estimate = NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))
    >>> display = NoiseEstimateDisplay.from_estimate(estimate, ax=Figure().subplots())
    >>> display.interval_.get_label()
    '90 % interval, 15.0 % to 26.0 %'
    """

    def __init__(self, estimate: NoiseEstimate) -> None:
        self.estimate = estimate

    @classmethod
    def from_labels(cls, X: Any, y: Any, *, ax: Any = None, **ways: Any) -> Self:
        """Estimate the rate and draw it; `ways` go to `estimate_noise`."""
        require_matplotlib()
        return cls(estimate_noise(X, y, **ways)).plot(ax=ax)

    @classmethod
    def from_estimate(cls, estimate: NoiseEstimate, *, ax: Any = None) -> Self:
        """Draw an estimate that is there already."""
        return cls(estimate).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        require_matplotlib()
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots()
        self.ax_, self.figure_ = ax, ax.figure
        found = self.estimate
        self.posterior_ = None
        if len(found.rates):
            limit = (found.noise.n_classes - 1) / found.noise.n_classes
            # Within a cell of the grid every rate is as likely as another.
            edges = np.concatenate([[0.0], (found.rates[1:] + found.rates[:-1]) / 2, [limit]])
            self.posterior_ = ax.stairs(found.masses / np.diff(edges), edges, label="posterior of the rate")
        interval = f"{CONFIDENCE * 100:.0f} % interval, {found.low * 100:.1f} % to {found.high * 100:.1f} %"
        self.interval_ = ax.axvspan(found.low, found.high, alpha=0.2, linewidth=0, label=interval)
        self.rate_ = ax.axvline(found.rate, color="black", label=f"rate, {found.rate * 100:.1f} %")
        self.outer_ = ax.axvline(
            found.outer, color="gray", linestyle="--", label=f"outer bound, {found.outer * 100:.1f} %"
        )
        ax.set_xlabel("share of labels that are wrong")
        ax.set_ylabel("density" if self.posterior_ is not None else "")
        ax.set_xlim(left=0)
        ax.legend()
        return self


def require_matplotlib() -> None:
    """Raise an error that names the extra if there is nothing to draw with."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f'the picture needs {error.name}: pip install "unflip[plot]"') from error

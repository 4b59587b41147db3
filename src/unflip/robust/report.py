"""What labels tell about themselves by scores that never saw them: rate, probabilities, clean accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unflip.border.arrays import Array
from unflip.noise.estimate import NoiseEstimate, estimate_rate
from unflip.noise.intervals import ScoreEstimate, clean_score_interval
from unflip.noise.judgement import judge
from unflip.robust.calibration import Calibration
from unflip.robust.guarantee import Guarantee


@dataclass(frozen=True, eq=False)
class LabelReport:
    """Computed when asked for, and kept.

    scores: leave-one-out scores, (n,) or (n, K). honest: scores that rank rows without a trace of their own
    labels. masses: (n, K), the weight of each row in each class. likely: (n,), the class that the scores say.
    classes: (K,). rows: how many were fitted. label_free: whether labels had no part in the features.
    """

    scores: Array
    honest: Array
    masses: Array
    likely: Array
    classes: Array
    rows: int
    label_free: bool

    @cached_property
    def calibration(self) -> Calibration:
        """The share of clean labels along the score."""
        curve = estimate_rate(self.honest, self.masses)[1]
        return Calibration.of(self.scores, self.masses.sum(axis=1), curve)

    @cached_property
    def noise(self) -> NoiseEstimate:
        """How many of the labels are wrong."""
        return judge(self.honest, self.masses, classes=self.classes).estimate

    def clean_error(self, noise: NoiseEstimate) -> ScoreEstimate | None:
        """The error on clean labels, with an interval; None where the labels do not tell the noise rate."""
        if not noise.identified:
            return None
        n, n_classes = self.masses.shape
        found = clean_score_interval(
            "accuracy",
            np.repeat(np.arange(n_classes), n),  # a soft label is one of each class, weighted
            np.tile(self.likely, n_classes),
            noise,
            sample_weight=self.masses.T.ravel(),
            classes=np.arange(n_classes),
        )
        return ScoreEstimate(1 - found.estimate, 1 - found.high, 1 - found.low, 1 - found.noisy)

    def guarantee(self, noise: NoiseEstimate) -> Guarantee:
        """What holds of the fit, and what does not."""
        return Guarantee(self.rows, self.label_free, noise, len(self.classes))


@dataclass(frozen=True, eq=False)
class Calibrated:
    """All that a file keeps of a report: what probabilities need."""

    calibration: Calibration

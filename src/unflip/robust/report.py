"""What labels tell about themselves by scores that never saw them: rate, probabilities, clean accuracy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unflip.border.arrays import Array
from unflip.noise.estimate import NoiseEstimate
from unflip.noise.intervals import ScoreEstimate, clean_score_interval
from unflip.noise.judgement import Judgement, judge
from unflip.noise.models import Noise
from unflip.robust.calibration import Calibration
from unflip.robust.ensemble import RidgeEnsemble
from unflip.robust.fit import RobustFit
from unflip.robust.guarantee import Guarantee

LEAST_SHARE_OF_CLASS = 0.1  # of its share of noisy labels: what clean labels keep of a class at least


@dataclass(frozen=True, eq=False)
class HonestLabels:
    """Labels with scores that never saw them, judged when that is asked for, once.

    scores: (n,) or (n, K). masses: (n, K), the weight of each row in each class. classes: (K,). noise: the
    kind that is looked for.
    """

    scores: Array
    masses: Array
    classes: Array
    noise: str

    @cached_property
    def judgement(self) -> Judgement:
        """How many of the labels are wrong, and which."""
        return judge(self.scores, self.masses, noise=self.noise, classes=self.classes)


@dataclass(frozen=True, eq=False)
class LabelReport:
    """Computed when asked for, and kept.

    fit: with the scores of rows. honest: their labels, beside scores without a trace of them. rows: how many
    were fitted.
    """

    fit: RobustFit
    honest: HonestLabels
    rows: int

    @property
    def ensemble(self) -> RidgeEnsemble:
        """What was learned, corrected."""
        return self.fit.ensemble

    @cached_property
    def calibration(self) -> Calibration:
        """The share of clean labels along the score."""
        judgement, used = self.honest.judgement, self.ensemble.noise
        weight = self.honest.masses.sum(axis=1)
        if used is not None and judgement.by_class is not None and used == judgement.estimate.noise:
            clean = judgement.by_class.clean(self.honest.scores, self.honest.masses)
            return Calibration.of_clean(self.fit.scores, weight, clean)
        plain = self.fit.with_noise(None)
        found = Calibration.of(plain.scores, weight, judgement.curve)
        return found if used is None else found.moved(plain.ensemble, self.ensemble)

    @property
    def noise(self) -> NoiseEstimate:
        """How many of the labels are wrong."""
        return self.honest.judgement.estimate

    @property
    def clean_shares(self) -> Array:
        """The share of each class in clean labels, as far as the noise is known: (K,), none of them zero."""
        counts = self.honest.masses.sum(axis=0)
        known = self.ensemble.noise or (self.noise.noise if self.noise.identified else None)
        shares = counts if known is None else known.unmix(counts[:, None])[:, 0].astype(np.float64)
        return np.maximum(shares / counts.sum(), LEAST_SHARE_OF_CLASS * counts / counts.sum())

    def with_noise(self, noise: Noise | None) -> LabelReport:
        """The report of the same fit, corrected for another noise."""
        return replace(self, fit=self.fit.with_noise(noise))

    def clean_error(self, noise: NoiseEstimate) -> ScoreEstimate | None:
        """The error on clean labels, with an interval; None where the labels do not tell the noise rate."""
        if not noise.identified:
            return None
        masses = self.honest.masses
        n, n_classes = masses.shape
        found = clean_score_interval(
            "accuracy",
            np.repeat(np.arange(n_classes), n),  # a soft label is one of each class, weighted
            np.tile(self.fit.likely, n_classes),
            noise,
            sample_weight=masses.T.ravel(),
            classes=np.arange(n_classes),
            confidence=noise.level,
        )
        return ScoreEstimate(1 - found.estimate, 1 - found.high, 1 - found.low, 1 - found.noisy)

    def guarantee(self, noise: NoiseEstimate) -> Guarantee:
        """What holds of the fit, and what does not."""
        return Guarantee(self.rows, self.fit.column_weights is None, noise, len(self.honest.classes))


@dataclass(frozen=True, eq=False)
class Calibrated:
    """All that a file keeps of a report: what probabilities need."""

    ensemble: RidgeEnsemble
    calibration: Calibration

    def with_noise(self, noise: Noise | None) -> Calibrated:
        """The same of the fit corrected for another noise."""
        corrected = self.ensemble.with_noise(noise)
        return Calibrated(corrected, self.calibration.moved(self.ensemble, corrected))

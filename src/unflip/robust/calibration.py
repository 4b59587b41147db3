"""From scores to probabilities of clean labels: the share of clean labels along the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unflip.border.arrays import Array
from unflip.noise.curve import Curve, normal_scores
from unflip.robust.ensemble import RidgeEnsemble

POINTS = 100  # to interpolate between


@dataclass(frozen=True, eq=False)
class Calibration:
    """Points to interpolate between: scores `at`, ascending, and the probability there.

    For two classes it is that of the second class; for more, that of the class with the highest score, along
    its lead over the next.
    """

    at: Array
    probability: Array

    @classmethod
    def of(cls, scores: Array, weight: Array, curve: Curve) -> Calibration:
        """From leave-one-out scores, (n,) or (n, K), their weights, and the curve of honest scores."""
        two = scores.ndim == 1
        along = scores if two else lead(scores)
        clean = curve.average(lambda r, g, p: g)
        share = clean if two else 1 / scores.shape[1] + (1 - 1 / scores.shape[1]) * clean
        z = normal_scores(along, weight)
        order = np.argsort(along, kind="stable")
        at = np.interp(curve.z, z[order], along[order])
        p = np.maximum.accumulate(share)
        return cls.agreeing(at, p) if two else cls(at, p)

    @classmethod
    def of_clean(cls, scores: Array, weight: Array, clean: Array) -> Calibration:
        """From the same scores, corrected, and P(clean class) of each row, (n, K)."""
        two = scores.ndim == 1
        along = scores if two else lead(scores)
        p = clean[:, 1] if two else np.take_along_axis(clean, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
        order = np.argsort(along, kind="stable")
        grown = np.cumsum(weight[order])
        bins = np.minimum((grown - weight[order] / 2) / grown[-1] * POINTS, POINTS - 1).astype(int)
        total = np.bincount(bins, weight[order], POINTS)
        held = total > 0
        at, share = (
            np.bincount(bins, weight[order] * values[order], POINTS)[held] / total[held]
            for values in (along, p)
        )
        share = np.maximum.accumulate(share)
        return cls.agreeing(at, share) if two else cls(at, share)

    @classmethod
    def agreeing(cls, at: Array, p: Array) -> Calibration:
        """Two classes: probabilities that are one half where the score is zero.

        The threshold was chosen by the error, or follows from rates; probabilities go along with it.
        """
        middle = float(np.clip(np.interp(0.0, at, p), 1e-6, 1 - 1e-6))
        p = np.where(p < middle, p / middle / 2, 1 - (1 - p) / (1 - middle) / 2)
        place = int(np.searchsorted(at, 0.0))
        return cls(np.insert(at, place, 0.0), np.insert(p, place, 0.5))

    def moved(self, old: RidgeEnsemble, new: RidgeEnsemble) -> Calibration:
        """The probabilities of a fit that is corrected for another noise.

        Of two classes they move with the scores. Of more they stay: they go by the lead of the best.
        """
        if len(new.mean) > 1:
            return self
        at = new.about(old.away_of(self.at[:, None]))[:, 0]
        return Calibration.agreeing(at, self.probability)

    def probabilities(self, scores: Array) -> Array:
        """P(clean class) for each row, (n, K); scores: (n,) or (n, K).

        >>> half = Calibration(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))
        >>> half.probabilities(np.array([0.5])).tolist()
        [[0.25, 0.75]]
        """
        if scores.ndim == 1:
            p = np.interp(scores, self.at, self.probability)
            p = np.where(scores > 0, np.maximum(p, np.nextafter(0.5, 1.0)), np.minimum(p, 0.5))
            return np.column_stack([1 - p, p])
        top = np.interp(lead(scores), self.at, self.probability)
        best = scores.argmax(axis=1)
        rest = np.maximum(scores, 1e-6 * np.abs(scores).max(axis=1, keepdims=True) + 1e-300)
        rest[np.arange(len(rest)), best] = 0.0
        rest *= ((1 - top) / rest.sum(axis=1))[:, None]
        rest = np.minimum(rest, top[:, None] * (1 - 1e-9))  # the likely class stays the likeliest
        rest[np.arange(len(rest)), best] = top
        return np.asarray(rest / rest.sum(axis=1, keepdims=True))


def lead(scores: Array) -> Array:
    """By how much the best class is ahead of the second one.

    >>> lead(np.array([[0.1, 0.7, 0.2]])).round(12).tolist()
    [0.5]
    """
    ordered = np.sort(scores, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])

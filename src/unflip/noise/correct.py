"""Scores of clean labels from scores of noisy ones, after the fit.

Where scores are linear in the labels, sum_i h_i(x) t_i with t_i the indicators of row i, noise multiplies
them by its table, on average: E[t noisy] = t clean T. So scores times the inverse of T are those that the
corrected labels would have given, without the rows. That needs weights h_i that sum to one, which is so where
a constant is fitted without a penalty.
"""

from __future__ import annotations

import numpy as np

from unflip.border.arrays import Array
from unflip.border.classes import contrast
from unflip.noise.models import Noise


def clean_scores(scores: Array, noise: Noise) -> Array:
    """Scores under clean labels from scores under noisy ones, (n, C): one column of two classes.

    Two classes have the scores -1 and +1, more have indicators.

    >>> from unflip.noise import ClassConditionalNoise
    >>> clean_scores(np.array([[0.4], [-1.0]]), ClassConditionalNoise([0.0, 0.3])).round(12).tolist()
    [[1.0], [-1.0]]
    """
    return _through(scores, noise.unmix(np.eye(noise.n_classes)).T.astype(np.float64))


def noisy_scores(scores: Array, noise: Noise) -> Array:
    """The way back: scores under noisy labels from those under clean ones.

    >>> from unflip.noise import SymmetricNoise
    >>> noisy_scores(np.array([[1.0]]), SymmetricNoise(0.2)).round(12).tolist()
    [[0.6]]
    """
    return _through(scores, noise.transition.astype(np.float64))


def _through(scores: Array, table: Array) -> Array:
    if scores.shape[1] > 1:
        return np.asarray(scores @ table)
    indicators = np.hstack([1 - scores, 1 + scores]) / 2
    return np.asarray(indicators @ table @ contrast(2).T)

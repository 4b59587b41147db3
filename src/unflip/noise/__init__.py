"""Label noise: models of it, injection of it, and scores corrected for it.

>>> SymmetricNoise(0.2).corrupt(0.5)
0.5
"""

from unflip.noise.estimate import NoiseEstimate
from unflip.noise.inject import flip_labels
from unflip.noise.intervals import ScoreEstimate, clean_score_interval
from unflip.noise.judgement import rate_from_scores
from unflip.noise.metrics import (
    clean_accuracy,
    clean_auc,
    clean_balanced_accuracy,
    noisy_accuracy,
    noisy_auc,
    noisy_balanced_accuracy,
)
from unflip.noise.models import ClassConditionalNoise, Noise, SymmetricNoise, UniformNoise, as_noise
from unflip.noise.scorers import clean_scorer

__all__ = [
    "ClassConditionalNoise",
    "Noise",
    "NoiseEstimate",
    "ScoreEstimate",
    "SymmetricNoise",
    "UniformNoise",
    "as_noise",
    "clean_accuracy",
    "clean_auc",
    "clean_balanced_accuracy",
    "clean_score_interval",
    "clean_scorer",
    "flip_labels",
    "noisy_accuracy",
    "noisy_auc",
    "noisy_balanced_accuracy",
    "rate_from_scores",
]

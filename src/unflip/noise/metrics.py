"""Scores on clean labels from scores on noisy ones, and back.

For a fixed classifier the noisy accuracy, balanced accuracy and AUC are increasing affine functions
of the clean ones. So a choice made on noisy labels is sound, and a known rate turns the noisy score
into the clean one. Balanced accuracy and AUC condition on the label, so they also need the share
of positives among the noisy labels, which can be read off the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip.border.arrays import to_numpy
from unflip.noise.models import ClassConditionalNoise, Noise, SymmetricNoise


def clean_accuracy(noisy_accuracy: Any, noise: Noise | float) -> Any:
    """The accuracy on clean labels, from the accuracy on labels with symmetric or uniform noise.

    >>> round(clean_accuracy(0.74, SymmetricNoise(0.2)), 12)
    0.9
    """
    slope, intercept = _accuracy_line(noise)
    return (_numbers(noisy_accuracy) - intercept) / slope


def noisy_accuracy(clean_accuracy: Any, noise: Noise | float) -> Any:
    """The inverse of `clean_accuracy`.

    >>> round(noisy_accuracy(0.9, SymmetricNoise(0.2)), 12)
    0.74
    """
    slope, intercept = _accuracy_line(noise)
    return slope * _numbers(clean_accuracy) + intercept


def clean_balanced_accuracy(
    noisy_balanced_accuracy: Any, noise: Noise | float, noisy_base_rate: Any = 0.5
) -> Any:
    """The balanced accuracy on clean labels, from the one on noisy labels.

    `noisy_base_rate` is the share of positives among the noisy labels. More than two classes are
    understood under uniform noise with equally frequent classes.

    >>> round(clean_balanced_accuracy(0.74, SymmetricNoise(0.2)), 12)
    0.9
    """
    slope, intercept = _balanced_line(noise, noisy_base_rate)
    return (_numbers(noisy_balanced_accuracy) - intercept) / slope


def noisy_balanced_accuracy(
    clean_balanced_accuracy: Any, noise: Noise | float, noisy_base_rate: Any = 0.5
) -> Any:
    """The inverse of `clean_balanced_accuracy`.

    >>> round(noisy_balanced_accuracy(0.9, SymmetricNoise(0.2)), 12)
    0.74
    """
    slope, intercept = _balanced_line(noise, noisy_base_rate)
    return slope * _numbers(clean_balanced_accuracy) + intercept


def clean_auc(noisy_auc: Any, noise: Noise | float, noisy_base_rate: Any = 0.5) -> Any:
    """The area under the ROC curve on clean labels, from the one on noisy labels (two classes).

    >>> round(clean_auc(0.74, SymmetricNoise(0.2)), 12)
    0.9
    """
    slope = _contrast(noise, noisy_base_rate)
    return (_numbers(noisy_auc) - (1 - slope) / 2) / slope


def noisy_auc(clean_auc: Any, noise: Noise | float, noisy_base_rate: Any = 0.5) -> Any:
    """The inverse of `clean_auc`.

    >>> round(noisy_auc(0.9, SymmetricNoise(0.2)), 12)
    0.74
    """
    slope = _contrast(noise, noisy_base_rate)
    return slope * _numbers(clean_auc) + (1 - slope) / 2


def _numbers(scores: Any) -> Any:
    """Lists as arrays; numbers, fractions and arrays as they are, if all are finite."""
    values = to_numpy(scores)
    odd = values[~np.isfinite(values.astype(np.float64))]
    if odd.size:
        raise ValueError(f"a score is a finite number, got {odd.flat[0]}")
    return values if isinstance(scores, list | tuple) else scores


def _accuracy_line(noise: Noise | float) -> tuple[Any, Any]:
    """(slope, intercept) of the noisy accuracy as a function of the clean one."""
    model = noise if isinstance(noise, Noise) else SymmetricNoise(noise)
    table = model.transition
    stay, confuse = table[0, :2].tolist()
    same = np.eye(len(table), dtype=bool)
    if np.any(np.abs(table - np.where(same, stay, confuse)) > 1e-12):
        raise ValueError(
            "under class-conditional noise the noisy accuracy does not determine the clean one; "
            "use clean_balanced_accuracy with the share of noisy positives"
        )
    if not stay > confuse:
        raise ValueError(f"under {model!r} the true class is no likelier than another, and no score recovers")
    # A right prediction survives with 1 - rho, a wrong one becomes right with rho / (K - 1).
    return stay - confuse, confuse


def _balanced_line(noise: Noise | float, noisy_base_rate: Any) -> tuple[Any, Any]:
    model = noise if isinstance(noise, Noise) else SymmetricNoise(noise)
    if model.n_classes == 2:
        slope = _contrast(model, noisy_base_rate)
        return slope, (1 - slope) / 2
    if isinstance(model, ClassConditionalNoise) or np.any(np.asarray(noisy_base_rate) != 0.5):
        raise ValueError(
            "with more than two classes the balanced accuracy can be corrected only under uniform noise "
            "and equally frequent classes"
        )
    return _accuracy_line(model)


def _contrast(noise: Noise | float, noisy_base_rate: Any) -> Any:
    """1 - P(y = -1 | noisy +1) - P(y = +1 | noisy -1), which shrinks balanced accuracy and AUC to 1/2."""
    model = noise if isinstance(noise, Noise) else SymmetricNoise(noise)
    if model.n_classes != 2:
        raise ValueError(f"the AUC is corrected for two classes, the noise model has {model.n_classes}")
    (_, low), (_, high) = model.transition.tolist()
    share = np.asarray(noisy_base_rate)
    base = model.restore(noisy_base_rate)
    if not np.all((share > low) & (share < high) & (np.asarray(base) > 0) & (np.asarray(base) < 1)):
        raise ValueError(
            f"under {model!r} the share of noisy positives lies strictly between {low} and {high}, "
            f"got {noisy_base_rate!r}"
        )
    return (high - low) * base * (1 - base) / (noisy_base_rate * (1 - noisy_base_rate))

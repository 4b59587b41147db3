"""Beyond the paper: several classes under uniform noise, and scores that noise only shrinks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.noise import (
    ClassConditionalNoise,
    SymmetricNoise,
    noisy_accuracy,
    noisy_auc,
    noisy_balanced_accuracy,
)
from unflip.theory.claims.cases import noisy_worlds, random_scores, worlds
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence, Pairs, agree, exceeds
from unflip.theory.minimizers import multiclass_square_scores, multiclass_unhinged_scores
from unflip.theory.risks import risk

UNIFORM_RATES: tuple[Any, ...] = (
    Fraction(1, 10),
    Fraction(1, 2),
    Fraction(13, 20),
)  # below 2/3, three classes


def multiclass_unhinged() -> Evidence:
    """Centred class means are multiplied by one number, so the largest stays the largest; exact."""
    changes: Pairs = []
    for world in worlds(n_classes=3):
        for rate in UNIFORM_RATES:
            for center in (True, False):
                before, after = (
                    multiclass_unhinged_scores(w, center=center) for w in (world, world.corrupt(rate))
                )
                changes.append((_changed(before, after), 0))
    return agree("Multiclass: uniform noise changes no prediction of the unhinged class means", changes)


def multiclass_square() -> Evidence:
    """Ridge regression on one-hot labels keeps its largest score too, with and without intercept; exact."""
    changes: Pairs = []
    for world in worlds(n_classes=3):
        for rate in UNIFORM_RATES:
            for lam, intercept in ((Fraction(1, 10), True), (Fraction(5), False)):
                before, after = (
                    multiclass_square_scores(w, lam, intercept=intercept)
                    for w in (world, world.corrupt(rate))
                )
                changes.append((_changed(before, after), 0))
    return agree("Multiclass: uniform noise changes no prediction of one-hot least squares", changes)


def multiclass_needs_uniform_noise() -> Evidence:
    """Noise that prefers some confusions does change predictions: the theorem asks for uniform noise."""
    table = [[Fraction(6, 10), Fraction(4, 10), 0], [0, 1, 0], [0, 0, 1]]
    noise = ClassConditionalNoise(np.array(table, dtype=object))
    changed = sum(
        _changed(multiclass_unhinged_scores(w), multiclass_unhinged_scores(w.corrupt(noise)))
        for w in worlds(n_classes=3)
    )
    return exceeds(
        "Multiclass, the condition: class-conditional noise may change predictions", [(changed, 0)]
    )


def accuracy_is_affine() -> Evidence:
    """The noisy accuracy of a fixed scorer is (1 - 2 rho) accuracy + rho; exact."""
    pairs: Pairs = []
    for seed, (clean, rate, noisy) in enumerate(noisy_worlds()):
        scores = random_scores(len(clean.points), seed)
        before, after = (1 - risk(w, "zero_one", scores) for w in (clean, noisy))
        pairs.append((noisy_accuracy(before, SymmetricNoise(rate)), after))
    return agree("Scores: the noisy accuracy is (1 - 2 rho) accuracy + rho", pairs, tolerance=1e-15)


def balanced_accuracy_is_affine() -> Evidence:
    """The noisy balanced accuracy is an affine function of the clean one, through the noisy base rate."""
    pairs: Pairs = []
    for seed, (clean, rate, noisy) in enumerate(noisy_worlds()):
        scores = random_scores(len(clean.points), seed)
        before, after = (_balanced_accuracy(w, scores) for w in (clean, noisy))
        pairs.append((noisy_balanced_accuracy(before, SymmetricNoise(rate), noisy.base_rate), after))
    return agree("Scores: the noisy balanced accuracy is affine in the clean one", pairs, tolerance=1e-14)


def auc_is_affine() -> Evidence:
    """The noisy AUC is the clean one shrunk to 1/2, by the factor of the balanced accuracy."""
    pairs: Pairs = []
    for seed, (clean, rate, noisy) in enumerate(noisy_worlds()):
        scores = random_scores(len(clean.points), seed)
        before, after = (_auc(w, scores) for w in (clean, noisy))
        pairs.append((noisy_auc(before, SymmetricNoise(rate), noisy.base_rate), after))
    return agree("Scores: the noisy AUC is affine in the clean one", pairs, tolerance=1e-14)


def _changed(before: AnyArray, after: AnyArray) -> int:
    """At how many points the set of classes with the largest score is another."""
    return sum(_winners(a) != _winners(b) for a, b in zip(before, after, strict=True))


def _winners(scores: AnyArray) -> list[bool]:
    return (scores == max(scores)).tolist()


def _balanced_accuracy(world: FiniteDistribution, scores: AnyArray) -> Any:
    right = (1 + np.sign(scores)) * Fraction(1, 2)
    return (world.given_label(1) @ right + world.given_label(-1) @ (1 - right)) / 2


def _auc(world: FiniteDistribution, scores: AnyArray) -> Any:
    above = (1 + np.sign(scores[:, None] - scores)) * Fraction(1, 2)
    return world.given_label(1) @ above @ world.given_label(-1)


CLAIMS = (
    multiclass_unhinged,
    multiclass_square,
    multiclass_needs_uniform_noise,
    accuracy_is_affine,
    balanced_accuracy_is_affine,
    auc_is_affine,
)

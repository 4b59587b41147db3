"""A linear model of plain or standardised columns as a formula over the columns as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.features import Standardize


@dataclass(frozen=True, eq=False)
class Affine:
    """Scores intercepts + weights @ (x - places), one for two classes or one a class.

    weights: (C, d); intercepts: (C,); places: (d,), what columns are counted from, since far from zero
    weights @ x and an intercept as large would take each other's digits.
    """

    weights: Array
    intercepts: Array
    places: Array


def affine(model: Any, doublings: int) -> Affine:
    """The formula of a fitted linear model, times 2**doublings rather than those of its scorer.

    >>> from unflip import UnhingedClassifier
    >>> model = UnhingedClassifier(features=Standardize()).fit([[10.0], [14.0]], [0, 1])
    >>> affine(model, 0).weights.tolist(), affine(model, 0).places.tolist()
    ([[0.5]], [12.0])
    """
    scorer = model.scorer_
    mean, scale = np.zeros(model.n_features_in_), np.ones(model.n_features_in_)
    if model.features_ is not None:
        fitted = model.features_.transformer
        if not isinstance(fitted, Standardize):
            raise ValueError(
                f"features made by {type(fitted).__name__} have no SQL here; plain columns and Standardize do"
            )
        mean, scale = fitted.mean_ if fitted.center else mean, fitted.scale_
    slope = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    # Far from zero mean + origin scale would be rounded; what the place leaves of it goes into the constants.
    places = np.where(mean == 0, scorer.frame.origin * scale, mean)
    rest = scorer.frame.origin - (places - mean) * slope
    with np.errstate(over="ignore", invalid="ignore"):
        direction = np.atleast_2d(scorer.direction) / scorer.frame.unit
        weights = np.ldexp(direction * slope, doublings)
        intercepts = np.ldexp(np.atleast_1d(scorer.base) - direction @ rest, doublings)
    if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
        raise ValueError(
            "a score is infinite, because a class has no rows or the columns are too large or small; "
            "no formula can say this"
        )
    return Affine(weights, intercepts, places)

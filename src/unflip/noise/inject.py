"""Flip labels on purpose: a coin per label, as in the paper, or an exact quota."""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.noise.models import Noise, as_noise


def flip_labels(
    y: Any,
    noise: Noise | float,
    rng: np.random.Generator | int | None = None,
    *,
    quota: bool = False,
    classes: Any = None,
) -> Array:
    """A noisy copy of the labels `y`.

    `noise` is a model, or a rate: symmetric for two classes, uniform for more. Each label is
    flipped by a coin of its own. With the same generator state a higher rate flips the same labels
    and more. `quota=True` flips an exact number instead: the expected total, rounded, spread over the
    classes so that each is within one of its own expectation. `classes` names all classes where `y`
    may lack some; it orders the rows of a noise table, which otherwise follow the sorted labels.
    `rng` is a generator, or a seed for one that no other code draws from.

    >>> flip_labels(["cat", "dog", "dog", "cat"], 0.25, rng=1, quota=True).tolist()
    ['cat', 'dog', 'cat', 'cat']
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"labels form one column, got an array of shape {labels.shape}")
    known, codes, place = _encoded(labels, classes)
    if len(known) < 2:
        raise ValueError(f"noise needs at least two classes, got {known.tolist()}; name them in classes=")
    transition = as_noise(noise, len(known)).transition.astype(np.float64)[np.ix_(place, place)]
    generator = _generator(rng)
    leave = np.where(np.eye(len(known), dtype=bool), 0.0, transition)
    flipped = _by_quota(codes, leave, generator) if quota else _by_coin(codes, leave, generator)
    return known[flipped]


def _generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """A generator as it is; from a seed, one with a stream of its own.

    `default_rng(seed)` may well have drawn the labels themselves, and coins that repeat those draws
    would flip labels by class.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(np.random.SeedSequence(rng, spawn_key=(0xF11B,)))


def _encoded(labels: Array, classes: Any) -> tuple[Array, Array, Array]:
    """The sorted classes, the code of each label, and the place of each class in the user's order."""
    try:
        named = np.unique(labels) if classes is None else np.asarray(classes)
        known, place = np.unique(named, return_index=True)
        codes = np.searchsorted(known, labels)
        missing = bool(np.any(labels != labels))
    except TypeError:  # None, pandas.NA, or a mixture of types
        raise ValueError("labels must be of one sortable type, none of them missing") from None
    if missing:
        raise ValueError("labels must not be missing, got NaN among them")
    if len(known) < named.size:
        raise ValueError(f"classes= names each class once, got {named.tolist()}")
    strange = labels[known[np.minimum(codes, len(known) - 1)] != labels] if len(known) else labels
    if strange.size:
        raise ValueError(f"label {strange.tolist()[0]!r} is not among the classes {known.tolist()}")
    if labels.size and np.array_equal(same := known.astype(labels.dtype), known):
        known = same  # the copy keeps the dtype of the labels where that can hold every class
    return known, codes, place


def _by_coin(codes: Array, leave: Array, rng: np.random.Generator) -> Array:
    # The other classes share [0, P(flip)); beyond that the label stays.
    steps = np.cumsum(leave, axis=1)[codes]
    landed = (rng.random(len(codes))[:, None] >= steps).sum(axis=1)
    return np.where(landed == leave.shape[0], codes, landed)


def _by_quota(codes: Array, leave: Array, rng: np.random.Generator) -> Array:
    sizes = np.bincount(codes, minlength=len(leave))
    expected = sizes[:, None] * leave
    leaving = expected.sum(axis=1)
    flipped = codes.copy()
    # First how many leave each class, then where they go: no class is asked for more than it has.
    for clean, total in enumerate(_rounded(leaving, round(float(leaving.sum())), rng)):
        rows = rng.permutation(np.flatnonzero(codes == clean))[:total]
        flipped[rows] = np.repeat(np.arange(len(leave)), _rounded(expected[clean], total, rng))
    return flipped


def _rounded(expected: Array, total: int, rng: np.random.Generator) -> Array:
    """Whole numbers summing to `total`, each within one of its expectation.

    Who is rounded up is drawn, the likelier the larger the remainder: a fixed rule would favour
    the same classes every time.

    >>> _rounded(np.array([1.0, 0.5, 0.5]), 2, np.random.default_rng(0)).sum()
    np.int64(2)
    """
    tidy = np.round(expected, 9)  # 2.9999999999 is three
    whole = np.floor(tidy).astype(int)
    rest = tidy - whole
    missing = total - int(whole.sum())
    if missing > 0:
        whole[rng.choice(len(rest), size=missing, replace=False, p=rest / rest.sum())] += 1
    return whole

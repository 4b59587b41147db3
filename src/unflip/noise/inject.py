"""Flip labels on purpose: a coin per label, as in the paper, or an exact quota."""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip.noise.models import Array, Noise, as_noise


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
    may lack some; it orders the rows of a noise table.

    >>> flip_labels(["cat", "dog", "dog", "cat"], 0.25, rng=1, quota=True).tolist()
    ['dog', 'dog', 'dog', 'cat']
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"labels form one column, got an array of shape {labels.shape}")
    known = np.unique(labels if classes is None else np.asarray(classes))
    codes = np.searchsorted(known, labels)
    strange = labels[known[np.minimum(codes, len(known) - 1)] != labels] if len(known) else labels
    if strange.size:
        raise ValueError(f"label {strange[0]!r} is not among the classes {known.tolist()}")
    if len(known) < 2:
        raise ValueError(f"noise needs at least two classes, got {known.tolist()}; name them in classes=")
    transition = as_noise(noise, len(known)).transition.astype(np.float64)
    generator = np.random.default_rng(rng)
    leave = np.where(np.eye(len(known), dtype=bool), 0.0, transition)
    flipped = _by_quota(codes, leave, generator) if quota else _by_coin(codes, leave, generator)
    return known[flipped]


def _by_coin(codes: Array, leave: Array, rng: np.random.Generator) -> Array:
    # The other classes share [0, P(flip)); beyond that the label stays.
    steps = np.cumsum(leave, axis=1)[codes]
    landed = (rng.random(len(codes))[:, None] >= steps).sum(axis=1)
    return np.where(landed == leave.shape[0], codes, landed)


def _by_quota(codes: Array, leave: Array, rng: np.random.Generator) -> Array:
    sizes = np.bincount(codes, minlength=len(leave))
    expected = sizes[:, None] * leave
    moves = np.floor(expected + 1e-9).astype(int)
    missing = round(float(expected.sum())) - int(moves.sum())
    # Largest remainders first; a stable sort keeps the outcome a function of the numbers alone.
    for cell in np.argsort(-(expected - moves).ravel(), kind="stable")[: max(missing, 0)]:
        moves.flat[cell] += 1
    flipped = codes.copy()
    for clean in range(len(leave)):
        rows = rng.permutation(np.flatnonzero(codes == clean))
        target = np.repeat(np.arange(len(leave)), moves[clean])[: len(rows)]
        flipped[rows[: len(target)]] = target
    return flipped

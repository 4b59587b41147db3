"""From a dataset and a protocol to training and test matrices."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.experiments.datasets import Dataset, load
from unflip.experiments.generators import draw_long, draw_mease
from unflip.experiments.protocol import Protocol, number

DRAWN = ("long", "mease")
TRAINING, TEST = 800, 1000  # rows of the drawn datasets; the paper says so for Long's, not for Mease's


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, ready for a linear scorer, with clean labels -1.0 and +1.0."""

    X_train: AnyArray
    y_train: AnyArray
    X_test: AnyArray
    y_test: AnyArray


def draw_split(
    name: str, protocol: Protocol, rng: np.random.Generator, data_dir: str | os.PathLike[str] | None = None
) -> Split:
    """One random split of a dataset, or one draw of a generated one.

    >>> from unflip.experiments.protocol import protocol
    >>> split = draw_split("iris", protocol("iris"), np.random.default_rng(0))
    >>> split.X_train.shape, split.X_test.shape
    ((120, 5), (30, 5))
    """
    if name in DRAWN:
        draw = _drawing(name, protocol)
        (X_train, y_train), (X_test, y_test) = (draw(n, rng) for n in (TRAINING, TEST))
    else:
        X, y = _numbers(protocol.source or name, protocol.encoding, os.fspath(data_dir) if data_dir else None)
        train, test = np.split(rng.permutation(len(y)), [round(protocol.train_share * len(y))])
        X_train, X_test, y_train, y_test = X[train], X[test], y[train], y[test]
    X_train, X_test = scale(X_train, X_test, protocol.scaling)
    if protocol.bias:
        X_train, X_test = (np.column_stack([part, np.ones(len(part))]) for part in (X_train, X_test))
    return Split(X_train, y_train.astype(np.float64), X_test, y_test.astype(np.float64))


def encode(data: Dataset, encoding: str) -> AnyArray:
    """Numbers for the rows of a dataset.

    >>> encode(load("car"), "one-hot").shape, encode(load("car"), "codes").shape
    ((1728, 21), (1728, 6))
    """
    if not data.categorical:
        return data.X
    found = [np.unique(column, return_index=True, return_inverse=True) for column in data.X.T.astype(str)]
    if encoding == "one-hot":
        return np.hstack([np.eye(len(values))[codes] for values, _, codes in found])
    if encoding == "codes":
        return np.column_stack([codes for _, _, codes in found]).astype(np.float64)
    if encoding == "appearance":
        return np.column_stack([np.argsort(np.argsort(first))[codes] for _, first, codes in found]).astype(
            float
        )
    raise ValueError(f"encoding is 'one-hot', 'codes' or 'appearance', got {encoding!r}")


def scale(train: AnyArray, test: AnyArray, scaling: str) -> tuple[AnyArray, AnyArray]:
    """Both parts, shifted and divided by what the training part says.

    >>> scale(np.array([[1.0], [3.0]]), np.array([[2.0]]), "plus-minus")[1].tolist()
    [[0.0]]
    """
    zero, one = np.zeros(train.shape[1]), np.ones(train.shape[1])
    low, high = train.min(axis=0), train.max(axis=0)
    frames = {
        "raw": (zero, one),
        "centered": (train.mean(axis=0), one),
        "standard": (train.mean(axis=0), train.std(axis=0)),
        "min-max": (low, high - low),
        "plus-minus": ((low + high) / 2, (high - low) / 2),
    }
    if scaling not in frames:
        raise ValueError(f"scaling is one of {', '.join(frames)}, got {scaling!r}")
    shift, size = frames[scaling]
    size = np.where(size > 0, size, 1.0)
    return (train - shift) / size, (test - shift) / size


@lru_cache(maxsize=8)
def _numbers(name: str, encoding: str, data_dir: str | None) -> tuple[AnyArray, AnyArray]:
    """A dataset as numbers; kept, because a study asks for it again and again."""
    data = load(name, data_dir)
    return encode(data, encoding), data.y


def _drawing(
    name: str, protocol: Protocol
) -> Callable[[int, np.random.Generator], tuple[AnyArray, AnyArray]]:
    if name == "mease":
        return lambda n, rng: draw_mease(n, rng, normal=protocol.features == "normal")
    masses = tuple(number(mass) for mass in protocol.masses)
    return lambda n, rng: draw_long(n, rng, number(protocol.gamma), masses)

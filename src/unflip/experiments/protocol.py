"""How a dataset becomes a training and a test matrix: the choices that the paper leaves open, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.experiments.datasets import Dataset

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Protocol:
    """One way to run the experiments.

    encoding: "one-hot" or "codes" (ordinal numbers in sorted order) for categorical columns.
    scaling: "min-max" to [0, 1], "standard", "centered" or "raw"; statistics come from the training part.
    bias: append a column of ones. train_share: the part of the rows to train on.
    tuned: choose the threshold of least error on the noisy training labels; otherwise it is zero.

    >>> Protocol().scaling
    'min-max'
    """

    encoding: str = "one-hot"
    scaling: str = "min-max"
    bias: bool = True
    train_share: float = 0.8
    tuned: bool = True


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, ready for a linear scorer, with clean labels -1 and +1."""

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array


def encode(data: Dataset, encoding: str) -> Array:
    """Numbers for the rows of a dataset.

    >>> from unflip.experiments.datasets import load
    >>> encode(load("car"), "one-hot").shape, encode(load("car"), "codes").shape
    ((1728, 21), (1728, 6))
    """
    if not data.categorical:
        return data.X
    columns = [np.unique(column, return_inverse=True) for column in data.X.T.astype(str)]
    if encoding == "codes":
        return np.column_stack([codes for _, codes in columns]).astype(np.float64)
    if encoding != "one-hot":
        raise ValueError(f"encoding is 'one-hot' or 'codes', got {encoding!r}")
    return np.hstack([np.eye(len(values))[codes] for values, codes in columns])


def split_rows(data: Dataset, protocol: Protocol, rng: np.random.Generator) -> Split:
    """One random split of a dataset under a protocol.

    >>> from unflip.experiments.datasets import load
    >>> split = split_rows(load("iris"), Protocol(), np.random.default_rng(0))
    >>> split.X_train.shape, split.X_test.shape
    ((120, 5), (30, 5))
    """
    X, n = encode(data, protocol.encoding), len(data.y)
    order = rng.permutation(n)
    train, test = np.split(order, [round(protocol.train_share * n)])
    X_train, X_test = _scaled(X[train], X[test], protocol.scaling)
    if protocol.bias:
        X_train, X_test = (np.column_stack([part, np.ones(len(part))]) for part in (X_train, X_test))
    return Split(X_train, data.y[train], X_test, data.y[test])


def _scaled(train: Array, test: Array, scaling: str) -> tuple[Array, Array]:
    frames = {
        "raw": (np.zeros(train.shape[1]), np.ones(train.shape[1])),
        "centered": (train.mean(axis=0), np.ones(train.shape[1])),
        "standard": (train.mean(axis=0), train.std(axis=0)),
        "min-max": (train.min(axis=0), np.ptp(train, axis=0)),
    }
    if scaling not in frames:
        raise ValueError(f"scaling is one of {', '.join(frames)}, got {scaling!r}")
    shift, size = frames[scaling]
    size = np.where(size > 0, size, 1.0)
    return (train - shift) / size, (test - shift) / size

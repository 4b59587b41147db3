"""Our kernels for GPUs, by Triton's interpreter on the CPU, in a process that is told so from the start."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from unflip.moments.early import EarlySums

PROGRAM = Path(__file__).with_name("in_triton.py")


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("what", ["sums", "early", "scores"])
def test_kernels_agree_with_the_plain_way(what):
    run = subprocess.run(
        [sys.executable, PROGRAM, what],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if "only 0-dimensional arrays can be converted to Python scalars" in run.stderr:
        pytest.skip("the interpreter of this Triton does not work with this NumPy")
    assert run.returncode == 0, run.stderr


def total(X, y):
    """What the kernel returns for rows X and labels y."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    by_class = [(y == 0) | (y == -1), y == 1]
    rows = [[*X[own].sum(axis=0), own.sum()] for own in by_class]
    return np.array([*rows, [*(X**2).sum(axis=0), (y == -1).sum()]])


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([-1, 1, 1], [-1, 1]),
        ([-1, 0, 1], None),  # three classes
        ([0, 1, 2], None),
        ([1, 1, 1], None),  # the usual way has the words for it
    ],
)
def test_counts_tell_whether_the_suspicion_was_right(labels, classes):
    found = EarlySums(3, np.dtype(int), total([[1.0], [2.0], [-4.0]], labels)).found()
    assert (None if found is None else found[0].tolist()) == classes


@pytest.mark.parametrize(
    ("column", "accepted"),
    [
        ([1.0, 1.0, 1.0], True),  # a constant beside a column that varies
        ([0.0, 0.0, 0.0], True),
        ([1e3, 1e3, 1e3], False),
        ([1e3, 1e3 + 1, 1e3 + 2], False),  # far from zero for its spread
        ([1e3, 0.0, -1e3], True),
        ([np.nan, 0.0, 0.0], False),
        ([1e100, 0.0, 0.0], False),
    ],
)
def test_sums_tell_whether_rows_need_an_origin_of_their_own(column, accepted):
    X = np.stack([np.array([1.0, 2.0, -4.0]), column], axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        found = EarlySums(3, np.dtype(int), total(X, [0, 1, 1])).found()
    assert (found is not None) == accepted

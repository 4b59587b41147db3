"""A program that runs our kernels by Triton's interpreter, on tensors of the host."""

import sys

import numpy as np
import torch
from numpy.testing import assert_allclose, assert_array_equal

from unflip import UnhingedClassifier
from unflip.kernels import Gaussian
from unflip.kernels import on_device as kernels_on_device
from unflip.moments.frame import Frame
from unflip.passes import array_api, engines, triton_sums
from unflip.sources import encode

rng = np.random.default_rng(0)


def sums():
    for n, d, n_classes, weighted, framed, dtype in [
        (1000, 5, 2, False, False, "float32"),
        (777, 100, 3, True, True, "float32"),
        (300, 200, 5, True, False, "float64"),
        (129, 3, 2, False, True, "float64"),
        (1, 4, 2, False, False, "float32"),
    ]:
        X = torch.asarray(rng.normal(size=(n, d)).astype(dtype))
        y = torch.asarray(rng.integers(0, n_classes, n))
        codes = encode(np.append(np.arange(n_classes), y))[n_classes:]  # every class is known
        codes = type(codes)(codes.classes, y)
        w = torch.asarray(rng.random(n)) if weighted else torch.ones(1, dtype=torch.float64).expand(n)
        frame = Frame(rng.normal(size=d), 2.0**-200) if framed else Frame.plain(d)
        found, plain = (way.class_sums(X, codes, w, frame) for way in (triton_sums, array_api))
        for name in ("counts", "sums", "squares"):
            ours, theirs = getattr(found, name), getattr(plain, name)
            assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * np.abs(theirs).max())
        # Columns far apart in memory are read as they lie.
        found = triton_sums.class_sums(X.T.contiguous().T, codes, w, frame)
        assert_allclose(found.sums, plain.sums, rtol=1e-12)


def fits():
    engines.is_for_triton = lambda X: True
    X = torch.asarray(rng.normal(size=(5000, 7)).astype("float32"))
    X[:, 3] = 1
    for values, dtype in [
        ((0, 1), torch.int64),
        ((-1, 1), torch.int8),
        ((0, 1), torch.float32),
        ((False, True), torch.bool),
        ((-1, 0, 1), torch.int64),
        ((0, 2), torch.int64),
        ((0, 1, 2**32), torch.int64),
        ((0.2, 1), torch.float64),  # soft labels are summed without our kernel
    ]:
        y = torch.asarray(np.array(values)[rng.integers(0, len(values), 5000)]).to(dtype)
        for rows in (X, X + 1e4):  # about zero, and in a frame of their own
            for weight in (None, torch.asarray(rng.random(5000))):
                found = UnhingedClassifier().fit(rows, y, weight)
                expected = UnhingedClassifier().fit(
                    rows.numpy(), y.numpy(), None if weight is None else weight.numpy()
                )
                assert_array_equal(found.classes_, expected.classes_)
                assert found.classes_.dtype == expected.classes_.dtype
                assert_array_equal(found.moments_.origin != 0, expected.moments_.origin != 0)
                scores = found.decision_function(rows).numpy(), expected.decision_function(rows.numpy())
                assert_allclose(*scores, rtol=0, atol=1e-10 * np.abs(scores[1]).max())


def scores():
    kernels_on_device.is_for_triton = lambda X: True
    for d in (3, 20, 100):
        X, Z = (torch.asarray(rng.normal(size=(n, d)).astype("float32")) for n in (150, 300))
        w = rng.normal(size=(300, 2))
        expected = Gaussian(4.0).score(X.numpy(), Z.numpy(), w)
        for precision in ("accurate", "fast"):  # the interpreter takes products in full for both
            found = Gaussian(4.0).score(X, Z, w, precision=precision).numpy()
            assert np.linalg.norm(found - expected) <= 1e-5 * np.linalg.norm(expected)


if __name__ == "__main__":
    {"sums": sums, "fits": fits, "scores": scores}[sys.argv[1]]()

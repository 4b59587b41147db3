"""What an NVIDIA GPU makes of rows that are there already, beside bare reads and plain torch in the same run.

python benchmarks/gpu.py [--rows 20000000] [--columns 100] [--pairs 200000] [--json]

Needs torch with CUDA, and Triton for our own kernels (extra `gpu`); CuPy is measured if it is there.
"""

import argparse
import json
import statistics
import time
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import torch

from unflip import SquareClassifier, UnhingedClassifier
from unflip.features import Fourier
from unflip.kernels import Gaussian


def seconds(call, times=15):
    """The median time of a call, which includes all that it does on the host; the first call is not timed."""
    call()
    spent = []
    for _ in range(times):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


def passes(rows, columns):
    """Reads of X, the yardsticks first."""
    X = torch.randn(rows, columns, device="cuda")
    y = torch.randint(0, 2, (rows,), device="cuda")
    signs = (2.0 * y - 1).float()
    model = UnhingedClassifier().fit(X, y)
    calls = {
        "bare read, X.sum()": X.sum,
        "mean map, y @ X": lambda: signs @ X,
        "UnhingedClassifier.fit": lambda: UnhingedClassifier().fit(X, y),
        "UnhingedClassifier.fit, weights": partial(
            UnhingedClassifier().fit, X, y, torch.rand(rows, device="cuda")
        ),
        "UnhingedClassifier.predict": lambda: model.predict(X),
        "X.T @ X": lambda: X.T @ X,
        "SquareClassifier.fit": lambda: SquareClassifier().fit(X, y),
    }
    try:
        import cupy

        X_cupy, y_cupy = cupy.from_dlpack(X), cupy.from_dlpack(y)
        calls["UnhingedClassifier.fit, CuPy"] = lambda: UnhingedClassifier().fit(X_cupy, y_cupy)
    except ImportError:
        pass
    size = X.numel() * X.element_size()
    return [
        {"what": name, "seconds": spent, "TB_per_s": size / spent / 1e12}
        for name, spent in ((name, seconds(call)) for name, call in calls.items())
    ]


def plain_scores(X, Z, weights, bandwidth, height=8192):
    """Exact scores with torch alone, in float32, a block of rows at a time."""
    scores, squares = [], (Z * Z).sum(dim=1)
    for block in X.split(height):
        apart = (block * block).sum(dim=1)[:, None] + squares - 2 * block @ Z.T
        scores.append(torch.exp(apart * (-0.5 / bandwidth**2)) @ weights)
    return torch.cat(scores)


def gaussian(rows, more, d=64):
    """Exact Gaussian scores, with errors against float64 on some rows."""
    results = []
    for bandwidth in (8.0, 2.0):
        X, Z = torch.randn(rows, d, device="cuda"), torch.randn(more, d, device="cuda")
        weights = torch.randn(more, device="cuda")
        few, kernel = X[:1000], Gaussian(bandwidth)
        truth = kernel.score(few.double(), Z.double(), weights.double())
        ways = {
            "plain torch, blocks": lambda X, Z=Z, w=weights, b=bandwidth: plain_scores(X, Z, w, b),
            "Gaussian.score": lambda X, Z=Z, w=weights, k=kernel: k.score(X, Z, w),
            "Gaussian.score, fast": lambda X, Z=Z, w=weights, k=kernel: k.score(X, Z, w, precision="fast"),
        }
        for name, way in ways.items():
            spent = seconds(partial(way, X), times=3)
            error = float(torch.linalg.norm(way(few) - truth) / torch.linalg.norm(truth))
            results.append(
                {
                    "what": f"{name}, bandwidth {bandwidth:g}",
                    "seconds": spent,
                    "pairs_per_s": rows * more / spent,
                    "relative_error": error,
                }
            )
    return results


def features(rows, d=64, width=1000):
    X = torch.randn(rows, d, device="cuda")
    fourier = Fourier(width, bandwidth=8.0).fit(X[:1000])
    y = torch.randint(0, 2, (rows,), device="cuda")
    learner = UnhingedClassifier(features=Fourier(width, bandwidth=8.0))
    calls = {
        f"cos of {width} numbers a row": partial(torch.cos, torch.randn(rows, width, device="cuda").double()),
        "Fourier.transform": lambda: fourier.transform(X),
        "UnhingedClassifier(Fourier).fit": lambda: learner.fit(X, y),
    }
    found = {name: seconds(call, times=3) for name, call in calls.items()}
    return [{"what": k, "seconds": s, "features_per_s": rows * width / s} for k, s in found.items()]


def agreement():
    """The largest differences from NumPy, in float64, relative to the largest number."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(20_000, 30)) + 0.3, rng.random(20_000)
    places = {"torch": lambda a: torch.asarray(a, device="cuda")}
    try:
        import cupy

        places["cupy"] = cupy.asarray
    except ImportError:
        pass
    results = []
    for library, move in places.items():
        back = (lambda a: a.cpu().numpy()) if library == "torch" else (lambda a: a.get())
        for classes in (2, 3, 20):
            y = rng.integers(0, classes, len(X))
            for model in (
                UnhingedClassifier(),
                SquareClassifier(),
                UnhingedClassifier(features=Fourier(200)),
            ):
                here = type(model)(**model.get_params(deep=False)).fit(X, y, w)
                there = type(model)(**model.get_params(deep=False)).fit(move(X), move(y), move(w))
                expected, scores = here.decision_function(X), there.decision_function(move(X))
                same = bool((back(there.predict(move(X))) == here.predict(X)).all())
                gap = float(np.abs(back(scores) - expected).max() / np.abs(expected).max())
                what = f"{library}, {type(model).__name__}, {classes} classes, features={model.features}"
                results.append({"what": what, "gap": gap, "predictions_equal": same})
        weights = rng.normal(size=len(X))
        for bandwidth in (5.0, 0.1):
            expected = Gaussian(bandwidth).score(X[:2000], X, weights)
            scores = back(Gaussian(bandwidth).score(move(X[:2000]), move(X), move(weights)))
            gap = float(np.abs(scores - expected).max() / np.abs(expected).max())
            results.append({"what": f"{library}, Gaussian({bandwidth}).score", "gap": gap})
    return results


def versions():
    found = {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
    for name in (
        "torch",
        "triton",
        "cupy-cuda13x",
        "cupy-cuda12x",
        "numpy",
        "scikit-learn",
        "array-api-compat",
    ):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=1_000_000, help="rows of Z; X has a fifth of them")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    tables = {}
    for name, table in {
        "passes": partial(passes, args.rows, args.columns),
        "gaussian": partial(gaussian, args.pairs // 5, args.pairs),
        "features": partial(features, min(args.rows, 500_000)),
        "agreement": agreement,
    }.items():
        tables[name] = table()
        torch.cuda.empty_cache()
        if not args.json:
            for row in tables[name]:
                rest = "  ".join(f"{k} {v:.3g}" for k, v in row.items() if k != "what")
                print(f"{row['what']:64} {rest}", flush=True)
    facts = {**versions(), "rows": args.rows, "columns": args.columns}
    print(json.dumps({**facts, **tables}) if args.json else facts)


if __name__ == "__main__":
    main()

"""One split of the paper, 125 trials, on a GPU through the array API, beside the same numbers from the CPU.

python benchmarks/paper_gpu.py [--datasets iris car ...] [--trials 125] [--check] [--json]

`--check` runs the CPU as well and compares errors. Needs torch with CUDA.
"""

import argparse
import json
import time
import zlib

import numpy as np
import torch

from unflip.experiments.datasets import is_available
from unflip.experiments.protocol import protocol
from unflip.experiments.splits import DRAWN, Split, draw_split
from unflip.experiments.study import DATASETS
from unflip.experiments.trials import PAPER_LOSSES, run_trials


def draw(dataset):
    rng = np.random.default_rng([0, zlib.crc32(dataset.encode()), 0])
    return draw_split(dataset, protocol(dataset), rng), rng


def on_gpu(split):
    parts = (split.X_train, split.y_train, split.X_test, split.y_test)
    return Split(*(torch.asarray(part, device="cuda") for part in parts))


def timed(call):
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = call()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--trials", type=int, default=125)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    here = [name for name in args.datasets if name in DRAWN or is_available(name)]
    warm, rng = draw("iris")
    run_trials(on_gpu(warm), rng, 2, PAPER_LOSSES)  # so that libraries are loaded
    rows = []
    for dataset in here:
        split, rng = draw(dataset)
        moved, how = on_gpu(split), protocol(dataset).threshold
        for name in PAPER_LOSSES:
            state = rng.bit_generator.state
            spent, found = timed(
                lambda moved=moved, rng=rng, name=name, how=how: run_trials(
                    moved, rng, args.trials, [name], [how]
                )[how][name]
            )
            met = (found.certificate <= 1e-6) | (found.separable > 0)
            row = {"dataset": dataset, "loss": name, "seconds": spent, "unmet": int((~met).sum())}
            if args.check:
                rng.bit_generator.state = state
                start = time.perf_counter()
                cpu = run_trials(split, rng, args.trials, [name], [how])[how][name]
                row["cpu_seconds"] = time.perf_counter() - start
                row["largest_difference"] = float(np.abs(found.error - cpu.error).max())
                row["mean_difference"] = float(
                    np.abs(found.error.mean(axis=1) - cpu.error.mean(axis=1)).max()
                )
            rows.append(row)
            if not args.json:
                print(*(f"{k} {v:.4g}" if isinstance(v, float) else v for k, v in row.items()), flush=True)
    total = sum(row["seconds"] for row in rows)
    result = {
        "gpu": torch.cuda.get_device_name(),
        "total": total,
        "peak_gb": torch.cuda.max_memory_allocated() / 1e9,
    }
    print(json.dumps({**result, "rows": rows}) if args.json else result)


if __name__ == "__main__":
    main()

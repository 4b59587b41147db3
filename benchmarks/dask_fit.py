"""A fit on a Dask cluster: two workers of one thread against one, and a run in which workers are killed.

python benchmarks/dask_fit.py [--rows 4000000] [--columns 32] [--files 32] [--times 3] [--kills 4]
    [--only "degree 1"] [--json]

Rows are Parquet files that the tasks read, so all that a worker needs comes from the disk, and all that it
sends is sums. Both clusters stay up and take turns. Where other programs keep the cores busy, the processor
time of the busiest worker says what the clock would say on free ones.
"""

import argparse
import json
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import dask
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from unflip import UnhingedClassifier
from unflip.moments import accumulate
from unflip.sources import dask as dask_source


def write_files(folder, rows, columns, files):
    paths = []
    for number, part in enumerate(np.array_split(np.arange(rows), files)):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(columns, len(part))).astype(np.float32)
        table = {f"x{j}": column for j, column in enumerate(X)} | {"label": rng.integers(0, 2, len(part))}
        paths.append(str(Path(folder) / f"{number:03}.parquet"))
        pq.write_table(pa.table(table), paths[-1], compression="zstd", row_group_size=1 << 16)
    return paths


def cluster_of(workers):
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )


def timed(client, call):
    """Seconds by the clock, and of processor time in the busiest worker."""
    with client.as_current():
        before, start = client.run(time.process_time), time.perf_counter()
        found = call()
        spent = time.perf_counter() - start
        after = client.run(time.process_time)
    return found, spent, max(after[worker] - before[worker] for worker in before)


def kill_workers(cluster, times, pause, killed, over):
    """Kill one worker process after the other; the cluster puts new ones in their place."""
    while len(killed) < times and not over.wait(pause):
        for nanny in list(cluster.workers.values()):
            process = nanny.process
            if process is None or nanny.status.name != "running" or process.pid in (None, *killed):
                continue
            os.kill(process.pid, signal.SIGKILL)
            killed.append(process.pid)
            break


def with_killed_workers(cluster, call, times, pause):
    killed, over = [], threading.Event()
    killer = threading.Thread(target=kill_workers, args=(cluster, times, pause, killed, over))
    killer.start()
    start = time.perf_counter()
    try:
        found = call()
        at_the_end, spent = len(killed), time.perf_counter() - start
    finally:
        over.set()
        killer.join()
    return found, at_the_end, spent


def same_bits(a, b):
    return a.classes == b.classes and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("counts", "sums", "squares", "second", "origin", "unit")
    )


def same_model(a, b):
    one, other = (UnhingedClassifier().fit_moments(moments) for moments in (a, b))
    return bool(np.array_equal(one.coef_, other.coef_) and one.intercept_ == other.intercept_)


def measured(calls, clients, rows, times):
    results, kept = [], {}
    for name, call in calls.items():
        spent = {workers: [timed(client, call)] for workers, client in clients.items()}  # loads compiled code
        kept[name] = spent[1].pop()[0]
        assert same_bits(kept[name], spent[2].pop()[0]), "the number of workers shows"
        for _ in range(times):
            for workers, client in clients.items():
                spent[workers].append(timed(client, call)[1:])
        best = {workers: [min(column) for column in zip(*spent[workers], strict=True)] for workers in clients}
        for workers, (seconds, busiest) in best.items():
            results.append(
                {
                    "what": name,
                    "workers": workers,
                    "seconds": seconds,
                    "rows_per_second": rows / seconds,
                    "speedup": best[1][0] / seconds,
                    "busiest_cpu_seconds": busiest,
                    "speedup_by_cpu": best[1][1] / busiest,
                }
            )
    return results, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--files", type=int, default=32)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument(
        "--only", choices=["degree 1", "degree 2", "degree 1, exact"], help="one of the three"
    )
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    dask.config.set({"distributed.scheduler.allowed-failures": 20})
    with tempfile.TemporaryDirectory() as folder, cluster_of(1) as one, cluster_of(2) as two:
        paths = write_files(folder, args.rows, args.columns, args.files)
        calls = {
            "degree 1": lambda: accumulate(dask_source(paths, "label")),
            "degree 2": lambda: accumulate(dask_source(paths, "label"), degree=2),
            "degree 1, exact": lambda: accumulate(dask_source(paths, "label"), summation="exact"),
        }
        calls = {name: call for name, call in calls.items() if args.only in (None, name)}
        with Client(one, set_as_default=False) as alone, Client(two, set_as_default=False) as both:
            results, kept = measured(calls, {1: alone, 2: both}, args.rows, args.times)
            deaths = []
            for name in calls:
                usual = next(row["seconds"] for row in results if row["what"] == name and row["workers"] == 2)
                with both.as_current():
                    found, killed, spent = with_killed_workers(two, calls[name], args.kills, usual / 8)
                same = same_bits(found, kept[name]) and same_model(found, kept[name])
                deaths.append({"what": name, "killed": killed, "seconds": spent, "identical": same})
    if args.json:
        sizes = {"rows": args.rows, "columns": args.columns, "files": args.files, "cores": os.cpu_count()}
        print(json.dumps({**sizes, "results": results, "killed": deaths}))
        return
    print(
        f"{args.rows:,} rows x {args.columns} columns of float32 in {args.files} Parquet files (zstd), "
        f"{os.cpu_count()} cores; best of {args.times}"
    )
    for row in results:
        print(
            f"{row['what']:16} {row['workers']} worker{'s' if row['workers'] > 1 else ' '} x 1 thread "
            f"{row['seconds']:7.2f} s {row['rows_per_second'] / 1e6:5.2f} M rows/s {row['speedup']:5.2f} x   "
            f"busiest worker {row['busiest_cpu_seconds']:6.2f} s CPU {row['speedup_by_cpu']:5.2f} x"
        )
    for row in deaths:
        same = "identical" if row["identical"] else "DIFFERENT"
        print(f"{row['what']:16} {row['killed']} workers killed: {row['seconds']:.1f} s, the model is {same}")


if __name__ == "__main__":
    main()

"""One pass over a Parquet file, beside the sums by group of polars' streaming engine over the same file.

Each runs in a process of its own, which tells its time and peak memory; they take turns. Files are written
here, in pieces, and deleted afterwards. The first pass of a process also loads compiled code: the time is
that of the best pass.

python benchmarks/parquet.py [--rows 5000000] [--columns 32] [--group 125000] [--memory-at ROWS ...] [--json]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

POLARS = """
import polars as pl
def once():
    pl.scan_parquet(path).group_by("y").agg(pl.all().sum()).collect(engine="streaming")
"""
OURS = """
from unflip.moments import accumulate
from unflip.sources import parquet
def once():
    accumulate(parquet(path, target="y"))
"""
REPORT = """
import resource, json, time
spent = []
for _ in range(passes):
    start, cpu = time.perf_counter(), time.process_time()
    once()
    spent.append((time.perf_counter() - start, time.process_time() - cpu))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
seconds, cpu_seconds = (min(kind) for kind in zip(*spent))
print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "first": spent[0][0], "peak_mb": peak}))
"""


def write(path, rows, columns, group):
    """Normal numbers in float32, compressed with zstd, one row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(0), None
    for start in range(0, rows, group):
        n = min(group, rows - start)
        piece = {f"x{j}": rng.standard_normal(n, dtype=np.float32) for j in range(columns)}
        table = pa.table({**piece, "y": rng.integers(0, 2, n)})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=group)
    writer.close()


def measure(body, path, passes):
    program = f"path, passes = {str(path)!r}, {passes}\n{body}\n{REPORT}"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def best(runs):
    """Least times, and the peak of the process that took most."""
    least = {key: min(run[key] for run in runs) for key in runs[0]}
    return {**least, "peak_mb": max(run["peak_mb"] for run in runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--group", type=int, default=125_000, help="rows in a row group")
    parser.add_argument("--memory-at", type=int, nargs="*", default=[1_250_000, 20_000_000])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = []
    for rows in sorted({args.rows, *args.memory_at}):
        turns, passes = (args.turns, 3) if rows == args.rows else (1, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write(path, rows, args.columns, args.group)
            runs = [(measure(POLARS, path, passes), measure(OURS, path, passes)) for _ in range(turns)]
        for name, found in zip(("polars group-by sum", "accumulate"), zip(*runs, strict=True), strict=True):
            figures = best(found)
            results.append({"what": name, "rows": rows, "rows_per_s": rows / figures["seconds"], **figures})
    if args.json:
        print(json.dumps({"columns": args.columns, "group": args.group, "results": results}))
        return
    print(f"{args.columns} columns of float32, zstd, row groups of {args.group:,} rows")
    for row in results:
        print(
            f"{row['what']:20} {row['rows']:>11,} rows {row['rows_per_s'] / 1e6:6.2f} M rows/s "
            f"{row['seconds']:6.2f} s {row['cpu_seconds']:6.2f} s of CPU (first pass {row['first']:.2f} s), "
            f"peak {row['peak_mb']:4.0f} MB"
        )


if __name__ == "__main__":
    main()

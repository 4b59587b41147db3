"""A fit inside DuckDB, beside the same sums written by hand and run by duckdb itself.

python benchmarks/duckdb_fit.py [--rows 5000000] [--columns 32] [--times 3] [--json]
"""

import argparse
import json
import tempfile
import warnings
from pathlib import Path

import ibis
import numpy as np
from _timing import interleaved

from unflip import SquareClassifier, UnhingedClassifier
from unflip.estimators.sql import as_sql
from unflip.moments import accumulate
from unflip.sources import sql


def make_table(con, rows, columns):
    con.execute("SELECT setseed(0.5)")
    # A sum of uniform numbers with an offset is ordinary enough, and made where it is stored.
    numbers = ", ".join(f"{10 ** (j % 3)} * (random() + random() - {j % 2}) AS x{j}" for j in range(columns))
    con.execute(
        f"CREATE TABLE t AS SELECT {numbers}, CASE WHEN random() < 0.4 THEN 'yes' ELSE 'no' END AS label "
        f"FROM range({rows})"
    )
    con.execute("CHECKPOINT")


def by_hand(columns, degree):
    names = [f"x{j}" for j in range(columns)]
    wanted = [
        "COUNT(*)",
        *(f"SUM({name})" for name in names),
        f"SUM({' + '.join(f'{n} * {n}' for n in names)})",
    ]
    if degree == 2:
        wanted += [f"SUM({a} * {b})" for i, a in enumerate(names) for b in names[i:]]
    return f"SELECT label, {', '.join(wanted)} FROM t GROUP BY label ORDER BY label"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    warnings.filterwarnings("ignore", "fetch_arrow_table")  # ibis 12 on DuckDB 2
    with tempfile.TemporaryDirectory() as folder:
        con = ibis.duckdb.connect(Path(folder) / "rows.duckdb")
        make_table(con.con, args.rows, args.columns)
        source = sql(con.table("t"), "label")
        first, second = (by_hand(args.columns, degree) for degree in (1, 2))
        model = UnhingedClassifier().fit_moments(accumulate(source))
        predicted = as_sql(model).predicted
        calls = {
            "by hand, degree 1": lambda: con.con.execute(first).fetchall(),
            "accumulate, degree 1": lambda: accumulate(source),
            "UnhingedClassifier, fitted": lambda: UnhingedClassifier().fit_moments(accumulate(source)),
            "classes counted, as_sql": lambda: con.con.execute(
                f"SELECT {predicted} AS class, COUNT(*) FROM t GROUP BY class"
            ).fetchall(),
            "by hand, degree 2": lambda: con.con.execute(second).fetchall(),
            "accumulate, degree 2": lambda: accumulate(source, degree=2),
            "SquareClassifier, fitted": lambda: SquareClassifier().fit_moments(accumulate(source, degree=2)),
        }
        seconds = interleaved(calls, args.times)
        ours, theirs = accumulate(source), con.con.execute(first).fetchall()
    sums = np.array([row[2:-1] for row in theirs])
    gap = (np.abs(ours.sums - sums) / np.sqrt(ours.counts[:, None] * ours.squares)).max()
    yardstick, results = "", []
    for name, spent in seconds.items():
        yardstick = name if name.startswith("by hand") else yardstick
        results.append(
            {
                "what": name,
                "seconds": spent,
                "rows_per_second": args.rows / spent,
                "times_by_hand": spent / seconds[yardstick],
            }
        )
    if args.json:
        print(json.dumps({"rows": args.rows, "columns": args.columns, "gap": gap, "results": results}))
        return
    print(f"{args.rows:,} rows x {args.columns} columns of float64 in a DuckDB file; best of {args.times}")
    for row in results:
        print(
            f"{row['what']:28} {row['seconds']:8.3f} s {row['rows_per_second'] / 1e6:8.1f} M rows/s "
            f"{row['times_by_hand']:6.2f} x by hand"
        )
    print(f"largest difference of the sums, over sqrt(n sum |x|^2): {gap:.1e}")


if __name__ == "__main__":
    main()

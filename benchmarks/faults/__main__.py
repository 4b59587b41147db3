"""Every promise at full size, one table: `make faults`.

python -m benchmarks.faults [NAMES ...] [--small] [--resume] [--out out/faults]

Each program runs in a process of its own, and what it found is kept in a file, so that a run that was
interrupted goes on with --resume. The table is written to OUT.md.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.faults.promise import Found, as_table

HERE = Path(__file__).parent
PROGRAMS = (
    "scikit_checks",
    "bad_input",
    "exact_sums",
    "worker_loss",
    "crash",
    "files",
    "threads",
    "long_run",
    "adversaries",
    "privacy",
    "forgetting",
    "supply_chain",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAMES", help=f"of {', '.join(PROGRAMS)}; or all")
    parser.add_argument("--small", action="store_true", help="the size of `make test`")
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run found")
    parser.add_argument("--out", type=Path, default=Path("out/faults"))
    args = parser.parse_args()
    for name in set(args.names) - set(PROGRAMS):  # argparse has no choices for none or many
        parser.error(f"there is no program {name}")
    if args.small:  # never to be taken for results at full size
        args.out = args.out.with_name(f"{args.out.name}_small")
    args.out.mkdir(parents=True, exist_ok=True)
    found = []
    for name in args.names or PROGRAMS:
        kept = args.out / f"{name}.json"
        if not (args.resume and kept.exists()):
            kept.unlink(missing_ok=True)
            print(f"{name} ...", file=sys.stderr, flush=True)
            command = [sys.executable, "-m", f"benchmarks.faults.{name}", "--json", str(kept)]
            subprocess.run([*command, *(["--small"] if args.small else [])], stdout=subprocess.DEVNULL)
        if kept.exists() and json.loads(kept.read_text()):
            found += [Found(**each) for each in json.loads(kept.read_text())]
        else:
            found.append(Found(name, "", "the program ended without a result", False))
    table = as_table(found)
    args.out.with_suffix(".md").write_text(table + "\n")
    print(table)
    sys.exit(not all(each.kept for each in found))


if __name__ == "__main__":
    main()

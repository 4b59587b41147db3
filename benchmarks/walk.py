"""Which way a call takes through the library: functions, files, packages, calls, switches between packages.

python benchmarks/walk.py [--functions NAME] [--json]

Who reads along opens as many files, and changes room whenever the next function that is called is in another
package than the last. A package is the second part of a module's name: `unflip.moments`, for example.
Each way is taken once before it is counted, so that imports and caches have no part in it. Needs the extras
`io` and `fast`.
"""

import argparse
import json
import sys
import tempfile
import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

import unflip
from unflip import RobustClassifierCV, UnhingedClassifier, experiments
from unflip.audit.table import audit_table
from unflip.moments import accumulate
from unflip.sources import parquet

HOME = Path(unflip.__file__).parent


def package(file):
    return Path(file).relative_to(HOME).parts[0].removesuffix(".py")


def walked(call):
    """What the call goes through: functions with the number of their calls, and the number of switches."""
    functions, packages = Counter(), []

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{HOME}/"):
            functions[code.co_filename, code.co_qualname, code.co_firstlineno] += 1
            packages.append(package(code.co_filename))

    call()
    threading.setprofile(look)  # of threads that are started from here on
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return functions, sum(here != there for here, there in pairwise(packages))


def ways(folder):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + y[:, None]
    labels = np.arange(300) % 2
    table = pd.DataFrame(rng.normal(size=(300, 3)) + labels[:, None], columns=["a", "b", "c"])
    table["sick"] = np.where(labels, "yes", "no")
    table.to_parquet(f"{folder}/table.parquet")
    return {
        "UnhingedClassifier.fit": lambda: UnhingedClassifier().fit(X, y),
        "RobustClassifierCV.fit": lambda: RobustClassifierCV(random_state=0).fit(X, y),
        "audit of 300 x 3": lambda: audit_table(table, "sick", seed=0),
        "accumulate(parquet)": lambda: accumulate(parquet(f"{folder}/table.parquet", "sick")),
        'experiments.run(["iris"])': lambda: experiments.run(["iris"], trials=2, splits=2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", help="print every function of the ways whose name holds this")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, call in ways(folder).items():
            if args.functions and args.functions not in name:
                continue
            functions, switches = walked(call)
            files = {file for file, *_ in functions}
            counts = {
                "functions": len(functions),
                "files": len(files),
                "packages": len(set(map(package, files))),
                "calls": functions.total(),
                "switches": switches,
            }
            found.append({"what": name, **counts})
            if not args.json:
                print(
                    f"{name:28}", "  ".join(f"{what} {count:,}" for what, count in counts.items()), flush=True
                )
            if args.functions:
                for (file, function, line), times in functions.items():
                    print(f"{times:6}  {Path(file).relative_to(HOME)}:{line} {function}")
    if args.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()

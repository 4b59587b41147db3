"""What the programs of this folder share: a promise, the size it was tried at, and what came of it.

Each program is run as `python -m benchmarks.faults.NAME [--small] [--json FILE]`: at full size, or at the
size of `make test`. It ends with exit code 1 if a promise was broken.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Found:
    """One row of the table: promise | size run | result."""

    promise: str
    size: str
    result: str
    kept: bool


def as_table(found: Iterable[Found]) -> str:
    """Markdown."""
    rows = ["| promise | size run | result | kept |", "| --- | --- | --- | --- |"]
    rows += [f"| {f.promise} | {f.size} | {f.result} | {'yes' if f.kept else 'NO'} |" for f in found]
    return "\n".join(rows)


def main(run: Callable[..., list[Found]], small: dict[str, int], full: dict[str, int]) -> None:
    """Run a program from the command line; every number of its size is an option."""
    parser = argparse.ArgumentParser(description=sys.modules[run.__module__].__doc__)
    parser.add_argument("--small", action="store_true", help="the size of `make test`")
    parser.add_argument("--json", type=Path, help="write what was found here too")
    for name, number in full.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, help=f"{number} at full size")
    given = vars(parser.parse_args())
    size = small if given["small"] else full
    size = {name: number if given[name] is None else given[name] for name, number in size.items()}
    start = time.perf_counter()
    found = run(**size)
    print(as_table(found))
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if given["json"]:
        given["json"].write_text(
            json.dumps([asdict(each) | {"kept": bool(each.kept)} for each in found], indent=1)
        )
    sys.exit(not all(each.kept for each in found))

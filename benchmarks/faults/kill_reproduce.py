"""Kill `unflip reproduce` again and again at random moments, resume it, and compare with an undisturbed run.

python benchmarks/faults/kill_reproduce.py [NAMES ...] [--kills 10] [--trials 125] [--splits 20] [--seed 0]

SIGKILL goes to the command alone; its workers must notice and leave by themselves.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def command(args, page, *more):
    code = "from unflip.cli import main; main()"
    sizes = ["--trials", str(args.trials), "--splits", str(args.splits), "--jobs", "2"]
    return [sys.executable, "-c", code, "reproduce", *args.names, *sizes, "--out", str(page), *more]


def outcome(page):
    """The digest of all results, and the whole content of the JSON beside the page."""
    content = page.with_suffix(".json").read_text()
    return json.loads(content)["settings"]["digest"], content


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["iris", "long", "ionosphere", "car", "mease"])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--trials", type=int, default=125)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole.html"), Path(folder, "killed.html")
        start = time.perf_counter()
        subprocess.run(command(args, whole), check=True, stdout=subprocess.DEVNULL)
        spent = time.perf_counter() - start
        print(f"undisturbed: {spent:.0f} s, digest {outcome(whole)[0]}", flush=True)
        for k in range(args.kills):
            process = subprocess.Popen(command(args, killed, "--resume"), stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 2 * spent / args.kills))
            process.send_signal(signal.SIGKILL)
            process.wait()
            print(f"kill {k + 1}: the page {'is' if killed.exists() else 'is not'} there", flush=True)
        start = time.perf_counter()
        subprocess.run(command(args, killed, "--resume"), check=True, stdout=subprocess.DEVNULL)
        print(f"resumed: {time.perf_counter() - start:.0f} s, digest {outcome(killed)[0]}")
        same = outcome(whole) == outcome(killed)
        print("equal, to the last byte of the JSON" if same else "DIFFERENT")
    sys.exit(not same)


if __name__ == "__main__":
    main()

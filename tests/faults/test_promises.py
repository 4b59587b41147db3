"""The promises of `make faults`, at a size that takes seconds: the same programs, with smaller numbers.

Each runs in a process of its own, as in `make faults`: some measure memory, some fork.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.faults.__main__ import PROGRAMS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_promise_is_kept_at_small_size(name):
    command = [sys.executable, "-m", f"benchmarks.faults.{name}", "--small"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_COLOR": "1"}, capture_output=True, text=True
    )
    broken = [line for line in done.stdout.splitlines() if line.endswith("| NO |")]
    assert done.returncode == 0, broken or done.stderr[-2000:]
    assert "| yes |" in done.stdout
